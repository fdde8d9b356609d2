//! Simple kernels compile to what one would write by hand: full-width loads, arithmetic and stores, and
//! nothing lane by lane.

use std::collections::HashMap;
use std::path::Path;

use cpu::{Engine, Forced, Program, Source, Specialisation, Target};

/// A kernel of `bench/kernels`, its block, and instructions that its code must contain (`R` is a full-width
/// register, `M` memory).
struct Expected {
    file: &'static str,
    kernel: &'static str,
    block: [u32; 3],
    has: &'static [&'static str],
}

const KERNELS: &[Expected] = &[
    Expected { file: "stream", kernel: "vecadd", block: [256, 1, 1], has: &["load", "vaddps", "store"] },
    Expected { file: "stream", kernel: "saxpy", block: [256, 1, 1], has: &["load", "vfmadd", "store"] },
    Expected { file: "reduce", kernel: "reduce", block: [256, 1, 1], has: &["load", "vaddps", "store"] },
    Expected {
        file: "mandelbrot",
        kernel: "mandelbrot",
        block: [32, 8, 1],
        has: &["vmulps", "vfmadd", "vcmp", "store"],
    },
];

/// Kernels with what one of their innermost loops must contain.
const LOOPS: &[Expected] = &[
    Expected { file: "sgemm", kernel: "sgemm16", block: [16, 16, 1], has: &["vfmadd", "load"] },
    Expected { file: "sgemm", kernel: "sgemm32", block: [32, 32, 1], has: &["vfmadd", "load"] },
    Expected { file: "mandelbrot", kernel: "mandelbrot", block: [32, 8, 1], has: &["vmulps", "vfmadd"] },
    Expected { file: "stencil", kernel: "stencil", block: [32, 8, 1], has: &["vaddps", "load"] },
    Expected { file: "scan", kernel: "scan_blocks", block: [256, 1, 1], has: &["vpaddd", "load"] },
];

/// Instructions that access single lanes.
const LANE_BY_LANE: &[&str] =
    &["gather", "scatter", "vpextr", "vpinsr", "vinsertps", "vextractps", "vpcompress"];

/// Output of `make` for the kernel, once it is loaded.
fn made(
    e: &Expected,
    (target, forced): (&Target, Forced),
    make: fn(&simd::Request) -> Result<String, simd::Error>,
) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../bench/kernels/{}.ptx", e.file));
    let text = std::fs::read_to_string(path).expect("the kernel's text");
    let program = Program::load(&[Source { name: e.file, text: &text }], Engine::Compiled)
        .expect("it loads")
        .for_target(target.clone())
        .forced(forced);
    let id = program.module().function(e.kernel).expect("it is there");
    let spec = Specialisation::of_launch([1024, 1, 1], e.block);
    make(&program.request(id, spec)).expect("it compiles")
}

/// Mnemonic and operands of each instruction in the kernel's own function.
fn instructions(assembly: &str) -> Vec<(&str, &str)> {
    let body = assembly.split("anywarp_").skip(1).collect::<Vec<_>>();
    assert!(!body.is_empty(), "no entry point");
    let start = assembly.find("\nanywarp_").expect("an entry point");
    let lines = assembly.get(start..).unwrap_or_default().lines().filter(|l| l.starts_with('\t'));
    let code = lines.map(str::trim).filter(|l| !l.starts_with('.'));
    code.map(|l| l.split_once('\t').unwrap_or((l, ""))).collect()
}

fn is_load(operands: &str, register: &str) -> bool {
    operands.split_once("), ").is_some_and(|(from, to)| from.contains('(') && to.starts_with(register))
}

fn is_store(operands: &str, register: &str) -> bool {
    operands.starts_with(register) && operands.contains('(') && !operands.contains("(%rsp)")
}

/// A processor to compile for; this machine need not be able to run the code.
fn processor(name: &'static str) -> Target {
    Target { cpu: name, avx512: name == "x86-64-v4", features: String::new(), maker: Default::default() }
}

/// Whether some instruction is `wanted`: `load`, `store`, or the beginning of a name.
fn has(code: &[(&str, &str)], wanted: &str, register: &str) -> bool {
    code.iter().any(|(name, operands)| match wanted {
        "load" => name.starts_with("vmov") && is_load(operands, register),
        "store" => name.starts_with("vmov") && is_store(operands, register),
        word => name.starts_with(word) && operands.contains(register),
    })
}

