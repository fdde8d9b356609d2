//! Matrix instructions.

use tensor::{Fault, Matrix, Shared};
use wave::abi::{BlockCtx, WarpCtx};

use super::Caller;
use crate::fault::FaultKind;

/// A block's shared memory, whose first byte has the address `first`.
struct Tile<'a> {
    block: &'a BlockCtx,
    first: u64,
}

impl Tile<'_> {
    /// The memory that an instruction accesses. Rows have shared addresses, which begin at the block's window
    /// in its cluster; the descriptors of `wgmma` have no bits for that, and count from the block's own
    /// memory.
    fn of<'a>(block: &'a BlockCtx, matrix: &Matrix) -> Tile<'a> {
        let first = if matches!(matrix, Matrix::Wgmma(_)) { 0 } else { block.cluster.window() };
        Tile { block, first }
    }

    fn place(&self, at: u64, size: usize) -> Option<*mut u8> {
        let offset = at.checked_sub(self.first)?;
        let end = offset.checked_add(size as u64)?;
        let own = self.block.shared.wrapping_add(self.block.cluster.window() as usize);
        (end <= u64::from(self.block.shared_total)).then(|| own.wrapping_add(offset as usize))
    }
}

impl Shared for Tile<'_> {
    fn read(&self, at: u64, to: &mut [u8]) -> bool {
        let Some(from) = self.place(at, to.len()) else { return false };
        // SAFETY: `place` checked that the block has these bytes; they hold no Rust value.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
        true
    }

    fn write(&self, at: u64, from: &[u8]) -> bool {
        let Some(to) = self.place(at, from.len()) else { return false };
        // SAFETY: see `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        true
    }
}

/// The runtime function; see [`wave::abi::MatrixFn`].
pub(super) unsafe extern "C" fn matrix(
    warp: *mut WarpCtx,
    number: u64,
    mask: u32,
    args: *const u32,
    results: *mut u32,
) -> u32 {
    // SAFETY: the contract of `MatrixFn`.
    let caller = unsafe { Caller::new(warp) };
    caller.guard(mask.into(), |c| {
        let Some(matrix) = Matrix::of_number(number) else {
            c.fault(
                FaultKind::Internal,
                Some(mask.into()),
                None,
                format!("unknown matrix instruction {number:#x}"),
            );
            return false;
        };
        let [given, wanted] = matrix.sizes();
        // SAFETY: `MatrixFn` guarantees all lanes of each register of the operands and results.
        let (args, results) = unsafe {
            (std::slice::from_raw_parts(args, given), std::slice::from_raw_parts_mut(results, wanted))
        };
        let Err(fault) = matrix.run(mask, args, results, &Tile::of(c.block, &matrix)) else { return true };
        let (kind, at, lanes, what) = match fault {
            Fault::Outside(at, lanes) => (FaultKind::IllegalAddress, at, lanes, "outside shared memory"),
            Fault::Misaligned(at, lanes) => (FaultKind::MisalignedAddress, at, lanes, "a row is not aligned"),
        };
        c.fault(kind, Some(lanes.into()), Some(at), format!("{}: {what}", matrix.name()));
        false
    })
}
