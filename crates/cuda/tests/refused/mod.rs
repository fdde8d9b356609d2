//! Code that cannot be run, and the reported reasons: machine code, malformed containers, modules that are
//! too large, NVIDIA's closed runtime.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use crate::call;
use crate::support::{Cuda, HEAD, P, everywhere, isolated, status};

const CUBIN: u32 = 0;
const PTX: u32 = 1;
const FATBIN: u32 = 2;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_SIZE: u32 = 6;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_PTX: u32 = 218;

/// The header of an ELF file with CUDA machine code, as ptxas 13.0 writes it, followed by space for its
/// tables.
fn cubin(arch: u32) -> Vec<u8> {
    let mut elf = b"\x7fELF\x02\x01\x01\x41\x08".to_vec();
    elf.resize(64, 0);
    (elf[16], elf[18], elf[20], elf[33], elf[41]) = (2, 190, 1, 11, 7);
    elf[48..52].copy_from_slice(&(0x0600_0004 | arch << 8).to_le_bytes());
    elf
}

/// A fatbin with one entry: its kind, architecture, flags, bytes, and declared decompressed size.
fn fatbin(kind: u16, arch: u32, flags: u64, payload: &[u8], unpacked: u64) -> Vec<u8> {
    let padded = payload.len().next_multiple_of(8);
    let mut out = 0xba55_ed50u32.to_le_bytes().to_vec();
    out.extend([1, 0, 16, 0]);
    out.extend((64 + padded as u64).to_le_bytes());
    let mut entry = [0u8; 64];
    entry[0..2].copy_from_slice(&kind.to_le_bytes());
    entry[4..8].copy_from_slice(&64u32.to_le_bytes());
    entry[8..12].copy_from_slice(&(padded as u32).to_le_bytes());
    entry[16..20].copy_from_slice(&(if unpacked == 0 { 0 } else { payload.len() as u32 }).to_le_bytes());
    entry[28..32].copy_from_slice(&arch.to_le_bytes());
    entry[40..48].copy_from_slice(&flags.to_le_bytes());
    entry[56..64].copy_from_slice(&unpacked.to_le_bytes());
    out.extend(entry);
    out.extend(payload);
    out.resize(80 + padded, 0);
    out
}

/// Loads an image with an error log. Returns the status and the log.
fn load(cuda: &Cuda, image: *const c_void) -> (u32, String) {
    let mut log = vec![0u8; 4096];
    let mut options = [ERROR_LOG, ERROR_LOG_SIZE];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
    let mut module = 0;
    // SAFETY: the image is complete, there are two options with two values, and the log has the stated size.
    let status = unsafe {
        (cuda.cuModuleLoadDataEx)(&mut module, image, 2, options.as_mut_ptr(), values.as_mut_ptr())
    };
    let end = log.iter().position(|&b| b == 0).unwrap_or(log.len());
    (status, String::from_utf8_lossy(&log[..end]).into_owned())
}

fn load_text(cuda: &Cuda, text: &str) -> (u32, String) {
    let text = CString::new(format!("{HEAD}{text}")).expect("no NUL in PTX");
    load(cuda, text.as_ptr().cast())
}

