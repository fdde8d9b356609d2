//! HIP's functions through a front, as a C program calls them, and those of CUDA beside them.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use crate::library::front;

/// A handle or address.
pub type P = u64;

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Dim3(pub u32, pub u32, pub u32);

/// A number of blocks or threads in x.
pub const fn d(x: u32) -> Dim3 {
    Dim3(x, 1, 1)
}

macro_rules! functions {
    ($(#[$doc:meta])* $set:ident: $($name:ident($($arg:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        $(#[$doc])*
        #[allow(non_snake_case)]
        pub struct $set {
            $(pub $name: functions!(@type ($($arg),*) $($result)?),)*
        }

        impl $set {
            fn of(library: &'static libloading::Library) -> Self {
                // SAFETY: the functions have these signatures in the interface's header.
                unsafe { $set { $($name: *library.get(concat!(stringify!($name), "\0").as_bytes()).expect(stringify!($name)),)* } }
            }
        }
    };
    (@type ($($arg:ty),*)) => { extern "C" fn($($arg),*) -> u32 };
    (@type ($($arg:ty),*) $result:ty) => { extern "C" fn($($arg),*) -> $result };
}

functions! {
    /// HIP's.
    Hip:
    hipGetLastError();
    hipCtxGetCurrent(*mut P);
    hipCtxPopCurrent(*mut P);
    hipCtxCreate(*mut P, u32, i32);
    hipCtxDestroy(P);
    hipCtxPushCurrent(P);
    hipCtxSetCurrent(P);
    hipCtxGetDevice(*mut i32);
    hipCtxSynchronize();
    hipCtxGetApiVersion(P, *mut u32);
    hipCtxGetCacheConfig(*mut u32);
    hipCtxSetCacheConfig(u32);
    hipCtxGetSharedMemConfig(*mut u32);
    hipCtxSetSharedMemConfig(u32);
    hipCtxGetFlags(*mut u32);
    hipGetDeviceCount(*mut i32);
    hipSetDevice(i32);
    hipDeviceComputeCapability(*mut i32, *mut i32, i32);
    hipDeviceGetAttribute(*mut i32, u32, i32);
    hipGetDevicePropertiesR0600(*mut u8, i32);
    hipDeviceGetPCIBusId(*mut u8, i32, i32);
    hipDeviceSynchronize();
    hipDevicePrimaryCtxRetain(*mut P, i32);
    hipDevicePrimaryCtxGetState(i32, *mut u32, *mut i32);
    hipDevicePrimaryCtxRelease(i32);
    hipDevicePrimaryCtxReset(i32);
    hipDevicePrimaryCtxSetFlags(i32, u32);
    hipModuleLoad(*mut P, *const i8);
    hipModuleLoadData(*mut P, *const c_void);
    hipModuleLoadDataEx(*mut P, *const c_void, u32, *mut u32, *mut P);
    hipModuleLoadFatBinary(*mut P, *const c_void);
    hipModuleUnload(P);
    hipModuleGetFunction(*mut P, P, *const i8);
    hipModuleGetGlobal(*mut P, *mut usize, P, *const i8);
    hipFuncGetAttribute(*mut i32, i32, P);
    hipGetFuncBySymbol(*mut P, P);
    hipModuleLaunchKernel(P, u32, u32, u32, u32, u32, u32, u32, P, *const P, *const P);
    hipExtModuleLaunchKernel(P, u32, u32, u32, u32, u32, u32, usize, P, *const P, *const P, P, P, u32);
    hipHccModuleLaunchKernel(P, u32, u32, u32, u32, u32, u32, usize, P, *const P, *const P, P, P);
    _Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j(
        P, u32, u32, u32, u32, u32, u32, usize, P, *const P, *const P, P, P, u32
    );
    _Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_(
        P, u32, u32, u32, u32, u32, u32, usize, P, *const P, *const P, P, P
    );
    _ZN8hip_impl22hipLaunchKernelGGLImplEmRK4dim3S2_jP12ihipStream_tPPv(P, *const Dim3, *const Dim3, u32, P, *const P);
    hipModuleLaunchCooperativeKernel(P, u32, u32, u32, u32, u32, u32, u32, P, *const P);
    hipModuleLaunchCooperativeKernelMultiDevice(*const FunctionLaunch, u32, u32);
    hipLaunchCooperativeKernelMultiDevice(*const StubLaunch, i32, u32);
    hipExtLaunchMultiKernelMultiDevice(*const StubLaunch, i32, u32);
    hipLaunchCooperativeKernel(P, Dim3, Dim3, *const P, u32, P);
    hipLaunchKernel(P, Dim3, Dim3, *const P, usize, P);
    __hipRegisterFatBinary(*const Wrapper) -> P;
    __hipRegisterFunction(P, P, *const i8, *const i8, u32, P, P, P, P, P);
    __hipRegisterVar(P, P, *const i8, *const i8, i32, usize, i32, i32);
    __hipRegisterManagedVar(P, *mut P, *const c_void, *const i8, usize, u32);
    __hipUnregisterFatBinary(P);
    __hipPushCallConfiguration(Dim3, Dim3, usize, P);
    __hipPopCallConfiguration(*mut Dim3, *mut Dim3, *mut usize, *mut P);
    hipConfigureCall(Dim3, Dim3, usize, P);
    hipSetupArgument(*const c_void, usize, usize);
    hipLaunchByPtr(P);
    hipMemcpyToSymbol(P, *const c_void, usize, usize, u32);
    hipMemcpyFromSymbol(*mut c_void, P, usize, usize, u32);
    hipGetSymbolAddress(*mut P, P);
    hipGetSymbolSize(*mut usize, P);
    hipOccupancyMaxActiveBlocksPerMultiprocessor(*mut i32, P, i32, usize);
    hipModuleOccupancyMaxPotentialBlockSize(*mut i32, *mut i32, P, usize, i32);
    hipModuleGetTexRef(*mut P, P, *const i8);
    hipTexRefSetArray(P, P, u32);
    hipTexRefGetArray(*mut P, P);
    hipTexRefSetFlags(P, u32);
    hipTexRefGetFlags(*mut u32, P);
    hipTexRefSetFilterMode(P, u32);
    hipTexRefSetAddressMode(P, i32, u32);
    hipTexRefGetAddressMode(*mut u32, P, i32);
    hipTexRefGetFormat(*mut u32, *mut i32, P);
    hipMallocArray(*mut P, *const Channels, usize, usize, u32);
    hipFreeArray(P);
    hipMallocMipmappedArray(*mut P, *const Channels, Extent, u32, u32);
    hipGetMipmappedArrayLevel(*mut P, P, u32);
    hipFreeMipmappedArray(P);
    hipMemcpy2DToArray(P, usize, usize, *const c_void, usize, usize, usize, u32);
    hipCreateTextureObject(*mut P, *const Resource, *const Texture, P);
    hipDestroyTextureObject(P);
    hipGetTextureObjectTextureDesc(*mut Texture, P);
    hipCreateSurfaceObject(*mut P, *const Resource);
    hipDestroySurfaceObject(P);
    __hipRegisterTexture(P, P, *const i8, *const i8, i32, i32, i32);
    hipBindTextureToArray(P, P, *const Channels);
    hipUnbindTexture(P);
    hipLibraryLoadData(*mut P, *const c_void, *const u32, *mut P, u32, *const u32, *mut P, u32);
    hipLibraryUnload(P);
    hipLibraryGetKernel(*mut P, P, *const i8);
    hipLibraryGetGlobal(*mut P, *mut usize, P, *const i8);
    hipKernelGetName(*mut *const i8, P);
    hipKernelGetFunction(*mut P, P);
    hipKernelGetAttribute(*mut i32, i32, P, i32);
    hipLaunchKernelExC(*const StubConfig, P, *const P);
    hipDrvLaunchKernelEx(*const DriverConfig, P, *const P, *const P);
    hipOccupancyMaxPotentialClusterSize(*mut i32, P, *const StubConfig);
    hipOccupancyMaxActiveClusters(*mut i32, P, *const StubConfig);
    hipOccupancyAvailableDynamicSMemPerBlock(*mut usize, P, i32, i32);
    hipLinkCreate(u32, *const u32, *mut P, *mut P);
    hipLinkAddData(P, u32, *const c_void, usize, *const i8, u32, *const u32, *mut P);
    hipLinkComplete(P, *mut P, *mut usize);
    hipLinkDestroy(P);
    hiprtcLinkCreate(u32, *const u32, *mut P, *mut P);
    hiprtcLinkAddData(P, u32, *const c_void, usize, *const i8, u32, *const u32, *mut P);
    hiprtcLinkComplete(P, *mut P, *mut usize);
    hiprtcLinkDestroy(P);
    hiprtcCreateProgram(*mut P, *const i8, *const i8, i32, *const *const i8, *const *const i8);
    hiprtcDestroyProgram(*mut P);
    hiprtcCompileProgram(P, i32, *const *const i8);
    hiprtcAddNameExpression(P, *const i8);
    hiprtcGetLoweredName(P, *const i8, *mut *const i8);
    hiprtcGetProgramLogSize(P, *mut usize);
    hiprtcGetProgramLog(P, *mut u8);
    hiprtcGetCodeSize(P, *mut usize);
    hiprtcGetCode(P, *mut u8);
    hiprtcGetBitcodeSize(P, *mut usize);
    hiprtcGetBitcode(P, *mut u8);
    hipGetProcAddress(*const i8, *mut P, i32, u64, *mut u32);
}

functions! {
    /// CUDA's, of the same library.
    Cuda:
    cuCtxGetCurrent(*mut P);
    cuFuncGetName(*mut *const i8, P);
    cuStreamCreate(*mut P, u32);
    cuEventCreate(*mut P, u32);
    cuArrayCreate_v2(*mut P, *const [u64; 3]);
    cuTexRefSetFilterMode(P, u32);
    cuTexRefGetFilterMode(*mut u32, P);
    cuEventElapsedTime(*mut f32, P, P);
    cuModuleGetFunction(*mut P, P, *const i8);
    cuMemcpyDtoH_v2(*mut c_void, P, usize);
}

/// `hipFunctionLaunchParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct FunctionLaunch {
    pub function: P,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub stream: P,
    pub params: *const P,
}

