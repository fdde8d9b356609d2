//! The remaining vector instructions, by the first target that has them.

use super::floats::{least, most};
use super::halves::{fused, mad, of, to};
use super::later::small;
use super::{Check, Form, Kind, Lane, form};

const WORDS: [Kind; 3] = [Kind::Word; 3];
const HALVES: [Kind; 3] = [Kind::Halves; 3];
const FLOATS: [Kind; 3] = [Kind::Float; 3];
const ONE: [u32; 4] = [1, 1, 0, 0];
const TWO: [u32; 4] = [1, 1, 1, 0];
const THREE: [u32; 4] = [1; 4];

fn f(v: u64) -> f32 {
    f32::from_bits(v as u32)
}

fn b(v: f32) -> u64 {
    v.to_bits().into()
}

fn low(v: u64) -> u16 {
    v as u16
}

fn high(v: u64) -> u16 {
    (v >> 16) as u16
}

fn both(low: u16, high: u16) -> u64 {
    u64::from(low) | u64::from(high) << 16
}

/// The axis with the greatest coordinate: 0 for x, 1 for y, 2 for z.
fn axis(l: Lane) -> usize {
    let [x, y, z] = [f(l.a).abs(), f(l.b).abs(), f(l.c).abs()];
    if z >= x && z >= y {
        2
    } else if y >= x {
        1
    } else {
        0
    }
}

/// 48 bits of 2/π each, the last one has 1.
const TWO_OVER_PI: [u64; 26] = [
    0xa2f9_836e_4e44,
    0x1529_fc27_57d1,
    0xf534_ddc0_db62,
    0x9599_3c43_9041,
    0xfe51_63ab_debb,
    0xc561_b724_6e3a,
    0x424d_d2e0_0649,
    0x2eea_09d1_921c,
    0xfe1d_eb1c_b129,
    0xa73e_e882_35f5,
    0x2ebb_4484_e99c,
    0x7026_b45f_7e41,
    0x3991_d639_8353,
    0x39f4_9c84_5f8b,
    0xbdf9_283b_1ff8,
    0x97ff_de05_980f,
    0xef2f_118b_5a0a,
    0x6d1f_6d36_7ecf,
    0x27cb_09b7_4f46,
    0x3f66_9e5f_ea2d,
    0x7527_bac7_ebe5,
    0xf17b_3d07_39f7,
    0x8a52_92ea_6bfb,
    0x5fb1_1f8d_5d08,
    0x5603_3046_fc7b,
    0x0000_0000_0000,
];

/// The bit of 2/π at a place after the point; 0 beyond the bits that the hardware has.
fn bit(place: i32) -> u64 {
    match place {
        0..1200 => TWO_OVER_PI[place as usize / 48] >> (47 - place % 48) & 1,
        1200 => TWO_OVER_PI[25] & 1,
        _ => 0,
    }
}

fn preop(a: f64, segment: u32) -> f64 {
    let exponent = (a.to_bits() >> 52 & 2047) as i32;
    let place = (segment & 31) as i32 * 53 + (exponent - 1077).max(0);
    let bits = (0..53).fold(0, |all, n| all << 1 | bit(place + n));
    let scale = -53 - place + if exponent >= 1968 { 128 } else { 0 };
    // In two steps, of which the first is exact.
    let first = scale.max(-900);
    bits as f64 * f64::from(first).exp2() * f64::from(scale - first).exp2()
}

