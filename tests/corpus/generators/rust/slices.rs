//! Arrays, slices and their bounds.
mod language;
use language::*;

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn saxpy(a: f32, x: &[f32], y: *mut f32) {
    let i = unsafe { number() };
    // The index is checked: out of bounds, the thread traps.
    unsafe { *at(y, i) = fmaf32(a, x[i], *at(y, i)) };
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn matmul(a: &[[f32; 16]; 16], b: &[[f32; 16]; 16], c: &mut [[f32; 16]; 16]) {
    let i = unsafe { number() };
    let mut sum = 0.0;
    let mut k = 0;
    while k < 16 {
        sum += a[i / 16][k] * b[k][i % 16];
        k += 1;
    }
    c[i / 16][i % 16] = sum;
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn sort(values: *mut [i32; 32]) {
    let row = unsafe { &mut *at(values, number()) };
    let mut mine = *row;
    let mut i = 1;
    while i < 32 {
        let value = mine[i];
        let mut j = i;
        while j > 0 && mine[j - 1] > value {
            mine[j] = mine[j - 1];
            j -= 1;
        }
        mine[j] = value;
        i += 1;
    }
    *row = mine;
}

static TABLE: [u16; 16] = [1, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn lookup(from: *const u8, to: *mut u32, count: usize) {
    let i = unsafe { number() };
    if i < count {
        let byte = unsafe { *at(from as *mut u8, i) };
        unsafe { *at(to, i) = TABLE[(byte & 15u8) as usize] as u32 * TABLE[(byte >> 4u8) as usize] as u32 };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn blocks_of_bytes(from: *const [u8; 24], to: *mut [u8; 24], fill: u8) {
    let i = unsafe { number() };
    unsafe { copy_nonoverlapping(at(from as *mut [u8; 24], i) as *const u8, at(to, i) as *mut u8, 20) };
    unsafe { write_bytes(at(at(to, i) as *mut u8, 20), fill, 4) };
}
