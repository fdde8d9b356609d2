//! Tests when LLVM is opened.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::call;
use crate::support::{Cuda, HEAD, isolated};

/// Whether this process has opened LLVM.
fn has_llvm() -> bool {
    std::fs::read_to_string("/proc/self/maps").expect("Linux tells").contains("libLLVM")
}

/// Whether one of its threads is about to open it.
fn opens_llvm() -> bool {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux tells");
    let names = threads.filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("comm")).ok());
    names.into_iter().any(|name| name.trim() == "anywarp-open")
}

fn module(cuda: &Cuda) -> u64 {
    cuda.module(&format!("{HEAD}.visible .entry nothing() {{ ret; }}"))
}

fn run(cuda: &Cuda) {
    let function = cuda.function(module(cuda), "nothing");
    assert_eq!(cuda.launch(function, 1, 32, 0, &[]), 0);
    call!(cuda.cuCtxSynchronize());
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        Folder(std::env::temp_dir().join(format!("anywarp-{name}-{}", std::process::id())))
    }

    fn text(&self) -> &str {
        self.0.to_str().expect("a plain name")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It does not exist if the test failed early.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn llvm_is_opened_for_a_module_that_the_cache_has_not_seen() {
    let test = "ahead::llvm_is_opened_for_a_module_that_the_cache_has_not_seen";
    let folder = Folder::new("ahead");
    isolated(test, &[("ANYWARP_CACHE_DIR", folder.text())], || {
        let cuda = Cuda::start();
        assert!(!has_llvm() && !opens_llvm(), "after cuInit");
        module(&cuda);
        let start = Instant::now();
        let alone = std::thread::available_parallelism().is_ok_and(|n| n.get() == 1);
        while !alone && !has_llvm() {
            assert!(start.elapsed() < Duration::from_secs(60), "LLVM is not opened");
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

fn served() {
    let cuda = Cuda::start();
    run(&cuda);
    if std::env::var_os("FILLED").is_some() {
        assert!(!has_llvm() && !opens_llvm());
    }
}

#[test]
fn llvm_is_not_opened_for_what_the_cache_serves() {
    let test = "ahead::llvm_is_not_opened_for_what_the_cache_serves";
    let folder = Folder::new("served");
    let cache = ("ANYWARP_CACHE_DIR", folder.text());
    isolated(test, &[cache], served);
    isolated(test, &[cache, ("FILLED", "1")], served);
}
