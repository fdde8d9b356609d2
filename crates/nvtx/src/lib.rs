//! The library that NVTX looks for. NVTX 3 is a set of headers: a program's first call of one of its
//! functions opens the library that `NVTX_INJECTION64_PATH` names and calls [`InitializeInjectionNvtx2`],
//! which puts functions into the program's tables. `anywarp prof` names this library. Its functions record
//! the program's ranges and marks beside the kernels and copies (`driver::profile`).
//!
//! The layouts are those of NVTX's public headers (`nvtxDetail/nvtxTypes.h`, `nvToolsExt.h`, version 3).
//! Categories, colours, payloads and resources are not recorded: their functions stay empty.

mod attributes;
mod ranges;
mod table;

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use attributes::{Attributes, narrow, wide};
use host::options::Reading;
use libc::wchar_t;
use ranges::Domain;
use table::{Functions, Slot};

/// The return value of functions that fail: the levels of ranges begin with 0.
const FAILED: c_int = -1;

/// Runs the body of a function that C calls.
fn guarded<T>(failed: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(failed)
}

/// `NvtxGetExportTableFunc_t`.
type GetExportTable = unsafe extern "C" fn(table: u32) -> *const c_void;

/// Takes the program's NVTX. Returns 1, or 0 if nothing is to be recorded or the program's headers are not of
/// a version that this library knows; NVTX's functions then do nothing.
///
/// # Safety
/// `get` is null or the function that NVTX's headers pass.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn InitializeInjectionNvtx2(get: Option<GetExportTable>) -> c_int {
    guarded(0, || {
        let Some(get) = get else { return 0 };
        if !ranges::start(&Reading::of_process().options) {
            return 0;
        }
        // SAFETY: the caller passes NVTX's function, and the rows have the types of their numbers' functions.
        unsafe { table::fill(get, &[(Functions::Core, CORE), (Functions::Domains, DOMAINS)]).into() }
    })
}

/// A row of a table: the number of a function, and the function.
macro_rules! rows {
    ($($number:literal => $function:ident as $type:ty,)*) => {
        &[$(($number, {
            let function: $type = $function;
            // SAFETY: all pointers to functions have one size. NVTX calls the function with its own type.
            unsafe { std::mem::transmute::<$type, Slot>(function) }
        })),*]
    };
}

type OfAttributes = unsafe extern "C" fn(*const Attributes);
type OfText<C> = unsafe extern "C" fn(*const C);
type Started<A> = unsafe extern "C" fn(*const A) -> u64;
type Pushed<A> = unsafe extern "C" fn(*const A) -> c_int;
type NamesThread<C> = unsafe extern "C" fn(u32, *const C);
type InDomain<A, R> = unsafe extern "C" fn(Domain, *const A) -> R;
type Creates<C> = unsafe extern "C" fn(*const C) -> Domain;
type Registers<C> = unsafe extern "C" fn(Domain, *const C) -> *mut c_void;

/// `NvtxCallbackIdCore`.
const CORE: &[(c_uint, Slot)] = rows! {
    1 => mark as OfAttributes,
    2 => mark_narrow as OfText<c_char>,
    3 => mark_wide as OfText<wchar_t>,
    4 => start as Started<Attributes>,
    5 => start_narrow as Started<c_char>,
    6 => start_wide as Started<wchar_t>,
    7 => end as extern "C" fn(u64),
    8 => push as Pushed<Attributes>,
    9 => push_narrow as Pushed<c_char>,
    10 => push_wide as Pushed<wchar_t>,
    11 => pop as extern "C" fn() -> c_int,
    14 => thread_narrow as NamesThread<c_char>,
    15 => thread_wide as NamesThread<wchar_t>,
};

/// `NvtxCallbackIdCore2`.
const DOMAINS: &[(c_uint, Slot)] = rows! {
    1 => mark_in as InDomain<Attributes, ()>,
    2 => start_in as InDomain<Attributes, u64>,
    3 => end_in as extern "C" fn(Domain, u64),
    4 => push_in as InDomain<Attributes, c_int>,
    5 => pop_in as extern "C" fn(Domain) -> c_int,
    10 => register_narrow as Registers<c_char>,
    11 => register_wide as Registers<wchar_t>,
    12 => domain_narrow as Creates<c_char>,
    13 => domain_wide as Creates<wchar_t>,
};

