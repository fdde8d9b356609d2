use super::*;
use crate::op::{AtomOp, AtomTy, Guard, MemMode, Op, Order, Scope, Space};
use crate::print::{spell, tests::sample};
use crate::types::Ty;

#[test]
fn what_is_written_is_read() {
    let module = sample();
    let text = module.to_string();
    let again = read(&text).unwrap_or_else(|e| panic!("{e} in\n{text}"));
    assert_eq!(again.to_string(), text);
    assert_eq!(again.globals, module.globals);
    assert_eq!(again.shared, module.shared);
    for (a, b) in again.functions.iter().zip(&module.functions) {
        assert_eq!(
            (&a.kernel, &a.slots, &a.results, &a.values),
            (&b.kernel, &b.slots, &b.results, &b.values)
        );
        for (a, b) in a.blocks.iter().zip(&b.blocks) {
            assert_eq!(
                (&a.params, &a.insts, &a.term, a.term_loc),
                (&b.params, &b.insts, &b.term, b.term_loc)
            );
        }
    }
}

#[test]
fn every_operation_is_read_as_it_is_written() {
    let mut ops = op::every();
    for &space in Space::ALL {
        for &order in Order::ALL {
            let scope =
                if matches!(order, Order::Weak | Order::Volatile) { Scope::Sys } else { Scope::Cluster };
            let mem = MemMode { space, order, scope };
            ops.push(Op::Fence { order, scope });
            for &guard in Guard::ALL {
                ops.push(Op::Load { mem, ty: Ty::I64, count: 4, offset: 0, guard });
                ops.push(Op::Store { mem, ty: Ty::I8, count: 1, offset: 0, guard });
                for &op in AtomOp::ALL {
                    ops.extend(AtomTy::ALL.iter().map(|&ty| Op::Atom { op, ty, mem, offset: 0, guard }));
                }
            }
        }
    }
    for op in ops {
        assert_eq!(op::of_name(&spell(&op).name), Some(op));
    }
}

#[test]
fn errors_name_the_line() {
    let function = |line: &str| format!("function @f() {{\nblock0:\n    {line}\n    exit\n}}\n");
    let cases = [
        ("nothing".to_owned(), "line 1: a variable or a function expected at `nothing`"),
        ("kernel @k {\nblock0:\n".to_owned(), "line 2: `}` expected at the end"),
        ("kernel @k {\nblock1:\n}".to_owned(), "line 2: block0 expected"),
        ("shared @s: size x, align 4".to_owned(), "line 1: a number expected at `x, align 4`"),
        ("kernel @k {\n    shared @s: offset 0\n}".to_owned(), "line 2: no shared variable is named `s`"),
        ("global @g: offset 0, size 1, align 1\n    bytes 0g".to_owned(), "line 2: `0g` is no byte"),
        (function("v0 = add.i7 v1, v2"), "line 3: no operation is spelled `add.i7`"),
        (function("v0 = const.i7 1"), "line 3: `i7` is no type"),
        (function("v0 = const.i8 one"), "line 3: `one` is no number"),
        (function("v0, v1 = const.i8 1"), "line 3: 2 results, 1 expected"),
        (function("v0 = const.i8 1\n    v0 = const.i8 1"), "line 4: v0 is defined a second time"),
        (function("v99999999 = const.i8 1"), "line 3: v99999999 is too large a number"),
        (function("v0 = global_addr @g"), "line 3: nothing is named `g`"),
        (function("v1 = not.i8 v0+4"), "line 3: `not.i8` has no offset"),
        (function("jump there"), "line 3: `block` expected at `there`"),
        (function("exit now"), "line 3: nothing expected at `now`"),
    ];
    for (text, message) in cases {
        assert_eq!(read(&text).map(|_| ()).map_err(|e| e.to_string()), Err(message.to_owned()), "{text}");
    }
}
