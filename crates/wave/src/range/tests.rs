use super::*;
use crate::interp::eval::eval;
use crate::op::{CountOp, IntUnOp, ShiftOp};

/// Reproducible pseudo-random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number of any size: small and large ones are equally frequent, and many are next to a bound.
    fn number(&mut self, ty: Ty) -> u128 {
        let bits = u128::from(self.next() >> (self.next() % 64));
        let near = [0, 1, ty.mask(), ty.mask() >> 1, (ty.mask() >> 1) + 1];
        let v = match self.next() % 3 {
            0 => bits,
            1 => bits.wrapping_neg(),
            _ => near[(self.next() % 5) as usize].wrapping_add(u128::from(self.next() % 4)).wrapping_sub(2),
        };
        v & ty.mask()
    }
}

fn read(ty: Ty, bits: u128) -> (i128, i128) {
    let shift = 128 - ty.bits();
    (((bits << shift) as i128) >> shift, bits as i128)
}

fn contains(range: Range, ty: Ty, bits: u128) -> bool {
    let (s, u) = read(ty, bits);
    (range.smin..=range.smax).contains(&s) && (range.umin..=range.umax).contains(&u)
}

/// The smallest range that contains some values.
fn around(ty: Ty, values: &[u128]) -> Range {
    let first = Range::exactly(ty, values[0]);
    values[1..].iter().fold(first, |r, &v| r.join(Range::exactly(ty, v)))
}

fn operations() -> Vec<Op> {
    let mut ops = Vec::new();
    for ty in [Ty::I1, Ty::I8, Ty::I16, Ty::I32, Ty::I64] {
        ops.extend(IntOp::ALL.iter().map(|&op| Op::Int(op, ty)));
        ops.extend(ShiftOp::ALL.iter().map(|&op| Op::Shift(op, ty)));
        ops.extend(IntUnOp::ALL.iter().map(|&op| Op::IntUn(op, ty)));
        ops.extend(CountOp::ALL.iter().map(|&op| Op::Count(op, ty)));
        ops.extend(IntCmp::ALL.iter().map(|&op| Op::IntCmp(op, ty)));
        ops.push(Op::Select(ty));
        for to in [Ty::I8, Ty::I16, Ty::I32, Ty::I64] {
            ops.push(Op::Sext { from: ty, to });
            ops.push(Op::Zext { from: ty, to });
        }
    }
    for ty in [Ty::I32, Ty::I64] {
        ops.extend([true, false].map(|signed| Op::Bfe { signed, ty }));
    }
    ops.push(Op::Pack { part: Ty::I32, whole: Ty::I64 });
    for part in [Ty::I8, Ty::I16, Ty::I32] {
        ops.push(Op::Unpack { part, whole: Ty::I64 });
    }
    ops
}

#[test]
fn results_of_the_interpreter_lie_in_their_ranges() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut narrowed = 0;
    for op in operations() {
        let sig = op.signature(crate::types::Width::W32).expect("no call");
        for _ in 0..400 {
            let values: Vec<Vec<u128>> = sig
                .args
                .iter()
                .map(|&ty| (0..1 + random.next() % 3).map(|_| random.number(ty)).collect())
                .collect();
            let ranges: Vec<Range> = sig.args.iter().zip(&values).map(|(&ty, v)| around(ty, v)).collect();
            let args: Vec<u128> =
                values.iter().map(|v| v[(random.next() % v.len() as u64) as usize]).collect();
            let results = eval(&op, &args).expect("pure");
            for (i, (&bits, &ty)) in results.iter().zip(&sig.results).enumerate() {
                let range = transfer(&op, i, &ranges, ty, &|_| None);
                assert!(
                    contains(range, ty, bits),
                    "{op:?} of {args:x?} gives {bits:x}, not in {range:?}, from {ranges:?}"
                );
                narrowed += u32::from(range != Range::full(ty));
            }
        }
    }
    assert!(narrowed > 10_000, "only {narrowed} ranges are narrower than the type");
}

#[test]
fn what_a_comparison_leaves_holds_the_values_for_which_it_is_true() {
    let mut random = Random(88_172_645_463_325_252);
    for &cmp in IntCmp::ALL {
        for ty in [Ty::I8, Ty::I32, Ty::I64] {
            for _ in 0..2000 {
                let (a, b) = ([random.number(ty), random.number(ty)], [random.number(ty), random.number(ty)]);
                let left = refined(cmp, ty, around(ty, &a), around(ty, &b));
                for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (*x, *y))) {
                    let holds = eval(&Op::IntCmp(cmp, ty), &[x, y]).expect("pure")[0] == 1;
                    assert!(!holds || contains(left, ty, x), "{cmp:?} {x:x} {y:x}: {left:?}");
                    assert_eq!(holds, eval(&Op::IntCmp(cmp.exchanged(), ty), &[y, x]).expect("pure")[0] == 1);
                    assert_eq!(holds, eval(&Op::IntCmp(cmp.opposite(), ty), &[x, y]).expect("pure")[0] == 0);
                }
            }
        }
    }
}

