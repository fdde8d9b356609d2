//! Integers and bits.

use super::{After, Check, Form, Kind, Wave, form, test};

const WORDS: [Kind; 3] = [Kind::Word; 3];

type One = fn(u32) -> u32;
type Two = fn(u32, u32) -> u32;
type Three = fn(u32, u32, u32) -> u32;
type TwoShort = fn(u16, u16) -> u16;
type ThreeShort = fn(u16, u16, u16) -> u16;

fn signed24(a: u32) -> i64 {
    i64::from((a << 8) as i32 >> 8)
}

fn low24(a: u32) -> u64 {
    u64::from(a & 0xff_ffff)
}

fn bytes(a: u32) -> [u32; 4] {
    a.to_le_bytes().map(u32::from)
}

fn sad(a: u32, b: u32, masked: bool) -> u32 {
    let pairs = bytes(a).into_iter().zip(bytes(b));
    pairs.map(|(x, y)| if masked && y == 0 { 0 } else { x.abs_diff(y) }).sum()
}

fn field(a: u32, at: u32, length: u32) -> u32 {
    (a >> (at & 31)) & ((1u32 << (length & 31)) - 1)
}

fn permuted(a: u32, b: u32, c: u32) -> u32 {
    let data = u64::from(a) << 32 | u64::from(b);
    let byte = |n: u32| (data >> (n * 8)) as u8;
    let sign = |n: u32| if byte(n) & 0x80 != 0 { 0xff } else { 0 };
    let pick = |select: u8| match select {
        0..8 => byte(u32::from(select)),
        8 => sign(1),
        9 => sign(3),
        10 => sign(5),
        11 => sign(7),
        12 => 0,
        _ => 0xff,
    };
    u32::from_le_bytes(c.to_le_bytes().map(pick))
}

fn dot(a: u32, b: u32, bits: u32, signed: bool) -> i64 {
    let part = |v: u32, n: u32| {
        let v = v >> (n * bits) & ((1 << bits) - 1);
        if signed && v >> (bits - 1) == 1 { i64::from(v) - (1 << bits) } else { i64::from(v) }
    };
    (0..32 / bits).map(|n| part(a, n) * part(b, n)).sum()
}

fn saturated(value: i64, least: i64, most: i64) -> u64 {
    value.clamp(least, most) as u64
}

