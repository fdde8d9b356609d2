//! Instructions of gfx90a and gfx942.

use super::{After, Check, Form, Kind, Wave, form};

fn pair(v: u64) -> [f32; 2] {
    [f32::from_bits(v as u32), f32::from_bits((v >> 32) as u32)]
}

fn both(v: [f32; 2]) -> u64 {
    u64::from(v[0].to_bits()) | u64::from(v[1].to_bits()) << 32
}

fn signed_bytes(v: u64) -> [i32; 4] {
    (v as u32).to_le_bytes().map(|b| i32::from(b as i8))
}

/// Forms that gfx90a has first.
pub fn gfx90a(list: &mut Vec<Form>) {
    let doubles = [Kind::Double; 3];
    let pairs = [Kind::Pair; 3];
    let (two, three) = ([2, 2, 2, 0], [2; 4]);
    list.push(form("v_pk_add_f32 D, A, B", two, pairs, Check::Words, |l| {
        let (a, b) = (pair(l.a), pair(l.b));
        both([a[0] + b[0], a[1] + b[1]])
    }));
    list.push(form(
        "v_pk_mul_f32 D, A, B op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0]",
        two,
        pairs,
        Check::Words,
        |l| {
            let (a, b) = (pair(l.a), pair(l.b));
            both([-a[1] * b[0], a[0] * b[1]])
        },
    ));
    list.push(form("v_pk_fma_f32 D, A, B, C neg_hi:[0,0,1]", three, pairs, Check::Words, |l| {
        let (a, b, c) = (pair(l.a), pair(l.b), pair(l.c));
        both([a[0].mul_add(b[0], c[0]), a[1].mul_add(b[1], -c[1])])
    }));
    list.push(form("v_pk_mov_b32 D, A, B op_sel:[1,0]", two, pairs, Check::Bits(64), |l| {
        l.a >> 32 | l.b << 32
    }));
    list.push(form("v_fmac_f64 D, A, B", two, doubles, Check::Float(64), |l| {
        f64::from_bits(l.a).mul_add(f64::from_bits(l.b), f64::from_bits(l.d)).to_bits()
    }));
    let word = [Kind::Word; 3];
    list.push(form("v_dot4c_i32_i8 D, A, B", [1, 1, 1, 0], word, Check::Bits(32), |l| {
        let (a, b) = (signed_bytes(l.a), signed_bytes(l.b));
        let sum = (0..4).map(|n| a[n] * b[n]).sum::<i32>();
        u64::from((l.d as u32).wrapping_add(sum as u32))
    }));
    list.push(form("v_dot2c_i32_i16 D, A, B", [1, 1, 1, 0], word, Check::Bits(32), |l| {
        let half = |v: u64, n: u32| i64::from((v >> (16 * n)) as i16);
        let sum = half(l.a, 0) * half(l.b, 0) + half(l.a, 1) * half(l.b, 1);
        u64::from((l.d as u32).wrapping_add(sum as u32))
    }));
    // Accumulation registers keep what lanes write.
    let text = "v_accvgpr_write_b32 a3, A \n s_nop 4 \n v_accvgpr_read_b32 D, a3";
    list.push(form(text, [1, 1, 0, 0], word, Check::Bits(32), |l| l.a & 0xffff_ffff));
    list.push(Form {
        text: "v_mov_b32_dpp D, A row_newbcast:6 row_mask:0xf bank_mask:0xf".into(),
        words: [1, 1, 0, 0],
        inputs: word,
        check: Check::Bits(32),
        model: Box::new(|wave: Wave<'_>| {
            let from = wave.index / 16 * 16 + 6;
            let own = wave.own();
            let value = if wave.is_active(from) { wave.lanes[from].a } else { own.d };
            After { value: value & 0xffff_ffff, vcc: None }
        }),
    });
}

/// A float of 8 bits with a bias, without infinities.
pub fn small(bits: u8, fraction: u32, bias: i32) -> f32 {
    if bits == 0x80 {
        return f32::NAN;
    }
    let sign = if bits >> 7 == 1 { -1.0 } else { 1.0 };
    let size = u32::from(bits & 0x7f);
    let (exponent, rest) = ((size >> fraction) as i32, f64::from(size & ((1 << fraction) - 1)));
    let unit = (-f64::from(fraction)).exp2();
    let value = if exponent == 0 {
        rest * unit * f64::from(1 - bias).exp2()
    } else {
        (1.0 + rest * unit) * f64::from(exponent - bias).exp2()
    };
    (sign * value) as f32
}

/// Forms that gfx942 has first.
pub fn gfx942(list: &mut Vec<Form>) {
    list.retain(|form| !form.text.contains("dot"));
    let word = [Kind::Word; 3];
    list.push(form("v_mov_b64 D, A", [2, 2, 0, 0], [Kind::Double; 3], Check::Bits(64), |l| l.a));
    let wide = [Kind::Double, Kind::Word, Kind::Double];
    list.push(form("v_lshl_add_u64 D, A, B, C", [2, 2, 1, 2], wide, Check::Bits(64), |l| {
        let by = l.b & 7;
        (l.a << if by > 4 { 0 } else { by }).wrapping_add(l.c)
    }));
    list.push(form("v_cvt_f32_fp8 D, A", [1, 1, 0, 0], word, Check::Float(32), |l| {
        small(l.a as u8, 3, 8).to_bits().into()
    }));
    list.push(form("v_cvt_f32_bf8_sdwa D, A src0_sel:BYTE_2", [1, 1, 0, 0], word, Check::Float(32), |l| {
        small((l.a >> 16) as u8, 2, 16).to_bits().into()
    }));
    list.push(form("v_cvt_pk_f32_fp8 D, A", [2, 1, 0, 0], word, Check::Words, |l| {
        both([small(l.a as u8, 3, 8), small((l.a >> 8) as u8, 3, 8)])
    }));
}
