//! Targets: the instruction sets, their numbers in ELF headers and their names.

use std::fmt;

/// Families of instruction sets that share encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Generation {
    /// Southern Islands to Volcanic Islands: gfx6 to gfx8.
    Gfx8,
    /// Vega: gfx900 to gfx90c.
    Gfx9,
    /// gfx90a: AGPRs and VGPRs share one file, packed 32-bit floats, 64-bit matrix products.
    Gfx90a,
    /// gfx940 to gfx942 and gfx950.
    Gfx940,
    /// RDNA 1 and 2.
    Gfx10,
    /// RDNA 3 and 3.5.
    Gfx11,
    /// RDNA 4.
    Gfx12,
}

impl Generation {
    /// Whether code may run in waves of 32 lanes.
    pub fn has_wave32(self) -> bool {
        self >= Generation::Gfx10
    }

    /// Whether the generation is gfx90a or gfx940, whose registers are a unified file.
    pub fn is_gfx90a_or_later_compute(self) -> bool {
        matches!(self, Generation::Gfx90a | Generation::Gfx940)
    }
}

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// `EF_AMDGPU_MACH` in the ELF header.
    pub mach: u8,
    /// Its name, for example `gfx906`.
    pub name: &'static str,
    /// The family whose encodings it uses.
    pub generation: Generation,
}

/// Numbers and names of all targets since GCN (LLVM's "User Guide for AMDGPU Backend", "AMDGPU
/// `EF_AMDGPU_MACH` Values").
const TARGETS: &[(u8, &str, Generation)] = {
    use Generation::*;
    &[
        (0x20, "gfx600", Gfx8),
        (0x21, "gfx601", Gfx8),
        (0x3a, "gfx602", Gfx8),
        (0x22, "gfx700", Gfx8),
        (0x23, "gfx701", Gfx8),
        (0x24, "gfx702", Gfx8),
        (0x25, "gfx703", Gfx8),
        (0x26, "gfx704", Gfx8),
        (0x3b, "gfx705", Gfx8),
        (0x28, "gfx801", Gfx8),
        (0x29, "gfx802", Gfx8),
        (0x2a, "gfx803", Gfx8),
        (0x3c, "gfx805", Gfx8),
        (0x2b, "gfx810", Gfx8),
        (0x2c, "gfx900", Gfx9),
        (0x2d, "gfx902", Gfx9),
        (0x2e, "gfx904", Gfx9),
        (0x2f, "gfx906", Gfx9),
        (0x30, "gfx908", Gfx9),
        (0x31, "gfx909", Gfx9),
        (0x32, "gfx90c", Gfx9),
        (0x51, "gfx9-generic", Gfx9),
        (0x3f, "gfx90a", Gfx90a),
        (0x40, "gfx940", Gfx940),
        (0x4b, "gfx941", Gfx940),
        (0x4c, "gfx942", Gfx940),
        (0x4f, "gfx950", Gfx940),
        (0x5f, "gfx9-4-generic", Gfx940),
        (0x33, "gfx1010", Gfx10),
        (0x34, "gfx1011", Gfx10),
        (0x35, "gfx1012", Gfx10),
        (0x42, "gfx1013", Gfx10),
        (0x52, "gfx10-1-generic", Gfx10),
        (0x36, "gfx1030", Gfx10),
        (0x37, "gfx1031", Gfx10),
        (0x38, "gfx1032", Gfx10),
        (0x39, "gfx1033", Gfx10),
        (0x3e, "gfx1034", Gfx10),
        (0x3d, "gfx1035", Gfx10),
        (0x45, "gfx1036", Gfx10),
        (0x53, "gfx10-3-generic", Gfx10),
        (0x41, "gfx1100", Gfx11),
        (0x46, "gfx1101", Gfx11),
        (0x47, "gfx1102", Gfx11),
        (0x44, "gfx1103", Gfx11),
        (0x43, "gfx1150", Gfx11),
        (0x4a, "gfx1151", Gfx11),
        (0x55, "gfx1152", Gfx11),
        (0x58, "gfx1153", Gfx11),
        (0x54, "gfx11-generic", Gfx11),
        (0x48, "gfx1200", Gfx12),
        (0x4e, "gfx1201", Gfx12),
        (0x59, "gfx12-generic", Gfx12),
    ]
};

/// All targets.
pub fn targets() -> impl Iterator<Item = Target> {
    TARGETS.iter().map(|&(mach, name, generation)| Target { mach, name, generation })
}

impl Target {
    /// The target with this number in the ELF header.
    pub fn of_mach(mach: u8) -> Option<Target> {
        targets().find(|t| t.mach == mach)
    }

    /// Major and minor version and stepping, which the name consists of: 9, 0, 10 for `gfx90a`. A generic
    /// target has those of its family.
    pub fn version(self) -> (u32, u32, u32) {
        let name = self.name.strip_prefix("gfx").unwrap_or(self.name);
        if let Some(family) = name.strip_suffix("-generic") {
            let mut numbers = family.split('-').map(|n| n.parse().unwrap_or(0));
            return (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0), 0);
        }
        let split = name.len().saturating_sub(2);
        let (major, rest) = name.split_at_checked(split).unwrap_or((name, ""));
        let mut digits = rest.chars().map(|c| c.to_digit(16).unwrap_or(0));
        (major.parse().unwrap_or(0), digits.next().unwrap_or(0), digits.next().unwrap_or(0))
    }

    /// The target with this name.
    pub fn of_name(name: &str) -> Option<Target> {
        targets().find(|t| t.name == name)
    }
}

/// How code was compiled with respect to a feature that a device may have switched on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The target does not have the feature.
    Unsupported,
    /// The code runs with the feature on or off.
    Any,
    /// Only for devices with the feature off.
    Off,
    /// Only for devices with the feature on.
    On,
}

/// A target with the settings of its features: `gfx90a:sramecc+:xnack-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetId {
    /// The instruction set.
    pub target: Target,
    /// Error correction of registers and LDS.
    pub sramecc: Setting,
    /// Replay of accesses after page faults.
    pub xnack: Setting,
    /// The version of a generic target, 0 for others.
    pub generic_version: u8,
}

impl TargetId {
    /// The target that flags of the ELF header state, for a code object of `version` 3 to 6; `None` if the
    /// instruction set is unknown.
    pub fn of_flags(flags: u32, version: u8) -> Option<TargetId> {
        let target = Target::of_mach(flags as u8)?;
        let (sramecc, xnack) = if version <= 3 {
            let bit = |n: u32| if flags >> n & 1 == 1 { Setting::On } else { Setting::Off };
            (bit(9), bit(8))
        } else {
            let setting = |shift: u32| match flags >> shift & 3 {
                0 => Setting::Unsupported,
                1 => Setting::Any,
                2 => Setting::Off,
                _ => Setting::On,
            };
            (setting(10), setting(8))
        };
        let generic_version = if version >= 6 { (flags >> 24) as u8 } else { 0 };
        Some(TargetId { target, sramecc, xnack, generic_version })
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target.name)?;
        for (name, setting) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match setting {
                Setting::On => write!(f, ":{name}+")?,
                Setting::Off => write!(f, ":{name}-")?,
                Setting::Any | Setting::Unsupported => {}
            }
        }
        Ok(())
    }
}
