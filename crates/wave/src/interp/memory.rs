//! The interpreter's memory accesses: each is checked first, so that none can fault.

use std::arch::x86_64::__m128i;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use crate::abi::{BlockCtx, WarpCtx};
use crate::op::{AtomOp, AtomTy, FloatMode, FloatOp, MemMode, Order, Space};
use crate::types::Fmt;

use super::float;

/// An access that was refused and reported to the runtime.
#[derive(Debug)]
pub struct Refused;

/// The host address of `address` in the access's space for a lane and its thread, or `Refused`.
///
/// # Safety
/// `warp.block` and its runtime are valid.
pub unsafe fn locate(
    warp: &mut WarpCtx,
    (lane, thread): (usize, u64),
    mem: MemMode,
    address: u64,
    size: u32,
    write: bool,
    limits: &Limits,
) -> Result<u64, Refused> {
    let space = mem.space;
    // SAFETY: the caller guarantees the block context.
    let block: &BlockCtx = unsafe { &*warp.block };
    let inside = |limit: u64| address.checked_add(u64::from(size)).is_some_and(|end| end <= limit);
    let real = match space {
        Space::Generic | Space::Global | Space::Const => {
            let local = block.local as u64;
            let threads = u64::from(block.threads()).next_multiple_of(u64::from(block.width.max(1)));
            let local_end = local + block.local_stride * threads;
            let shared = block.shared as u64;
            let own = (address >= shared && block.in_shared(address - shared, u64::from(size)))
                || (address >= local && address + u64::from(size) <= local_end);
            // SAFETY: the runtime's functions are valid for the launch.
            let ok = own || unsafe { ((*block.runtime).accessible)(warp, address, size, write) };
            ok.then_some(address)
        }
        Space::Shared => {
            block.in_shared(address, u64::from(size)).then(|| (block.shared as u64).wrapping_add(address))
        }
        Space::Local => inside(block.local_stride)
            .then(|| (block.local as u64).wrapping_add(thread * block.local_stride).wrapping_add(address)),
        Space::Param => inside(limits.params).then(|| (block.params as u64).wrapping_add(address)),
    };
    let loose = limits.loose_words && mem.order == Order::Weak && size >= 4;
    let misaligned = size > 1 && !loose && real.unwrap_or(address) % u64::from(size) != 0;
    match real {
        Some(real) if !misaligned || space == Space::Param => Ok(real),
        _ => {
            let at = real.unwrap_or(address);
            // SAFETY: see above.
            unsafe {
                ((*block.runtime).bad_access)(warp, at, size, write, misaligned && real.is_some(), 1 << lane)
            };
            Err(Refused)
        }
    }
}

/// Sizes that the contexts do not contain.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Size of the parameter buffer in bytes.
    pub params: u64,
    /// Whether weak accesses of words need no alignment.
    pub loose_words: bool,
}

/// The number of bytes of several elements that are accessed at once: GPUs do not tear aligned vectors, and
/// CUB passes a state and a value in the two halves of one. `None` if they are accessed one by one.
pub fn at_once(address: u64, size: u32, count: u32) -> Option<u32> {
    let bytes = size * count;
    let fits = count > 1 && bytes <= 16 && bytes.is_power_of_two();
    (fits && address.is_multiple_of(u64::from(bytes))).then_some(bytes)
}

/// Reads 16 aligned bytes: a single copy on x86-64 processors that have AVX.
///
/// # Safety
/// The bytes are readable.
#[inline]
unsafe fn read_16(address: u64) -> u128 {
    // SAFETY: the caller guarantees the bytes; both types have 16.
    unsafe { std::mem::transmute::<__m128i, u128>(std::ptr::read_volatile(address as *const __m128i)) }
}

/// Writes 16 aligned bytes, as [`read_16`] reads them.
///
/// # Safety
/// The bytes are writable.
#[inline]
unsafe fn write_16(address: u64, value: u128) {
    // SAFETY: as above.
    unsafe { std::ptr::write_volatile(address as *mut __m128i, std::mem::transmute::<u128, __m128i>(value)) }
}

/// Reads `size` bytes (1, 2, 4, 8 or 16) at a checked address. Aligned accesses are single copies.
///
/// # Safety
/// The bytes are readable and, up to 8 bytes, aligned.
pub unsafe fn read(address: u64, size: u32, aligned: bool) -> u128 {
    // SAFETY: the caller guarantees the bytes; atomics allow concurrent writes by other threads.
    unsafe {
        match size {
            1 => u128::from((*(address as *const AtomicU8)).load(Ordering::SeqCst)),
            2 if aligned => u128::from((*(address as *const AtomicU16)).load(Ordering::SeqCst)),
            4 if aligned => u128::from((*(address as *const AtomicU32)).load(Ordering::SeqCst)),
            8 if aligned => u128::from((*(address as *const AtomicU64)).load(Ordering::SeqCst)),
            16 if aligned => read_16(address),
            _ => {
                let mut bytes = [0u8; 16];
                std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), size as usize);
                u128::from_le_bytes(bytes)
            }
        }
    }
}

