//! Loads LLVM's ELF objects into one mapping: relocates them, then makes them executable and read-only.

mod lines;

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Arc;

use object::elf;
use object::read::elf::ElfFile64;
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SectionIndex, SectionKind,
};

/// Why an object cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The bytes are not an object that this loader supports.
    Malformed(String),
    /// An undefined symbol.
    Unresolved(String),
    /// The system cannot map the memory.
    Memory(String),
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Malformed(what) => write!(f, "the object is malformed: {what}"),
            LoadError::Unresolved(name) => write!(f, "no symbol `{name}`"),
            LoadError::Memory(what) => write!(f, "no memory for code: {what}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// Code in memory; unmapped on drop.
#[derive(Debug)]
pub struct Loaded {
    start: *mut u8,
    size: usize,
    /// The line table, relocated.
    lines: Arc<Vec<u8>>,
    symbols: HashMap<String, usize>,
}

// SAFETY: after loading, the mapping is only read and executed.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

fn malformed(what: impl std::fmt::Display) -> LoadError {
    LoadError::Malformed(what.to_string())
}

/// Bytes of a stub: `jmp [rip + 0]` and the target address.
const STUB: usize = 16;

/// The address of a C library function that LLVM may call.
fn library_function(name: &str) -> Option<usize> {
    let name = CString::new(name).ok()?;
    // SAFETY: looks up a name in libraries that are already loaded.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address as usize)
}

/// A mapping under construction.
struct Mapping {
    start: *mut u8,
    size: usize,
}

impl Mapping {
    fn new(size: usize) -> Result<Self, LoadError> {
        // SAFETY: creates a new anonymous mapping.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(LoadError::Memory(std::io::Error::last_os_error().to_string()));
        }
        Ok(Mapping { start: start.cast(), size })
    }

    fn put(&self, at: usize, bytes: &[u8]) -> Result<(), LoadError> {
        if at.checked_add(bytes.len()).is_none_or(|end| end > self.size) {
            return Err(malformed("a relocation lies outside"));
        }
        // SAFETY: the range was checked, and nothing else uses the mapping.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at), bytes.len()) };
        Ok(())
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` and not used afterwards.
        unsafe { libc::munmap(self.start.cast::<c_void>(), self.size) };
    }
}

impl Loaded {
    /// Loads an object.
    pub fn load(bytes: &[u8]) -> Result<Loaded, LoadError> {
        let file = ElfFile64::<object::LittleEndian>::parse(bytes).map_err(malformed)?;
        let wanted = |kind| {
            matches!(
                kind,
                SectionKind::Text
                    | SectionKind::ReadOnlyData
                    | SectionKind::ReadOnlyString
                    | SectionKind::ReadOnlyDataWithRel
            )
        };
        let mut places: HashMap<SectionIndex, usize> = HashMap::new();
        let mut end = 0usize;
        let mut relocations = 0usize;
        for section in file.sections().filter(|s| wanted(s.kind())) {
            let align =
                usize::try_from(section.align()).map_err(malformed)?.clamp(1, 4096).next_power_of_two();
            end = end.next_multiple_of(align);
            places.insert(section.index(), end);
            let size = usize::try_from(section.size()).map_err(malformed)?;
            end = end
                .checked_add(size)
                .filter(|e| *e < 1 << 30)
                .ok_or_else(|| malformed("a section is too large"))?;
            relocations += section.relocations().count();
        }
        let stubs = end.next_multiple_of(16);
        let mapping = Mapping::new((stubs + relocations * STUB).next_multiple_of(4096).max(4096))?;
        for section in file.sections().filter(|s| wanted(s.kind())) {
            mapping.put(places[&section.index()], section.data().map_err(malformed)?)?;
        }
        let base = mapping.start as usize;
        let mut stub_at: HashMap<String, usize> = HashMap::new();
        let mut next_stub = stubs;
        for section in file.sections().filter(|s| wanted(s.kind())) {
            for (offset, r) in section.relocations() {
                let at = places[&section.index()].wrapping_add(offset as usize);
                let RelocationTarget::Symbol(index) = r.target() else {
                    return Err(malformed("a relocation without symbol"));
                };
                let symbol = file.symbol_by_index(index).map_err(malformed)?;
                let target = match symbol.section_index() {
                    Some(s) => {
                        let place = places
                            .get(&s)
                            .ok_or_else(|| malformed("a symbol in a section that is not loaded"))?;
                        base.wrapping_add(*place).wrapping_add(symbol.address() as usize)
                    }
                    None => {
                        let name = symbol.name().map_err(malformed)?;
                        if let Some(&stub) = stub_at.get(name) {
                            base + stub
                        } else {
                            let address =
                                library_function(name).ok_or_else(|| LoadError::Unresolved(name.into()))?;
                            mapping.put(next_stub, &[0xff, 0x25, 0, 0, 0, 0])?;
                            mapping.put(next_stub + 6, &(address as u64).to_le_bytes())?;
                            stub_at.insert(name.into(), next_stub);
                            next_stub += STUB;
                            base + next_stub - STUB
                        }
                    }
                };
                let value = (target as i64).wrapping_add(r.addend());
                let relative = value.wrapping_sub((base + at) as i64);
                let RelocationFlags::Elf { r_type } = r.flags() else {
                    return Err(malformed("no ELF relocation"));
                };
                match r_type {
                    elf::R_X86_64_64 => mapping.put(at, &value.to_le_bytes())?,
                    elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => {
                        let v = i32::try_from(relative).map_err(|_| malformed("a reference is too far"))?;
                        mapping.put(at, &v.to_le_bytes())?;
                    }
                    elf::R_X86_64_PC64 => mapping.put(at, &relative.to_le_bytes())?,
                    other => return Err(malformed(format!("relocation type {other}"))),
                }
            }
        }
        let mut symbols = HashMap::new();
        for s in file.symbols().filter(|s| s.is_definition()) {
            if let (Ok(name), Some(place)) = (s.name(), s.section_index().and_then(|i| places.get(&i))) {
                let at = place.wrapping_add(s.address() as usize);
                if at < mapping.size {
                    symbols.insert(name.to_string(), at);
                }
            }
        }
        // SAFETY: covers the whole mapping, which we own.
        let done =
            unsafe { libc::mprotect(mapping.start.cast(), mapping.size, libc::PROT_READ | libc::PROT_EXEC) };
        if done != 0 {
            return Err(LoadError::Memory(std::io::Error::last_os_error().to_string()));
        }
        let lines = Arc::new(
            lines::relocated(&file, |section| Some(base + places.get(&section)?)).unwrap_or_default(),
        );
        let loaded = Loaded { start: mapping.start, size: mapping.size, symbols, lines };
        std::mem::forget(mapping);
        Ok(loaded)
    }

    /// A symbol's address.
    pub fn symbol(&self, name: &str) -> Option<*const u8> {
        // SAFETY: symbol offsets were checked to lie in the mapping.
        self.symbols.get(name).map(|&at| unsafe { self.start.add(at).cast_const() })
    }

    /// A function from an instruction's address to its source line. It stays valid after the code is
    /// unmapped.
    pub fn lines(&self) -> impl Fn(usize) -> Option<u32> + Send + Sync + use<> {
        let bytes = Arc::clone(&self.lines);
        move |address| lines::line_at(&bytes, address as u64)
    }

    /// The address range of the code.
    pub fn range(&self) -> (usize, usize) {
        (self.start as usize, self.start as usize + self.size)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: mapped when loaded; every user of the code keeps this alive.
        unsafe { libc::munmap(self.start.cast::<c_void>(), self.size) };
    }
}
