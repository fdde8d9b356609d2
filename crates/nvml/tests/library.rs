//! The built library: its names, the refusal of bad arguments by every function, and its values beside the
//! driver's.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use libloading::Library;
use nvml::engine::{BEFORE_INIT, Kind, LIFE, ROWS, Row};
use nvml::handle::Handle;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSymbol};

const UNINITIALIZED: u32 = 1;
const INVALID_ARGUMENT: u32 = 2;
const NOT_SUPPORTED: u32 = 3;
const NOT_FOUND: u32 = 6;
const INSUFFICIENT_SIZE: u32 = 7;
const TIMEOUT: u32 = 10;
const VERSION_MISMATCH: u32 = 25;

/// A library that was built with this test: beside the test, or one folder up.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    let folder = test.parent().expect("its folder");
    let newest = [folder.join(name), folder.join("..").join(name)]
        .into_iter()
        .filter_map(|path| Some((std::fs::metadata(&path).ok()?.modified().ok()?, path)))
        .max();
    newest.unwrap_or_else(|| panic!("no {name} in {} or above it", folder.display())).1
}

/// A loaded library. While it lives, no other test uses one: whether NVML is initialised is known to the
/// whole process.
struct Loaded {
    library: Library,
    _alone: MutexGuard<'static, ()>,
}

fn loaded() -> Loaded {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: our own library, which does nothing when it is loaded.
    let library = unsafe { Library::new(built("libnvml.so")) }.expect("the library");
    Loaded { library, _alone: alone }
}

type Six = extern "C" fn(u64, u64, u64, u64, u64, u64) -> u32;

fn call_in(library: &Library, name: &str, arguments: &[u64]) -> u32 {
    let mut six = [0; 6];
    six[..arguments.len()].copy_from_slice(arguments);
    let [a, b, c, d, e, f] = six;
    // SAFETY: a function takes at most six numbers or pointers, all in registers, and ignores further ones.
    let function = unsafe { library.get::<Six>(name.as_bytes()) }.unwrap_or_else(|e| panic!("{name}: {e}"));
    function(a, b, c, d, e, f)
}

impl Loaded {
    fn call(&self, name: &str, arguments: &[u64]) -> u32 {
        call_in(&self.library, name, arguments)
    }

    fn ok(&self, name: &str, arguments: &[u64]) {
        assert_eq!(self.call(name, arguments), 0, "{name}");
    }

    /// The number that a function writes behind its other arguments.
    fn number(&self, name: &str, arguments: &[u64]) -> u64 {
        let mut value = 0u64;
        self.ok(name, &[arguments, &[at(&mut value)]].concat());
        value
    }

    /// The text that a function writes.
    fn text(&self, name: &str, arguments: &[u64]) -> String {
        let mut bytes = [0xffu8; 96];
        self.ok(name, &[arguments, &[at(&mut bytes), 96]].concat());
        CStr::from_bytes_until_nul(&bytes).expect("a NUL").to_str().expect("a text").to_owned()
    }

    fn device(&self, index: u64) -> u64 {
        self.number("nvmlDeviceGetHandleByIndex_v2", &[index])
    }

    fn shut_down(&self) {
        while self.call("nvmlShutdown", &[]) == 0 {}
    }
}

fn at<T>(value: &mut T) -> u64 {
    std::ptr::from_mut(value) as u64
}

#[test]
fn exports_every_function_and_nothing_else() {
    let bytes = std::fs::read(built("libnvml.so")).expect("the library");
    let file: ElfFile64 = ElfFile64::parse(&*bytes).expect("an ELF");
    let exported: BTreeSet<&str> = file
        .dynamic_symbols()
        .filter(|s| s.is_definition() && s.is_global())
        .filter_map(|s| s.name().ok())
        .collect();
    let wanted: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
    assert_eq!(exported, wanted);
    assert!(wanted.len() > 400, "{} functions", wanted.len());
    let endian = object::Endianness::Little;
    let sections = file.elf_section_table();
    let (entries, strings) = sections.dynamic(endian, &*bytes).expect("readable").expect("a dynamic section");
    let strings = sections.strings(endian, &*bytes, strings).expect("its strings");
    let soname = entries.iter().find(|e| e.d_tag.get(endian) == u64::from(object::elf::DT_SONAME));
    let soname = soname.expect("a name").d_val.get(endian) as u32;
    assert_eq!(strings.get(soname), Ok(&b"libnvidia-ml.so.1"[..]));
}

