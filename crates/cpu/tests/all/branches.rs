//! Kernels of many branches, to arbitrary places or deeply nested, and of many barriers: compiled code gives
//! the interpreter's results, and grows no faster than their number.

use std::fmt::Write as _;

use crate::launch::{Shape, launch};
use crate::memory::Aligned;
use cpu::{Effort, Engine, Forced, Program, Source, Specialisation, Target};
use grid::Workers;
use hwtruth::sample;

/// Registers of each type that live throughout the kernel.
const REGISTERS: usize = 12;
/// Branches that a thread may take.
const FUEL: usize = 150;
const THREADS: u32 = 80;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        ((self.0 >> 33) as usize) % n
    }
}

/// A kernel of this many blocks, each of which ends in a branch to any of them. A thread ends after [`FUEL`]
/// branches, or when it comes to the last block, and writes its registers. With `waits`, some blocks wait
/// for the lanes that are there, and the last one for all threads.
fn kernel(blocks: usize, waits: bool) -> String {
    let mut random = Random(blocks as u64);
    let mut text = format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
         .reg .b32 %r<{REGISTERS}>, %t, %fuel, %lanes;\n.reg .f32 %f<{REGISTERS}>;\n.reg .b64 %a, %at;\n\
         .reg .pred %p, %q;\n\
         ld.param.u64 %a, [out];\nmov.u32 %t, %tid.x;\nmov.u32 %fuel, {FUEL};\n\
         mad.wide.u32 %at, %t, {size}, %a;\n",
        size = 8 * REGISTERS
    );
    for i in 0..REGISTERS {
        let _ = writeln!(text, "mad.lo.u32 %r{i}, %t, {}, {};", 2 * i + 3, 7 * i);
        let _ = writeln!(text, "cvt.rn.f32.s32 %f{i}, %r{i};");
    }
    for b in 0..blocks {
        let _ = writeln!(text, "L{b}:");
        for _ in 0..3 {
            let [d, a, c] = std::array::from_fn(|_| random.below(REGISTERS));
            let _ = match random.below(9) {
                0 => writeln!(text, "add.s32 %r{d}, %r{a}, %r{c};"),
                1 => writeln!(text, "mad.lo.s32 %r{d}, %r{a}, 5, %r{c};"),
                2 => writeln!(text, "xor.b32 %r{d}, %r{a}, %r{c};"),
                3 => writeln!(text, "fma.rn.f32 %f{d}, %f{a}, %f{c}, %f{d};"),
                4 => writeln!(text, "add.f32 %f{d}, %f{a}, %f{c};"),
                5 => writeln!(text, "mov.u32 %r{d}, %r{a};\nmov.u32 %r{a}, %r{c};"),
                6 => writeln!(text, "mov.b32 %f{d}, %r{a};"),
                7 => writeln!(text, "setp.gt.s32 %q, %r{a}, %r{c};\nselp.b32 %r{d}, %r{c}, %r{a}, %q;"),
                _ => writeln!(text, "min.s32 %r{d}, %r{a}, %r{a};\nst.global.u32 [%at], %r{d};"),
            };
        }
        if waits && b % 7 == 3 {
            // No rule says which lanes are here at the same time, so no result depends on it.
            let _ = writeln!(text, "activemask.b32 %lanes;\nbar.warp.sync %lanes;");
        }
        let (a, c, to) = (random.below(REGISTERS), random.below(REGISTERS), random.below(blocks));
        let _ = writeln!(text, "sub.s32 %fuel, %fuel, 1;\nsetp.lt.s32 %p, %fuel, 0;\n@%p bra END;");
        let _ = writeln!(text, "setp.lt.s32 %p, %r{a}, %r{c};\n@%p bra L{to};");
    }
    text += "END:\n";
    if waits {
        text += "bar.sync 0;\n";
    }
    for i in 0..REGISTERS {
        let _ = writeln!(text, "st.global.u32 [%at+{}], %r{i};", 4 * i);
        let _ = writeln!(text, "st.global.f32 [%at+{}], %f{i};", 4 * (REGISTERS + i));
    }
    text + "ret;\n}\n"
}

