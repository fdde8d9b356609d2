//! C loops, compiled by gcc to a shared library.

use std::ffi::c_void;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use libloading::Library;

use crate::cases::Case;
use crate::engine::{Arg, Engine, Launch};

/// The gcc engine.
pub struct Host {
    library: Library,
    buffers: Vec<Vec<u32>>,
    first: Vec<Vec<u32>>,
    calls: Vec<Launch>,
}

impl Host {
    /// Compiles `kernels/peers.c`.
    pub fn new(kernels: &Path) -> Result<Self> {
        // A library is loaded from there, so nobody else may be able to write to the folder.
        let folder = tempfile::Builder::new()
            .prefix("anywarp-bench-")
            .tempdir()
            .context("cannot create a folder for peers.so")?;
        let path = folder.path().join("peers.so");
        let flags = [
            "-O3",
            "-march=native",
            "-mprefer-vector-width=512",
            "-ffast-math",
            "-fopenmp",
            // OpenMP's threads keep running after the library is closed.
            "-Wl,-z,nodelete",
            "-shared",
            "-fPIC",
        ];
        let status = Command::new("gcc")
            .args(flags)
            .arg("-o")
            .arg(&path)
            .arg(kernels.join("peers.c"))
            .arg("-lm")
            .status();
        if !status.context("cannot run gcc")?.success() {
            bail!("gcc could not compile peers.c");
        }
        // SAFETY: the library is our own C file; it has no initialisers beyond OpenMP's.
        let library = unsafe { Library::new(&path) }.context("cannot load the compiled peers.c")?;
        Ok(Host { library, buffers: vec![], first: vec![], calls: vec![] })
    }
}

impl Engine for Host {
    fn name(&self) -> String {
        "gcc".into()
    }

    fn prepare(&mut self, case: &Case) -> Result<()> {
        self.calls = case.host.clone().unwrap_or_else(|| case.launches.clone());
        if let Some((_, buffer)) = case.constant {
            for call in &mut self.calls {
                call.args.insert(0, Arg::Buffer(buffer));
            }
        }
        self.first = case.buffers.clone();
        self.reset()
    }

    fn run(&mut self) -> Result<()> {
        for call in &self.calls {
            let mut values: Vec<u64> = call
                .args
                .iter()
                .map(|a| match a {
                    Arg::Buffer(i) => self.buffers[*i].as_mut_ptr() as u64,
                    scalar => u64::from(scalar.bits()),
                })
                .collect();
            let mut pointers: Vec<*mut c_void> = values.iter_mut().map(|v| (v as *mut u64).cast()).collect();
            // SAFETY: all functions in peers.c have this signature.
            let f =
                unsafe { self.library.get::<unsafe extern "C" fn(*mut *mut c_void)>(call.kernel.as_bytes()) }
                    .with_context(|| format!("peers.c has no {}", call.kernel))?;
            // SAFETY: the pointers lead to values that live through the call, in the order of the kernel's
            // parameters, and the buffers have the case's sizes.
            unsafe { f(pointers.as_mut_ptr()) };
        }
        Ok(())
    }

    fn read(&mut self, index: usize) -> Result<Vec<u32>> {
        Ok(self.buffers[index].clone())
    }

    fn reset(&mut self) -> Result<()> {
        self.buffers = self.first.clone();
        Ok(())
    }
}
