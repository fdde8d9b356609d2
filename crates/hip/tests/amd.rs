//! AMD code through the front of HIP 6: code objects in files, in memory, in bundles and registered; devices;
//! and what is refused.
//!
//! The kernels are `amd/kernels.hip`, compiled by clang 19 (`apt-get install clang-19 lld-19`). Tests that
//! need it report when they cannot run; with `ANYWARP_TEST_LONG` set they fail then. The others use objects
//! that are recorded for the tests of `gcn`.

#[allow(dead_code, reason = "each test that includes these files uses part of them")]
mod library;
#[allow(dead_code, reason = "each test that includes these files uses part of them")]
mod support;

#[path = "amd/abandoned.rs"]
mod abandoned;
#[path = "amd/images.rs"]
mod images;
#[path = "amd/libraries.rs"]
mod libraries;
#[path = "amd/printed.rs"]
mod printed;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};

use hwtruth::sample::{every_way, long};
use support::*;

const CLANG: &str = "clang-19";
const NOT_FOUND: u32 = 500;
const INVALID_VALUE: u32 = 1;
const INVALID_IMAGE: u32 = 200;
const NO_BINARY: u32 = 209;
const INVALID_KERNEL_FILE: u32 = 218;
const ILLEGAL_ADDRESS: u32 = 700;
const LAUNCH_FAILURE: u32 = 719;
const NOT_SUPPORTED: u32 = 801;

const GFX906: &[u8] = include_bytes!("../../gcn/tests/data/saxpy.gfx906.hsaco");
const VERSION_2: &[u8] = include_bytes!("../../gcn/tests/data/saxpy.v2.gfx906.hsaco");
const GFX90A: &[u8] = include_bytes!("../../gcn/tests/data/saxpy.gfx90a.hsaco");

/// The option with the device library's folder; without it no library is linked.
const DEVICE_LIBRARY: &str = "--rocm-device-lib-path";

/// Position of the flags in an ELF header; bits 8 and 9 of them say what the code needs of xnack.
const FLAGS: usize = 48;

fn ready() -> bool {
    is_there(CLANG)
}

/// The kernels for a target, as a file in a folder that is deleted at the end.
struct Object(PathBuf);

impl Object {
    fn new(target: &str, options: &[&str]) -> Object {
        Object::of("kernels.hip", target, options)
    }

    /// Those of a file in `amd/`.
    fn of(file: &str, target: &str, options: &[&str]) -> Object {
        Object::by(CLANG, file, target, options)
    }

