//! The library as a C program sees it: opened by path, called through pointers.
//!
//! A kernel's fault affects the whole process, and so do variables and standard output: [`isolated`] runs a
//! test in a separate process.

use std::ffi::{CString, c_void};
use std::process::{Command, Output};
use std::ptr::null_mut;

use hwtruth::sample::Turn;

/// A handle or address.
pub type P = u64;

macro_rules! functions {
    ($($name:ident($($arg:ty),* $(,)?);)*) => {
        /// The driver functions used by the tests.
        #[allow(non_snake_case)]
        pub struct Cuda {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> u32,)*
        }

        impl Cuda {
            /// Opens the library; the test must call `cuInit`.
            pub fn open() -> Cuda {
                // SAFETY: the library's initialisers do nothing.
                let library = unsafe { libloading::Library::new(crate::library::built()) }.expect("the library");
                let library = Box::leak(Box::new(library));
                Cuda {
                    // SAFETY: the function has this signature in the interface's header.
                    $($name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }.expect(stringify!($name)),)*
                }
            }
        }
    };
}

functions! {
    cuInit(u32);
    cuDriverGetVersion(*mut i32);
    cuDeviceGetCount(*mut i32);
    cuCtxCreate_v2(*mut P, u32, i32);
    cuCtxDestroy_v2(P);
    cuCtxGetCurrent(*mut P);
    cuCtxGetLimit(*mut usize, u32);
    cuCtxSetCurrent(P);
    cuCtxPushCurrent_v2(P);
    cuCtxPopCurrent_v2(*mut P);
    cuCtxSetLimit(u32, usize);
    cuCtxSynchronize();
    cuDeviceGetAttribute(*mut i32, i32, i32);
    cuFuncGetAttribute(*mut i32, i32, P);
    cuFuncSetAttribute(P, i32, i32);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(*mut i32, P, i32, usize);
    cuDevicePrimaryCtxRetain(*mut P, i32);
    cuDevicePrimaryCtxReset_v2(i32);
    cuModuleLoadData(*mut P, *const c_void);
    cuModuleLoadFatBinary(*mut P, *const c_void);
    cuModuleLoadDataEx(*mut P, *const c_void, u32, *mut u32, *mut *mut c_void);
    cuModuleUnload(P);
    cuModuleGetFunction(*mut P, P, *const i8);
    cuLinkCreate_v2(u32, *mut u32, *mut *mut c_void, *mut P);
    cuLinkAddData_v2(P, u32, *const c_void, usize, *const i8, u32, *mut u32, *mut *mut c_void);
    cuLinkComplete(P, *mut *mut c_void, *mut usize);
    cuLinkDestroy(P);
    cuGraphCreate(*mut P, u32);
    cuGraphDestroy(P);
    cuGraphAddChildGraphNode(*mut P, P, *const P, usize, P);
    cuGraphInstantiateWithFlags(*mut P, P, u64);
    cuGraphExecUpdate_v2(P, P, *mut c_void);
    cuGraphLaunch(P, P);
    cuStreamBeginCapture_v2(P, u32);
    cuStreamEndCapture(P, *mut P);
    cuLibraryLoadData(*mut P, *const c_void, *mut u32, *mut *mut c_void, u32, *mut u32, *mut *mut c_void, u32);
    cuLibraryGetKernel(*mut P, P, *const i8);
    cuKernelGetAttribute(*mut i32, i32, P, i32);
    cuKernelSetAttribute(i32, i32, P, i32);
    cuLibraryUnload(P);
    cuMemAlloc_v2(*mut P, usize);
    cuMemAllocManaged(*mut P, usize, u32);
    cuMemCreate(*mut P, usize, *const AllocationProp, u64);
    cuMemRelease(P);
    cuMemImportFromShareableHandle(*mut P, u64, u32);
    cuMemGetAllocationPropertiesFromHandle(*mut AllocationProp, P);
    cuMemAddressReserve(*mut P, usize, usize, P, u64);
    cuMemMap(P, usize, usize, P, u64);
    cuMemUnmap(P, usize);
    cuMemSetAccess(P, usize, *const AccessDesc, usize);
    cuMulticastCreate(*mut P, *const MulticastProp);
    cuMulticastAddDevice(P, i32);
    cuMulticastBindMem(P, usize, P, usize, usize, u64);
    cuMulticastBindAddr(P, usize, P, usize, u64);
    cuMulticastUnbind(P, i32, usize, usize);
    cuMulticastGetGranularity(*mut usize, *const MulticastProp, u32);
    cuMemHostAlloc(*mut *mut c_void, usize, u32);
    cuMemcpyHtoD_v2(P, *const c_void, usize);
    cuMemcpyDtoH_v2(*mut c_void, P, usize);
    cuMemsetD32_v2(P, u32, usize);
    cuMemsetD8Async(P, u8, usize, P);
    cuMemcpyHtoDAsync_v2(P, *const c_void, usize, P);
    cuMemcpyAsync(P, P, usize, P);
    cuMemcpyDtoD_v2(P, P, usize);
    cuMemcpyPeer(P, P, P, P, usize);
    cuMemAllocAsync(*mut P, usize, P);
    cuMemFreeAsync(P, P);
    cuMemGetInfo_v2(*mut usize, *mut usize);
    cuDeviceTotalMem_v2(*mut usize, i32);
    cuStreamCreate(*mut P, u32);
    cuStreamSynchronize(P);
    cuStreamWaitValue32_v2(P, P, u32, u32);
    cuStreamBatchMemOp_v2(P, u32, *mut [u64; 6], u32);
    cuStreamWaitEvent(P, P, u32);
    cuStreamDestroy_v2(P);
    cuStreamQuery(P);
    cuStreamGetFlags(P, *mut u32);
    cuStreamGetCtx(P, *mut P);
    cuEventCreate(*mut P, u32);
    cuEventRecord(P, P);
    cuEventQuery(P);
    cuEventSynchronize(P);
    cuEventElapsedTime(*mut f32, P, P);
    cuEventDestroy_v2(P);
    cuLaunchHostFunc(P, Option<extern "C" fn(*mut c_void)>, *mut c_void);
    cuLaunchKernel(P, u32, u32, u32, u32, u32, u32, u32, P, *mut *mut c_void, *mut *mut c_void);
    cuLaunchKernelEx(*const LaunchConfig, P, *mut *mut c_void, *mut *mut c_void);
    cuTensorMapEncodeIm2colWide(
        *mut u64, i32, u32, P, *const u64, *const u64, i32, i32, u32, u32, *const u32, i32, i32, i32, i32, i32,
    );
    cuGLMapBufferObject(*mut P, *mut usize, u32);
    cuLaunchCooperativeKernelMultiDevice(*const LaunchParams, u32, u32);
    cuLaunchCooperativeKernel(P, u32, u32, u32, u32, u32, u32, u32, P, *mut *mut c_void);
    cuCtxEnablePeerAccess(P, u32);
    cuCtxDisablePeerAccess(P);
    cuModuleLoad(*mut P, *const i8);
    cuModuleGetGlobal_v2(*mut P, *mut usize, P, *const i8);
    cuLinkAddFile_v2(P, u32, *const i8, u32, *mut u32, *mut *mut c_void);
    cuLibraryLoadFromFile(*mut P, *const i8, *mut u32, *mut *mut c_void, u32, *mut u32, *mut *mut c_void, u32);
    cuGetExportTable(*mut P, *const [u8; 16]);
    cuMemFree_v2(P);
    cuMemFreeHost(*mut c_void);
    cuMemHostRegister_v2(*mut c_void, usize, u32);
    cuMemHostUnregister(*mut c_void);
    cuMemPoolCreate(*mut P, *const PoolProps);
    cuMemPoolDestroy(P);
    cuMemPoolExportToShareableHandle(*mut i32, P, u32, u64);
    cuMemPoolImportFromShareableHandle(*mut P, u64, u32, u64);
    cuMemPoolExportPointer(*mut u64, P);
    cuMemPoolImportPointer(*mut P, P, *const u64);
    cuMemExportToShareableHandle(*mut i32, P, u32, u64);
    cuMemPoolGetAccess(*mut u32, P, *const [u32; 2]);
    cuMemPoolSetAccess(P, *const AccessDesc, usize);
    cuDeviceGetDefaultMemPool(*mut P, i32);
    cuMemGetMemPool(*mut P, *const [u32; 2], u32);
    cuDeviceSetMemPool(i32, P);
    cuMemAllocFromPoolAsync(*mut P, usize, P, P);
    cuPointerGetAttribute(*mut c_void, u32, P);
    cuIpcGetEventHandle(*mut u64, P);
    cuIpcGetMemHandle(*mut [u64; 8], P);
    cuTensorMapEncodeTiled(
        *mut u64, u32, u32, P, *const u64, *const u64, *const u32, *const u32, u32, u32, u32, u32,
    );
    cuGraphConditionalHandleCreate(*mut u64, P, P, u32, u32);
    cuGraphAddNode_v2(*mut P, P, *const P, *const [u8; 8], usize, *mut u64);
    cuGraphAddKernelNode_v2(*mut P, P, *const P, usize, *const u64);
    cuGraphExecDestroy(P);
    cuGraphUpload(P, P);
    cuGraphClone(*mut P, P);
    cuGraphDestroyNode(P);
    cuGraphNodeSetEnabled(P, P, u32);
    cuGraphExecKernelNodeSetParams_v2(P, P, *const u64);
    cuGraphInstantiateWithParams(*mut P, P, *mut u64);
    cuGraphKernelNodeCopyAttributes(P, P);
    cuGraphKernelNodeGetAttribute(P, u32, *mut u64);
    cuGraphKernelNodeSetAttribute(P, u32, *mut u64);
}