// SAFETY of the functions below: NVTX passes on what the program gives its functions, whose documentation
// asks for valid attributes, and for texts that end with 0. A null pointer is taken as an empty text.

unsafe extern "C" fn mark(attributes: *const Attributes) {
    // SAFETY: see above.
    unsafe { mark_in(Domain::NONE, attributes) }
}

unsafe extern "C" fn mark_narrow(text: *const c_char) {
    // SAFETY: see above.
    guarded((), || ranges::mark(Domain::NONE, &unsafe { narrow(text) }))
}

unsafe extern "C" fn mark_wide(text: *const wchar_t) {
    // SAFETY: see above.
    guarded((), || ranges::mark(Domain::NONE, &unsafe { wide(text) }))
}

unsafe extern "C" fn start(attributes: *const Attributes) -> u64 {
    // SAFETY: see above.
    unsafe { start_in(Domain::NONE, attributes) }
}

unsafe extern "C" fn start_narrow(text: *const c_char) -> u64 {
    // SAFETY: see above.
    guarded(0, || ranges::start_range(Domain::NONE, &unsafe { narrow(text) }))
}

unsafe extern "C" fn start_wide(text: *const wchar_t) -> u64 {
    // SAFETY: see above.
    guarded(0, || ranges::start_range(Domain::NONE, &unsafe { wide(text) }))
}

extern "C" fn end(id: u64) {
    guarded((), || ranges::end_range(id))
}

unsafe extern "C" fn push(attributes: *const Attributes) -> c_int {
    // SAFETY: see above.
    unsafe { push_in(Domain::NONE, attributes) }
}

unsafe extern "C" fn push_narrow(text: *const c_char) -> c_int {
    // SAFETY: see above.
    guarded(FAILED, || ranges::push(Domain::NONE, &unsafe { narrow(text) }).unwrap_or(FAILED))
}

unsafe extern "C" fn push_wide(text: *const wchar_t) -> c_int {
    // SAFETY: see above.
    guarded(FAILED, || ranges::push(Domain::NONE, &unsafe { wide(text) }).unwrap_or(FAILED))
}

extern "C" fn pop() -> c_int {
    pop_in(Domain::NONE)
}

unsafe extern "C" fn thread_narrow(thread: u32, text: *const c_char) {
    // SAFETY: see above.
    guarded((), || ranges::name_thread(thread, &unsafe { narrow(text) }))
}

unsafe extern "C" fn thread_wide(thread: u32, text: *const wchar_t) {
    // SAFETY: see above.
    guarded((), || ranges::name_thread(thread, &unsafe { wide(text) }))
}

unsafe extern "C" fn mark_in(domain: Domain, attributes: *const Attributes) {
    // SAFETY: see above.
    guarded((), || ranges::mark(domain, &unsafe { Attributes::text(attributes) }))
}

unsafe extern "C" fn start_in(domain: Domain, attributes: *const Attributes) -> u64 {
    // SAFETY: see above.
    guarded(0, || ranges::start_range(domain, &unsafe { Attributes::text(attributes) }))
}

extern "C" fn end_in(_: Domain, id: u64) {
    end(id)
}

unsafe extern "C" fn push_in(domain: Domain, attributes: *const Attributes) -> c_int {
    // SAFETY: see above.
    guarded(FAILED, || ranges::push(domain, &unsafe { Attributes::text(attributes) }).unwrap_or(FAILED))
}

extern "C" fn pop_in(domain: Domain) -> c_int {
    guarded(FAILED, || ranges::pop(domain).unwrap_or(FAILED))
}

unsafe extern "C" fn register_narrow(_: Domain, text: *const c_char) -> *mut c_void {
    // SAFETY: see above.
    guarded(std::ptr::null_mut(), || ranges::register(&unsafe { narrow(text) }))
}

unsafe extern "C" fn register_wide(_: Domain, text: *const wchar_t) -> *mut c_void {
    // SAFETY: see above.
    guarded(std::ptr::null_mut(), || ranges::register(&unsafe { wide(text) }))
}

unsafe extern "C" fn domain_narrow(text: *const c_char) -> Domain {
    // SAFETY: see above.
    guarded(Domain::NONE, || ranges::domain(&unsafe { narrow(text) }))
}

unsafe extern "C" fn domain_wide(text: *const wchar_t) -> Domain {
    // SAFETY: see above.
    guarded(Domain::NONE, || ranges::domain(&unsafe { wide(text) }))
}
