//! Programs that use AMD's device library: memory for `malloc`, `printf`, `assert`, and barriers of grids,
//! also of grids on several devices. The kernels are `libraries.hip`; the library is Debian's.

use std::ptr::null;

use hwtruth::device_library::DeviceLibrary;
use hwtruth::sample::{self, every_way};

use crate::support::*;
use crate::{LAUNCH_FAILURE, Object, at, launch, ready};

/// Work-items of a group.
const ITEMS: u32 = 64;

/// Targets and engines. These kernels take long to compile, so the engines share the targets.
const WAYS: [(&str, &str); 4] =
    [("gfx906", "compiled"), ("gfx1100", "interpreter"), ("gfx942", "interpreter"), ("gfx1201", "compiled")];

/// The target whose code objects are of version 4.
const OLDER: &str = "gfx906";

/// The settings of the processes: one for the first target, in long runs one for each of the first two, and
/// with `ANYWARP_TEST_LONG=all` one for each of the first `number` targets and each engine.
fn ways(number: usize) -> Vec<[(&'static str, &'static str); 3]> {
    let of = |&(arch, engine): &(&'static str, &'static str)| {
        [("ANYWARP_HIP_ARCH", arch), ("ANYWARP_ENGINE", engine), ("ANYWARP_CACHE_DIR", "")]
    };
    if every_way() {
        let both =
            |&(arch, _): &(&'static str, _)| ["compiled", "interpreter"].map(|engine| of(&(arch, engine)));
        return WAYS.iter().take(number).flat_map(both).collect();
    }
    WAYS.iter().take(sample::of(2, 1)).map(of).collect()
}

/// A part of the kernels for a target. The versions of code objects place hidden arguments differently.
fn object(arch: &str, part: &str) -> Vec<u8> {
    let library = DeviceLibrary::find().expect("the library");
    let folder = library.option(arch);
    let version = format!("-mcode-object-version={}", if arch == OLDER { 4 } else { 5 });
    let options = ["--no-gpu-bundle-output", &version, &folder, &format!("-D{part}")];
    Object::of("libraries.hip", arch, &options).bytes()
}

/// A part of the kernels as a module for the process's first device.
fn loaded(hip: &Hip, part: &str) -> P {
    let mut module = 0;
    let bytes = object(&std::env::var("ANYWARP_HIP_ARCH").expect("an architecture"), part);
    assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0);
    module
}

fn there() -> bool {
    ready() && DeviceLibrary::find().is_some()
}

/// Every work-item gets memory of its own, which another launch gives back.
#[test]
fn work_items_allocate_memory() {
    const NAME: &str = "libraries::work_items_allocate_memory";
    const GROUPS: u32 = 4;
    if !there() {
        return;
    }
    for settings in ways(4) {
        if !in_process(NAME, &settings) {
            continue;
        }
        let hip = hip();
        let module = loaded(&hip, "MEMORY");
        let all = Box::new([0u64; (GROUPS * ITEMS) as usize]);
        let right = Box::new([0i32; (GROUPS * ITEMS) as usize]);
        let (a, b) = (all.as_ptr() as P, right.as_ptr() as P);
        for round in 0..2 {
            launch(&hip, function(&hip, module, "take"), [GROUPS, 1, 1], [ITEMS, 1, 1], 0, &[at(&a)]);
            let back = function(&hip, module, "give_back");
            launch(&hip, back, [GROUPS, 1, 1], [ITEMS, 1, 1], 0, &[at(&a), at(&b)]);
            let wrong = right.iter().position(|right| *right != 1);
            assert_eq!(wrong, None, "round {round}: {:#x?}", &all[..]);
        }
        return;
    }
}

#[test]
fn kernels_print() {
    const NAME: &str = "libraries::kernels_print";
    if !there() {
        return;
    }
    for settings in ways(3) {
        let Some([told, _]) = output_of_process(NAME, &settings) else {
            let hip = hip();
            let (value, text) = (7i32, c("a text that is longer than a packet of 56 bytes can hold at once"));
            let address = text.as_ptr() as P;
            let print = function(&hip, loaded(&hip, "OUTPUT"), "print");
            launch(&hip, print, [1, 1, 1], [4, 1, 1], 0, &[at(&value), at(&address)]);
            return;
        };
        let text = "a text that is longer than a packet of 56 bytes can hold at once";
        for (item, letter) in [(0, 'a'), (2, 'c')] {
            let line = format!("item {item} of 7: {text} 3.50 {letter} 10000000000%");
            assert!(told.lines().any(|l| l == line), "{settings:?}: {told}");
        }
    }
}