/// `hipLaunchParams`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StubLaunch {
    pub stub: P,
    pub grid: Dim3,
    pub block: Dim3,
    pub params: *const P,
    pub shared: usize,
    pub stream: P,
}

/// `hipLaunchAttribute`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Attribute {
    pub id: u32,
    pub pad: u32,
    pub value: [u32; 16],
}

/// `hipLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct StubConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: usize,
    pub stream: P,
    pub attributes: *const Attribute,
    pub number: u32,
}

/// `HIP_LAUNCH_CONFIG`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DriverConfig {
    pub sizes: [u32; 6],
    pub shared: u32,
    pub stream: P,
    pub attributes: *const Attribute,
    pub number: u32,
}

/// `hipChannelFormatDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channels(pub [i32; 4], pub u32);

/// `hipResourceDesc` of a handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    pub kind: u32,
    pub handle: P,
    pub rest: [u64; 6],
}

/// `hipExtent`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Extent(pub usize, pub usize, pub usize);

/// `hipTextureDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Texture {
    pub address: [u32; 3],
    pub filter: u32,
    pub read_mode: u32,
    pub srgb: i32,
    pub border: [f32; 4],
    pub normalized: i32,
    pub anisotropy: u32,
    pub level_filter: u32,
    pub levels: [f32; 3],
}

