//! Names the library in `lib-anywarp/`, beside the driver's: `libanywarp-PACKAGE.so`. The crate `nvtx` uses
//! this script, too.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed={}/../nvrtc/build.rs", env!("CARGO_MANIFEST_DIR"));
    let package = env::var("CARGO_PKG_NAME").unwrap_or_default();
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libanywarp-{package}.so");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    // OUT_DIR is target/PROFILE/build/PACKAGE-HASH/out.
    let Some(profile) = out.ancestors().nth(3) else { return };
    let folder = profile.join("lib-anywarp");
    // Cargo copies the library up from `deps` only when this package is asked for by name; `deps` always has
    // it.
    let library = PathBuf::from(format!("../deps/libanywarp_{package}.so"));
    let link = folder.join(format!("libanywarp-{package}.so"));
    if std::fs::create_dir_all(&folder).is_err() || std::fs::read_link(&link).is_ok_and(|at| at == library) {
        return;
    }
    // An older link; where there is none this fails and the next line makes it.
    let _ = std::fs::remove_file(&link);
    if let Err(error) = std::os::unix::fs::symlink(&library, &link) {
        println!("cargo:warning={}: {error}", link.display());
    }
}