/// The message is on standard error, the launch fails.
#[test]
fn assertions_fail() {
    const NAME: &str = "libraries::assertions_fail";
    if !there() {
        return;
    }
    for settings in ways(3) {
        let Some(told) = told_by_process(NAME, &settings) else {
            let hip = hip();
            let assertion = function(&hip, loaded(&hip, "OUTPUT"), "assert_below");
            for (limit, code) in [(64i32, 0), (63, LAUNCH_FAILURE)] {
                let params = [at(&limit)];
                let launch = hip.hipModuleLaunchKernel;
                assert_eq!(launch(assertion, 1, 1, 1, ITEMS, 1, 1, 0, 0, params.as_ptr(), null()), 0);
                assert_eq!((hip.hipDeviceSynchronize)(), code);
            }
            return;
        };
        let line = "file.hip:17: assert_below: Device-side assertion `ITEM < limit' failed.";
        assert_eq!(told.lines().filter(|l| *l == line).count(), 1, "{settings:?}: {told}");
    }
}

#[test]
fn groups_meet() {
    const NAME: &str = "libraries::groups_meet";
    const GROUPS: usize = 5;
    if !there() {
        return;
    }
    for settings in ways(3) {
        if !in_process(NAME, &settings) {
            continue;
        }
        let hip = hip();
        let meet = function(&hip, loaded(&hip, "MEETINGS"), "meet");
        let (marks, sums, count) = (Box::new([0i32; GROUPS]), Box::new([0i32; 3 * GROUPS]), GROUPS as i32);
        let (a, b) = (marks.as_ptr() as P, sums.as_ptr() as P);
        let params = [at(&a), at(&b), at(&count)];
        let launch = hip.hipModuleLaunchCooperativeKernel;
        assert_eq!(launch(meet, GROUPS as u32, 1, 1, ITEMS, 1, 1, 0, 0, params.as_ptr()), 0);
        assert_eq!((hip.hipDeviceSynchronize)(), 0);
        assert_eq!(*sums, std::array::from_fn(|i| 1000 + (i as i32 % 3 + 1) * count));
        return;
    }
}

/// Grids of different sizes, on devices of different instruction sets.
#[test]
fn grids_on_several_devices_meet() {
    const NAME: &str = "libraries::grids_on_several_devices_meet";
    const GROUPS: [usize; 3] = [2, 1, 3];
    let devices = ["gfx906", "gfx1100", "gfx90a"];
    if !there() {
        return;
    }
    for engine in if every_way() { &["compiled", "interpreter"][..] } else { &["compiled"] } {
        let list = devices.join(",");
        let settings = [("ANYWARP_HIP_ARCH", &*list), ("ANYWARP_ENGINE", *engine), ("ANYWARP_CACHE_DIR", "")];
        if !in_process(NAME, &settings) {
            continue;
        }
        let (hip, cuda) = (hip(), cuda());
        let all: usize = GROUPS.iter().sum();
        let (marks, results, count) = (Box::new([0i32; 16]), Box::new([[0i32; 16]; 3]), all as i32);
        let marks_at = marks.as_ptr() as P;
        let results_at: Vec<P> = results.iter().map(|of_grid| of_grid.as_ptr() as P).collect();
        let params: Vec<[P; 3]> = results_at.iter().map(|of| [at(&marks_at), at(&count), at(of)]).collect();
        let mut launches = Vec::new();
        for (device, arch) in devices.iter().enumerate() {
            let (mut module, mut stream) = (0, 0);
            assert_eq!((hip.hipSetDevice)(device as i32), 0);
            assert_eq!((cuda.cuStreamCreate)(&mut stream, 0), 0);
            assert_eq!((hip.hipModuleLoadData)(&mut module, object(arch, "MEETINGS").as_ptr().cast()), 0);
            launches.push(FunctionLaunch {
                function: function(&hip, module, "meet_all"),
                grid: [GROUPS[device] as u32, 1, 1],
                block: [ITEMS, 1, 1],
                shared: 0,
                stream,
                params: params[device].as_ptr(),
            });
        }
        let several = hip.hipModuleLaunchCooperativeKernelMultiDevice;
        for flags in [0, 1, 3] {
            assert_eq!(several(launches.as_ptr(), 3, flags), 0);
            for device in 0..3 {
                assert_eq!(((hip.hipSetDevice)(device), (hip.hipDeviceSynchronize)()), (0, 0));
            }
            for (grid, groups) in GROUPS.into_iter().enumerate() {
                for group in 0..groups {
                    let told = 1000 * ITEMS as i32 * count + 100 + 30 + grid as i32;
                    let wanted = [told, count, 2 * count, 3 * count];
                    assert_eq!(results[grid][4 * group..][..4], wanted, "grid {grid}, group {group}");
                }
            }
        }
        // Nothing starts if one of them cannot.
        launches[2].block = [2048, 1, 1];
        assert_ne!(several(launches.as_ptr(), 3, 0), 0);
        assert_eq!(((hip.hipSetDevice)(0), (hip.hipDeviceSynchronize)()), (0, 0));
        return;
    }
}
