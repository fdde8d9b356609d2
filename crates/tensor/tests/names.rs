//! Spellings, numbers and registers of instructions.

use tensor::{Matrix, Mma};

#[test]
fn numbers_and_names_lead_back() {
    let names = [
        "m16n8k16.f32.f16.f16.f32",
        "m8n8k4.f32.f16.f16.f16.acol.brow",
        "m16n8k64.s32.u4.s4.s32.sat",
        "m16n8k256.s32.b1.b1.s32.xor",
        "m8n8k4.f64.f64.f64.f64.rz",
        "m16n8k32.f32.bf16.bf16.f32.sp1",
        "m16n8k32.f16.e3m2.e2m1.f16.f8f6f4",
        "m16n8k128.f32.e2m1.e2m1.f32.nvf4.sp0",
        "m16n8k32.f32.bf16.bf16.f32.sp1.relaxed",
        "m16n8k4.f64.f64.f64.f64.relaxed",
    ];
    for name in names {
        let x = Mma::of_name(name).unwrap_or_else(|| panic!("{name}"));
        assert_eq!(x.name(), name);
        assert_eq!(Mma::of_number(x.number()), Some(x), "{name}");
    }
}

#[test]
fn what_is_no_instruction_has_no_number() {
    for name in [
        "m16n8k16.f16.f16.f16.f32",
        "m16n8k32.f32.f16.f16.f32",
        "m16n8k16.f32.f16.f16.f32.acol",
        "m16n8k64.f32.e4m3.e4m3.f32.sp1",
        "m16n8k32.s32.s8.s8.s32.relaxed",
        "m8n8k4.f32.f16.f16.f32.relaxed",
        "m8n8k4.f64.f64.f64.f64.rz.relaxed",
    ] {
        assert_eq!(Mma::of_name(name), None, "{name}");
    }
    assert_eq!(Mma::of_number(u64::MAX), None);
}

#[test]
fn registers_are_the_manuals() {
    let counts = |name: &str| Mma::of_name(name).expect("an instruction").counts();
    assert_eq!(counts("m16n8k16.f32.f16.f16.f32"), [4, 2, 4, 4]);
    assert_eq!(counts("m8n8k4.f32.f16.f16.f32"), [2, 2, 8, 8]);
    assert_eq!(counts("m16n8k16.f64.f64.f64.f64"), [8, 4, 4, 4]);
    assert_eq!(counts("m16n8k64.f32.e4m3.e5m2.f32.sp0"), [4, 4, 4, 4]);
    assert_eq!(counts("m16n8k32.f32.e2m1.e2m3.f32.mxf8f6f4"), [4, 2, 4, 4]);
    assert_eq!(counts("m16n8k64.f32.e2m1.e2m1.f32.mxf4"), [4, 2, 4, 4]);
    assert_eq!(counts("m16n8k256.s32.b1.b1.s32"), [4, 2, 4, 4]);
}

#[test]
fn words_are_those_of_the_registers() {
    for name in [
        "mma.m16n8k16.f64.f64.f64.f64",
        "mma.m8n8k4.f32.f16.f16.f32",
        "mma.m16n8k64.f32.e4m3.e5m2.f32.sp0",
        "mma.m16n8k32.f32.e2m1.e2m3.f32.mxf8f6f4",
        "mma.m16n8k128.f32.e2m1.e2m1.f32.nvf4.sp0",
        "wgmma.m16n64k16.f32.f16.f16.f32",
        "wgmma.m16n64k32.f16.f16.f16.f16.sp1.sa",
        "ldmatrix.m16n16.x2.trans",
        "ldmatrix.m8n16.x4.s4",
        "stmatrix.m8n8.x4",
    ] {
        let x = Matrix::of_name(name).expect("an instruction");
        assert_eq!(x.sizes(), [Matrix::words(&x.operands()), Matrix::words(&x.results())], "{name}");
    }
}
