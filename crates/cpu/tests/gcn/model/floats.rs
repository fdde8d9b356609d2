//! Floats of 32 and 64 bits.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use super::{After, Check, Form, Kind, Lane, form, test};

const FLOATS: [Kind; 3] = [Kind::Float; 3];
const DOUBLES: [Kind; 3] = [Kind::Double; 3];

/// A function of one number.
pub type Function = fn(f64) -> f64;
type Two = fn(f32, f32) -> f32;
type Three = fn(f32, f32, f32) -> f32;

fn f(v: u64) -> f32 {
    f32::from_bits(v as u32)
}

fn b(v: f32) -> u64 {
    v.to_bits().into()
}

fn d(v: u64) -> f64 {
    f64::from_bits(v)
}

/// The lesser: -0 is less than 0, and a number less than a NaN.
pub fn least(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == 0.0 && b == 0.0 => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

/// The greater.
pub fn most(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == 0.0 && b == 0.0 => {
            if a.is_sign_negative() {
                b
            } else {
                a
            }
        }
        _ => {
            if a > b {
                a
            } else {
                b
            }
        }
    }
}

fn least32(a: f32, b: f32) -> f32 {
    least(a.into(), b.into()) as f32
}

fn most32(a: f32, b: f32) -> f32 {
    most(a.into(), b.into()) as f32
}

pub fn middle(a: f64, b: f64, c: f64) -> f64 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return least(least(a, b), c);
    }
    let high = most(most(a, b), c);
    if high == a {
        most(b, c)
    } else if high == b {
        most(a, c)
    } else {
        most(a, b)
    }
}

fn flushed(v: f32) -> f32 {
    if v.is_subnormal() { 0f32.copysign(v) } else { v }
}

fn clamped(v: f32) -> f32 {
    if v > 0.0 { v.min(1.0) } else { 0.0 }
}

/// `v_mad`: a product and a sum, both rounded, without subnormals.
fn mad(a: f32, b: f32, c: f32) -> f32 {
    flushed(flushed(flushed(a) * flushed(b)) + flushed(c))
}

fn dx9(a: f32, b: f32) -> f32 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

const TWO: &[(&str, Two)] = &[
    ("v_add_f32", |a, b| a + b),
    ("v_sub_f32", |a, b| a - b),
    ("v_subrev_f32", |a, b| b - a),
    ("v_mul_f32", |a, b| a * b),
    ("v_mul_legacy_f32", dx9),
    ("v_min_f32", least32),
    ("v_max_f32", most32),
];

const THREE: &[(&str, Three)] = &[
    ("v_fma_f32", f32::mul_add),
    ("v_mad_f32", mad),
    ("v_min3_f32", |a, b, c| least32(least32(a, b), c)),
    ("v_max3_f32", |a, b, c| most32(most32(a, b), c)),
    ("v_med3_f32", |a, b, c| middle(a.into(), b.into(), c.into()) as f32),
];

/// The fraction between -1 and 1, and the exponent.
pub fn split(v: f64) -> (f64, i32) {
    if v == 0.0 || !v.is_finite() {
        return (v, 0);
    }
    let (mut v, mut exponent) = (v, 0);
    while v.abs() >= 1.0 {
        v /= 2.0;
        exponent += 1;
    }
    while v.abs() < 0.5 {
        v *= 2.0;
        exponent -= 1;
    }
    (v, exponent)
}

/// `v * 2^n`, rounded once: the product of the 53 bits as an integer.
fn scaled(v: f64, n: i32) -> f64 {
    let (fraction, exponent) = split(v);
    if v == 0.0 || !v.is_finite() {
        return v;
    }
    let total = i64::from(exponent) + i64::from(n);
    if total > 1024 {
        return f64::INFINITY.copysign(v);
    }
    if total < -1100 {
        return 0f64.copysign(v);
    }
    // Above the least normal number it is exact; below, the division rounds an integer to fewer bits.
    let whole = (fraction.abs() * 53f64.exp2()) as u64;
    let shift = total - 53;
    if shift >= -1074 {
        let high = (whole as f64) * (shift.max(-1000) as f64).exp2();
        return (high * ((shift - shift.max(-1000)) as f64).exp2()).copysign(v);
    }
    let lost = (-1074 - shift) as u32;
    if lost > 60 {
        return 0f64.copysign(v);
    }
    let (kept, rest, half) = (whole >> lost, whole & ((1 << lost) - 1), 1u64 << (lost - 1));
    let up = rest > half || rest == half && kept & 1 == 1;
    f64::from_bits(kept + u64::from(up)).copysign(v)
}

