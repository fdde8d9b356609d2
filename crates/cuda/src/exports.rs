//! The exported names: stubs for functions that are not implemented, and the table of all.

#![allow(non_snake_case, non_upper_case_globals, missing_docs, clashing_extern_declarations)]

mod stubs {
    include!(concat!(env!("OUT_DIR"), "/stubs.rs"));
}

include!(concat!(env!("OUT_DIR"), "/exports.rs"));

/// The address of an exported function.
pub fn address(name: &str) -> Option<*mut std::ffi::c_void> {
    let at = EXPORTS.binary_search_by_key(&name, |e| e.0).ok()?;
    EXPORTS.get(at).map(|e| e.1 as *mut std::ffi::c_void)
}