/// Two sources.
const TWO: &[(&str, Two)] = &[
    ("v_add_u32", u32::wrapping_add),
    ("v_sub_u32", u32::wrapping_sub),
    ("v_subrev_u32", |a, b| b.wrapping_sub(a)),
    ("v_add_i32", u32::wrapping_add),
    ("v_sub_i32", u32::wrapping_sub),
    ("v_and_b32", |a, b| a & b),
    ("v_or_b32", |a, b| a | b),
    ("v_xor_b32", |a, b| a ^ b),
    ("v_xnor_b32", |a, b| !(a ^ b)),
    ("v_min_u32", u32::min),
    ("v_max_u32", u32::max),
    ("v_min_i32", |a, b| (a as i32).min(b as i32) as u32),
    ("v_max_i32", |a, b| (a as i32).max(b as i32) as u32),
    ("v_mul_lo_u32", u32::wrapping_mul),
    ("v_mul_hi_u32", |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
    ("v_mul_hi_i32", |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32),
    ("v_mul_i32_i24", |a, b| (signed24(a) * signed24(b)) as u32),
    ("v_mul_u32_u24", |a, b| (low24(a) * low24(b)) as u32),
    ("v_mul_hi_i32_i24", |a, b| ((signed24(a) * signed24(b)) >> 32) as u32),
    ("v_mul_hi_u32_u24", |a, b| ((low24(a) * low24(b)) >> 32) as u32),
    ("v_lshlrev_b32", |a, b| b << (a & 31)),
    ("v_lshrrev_b32", |a, b| b >> (a & 31)),
    ("v_ashrrev_i32", |a, b| ((b as i32) >> (a & 31)) as u32),
    ("v_bfm_b32", |a, b| ((1u32 << (a & 31)) - 1) << (b & 31)),
    ("v_bcnt_u32_b32", |a, b| a.count_ones().wrapping_add(b)),
    ("v_cvt_pk_i16_i32", |a, b| {
        let s = |v: u32| (v as i32).clamp(-32768, 32767) as u32 & 0xffff;
        s(a) | s(b) << 16
    }),
    ("v_cvt_pk_u16_u32", |a, b| a.min(0xffff) | b.min(0xffff) << 16),
    ("v_pack_b32_f16", |a, b| a & 0xffff | b << 16),
];

/// Three sources.
const THREE: &[(&str, Three)] = &[
    ("v_add3_u32", |a, b, c| a.wrapping_add(b).wrapping_add(c)),
    ("v_or3_b32", |a, b, c| a | b | c),
    ("v_and_or_b32", |a, b, c| a & b | c),
    ("v_xad_u32", |a, b, c| (a ^ b).wrapping_add(c)),
    ("v_lshl_add_u32", |a, b, c| (a << (b & 31)).wrapping_add(c)),
    ("v_add_lshl_u32", |a, b, c| a.wrapping_add(b) << (c & 31)),
    ("v_lshl_or_b32", |a, b, c| a << (b & 31) | c),
    ("v_min3_u32", |a, b, c| a.min(b).min(c)),
    ("v_max3_u32", |a, b, c| a.max(b).max(c)),
    ("v_min3_i32", |a, b, c| (a as i32).min(b as i32).min(c as i32) as u32),
    ("v_max3_i32", |a, b, c| (a as i32).max(b as i32).max(c as i32) as u32),
    ("v_med3_u32", |a, b, c| {
        let mut all = [a, b, c];
        all.sort_unstable();
        all[1]
    }),
    ("v_med3_i32", |a, b, c| {
        let mut all = [a as i32, b as i32, c as i32];
        all.sort_unstable();
        all[1] as u32
    }),
    ("v_mad_i32_i24", |a, b, c| ((signed24(a) * signed24(b)) as u32).wrapping_add(c)),
    ("v_mad_u32_u24", |a, b, c| ((low24(a) * low24(b)) as u32).wrapping_add(c)),
    ("v_bfe_u32", field),
    ("v_bfe_i32", |a, b, c| {
        let length = c & 31;
        let moved = (a as i32 >> (b & 31)) as u32;
        if length == 0 { 0 } else { ((moved << (32 - length)) as i32 >> (32 - length)) as u32 }
    }),
    ("v_bfi_b32", |a, b, c| a & b | !a & c),
    ("v_alignbit_b32", |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32),
    ("v_alignbyte_b32", |a, b, c| ((u64::from(a) << 32 | u64::from(b)) >> ((c & 3) * 8)) as u32),
    ("v_perm_b32", permuted),
    ("v_sad_u8", |a, b, c| sad(a, b, false).wrapping_add(c)),
    ("v_msad_u8", |a, b, c| sad(a, b, true).wrapping_add(c)),
    ("v_sad_hi_u8", |a, b, c| (sad(a, b, false) << 16).wrapping_add(c)),
    ("v_sad_u16", |a, b, c| {
        (a & 0xffff).abs_diff(b & 0xffff).wrapping_add((a >> 16).abs_diff(b >> 16)).wrapping_add(c)
    }),
    ("v_sad_u32", |a, b, c| a.abs_diff(b).wrapping_add(c)),
    ("v_lerp_u8", |a, b, c| {
        let (a, b, c) = (bytes(a), bytes(b), bytes(c));
        (0..4).fold(0, |all, n| all | ((a[n] + b[n] + (c[n] & 1)) >> 1) << (8 * n))
    }),
];

/// One source.
const ONE: &[(&str, One)] = &[
    ("v_mov_b32", |a| a),
    ("v_not_b32", |a| !a),
    ("v_bfrev_b32", u32::reverse_bits),
    ("v_ffbh_u32", |a| if a == 0 { u32::MAX } else { a.leading_zeros() }),
    ("v_ffbl_b32", |a| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
    ("v_ffbh_i32", |a| {
        let same = if a >> 31 == 1 { !a } else { a };
        if same == 0 { u32::MAX } else { same.leading_zeros() }
    }),
];

/// Two sources of 16 bits. The upper half of the result becomes 0.
const TWO_SHORT: &[(&str, TwoShort)] = &[
    ("v_add_u16", u16::wrapping_add),
    ("v_sub_u16", u16::wrapping_sub),
    ("v_subrev_u16", |a, b| b.wrapping_sub(a)),
    ("v_mul_lo_u16", u16::wrapping_mul),
    ("v_lshlrev_b16", |a, b| b << (a & 15)),
    ("v_lshrrev_b16", |a, b| b >> (a & 15)),
    ("v_ashrrev_i16", |a, b| ((b as i16) >> (a & 15)) as u16),
    ("v_min_u16", u16::min),
    ("v_max_u16", u16::max),
    ("v_min_i16", |a, b| (a as i16).min(b as i16) as u16),
    ("v_max_i16", |a, b| (a as i16).max(b as i16) as u16),
];

/// Three sources of 16 bits. The upper half of the result is kept.
const THREE_SHORT: &[(&str, ThreeShort)] = &[
    ("v_mad_u16", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ("v_mad_i16", |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
    ("v_min3_i16", |a, b, c| (a as i16).min(b as i16).min(c as i16) as u16),
    ("v_max3_i16", |a, b, c| (a as i16).max(b as i16).max(c as i16) as u16),
    ("v_min3_u16", |a, b, c| a.min(b).min(c)),
    ("v_max3_u16", |a, b, c| a.max(b).max(c)),
    ("v_med3_u16", |a, b, c| {
        let mut all = [a, b, c];
        all.sort_unstable();
        all[1]
    }),
    ("v_med3_i16", |a, b, c| {
        let mut all = [a as i16, b as i16, c as i16];
        all.sort_unstable();
        all[1] as u16
    }),
];

/// Pairs: the name, and what happens to each.
const PAIRS: &[(&str, TwoShort)] = &[
    ("v_pk_add_u16", u16::wrapping_add),
    ("v_pk_sub_i16", u16::wrapping_sub),
    ("v_pk_mul_lo_u16", u16::wrapping_mul),
    ("v_pk_lshlrev_b16", |a, b| b << (a & 15)),
    ("v_pk_lshrrev_b16", |a, b| b >> (a & 15)),
    ("v_pk_ashrrev_i16", |a, b| ((b as i16) >> (a & 15)) as u16),
    ("v_pk_min_u16", u16::min),
    ("v_pk_max_i16", |a, b| (a as i16).max(b as i16) as u16),
];

/// Sums that a clamp saturates: the exact result and its bounds.
type Exact = fn(i64, i64, i64) -> i64;
const CLAMPED: &[(&str, bool, u32, Exact)] = &[
    ("v_add_u32_e64 D, A, B", false, 32, |a, b, _| a + b),
    ("v_sub_u32_e64 D, A, B", false, 32, |a, b, _| a - b),
    ("v_subrev_u32_e64 D, A, B", false, 32, |a, b, _| b - a),
    ("v_add_i32 D, A, B", true, 32, |a, b, _| a + b),
    ("v_sub_i32 D, A, B", true, 32, |a, b, _| a - b),
    ("v_add_u16_e64 D, A, B", false, 16, |a, b, _| a + b),
    ("v_sub_u16_e64 D, A, B", false, 16, |a, b, _| a - b),
    ("v_mad_u32_u24 D, A, B, C", false, 32, |a, b, c| (a & 0xff_ffff) * (b & 0xff_ffff) + c),
    ("v_mad_i32_i24 D, A, B, C", true, 32, |a, b, c| (a << 40 >> 40) * (b << 40 >> 40) + c),
    ("v_mad_legacy_u16 D, A, B, C", false, 16, |a, b, c| a * b + c),
    ("v_mad_legacy_i16 D, A, B, C", true, 16, |a, b, c| a * b + c),
];

fn halves(v: u64) -> [u16; 2] {
    [v as u16, (v >> 16) as u16]
}

fn packed(v: [u16; 2]) -> u64 {
    u64::from(v[0]) | u64::from(v[1]) << 16
}

pub fn forms(list: &mut Vec<Form>) {
    let bits = Check::Bits(32);
    let one = [1, 1, 0, 0];
    let two = [1, 1, 1, 0];
    let three = [1, 1, 1, 1];
    for &(name, f) in ONE {
        list.push(form(&format!("{name} D, A"), one, WORDS, bits, move |l| f(l.a as u32).into()));
    }
    for &(name, f) in TWO {
        list.push(form(&format!("{name} D, A, B"), two, WORDS, bits, move |l| {
            f(l.a as u32, l.b as u32).into()
        }));
    }
    for &(name, f) in THREE {
        let model = move |l: super::Lane| f(l.a as u32, l.b as u32, l.c as u32).into();
        list.push(form(&format!("{name} D, A, B, C"), three, WORDS, bits, model));
    }
    let short = [Kind::Halves; 3];
    for &(name, f) in TWO_SHORT {
        list.push(form(&format!("{name} D, A, B"), two, short, bits, move |l| {
            f(l.a as u16, l.b as u16).into()
        }));
        // A half of each source, and one of the result, whose rest is kept or becomes zeros.
        let select = "dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0";
        list.push(form(&format!("{name}_sdwa D, A, B {select}"), two, short, bits, move |l| {
            u64::from(f((l.a >> 16) as u16, l.b as u16)) << 16 | l.d & 0xffff
        }));
    }
    for &(name, f) in THREE_SHORT {
        list.push(form(&format!("{name} D, A, B, C"), three, short, bits, move |l| {
            u64::from(f(l.a as u16, l.b as u16, l.c as u16)) | l.d & 0xffff_0000
        }));
        list.push(form(&format!("{name} D, A, B, C op_sel:[1,0,1,1]"), three, short, bits, move |l| {
            u64::from(f((l.a >> 16) as u16, l.b as u16, (l.c >> 16) as u16)) << 16 | l.d & 0xffff
        }));
    }
    for &(name, f) in PAIRS {
        list.push(form(&format!("{name} D, A, B"), two, short, bits, move |l| {
            let (a, b) = (halves(l.a), halves(l.b));
            packed([f(a[0], b[0]), f(a[1], b[1])])
        }));
        list.push(form(
            &format!("{name} D, A, B op_sel:[1,0] op_sel_hi:[0,0]"),
            two,
            short,
            bits,
            move |l| {
                let (a, b) = (halves(l.a), halves(l.b));
                packed([f(a[1], b[0]), f(a[0], b[0])])
            },
        ));
    }
    list.push(form("v_pk_mad_i16 D, A, B, C clamp", three, short, bits, |l| {
        let (a, b, c) = (halves(l.a), halves(l.b), halves(l.c));
        let one = |n: usize| {
            let [a, b, c] = [a[n], b[n], c[n]].map(|v| i64::from(v as i16));
            (a * b + c).clamp(-32768, 32767) as u16
        };
        packed([one(0), one(1)])
    }));
    for &(text, signed, size, f) in CLAMPED {
        let inputs = if size == 16 { short } else { WORDS };
        list.push(form(&format!("{text} clamp"), three, inputs, bits, move |l| {
            let of = |v: u64| match (size, signed) {
                (16, true) => i64::from(v as i16),
                (16, false) => i64::from(v as u16),
                (_, true) => i64::from(v as i32),
                (_, false) => i64::from(v as u32),
            };
            let (least, most) =
                if signed { (-1i64 << (size - 1), (1i64 << (size - 1)) - 1) } else { (0, (1 << size) - 1) };
            saturated(f(of(l.a), of(l.b), of(l.c)), least, most) & ((1u64 << size) - 1)
        }));
    }
    let sdwa = "dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_2 src1_sel:WORD_1";
    list.push(form(&format!("v_add_u32_sdwa D, sext(A), B {sdwa}"), two, WORDS, bits, |l| {
        let sum = ((l.a >> 16) as i8 as u32).wrapping_add((l.b >> 16) as u16 as u32);
        u64::from(sum & 0xff) << 8 | l.d & 0xffff_00ff
    }));
    let sdwa = "dst_sel:BYTE_2 dst_unused:UNUSED_SEXT src0_sel:BYTE_3 src1_sel:WORD_1";
    list.push(form(&format!("v_sub_u32_sdwa D, A, sext(B) {sdwa}"), two, WORDS, bits, |l| {
        let value = ((l.a >> 24) as u8 as u32).wrapping_sub((l.b >> 16) as i16 as u32);
        u64::from((value as i8 as u32) << 16)
    }));
    let wide = [Kind::Double; 3];
    let shifts = [Kind::Word, Kind::Double, Kind::Double];
    type Wide = fn(u32, u64) -> u64;
    let shifted: [(&str, Wide); 3] = [
        ("v_lshlrev_b64", |a, b| b << (a & 63)),
        ("v_lshrrev_b64", |a, b| b >> (a & 63)),
        ("v_ashrrev_i64", |a, b| ((b as i64) >> (a & 63)) as u64),
    ];
    for (name, f) in shifted {
        list.push(form(&format!("{name} D, A, B"), [2, 1, 2, 0], shifts, Check::Bits(64), move |l| {
            f(l.a as u32, l.b)
        }));
    }
    list.push(form("v_qsad_pk_u16_u8 D, A, B, C", [2, 2, 1, 2], wide, Check::Bits(64), |l| {
        (0..4).fold(0, |all, n| {
            let sum = sad((l.a >> (8 * n)) as u32, l.b as u32, false).wrapping_add((l.c >> (16 * n)) as u32);
            all | u64::from(sum as u16) << (16 * n)
        })
    }));
    list.push(form("v_mqsad_pk_u16_u8 D, A, B, C", [2, 2, 1, 2], wide, Check::Bits(64), |l| {
        (0..4).fold(0, |all, n| {
            let sum = sad((l.a >> (8 * n)) as u32, l.b as u32, true).wrapping_add((l.c >> (16 * n)) as u32);
            all | u64::from(sum as u16) << (16 * n)
        })
    }));
    list.push(form("v_sat_pk_u8_i16 D, A", one, WORDS, bits, |l| {
        let part = |v: u64| u64::from((v as i16).clamp(0, 255) as u16);
        part(l.a) | part(l.a >> 16) << 8
    }));
    for clamp in [false, true] {
        let end = if clamp { " clamp" } else { "" };
        for (name, size, signed) in [
            ("v_dot4_i32_i8", 8, true),
            ("v_dot4_u32_u8", 8, false),
            ("v_dot8_i32_i4", 4, true),
            ("v_dot8_u32_u4", 4, false),
            ("v_dot2_i32_i16", 16, true),
            ("v_dot2_u32_u16", 16, false),
        ] {
            list.push(form(&format!("{name} D, A, B, C{end}"), three, WORDS, bits, move |l| {
                let sum = dot(l.a as u32, l.b as u32, size, signed);
                let sum = if signed {
                    let sum = sum + i64::from(l.c as i32);
                    if clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum }
                } else {
                    let sum = sum as u64 + (l.c & 0xffff_ffff);
                    if clamp { sum.min(u32::MAX.into()) as i64 } else { sum as i64 }
                };
                u64::from(sum as u32)
            }));
        }
    }
    list.push(form("v_mad_i32_i16 D, A, B, C op_sel:[1,0,0,0]", three, WORDS, bits, |l| {
        let product = i64::from((l.a >> 16) as i16) * i64::from(l.b as i16);
        u64::from((product as u32).wrapping_add(l.c as u32))
    }));
    list.push(form("v_mad_u32_u16 D, A, B, C", three, WORDS, bits, |l| {
        let product = (l.a & 0xffff) * (l.b & 0xffff);
        u64::from((product as u32).wrapping_add(l.c as u32))
    }));
    carries(list);
    for (name, f) in
        [("eq", u32::eq as fn(&u32, &u32) -> bool), ("ne", u32::ne), ("lt", u32::lt), ("ge", u32::ge)]
    {
        list.push(test(&format!("v_cmp_{name}_u32 vcc, A, B"), two, WORDS, move |l| {
            f(&(l.a as u32), &(l.b as u32))
        }));
    }
    for (name, f) in [("le", i16::le as fn(&i16, &i16) -> bool), ("gt", i16::gt)] {
        list.push(test(&format!("v_cmp_{name}_i16 vcc, A, B"), two, short, move |l| {
            f(&(l.a as i16), &(l.b as i16))
        }));
        let select = "src0_sel:WORD_1 src1_sel:DWORD";
        list.push(test(&format!("v_cmp_{name}_i16_sdwa vcc, A, B {select}"), two, short, move |l| {
            f(&((l.a >> 16) as i16), &(l.b as i16))
        }));
    }
    list.push(test("v_cmp_lt_i64 vcc, A, B", [1, 2, 2, 0], wide, |l| (l.a as i64) < l.b as i64));
}

/// Instructions with carries.
fn carries(list: &mut Vec<Form>) {
    type Carrying = fn(u64, u64, u64) -> i128;
    let rows: [(&str, bool, Carrying); 6] = [
        ("v_add_co_u32 D, vcc, A, B", false, |a, b, _| i128::from(a + b)),
        ("v_sub_co_u32 D, vcc, A, B", false, |a, b, _| i128::from(a) - i128::from(b)),
        ("v_subrev_co_u32 D, vcc, A, B", false, |a, b, _| i128::from(b) - i128::from(a)),
        ("v_addc_co_u32 D, vcc, A, B, vcc", true, |a, b, c| i128::from(a + b + c)),
        ("v_subb_co_u32 D, vcc, A, B, vcc", true, |a, b, c| i128::from(a) - i128::from(b) - i128::from(c)),
        ("v_subbrev_co_u32 D, vcc, A, B, vcc", true, |a, b, c| i128::from(b) - i128::from(a) - i128::from(c)),
    ];
    for (text, _, f) in rows {
        let model = move |wave: Wave<'_>| {
            let l = wave.own();
            let exact = f(l.a & 0xffff_ffff, l.b & 0xffff_ffff, l.vcc.into());
            After { value: u64::from(exact as u32), vcc: Some(!(0..1 << 32).contains(&exact)) }
        };
        list.push(Form {
            text: text.into(),
            words: [1, 1, 1, 0],
            inputs: WORDS,
            check: Check::Bits(32),
            model: Box::new(model),
        });
    }
    list.push(Form {
        text: "v_mad_u64_u32 D, vcc, A, B, C".into(),
        words: [2, 1, 1, 2],
        inputs: [Kind::Word, Kind::Word, Kind::Double],
        check: Check::Bits(64),
        model: Box::new(|wave| {
            let l = wave.own();
            let sum = u128::from((l.a & 0xffff_ffff) * (l.b & 0xffff_ffff)) + u128::from(l.c);
            After { value: sum as u64, vcc: Some(sum >> 64 != 0) }
        }),
    });
    list.push(Form {
        text: "v_mad_i64_i32 D, vcc, A, B, C".into(),
        words: [2, 1, 1, 2],
        inputs: [Kind::Word, Kind::Word, Kind::Double],
        check: Check::Bits(64),
        model: Box::new(|wave| {
            let l = wave.own();
            let sum = i128::from(l.a as i32) * i128::from(l.b as i32) + i128::from(l.c as i64);
            After { value: sum as u64, vcc: Some(sum < 0) }
        }),
    });
    let text = "v_mqsad_u32_u8 v[12:15], A, B, v[8:11] \n v_xor_b32 v20, v12, v14 \n v_xor_b32 v21, v13, v15";
    list.push(form(text, [2, 2, 1, 2], [Kind::Double; 3], Check::Bits(64), |l| {
        let sums = [l.c, l.c >> 32, l.d, l.d >> 32];
        let one = |n: usize| sad((l.a >> (8 * n)) as u32, l.b as u32, true).wrapping_add(sums[n] as u32);
        u64::from(one(0) ^ one(2)) | u64::from(one(1) ^ one(3)) << 32
    }));
    list.push(form("v_cndmask_b32 D, A, B, vcc", [1, 1, 1, 0], WORDS, Check::Bits(32), |l| {
        (if l.vcc { l.b } else { l.a }) & 0xffff_ffff
    }));
}
