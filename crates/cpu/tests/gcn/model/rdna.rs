//! Instructions of gfx1030 and gfx1100, in waves of 64 lanes.

use super::floats::most;
use super::halves::{fused, of, to};
use super::modes::toward_zero;
use super::{After, Check, Form, Kind, Wave, form};

const WORDS: [Kind; 3] = [Kind::Word; 3];
const HALVES: [Kind; 3] = [Kind::Halves; 3];
const FLOATS: [Kind; 3] = [Kind::Float; 3];
const BITS: Check = Check::Bits(32);

type Three = fn(u32, u32, u32) -> u32;

fn words(list: &mut Vec<Form>, rows: &[(&str, Three)]) {
    for &(text, f) in rows {
        let count = text.split(' ').filter(|w| ["A", "B", "C"].contains(&w.trim_matches(','))).count() as u32;
        let words = [1, 1, u32::from(count > 1), u32::from(count > 2)];
        list.push(form(text, words, WORDS, BITS, move |l| f(l.a as u32, l.b as u32, l.c as u32).into()));
    }
}

/// A form whose source is another lane's; without one, the result is kept or 0.
fn moved(text: &str, source: fn(usize, Wave<'_>) -> usize, inactive: bool, zeros: bool) -> Form {
    let model = move |wave: Wave<'_>| {
        let from = source(wave.index, wave);
        let own = wave.own();
        let value = match wave.is_active(from) || inactive {
            true => wave.lanes[from].a,
            false if zeros => 0,
            false => own.d,
        };
        After { value: value & 0xffff_ffff, vcc: None }
    };
    Form { text: text.into(), words: [1, 1, 0, 0], inputs: WORDS, check: BITS, model: Box::new(model) }
}

const SELECT: [usize; 16] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 15, 0];

fn in_row(lane: usize, _: Wave<'_>) -> usize {
    lane / 16 * 16 + SELECT[lane % 16]
}

fn in_other_row(lane: usize, _: Wave<'_>) -> usize {
    (lane / 16 * 16 + SELECT[lane % 16]) ^ 16
}

fn of_eight(lane: usize, _: Wave<'_>) -> usize {
    lane / 8 * 8 + [7, 0, 2, 4, 4, 1, 6, 3][lane % 8]
}

pub fn gfx1030(list: &mut Vec<Form>) {
    words(
        list,
        &[
            ("v_add_nc_u32 D, A, B", |a, b, _| a.wrapping_add(b)),
            ("v_sub_nc_u32 D, A, B", |a, b, _| a.wrapping_sub(b)),
            ("v_xor3_b32 D, A, B, C", |a, b, c| a ^ b ^ c),
            ("v_xnor_b32 D, A, B", |a, b, _| !(a ^ b)),
            ("v_add_nc_i32 D, A, B clamp", |a, b, _| (a as i32).saturating_add(b as i32) as u32),
            ("v_sub_nc_i32 D, A, B clamp", |a, b, _| (a as i32).saturating_sub(b as i32) as u32),
        ],
    );
    // Results of 16 bits leave the upper half as it was.
    list.push(form("v_add_f16 D, A, B", [1, 1, 1, 0], HALVES, Check::Halves, |l| {
        u64::from(to(of(l.a as u16) + of(l.b as u16))) | l.d & 0xffff_0000
    }));
    list.push(form("v_fmac_f16 D, A, B", [1, 1, 1, 0], HALVES, Check::Halves, |l| {
        u64::from(fused(of(l.a as u16), of(l.b as u16), of(l.d as u16))) | l.d & 0xffff_0000
    }));
    list.push(form("v_add_nc_u16 D, A, B op_sel:[1,0,1]", [1, 1, 1, 0], HALVES, BITS, |l| {
        u64::from(((l.a >> 16) as u16).wrapping_add(l.b as u16)) << 16 | l.d & 0xffff
    }));
    list.push(form("v_cvt_f16_f32 D, A", [1, 1, 0, 0], FLOATS, Check::Halves, |l| {
        u64::from(to(f32::from_bits(l.a as u32).into())) | l.d & 0xffff_0000
    }));
    let low = SELECT[..8].iter().rev().fold(0, |all, n| all << 4 | *n);
    let high = SELECT[8..].iter().rev().fold(0, |all, n| all << 4 | *n);
    let set = format!("s_mov_b32 s14, {low:#x} \n s_mov_b32 s15, {high:#x} \n");
    for (end, inactive, zeros) in
        [("", false, false), (" op_sel:[1,0]", true, false), (" op_sel:[0,1]", false, true)]
    {
        let text = format!("{set} v_permlane16_b32 D, A, s14, s15{end}");
        list.push(moved(&text, in_row, inactive, zeros));
        let text = format!("{set} v_permlanex16_b32 D, A, s14, s15{end}");
        list.push(moved(&text, in_other_row, inactive, zeros));
    }
    list.push(moved("v_mov_b32_dpp D, A dpp8:[7,0,2,4,4,1,6,3] fi:1", of_eight, true, false));
    list.push(moved("v_mov_b32_dpp D, A dpp8:[7,0,2,4,4,1,6,3]", of_eight, false, true));
    let broadcast = |lane: usize, _: Wave<'_>| lane / 16 * 16 + 9;
    list.push(moved("v_mov_b32_dpp D, A row_share:9 row_mask:0xf bank_mask:0xf", broadcast, false, false));
    let crossed = |lane: usize, _: Wave<'_>| lane ^ 6;
    list.push(moved("v_mov_b32_dpp D, A row_xmask:6 row_mask:0xf bank_mask:0xf", crossed, false, false));
    let text = "s_round_mode 0x3 \n v_mul_f32 D, A, B \n s_round_mode 0x0";
    list.push(form(text, [1, 1, 1, 0], FLOATS, Check::Float(32), |l| {
        toward_zero(f32::from_bits(l.a as u32), f32::from_bits(l.b as u32))
    }));
    let text = "s_denorm_mode 12 \n v_max_f32 D, A, B \n s_denorm_mode 15";
    list.push(form(text, [1, 1, 1, 0], FLOATS, Check::Float(32), |l| {
        let of = |v: u64| f32::from_bits(v as u32);
        let flushed = |v: f32| f64::from(if v.is_subnormal() { 0f32.copysign(v) } else { v });
        (most(flushed(of(l.a)), flushed(of(l.b))) as f32).to_bits().into()
    }));
    list.push(form("s_mov_b32 m0, 2 \n v_movrels_b32 D, A", [1, 1, 0, 0], WORDS, BITS, |l| {
        l.b & 0xffff_ffff
    }));
    list.push(form("s_mov_b32 m0, 16 \n v_movreld_b32 v4, B", [1, 1, 1, 0], WORDS, BITS, |l| {
        l.b & 0xffff_ffff
    }));
}