/// `CUmemAllocationProp`: pinned memory of a device.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct AllocationProp {
    pub kind: u32,
    pub handle_types: u32,
    pub location: [u32; 2],
    pub meta_data: u64,
    pub flags: [u8; 8],
}

/// `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct PoolProps {
    pub kind: u32,
    pub handle_types: u32,
    pub location: [u32; 2],
    pub security: u64,
    pub max_size: usize,
    pub rest: [u64; 7],
}

/// `CUmemAccessDesc`.
#[repr(C)]
pub struct AccessDesc {
    pub location: [u32; 2],
    pub flags: u32,
}

/// `CUmulticastObjectProp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MulticastProp {
    pub devices: u32,
    pub size: usize,
    pub handle_types: u64,
    pub flags: u64,
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct LaunchConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub stream: P,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: u32,
}

/// `CUDA_LAUNCH_PARAMS`.
#[repr(C)]
pub struct LaunchParams {
    pub function: P,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub stream: P,
    pub params: *mut *mut c_void,
}

/// `CUlaunchAttribute`.
#[repr(C)]
pub struct LaunchAttribute {
    pub id: u32,
    pub pad: u32,
    pub value: [u64; 8],
}

/// Calls a function and expects success, or the status after `=>`.
#[macro_export]
macro_rules! call {
    ($cuda:ident.$name:ident($($arg:expr),* $(,)?)) => { call!($cuda.$name($($arg),*) => 0) };
    ($cuda:ident.$name:ident($($arg:expr),* $(,)?) => $status:expr) => {{
        #[allow(clippy::macro_metavars_in_unsafe)]
        // SAFETY: the arguments are those that the interface requires; every pointer outlives the call.
        let status = unsafe { ($cuda.$name)($($arg),*) };
        assert_eq!(status, $status, stringify!($name));
    }};
}

