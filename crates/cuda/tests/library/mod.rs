//! The location of the library under test.

use std::path::PathBuf;

/// The library that was built with this test: beside the test, or one folder up.
pub fn built() -> PathBuf {
    // For a test that runs as a program in another folder.
    if let Some(named) = std::env::var_os("ANYWARP_TEST_LIBRARY") {
        return named.into();
    }
    let test = std::env::current_exe().expect("the test's own path");
    let folder = test.parent().expect("its folder");
    let newest = [folder.join("libcuda.so"), folder.join("../libcuda.so")]
        .into_iter()
        .filter_map(|path| Some((std::fs::metadata(&path).ok()?.modified().ok()?, path)))
        .max();
    newest.unwrap_or_else(|| panic!("no libcuda.so in {} or above it", folder.display())).1
}
