//! Texts that are large enough for their kernels to be lowered on request, alone or linked with others:
//! results, reported information and errors.

use std::collections::BTreeSet;

use crate::launch::{Shape, launch};
use crate::memory::Aligned;
use cpu::{Engine, ErrorKind, LoadError, Program, Rules, Source, Target};
use grid::Workers;
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

/// Number of texts that are linked, and of functions in each.
const TEXTS: u32 = 12;
const FUNCTIONS: u32 = 20;

/// What function `f` of text `t` adds to its argument. The functions of a text call those of the next with
/// the same number. Functions of the same name in several texts are the text's own, or the first one's.
fn sum(t: u32, f: u32) -> u32 {
    let here = 100 * t + f + (t + 1000) + 5;
    here + if t + 1 < TEXTS { sum(t + 1, f) } else { 0 }
}

/// The texts with their names, of which only `count` are made.
fn linked(count: u32) -> Vec<(String, String)> {
    let declared = "(.param .b32 d)";
    let function = |t: u32, f: u32| {
        let padding: String =
            (0..32).map(|n| format!("    xor.b32 %r2, %r2, {n};\n    xor.b32 %r2, %r2, {n};\n")).collect();
        let next = match t + 1 {
            next if next < count => format!("    call (y), f{next}_{f}, (x);\n    ld.param.u32 %r2, [y];\n"),
            _ => String::new(),
        };
        format!(
            ".visible .func {declared} f{t}_{f}(.param .b32 a)
{{
    .reg .b32 %r<4>;
    .param .b32 x;
    .param .b32 y;
    ld.param.u32 %r1, [a];
    st.param.b32 [x], %r1;
    call (y), own, (x);
    ld.param.u32 %r2, [y];
    st.param.b32 [x], %r2;
    call (y), all, (x);
    ld.param.u32 %r2, [y];
{padding}    st.param.b32 [x], %r2;
{next}    add.u32 %r2, %r2, {};
    st.param.b32 [d], %r2;
    ret;
}}
",
            100 * t + f
        )
    };
    let small = |head: &str, added: u32| {
        format!(
            "{head}(.param .b32 a) {{ .reg .b32 %r<2>; ld.param.u32 %r1, [a]; add.u32 %r1, %r1, {added}; \
             st.param.b32 [d], %r1; ret; }}\n"
        )
    };
    let text = |t: u32| {
        let externs = (0..FUNCTIONS).filter(|_| t + 1 < TEXTS);
        let externs: String =
            externs.map(|f| format!(".extern .func {declared} f{}_{f}(.param .b32 a);\n", t + 1)).collect();
        let functions: String = (0..FUNCTIONS).map(|f| function(t, f)).collect();
        let own = small(&format!(".func {declared} own"), t + 1000);
        let all = small(&format!(".weak .func {declared} all"), if t == 0 { 5 } else { 6 });
        let kernel = format!(
            ".visible .entry k{t}(.param .u64 p) {{ .reg .b32 %r<3>; .reg .b64 %rd<3>; .param .b32 x; \
             .param .b32 y; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; \
             add.u64 %rd1, %rd1, %rd2; st.param.b32 [x], %r1; call (y), f{t}_7, (x); \
             ld.param.u32 %r2, [y]; st.global.u32 [%rd1], %r2; ret; }}\n"
        );
        let arch = 70 + 5 * (t % 3);
        format!(".version 7.8\n.target sm_{arch}\n.address_size 64\n{externs}{own}{all}{functions}{kernel}")
    };
    (0..count).map(|t| (format!("text{t}"), text(t))).collect()
}

/// A table of functions of other texts, and a kernel that calls one of them for each of its threads.
fn table(count: u32) -> (String, String) {
    let last = count - 1;
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n\
         .extern .func (.param .b32 d) f{last}_1(.param .b32 a);\n\
         .extern .func (.param .b32 d) f{last}_2(.param .b32 a);\n\
         .visible .global .u64 table[2] = {{f{last}_1, f{last}_2}};\n\
         .visible .entry through(.param .u64 p) {{ .reg .b32 %r<4>; .reg .b64 %rd<6>; .param .b32 x; \
         .param .b32 y; ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; \
         add.u64 %rd1, %rd1, %rd2; and.b32 %r3, %r1, 1; mul.wide.u32 %rd3, %r3, 8; mov.u64 %rd4, table; \
         add.u64 %rd4, %rd4, %rd3; ld.global.u64 %rd5, [%rd4]; st.param.b32 [x], %r1; \
         q: .callprototype (.param .b32 _) _ (.param .b32 _); call (y), %rd5, (x), q; \
         ld.param.u32 %r2, [y]; st.global.u32 [%rd1], %r2; ret; }}\n"
    );
    ("table".to_owned(), text)
}

fn load_linked(texts: &[(String, String)], rules: &Rules) -> Result<Program, LoadError> {
    let sources: Vec<Source> = texts.iter().map(|(name, text)| Source { name, text }).collect();
    Program::load_by(&sources, rules)
}