/// The ranges of a function in text form, for blocks of 256 threads and a grid in which indices stay below
/// 2^31.
fn analysed(body: &str) -> Ranges {
    let module = crate::read::read(&format!("kernel @k {{\n{body}}}\n")).unwrap_or_else(|e| panic!("{e}"));
    Ranges::of(&module.functions[0], &registers)
}

fn registers(reg: SReg) -> Option<Range> {
    match reg {
        SReg::TidX => Some(Range::unsigned(Ty::I32, 0, 255)),
        SReg::NtidX => Some(Range::exactly(Ty::I32, 256)),
        SReg::CtaidX => Some(Range::unsigned(Ty::I32, 0, (1 << 23) - 1)),
        _ => None,
    }
}

fn signed(ranges: &Ranges, v: u32, block: u32) -> (i128, i128) {
    let range = ranges.at(Value(v), Block(block));
    (range.smin, range.smax)
}

#[test]
fn indices_of_threads_are_natural() {
    let ranges = analysed(
        "block0:
    v0 = special.tid.x
    v1 = special.ctaid.x
    v2 = special.ntid.x
    v3 = mul.i32 v1, v2
    v4 = add.i32 v3, v0
    v5 = sext.i64.i32 v4
    v6 = const.i32 63
    v7 = shr_s.i64 v5, v6
    exit
",
    );
    assert_eq!(signed(&ranges, 5, 0), (0, i128::from(i32::MAX)));
    assert_eq!(signed(&ranges, 7, 0), (0, 0));
}

#[test]
fn a_comparison_holds_where_only_its_branch_leads() {
    let ranges = analysed(
        "block0:
    v0 = const.i64 0
    v1 = load.param.weak.i32 v0
    v2 = const.i32 100
    v3 = icmp.lt_s.i32 v1, v2
    v4 = const.i32 10
    v5 = icmp.ge_s.i32 v1, v4
    v6 = and.i1 v3, v5
    br v6, block1, block2
block1:
    jump block3
block2:
    jump block3
block3:
    exit
",
    );
    assert_eq!(signed(&ranges, 1, 1), (10, 99));
    let all = (i128::from(i32::MIN), i128::from(i32::MAX));
    assert_eq!(signed(&ranges, 1, 2), all);
    assert_eq!(signed(&ranges, 1, 3), all);
}

#[test]
fn loops_end_where_their_comparisons_say() {
    let ranges = analysed(
        "block0:
    v0 = const.i32 0
    v1 = const.i32 1
    v2 = const.i32 1000
    jump block1(v0)
block1(v3: i32):
    v4 = icmp.lt_s.i32 v3, v2
    br v4, block2, block3
block2:
    v5 = add.i32 v3, v1
    jump block1(v5)
block3:
    exit
",
    );
    assert_eq!(signed(&ranges, 3, 2), (0, 999));
    assert_eq!(signed(&ranges, 5, 2), (1, 1000));
    assert_eq!(signed(&ranges, 3, 1), (0, 1000));
}

#[test]
fn a_step_that_wraps_says_nothing_of_a_narrow_counter() {
    let ranges = analysed(
        "block0:
    v0 = const.i32 0
    v1 = const.i32 1
    v2 = const.i64 0
    v3 = load.param.weak.i32 v2
    jump block1(v0)
block1(v4: i32):
    v5 = add.i32 v4, v1
    v6 = icmp.ne.i32 v5, v3
    br v6, block1(v5), block2
block2:
    exit
",
    );
    assert_eq!(signed(&ranges, 4, 1), (i128::from(i32::MIN), i128::from(i32::MAX)));
}

#[test]
fn a_wide_counter_that_moves_a_little_does_not_wrap() {
    let ranges = analysed(
        "block0:
    v0 = const.i64 0
    v1 = const.i64 1
    v2 = load.param.weak.i64 v0
    v3 = const.i64 7
    jump block1(v3)
block1(v4: i64):
    v5 = icmp.gt_s.i64 v2, v4
    v6 = select.i64 v5, v1, v0
    v7 = add.i64 v4, v6
    br v5, block2(v7), block3
block2(v8: i64):
    jump block1(v8)
block3:
    exit
",
    );
    let (least, most) = signed(&ranges, 4, 1);
    assert_eq!(least, 7);
    assert!(most < 1 << 60);
}
