//! Scalar instructions. Their sources are the first lane's, and each lane has the result; SCC becomes its bit
//! of VCC.

use super::{After, Check, Form, Kind};

/// The result, and SCC.
type Model = fn(u64, u64, bool, u64) -> (u64, Option<bool>);

fn low(v: u64) -> u32 {
    v as u32
}

fn with(v: u32) -> (u64, Option<bool>) {
    (v.into(), Some(v != 0))
}

fn wide(v: u64) -> (u64, Option<bool>) {
    (v, Some(v != 0))
}

fn plain(v: u32) -> (u64, Option<bool>) {
    (v.into(), None)
}

fn highest(v: u64, bits: u32) -> u32 {
    if v == 0 { u32::MAX } else { v.leading_zeros() - (64 - bits) }
}

fn lowest(v: u64) -> u32 {
    if v == 0 { u32::MAX } else { v.trailing_zeros() }
}

fn shifted(a: u64, b: u64, by: u32) -> (u64, Option<bool>) {
    let sum = (u64::from(low(a)) << by) + u64::from(low(b));
    (u64::from(low(sum)), Some(sum >> 32 != 0))
}

fn field(a: u64, b: u64, bits: u32, signed: bool) -> (u64, Option<bool>) {
    let (at, length) = ((b as u32) & (bits - 1), (b as u32) >> 16 & 0x7f);
    // Bits beyond the top are the sign, or zeros.
    let a = if bits == 32 { if signed { low(a) as i32 as i64 as u64 } else { u64::from(low(a)) } } else { a };
    let moved = if signed { ((a as i64) >> at) as u64 } else { a >> at };
    let length = length.min(bits);
    let value = match length {
        0 => 0,
        64 => moved,
        _ if signed => (((moved << (64 - length)) as i64) >> (64 - length)) as u64,
        _ => moved & ((1 << length) - 1),
    };
    if bits == 32 { with(low(value)) } else { wide(value) }
}

fn quads(v: u64) -> u64 {
    (0..16).fold(0, |all, n| all | u64::from(v >> (4 * n) & 15 != 0) << n)
}

fn whole_quads(v: u64) -> u64 {
    (0..16).fold(0, |all, n| all | if v >> (4 * n) & 15 != 0 { 15 << (4 * n) } else { 0 })
}

