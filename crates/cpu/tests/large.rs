//! Texts that are large enough for their kernels to be lowered on request: results, reported information and
//! errors.

mod support {
    pub mod launch;
    pub mod memory;
}

use cpu::{Engine, ErrorKind, LoadError, Program, Rules, Source, Target};
use grid::Workers;
use support::launch::{Shape, launch};
use support::memory::Aligned;
use wave::count::{Counter, Counting, ROW, ROWS};

/// Number of kernels in the text.
const KERNELS: u32 = 500;

const HEAD: &str = ".version 9.0
.target sm_80
.address_size 64
.file 1 \"large.cu\"
.shared .align 4 .b32 tile[32];
.func (.param .b32 d) twice(.param .b32 a) {
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [a];
    add.u32 %r2, %r1, %r1;
    st.param.u32 [d], %r2;
    ret;
}
";

/// A kernel that writes `2 * thread + n` for each of 32 threads through shared memory, with `extra` before
/// its end.
fn kernel(n: u32, extra: &str) -> String {
    format!(
        ".visible .entry k{n}(.param .u64 p)
{{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .reg .pred %p<2>;
    .param .b32 x;
    .param .b32 y;
    .shared .align 4 .b32 own[{own}];
    // Comments and names make texts large too.
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd1, %rd1;
    mov.u32 %r1, %tid.x;
    .loc 1 {line} 3
    st.param.u32 [x], %r1;
    call (y), twice, (x);
    ld.param.u32 %r2, [y];
    add.u32 %r2, %r2, {n};
    mul.wide.u32 %rd2, %r1, 4;
    mov.u64 %rd3, tile;
    add.u64 %rd4, %rd3, %rd2;
    st.shared.u32 [%rd4], %r2;
    bar.sync 0;
    ld.shared.u32 %r3, [%rd4];
    st.shared.u32 [own], %r3;
    add.u64 %rd5, %rd1, %rd2;
    st.global.u32 [%rd5], %r3;
    {extra}
    ret;
}}
",
        own = n % 7 + 1,
        line = n + 1000,
    )
}

/// The text with its kernels; the last one contains `extra`.
fn text(extra: &str) -> String {
    let kernels = (0..KERNELS).map(|n| kernel(n, if n + 1 == KERNELS { extra } else { "" }));
    let text = HEAD.to_owned() + &kernels.collect::<String>();
    assert!(text.len() > 256 << 10, "{} bytes", text.len());
    text
}

fn load(text: &str, rules: &Rules) -> Result<Program, LoadError> {
    Program::load_by(&[Source { name: "large", text }], rules)
}

#[test]
fn kernels_run_and_tell_what_they_take() {
    let text = text("");
    for engine in [Engine::Interpreter, Engine::Compiled] {
        let program = load(&text, &Rules { engine, ..Rules::default() }).expect("a legal text");
        let program = program.for_target(Target::native());
        assert_eq!(program.module().kernels().count(), KERNELS as usize);
        let workers = Workers::new(2);
        for n in [0, 7, KERNELS - 1] {
            let mut out = Aligned::new(&[0; 128]);
            let name = format!("k{n}");
            let compiled = engine == Engine::Compiled;
            let shape = Shape { kernel: &name, blocks: 1, threads: 32, compiled };
            assert_eq!(launch(&program, &workers, &shape, &[&out], &[]), Ok(()), "{name}");
            let want: Vec<u8> = (0..32u32).flat_map(|t| (2 * t + n).to_le_bytes()).collect();
            assert_eq!(out.bytes(), want, "{name}");
        }
        let id = program.module().function("k5").expect("a kernel");
        let head = program.module().functions[id.index()].kernel.clone().expect("a kernel");
        assert_eq!(head.shared_size, 128 + 4 * 6);
        let module = program.module_of(id);
        assert_eq!(module.functions[id.index()].kernel, Some(head));
        let with_code = module.functions.iter().filter(|f| !f.external).count();
        assert_eq!(with_code, 2, "the kernel and what it calls");
    }
}

