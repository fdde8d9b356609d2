use std::sync::Arc;

use super::*;
use crate::func::{BlockCall, Builder, Function, Terminator, Value};
use crate::module::{FuncId, KernelInfo, Reloc, SharedId};
use crate::op::*;
use crate::types::{Ty, Width};

/// A kernel with a loop: block1 counts `v1` up to 10, block2 ends.
fn counting() -> Module {
    let mut f = Function { name: "k".into(), kernel: Some(KernelInfo::default()), ..Function::default() };
    let (entry, head, end) = (f.new_block(), f.new_block(), f.new_block());
    let count = f.new_param(head, Ty::I32);
    let mut b = Builder::new(&mut f, entry);
    let zero = b.iconst(Ty::I32, 0);
    b.terminate(Terminator::Jump(BlockCall { block: head, args: vec![zero] }));
    let mut b = Builder::new(&mut f, head);
    b.loc.line = 7;
    let one = b.iconst(Ty::I32, 1);
    let next = b.int(IntOp::Add, count, one);
    let ten = b.iconst(Ty::I32, 10);
    let more = b.emit1(Op::IntCmp(IntCmp::LtU, Ty::I32), &[next, ten]);
    b.terminate(Terminator::Branch {
        cond: more,
        then: BlockCall { block: head, args: vec![next] },
        els: BlockCall::to(end),
    });
    Builder::new(&mut f, end).terminate(Terminator::Exit);
    Module { functions: vec![f.into()], ..Module::default() }
}

fn found(module: &Module) -> Vec<String> {
    verify(module).err().unwrap_or_default().iter().map(Problem::to_string).collect()
}

/// The verifier's messages after the counting kernel is changed like this.
fn after(change: impl FnOnce(&mut Function)) -> Vec<String> {
    let mut m = counting();
    change(Arc::make_mut(&mut m.functions[0]));
    found(&m)
}

const HEAD: usize = 1;
const END: usize = 2;

#[test]
fn a_sound_module_passes() {
    assert_eq!(found(&counting()), Vec::<String>::new());
    assert_eq!(found(&Module::default()), Vec::<String>::new());
}

#[test]
fn values_are_defined_once_and_before_they_are_used() {
    assert_eq!(
        after(|f| f.blocks[HEAD].insts.swap(0, 1)),
        ["function `k`, block1, instruction 0 (line 7): v2 is used before it is defined, in the same block"]
    );
    assert_eq!(
        after(|f| f.blocks[HEAD].insts[1].results[0] = Value(2)),
        [
            "function `k`, block1, instruction 1 (line 7): v2 is defined a second time",
            "function `k`, block1, instruction 3 (line 7): v3 is used and defined nowhere",
            "function `k`, block1, instruction 4 (line 7): v3 is used and defined nowhere",
        ]
    );
    assert_eq!(
        after(|f| f.blocks[HEAD].insts[1].args[1] = Value(99)),
        ["function `k`, block1, instruction 1 (line 7): v99 is used and defined nowhere"]
    );
    assert_eq!(
        after(|f| f.blocks[HEAD].params[0] = Value(99)),
        [
            "function `k`, block1, v99 is defined, but the function has 6 values",
            "function `k`, block1, instruction 1 (line 7): v0 is used and defined nowhere",
        ]
    );
}

#[test]
fn definitions_dominate_uses() {
    // A branch in the entry adds a path around block1; block2 then uses what block1 defines.
    let skip = |f: &mut Function| {
        let cond = Builder::new(f, Block(0)).iconst(Ty::I1, 0);
        let to = f.blocks[0].term.targets().next().cloned().expect("a target");
        f.blocks[0].term = Terminator::Branch { cond, then: to, els: BlockCall::to(Block(END as u32)) };
        f.results = vec![];
        Builder::new(f, Block(END as u32)).emit1(Op::IntUn(IntUnOp::Not, Ty::I32), &[Value(3)]);
    };
    assert_eq!(
        after(skip),
        [
            "function `k`, block2, instruction 0: v3 is defined in block1, which not every way here goes through"
        ]
    );
    // Without that path, it is valid.
    assert_eq!(
        after(|f| {
            Builder::new(f, Block(END as u32)).emit1(Op::IntUn(IntUnOp::Not, Ty::I32), &[Value(3)]);
        }),
        Vec::<String>::new()
    );
}

#[test]
fn types_are_as_operations_and_targets_say() {
    assert_eq!(
        after(|f| f.values[2] = Ty::I64),
        [
            "function `k`, block1, instruction 0 (line 7): result 0 is v2: i64, i32 expected",
            "function `k`, block1, instruction 1 (line 7): operand 1 is v2: i64, i32 expected",
        ]
    );
    assert_eq!(
        after(|f| {
            f.blocks[HEAD].insts[1].args.pop();
        }),
        ["function `k`, block1, instruction 1 (line 7): 1 operands, 2 expected"]
    );
    assert_eq!(
        after(|f| f.blocks[0].term = Terminator::Jump(BlockCall::to(Block(HEAD as u32)))),
        ["function `k`, block0, instruction 1: 0 block1 arguments, 1 expected"]
    );
    assert_eq!(
        after(|f| f.blocks[END].term = Terminator::Return(vec![Value(1)])),
        ["function `k`, block2, instruction 0: 1 returned values, 0 expected"]
    );
    assert_eq!(
        after(|f| f.blocks[END].term = Terminator::Switch { index: Value(5), targets: vec![] }),
        [
            "function `k`, block2, instruction 0: index 0 is v5: i1, i32 expected",
            "function `k`, block2, instruction 0: a switch needs a target",
        ]
    );
}