/// The instructions from each label to a jump back to it, where no other such jump lies between.
fn innermost_loops(assembly: &str) -> Vec<Vec<(&str, &str)>> {
    let lines: Vec<&str> = assembly.lines().collect();
    let labels: HashMap<&str, usize> =
        lines.iter().enumerate().filter_map(|(at, l)| Some((l.split_once(':')?.0, at))).collect();
    let jump = |(at, line): (usize, &&str)| {
        let (name, to) = line.trim().split_once('\t')?;
        let from = *labels.get(to).filter(|from| name.starts_with('j') && **from < at)?;
        Some((from, at))
    };
    let loops: Vec<(usize, usize)> = lines.iter().enumerate().filter_map(jump).collect();
    let inner = loops.iter().filter(|a| !loops.iter().any(|b| b != *a && a.0 <= b.0 && b.1 <= a.1));
    let code = |range: &(usize, usize)| {
        let body = lines[range.0..range.1].iter().filter(|l| l.starts_with('\t') && !l.starts_with("\t."));
        body.map(|l| l.trim().split_once('\t').unwrap_or((l.trim(), ""))).collect()
    };
    inner.map(code).collect()
}

/// The loops in which a kernel spends its time are full-width.
fn check_loops(target: &'static str, register: &str) {
    for e in LOOPS {
        let text = made(e, (&processor(target), Forced::default()), simd::assembly);
        let loops = innermost_loops(&text);
        let good = |code: &&Vec<(&str, &str)>| {
            e.has.iter().all(|wanted| has(code, wanted, register))
                && !code.iter().any(|(name, _)| LANE_BY_LANE.iter().any(|bad| name.contains(bad)))
        };
        assert!(
            loops.iter().any(|code| good(&code)),
            "{} for {target} has no loop with {:?} and nothing lane by lane, of {}:\n{text}",
            e.kernel,
            e.has,
            loops.len()
        );
    }
}

fn check(target: &'static str, register: &str) {
    for e in KERNELS {
        let text = made(e, (&processor(target), Forced::default()), simd::assembly);
        let code = instructions(&text);
        for wanted in e.has {
            assert!(
                has(&code, wanted, register),
                "{} for {target} has no full-width {wanted}:\n{text}",
                e.kernel
            );
        }
        for (name, operands) in &code {
            let bad = LANE_BY_LANE.iter().any(|b| name.contains(b));
            assert!(!bad, "{} for {target} goes lane by lane: {name} {operands}\n{text}", e.kernel);
        }
    }
}

#[test]
fn avx512_code_is_full_width() {
    check("x86-64-v4", "%zmm");
    check_loops("x86-64-v4", "%zmm");
}

#[test]
fn avx2_code_is_full_width() {
    check("x86-64-v3", "%ymm");
    check_loops("x86-64-v3", "%ymm");
}

/// LLVM's time for a block grows quadratically with the number of vectors that it reads from one memory
/// state.
#[test]
fn large_frames_are_read_back_in_rows() {
    let rows = |file: &str, kernel: &str, block: u32| -> Vec<usize> {
        let ir = ir_of(file, kernel, block);
        let resumed = ir.split_once("resume.1:").expect("it stops").1;
        let block = resumed.split("\n  br ").next().unwrap_or_default();
        block.split("fence").map(|row| row.matches("load <32 x i32>").count()).collect()
    };
    let many = rows("tests/ptx/many_values.ptx", "many", 96);
    assert!(many.iter().sum::<usize>() >= 80 && many.iter().all(|&n| n <= 16), "{many:?}");
    assert_eq!(rows("bench/kernels/reduce.ptx", "reduce", 256).len(), 1);
}

/// An access whose alignment is implied by another is not checked: each kernel checks only the given number
/// of accesses and one store.
#[test]
fn alignment_is_checked_once() {
    let text = include_str!("../../../../tests/ptx/alignment.ptx");
    let program = Program::load(&[Source { name: "alignment", text }], Engine::Compiled).expect("it loads");
    for (kernel, accesses, checked) in [("again", 3, 2), ("wider", 2, 2), ("round", 2, 2), ("sum", 3, 2)] {
        let id = program.module().function(kernel).expect("it is there");
        let spec = Specialisation::of_launch([1; 3], [32, 1, 1]);
        let ir = simd::ir(&program.request(id, spec)).expect("it compiles");
        let checks = ir.matches("call void @misaligned").count();
        assert_eq!(checks, checked + 1, "{kernel} has {accesses} accesses and a store");
    }
}

/// The LLVM IR of a kernel in a file, for blocks of `block` threads.
fn ir_of(file: &str, kernel: &str, block: u32) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(path).expect("the kernel's text");
    let program = Program::load(&[Source { name: file, text: &text }], Engine::Compiled).expect("it loads");
    let id = program.module().function(kernel).expect("it is there");
    let spec = Specialisation::of_launch([2, 1, 1], [block, 1, 1]);
    simd::ir(&program.request(id, spec)).expect("it compiles")
}

