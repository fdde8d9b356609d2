//! Archives passed to the linker: PTX in their members, NVIDIA's device runtime, and machine code that cannot
//! be run.

use std::ffi::{CString, c_void};
use std::ptr::null_mut;

use object::write::{Object, StandardSection, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, SectionKind, SymbolFlags, SymbolKind, SymbolScope};

use crate::call;
use crate::support::Argument::U64;
use crate::support::{Cuda, HEAD, everywhere, isolated, status};

const PTX: u32 = 1;
const OBJECT: u32 = 3;
const LIBRARY: u32 = 4;
const ERROR_LOG: u32 = 5;
const ERROR_LOG_SIZE: u32 = 6;

fn elf() -> Object<'static> {
    // The machine does not matter for reading symbols and sections.
    Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little)
}

/// An object in place of machine code, which defines these functions.
fn machine_code(functions: &[&str]) -> Vec<u8> {
    let mut object = elf();
    let section = object.section_id(StandardSection::Text);
    for name in functions {
        let value = object.append_section_data(section, &[0; 16], 16);
        object.add_symbol(Symbol {
            name: name.as_bytes().to_vec(),
            value,
            size: 16,
            kind: SymbolKind::Text,
            scope: SymbolScope::Linkage,
            weak: false,
            section: SymbolSection::Section(section),
            flags: SymbolFlags::None,
        });
    }
    object.write().expect("an ELF file")
}

/// A host object whose section `__nv_relfatbin` contains a fatbin with one entry: PTX (1) or machine code
/// (2).
fn host_object(kind: u16, payload: &[u8]) -> Vec<u8> {
    let padded = payload.len().next_multiple_of(8);
    let mut fatbin = Vec::new();
    fatbin.extend(0xba55_ed50u32.to_le_bytes());
    fatbin.extend([1, 0, 16, 0]);
    fatbin.extend((64 + padded as u64).to_le_bytes());
    let mut entry = [0u8; 64];
    entry[0..2].copy_from_slice(&kind.to_le_bytes());
    entry[4..8].copy_from_slice(&64u32.to_le_bytes());
    entry[8..12].copy_from_slice(&(padded as u32).to_le_bytes());
    entry[28..32].copy_from_slice(&52u32.to_le_bytes());
    fatbin.extend(entry);
    fatbin.extend(payload);
    fatbin.resize(80 + padded, 0);

    let mut object = elf();
    let section = object.add_section(Vec::new(), b"__nv_relfatbin".to_vec(), SectionKind::ReadOnlyData);
    object.append_section_data(section, &fatbin, 8);
    object.write().expect("an ELF file")
}

/// An archive in the usual format.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, data) in members {
        out.extend(
            format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", format!("{name}/"), 0, 0, 0, 644, data.len())
                .bytes(),
        );
        out.extend(*data);
        out.resize(out.len().next_multiple_of(2), b'\n');
    }
    out
}

/// Links a text and a library. Returns the module, or the status and the linker's log.
fn link(cuda: &Cuda, text: &str, name: &str, library: &[u8]) -> Result<u64, (u32, String)> {
    let mut log = vec![0u8; 4096];
    let mut options = [ERROR_LOG, ERROR_LOG_SIZE];
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
    let mut link = 0;
    call!(cuda.cuLinkCreate_v2(2, options.as_mut_ptr(), values.as_mut_ptr(), &mut link));
    let text = CString::new(format!("{HEAD}{text}")).expect("no NUL");
    let name = CString::new(name).expect("no NUL");
    for (kind, bytes) in [(PTX, text.as_bytes_with_nul()), (LIBRARY, library)] {
        let (at, size) = (bytes.as_ptr().cast(), bytes.len());
        call!(cuda.cuLinkAddData_v2(link, kind, at, size, name.as_ptr(), 0, null_mut(), null_mut()));
    }
    let (mut image, mut size) = (null_mut(), 0);
    // SAFETY: the pointers refer to variables of this function.
    let answer = unsafe { (cuda.cuLinkComplete)(link, &mut image, &mut size) };
    let mut module = 0;
    if answer == 0 {
        call!(cuda.cuModuleLoadData(&mut module, image));
    }
    call!(cuda.cuLinkDestroy(link));
    let told = String::from_utf8_lossy(&log).trim_end_matches('\0').to_string();
    if answer == 0 { Ok(module) } else { Err((answer, told)) }
}

