//! Every vector instruction of gfx906 on many inputs, interpreted and compiled, against the models in
//! `model`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use cpu::{Engine, Program, Specialisation, Target};
use grid::{Launch, Workers};
use hwtruth::sample::{self, long};

use crate::ENGINES;
use crate::model::{self, Check, Form, Kind, Lane, Wave};
use crate::support::memory::{Aligned, Memory};

/// Lanes that run each form, and blocks that they are in.
const BLOCKS: u32 = 17;
const LANES: usize = BLOCKS as usize * 64;
/// Forms in a kernel.
const EACH: usize = 24;
/// Bits of VCC before each form.
const VCC: u64 = 0x9e37_79b9_7f4a_7c15;
/// Subnormal floats are kept.
const KEPT: &str = ".amdhsa_float_denorm_mode_32 3";
/// Active lanes; the forms alternate among these.
const EXEC: [u64; 3] = [u64::MAX, 0xaaaa_5555_f0f0_0ff1, 0];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.next() as usize % list.len()]
    }

    /// A number of a kind: special ones, small ones and random bits.
    fn input(&mut self, kind: Kind) -> u64 {
        let bits = self.next();
        match (kind, self.next() % 4) {
            (Kind::Word, 0) => {
                self.of(&[0, 1, 31, 32, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff, 0x8000])
            }
            (Kind::Word, 1) => bits & 0xff,
            (Kind::Word, _) => bits,
            (Kind::Float, 0) => self.of(&[
                0,
                0x8000_0000,
                0x3f80_0000,
                0xbf80_0000,
                0x7f80_0000,
                0xff80_0000,
                0x7fc0_0000,
                0x7f80_0001,
                0x0080_0000,
                0x007f_ffff,
                1,
                0x8000_0001,
                0x7f7f_ffff,
                0x3f00_0000,
                0x4f00_0000,
                0x4b00_0001,
            ]),
            // Numbers near one.
            (Kind::Float, 1 | 2) => (bits & 0x807f_ffff) | (0x78 + self.next() % 16) << 23,
            (Kind::Float, _) => bits,
            (Kind::Double, 0) => self.of(&[
                0,
                1 << 63,
                0x3ff0_0000_0000_0000,
                0xbff0_0000_0000_0000,
                0x7ff0_0000_0000_0000,
                0xfff0_0000_0000_0000,
                0x7ff8_0000_0000_0000,
                0x7ff0_0000_0000_0001,
                1,
                0x000f_ffff_ffff_ffff,
                0x0010_0000_0000_0000,
                0x7fef_ffff_ffff_ffff,
                0x41e0_0000_0000_0000,
                0x3fe0_0000_0000_0000,
            ]),
            (Kind::Double, 1 | 2) => bits & 0x800f_ffff_ffff_ffff | (0x3f8 + self.next() % 16) << 52,
            (Kind::Double, _) => bits,
            (Kind::Pair, _) => self.input(Kind::Float) & 0xffff_ffff | self.input(Kind::Float) << 32,
            (Kind::Halves, _) => u64::from(self.half()) | u64::from(self.half()) << 16,
            (Kind::Small, 0) => bits,
            (Kind::Small, 1) => (bits % 3000).wrapping_sub(1500),
            (Kind::Small, _) => (bits % 60).wrapping_sub(30),
        }
    }

    fn half(&mut self) -> u16 {
        match self.next() % 4 {
            0 => self.of(&[
                0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0x0400, 0x03ff, 1, 0x8001, 0x7bff,
                0x3800, 0x3400,
            ]),
            1 | 2 => self.next() as u16 & 0x83ff | ((8 + self.next() as u16 % 14) << 10),
            _ => self.next() as u16,
        }
    }
}

/// A register, or a pair.
fn register(first: u32, words: u32) -> String {
    if words == 2 { format!("v[{first}:{}]", first + 1) } else { format!("v{first}") }
}

/// The form's text with its registers.
fn text(form: &Form) -> String {
    let names = ["D", "A", "B", "C"].into_iter().zip([20, 4, 6, 8]).zip(form.words);
    let place = |word: &str| {
        let found = names
            .clone()
            .find(|((name, _), _)| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()) == *name);
        let sext = names.clone().find(|((name, _), _)| word.contains(&format!("sext({name})")));
        match found.or(sext) {
            Some(((name, first), words)) => word.replace(name, &register(first, words)),
            None => word.to_owned(),
        }
    };
    form.text.split(' ').map(place).collect::<Vec<_>>().join(" ")
}

/// What kernels are assembled for: the target, and lines of the descriptor.
struct Setup {
    target: &'static str,
    descriptor: &'static str,
    /// How many of the masks of active lanes the forms run with.
    turns: usize,
}

impl Setup {
    fn is_rdna(&self) -> bool {
        self.target.starts_with("gfx1")
    }

