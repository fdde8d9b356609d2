//! The values that instructions are decoded to, and the reasons of refusals. The texts are those of LLVM's
//! assembler; which `llvm-mc-19 --disassemble` gives for the same bytes.

use gcn::Target;
use gcn::isa::{Decoder, Inst, Mod, Op, Role, Special, Value};

fn decode(target: &str, words: &[u32]) -> Result<Inst, String> {
    decode_in_waves(target, 64, words)
}

fn decode_in_waves(target: &str, wave: u32, words: &[u32]) -> Result<Inst, String> {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let decoder = Decoder::new(Target::of_name(target).expect("a target"), wave).expect("a table");
    decoder.decode(&bytes, 0x1000).map_err(|refusal| refusal.to_string())
}

fn one(target: &str, words: &[u32]) -> Inst {
    decode(target, words).expect("an instruction")
}

fn value(inst: &Inst, role: Role) -> Value {
    inst.operand(role).expect("an operand").value
}

/// The same operation has one name in all encodings and generations, and its operands one order.
#[test]
fn forms_of_an_operation_are_alike() {
    for (target, words, text) in [
        ("gfx906", &[0x0200_0501u32] as &[u32], "v_add_f32_e32 v0, v1, v2"),
        ("gfx906", &[0xd101_0000, 0x0002_0501], "v_add_f32_e64 v0, v1, v2"),
        ("gfx1030", &[0x0600_0501], "v_add_f32_e32 v0, v1, v2"),
    ] {
        let inst = one(target, words);
        assert_eq!((inst.to_string().as_str(), inst.op), (text, Op::VAddF32));
        assert_eq!(
            inst.operands.iter().map(|o| o.role).collect::<Vec<_>>(),
            [Role::Vdst, Role::Src0, Role::Src1]
        );
        assert_eq!((value(&inst, Role::Src0), value(&inst, Role::Src1)), (Value::Vgpr(1), Value::Vgpr(2)));
        assert_eq!((inst.op.name(), usize::from(inst.size)), ("v_add_f32", words.len() * 4));
    }
}

#[test]
fn modifiers_are_values() {
    let inst = one("gfx906", &[0xd101_8201, 0x5002_0501]);
    assert_eq!(inst.to_string(), "v_add_f32_e64 v1, v1, -|v2| clamp mul:4");
    let src1 = inst.operand(Role::Src1).expect("a source");
    assert_eq!((src1.neg, src1.abs, inst.modifier(Mod::Clamp), inst.modifier(Mod::Omod)), (true, true, 1, 2));
    let dpp = one("gfx906", &[0x7e00_02fa, 0xff01_1101]);
    assert_eq!(dpp.to_string(), "v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf");
    assert_eq!(dpp.modifier(Mod::DppCtrl), 0x111);
    let sdwa = one("gfx906", &[0x0200_04f9, 0x0506_0601]);
    assert_eq!(
        sdwa.to_string(),
        "v_add_f32_sdwa v0, v1, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1"
    );
    assert_eq!(sdwa.modifier(Mod::Src1Sel), 5);
}

#[test]
fn operands_have_kinds() {
    let load = one("gfx906", &[0xc006_0003, 0x0000_0010]);
    assert_eq!(load.to_string(), "s_load_dwordx2 s[0:1], s[6:7], 0x10");
    assert_eq!((value(&load, Role::Sdst), value(&load, Role::Offset)), (Value::Sgpr(0), Value::Imm(16)));
    let literal = one("gfx906", &[0xbe80_00ff, 0x1234_5678]);
    assert_eq!(literal.to_string(), "s_mov_b32 s0, 0x12345678");
    assert_eq!((value(&literal, Role::Src0), literal.size), (Value::Literal(0x1234_5678), 8));
    let vcc = one("gfx906", &[0x7d84_0501]);
    assert_eq!(vcc.to_string(), "v_cmp_eq_i32_e32 vcc, v1, v2");
    assert!(matches!(value(&vcc, Role::Implied), Value::Special(Special::Vcc, _)));
}

#[test]
fn refusals_say_what_is_wrong() {
    assert_eq!(
        decode("gfx906", &[0xffff_ffff]).unwrap_err(),
        "no instruction of gfx906 has this encoding and opcode"
    );
    assert_eq!(decode("gfx906", &[0xd101_0000]).unwrap_err(), "the code ends inside an instruction");
    assert_eq!(
        decode("gfx906", &[0x7e00_02fa, 0xff01_ff01]).unwrap_err(),
        "v_mov_b32_dpp: dpp_ctrl has the reserved value 0x1ff"
    );
    assert_eq!(
        decode("gfx906", &[0xbe80_00ff]).unwrap_err(),
        "s_mov_b32: src0 is 0xff: the code ends before its literal"
    );
}

/// A dual instruction is two instructions with the names and operands that they have alone.
#[test]
fn dual_instructions_have_two_halves() {
    let words = [0xc842_918c, 0x9e5b_5986, 0xec2a_ecee];
    let dual = decode_in_waves("gfx1100", 32, &words).expect("a dual instruction");
    assert_eq!(
        dual.to_string(),
        "v_dual_fmaak_f32 v158, v140, v72, 0xec2aecee :: v_dual_fmaak_f32 v91, v134, v172, 0xec2aecee"
    );
    let second = dual.second.as_deref().expect("a second half");
    assert_eq!((dual.op, second.op, dual.size, second.size), (Op::VFmaakF32, Op::VFmaakF32, 12, 12));
    assert_eq!((value(&dual, Role::Vdst), value(second, Role::Vdst)), (Value::Vgpr(158), Value::Vgpr(91)));
    // VCC is an operand that the text does not show.
    let select =
        decode_in_waves("gfx1100", 32, &[0xca42_01b7, 0x1309_10c9, 0x244a_a713]).expect("a dual one");
    assert!(matches!(value(&select, Role::Implied), Value::Special(Special::Vcc, _)));
    // Waves of 64 lanes have none, and a move has no second source.
    assert!(decode_in_waves("gfx1100", 64, &words).is_err());
    let refused = decode_in_waves("gfx1100", 32, &[0xca10_0f03, 0x140c_0b04]).unwrap_err();
    assert_eq!(refused, "no instruction of gfx1100 has this encoding and opcode");
}