/// Each block writes its number, waits for the others, and reads that of the next one; twice. These are the
/// calls that cooperative groups make, as several Python and C++ compilers emit them.
const GRID: &str = "
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle(.param .b32 scope);
.extern .func (.param .b32 r) cudaCGSynchronize(.param .b64 handle, .param .b32 flags);
.extern .func (.param .b32 r) cudaCGGetSize(.param .b64 threads, .param .b64 grids, .param .b64 handle);
.extern .func (.param .b32 r) cudaCGGetRank(.param .b64 thread, .param .b64 grid, .param .b64 handle);
.visible .entry ring(.param .u64 out, .param .u64 status) {
    .reg .pred %p; .reg .b32 %b, %n, %t, %v, %s, %round, %next; .reg .b64 %h, %o, %a, %w, %size, %rank;
    .local .align 4 .b8 place[8];
    .param .b64 h; .param .b32 scope; .param .b32 flags; .param .b32 r; .param .b64 x; .param .b64 y;
    ld.param.u64 %o, [out];
    st.param.b32 [scope], 1; call (h), cudaCGGetIntrinsicHandle, (scope); ld.param.b64 %h, [h];
    mov.u32 %b, %ctaid.x; mov.u32 %n, %nctaid.x; mov.u32 %t, %tid.x; mov.b32 %round, 0; mov.b32 %v, %b;
    mul.wide.u32 %w, %b, 4; add.u64 %w, %w, %o;
    add.u32 %next, %b, 1; rem.u32 %next, %next, %n; mul.wide.u32 %a, %next, 4; add.u64 %a, %a, %o;
AGAIN:
    st.global.u32 [%w], %v;
    st.param.b64 [h], %h; st.param.b32 [flags], 0;
    call (r), cudaCGSynchronize, (h, flags); ld.param.b32 %s, [r];
    ld.global.u32 %v, [%a]; add.u32 %v, %v, 100;
    st.param.b64 [h], %h; st.param.b32 [flags], 0;
    call (r), cudaCGSynchronize, (h, flags); ld.param.b32 %s, [r];
    add.u32 %round, %round, 1; setp.lt.u32 %p, %round, 2; @%p bra AGAIN;
    st.global.u32 [%w], %v;
    // The last thread of the grid writes its number, the grid's size, and the last status.
    mov.u32 %next, %ntid.x; mad.lo.u32 %v, %b, %next, %t; mad.lo.u32 %n, %n, %next, -1;
    setp.ne.u32 %p, %v, %n; @%p ret;
    ld.param.u64 %size, [status]; add.u64 %rank, %size, 4;
    mov.b64 %a, 0;
    st.param.b64 [x], %size; st.param.b64 [y], %a; st.param.b64 [h], %h; call (r), cudaCGGetSize, (x, y, h);
    st.param.b64 [x], %rank; st.param.b64 [y], %a; st.param.b64 [h], %h; call (r), cudaCGGetRank, (x, y, h);
    st.global.u32 [%size+8], %s;
    ret;
}
";

