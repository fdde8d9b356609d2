//! `ldmatrix`, `stmatrix` and `movmatrix`: matrices of 8 × 8 halves, or of bytes, whose rows lie in shared memory (PTX ISA 9.7.16.5.15 on).

use names::names;

use crate::LANES;
use crate::matrix::{Fault, Shared};

names! {
/// What is done.
#[derive(Default)]
pub enum Action {
    /// `ldmatrix`.
    #[default]
    Load = "ldmatrix",
    /// `stmatrix`.
    Store = "stmatrix",
    /// `movmatrix`: transposes in registers.
    Transpose = "movmatrix",
}}

names! {
/// The rows of a matrix.
#[derive(Default)]
pub enum Rows {
    /// 8 rows of 8 halves.
    #[default]
    M8n8 = "m8n8",
    /// 16 rows of 16 bytes, always transposed.
    M16n16 = "m16n16",
    /// 8 rows of 16 elements of less than a byte, loaded as bytes.
    M8n16 = "m8n16",
    /// 16 rows of 8 bytes, always transposed.
    M16n8 = "m16n8",
}}

names! {
/// What elements are in memory.
#[derive(Default)]
pub enum Source {
    /// As in registers.
    #[default]
    Same = "same",
    /// Sixteen of six bits, then 32 bits that do not count.
    B6 = "b6x16_p32",
    /// Sixteen of four bits, then 64 bits that do not count.
    B4 = "b4x16_p64",
    /// Sixteen of four bits with a sign, which become bytes of the same value. Nothing lies between rows: they have 8 bytes and are aligned so.
    S4 = "s4",
}}

/// A matrix that is moved. Operands: of a load each lane's address in shared memory, of a store also the registers; of a transposition the register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Movement {
    /// What is done.
    pub action: Action,
    /// The rows.
    pub rows: Rows,
    /// Matrices as a power of two: 0 to 2.
    pub count: u8,
    /// Columns are moved as rows.
    pub transposed: bool,
    /// What elements are in memory.
    pub source: Source,
}

impl Movement {
    /// Whether there is such an instruction.
    pub fn is_legal(&self) -> bool {
        let plain = self.source == Source::Same;
        match (self.action, self.rows) {
            (Action::Load, Rows::M8n8) => self.count <= 2 && plain,
            (Action::Load, Rows::M16n16) => self.count <= 1 && self.transposed,
            (Action::Load, Rows::M8n16) => self.count <= 2 && !self.transposed && !plain,
            (Action::Store, Rows::M8n8) => self.count <= 2 && plain,
            (Action::Store, Rows::M16n8) => self.count <= 2 && self.transposed && plain,
            (Action::Transpose, Rows::M8n8) => self.count == 0 && self.transposed && plain,
            _ => false,
        }
    }

    /// Registers of a lane.
    pub fn registers(&self) -> usize {
        let each = if self.rows == Rows::M16n16 { 2 } else { 1 };
        each << self.count.min(2)
    }

    /// Operands, of 32 bits each.
    pub fn operands(&self) -> usize {
        match self.action {
            Action::Load | Action::Transpose => 1,
            Action::Store => 1 + self.registers(),
        }
    }

    /// Results, of 32 bits each.
    pub fn results(&self) -> usize {
        if self.action == Action::Store { 0 } else { self.registers() }
    }

    /// The instruction as a number.
    pub fn number(self) -> u32 {
        (self.action as u32)
            | (self.rows as u32) << 2
            | u32::from(self.count & 3) << 4
            | u32::from(self.transposed) << 6
            | (self.source as u32) << 7
    }

    /// The instruction of a number; none of one that is none.
    pub fn of_number(number: u32) -> Option<Movement> {
        let x = Movement {
            action: *Action::ALL.get((number & 3) as usize)?,
            rows: *Rows::ALL.get((number >> 2 & 3) as usize)?,
            count: (number >> 4 & 3) as u8,
            transposed: number >> 6 & 1 == 1,
            source: *Source::ALL.get((number >> 7) as usize)?,
        };
        x.is_legal().then_some(x)
    }

    /// The spelling; [`Movement::of_name`] reads it back.
    pub fn name(&self) -> String {
        let mut name = format!("{}.{}.x{}", self.action.name(), self.rows.name(), 1 << self.count.min(2));
        name += if self.transposed { ".trans" } else { "" };
        if self.source != Source::Same {
            name += ".";
            name += self.source.name();
        }
        name
    }

    /// The instruction of a spelling.
    pub fn of_name(name: &str) -> Option<Movement> {
        let mut words = name.split('.');
        let mut x = Movement {
            action: Action::from_name(words.next()?)?,
            rows: Rows::from_name(words.next()?)?,
            count: words.next()?.strip_prefix('x')?.parse::<u32>().ok()?.checked_ilog2()? as u8,
            ..Movement::default()
        };
        for word in words {
            match word {
                "trans" => x.transposed = true,
                _ => x.source = Source::from_name(word)?,
            }
        }
        (x.is_legal() && x.name() == name).then_some(x)
    }