/// Every way in which a program can pass machine code; the architecture distinguishes them.
fn hand_over_machine_code() {
    let cuda = Cuda::start();
    let folder = std::env::temp_dir().join(format!("anywarp-refused-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).expect("a file");
        CString::new(folder.join(name).to_string_lossy().into_owned()).expect("a path")
    };
    let code = |arch: u32| fatbin(2, arch, 0x11, b"machine code", 0);
    let mut made: P = 0;
    call!(cuda.cuModuleLoadData(&mut made, cubin(60).as_ptr().cast()) => status::NO_BINARY_FOR_GPU);
    call!(cuda.cuModuleLoadData(&mut made, code(61).as_ptr().cast()) => status::NO_BINARY_FOR_GPU);
    let (answer, log) = load(&cuda, cubin(62).as_ptr().cast());
    assert_eq!(answer, status::NO_BINARY_FOR_GPU);
    assert!(log.contains("machine code for sm_62"), "{log}");
    let inside = code(63);
    let wrapper: [u64; 3] = [0x0000_0001_4662_43b1, inside.as_ptr() as u64, 0];
    call!(cuda.cuModuleLoadFatBinary(&mut made, wrapper.as_ptr().cast()) => status::NO_BINARY_FOR_GPU);
    call!(cuda.cuModuleLoad(&mut made, file("a.cubin", &cubin(64)).as_ptr()) => status::NO_BINARY_FOR_GPU);
    call!(cuda.cuModuleLoad(&mut made, file("a.fatbin", &code(65)).as_ptr()) => status::NO_BINARY_FOR_GPU);

    let (none, nothing) = (null_mut(), null_mut());
    call!(cuda.cuLibraryLoadData(&mut made, cubin(66).as_ptr().cast(), none, nothing, 0, none, nothing, 0));
    let mut kernel = 0;
    for _ in 0..2 {
        call!(cuda.cuLibraryGetKernel(&mut kernel, made, c"k".as_ptr()) => status::NO_BINARY_FOR_GPU);
    }
    let path = file("b.fatbin", &code(67));
    call!(cuda.cuLibraryLoadFromFile(&mut made, path.as_ptr(), none, nothing, 0, none, nothing, 0));

    let mut link = 0;
    call!(cuda.cuLinkCreate_v2(0, none, nothing, &mut link));
    for (kind, bytes) in [(CUBIN, cubin(68)), (FATBIN, code(69))] {
        let (data, size) = (bytes.as_ptr().cast(), bytes.len());
        call!(cuda.cuLinkAddData_v2(link, kind, data, size, null(), 0, none, nothing) => status::NO_BINARY_FOR_GPU);
    }
    let path = file("c.cubin", &cubin(70));
    call!(cuda.cuLinkAddFile_v2(link, CUBIN, path.as_ptr(), 0, none, nothing) => status::NO_BINARY_FOR_GPU);
    std::fs::remove_dir_all(folder).expect("the folder");
}

/// By default, one line per way names the contents.
#[test]
fn machine_code_is_told_by_every_road() {
    let output = isolated("refused::machine_code_is_told_by_every_road", &[], hand_over_machine_code);
    let told = String::from_utf8_lossy(&output.stderr);
    for arch in 60..=70 {
        let lines: Vec<&str> =
            told.lines().filter(|l| l.contains(&format!("machine code for sm_{arch})"))).collect();
        let [line] = lines.as_slice() else { panic!("sm_{arch}:\n{told}") };
        assert!(line.starts_with("anywarp: ") && line.contains("code=compute_86"), "{line}");
    }
    assert_eq!(told.lines().filter(|l| l.starts_with("anywarp:")).count(), 11, "{told}");
    let quiet = isolated(
        "refused::machine_code_is_told_by_every_road",
        &[("ANYWARP_LOG", "off")],
        hand_over_machine_code,
    );
    assert!(!String::from_utf8_lossy(&quiet.stderr).contains("anywarp:"));
}

/// What is neither PTX nor a container, such as AMD's code, is named at the level `warn`.
#[test]
fn images_of_unknown_formats_are_told() {
    let hand_over = || {
        let cuda = Cuda::start();
        let mut amd = cubin(86);
        amd[18..20].copy_from_slice(&224u16.to_le_bytes());
        for image in [amd, b"GIF89a".to_vec()] {
            let image: Vec<u8> = image.into_iter().chain([0; 64]).collect();
            let mut made: P = 0;
            call!(cuda.cuModuleLoadData(&mut made, image.as_ptr().cast()) => status::INVALID_IMAGE);
        }
    };
    let name = "refused::images_of_unknown_formats_are_told";
    for (level, lines) in [("warn", 2), ("error", 0)] {
        let output = isolated(name, &[("ANYWARP_LOG", level)], hand_over);
        let told = String::from_utf8_lossy(&output.stderr);
        let line = "anywarp: an image failed to load: unknown format: expected PTX, fatbin, or linked image";
        assert_eq!(told.lines().filter(|l| *l == line).count(), lines, "{level}: {told}");
    }
}

/// PTX for later devices is not machine code, and a later device accepts it.
#[test]
fn ptx_for_later_devices_is_told_as_such() {
    for (capability, answer) in [("8.6", status::NO_BINARY_FOR_GPU), ("12.0", 0)] {
        let variables = [("ANYWARP_COMPUTE_CAPABILITY", capability)];
        isolated("refused::ptx_for_later_devices_is_told_as_such", &variables, || {
            let answer =
                if std::env::var("ANYWARP_COMPUTE_CAPABILITY").as_deref() == Ok("12.0") { 0 } else { answer };
            let cuda = Cuda::start();
            let text = format!("{HEAD}.visible .entry k() {{ ret; }}\n");
            let (got, log) = load(&cuda, fatbin(1, 120, 0x11, text.as_bytes(), 0).as_ptr().cast());
            assert_eq!(got, answer);
            let told = log.contains(
                "(it contains PTX for sm_120); set ANYWARP_COMPUTE_CAPABILITY=12.0, or compile for compute_86 or earlier",
            );
            assert_eq!(told, answer != 0, "{log}");
        });
    }
}

/// A fatbin whose text is longer than declared is not truncated: it does not load, and the log has the
/// position.
#[test]
fn an_entry_of_another_size_than_it_declares_does_not_load() {
    isolated("refused::an_entry_of_another_size_than_it_declares_does_not_load", &[], || {
        let cuda = Cuda::start();
        let text = format!("{HEAD}.visible .entry k() {{ ret; }}\n");
        // A zstd frame with a single segment that contains the text, followed by a gibibyte of spaces.
        let frame = |spaces: u32| {
            let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
            let block = |size: usize, kind: u32| ((size as u32) << 3 | kind << 1).to_le_bytes();
            frame.extend(&block(text.len(), 0)[..3]);
            frame.extend(text.as_bytes());
            for _ in 0..spaces {
                frame.extend(&block(128 << 10, 1)[..3]);
                frame.push(b' ');
            }
            frame.extend(&[1, 0, 0]);
            frame
        };
        let zstd = |spaces, declared| fatbin(1, 52, 0x8011, &frame(spaces), declared);
        let length = text.len() as u64;
        assert_eq!(load(&cuda, zstd(0, length).as_ptr().cast()).0, 0);
        for (image, why) in [
            (zstd(8192, length), format!("declares {length} bytes and unpacks to more")),
            (zstd(0, length + 1), format!("declares {} bytes and unpacks to {length}", length + 1)),
        ] {
            let (answer, log) = load(&cuda, image.as_ptr().cast());
            assert_eq!(answer, status::INVALID_IMAGE, "{why}");
            assert_eq!(
                log,
                format!(
                    "error   : the image is broken: entry 1 of the fatbin, at byte 0x10 (PTX for sm_52), {why}"
                )
            );
        }
    });
}

/// The log says that there is not enough memory, rather than that the text is invalid.
#[test]
fn variables_that_do_not_fit_are_told_as_such() {
    isolated("refused::variables_that_do_not_fit_are_told_as_such", &[("ANYWARP_MEMORY", "1G")], || {
        let cuda = Cuda::start();
        let (answer, log) =
            load_text(&cuda, ".visible .global .align 4 .b8 big[68719476736];\n.visible .entry k() { ret; }");
        assert_eq!(answer, OUT_OF_MEMORY);
        assert!(log.contains("need 68719476736 bytes") && log.contains("of 1073741824 bytes free"), "{log}");
    });
}

/// A large variable without an initial value costs nothing until it is used: only initialised variables are
/// written.
#[test]
fn a_large_variable_costs_nothing_before_it_is_used() {
    isolated(
        "refused::a_large_variable_costs_nothing_before_it_is_used",
        &[("ANYWARP_MEMORY", "4T")],
        || {
            let cuda = Cuda::start();
            let text = ".visible .global .align 4 .b8 big[68719476736];\n.visible .global .align 8 .u64 at[2] = {7, big};
            .visible .entry k() { ret; }";
            let text = CString::new(format!("{HEAD}{text}")).expect("no NUL in PTX");
            let (mut module, mut big, mut at, mut size) = (0, 0, 0, 0);
            call!(cuda.cuModuleLoadData(&mut module, text.as_ptr().cast()));
            call!(cuda.cuModuleGetGlobal_v2(&mut big, &mut size, module, c"big".as_ptr()));
            assert_eq!(size, 1 << 36);
            call!(cuda.cuModuleGetGlobal_v2(&mut at, null_mut(), module, c"at".as_ptr()));
            assert_eq!(cuda.download::<u64>(at, 2), [7, big]);
            assert_eq!(cuda.download::<u8>(big + (1 << 36) - 4, 4), [0; 4]);
            call!(cuda.cuModuleUnload(module));
        },
    );
}

/// A kernel with an array in local memory, and the same array in a function that it calls.
fn local(bytes: u64) -> String {
    let body = format!(
        ".local .align 4 .b8 b[{bytes}]; .reg .b64 %d<3>; .reg .b32 %r<3>; mov.u32 %r1, %tid.x;
        cvt.u64.u32 %d1, %r1; mov.u64 %d2, b; add.u64 %d1, %d1, %d2; st.local.u32 [%d1], %r1;
        ld.local.u32 %r2, [%d1]; st.global.u32 [o], %r2; ret;"
    );
    format!(
        "{HEAD}.visible .global .u32 o;\n.visible .entry own() {{ {body} }}\n.func f() {{ {body} }}\n\
         .visible .entry called() {{ call f; ret; }}\n"
    )
}

/// An H100 loads such a module, and refuses the launch from 523,713 bytes on.
#[test]
fn more_local_memory_than_a_thread_can_have_is_refused_at_the_launch() {
    let name = "refused::more_local_memory_than_a_thread_can_have_is_refused_at_the_launch";
    let outputs = everywhere(name, &[], || {
        let cuda = Cuda::start();
        for (bytes, answer) in [(523_712u64, 0), (523_716, 1), (1 << 20, 1), (1 << 31, 1), (1 << 36, 1)] {
            let module = cuda.module(&local(bytes));
            for kernel in ["own", "called"] {
                let function = cuda.function(module, kernel);
                assert_eq!(cuda.launch(function, 1, 1, 0, &[]), answer, "{kernel}: {bytes}");
            }
            call!(cuda.cuCtxSynchronize());
        }
    });
    for output in outputs {
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(
            told.contains("kernel own cannot be launched: it needs 1048576 bytes of local memory per thread; the maximum is 523712"),
            "{told}"
        );
    }
}

/// Sizes beyond 32 bits are told as such.
#[test]
fn local_memory_beyond_all_bounds_has_a_size() {
    const LOCAL_SIZE: i32 = 3;
    let output = isolated("refused::local_memory_beyond_all_bounds_has_a_size", &[], || {
        let cuda = Cuda::start();
        for (bytes, size) in [(1u64 << 20, 1 << 20), (1 << 31, i32::MAX), (1 << 40, i32::MAX)] {
            let function = cuda.function(cuda.module(&local(bytes)), "own");
            let mut value = 0;
            call!(cuda.cuFuncGetAttribute(&mut value, LOCAL_SIZE, function));
            assert_eq!(value, size, "{bytes}");
            assert_eq!(cuda.launch(function, 1, 1, 0, &[]), status::INVALID_VALUE, "{bytes}");
        }
    });
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("it needs 2147483648 bytes of local memory"), "{told}");
    assert!(told.contains("it needs at least 4294967295 bytes of local memory"), "{told}");
}