#[test]
fn the_device_runtime_is_ours() {
    everywhere("libraries::the_device_runtime_is_ours", &[], || {
        let cuda = Cuda::start();
        let code = machine_code(&["cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaMalloc"]);
        let library = archive(&[("cuda_runtime.o", &host_object(2, &code))]);
        let module = link(&cuda, GRID, "libcudadevrt.a", &library).expect("it links");
        let ring = cuda.function(module, "ring");
        const BLOCKS: u32 = 7;
        let (out, told) = (cuda.upload(&[0u32; BLOCKS as usize]), cuda.upload(&[9u32; 3]));
        let arguments = [U64(out), U64(told)];
        let mut pointers = arguments.each_ref().map(|a| a.pointer());
        for _ in 0..2 {
            call!(cuda.cuLaunchCooperativeKernel(ring, BLOCKS, 1, 1, 96, 1, 1, 0, 0, pointers.as_mut_ptr()));
            let expected: Vec<u32> = (0..BLOCKS).map(|b| (b + 2) % BLOCKS + 200).collect();
            assert_eq!(cuda.download::<u32>(out, BLOCKS as usize), expected);
            assert_eq!(cuda.download::<u32>(told, 3), [BLOCKS * 96, BLOCKS * 96 - 1, 0]);
        }
        // A launch that is not cooperative has no grid to synchronise: cudaErrorInvalidValue.
        assert_eq!(cuda.launch(ring, 1, 32, 0, &arguments), 0);
        assert_eq!(cuda.download::<u32>(told, 3), [32, 31, 1]);
    });
}

#[test]
fn what_is_machine_code_only_is_named() {
    isolated("libraries::what_is_machine_code_only_is_named", &[], || {
        let cuda = Cuda::start();
        let library = archive(&[
            ("a.o", &host_object(2, &machine_code(&["other"]))),
            ("b.o", &host_object(2, &machine_code(&["wanted"]))),
        ]);
        let text = ".extern .func wanted();\n.visible .entry k() { call wanted; ret; }\n";
        let (answer, told) = link(&cuda, text, "libthings.a", &library).expect_err("machine code");
        assert_eq!(answer, status::INVALID_SOURCE);
        assert!(told.contains("libthings.a(b.o) has 'wanted' only as machine code"), "{told}");
        assert!(!told.contains("a.o"), "{told}");
    });
}

/// The texts that `tests/probe` links, with one definition or two, and the logs as the H200's recording has
/// them (`link.unresolved.log`, `link.duplicate.log`).
#[test]
fn symbols_that_are_missing_or_there_twice_are_named() {
    isolated("libraries::symbols_that_are_missing_or_there_twice_are_named", &[], || {
        let cuda = Cuda::start();
        let uses = ".extern .func (.param .b32 r) twice(.param .b32 a);
            .extern .global .align 4 .u32 shared_value;
            .visible .entry linked(.param .u64 out) { .reg .b32 %v; .reg .b64 %o; .param .b32 r, a;
            ld.global.u32 %v, [shared_value]; st.param.b32 [a], %v; call (r), twice, (a);
            ld.param.b32 %v, [r]; ld.param.u64 %o, [out]; st.global.u32 [%o], %v; ret; }\n";
        let defines = ".visible .global .align 4 .u32 shared_value = 21;
            .visible .func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %v; ld.param.b32 %v, [a];
            add.u32 %v, %v, %v; st.param.b32 [r], %v; ret; }\n";
        let missing = "error   : Undefined reference to 'twice' in 'a.ptx'\n\
            error   : Undefined reference to 'shared_value' in 'a.ptx'";
        let double = "error   : Multiple definition of 'twice' in 'b2.ptx', first defined in 'b1.ptx'\n\
            error   : Multiple definition of 'shared_value' in 'b2.ptx', first defined in 'b1.ptx'";
        let link = |texts: &[(&str, &str)]| {
            let (mut log, mut link) = (vec![b'x'; 4096], 0);
            let mut options = [ERROR_LOG, ERROR_LOG_SIZE];
            let mut values: [*mut c_void; 2] =
                [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
            call!(cuda.cuLinkCreate_v2(2, options.as_mut_ptr(), values.as_mut_ptr(), &mut link));
            let mut answers = Vec::new();
            for (name, text) in texts {
                let (name, text) = (CString::new(*name).expect("no NUL"), format!("{HEAD}{text}\0"));
                let (at, size) = (text.as_ptr().cast(), text.len());
                let add = cuda.cuLinkAddData_v2;
                // SAFETY: the text and its name outlive the call.
                answers.push(unsafe { add(link, PTX, at, size, name.as_ptr(), 0, null_mut(), null_mut()) });
            }
            let (mut image, mut size) = (null_mut(), 0);
            // SAFETY: the pointers refer to variables of this function.
            answers.push(unsafe { (cuda.cuLinkComplete)(link, &mut image, &mut size) });
            call!(cuda.cuLinkDestroy(link));
            let end = log.iter().position(|byte| *byte == 0).expect("a NUL");
            assert_eq!(values[1].addr(), end, "the length is written");
            (answers, String::from_utf8_lossy(&log[..end]).into_owned())
        };
        const WRONG: u32 = status::INVALID_SOURCE;
        assert_eq!(link(&[("a.ptx", uses)]), (vec![0, WRONG], missing.into()));
        let twice = [("b1.ptx", defines), ("b2.ptx", defines)];
        assert_eq!(link(&twice), (vec![0, WRONG, WRONG], double.into()));
        assert_eq!(link(&[("a.ptx", uses), ("b.ptx", defines)]), (vec![0, 0, 0], String::new()));
    });
}

