//! A text that is lowered on request gives the same module as one that is lowered as a whole, and both are
//! refused alike.

use std::fs;
use std::path::Path;

use crate::support::grammar::{self, Line};
use hwtruth::sample::Turn;
use lower::{Deferred, Error, Options, Refused, Unit, one_by_one};
use wave::Module;

fn options() -> Options<'static> {
    Options { complete: false, symbols: &[], each: &one_by_one, exact: false }
}

/// The module lowered as a whole, or the errors of lowering and linking; `None` if it does not parse.
fn linked_at_once(texts: &[&str]) -> Option<Result<Module, Vec<Error>>> {
    let trees = texts.iter().map(|text| ptx::parse(text).ok()).collect::<Option<Vec<_>>>()?;
    let unit = |(text, module)| Unit { name: "text", module, source: text };
    let units: Vec<Unit> = texts.iter().copied().zip(&trees).map(unit).collect();
    Some(lower::lower_by(&units, Options { complete: texts.len() > 1, ..options() }))
}

fn at_once(text: &str) -> Option<Module> {
    linked_at_once(&[text])?.ok()
}

fn linked_later(texts: &[&str]) -> Result<Deferred, Refused> {
    let texts: Vec<(&str, &str)> = texts.iter().map(|text| ("text", *text)).collect();
    Deferred::new(&texts, Options { complete: texts.len() > 1, ..options() })
}

fn deferred(text: &str) -> Option<Deferred> {
    linked_later(&[text]).ok()
}

/// [`compare_linked`] for a text alone.
fn compare(text: &str) -> Result<(), String> {
    compare_linked(&[text])
}

/// Checks that both ways accept texts and produce the same code, for every kernel and for the whole, or that
/// both refuse them, with the same errors if they cannot be linked.
fn compare_linked(texts: &[&str]) -> Result<(), String> {
    let (want, got) = match (linked_at_once(texts), linked_later(texts)) {
        (Some(Ok(want)), Ok(got)) => (want, got),
        (None | Some(Err(_)), Err(Refused::Unusual)) => return Ok(()),
        (Some(Err(want)), Err(Refused::Unlinked(_, got))) if want == got => return Ok(()),
        (want, got) => {
            let want = want.map(|want| want.map(|_| ()));
            return Err(format!("at once: {want:?}, later: {:?}", got.map(|_| ())));
        }
    };
    for (id, kernel) in want.kernels() {
        let name = &kernel.name;
        let head = &got.heads().functions[id.index()];
        if (&head.name, &head.kernel) != (name, &kernel.kernel) {
            return Err(format!("{name} is declared as {:?}, expected {:?}", head.kernel, kernel.kernel));
        }
        let module = got.reached_from(id, &one_by_one).map_err(|e| format!("{name}: {e:?}"))?;
        for f in wave::layout::reachable(&want, id) {
            if module.function_text(f) != want.function_text(f) {
                return Err(format!("{name} reaches something else"));
            }
        }
    }
    let whole = got.whole(&one_by_one).map_err(|e| format!("{e:?}"))?;
    if whole.to_string() != want.to_string() {
        return Err("the whole module differs".to_owned());
    }
    wave::verify::verify(&whole).map_err(|p| format!("{p:?}"))
}