/// A loop whose iterations each thread counts is compiled twice, and the copy for lanes that agree does not
/// distinguish lanes.
#[test]
fn lanes_that_agree_have_a_loop_of_their_own() {
    let ir = ir_of("tests/ptx/rounds.ptx", "numbered", 96);
    let (_, agreed) = ir.rsplit_once("sub <32 x i32> %").expect("lanes that disagree count their rounds");
    assert!(agreed.contains("sub i32 %"), "one number of rounds for all lanes:\n{ir}");
}

/// Indices that turn out to be consecutive at run time are read as a row.
#[test]
fn chosen_and_signed_indices_are_rows() {
    for kernel in ["chosen", "signs", "walks"] {
        let ir = ir_of("tests/ptx/rounds.ptx", kernel, 96);
        assert!(ir.contains(" = load <32 x i32>, ptr %t"), "{kernel} reads no row:\n{ir}");
    }
}

/// Addresses that advance by the number of threads in the grid are prefetched; those that advance by a little
/// are not.
#[test]
fn far_steps_are_asked_for_ahead() {
    assert!(ir_of("tests/ptx/rounds.ptx", "numbered", 64).contains("call void @llvm.prefetch"));
    assert!(!ir_of("tests/ptx/rounds.ptx", "walks", 64).contains("@llvm.prefetch"));
}

/// Kernels with barriers run all warps of a block in one loop if copies of their code are small enough.
#[test]
fn warps_go_from_barrier_to_barrier_in_a_loop() {
    assert!(ir_of("bench/kernels/reduce.ptx", "reduce", 256).contains("@anywarp_sweep("));
    assert!(!ir_of("bench/kernels/stream.ptx", "vecadd", 256).contains("@anywarp_sweep("));
}

/// The lanes argument that the IR passes for each kind of warp.
fn lanes_given(ir: &str) -> Vec<&str> {
    // A name belongs to its function: the nearest definition above applies.
    let definition = |above: &'_ [&'_ str], name: &str| {
        let found = above.iter().rposition(|l| l.trim().starts_with(&format!("{name} = ")));
        found.unwrap_or_else(|| panic!("{name} is not defined"))
    };
    let lines: Vec<&str> = ir.lines().collect();
    let value = |at: usize| lines[at].split_once(" = ").expect("a definition").1;
    let mut given = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let calls = ["call i32 @one.warp(", "call i32 @body("];
        let Some((_, rest)) = calls.iter().find_map(|call| line.split_once(call)) else { continue };
        let list = rest.split_once(')').expect("a list of arguments").0;
        let lanes = list.rsplit_once(", i32 ").expect("the lanes come last").1;
        let known = !lanes.starts_with('%');
        given.push(if known { lanes } else { value(definition(&lines[..at], lanes)) });
    }
    given
}

/// LLVM must not know the lanes of a partial warp: its instruction combiner may not terminate on sums under a
/// constant mask. The lanes come from inline assembly or from memory, which it does not look into.
#[test]
fn llvm_does_not_know_the_lanes_of_partial_warps() {
    const ALL: &str = "-1";
    const LOADED: &str = "load i32, ptr";
    let hidden = |lanes: i32| format!("call i32 asm \"\", \"=r,0\"(i32 {lanes})");
    let straight = [
        (1, vec![hidden(1)]),
        (3, vec![hidden(7)]),
        (31, vec![hidden(i32::MAX)]),
        (32, vec![ALL.to_owned()]),
        (33, vec![ALL.to_owned(), hidden(1)]),
        (64, vec![ALL.to_owned()]),
        (95, vec![ALL.to_owned(), hidden(i32::MAX)]),
    ];
    for processor in ["x86-64-v4", "x86-64-v3"] {
        let Ok(named) = Target::named(processor) else {
            eprintln!("not run: this machine cannot run {processor}");
            continue;
        };
        for per_lane in [false, true] {
            let forced = Forced { per_lane, ..Forced::default() };
            for (threads, expected) in &straight {
                for (file, kernel, stops) in [
                    ("stream", "vecadd", false),
                    ("mandelbrot", "mandelbrot", false),
                    ("reduce", "reduce", true),
                ] {
                    let e = Expected { file, kernel, block: [*threads, 1, 1], has: &[] };
                    let text = made(&e, (&named, forced.clone()), simd::ir);
                    let given = lanes_given(&text);
                    let context = format!("{kernel}, {threads} threads, {processor}, {forced:?}: {given:?}");
                    if stops {
                        // For warps that can stop, they are in memory unless all warps are whole.
                        let whole = |lanes: &&str| threads % 32 == 0 && **lanes == *ALL;
                        assert!(given.iter().all(|l| l.starts_with(LOADED) || whole(l)), "{context}");
                        assert!(given.iter().any(|l| l.starts_with(LOADED)), "{context}");
                    } else {
                        assert_eq!(&given, expected, "{context}");
                    }
                }
            }
        }
    }
}