/// The text, the words of the result and the sources, and the model, whose last argument is the old result.
const ROWS: &[(&str, [u32; 3], Model)] = &[
    ("s_mov_b32 D, A", [1, 1, 0], |a, _, _, _| plain(low(a))),
    ("s_mov_b64 D, A", [2, 2, 0], |a, _, _, _| (a, None)),
    ("s_movk_i32 D, 0x9234", [1, 0, 0], |_, _, _, _| plain(0xffff_9234)),
    ("s_cmov_b32 D, A", [1, 1, 0], |a, _, c, d| plain(if c { low(a) } else { low(d) })),
    ("s_cmov_b64 D, A", [2, 2, 0], |a, _, c, d| (if c { a } else { d }, None)),
    ("s_cmovk_i32 D, -3", [1, 0, 0], |_, _, c, d| plain(if c { -3i32 as u32 } else { low(d) })),
    ("s_cselect_b32 D, A, B", [1, 1, 1], |a, b, c, _| plain(low(if c { a } else { b }))),
    ("s_cselect_b64 D, A, B", [2, 2, 2], |a, b, c, _| (if c { a } else { b }, None)),
    ("s_not_b32 D, A", [1, 1, 0], |a, _, _, _| with(!low(a))),
    ("s_not_b64 D, A", [2, 2, 0], |a, _, _, _| wide(!a)),
    ("s_brev_b32 D, A", [1, 1, 0], |a, _, _, _| plain(low(a).reverse_bits())),
    ("s_brev_b64 D, A", [2, 2, 0], |a, _, _, _| (a.reverse_bits(), None)),
    ("s_abs_i32 D, A", [1, 1, 0], |a, _, _, _| with((low(a) as i32).wrapping_abs() as u32)),
    ("s_absdiff_i32 D, A, B", [1, 1, 1], |a, b, _, _| {
        with((low(a).wrapping_sub(low(b)) as i32).wrapping_abs() as u32)
    }),
    ("s_bcnt0_i32_b32 D, A", [1, 1, 0], |a, _, _, _| with(low(a).count_zeros())),
    ("s_bcnt0_i32_b64 D, A", [1, 2, 0], |a, _, _, _| with(a.count_zeros())),
    ("s_bcnt1_i32_b32 D, A", [1, 1, 0], |a, _, _, _| with(low(a).count_ones())),
    ("s_bcnt1_i32_b64 D, A", [1, 2, 0], |a, _, _, _| with(a.count_ones())),
    ("s_ff0_i32_b32 D, A", [1, 1, 0], |a, _, _, _| plain(lowest(u64::from(!low(a))))),
    ("s_ff0_i32_b64 D, A", [1, 2, 0], |a, _, _, _| plain(lowest(!a))),
    ("s_ff1_i32_b32 D, A", [1, 1, 0], |a, _, _, _| plain(lowest(u64::from(low(a))))),
    ("s_ff1_i32_b64 D, A", [1, 2, 0], |a, _, _, _| plain(lowest(a))),
    ("s_flbit_i32_b32 D, A", [1, 1, 0], |a, _, _, _| plain(highest(u64::from(low(a)), 32))),
    ("s_flbit_i32_b64 D, A", [1, 2, 0], |a, _, _, _| plain(highest(a, 64))),
    ("s_flbit_i32 D, A", [1, 1, 0], |a, _, _, _| {
        let same = if low(a) >> 31 == 1 { !low(a) } else { low(a) };
        plain(highest(u64::from(same), 32))
    }),
    ("s_flbit_i32_i64 D, A", [1, 2, 0], |a, _, _, _| plain(highest(if a >> 63 == 1 { !a } else { a }, 64))),
    ("s_sext_i32_i8 D, A", [1, 1, 0], |a, _, _, _| plain(a as i8 as u32)),
    ("s_sext_i32_i16 D, A", [1, 1, 0], |a, _, _, _| plain(a as i16 as u32)),
    ("s_bitset0_b32 D, A", [1, 1, 0], |a, _, _, d| plain(low(d) & !(1 << (a & 31)))),
    ("s_bitset1_b32 D, A", [1, 1, 0], |a, _, _, d| plain(low(d) | 1 << (a & 31))),
    ("s_bitset0_b64 D, A", [2, 1, 0], |a, _, _, d| (d & !(1 << (a & 63)), None)),
    ("s_bitset1_b64 D, A", [2, 1, 0], |a, _, _, d| (d | 1 << (a & 63), None)),
    ("s_bitreplicate_b64_b32 D, A", [2, 1, 0], |a, _, _, _| {
        ((0..32).fold(0, |all, n| all | ((a >> n & 1) * (3 << (2 * n)))), None)
    }),
    ("s_quadmask_b32 D, A", [1, 1, 0], |a, _, _, _| with(low(quads(u64::from(low(a)))))),
    ("s_quadmask_b64 D, A", [2, 2, 0], |a, _, _, _| wide(quads(a))),
    ("s_wqm_b32 D, A", [1, 1, 0], |a, _, _, _| with(low(whole_quads(u64::from(low(a)))))),
    ("s_wqm_b64 D, A", [2, 2, 0], |a, _, _, _| wide(whole_quads(a))),
    ("s_and_b32 D, A, B", [1, 1, 1], |a, b, _, _| with(low(a & b))),
    ("s_or_b64 D, A, B", [2, 2, 2], |a, b, _, _| wide(a | b)),
    ("s_xor_b32 D, A, B", [1, 1, 1], |a, b, _, _| with(low(a ^ b))),
    ("s_andn2_b64 D, A, B", [2, 2, 2], |a, b, _, _| wide(a & !b)),
    ("s_orn2_b32 D, A, B", [1, 1, 1], |a, b, _, _| with(low(a | !b))),
    ("s_nand_b64 D, A, B", [2, 2, 2], |a, b, _, _| wide(!(a & b))),
    ("s_nor_b32 D, A, B", [1, 1, 1], |a, b, _, _| with(low(!(a | b)))),
    ("s_xnor_b64 D, A, B", [2, 2, 2], |a, b, _, _| wide(!(a ^ b))),
    ("s_add_u32 D, A, B", [1, 1, 1], |a, b, _, _| {
        let (sum, carry) = low(a).overflowing_add(low(b));
        (sum.into(), Some(carry))
    }),
    ("s_sub_u32 D, A, B", [1, 1, 1], |a, b, _, _| {
        let (value, borrow) = low(a).overflowing_sub(low(b));
        (value.into(), Some(borrow))
    }),
    ("s_addc_u32 D, A, B", [1, 1, 1], |a, b, c, _| {
        let sum = u64::from(low(a)) + u64::from(low(b)) + u64::from(c);
        (u64::from(low(sum)), Some(sum >> 32 != 0))
    }),
    ("s_subb_u32 D, A, B", [1, 1, 1], |a, b, c, _| {
        let value = i64::from(low(a)) - i64::from(low(b)) - i64::from(c);
        (u64::from(value as u32), Some(value < 0))
    }),
    ("s_add_i32 D, A, B", [1, 1, 1], |a, b, _, _| {
        let (sum, over) = (low(a) as i32).overflowing_add(low(b) as i32);
        (u64::from(sum as u32), Some(over))
    }),
    ("s_sub_i32 D, A, B", [1, 1, 1], |a, b, _, _| {
        let (value, over) = (low(a) as i32).overflowing_sub(low(b) as i32);
        (u64::from(value as u32), Some(over))
    }),
    ("s_addk_i32 D, 0x8001", [1, 0, 0], |_, _, _, d| {
        let (sum, over) = (low(d) as i32).overflowing_add(-32767);
        (u64::from(sum as u32), Some(over))
    }),
    ("s_mulk_i32 D, 0x8001", [1, 0, 0], |_, _, _, d| plain(low(d).wrapping_mul(-32767i32 as u32))),
    ("s_mul_i32 D, A, B", [1, 1, 1], |a, b, _, _| plain(low(a).wrapping_mul(low(b)))),
    ("s_mul_hi_u32 D, A, B", [1, 1, 1], |a, b, _, _| {
        plain(((u64::from(low(a)) * u64::from(low(b))) >> 32) as u32)
    }),
    ("s_mul_hi_i32 D, A, B", [1, 1, 1], |a, b, _, _| {
        plain(((i64::from(low(a) as i32) * i64::from(low(b) as i32)) >> 32) as u32)
    }),
    ("s_min_i32 D, A, B", [1, 1, 1], |a, b, _, _| {
        let (a, b) = (low(a) as i32, low(b) as i32);
        (u64::from(a.min(b) as u32), Some(a < b))
    }),
    ("s_min_u32 D, A, B", [1, 1, 1], |a, b, _, _| (low(a).min(low(b)).into(), Some(low(a) < low(b)))),
    ("s_max_i32 D, A, B", [1, 1, 1], |a, b, _, _| {
        let (a, b) = (low(a) as i32, low(b) as i32);
        (u64::from(a.max(b) as u32), Some(a > b))
    }),
    ("s_bitcmp0_b64 A, B", [0, 2, 1], |a, b, _, d| (d, Some(a >> (b & 63) & 1 == 0))),
    ("s_max_u32 D, A, B", [1, 1, 1], |a, b, _, _| (low(a).max(low(b)).into(), Some(low(a) > low(b)))),
    ("s_lshl_b32 D, A, B", [1, 1, 1], |a, b, _, _| with(low(a) << (b & 31))),
    ("s_lshl_b64 D, A, B", [2, 2, 1], |a, b, _, _| wide(a << (b & 63))),
    ("s_lshr_b32 D, A, B", [1, 1, 1], |a, b, _, _| with(low(a) >> (b & 31))),
    ("s_lshr_b64 D, A, B", [2, 2, 1], |a, b, _, _| wide(a >> (b & 63))),
    ("s_ashr_i32 D, A, B", [1, 1, 1], |a, b, _, _| with((low(a) as i32 >> (b & 31)) as u32)),
    ("s_ashr_i64 D, A, B", [2, 2, 1], |a, b, _, _| wide((a as i64 >> (b & 63)) as u64)),
    ("s_lshl1_add_u32 D, A, B", [1, 1, 1], |a, b, _, _| shifted(a, b, 1)),
    ("s_lshl2_add_u32 D, A, B", [1, 1, 1], |a, b, _, _| shifted(a, b, 2)),
    ("s_lshl3_add_u32 D, A, B", [1, 1, 1], |a, b, _, _| shifted(a, b, 3)),
    ("s_lshl4_add_u32 D, A, B", [1, 1, 1], |a, b, _, _| shifted(a, b, 4)),
    ("s_bfe_u32 D, A, B", [1, 1, 1], |a, b, _, _| field(a, b, 32, false)),
    ("s_bfe_i32 D, A, B", [1, 1, 1], |a, b, _, _| field(a, b, 32, true)),
    ("s_bfe_u64 D, A, B", [2, 2, 1], |a, b, _, _| field(a, b, 64, false)),
    ("s_bfe_i64 D, A, B", [2, 2, 1], |a, b, _, _| field(a, b, 64, true)),
    ("s_bfm_b32 D, A, B", [1, 1, 1], |a, b, _, _| plain(((1u32 << (a & 31)) - 1) << (b & 31))),
    ("s_bfm_b64 D, A, B", [2, 1, 1], |a, b, _, _| (((1u64 << (a & 63)) - 1) << (b & 63), None)),
    ("s_bitcmp0_b32 A, B", [0, 1, 1], |a, b, _, d| (d, Some(a >> (b & 31) & 1 == 0))),
    ("s_bitcmp1_b64 A, B", [0, 2, 1], |a, b, _, d| (d, Some(a >> (b & 63) & 1 == 1))),
    ("s_cmp_lt_i32 A, B", [0, 1, 1], |a, b, _, d| (d, Some((low(a) as i32) < low(b) as i32))),
    ("s_cmp_ge_u32 A, B", [0, 1, 1], |a, b, _, d| (d, Some(low(a) >= low(b)))),
    ("s_cmp_lg_u64 A, B", [0, 2, 2], |a, b, _, d| (d, Some(a != b))),
    ("s_cmpk_gt_i32 A, -2", [0, 1, 0], |a, _, _, d| (d, Some(low(a) as i32 > -2))),
    ("s_cmpk_le_u32 A, 0xfffe", [0, 1, 0], |a, _, _, d| (d, Some(low(a) <= 0xfffe))),
    ("s_pack_ll_b32_b16 D, A, B", [1, 1, 1], |a, b, _, _| plain(low(a & 0xffff | b << 16))),
    ("s_pack_lh_b32_b16 D, A, B", [1, 1, 1], |a, b, _, _| plain(low(a & 0xffff) | low(b) & 0xffff_0000)),
    ("s_pack_hh_b32_b16 D, A, B", [1, 1, 1], |a, b, _, _| plain(low(a) >> 16 | low(b) & 0xffff_0000)),
    ("s_movrels_b32 D, s20", [1, 0, 0], |a, _, _, _| plain((a >> 32) as u32)),
];