/// A row without an answer is not supported, so an answer with a misspelt name would never be seen.
#[test]
fn every_answer_has_a_row() {
    let rows: BTreeSet<&str> = ROWS.iter().map(|row| row.name).collect();
    let answers: Vec<&str> = nvml::answers::all().map(|answer| answer.0).collect();
    assert!(answers.iter().all(|name| rows.contains(name)), "{answers:?}");
    assert_eq!(answers.iter().collect::<BTreeSet<_>>().len(), answers.len(), "an answer is there twice");
    for name in BEFORE_INIT.iter().chain(LIFE) {
        assert!(rows.contains(name), "{name}");
    }
}

#[test]
fn nothing_works_before_it_is_initialised() {
    let nvml = loaded();
    nvml.shut_down();
    assert!(nvml.text("nvmlSystemGetNVMLVersion", &[]).starts_with("13."));
    assert_eq!(nvml.number("nvmlSystemGetCudaDriverVersion_v2", &[]), 13000);
    for round in 0..2 {
        for row in ROWS.iter().filter(|row| !BEFORE_INIT.contains(&row.name)) {
            if row.name == "nvmlShutdown" || !LIFE.contains(&row.name) {
                assert_eq!(nvml.call(row.name, &[0; 6]), UNINITIALIZED, "{} in round {round}", row.name);
            }
        }
        // Initialised twice and shut down twice it is as before.
        nvml.ok("nvmlInit_v2", &[]);
        nvml.ok("nvmlInitWithFlags", &[1]);
        nvml.ok("nvmlShutdown", &[]);
        assert_eq!(nvml.number("nvmlDeviceGetCount_v2", &[]), nvml.number("nvmlDeviceGetCount", &[]));
        nvml.ok("nvmlShutdown", &[]);
    }
}

/// Memory to which arguments can point. It is large enough for every structure.
#[repr(align(16))]
struct Buffer([u8; 1 << 16]);

/// Valid arguments of a function, as far as there are any; a buffer for each.
fn valid(nvml: &Loaded, row: &Row, buffers: &mut [Box<Buffer>]) -> Vec<u64> {
    let argument = |(argument, buffer): (&nvml::engine::Argument, &mut Box<Buffer>)| match argument.kind {
        Kind::Handle(Handle::Device) => nvml.device(0),
        Kind::Handle(Handle::EventSet) => nvml.number("nvmlEventSetCreate", &[]),
        Kind::Handle(_) | Kind::Number => 0,
        Kind::In(_) | Kind::Out(_) | Kind::List(_) => at(&mut **buffer),
        Kind::Versioned(versions) => {
            buffer.0[..4].copy_from_slice(&versions[0].to_ne_bytes());
            at(&mut **buffer)
        }
    };
    row.arguments.iter().zip(buffers).map(argument).collect()
}

