//! What is said of images and launches that are refused.

use std::ptr::null_mut;

use crate::PTX;
use crate::support::*;

/// What `hipModuleLoadDataEx` writes into the error log (hipJitOptionErrorLogBuffer, …SizeBytes).
fn logged(hip: &Hip, bytes: &[u8]) -> (u32, String) {
    let (mut module, mut log) = (0, [0u8; 1024]);
    let (mut options, mut values) = ([5, 6], [log.as_mut_ptr() as P, log.len() as P]);
    let code = (hip.hipModuleLoadDataEx)(
        &mut module,
        bytes.as_ptr().cast(),
        2,
        options.as_mut_ptr(),
        values.as_mut_ptr(),
    );
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    (code, String::from_utf8_lossy(&log[..end]).trim_end().to_owned())
}

/// A bundle with a number of 64 bits replaced.
fn changed(at: usize, value: u64) -> Vec<u8> {
    let mut bytes = bundle(&[("hip-amdgcn-amd-amdhsa--gfx906", &amd())]);
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    // Memory behind the bundle can be read.
    bytes.resize(8192, 0);
    bytes
}

#[test]
fn the_log_says_what_is_wrong_with_an_image() {
    let hip = hip();
    let name = "hip-amdgcn-amd-amdhsa--gfx906";
    let object = amd();
    let mut foreign = amd();
    foreign[7] = 9;
    let large = 1u64 << 60;
    let most = image::MAX_TEXT;
    let malformed = |reason: String| format!("error   : the bundle is malformed: {reason}");
    let beyond = |size: u64, at: u64| {
        malformed(format!(
            "entry 0 ({name}) has {size} bytes at {at:#x}; the maximum size of a bundle is {most}"
        ))
    };
    let nothing = |what: String| {
        format!(
            "error   : the image has no code that runs here: {what}; compile for one of the targets in \
             docs/gcn.md, or provide PTX"
        )
    };
    let unknown = "error   : unknown format: expected PTX, a fatbin, an AMD code object or an offload bundle"
        .to_owned();
    let packed = |start: &[u8]| {
        let mut bytes = [b"CCOB", start].concat();
        bytes.resize(8192, 0);
        bytes
    };
    let compressed = |reason: &str| format!("error   : the compressed bundle is malformed: {reason}");
    let cases = [
        ("many entries", changed(24, 5000), 200, malformed("it declares 5000 entries; the maximum is 4096".into())),
        ("an offset beyond", changed(32, large), 200, beyond(64, large)),
        ("an offset that wraps", changed(32, u64::MAX), 200, beyond(64, u64::MAX)),
        ("a huge size", changed(40, large), 200, beyond(large, 85)),
        (
            "a huge name",
            changed(48, large),
            200,
            malformed(format!("the name of entry 0 has {large} bytes; the maximum is 4096")),
        ),
        (
            "an unknown version",
            packed(&[7, 0, 1, 0]),
            200,
            compressed("version 7 of its header is unknown; 1, 2 and 3 are known"),
        ),
        (
            "an unknown compression",
            packed(&[2, 0, 5, 0]),
            200,
            compressed("compression method 5 is unknown; 0 is zlib, 1 is zstd"),
        ),
        (
            "a size that is none",
            packed(&[2, 0, 1, 0, 3]),
            200,
            compressed("it declares 3 bytes in all, fewer than its header's 24"),
        ),
        (
            "an entry that is no code",
            bundle(&[(name, b"no code at all")]),
            209,
            nothing(format!(
                "the bundle contains something for {name} that is neither an AMD code object nor PTX"
            )),
        ),
        (
            "an empty entry",
            bundle(&[("host-x86_64-unknown-linux-gnu-", b"")]),
            209,
            nothing("the bundle contains nothing for host-x86_64-unknown-linux-gnu-".into()),
        ),
        (
            "an entry that cannot be loaded",
            bundle(&[(name, &object)]),
            209,
            nothing(format!(
                "the bundle contains code for {name} that cannot be loaded (the ELF header names operating \
                 system 0; only 64 (HSA) is read)"
            )),
        ),
        (
            "an object of another system",
            foreign,
            209,
            nothing(
                "it is an ELF file for AMD's GPUs, but the ELF header names operating system 9; only 64 (HSA) is \
                 read"
                    .into(),
            ),
        ),
        ("an ELF file of 32 bits", [&b"\x7fELF\x01\x01\x01"[..], &object[7..]].concat(), 200, unknown.clone()),
        ("a big-endian ELF file", [&b"\x7fELF\x02\x02\x01"[..], &object[7..]].concat(), 200, unknown.clone()),
        ("garbage", b"garbage, and no more\0".to_vec(), 200, unknown),
    ];
    let file = std::env::temp_dir().join(format!("anywarp-hip-refused-{}", std::process::id()));
    for (what, bytes, code, told) in cases {
        assert_eq!(logged(&hip, &bytes), (code, told), "{what}");
        std::fs::write(&file, bytes).expect("a file");
        let (name, mut module) = (c(file.to_str().expect("text")), 0);
        assert_eq!((hip.hipModuleLoad)(&mut module, name.as_ptr()), code, "{what} in a file");
    }
    std::fs::remove_file(file).expect("the file");
}

