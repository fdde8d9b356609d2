//! Runs every benchmark kernel, with small sizes, through the C interface of the library that was built with
//! this test, and compares with gcc's results. The PTX is the repository's, or that of the folder in
//! `ANYWARP_BENCH_PTX` (see kernels/make.sh).

use std::path::{Path, PathBuf};
use std::process::Command;

use bench::engine::Engine;
use bench::{cases, cuda::Cuda, host::Host, table};

/// The library is beside the test or above it, depending on how cargo was invoked.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let folder = test.parent().expect("its folder");
    let found =
        ["libcuda.so", "../libcuda.so"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("no libcuda.so in {} or above it", folder.display()))
}

#[test]
fn right() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let ptx = std::env::var_os("ANYWARP_BENCH_PTX").map_or_else(|| kernels.clone(), PathBuf::from);
    let mut ours = Cuda::new(&library(), &ptx).expect("the driver opens");
    let mut host = Host::new(&kernels).expect("gcc compiles");
    for case in cases::all(0) {
        let mut check = || -> anyhow::Result<()> {
            host.prepare(&case)?;
            host.run()?;
            ours.prepare(&case)?;
            ours.run()?;
            table::compare(&case, &host.read(case.answer.0)?, &ours.read(case.answer.0)?)
        };
        if let Err(error) = check() {
            panic!("{}: {error:#}", case.title);
        }
    }
}

#[test]
fn right_with_avx2_and_one_worker() {
    // The driver reads its environment once per process.
    let status = Command::new(std::env::current_exe().expect("the test's own path"))
        .args(["--exact", "right"])
        .envs([("ANYWARP_CPU", "x86-64-v3"), ("ANYWARP_WORKERS", "1"), ("ANYWARP_CACHE_DIR", "off")])
        .status()
        .expect("the test runs itself");
    assert!(status.success(), "{status}");
}
