//! `ldmatrix`, `stmatrix` and `movmatrix`: matrices of 8 × 8 16-bit elements, or of bytes, whose rows are in
//! shared memory (PTX ISA 9.7.16.5.15 and following).

use names::names;

use crate::LANES;
use crate::matrix::{Fault, Shared};

names! {
/// The operation.
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
/// The shape of a matrix.
#[derive(Default)]
pub enum Rows {
    /// 8 rows of 8 16-bit elements.
    #[default]
    M8n8 = "m8n8",
    /// 16 rows of 16 bytes, always transposed.
    M16n16 = "m16n16",
    /// 8 rows of 16 elements narrower than a byte, loaded as bytes.
    M8n16 = "m8n16",
    /// 16 rows of 8 bytes, always transposed.
    M16n8 = "m16n8",
}}

names! {
/// The format of elements in memory.
#[derive(Default)]
pub enum Source {
    /// The same as in registers.
    #[default]
    Same = "same",
    /// Sixteen 6-bit elements, then 32 bits of padding.
    B6 = "b6x16_p32",
    /// Sixteen 4-bit elements, then 64 bits of padding.
    B4 = "b4x16_p64",
    /// Sixteen signed 4-bit elements, sign-extended to bytes. Rows have no padding: 8 bytes, with the same
    /// alignment.
    S4 = "s4",
}}

/// A matrix movement. Operands of a load: each lane's address in shared memory; of a store, also the
/// registers; of a transposition, the register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Movement {
    /// The operation.
    pub action: Action,
    /// The shape of a matrix.
    pub rows: Rows,
    /// Number of matrices as a power of two: 0 to 2.
    pub count: u8,
    /// Whether the matrix is transposed.
    pub transposed: bool,
    /// The format of elements in memory.
    pub source: Source,
}

impl Movement {
    /// Whether such an instruction exists.
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

    /// Number of registers per lane.
    pub fn registers(&self) -> usize {
        let each = if self.rows == Rows::M16n16 { 2 } else { 1 };
        each << self.count.min(2)
    }

    /// Number of operands, of 32 bits each.
    pub fn operands(&self) -> usize {
        match self.action {
            Action::Load | Action::Transpose => 1,
            Action::Store => 1 + self.registers(),
        }
    }

    /// Number of results, of 32 bits each.
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

    /// The instruction with this number; `None` if there is none.
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

    /// The spelling; [`Movement::of_name`] parses it.
    pub fn name(&self) -> String {
        let mut name = format!("{}.{}.x{}", self.action.name(), self.rows.name(), 1 << self.count.min(2));
        name += if self.transposed { ".trans" } else { "" };
        if self.source != Source::Same {
            name += ".";
            name += self.source.name();
        }
        name
    }

    /// The instruction with this spelling.
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

    /// Number of rows of a matrix.
    fn height(&self) -> usize {
        if matches!(self.rows, Rows::M16n16 | Rows::M16n8) { 16 } else { 8 }
    }

    /// Bytes of a row in memory, which is also its alignment.
    fn width(&self) -> usize {
        if self.rows == Rows::M16n8 || self.source == Source::S4 { 8 } else { 16 }
    }

    /// Bytes of an element in registers.
    fn element(&self) -> usize {
        if self.rows == Rows::M8n8 { 2 } else { 1 }
    }

    /// The position of byte `byte` of register `register` of a lane: the row (counted over all matrices) and
    /// the byte in it.
    fn place(&self, register: usize, lane: usize, byte: usize) -> (usize, usize) {
        let (major, minor) = (lane / 4, lane % 4 * 4 + byte);
        let size = self.element();
        if !self.transposed {
            return (register * self.height() + major, minor);
        }
        // The lane's row is a column of the matrix, so each of its elements is in a different row.
        let (element, part) = (minor / size, minor % size);
        match self.rows {
            Rows::M8n8 => (register * 8 + element, major * size + part),
            // Two registers per matrix: columns 0 to 7, then 8 to 15.
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
        // The rows of all matrices in sequence.
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

    /// Moves one row, whose address lane `row` provides, unless that lane is inactive.
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

    /// Expands elements narrower than a byte to bytes: six bits to the lower part, four bits to the middle,
    /// or sign-extended.
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