/// The status codes used by the tests.
pub mod status {
    pub const INVALID_VALUE: u32 = 1;
    pub const CONTEXT_IS_DESTROYED: u32 = 709;
    pub const ILLEGAL_ADDRESS: u32 = 700;
    pub const LAUNCH_TIMEOUT: u32 = 702;
    pub const ASSERT: u32 = 710;
    pub const MISALIGNED_ADDRESS: u32 = 716;
    pub const LAUNCH_FAILED: u32 = 719;
    pub const NO_BINARY_FOR_GPU: u32 = 209;
    pub const INVALID_IMAGE: u32 = 200;
    pub const NOT_SUPPORTED: u32 = 801;
    pub const INVALID_SOURCE: u32 = 300;
    pub const COOPERATIVE_LAUNCH_TOO_LARGE: u32 = 720;
}

impl Cuda {
    /// Opens the library, initialises it and makes the primary context of device 0 current.
    pub fn start() -> Cuda {
        let cuda = Cuda::open();
        call!(cuda.cuInit(0));
        cuda.primary();
        cuda
    }

    /// Makes the primary context of device 0 current.
    pub fn primary(&self) {
        let mut context = 0;
        call!(self.cuDevicePrimaryCtxRetain(&mut context, 0));
        call!(self.cuCtxSetCurrent(context));
    }

