//! Bulk copies, executed synchronously, one lane after another.

use wave::abi::{MAX_CLUSTER, WINDOW_BITS};
use wave::interp::memory;
use wave::mbarrier::{Update, Word};
use wave::op::{AtomOp, AtomTy, Bulk, Effect, Extent, Extra, Way};

use super::{Caller, Operands, lanes, mbarrier};
use crate::fault::FaultKind;
use crate::memory::copy_guarded;

/// Sizes and addresses of copies are multiples of this; a byte mask has a bit for each byte of it.
pub(super) const UNIT: u64 = 16;

/// The same for a fill.
const FILL_UNIT: u64 = 8;

/// A bulk copy of one lane, which reports failures as they occur.
pub(super) struct Copying<'a, 'b> {
    pub c: &'a Caller<'b>,
    pub bulk: Bulk,
    pub lane: u32,
}

/// Runs one copy per lane.
pub(super) fn run(c: &mut Caller, number: u32, mask: u64, operands: &Operands) -> bool {
    let Some(bulk) = Bulk::of_number(number) else {
        c.fault(FaultKind::Internal, Some(mask), None, format!("unknown bulk copy {number}"));
        return false;
    };
    lanes(mask).all(|lane| {
        let values: Vec<u64> = (0..bulk.operands().len()).map(|n| operands.get(n, lane)).collect();
        Copying { c, bulk, lane }.run(&values).is_some()
    })
}

/// The addresses of a multicast copy to `address`: one in each block of the mask.
pub(super) fn each(mask: u64, address: u64) -> impl Iterator<Item = u64> {
    let inside = address & ((1 << WINDOW_BITS) - 1);
    (0..u64::from(MAX_CLUSTER)).filter(move |r| mask >> r & 1 != 0).map(move |r| r << WINDOW_BITS | inside)
}

impl Copying<'_, '_> {
    fn run(&self, values: &[u64]) -> Option<()> {
        match (self.bulk.extent, self.bulk.way, values) {
            (Extent::Bytes, Way::Fill, &[to, size]) => {
                let place = self.shared(to, size, FILL_UNIT)?;
                // SAFETY: the bytes have just been checked.
                unsafe { place.write_bytes(0, size as usize) };
                Some(())
            }
            (Extent::Bytes, Way::Load, &[to, from, size, barrier, ref rest @ ..]) => {
                let (mut skip, mut end) = (0, size);
                if let (Extra::Ignore, &[left, right]) = (self.bulk.extra, rest) {
                    skip = left.min(size);
                    end = size.saturating_sub(right).max(skip);
                }
                self.global(from, size)?;
                let to_all = |mask: u64| -> Option<()> {
                    for place in each(mask, to) {
                        let place = self.shared(place, size, UNIT)?.wrapping_add(skip as usize);
                        self.copy(place, from.wrapping_add(skip) as *const u8, end - skip, from)?;
                    }
                    each(mask, barrier).try_for_each(|b| self.complete(b, size))
                };
                match (self.bulk.extra, rest) {
                    (Extra::Multicast, &[mask]) => to_all(mask),
                    _ => {
                        let place = self.shared(to, size, UNIT)?.wrapping_add(skip as usize);
                        self.copy(place, from.wrapping_add(skip) as *const u8, end - skip, from)?;
                        self.complete(barrier, size)
                    }
                }
            }
            (Extent::Bytes, Way::Across, &[to, from, size, barrier]) => {
                let (to, from) = (self.shared(to, size, UNIT)?, self.shared(from, size, UNIT)?);
                match self.bulk.effect {
                    // SAFETY: both ranges have just been checked.
                    Effect::Copy => unsafe { std::ptr::copy(from, to, size as usize) },
                    // SAFETY: see above; addresses are aligned to more than any element.
                    Effect::Reduce(op, ty) => unsafe { reduce(op, ty, Kept::Shared, to as u64, from, size) },
                    Effect::ReduceElements(_) => return self.malformed(),
                }
                self.complete(barrier, size)
            }
            (Extent::Bytes, Way::Store, &[to, from, size, ref rest @ ..]) => {
                let from = self.shared(from, size, UNIT)?;
                self.global(to, size)?;
                match (self.bulk.effect, rest) {
                    (Effect::Copy, &[]) => self.copy(to as *mut u8, from, size, to),
                    (Effect::Copy, &[mask]) => {
                        (0..size).filter(|n| mask >> (n % UNIT) & 1 != 0).try_for_each(|n| {
                            let place = to.wrapping_add(n);
                            self.copy(place as *mut u8, from.wrapping_add(n as usize), 1, place)
                        })
                    }
                    (Effect::Reduce(op, ty), &[]) => {
                        self.writable(to, size)?;
                        // SAFETY: both ranges have just been checked.
                        unsafe { reduce(op, ty, Kept::Subnormals, to, from, size) };
                        Some(())
                    }
                    _ => self.malformed(),
                }
            }
            (Extent::Tensor(rank, walk), _, values) => self.tensor(rank, walk, values),
            _ => self.malformed(),
        }
    }

