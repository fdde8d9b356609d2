//! Archives of host objects, and single objects: finds the device code that the host compiler stored in their
//! sections.

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection, ObjectSymbol};

use crate::fatbin::{self, EntryKind};
use crate::{Contents, Error, read_u32};

/// Sections with fatbins in sequence: of relocatable code, and of whole programs.
const SECTIONS: [&str; 2] = ["__nv_relfatbin", ".nv_fatbin"];

/// A member's device code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its name in the archive; empty for a single object.
    pub name: String,
    /// PTX that the device can use.
    pub texts: Vec<Vec<u8>>,
    /// Functions and variables for the linker that exist only as machine code.
    pub machine_code: Vec<String>,
    /// What it has besides that PTX and nothing else: the targets of machine code, and of PTX for later
    /// devices.
    pub devices: Contents,
}

/// The members of an archive, or the single object, with device code for a device of `capability` (86 for
/// 8.6).
pub fn library(bytes: &[u8], capability: u32) -> Result<Vec<Member>, Error> {
    let Ok(archive) = ArchiveFile::parse(bytes) else {
        let member = member(String::new(), bytes, capability)?.ok_or(Error::Invalid)?;
        return Ok(Some(member).into_iter().filter(has_code).collect());
    };
    let mut members = Vec::new();
    for entry in archive.members() {
        let entry = entry.map_err(|_| Error::Invalid)?;
        let data = entry.data(bytes).map_err(|_| Error::Invalid)?;
        let name = String::from_utf8_lossy(entry.name()).into_owned();
        // Members that are not object files are skipped.
        members.extend(member(name, data, capability)?.filter(has_code));
    }
    Ok(members)
}

fn has_code(m: &Member) -> bool {
    !m.texts.is_empty() || m.devices != Contents::default()
}

/// The device code of a member; `None` if it is not an object file.
fn member(name: String, bytes: &[u8], capability: u32) -> Result<Option<Member>, Error> {
    let Ok(file) = object::File::parse(bytes) else { return Ok(None) };
    let mut member = Member { name, ..Member::default() };
    let (mut devices, mut later) = (Vec::new(), Vec::new());
    for section in SECTIONS.iter().filter_map(|s| file.section_by_name(s)) {
        let Ok(data) = section.data() else { return Ok(None) };
        for one in fatbins(data) {
            match fatbin::best_text(one, capability) {
                Ok(text) => member.texts.push(text),
                Err(Error::Broken(reason)) => {
                    let place =
                        if member.name.is_empty() { String::new() } else { format!("{}: ", member.name) };
                    return Err(Error::Broken(format!("{place}{reason}")));
                }
                Err(_) => {
                    member.machine_code.extend(symbols(one));
                    let contents = fatbin::contents(one);
                    devices.extend(contents.machine_code);
                    later.extend(contents.ptx);
                }
            }
        }
    }
    member.devices = Contents::new(devices, later);
    Ok(Some(member))
}

/// The fatbins of a section, which has zero padding between them.
fn fatbins(mut section: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    while let Some(word) = read_u32(section, 0) {
        let size = match word {
            0 => 4,
            _ => {
                let size = fatbin::total_size(section).and_then(|n| usize::try_from(n).ok());
                let Some(one) = size.and_then(|n| section.get(..n)) else { break };
                found.push(one);
                one.len()
            }
        };
        section = section.get(size..).unwrap_or(&[]);
    }
    found
}

/// The symbols that the first machine code of a fatbin exports. Machine code for other devices exports the
/// same.
fn symbols(one: &[u8]) -> Vec<String> {
    let code =
        fatbin::entries(one).into_iter().find(|e| e.kind == EntryKind::Elf).and_then(|e| e.unpack().ok());
    let Some(code) = code else { return Vec::new() };
    let Ok(file) = object::File::parse(code.as_slice()) else { return Vec::new() };
    let global = file.symbols().filter(|s| s.is_definition() && s.is_global());
    global.filter_map(|s| s.name().ok().filter(|n| !n.is_empty()).map(String::from)).collect()
}