    /// Loads a module from text.
    pub fn module(&self, text: &str) -> P {
        let text = CString::new(text).expect("no NUL in PTX");
        let mut module = 0;
        call!(self.cuModuleLoadData(&mut module, text.as_ptr().cast()));
        module
    }

    /// A function of a module.
    pub fn function(&self, module: P, name: &str) -> P {
        let name = CString::new(name).expect("no NUL in a name");
        let mut function = 0;
        call!(self.cuModuleGetFunction(&mut function, module, name.as_ptr().cast()));
        function
    }

    /// Allocates device memory with these values.
    pub fn upload<T: Copy>(&self, values: &[T]) -> P {
        let mut address = 0;
        call!(self.cuMemAlloc_v2(&mut address, size_of_val(values)));
        call!(self.cuMemcpyHtoD_v2(address, values.as_ptr().cast(), size_of_val(values)));
        address
    }

    /// Reads values from device memory.
    pub fn download<T: Copy + Default>(&self, address: P, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        call!(self.cuMemcpyDtoH_v2(values.as_mut_ptr().cast(), address, count * size_of::<T>()));
        values
    }

    /// Launches in one dimension and returns the status.
    pub fn launch(&self, function: P, grid: u32, block: u32, stream: P, arguments: &[Argument]) -> u32 {
        let mut pointers: Vec<*mut c_void> = arguments.iter().map(Argument::pointer).collect();
        let pointers = if pointers.is_empty() { null_mut() } else { pointers.as_mut_ptr() };
        // SAFETY: the pointers refer to the kernel's parameters, as many as it has, and outlive the call.
        unsafe { (self.cuLaunchKernel)(function, grid, 1, 1, block, 1, 1, 0, stream, pointers, null_mut()) }
    }
}

/// A kernel's argument.
pub enum Argument {
    U32(u32),
    U64(u64),
    F32(f32),
}

impl Argument {
    /// The argument's address.
    pub fn pointer(&self) -> *mut c_void {
        match self {
            Argument::U32(v) => std::ptr::from_ref(v).cast_mut().cast(),
            Argument::U64(v) => std::ptr::from_ref(v).cast_mut().cast(),
            Argument::F32(v) => std::ptr::from_ref(v).cast_mut().cast(),
        }
    }
}

const CHILD: &str = "ANYWARP_TEST_CHILD";

/// Runs `body` in a separate process with these variables set. In the child it does not return; in the parent
/// it returns the child's output, and fails if the child failed.
pub fn isolated(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Output {
    if std::env::var(CHILD).as_deref() == Ok(test) {
        body();
        std::process::exit(0);
    }
    let output = Command::new(std::env::current_exe().expect("the test's own path"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, test)
        .env("ANYWARP_CACHE_DIR", "off")
        .envs(variables.iter().copied())
        .output()
        .expect("the test's own process");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{test}: {}\n{}\n{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

/// The ways to run kernels: with the interpreter and compiled, for this machine and for AVX2, with one worker
/// and with several.
pub const WAYS: [&[(&str, &str)]; 4] = [
    &[("ANYWARP_ENGINE", "interpreter"), ("ANYWARP_WORKERS", "1")],
    &[("ANYWARP_ENGINE", "interpreter"), ("ANYWARP_WORKERS", "3")],
    &[("ANYWARP_ENGINE", "compiled"), ("ANYWARP_WORKERS", "1")],
    &[("ANYWARP_ENGINE", "compiled"), ("ANYWARP_WORKERS", "3"), ("ANYWARP_CPU", "x86-64-v3")],
];

/// Same as [`isolated`], in all [`WAYS`], or in one interpreted and one compiled; `more` is also set. Returns
/// the outputs of the processes.
pub fn everywhere(test: &str, more: &[(&str, &str)], body: impl Fn()) -> Vec<Output> {
    let mine = |n: &usize| Turn::new(n % 2, 2).takes(test);
    (0..WAYS.len()).filter(mine).map(|n| isolated(test, &[WAYS[n], more].concat(), &body)).collect()
}

/// The first lines of every text.
pub const HEAD: &str = ".version 7.0\n.target sm_52\n.address_size 64\n";
