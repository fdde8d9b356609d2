//! Reads the ELF file: header, sections, symbols, relocations, notes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};

use super::{CodeObject, Error, Kernel, KernelDescriptor, Metadata, descriptor, version_2};
use crate::target::TargetId;

/// A section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section<'a> {
    /// Its name.
    pub name: String,
    /// Its address when loaded at 0.
    pub address: u64,
    /// Size in memory; larger than `bytes` for sections without contents.
    pub size: u64,
    /// Whether it is part of the loaded image.
    pub loaded: bool,
    /// Whether it holds instructions.
    pub code: bool,
    /// Whether kernels may write it.
    pub writable: bool,
    /// Its contents in the file.
    pub bytes: &'a [u8],
}

/// What a symbol names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A kernel or another function.
    Function,
    /// A variable, or the descriptor of a kernel.
    Object,
    /// A kernel of a code object of version 2.
    KernelV2,
    /// Anything else.
    Other,
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its address when loaded at 0.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// What it names.
    pub kind: SymbolKind,
    /// Whether another object must define it.
    pub undefined: bool,
    /// Whether it can be seen from outside.
    pub global: bool,
}

/// A relocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Address of the place to change.
    pub address: u64,
    /// `R_AMDGPU_…` number.
    pub kind: u32,
    /// Name of the symbol; empty for none.
    pub symbol: String,
    /// Constant added to the symbol's address.
    pub addend: i64,
}

type Header = FileHeader64<LE>;

/// Machine number of AMD's GPUs.
const EM_AMDGPU: u16 = 224;
/// Operating system of code for HSA.
const OSABI_HSA: u8 = 64;
/// Note with MessagePack metadata; its name is `AMDGPU`.
const NOTE_METADATA: u32 = 32;
/// Notes of version 2, named `AMD`: the instruction set and the YAML metadata.
const NOTE_V2_ISA: u32 = 3;
const NOTE_V2_METADATA: u32 = 10;
/// Symbol type of kernels of version 2.
const STT_AMDGPU_HSA_KERNEL: u8 = 10;
/// More symbols or relocations than any real file has.
const MAX_ENTRIES: usize = 1 << 22;

/// What the header says.
pub(super) struct Head<'a> {
    pub version: u8,
    pub target: TargetId,
    pub flags: u32,
    file: &'a Header,
}

fn malformed(place: impl Into<String>, reason: impl ToString) -> Error {
    Error::Malformed { place: place.into(), reason: reason.to_string() }
}

/// Checks the header.
pub(super) fn header(bytes: &[u8]) -> Result<Head<'_>, Error> {
    if !bytes.starts_with(b"\x7fELF") {
        return Err(Error::Foreign("it does not begin as an ELF file".into()));
    }
    if bytes.get(4..6) != Some(&[2, 1]) {
        return Err(Error::Foreign("it is not a little-endian ELF file of 64 bits".into()));
    }
    let file = Header::parse(bytes).map_err(|e| malformed("the ELF header", e))?;
    let machine = file.e_machine.get(LE);
    if machine != EM_AMDGPU {
        return Err(Error::Foreign(format!("its machine is {machine} instead of {EM_AMDGPU}")));
    }
    let (osabi, abi) = (file.e_ident.os_abi, file.e_ident.abi_version);
    if osabi != OSABI_HSA {
        return Err(Error::Unsupported(format!(
            "the ELF header names operating system {osabi}; only {OSABI_HSA} (HSA) is read"
        )));
    }
    let flags = file.e_flags.get(LE);
    let version = match abi {
        0..=4 => abi + 2,
        _ => {
            return Err(Error::Unsupported(format!(
                "the ELF header states ABI version {abi}; versions 0 to 4 (code objects 2 to 6) are read"
            )));
        }
    };
    let mut target = TargetId::of_flags(flags, version);
    // The first compilers wrote no flags.
    if version == 2 && flags as u8 == 0 {
        notes(file, bytes, &mut |name, kind, desc| {
            if name == b"AMD" && kind == NOTE_V2_ISA && target.is_none() {
                target = version_2::target(desc);
            }
        })?;
    }
    let target = target.ok_or_else(|| {
        Error::Unsupported(format!("the ELF header's flags {flags:#x} name an unknown instruction set"))
    })?;
    Ok(Head { version, target, flags, file })
}