    /// Rows of a matrix.
    fn height(&self) -> usize {
        if matches!(self.rows, Rows::M16n16 | Rows::M16n8) { 16 } else { 8 }
    }

    /// Bytes of a row in memory, to which it is aligned.
    fn width(&self) -> usize {
        if self.rows == Rows::M16n8 || self.source == Source::S4 { 8 } else { 16 }
    }

    /// Bytes of an element in registers.
    fn element(&self) -> usize {
        if self.rows == Rows::M8n8 { 2 } else { 1 }
    }

    /// Where byte `byte` of register `register` of a lane stands: the row (counted over all matrices) and its byte there.
    fn place(&self, register: usize, lane: usize, byte: usize) -> (usize, usize) {
        let (major, minor) = (lane / 4, lane % 4 * 4 + byte);
        let size = self.element();
        if !self.transposed {
            return (register * self.height() + major, minor);
        }
        // The lane's row is a column of the matrix: of its elements each stands in a row of its own.
        let (element, part) = (minor / size, minor % size);
        match self.rows {
            Rows::M8n8 => (register * 8 + element, major * size + part),
            // Two registers a matrix: columns 0 to 7, then 8 to 15.
            Rows::M16n16 => (register / 2 * 16 + element, major + register % 2 * 8),
            _ => (register * 16 + element, major),
        }
    }

    /// Runs the instruction.
    pub(crate) fn run(
        &self,
        mask: u32,
        args: &[u32],
        results: &mut [u32],
        shared: &dyn Shared,
    ) -> Result<(), Fault> {
        let (height, count) = (self.height(), 1usize << self.count.min(2));
        let rows = (height * count).min(64);
        // All matrices' rows, one after the other.
        let mut tile = [[0u8; 16]; 64];
        let word = |at: usize| args.get(at).copied().unwrap_or(0);
        match self.action {
            Action::Transpose => {
                for lane in 0..LANES {
                    tile[lane / 4][lane % 4 * 4..][..4].copy_from_slice(&word(lane).to_le_bytes());
                }
            }
            Action::Load => {
                for (row, to) in tile.iter_mut().enumerate().take(rows) {
                    let moved = &mut to[..self.width()];
                    self.row(mask, row, word(row % LANES), |at| shared.read(at, moved))?;
                    self.unpacked(to);
                }
            }
            Action::Store => {
                for register in 0..self.registers() {
                    for lane in 0..LANES {
                        for (byte, v) in
                            word((1 + register) * LANES + lane).to_le_bytes().into_iter().enumerate()
                        {
                            let (row, at) = self.place(register, lane, byte);
                            tile[row][at] = v;
                        }
                    }
                }
                for (row, from) in tile.iter().enumerate().take(rows) {
                    self.row(mask, row, word(row % LANES), |at| shared.write(at, &from[..self.width()]))?;
                }
                return Ok(());
            }
        }
        for register in 0..self.registers() {
            for lane in 0..LANES {
                let byte = |b: usize| {
                    let (row, at) = self.place(register, lane, b);
                    tile[row][at]
                };
                if let Some(to) = results.get_mut(register * LANES + lane) {
                    *to = u32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]);
                }
            }
        }
        Ok(())
    }

    /// Moves a row, whose address lane `row` gives, unless that lane is not there.
    fn row(&self, mask: u32, row: usize, address: u32, moved: impl FnOnce(u64) -> bool) -> Result<(), Fault> {
        let lane = 1u32 << (row % LANES);
        let at = u64::from(address);
        match () {
            () if mask & lane == 0 => Ok(()),
            () if !(address as usize).is_multiple_of(self.width()) => Err(Fault::Misaligned(at, lane)),
            () if !moved(at) => Err(Fault::Outside(at, lane)),
            () => Ok(()),
        }
    }

    /// Elements below a byte as bytes: six bits in the lower part of the byte, four bits in its middle, or extended by their sign.
    fn unpacked(&self, row: &mut [u8; 16]) {
        let bits = u128::from_le_bytes(*row);
        match self.source {
            Source::Same => {}
            Source::B6 => row.iter_mut().enumerate().for_each(|(i, to)| *to = (bits >> (6 * i) & 0x3f) as u8),
            Source::B4 => {
                row.iter_mut().enumerate().for_each(|(i, to)| *to = (bits >> (4 * i) & 0xf) as u8 * 4)
            }
            Source::S4 => {
                let extended = |v: u8| ((v << 4) as i8 >> 4) as u8;
                row.iter_mut().enumerate().for_each(|(i, to)| *to = extended((bits >> (4 * i)) as u8));
            }
        }
    }
}
