//! The language items that the compiler needs without `core`, which rustup does not ship for this target.
//! Contains only what the kernels in this folder use.
#![allow(dead_code, unused_macros, reason = "each kernel file uses only part of it")]

#[lang = "pointee_sized"]
pub trait PointeeSized {}
#[lang = "meta_sized"]
pub trait MetaSized: PointeeSized {}
#[lang = "sized"]
pub trait Sized: MetaSized {}
#[lang = "copy"]
pub trait Copy: Sized {}
#[lang = "sync"]
pub unsafe trait Sync {}
#[lang = "freeze"]
pub unsafe auto trait Freeze {}
#[lang = "drop_in_place"]
unsafe fn drop_in_place<T: PointeeSized>(_: *mut T) {}

#[lang = "legacy_receiver"]
pub trait LegacyReceiver {}
impl<T: PointeeSized> LegacyReceiver for &T {}
impl<T: PointeeSized> LegacyReceiver for &mut T {}
#[lang = "structural_peq"]
pub trait StructuralPartialEq {}
#[lang = "const_param_ty"]
pub trait ConstParamTy: StructuralPartialEq {}
impl StructuralPartialEq for usize {}
impl ConstParamTy for usize {}

unsafe impl<T: Sync, const N: usize> Sync for [T; N] {}
impl<T: PointeeSized> Copy for *mut T {}
impl<T: PointeeSized> Copy for *const T {}
impl<T: PointeeSized> Copy for &T {}
impl<T: Copy, const N: usize> Copy for [T; N] {}
impl Copy for isize {}
impl Copy for f16 {}
unsafe impl<A, B> Sync for fn(A) -> B {}

/// An operator's trait and its implementations.
macro_rules! operator {
    ($item:literal $name:ident $method:ident $sign:tt $($t:ty)*) => {
        #[lang = $item]
        pub trait $name<Right = Self> {
            type Output;
            fn $method(self, right: Right) -> Self::Output;
        }
        $(impl $name for $t {
            type Output = $t;
            #[inline(always)]
            fn $method(self, right: $t) -> $t {
                self $sign right
            }
        })*
    };
}

/// The same for a compound assignment.
macro_rules! assignment {
    ($item:literal $name:ident $method:ident $sign:tt $($t:ty)*) => {
        #[lang = $item]
        pub trait $name<Right = Self> {
            fn $method(&mut self, right: Right);
        }
        $(impl $name for $t {
            #[inline(always)]
            fn $method(&mut self, right: $t) {
                *self $sign right
            }
        })*
    };
}

operator!("add" Add add + u8 i8 u16 i16 u32 i32 u64 i64 u128 usize f32 f64);
operator!("sub" Sub sub - u8 i8 u16 i16 u32 i32 u64 i64 u128 usize f32 f64);
operator!("mul" Mul mul * u8 i8 u16 i16 u32 i32 u64 i64 u128 usize f32 f64);
operator!("div" Div div / u8 i8 u16 i16 u32 i32 u64 i64 usize f32 f64);
operator!("rem" Rem rem % u8 i8 u16 i16 u32 i32 u64 i64 usize f32 f64);
operator!("bitand" BitAnd bitand & bool u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);
operator!("bitor" BitOr bitor | bool u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);
operator!("bitxor" BitXor bitxor ^ bool u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);
operator!("shl" Shl shl << u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);
operator!("shr" Shr shr >> u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);
assignment!("add_assign" AddAssign add_assign += u8 i8 u16 i16 u32 i32 u64 i64 u128 usize f32 f64);
assignment!("sub_assign" SubAssign sub_assign -= u8 i8 u16 i16 u32 i32 u64 i64 u128 usize f32 f64);
assignment!("mul_assign" MulAssign mul_assign *= u8 i8 u16 i16 u32 i32 u64 i64 u128 usize f32 f64);
assignment!("bitor_assign" BitOrAssign bitor_assign |= u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);
assignment!("bitxor_assign" BitXorAssign bitxor_assign ^= u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);
assignment!("shl_assign" ShlAssign shl_assign <<= u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);
assignment!("shr_assign" ShrAssign shr_assign >>= u8 i8 u16 i16 u32 i32 u64 i64 u128 usize);

#[lang = "neg"]
pub trait Neg {
    type Output;
    fn neg(self) -> Self::Output;
}
#[lang = "not"]
pub trait Not {
    type Output;
    fn not(self) -> Self::Output;
}
#[lang = "eq"]
pub trait PartialEq<Right: PointeeSized = Self>: PointeeSized {
    fn eq(&self, right: &Right) -> bool;
    fn ne(&self, right: &Right) -> bool;
}
#[lang = "partial_ord"]
pub trait PartialOrd<Right: PointeeSized = Self>: PartialEq<Right> + PointeeSized {
    fn lt(&self, right: &Right) -> bool;
    fn le(&self, right: &Right) -> bool;
    fn gt(&self, right: &Right) -> bool;
    fn ge(&self, right: &Right) -> bool;
}