/// A kernel's text around its statements. Each thread has its number in `%t` and writes `%y` at its end.
fn around(statements: &str) -> String {
    format!(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
         .shared .b32 row[{THREADS}];\n.reg .b32 %t, %y, %r, %s, %to, %from, %c<{LOOPS}>;\n\
         .reg .b64 %a, %at;\n.reg .pred %p;\nld.param.u64 %a, [out];\nmov.u32 %t, %tid.x;\n\
         mad.wide.u32 %at, %t, 4, %a;\nmad.lo.u32 %s, %t, 40503, 7;\nmov.u32 %y, %t;\n{statements}\
         st.global.u32 [%at], %y;\nret;\n}}\n"
    )
}

/// Loops of the nested kernel that go round twice.
const LOOPS: usize = 6;

/// Statements that nest this deep, by turns: an `if`, an `if` with an `else`, one that ends all others; and
/// at some depths a loop whose rounds differ between the lanes. Few lanes leave at each.
fn nested(depth: usize) -> String {
    let mut text = String::new();
    let every = depth / LOOPS;
    let loops = |i: usize| (i.is_multiple_of(every) && i / every < LOOPS).then_some(i / every);
    for i in 0..depth {
        if let Some(l) = loops(i) {
            let _ = writeln!(text, "mov.u32 %c{l}, 0;\nL{l}:");
        }
        let _ = writeln!(text, "mad.lo.u32 %y, %y, 3, {i};\nmad.lo.u32 %r, %y, 40503, %s;");
        let _ = writeln!(text, "shr.u32 %r, %r, 9;\nand.b32 %r, %r, 255;\nsetp.eq.u32 %p, %r, {};", i % 256);
        let _ = match i % 3 {
            2 => writeln!(text, "@%p bra END;"),
            _ => writeln!(text, "@%p bra ELSE{i};"),
        };
    }
    for i in (0..depth).rev() {
        let _ = match i % 3 {
            0 => writeln!(text, "xor.b32 %y, %y, {i};\nELSE{i}:"),
            1 => {
                writeln!(text, "add.u32 %y, %y, %t;\nbra JOIN{i};\nELSE{i}:\nsub.u32 %y, %y, {i};\nJOIN{i}:")
            }
            _ => Ok(()),
        };
        if let Some(l) = loops(i) {
            let _ = writeln!(text, "add.u32 %c{l}, %c{l}, 1;\nshr.u32 %r, %t, {l};\nand.b32 %r, %r, 1;");
            let _ = writeln!(text, "setp.le.u32 %p, %c{l}, %r;\n@%p bra L{l};");
        }
    }
    around(&(text + "END:\n"))
}

/// As many barriers, at each of which the threads of a block hand on their values.
fn barriers(count: usize) -> String {
    let mut text = format!(
        "mov.u32 %to, row;\nmad.lo.u32 %to, %t, 4, %to;\nadd.u32 %r, %t, 1;\nrem.u32 %r, %r, {THREADS};\n\
         mov.u32 %from, row;\nmad.lo.u32 %from, %r, 4, %from;\n"
    );
    for i in 0..count / 2 {
        let _ = writeln!(text, "st.shared.u32 [%to], %y;\nbar.sync 0;\nld.shared.u32 %r, [%from];");
        let _ = writeln!(text, "mad.lo.u32 %y, %y, 5, {i};\nadd.u32 %y, %y, %r;\nbar.sync 0;");
    }
    around(&text)
}

fn load(text: &str, engine: Engine) -> Program {
    Program::load(&[Source { name: "branches", text }], engine).unwrap_or_else(|e| panic!("{}", e.rendered))
}

fn results(program: &Program, compiled: bool) -> Vec<u8> {
    let mut out = Aligned::new(&[0; THREADS as usize * 8 * REGISTERS]);
    let shape = Shape { kernel: "k", blocks: 1, threads: THREADS, compiled };
    assert_eq!(launch(program, &Workers::new(1), &shape, &[&out], &[]), Ok(()));
    out.bytes().to_vec()
}