/// The class of a number as AMD's masks have it.
pub fn class(v: f64, quiet: bool, subnormal: bool) -> u32 {
    if v.is_nan() {
        return u32::from(quiet);
    }
    let at = match (v == 0.0, subnormal, v.is_infinite()) {
        (true, ..) => 6,
        (_, true, _) => 7,
        (_, _, true) => 9,
        _ => 8,
    };
    if v.is_sign_negative() { 11 - at } else { at }
}

fn is_small(v: f32) -> bool {
    v.is_subnormal()
}

fn exponent(v: f32) -> i32 {
    (v.to_bits() >> 23 & 255) as i32
}

fn exponent64(v: f64) -> i32 {
    (v.to_bits() >> 52 & 2047) as i32
}

/// `v_div_scale_f32` by the documents.
fn scale32(s: f32, den: f32, num: f32) -> (f32, bool) {
    let up = (f64::from(s) * 64f64.exp2()) as f32;
    let down = (f64::from(s) * (-64f64).exp2()) as f32;
    if num == 0.0 || den == 0.0 {
        (f32::NAN, false)
    } else if exponent(num) - exponent(den) >= 96 {
        (if s == den { up } else { s }, true)
    } else if is_small(den) {
        (up, false)
    } else if is_small(1.0 / den) && is_small(num / den) {
        (if s == den { up } else { s }, true)
    } else if is_small(1.0 / den) {
        (down, false)
    } else if is_small(num / den) {
        (if s == num { up } else { s }, true)
    } else if exponent(num) <= 23 {
        (up, false)
    } else {
        (s, false)
    }
}

fn scale64(s: f64, den: f64, num: f64) -> (f64, bool) {
    let (up, down) = (scaled(s, 128), scaled(s, -128));
    let small = |v: f64| v.is_subnormal();
    if num == 0.0 || den == 0.0 {
        (f64::NAN, false)
    } else if exponent64(num) - exponent64(den) >= 768 {
        (if s == den { up } else { s }, true)
    } else if small(den) {
        (up, false)
    } else if small(1.0 / den) && small(num / den) {
        (if s == den { up } else { s }, true)
    } else if small(1.0 / den) {
        (down, false)
    } else if small(num / den) {
        (if s == num { up } else { s }, true)
    } else if exponent64(num) <= 53 {
        (up, false)
    } else {
        (s, false)
    }
}

/// `v_div_fixup`, of a quotient, a denominator and a numerator; `lost` tells quotients that are nothing.
pub fn fixup(q: f64, den: f64, num: f64, lost: bool) -> f64 {
    let sign = if den.is_sign_negative() != num.is_sign_negative() { -1.0 } else { 1.0 };
    if num.is_nan() || den.is_nan() || num == 0.0 && den == 0.0 || num.is_infinite() && den.is_infinite() {
        f64::NAN
    } else if den == 0.0 || num.is_infinite() {
        f64::INFINITY * sign
    } else if den.is_infinite() || num == 0.0 || lost {
        0.0 * sign
    } else if q.is_nan() {
        q
    } else {
        q.abs() * sign
    }
}

/// A sine or cosine in turns, whose zeros are exact.
pub fn sine(v: f64) -> f64 {
    let rest = v - v.round_ties_even();
    if rest.abs() == 0.5 { 0.0 } else { (rest * std::f64::consts::TAU).sin() }
}

pub fn cosine(v: f64) -> f64 {
    let rest = v - v.round_ties_even();
    if rest.abs() == 0.25 { 0.0 } else { (rest * std::f64::consts::TAU).cos() }
}

