//! Matrix products.

use gcn::isa::Inst;

use crate::error::Result;
use crate::registers::Registers;

impl Registers {
    /// Lowers a matrix product; whether the name is one.
    pub fn matrix(&mut self, _inst: &Inst, _name: &str) -> Result<bool> {
        Ok(false)
    }
}
