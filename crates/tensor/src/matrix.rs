//! All matrix instructions of a warp, and their access to shared memory.

use crate::mma::Mma;
use crate::movement::Movement;
use crate::wgmma::Wgmma;

/// An instruction without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// A product of fragments.
    Mma(Mma),
    /// Moves a matrix between shared memory and registers, or between registers.
    Move(Movement),
    /// A warp's part of a product with operands in shared memory.
    Wgmma(Wgmma),
}

/// The shared memory of the warp's block, addressed by offset.
pub trait Shared {
    /// Copies bytes out; false if they are not all inside shared memory.
    fn read(&self, at: u64, to: &mut [u8]) -> bool;
    /// Copies bytes in; false if they do not all fit inside shared memory.
    fn write(&self, at: u64, from: &[u8]) -> bool;
}

/// Why an instruction faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A row or element outside the block's shared memory: its address, and the lane that asked for it.
    Outside(u64, u32),
    /// A row that is not aligned to its size: its address, and the lane that asked for it.
    Misaligned(u64, u32),
}

/// First bit of the instruction's kind in its number.
const KIND: u32 = 61;

impl Matrix {
    /// The instruction as a number.
    pub fn number(&self) -> u64 {
        let (kind, number) = match self {
            Matrix::Mma(x) => (0, x.number()),
            Matrix::Move(x) => (1, u64::from(x.number())),
            Matrix::Wgmma(x) => (2, x.number()),
        };
        kind << KIND | number
    }

    /// The instruction with this number; `None` if there is none.
    pub fn of_number(number: u64) -> Option<Matrix> {
        let rest = number & ((1 << KIND) - 1);
        match number >> KIND {
            0 => Mma::of_number(rest).map(Matrix::Mma),
            1 => Movement::of_number(u32::try_from(rest).ok()?).map(Matrix::Move),
            2 => Wgmma::of_number(rest).map(Matrix::Wgmma),
            _ => None,
        }
    }

    /// The spelling; [`Matrix::of_name`] parses it.
    pub fn name(&self) -> String {
        match self {
            Matrix::Mma(x) => format!("mma.{}", x.name()),
            Matrix::Move(x) => x.name(),
            Matrix::Wgmma(x) => format!("wgmma.{}", x.name()),
        }
    }

    /// The instruction with this spelling.
    pub fn of_name(name: &str) -> Option<Matrix> {
        match name.split_once('.') {
            Some(("mma", rest)) => Mma::of_name(rest).map(Matrix::Mma),
            Some(("wgmma", rest)) => Wgmma::of_name(rest).map(Matrix::Wgmma),
            _ => Movement::of_name(name).map(Matrix::Move),
        }
    }

    /// The width in bits of each operand.
    pub fn operands(&self) -> Vec<u32> {
        match self {
            Matrix::Mma(x) => x.operands(),
            Matrix::Move(x) => vec![32; x.operands()],
            Matrix::Wgmma(x) => x.operands(),
        }
    }

    /// The width in bits of each result.
    pub fn results(&self) -> Vec<u32> {
        match self {
            Matrix::Mma(x) => x.results(),
            Matrix::Move(x) => vec![32; x.results()],
            Matrix::Wgmma(x) => x.product.results(),
        }
    }

    /// The instruction with the hardware's bits.
    pub fn exact(self) -> Matrix {
        let exact = |x: Mma| Mma { relaxed: false, ..x };
        match self {
            Matrix::Mma(x) => Matrix::Mma(exact(x)),
            Matrix::Wgmma(x) => Matrix::Wgmma(Wgmma { product: exact(x.product), ..x }),
            Matrix::Move(_) => self,
        }
    }

    /// Whether its sums may be rounded anywhere.
    pub fn is_relaxed(&self) -> bool {
        match self {
            Matrix::Mma(x) => x.relaxed,
            Matrix::Wgmma(x) => x.product.relaxed,
            Matrix::Move(_) => false,
        }
    }

    /// Whether its elements are f64.
    pub fn of_doubles(&self) -> bool {
        matches!(self, Matrix::Mma(x) if x.of_doubles())
    }

    /// Number of words that registers of these widths occupy in all lanes.
    pub fn words(bits: &[u32]) -> usize {
        bits.iter().map(|b| (b / 32) as usize * crate::LANES).sum()
    }

    /// [`Matrix::words`] of the operands and of the results.
    pub fn sizes(&self) -> [usize; 2] {
        let words = match self {
            Matrix::Mma(x) => x.words(),
            Matrix::Move(x) => [x.operands(), x.results()],
            Matrix::Wgmma(x) => x.words(),
        };
        words.map(|n| n * crate::LANES)
    }

    /// Runs the instruction for the lanes of `mask`. `args` holds the operands' registers in sequence, each
    /// for all lanes: 32 words, or 64 for a 64-bit register (low word first). `results` has the same layout.
    /// Missing `args` are zero.
    ///
    /// # Errors
    /// An access to shared memory is out of bounds or misaligned.
    pub fn run(
        &self,
        mask: u32,
        args: &[u32],
        results: &mut [u32],
        shared: &dyn Shared,
    ) -> Result<(), Fault> {
        match self {
            Matrix::Mma(x) => {
                crate::warp::run(x, args, results);
                Ok(())
            }
            Matrix::Move(x) => x.run(mask, args, results, shared),
            Matrix::Wgmma(x) => x.run(mask, args, results, shared),
        }
    }
}
