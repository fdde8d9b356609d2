//! docs/gcn-lowered.md lists which instructions are lowered. `UPDATE_EXPECT=1 cargo test -p cpu --test gcn
//! forms` writes it: each row of the decoder's tables becomes an encoded instruction, which is decoded and
//! lowered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use gcn::Target;
use gcn::isa::{Decoder, Inst};
use wave::Module;
use wave::verify::verify;

/// The targets, their tables, and the lanes of their waves.
const TARGETS: &[(&str, &str, u32)] = &[
    ("gfx900", include_str!("../../../gcn/tables/gfx9.tsv"), 64),
    ("gfx906", include_str!("../../../gcn/tables/gfx9.tsv"), 64),
    ("gfx908", include_str!("../../../gcn/tables/gfx9.tsv"), 64),
    ("gfx90a", include_str!("../../../gcn/tables/gfx9.tsv"), 64),
    ("gfx942", include_str!("../../../gcn/tables/gfx9.tsv"), 64),
    ("gfx1010", include_str!("../../../gcn/tables/gfx10.tsv"), 32),
    ("gfx1030", include_str!("../../../gcn/tables/gfx10.tsv"), 32),
    ("gfx1100", include_str!("../../../gcn/tables/gfx11.tsv"), 32),
    ("gfx1201", include_str!("../../../gcn/tables/gfx12.tsv"), 32),
];

const INTRODUCTION: &str = "# AMD instructions that are lowered

The instructions of [gcn.md](gcn.md) that `crates/gcn-lower` lowers to wave IR. Memory accesses are left out,
except image instructions. `UPDATE_EXPECT=1 cargo test -p cpu --test gcn forms` writes this file: each form is
encoded with plain registers, decoded and lowered. Branches, the end of a program and the program counter
belong to the lowering of whole kernels and are not listed. `crates/gcn-lower/tables/` says what the
instructions compute. `crates/cpu/tests/gcn` compares those of gfx906, and the ones that other targets add,
with models: `values.rs` what lanes compute, `matrices.rs` matrix products, `images.rs` image reads.

A form is the name with its encoding's ending: `_sdwa` for parts of registers, `_dpp` for data of other lanes.
";

/// A field: its parts' highest and lowest bits, the highest part first.
type Field = Vec<(u32, u32)>;

/// An encoding: its fixed bits, and its fields by their names.
type Layout<'a> = (u128, Vec<(&'a str, Field)>);

fn field(text: &str) -> Field {
    let parts = text.split(['*', '^']).next().unwrap_or("").split(',');
    let number = |t: &str| t.parse().expect("a bit");
    let ends = |part: &str| {
        let (high, low) = part.split_once(':').unwrap_or((part, part));
        (number(high), number(low))
    };
    parts.map(ends).collect()
}

fn width(field: &Field) -> u32 {
    field.iter().map(|(high, low)| high - low + 1).sum()
}

fn put(bits: &mut u128, field: &Field, mut value: u128) {
    for (high, low) in field.iter().rev() {
        let size = high - low + 1;
        let mask = (1u128 << size) - 1;
        *bits = *bits & !(mask << low) | (value & mask) << low;
        value >>= size;
    }
}

/// Kinds of sources, tried in order until the decoder takes one: VGPRs, SGPRs, constants.
const SOURCES: [u128; 3] = [0x104, 4, 0x81];

/// The value of a field.
fn value(name: &str, width: u32, sources: [u128; 3]) -> u128 {
    let number = name.as_bytes().get(3).map_or(0, |digit| usize::from(digit.wrapping_sub(b'0')));
    let source = sources.get(number).copied().unwrap_or(0x104);
    match name {
        "src0" | "src1" | "src2" | "src0X" | "src0Y" if width >= 9 => source,
        "src0" | "src1" | "src2" if width == 8 => {
            if source == 0x81 {
                0x81
            } else {
                4
            }
        }
        "vdst" => 8,
        "sdst" => 8,
        "dst_sel" | "src0_sel" | "src1_sel" => 6,
        "row_mask" | "bank_mask" => 15,
        "idx" => 0x104,
        "fi" if width == 9 => 0xe9,
        // A register for the mode.
        "simm16" => 1,
        "op_sel_hi0" | "op_sel_hi1" | "op_sel_hi2" => 1,
        _ => 0,
    }
}

