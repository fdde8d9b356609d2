//! Kernels of many branches to arbitrary places: compiled code gives the interpreter's results, and grows no
//! faster than the number of branches.

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

fn load(text: &str, engine: Engine) -> Program {
    Program::load(&[Source { name: "branches", text }], engine).unwrap_or_else(|e| panic!("{}", e.rendered))
}

fn results(program: &Program, compiled: bool) -> Vec<u8> {
    let mut out = Aligned::new(&[0; THREADS as usize * 8 * REGISTERS]);
    let shape = Shape { kernel: "k", blocks: 1, threads: THREADS, compiled };
    assert_eq!(launch(program, &Workers::new(1), &shape, &[&out], &[]), Ok(()));
    out.bytes().to_vec()
}

fn bytes_of_ir(blocks: usize) -> usize {
    let program = load(&kernel(blocks, false), Engine::Compiled);
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
    let sizes = branches.map(bytes_of_ir);
    let [small, large, largest] = sizes;
    assert!(large < 5 * small && largest < 4 * large, "{sizes:?} bytes for {branches:?} branches");
}
