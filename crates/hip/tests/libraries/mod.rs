//! Libraries, links and launches with a configuration: what their kernels write.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use crate::support::*;
use crate::{INVALID_VALUE, LAUNCH_FAILURE, PTX};

/// A cluster's number of blocks, by block.
const CLUSTERS: &str = r#"
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .u32 out[64];
.visible .entry size()
{
    .reg .u32 %r<3>;
    .reg .u64 %d<3>;
    mov.u32 %r1, %cluster_nctaid.x;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %d1, %r2, 4;
    mov.u64 %d2, out;
    add.u64 %d2, %d2, %d1;
    st.global.u32 [%d2], %r1;
    ret;
}
"#;

const COOPERATIVE: u32 = 2;
const CLUSTER: u32 = 4;
const INVALID_CLUSTER: u32 = 1054;

fn attribute(id: u32, value: [u32; 3]) -> Attribute {
    let mut all = [0; 16];
    all[..3].copy_from_slice(&value);
    Attribute { id, pad: 0, value: all }
}

fn config(grid: u32, block: u32, attributes: &[Attribute]) -> StubConfig {
    StubConfig {
        grid: d(grid),
        block: d(block),
        shared: 0,
        stream: 0,
        attributes: attributes.as_ptr(),
        number: attributes.len() as u32,
    }
}

fn driver_config(grid: u32, block: u32, attributes: &[Attribute]) -> DriverConfig {
    DriverConfig {
        sizes: [grid, 1, 1, block, 1, 1],
        shared: 0,
        stream: 0,
        attributes: attributes.as_ptr(),
        number: attributes.len() as u32,
    }
}

/// A library of PTX text, and its kernel of a name.
fn kernel(hip: &Hip, text: &str, name: &str) -> (P, P) {
    let (mut library, mut kernel) = (0, 0);
    let image = c(text);
    let made = (hip.hipLibraryLoadData)(
        &mut library,
        image.as_ptr().cast(),
        null(),
        null_mut(),
        0,
        null(),
        null_mut(),
        0,
    );
    // The library has its own copy.
    drop(image);
    assert_eq!(made, 0);
    assert_eq!((hip.hipLibraryGetKernel)(&mut kernel, library, c(name).as_ptr()), 0);
    (library, kernel)
}

/// The words of a library's variable.
fn library_words(hip: &Hip, cuda: &Cuda, library: P, name: &str, count: usize) -> Vec<u32> {
    let (mut address, mut size) = (0, 0);
    assert_eq!((hip.hipLibraryGetGlobal)(&mut address, &mut size, library, c(name).as_ptr()), 0);
    assert!(size >= count * 4, "{size} bytes");
    let mut out = vec![0u32; count];
    assert_eq!((cuda.cuMemcpyDtoH_v2)(out.as_mut_ptr().cast(), address, count * 4), 0);
    out
}

fn expected(base: u32, count: u32) -> Vec<u32> {
    (base..base + count).collect()
}

#[test]
fn a_configuration_launches_kernels_functions_and_stubs() {
    let (hip, cuda) = (hip(), cuda());
    let (library, kernel) = kernel(&hip, PTX, "fill");
    let mut name = null();
    assert_eq!((hip.hipKernelGetName)(&mut name, kernel), 0);
    // SAFETY: the function has returned a text that lives as long as the library.
    assert_eq!(unsafe { CStr::from_ptr(name) }, c"fill");
    let launch = |config: &StubConfig, a: u32, b: u64| {
        let params = [&raw const a as P, &raw const b as P];
        (hip.hipLaunchKernelExC)(config, kernel, params.as_ptr())
    };
    assert_eq!(launch(&config(2, 32, &[]), 3, 5), 0);
    assert_eq!(library_words(&hip, &cuda, library, "out", 64), expected(3005, 64));
    let cooperative = [attribute(COOPERATIVE, [1, 0, 0])];
    assert_eq!(launch(&config(1, 64, &cooperative), 4, 0), 0);
    assert_eq!(library_words(&hip, &cuda, library, "out", 64), expected(4000, 64));

    // As a function, with pointers and with a whole buffer.
    let mut function = 0;
    assert_eq!((hip.hipKernelGetFunction)(&mut function, kernel), 0);
    let (a, b) = (1u32, 9u64);
    let params = [&raw const a as P, &raw const b as P];
    let sizes = driver_config(1, 32, &[]);
    assert_eq!((hip.hipDrvLaunchKernelEx)(&sizes, function, params.as_ptr(), NONE), 0);
    assert_eq!(library_words(&hip, &cuda, library, "out", 32), expected(1009, 32));
    let (buffer, size) = ([2u32, 0, 7, 0], 16usize);
    let extra = [1, buffer.as_ptr() as P, 2, &raw const size as P, 3];
    assert_eq!((hip.hipDrvLaunchKernelEx)(&sizes, function, NONE, extra.as_ptr()), 0);
    assert_eq!(library_words(&hip, &cuda, library, "out", 32), expected(2007, 32));
    // A kernel's attribute is its function's.
    let mut most = 0;
    check(&[
        ("most threads", (hip.hipKernelGetAttribute)(&mut most, 0, kernel, 0), 0),
        ("a kernel in its place", (hip.hipDrvLaunchKernelEx)(&sizes, kernel, params.as_ptr(), NONE), 0),
        ("unloads", (hip.hipLibraryUnload)(library), 0),
    ]);
    assert!(most >= 256, "{most}");
    assert_ne!((hip.hipDrvLaunchKernelEx)(&sizes, function, params.as_ptr(), NONE), 0);

    // The stub of a registered kernel, and what its occupancy is.
    let code = bundle(&[("hip-ptx", c(PTX).as_bytes_with_nul())]);
    let wrapper =
        Wrapper { magic: 0x4849_5046, version: 1, binary: code.as_ptr().cast::<c_void>(), unused: 0 };
    let handle = (hip.__hipRegisterFatBinary)(&wrapper);
    let stub = 0u8;
    let stub = &raw const stub as P;
    let text = c("bounded");
    (hip.__hipRegisterFunction)(handle, stub, text.as_ptr(), text.as_ptr(), u32::MAX, 0, 0, 0, 0, 0);
    let mut bytes = 0;
    check(&[
        ("launch", (hip.hipLaunchKernelExC)(&config(1, 64, &[]), stub, NONE), 0),
        ("too large", (hip.hipLaunchKernelExC)(&config(1, 65, &[]), stub, NONE), LAUNCH_FAILURE),
        ("shared", (hip.hipOccupancyAvailableDynamicSMemPerBlock)(&mut bytes, stub, 2, 64), 0),
        ("block", (hip.hipOccupancyAvailableDynamicSMemPerBlock)(&mut bytes, stub, 2, 4096), INVALID_VALUE),
    ]);
    assert_eq!(bytes, 48 << 10, "as CUDA's driver answers for a kernel without shared memory");
    (hip.__hipUnregisterFatBinary)(handle);
}