#[test]
fn targets_exist_and_are_not_the_entry() {
    for (to, message) in [(9, "block9 is not there"), (0, "the entry cannot be jumped to")] {
        assert_eq!(
            after(|f| f.blocks[END].term = Terminator::Jump(BlockCall::to(Block(to)))),
            [format!("function `k`, block2, instruction 0: {message}")]
        );
    }
}

#[test]
fn operations_keep_their_rules() {
    let address = Value(0);
    let cases: &[(Op, &str)] = &[
        (Op::Const { ty: Ty::I8, bits: 256 }, "0x100 is no i8"),
        (Op::Pack { part: Ty::I32, whole: Ty::I32 }, "a i32 has no parts of i32"),
        (Op::GlobalAddr(GlobalId(3), 0), "GlobalId(3) is not there"),
        (Op::SharedAddr(SharedId(3), 0), "SharedId(3) is not there"),
        (Op::FuncAddr(FuncId(3)), "FuncId(3) is not there"),
        (Op::LocalAddr(0), "slot0 is not there"),
        (Op::Call(FuncId(0)), "kernel `k` is called"),
        (Op::Call(FuncId(5)), "FuncId(5) is called and not there"),
        (
            Op::Load {
                mem: MemMode::weak(Space::Global),
                ty: Ty::I64,
                count: 8,
                offset: 0,
                guard: Guard::Always,
            },
            "8 elements of i64 are no access",
        ),
        (
            Op::Store {
                mem: MemMode::weak(Space::Param),
                ty: Ty::I32,
                count: 1,
                offset: 0,
                guard: Guard::Always,
            },
            "param memory is not written",
        ),
        (
            Op::Atom {
                op: AtomOp::Inc,
                ty: AtomTy::F32,
                mem: MemMode::weak(Space::Global),
                offset: 0,
                guard: Guard::Always,
            },
            "there is no atomic inc of f32",
        ),
        (
            Op::Atom {
                op: AtomOp::Add,
                ty: AtomTy::U32,
                mem: MemMode::weak(Space::Local),
                offset: 0,
                guard: Guard::Always,
            },
            "local memory has no atomics",
        ),
    ];
    for (op, message) in cases {
        let mut m = counting();
        let f = Arc::make_mut(&mut m.functions[0]);
        let signature = op.signature(Width::W32).unwrap_or(Signature { args: vec![], results: vec![] });
        let mut b = Builder::new(f, Block(END as u32));
        let args: Vec<Value> = signature.args.iter().map(|&ty| b.iconst(ty, 0)).collect();
        b.emit_typed(op.clone(), &args, &signature.results);
        let at = args.len();
        assert_eq!(
            found(&m),
            [format!("function `k`, block2, instruction {at}: {message}")],
            "{op:?} {address}"
        );
    }
}

#[test]
fn heads_are_sound() {
    assert_eq!(after(|f| f.external = true), ["function `k`, is external and has a body"]);
    assert_eq!(
        after(|f| f.results = vec![Ty::I32]),
        ["function `k`, a kernel has neither parameters nor results"]
    );
    assert_eq!(
        after(|f| {
            *f = Function { name: "empty".into(), ..Function::default() };
        }),
        ["function `empty`, has no body"]
    );
}

#[test]
fn variables_lie_in_the_image() {
    let global = |name: &str, offset, size| Global {
        name: name.into(),
        offset,
        size,
        align: 4,
        constant: false,
        managed: false,
        exported: false,
        reference: None,
        init: vec![],
        relocs: vec![],
    };
    let mut m = Module {
        globals: Arc::new(vec![global("a", 0, 8), global("b", 4, 8), global("c", 14, 8)]),
        image_size: 16,
        ..Module::default()
    };
    let globals = Arc::make_mut(&mut m.globals);
    globals[0].init = vec![0; 9];
    globals[1].relocs =
        vec![Reloc { at: 4, size: 8, shift: 0, target: RelocTarget::Func(FuncId(0)), addend: 0 }];
    assert_eq!(
        found(&m),
        [
            "variable `a` has 8 bytes and an initial value of 9",
            "variable `b` has an address of 8 bytes at 4, outside of it",
            "variable `b` holds the address of Func(FuncId(0)), which is not there",
            "variable `c` lies at 14, which is no multiple of its alignment 4",
            "variable `c` ends outside of the image of 16 bytes",
            "variables `a` and `b` overlap",
        ]
    );
}