/// What ptxas reports about initial values with addresses of functions without code.
#[test]
fn an_initial_value_needs_the_function_whose_address_it_has() {
    isolated("refused::an_initial_value_needs_the_function_whose_address_it_has", &[], || {
        let cuda = Cuda::start();
        let table = ".visible .global .align 8 .u64 t[2] = {0, f};\n.visible .entry k() { ret; }\n";
        for (linkage, message) in [
            (".extern", "Cannot take address of function 'f'"),
            ("", "Cannot take address of function 'f'"),
            (".weak", "Unresolved extern function 'f'"),
        ] {
            let (answer, log) = load_text(&cuda, &format!("{linkage} .func f(.param .b32 a);\n{table}"));
            assert_eq!(answer, INVALID_PTX, "{linkage}");
            assert!(log.contains(message), "{linkage}: {log}");
        }
        // A declaration alone requires nothing, and the definition may come later.
        assert_eq!(load_text(&cuda, ".extern .func f(.param .b32 a);\n.visible .entry k() { ret; }\n").0, 0);
        let defined = format!(".func f(.param .b32 a);\n{table}.func f(.param .b32 a) {{ ret; }}\n");
        assert_eq!(load_text(&cuda, &defined).0, 0);
        // The linker waits for the definition.
        let mut link = 0;
        call!(cuda.cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
        for text in [
            format!(".extern .func f(.param .b32 a);\n{table}"),
            ".visible .func f(.param .b32 a) { ret; }\n".into(),
        ] {
            let text = CString::new(format!("{HEAD}{text}")).expect("no NUL in PTX");
            let size = text.as_bytes_with_nul().len();
            call!(cuda.cuLinkAddData_v2(
                link,
                PTX,
                text.as_ptr().cast(),
                size,
                null(),
                0,
                null_mut(),
                null_mut()
            ));
        }
        let (mut image, mut size) = (null_mut(), 0);
        call!(cuda.cuLinkComplete(link, &mut image, &mut size));
        call!(cuda.cuLinkDestroy(link));
    });
}

/// Tables that NVIDIA's closed runtime requests first and to prove whose driver it has found, and one that
/// NVRTC requests and does without.
const RUNTIME: [u128; 2] =
    [0x6bd5_fb6c_5bf4_e74a_8987_d939_12fd_9df9, 0xd408_2055_bde6_704b_8d34_ba12_3c66_e1f2];
const NVRTC: u128 = 0xda91_51d3_3ae6_cc41_a5c0_4f26_d533_e328;

fn ask_for_table(cuda: &Cuda, id: u128) {
    let mut table = 1;
    call!(cuda.cuGetExportTable(&mut table, &id.to_be_bytes()) => status::INVALID_VALUE);
    assert_eq!(table, 0);
}

/// One line explains why the closed runtime fails.
#[test]
fn private_tables_are_told_once() {
    let output = isolated("refused::private_tables_are_told_once", &[], || {
        let cuda = Cuda::open();
        for id in RUNTIME.into_iter().chain(RUNTIME) {
            ask_for_table(&cuda, id);
        }
    });
    let told = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = told.lines().filter(|l| l.starts_with("anywarp:")).collect();
    let [line] = lines.as_slice() else { panic!("{told}") };
    assert!(line.contains("closed CUDA runtime") && line.contains("cannot run on Anywarp"), "{line}");
}

#[test]
fn tables_that_programs_do_without_are_not_told() {
    let output = isolated("refused::tables_that_programs_do_without_are_not_told", &[], || {
        let cuda = Cuda::open();
        for id in [NVRTC, 0, u128::MAX] {
            ask_for_table(&cuda, id);
        }
    });
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!told.contains("anywarp:"), "{told}");
}

