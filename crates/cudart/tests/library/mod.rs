//! The libraries under test.
#![allow(dead_code, reason = "each test that includes this file uses part of it")]

use std::path::PathBuf;

/// The fronts: version, and the end of the soname.
pub const FRONTS: [(u32, &str); 3] = [(11, "11.0"), (12, "12"), (13, "13")];

/// The folder of the libraries that were built with this test.
pub fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    // target/PROFILE/deps/TEST-HASH
    test.ancestors().nth(2).expect("the profile's folder").join("lib-anywarp")
}

/// The front of a version.
pub fn front(version: u32) -> PathBuf {
    let (_, end) = FRONTS.iter().find(|f| f.0 == version).expect("a version");
    folder().join(format!("libcudart.so.{end}"))
}
