//! Our answers to texts whose answers were recorded on the hardware (`tests/probe`, group `ptxload`).

use ptx::ErrorKind;

const RECORDING: &str = include_str!("../../../../tests/probe/h200-580.txt");

/// The driver's answer that the parser's result leads to.
fn answer(source: &str) -> &'static str {
    match ptx::parse(source) {
        Ok(module) if module.unresolved().next().is_none() => "CUDA_SUCCESS",
        Err(errors) if errors.iter().any(|e| e.kind == ErrorKind::UnsupportedVersion) => {
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
        }
        _ => "CUDA_ERROR_INVALID_PTX",
    }
}

#[test]
fn texts_are_taken_and_refused_as_on_the_hardware() {
    for (name, text) in TEXTS {
        let key = format!("ptxload.{name}: ");
        let recorded = RECORDING.lines().find_map(|l| l.strip_prefix(key.as_str())).expect(name);
        assert_eq!(answer(text), recorded, "{name}");
    }
}

/// The texts of the probe whose answer depends only on the text.
const TEXTS: &[(&str, &str)] = &[
    (
        "comment.then.good",
        "// a comment\n/* another */\n.version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n",
    ),
    (
        "spaces.then.good",
        "\n\n   .version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n",
    ),
    ("headonly", ".version 7.0\n.target sm_52\n.address_size 64\n"),
    ("good", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n"),
    ("crlf", ".version 7.0\r\n.target sm_52\r\n.address_size 64\r\n.visible .entry k() { ret; }\r\n"),
    (
        "undeclreg",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { mov.u32 %r1, 0; ret; }\n",
    ),
    ("unterminated", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret;\n"),
    (
        "unterminated.comment",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n/* open",
    ),
    ("truncated", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .ent"),
    ("extra.brace", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; } }\n"),
    ("notarget", ".version 7.0\n.visible .entry k() { ret; }\n"),
    ("noaddress", ".version 7.0\n.target sm_52\n.visible .entry k() { ret; }\n"),
    ("address32", ".version 7.0\n.target sm_52\n.address_size 32\n.visible .entry k() { ret; }\n"),
    ("version99", ".version 99.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n"),
    ("version9.0", ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"),
    ("version1.0", ".version 1.0\n.target sm_10\n.entry k() { ret; }\n"),
    ("version1.4", ".version 1.4\n.target sm_13\n.entry k() { exit; }\n"),
    ("version2.0", ".version 2.0\n.target sm_20\n.entry k() { exit; }\n"),
    ("version3.0", ".version 3.0\n.target sm_30\n.address_size 64\n.visible .entry k() { ret; }\n"),
    ("versionbad", ".version seven\n.target sm_52\n.visible .entry k() { ret; }\n"),
    ("badtarget", ".version 7.0\n.target sm_999\n.address_size 64\n.visible .entry k() { ret; }\n"),
    ("target.word", ".version 7.0\n.target gpu\n.address_size 64\n.visible .entry k() { ret; }\n"),
    (
        "target.newer.version.old",
        ".version 6.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n",
    ),
    (
        "target.texmode",
        ".version 7.0\n.target sm_52, texmode_independent\n.address_size 64\n.visible .entry k() { ret; }\n",
    ),
    (
        "twoversions",
        ".version 7.0\n.version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n",
    ),
    (
        "unresolved",
        ".version 7.0\n.target sm_52\n.address_size 64\n.extern .func nope();\n.visible .entry k() { call nope; ret; }\n",
    ),
    (
        "unresolved.var",
        ".version 7.0\n.target sm_52\n.address_size 64\n.extern .global .u32 nope;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [nope]; ret; }\n",
    ),
    (
        "extern.unused",
        ".version 7.0\n.target sm_52\n.address_size 64\n.extern .func nope();\n.visible .entry k() { ret; }\n",
    ),
    (
        "undefined.call",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { call nope; ret; }\n",
    ),
    (
        "undefined.label",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { bra NOWHERE; ret; }\n",
    ),
    (
        "undefined.var",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [nope]; ret; }\n",
    ),
    (
        "typemismatch",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .f32 %f; .reg .b64 %d; add.u32 %d, %f, 1; ret; }\n",
    ),
    (
        "wrongoperands",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %r<3>; add.u32 %r0, %r1; ret; }\n",
    ),
    (
        "badmodifier",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %r<3>; add.rn.u32 %r0, %r1, %r2; ret; }\n",
    ),
    (
        "badtype",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %r<3>; add.b32 %r0, %r1, %r2; ret; }\n",
    ),
    (
        "noround",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .f32 %f<3>; .reg .b32 %r; cvt.f32.s32 %f0, %r; ret; }\n",
    ),
    (
        "imm.toolarge",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %r; mov.u32 %r, 0x123456789; ret; }\n",
    ),
    (
        "shift.imm.neg",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %r<2>; shl.b32 %r0, %r1, -1; ret; }\n",
    ),
    (
        "duplicate.entry",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { ret; }\n.visible .entry k() { ret; }\n",
    ),
    (
        "duplicate.var",
        ".version 7.0\n.target sm_52\n.address_size 64\n.global .u32 a;\n.global .u32 a;\n.visible .entry k() { ret; }\n",
    ),
    (
        "duplicate.reg",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %a; .reg .b32 %a; ret; }\n",
    ),
    (
        "duplicate.label",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { L: ret; L: ret; }\n",
    ),
    ("noentry", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .func f() { ret; }\n"),
    ("onlyglobal", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .global .u32 a = 3;\n"),
    (
        "newer.instruction",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %r<3>; redux.sync.add.u32 %r0, %r1, 0xffffffff; ret; }\n",
    ),
    (
        "newer.for.version",
        ".version 6.0\n.target sm_80\n.address_size 64\n.visible .entry k() { .reg .b32 %r<3>; redux.sync.add.u32 %r0, %r1, 0xffffffff; ret; }\n",
    ),
    (
        "shared.49153",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .shared .b8 s[49153]; .reg .b32 %r; mov.u32 %r, s; st.volatile.shared.u32 [%r], %r; ret; }\n",
    ),
    (
        "shared.unused",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .shared .b8 s[100000]; ret; }\n",
    ),
    (
        "hugeconst",
        ".version 7.0\n.target sm_52\n.address_size 64\n.const .b8 c[70000];\n.visible .entry k() { .reg .b32 %r; ld.const.u32 %r, [c]; ret; }\n",
    ),
    (
        "hugelocal",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u64 o) { .local .b8 s[600000]; .reg .b64 %d<3>; .reg .b32 %r; ld.param.u64 %d1, [o]; mov.u64 %d0, s; add.u64 %d0, %d0, %d1; st.local.u32 [%d0], 1; ld.local.u32 %r, [%d1]; st.u32 [%d1], %r; ret; }\n",
    ),
    (
        "hugeparam",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k(.param .b8 a[5000]) { ret; }\n",
    ),
    (
        "param.4352",
        ".version 8.1\n.target sm_70\n.address_size 64\n.visible .entry k(.param .b8 a[4352]) { ret; }\n",
    ),
    (
        "param.32764",
        ".version 8.1\n.target sm_70\n.address_size 64\n.visible .entry k(.param .b8 a[32764]) { ret; }\n",
    ),
    (
        "param.32768",
        ".version 8.1\n.target sm_70\n.address_size 64\n.visible .entry k(.param .b8 a[32768]) { ret; }\n",
    ),
    (
        "maxntid.2048",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() .maxntid 2048, 1, 1 { ret; }\n",
    ),
    (
        "maxntid.0",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() .maxntid 0, 1, 1 { ret; }\n",
    ),
    (
        "reqntid.2048",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() .reqntid 2048 { ret; }\n",
    ),
    (
        "both.ntid",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() .maxntid 32 .reqntid 32 { ret; }\n",
    ),
    ("maxnreg", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() .maxnreg 32 { ret; }\n"),
    (
        "minnctapersm.alone",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() .minnctapersm 4 { ret; }\n",
    ),
    (
        "badalign",
        ".version 7.0\n.target sm_52\n.address_size 64\n.global .align 3 .b8 a[8];\n.visible .entry k() { ret; }\n",
    ),
    (
        "init.toolong",
        ".version 7.0\n.target sm_52\n.address_size 64\n.global .u32 a[2] = {1, 2, 3};\n.visible .entry k() { ret; }\n",
    ),
    (
        "init.shared",
        ".version 7.0\n.target sm_52\n.address_size 64\n.shared .u32 a = 1;\n.visible .entry k() { ret; }\n",
    ),
    (
        "regname.percent",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .reg .b32 %r<2>; mov.u32 %r2, 0; ret; }\n",
    ),
    (
        "special.write",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { mov.u32 %tid.x, 0; ret; }\n",
    ),
    (
        "pragma.unknown",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { .pragma \"whatever\"; ret; }\n",
    ),
    (
        "directive.unknown",
        ".version 7.0\n.target sm_52\n.address_size 64\n.nonsense\n.visible .entry k() { ret; }\n",
    ),
    ("linking.weak", ".version 7.0\n.target sm_52\n.address_size 64\n.weak .entry k() { ret; }\n"),
    ("entry.static", ".version 7.0\n.target sm_52\n.address_size 64\n.entry k() { ret; }\n"),
    ("noret", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry k() { }\n"),
    ("nonascii", ".version 7.0\n.target sm_52\n.address_size 64\n// é\n.visible .entry k() { ret; }\n"),
    ("nonascii.code", ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry ké() { ret; }\n"),
    (
        "tex",
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .global .texref t;\n.visible .entry k() { ret; }\n",
    ),
];

const FORMS: &str = include_str!("../../../../tests/hw/forms.tsv");

/// The size of the register that holds an input or an output.
fn bits(ty: &str) -> u32 {
    match ty {
        "i16" | "f16" | "bf16" | "b16" => 16,
        "i64" | "f64" | "b64" => 64,
        _ => 32,
    }
}

#[test]
fn instructions_that_ran_on_the_hardware_are_taken() {
    let mut count = 0;
    for line in FORMS.lines().filter(|l| !l.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [group, name, _, _, inputs, outputs, body] = columns[..] else { panic!("{line}") };
        let (outside, body) = body.split_once(" ## ").unwrap_or(("", body));
        let (head, kernel) = match group {
            "ptx1" => (".version 1.3\n.target sm_13\n", ".entry k {\n.param .u64 in;"),
            "ptx6" => (".version 6.3\n.target sm_60\n.address_size 64\n", ".entry k(.param .u64 in) {"),
            _ => (".version 8.6\n.target sm_90\n.address_size 64\n", ".entry k(.param .u64 in) {"),
        };
        let mut source = format!(
            "{head}{outside}\n.visible {kernel}\n\
             .reg .b16 %h<8>; .reg .b32 %t<16>, %i, %s; .reg .b64 %q<16>, %m, %l, %v0; .reg .pred %p<4>;\n"
        );
        let operands = inputs.split(',').zip(["%a", "%b", "%c", "%e"]);
        for (ty, register) in operands.chain(outputs.split(',').zip(["%d", "%x", "%y"])) {
            source.push_str(&format!(".reg .b{} {register};\n", bits(ty)));
        }
        source.push_str(&format!("{body}\nret;\n}}\n"));
        if let Err(errors) = ptx::parse(&source) {
            panic!("{name}\n{}", errors[0].render("form", &source, false));
        }
        count += 1;
    }
    assert!(count > 2000);
}
