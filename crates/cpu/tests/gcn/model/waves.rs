//! Data of other lanes, and registers by their numbers.

use super::{After, Check, Form, Kind, Wave, form};

/// Where a lane's data come from, if it exists.
type Source = fn(usize) -> Option<usize>;

fn in_row(lane: usize, within: i64) -> Option<usize> {
    (0..16).contains(&within).then(|| lane / 16 * 16 + within as usize)
}

const SOURCES: &[(&str, Source)] = &[
    ("quad_perm:[3,0,2,1]", |l| Some(l / 4 * 4 + [3, 0, 2, 1][l % 4])),
    ("row_shl:3", |l| in_row(l, l as i64 % 16 + 3)),
    ("row_shr:5", |l| in_row(l, l as i64 % 16 - 5)),
    ("row_ror:7", |l| Some(l / 16 * 16 + (l + 9) % 16)),
    ("wave_shl:1", |l| (l < 63).then_some(l + 1)),
    ("wave_rol:1", |l| Some((l + 1) % 64)),
    ("wave_shr:1", |l| l.checked_sub(1)),
    ("wave_ror:1", |l| Some((l + 63) % 64)),
    ("row_mirror", |l| Some(l / 16 * 16 + 15 - l % 16)),
    ("row_half_mirror", |l| Some(l / 8 * 8 + 7 - l % 8)),
    ("row_bcast:15", |l| (l / 16 * 16).checked_sub(1)),
    ("row_bcast:31", |l| (l >= 32).then_some(31)),
];

/// An operation of a moved source and an own one.
type Operation = fn(u32, u32) -> u32;

fn moved(
    text: &str,
    inputs: Kind,
    check: Check,
    op: Operation,
    source: Source,
    masks: [u32; 2],
    zeros: bool,
) -> Form {
    let model = move |wave: Wave<'_>| {
        let l = wave.own();
        let lane = wave.index;
        let written = masks[0] >> (lane / 16) & 1 == 1 && masks[1] >> (lane / 4 % 4) & 1 == 1;
        let data = source(lane).filter(|from| wave.is_active(*from)).map(|from| wave.lanes[from].a as u32);
        let data = if zeros { data.or(Some(0)) } else { data };
        let value = match data {
            Some(a) if written => u64::from(op(a, l.b as u32)),
            _ => l.d & 0xffff_ffff,
        };
        After { value, vcc: None }
    };
    Form { text: text.into(), words: [1, 1, 1, 0], inputs: [inputs; 3], check, model: Box::new(model) }
}

pub fn forms(list: &mut Vec<Form>) {
    let float = Check::Float(32);
    for &(control, source) in SOURCES {
        let all = format!("{control} row_mask:0xf bank_mask:0xf");
        list.push(moved(
            &format!("v_sub_u32_dpp D, A, B {all}"),
            Kind::Word,
            Check::Bits(32),
            u32::wrapping_sub,
            source,
            [15, 15],
            false,
        ));
        let zeros = format!("v_xor_b32_dpp D, A, B {all} bound_ctrl:0");
        list.push(moved(&zeros, Kind::Word, Check::Bits(32), |a, b| a ^ b, source, [15, 15], true));
        let some = format!("v_add_f32_dpp D, -A, |B| {control} row_mask:0xa bank_mask:0x6");
        let sum: Operation = |a, b| (-f32::from_bits(a) + f32::from_bits(b).abs()).to_bits();
        list.push(moved(&some, Kind::Float, float, sum, source, [10, 6], false));
    }
    // A register two after the one that is named.
    let text =
        "s_mov_b32 s14, 2 \n s_set_gpr_idx_on s14, gpr_idx(SRC0) \n v_mov_b32 D, A \n s_set_gpr_idx_off";
    list.push(form(text, [1, 1, 0, 0], [Kind::Word; 3], Check::Bits(32), |l| l.b & 0xffff_ffff));
    let text =
        "s_mov_b32 s14, 16 \n s_set_gpr_idx_on s14, gpr_idx(DST) \n v_mov_b32 v4, B \n s_set_gpr_idx_off";
    list.push(form(text, [1, 1, 1, 0], [Kind::Word; 3], Check::Bits(32), |l| l.b & 0xffff_ffff));
    let swapped = "v_mov_b32 v12, A \n v_swap_b32 D, v12 \n v_xor_b32 D, D, v12";
    list.push(form(swapped, [1, 1, 0, 0], [Kind::Word; 3], Check::Bits(32), |l| (l.a ^ l.d) & 0xffff_ffff));
    let text = "v_readlane_b32 s14, A, 5 \n v_mov_b32 D, s14";
    list.push(Form {
        text: text.into(),
        words: [1, 1, 0, 0],
        inputs: [Kind::Word; 3],
        check: Check::Bits(32),
        model: Box::new(|wave| After { value: wave.lanes[5].a & 0xffff_ffff, vcc: None }),
    });
    let text = "v_readfirstlane_b32 s14, A \n v_mov_b32 D, s14";
    list.push(Form {
        text: text.into(),
        words: [1, 1, 0, 0],
        inputs: [Kind::Word; 3],
        check: Check::Bits(32),
        model: Box::new(|wave| {
            let first = wave.exec.trailing_zeros() as usize % 64;
            After { value: wave.lanes[first].a & 0xffff_ffff, vcc: None }
        }),
    });
    let text = "v_mbcnt_lo_u32_b32 D, A, B \n v_mbcnt_hi_u32_b32 D, B, D";
    list.push(Form {
        text: text.into(),
        words: [1, 1, 1, 0],
        inputs: [Kind::Word; 3],
        check: Check::Bits(32),
        model: Box::new(|wave| {
            let l = wave.own();
            let below = (1u64 << wave.index) - 1;
            let low = (l.a & below & 0xffff_ffff).count_ones();
            let high = ((l.b & 0xffff_ffff) << 32 & below).count_ones();
            After { value: u64::from((l.b as u32).wrapping_add(low).wrapping_add(high)), vcc: None }
        }),
    });
}
