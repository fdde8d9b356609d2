//! Traits, generic functions, structures by value and vectors of four.
mod language;
use language::*;

trait Number: Sized + Copy + Add<Output = Self> + Mul<Output = Self> + PartialOrd {
    const ZERO: Self;
}
macro_rules! numbers {
    ($($t:ty)*) => { $(impl Number for $t { const ZERO: $t = 0 as $t; })* };
}
numbers!(u8 i32 u64 f32 f64);

fn dot<T: Number>(a: *const T, b: *const T, count: usize) -> T {
    let mut sum = T::ZERO;
    let mut i = 0;
    while i < count {
        sum = sum + unsafe { *at(a as *mut T, i) * *at(b as *mut T, i) };
        i += 1;
    }
    sum
}

fn largest<T: Number>(a: *const T, count: usize) -> T {
    let mut best = T::ZERO;
    let mut i = 0;
    while i < count {
        let value = unsafe { *at(a as *mut T, i) };
        best = if value > best { value } else { best };
        i += 1;
    }
    best
}

macro_rules! kernels {
    ($($name:ident $t:ty),*) => {
        $(#[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn $name(a: *const $t, b: *const $t, to: *mut $t, count: usize) {
            let i = unsafe { number() };
            let (row, column) = unsafe { (at(a as *mut $t, i * count), at(b as *mut $t, i * count)) };
            unsafe { *at(to, i) = dot(row as *const $t, column as *const $t, count) + largest(row as *const $t, count) };
        })*
    };
}
kernels!(dot_bytes u8, dot_words i32, dot_longs u64, dot_singles f32, dot_doubles f64);

#[repr(C, align(16))]
pub struct Four {
    x: f32,
    y: f32,
    z: f32,
    w: f32,
}
impl Copy for Four {}
impl Add for Four {
    type Output = Four;
    fn add(self, o: Four) -> Four {
        Four { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z, w: self.w + o.w }
    }
}

#[repr(C)]
pub struct Settings {
    scale: f64,
    from: *const Four,
    to: *mut Four,
    count: u32,
    skip: u8,
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn by_value(settings: Settings, offset: Four) {
    let i = unsafe { number() as u32 };
    if i < settings.count && i % 256 != settings.skip as u32 {
        let four = unsafe { *at(settings.from as *mut Four, i as usize) } + offset;
        let scale = settings.scale as f32;
        let scaled = Four { x: four.x * scale, w: four.w * scale, ..four };
        unsafe { *at(settings.to, i as usize) = scaled };
    }
}

#[inline(never)]
fn large(from: &[Four; 8], by: f32) -> [Four; 8] {
    let mut all = *from;
    let mut i = 0;
    while i < 8 {
        all[i].y *= by;
        i += 1;
    }
    all
}

#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn returned(rows: *mut [Four; 8], by: f32) {
    let row = unsafe { at(rows, number()) };
    unsafe { *row = large(&*row, by) };
}