    /// Options of the assembler: waves of 64 lanes.
    fn options(&self) -> &'static [&'static str] {
        if self.is_rdna() { &["-mwavefrontsize64"] } else { &[] }
    }
}

/// Assembly that runs forms one after the other. The inputs are four doublewords a lane; each form leaves
/// three words a lane: the result's register pair and the lane's bit of VCC.
fn assembly(setup: &Setup, forms: &[(usize, &Form)]) -> String {
    let mut out = String::new();
    let mut line = |text: &str| writeln!(out, "{text}").expect("a text");
    line(".text\n.globl k\n.p2align 8\n.type k,@function\nk:");
    line("s_load_dwordx4 s[8:11], s[0:1], 0x0");
    // The block's number.
    line(if setup.target == "gfx1201" { "s_lshl_b32 s3, ttmp9, 6" } else { "s_lshl_b32 s3, s2, 6" });
    line(if setup.is_rdna() { "v_add_nc_u32 v1, s3, v0" } else { "v_add_u32 v1, s3, v0" });
    let late = setup.target == "gfx1201";
    line("v_lshlrev_b32 v2, 5, v1\nv_mul_u32_u24 v3, 12, v1");
    line(if late { "s_wait_kmcnt 0x0" } else { "s_waitcnt lgkmcnt(0)" });
    line("global_load_dwordx4 v[4:7], v2, s[8:9]\nglobal_load_dwordx4 v[8:11], v2, s[8:9] offset:16");
    line(if late { "s_wait_loadcnt 0x0" } else { "s_waitcnt vmcnt(0)" });
    for (number, form) in forms {
        let exec = EXEC[number % EXEC.len()];
        line("v_mov_b32 v20, v10\nv_mov_b32 v21, v11");
        line(&format!("s_mov_b32 vcc_lo, {:#x}\ns_mov_b32 vcc_hi, {:#x}", VCC as u32, VCC >> 32));
        line(&format!("s_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}", exec as u32, exec >> 32));
        line("s_nop 4");
        line(&text(form));
        line("s_mov_b64 exec, -1\ns_nop 4\nv_cndmask_b32 v22, 0, 1, vcc");
        line("global_store_dwordx3 v3, v[20:22], s[10:11]");
        line(&format!("s_add_u32 s10, s10, {}\ns_addc_u32 s11, s11, 0", LANES * 12));
    }
    line("s_endpgm\n.Lend:\n.size k, .Lend-k");
    line(".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1");
    line(".amdhsa_system_sgpr_workgroup_id_x 1\n.amdhsa_kernarg_size 16\n.amdhsa_next_free_vgpr 24");
    line(".amdhsa_next_free_sgpr 32");
    line(setup.descriptor);
    line(".end_amdhsa_kernel");
    out
}

fn is_near(got: u64, want: u64, bits: u32, units: u64) -> bool {
    let mask = u64::MAX >> (64 - bits);
    let (got, want) = (got & mask, want & mask);
    let fraction = match bits {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    let infinity = (mask >> 1) >> fraction << fraction;
    let is_nan = |v: u64| v & mask >> 1 > infinity;
    let ordered = |v: u64| {
        let size = (v & mask >> 1) as i64;
        if v >> (bits - 1) == 1 { -size } else { size }
    };
    got == want
        || is_nan(got) && is_nan(want)
        || units > 0 && !is_nan(got) && !is_nan(want) && ordered(got).abs_diff(ordered(want)) <= units
}

fn agrees(check: Check, got: u64, want: u64) -> bool {
    match check {
        Check::Bits(bits) => (got ^ want) << (64 - bits) == 0,
        // The rest of the register is zeros.
        Check::Float(16) => is_near(got, want, 16, 0) && got >> 16 & 0xffff == 0,
        Check::Float(bits) => is_near(got, want, bits, 0),
        Check::Near(bits, units) => is_near(got, want, bits, units.into()),
        Check::Words => is_near(got, want, 32, 0) && is_near(got >> 32, want >> 32, 32, 0),
        Check::Halves => is_near(got, want, 16, 0) && is_near(got >> 16, want >> 16, 16, 0),
    }
}

/// The words that a kernel leaves.
pub fn run(program: &Program, inputs: &[u8], size: usize, [blocks, lanes]: [u32; 2]) -> Vec<u32> {
    let id = program.module().function("k").expect("the kernel");
    let mut from = Aligned::new(inputs);
    let mut to = Aligned::zeroed(size);
    let params: Vec<u8> = [from.address(), to.address()].iter().flat_map(|a| a.to_le_bytes()).collect();
    let memory = Memory::new(vec![from.range(), to.range()]);
    let spec = Specialisation::of_launch([blocks, 1, 1], [lanes, 1, 1]);
    let made = program.kernel_for(id, spec).expect("code");
    let launch = Launch {
        name: "k",
        code: &*made.code,
        grid: [blocks, 1, 1],
        block: [lanes, 1, 1],
        params: &params,
        image: 0,
        shared: [0, 0],
        stack: 0,
        cluster: None,
        cooperative: false,
        most_workers: None,
        busy: None,
        spent: std::time::Duration::ZERO,
        id: 1,
        host: &memory,
    };
    Workers::new(1).run(&launch).expect("it runs");
    assert!(!from.bytes().is_empty());
    to.bytes().chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().expect("a word"))).collect()
}