/// Functions with an error of 1 ULP.
const NEAR: &[(&str, Function)] = &[
    ("v_rcp_f32", |v| 1.0 / v),
    ("v_rcp_iflag_f32", |v| 1.0 / v),
    ("v_rsq_f32", |v| 1.0 / v.sqrt()),
    ("v_sqrt_f32", f64::sqrt),
    ("v_exp_f32", f64::exp2),
    ("v_log_f32", f64::log2),
    ("v_sin_f32", sine),
    ("v_cos_f32", cosine),
];

/// Whether numbers are in one of some orders; no number is in any with a NaN.
fn is(a: f64, b: f64, orders: &[Ordering]) -> bool {
    a.partial_cmp(&b).is_some_and(|order| orders.contains(&order))
}

type Relation = fn(f64, f64) -> bool;
pub const RELATIONS: &[(&str, Relation)] = &[
    ("f", |_, _| false),
    ("lt", |a, b| a < b),
    ("eq", |a, b| a == b),
    ("le", |a, b| a <= b),
    ("gt", |a, b| a > b),
    ("lg", |a, b| is(a, b, &[Less, Greater])),
    ("ge", |a, b| a >= b),
    ("o", |a, b| !a.is_nan() && !b.is_nan()),
    ("u", |a, b| a.is_nan() || b.is_nan()),
    ("nge", |a, b| !is(a, b, &[Greater, Equal])),
    ("nlg", |a, b| !is(a, b, &[Less, Greater])),
    ("ngt", |a, b| !is(a, b, &[Greater])),
    ("nle", |a, b| !is(a, b, &[Less, Equal])),
    ("neq", |a, b| a != b),
    ("nlt", |a, b| !is(a, b, &[Less])),
    ("tru", |_, _| true),
];

fn words(model: impl Fn(f32, f32) -> f32 + 'static) -> impl Fn(Lane) -> u64 {
    move |l: Lane| b(model(f(l.a), f(l.b)))
}

