//! Floats in other modes than to nearest with subnormals.

use super::{Check, Form, Kind, form, test};

const FLOATS: [Kind; 3] = [Kind::Float; 3];

fn f(v: u64) -> f32 {
    f32::from_bits(v as u32)
}

/// An operand without subnormals.
fn of(v: u64) -> f64 {
    let v = f(v);
    f64::from(if v.is_subnormal() { 0f32.copysign(v) } else { v })
}

/// A result: rounded as if the exponent had no bound, then zero if it is too small.
fn to(v: f64) -> u64 {
    let scaled = (v * 64f64.exp2()) as f32;
    let small = scaled != 0.0 && f64::from(scaled.abs()) < (64f64 - 126.0).exp2();
    u64::from((if small || v == 0.0 { 0f32.copysign(v as f32) } else { v as f32 }).to_bits())
}

/// A result that is multiplied, and then has no negative zero.
fn times(v: u64, factor: f64) -> u64 {
    let product = to(f64::from(f(v)) * factor);
    if f(product) == 0.0 { 0 } else { product }
}

type Two = fn(f64, f64) -> f64;

/// Subnormals are flushed, and there is no IEEE mode.
pub fn flushed(list: &mut Vec<Form>) {
    let check = Check::Float(32);
    let two = [1, 1, 1, 0];
    // Sums are exact in f64 unless they are too large to matter.
    let rows: [(&str, Two); 3] = [
        ("v_mul_f32", |a, b| a * b),
        ("v_min_f32", super::floats::least),
        ("v_max_f32", super::floats::most),
    ];
    for (name, op) in rows {
        list.push(form(&format!("{name} D, A, -B"), two, FLOATS, check, move |l| to(op(of(l.a), -of(l.b)))));
        for (end, factor) in [("mul:2", 2.0), ("mul:4", 4.0), ("div:2", 0.5)] {
            list.push(form(&format!("{name}_e64 D, A, B {end}"), two, FLOATS, check, move |l| {
                times(to(op(of(l.a), of(l.b))), factor)
            }));
        }
    }
    list.push(form("v_mul_f32_e64 D, A, B clamp mul:2", two, FLOATS, check, |l| {
        let v = f(times(to(of(l.a) * of(l.b)), 2.0));
        u64::from((if v > 0.0 { v.min(1.0) } else { 0.0 }).to_bits())
    }));
    // f16 and f64 keep theirs.
    list.push(form("v_cvt_f64_f32 D, A", [2, 1, 0, 0], FLOATS, Check::Float(64), |l| of(l.a).to_bits()));
    list.push(form("v_mul_f64 D, A, B", [2, 2, 2, 0], [Kind::Double; 3], Check::Float(64), |l| {
        (f64::from_bits(l.a) * f64::from_bits(l.b)).to_bits()
    }));
    list.push(form("v_trunc_f32 D, A", [1, 1, 0, 0], FLOATS, check, |l| to(of(l.a).trunc())));
    list.push(test("v_cmp_eq_f32 vcc, A, B", two, FLOATS, |l| of(l.a) == of(l.b)));
    list.push(test("v_cmp_lt_f32 vcc, A, B", two, FLOATS, |l| of(l.a) < of(l.b)));
}

/// A product rounded towards zero.
pub fn toward_zero(a: f32, b: f32) -> u64 {
    let exact = f64::from(a) * f64::from(b);
    let near = exact as f32;
    let over = exact.is_finite() && f64::from(near).abs() > exact.abs();
    u64::from(if over { near.to_bits() - 1 } else { near.to_bits() })
}

/// Results are rounded towards zero.
pub fn rounded(list: &mut Vec<Form>) {
    list.push(form("v_mul_f32 D, A, B", [1, 1, 1, 0], FLOATS, Check::Float(32), |l| {
        toward_zero(f(l.a), f(l.b))
    }));
}

/// Code that sets the mode.
pub fn set(list: &mut Vec<Form>) {
    let two = [1, 1, 1, 0];
    let text = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3 \n v_mul_f32 D, A, B \n \
                s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0";
    list.push(form(text, two, FLOATS, Check::Float(32), |l| toward_zero(f(l.a), f(l.b))));
    let text = "s_getreg_b32 s14, hwreg(HW_REG_MODE, 4, 2) \n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0 \n \
                v_mul_f32 D, A, B \n s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s14";
    list.push(form(text, two, FLOATS, Check::Float(32), |l| to(of(l.a) * of(l.b))));
    let text = "s_getreg_b32 s14, hwreg(HW_REG_MODE, 0, 8) \n v_mov_b32 D, s14";
    list.push(form(text, two, FLOATS, Check::Bits(32), |_| 0xf0));
    // The place on the device. What has no counterpart, as the queue, is 0.
    let text = "s_getreg_b32 s14, hwreg(HW_REG_HW_ID, 16, 16) \n v_mov_b32 D, s14";
    list.push(form(text, two, FLOATS, Check::Bits(32), |_| 0));
}
