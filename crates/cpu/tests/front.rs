//! Front ends behind the driver's `Backend`: which kinds of code load, and how the others are refused.

use cpu::front::{AmdObject, Place};
use cpu::{Cpu, ErrorKind, Program, Rules, Settings};
use driver::backend::{Backend, Code, Input, LoadError, LoadErrorKind, LoadOptions, LoadRequest};
use host::options::Options;

const OBJECT: &[u8] = include_bytes!("../../gcn/tests/data/saxpy.gfx906.hsaco");
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
    let refused: Vec<&str> =
        loaded.program.kernels().iter().filter_map(|k| k.refused.as_ref().map(|_| &*k.name)).collect();
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