#[test]
fn every_function_refuses_bad_arguments() {
    let nvml = loaded();
    nvml.ok("nvmlInit_v2", &[]);
    let mut tried = 0;
    for row in ROWS.iter().filter(|row| !LIFE.contains(&row.name) && row.name != "nvmlErrorString") {
        for (index, argument) in row.arguments.iter().enumerate() {
            let mut wrong = Box::new(Buffer([0; 1 << 16]));
            wrong.0[..4].copy_from_slice(&0xdead_beefu32.to_ne_bytes());
            let bad: &[(u64, u32)] = match argument.kind {
                Kind::Number | Kind::List(_) => &[],
                Kind::In(_) | Kind::Out(_) => &[(0, INVALID_ARGUMENT)],
                Kind::Handle(_) => {
                    &[(0, INVALID_ARGUMENT), (1, INVALID_ARGUMENT), (u64::MAX, INVALID_ARGUMENT)]
                }
                Kind::Versioned(_) => &[(0, INVALID_ARGUMENT), (at(&mut *wrong), VERSION_MISMATCH)],
            };
            for (value, code) in bad {
                let mut buffers: Vec<Box<Buffer>> = (0..6).map(|_| Box::new(Buffer([0; 1 << 16]))).collect();
                let mut arguments = valid(&nvml, row, &mut buffers);
                arguments[index] = *value;
                let kinds = row.arguments.iter().map(|argument| argument.kind);
                // Some kinds of objects do not exist: then another argument is bad as well.
                let never = kinds.filter(|kind| matches!(kind, Kind::Handle(h) if !exists(*h))).count();
                let code = if never > 0 { INVALID_ARGUMENT } else { *code };
                assert_eq!(nvml.call(row.name, &arguments), code, "{}, {}={value}", row.name, argument.name);
                tried += 1;
            }
        }
    }
    assert!(tried > 1000, "{tried} calls");
    nvml.shut_down();
}

fn exists(handle: Handle) -> bool {
    matches!(handle, Handle::Device | Handle::EventSet)
}

#[test]
fn what_has_no_answer_is_not_supported() {
    let nvml = loaded();
    nvml.ok("nvmlInit_v2", &[]);
    let answers: BTreeSet<&str> = nvml::answers::all().map(|answer| answer.0).collect();
    for row in ROWS.iter().filter(|row| !LIFE.contains(&row.name) && row.name != "nvmlErrorString") {
        let mut buffers: Vec<Box<Buffer>> = (0..6).map(|_| Box::new(Buffer([0; 1 << 16]))).collect();
        let arguments = valid(&nvml, row, &mut buffers);
        let code = nvml.call(row.name, &arguments);
        let none = row.arguments.iter().any(|a| matches!(a.kind, Kind::Handle(h) if !exists(h)));
        if none {
            assert_eq!(code, INVALID_ARGUMENT, "{}", row.name);
        } else if answers.contains(row.name) {
            let known = [0, INVALID_ARGUMENT, NOT_FOUND, INSUFFICIENT_SIZE, TIMEOUT];
            assert!(known.contains(&code), "{}: {code}", row.name);
        } else {
            assert_eq!(code, NOT_SUPPORTED, "{}", row.name);
        }
    }
    nvml.shut_down();
}

#[test]
fn codes_have_texts() {
    let nvml = loaded();
    // SAFETY: the function's type.
    let text = unsafe { nvml.library.get::<extern "C" fn(u32) -> *const c_char>(b"nvmlErrorString") };
    let text = text.expect("the function");
    // SAFETY: the function returns texts that live as long as the library.
    let text = |code| unsafe { CStr::from_ptr(text(code)) }.to_str().expect("a text").to_owned();
    assert_eq!(text(0), "Success");
    assert_eq!(text(NOT_SUPPORTED), "Not Supported");
    assert_eq!(text(12345), text(999));
    assert_eq!((0..=30).map(text).collect::<BTreeSet<_>>().len(), 31);
}

