//! Floats of 16 bits.

use super::floats::{Function, RELATIONS, class, cosine, fixup, least, middle, most, sine, split};
use super::{Check, Form, Kind, Lane, form, test};

const HALVES: [Kind; 3] = [Kind::Halves; 3];

/// The number that a half is.
pub fn of(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (bits >> 10 & 31, f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * (-24f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * (f64::from(exponent) - 15.0).exp2(),
    }
}

/// The nearest half.
pub fn to(v: f64) -> u16 {
    rounded(v, f64::round_ties_even)
}

/// A half, with a rounding of numbers that are multiples of the last place.
fn rounded(v: f64, round: fn(f64) -> f64) -> u16 {
    let sign = u16::from(v.is_sign_negative()) << 15;
    let size = v.abs();
    if v.is_nan() {
        return 0x7fff;
    }
    if size.is_infinite() {
        return sign | 0x7c00;
    }
    // The least exponent is that of subnormal halves.
    let exponent = if size < (-14f64).exp2() { -14 } else { split(size).1 - 1 };
    let units = round(size * f64::from(10 - exponent).exp2()) as u64;
    // Carries go into the exponent.
    let bits = ((exponent + 14) as u64) * 1024 + units;
    sign | if bits >= 0x7c00 {
        if round(0.5) == 0.0 && round(0.75) == 0.0 { 0x7bff } else { 0x7c00 }
    } else {
        bits as u16
    }
}

/// A fused product and sum: an exact sum of integers with 2^-48 as the unit.
pub fn fused(a: f64, b: f64, c: f64) -> u16 {
    let plain = a * b + c;
    if !plain.is_finite() || a == 0.0 || b == 0.0 || c == 0.0 {
        return to(plain);
    }
    let fixed = |v: f64| (v * 48f64.exp2()) as i128;
    let sum = fixed(a * b) + fixed(c);
    if sum == 0 {
        return 0;
    }
    // To 50 bits, with a lowest bit that tells of the rest: rounding to 11 bits is right from there.
    let (sign, mut size, mut exponent) = (sum < 0, sum.unsigned_abs(), -48);
    while size >= 1 << 50 {
        size = size >> 1 | size & 1;
        exponent += 1;
    }
    let value = size as f64 * f64::from(exponent).exp2();
    to(if sign { -value } else { value })
}

fn flushed(bits: u16) -> u16 {
    if bits & 0x7c00 == 0 { bits & 0x8000 } else { bits }
}

pub fn mad(a: u16, b: u16, c: u16) -> u16 {
    let product = flushed(to(of(flushed(a)) * of(flushed(b))));
    flushed(to(of(product) + of(flushed(c))))
}

fn clamped(bits: u16) -> u16 {
    let v = of(bits);
    if v > 1.0 {
        0x3c00
    } else if v > 0.0 {
        bits
    } else {
        0
    }
}

type Two = fn(u16, u16) -> u16;
type Three = fn(u16, u16, u16) -> u16;

const TWO: &[(&str, Two)] = &[
    ("add", |a, b| to(of(a) + of(b))),
    ("mul", |a, b| to(of(a) * of(b))),
    ("min", |a, b| to(least(of(a), of(b)))),
    ("max", |a, b| to(most(of(a), of(b)))),
];

const THREE: &[(&str, Three)] = &[
    ("v_fma_f16", |a, b, c| fused(of(a), of(b), of(c))),
    ("v_mad_f16", mad),
    ("v_min3_f16", |a, b, c| to(least(least(of(a), of(b)), of(c)))),
    ("v_max3_f16", |a, b, c| to(most(most(of(a), of(b)), of(c)))),
    ("v_med3_f16", |a, b, c| to(middle(of(a), of(b), of(c)))),
    ("v_div_fixup_f16", |a, b, c| to(fixup(of(a), of(b), of(c), false))),
];

const NEAR: &[(&str, Function)] = &[
    ("v_rcp_f16", |v| 1.0 / v),
    ("v_rsq_f16", |v| 1.0 / v.sqrt()),
    ("v_sqrt_f16", f64::sqrt),
    ("v_exp_f16", f64::exp2),
    ("v_log_f16", f64::log2),
    ("v_sin_f16", sine),
    ("v_cos_f16", cosine),
];

fn low(v: u64) -> u16 {
    v as u16
}

fn high(v: u64) -> u16 {
    (v >> 16) as u16
}

pub fn forms(list: &mut Vec<Form>) {
    let check = Check::Float(16);
    let (one, two, three) = ([1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]);
    let sign = 0x8000;
    for &(name, op) in TWO {
        let v = format!("v_{name}_f16");
        list.push(form(&format!("{v} D, A, B"), two, HALVES, check, move |l| op(low(l.a), low(l.b)).into()));
        list.push(form(&format!("{v} D, -A, |B| clamp"), two, HALVES, check, move |l| {
            clamped(op(low(l.a) ^ sign, low(l.b) & !sign)).into()
        }));
        let select = "dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0";
        list.push(form(&format!("{v}_sdwa D, -A, B {select}"), two, HALVES, Check::Halves, move |l| {
            u64::from(op(high(l.a) ^ sign, low(l.b))) << 16
        }));
        let pair = |low: u16, high: u16| u64::from(low) | u64::from(high) << 16;
        list.push(form(&format!("v_pk_{name}_f16 D, A, B"), two, HALVES, Check::Halves, move |l| {
            pair(op(low(l.a), low(l.b)), op(high(l.a), high(l.b)))
        }));
        let more = "op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0] neg_hi:[0,1]";
        list.push(form(
            &format!("v_pk_{name}_f16 D, A, B {more} clamp"),
            two,
            HALVES,
            Check::Halves,
            move |l| {
                let below = op(high(l.a) ^ sign, low(l.b));
                pair(clamped(below), clamped(op(low(l.a), high(l.b) ^ sign)))
            },
        ));
    }
    list.push(form("v_pk_fma_f16 D, A, B, C neg_lo:[0,0,1]", three, HALVES, Check::Halves, move |l| {
        let below = fused(of(low(l.a)), of(low(l.b)), of(low(l.c) ^ sign));
        let above = fused(of(high(l.a)), of(high(l.b)), of(high(l.c)));
        u64::from(below) | u64::from(above) << 16
    }));
    for &(name, op) in THREE {
        list.push(form(&format!("{name} D, A, B, C"), three, HALVES, Check::Halves, move |l| {
            u64::from(op(low(l.a), low(l.b), low(l.c))) | l.d & 0xffff_0000
        }));
        list.push(form(
            &format!("{name} D, -A, |B|, C op_sel:[0,1,0,1] clamp"),
            three,
            HALVES,
            Check::Halves,
            move |l| {
                u64::from(clamped(op(low(l.a) ^ sign, high(l.b) & !sign, low(l.c)))) << 16 | l.d & 0xffff
            },
        ));
    }
    list.push(form("v_mad_legacy_f16 D, A, B, C", three, HALVES, Check::Halves, |l| {
        mad(low(l.a), low(l.b), low(l.c)).into()
    }));
    list.push(form("v_mac_f16 D, A, B", two, HALVES, Check::Halves, |l| {
        mad(low(l.a), low(l.b), low(l.d)).into()
    }));
    for &(name, op) in NEAR {
        list.push(form(&format!("{name} D, A"), one, HALVES, Check::Near(16, 1), move |l| {
            to(op(of(low(l.a)))).into()
        }));
    }
    type Round = fn(f64) -> f64;
    let rounds: [(&str, Round); 4] =
        [("trunc", f64::trunc), ("ceil", f64::ceil), ("floor", f64::floor), ("rndne", f64::round_ties_even)];
    for (name, op) in rounds {
        list.push(form(&format!("v_{name}_f16 D, A"), one, HALVES, check, move |l| {
            to(op(of(low(l.a)))).into()
        }));
    }
    list.push(form("v_fract_f16 D, A", one, HALVES, check, |l| {
        let v = of(low(l.a));
        let rest = to(v - v.floor());
        u64::from(if rest == 0x3c00 { 0x3bff } else { rest })
    }));
    list.push(form("v_frexp_mant_f16 D, A", one, HALVES, check, |l| to(split(of(low(l.a))).0).into()));
    list.push(form("v_frexp_exp_i16_f16 D, A", one, HALVES, Check::Bits(32), |l| {
        u64::from(split(of(low(l.a))).1 as u16)
    }));
    let small = [Kind::Halves, Kind::Small, Kind::Halves];
    list.push(form("v_ldexp_f16 D, A, B", two, small, check, |l| {
        let n = f64::from((l.b as i16).clamp(-100, 100));
        to(of(low(l.a)) * n.exp2()).into()
    }));
    let float = |v: u64| f64::from(f32::from_bits(v as u32));
    let floats = [Kind::Float; 3];
    list.push(form("v_cvt_f16_f32 D, A", one, floats, check, move |l| to(float(l.a)).into()));
    list.push(form("v_cvt_f32_f16 D, A", one, HALVES, Check::Float(32), |l| {
        (of(low(l.a)) as f32).to_bits().into()
    }));
    list.push(form("v_cvt_pkrtz_f16_f32 D, A, B", two, floats, Check::Halves, move |l| {
        u64::from(rounded(float(l.a), f64::trunc)) | u64::from(rounded(float(l.b), f64::trunc)) << 16
    }));
    list.push(form("v_cvt_f16_i16 D, A", one, HALVES, check, |l| to(f64::from(l.a as i16)).into()));
    list.push(form("v_cvt_f16_u16 D, A", one, HALVES, check, |l| to(f64::from(l.a as u16)).into()));
    list.push(form("v_cvt_i16_f16 D, A", one, HALVES, Check::Bits(32), |l| {
        u64::from(of(low(l.a)) as i16 as u16)
    }));
    list.push(form("v_cvt_u16_f16 D, A", one, HALVES, Check::Bits(32), |l| u64::from(of(low(l.a)) as u16)));
    let norm = |v: u16, scale: f64| (of(v).clamp(-1.0, 1.0) * scale).round_ties_even();
    list.push(form("v_cvt_norm_i16_f16 D, A", one, HALVES, Check::Bits(32), move |l| {
        u64::from(norm(low(l.a), 32767.0) as i16 as u16)
    }));
    list.push(form("v_cvt_pknorm_u16_f16 D, A, B", two, HALVES, Check::Bits(32), move |l| {
        let one = |v| u64::from(norm(v, 65535.0) as u16);
        one(low(l.a)) | one(low(l.b)) << 16
    }));
    mixed(list);
    for &(name, relation) in RELATIONS {
        list.push(test(&format!("v_cmp_{name}_f16 vcc, A, |B|"), two, HALVES, move |l| {
            relation(of(low(l.a)), of(low(l.b)).abs())
        }));
    }
    let classes = [Kind::Halves, Kind::Word, Kind::Word];
    list.push(test("v_cmp_class_f16 vcc, A, B", two, classes, |l| {
        let a = low(l.a);
        let subnormal = a & 0x7c00 == 0 && a & 0x3ff != 0;
        l.b >> class(of(a), a >> 9 & 1 == 1, subnormal) & 1 == 1
    }));
}

/// Products and sums of halves and floats.
fn mixed(list: &mut Vec<Form>) {
    let float = |v: u64| f32::from_bits(v as u32);
    let half = |v: u16| of(v) as f32;
    let inputs = [Kind::Halves, Kind::Float, Kind::Halves];
    let fma = move |l: Lane| half(low(l.a)).mul_add(-float(l.b), half(high(l.c)).abs());
    let text = "A, -B, |C| op_sel:[0,0,1] op_sel_hi:[1,0,1]";
    list.push(form(&format!("v_fma_mix_f32 D, {text}"), [1; 4], inputs, Check::Float(32), move |l| {
        fma(l).to_bits().into()
    }));
    list.push(form(&format!("v_fma_mixlo_f16 D, {text}"), [1; 4], inputs, Check::Halves, move |l| {
        u64::from(to(fma(l).into())) | l.d & 0xffff_0000
    }));
    list.push(form(&format!("v_fma_mixhi_f16 D, {text}"), [1; 4], inputs, Check::Halves, move |l| {
        u64::from(to(fma(l).into())) << 16 | l.d & 0xffff
    }));
    list.push(form(
        "v_dot2_f32_f16 D, A, B, C",
        [1; 4],
        [Kind::Halves, Kind::Halves, Kind::Float],
        Check::Float(32),
        move |l| {
            let first = half(low(l.a)).mul_add(half(low(l.b)), float(l.c));
            half(high(l.a)).mul_add(half(high(l.b)), first).to_bits().into()
        },
    ));
}
