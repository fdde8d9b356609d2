//! Where the fronts under test are.

use std::path::PathBuf;

/// The front of a soname, beside the library that was built with this test.
pub fn front(number: u32) -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    // target/PROFILE/deps/TEST-HASH
    let profile = test.ancestors().nth(2).expect("the profile's folder");
    profile.join("lib-anywarp").join(format!("libamdhip64.so.{number}"))
}