#[lang = "index"]
pub trait Index<I: PointeeSized> {
    type Output: PointeeSized;
    fn index(&self, index: I) -> &Self::Output;
}
#[lang = "index_mut"]
pub trait IndexMut<I: PointeeSized>: Index<I> {
    fn index_mut(&mut self, index: I) -> &mut Self::Output;
}
impl<T> Index<usize> for [T] {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self[index]
    }
}
impl<T> IndexMut<usize> for [T] {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self[index]
    }
}
impl<T, const N: usize> Index<usize> for [T; N] {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self[index]
    }
}
impl<T, const N: usize> IndexMut<usize> for [T; N] {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self[index]
    }
}

/// The traits that every number implements.
macro_rules! number {
    ($($t:ty)*) => {
        $(impl Copy for $t {}
        unsafe impl Sync for $t {}
        impl PartialEq for $t {
            #[inline(always)]
            fn eq(&self, right: &$t) -> bool {
                *self == *right
            }
            #[inline(always)]
            fn ne(&self, right: &$t) -> bool {
                *self != *right
            }
        }
        impl PartialOrd for $t {
            #[inline(always)]
            fn lt(&self, right: &$t) -> bool {
                *self < *right
            }
            #[inline(always)]
            fn le(&self, right: &$t) -> bool {
                *self <= *right
            }
            #[inline(always)]
            fn gt(&self, right: &$t) -> bool {
                *self > *right
            }
            #[inline(always)]
            fn ge(&self, right: &$t) -> bool {
                *self >= *right
            }
        })*
    };
}
number!(bool u8 i8 u16 i16 u32 i32 u64 i64 u128 usize f32 f64);

macro_rules! unary {
    ($name:ident $method:ident $sign:tt $($t:ty)*) => {
        $(impl $name for $t {
            type Output = $t;
            #[inline(always)]
            fn $method(self) -> $t {
                $sign self
            }
        })*
    };
}
unary!(Neg neg - i8 i16 i32 i64 f32 f64);
unary!(Not not ! bool u8 u16 u32 i32 u64 i64 usize);

/// A failed check traps the thread: the target has no way to report more.
macro_rules! panics {
    ($($item:literal $name:ident)*) => {
        $(#[lang = $item]
        #[track_caller]
        #[cold]
        #[inline(never)]
        fn $name() -> ! {
            abort()
        })*
    };
}
panics!(
    "panic_const_add_overflow" add_overflow
    "panic_const_sub_overflow" sub_overflow
    "panic_const_mul_overflow" mul_overflow
    "panic_const_neg_overflow" neg_overflow
    "panic_const_shl_overflow" shl_overflow
    "panic_const_shr_overflow" shr_overflow
    "panic_const_div_overflow" div_overflow
    "panic_const_rem_overflow" rem_overflow
    "panic_const_div_by_zero" div_by_zero
    "panic_const_rem_by_zero" rem_by_zero
    "panic_null_pointer_dereference" null_pointer
);
#[lang = "panic_bounds_check"]
#[track_caller]
#[cold]
#[inline(never)]
fn bounds(_index: usize, _length: usize) -> ! {
    abort()
}
#[lang = "panic_misaligned_pointer_dereference"]
#[track_caller]
#[cold]
#[inline(never)]
fn misaligned(_required: usize, _found: usize) -> ! {
    abort()
}
/// The location of a panic; the compiler creates one for each caller.
#[lang = "panic_location"]
struct Location<'a> {
    file: &'a str,
    line: u32,
    column: u32,
}