/// Writes `size` bytes at a checked address.
///
/// # Safety
/// The bytes are writable.
pub unsafe fn write(address: u64, size: u32, value: u128) {
    // SAFETY: see `read`.
    unsafe {
        match size {
            _ if !address.is_multiple_of(u64::from(size)) => {
                std::ptr::copy_nonoverlapping(
                    value.to_le_bytes().as_ptr(),
                    address as *mut u8,
                    size as usize,
                );
            }
            1 => (*(address as *const AtomicU8)).store(value as u8, Ordering::SeqCst),
            2 => (*(address as *const AtomicU16)).store(value as u16, Ordering::SeqCst),
            4 => (*(address as *const AtomicU32)).store(value as u32, Ordering::SeqCst),
            8 => (*(address as *const AtomicU64)).store(value as u64, Ordering::SeqCst),
            _ => write_16(address, value),
        }
    }
}

/// The new value of an atomic; `global` means that it is not in shared memory.
pub fn update(op: AtomOp, ty: AtomTy, global: bool, old: u128, b: u128, c: u128) -> u128 {
    let float_op = |fmt: Fmt, old: u128, b: u128| {
        // As on the hardware, global memory's own adders flush f32 and return a NaN unchanged.
        let mode = FloatMode { ftz: global && ty == AtomTy::F32, ..FloatMode::rn(fmt) };
        if fmt == Fmt::F64
            && global
            && let Some(nan) = [b, old].into_iter().find(|&v| float::is_nan(fmt, v))
        {
            return nan;
        }
        let op = match op {
            AtomOp::Min => FloatOp::Min,
            AtomOp::Max => FloatOp::Max,
            _ => FloatOp::Add,
        };
        // Sums in shared memory keep the old value's NaN, so it is the second operand here.
        float::binary(op, mode, b, old)
    };
    let width = ty.ty();
    let signed = |v| super::int::signed(width, v);
    let r = match (op, ty) {
        (AtomOp::Exch, _) => b,
        (AtomOp::Cas, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        (AtomOp::And, _) => old & b,
        (AtomOp::Or, _) => old | b,
        (AtomOp::Xor, _) => old ^ b,
        (AtomOp::Inc, _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        (AtomOp::Dec, _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        (_, AtomTy::F16) => float_op(Fmt::F16, old, b),
        (_, AtomTy::BF16) => float_op(Fmt::BF16, old, b),
        (_, AtomTy::F32 | AtomTy::F32Kept) => float_op(Fmt::F32, old, b),
        (_, AtomTy::F64) => float_op(Fmt::F64, old, b),
        (_, AtomTy::F16x2 | AtomTy::BF16x2) => {
            let fmt = if ty == AtomTy::F16x2 { Fmt::F16 } else { Fmt::BF16 };
            let low = float_op(fmt, old & 0xffff, b & 0xffff);
            let high = float_op(fmt, old >> 16, b >> 16);
            high << 16 | low
        }
        (AtomOp::Add, _) => old.wrapping_add(b),
        (AtomOp::Min, AtomTy::S32 | AtomTy::S64) => signed(old).min(signed(b)) as u128,
        (AtomOp::Max, AtomTy::S32 | AtomTy::S64) => signed(old).max(signed(b)) as u128,
        (AtomOp::Min, _) => old.min(b),
        (AtomOp::Max, _) => old.max(b),
    };
    r & width.mask()
}

/// Applies `change` to the value at a checked address atomically. Returns the old value.
///
/// # Safety
/// The bytes are writable and aligned to their size.
pub unsafe fn atomic(address: u64, size: u32, change: &mut dyn FnMut(u128) -> u128) -> u128 {
    macro_rules! swap {
        ($atomic:ty, $int:ty) => {{
            // SAFETY: the caller guarantees the bytes.
            let cell = unsafe { &*(address as *const $atomic) };
            let mut old = cell.load(Ordering::SeqCst);
            while let Err(now) = cell.compare_exchange(
                old,
                change(u128::from(old)) as $int,
                Ordering::SeqCst,
                Ordering::SeqCst,
            ) {
                old = now;
            }
            u128::from(old)
        }};
    }
    match size {
        2 => swap!(AtomicU16, u16),
        4 => swap!(AtomicU32, u32),
        8 => swap!(AtomicU64, u64),
        _ => {
            // One lock for all 128-bit atomics; mixing them with narrower atomics on the same bytes is
            // undefined in PTX.
            static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());
            let _held = LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // SAFETY: see above.
            let old = unsafe { read(address, 16, false) };
            // SAFETY: see above.
            unsafe { write(address, 16, change(old)) };
            old
        }
    }
}