fn bytes_of_ir(text: &str) -> usize {
    let program = load(text, Engine::Compiled);
    let target =
        Target { cpu: "x86-64-v4", avx512: true, features: String::new(), maker: Default::default() };
    let program = program.for_target(target);
    let id = program.module().function("k").expect("a kernel");
    let spec = Specialisation::of_launch([1; 3], [THREADS, 1, 1]);
    simd::ir(&program.request(id, spec)).expect("LLVM IR").len()
}

#[test]
fn kernels_of_many_branches_run_alike() {
    let plain = Forced::default();
    let large = |effort| Forced { per_lane: true, effort: Some(effort), ..Forced::default() };
    for (blocks, waits, ways) in [
        (5, false, vec![plain.clone(), large(Effort::Light), large(Effort::Least)]),
        (20, true, vec![plain.clone()]),
        // More blocks than a word has bits.
        (66, false, vec![large(Effort::Light)]),
        (130, true, vec![large(Effort::Least)]),
        // So large that the dispatcher is chosen.
        (400, true, vec![plain.clone()]),
    ]
    .into_iter()
    .take(sample::of(5, 3))
    {
        let text = kernel(blocks, waits);
        let expected = results(&load(&text, Engine::Interpreter), false);
        for processor in ["native", "x86-64-v3"].into_iter().take(sample::of(2, 1)) {
            let Ok(target) = Target::named(processor) else { continue };
            for forced in &ways {
                let program = load(&text, Engine::Compiled).for_target(target.clone()).forced(forced.clone());
                let got = results(&program, true);
                let at = got.iter().zip(&expected).position(|(a, b)| a != b);
                assert_eq!(at, None, "{blocks} blocks, waits: {waits}, {processor}, {forced:?}");
            }
        }
    }
}

/// Values that are live in every block do not make the code grow faster than the blocks do.
#[test]
fn code_grows_as_the_branches_do() {
    let branches = sample::of([500, 2000, 6000], [200, 800, 2400]);
    let sizes = branches.map(|blocks| bytes_of_ir(&kernel(blocks, false)));
    let [small, large, largest] = sizes;
    assert!(large < 5 * small && largest < 4 * large, "{sizes:?} bytes for {branches:?} branches");
}

#[test]
fn deeply_nested_code_and_many_barriers_run_alike() {
    let plain = Forced::default();
    let light = Forced { effort: Some(Effort::Light), ..Forced::default() };
    let apart = Forced { per_lane: true, ..Forced::default() };
    for (text, ways) in [
        (nested(120), vec![plain.clone(), light.clone(), apart.clone()]),
        // More stops than are few.
        (barriers(260), vec![plain.clone(), light.clone()]),
        (nested(700), vec![plain, light]),
    ]
    .into_iter()
    .take(sample::of(3, 2))
    {
        let expected = results(&load(&text, Engine::Interpreter), false);
        for forced in &ways {
            let program = load(&text, Engine::Compiled).forced(forced.clone());
            assert_eq!(results(&program, true), expected, "{forced:?}");
        }
    }
}

/// What waits at each place adds no code: a level costs as much at any depth, and a barrier after any number.
#[test]
fn code_grows_as_its_depth_does() {
    for (what, make) in [("levels", nested as fn(usize) -> String), ("barriers", barriers)] {
        // Small enough for one form.
        let counts = [60, 240];
        let [small, large] = counts.map(|count| bytes_of_ir(&make(count)));
        assert!(large < 5 * small, "{small} and {large} bytes for {counts:?} {what}");
    }
    // As values live in the frame, also where more is nested than any form with registers allows.
    let [small, large] = sample::of([1500, 4500], [1000, 3000]).map(|depth| bytes_of_ir(&nested(depth)));
    assert!(large < 4 * small, "{small} and {large} bytes");
}
