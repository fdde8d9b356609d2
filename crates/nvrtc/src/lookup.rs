//! `dlsym`, ours and the C library's.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

type Lookup = unsafe extern "C" fn(handle: *mut c_void, name: *const c_char) -> *mut c_void;

/// The C library's `dlsym`; null until the first lookup.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// What stands for a `dlsym` that cannot be found: it finds nothing.
unsafe extern "C" fn nothing(_handle: *mut c_void, _name: *const c_char) -> *mut c_void {
    std::ptr::null_mut()
}

/// Finds the C library's `dlsym` by its version, as `dlsym` itself would find ours.
fn find() {
    if !REAL.load(Ordering::Acquire).is_null() {
        return;
    }
    let found = [c"GLIBC_2.34", c"GLIBC_2.2.5"]
        .into_iter()
        // SAFETY: both strings end in zero.
        .map(|version| unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version.as_ptr()) })
        .find(|address| !address.is_null())
        .unwrap_or(nothing as Lookup as *mut c_void);
    REAL.store(found, Ordering::Release);
}

/// A lookup by the C library.
pub fn real(handle: *mut c_void, name: &CStr) -> *mut c_void {
    find();
    let address = REAL.load(Ordering::Acquire);
    // SAFETY: `find` stored a function of this type.
    let dlsym: Lookup = unsafe { std::mem::transmute(address) };
    // SAFETY: the program passed the handle to `dlsym`, or it is that of a loaded library.
    unsafe { dlsym(handle, name.as_ptr()) }
}

/// A lookup in the NVRTC that is loaded, whoever has loaded it.
pub fn in_loaded_nvrtc(name: &CStr) -> *mut c_void {
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: the function takes the handle's address as its data.
    unsafe { libc::dl_iterate_phdr(Some(open_nvrtc), (&raw mut handle).cast()) };
    if handle.is_null() { std::ptr::null_mut() } else { real(handle, name) }
}

/// Stores a handle and stops at the first library with NVRTC's file name.
unsafe extern "C" fn open_nvrtc(info: *mut libc::dl_phdr_info, _size: usize, data: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid structure, whose name is null or ends in zero.
    let path = unsafe { (*info).dlpi_name };
    if path.is_null() {
        return 0;
    }
    // SAFETY: as above.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    let file = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    if !file.starts_with(b"libnvrtc.so") {
        return 0;
    }
    // Loads nothing: the library is there. The handle is kept, as a linked library stays.
    // SAFETY: the path ends in zero.
    let handle = unsafe { libc::dlopen(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    // SAFETY: `in_loaded_nvrtc` passes the address of a handle.
    unsafe { *data.cast::<*mut c_void>() = handle };
    c_int::from(!handle.is_null())
}

/// What our `dlsym` asks first. Null: the C library's answers.
extern "C" fn ours(handle: *mut c_void, name: *const c_char) -> *const c_void {
    find();
    if name.is_null() {
        return std::ptr::null();
    }
    // SAFETY: a name passed to `dlsym` ends in zero.
    crate::replacement(handle, unsafe { CStr::from_ptr(name) })
}

/// `dlsym`. It jumps to the C library's and does not call it, because `RTLD_NEXT` depends on the caller.
///
/// # Safety
/// As the C library's.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {ours}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jne 2f",
        "mov rax, qword ptr [rip + {real}]",
        "jmp rax",
        "2:",
        "ret",
        ours = sym ours,
        real = sym REAL,
    )
}