#[test]
fn texts_of_a_library_are_linked() {
    everywhere("libraries::texts_of_a_library_are_linked", &[], || {
        let cuda = Cuda::start();
        let five = format!("{HEAD}.visible .func (.param .b32 r) five() {{ st.param.b32 [r], 5; ret; }}\n");
        let library = archive(&[("notes.txt", b"no object"), ("five.o", &host_object(1, five.as_bytes()))]);
        let text = ".extern .func (.param .b32 r) five();
            .visible .entry k(.param .u64 out) { .reg .b32 %v; .reg .b64 %o; .param .b32 r;
            call (r), five; ld.param.b32 %v, [r]; ld.param.u64 %o, [out]; st.global.u32 [%o], %v; ret; }\n";
        let module = link(&cuda, text, "libfive.a", &library).expect("it links");
        let out = cuda.upload(&[0u32]);
        assert_eq!(cuda.launch(cuda.function(module, "k"), 1, 1, 0, &[U64(out)]), 0);
        assert_eq!(cuda.download::<u32>(out, 1), [5]);
    });
}

/// Links inputs of any type. Returns the module, and the answers.
fn link_all(cuda: &Cuda, inputs: &[(u32, &[u8])]) -> (u64, Vec<u32>) {
    let (mut link, mut image, mut size, mut module) = (0, null_mut(), 0, 0);
    call!(cuda.cuLinkCreate_v2(0, null_mut(), null_mut(), &mut link));
    let mut answers = Vec::new();
    for (kind, bytes) in inputs {
        let (at, size, add) = (bytes.as_ptr().cast(), bytes.len(), cuda.cuLinkAddData_v2);
        // SAFETY: the bytes outlive the call.
        answers.push(unsafe { add(link, *kind, at, size, c"input".as_ptr(), 0, null_mut(), null_mut()) });
    }
    // SAFETY: the pointers refer to variables of this function.
    answers.push(unsafe { (cuda.cuLinkComplete)(link, &mut image, &mut size) });
    if answers.last() == Some(&0) {
        call!(cuda.cuModuleLoadData(&mut module, image));
    }
    call!(cuda.cuLinkDestroy(link));
    (module, answers)
}

/// A kernel that stores a number, as PTX in a host object.
fn object_with_kernel(name: &str, number: u32) -> Vec<u8> {
    let text = format!(
        "{HEAD}.visible .entry {name}(.param .u64 out) {{ .reg .b64 %o; ld.param.u64 %o, [out];
        st.global.u32 [%o], {number}; ret; }}\n"
    );
    host_object(1, text.as_bytes())
}

