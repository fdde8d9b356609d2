//! The location of the libraries under test.

use std::path::PathBuf;

fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    // target/PROFILE/deps/TEST-HASH
    test.ancestors().nth(2).expect("the profile's folder").join("lib-anywarp")
}

/// The front with a soname, beside the library that was built with this test.
pub fn front(number: u32) -> PathBuf {
    folder().join(format!("libamdhip64.so.{number}"))
}