#[test]
fn buffers_that_are_too_small_are_told() {
    let nvml = loaded();
    nvml.ok("nvmlInit_v2", &[]);
    let device = nvml.device(0);
    let name = nvml.text("nvmlDeviceGetName", &[device]);
    let mut bytes = [0xffu8; 96];
    let length = name.len() as u64;
    let mut call = |room: u64| nvml.call("nvmlDeviceGetName", &[device, at(&mut bytes), room]);
    assert_eq!([call(0), call(length), call(length + 1)], [INSUFFICIENT_SIZE, INSUFFICIENT_SIZE, 0]);
    assert_eq!(bytes[name.len() + 1], 0xff, "nothing is written behind the text");
    // A process's name is cut off instead.
    let own = u64::from(std::process::id());
    let whole = nvml.text("nvmlSystemGetProcessName", &[own]);
    assert!(std::env::args().next().is_some_and(|first| first.starts_with(&whole)), "{whole}");
    nvml.ok("nvmlSystemGetProcessName", &[own, at(&mut bytes), 3]);
    assert_eq!(&bytes[..3], format!("{}\0", &whole[..2]).as_bytes());
    assert_eq!(nvml.call("nvmlSystemGetProcessName", &[own, at(&mut bytes), 0]), INVALID_ARGUMENT);
    assert_eq!(nvml.call("nvmlSystemGetProcessName", &[0x7fff_fff0, at(&mut bytes), 96]), NOT_FOUND);
    nvml.shut_down();
}

/// What is the same for every device, and what identifies one.
#[test]
fn small_answers() {
    let nvml = loaded();
    nvml.ok("nvmlInit_v2", &[]);
    let device = nvml.device(0);
    // The branch is the version's first number. Its structure is its version and 80 bytes.
    let mut branch = [0xffu8; 84];
    branch[..4].copy_from_slice(&0x0100_0054u32.to_ne_bytes());
    let mut call = |room| nvml.call("nvmlSystemGetDriverBranch", &[at(&mut branch), room]);
    assert_eq!([call(0), call(3), call(4)], [INSUFFICIENT_SIZE, INSUFFICIENT_SIZE, 0]);
    let told = CStr::from_bytes_until_nul(&branch[4..]).expect("a NUL").to_str().expect("a text");
    assert_eq!(nvml.text("nvmlSystemGetDriverVersion", &[]).split('.').next(), Some(told));

    let mut capabilities = [0x0100_0008u32, u32::MAX];
    nvml.ok("nvmlDeviceGetCapabilities", &[device, at(&mut capabilities)]);
    assert_eq!(capabilities, [0x0100_0008, 0]);
    let mut pdi = [0x0100_0010u64, u64::MAX];
    nvml.ok("nvmlDeviceGetPdi", &[device, at(&mut pdi)]);
    let uuid = nvml.text("nvmlDeviceGetUUID", &[device]).replace('-', "");
    assert_eq!(uuid.get(3..19), Some(format!("{:016x}", pdi[1]).as_str()));
    for version in ["", "_v2", "_v3", "_v4"] {
        let mut features = Box::new(Buffer([0xff; 1 << 16]));
        nvml.ok(&format!("nvmlDeviceGetGridLicensableFeatures{version}"), &[device, at(&mut *features)]);
        assert_eq!((features.0[..8].to_vec(), features.0[8]), (vec![0; 8], 0xff), "{version}");
    }
    assert_eq!(nvml.number("nvmlDeviceGetNumFans", &[device]), 0);
    let modes = [0, 1, 2].map(|mode| nvml.call("nvmlDeviceSetPersistenceMode", &[device, mode]));
    assert_eq!(modes, [0, NOT_SUPPORTED, INVALID_ARGUMENT]);
    // Default, exclusive for a thread, prohibited, exclusive for a process, and no mode.
    let modes = [0, 1, 2, 3, 4].map(|mode| nvml.call("nvmlDeviceSetComputeMode", &[device, mode]));
    assert_eq!(modes, [0, NOT_SUPPORTED, NOT_SUPPORTED, NOT_SUPPORTED, INVALID_ARGUMENT]);
    nvml.shut_down();
}

#[test]
fn event_sets_wait_for_nothing() {
    let nvml = loaded();
    nvml.ok("nvmlInit_v2", &[]);
    let set = nvml.number("nvmlEventSetCreate", &[]);
    let mut data = [0u64; 4];
    assert_eq!(nvml.number("nvmlDeviceGetSupportedEventTypes", &[nvml.device(0)]), 0);
    assert_eq!(nvml.call("nvmlDeviceRegisterEvents", &[nvml.device(0), 8, set]), NOT_SUPPORTED);
    assert_eq!(nvml.call("nvmlEventSetWait_v2", &[set, at(&mut data), 1]), TIMEOUT);
    nvml.ok("nvmlEventSetFree", &[set]);
    assert_eq!(nvml.call("nvmlEventSetFree", &[set]), INVALID_ARGUMENT);
    nvml.shut_down();
}

