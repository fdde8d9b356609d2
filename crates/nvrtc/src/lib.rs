//! A library that `anywarp run` preloads. NVRTC, NVIDIA's compiler of CUDA C++, gives machine code for
//! NVIDIA's hardware to programs that call `nvrtcGetCUBIN`. Anywarp's driver takes PTX, and NVRTC has made
//! that on the way; so both functions that hand out machine code hand out the PTX here.
//!
//! Programs that are linked with NVRTC find the functions of this library first. Programs that open NVRTC
//! look its functions up with `dlsym`, so the library also overrides `dlsym`: NVRTC look-ups return our
//! function, others are forwarded. Python's modules of the CUDA runtime get our functions the same way.
#![cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]

mod lookup;
mod python;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use lookup::real;

/// `NVRTC_ERROR_INTERNAL_ERROR`.
const INTERNAL_ERROR: c_int = 11;

/// `nvrtcGetCUBINSize` and `nvrtcGetPTXSize`.
type Size = unsafe extern "C" fn(program: *mut c_void, size: *mut usize) -> c_int;
/// `nvrtcGetCUBIN` and `nvrtcGetPTX`.
type Get = unsafe extern "C" fn(program: *mut c_void, to: *mut c_char) -> c_int;

/// The functions of one NVRTC. All are set before a function of ours is given out for it.
struct Compiler {
    cubin_size: AtomicPtr<c_void>,
    cubin: AtomicPtr<c_void>,
    ptx_size: AtomicPtr<c_void>,
    ptx: AtomicPtr<c_void>,
}

/// A process has one NVRTC, or one for each of its releases; with more than these, the rest give machine
/// code.
static COMPILERS: [Compiler; 4] = [const { Compiler::new() }; 4];

/// Which of the functions a program looks up.
#[derive(Clone, Copy)]
enum Asked {
    Size,
    Cubin,
}

impl Compiler {
    const fn new() -> Compiler {
        const fn none() -> AtomicPtr<c_void> {
            AtomicPtr::new(std::ptr::null_mut())
        }
        Compiler { cubin_size: none(), cubin: none(), ptx_size: none(), ptx: none() }
    }

