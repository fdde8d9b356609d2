//! OpenCL CPU runtimes through the loader library `libOpenCL.so.1`.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::Path;
use std::ptr;

use anyhow::{Context, Result, bail};
use libloading::Library;

use crate::cases::Case;
use crate::engine::{Arg, Engine};

type Handle = *mut c_void;

const PLATFORM_NAME: c_uint = 0x0902;
const DEVICE_TYPE_CPU: u64 = 1 << 1;
const BUILD_LOG: c_uint = 0x1183;
const READ_WRITE: u64 = 1;

/// Calls a function of the library by name and returns its result.
macro_rules! cl {
    ($self:expr, $name:literal, ($($ty:ty),*) -> $ret:ty, ($($arg:expr),*)) => {{
        // SAFETY: the signature is that of this function in cl.h.
        let f = unsafe { $self.get::<unsafe extern "C" fn($($ty),*) -> $ret>($name.as_bytes()) }
            .with_context(|| format!("the OpenCL loader has no {}", $name))?;
        // SAFETY: the pointers are valid for the call, as cl.h requires.
        unsafe { f($($arg),*) }
    }};
}

/// The same for functions that return an error code.
macro_rules! check {
    ($self:expr, $name:literal, $types:tt, $args:tt) => {{
        let code: c_int = cl!($self, $name, $types -> c_int, $args);
        if code != 0 {
            bail!("{} returned {code}", $name);
        }
    }};
}

struct Step {
    kernel: Handle,
    global: [usize; 2],
    local: [usize; 2],
}

/// The CPU device of one platform.
pub struct OpenCl {
    library: Library,
    name: String,
    context: Handle,
    queue: Handle,
    program: Handle,
    buffers: Vec<(Handle, usize)>,
    first: Vec<Vec<u32>>,
    steps: Vec<Step>,
}

fn open() -> Result<Library> {
    // SAFETY: the OpenCL loader is made to be loaded by clients.
    unsafe { Library::new("libOpenCL.so.1") }
        .context("no libOpenCL.so.1: install ocl-icd-libopencl1, with pocl-opencl-icd or intel-opencl-rt")
}

fn platforms(library: &Library) -> Result<Vec<(Handle, String)>> {
    let mut list = [ptr::null_mut(); 16];
    let mut count: c_uint = 0;
    check!(
        library,
        "clGetPlatformIDs",
        (c_uint, *mut Handle, *mut c_uint),
        (16, list.as_mut_ptr(), &mut count)
    );
    let mut found = Vec::new();
    for &platform in list.iter().take(count as usize) {
        let mut name = [0u8; 256];
        check!(
            library,
            "clGetPlatformInfo",
            (Handle, c_uint, usize, *mut c_void, *mut usize),
            (platform, PLATFORM_NAME, name.len() - 1, name.as_mut_ptr().cast(), ptr::null_mut())
        );
        let end = name.iter().position(|&c| c == 0).unwrap_or(0);
        found.push((platform, String::from_utf8_lossy(&name[..end]).into_owned()));
    }
    Ok(found)
}

impl OpenCl {
    /// The CPU devices of all platforms, with our kernels built for each.
    pub fn all(kernels: &Path) -> Result<Vec<OpenCl>> {
        let source = std::fs::read_to_string(kernels.join("peers.cl")).context("cannot read peers.cl")?;
        let count = platforms(&open()?)?.len();
        (0..count).filter_map(|i| Self::new(i, &source).transpose()).collect()
    }

    fn new(index: usize, source: &str) -> Result<Option<OpenCl>> {
        let library = open()?;
        let Some((platform, name)) = platforms(&library)?.into_iter().nth(index) else { return Ok(None) };
        let mut device: Handle = ptr::null_mut();
        let code: c_int = cl!(library, "clGetDeviceIDs", (Handle, u64, c_uint, *mut Handle, *mut c_uint) -> c_int,
            (platform, DEVICE_TYPE_CPU, 1, &mut device, ptr::null_mut()));
        if code != 0 {
            return Ok(None);
        }
        let mut code: c_int = 0;
        let context = cl!(library, "clCreateContext",
            (*const isize, c_uint, *const Handle, *const c_void, *const c_void, *mut c_int) -> Handle,
            (ptr::null(), 1, &device, ptr::null(), ptr::null(), &mut code));
        let queue = cl!(library, "clCreateCommandQueue", (Handle, Handle, u64, *mut c_int) -> Handle,
            (context, device, 0, &mut code));
        let text = CString::new(source)?;
        let text_pointer = text.as_ptr();
        let program = cl!(library, "clCreateProgramWithSource",
            (Handle, c_uint, *const *const c_char, *const usize, *mut c_int) -> Handle,
            (context, 1, &text_pointer, ptr::null(), &mut code));
        let options = CString::new("-cl-mad-enable")?;
        let built: c_int = cl!(library, "clBuildProgram",
            (Handle, c_uint, *const Handle, *const c_char, *const c_void, *const c_void) -> c_int,
            (program, 1, &device, options.as_ptr(), ptr::null(), ptr::null()));
        if built != 0 {
            let mut log = vec![0u8; 16384];
            check!(
                library,
                "clGetProgramBuildInfo",
                (Handle, Handle, c_uint, usize, *mut c_void, *mut usize),
                (program, device, BUILD_LOG, log.len(), log.as_mut_ptr().cast(), ptr::null_mut())
            );
            bail!(
                "{name} could not build peers.cl: {}",
                String::from_utf8_lossy(&log).trim_end_matches('\0')
            );
        }
        Ok(Some(OpenCl {
            library,
            name,
            context,
            queue,
            program,
            buffers: vec![],
            first: vec![],
            steps: vec![],
        }))
    }