pub fn forms(list: &mut Vec<Form>) {
    let check = Check::Float(32);
    let (one, two, three) = ([1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]);
    for &(name, op) in TWO {
        list.push(form(&format!("{name} D, A, B"), two, FLOATS, check, words(op)));
        list.push(form(
            &format!("{name} D, -A, |B|"),
            two,
            FLOATS,
            check,
            words(move |a, b| op(-a, b.abs())),
        ));
        list.push(form(
            &format!("{name} D, A, -|B| clamp"),
            two,
            FLOATS,
            check,
            words(move |a, b| clamped(op(a, -b.abs()))),
        ));
        list.push(form(&format!("{name} D, A, 0.5"), two, FLOATS, check, words(move |a, _| op(a, 0.5))));
    }
    for &(name, op) in THREE {
        let of = move |l: Lane| op(f(l.a), f(l.b), f(l.c));
        list.push(form(&format!("{name} D, A, B, C"), three, FLOATS, check, move |l| b(of(l))));
        list.push(form(&format!("{name} D, A, B, C clamp"), three, FLOATS, check, move |l| {
            b(clamped(of(l)))
        }));
        let of = move |l: Lane| op(f(l.a).abs(), -f(l.b), -f(l.c).abs());
        list.push(form(&format!("{name} D, |A|, -B, -|C|"), three, FLOATS, check, move |l| b(of(l))));
    }
    list.push(form("v_mac_f32 D, A, B", two, FLOATS, check, |l| b(mad(f(l.a), f(l.b), f(l.d)))));
    list.push(form("v_fmac_f32 D, A, B", two, FLOATS, check, |l| b(f(l.a).mul_add(f(l.b), f(l.d)))));
    list.push(form("v_madmk_f32 D, A, 0x3fc00000, B", two, FLOATS, check, |l| b(mad(f(l.a), 1.5, f(l.b)))));
    list.push(form("v_madak_f32 D, A, B, 0x3fc00000", two, FLOATS, check, |l| b(mad(f(l.a), f(l.b), 1.5))));
    list.push(form("v_mad_legacy_f32 D, A, B, C", three, FLOATS, check, |l| {
        let (a, b2) = (flushed(f(l.a)), flushed(f(l.b)));
        b(if a == 0.0 || b2 == 0.0 { flushed(0.0 + flushed(f(l.c))) } else { mad(a, b2, f(l.c)) })
    }));
    for &(name, op) in NEAR {
        list.push(form(&format!("{name} D, A"), one, FLOATS, Check::Near(32, 1), move |l| {
            b(flushed(op(flushed(f(l.a)).into()) as f32))
        }));
    }
    type Round = fn(f64) -> f64;
    let rounds: [(&str, Round); 4] =
        [("trunc", f64::trunc), ("ceil", f64::ceil), ("floor", f64::floor), ("rndne", f64::round_ties_even)];
    for (name, op) in rounds {
        list.push(form(&format!("v_{name}_f32 D, A"), one, FLOATS, check, move |l| {
            b(op(f(l.a).into()) as f32)
        }));
        list.push(form(&format!("v_{name}_f64 D, A"), [2, 2, 0, 0], DOUBLES, Check::Float(64), move |l| {
            op(d(l.a)).to_bits()
        }));
    }
    list.push(form("v_fract_f32 D, A", one, FLOATS, check, |l| {
        let v = f(l.a);
        let rest = v - v.floor();
        b(if rest >= 1.0 { f32::from_bits(0x3f7f_ffff) } else { rest })
    }));
    list.push(form("v_frexp_mant_f32 D, A", one, FLOATS, check, |l| b(split(f(l.a).into()).0 as f32)));
    list.push(form("v_frexp_exp_i32_f32 D, A", one, FLOATS, Check::Bits(32), |l| {
        u64::from(split(f(l.a).into()).1 as u32)
    }));
    list.push(form("v_frexp_mant_f64 D, A", [2, 2, 0, 0], DOUBLES, Check::Float(64), |l| {
        split(d(l.a)).0.to_bits()
    }));
    list.push(form("v_frexp_exp_i32_f64 D, A", [1, 2, 0, 0], DOUBLES, Check::Bits(32), |l| {
        u64::from(split(d(l.a)).1 as u32)
    }));
    let small = [Kind::Float, Kind::Small, Kind::Float];
    list.push(form("v_ldexp_f32 D, A, B", two, small, check, |l| {
        let n = (l.b as i32).clamp(-500, 500);
        b((f64::from(f(l.a)) * f64::from(n).exp2()) as f32)
    }));
    let small = [Kind::Double, Kind::Small, Kind::Double];
    list.push(form("v_ldexp_f64 D, A, B", [2, 2, 1, 0], small, Check::Float(64), |l| {
        scaled(d(l.a), (l.b as i32).clamp(-5000, 5000)).to_bits()
    }));
    divisions(list);
    doubles(list);
    conversions(list);
    for &(name, relation) in RELATIONS {
        list.push(test(&format!("v_cmp_{name}_f32 vcc, A, B"), two, FLOATS, move |l| {
            relation(f(l.a).into(), f(l.b).into())
        }));
        list.push(test(&format!("v_cmp_{name}_f64 vcc, A, -B"), [1, 2, 2, 0], DOUBLES, move |l| {
            relation(d(l.a), -d(l.b))
        }));
    }
    let classes = [Kind::Float, Kind::Word, Kind::Word];
    list.push(test("v_cmp_class_f32 vcc, A, B", two, classes, |l| {
        let v = f(l.a);
        l.b >> class(v.into(), l.a >> 22 & 1 == 1, v.is_subnormal()) & 1 == 1
    }));
    let classes = [Kind::Double, Kind::Word, Kind::Word];
    list.push(test("v_cmp_class_f64 vcc, A, B", [1, 2, 1, 0], classes, |l| {
        let v = d(l.a);
        l.b >> class(v, l.a >> 51 & 1 == 1, v.is_subnormal()) & 1 == 1
    }));
}

