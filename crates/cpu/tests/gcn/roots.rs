//! Square roots of f32 as clang expands them for AMD's targets, with subnormal numbers and without. The
//! interpreter runs the expansion; compiled code has one operation in its place, where subnormals are kept.
//! Both must give the bits of a root that is computed in f64: 53 bits are more than twice 24 and two more, so
//! that rounding it again to f32 is correct.

use std::fs;

use cpu::Engine;
use grid::Workers;
use hwtruth::sample::{every_way, long};
use wave::Function;
use wave::op::{FloatMode, FloatUnOp, Op};
use wave::types::Fmt;

use super::support::case::{self, Run};
use super::{TARGETS, compiled, lowered, ready, run};

const KERNEL: &str = "__kernel void roots(__global const float *a, __global float *c)
{
    int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
    float x = a[i];
    /* Lanes that are not active keep their values. */
    if (as_uint(x) % 64 != 17)
        c[i] = __builtin_sqrtf(x);
}
";

/// Threads of a block.
const BLOCK: usize = 256;

/// All exponents and signs with fractions at the ends and around each power of two, numbers beside the
/// squares of numbers halfway between two roots, and random ones.
fn operands(random: usize) -> Vec<u32> {
    let mut list = Vec::new();
    for high in 0..512u32 {
        for bit in 0..=23 {
            list.extend([0u32, 1, 2].map(|more| high << 23 | ((1u32 << bit) + more - 1) & 0x7f_ffff));
            list.push(high << 23 | !((1 << bit) - 1) & 0x7f_ffff);
        }
    }
    let mut next = super::random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..random {
        let word = next();
        list.push(word as u32);
        // An odd number of 25 bits lies halfway between two roots.
        let half = (word >> 32 | 1 << 24 | 1) & 0x1ff_ffff;
        let scale = ((next() % 250) as i32 - 125 - 49) as f64;
        let below = ((half * half) as f64 * scale.exp2()) as f32;
        list.extend([below.to_bits().wrapping_sub(1), below.to_bits(), below.to_bits() + 1]);
    }
    list.resize(list.len().next_multiple_of(BLOCK), 0);
    list
}

fn root(bits: u32, flushes: bool) -> u32 {
    let mut x = f32::from_bits(bits);
    if flushes && x.is_subnormal() {
        x = 0f32.copysign(x);
    }
    let root = f64::from(x).sqrt() as f32;
    if root.is_nan() { 0x7fff_ffff } else { root.to_bits() }
}

fn launch(operands: &[u32], flushes: bool) -> Run {
    let (blocks, count) = (operands.len() / BLOCK, operands.len());
    let text =
        format!("// run roots grid={blocks} block={BLOCK}\n// a: u32[{count}] = 0\n// c: u32[{count}] = 7\n");
    let mut run = case::parse(&text).expect("a launch").remove(0);
    let bytes =
        |of: &dyn Fn(u32) -> u32| operands.iter().flat_map(|&x| of(x).to_le_bytes()).collect::<Vec<u8>>();
    run.args[0].bytes = bytes(&|x| x);
    let results = bytes(&|x| if x % 64 == 17 { 7 } else { root(x, flushes) });
    run.same = Some(vec![Some(run.args[0].bytes.clone()), Some(results)]);
    run
}

/// Whether the root becomes one operation.
fn is_recognised(object: &[u8]) -> bool {
    let mut function = Function::clone(&lowered(object).expect("a module").functions[0]);
    wave::lanes::untangle(&mut function);
    let root = Op::FloatUn(FloatUnOp::Sqrt, FloatMode::rn(Fmt::F32));
    function.blocks.iter().flat_map(|b| &b.insts).any(|i| i.op == root)
}

#[test]
fn expanded_roots_are_correctly_rounded() {
    if !ready() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (source, object) = (folder.path().join("roots.cl"), folder.path().join("object"));
    fs::write(&source, KERNEL).expect("a file");
    let workers = [Workers::new(2)];
    let (few, many) = (operands(1 << 13), operands(1 << 18));
    let mut failures = Vec::new();
    for (flushes, option) in [(false, None), (true, Some("-cl-denorms-are-zero"))] {
        for (number, (target, options)) in TARGETS.iter().enumerate() {
            if !every_way() && !matches!(number, 0 | 5) {
                continue;
            }
            let options: Vec<&str> = options.iter().copied().chain(option).collect();
            let made = compiled(&source, target, &options, "-O2", &object).expect("a code object");
            assert_eq!(is_recognised(&made), !flushes, "{target} {options:?}");
            let of_engines = [(Engine::Interpreter, &few), (Engine::Compiled, &many)];
            for (engine, operands) in of_engines {
                let all = long() && number == 0;
                let operands = if all { &many } else { operands };
                let outcome = run(&made, &[launch(operands, flushes)], &[engine], &workers);
                failures.extend(outcome.err().map(|e| format!("{target} {options:?} {engine:?}: {e}")));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