/// Takes the name, type and contents of a note.
type EachNote<'a> = dyn FnMut(&[u8], u32, &[u8]) + 'a;

/// Calls back with each note.
fn notes(file: &Header, bytes: &[u8], each: &mut EachNote<'_>) -> Result<(), Error> {
    let segments = file.program_headers(LE, bytes).map_err(|e| malformed("the program headers", e))?;
    let mut found = false;
    for (i, segment) in segments.iter().enumerate() {
        use object::read::elf::ProgramHeader;
        let place = || format!("the notes of segment {i}");
        let Some(mut list) = segment.notes(LE, bytes).map_err(|e| malformed(place(), e))? else { continue };
        while let Some(note) = list.next().map_err(|e| malformed(place(), e))? {
            found = true;
            each(note.name(), note.n_type(LE), note.desc());
        }
    }
    if found {
        return Ok(());
    }
    // Relocatable files have no segments.
    let sections = file.sections(LE, bytes).map_err(|e| malformed("the section table", e))?;
    for (i, section) in sections.iter().enumerate() {
        let place = || format!("the notes of section {i}");
        let Some(mut list) = section.notes(LE, bytes).map_err(|e| malformed(place(), e))? else { continue };
        while let Some(note) = list.next().map_err(|e| malformed(place(), e))? {
            each(note.name(), note.n_type(LE), note.desc());
        }
    }
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sections<'a>(table: &SectionTable<'a, Header>, bytes: &'a [u8]) -> Result<Vec<Section<'a>>, Error> {
    let one = |(i, section): (usize, &'a elf::SectionHeader64<LE>)| {
        let name = table.section_name(LE, section).map_err(|e| malformed(format!("section {i}"), e))?;
        let name = text(name);
        let data = section.data(LE, bytes).map_err(|e| malformed(format!("section {i} ({name})"), e))?;
        let flags = section.sh_flags(LE);
        let has = |flag: u32| flags & u64::from(flag) != 0;
        Ok(Section {
            address: section.sh_addr(LE),
            size: section.sh_size(LE),
            loaded: has(elf::SHF_ALLOC),
            code: has(elf::SHF_EXECINSTR),
            writable: has(elf::SHF_WRITE),
            bytes: data,
            name,
        })
    };
    table.iter().enumerate().skip(1).map(one).collect()
}

/// Offset to add to a symbol's value or a relocation's place: in relocatable files both count from the
/// beginning of a section.
fn base(file: &Header, table: &SectionTable<'_, Header>, section: object::SectionIndex) -> u64 {
    if file.e_type.get(LE) != elf::ET_REL {
        return 0;
    }
    table.section(section).map_or(0, |s| s.sh_addr(LE))
}

fn symbol(
    file: &Header,
    table: &SectionTable<'_, Header>,
    symbols: &SymbolTable<'_, Header>,
    index: object::SymbolIndex,
    place: &str,
) -> Result<Symbol, Error> {
    let at = |e: object::Error| malformed(format!("{place}, symbol {}", index.0), e);
    let symbol = symbols.symbol(index).map_err(at)?;
    let name = symbols.symbol_name(LE, symbol).map_err(at)?;
    let section = symbols.symbol_section(LE, symbol, index).map_err(at)?;
    Ok(Symbol {
        name: text(name),
        address: symbol.st_value(LE).wrapping_add(section.map_or(0, |s| base(file, table, s))),
        size: symbol.st_size(LE),
        kind: match symbol.st_type() {
            elf::STT_FUNC => SymbolKind::Function,
            elf::STT_OBJECT => SymbolKind::Object,
            STT_AMDGPU_HSA_KERNEL => SymbolKind::KernelV2,
            _ => SymbolKind::Other,
        },
        undefined: symbol.is_undefined(LE),
        global: !symbol.is_local(),
    })
}

/// The symbols of a table, without the empty first one.
fn symbols(
    file: &Header,
    table: &SectionTable<'_, Header>,
    bytes: &[u8],
    kind: u32,
    place: &str,
) -> Result<Vec<Symbol>, Error> {
    let found = table.symbols(LE, bytes, kind).map_err(|e| malformed(place, e))?;
    let count = found.len();
    if count > MAX_ENTRIES {
        return Err(malformed(place, format!("it has {count} symbols; at most {MAX_ENTRIES} are read")));
    }
    (1..count).map(|i| symbol(file, table, &found, object::SymbolIndex(i), place)).collect()
}

fn relocations(
    file: &Header,
    table: &SectionTable<'_, Header>,
    bytes: &[u8],
) -> Result<Vec<Relocation>, Error> {
    let mut all = Vec::new();
    for (i, section) in table.iter().enumerate() {
        let place = || format!("the relocations of section {i}");
        let Some((list, link)) = section.rela(LE, bytes).map_err(|e| malformed(place(), e))? else {
            continue;
        };
        if all.len() + list.len() > MAX_ENTRIES {
            return Err(malformed(place(), format!("more than {MAX_ENTRIES} entries")));
        }
        let names = match link.0 {
            0 => None,
            _ => Some(linked_symbols(table, bytes, link).map_err(|reason| malformed(place(), reason))?),
        };
        let moved = base(file, table, object::SectionIndex(section.sh_info(LE) as usize));
        for rela in list {
            let index = rela.r_sym(LE, false);
            let symbol = match (&names, index) {
                (_, 0) | (None, _) => String::new(),
                (Some(names), n) => {
                    let index = object::SymbolIndex(n as usize);
                    symbol(file, table, names, index, &place())?.name
                }
            };
            all.push(Relocation {
                address: rela.r_offset.get(LE).wrapping_add(moved),
                kind: rela.r_type(LE, false),
                symbol,
                addend: rela.r_addend.get(LE),
            });
        }
    }
    Ok(all)
}

/// The table of symbols that relocations name.
fn linked_symbols<'a>(
    table: &SectionTable<'a, Header>,
    bytes: &'a [u8],
    link: object::SectionIndex,
) -> Result<SymbolTable<'a, Header>, String> {
    let section = table.section(link).map_err(|e| e.to_string())?;
    let kind = section.sh_type(LE);
    if !matches!(kind, elf::SHT_SYMTAB | elf::SHT_DYNSYM) {
        return Err(format!("section {}, which they link to, is no table of symbols (type {kind})", link.0));
    }
    SymbolTable::parse(LE, bytes, table, link, section).map_err(|e| e.to_string())
}

