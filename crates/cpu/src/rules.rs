//! The rules that a module must meet to be loaded, and what of them is in the keys of programs and code.

use std::hash::Hash;

use host::options::Engine;
use wave::count::Counting;

use crate::settings::Making;

/// The rules that a module must meet to be loaded, and how its kernels then run.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The engine that will run the kernels.
    pub engine: Engine,
    /// How kernels are compiled.
    pub making: Making,
    /// Every used symbol must be defined, as the linker requires. Loading a single text allows undefined
    /// variables; kernels that use them fault.
    pub complete: bool,
    /// The device's compute capability (86 for 8.6); a newer `.target` is rejected. `None` accepts any.
    pub capability: Option<u32>,
    /// Maximum bytes of shared memory that a kernel can declare.
    pub max_shared: u64,
    /// Addresses of variables that no text defines.
    pub symbols: Vec<(String, u64)>,
    /// The approximate functions and products of matrices return the hardware's bits (`ANYWARP_EXACT`).
    pub exact: bool,
    /// The kernels count what they do, for a profile ([`wave::count`]).
    pub counting: Option<Counting>,
    /// The module will probably be launched, so LLVM may be opened during the load.
    pub launches: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            engine: Engine::default(),
            making: Making::default(),
            complete: true,
            capability: None,
            max_shared: u64::MAX,
            symbols: Vec::new(),
            exact: false,
            counting: None,
            launches: false,
        }
    }
}

/// The rules that decide which IR a module becomes. Their hash is part of the names of cached objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Meaning<'a> {
    /// [`Rules::complete`].
    pub complete: bool,
    /// [`Rules::symbols`].
    pub symbols: &'a [(String, u64)],
    /// [`Rules::exact`].
    pub exact: bool,
    /// [`Rules::counting`].
    pub counting: Option<Counting>,
}

/// The rules that decide whether a module is accepted, but not what it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// [`Rules::capability`].
    pub capability: Option<u32>,
    /// [`Rules::max_shared`].
    pub max_shared: u64,
}

/// What of [`Rules`] a front end is given. Programs that are loaded again are found by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checks<'a> {
    /// What decides the IR.
    pub meaning: Meaning<'a>,
    /// What only decides whether the module is accepted.
    pub limits: Limits,
}

impl Rules {
    /// The rules by what they decide. The pattern without `..` makes a new field choose its place.
    pub fn checks(&self) -> Checks<'_> {
        let Rules {
            complete,
            symbols,
            exact,
            counting,
            capability,
            max_shared,
            // The same for all programs of a backend; `simd::CodeKey` has the parts that decide code.
            engine: _,
            making: _,
            // Decides only when LLVM is opened.
            launches: _,
        } = self;
        let (&complete, &exact, &counting) = (complete, exact, counting);
        let (&capability, &max_shared) = (capability, max_shared);
        Checks {
            meaning: Meaning { complete, symbols, exact, counting },
            limits: Limits { capability, max_shared },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Every rule that decides something changes the hash, those that decide the IR also the part of it that
    /// names cached objects.
    #[test]
    fn every_rule_is_part_of_a_key() {
        let plain = Rules { max_shared: 1, ..Rules::default() };
        let deciding = [
            plain.clone(),
            Rules { complete: false, ..plain.clone() },
            Rules { symbols: vec![("a".into(), 1)], ..plain.clone() },
            Rules { symbols: vec![("a".into(), 2)], ..plain.clone() },
            Rules { symbols: vec![("b".into(), 1)], ..plain.clone() },
            Rules { exact: true, ..plain.clone() },
            Rules { counting: Some(Counting), ..plain.clone() },
        ];
        let limiting = [
            Rules { capability: Some(80), ..plain.clone() },
            Rules { capability: Some(90), ..plain.clone() },
            Rules { max_shared: 2, ..plain.clone() },
        ];
        // These patterns without `..` fail to compile if a field is added that is not tried above.
        let Meaning { complete: _, symbols: _, exact: _, counting: _ } = plain.checks().meaning;
        let Limits { capability: _, max_shared: _ } = plain.checks().limits;
        let units: BTreeSet<_> = deciding.iter().map(|rules| simd::digest(&rules.checks().meaning)).collect();
        assert_eq!(units.len(), deciding.len());
        let all = deciding.iter().chain(&limiting);
        let keys: BTreeSet<_> = all.map(|rules| simd::digest(&rules.checks())).collect();
        assert_eq!(keys.len(), deciding.len() + limiting.len());
        for rules in limiting {
            assert_eq!(rules.checks().meaning, plain.checks().meaning);
        }
        let later = Rules { launches: true, engine: Engine::Interpreter, ..plain.clone() };
        assert_eq!(later.checks(), plain.checks());
    }
}