fn divisions(list: &mut Vec<Form>) {
    type Of = fn(Lane) -> (u64, bool);
    let rows: [(&str, bool, Of); 4] = [
        ("v_div_scale_f32 D, vcc, B, B, C", false, |l| {
            let (v, flag) = scale32(f(l.b), f(l.b), f(l.c));
            (b(v), flag)
        }),
        ("v_div_scale_f32 D, vcc, C, B, C", false, |l| {
            let (v, flag) = scale32(f(l.c), f(l.b), f(l.c));
            (b(v), flag)
        }),
        ("v_div_scale_f64 D, vcc, B, B, C", true, |l| {
            let (v, flag) = scale64(d(l.b), d(l.b), d(l.c));
            (v.to_bits(), flag)
        }),
        ("v_div_scale_f64 D, vcc, C, B, C", true, |l| {
            let (v, flag) = scale64(d(l.c), d(l.b), d(l.c));
            (v.to_bits(), flag)
        }),
    ];
    for (text, wide, model) in rows {
        list.push(Form {
            text: text.into(),
            words: if wide { [2; 4] } else { [1; 4] },
            inputs: if wide { DOUBLES } else { FLOATS },
            check: Check::Float(if wide { 64 } else { 32 }),
            model: Box::new(move |wave| {
                let (value, flag) = model(wave.own());
                After { value, vcc: Some(flag) }
            }),
        });
    }
    list.push(form("v_div_fmas_f32 D, A, B, C", [1; 4], FLOATS, Check::Float(32), |l| {
        let v = f(l.a).mul_add(f(l.b), f(l.c));
        let power: f32 = if exponent(f(l.c)) > 127 { 64f32.exp2() } else { (-64f32).exp2() };
        b(if l.vcc { v * power } else { v })
    }));
    list.push(form("v_div_fmas_f64 D, A, B, C", [2; 4], DOUBLES, Check::Float(64), |l| {
        let v = d(l.a).mul_add(d(l.b), d(l.c));
        let power = if exponent64(d(l.c)) > 1023 { 128f64.exp2() } else { (-128f64).exp2() };
        (if l.vcc { v * power } else { v }).to_bits()
    }));
    list.push(form("v_div_fixup_f32 D, A, B, C", [1; 4], FLOATS, Check::Float(32), |l| {
        let lost = exponent(f(l.c)) - exponent(f(l.b)) < -150;
        b(fixup(f(l.a).into(), f(l.b).into(), f(l.c).into(), lost) as f32)
    }));
    list.push(form("v_div_fixup_f64 D, A, B, C", [2; 4], DOUBLES, Check::Float(64), |l| {
        let lost = exponent64(d(l.c)) - exponent64(d(l.b)) < -1075;
        fixup(d(l.a), d(l.b), d(l.c), lost).to_bits()
    }));
}

fn doubles(list: &mut Vec<Form>) {
    let check = Check::Float(64);
    type Two = fn(f64, f64) -> f64;
    let two: [(&str, Two); 4] =
        [("v_add_f64", |a, b| a + b), ("v_mul_f64", |a, b| a * b), ("v_min_f64", least), ("v_max_f64", most)];
    for (name, op) in two {
        list.push(form(&format!("{name} D, A, B"), [2, 2, 2, 0], DOUBLES, check, move |l| {
            op(d(l.a), d(l.b)).to_bits()
        }));
        list.push(form(&format!("{name} D, -|A|, B clamp"), [2, 2, 2, 0], DOUBLES, check, move |l| {
            let v = op(-d(l.a).abs(), d(l.b));
            (if v > 0.0 { v.min(1.0) } else { 0.0 }).to_bits()
        }));
    }
    list.push(form("v_fma_f64 D, A, -B, C", [2; 4], DOUBLES, check, |l| {
        d(l.a).mul_add(-d(l.b), d(l.c)).to_bits()
    }));
    list.push(form("v_rcp_f64 D, A", [2, 2, 0, 0], DOUBLES, check, |l| (1.0 / d(l.a)).to_bits()));
    list.push(form("v_sqrt_f64 D, A", [2, 2, 0, 0], DOUBLES, check, |l| d(l.a).sqrt().to_bits()));
    list.push(form("v_rsq_f64 D, A", [2, 2, 0, 0], DOUBLES, Check::Near(64, 2), |l| {
        (1.0 / d(l.a).sqrt()).to_bits()
    }));
    list.push(form("v_fract_f64 D, A", [2, 2, 0, 0], DOUBLES, check, |l| {
        let v = d(l.a);
        let rest = v - v.floor();
        if rest >= 1.0 { 0x3fef_ffff_ffff_ffff } else { rest.to_bits() }
    }));
}