/// The system's events: a version, then a set; for registering a version, the types and the set.
#[test]
fn event_sets_of_the_system() {
    let nvml = loaded();
    nvml.ok("nvmlInit_v2", &[]);
    let mut set = [0x0100_0010u64, 0];
    nvml.ok("nvmlSystemEventSetCreate", &[at(&mut set)]);
    let register =
        |types, set| nvml.call("nvmlSystemRegisterEvents", &[at(&mut [0x0100_0018u64, types, set])]);
    assert_eq!([register(3, set[1]), register(4, set[1])], [0, NOT_SUPPORTED]);
    // Neither no set nor one of devices.
    let of_devices = nvml.number("nvmlEventSetCreate", &[]);
    assert_eq!([register(1, 0), register(1, of_devices)], [INVALID_ARGUMENT; 2]);
    let mut data = [u64::MAX; 2];
    // The version and a millisecond, the set, its events, space for one and how many there were.
    let mut wait = [0x0100_0020u64 | 1 << 32, set[1], at(&mut data), 1 | 7 << 32];
    assert_eq!(nvml.call("nvmlSystemEventSetWait", &[at(&mut wait)]), TIMEOUT);
    assert_eq!((wait[3], data), (1, [u64::MAX; 2]));
    nvml.ok("nvmlSystemEventSetFree", &[at(&mut set)]);
    assert_eq!(nvml.call("nvmlSystemEventSetFree", &[at(&mut set)]), INVALID_ARGUMENT);
    assert_eq!(nvml.call("nvmlSystemEventSetWait", &[at(&mut wait)]), INVALID_ARGUMENT);
    nvml.ok("nvmlEventSetFree", &[of_devices]);
    nvml.shut_down();
}

/// Memory of a device as the second version of the function tells it: total, reserved, free, used.
fn memory(nvml: &Loaded, device: u64) -> [u64; 4] {
    let mut memory = [0x0200_0028u64, 0, 0, 0, 0];
    nvml.ok("nvmlDeviceGetMemoryInfo_v2", &[device, at(&mut memory)]);
    let [version, total, reserved, free, used] = memory;
    assert_eq!(version as u32, 0x0200_0028);
    assert_eq!(reserved + free + used, total);
    [total, reserved, free, used]
}

/// The processes with a context on a device: number and bytes.
fn processes(nvml: &Loaded, device: u64) -> Vec<(u32, u64)> {
    let (mut count, mut list) = (64u32, [[0u64; 3]; 64]);
    nvml.ok("nvmlDeviceGetComputeRunningProcesses_v3", &[device, at(&mut count), at(&mut list)]);
    let list = &list[..count as usize];
    assert!(list.iter().all(|process| process[2] == u64::MAX), "no instances");
    list.iter().map(|process| (process[0] as u32, process[1])).collect()
}

