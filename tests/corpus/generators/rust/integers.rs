//! Integer arithmetic of all widths, with the language's checks.
mod language;
use language::*;

/// A kernel for a type: quotients, shifts and bits.
macro_rules! kernel {
    ($name:ident $t:ty) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(a: *const $t, b: *const $t, to: *mut $t) {
            let i = unsafe { number() };
            let (a, b) = unsafe { (*at(a as *mut $t, i), *at(b as *mut $t, i)) };
            // Division by zero traps; so does overflow if checks are on.
            let quotient = a / b;
            let rest = a % b;
            let sum = wrapping_add(wrapping_mul(quotient, 3), saturating_add(rest, a));
            let turned = unsafe { unchecked_funnel_shl(sum, sum, ctpop(b) & 7) };
            let bits = turned ^ bswap(a) ^ bitreverse(b);
            unsafe { *at(to, i) = saturating_sub(bits, (ctlz(a) + cttz(b)) as $t) };
        }
    };
}
kernel!(bytes u8);
kernel!(signed_bytes i8);
kernel!(shorts u16);
kernel!(signed_shorts i16);
kernel!(words u32);
kernel!(signed_words i32);
kernel!(longs u64);
kernel!(signed_longs i64);

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn wide(a: *const u128, b: *const u64, to: *mut u128) {
    let i = unsafe { number() };
    let (a, b) = unsafe { (*at(a as *mut u128, i), *at(b as *mut u64, i)) };
    let product = wrapping_mul(a, b as u128);
    let shifted = (product >> 37u128) | (a << (b & 63u64) as u128);
    unsafe { *at(to, i) = wrapping_sub(shifted ^ (b as u128), product) };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn primes(to: *mut u32, count: u32) {
    let n = unsafe { number() as u32 };
    if n >= count {
        return;
    }
    let mut prime = n > 1;
    let mut d = 2u32;
    while d * d <= n {
        if n % d == 0 {
            prime = false;
            break;
        }
        d += 1;
    }
    unsafe { *at(to, n as usize) = prime as u32 };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn collatz(from: *const u64, to: *mut u32) {
    let i = unsafe { number() };
    let mut n = unsafe { *at(from as *mut u64, i) };
    let mut steps = 0u32;
    while n > 1 {
        n = if n & 1u64 == 0 { n >> 1u64 } else { 3 * n + 1 };
        steps += 1;
    }
    unsafe { *at(to, i) = steps };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn xorshift(state: *mut u64, rounds: u32) {
    let state = unsafe { at(state, number()) };
    let mut x = unsafe { *state };
    let mut k = 0u32;
    while k < rounds {
        x ^= x << 13u64;
        x ^= x >> 7u64;
        x ^= x << 17u64;
        k += 1;
    }
    unsafe { *state = x };
}