/// `textureReference`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Reference {
    pub normalized: i32,
    pub read_mode: u32,
    pub filter: u32,
    pub address: [u32; 3],
    pub channels: Channels,
    pub rest: [u64; 6],
}

/// The wrapper around a fat binary.
#[repr(C)]
pub struct Wrapper {
    pub magic: u32,
    pub version: u32,
    pub binary: *const c_void,
    pub unused: P,
}

fn open(path: std::path::PathBuf) -> &'static libloading::Library {
    // SAFETY: a front's initialiser opens the library beside it, whose initialisers do nothing.
    Box::leak(Box::new(unsafe { libloading::Library::new(path) }.expect("the library")))
}

/// HIP's functions through the front of HIP 6.
pub fn hip() -> Hip {
    Hip::of(open(front(6)))
}

/// CUDA's functions.
pub fn cuda() -> Cuda {
    Cuda::of(open(front(6).with_file_name("libcuda.so.1")))
}

/// C text.
pub fn c(text: &str) -> CString {
    CString::new(text).expect("no NUL")
}

/// Loads a module from PTX text.
pub fn module(hip: &Hip, text: &str) -> P {
    let mut module = 0;
    assert_eq!((hip.hipModuleLoadData)(&mut module, c(text).as_ptr().cast()), 0);
    module
}

/// A function of a module.
pub fn function(hip: &Hip, module: P, name: &str) -> P {
    let mut function = 0;
    assert_eq!((hip.hipModuleGetFunction)(&mut function, module, c(name).as_ptr()), 0);
    function
}

