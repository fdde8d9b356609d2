//! Features beyond the language: barriers, votes and shuffles, as compiler intrinsics and as inline assembly.
mod language;
use language::*;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.barrier0"]
    fn barrier();
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn from_lane_below(mask: u32, value: u32, by: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.f32"]
    fn from_lane_across(mask: u32, value: f32, by: u32, clamp: u32) -> f32;
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn ballot(mask: u32, value: bool) -> u32;
    #[link_name = "llvm.nvvm.activemask"]
    fn active() -> u32;
    #[link_name = "llvm.nvvm.match.any.sync.i32"]
    fn equals(mask: u32, value: u32) -> u32;
    #[link_name = "llvm.nvvm.membar.gl"]
    fn fence();
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn reduce(values: *const u32, sums: *mut u32) {
    let i = unsafe { number() };
    let mut sum = unsafe { *at(values as *mut u32, i) };
    let mut step = 16;
    while step > 0 {
        sum += unsafe { from_lane_below(0xffffffff, sum, step, 31) };
        step >>= 1;
    }
    if unsafe { lane() } == 0 {
        unsafe { *at(sums, i / 32) = sum };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn maximum(values: *mut f32) {
    let here = unsafe { at(values, number()) };
    let mut best = unsafe { *here };
    let mut step = 1;
    while step < 32 {
        let other = unsafe { from_lane_across(0xffffffff, best, step, 31) };
        best = if other > best { other } else { best };
        step <<= 1;
    }
    unsafe { *here = best };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn compact(values: *const i32, to: *mut i32, counts: *mut u32) {
    let i = unsafe { number() };
    let value = unsafe { *at(values as *mut i32, i) };
    let keep = value > 0;
    let all = unsafe { ballot(0xffffffff, keep) };
    let before = all & ((1u32 << unsafe { lane() }) - 1);
    if keep {
        unsafe { *at(to, i / 32 * 32 + ctpop(before) as usize) = value };
    }
    if unsafe { lane() } == 0 {
        unsafe { *at(counts, i / 32) = ctpop(all) + ctpop(active()) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn groups(keys: *const u32, sizes: *mut u32) {
    let i = unsafe { number() };
    unsafe { *at(sizes, i) = ctpop(equals(0xffffffff, *at(keys as *mut u32, i))) };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn reversed(values: *mut u32) {
    let (i, count) = unsafe { (thread() as usize, threads() as usize) };
    let mine = unsafe { *at(values, count - 1 - i) };
    unsafe {
        fence();
        barrier();
        *at(values, i) = mine;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn assembly(values: *mut u32, wide: *mut u64) {
    let i = unsafe { number() };
    let (clock, bits, product, shifted): (u64, u32, u64, u32);
    unsafe {
        let value = *at(values, i);
        asm!("mov.u64 {}, %globaltimer;", out(reg64) clock, options(nomem, nostack));
        asm!("bfind.u32 {}, {};", out(reg32) bits, in(reg32) value, options(pure, nomem, nostack));
        asm!("mul.wide.u32 {0}, {1}, {2};", out(reg64) product, in(reg32) value, in(reg32) bits, options(pure, nomem, nostack));
        asm!(
            "{{",
            ".reg .pred p;",
            "setp.gt.u32 p, {1}, 7;",
            "@p shf.l.wrap.b32 {0}, {1}, {2}, 9;",
            "@!p mov.b32 {0}, {2};",
            "}}",
            out(reg32) shifted,
            in(reg32) value,
            in(reg32) bits,
        );
        asm!("red.global.add.u64 [{}], {};", in(reg64) wide, in(reg64) product + (clock & 0));
        *at(values, i) = shifted;
    }
}