#[rustc_intrinsic]
pub fn abort() -> !;
#[rustc_intrinsic]
pub fn ctpop<T: Copy>(x: T) -> u32;
#[rustc_intrinsic]
pub fn ctlz<T: Copy>(x: T) -> u32;
#[rustc_intrinsic]
pub fn cttz<T: Copy>(x: T) -> u32;
#[rustc_intrinsic]
pub fn bswap<T: Copy>(x: T) -> T;
#[rustc_intrinsic]
pub fn bitreverse<T: Copy>(x: T) -> T;
#[rustc_intrinsic]
pub fn wrapping_add<T: Copy>(x: T, y: T) -> T;
#[rustc_intrinsic]
pub fn wrapping_sub<T: Copy>(x: T, y: T) -> T;
#[rustc_intrinsic]
pub fn wrapping_mul<T: Copy>(x: T, y: T) -> T;
#[rustc_intrinsic]
pub fn saturating_add<T: Copy>(x: T, y: T) -> T;
#[rustc_intrinsic]
pub fn saturating_sub<T: Copy>(x: T, y: T) -> T;
#[rustc_intrinsic]
pub unsafe fn unchecked_funnel_shl<T: Copy>(high: T, low: T, by: u32) -> T;
#[rustc_intrinsic]
pub unsafe fn volatile_load<T>(from: *const T) -> T;
#[rustc_intrinsic]
pub unsafe fn volatile_store<T>(to: *mut T, value: T);
#[rustc_intrinsic]
pub unsafe fn copy_nonoverlapping<T>(from: *const T, to: *mut T, count: usize);
#[rustc_intrinsic]
pub unsafe fn write_bytes<T>(to: *mut T, value: u8, count: usize);
#[rustc_intrinsic]
pub unsafe fn arith_offset<T>(from: *const T, count: isize) -> *const T;
#[rustc_intrinsic]
pub unsafe fn transmute<From, To>(from: From) -> To;
#[rustc_intrinsic]
pub fn sqrtf32(x: f32) -> f32;
#[rustc_intrinsic]
pub fn sqrtf64(x: f64) -> f64;
#[rustc_intrinsic]
pub fn fmaf32(a: f32, b: f32, c: f32) -> f32;
#[rustc_intrinsic]
pub fn fmaf64(a: f64, b: f64, c: f64) -> f64;
#[rustc_intrinsic]
pub fn floorf32(x: f32) -> f32;
#[rustc_intrinsic]
pub fn ceilf64(x: f64) -> f64;
#[rustc_intrinsic]
pub fn truncf32(x: f32) -> f32;
#[rustc_intrinsic]
pub fn round_ties_even_f32(x: f32) -> f32;
#[rustc_intrinsic]
pub fn roundf64(x: f64) -> f64;
#[rustc_intrinsic]
pub fn copysignf32(x: f32, sign: f32) -> f32;

/// Memory orders, numbered as in the compiler.
pub enum Ordering {
    Relaxed,
    Release,
    Acquire,
    AcqRel,
    SeqCst,
}
impl StructuralPartialEq for Ordering {}
impl ConstParamTy for Ordering {}

#[rustc_intrinsic]
pub unsafe fn atomic_load<T: Copy, const ORDER: Ordering>(from: *const T) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_store<T: Copy, const ORDER: Ordering>(to: *mut T, value: T);
#[rustc_intrinsic]
pub unsafe fn atomic_xadd<T: Copy, U: Copy, const ORDER: Ordering>(at: *mut T, value: U) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_xsub<T: Copy, U: Copy, const ORDER: Ordering>(at: *mut T, value: U) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_and<T: Copy, U: Copy, const ORDER: Ordering>(at: *mut T, value: U) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_or<T: Copy, U: Copy, const ORDER: Ordering>(at: *mut T, value: U) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_nand<T: Copy, U: Copy, const ORDER: Ordering>(at: *mut T, value: U) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_max<T: Copy, const ORDER: Ordering>(at: *mut T, value: T) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_umin<T: Copy, const ORDER: Ordering>(at: *mut T, value: T) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_xchg<T: Copy, const ORDER: Ordering>(at: *mut T, value: T) -> T;
#[rustc_intrinsic]
pub unsafe fn atomic_cxchg<T: Copy, const GOOD: Ordering, const BAD: Ordering>(at: *mut T, old: T, new: T) -> (T, bool);
#[rustc_intrinsic]
pub unsafe fn atomic_fence<const ORDER: Ordering>();

#[rustc_builtin_macro]
pub macro asm("template", $(operands,)* $(options($(option),*))?) {}

unsafe extern "C" {
    #[link_name = "llvm.nvvm.read.ptx.sreg.tid.x"]
    pub fn thread() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ntid.x"]
    pub fn threads() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.ctaid.x"]
    pub fn block() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.nctaid.x"]
    pub fn blocks() -> u32;
    #[link_name = "llvm.nvvm.read.ptx.sreg.laneid"]
    pub fn lane() -> u32;
}

/// The thread's number in the grid.
#[inline(always)]
pub fn number() -> usize {
    unsafe { (block() * threads() + thread()) as usize }
}

/// The element at an index.
#[inline(always)]
pub unsafe fn at<T>(from: *mut T, index: usize) -> *mut T {
    unsafe { arith_offset(from as *const T, index as isize) as *mut T }
}