/// Runs forms; returns what does not hold.
fn differences(
    setup: &Setup,
    forms: &[(usize, &Form)],
    engines: &[Engine],
    folder: &std::path::Path,
) -> Vec<String> {
    let kinds = forms[0].1.inputs;
    let mut random = Random(2026 + forms[0].0 as u64);
    let mut inputs: Vec<[u64; 4]> = Vec::new();
    for _ in 0..LANES {
        let [a, b, c] = kinds.map(|kind| random.input(kind));
        // Often the same as the first: comparisons.
        let b = if kinds[0] == kinds[1] && random.next().is_multiple_of(8) { a } else { b };
        inputs.push([a, b, c, random.input(kinds[0])]);
    }
    let bytes: Vec<u8> = inputs.iter().flatten().flat_map(|v| v.to_le_bytes()).collect();
    let source = folder.join("forms.s");
    std::fs::write(&source, assembly(setup, forms)).expect("a file");
    let object = match crate::assembled(&source, setup.target, setup.options(), &folder.join("forms.o")) {
        Ok(object) => object,
        Err(why) => return vec![why],
    };
    let module = match crate::lowered(&object) {
        Ok(module) => module,
        Err(why) => return vec![why],
    };
    let lanes: Vec<Lane> = inputs
        .iter()
        .enumerate()
        .map(|(index, &[a, b, c, d])| Lane { a, b, c, d, vcc: VCC >> (index % 64) & 1 == 1 })
        .collect();
    let mut failures = Vec::new();
    for &engine in engines {
        let program =
            Program::of_module(module.clone(), engine).expect("a program").for_target(Target::native());
        let words = run(&program, &bytes, LANES * 12 * forms.len(), [BLOCKS, 64]);
        for (place, (number, form)) in forms.iter().enumerate() {
            let exec = EXEC[number % EXEC.len()];
            let wrong = (0..LANES).find_map(|index| {
                let at = (place * LANES + index) * 3;
                let got = u64::from(words[at]) | u64::from(words[at + 1]) << 32;
                let flag = words[at + 2] == 1;
                let [a, b, c, d] = inputs[index];
                let vcc = VCC >> (index % 64) & 1 == 1;
                let first = index / 64 * 64;
                let wave = Wave { lanes: &lanes[first..first + 64], index: index % 64, exec };
                let after = (form.model)(wave);
                let active = exec >> (index % 64) & 1 == 1;
                let holds = if active {
                    let value =
                        agrees(form.check, got, after.value) && (form.words[0] == 2 || got >> 32 == d >> 32);
                    value && flag == after.vcc.unwrap_or(vcc)
                } else {
                    // A comparison clears the bits of other lanes.
                    got == d && flag == (after.vcc.is_none() && vcc)
                };
                (!holds).then(|| {
                    format!(
                        "{} ({engine:?}, lane {index}): a={a:x} b={b:x} c={c:x} d={d:x} vcc={vcc} gives \
                         {got:x}, {flag}; expected {:x}, {:?}",
                        form.text, after.value, after.vcc
                    )
                })
            });
            failures.extend(wrong);
        }
    }
    failures
}