fn signed(v: u32, n: u32, bits: u32, is_signed: bool) -> i64 {
    let part = i64::from(v >> (n * bits) & ((1 << bits) - 1));
    if is_signed && part >> (bits - 1) == 1 { part - (1 << bits) } else { part }
}

pub fn gfx1100(list: &mut Vec<Form>) {
    words(
        list,
        &[
            ("v_maxmin_i32 D, A, B, C", |a, b, c| (a as i32).max(b as i32).min(c as i32) as u32),
            ("v_minmax_u32 D, A, B, C", |a, b, c| a.min(b).max(c)),
            ("v_cvt_i32_i16 D, A", |a, _, _| a as i16 as u32),
            ("v_cvt_u32_u16 D, A", |a, _, _| a & 0xffff),
            ("v_cls_i32 D, A", |a, _, _| {
                let same = if a >> 31 == 1 { !a } else { a };
                if same == 0 { u32::MAX } else { same.leading_zeros() }
            }),
        ],
    );
    for (name, f) in
        [("and", (|a, b| a & b) as fn(u64, u64) -> u64), ("or", |a, b| a | b), ("xor", |a, b| a ^ b)]
    {
        list.push(form(&format!("v_{name}_b16 D, A, B"), [1, 1, 1, 0], WORDS, BITS, move |l| {
            f(l.a, l.b) & 0xffff | l.d & 0xffff_0000
        }));
    }
    for (name, bits) in [("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)] {
        for (signs, [first, second]) in
            [("", [false; 2]), (" neg_lo:[1,0,0]", [true, false]), (" neg_lo:[1,1,0]", [true; 2])]
        {
            list.push(form(&format!("{name} D, A, B, C{signs}"), [1; 4], WORDS, BITS, move |l| {
                let product = |n| signed(l.a as u32, n, bits, first) * signed(l.b as u32, n, bits, second);
                let sum = (0..32 / bits).map(product).sum::<i64>();
                u64::from((l.c as u32).wrapping_add(sum as u32))
            }));
        }
    }
    list.push(moved("v_permlane64_b32 D, A", |lane, _| lane ^ 32, true, false));
    list.push(form("v_cvt_pk_i16_f32 D, A, B", [1, 1, 1, 0], FLOATS, BITS, |l| {
        let one = |v: u64| u64::from(f32::from_bits(v as u32) as i16 as u16);
        one(l.a) | one(l.b) << 16
    }));
    list.push(form("v_cvt_pk_u16_f32 D, A, B", [1, 1, 1, 0], FLOATS, BITS, |l| {
        let one = |v: u64| u64::from(f32::from_bits(v as u32) as u16);
        one(l.a) | one(l.b) << 16
    }));
    let bf16 = |v: u64| f32::from_bits((v as u32) << 16);
    list.push(form("v_dot2_f32_bf16 D, A, B, C", [1; 4], FLOATS, Check::Float(32), move |l| {
        let first = bf16(l.a).mul_add(bf16(l.b), f32::from_bits(l.c as u32));
        bf16(l.a >> 16).mul_add(bf16(l.b >> 16), first).to_bits().into()
    }));
    list.push(form("v_mul_dx9_zero_f32 D, A, B", [1, 1, 1, 0], FLOATS, Check::Float(32), |l| {
        let (a, b) = (f32::from_bits(l.a as u32), f32::from_bits(l.b as u32));
        (if a == 0.0 || b == 0.0 { 0.0 } else { a * b }).to_bits().into()
    }));
}
