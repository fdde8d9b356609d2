//! What decides a kernel's code, and the names of cached objects that follow from it.

use std::hash::{Hash, Hasher};

use crate::compile::Request;
use crate::effort::{self, Effort};
use crate::kernel::uniformity::Specialisation;
use crate::target::Target;

/// Everything that decides a kernel's code, besides the module and this compiler. The code generator is given
/// this and the module, and nothing else; the cache's keys are the hash that is derived here. A field that is
/// added is part of them therefore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeKey<'a> {
    /// The launches it is for.
    pub spec: Specialisation,
    /// The processor it is for.
    pub target: &'a Target,
    /// What a test insists on.
    pub forced: &'a Forced,
}

/// Modes that code is otherwise written in where it has to be. Tests insist on them, so that all of them see
/// every kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Forced {
    /// Every kernel is compiled in the per-lane mode.
    pub per_lane: bool,
    /// Every kernel is compiled with this effort, whatever its size.
    pub effort: Option<Effort>,
    /// Bytes of LLVM IR that a kernel may have, instead of [`effort::most`].
    pub most: Option<usize>,
    /// The first code of a kernel that is wanted soon ([`Effort::First`]) is the only one.
    pub first: bool,
}

impl Forced {
    /// Bytes of LLVM IR that a kernel may have; one that has more is interpreted.
    pub fn most(&self, target: &Target) -> usize {
        self.most.unwrap_or_else(|| effort::most(target.avx512))
    }
}

/// What names a cached object.
#[derive(Hash)]
struct Object<'a> {
    compiler: Compiler,
    /// A digest of everything that the module was made of.
    unit: &'a [u8; 32],
    kernel: &'a str,
    code: CodeKey<'a>,
}

/// What names a text whose launches the cache may serve, whatever their uniformity.
#[derive(Hash)]
struct Text<'a> {
    compiler: Compiler,
    unit: &'a [u8; 32],
    target: &'a Target,
    forced: &'a Forced,
}

/// The sources of this compiler, the ABI of running code among them.
#[derive(Hash)]
struct Compiler(&'static str);

const COMPILER: Compiler = Compiler(env!("ANYWARP_COMPILER"));

/// A digest by a derived [`Hash`].
#[derive(Default)]
struct Digest(blake3::Hasher);

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let hash = self.0.finalize();
        hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }
}

/// The digest of a value, by its derived [`Hash`]: of all its fields.
pub fn digest(value: &impl Hash) -> [u8; 32] {
    let mut digest = Digest::default();
    value.hash(&mut digest);
    *digest.0.finalize().as_bytes()
}

impl Request<'_> {
    /// The digest that names the object of a kernel called `kernel`.
    pub(crate) fn object(&self, kernel: &str) -> blake3::Hash {
        digest(&Object { compiler: COMPILER, unit: &self.unit, kernel, code: self.code }).into()
    }
}

/// The digest that names a text.
pub(crate) fn text(unit: &[u8; 32], target: &Target, forced: &Forced) -> [u8; 32] {
    digest(&Text { compiler: COMPILER, unit, target, forced })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every field is another object's. The patterns without `..` fail to compile where a field is added that
    /// this test does not try.
    #[test]
    fn every_field_is_part_of_the_key() {
        let target = Target { cpu: "x86-64-v3", features: String::new(), avx512: false };
        let Target { cpu: _, features: _, avx512: _ } = &target;
        let targets = [
            target.clone(),
            Target { cpu: "x86-64-v4", ..target.clone() },
            Target { features: "+gfni".into(), ..target.clone() },
            Target { avx512: true, ..target.clone() },
        ];
        let plain = Forced::default();
        let Forced { per_lane: _, effort: _, most: _, first: _ } = &plain;
        let mut forced = vec![
            plain.clone(),
            Forced { per_lane: true, ..plain.clone() },
            Forced { most: Some(0), ..plain.clone() },
            Forced { most: Some(1), ..plain.clone() },
            Forced { first: true, ..plain.clone() },
        ];
        forced.extend(Effort::ALL.map(|effort| Forced { effort: Some(effort), ..plain.clone() }));
        let spec = Specialisation { block: [1, 2, 3], small: false, clusters: false };
        let Specialisation { block: _, small: _, clusters: _ } = spec;
        let specs = [
            spec,
            Specialisation { block: [3, 2, 1], ..spec },
            Specialisation { small: true, ..spec },
            Specialisation { clusters: true, ..spec },
        ];
        let mut keys = BTreeSet::new();
        let mut count = 0;
        for target in &targets {
            for forced in &forced {
                for spec in specs {
                    let code = CodeKey { spec, target, forced };
                    for (unit, kernel) in [([1; 32], "a"), ([2; 32], "a"), ([1; 32], "b")] {
                        keys.insert(digest(&Object { compiler: COMPILER, unit: &unit, kernel, code }));
                        count += 1;
                    }
                }
            }
        }
        let object = Object {
            compiler: Compiler("another"),
            unit: &[1; 32],
            kernel: "a",
            code: CodeKey { spec, target: &target, forced: &plain },
        };
        keys.insert(digest(&object));
        assert_eq!(keys.len(), count + 1);
        // Texts that lie one after another are told from others that do.
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["a"; 2]), digest(&["a"; 3]));
    }

    #[test]
    fn a_seen_text_has_a_processor_and_modes() {
        let plain = Forced::default();
        let native = Target { cpu: "x86-64-v3", features: String::new(), avx512: false };
        let other = Target { avx512: true, ..native.clone() };
        let apart = Forced { per_lane: true, ..plain.clone() };
        let keys = [
            text(&[1; 32], &native, &plain),
            text(&[2; 32], &native, &plain),
            text(&[1; 32], &other, &plain),
            text(&[1; 32], &native, &apart),
        ];
        assert_eq!(BTreeSet::from(keys).len(), keys.len());
    }
}