/// Bundles of some compilers have the host's empty entry at offset 0.
#[test]
fn a_bundle_of_empty_entries_ends_with_its_table() {
    let mut bytes = bundle(&[("host-x86_64-unknown-linux-gnu-", b"")]);
    bytes[32..40].fill(0);
    assert_eq!(logged(&hip(), &bytes).0, 209);
}

/// Nothing is read behind the end of memory that a header would begin in, and a wrapper is followed once.
#[test]
fn images_that_are_cut_off_or_go_in_circles_are_invalid() {
    let hip = hip();
    let mut module = 0;
    let starts: [&[u8]; 7] = [
        b"\x7fELF",
        &amd()[..40],
        b"CCOB\x02\0",
        b"__CLANG_OFFLOAD_BUNDLE__",
        &0x4849_5046u32.to_le_bytes(),
        &0xba55_ed50u32.to_le_bytes(),
        &0x4662_43b1u32.to_le_bytes(),
    ];
    for start in starts {
        let at = end_of_page(start.len());
        // SAFETY: the bytes before the page's end can be written.
        unsafe { std::ptr::copy_nonoverlapping(start.as_ptr(), at as *mut u8, start.len()) };
        assert_eq!((hip.hipModuleLoadData)(&mut module, at as *const _), 200, "{start:?}");
    }
    assert_eq!((hip.hipModuleLoadData)(&mut module, 0x1000 as *const _), 200);
    let mut wrapper = [0x1_4849_5046u64, 0, 0];
    wrapper[1] = wrapper.as_ptr() as u64;
    assert_eq!((hip.hipModuleLoadData)(&mut module, wrapper.as_ptr().cast()), 200);
}

/// The first version of the compressed bundle's header does not state its size.
#[test]
fn a_compressed_bundle_of_the_first_version_is_loaded_from_memory() {
    let hip = hip();
    let plain = bundle(&[("hip-ptx", c(PTX).as_bytes_with_nul())]);
    for zstd in [false, true] {
        let packed = match zstd {
            true => {
                ruzstd::encoding::compress_to_vec(&plain[..], ruzstd::encoding::CompressionLevel::Fastest)
            }
            false => miniz_oxide::deflate::compress_to_vec_zlib(&plain, 6),
        };
        let mut bytes = b"CCOB\x01\0".to_vec();
        bytes.extend([u8::from(zstd), 0]);
        bytes.extend((plain.len() as u32).to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend(packed);
        let mut module = 0;
        assert_eq!((hip.hipModuleLoadData)(&mut module, bytes.as_ptr().cast()), 0, "zstd {zstd}");
        function(&hip, module, "fill");
    }
}

/// An address before a page that cannot be read.
fn end_of_page(bytes: usize) -> u64 {
    const PAGE: usize = 4096;
    // SAFETY: a new mapping, whose second page is closed at once.
    unsafe {
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let start = libc::mmap(null_mut(), 2 * PAGE, rights, flags, -1, 0);
        assert_ne!(start, libc::MAP_FAILED);
        assert_eq!(libc::mprotect(start.byte_add(PAGE), PAGE, libc::PROT_NONE), 0);
        start as u64 + (PAGE - bytes) as u64
    }
}

/// A list of parameters; what the log says of the launch. Each in a process of its own, since a function's
/// faults are named once.
#[test]
fn a_buffer_of_parameters_must_be_described() {
    const NAME: &str = "refused::a_buffer_of_parameters_must_be_described";
    const CASE: &str = "ANYWARP_TEST_CASE";
    let cases: [(&str, u32, &str); 6] = [
        ("other keys", 1, "but element 2 is 7"),
        ("an end", 1, "but element 0 is 3"),
        ("null", 1, "the buffer in `extra` is null"),
        (
            "unreadable",
            1,
            "the buffer in `extra` has 8 bytes, the parameters need 16, and only 8 can be read",
        ),
        ("short", 0, "the buffer in `extra` is said to have 8 bytes; 16 are read, as on AMD's hardware"),
        ("twice", 1, "it has both kernel parameters and `extra`"),
    ];
    for (case, code, told) in cases {
        let settings = [(CASE, case), ("ANYWARP_LOG", "warn")];
        if let Some(log) = told_by_process(NAME, &settings) {
            assert!(log.contains(told), "{case}: {log}");
            continue;
        }
        if std::env::var(CASE).as_deref() != Ok(case) {
            continue;
        }
        let hip = hip();
        let fill = function(&hip, module(&hip, PTX), "fill");
        let buffer = [1u64, 100];
        let (size, list) = (8usize, [buffer.as_ptr() as P; 2]);
        let at = buffer.as_ptr() as P;
        let (end, none) = (end_of_page(8) as P, NONE);
        let size = &raw const size as P;
        let (params, extra) = match case {
            "other keys" => (none, [1, at, 7, size, 3]),
            "an end" => (none, [3, 0, 0, 0, 0]),
            "null" => (none, [1, 0, 2, size, 3]),
            "unreadable" => (none, [1, end, 2, size, 3]),
            "short" => (none, [1, at, 2, size, 3]),
            _ => (list.as_ptr(), [1, at, 2, size, 3]),
        };
        let found = (hip.hipModuleLaunchKernel)(fill, 3, 1, 1, 32, 1, 1, 0, 0, params, extra.as_ptr());
        assert_eq!(found, code, "{case}");
    }
}
