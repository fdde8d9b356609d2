//! Prints every instruction and compares the text with LLVM's language reference.

use std::collections::BTreeSet;

use wave::Ty;
use wave::types::Fmt;

use super::*;

fn printed(build: impl FnOnce(&mut Builder)) -> String {
    let mut ir = Builder::default();
    build(&mut ir);
    let function = Function {
        name: Name::of("f"),
        returns: Signature::One(Type::Void),
        parameters: vec![],
        attributes: Attributes::default(),
        scope: None,
        blocks: ir.body.blocks,
    };
    let mut text = String::new();
    ir.module.function(&function, &mut text, &mut BTreeSet::new());
    let lines = text.lines().map(str::trim).filter(|l| !l.starts_with(['d', '}']) && *l != "entry:");
    lines.collect::<Vec<_>>().join("\n")
}

fn local(ty: Type, word: &'static str) -> Operand {
    Operand::local(ty, Name::of(word))
}

#[test]
fn arithmetic() {
    let text = printed(|ir| {
        let (a, w) = (local(Type::I32, "a"), local(Width::WARP.words(), "w"));
        let sum = ir.bin(Bin::Add, a, Operand::i32(-1));
        let all = ir.splat(sum);
        let both = ir.bin(Bin::SubNsw, all, w);
        let odd = ir.bin_int(Bin::And, both, 1);
        let mask = ir.icmp_int(Cmp::Ne, odd, 0);
        let picked = ir.select(mask, w, Operand::zero(Width::WARP.words()));
        let f = ir.bitcast(picked, Width::WARP.words().with(Elem::Float(Fmt::F32)));
        let f = ir.fneg(f);
        ir.fcmp(Fcmp::Uno, f, f);
        ir.cast(Cast::FpExt, f, f.ty().with(Elem::Float(Fmt::F64)));
        ir.freeze(a);
    });
    assert_eq!(
        text,
        "\
%t0 = add i32 %a, -1
%t1 = insertelement <32 x i32> poison, i32 %t0, i32 0
%t2 = shufflevector <32 x i32> %t1, <32 x i32> poison, <32 x i32> zeroinitializer
%t3 = sub nsw <32 x i32> %t2, %w
%t4 = and <32 x i32> %t3, splat (i32 1)
%t5 = icmp ne <32 x i32> %t4, zeroinitializer
%t6 = select <32 x i1> %t5, <32 x i32> %w, <32 x i32> zeroinitializer
%t7 = bitcast <32 x i32> %t6 to <32 x float>
%t8 = fneg <32 x float> %t7
%t9 = fcmp uno <32 x float> %t8, %t8
%t10 = fpext <32 x float> %t8 to <32 x double>
%t11 = freeze i32 %a"
    );
}

#[test]
fn memory() {
    let text = printed(|ir| {
        let p = local(Type::PTR, "p");
        let at = ir.offset(p, 8);
        let volatile = Access { volatile: true, order: Order::Acquire, ..Access::aligned(4) };
        let v = ir.load_as(Type::I32, at, volatile);
        let field = ir.load_as(Type::PTR, at, Access { invariant: true, ..Access::NATURAL });
        ir.store(v, field);
        let pair = ir.cmpxchg(p, v, Operand::i32(0), 4);
        ir.part(&pair, 1);
        ir.atomic_update(Rmw::UMax, p, v, 4);
        ir.fence(Order::AcqRel, true);
        let address = ir.cast(Cast::PtrToInt, p, Type::I64);
        let all = ir.splat(address);
        let all = ir.pointer(all);
        let row = ir.gather(Width::WARP.words(), all, Width::WARP.all(), 4);
        ir.masked_store(row, p, 4, Width::WARP.none());
    });
    assert_eq!(
        text,
        "\
%t0 = getelementptr i8, ptr %p, i64 8
%t1 = load atomic volatile i32, ptr %t0 acquire, align 4
%t2 = load ptr, ptr %t0, !invariant.load !0
store i32 %t1, ptr %t2
%t3 = cmpxchg ptr %p, i32 %t1, i32 0 seq_cst seq_cst, align 4
%t4 = extractvalue { i32, i1 } %t3, 1
%t5 = atomicrmw umax ptr %p, i32 %t1 seq_cst, align 4
fence syncscope(\"singlethread\") acq_rel
%t6 = ptrtoint ptr %p to i64
%t7 = insertelement <32 x i64> poison, i64 %t6, i32 0
%t8 = shufflevector <32 x i64> %t7, <32 x i64> poison, <32 x i32> zeroinitializer
%t9 = inttoptr <32 x i64> %t8 to <32 x ptr>
%t10 = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %t9, <32 x i1> splat (i1 true), \
<32 x i32> zeroinitializer)
call void @llvm.masked.store.v32i32.p0(<32 x i32> %t10, ptr align 4 %p, <32 x i1> zeroinitializer)"
    );
}