    fn by(compiler: &str, file: &str, target: &str, options: &[&str]) -> Object {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/amd").join(file);
        let name = format!("anywarp-{}-{file}-{target}{}", std::process::id(), options.concat());
        let name = name.replace('/', "-");
        let file = std::env::temp_dir().join(name);
        let output = Command::new(compiler)
            .args(["-x", "hip", "--cuda-device-only", "-nogpuinc", "-O2"])
            .args(options.iter().all(|o| !o.starts_with(DEVICE_LIBRARY)).then_some("-nogpulib"))
            .arg(format!("--offload-arch={target}"))
            .args(options)
            .arg(source)
            .arg("-o")
            .arg(&file)
            .output()
            .expect("clang starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Object(file)
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).expect("an object")
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // Nothing else uses the file; a leftover does no harm.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Memory that kernels write.
fn memory<const N: usize>() -> Box<[i32; N]> {
    Box::new([-1; N])
}

/// Launches a function with these parameters, and waits for it.
fn launch(hip: &Hip, function: P, grid: [u32; 3], block: [u32; 3], shared: u32, params: &[P]) {
    let ([x, y, z], [bx, by, bz]) = (grid, block);
    let code = (hip.hipModuleLaunchKernel)(function, x, y, z, bx, by, bz, shared, 0, params.as_ptr(), null());
    assert_eq!((code, (hip.hipDeviceSynchronize)()), (0, 0));
}

/// The address of a parameter.
fn at<T>(value: &T) -> P {
    std::ptr::from_ref(value) as P
}

/// Runs the kernels of a module.
fn run(hip: &Hip, module: P) {
    let find = |name| function(hip, module, name);
    let (a, b) = (3i32, 500i64);
    let out = memory::<128>();
    let pointer = out.as_ptr() as P;
    launch(hip, find("fill"), [2, 1, 1], [64, 1, 1], 0, &[at(&a), at(&b), at(&pointer)]);
    for (i, value) in out.iter().enumerate() {
        assert_eq!(*value, 3500 + i as i32, "{i}");
    }
    let out = memory::<6>();
    let pointer = out.as_ptr() as P;
    launch(hip, find("shape"), [2, 3, 4], [7, 5, 3], 0, &[at(&pointer)]);
    assert_eq!(*out, [7, 5, 3, 14, 15, 12]);
    let data: [i32; 128] = std::array::from_fn(|i| i as i32);
    let (pointer, n) = (data.as_ptr() as P, 128i32);
    launch(hip, find("reverse"), [1, 1, 1], [128, 1, 1], 512, &[at(&pointer), at(&n)]);
    let after: Vec<i32> = (0..128).map(|i| unsafe_read(&data, i)).collect();
    assert_eq!(after, (0..128).rev().collect::<Vec<i32>>());
    let out = memory::<64>();
    let pointer = out.as_ptr() as P;
    launch(hip, find("variables"), [1, 1, 1], [64, 1, 1], 0, &[at(&pointer)]);
    assert_eq!(out[..5], [15, 25, 35, 45, 15]);
    let cuda = cuda();
    assert_eq!(words(hip, &cuda, module, "counter", 1), [77]);
    assert_eq!(words(hip, &cuda, module, "zeros", 100)[60..66], [120, 122, 124, 126, 0, 0]);
    assert_eq!(words(hip, &cuda, module, "table", 4), [10, 20, 30, 40]);
}

/// Arguments in registers (gfx942), and the position of a work-item packed in one.
#[test]
fn arguments_are_preloaded() {
    const NAME: &str = "arguments_are_preloaded";
    if !ready() || !in_process(NAME, &[("ANYWARP_HIP_ARCH", "gfx942"), ("ANYWARP_CACHE_DIR", "")]) {
        return;
    }
    let hip = hip();
    let options = ["--no-gpu-bundle-output", "-mllvm", "-amdgpu-kernarg-preload-count=16"];
    let bytes = Object::new("gfx942", &options).bytes();
    let object = gcn::CodeObject::read(&bytes).expect("a code object");
    let preloads = |k: &gcn::object::Kernel| k.descriptor.get(gcn::object::Field::PreloadLength) > 0;
    assert!(object.kernels.iter().all(preloads), "clang preloads");
    let mut module = 0;
    assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
    let out = memory::<6>();
    let pointer = out.as_ptr() as P;
    launch(&hip, function(&hip, module, "shape"), [2, 3, 4], [7, 5, 3], 0, &[at(&pointer)]);
    assert_eq!(*out, [7, 5, 3, 14, 15, 12]);
    let data = memory::<64>();
    let (pointer, n) = (data.as_ptr() as P, 64i32);
    launch(&hip, function(&hip, module, "reverse"), [1, 1, 1], [64, 1, 1], 256, &[at(&pointer), at(&n)]);
}

/// A fault names the kernel, and its instruction with the address.
#[test]
fn faults_have_addresses() {
    const NAME: &str = "faults_have_addresses";
    if !ready() {
        return;
    }
    let Some(told) = told_by_process(NAME, &[("ANYWARP_HIP_ARCH", "gfx906"), ("ANYWARP_LOG", "error")])
    else {
        let hip = hip();
        let (bytes, mut module) = (Object::new("gfx906", &["--no-gpu-bundle-output"]).bytes(), 0);
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
        let (a, b, nowhere) = (1i32, 2i64, 0x1000u64);
        let params = [at(&a), at(&b), at(&nowhere)];
        let find = function(&hip, module, "fill");
        let code = (hip.hipModuleLaunchKernel)(find, 1, 1, 1, 8, 1, 1, 0, 0, params.as_ptr(), null());
        assert_eq!((code, (hip.hipDeviceSynchronize)()), (0, ILLEGAL_ADDRESS));
        return;
    };
    assert!(told.contains("kernel fill: ") && told.contains("illegal address 0x1000, at 0x"), "{told}");
    assert!(told.contains(" of the code object (global_store_dword v["), "{told}");
    assert!(told.contains(", off), block (0, 0, 0), thread (0, 0, 0), "), "{told}");
}

/// A kernel that writes through the address of its arguments reaches no memory of the host's: near ones
/// change, far ones fault.
#[test]
fn stores_around_the_arguments_stay_there() {
    const NAME: &str = "stores_around_the_arguments_stay_there";
    if !ready() {
        return;
    }
    for engine in ["compiled", "interpreter"] {
        if !in_process(NAME, &[("ANYWARP_HIP_ARCH", "gfx906"), ("ANYWARP_ENGINE", engine)]) {
            continue;
        }
        let hip = hip();
        let (bytes, mut module) = (Object::new("gfx906", &["--no-gpu-bundle-output"]).bytes(), 0);
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
        let kernel = function(&hip, module, "own_arguments");
        let out = memory::<1>();
        let pointer = out.as_ptr() as P;
        for (first, count) in [(5i32, 4i32), (9, 500)] {
            launch(&hip, kernel, [1, 1, 1], [1, 1, 1], 0, &[at(&first), at(&count), at(&pointer)]);
            assert_eq!(out[0], first + 1);
        }
        let far = 1i32 << 16;
        let params = [at(&far), at(&far), at(&pointer)];
        let code = (hip.hipModuleLaunchKernel)(kernel, 1, 1, 1, 1, 1, 1, 0, 0, params.as_ptr(), null());
        assert_eq!((code, (hip.hipDeviceSynchronize)()), (0, ILLEGAL_ADDRESS));
        return;
    }
}

/// A thread with a small stack loads code and launches it.
#[test]
fn small_stacks_suffice() {
    const NAME: &str = "small_stacks_suffice";
    if !ready() || !in_process(NAME, &[("ANYWARP_HIP_ARCH", "gfx906")]) {
        return;
    }
    let hip = hip();
    let bytes = Object::new("gfx906", &["--no-gpu-bundle-output"]).bytes();
    let work = || {
        let mut module = 0;
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
        let data = memory::<64>();
        let (pointer, n) = (data.as_ptr() as P, 64i32);
        launch(&hip, function(&hip, module, "reverse"), [1, 1, 1], [64, 1, 1], 256, &[at(&pointer), at(&n)]);
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        let ended = thread.spawn_scoped(scope, work).expect("a thread").join();
        assert!(ended.is_ok(), "it panicked");
    });
}

/// Groups that wait for others by volatile loads, without a fence, let those run.
#[test]
fn groups_wait_for_volatile_memory() {
    const NAME: &str = "groups_wait_for_volatile_memory";
    const GROUPS: usize = 16;
    if !ready() {
        return;
    }
    for arch in ["gfx906", "gfx942", "gfx1100"] {
        let settings = [("ANYWARP_HIP_ARCH", arch), ("ANYWARP_CACHE_DIR", ""), ("ANYWARP_WATCHDOG", "60")];
        if !in_process(NAME, &settings) {
            continue;
        }
        let hip = hip();
        let arch = std::env::var("ANYWARP_HIP_ARCH").expect("an architecture");
        let (bytes, mut module) = (Object::new(&arch, &["--no-gpu-bundle-output"]).bytes(), 0);
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
        let done = Box::new([0i32; GROUPS]);
        let (pointer, groups) = (done.as_ptr() as P, GROUPS as i32);
        let relay = function(&hip, module, "relay");
        launch(&hip, relay, [GROUPS as u32, 1, 1], [64, 1, 1], 0, &[at(&pointer), at(&groups)]);
        let wanted: Vec<i32> = (1..=GROUPS as i32).rev().collect();
        assert_eq!(done[..], wanted[..]);
        return;
    }
}

/// A trap names the lanes that trapped, of a wave of 64 and of 32.
#[test]
fn traps_name_their_lanes() {
    const NAME: &str = "traps_name_their_lanes";
    if !ready() {
        return;
    }
    for (arch, warp) in [("gfx906", 1), ("gfx1100", 2)] {
        for engine in ["compiled", "interpreter"] {
            let settings =
                [("ANYWARP_HIP_ARCH", arch), ("ANYWARP_ENGINE", engine), ("ANYWARP_CACHE_DIR", "")];
            let Some(told) = told_by_process(NAME, &settings) else {
                let hip = hip();
                let (arch, mut module) = (std::env::var("ANYWARP_HIP_ARCH").expect("an architecture"), 0);
                let bytes = Object::new(&arch, &["--no-gpu-bundle-output"]).bytes();
                assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
                let (out, which) = (memory::<128>(), 70i32);
                let pointer = out.as_ptr() as P;
                let params = [at(&pointer), at(&which)];
                let kernel = function(&hip, module, "trap_one");
                let launch = hip.hipModuleLaunchKernel;
                assert_eq!(launch(kernel, 1, 1, 1, 128, 1, 1, 0, 0, params.as_ptr(), null()), 0);
                assert_eq!((hip.hipDeviceSynchronize)(), LAUNCH_FAILURE);
                return;
            };
            let place = format!("thread (70, 0, 0), warp {warp}, lanes 0x00000040");
            assert!(told.contains(&place), "{arch} {engine}: {told}");
        }
    }
}

/// A cooperative launch, whose groups of two waves wait for one another.
#[test]
fn grids_wait_for_all_their_groups() {
    const NAME: &str = "grids_wait_for_all_their_groups";
    if !ready() {
        return;
    }
    for engine in ["compiled", "interpreter"] {
        let settings =
            [("ANYWARP_HIP_ARCH", "gfx906"), ("ANYWARP_ENGINE", engine), ("ANYWARP_CACHE_DIR", "")];
        if in_process(NAME, &settings) {
            let hip = hip();
            let (bytes, mut module) = (Object::new("gfx906", &["--no-gpu-bundle-output"]).bytes(), 0);
            assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
            let (marks, sums) = (Box::new([0i32; 4]), memory::<12>());
            let (a, b) = (marks.as_ptr() as P, sums.as_ptr() as P);
            let (params, kernel) = ([at(&a), at(&b)], function(&hip, module, "grid_sync"));
            let launch = hip.hipModuleLaunchCooperativeKernel;
            assert_eq!(launch(kernel, 4, 1, 1, 128, 1, 1, 0, 0, params.as_ptr()), 0);
            assert_eq!((hip.hipDeviceSynchronize)(), 0);
            assert_eq!(*sums, [4, 8, 12, 4, 8, 12, 4, 8, 12, 4, 8, 12]);
            return;
        }
    }
}

/// Hidden arguments of AMD's device library: where the groups of a cooperative grid meet, and where it
/// manages memory for `malloc`.
#[test]
fn device_libraries_find_their_memory() {
    const NAME: &str = "device_libraries_find_their_memory";
    if !ready() {
        return;
    }
    for (arch, engine) in [("gfx906", "interpreter"), ("gfx942", "compiled"), ("gfx1100", "compiled")] {
        let settings = [("ANYWARP_HIP_ARCH", arch), ("ANYWARP_ENGINE", engine), ("ANYWARP_CACHE_DIR", "")];
        if !in_process(NAME, &settings) {
            continue;
        }
        let arch = std::env::var("ANYWARP_HIP_ARCH").expect("the variable");
        let hip = hip();
        let options = ["--no-gpu-bundle-output", "-mcode-object-version=5"];
        let (bytes, mut module) = (Object::new(&arch, &options).bytes(), 0);
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
        let (out, sum) = (memory::<4>(), Box::new([0i32; 1]));
        let (a, b) = (out.as_ptr() as P, sum.as_ptr() as P);
        let (params, kernel) = ([at(&a), at(&b)], function(&hip, module, "meet"));
        launch(&hip, kernel, [4, 1, 1], [1, 1, 1], 0, &params);
        assert_eq!(*out, [-7; 4], "the launch is not cooperative");
        let cooperative = hip.hipModuleLaunchCooperativeKernel;
        assert_eq!(cooperative(kernel, 4, 1, 1, 1, 1, 1, 0, 0, params.as_ptr()), 0);
        assert_eq!((hip.hipDeviceSynchronize)(), 0);
        // The sum of the groups' numbers, one grid, four threads.
        assert_eq!(*out, [10 + 100 + 4000; 4]);
        let value = Box::new([-1i64]);
        let pointer = value.as_ptr() as P;
        for count in 0..3 {
            launch(&hip, function(&hip, module, "heap"), [1, 1, 1], [1, 1, 1], 0, &[at(&pointer)]);
            assert_eq!(*value, [count]);
        }
        return;
    }
}

/// What `printf` in device code does: packets that a thread of the launch answers.
#[test]
fn kernels_call_the_host() {
    const NAME: &str = "kernels_call_the_host";
    if !ready() {
        return;
    }
    for engine in ["compiled", "interpreter"] {
        let settings =
            [("ANYWARP_HIP_ARCH", "gfx906"), ("ANYWARP_ENGINE", engine), ("ANYWARP_CACHE_DIR", "")];
        let Some(told) = told_by_process(NAME, &settings) else {
            let hip = hip();
            let options = ["--no-gpu-bundle-output", "-mcode-object-version=5"];
            let (bytes, mut module) = (Object::new("gfx906", &options).bytes(), 0);
            assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
            let value = -12i32;
            launch(&hip, function(&hip, module, "prints"), [1, 1, 1], [1, 1, 1], 0, &[at(&value)]);
            return;
        };
        assert!(told.lines().any(|line| line == "one -12"), "{engine}: {told}");
    }
}

/// An element that a kernel may have written behind the compiler's back.
fn unsafe_read(data: &[i32], index: usize) -> i32 {
    // SAFETY: the element exists; the kernel has ended.
    unsafe { std::ptr::read_volatile(&data[index]) }
}

/// On an AMD device of its own target, and on the PTX device; by both engines.
#[test]
fn kernels_of_code_objects_run() {
    const NAME: &str = "kernels_of_code_objects_run";
    if !ready() {
        return;
    }
    for (number, target) in ["gfx906", "gfx1030"].into_iter().enumerate() {
        for (way, version) in ["-mcode-object-version=4", "-mcode-object-version=5"].into_iter().enumerate() {
            // The versions differ in metadata alone, so compiled code takes turns.
            let compiled = every_way() || number == way;
            if !compiled && !long() {
                continue;
            }
            let ways = [(target, "interpreter"), (target, "compiled"), ("", "compiled")];
            for (arch, engine) in ways.into_iter().take(if compiled { 3 } else { 1 }) {
                let settings = [
                    ("ANYWARP_HIP_ARCH", arch),
                    ("ANYWARP_ENGINE", engine),
                    ("OBJECT", target),
                    ("VERSION", version),
                    ("ANYWARP_CACHE_DIR", ""),
                ];
                if in_process(NAME, &settings) {
                    return every_container();
                }
            }
        }
    }
}

/// Loads the kernels as the environment says, in all containers.
fn every_container() {
    let setting = |name| std::env::var(name).expect("a setting");
    let (target, version) = (setting("OBJECT"), setting("VERSION"));
    let hip = hip();
    let plain = Object::new(&target, &[&version, "--no-gpu-bundle-output"]);
    let (bare, mut module) = (plain.bytes(), 0);
    let path = c(plain.0.to_str().expect("a path"));
    assert_eq!((hip.hipModuleLoad)(&mut module, path.as_ptr()), 0);
    run(&hip, module);
    assert_eq!((hip.hipModuleUnload)(module), 0);
    let bundled = Object::new(&target, &[&version, "--gpu-bundle-output"]).bytes();
    let packed = Object::new(&target, &[&version, "--gpu-bundle-output", "--offload-compress"]).bytes();
    let other = bundle(&[("hipv4-amdgcn-amd-amdhsa--gfx90a", GFX90A), ("hipv4-amdgcn-amd-amdhsa--x", &bare)]);
    for image in [&bare, &bundled, &packed] {
        assert_eq!((hip.hipModuleLoadData)(&mut module, image.as_ptr().cast()), 0);
        run(&hip, module);
    }
    // The bundle's entry for the device is loaded, whatever its name; a device that runs PTX takes the first.
    assert_eq!((hip.hipModuleLoadData)(&mut module, other.as_ptr().cast()), 0);
    let mut found = 0;
    let code = (hip.hipModuleGetFunction)(&mut found, module, c("fill").as_ptr());
    assert_eq!(code, if setting("ANYWARP_HIP_ARCH").is_empty() { NOT_FOUND } else { 0 });
}

/// The kernel that cannot run does not keep the others from running, and says why.
#[test]
fn a_kernel_that_cannot_run_is_told() {
    const NAME: &str = "a_kernel_that_cannot_run_is_told";
    if !ready() {
        return;
    }
    let Some(told) = told_by_process(NAME, &[("ANYWARP_HIP_ARCH", "gfx906"), ("ANYWARP_LOG", "error")])
    else {
        let hip = hip();
        let bytes = Object::new("gfx906", &["--no-gpu-bundle-output"]).bytes();
        let (mut module, mut found) = (0, 0);
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
        let get = |found: &mut P, name| (hip.hipModuleGetFunction)(found, module, c(name).as_ptr());
        assert_eq!(get(&mut found, "privileged"), NOT_SUPPORTED);
        assert_eq!(get(&mut found, "nothing of the kind"), NOT_FOUND);
        assert_eq!(get(&mut found, "fill"), 0);
        // Groups of another size than the kernel was compiled for, and too few parameters.
        let launch = |block, params: *const P| {
            (hip.hipModuleLaunchKernel)(found, 1, 1, 1, block, 1, 1, 0, 0, params, null())
        };
        assert_eq!(launch(64, null()), INVALID_VALUE);
        assert_eq!(launch(2048, null()), INVALID_VALUE);
        return;
    };
    let lines: Vec<&str> = told.lines().filter(|l| l.contains("privileged")).collect();
    assert_eq!(lines.len(), 2, "{told}");
    for line in lines {
        assert!(line.contains("s_rfe_b64") && line.contains("0x"), "{told}");
    }
}

/// Of many kernels, which are lowered on demand, those that cannot run are reported at load, too.
#[test]
fn many_kernels_are_lowered_on_demand() {
    const NAME: &str = "many_kernels_are_lowered_on_demand";
    if !ready() {
        return;
    }
    let wrong = ["privileged", "unknown_mode", "nowhere"];
    let settings = [("ANYWARP_HIP_ARCH", "gfx906"), ("ANYWARP_LOG", "error"), ("ANYWARP_CACHE_DIR", "")];
    let Some(told) = told_by_process(NAME, &settings) else {
        let (hip, mut module) = (hip(), 0);
        let bytes = Object::of("many.hip", "gfx906", &["--no-gpu-bundle-output"]).bytes();
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
        // The macro's output would be the test's.
        std::io::Write::write_all(&mut std::io::stderr(), b"loaded\n").expect("standard error");
        for name in wrong {
            let mut found = 0;
            let code = (hip.hipModuleGetFunction)(&mut found, module, c(name).as_ptr());
            assert_eq!(code, NOT_SUPPORTED, "{name}");
        }
        let numbers: Box<[i32; 64]> = Box::new(std::array::from_fn(|i| i as i32));
        let pointer = numbers.as_ptr() as P;
        for name in ["add_10", "add_44", "add_23"] {
            launch(&hip, function(&hip, module, name), [1, 1, 1], [64, 1, 1], 0, &[at(&pointer)]);
        }
        assert!(numbers.iter().enumerate().all(|(i, n)| *n == 77 + 4 * i as i32), "{numbers:?}");
        let reals = Box::new([2.0f32; 64]);
        let pointer = reals.as_ptr() as P;
        for name in ["scale_14", "towards_zero"] {
            launch(&hip, function(&hip, module, name), [1, 1, 1], [64, 1, 1], 0, &[at(&pointer)]);
        }
        assert_eq!(reals[63], 14.0, "rounded towards zero");
        return;
    };
    let (at_load, _) = told.split_once("loaded").expect("the module is loaded");
    for name in wrong {
        assert!(at_load.lines().any(|line| line.contains(&format!("kernel `{name}`"))), "{name}: {told}");
    }
}

/// Registered as by a program that hipcc has built: the device is the one that the program was built for.
#[test]
fn registered_code_decides_the_device() {
    const NAME: &str = "registered_code_decides_the_device";
    if !ready() || !in_process(NAME, &[("ANYWARP_CACHE_DIR", "")]) {
        return;
    }
    let hip = hip();
    let fat = Object::new("gfx906", &["--gpu-bundle-output"]).bytes();
    let wrapper = Wrapper { magic: 0x4849_5046, version: 1, binary: fat.as_ptr().cast(), unused: 0 };
    let handle = (hip.__hipRegisterFatBinary)(&wrapper);
    let (stub, shadow) = (0u8, [0i32; 4]);
    let (stub, shadow) = (at(&stub), at(&shadow));
    let (name, table) = (c("variables"), c("table"));
    let nothing = (0, 0, 0, 0, 0);
    let (a, b, d0, e, f) = nothing;
    (hip.__hipRegisterFunction)(handle, stub, name.as_ptr(), name.as_ptr(), u32::MAX, a, b, d0, e, f);
    (hip.__hipRegisterVar)(handle, shadow, table.as_ptr(), table.as_ptr(), 0, 16, 1, 0);
    let mut count = 0;
    assert_eq!(((hip.hipGetDeviceCount)(&mut count), count), (0, 2));
    let (mut major, mut minor, mut lanes) = (0, 0, 0);
    assert_eq!((hip.hipDeviceComputeCapability)(&mut major, &mut minor, 0), 0);
    assert_eq!((hip.hipDeviceGetAttribute)(&mut lanes, WARP_SIZE, 0), 0);
    assert_eq!((major, minor, lanes), (9, 0, 64));
    assert_eq!(architecture(&hip, 0), "gfx906:sramecc+:xnack-");
    assert_eq!(architecture(&hip, 1), "sm_86");
    let values = [1i32, 2, 3, 4];
    assert_eq!((hip.hipMemcpyToSymbol)(shadow, values.as_ptr().cast(), 16, 0, 1), 0);
    let out = memory::<8>();
    let pointer = out.as_ptr() as P;
    let params = [at(&pointer)];
    assert_eq!((hip.hipLaunchKernel)(stub, d(1), d(8), params.as_ptr(), 0, 0), 0);
    assert_eq!((hip.hipDeviceSynchronize)(), 0);
    assert_eq!(*out, [6, 7, 8, 9, 6, 7, 8, 9]);
    // AMD code objects and PTX share the process.
    assert_eq!((hip.hipSetDevice)(1), 0);
    let ptx = module(&hip, ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n");
    launch(&hip, function(&hip, ptx, "k"), [1, 1, 1], [32, 1, 1], 0, &[]);
    (hip.__hipUnregisterFatBinary)(handle);
}

/// `hipDeviceAttributeWarpSize`.
const WARP_SIZE: u32 = 87;

/// The `gcnArchName` of a device.
fn architecture(hip: &Hip, ordinal: i32) -> String {
    let mut properties = [0u8; 4096];
    assert_eq!((hip.hipGetDevicePropertiesR0600)(properties.as_mut_ptr(), ordinal), 0);
    let name = &properties[ARCH_NAME..];
    let end = name.iter().position(|b| *b == 0).expect("an end");
    String::from_utf8_lossy(&name[..end]).into_owned()
}

/// Its offset in the properties of HIP 6.
const ARCH_NAME: usize = 1160;

/// Flags, not names, say for which devices code is.
#[test]
fn devices_take_the_code_that_suits_them() {
    const NAME: &str = "devices_take_the_code_that_suits_them";
    let list = "gfx90a, gfx90a:xnack+,gfx9000,gfx906:xnack+:sramecc-";
    let Some(told) = told_by_process(NAME, &[("ANYWARP_HIP_ARCH", list), ("ANYWARP_LOG", "error")]) else {
        let hip = hip();
        let mut count = 0;
        assert_eq!(((hip.hipGetDeviceCount)(&mut count), count), (0, 4));
        let names = [0, 1, 2, 3].map(|ordinal| architecture(&hip, ordinal));
        assert_eq!(
            names,
            ["gfx90a:sramecc+:xnack-", "gfx90a:sramecc+:xnack+", "gfx906:sramecc-:xnack+", "sm_86"]
        );
        let with = |bits: u8| {
            let mut bytes = GFX90A.to_vec();
            bytes[FLAGS + 1] = bytes[FLAGS + 1] & !3 | bits;
            bytes
        };
        let (any, off, on) = (with(1), with(2), with(3));
        let named: Vec<(&str, &[u8])> = vec![("hip-amdgcn-amd-amdhsa--gfx906", &any)];
        let wrong_name = bundle(&named);
        let both = bundle(&[("a", &any), ("b", &on)]);
        let foreign = bundle(&[("hip-amdgcn-amd-amdhsa--gfx90a", GFX906)]);
        let cases: &[(&str, &[u8], [u32; 4])] = &[
            ("with either setting", &any, [0, 0, NO_BINARY, 0]),
            ("without replay", &off, [0, NO_BINARY, NO_BINARY, 0]),
            ("with replay", &on, [NO_BINARY, 0, NO_BINARY, 0]),
            ("under a wrong name", &wrong_name, [0, 0, NO_BINARY, 0]),
            ("of both", &both, [0, 0, NO_BINARY, 0]),
            ("for gfx906 under a wrong name", &foreign, [NO_BINARY, NO_BINARY, 0, 0]),
        ];
        for (what, bytes, codes) in cases {
            for (ordinal, wanted) in codes.iter().enumerate() {
                let mut module = 0;
                assert_eq!((hip.hipSetDevice)(ordinal as i32), 0);
                let code = (hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast());
                assert_eq!(code, *wanted, "code {what} on device {ordinal}");
            }
        }
        return;
    };
    assert!(told.contains("there is no device gfx9000"), "{told}");
    assert!(told.contains("this device is gfx90a:sramecc+:xnack-"), "{told}");
}

/// Code objects of HCC's time: headers in front of the code, and metadata in YAML.
#[test]
fn version_2_runs() {
    const NAME: &str = "version_2_runs";
    if !in_process(NAME, &[("ANYWARP_HIP_ARCH", "gfx906")]) {
        return;
    }
    let hip = hip();
    let mut module = 0;
    assert_eq!((hip.hipModuleLoadData)(&mut module, VERSION_2.as_ptr().cast()), 0);
    let y: Box<[f32; 64]> = Box::new(std::array::from_fn(|i| i as f32));
    let x: Box<[f32; 64]> = Box::new(std::array::from_fn(|i| 100.0 * i as f32));
    let (to, from, factor, count) = (y.as_ptr() as P, x.as_ptr() as P, 0.5f32, 60u32);
    let params = [at(&to), at(&from), at(&factor), at(&count)];
    launch(&hip, function(&hip, module, "saxpy"), [1, 1, 1], [64, 1, 1], 0, &params);
    for (i, value) in y.iter().enumerate() {
        assert_eq!(*value, if i < 60 { 51.0 * i as f32 } else { i as f32 }, "{i}");
    }
    let data: Box<[i32; 256]> = Box::new(std::array::from_fn(|i| i as i32));
    let pointer = data.as_ptr() as P;
    launch(&hip, function(&hip, module, "reverse"), [1, 1, 1], [256, 1, 1], 0, &[at(&pointer)]);
    assert!(data.iter().enumerate().all(|(i, value)| *value == 255 - i as i32));
    let mut none = 0;
    assert_eq!((hip.hipModuleGetGlobal)(&mut none, null_mut(), module, c("saxpy").as_ptr()), NOT_FOUND);
}

/// The kernels of the other tests, by the last compiler but one that writes version 2.
#[test]
fn version_2_of_many_kernels_runs() {
    const COMPILER: &str = "clang-15";
    const NAME: &str = "version_2_of_many_kernels_runs";
    if Command::new(COMPILER).arg("--version").output().is_err() {
        eprintln!("not run: {COMPILER} is missing: apt-get install clang-15 lld-15");
        return;
    }
    if !in_process(NAME, &[("ANYWARP_HIP_ARCH", "gfx906")]) {
        return;
    }
    let options = ["-mcode-object-version=2", "--no-gpu-bundle-output"];
    let object = Object::by(COMPILER, "kernels.hip", "gfx906:xnack-", &options);
    let bytes = object.bytes();
    assert_eq!(bytes[8], 0, "the version in the ELF header");
    let (hip, mut module) = (hip(), 0);
    assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
    run(&hip, module);
}

/// Truncated, changed and foreign objects.
#[test]
fn broken_objects_are_refused() {
    const NAME: &str = "broken_objects_are_refused";
    if !in_process(NAME, &[("ANYWARP_HIP_ARCH", "gfx906")]) {
        return;
    }
    let hip = hip();
    let file = std::env::temp_dir().join(format!("anywarp-{}-broken", std::process::id()));
    let load = |bytes: &[u8]| {
        let mut module = 0;
        std::fs::write(&file, bytes).expect("a file");
        (hip.hipModuleLoad)(&mut module, c(file.to_str().expect("a path")).as_ptr())
    };
    assert_eq!(load(GFX906), 0);
    assert_eq!(load(GFX90A), NO_BINARY);
    assert_eq!(load(&GFX906[..40]), INVALID_IMAGE);
    for end in [64, 100, 1000, 3000, GFX906.len() - 1] {
        assert_eq!(load(&GFX906[..end]), INVALID_KERNEL_FILE, "{end} bytes");
    }
    let changed = |at: usize, byte: u8| {
        let mut bytes = GFX906.to_vec();
        bytes[at] = byte;
        load(&bytes)
    };
    // The machine, the operating system, the version of the format, the target.
    assert_eq!(changed(18, 62), INVALID_IMAGE);
    assert_eq!(changed(7, 0), NO_BINARY);
    assert_eq!(changed(8, 200), NO_BINARY);
    assert_eq!(changed(FLAGS, 0x28), NO_BINARY);
    // A file that is not linked.
    assert_eq!(changed(16, 1), INVALID_KERNEL_FILE);
    // Whatever the bytes are, the library answers.
    let mut state = 7u64;
    for _ in 0..300 {
        let mut bytes = GFX906.to_vec();
        for _ in 0..4 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = (state >> 20) as u8;
        }
        let code = load(&bytes);
        assert!([0, INVALID_IMAGE, NO_BINARY, INVALID_KERNEL_FILE].contains(&code), "{code}");
    }
    std::fs::remove_file(&file).expect("the file");
}