#[test]
fn values_are_the_drivers() {
    let nvml = loaded();
    nvml.ok("nvmlInit_v2", &[]);
    // SAFETY: our own library.
    let library = unsafe { Library::new(built("libcuda.so")) }.expect("the driver");
    let cuda = |name: &str, arguments: &[u64]| assert_eq!(call_in(&library, name, arguments), 0, "{name}");
    let get = |name: &str, arguments: &[u64]| {
        let mut value = 0u64;
        cuda(name, &[&[at(&mut value)], arguments].concat());
        value
    };
    let all = nvml.number("nvmlDeviceGetCount_v2", &[]);
    let wanted: u64 = std::env::var("ANYWARP_DEVICES").map_or(1, |count| count.parse().expect("a number"));
    assert_eq!(all, wanted, "NVML tells of devices that the process does not see");
    cuda("cuInit", &[0]);
    let version = get("cuDriverGetVersion", &[]);
    assert_eq!(nvml.number("nvmlSystemGetCudaDriverVersion_v2", &[]), version);
    // The driver that the recordings are of.
    let recorded = include_str!("../../../tests/probe/h200-580.txt").lines().next().expect("a title");
    let version_text = nvml.text("nvmlSystemGetDriverVersion", &[]);
    assert!(recorded.contains(&format!("NVIDIA H200, {version_text};")), "{version_text}");
    assert!(nvml.text("nvmlSystemGetNVMLVersion", &[]).starts_with(&format!("{}.", version / 1000)));

    let own = std::process::id();
    for ordinal in 0..get("cuDeviceGetCount", &[]) {
        let device = get("cuDeviceGet", &[ordinal]);
        let mut name = [0u8; 96];
        cuda("cuDeviceGetPCIBusId", &[at(&mut name), 96, device]);
        // By PCI address, as programs do whose devices have other numbers than NVML's.
        let handle = nvml.number("nvmlDeviceGetHandleByPciBusId_v2", &[at(&mut name)]);
        let text = |bytes: &[u8]| CStr::from_bytes_until_nul(bytes).unwrap().to_str().unwrap().to_owned();
        let mut pci = [0u8; 68];
        nvml.ok("nvmlDeviceGetPciInfo_v3", &[handle, at(&mut pci)]);
        assert_eq!(text(&pci[..16]), text(&name));
        assert_eq!(text(&pci[36..]), format!("0000{}", text(&name)));
        cuda("cuDeviceGetName", &[at(&mut name), 96, device]);
        assert_eq!(nvml.text("nvmlDeviceGetName", &[handle]), text(&name));
        let mut uuid = [0u8; 16];
        cuda("cuDeviceGetUuid_v2", &[at(&mut uuid), device]);
        let mut told = nvml.text("nvmlDeviceGetUUID", &[handle]);
        let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(told.replace('-', ""), format!("GPU{hex}"));
        told.push('\0');
        // SAFETY: the text stays UTF-8.
        let at_told = unsafe { told.as_bytes_mut() }.as_ptr() as u64;
        assert_eq!(nvml.number("nvmlDeviceGetHandleByUUID", &[at_told]), handle);
        assert_eq!(nvml.number("nvmlDeviceGetHandleByUUID", &[at_told + 4]), handle, "without `GPU-`");
        let index = nvml.number("nvmlDeviceGetIndex", &[handle]);
        assert_eq!(nvml.device(index), handle);

        let attribute = |number| get("cuDeviceGetAttribute", &[number, device]);
        let (mut major, mut minor) = (0u32, 0u32);
        nvml.ok("nvmlDeviceGetCudaComputeCapability", &[handle, at(&mut major), at(&mut minor)]);
        assert_eq!([u64::from(major), u64::from(minor)], [attribute(75), attribute(76)]);
        assert_eq!(nvml.number("nvmlDeviceGetNumGpuCores", &[handle]), attribute(16));
        assert_eq!(nvml.number("nvmlDeviceGetMemoryBusWidth", &[handle]), attribute(37));
        assert_eq!(nvml.number("nvmlDeviceGetComputeMode", &[handle]), attribute(20));

        let [total, _, free, used] = memory(&nvml, handle);
        assert_eq!(total, get("cuDeviceTotalMem_v2", &[device]));
        assert_eq!(processes(&nvml, handle).iter().find(|process| process.0 == own), None);
        let context = get("cuCtxCreate_v2", &[0, device]);
        assert!(processes(&nvml, handle).contains(&(own, 0)));
        let (mut free_by_cuda, size) = (0u64, 48u64 << 20);
        cuda("cuMemGetInfo_v2", &[at(&mut free_by_cuda), at(&mut 0u64)]);
        let memory_of_it = get("cuMemAlloc_v2", &[size]);
        assert!(processes(&nvml, handle).contains(&(own, size)), "{:?}", processes(&nvml, handle));
        if used == 0 {
            // No other process uses the device.
            assert_eq!(free, free_by_cuda);
            assert_eq!(memory(&nvml, handle)[3], size);
            let mut older = [0u64; 3];
            nvml.ok("nvmlDeviceGetMemoryInfo", &[handle, at(&mut older)]);
            assert_eq!(older, [total, free - size, total - (free - size)]);
        }
        let mut count = 0u32;
        let asked = nvml.call("nvmlDeviceGetComputeRunningProcesses", &[handle, at(&mut count), 0]);
        assert!(asked == INSUFFICIENT_SIZE && count > 0, "{asked}, {count}");
        cuda("cuMemFree_v2", &[memory_of_it]);
        assert!(processes(&nvml, handle).contains(&(own, 0)));
        cuda("cuCtxDestroy_v2", &[context]);
        assert_eq!(processes(&nvml, handle).iter().find(|process| process.0 == own), None);
        // A primary context counts as long as it is retained.
        get("cuDevicePrimaryCtxRetain", &[device]);
        assert!(processes(&nvml, handle).contains(&(own, 0)));
        cuda("cuDevicePrimaryCtxRelease_v2", &[device]);
        assert_eq!(processes(&nvml, handle).iter().find(|process| process.0 == own), None);
        let mut percent = [u32::MAX; 2];
        nvml.ok("nvmlDeviceGetUtilizationRates", &[handle, at(&mut percent)]);
        assert!(percent[0] <= 100 && percent[1] == 0, "{percent:?}");
    }
    for (one, other) in (0..all).flat_map(|one| (0..all).map(move |other| (one, other))) {
        let (one, other) = (nvml.device(one), nvml.device(other));
        let mut value = u32::MAX;
        // Reading, writing, NVLink, atomic operations, PCI, and none.
        let mut status = |number| {
            (nvml.call("nvmlDeviceGetP2PStatus", &[one, other, number, at(&mut value)]) == 0).then_some(value)
        };
        // Also of a device with itself: NCCL 2.30 asks for all pairs and gives up on an error.
        let expected = [Some(0), Some(0), Some(5), Some(0), Some(5), None];
        assert_eq!([0, 1, 2, 3, 4, 5].map(&mut status), expected);
    }
    nvml.shut_down();
}