/// The instructions of a target: a form's name, and whether it is lowered.
fn forms(target: &str, table: &str, lanes: u32) -> BTreeMap<String, Result<(), String>> {
    let known = Target::of_name(target).expect("a target");
    let decoder = Decoder::new(known, lanes).expect("a decoder");
    let mut encodings: BTreeMap<&str, Layout> = BTreeMap::new();
    let mut all: BTreeMap<String, Result<(), String>> = BTreeMap::new();
    for line in table.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        if let ["encoding", name, _, fixed, fields] = columns[..] {
            let mut bits = 0;
            for word in fixed.split(' ') {
                let (digits, place) = word.split_once('@').expect("fixed bits");
                put(&mut bits, &field(place), u128::from_str_radix(digits, 2).expect("bits"));
            }
            let fields = fields.split(' ').filter_map(|word| word.split_once('@'));
            encodings.insert(name, (bits, fields.map(|(name, place)| (name, field(place))).collect()));
            continue;
        }
        let [encoding, opcode, form, operands, ..] = columns[..] else { panic!("a row: {line}") };
        let here = |t: &str| t == target || t == format!("{target}:{lanes}");
        if columns.get(4).is_some_and(|only| !only.split(' ').any(here)) {
            continue;
        }
        // Halves of dual instructions are instructions that have a form of their own.
        let computes = (form.starts_with("s_") || form.starts_with("v_") || form.starts_with("image_"))
            && !["SMEM", "VOPDX", "VOPDY"].contains(&encoding);
        if !computes {
            continue;
        }
        let opcode = u128::from_str_radix(opcode.trim_start_matches("0x"), 16).expect("an opcode");
        let (fixed, fields) = &encodings[encoding];
        let sources = |n: usize| [SOURCES[n % 3], SOURCES[n / 3 % 3], SOURCES[n / 9 % 3]];
        let choices = (0..54).map(|n| (sources(n), if n < 27 { 0x1b } else { 0x150 }));
        let decoded = choices.into_iter().find_map(|(sources, dpp)| {
            let mut bits = *fixed;
            for (name, place) in fields {
                if *name == "dpp_ctrl" {
                    put(&mut bits, place, dpp);
                    continue;
                }
                let used = operands
                    .split([' ', ':', '=', '\''])
                    .any(|word| name.starts_with(word) && !word.is_empty());
                if *name == "op" {
                    put(&mut bits, place, opcode);
                } else if *name == "dim" {
                    // Two dimensions, with several samples where the instruction needs them.
                    put(&mut bits, place, if form == "image_msaa_load" { 6 } else { 1 });
                } else if *name == "dmask" {
                    put(&mut bits, place, if form.contains("cmpswap") { 3 } else { 1 });
                } else if used && *name != "any" {
                    put(&mut bits, place, value(name, width(place), sources));
                }
            }
            for ones in operands.split(' ').filter_map(|word| word.strip_prefix("one=")) {
                bits |= u128::from_str_radix(ones, 16).expect("a mask");
            }
            let inst = decoder.decode(&bits.to_le_bytes(), 0).ok()?;
            (inst.mnemonic() == form).then_some(inst)
        });
        let Some(inst) = decoded else { panic!("{target}: {form} of {encoding} is not decoded") };
        if is_flow(&inst) {
            continue;
        }
        let outcome = gcn_lower::lowers(&inst, known, lanes).map(|function| {
            let functions = vec![Arc::new(function)];
            let module = Module { name: "one".into(), image_align: 1, functions, ..Module::default() };
            if let Err(problems) = verify(&module) {
                panic!("{target}: {inst}: {problems:?}");
            }
        });
        let name = form.trim_end_matches("_e32").trim_end_matches("_e64").to_owned();
        // A form has more than one row: each must be lowered.
        let entry = all.entry(name).or_insert(Ok(()));
        if entry.is_ok() {
            *entry = outcome.map_err(|why| format!("{inst}: {why}"));
        }
    }
    all
}

/// Whether an instruction decides where the program goes on, or gives its place.
fn is_flow(inst: &Inst) -> bool {
    let name = inst.op.name();
    let known = [
        "s_branch",
        "s_endpgm",
        "s_endpgm_saved",
        "s_trap",
        "s_getpc_b64",
        "s_setpc_b64",
        "s_swappc_b64",
        "s_call_b64",
    ];
    name.starts_with("s_cbranch_") || name.starts_with("s_rfe") || known.contains(&name)
}

/// Wraps words into lines of at most 110 columns.
fn wrapped<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let (mut out, mut column) = (String::new(), 0);
    for word in words {
        if column > 0 && column + 1 + word.len() > 110 {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out + "\n"
}

#[test]
fn forms_that_are_lowered() {
    let mut out = INTRODUCTION.to_owned();
    for (target, table, lanes) in TARGETS {
        let all = forms(target, table, *lanes);
        let (lowered, rest): (Vec<_>, Vec<_>) = all.iter().partition(|(_, outcome)| outcome.is_ok());
        writeln!(out, "\n## {target}\n\n{} of {} forms are lowered.", lowered.len(), all.len())
            .expect("a text");
        let names = |list: &[(&String, &Result<(), String>)]| {
            let set: BTreeSet<String> = list.iter().map(|(name, _)| format!("`{name}`")).collect();
            wrapped(set.iter().map(String::as_str))
        };
        if !rest.is_empty() {
            write!(out, "\nNot lowered:\n\n{}", names(&rest)).expect("a text");
        }
        write!(out, "\nLowered:\n\n{}", names(&lowered)).expect("a text");
        if std::env::var_os("SHOW").is_some() {
            rest.iter().for_each(|(name, why)| println!("{target} {name}: {why:?}"));
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/gcn-lowered.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &out).expect("docs/gcn-lowered.md");
    }
    let on_disk = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        on_disk == out,
        "docs/gcn-lowered.md is out of date: UPDATE_EXPECT=1 cargo test -p cpu --test gcn forms"
    );
}
