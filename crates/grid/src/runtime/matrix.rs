//! Matrix instructions.

use tensor::{Fault, Matrix, Shared};
use wave::abi::{BlockCtx, WarpCtx};

use super::Caller;
use crate::fault::FaultKind;

/// A block's shared memory.
struct Tile<'a>(&'a BlockCtx);

impl Tile<'_> {
    fn place(&self, at: u64, size: usize) -> Option<*mut u8> {
        let end = at.checked_add(size as u64)?;
        (end <= u64::from(self.0.shared_total)).then(|| self.0.shared.wrapping_add(at as usize))
    }
}

impl Shared for Tile<'_> {
    fn read(&self, at: u64, to: &mut [u8]) -> bool {
        let Some(from) = self.place(at, to.len()) else { return false };
        // SAFETY: `place` checked that the block has these bytes; they are no Rust value.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), to.len()) };
        true
    }

    fn write(&self, at: u64, from: &[u8]) -> bool {
        let Some(to) = self.place(at, from.len()) else { return false };
        // SAFETY: as for `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        true
    }
}

/// The runtime's entry, see [`wave::abi::MatrixFn`].
pub(super) unsafe extern "C" fn matrix(
    warp: *mut WarpCtx,
    number: u64,
    mask: u32,
    args: *const u32,
    results: *mut u32,
) -> u32 {
    // SAFETY: the contract of `MatrixFn`.
    let caller = unsafe { Caller::new(warp) };
    caller.guard(mask, |c| {
        let Some(matrix) = Matrix::of_number(number) else {
            c.fault(
                FaultKind::Internal,
                Some(mask),
                None,
                format!("there is no matrix instruction {number:#x}"),
            );
            return false;
        };
        let [given, wanted] = matrix.sizes();
        // SAFETY: `MatrixFn` promises all lanes of each register of the operands and results.
        let (args, results) = unsafe {
            (std::slice::from_raw_parts(args, given), std::slice::from_raw_parts_mut(results, wanted))
        };
        let Err(fault) = matrix.run(mask, args, results, &Tile(c.block)) else { return true };
        let (kind, at, lanes, what) = match fault {
            Fault::Outside(at, lanes) => (FaultKind::IllegalAddress, at, lanes, "outside shared memory"),
            Fault::Misaligned(at, lanes) => (FaultKind::MisalignedAddress, at, lanes, "a row is not aligned"),
        };
        c.fault(kind, Some(lanes), Some(at), format!("{}: {what}", matrix.name()));
        false
    })
}