/// The kernels: a symbol `NAME.kd` of 64 bytes is a descriptor.
fn kernels(object: &CodeObject) -> Result<Vec<Kernel>, Error> {
    let functions: HashMap<&str, &Symbol> = object
        .symbols
        .iter()
        .filter(|s| s.kind == SymbolKind::Function)
        .map(|s| (s.name.as_str(), s))
        .collect();
    let described: HashMap<&str, usize> =
        object.metadata.kernels.iter().enumerate().map(|(i, k)| (k.symbol.as_str(), i)).collect();
    let moved: HashSet<u64> = object.relocations.iter().map(|r| r.address).collect();
    let mut all = Vec::new();
    for symbol in &object.symbols {
        let Some(name) = symbol.name.strip_suffix(".kd") else { continue };
        if symbol.kind != SymbolKind::Object || symbol.undefined {
            continue;
        }
        let place = || format!("the kernel descriptor {}", symbol.name);
        let outside = || malformed(place(), format!("its address {:#x} is in no section", symbol.address));
        let bytes = object.bytes_at(symbol.address).ok_or_else(outside)?;
        let bytes = bytes.get(..descriptor::SIZE).ok_or_else(|| {
            malformed(
                place(),
                format!("its section ends after {} bytes of {}", bytes.len(), descriptor::SIZE),
            )
        })?;
        let descriptor = KernelDescriptor::read(bytes, object.target.target.generation, &symbol.name)?;
        let entry = symbol.address.wrapping_add_signed(descriptor.entry_offset());
        let code = object.sections.iter().any(|s| s.code && s.address <= entry && entry - s.address < s.size);
        // In relocatable files a relocation will give the offset.
        if !code && !moved.contains(&symbol.address.wrapping_add(16)) {
            return Err(malformed(place(), format!("its entry {entry:#x} is outside of all code")));
        }
        let function = functions.get(name);
        all.push(Kernel {
            name: name.to_owned(),
            descriptor,
            descriptor_address: symbol.address,
            entry,
            size: function.filter(|f| f.address == entry).map_or(0, |f| f.size),
            metadata: described.get(symbol.name.as_str()).copied(),
        });
    }
    all.sort_by_key(|k| k.entry);
    Ok(all)
}

