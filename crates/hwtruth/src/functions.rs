//! The approximate functions on every operand (`tests/hw/README.md` describes the formats).

use crate::recording::{Header, load};
use crate::{Error, read_text, rows};

/// Number of operands per recorded sum.
pub const SUM: u64 = 1 << 20;
/// Number of operands per block of a `sums_` kernel.
pub const TILE: u64 = 1 << 16;
/// Threads per block, in both kernels.
pub const BLOCK: u32 = 256;

/// A function from 32 bits to 32 bits.
#[derive(Clone, Debug)]
pub struct Function {
    /// The instruction.
    pub name: String,
    /// Number of significant bits of the operand.
    pub bits: u32,
    body: String,
}

impl Function {
    /// The name of one of the function's kernels in [`Function::module`]; `kind` is `sums` or `values`.
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
    /// The template is missing.
    pub fn module(&self) -> Result<String, Error> {
        let template = read_text("hw/functions.ptx")?;
        let name = self.name.replace('.', "_");
        let kernels = template.replace("{name}", &name).replace("{body}", &self.body);
        Ok(format!(".version 8.6\n.target sm_90\n.address_size 64\n{kernels}"))
    }
}

/// Every function, in the table's order.
///
/// # Errors
/// The table is missing or does not have the format in its README.
pub fn functions() -> Result<Vec<Function>, Error> {
    rows("hw/functions.tsv", |[name, bits, body]| {
        let bits = bits.parse().ok().filter(|b| (16..=32).contains(b)).ok_or("16 to 32 bits expected")?;
        Ok(Function { name: name.to_owned(), bits, body: body.to_owned() })
    })
}

/// The recorded sums of each function, in the table's order.
///
/// # Errors
/// The recording is missing or damaged, or belongs to another table.
pub fn recorded(functions: &[Function]) -> Result<Vec<Vec<u64>>, Error> {
    load("hw/functions.hw.zst", |bytes| {
        let mut header = Header::read("anywarp-functions 1", bytes)?;
        if !header.lines.clone().eq(functions.iter().map(|f| format!("{} {}", f.name, f.sums()))) {
            return Err("it does not belong to the functions in functions.tsv".to_owned());
        }
        let sums = |f: &Function| {
            let words = header.take(&f.name, 8 * f.sums())?.chunks_exact(8);
            Ok(words.filter_map(|c| c.try_into().ok()).map(u64::from_le_bytes).collect())
        };
        functions.iter().map(sums).collect()
    })
}