/// An endless file is not read forever.
#[test]
fn what_never_ends_is_not_loaded() {
    isolated("refused::what_never_ends_is_not_loaded", &[], || {
        let cuda = Cuda::start();
        let mut module = 0;
        call!(cuda.cuModuleLoad(&mut module, c"/dev/zero".as_ptr()) => OUT_OF_MEMORY);
    });
}

const LAUNCHES: &str = "
.visible .entry plain() { ret; }
.visible .entry small() .maxntid 64, 1, 1 { ret; }
.visible .entry exact() .reqntid 32, 2, 1 { ret; }
";

/// Launches that are refused, each twice: the kernel, the grid, the block, the dynamic shared memory, whether
/// it is cooperative; the status; what the log says.
type Refused = (&'static str, [u32; 3], [u32; 3], u32, bool, u32, &'static str);

const REFUSED: [Refused; 8] = [
    (
        "plain",
        [1, 1, 1],
        [2048, 1, 1],
        0,
        false,
        1,
        "kernel plain cannot be launched: a block of 2048 x 1 x 1",
    ),
    (
        "small",
        [1, 1, 1],
        [65, 1, 1],
        0,
        false,
        1,
        "a block of 65 threads; the kernel was compiled for 64 at most",
    ),
    (
        "exact",
        [1, 1, 1],
        [64, 1, 1],
        0,
        false,
        1,
        "a block of 64 x 1 x 1 threads; the kernel was compiled for 32 x 2 x 1",
    ),
    ("plain", [1, 70000, 1], [1, 1, 1], 0, false, 1, "a grid of 1 x 70000 x 1 blocks"),
    ("small", [0, 1, 1], [1, 1, 1], 0, false, 1, "a grid of 0 x 1 x 1 blocks"),
    ("small", [1, 1, 1], [1, 0, 1], 0, false, 1, "a block of 1 x 0 x 1 threads"),
    (
        "plain",
        [1, 1, 1],
        [1, 1, 1],
        50000,
        false,
        1,
        "50000 bytes of dynamic shared memory beside 0 static ones; the limit is 49152 (the",
    ),
    ("plain", [100000, 1, 1], [1, 1, 1], 0, true, 720, "a cooperative grid of 100000 blocks; "),
];

