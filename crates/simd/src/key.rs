//! Everything that determines a kernel's code, and the names of cached objects derived from it.

use std::hash::{Hash, Hasher};

use crate::compile::Request;
use crate::effort::{self, Effort};
use crate::kernel::specialisation::Specialisation;
use crate::target::Target;

/// Everything that determines a kernel's code, besides the module and this compiler. The code generator
/// receives this and the module, nothing else. The cache's keys use the hash derived here, so a new field is
/// part of them automatically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeKey<'a> {
    /// The launches it is for.
    pub spec: Specialisation,
    /// The processor it is for.
    pub target: &'a Target,
    /// The modes that a test forces.
    pub forced: &'a Forced,
}

/// Modes that are otherwise used only where needed. Tests force them, so that every kernel runs in all of
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Forced {
    /// Every kernel is compiled in the per-lane mode.
    pub per_lane: bool,
    /// Every kernel is compiled with this effort, whatever its size.
    pub effort: Option<Effort>,
    /// Maximum bytes of LLVM IR of a kernel, in place of [`effort::most`].
    pub most: Option<usize>,
    /// Baseline code ([`Effort::First`]) is not replaced.
    pub first: bool,
    /// Up to this many warps run together wherever no lane can tell.
    pub warps: Option<u16>,
}

impl Forced {
    /// Maximum bytes of LLVM IR of a kernel; a larger kernel is interpreted.
    pub fn most(&self, target: &Target) -> usize {
        self.most.unwrap_or_else(|| effort::most(target.avx512))
    }
}

/// The name of a cached object.
#[derive(Hash)]
struct Object<'a> {
    compiler: Compiler,
    /// A digest of everything that the module was built from.
    unit: &'a [u8; 32],
    kernel: &'a str,
    code: CodeKey<'a>,
}

/// The name of a text whose launches the cache may serve, whatever their specialisation.
#[derive(Hash)]
struct Text<'a> {
    compiler: Compiler,
    unit: &'a [u8; 32],
    target: &'a Target,
    forced: &'a Forced,
}

/// The sources of this compiler, including the ABI of compiled code.
#[derive(Hash)]
struct Compiler(&'static str);

const COMPILER: Compiler = Compiler(env!("ANYWARP_COMPILER"));

/// A hasher for derived [`Hash`] implementations.
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

/// The digest of all fields of a value, by its derived [`Hash`].
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
    use crate::ir::Width;
    use crate::target::Maker;

    /// Every field changes the object's name. The patterns without `..` fail to compile if a field is added
    /// that this test does not cover.
    #[test]
    fn every_field_is_part_of_the_key() {
        let maker = Maker::Any;
        let target = Target { cpu: "x86-64-v3", features: String::new(), avx512: false, maker };
        let Target { cpu: _, features: _, avx512: _, maker: _ } = &target;
        let targets = [
            target.clone(),
            Target { cpu: "x86-64-v4", ..target.clone() },
            Target { features: "+gfni".into(), ..target.clone() },
            Target { avx512: true, ..target.clone() },
            Target { maker: Maker::Amd, ..target.clone() },
        ];
        let plain = Forced::default();
        let Forced { per_lane: _, effort: _, most: _, first: _, warps: _ } = &plain;
        let mut forced = vec![
            plain.clone(),
            Forced { per_lane: true, ..plain.clone() },
            Forced { most: Some(0), ..plain.clone() },
            Forced { most: Some(1), ..plain.clone() },
            Forced { first: true, ..plain.clone() },
            Forced { warps: Some(2), ..plain.clone() },
        ];
        forced.extend(Effort::ALL.map(|effort| Forced { effort: Some(effort), ..plain.clone() }));
        let spec = Specialisation {
            width: Width::WARP,
            warp: wave::Width::W32,
            whole: false,
            block: [1, 2, 3],
            small: false,
            clusters: false,
            across: false,
        };
        let Specialisation { width: _, warp: _, whole: _, block: _, small: _, clusters: _, across: _ } = spec;
        let specs = [
            spec,
            Specialisation { block: [3, 2, 1], ..spec },
            Specialisation { small: true, ..spec },
            Specialisation { clusters: true, ..spec },
            Specialisation { across: true, ..spec },
            Specialisation { width: Width::PAIR, ..spec },
            spec.of_warps(wave::Width::W64),
            Specialisation { whole: true, ..spec },
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
        // Texts are separated: another split of the same bytes has another digest.
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["a"; 2]), digest(&["a"; 3]));
    }

    #[test]
    fn a_seen_text_has_a_processor_and_modes() {
        let plain = Forced::default();
        let native = Target { cpu: "x86-64-v3", features: String::new(), avx512: false, maker: Maker::Any };
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