#[test]
fn control() {
    let text = printed(|ir| {
        let [first, second] = ["first", "second"].map(Name::of);
        ir.label(first);
        let index = ir.phi(Type::I32, vec![(Operand::i32(0), first), (local(Type::I32, "n"), second)]);
        ir.switch(index, second, vec![(1, first), (2, second)]);
        ir.label(second);
        let c = ir.icmp_int(Cmp::Ult, index, 9);
        ir.br_likely(c, first, Name::numbered("p", 3), Likely::Second);
    });
    assert_eq!(
        text,
        "\
first:
%t0 = phi i32 [ 0, %first ], [ %n, %second ]
switch i32 %t0, label %second [ i32 1, label %first i32 2, label %second ]
second:
%t1 = icmp ult i32 %t0, 9
br i1 %t1, label %first, label %p.3, !prof !1"
    );
}

#[test]
fn a_mask_becomes_a_vector_once_a_block_and_only_where_one_is_needed() {
    let text = printed(|ir| {
        let (bits, w) = (local(Type::I32, "bits"), local(Width::WARP.words(), "w"));
        let mask = ir.mask(bits);
        assert_eq!(ir.word_of(mask), Some(bits));
        for block in ["one", "two"] {
            ir.label(Name::of(block));
            ir.select(mask, w, w);
            ir.select(mask, w, w);
        }
    });
    assert_eq!(text.matches("icmp ne <32 x i32>").count(), 2, "{text}");
    assert_eq!(text.matches("select <32 x i1>").count(), 4, "{text}");
}

#[test]
fn constants() {
    let text = printed(|ir| {
        let wide = local(Type::scalar(Ty::I128), "wide");
        let most = ir.literal(Ty::I128, Lanes::One, u128::from(u64::MAX));
        ir.bin(Bin::Xor, wide, most);
        let minus = ir.literal(Ty::I8, Lanes::Warp, 0xff);
        assert_eq!(minus.as_int(), Some(-1));
        let numbers = ir.elements(Type::I16.times(4), [0, 1, 2, 3].into_iter());
        ir.bin(Bin::Add, numbers, local(Type::I16.times(4), "v"));
        assert_eq!(ir.elements(Type::I16.times(2), [7, 7].into_iter()).as_int(), Some(7));
    });
    assert_eq!(
        text,
        "%t0 = xor i128 %wide, 18446744073709551615\n%t1 = add <4 x i16> <i16 0, i16 1, i16 2, i16 3>, %v"
    );
}

#[test]
fn effects() {
    let mut ir = Builder::default();
    let p = local(Type::PTR, "p");
    ir.load(Type::I32, p);
    ir.gather(Width::WARP.words(), local(Width::WARP.words().with(Elem::Ptr), "all"), Width::WARP.all(), 4);
    ir.intrinsic_of("llvm.ctpop", &[Operand::i32(1)]);
    ir.store(Operand::i32(1), p);
    ir.prefetch(p, 3);
    ir.load_as(Type::I32, p, Access { volatile: true, ..Access::NATURAL });
    let effects: Vec<Effect> = ir.body.blocks[0].insts.iter().map(|i| i.op.effect()).collect();
    use Effect::{Any, None, Reads};
    assert_eq!(effects, [Reads, Reads, None, Any, Any, Any]);
}