/// The status of a wrong launch says little; the log names the cause, once for each function and cause.
#[test]
fn refused_launches_are_told() {
    let output = isolated("refused::refused_launches_are_told", &[], || {
        let cuda = Cuda::start();
        let module = cuda.module(&format!("{HEAD}{LAUNCHES}"));
        for (name, [x, y, z], [a, b, c], shared, cooperative, answer, _) in REFUSED.iter().cycle().take(16) {
            let function = cuda.function(module, name);
            let nothing = null_mut();
            // SAFETY: the kernels have no parameters.
            let given = unsafe {
                if *cooperative {
                    (cuda.cuLaunchCooperativeKernel)(function, *x, *y, *z, *a, *b, *c, *shared, 0, nothing)
                } else {
                    (cuda.cuLaunchKernel)(function, *x, *y, *z, *a, *b, *c, *shared, 0, nothing, nothing)
                }
            };
            assert_eq!(given, *answer, "{name}");
        }
        let large = ".visible .entry k() { .shared .align 4 .b8 s[300000]; st.shared.u32 [s], 1; ret; }";
        let (answer, _) = load_text(&cuda, large);
        assert_eq!(answer, INVALID_PTX);
    });
    let told = String::from_utf8_lossy(&output.stderr);
    for (.., text) in REFUSED {
        assert_eq!(told.matches(text).count(), 1, "{text}\n{told}");
    }
    let text = "kernel k declares 300000 bytes of static shared memory; the device allows 49152 per block";
    assert!(told.contains(text), "{told}");
}