/// The kernels of version 2: a symbol of their type names a header in front of the code.
fn kernels_2(object: &CodeObject) -> Result<Vec<Kernel>, Error> {
    let described: HashMap<&str, usize> =
        object.metadata.kernels.iter().enumerate().map(|(i, k)| (k.symbol.as_str(), i)).collect();
    let mut all = Vec::new();
    for symbol in &object.symbols {
        if symbol.kind != SymbolKind::KernelV2 || symbol.undefined {
            continue;
        }
        let place = || format!("the kernel's header {}", symbol.name);
        let bytes = object.bytes_at(symbol.address).ok_or_else(|| {
            malformed(place(), format!("its address {:#x} is in no section", symbol.address))
        })?;
        let header = bytes.first_chunk().ok_or_else(|| {
            let size = version_2::HEADER_SIZE;
            malformed(place(), format!("its section ends after {} bytes of {size}", bytes.len()))
        })?;
        let bytes = version_2::descriptor(header, &symbol.name)?;
        let descriptor = KernelDescriptor::read(&bytes, object.target.target.generation, &symbol.name)?;
        let entry = symbol.address.wrapping_add_signed(descriptor.entry_offset());
        if !object.sections.iter().any(|s| s.code && s.address <= entry && entry - s.address < s.size) {
            return Err(malformed(place(), format!("its entry {entry:#x} is outside of all code")));
        }
        all.push(Kernel {
            name: symbol.name.clone(),
            descriptor,
            descriptor_address: symbol.address,
            entry,
            size: symbol.address.wrapping_add(symbol.size).saturating_sub(entry),
            metadata: described.get(symbol.name.as_str()).copied(),
        });
    }
    all.sort_by_key(|k| k.entry);
    Ok(all)
}

/// Reads the whole file.
pub(super) fn read(bytes: &[u8], known: Option<Arc<Metadata>>) -> Result<CodeObject<'_>, Error> {
    let Head { version, target, flags, file } = header(bytes)?;
    let table = file.sections(LE, bytes).map_err(|e| malformed("the section table", e))?;
    let mut found = symbols(file, &table, bytes, elf::SHT_SYMTAB, ".symtab")?;
    if found.is_empty() {
        found = symbols(file, &table, bytes, elf::SHT_DYNSYM, ".dynsym")?;
    }
    let mut metadata = known.map(Ok);
    notes(file, bytes, &mut |name, kind, desc| {
        let read: fn(&[u8]) -> Result<Metadata, Error> = match (name, kind) {
            (b"AMDGPU", NOTE_METADATA) if version > 2 => Metadata::read,
            (b"AMD", NOTE_V2_METADATA) if version == 2 => version_2::metadata,
            _ => return,
        };
        metadata.get_or_insert_with(|| read(desc).map(Arc::new));
    })?;
    let mut object = CodeObject {
        version,
        target,
        flags,
        sections: sections(&table, bytes)?,
        symbols: found,
        relocations: relocations(file, &table, bytes)?,
        metadata: metadata.unwrap_or_else(|| Ok(Arc::default()))?,
        kernels: Vec::new(),
    };
    object.kernels = if version == 2 { kernels_2(&object)? } else { kernels(&object)? };
    let names: HashSet<&str> = object.symbols.iter().map(|s| s.name.as_str()).collect();
    if let Some(missing) = object.metadata.kernels.iter().find(|m| !names.contains(m.symbol.as_str())) {
        return Err(malformed(
            "the metadata",
            format!("there is no symbol {} for its kernel", missing.symbol),
        ));
    }
    Ok(object)
}