/// What happens to EXEC: the instruction, whose other result is the old EXEC, or the new one.
type Masks = fn(u64, u64) -> u64;
const EXEC: &[(&str, Masks)] = &[
    ("s_and_saveexec_b64", |a, exec| a & exec),
    ("s_or_saveexec_b64", |a, exec| a | exec),
    ("s_xor_saveexec_b64", |a, exec| a ^ exec),
    ("s_andn2_saveexec_b64", |a, exec| a & !exec),
    ("s_orn2_saveexec_b64", |a, exec| a | !exec),
    ("s_nand_saveexec_b64", |a, exec| !(a & exec)),
    ("s_nor_saveexec_b64", |a, exec| !(a | exec)),
    ("s_xnor_saveexec_b64", |a, exec| !(a ^ exec)),
    ("s_andn1_saveexec_b64", |a, exec| !a & exec),
    ("s_orn1_saveexec_b64", |a, exec| !a | exec),
    ("s_andn1_wrexec_b64", |a, exec| !a & exec),
    ("s_andn2_wrexec_b64", |a, exec| a & !exec),
];

/// A register, or a pair.
fn register(first: u32, words: u32) -> String {
    if words == 2 { format!("s[{first}:{}]", first + 1) } else { format!("s{first}") }
}

/// Moves lanes' values to scalar registers and back: the sources are those of lane 7.
fn form(
    text: &str,
    words: [u32; 3],
    model: impl Fn(u64, u64, bool, u64) -> (u64, Option<bool>) + 'static,
) -> Form {
    let place = |word: &str| match word.trim_end_matches(',') {
        "D" => word.replace('D', &register(24, words[0])),
        "A" => word.replace('A', &register(20, words[1])),
        "B" => word.replace('B', &register(22, words[2])),
        _ => word.to_owned(),
    };
    let own = text.split(' ').map(place).collect::<Vec<_>>().join(" ");
    let text = format!(
        "v_readlane_b32 s20, v4, 7 \n v_readlane_b32 s21, v5, 7 \n v_readlane_b32 s22, v6, 7 \n \
         v_readlane_b32 s23, v7, 7 \n v_readlane_b32 s24, v10, 7 \n v_readlane_b32 s25, v11, 7 \n s_mov_b32 m0, 1 \n \
         s_bitcmp1_b32 s22, 3 \n {own} \n s_cselect_b64 vcc, -1, 0 \n v_mov_b32 v20, s24 \n v_mov_b32 v21, s25"
    );
    let model = Box::new(move |wave: super::Wave<'_>| {
        let l = wave.lanes[7];
        let scc = l.b >> 3 & 1 == 1;
        let (value, after) = model(l.a, l.b, scc, l.d);
        // What the instruction does not write stays.
        let value = if words[0] == 2 || words[0] == 0 { value } else { value | l.d >> 32 << 32 };
        After { value, vcc: Some(after.unwrap_or(scc)) }
    });
    Form {
        text,
        words: [2, 2, 2, 2],
        inputs: [Kind::Double, Kind::Word, Kind::Word],
        check: Check::Bits(64),
        model,
    }
}