/// On a device with clusters.
#[test]
fn a_configuration_asks_for_clusters() {
    const NAME: &str = "libraries::a_configuration_asks_for_clusters";
    if !in_process(NAME, &[("ANYWARP_COMPUTE_CAPABILITY", "9.0")]) {
        return;
    }
    let (hip, cuda) = (hip(), cuda());
    let code = bundle(&[("hip-ptx", c(CLUSTERS).as_bytes_with_nul())]);
    let wrapper =
        Wrapper { magic: 0x4849_5046, version: 1, binary: code.as_ptr().cast::<c_void>(), unused: 0 };
    let handle = (hip.__hipRegisterFatBinary)(&wrapper);
    let stub = 0u8;
    let stub = &raw const stub as P;
    let text = c("size");
    (hip.__hipRegisterFunction)(handle, stub, text.as_ptr(), text.as_ptr(), u32::MAX, 0, 0, 0, 0, 0);
    let (two, three) = ([attribute(CLUSTER, [2, 1, 1])], [attribute(CLUSTER, [3, 1, 1])]);
    let (mut size, mut clusters) = (0, 0);
    check(&[
        ("potential", (hip.hipOccupancyMaxPotentialClusterSize)(&mut size, stub, &config(4, 32, &two)), 0),
        ("active", (hip.hipOccupancyMaxActiveClusters)(&mut clusters, stub, &config(4, 32, &two)), 0),
        (
            "it does not divide the grid",
            (hip.hipOccupancyMaxActiveClusters)(&mut clusters, stub, &config(4, 32, &three)),
            INVALID_CLUSTER,
        ),
        ("launch", (hip.hipLaunchKernelExC)(&config(4, 32, &three), stub, NONE), INVALID_CLUSTER),
    ]);
    assert_eq!(size, 8, "the portable size");
    assert!(clusters > 0);
    let (library, kernel) = kernel(&hip, CLUSTERS, "size");
    let launch = |grid, attributes| (hip.hipLaunchKernelExC)(&config(grid, 32, attributes), kernel, NONE);
    assert_eq!(launch(4, &two), 0);
    assert_eq!(library_words(&hip, &cuda, library, "out", 4), [2; 4]);
    assert_eq!(launch(4, &[]), 0);
    assert_eq!(library_words(&hip, &cuda, library, "out", 4), [1; 4]);
    let four = [attribute(CLUSTER, [4, 1, 1])];
    assert_eq!((hip.hipDrvLaunchKernelEx)(&driver_config(4, 32, &four), kernel, NONE, NONE), 0);
    assert_eq!(library_words(&hip, &cuda, library, "out", 4), [4; 4]);
}

/// A function in one text, its caller in another.
#[test]
fn texts_are_linked() {
    const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let callee = format!(
        "{HEAD}.visible .func (.param .u32 r) seven() {{ .reg .u32 %a; mov.u32 %a, 7; st.param.u32 [r], %a; ret; }}"
    );
    let caller = format!(
        "{HEAD}.extern .func (.param .u32 r) seven();\n.visible .global .align 4 .u32 out;\n.visible .entry k() {{\n\
         .reg .u32 %a; {{ .param .u32 p; call (p), seven; ld.param.u32 %a, [p]; }} st.global.u32 [out], %a; ret; }}"
    );
    let (hip, cuda) = (hip(), cuda());
    let (mut link, mut image, mut size) = (0, 0, 0);
    assert_eq!((hip.hipLinkCreate)(0, null(), null_mut(), &mut link), 0);
    for (text, name) in [(&caller, "caller"), (&callee, "callee")] {
        let (text, name) = (c(text), c(name));
        let bytes = text.as_bytes_with_nul();
        let added = (hip.hipLinkAddData)(
            link,
            1,
            bytes.as_ptr().cast(),
            bytes.len(),
            name.as_ptr(),
            0,
            null(),
            null_mut(),
        );
        assert_eq!(added, 0, "{name:?}");
    }
    assert_eq!((hip.hipLinkComplete)(link, &mut image, &mut size), 0);
    assert!(size > 0);
    let mut module = 0;
    assert_eq!((hip.hipModuleLoadData)(&mut module, image as *const c_void), 0);
    assert_eq!((hip.hipLinkDestroy)(link), 0);
    let kernel = function(&hip, module, "k");
    assert_eq!((hip.hipDrvLaunchKernelEx)(&driver_config(1, 1, &[]), kernel, NONE, NONE), 0);
    assert_eq!(words(&hip, &cuda, module, "out", 1), [7]);
}