fn conversions(list: &mut Vec<Form>) {
    let word = [Kind::Word; 3];
    let one = [1, 1, 0, 0];
    let float = Check::Float(32);
    list.push(form("v_cvt_f32_i32 D, A", one, word, float, |l| b(l.a as i32 as f32)));
    list.push(form("v_cvt_f32_u32 D, A", one, word, float, |l| b(l.a as u32 as f32)));
    list.push(form("v_cvt_f64_i32 D, A", [2, 1, 0, 0], word, Check::Float(64), |l| {
        f64::from(l.a as i32).to_bits()
    }));
    list.push(form("v_cvt_f64_u32 D, A", [2, 1, 0, 0], word, Check::Float(64), |l| {
        f64::from(l.a as u32).to_bits()
    }));
    let bits = Check::Bits(32);
    // Rust's conversions go towards zero, clamp, and give 0 for a NaN.
    list.push(form("v_cvt_i32_f32 D, A", one, FLOATS, bits, |l| u64::from(f(l.a) as i32 as u32)));
    list.push(form("v_cvt_u32_f32 D, A", one, FLOATS, bits, |l| u64::from(f(l.a) as u32)));
    list.push(form("v_cvt_i32_f64 D, A", [1, 2, 0, 0], DOUBLES, bits, |l| u64::from(d(l.a) as i32 as u32)));
    list.push(form("v_cvt_u32_f64 D, A", [1, 2, 0, 0], DOUBLES, bits, |l| u64::from(d(l.a) as u32)));
    list.push(form("v_cvt_i32_f32_e64 D, -A clamp", one, FLOATS, bits, |l| u64::from(-f(l.a) as i32 as u32)));
    list.push(form("v_cvt_flr_i32_f32 D, A", one, FLOATS, bits, |l| u64::from(f(l.a).floor() as i32 as u32)));
    list.push(form("v_cvt_rpi_i32_f32 D, A", one, FLOATS, bits, |l| {
        u64::from((f64::from(f(l.a)) + 0.5).floor() as i32 as u32)
    }));
    list.push(form("v_cvt_f64_f32 D, A", [2, 1, 0, 0], FLOATS, Check::Float(64), |l| {
        f64::from(f(l.a)).to_bits()
    }));
    list.push(form("v_cvt_f32_f64 D, A", [1, 2, 0, 0], DOUBLES, float, |l| b(d(l.a) as f32)));
    for byte in 0..4 {
        list.push(form(&format!("v_cvt_f32_ubyte{byte} D, A"), one, word, float, move |l| {
            b((l.a >> (8 * byte) & 255) as f32)
        }));
    }
    list.push(form("v_cvt_off_f32_i4 D, A", one, word, float, |l| {
        b(((l.a << 60) as i64 >> 60) as f32 / 16.0)
    }));
    list.push(form("v_cvt_pk_u8_f32 D, A, B, C", [1; 4], [Kind::Float, Kind::Word, Kind::Word], bits, |l| {
        let at = (l.b & 3) * 8;
        u64::from(f(l.a) as u8) << at | l.c & 0xffff_ffff & !(255 << at)
    }));
    let norm = |v: f32, scale: f64| (f64::from(v).clamp(-1.0, 1.0) * scale).round_ties_even();
    list.push(form("v_cvt_pknorm_i16_f32 D, A, B", [1, 1, 1, 0], FLOATS, bits, move |l| {
        let one = |v| u64::from(norm(f(v), 32767.0) as i16 as u16);
        one(l.a) | one(l.b) << 16
    }));
    list.push(form("v_cvt_pknorm_u16_f32 D, A, B", [1, 1, 1, 0], FLOATS, bits, move |l| {
        let one = |v| u64::from(norm(f(v), 65535.0) as u16);
        one(l.a) | one(l.b) << 16
    }));
}