/// ptxas 13.0 refuses more than 48 KiB for `sm_80` to `sm_89`; the JIT of an H200 takes 227 KiB (0x38c00).
#[test]
fn static_shared_memory_has_a_limit_by_capability() {
    const LIMITS: &[(&str, u32)] = &[("8.0", 49152), ("8.6", 49152), ("8.9", 49152), ("9.0", 232_448)];
    for (capability, limit) in LIMITS {
        let limit = limit.to_string();
        let variables = [("ANYWARP_COMPUTE_CAPABILITY", *capability), ("LIMIT", limit.as_str())];
        isolated("refused::static_shared_memory_has_a_limit_by_capability", &variables, || {
            let cuda = Cuda::start();
            let limit: u32 = std::env::var("LIMIT").expect("set").parse().expect("a number");
            let text = |bytes: u32| {
                format!(
                    ".shared .align 4 .b8 a[{}]; .shared .align 4 .b8 b[8]; .shared .align 4 .b8 unused[4096];
                     .visible .entry k() {{ st.shared.u32 [a], 1; st.shared.u32 [b], 1; ret; }}",
                    bytes - 8
                )
            };
            assert_eq!(load_text(&cuda, &text(limit)).0, 0);
            assert_eq!(load_text(&cuda, &text(limit + 4)).0, INVALID_PTX);
        });
    }
}