/// The address of the counters follows the parameter.
#[test]
fn kernels_count_what_they_do() {
    let text = text("");
    for engine in [Engine::Interpreter, Engine::Compiled] {
        let rules = Rules { engine, counting: Some(Counting), ..Rules::default() };
        let program = load(&text, &rules).expect("a legal text").for_target(Target::native());
        let workers = Workers::new(2);
        for kernel in ["k7", "k8"] {
            let (mut out, mut counters) = (Aligned::new(&[0; 128]), Aligned::zeroed(ROWS * ROW * 8));
            let shape = Shape { kernel, blocks: 1, threads: 32, compiled: engine == Engine::Compiled };
            assert_eq!(launch(&program, &workers, &shape, &[&out, &counters], &[]), Ok(()), "{kernel}");
            assert_ne!(out.bytes(), [0; 128]);
            let (words, _) = counters.bytes().as_chunks::<8>();
            let count = |counter: Counter| -> u64 {
                words.iter().skip(counter as usize).step_by(ROW).map(|word| u64::from_le_bytes(*word)).sum()
            };
            assert_eq!(count(Counter::Stored), 32 * 4);
            assert_eq!((count(Counter::Shared), count(Counter::Barriers)), (32 * 12, 1));
            assert_eq!((count(Counter::Loaded), count(Counter::Flops)), (0, 0));
            assert_eq!(count(Counter::Operations), count(Counter::Slots));
            assert!(count(Counter::Operations) >= 32 * 10);
        }
    }
}

#[test]
fn lines_have_their_source() {
    let text = text("");
    let program = load(&text, &Rules::default()).expect("a legal text");
    let line_of = |n: u32| {
        let place = text.find(&format!("add.u32 %r2, %r2, {n};")).expect("it is there");
        text[..place].matches('\n').count() as u32 + 1
    };
    for n in [3, 250, KERNELS - 1] {
        assert_eq!(program.source_of(line_of(n)), Some(format!("large.cu:{}", n + 1000)));
    }
    assert_eq!(program.source_of(1), None);
}

/// Whichever thread asks first, all get the same module.
#[test]
fn many_may_ask_at_once() {
    let program = load(&text(""), &Rules::default()).expect("a legal text");
    let ids: Vec<_> = program.module().kernels().map(|k| k.0).collect();
    let sizes = |id: wave::FuncId| program.module_of(id).functions[id.index()].blocks.len();
    let all: Vec<Vec<usize>> = std::thread::scope(|scope| {
        let ask = |reversed: bool| {
            let mut sizes: Vec<_> = if reversed {
                ids.iter().rev().map(|id| sizes(*id)).collect()
            } else {
                ids.iter().map(|id| sizes(*id)).collect()
            };
            if reversed {
                sizes.reverse();
            }
            sizes
        };
        let threads: Vec<_> = [false, true, false, true].map(|r| scope.spawn(move || ask(r))).into();
        let whole = scope.spawn(|| program.whole().functions.iter().all(|f| !f.external));
        assert!(whole.join().expect("no panic"));
        threads.into_iter().map(|t| t.join().expect("no panic")).collect()
    });
    assert!(all.iter().all(|sizes| *sizes == all[0] && sizes.iter().all(|n| *n > 0)));
}

/// Errors in the last kernel are reported at load, as for a small text.
#[test]
fn what_is_wrong_is_told_at_load() {
    let rules = Rules { capability: Some(80), max_shared: 48 << 10, ..Rules::default() };
    let cases = [
        ("add.u32 %r1, %r2;", "add", ErrorKind::Semantic),
        ("add.u32 %r1, %r2, %r99;", "%r99", ErrorKind::Semantic),
        ("alloca.u64 %rd1, %rd2, 24;", "alignment", ErrorKind::Unsupported),
        ("mov.u32 %r1, %r2", "syntax", ErrorKind::Syntax),
        (".shared .b8 large[65536]; st.shared.u8 [large], %r1;", "shared data", ErrorKind::BeyondDevice),
    ];
    for (extra, told, kind) in cases {
        let large = text(extra);
        let found = load(&large, &rules).err().unwrap_or_else(|| panic!("{extra} loads"));
        assert!(found.log.contains(told), "{extra}: {}", found.log);
        assert_eq!(found.kind, kind, "{extra}");
        let small = load(&(HEAD.to_owned() + &kernel(KERNELS - 1, extra)), &rules).err().expect("wrong");
        let message = |e: &LoadError| e.findings.first().map_or(e.log.clone(), |d| d.message.clone());
        assert_eq!(message(&found), message(&small), "{extra}");
    }
    let newer = text("").replace(".target sm_80", ".target sm_90");
    assert!(load(&newer, &rules).is_err_and(|e| e.log.contains("sm_90")));
}