#[test]
fn kernels_are_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seen = 0;
    for folder in ["tests/ptx", "bench/kernels"].map(|f| root.join(f)) {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|e| e == "ptx") {
                let text = fs::read_to_string(&path).expect("a text");
                assert_eq!(compare(&text), Ok(()), "{}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 10);
}

#[test]
fn every_form_is_taken_or_refused_alike() {
    let mut wrong = Vec::new();
    for line in grammar::lines() {
        let Line::Instruction(_, forms) = line else { continue };
        for form in forms {
            let turn = Turn::new(0, 4);
            for (n, modifiers) in form.spellings().into_iter().enumerate() {
                let instructions = [false, true].map(|optional| form.instruction(&modifiers, optional));
                // The first spelling of every form, and a sample of the others.
                let chosen = instructions.into_iter().flatten().filter(|i| n == 0 || turn.takes(i));
                for instruction in chosen {
                    let found = compare(&grammar::module(&form, &instruction));
                    wrong.extend(found.err().map(|why| format!("{instruction} {why}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// An instruction that is refused because of a constant, a variable or a declaration is refused behind others
/// that look like it, and reported by lowering the whole.
#[test]
fn what_is_not_alike_is_looked_at() {
    const HEAD: &str = ".version 9.0\n.target sm_120a\n.address_size 64\n.shared .b8 tile[64];\n\
        .func (.param .b32 r) one(.param .b32 a) { ret; }\n.func two(.param .b32 a, .param .b32 b) { ret; }\n";
    const REGISTERS: &str = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; .param .b32 x;";
    let cases = [
        ("alloca.u64 %rd1, %rd2, 16;", "alloca.u64 %rd1, %rd2, 24;"),
        ("cp.async.ca.shared.global [%rd1], [%rd2], 4;", "cp.async.ca.shared.global [%rd1], [%rd2], 5;"),
        ("call (x), one, (x);", "call (x), two, (x);"),
        ("mov.u32 %r1, %laneid;", "mov.u32 %r1, %nosuch;"),
        ("bra end;", "bra nowhere;"),
    ];
    for (right, wrong) in cases {
        let text = |last: &str| {
            let kernels = [right, right, last].into_iter().enumerate();
            let kernels = kernels.map(|(n, i)| format!(".entry k{n}() {{ {REGISTERS} {i} end: ret; }}\n"));
            HEAD.to_owned() + &kernels.collect::<String>()
        };
        assert_eq!(compare(&text(right)), Ok(()), "{right}");
        assert!(at_once(&text(right)).is_some(), "{right} is right");
        assert!(at_once(&text(wrong)).is_none(), "{wrong} is wrong");
        assert!(deferred(&text(wrong)).is_none(), "{wrong} is wrong behind {right}");
    }
}

/// The head of a text.
const HEAD: &str = ".version 9.0\n.target sm_80\n.address_size 64\n";

/// Texts that are linked, also those that cannot be.
#[test]
fn linked_texts_are_the_same() {
    let of = |texts: &[&str]| texts.iter().map(|text| HEAD.to_owned() + text).collect::<Vec<_>>();
    const KERNEL: &str = ".extern .func (.param .b32 r) f(.param .b32 a);\n\
        .visible .entry k() { .reg .b32 %r<3>; .param .b32 x; .param .b32 y; call (y), f, (x); \
        ld.param.u32 %r1, [y]; ret; }\n";
    const F: &str = ".visible .func (.param .b32 r) f(.param .b32 a) { .shared .b32 own[3]; .reg .b32 %r<3>; \
        ld.shared.u32 %r1, [own]; st.param.u32 [r], %r1; ret; }\n";
    const TABLE: &str = ".extern .func g();\n.visible .global .u64 table[2] = {g, g};\n\
        .visible .entry of_table() { .reg .b64 %rd<2>; ld.global.u64 %rd1, [table]; p: .callprototype _ (); \
        call %rd1, p; ret; }\n";
    const G: &str = ".shared .align 4 .b32 a[5];\n.func own() { .reg .b32 %r<2>; ld.shared.u32 %r1, [a]; ret; }\n\
        .visible .func g() { call own; ret; }\n.visible .entry g2() { call own; ret; }\n";
    let weak = |body: &str| F.replace(".visible", ".weak").replace("ld.shared.u32 %r1, [own];", body);
    let (good, bad) = (
        weak("mov.u32 %r1, 1;"),
        weak("alloca.u64 %rd1, %rd2, 24;").replace(".reg", ".reg .b64 %rd<3>; .reg"),
    );
    let cases: [(&[&str], bool); 11] = [
        (&[KERNEL, F], true),
        (&[F, KERNEL], true),
        (&[TABLE, G, KERNEL, F], true),
        (&[KERNEL, &good, &bad], true),
        (&[KERNEL, &bad, &good], false),
        // The strong definition is used, whichever comes first.
        (&[KERNEL, &bad, F], true),
        (&[KERNEL, TABLE], false),
        (&[KERNEL, F, F], false),
        (&[KERNEL, &F.replace("(.param .b32 a)", "(.param .b64 a)")], false),
        (&[TABLE, KERNEL, F], false),
        // Both kinds of errors.
        (&[KERNEL, TABLE, &bad], false),
    ];
    for (n, (texts, right)) in cases.into_iter().enumerate() {
        let texts = of(texts);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(compare_linked(&texts), Ok(()), "case {n}");
        assert_eq!(linked_later(&texts).is_ok(), right, "case {n}");
    }
}

/// An instruction that is refused in one text is refused behind others that look like it in another text.
#[test]
fn variables_and_functions_of_several_texts_are_not_alike() {
    let one = |params: &str| {
        format!(
            "{HEAD}.func f({params}) {{ ret; }}\n\
             .visible .entry k{}() {{ .param .b32 x; call f, (x); ret; }}\n",
            params.len()
        )
    };
    let (right, wrong) = (one(".param .b32 a"), one(".param .b32 a, .param .b32 b"));
    assert!(linked_later(&[&right]).is_ok());
    assert_eq!(compare_linked(&[&right, &wrong]), Ok(()));
    assert!(linked_later(&[&right, &wrong]).is_err());
}

/// A kernel that calls through a handle may reach a function whose handle is taken by another function.
#[test]
fn handles_reach_what_others_name() {
    let text = ".version 9.0\n.target sm_80\n.address_size 64\n\
        .shared .align 4 .b32 a;\n.shared .align 4 .b32 b[4];\n.global .u64 place;\n\
        .func f() { .reg .b32 %r<2>; ld.shared.u32 %r1, [b]; st.shared.u32 [a], %r1; ret; }\n\
        .func g() { .shared .b32 own[2]; .reg .b32 %r<2>; ld.shared.u32 %r1, [own]; ret; }\n\
        .func h() { call g; ret; }\n\
        .entry takes() { .reg .b64 %rd<2>; mov.u64 %rd1, f; st.global.u64 [place], %rd1; ret; }\n\
        .entry calls() { .reg .b64 %rd<2>; ld.global.u64 %rd1, [place]; p: .callprototype _ (); \
        call %rd1, p; ret; }\n\
        .entry straight() { call h; ret; }\n";
    assert_eq!(compare(text), Ok(()));
    let deferred = deferred(text).expect("a text");
    let size = |name: &str| {
        let id = deferred.heads().function(name).expect("a kernel");
        deferred.heads().functions[id.index()].kernel.as_ref().map(|k| k.shared_size)
    };
    assert_eq!([size("takes"), size("calls"), size("straight")], [Some(0), Some(20), Some(8)]);
    let straight = deferred.heads().function("straight").expect("a kernel");
    let module = deferred.reached_from(straight, &one_by_one).expect("its code");
    let with_code = module.functions.iter().filter(|f| !f.external).map(|f| f.name.as_str());
    assert_eq!(with_code.collect::<Vec<_>>(), ["g", "h", "straight"]);
    let calls = deferred.heads().function("calls").expect("a kernel");
    let module = deferred.reached_from(calls, &one_by_one).expect("its code");
    let with_code = module.functions.iter().filter(|f| !f.external).map(|f| f.name.as_str());
    assert_eq!(with_code.collect::<Vec<_>>(), ["f", "calls"]);
}
