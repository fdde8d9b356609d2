//! docs/gcn.md lists what the tables have. `UPDATE_EXPECT=1 cargo test -p gcn --test all manual::` writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use gcn::Target;
use gcn::isa::Decoder;

/// The tables, their targets and what is missing in them.
const TABLES: &[(&str, &str, &[&str], &str)] = &[
    (
        "gfx9",
        include_str!("../../tables/gfx9.tsv"),
        &["gfx900", "gfx904", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"],
        "Missing: of gfx950 the conversions with a scale (`v_cvt_scalef32`), products with scales or of formats \
         that a field names (`v_mfma_scale`, `f8f6f4`), roundings with random bits (`v_cvt_sr`), and the rarest \
         forms of its other instructions.",
    ),
    (
        "gfx10",
        include_str!("../../tables/gfx10.tsv"),
        &["gfx1010", "gfx1011", "gfx1030"],
        "Missing: the instructions of ray tracing (`image_bvh`), which are refused as unknown.",
    ),
    (
        "gfx11",
        include_str!("../../tables/gfx11.tsv"),
        &["gfx1100", "gfx1150"],
        "Missing: the instructions of ray tracing (`image_bvh`), which are refused as unknown. VOPDX and \
         VOPDY are the two halves of dual instructions (VOPD), of waves of 32 lanes.",
    ),
    (
        "gfx12",
        include_str!("../../tables/gfx12.tsv"),
        &["gfx1201"],
        "Missing: the instructions of ray tracing (`image_bvh`), which are refused as unknown.",
    ),
];

const INTRODUCTION: &str = "# AMD instructions

The instructions that the decoder of `crates/gcn` reads.
`UPDATE_EXPECT=1 cargo test -p gcn --test all manual::` writes this file from the tables in
`crates/gcn/tables`, and the test fails if the file is out of date.

Every form listed here is decoded and printed. `crates/gcn/tests/all/oracle.rs` compares texts and refusals
with LLVM 19's disassembler, on random instructions of all encodings and on code that clang compiles;
`cargo run -p gcn --example oracle -- gfx906 1000000` compares more. Instructions that LLVM marks as invalid
in a comment are refused. `crates/gcn-lower` lowers a part of the forms ([gcn-lowered.md](gcn-lowered.md)). A
kernel that uses others cannot run, and the log names it when its module is loaded.

The encodings have AMD's names. After them, S stands for SDWA, D for DPP of 16 lanes, D8 for DPP of 8 lanes, K
and L for a constant of 32 bits, B for a scalar result beside the vector result, I for interpolation.

Targets that are not columns have the instructions of one that is: gfx902, gfx909 and gfx90c those of gfx900;
gfx940 and gfx941 those of gfx942; gfx1012 those of gfx1011; gfx1013 and gfx10-1-generic those of gfx1010;
gfx1031 to gfx1036 and gfx10-3-generic those of gfx1030; gfx1101 to gfx1103 and gfx11-generic those of
gfx1100; gfx1151 to gfx1153 those of gfx1150; gfx1200 and gfx12-generic those of gfx1201. gfx9-generic has
those of gfx900 without `v_mad_mix`. Others, such as gfx803, are refused by name.

Code objects of versions 2 to 6 are read. HCC wrote version 2, and clang up to 16 can.

Differences from LLVM: its behaviour is undefined for reserved selections of SDWA (`dst_sel:7`), and for
special registers where more than 64 bits are needed. Here they are refused.

LLVM 20 and later emit two encodings by default that LLVM 19 does not read. In 16-bit instructions of gfx11
and gfx12, operands can be the upper halves of registers: by the register's number, which prints as `v1.h`, or
by `op_sel`. In both cases the decoded instruction has a control `op_sel`. From gfx10 on, the fields of
sources that an opcode does not have are 0x80. The tests compare such instructions with LLVM 19 without these.

Image instructions whose fields do not agree on the number of registers, which LLVM prints as if the fields
were others, are refused.

LLVM 19 misplaces a bar in `v_cndmask_b32_dpp` on gfx12 (`|v1, vcc|`); here it is in the right place.

gfx1010 to gfx1013 lack a register (`HW_REG_SHADER_CYCLES`) and a counter of `s_waitcnt_depctr`, so LLVM's
text has no names for them there, and have another register (`HW_REG_XNACK_MASK`). Here the names are those of
gfx1030.

LLVM 19 does not know gfx950: `crates/gcn/tests/all/recorded.rs` has texts and refusals of LLVM 22's
disassembler.

Two habits of LLVM are kept: unaligned scalar registers of several words are rounded down, and apertures
(`src_shared_base`) are accepted where only vector registers are legal.
";

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

fn section(out: &mut String, name: &str, table: &str, targets: &[&str], missing: &str) {
    let mut counts: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut order = Vec::new();
    for line in table.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        match columns.as_slice() {
            ["encoding", encoding, bits, ..] => order.push((*encoding, *bits)),
            [encoding, _, form, _, rest @ ..] => {
                let count = counts.entry(encoding).or_insert_with(|| vec![0; targets.len()]);
                for (count, target) in count.iter_mut().zip(targets) {
                    *count +=
                        usize::from(rest.first().is_none_or(|only| {
                            only.split(' ').any(|t| t.split(':').next() == Some(*target))
                        }));
                }
                names.entry(encoding).or_default().insert(form);
            }
            _ => panic!("{name}: {line}"),
        }
    }
    let about = format!("{missing} The numbers are those of opcodes.");
    writeln!(out, "\n## {name}\n\n{}", wrapped(about.split(' '))).expect("a string");
    writeln!(out, "| encoding | bits | {} |", targets.join(" | ")).expect("a string");
    writeln!(out, "|---|---:|{}", "---:|".repeat(targets.len())).expect("a string");
    for (encoding, bits) in &order {
        let numbers: Vec<String> = counts[encoding].iter().map(usize::to_string).collect();
        writeln!(out, "| {encoding} | {bits} | {} |", numbers.join(" | ")).expect("a string");
    }
    for (encoding, _) in &order {
        write!(out, "\n{encoding}:\n\n```text\n{}```\n", wrapped(names[encoding].iter().copied()))
            .expect("a string");
    }
}

#[test]
fn the_document_lists_every_form() {
    let mut text = INTRODUCTION.to_owned();
    for (name, table, targets, missing) in TABLES {
        section(&mut text, name, table, targets, missing);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/gcn.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, &text).expect("docs/gcn.md is written");
    }
    let now = std::fs::read_to_string(path).unwrap_or_default();
    assert!(now == text, "docs/gcn.md is out of date: UPDATE_EXPECT=1 cargo test -p gcn --test all manual::");
}

/// Every target's table can be read, and the list above has all tables.
#[test]
fn every_table_is_read() {
    let mut known = 0;
    for name in Decoder::targets() {
        let target = Target::of_name(name).expect("a target");
        assert!(Decoder::new(target, 64).is_some(), "{name}: its table breaks the rules");
        known += usize::from(TABLES.iter().any(|(_, _, targets, _)| targets.contains(&name)));
    }
    assert_eq!(known, TABLES.iter().map(|t| t.2.len()).sum::<usize>());
}
