//! The tables of pointers to functions in a program's copy of NVTX.

use std::ffi::{c_int, c_uint};

use crate::GetExportTable;

/// A pointer to a function of any type.
pub type Slot = extern "C" fn();

/// `NvtxCallbackModule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Functions {
    /// The functions of version 1.
    Core = 1,
    /// Those with domains.
    Domains = 5,
}

/// `NVTX_ETID_CALLBACKS`.
const CALLBACKS: u32 = 1;

/// `NvtxExportTableCallbacks`.
#[repr(C)]
struct Callbacks {
    size: usize,
    /// Gives a module's table: an array of pointers to the pointers that NVTX's functions call, and its
    /// length.
    table:
        Option<unsafe extern "C" fn(module: u32, table: *mut *mut *mut Slot, length: *mut c_uint) -> c_int>,
}

/// Puts functions into the tables; false if the program's NVTX has none. Functions that it does not know are
/// left out.
///
/// # Safety
/// `get` is NVTX's function, and each row has the function of its number.
pub unsafe fn fill(get: GetExportTable, modules: &[(Functions, &[(c_uint, Slot)])]) -> bool {
    // SAFETY: NVTX gives null or the structure.
    let Some(callbacks) = (unsafe { get(CALLBACKS).cast::<Callbacks>().as_ref() }) else { return false };
    let Some(table) = callbacks.table.filter(|_| callbacks.size >= size_of::<Callbacks>()) else {
        return false;
    };
    for (module, rows) in modules {
        let (mut slots, mut length) = (std::ptr::null_mut(), 0);
        // SAFETY: both results are this function's own.
        if unsafe { table(*module as u32, &mut slots, &mut length) } == 0 || slots.is_null() {
            continue;
        }
        for (number, function) in rows.iter().filter(|(number, _)| *number < length) {
            // SAFETY: the number is within the table, whose pointers are to pointers of the program or null.
            unsafe {
                let slot = *slots.add(*number as usize);
                if !slot.is_null() {
                    *slot = *function;
                }
            }
        }
    }
    true
}
