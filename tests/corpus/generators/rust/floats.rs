//! Floating point: functions of the language and of the target, and conversions.
mod language;
use language::*;

unsafe extern "C" {
    #[link_name = "llvm.nvvm.sin.approx.f"]
    fn sine(x: f32) -> f32;
    #[link_name = "llvm.nvvm.ex2.approx.ftz.f"]
    fn power_of_two(x: f32) -> f32;
    #[link_name = "llvm.nvvm.lg2.approx.f"]
    fn logarithm(x: f32) -> f32;
    #[link_name = "llvm.nvvm.rsqrt.approx.d"]
    fn inverse_root(x: f64) -> f64;
    #[link_name = "llvm.nvvm.add.rz.f"]
    fn sum_to_zero(a: f32, b: f32) -> f32;
    #[link_name = "llvm.nvvm.div.rp.d"]
    fn quotient_up(a: f64, b: f64) -> f64;
    #[link_name = "llvm.nvvm.f2i.rm"]
    fn integer_below(x: f32) -> i32;
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn single(x: *const f32, y: *mut f32) {
    let i = unsafe { number() };
    let x = unsafe { *at(x as *mut f32, i) };
    let a = fmaf32(x, x, sqrtf32(x)) / (x + 1.0);
    let b = floorf32(x) - truncf32(a) * round_ties_even_f32(x);
    unsafe { *at(y, i) = copysignf32(a, b) % 3.0 };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn double(x: *const f64, y: *mut f64) {
    let i = unsafe { number() };
    let x = unsafe { *at(x as *mut f64, i) };
    let a = fmaf64(x, -x, sqrtf64(x)) / (x - 1.0);
    unsafe { *at(y, i) = ceilf64(a) + roundf64(x) * inverse_root(x) - quotient_up(a, x) };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn approximate(x: *const f32, y: *mut f32) {
    let i = unsafe { number() };
    let x = unsafe { *at(x as *mut f32, i) };
    unsafe { *at(y, i) = sum_to_zero(sine(x), power_of_two(logarithm(x))) + integer_below(x) as f32 };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn conversions(x: *const f64, to: *mut i64) {
    let i = unsafe { number() };
    let x = unsafe { *at(x as *mut f64, i) };
    // Conversions to integers saturate, and NaN gives zero.
    let parts = (x as i8) as i64 + (x as u16) as i64 + (x as f32 as i32) as i64 + (x as u64) as i64;
    unsafe { *at(to, i) = parts + (parts as f32) as i64 + ((parts as u64) as f64) as i64 };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn halves(x: *const f16, y: *mut f16, count: usize) {
    let i = unsafe { number() };
    if i < count {
        let x = unsafe { *at(x as *mut f16, i) } as f32;
        unsafe { *at(y, i) = (x * x + 0.5) as f16 };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn mandelbrot(image: *mut u16, width: u32, height: u32, limit: u16) {
    let i = unsafe { number() as u32 };
    if i >= width * height {
        return;
    }
    let (x, y) = ((i % width) as f64 / width as f64 * 3.0 - 2.0, (i / width) as f64 / height as f64 * 2.0 - 1.0);
    let (mut a, mut b, mut n) = (0.0, 0.0, 0u16);
    while a * a + b * b < 4.0 && n < limit {
        (a, b) = (a * a - b * b + x, 2.0 * a * b + y);
        n += 1;
    }
    unsafe { *at(image, i as usize) = n };
}
