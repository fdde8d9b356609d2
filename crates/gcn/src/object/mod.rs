//! The ELF file of a code object.

mod descriptor;
mod elf;
mod metadata;
mod version_2;

pub use descriptor::{Field, KernelDescriptor, SIZE as DESCRIPTOR_SIZE};
pub use elf::{Relocation, Section, Symbol, SymbolKind};
pub use metadata::{Argument, KernelMetadata, Metadata};

use std::sync::Arc;

use crate::target::TargetId;

/// Why a code object cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes are not an ELF file for AMD's GPUs.
    #[error("this is no AMD code object: {0}")]
    Foreign(String),
    /// The file is not what its format says.
    #[error("{place}: {reason}")]
    Malformed {
        /// The part of the file.
        place: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The file is valid, and of a kind that is not read.
    #[error("{0}")]
    Unsupported(String),
}

/// A kernel of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name: that of the descriptor's symbol, without `.kd`; in version 2 the symbol of its header.
    pub name: String,
    /// How the hardware starts it; in version 2 made of the header in front of its code.
    pub descriptor: KernelDescriptor,
    /// Address of the descriptor or header.
    pub descriptor_address: u64,
    /// Address of its first instruction.
    pub entry: u64,
    /// Size of its code in bytes; 0 if no symbol states it.
    pub size: u64,
    /// Index of its metadata in [`Metadata::kernels`].
    pub metadata: Option<usize>,
}

/// A code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeObject<'a> {
    /// Version of the format, 2 to 6.
    pub version: u8,
    /// What it was compiled for.
    pub target: TargetId,
    /// Flags of the ELF header.
    pub flags: u32,
    /// Its sections, in file order.
    pub sections: Vec<Section<'a>>,
    /// Its symbols: those of `.symtab`, or of `.dynsym` if the file is stripped.
    pub symbols: Vec<Symbol>,
    /// Its relocations.
    pub relocations: Vec<Relocation>,
    /// Its metadata.
    pub metadata: Arc<Metadata>,
    /// Its kernels, by address.
    pub kernels: Vec<Kernel>,
}

impl<'a> CodeObject<'a> {
    /// Reads a code object.
    ///
    /// # Errors
    /// [`Error::Foreign`] if the bytes are something else, [`Error::Malformed`] with the place if they break
    /// the format's rules, [`Error::Unsupported`] for targets and versions that are not read.
    pub fn read(bytes: &'a [u8]) -> Result<CodeObject<'a>, Error> {
        elf::read(bytes, None)
    }

    /// Reads a code object again, with its metadata, which take most of the time.
    ///
    /// # Errors
    /// As [`CodeObject::read`].
    pub fn read_again(bytes: &'a [u8], metadata: Arc<Metadata>) -> Result<CodeObject<'a>, Error> {
        elf::read(bytes, Some(metadata))
    }

    /// The target of a code object, from its header alone.
    ///
    /// # Errors
    /// As [`CodeObject::read`].
    pub fn target_of(bytes: &[u8]) -> Result<TargetId, Error> {
        elf::header(bytes).map(|header| header.target)
    }

    /// The bytes at an address up to the end of the section that holds it; `None` outside of all sections.
    pub fn bytes_at(&self, address: u64) -> Option<&'a [u8]> {
        let holds = |s: &&Section<'a>| s.address <= address && address - s.address < s.bytes.len() as u64;
        let section = self.sections.iter().filter(|s| s.loaded).find(holds)?;
        section.bytes.get(usize::try_from(address - section.address).ok()?..)
    }

    /// The code of a kernel: as many bytes as its symbol says, or all up to the end of its section.
    pub fn code(&self, kernel: &Kernel) -> Option<&'a [u8]> {
        let bytes = self.bytes_at(kernel.entry)?;
        let size = usize::try_from(kernel.size).ok()?;
        Some(if size == 0 { bytes } else { bytes.get(..size).unwrap_or(bytes) })
    }
}
