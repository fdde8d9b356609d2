//! Atomic operations with all memory orders, and fences.
mod language;
use language::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use language::*;

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn histogram(values: *const u8, bins: *mut u32, count: usize) {
    let mut i = unsafe { number() };
    let all = unsafe { (threads() * blocks()) as usize };
    while i < count {
        let bin = unsafe { *at(values as *mut u8, i) } as usize;
        unsafe { atomic_xadd::<u32, u32, { Relaxed }>(at(bins, bin), 1) };
        i += all;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn orders(cells: *mut u64, values: *const u64) {
    let v = unsafe { *at(values as *mut u64, number()) };
    unsafe {
        atomic_xadd::<u64, u64, { SeqCst }>(cells, v);
        atomic_xsub::<u64, u64, { AcqRel }>(at(cells, 1), v);
        atomic_and::<u64, u64, { Acquire }>(at(cells, 2), v);
        atomic_or::<u64, u64, { Release }>(at(cells, 3), v);
        atomic_nand::<u64, u64, { Relaxed }>(at(cells, 4), v);
        atomic_umin::<u64, { Relaxed }>(at(cells, 5), v);
        atomic_max::<i64, { AcqRel }>(at(cells, 6) as *mut i64, v as i64);
        atomic_xchg::<u64, { SeqCst }>(at(cells, 7), v);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn narrow(cells: *mut u8, shorts: *mut u16) {
    let i = unsafe { number() };
    unsafe {
        atomic_cxchg::<u8, { SeqCst }, { Relaxed }>(at(cells, i % 4), i as u8, 7);
        atomic_xadd::<u16, u16, { Relaxed }>(at(shorts, i % 2), i as u16);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn pass_on(data: *mut u32, flag: *mut u32, value: u32) {
    unsafe {
        if number() == 0 {
            volatile_store(data, value);
            atomic_fence::<{ Release }>();
            atomic_store::<u32, { Relaxed }>(flag, 1);
            atomic_store::<u32, { Release }>(at(flag, 1), 1);
        } else {
            while atomic_load::<u32, { Acquire }>(at(flag, 1)) == 0 {}
            atomic_fence::<{ SeqCst }>();
            let seen = volatile_load(data);
            atomic_xadd::<u32, u32, { Relaxed }>(at(data, 1), seen);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn locked(lock: *mut u32, total: *mut f64, values: *const f64) {
    let value = unsafe { *at(values as *mut f64, number()) };
    unsafe {
        let mut done = false;
        while !done {
            if atomic_cxchg::<u32, { Acquire }, { Relaxed }>(lock, 0, 1).1 {
                *total += value;
                atomic_store::<u32, { Release }>(lock, 0);
                done = true;
            }
        }
    }
}