#[test]
fn kernels_of_linked_texts_run_and_reach_what_they_call() {
    let mut texts = linked(TEXTS);
    texts.push(table(TEXTS));
    assert!(texts.iter().map(|t| t.1.len()).sum::<usize>() > 256 << 10);
    for engine in [Engine::Interpreter, Engine::Compiled] {
        let program = load_linked(&texts, &Rules { engine, ..Rules::default() }).expect("legal texts");
        let program = program.for_target(Target::native());
        let workers = Workers::new(2);
        let run = |kernel: &str| {
            let mut out = Aligned::new(&[0; 128]);
            let compiled = engine == Engine::Compiled;
            let shape = Shape { kernel, blocks: 1, threads: 32, compiled };
            assert_eq!(launch(&program, &workers, &shape, &[&out], &[]), Ok(()), "{kernel}");
            let words = out.bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            words.collect::<Vec<u32>>()
        };
        let code_of = |kernel: &str| {
            let id = program.module().function(kernel).expect("a kernel");
            let code = program.module_of(id).functions.iter().filter(|f| !f.external);
            code.map(|f| f.name.clone()).collect::<BTreeSet<_>>()
        };
        let last = TEXTS - 1;
        for t in [0, 5, last] {
            let want: Vec<u32> = (0..32).map(|tid| tid + sum(t, 7)).collect();
            assert_eq!(run(&format!("k{t}")), want, "k{t}");
            let id = program.module().function(&format!("k{t}")).expect("a kernel");
            assert_eq!(program.target(id), 70 + 5 * (t % 3));
        }
        let names = |list: &[String]| list.iter().cloned().collect::<BTreeSet<_>>();
        let (kernel, function) = (format!("k{last}"), format!("f{last}_7"));
        assert_eq!(code_of(&kernel), names(&[kernel.clone(), function, "own".into(), "all".into()]));
        let want: Vec<u32> = (0..32).map(|tid| tid + sum(last, 1 + tid % 2)).collect();
        assert_eq!(run("through"), want);
        let reached =
            ["through".into(), format!("f{last}_1"), format!("f{last}_2"), "own".into(), "all".into()];
        assert_eq!(code_of("through"), names(&reached));
    }
}

/// What is wrong with linked texts is reported at load, in the same words as for small ones.
#[test]
fn what_is_wrong_in_linked_texts_is_told_at_load() {
    let rules = Rules { capability: Some(80), max_shared: 48 << 10, ..Rules::default() };
    let cases = [
        (".extern .func absent();\n.visible .entry w() { call absent; ret; }", ErrorKind::Unresolved),
        (".extern .global .u32 absent;", ErrorKind::Unresolved),
        (".extern .func absent();\n.global .u64 table[1] = {absent};", ErrorKind::Unresolved),
        (".visible .func (.param .b32 d) f0_0(.param .b32 a) { ret; }", ErrorKind::Duplicate),
        (".visible .entry k0() { ret; }", ErrorKind::Duplicate),
        (
            ".extern .func (.param .b32 d) f0_0(.param .b64 a);\n.visible .entry w() { .param .b64 x; \
             .param .b32 y; call (y), f0_0, (x); ret; }",
            ErrorKind::Duplicate,
        ),
        (".visible .entry w() { .reg .b64 %rd<3>; alloca.u64 %rd1, %rd2, 24; }", ErrorKind::Unsupported),
        (
            ".extern .func absent();\n.visible .entry w() { .reg .b64 %rd<3>; call absent; \
             alloca.u64 %rd1, %rd2, 24; }",
            ErrorKind::Unsupported,
        ),
        (".visible .entry w() { ret }", ErrorKind::Syntax),
        (".visible .entry w() { add.u32 %r1, %r2, %r3; }", ErrorKind::Semantic),
        (
            ".visible .entry w() { .shared .b8 l[65536]; .reg .b32 %r<2>; mov.u32 %r1, l; }",
            ErrorKind::BeyondDevice,
        ),
        (".target sm_90\n", ErrorKind::BeyondDevice),
        (".target sm_90\n.extern .global .u32 absent;", ErrorKind::BeyondDevice),
    ];
    for (wrong, kind) in cases {
        let (target, rest) = match wrong.split_once('\n') {
            Some((target, rest)) if target.starts_with(".target") => (target, rest),
            _ => (".target sm_80", wrong),
        };
        let text = format!(".version 9.0\n{target}\n.address_size 64\n{rest}\n");
        let error = |count: u32| {
            let mut texts = linked(count);
            texts.push(("wrong".to_owned(), text.clone()));
            load_linked(&texts, &rules).err().unwrap_or_else(|| panic!("{wrong} loads"))
        };
        let found = error(TEXTS);
        assert_eq!(found.kind, kind, "{wrong}: {}", found.log);
        assert_eq!(found, error(1), "{wrong}");
    }
}
