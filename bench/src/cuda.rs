//! Anywarp (or any other driver), used through `libcuda.so.1` or `libamdhip64.so.6` like any client.

use std::ffi::{CString, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use anyhow::{Context, Result, bail};
use libloading::Library;

use crate::cases::Case;
use crate::engine::{Arg, Engine};

type Handle = *mut c_void;

/// A prepared launch: function, grid, block, parameter values.
struct Step {
    function: Handle,
    grid: [u32; 2],
    block: [u32; 2],
    values: Vec<u64>,
}

/// Through which interface a driver is used. Where both have a function, it has the same parameters.
#[derive(Clone, Copy, Debug)]
pub enum Interface {
    /// CUDA's, on device 0, with the PTX of the kernels.
    Cuda,
    /// HIP's, on the device with this number, with the kernels' files of this extension.
    Hip {
        /// The device's number.
        device: c_int,
        /// `ptx` or `hsaco`.
        extension: &'static str,
    },
}

/// The path of a library in the build that the calling benchmark or example belongs to.
pub fn built_library(name: &str) -> PathBuf {
    let exe = std::env::current_exe().unwrap_or_default();
    exe.ancestors().nth(2).map(|p| p.join("lib-anywarp").join(name)).unwrap_or_default()
}

/// The functions in CUDA's and in HIP's interface.
const IN_HIP: &[(&str, &str)] = &[
    ("cuInit", "hipInit"),
    ("cuMemAlloc_v2", "hipMalloc"),
    ("cuMemFree_v2", "hipFree"),
    ("cuMemcpyHtoD_v2", "hipMemcpyHtoD"),
    ("cuMemcpyDtoH_v2", "hipMemcpyDtoH"),
    ("cuModuleLoad", "hipModuleLoad"),
    ("cuModuleUnload", "hipModuleUnload"),
    ("cuModuleGetGlobal_v2", "hipModuleGetGlobal"),
    ("cuModuleGetFunction", "hipModuleGetFunction"),
    ("cuLaunchKernel", "hipModuleLaunchKernel"),
    ("cuCtxSynchronize", "hipDeviceSynchronize"),
];

/// A driver library with one context.
pub struct Cuda {
    library: Library,
    interface: Interface,
    kernels: PathBuf,
    module: Handle,
    buffers: Vec<(u64, usize)>,
    first: Vec<Vec<u32>>,
    steps: Vec<Step>,
}

/// Calls a function of the library by name and converts its status to a `Result`.
macro_rules! call {
    ($self:expr, $name:literal, ($($ty:ty),*), ($($arg:expr),*)) => {{
        let name = $self.interface.name($name);
        // SAFETY: the signature is that of this function in cuda.h, and in HIP's header.
        let f = unsafe { $self.library.get::<unsafe extern "C" fn($($ty),*) -> c_int>(name.as_bytes()) }
            .with_context(|| format!("the library has no {name}"))?;
        // SAFETY: the pointers are valid for the call, as cuda.h requires.
        let code = unsafe { f($($arg),*) };
        if code != 0 {
            bail!("{name} returned {code}");
        }
    }};
}

impl Interface {
    /// The name of a function that CUDA has under this name.
    fn name(self, name: &'static str) -> &'static str {
        match self {
            Interface::Cuda => name,
            Interface::Hip { .. } => IN_HIP.iter().find(|row| row.0 == name).map_or(name, |row| row.1),
        }
    }
}

impl Cuda {
    /// Opens CUDA's library and creates a context on device 0.
    pub fn new(library: &Path, kernels: &Path) -> Result<Self> {
        Self::with(library, kernels, Interface::Cuda)
    }

    /// Opens a library with this interface.
    pub fn with(library: &Path, kernels: &Path, interface: Interface) -> Result<Self> {
        // SAFETY: loading a driver library runs its initialisers, as in any client.
        let library =
            unsafe { Library::new(library) }.with_context(|| format!("cannot load {}", library.display()))?;
        let this = Cuda {
            library,
            interface,
            kernels: kernels.to_path_buf(),
            module: ptr::null_mut(),
            buffers: vec![],
            first: vec![],
            steps: vec![],
        };
        call!(this, "cuInit", (c_uint), (0));
        if !matches!(interface, Interface::Cuda) {
            return Ok(this);
        }
        let mut context: Handle = ptr::null_mut();
        call!(this, "cuDevicePrimaryCtxRetain", (*mut Handle, c_int), (&mut context, 0));
        call!(this, "cuCtxSetCurrent", (Handle), (context));
        Ok(this)
    }

    /// Makes the device current: another engine may use the same library.
    fn enter(&self) -> Result<()> {
        if let Interface::Hip { device, .. } = self.interface {
            call!(self, "hipSetDevice", (c_int), (device));
        }
        Ok(())
    }

    fn drop_case(&mut self) -> Result<()> {
        for (address, _) in std::mem::take(&mut self.buffers) {
            call!(self, "cuMemFree_v2", (u64), (address));
        }
        if !self.module.is_null() {
            call!(self, "cuModuleUnload", (Handle), (self.module));
            self.module = ptr::null_mut();
        }
        Ok(())
    }

    /// Launches the prepared steps without waiting, unlike [`Engine::run`].
    pub fn enqueue(&mut self) -> Result<()> {
        for step in &mut self.steps {
            let mut pointers: Vec<*mut c_void> =
                step.values.iter_mut().map(|v| (v as *mut u64).cast()).collect();
            call!(
                self,
                "cuLaunchKernel",
                (
                    Handle,
                    c_uint,
                    c_uint,
                    c_uint,
                    c_uint,
                    c_uint,
                    c_uint,
                    c_uint,
                    Handle,
                    *mut *mut c_void,
                    *mut *mut c_void
                ),
                (
                    step.function,
                    step.grid[0],
                    step.grid[1],
                    1,
                    step.block[0],
                    step.block[1],
                    1,
                    0,
                    ptr::null_mut(),
                    pointers.as_mut_ptr(),
                    ptr::null_mut()
                )
            );
        }
        Ok(())
    }

    /// Waits for all launches.
    pub fn synchronise(&mut self) -> Result<()> {
        call!(self, "cuCtxSynchronize", (), ());
        Ok(())
    }
}

impl Engine for Cuda {
    fn name(&self) -> String {
        "Anywarp".into()
    }

    fn prepare(&mut self, case: &Case) -> Result<()> {
        self.enter()?;
        self.drop_case()?;
        let extension = match self.interface {
            Interface::Cuda => "ptx",
            Interface::Hip { extension, .. } => extension,
        };
        let file = self.kernels.join(format!("{}.{extension}", case.ptx));
        let name = CString::new(file.to_string_lossy().as_bytes())?;
        call!(self, "cuModuleLoad", (*mut Handle, *const i8), (&mut self.module, name.as_ptr().cast()));
        for words in &case.buffers {
            let mut address = 0u64;
            call!(self, "cuMemAlloc_v2", (*mut u64, usize), (&mut address, words.len() * 4));
            self.buffers.push((address, words.len()));
        }
        self.first = case.buffers.clone();
        self.reset()?;
        if let Some((variable, buffer)) = case.constant {
            let name = CString::new(variable)?;
            let mut address = 0u64;
            call!(
                self,
                "cuModuleGetGlobal_v2",
                (*mut u64, *mut usize, Handle, *const i8),
                (&mut address, ptr::null_mut(), self.module, name.as_ptr().cast())
            );
            let words = &case.buffers[buffer];
            call!(
                self,
                "cuMemcpyHtoD_v2",
                (u64, *const c_void, usize),
                (address, words.as_ptr().cast(), words.len() * 4)
            );
        }
        self.steps.clear();
        for launch in &case.launches {
            let name = CString::new(launch.kernel)?;
            let mut function: Handle = ptr::null_mut();
            call!(
                self,
                "cuModuleGetFunction",
                (*mut Handle, Handle, *const i8),
                (&mut function, self.module, name.as_ptr().cast())
            );
            let values = launch
                .args
                .iter()
                .map(|a| match a {
                    Arg::Buffer(i) => self.buffers[*i].0,
                    scalar => u64::from(scalar.bits()),
                })
                .collect();
            self.steps.push(Step { function, grid: launch.grid, block: launch.block, values });
        }
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        self.enter()?;
        self.enqueue()?;
        self.synchronise()
    }

    fn read(&mut self, index: usize) -> Result<Vec<u32>> {
        self.enter()?;
        let (address, words) = self.buffers[index];
        let mut out = vec![0u32; words];
        call!(
            self,
            "cuMemcpyDtoH_v2",
            (*mut c_void, u64, usize),
            (out.as_mut_ptr().cast(), address, words * 4)
        );
        Ok(out)
    }

    fn reset(&mut self) -> Result<()> {
        self.enter()?;
        for (words, &(address, _)) in self.first.iter().zip(&self.buffers) {
            call!(
                self,
                "cuMemcpyHtoD_v2",
                (u64, *const c_void, usize),
                (address, words.as_ptr().cast(), words.len() * 4)
            );
        }
        Ok(())
    }
}
