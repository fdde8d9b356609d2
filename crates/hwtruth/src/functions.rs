//! The approximate functions on every operand (`tests/hw/README.md` has the formats).

use crate::{Error, read_text, tests_folder, text_error};

/// Operands that one recorded sum is of.
pub const SUM: u64 = 1 << 20;
/// Operands that a block of a `sums_` kernel takes.
pub const TILE: u64 = 1 << 16;
/// Threads of a block, in both kernels.
pub const BLOCK: u32 = 256;

/// A function from 32 bits to 32 bits.
#[derive(Clone, Debug)]
pub struct Function {
    /// The instruction.
    pub name: String,
    /// How many bits of the operand count.
    pub bits: u32,
    body: String,
}

impl Function {
    /// The name of one of the function's kernels in [`Function::module`]: `kind` is `sums` or `values`.
    pub fn kernel(&self, kind: &str) -> String {
        format!("{kind}_{}", self.name.replace('.', "_"))
    }

    /// The number of recorded sums.
    pub fn sums(&self) -> usize {
        ((1u64 << self.bits) / SUM).max(1) as usize
    }

    /// The PTX of the function's kernels.
    ///
    /// # Errors
    /// The template is absent.
    pub fn module(&self) -> Result<String, Error> {
        let template = read_text(&tests_folder("hw/functions.ptx"))?;
        let name = self.name.replace('.', "_");
        let kernels = template.replace("{name}", &name).replace("{body}", &self.body);
        Ok(format!(".version 8.6\n.target sm_90\n.address_size 64\n{kernels}"))
    }
}

/// Every function, in the table's order.
///
/// # Errors
/// The table is absent or not as its README says.
pub fn functions() -> Result<Vec<Function>, Error> {
    let path = tests_folder("hw/functions.tsv");
    let text = read_text(&path)?;
    let rows = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    rows.map(|(number, line)| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [name, bits, body] = columns.as_slice() else {
            return Err(text_error(&path, number + 1, "three columns expected"));
        };
        let bits = bits.parse().ok().filter(|b| (16..=32).contains(b));
        let bits = bits.ok_or_else(|| text_error(&path, number + 1, "16 to 32 bits expected"))?;
        Ok(Function { name: (*name).to_owned(), bits, body: (*body).to_owned() })
    })
    .collect()
}

/// The recorded sums of each function, in the table's order.
///
/// # Errors
/// The recording is absent, damaged, or of another table.
pub fn recorded(functions: &[Function]) -> Result<Vec<Vec<u64>>, Error> {
    let path = tests_folder("hw/functions.hw.zst");
    let damaged = |reason: &str| Error::Damaged { path: path.clone(), reason: reason.to_owned() };
    let bytes = crate::decompressed(&path)?;
    let (header, mut rest) = crate::split_header(&bytes).ok_or_else(|| damaged("there is no line `end`"))?;
    let mut lines = header.lines();
    if lines.next() != Some("anywarp-functions 1") {
        return Err(damaged("the first line is not `anywarp-functions 1`"));
    }
    let table = lines.skip(2);
    if !table.eq(functions.iter().map(|f| format!("{} {}", f.name, f.sums()))) {
        return Err(damaged("it is not of the functions in functions.tsv"));
    }
    let mut sums = Vec::new();
    for f in functions {
        let (own, tail) = rest.split_at_checked(8 * f.sums()).ok_or_else(|| damaged("it is too short"))?;
        let words = own.chunks_exact(8).filter_map(|c| c.try_into().ok()).map(u64::from_le_bytes);
        sums.push(words.collect());
        rest = tail;
    }
    Ok(sums)
}