/// The same with several devices, of which the process sees some, in another order.
#[test]
fn values_are_the_drivers_with_other_options() {
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "values_are_the_drivers"])
        .envs([("ANYWARP_DEVICES", "3"), ("CUDA_VISIBLE_DEVICES", "2,0"), ("ANYWARP_MEMORY", "3G")])
        .env("ANYWARP_COMPUTE_CAPABILITY", "9.0")
        .output()
        .expect("this test starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

/// Sizes as a C compiler gives them in `nvml.h`: `data/functions.tsv` has those of whole structures.
#[test]
fn layouts_are_those_of_the_header() {
    let size = |name: &str| {
        let fields = nvml::layout::LAYOUTS.iter().find(|layout| layout.0 == name).expect(name).1;
        fields.last().map(|field| field.1 + field.2)
    };
    assert_eq!(size("nvmlProcessDetail_v1_t"), Some(32));
    assert_eq!(size("nvmlPciInfo_t"), Some(68));
    assert_eq!(size("nvmlFieldValue_t"), Some(40));
    assert_eq!(size("nvmlUUID_v1_t"), Some(49));
    assert_eq!(size("nvmlSystemDriverBranchInfo_v1_t"), Some(84));
    assert_eq!(size("nvmlDeviceCapabilities_v1_t"), Some(8));
    assert_eq!(size("nvmlPdi_v1_t"), Some(16));
    assert_eq!(size("nvmlSystemEventSetCreateRequest_v1_t"), Some(16));
    assert_eq!(size("nvmlSystemRegisterEventRequest_v1_t"), Some(24));
    assert_eq!(size("nvmlSystemEventSetWaitRequest_v1_t"), Some(32));
}
