//! Front ends behind the driver's `Backend`: which kinds of code load, and how the others are refused.

use cpu::front::{AmdObject, Place};
use cpu::{Cpu, ErrorKind, Program, Rules, Settings};
use driver::backend::{Backend, Code, Input, LoadError, LoadErrorKind, LoadOptions, LoadRequest};
use host::options::Options;

const OBJECT: &[u8] = include_bytes!("../../../gcn/tests/data/saxpy.gfx906.hsaco");
/// Its kernels, by address.
const KERNELS: [&str; 2] = ["saxpy", "reverse"];
const TEXT: &[u8] = b".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n";

/// What loading these inputs gives: the kernels' names, or the error.
fn load(codes: &[Code<'_>]) -> Result<Vec<String>, LoadError> {
    let backend = Cpu::new(Settings::of(&Options::default()));
    let devices = backend.devices();
    let inputs: Vec<Input<'_>> = codes.iter().map(|&code| Input { name: "a file", code }).collect();
    let request = LoadRequest {
        inputs: &inputs,
        device: devices.first().expect("a device"),
        options: LoadOptions::default(),
        complete: false,
    };
    let loaded = backend.load(&request)?;
    Ok(loaded.program.kernels().iter().map(|k| k.name.clone()).collect())
}

#[test]
fn texts_load_through_the_front_end() {
    assert_eq!(load(&[Code::Ptx(TEXT)]).expect("it loads"), ["k"]);
    let wrong = load(&[Code::Ptx(b".version 7.0\n// \xe9\n")]).expect_err("it is not ASCII");
    assert_eq!(wrong.kind, LoadErrorKind::InvalidPtx);
    assert!(wrong.log.contains("line 2 (0xe9)"), "{}", wrong.log);
}

#[test]
fn code_objects_load_alone() {
    assert_eq!(load(&[Code::AmdObject(OBJECT)]).expect("it loads"), KERNELS);
    let mixed = load(&[Code::Ptx(TEXT), Code::AmdObject(OBJECT)]).expect_err("two kinds");
    assert!(mixed.log.contains("cannot be linked with other code"), "{}", mixed.log);
}

/// A kernel that cannot run is named, and the others stay usable.
#[test]
fn kernels_that_cannot_run_are_named() {
    let object = gcn::CodeObject::read(OBJECT).expect("a code object");
    let kernel = object.kernels.first().expect("a kernel");
    let at = object.code(kernel).expect("its code").as_ptr().addr() - OBJECT.as_ptr().addr();
    let mut broken = OBJECT.to_vec();
    broken[at..at + 4].copy_from_slice(&[0xff; 4]);
    let backend = Cpu::new(Settings::of(&Options::default()));
    let devices = backend.devices();
    let request = LoadRequest {
        inputs: &[Input { name: "a.co", code: Code::AmdObject(&broken) }],
        device: devices.first().expect("a device"),
        options: LoadOptions::default(),
        complete: false,
    };
    let loaded = backend.load(&request).expect("the other kernel can run");
    let names = loaded.program.kernels().iter().enumerate();
    let refused: Vec<&str> =
        names.filter(|(n, _)| loaded.program.refused(*n).is_some()).map(|(_, k)| &*k.name).collect();
    assert_eq!(refused, [&*kernel.name]);
    for word in ["`saxpy`", "a.co", "no instruction of gfx906", "bytes ff ff ff ff"] {
        assert!(loaded.info.contains(word), "{word}: {}", loaded.info);
    }
}

#[test]
fn findings_in_code_objects_have_addresses() {
    let object = gcn::CodeObject::read(OBJECT).expect("a code object");
    let kernel = object.kernels.first().expect("a kernel");
    // No instruction of gfx906 begins with these bits.
    let mut broken = OBJECT.to_vec();
    for kernel in &object.kernels {
        let at = object.code(kernel).expect("its code").as_ptr().addr() - OBJECT.as_ptr().addr();
        broken[at..at + 4].copy_from_slice(&[0xff; 4]);
    }
    let load = |bytes: &[u8]| Program::of_code(&AmdObject { name: "a.co", bytes }, &Rules::default()).err();
    let error = load(&broken).expect("it is refused");
    let finding = error.findings.first().expect("a finding");
    assert_eq!(finding.place, Place::Address(kernel.entry), "{error}");
    assert!(finding.message.contains("no instruction of gfx906"), "{error}");
    let foreign = load(b"\x7fELF and nothing else").expect("it is refused");
    assert_eq!((foreign.kind, foreign.findings[0].place), (ErrorKind::Syntax, Place::Module), "{foreign}");
}

/// Large objects are decoded at load, and their kernels lowered on demand. What follows a file's sections
/// makes it large here.
#[test]
fn large_objects_are_lowered_on_demand() {
    let load = |bytes: &[u8]| Program::of_code(&AmdObject { name: "a.co", bytes }, &Rules::default());
    let small = load(OBJECT).expect("it loads");
    let mut bytes = OBJECT.to_vec();
    bytes.resize(1 << 20, 0);
    let large = load(&bytes).expect("it loads");
    let text = |program: &Program, name: &str| {
        let id = program.module().function(name).expect("the kernel");
        let module = program.module_of(id);
        module.shown(&module.functions[id.index()]).to_string()
    };
    for name in KERNELS {
        assert!(large.module().functions.iter().all(|f| f.external), "nothing is lowered at load");
        assert_eq!(text(&large, name), text(&small, name));
    }
    assert!(large.whole().functions.iter().all(|f| !f.external));
    let object = gcn::CodeObject::read(OBJECT).expect("a code object");
    let kernel = object.kernels.first().expect("a kernel");
    let at = object.code(kernel).expect("its code").as_ptr().addr() - OBJECT.as_ptr().addr();
    bytes[at..at + 4].copy_from_slice(&[0xff; 4]);
    let broken = load(&bytes).expect("the other kernel can run");
    let reason = |name: &str| broken.refused(broken.module().function(name).expect("the kernel"));
    assert!(reason(KERNELS[0]).is_some_and(|told| told.contains("no instruction of gfx906")));
    assert_eq!(reason(KERNELS[1]), None);
    // An instruction that is known and not lowered (`s_rfe_b64`) is found when the kernel is.
    bytes[at..at + 4].copy_from_slice(&RFE);
    let broken = load(&bytes).expect("it loads");
    let id = |name: &str| broken.module().function(name).expect("the kernel");
    assert_eq!(KERNELS.map(|name| broken.refused_on_demand(id(name))), [true, false]);
}

/// `s_rfe_b64 s[4:5]` on gfx906.
const RFE: [u8; 4] = [0x04, 0x1f, 0x80, 0xbe];
