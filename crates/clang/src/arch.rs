//! The architectures that device code is made for.

use crate::{Error, Result};

/// What a device pass makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arch {
    /// PTX for this compute capability (80) and later.
    Ptx(u32),
    /// Machine code of this AMD processor (`gfx906`).
    Amd(String),
}

/// The default: what every version of clang knows and our devices run.
const DEFAULT: u32 = 80;
/// Warps that synchronise explicitly begin here.
const LEAST: u32 = 70;

impl Arch {
    /// Reads lists of names.
    ///
    /// # Errors
    /// A name that is none of ours.
    pub fn list(lists: &[String]) -> Result<Vec<Arch>> {
        let mut all = Vec::new();
        for name in lists.iter().flat_map(|list| list.split(',')).filter(|name| !name.is_empty()) {
            let arch = Arch::read(name)?;
            if !all.contains(&arch) {
                all.push(arch);
            }
        }
        if all.is_empty() {
            all.push(Arch::Ptx(DEFAULT));
        }
        Ok(all)
    }

    /// Reads a name: `gfx906`, `compute_80`, `sm_80`.
    ///
    /// # Errors
    /// What would be right.
    pub fn read(name: &str) -> Result<Arch> {
        let wanted = "write compute_80 and the like for PTX, gfx906 and the like for AMD's machine code";
        if name.starts_with("gfx") {
            return Ok(Arch::Amd(name.to_owned()));
        }
        let number = name.strip_prefix("compute_").or_else(|| name.strip_prefix("sm_"));
        match number.and_then(|number| number.parse().ok()) {
            Some(number) if number < LEAST => {
                Err(Error(format!("--arch {name}: devices before compute_{LEAST} are not supported")))
            }
            Some(number) => Ok(Arch::Ptx(number)),
            None => Err(Error(format!("--arch {name}: {wanted}"))),
        }
    }
}

/// The version of PTX to write for a compute capability: the least that has what our headers use.
pub fn ptx_version(number: u32) -> u32 {
    match number {
        ..=87 => 75,
        88..=99 => 78,
        100..=103 => 86,
        _ => 87,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names() {
        let list = |text: &str| Arch::list(&[text.to_owned()]).map_err(|error| error.to_string());
        assert_eq!(list(""), Ok(vec![Arch::Ptx(80)]));
        assert_eq!(list("sm_90,gfx906,compute_90"), Ok(vec![Arch::Ptx(90), Arch::Amd("gfx906".into())]));
        assert_eq!(
            list("compute_60"),
            Err("--arch compute_60: devices before compute_70 are not supported".into())
        );
        assert!(list("avx2").is_err_and(|text| text.contains("avx2") && text.contains("compute_80")));
    }
}