/// What gfx900 and gfx906 have.
pub fn gfx906(list: &mut Vec<Form>) {
    constants(list);
    let bits = Check::Bits(32);
    for (name, subtract) in [("v_add_i16", false), ("v_sub_i16", true)] {
        let plain = move |l: Lane| {
            let (a, b) = (low(l.a), low(l.b));
            u64::from(if subtract { a.wrapping_sub(b) } else { a.wrapping_add(b) }) | l.d & 0xffff_0000
        };
        list.push(form(&format!("{name} D, A, B"), TWO, HALVES, bits, plain));
        let clamped = move |l: Lane| {
            let (a, b) = (low(l.a) as i16, low(l.b) as i16);
            let value = if subtract { a.saturating_sub(b) } else { a.saturating_add(b) };
            u64::from(value as u16) | l.d & 0xffff_0000
        };
        list.push(form(&format!("{name} D, A, B clamp"), TWO, HALVES, bits, clamped));
    }
    type Pair = fn(u16, u16, u16) -> u16;
    let pairs: [(&str, u32, Pair); 6] = [
        ("v_pk_add_i16 D, A, B clamp", 2, |a, b, _| (a as i16).saturating_add(b as i16) as u16),
        ("v_pk_sub_u16 D, A, B clamp", 2, |a, b, _| a.saturating_sub(b)),
        ("v_pk_mad_u16 D, A, B, C", 3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("v_pk_min_i16 D, A, B", 2, |a, b, _| (a as i16).min(b as i16) as u16),
        ("v_pk_max_u16 D, A, B", 2, |a, b, _| a.max(b)),
        ("v_pk_add_u16 D, A, B clamp", 2, |a, b, _| a.saturating_add(b)),
    ];
    for (text, count, op) in pairs {
        let words = if count == 3 { THREE } else { TWO };
        list.push(form(text, words, HALVES, bits, move |l| {
            both(op(low(l.a), low(l.b), low(l.c)), op(high(l.a), high(l.b), high(l.c)))
        }));
    }
    let half = Check::Float(16);
    list.push(form("v_sub_f16 D, A, B", TWO, HALVES, half, |l| to(of(low(l.a)) - of(low(l.b))).into()));
    list.push(form("v_subrev_f16 D, A, B", TWO, HALVES, half, |l| to(of(low(l.b)) - of(low(l.a))).into()));
    list.push(form("v_madmk_f16 D, A, 0x3e00, B", TWO, HALVES, half, |l| {
        mad(low(l.a), 0x3e00, low(l.b)).into()
    }));
    list.push(form("v_madak_f16 D, A, B, 0x3e00", TWO, HALVES, half, |l| {
        mad(low(l.a), low(l.b), 0x3e00).into()
    }));
    list.push(form("v_fma_legacy_f16 D, A, B, C", THREE, HALVES, half, |l| {
        fused(of(low(l.a)), of(low(l.b)), of(low(l.c))).into()
    }));
    let norm = |v: u16, scale: f64| (of(v).clamp(-1.0, 1.0) * scale).round_ties_even();
    list.push(form("v_cvt_norm_u16_f16 D, A", ONE, HALVES, bits, move |l| {
        u64::from(norm(low(l.a), 65535.0) as u16)
    }));
    list.push(form("v_cvt_pknorm_i16_f16 D, A, B", TWO, HALVES, bits, move |l| {
        both(norm(low(l.a), 32767.0) as i16 as u16, norm(low(l.b), 32767.0) as i16 as u16)
    }));
    list.push(form("v_cvt_pkaccum_u8_f32 D, A, B", TWO, [Kind::Float, Kind::Word, Kind::Word], bits, |l| {
        let at = (l.b & 3) * 8;
        u64::from(f(l.a) as u8) << at | l.d & 0xffff_ffff & !(255 << at)
    }));
    let float = Check::Float(32);
    list.push(form("v_cubeid_f32 D, A, B, C", THREE, FLOATS, float, |l| {
        let which = axis(l);
        let negative = f([l.a, l.b, l.c][which]) < 0.0;
        b((2 * which) as f32 + if negative { 1.0 } else { 0.0 })
    }));
    list.push(form("v_cubesc_f32 D, A, B, C", THREE, FLOATS, float, |l| {
        let [x, z] = [f(l.a), f(l.c)];
        b(match axis(l) {
            2 => {
                if z < 0.0 {
                    -x
                } else {
                    x
                }
            }
            1 => x,
            _ => {
                if x < 0.0 {
                    z
                } else {
                    -z
                }
            }
        })
    }));
    list.push(form("v_cubetc_f32 D, A, B, C", THREE, FLOATS, float, |l| {
        let [y, z] = [f(l.b), f(l.c)];
        b(match axis(l) {
            1 => {
                if y < 0.0 {
                    -z
                } else {
                    z
                }
            }
            _ => -y,
        })
    }));
    list.push(form(
        "v_cubema_f32 D, A, B, C",
        THREE,
        FLOATS,
        float,
        |l| b(f([l.a, l.b, l.c][axis(l)]) * 2.0),
    ));
    let inputs = [Kind::Double, Kind::Word, Kind::Word];
    list.push(form("v_trig_preop_f64 D, A, B", [2, 2, 1, 0], inputs, Check::Float(64), |l| {
        preop(f64::from_bits(l.a), l.b as u32).to_bits()
    }));
}

/// Constants as sources, which have the source's type.
fn constants(list: &mut Vec<Form>) {
    let (float, half, wide) = (Check::Float(32), Check::Float(16), Check::Float(64));
    let double = [Kind::Double; 3];
    list.push(form("v_add_f32 D, 0x40490fdb, A", ONE, FLOATS, float, |l| b(f(0x4049_0fdb) + f(l.a))));
    // An integer is the bits of a subnormal number.
    list.push(form("v_add_f32 D, 3, A", ONE, FLOATS, float, |l| b(f(3) + f(l.a))));
    list.push(form("v_mul_f32 D, 0.15915494, A", ONE, FLOATS, float, |l| b(f(0x3e22_f983) * f(l.a))));
    list.push(form("v_add_f16 D, 0x3e00, A", ONE, HALVES, half, |l| to(1.5 + of(low(l.a))).into()));
    list.push(form("v_mul_f16 D, -4.0, A", ONE, HALVES, half, |l| to(-4.0 * of(low(l.a))).into()));
    list.push(form("v_add_f64 D, A, 0.5", [2, 2, 0, 0], double, wide, |l| {
        (f64::from_bits(l.a) + 0.5).to_bits()
    }));
    list.push(form("v_mul_f64 D, -|A|, 0.15915494309189532", [2, 2, 0, 0], double, wide, |l| {
        (-f64::from_bits(l.a).abs() * f64::from_bits(0x3fc4_5f30_6dc9_c882)).to_bits()
    }));
    list.push(form("v_lshlrev_b64 D, 5, A", [2, 2, 0, 0], double, Check::Bits(64), |l| l.a << 5));
    list.push(form("v_pk_mul_f16 D, A, 2.0 op_sel_hi:[1,0]", ONE, HALVES, Check::Halves, |l| {
        both(to(of(low(l.a)) * 2.0), to(of(high(l.a)) * 2.0))
    }));
    list.push(form("v_pk_add_u16 D, A, -1", ONE, HALVES, Check::Bits(32), |l| {
        both(low(l.a).wrapping_sub(1), high(l.a).wrapping_sub(1))
    }));
    let inputs = [Kind::Halves, Kind::Float, Kind::Halves];
    list.push(form("v_fma_mix_f32 D, A, B, 0.5 op_sel:[1,0,0] op_sel_hi:[1,0,0]", TWO, inputs, float, |l| {
        b((of(high(l.a)) as f32).mul_add(f(l.b), 0.5))
    }));
    list.push(form("v_bfe_u32 D, A, 4, 9", ONE, WORDS, Check::Bits(32), |l| l.a >> 4 & 0x1ff));
    list.push(form("v_and_b32 D, 0x12345678, A", ONE, WORDS, Check::Bits(32), |l| l.a & 0x1234_5678));
}

/// What gfx900 alone has: products and sums that are rounded twice.
pub fn gfx900(list: &mut Vec<Form>) {
    let inputs = [Kind::Halves, Kind::Float, Kind::Halves];
    let flushed = |v: f32| if v.is_subnormal() { 0f32.copysign(v) } else { v };
    let mad = move |l: Lane| {
        let product = flushed(flushed(of(low(l.a)) as f32) * flushed(f(l.b)));
        flushed(product - of(high(l.c)) as f32)
    };
    let text = "A, B, -C op_sel:[0,0,1] op_sel_hi:[1,0,1]";
    list.push(form(&format!("v_mad_mix_f32 D, {text}"), THREE, inputs, Check::Float(32), move |l| b(mad(l))));
    list.push(form(&format!("v_mad_mixlo_f16 D, {text}"), THREE, inputs, Check::Halves, move |l| {
        u64::from(to(mad(l).into())) | l.d & 0xffff_0000
    }));
    list.push(form(&format!("v_mad_mixhi_f16 D, {text} clamp"), THREE, inputs, Check::Halves, move |l| {
        let v = of(to(mad(l).into()));
        u64::from(to(if v > 0.0 { v.min(1.0) } else { 0.0 })) << 16 | l.d & 0xffff
    }));
}

/// What gfx908 has first.
pub fn gfx908(list: &mut Vec<Form>) {
    list.push(form("v_dot8c_i32_i4 D, A, B", TWO, WORDS, Check::Bits(32), |l| {
        let nibble = |v: u64, n: u32| (v << (60 - 4 * n)) as i64 >> 60;
        let sum = (0..8).map(|n| nibble(l.a, n) * nibble(l.b, n)).sum::<i64>();
        u64::from((l.d as u32).wrapping_add(sum as u32))
    }));
    list.push(form(
        "v_dot2c_f32_f16 D, A, B",
        TWO,
        [Kind::Halves, Kind::Halves, Kind::Float],
        Check::Float(32),
        |l| {
            let half = |v: u16| of(v) as f32;
            let first = half(low(l.a)).mul_add(half(low(l.b)), f(l.d));
            b(half(high(l.a)).mul_add(half(high(l.b)), first))
        },
    ));
    list.push(form("v_pk_fmac_f16 D, A, B", TWO, HALVES, Check::Halves, |l| {
        both(
            fused(of(low(l.a)), of(low(l.b)), of(low(l.d))),
            fused(of(high(l.a)), of(high(l.b)), of(high(l.d))),
        )
    }));
}

/// The float of 8 bits that is nearest; the one with an even last bit of two. The NaN if a number is too
/// large.
fn narrowed(v: f32, fraction: u32, bias: i32) -> u64 {
    let numbers = || {
        (0..=255u8).filter(|bits| *bits != 0x80).map(|bits| (bits, f64::from(small(bits, fraction, bias))))
    };
    let most = numbers().map(|(_, number)| number).fold(0.0, f64::max);
    let half_step = most / f64::from((2 << fraction) - 1) / 2.0;
    if v.is_nan() || f64::from(v).abs() >= most + half_step {
        return 0x80;
    }
    let distance = |number: f64| (number - f64::from(v)).abs();
    let nearest = numbers().map(|(_, number)| distance(number)).fold(f64::INFINITY, f64::min);
    let all: Vec<u8> =
        numbers().filter(|(_, number)| distance(*number) == nearest).map(|(bits, _)| bits).collect();
    u64::from(all.iter().copied().find(|bits| all.len() == 1 || bits & 1 == 0).expect("one of them is even"))
}

/// A float of 8 bits of the Open Compute Project: E5M2, which is the upper half of an f16, or E4M3, which has
/// one NaN and no infinities.
fn ocp(bits: u8, five: bool) -> f32 {
    let size = bits & 0x7f;
    let (fraction, bias) = if five { (2, 15) } else { (3, 7) };
    let (exponent, rest) = (i32::from(size >> fraction), f64::from(size & ((1 << fraction) - 1)));
    let value = match (five, size) {
        (true, 0x7c) => f64::INFINITY,
        (true, 0x7d..) | (false, 0x7f) => return f32::NAN,
        _ if exponent == 0 => rest * f64::from(1 - bias - fraction).exp2(),
        _ => (1.0 + rest * f64::from(-fraction).exp2()) * f64::from(exponent - bias).exp2(),
    };
    (if bits >> 7 == 1 { -value } else { value }) as f32
}

/// Floats of 8 bits on gfx1201.
pub fn gfx1201(list: &mut Vec<Form>) {
    for (name, five) in [("fp8", false), ("bf8", true)] {
        list.push(form(&format!("v_cvt_f32_{name} D, A"), ONE, WORDS, Check::Float(32), move |l| {
            b(ocp(l.a as u8, five))
        }));
        list.push(form(&format!("v_cvt_pk_f32_{name} D, A"), [2, 1, 0, 0], WORDS, Check::Words, move |l| {
            b(ocp(l.a as u8, five)) | b(ocp((l.a >> 8) as u8, five)) << 32
        }));
    }
}

/// What gfx942 has first.
pub fn gfx942(list: &mut Vec<Form>) {
    for (name, fraction, bias) in [("fp8", 3, 8), ("bf8", 2, 16)] {
        let pair = move |a: f32, b: f32| narrowed(a, fraction, bias) | narrowed(b, fraction, bias) << 8;
        list.push(form(&format!("v_cvt_pk_{name}_f32 D, A, B"), TWO, FLOATS, Check::Bits(32), move |l| {
            pair(f(l.a), f(l.b)) | l.d & 0xffff_0000
        }));
        list.push(form(
            &format!("v_cvt_pk_{name}_f32 D, -A, |B| op_sel:[0,0,1]"),
            TWO,
            FLOATS,
            Check::Bits(32),
            move |l| pair(-f(l.a), f(l.b).abs()) << 16 | l.d & 0xffff,
        ));
    }
    list.push(form("v_cvt_f32_bf8 D, A", ONE, WORDS, Check::Float(32), |l| b(small(l.a as u8, 2, 16))));
    list.push(form("v_cvt_pk_f32_bf8 D, A", [2, 1, 0, 0], WORDS, Check::Words, |l| {
        b(small(l.a as u8, 2, 16)) | b(small((l.a >> 8) as u8, 2, 16)) << 32
    }));
}

/// What gfx1030 has first.
pub fn gfx1030(list: &mut Vec<Form>) {
    let float = Check::Float(32);
    list.push(form(
        "v_fmamk_f32 D, A, 0x3fc00000, B",
        TWO,
        FLOATS,
        float,
        |l| b(f(l.a).mul_add(1.5, f(l.b))),
    ));
    list.push(form(
        "v_fmaak_f32 D, A, B, 0x3fc00000",
        TWO,
        FLOATS,
        float,
        |l| b(f(l.a).mul_add(f(l.b), 1.5)),
    ));
    let kept = |value: u16, l: Lane| u64::from(value) | l.d & 0xffff_0000;
    list.push(form("v_fmamk_f16 D, A, 0x3e00, B", TWO, HALVES, Check::Halves, move |l| {
        kept(fused(of(low(l.a)), 1.5, of(low(l.b))), l)
    }));
    list.push(form("v_fmaak_f16 D, A, B, 0x3e00", TWO, HALVES, Check::Halves, move |l| {
        kept(fused(of(low(l.a)), of(low(l.b)), 1.5), l)
    }));
    let legacy = |a: f32, x: f32, c: f32| if a == 0.0 || x == 0.0 { 0.0 + c } else { a.mul_add(x, c) };
    list.push(form("v_fma_legacy_f32 D, A, B, C", THREE, FLOATS, float, move |l| {
        b(legacy(f(l.a), f(l.b), f(l.c)))
    }));
    list.push(form("v_fmac_legacy_f32 D, A, B", TWO, FLOATS, float, move |l| {
        b(legacy(f(l.a), f(l.b), f(l.d)))
    }));
}

/// What gfx1100 has first.
pub fn gfx1100(list: &mut Vec<Form>) {
    list.retain(|form| !form.text.contains("legacy"));
    let bits = Check::Bits(32);
    let kept = |value: u64, l: Lane| value & 0xffff | l.d & 0xffff_0000;
    list.push(form("v_not_b16 D, A", ONE, WORDS, bits, move |l| kept(!l.a, l)));
    list.push(form("v_cndmask_b16 D, A, B, vcc", TWO, WORDS, bits, move |l| {
        kept(if l.vcc { l.b } else { l.a }, l)
    }));
    list.push(form("v_minmax_i32 D, A, B, C", THREE, WORDS, bits, |l| {
        u64::from((l.a as i32).min(l.b as i32).max(l.c as i32) as u32)
    }));
    list.push(form("v_maxmin_u32 D, A, B, C", THREE, WORDS, bits, |l| {
        u64::from((l.a as u32).max(l.b as u32).min(l.c as u32))
    }));
    type Two = fn(f64, f64) -> f64;
    for (name, first, second) in [("maxmin", most as Two, least as Two), ("minmax", least, most)] {
        list.push(form(&format!("v_{name}_f32 D, A, B, C"), THREE, FLOATS, Check::Float(32), move |l| {
            b(second(first(f(l.a).into(), f(l.b).into()), f(l.c).into()) as f32)
        }));
        list.push(form(&format!("v_{name}_f16 D, A, B, C"), THREE, HALVES, Check::Halves, move |l| {
            kept(to(second(first(of(low(l.a)), of(low(l.b))), of(low(l.c)))).into(), l)
        }));
    }
    list.push(form("v_dot2_f16_f16 D, A, B, C", THREE, HALVES, Check::Halves, move |l| {
        let half = |v: u16| of(v) as f32;
        let first = half(low(l.a)).mul_add(half(low(l.b)), half(low(l.c)));
        kept(to(half(high(l.a)).mul_add(half(high(l.b)), first).into()).into(), l)
    }));
    list.push(form("v_dot2_bf16_bf16 D, A, B, C", THREE, FLOATS, bits, move |l| {
        let part = |v: u64| f32::from_bits((v as u32) << 16);
        let first = part(l.a).mul_add(part(l.b), part(l.c));
        let sum = part(l.a >> 16).mul_add(part(l.b >> 16), first);
        let word = sum.to_bits();
        // To nearest even; wave IR's NaN.
        let value = if sum.is_nan() { 0x7fff } else { (word + 0x7fff + (word >> 16 & 1)) >> 16 };
        kept(value.into(), l)
    }));
}