    /// The number of the NVRTC whose functions a handle finds, remembered if it is new.
    fn of(find: impl Fn(&CStr) -> *mut c_void) -> Option<usize> {
        let found = [c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN", c"nvrtcGetPTXSize", c"nvrtcGetPTX"].map(find);
        let ours: [*const c_void; 2] = [nvrtcGetCUBINSize as Size as _, nvrtcGetCUBIN as Get as _];
        if found.iter().any(|f| f.is_null() || ours.contains(&f.cast_const())) {
            return None;
        }
        let [cubin_size, cubin, ptx_size, ptx] = found;
        COMPILERS.iter().position(|slot| {
            // The first field claims the slot. Another thread that claims it for the same NVRTC stores the
            // same values.
            let claimed = slot.cubin_size.compare_exchange(
                std::ptr::null_mut(),
                cubin_size,
                Ordering::AcqRel,
                Ordering::Acquire,
            );
            if claimed.is_err_and(|other| other != cubin_size) {
                return false;
            }
            slot.cubin.store(cubin, Ordering::Release);
            slot.ptx_size.store(ptx_size, Ordering::Release);
            slot.ptx.store(ptx, Ordering::Release);
            true
        })
    }

    /// # Safety
    /// As NVRTC's functions.
    unsafe fn size(&self, program: *mut c_void, size: *mut usize) -> c_int {
        // SAFETY: the pointers are NVRTC's functions of these types.
        let (cubin, ptx): (Size, Size) = unsafe { (function(&self.cubin_size), function(&self.ptx_size)) };
        // SAFETY: the caller's promise.
        let code = unsafe { cubin(program, size) };
        // NVRTC checks the arguments. Without machine code (the program was compiled for a virtual
        // architecture) the size is 0.
        // SAFETY: NVRTC has written the size.
        if code != 0 || size.is_null() || unsafe { *size } == 0 {
            return code;
        }
        let mut length = 0;
        // SAFETY: the size is this function's.
        if unsafe { ptx(program, &raw mut length) } == 0 && length > 1 {
            // SAFETY: the caller's promise.
            unsafe { *size = length };
        }
        code
    }

    /// # Safety
    /// As NVRTC's functions.
    unsafe fn get(&self, program: *mut c_void, to: *mut c_char) -> c_int {
        // SAFETY: the pointers are NVRTC's functions of these types.
        let (size, ptx_size): (Size, Size) =
            unsafe { (function(&self.cubin_size), function(&self.ptx_size)) };
        // SAFETY: as above.
        let (cubin, ptx): (Get, Get) = unsafe { (function(&self.cubin), function(&self.ptx)) };
        let (mut machine, mut text) = (0, 0);
        // The same choice as for the size that the caller has reserved.
        // SAFETY: the sizes are this function's.
        let has_both = unsafe {
            size(program, &raw mut machine) == 0
                && machine > 0
                && ptx_size(program, &raw mut text) == 0
                && text > 1
        };
        // SAFETY: the caller's promise.
        unsafe { if has_both { ptx(program, to) } else { cubin(program, to) } }
    }
}

/// # Safety
/// The pointer is that of a function of type `F`.
unsafe fn function<F: Copy>(pointer: &AtomicPtr<c_void>) -> F {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    let pointer = pointer.load(Ordering::Acquire);
    // SAFETY: the caller's promise, and a function pointer is as large as a pointer.
    unsafe { std::mem::transmute_copy(&pointer) }
}

unsafe extern "C" fn size_of_number<const NUMBER: usize>(program: *mut c_void, size: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    COMPILERS.get(NUMBER).map_or(INTERNAL_ERROR, |compiler| unsafe { compiler.size(program, size) })
}

unsafe extern "C" fn get_of_number<const NUMBER: usize>(program: *mut c_void, to: *mut c_char) -> c_int {
    // SAFETY: the caller's promise.
    COMPILERS.get(NUMBER).map_or(INTERNAL_ERROR, |compiler| unsafe { compiler.get(program, to) })
}

/// C passes no number, so there is a function for each.
const SIZES: [Size; 4] = [size_of_number::<0>, size_of_number::<1>, size_of_number::<2>, size_of_number::<3>];
const GETS: [Get; 4] = [get_of_number::<0>, get_of_number::<1>, get_of_number::<2>, get_of_number::<3>];

/// The function of ours for one that a program looks up through a handle; null if it gets what it asked for.
fn replacement(handle: *mut c_void, name: &CStr) -> *const c_void {
    let asked = match name.to_bytes() {
        b"nvrtcGetCUBINSize" => Asked::Size,
        b"nvrtcGetCUBIN" => Asked::Cubin,
        python::INITIALISES => return python::replacement(handle, name),
        _ => return std::ptr::null(),
    };
    let number = Compiler::of(|name| real(handle, name));
    match (asked, number.and_then(|n| Some((SIZES.get(n)?, GETS.get(n)?)))) {
        (Asked::Size, Some((size, _))) => *size as *const c_void,
        (Asked::Cubin, Some((_, get))) => *get as *const c_void,
        (_, None) => std::ptr::null(),
    }
}

/// The NVRTC with which the program is linked.
fn linked() -> Option<&'static Compiler> {
    Compiler::of(lookup::in_loaded_nvrtc).and_then(|number| COMPILERS.get(number))
}

/// `nvrtcGetCUBINSize` for programs that are linked with NVRTC.
///
/// # Safety
/// As NVRTC's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetCUBINSize(program: *mut c_void, size: *mut usize) -> c_int {
    // SAFETY: the caller's promise.
    linked().map_or(INTERNAL_ERROR, |compiler| unsafe { compiler.size(program, size) })
}

/// `nvrtcGetCUBIN` for programs that are linked with NVRTC.
///
/// # Safety
/// As NVRTC's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvrtcGetCUBIN(program: *mut c_void, to: *mut c_char) -> c_int {
    // SAFETY: the caller's promise.
    linked().map_or(INTERNAL_ERROR, |compiler| unsafe { compiler.get(program, to) })
}