/// The words of a module's variable.
pub fn words(hip: &Hip, cuda: &Cuda, module: P, name: &str, count: usize) -> Vec<u32> {
    let (mut address, mut size) = (0, 0);
    assert_eq!((hip.hipModuleGetGlobal)(&mut address, &mut size, module, c(name).as_ptr()), 0);
    assert!(size >= count * 4, "{size} bytes");
    let mut out = vec![0u32; count];
    assert_eq!((cuda.cuMemcpyDtoH_v2)(out.as_mut_ptr().cast(), address, count * 4), 0);
    out
}

/// A bundle in clang's format: (target, code).
pub fn bundle(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let header: usize = 32 + entries.iter().map(|(t, _)| 24 + t.len()).sum::<usize>();
    let mut out = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    out.extend((entries.len() as u64).to_le_bytes());
    let mut at = header as u64;
    for (target, code) in entries {
        for n in [at, code.len() as u64, target.len() as u64] {
            out.extend(n.to_le_bytes());
        }
        out.extend(target.as_bytes());
        at += code.len() as u64;
    }
    entries.iter().for_each(|(_, code)| out.extend(*code));
    out
}

/// The header of an AMD code object.
pub fn amd() -> Vec<u8> {
    let mut elf = vec![0u8; 64];
    elf[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    elf[18] = 224;
    elf
}

/// An NVIDIA fat binary with one entry: 1, PTX, or 2, machine code; `arch` as in `sm_52`.
pub fn fatbin(kind: u16, arch: u32, payload: &[u8]) -> Vec<u8> {
    let padded = payload.len().next_multiple_of(8);
    let mut entry = vec![0u8; 64];
    for (at, field) in [
        (0, kind.to_le_bytes().as_slice()),
        (2, &0x101u16.to_le_bytes()),
        (4, &64u32.to_le_bytes()),
        (8, &(padded as u64).to_le_bytes()),
        (28, &arch.to_le_bytes()),
    ] {
        entry[at..at + field.len()].copy_from_slice(field);
    }
    entry.extend(payload);
    entry.resize(64 + padded, 0);
    let mut out = 0xBA55_ED50u32.to_le_bytes().to_vec();
    out.extend(1u16.to_le_bytes());
    out.extend(16u16.to_le_bytes());
    out.extend((entry.len() as u64).to_le_bytes());
    out.extend(entry);
    out
}

/// Compares codes with the expected ones.
pub fn check(rows: &[(&str, u32, u32)]) {
    for (what, code, wanted) in rows {
        assert_eq!(code, wanted, "{what}");
    }
}

/// Whether this is the separate process, with its own environment, in which the test of that name runs. If
/// not, starts it and checks that it passes.
pub fn in_process(name: &str, environment: &[(&str, &str)]) -> bool {
    told_by_process(name, environment).is_none()
}

/// Same as [`in_process`]; returns the process's output on standard error, or `None` in that process.
pub fn told_by_process(name: &str, environment: &[(&str, &str)]) -> Option<String> {
    output_of_process(name, environment).map(|[_, errors]| errors)
}

/// Same as [`in_process`]; returns the process's standard output and standard error.
pub fn output_of_process(name: &str, environment: &[(&str, &str)]) -> Option<[String; 2]> {
    const CHILD: &str = "ANYWARP_TEST_CHILD";
    if std::env::var(CHILD).is_ok_and(|child| child == name) {
        return None;
    }
    let mut child = std::process::Command::new(std::env::current_exe().expect("the test's own path"));
    child.args([name, "--exact"]).env(CHILD, name).envs(environment.iter().copied());
    let output = child.output().expect("it starts");
    let [told, errors] =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    let passed = output.status.success() && told.contains("1 passed");
    assert!(passed, "{environment:?}: {told}{errors}");
    Some([told, errors])
}

/// A null pointer.
pub const NONE: *const P = null_mut();

/// Whether a clang is there; says what to install if it is not, and fails then with `ANYWARP_TEST_LONG`.
pub fn is_there(clang: &str) -> bool {
    let ready = std::process::Command::new(clang).arg("--version").output().is_ok();
    let missing = format!("{clang} is missing: apt-get install clang-19 lld-19");
    assert!(ready || !hwtruth::sample::long(), "{missing}");
    if !ready {
        eprintln!("not run: {missing}");
    }
    ready
}