fn every_form_holds(setup: &Setup, list: &[Form]) {
    if !crate::ready() {
        return;
    }
    let only = std::env::var("ONLY").unwrap_or_default();
    let folder = tempfile::tempdir().expect("a folder");
    let mut by_inputs: BTreeMap<[Kind; 3], Vec<(usize, &Form)>> = BTreeMap::new();
    for (number, form) in list.iter().filter(|form| form.text.contains(&only)).enumerate() {
        // Each form with all lanes active and with some, in the sample with one of these; a few with none.
        for exec in 0..setup.turns {
            let takes = if long() || setup.turns == 1 { exec < 2 } else { exec == number % 2 };
            if takes || number % 8 == 0 {
                by_inputs.entry(form.inputs).or_default().push((number * 3 + exec, form));
            }
        }
    }
    let mut failures = Vec::new();
    for group in by_inputs.values() {
        for (number, forms) in group.chunks(EACH).enumerate() {
            let engines = if number % sample::of(1, 6) == 0 { ENGINES } else { &ENGINES[..1] };
            failures.extend(differences(setup, forms, engines, folder.path()));
        }
    }
    assert!(failures.is_empty(), "{} do not hold:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn vector_instructions_compute_what_the_documents_say() {
    every_form_holds(&Setup { target: "gfx906", descriptor: KEPT, turns: 3 }, &model::all());
}

#[test]
fn instructions_obey_the_float_mode() {
    let mut list = Vec::new();
    model::modes::flushed(&mut list);
    let descriptor = ".amdhsa_float_denorm_mode_32 0\n.amdhsa_ieee_mode 0";
    every_form_holds(&Setup { target: "gfx906", descriptor, turns: 3 }, &list);
    let mut list = Vec::new();
    model::modes::rounded(&mut list);
    let descriptor = ".amdhsa_float_denorm_mode_32 3\n.amdhsa_float_round_mode_32 3";
    every_form_holds(&Setup { target: "gfx906", descriptor, turns: 3 }, &list);
    let mut list = Vec::new();
    model::modes::set(&mut list);
    every_form_holds(&Setup { target: "gfx906", descriptor: KEPT, turns: 3 }, &list);
}

#[test]
fn instructions_of_later_targets_compute_what_the_documents_say() {
    let mut list = Vec::new();
    model::rest::gfx900(&mut list);
    every_form_holds(&Setup { target: "gfx900", descriptor: KEPT, turns: 3 }, &list);
    let mut list = Vec::new();
    model::rest::gfx908(&mut list);
    every_form_holds(&Setup { target: "gfx908", descriptor: KEPT, turns: 3 }, &list);
    let mut list = Vec::new();
    model::later::gfx90a(&mut list);
    let descriptor = ".amdhsa_float_denorm_mode_32 3\n.amdhsa_accum_offset 24";
    every_form_holds(&Setup { target: "gfx90a", descriptor, turns: 3 }, &list);
    model::later::gfx942(&mut list);
    model::rest::gfx942(&mut list);
    every_form_holds(&Setup { target: "gfx942", descriptor, turns: 3 }, &list);
}

#[test]
fn scalar_instructions_compute_what_the_documents_say() {
    every_form_holds(&Setup { target: "gfx906", descriptor: KEPT, turns: 1 }, &model::scalars::forms());
}

#[test]
fn instructions_of_rdna_compute_what_the_documents_say() {
    let descriptor = ".amdhsa_float_denorm_mode_32 3\n.amdhsa_wavefront_size32 0";
    let mut list = Vec::new();
    model::rdna::gfx1030(&mut list);
    model::rest::gfx1030(&mut list);
    every_form_holds(&Setup { target: "gfx1030", descriptor, turns: 3 }, &list);
    model::rdna::gfx1100(&mut list);
    model::rest::gfx1100(&mut list);
    every_form_holds(&Setup { target: "gfx1100", descriptor, turns: 3 }, &list);
    every_form_holds(&Setup { target: "gfx1100", descriptor, turns: 1 }, &model::scalars::gfx1100());
    let mut list = Vec::new();
    model::rest::gfx1201(&mut list);
    every_form_holds(&Setup { target: "gfx1201", descriptor, turns: 3 }, &list);
}

/// The instructions of a table: the first name of each row.
fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let rows =
        table.lines().filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("def "));
    rows.filter_map(|line| line.split_whitespace().next()).map(|names| names.split('/').collect())
}

#[test]
fn every_row_of_the_tables_has_a_model() {
    let mut list = model::all();
    type More = fn(&mut Vec<Form>);
    let more: [More; 9] = [
        model::rest::gfx900,
        model::rest::gfx908,
        model::later::gfx90a,
        model::later::gfx942,
        model::rest::gfx942,
        model::rdna::gfx1030,
        model::rest::gfx1030,
        model::rdna::gfx1100,
        model::rest::gfx1100,
    ];
    for add in more {
        let mut others = Vec::new();
        add(&mut others);
        list.extend(others);
    }
    list.extend(model::scalars::forms());
    list.extend(model::scalars::gfx1100());
    let modelled: BTreeSet<&str> = list
        .iter()
        .flat_map(|form| form.text.split([' ', ',']))
        .map(|word| {
            ["_e64", "_sdwa", "_dpp"].iter().fold(word, |word, end| word.strip_suffix(end).unwrap_or(word))
        })
        .collect();
    let tables = [
        include_str!("../../../gcn-lower/tables/vector.txt"),
        include_str!("../../../gcn-lower/tables/scalar.txt"),
    ];
    let missing: Vec<Vec<&str>> = tables
        .into_iter()
        .flat_map(rows)
        .filter(|names| names.iter().all(|name| !modelled.contains(name)))
        .collect();
    assert!(missing.is_empty(), "without a model: {missing:?}");
}