    fn what(&self) -> String {
        format!("bulk copy ({})", self.bulk)
    }

    pub(super) fn tell(&self, kind: FaultKind, address: u64, detail: &str) {
        self.c.fault(kind, Some(1 << self.lane), Some(address), format!("{}: {detail}", self.what()));
    }

    pub(super) fn malformed<T>(&self) -> Option<T> {
        self.tell(FaultKind::Internal, 0, "operands are missing");
        None
    }

    /// The address of bytes in shared memory.
    pub(super) fn shared(&self, offset: u64, size: u64, align: u64) -> Option<*mut u8> {
        if !size.is_multiple_of(align) {
            self.tell(
                FaultKind::MisalignedAddress,
                offset,
                &format!("{size} bytes are not a multiple of {align}"),
            );
            return None;
        }
        self.c.shared(self.lane, offset, size, align, &self.what())
    }

    /// Checks the alignment of an address in global memory.
    fn global(&self, address: u64, size: u64) -> Option<()> {
        if address.is_multiple_of(UNIT) && size.is_multiple_of(UNIT) {
            return Some(());
        }
        self.tell(FaultKind::MisalignedAddress, address, &format!("the address is not a multiple of {UNIT}"));
        None
    }

    /// Copies between shared and global memory; `address` is the one in global memory.
    pub(super) fn copy(&self, to: *mut u8, from: *const u8, size: u64, address: u64) -> Option<()> {
        // SAFETY: one side is shared memory, which was checked; the guarded copy handles the other side, and
        // device memory contains nothing that Rust manages.
        if unsafe { copy_guarded(to, from, size as usize) }.is_ok() {
            return Some(());
        }
        self.tell(FaultKind::IllegalAddress, address, &format!("{size} bytes of global memory"));
        None
    }

    /// Checks that all bytes in global memory are writable.
    pub(super) fn writable(&self, address: u64, size: u64) -> Option<()> {
        let host = self.c.job.launch.host;
        if host.accessible(address, u32::try_from(size).ok()?, true) || host.heap().contains(address, size) {
            return Some(());
        }
        self.tell(FaultKind::IllegalAddress, address, &format!("{size} bytes of global memory"));
        None
    }

    /// Reports the bytes to a barrier.
    pub(super) fn complete(&self, barrier: u64, bytes: u64) -> Option<()> {
        let place = self.c.shared(self.lane, barrier, Word::SIZE, Word::SIZE, &self.what())?;
        let update = Update { bytes: (bytes as i32).wrapping_neg(), ..Update::default() };
        // SAFETY: the place has just been checked.
        unsafe { mbarrier::update_one(self.c, self.lane, place, update) };
        Some(())
    }
}

/// The treatment of subnormals and NaNs in sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// As in atomics in shared memory.
    Shared,
    /// As in atomics in global memory, except that f32 sums keep subnormals.
    Subnormals,
    /// As in atomics in global memory.
    Global,
}

/// Combines elements with others, each atomically.
///
/// # Safety
/// Both ranges have `size` bytes, and the destination is aligned for the elements.
pub(super) unsafe fn reduce(op: AtomOp, ty: AtomTy, kept: Kept, to: u64, from: *const u8, size: u64) {
    let global = kept == Kept::Global || kept == Kept::Subnormals && ty != AtomTy::F32;
    let bytes = ty.ty().bytes();
    for n in (0..size / u64::from(bytes)).map(|n| n * u64::from(bytes)) {
        // SAFETY: guaranteed by the caller.
        let b = unsafe { memory::read(from.wrapping_add(n as usize) as u64, bytes, false) };
        // SAFETY: guaranteed by the caller.
        unsafe { memory::atomic(to + n, bytes, &mut |old| memory::update(op, ty, global, old, b, 0)) };
    }
}
