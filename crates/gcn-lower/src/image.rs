//! The memory of a code object: its sections, as a loader places them, in one variable of the module. Kernels
//! compute the addresses of variables as distances from their own instructions.

use std::collections::BTreeMap;

use gcn::CodeObject;
use gcn::object::SymbolKind;
use wave::module::{Reloc, RelocTarget};
use wave::{Global, GlobalId};

/// The variable of a module that holds the whole image. Its offset is 0.
pub const IMAGE: GlobalId = GlobalId(0);

/// The largest image.
const MOST: u64 = 1 << 30;

/// Alignment of the image: a page, which the addresses in the object rely on.
const ALIGN: u32 = 4096;

/// Relocations: number, bytes, whether they are relative to their own place, and how far the value is shifted
/// right (LLVM's "User Guide for AMDGPU Backend", "Relocation Records").
const RELOCATIONS: &[(u32, u8, bool, u8)] = &[
    (1, 4, false, 0),  // R_AMDGPU_ABS32_LO
    (2, 4, false, 32), // R_AMDGPU_ABS32_HI
    (3, 8, false, 0),  // R_AMDGPU_ABS64
    (4, 4, true, 0),   // R_AMDGPU_REL32
    (5, 8, true, 0),   // R_AMDGPU_REL64
    (6, 4, false, 0),  // R_AMDGPU_ABS32
    (10, 4, true, 0),  // R_AMDGPU_REL32_LO
    (11, 4, true, 32), // R_AMDGPU_REL32_HI
    (13, 8, false, 0), // R_AMDGPU_RELATIVE64
];

/// `R_AMDGPU_NONE`.
const NONE: u32 = 0;

/// A variable that the host can look up by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its offset in the image.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Whether kernels may only read it.
    pub constant: bool,
}

/// The image of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The variable that holds it.
    pub global: Global,
    /// The variables in it.
    pub variables: Vec<Variable>,
}

/// Places an object's sections.
///
/// # Errors
/// What is wrong with a section or a relocation.
pub fn image(object: &CodeObject<'_>) -> Result<Image, String> {
    let loaded = || object.sections.iter().filter(|s| s.loaded);
    let mut size = 0u64;
    for section in loaded() {
        let end = section.address.checked_add(section.size).filter(|end| *end <= MOST);
        size = size.max(end.ok_or_else(|| {
            format!("section {} at {:#x} ends beyond {MOST:#x}", section.name, section.address)
        })?);
    }
    let initial = loaded().map(|s| s.address + s.bytes.len() as u64).max().unwrap_or(0).min(size);
    let mut init = vec![0u8; initial as usize];
    for section in loaded() {
        let at = section.address as usize;
        if let Some(to) = init.get_mut(at..).and_then(|rest| rest.get_mut(..section.bytes.len())) {
            to.copy_from_slice(section.bytes);
        }
    }
    let mut global = Global {
        name: "image".to_owned(),
        offset: 0,
        size,
        align: ALIGN,
        constant: false,
        managed: false,
        exported: false,
        reference: None,
        init,
        relocs: Vec::new(),
    };
    relocate(object, &mut global)?;
    Ok(Image { global, variables: variables(object) })
}

/// Applies the relocations: distances now, addresses when the image has its place.
fn relocate(object: &CodeObject<'_>, global: &mut Global) -> Result<(), String> {
    for one in &object.relocations {
        let place = || format!("the relocation at {:#x}", one.address);
        if one.kind == NONE {
            continue;
        }
        let row = RELOCATIONS.iter().find(|row| row.0 == one.kind);
        let &(_, size, relative, shift) =
            row.ok_or_else(|| format!("{} has type {}, which is not known", place(), one.kind))?;
        let symbol = match one.symbol.as_str() {
            "" => 0,
            name => {
                let found = object.symbols.iter().find(|s| s.name == name && !s.undefined);
                found
                    .map(|s| s.address)
                    .ok_or_else(|| format!("{} names {name}, which is undefined", place()))?
            }
        };
        let end = one.address.checked_add(u64::from(size)).filter(|end| *end <= global.size);
        let end = end.ok_or_else(|| format!("{} is outside of the sections", place()))?;
        if (global.init.len() as u64) < end {
            global.init.resize(end as usize, 0);
        }
        let value = symbol.wrapping_add_signed(one.addend);
        if relative {
            let distance = value.wrapping_sub(one.address) >> shift;
            let (at, bytes) = (one.address as usize, usize::from(size));
            if let Some(to) = global.init.get_mut(at..at + bytes) {
                to.copy_from_slice(&distance.to_le_bytes()[..bytes]);
            }
            continue;
        }
        let target = RelocTarget::Global(IMAGE);
        global.relocs.push(Reloc { at: one.address, size, shift, target, addend: value as i64 });
    }
    Ok(())
}

/// The variables that the object's symbols name, in the order of their addresses.
fn variables(object: &CodeObject<'_>) -> Vec<Variable> {
    let mut all = BTreeMap::new();
    for symbol in &object.symbols {
        let variable = symbol.kind == SymbolKind::Object && symbol.global && !symbol.undefined;
        let holds = |s: &&gcn::object::Section| {
            s.loaded && s.address <= symbol.address && symbol.address - s.address < s.size
        };
        let Some(section) = object.sections.iter().find(holds) else { continue };
        // Kernels' descriptors are objects, too.
        let kernel = symbol.name.ends_with(".kd")
            && object.kernels.iter().any(|k| k.descriptor_address == symbol.address);
        let ends = symbol.address.saturating_add(symbol.size) <= section.address.saturating_add(section.size);
        if variable && !kernel && ends {
            let (offset, size, constant) = (symbol.address, symbol.size, !section.writable);
            all.insert(
                (offset, symbol.name.clone()),
                Variable { name: symbol.name.clone(), offset, size, constant },
            );
        }
    }
    all.into_values().collect()
}