pub fn forms() -> Vec<Form> {
    let mut list: Vec<Form> = ROWS.iter().map(|&(text, words, model)| form(text, words, model)).collect();
    for &(name, masks) in EXEC {
        let set = "s_mov_b64 exec, B \n";
        let text = format!("{set} {name} s[26:27], A \n s_mov_b64 D, exec \n s_mov_b64 exec, -1");
        list.push(form(&text, [2, 2, 2], move |a, b, _, _| wide(masks(a, b))));
        let kept_old = name.contains("save");
        let text = format!("{set} {name} D, A \n s_mov_b64 exec, -1");
        let model = move |a, b, _, _| (if kept_old { b } else { masks(a, b) }, wide(masks(a, b)).1);
        list.push(form(&text, [2, 2, 2], model));
    }
    list.push(Form {
        text: "v_readlane_b32 s20, v4, 7 \n v_writelane_b32 D, s20, 9".into(),
        words: [1, 1, 0, 0],
        inputs: [Kind::Word; 3],
        check: Check::Bits(32),
        model: Box::new(|wave| {
            let value = if wave.index == 9 { wave.lanes[7].a } else { wave.own().d };
            After { value: value & 0xffff_ffff, vcc: None }
        }),
    });
    list
}

/// What gfx1100 has first.
pub fn gfx1100() -> Vec<Form> {
    let pack: Model = |a, b, _, _| plain(low(a) >> 16 | low(b) << 16);
    vec![form("s_pack_hl_b32_b16 D, A, B", [1, 1, 1], pack)]
}