    fn write(&self, buffer: Handle, words: &[u32]) -> Result<()> {
        check!(
            self.library,
            "clEnqueueWriteBuffer",
            (Handle, Handle, c_uint, usize, usize, *const c_void, c_uint, *const c_void, *const c_void),
            (self.queue, buffer, 1, 0, words.len() * 4, words.as_ptr().cast(), 0, ptr::null(), ptr::null())
        );
        Ok(())
    }
}

impl Engine for OpenCl {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare(&mut self, case: &Case) -> Result<()> {
        for step in std::mem::take(&mut self.steps) {
            check!(self.library, "clReleaseKernel", (Handle), (step.kernel));
        }
        for (buffer, _) in std::mem::take(&mut self.buffers) {
            check!(self.library, "clReleaseMemObject", (Handle), (buffer));
        }
        let mut code: c_int = 0;
        for words in &case.buffers {
            let buffer = cl!(self.library, "clCreateBuffer", (Handle, u64, usize, *mut c_void, *mut c_int) -> Handle,
                (self.context, READ_WRITE, words.len() * 4, ptr::null_mut(), &mut code));
            if code != 0 {
                bail!("clCreateBuffer returned {code}");
            }
            self.buffers.push((buffer, words.len()));
        }
        self.first = case.buffers.clone();
        for launch in &case.launches {
            let name = CString::new(launch.kernel)?;
            let kernel = cl!(self.library, "clCreateKernel", (Handle, *const c_char, *mut c_int) -> Handle,
                (self.program, name.as_ptr(), &mut code));
            if code != 0 {
                bail!("clCreateKernel of {} returned {code}", launch.kernel);
            }
            let constant = case.constant.map(|(_, buffer)| Arg::Buffer(buffer));
            for (i, arg) in constant.iter().chain(&launch.args).enumerate() {
                let bits = arg.bits();
                let (size, pointer): (usize, *const c_void) = match arg {
                    Arg::Buffer(b) => (8, (&raw const self.buffers[*b].0).cast()),
                    _ => (4, (&raw const bits).cast()),
                };
                check!(
                    self.library,
                    "clSetKernelArg",
                    (Handle, c_uint, usize, *const c_void),
                    (kernel, i as c_uint, size, pointer)
                );
            }
            let local = launch.block.map(|x| x as usize);
            let global = [local[0] * launch.grid[0] as usize, local[1] * launch.grid[1] as usize];
            self.steps.push(Step { kernel, global, local });
        }
        self.reset()
    }

    fn run(&mut self) -> Result<()> {
        for step in &self.steps {
            check!(
                self.library,
                "clEnqueueNDRangeKernel",
                (
                    Handle,
                    Handle,
                    c_uint,
                    *const usize,
                    *const usize,
                    *const usize,
                    c_uint,
                    *const c_void,
                    *const c_void
                ),
                (
                    self.queue,
                    step.kernel,
                    2,
                    ptr::null(),
                    step.global.as_ptr(),
                    step.local.as_ptr(),
                    0,
                    ptr::null(),
                    ptr::null()
                )
            );
        }
        check!(self.library, "clFinish", (Handle), (self.queue));
        Ok(())
    }

    fn read(&mut self, index: usize) -> Result<Vec<u32>> {
        let (buffer, words) = self.buffers[index];
        let mut out = vec![0u32; words];
        check!(
            self.library,
            "clEnqueueReadBuffer",
            (Handle, Handle, c_uint, usize, usize, *mut c_void, c_uint, *const c_void, *const c_void),
            (self.queue, buffer, 1, 0, words * 4, out.as_mut_ptr().cast(), 0, ptr::null(), ptr::null())
        );
        Ok(out)
    }

    fn reset(&mut self) -> Result<()> {
        for (words, &(buffer, _)) in self.first.iter().zip(&self.buffers) {
            self.write(buffer, words)?;
        }
        Ok(())
    }
}