#[test]
fn kernels_of_objects_and_libraries_are_linked() {
    everywhere("libraries::kernels_of_objects_and_libraries_are_linked", &[], || {
        let cuda = Cuda::start();
        let needy = host_object(
            1,
            format!("{HEAD}.extern .func gone();\n.visible .entry needy() {{ call gone; ret; }}\n")
                .as_bytes(),
        );
        let library = archive(&[("b.o", &object_with_kernel("b", 6))]);
        let broken = archive(&[("c.o", &object_with_kernel("c", 7)), ("d.o", &needy)]);
        let (module, answers) =
            link_all(&cuda, &[(OBJECT, &object_with_kernel("a", 5)), (LIBRARY, &library)]);
        assert_eq!(answers, [0; 3]);
        let out = cuda.upload(&[0u32]);
        for (name, number) in [("a", 5), ("b", 6)] {
            assert_eq!(cuda.launch(cuda.function(module, name), 1, 1, 0, &[U64(out)]), 0);
            assert_eq!(cuda.download::<u32>(out, 1), [number]);
        }
        // An object is linked, whatever it needs; of libraries only what can be.
        assert_eq!(link_all(&cuda, &[(OBJECT, &needy)]).1, [0, status::INVALID_SOURCE]);
        assert_eq!(link_all(&cuda, &[(OBJECT, &object_with_kernel("a", 5)), (LIBRARY, &broken)]).1, [0; 3]);
        let twice = object_with_kernel("a", 5);
        let answers = link_all(&cuda, &[(OBJECT, &twice), (OBJECT, &twice)]).1;
        assert_eq!(answers, [0, status::INVALID_SOURCE, status::INVALID_SOURCE]);
    });
}

#[test]
fn machine_code_that_nothing_refers_to_is_told() {
    let output = isolated("libraries::machine_code_that_nothing_refers_to_is_told", &[], || {
        let cuda = Cuda::start();
        let kernel = object_with_kernel("a", 5);
        for code in [machine_code(&["other"]), b"machine!".to_vec()] {
            let object = host_object(2, &code);
            let library = archive(&[("a.o", &object)]);
            assert_eq!(link_all(&cuda, &[(OBJECT, &kernel), (OBJECT, &object)]).1, [0; 3]);
            assert_eq!(link_all(&cuda, &[(OBJECT, &kernel), (LIBRARY, &library)]).1, [0; 3]);
        }
        // NVIDIA's device runtime is replaced.
        let ours = archive(&[
            ("r.o", &host_object(2, &machine_code(&["cudaCGSynchronize"]))),
            ("s.o", &host_object(2, &machine_code(&["cudaMalloc"]))),
        ]);
        assert_eq!(link_all(&cuda, &[(OBJECT, &kernel), (LIBRARY, &ours)]).1, [0; 3]);
    });
    let told = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("anywarp:")).collect();
    assert_eq!(lines.len(), 4, "{told}");
    assert!(lines.iter().all(|line| line.contains("it contains machine code for sm_52")), "{told}");
}

#[test]
fn an_input_is_compiled_when_it_is_added_and_at_the_end() {
    const MANY: usize = 24;
    let log = [("ANYWARP_LOG", "info")];
    let output = isolated("libraries::an_input_is_compiled_when_it_is_added_and_at_the_end", &log, || {
        let cuda = Cuda::start();
        let text = |n: usize| {
            format!(
                "{HEAD}.visible .func f{n}() {{ ret; }}\n.extern .func f0();\n\
                 .visible .entry k{n}() {{ call f0; ret; }}\n\0"
            )
        };
        let texts: Vec<String> = (1..=MANY).map(text).collect();
        let inputs: Vec<(u32, &[u8])> = texts.iter().map(|text| (PTX, text.as_bytes())).collect();
        let first = format!("{HEAD}.visible .func f0() {{ ret; }}\n\0");
        let (_, answers) = link_all(&cuda, &[&[(PTX, first.as_bytes())], inputs.as_slice()].concat());
        assert_eq!(answers, [0; MANY + 2]);
    });
    let told = String::from_utf8_lossy(&output.stderr);
    let kernels = told
        .lines()
        .filter_map(|line| line.split_once("module of ")?.1.split_once(" kernels")?.0.parse::<usize>().ok());
    // As often again when the image is loaded.
    assert!(kernels.sum::<usize>() <= 3 * MANY, "{told}");
}
