//! AMD devices: what they run, and what they report of the hardware that they stand for.

use driver::device::{DeviceInfo, attribute};
use gcn::isa::Decoder;
use gcn::{CodeObject, Generation, Setting, Target};

/// A device that runs AMD code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmdDevice {
    target: Target,
    /// Error correction of registers and LDS, and replay of accesses after page faults: whether they are on;
    /// `None` if the instruction set does not have them.
    features: [Option<bool>; 2],
}

/// The features' names, in the order of targets' names, and whether they are on if nothing is said.
const FEATURES: [(&str, bool); 2] = [("sramecc", true), ("xnack", false)];

/// Instruction sets with error correction that can be switched off, and with replay (LLVM's "User Guide for
/// AMDGPU Backend", "AMDGPU Processors").
const WITH_SRAMECC: &[&str] = &["gfx906", "gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"];
const WITH_XNACK: &[&str] = &[
    "gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c", "gfx940", "gfx941",
    "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1012", "gfx1013",
];

/// Bytes of LDS that a group can have.
const LDS: i32 = 64 << 10;
/// The largest side of a group.
const MOST_SIDE: i32 = 1024;
/// Most groups along y and z.
const MOST_GROUPS: i32 = 65536;
/// VGPRs of 32 bits that a group can have.
const REGISTERS: i32 = 65536;
const WARP_SIZE: i32 = 10;
/// Attribute number: bytes of the level 2 cache are the table's.
const REGISTERS_PER_MULTIPROCESSOR: i32 = 82;

/// Whether code of an instruction set can be read.
fn is_known(target: Target) -> bool {
    let lanes = if target.generation.has_wave32() { 32 } else { 64 };
    Decoder::new(target, lanes).is_some()
}

/// The instruction set that a code object was compiled for, by the flags of its header.
///
/// # Errors
/// What is wrong with the header, or that the instruction set is not known.
pub fn amd_target(bytes: &[u8]) -> Result<String, String> {
    let found = CodeObject::target_of(bytes).map_err(|error| error.to_string())?;
    match is_known(found.target) {
        true => Ok(found.to_string()),
        false => Err(format!("{found}, whose instructions are not known")),
    }
}

impl AmdDevice {
    /// The device of a target's name, `gfx90a:sramecc+:xnack-`. A feature that the name does not state is as
    /// devices have it by default: error correction on, replay off. Of a generic target it is the first
    /// device.
    ///
    /// # Errors
    /// What would be right.
    pub fn of(text: &str) -> Result<AmdDevice, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let all = || gcn::targets().filter(|t| is_known(*t) && !t.name.ends_with("-generic"));
        let found = Target::of_name(name).and_then(|t| all().find(|one| *one == t || is_generic_of(t, *one)));
        let target = found
            .ok_or_else(|| format!("one of {}", all().map(|t| t.name).collect::<Vec<_>>().join(", ")))?;
        let has = [WITH_SRAMECC, WITH_XNACK].map(|list| list.contains(&target.name));
        let mut features = [None; 2];
        for (slot, (has, (_, default))) in features.iter_mut().zip(has.into_iter().zip(FEATURES)) {
            *slot = has.then_some(default);
        }
        for part in parts {
            let stated = FEATURES.iter().zip(&mut features).find_map(|((feature, _), slot)| {
                let on = match part.strip_prefix(feature)? {
                    "+" => true,
                    "-" => false,
                    _ => return None,
                };
                slot.is_some().then_some((slot, on))
            });
            let (slot, on) =
                stated.ok_or_else(|| format!("features that {} has, such as xnack+", target.name))?;
            *slot = Some(on);
        }
        Ok(AmdDevice { target, features })
    }

    /// The target's name with its features.
    pub fn name(&self) -> String {
        let mut name = self.target.name.to_owned();
        for ((feature, _), on) in FEATURES.iter().zip(self.features) {
            if let Some(on) = on {
                name.push_str(&format!(":{feature}{}", if on { '+' } else { '-' }));
            }
        }
        name
    }

    /// Whether the device runs a code object: its flags must name the instruction set, and each feature as
    /// the device has it or as either. Of several objects the one that states most, and no generic one, is
    /// best.
    pub fn suits(&self, bytes: &[u8]) -> Option<u32> {
        let found = CodeObject::target_of(bytes).ok()?;
        let mut rank = 0;
        for (setting, on) in [found.sramecc, found.xnack].into_iter().zip(self.features) {
            match (setting, on) {
                (Setting::Unsupported | Setting::Any, _) => {}
                // Objects of version 3 state both as off where the instruction set has neither.
                (Setting::Off, None | Some(false)) | (Setting::On, Some(true)) => rank += 1,
                _ => return None,
            }
        }
        match found.target == self.target {
            true => Some(rank + 1),
            false => is_generic_of(found.target, self.target).then_some(0),
        }
    }

    /// What the device reports. `base` is the machine's description; `n` is its number among such devices.
    pub(crate) fn info(&self, base: &DeviceInfo, n: usize) -> DeviceInfo {
        let (major, minor, _) = self.target.version();
        let wave = if self.target.generation.has_wave32() { 32 } else { 64 };
        // Waves that a compute unit holds: those of its SIMDs.
        let waves = match self.target.generation {
            Generation::Gfx8 | Generation::Gfx9 => 4 * 10,
            Generation::Gfx90a | Generation::Gfx940 => 4 * 8,
            Generation::Gfx10 | Generation::Gfx11 | Generation::Gfx12 => 2 * 16,
        };
        let [x, y, z] = attribute::MAX_BLOCK_DIM;
        let [_, grid_y, grid_z] = attribute::MAX_GRID_DIM;
        let attributes = vec![
            (WARP_SIZE, wave),
            (x, MOST_SIDE),
            (y, MOST_SIDE),
            (z, MOST_SIDE),
            (grid_y, MOST_GROUPS),
            (grid_z, MOST_GROUPS),
            (attribute::MAX_SHARED_MEMORY_PER_BLOCK, LDS),
            (attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, LDS),
            (attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, LDS),
            (attribute::RESERVED_SHARED_MEMORY_PER_BLOCK, 0),
            (attribute::MAX_REGISTERS_PER_BLOCK, REGISTERS),
            (REGISTERS_PER_MULTIPROCESSOR, REGISTERS),
            (attribute::MAX_THREADS_PER_MULTIPROCESSOR, waves * wave),
            (attribute::COMPUTE_CAPABILITY_MAJOR, major as i32),
            (attribute::COMPUTE_CAPABILITY_MINOR, minor as i32),
        ];
        let mut uuid = *b"anywarp-amd-0000";
        if let Some(last) = uuid.last_mut() {
            *last = last.wrapping_add(n as u8);
        }
        DeviceInfo {
            name: format!("{} ({})", base.name, self.target.name),
            uuid,
            pci: (base.pci.0, 0x40u32.wrapping_add(n as u32), 0),
            amd_target: Some(self.name()),
            attributes,
            ..base.clone()
        }
    }
}

/// Whether a generic target's code runs on a target.
fn is_generic_of(generic: Target, target: Target) -> bool {
    let Some(family) = generic.name.strip_suffix("-generic") else { return false };
    let (major, minor, _) = target.version();
    let same = generic.generation == target.generation;
    // gfx950 has all of the family of gfx940.
    same && (generic.generation == Generation::Gfx940
        || family == format!("gfx{major}")
        || family == format!("gfx{major}-{minor}"))
}
