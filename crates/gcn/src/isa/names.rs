//! Names of numbers inside immediates, by generation.

use crate::target::Generation::{self, Gfx8, Gfx9, Gfx10, Gfx11, Gfx12, Gfx90a, Gfx940};

/// A number, its name, and the first and last generation that has it.
type Row = (u32, &'static str, Generation, Generation);

fn find(rows: &[Row], number: u32, generation: Generation) -> Option<&'static str> {
    rows.iter().find(|r| r.0 == number && (r.2..=r.3).contains(&generation)).map(|r| r.1)
}

/// Messages of `s_sendmsg`.
const MESSAGES: &[Row] = &[
    (1, "MSG_INTERRUPT", Gfx8, Gfx12),
    (2, "MSG_GS", Gfx8, Gfx10),
    (2, "MSG_HS_TESSFACTOR", Gfx11, Gfx12),
    (3, "MSG_GS_DONE", Gfx8, Gfx10),
    (3, "MSG_DEALLOC_VGPRS", Gfx11, Gfx12),
    (4, "MSG_SAVEWAVE", Gfx8, Gfx10),
    (5, "MSG_STALL_WAVE_GEN", Gfx9, Gfx11),
    (6, "MSG_HALT_WAVES", Gfx9, Gfx11),
    (7, "MSG_ORDERED_PS_DONE", Gfx9, Gfx10),
    (8, "MSG_EARLY_PRIM_DEALLOC", Gfx9, Gfx10),
    (9, "MSG_GS_ALLOC_REQ", Gfx9, Gfx12),
    (10, "MSG_GET_DOORBELL", Gfx9, Gfx10),
    (11, "MSG_GET_DDID", Gfx10, Gfx10),
    (15, "MSG_SYSMSG", Gfx8, Gfx12),
    (128, "MSG_RTN_GET_DOORBELL", Gfx11, Gfx12),
    (129, "MSG_RTN_GET_DDID", Gfx11, Gfx12),
    (130, "MSG_RTN_GET_TMA", Gfx11, Gfx12),
    (131, "MSG_RTN_GET_REALTIME", Gfx11, Gfx12),
    (132, "MSG_RTN_SAVE_WAVE", Gfx11, Gfx12),
    (133, "MSG_RTN_GET_TBA", Gfx11, Gfx12),
    (134, "MSG_RTN_GET_TBA_TO_PC", Gfx11, Gfx12),
    (135, "MSG_RTN_GET_SE_AID_ID", Gfx12, Gfx12),
];

/// Operations of system messages.
const SYSTEM: &[Row] = &[
    (1, "SYSMSG_OP_ECC_ERR_INTERRUPT", Gfx8, Gfx12),
    (2, "SYSMSG_OP_REG_RD", Gfx8, Gfx12),
    (3, "SYSMSG_OP_HOST_TRAP_ACK", Gfx8, Gfx8),
    (4, "SYSMSG_OP_TTRACE_PC", Gfx8, Gfx12),
];

/// Operations of geometry messages.
const GEOMETRY: &[&str] = &["GS_OP_NOP", "GS_OP_CUT", "GS_OP_EMIT", "GS_OP_EMIT_CUT"];

/// Hardware registers.
const REGISTERS: &[Row] = &[
    (1, "HW_REG_MODE", Gfx8, Gfx12),
    (2, "HW_REG_STATUS", Gfx8, Gfx12),
    (3, "HW_REG_TRAPSTS", Gfx8, Gfx11),
    (4, "HW_REG_HW_ID", Gfx8, Gfx940),
    (4, "HW_REG_STATE_PRIV", Gfx12, Gfx12),
    (5, "HW_REG_GPR_ALLOC", Gfx8, Gfx12),
    (6, "HW_REG_LDS_ALLOC", Gfx8, Gfx12),
    (7, "HW_REG_IB_STS", Gfx8, Gfx12),
    (10, "HW_REG_PERF_SNAPSHOT_DATA", Gfx12, Gfx12),
    (11, "HW_REG_PERF_SNAPSHOT_PC_LO", Gfx12, Gfx12),
    (12, "HW_REG_PERF_SNAPSHOT_PC_HI", Gfx12, Gfx12),
    (15, "HW_REG_SH_MEM_BASES", Gfx9, Gfx11),
    (15, "HW_REG_PERF_SNAPSHOT_DATA1", Gfx12, Gfx12),
    (16, "HW_REG_TBA_LO", Gfx9, Gfx10),
    (16, "HW_REG_PERF_SNAPSHOT_DATA2", Gfx12, Gfx12),
    (17, "HW_REG_TBA_HI", Gfx9, Gfx10),
    (17, "HW_REG_EXCP_FLAG_PRIV", Gfx12, Gfx12),
    (18, "HW_REG_TMA_LO", Gfx9, Gfx10),
    (18, "HW_REG_EXCP_FLAG_USER", Gfx12, Gfx12),
    (18, "HW_REG_PERF_SNAPSHOT_PC_LO", Gfx11, Gfx11),
    (19, "HW_REG_TMA_HI", Gfx9, Gfx10),
    (19, "HW_REG_TRAP_CTRL", Gfx12, Gfx12),
    (19, "HW_REG_PERF_SNAPSHOT_PC_HI", Gfx11, Gfx11),
    (20, "HW_REG_XCC_ID", Gfx940, Gfx940),
    (20, "HW_REG_FLAT_SCR_LO", Gfx10, Gfx11),
    (20, "HW_REG_SCRATCH_BASE_LO", Gfx12, Gfx12),
    (21, "HW_REG_SQ_PERF_SNAPSHOT_DATA", Gfx940, Gfx940),
    (21, "HW_REG_FLAT_SCR_HI", Gfx10, Gfx11),
    (21, "HW_REG_SCRATCH_BASE_HI", Gfx12, Gfx12),
    (22, "HW_REG_SQ_PERF_SNAPSHOT_DATA1", Gfx940, Gfx940),
    (23, "HW_REG_SQ_PERF_SNAPSHOT_PC_LO", Gfx940, Gfx940),
    (24, "HW_REG_SQ_PERF_SNAPSHOT_PC_HI", Gfx940, Gfx940),
    (23, "HW_REG_HW_ID1", Gfx10, Gfx12),
    (24, "HW_REG_HW_ID2", Gfx10, Gfx12),
    (25, "HW_REG_POPS_PACKER", Gfx10, Gfx10),
    (27, "HW_REG_PERF_SNAPSHOT_DATA", Gfx11, Gfx11),
    (29, "HW_REG_SHADER_CYCLES", Gfx10, Gfx11),
    (29, "HW_REG_SHADER_CYCLES_LO", Gfx12, Gfx12),
    (30, "HW_REG_SHADER_CYCLES_HI", Gfx12, Gfx12),
    (31, "HW_REG_DVGPR_ALLOC_LO", Gfx12, Gfx12),
    (32, "HW_REG_DVGPR_ALLOC_HI", Gfx12, Gfx12),
];

/// A hardware register's name.
pub fn register(number: u32, generation: Generation) -> Option<&'static str> {
    find(REGISTERS, number, generation)
}

/// The message, operation and stream of `s_sendmsg`, as the assembler writes them; `None` if the number has
/// bits that none of them covers.
pub fn message(number: u32, generation: Generation) -> Option<String> {
    let gfx11 = generation >= Gfx11;
    let id = number & if gfx11 { 0xff } else { 0xf };
    let (op, stream) = if gfx11 { (0, 0) } else { (number >> 4 & 7, number >> 8 & 3) };
    let plain = || {
        let encoded = id | op << 4 | stream << 8;
        (encoded == number).then(|| format!("sendmsg({id}, {op}, {stream})"))
    };
    let Some(name) = find(MESSAGES, id, generation) else { return plain() };
    let geometry = !gfx11 && matches!(id, 2 | 3);
    if geometry {
        let Some(operation) = GEOMETRY.get(op as usize) else { return plain() };
        return match (id, op) {
            (2, 0) => plain(),
            (_, 0) if stream != 0 => plain(),
            (_, 0) => Some(format!("sendmsg({name}, {operation})")),
            _ => Some(format!("sendmsg({name}, {operation}, {stream})")),
        };
    }
    if stream != 0 {
        return plain();
    }
    if id == 15 {
        return match find(SYSTEM, op, generation) {
            Some(operation) => Some(format!("sendmsg({name}, {operation})")),
            None => plain(),
        };
    }
    if op == 0 { Some(format!("sendmsg({name})")) } else { plain() }
}

/// The target of an export.
pub fn export(number: u32, generation: Generation) -> String {
    let gfx10 = generation >= Gfx10;
    let gfx11 = generation >= Gfx11;
    match number {
        0..=7 => format!("mrt{number}"),
        8 => "mrtz".into(),
        9 if !gfx11 => "null".into(),
        12..=15 => format!("pos{}", number - 12),
        16 if gfx10 => "pos4".into(),
        20 if gfx10 => "prim".into(),
        21 | 22 if gfx11 => format!("dual_src_blend{}", number - 21),
        32..=63 if !gfx11 => format!("param{}", number - 32),
        _ => format!("invalid_target_{number}"),
    }
}

const DATA_FORMATS: [&str; 16] = [
    "INVALID",
    "8",
    "16",
    "8_8",
    "32",
    "16_16",
    "10_11_11",
    "11_11_10",
    "10_10_10_2",
    "2_10_10_10",
    "8_8_8_8",
    "32_32",
    "16_16_16_16",
    "32_32_32",
    "32_32_32_32",
    "RESERVED_15",
];
const NUMBER_FORMATS: [&str; 8] =
    ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "RESERVED_6", "FLOAT"];

/// The format of a typed buffer before gfx10: data format and number format; empty for the default.
pub fn format_before_gfx10(number: u32) -> String {
    let (data, numeric) = (number & 15, number >> 4 & 7);
    let mut parts = Vec::new();
    if data != 1 {
        parts.push(format!("BUF_DATA_FORMAT_{}", DATA_FORMATS[data as usize]));
    }
    if numeric != 0 {
        parts.push(format!("BUF_NUM_FORMAT_{}", NUMBER_FORMATS[numeric as usize]));
    }
    if parts.is_empty() { String::new() } else { format!(" format:[{}]", parts.join(",")) }
}

/// Whether the generation is gfx90a or later but not RDNA.
pub fn is_cdna2_or_later(generation: Generation) -> bool {
    matches!(generation, Gfx90a | Gfx940)
}

/// The unified formats from gfx10 on: data formats, each with its number formats. (RDNA 2 ISA, "Buffer image
/// formats".)
pub fn unified_format(number: u32, gfx11: bool) -> String {
    const ALL: [&str; 7] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "FLOAT"];
    const WORDS: [&str; 3] = ["UINT", "SINT", "FLOAT"];
    let six = ALL.get(..6).unwrap_or(&ALL);
    let packed: &[&str] = if gfx11 { &["FLOAT"] } else { &ALL };
    let ten: &[&str] = if gfx11 { &["UNORM", "SNORM", "UINT", "SINT"] } else { six };
    let groups: [(&str, &[&str]); 14] = [
        ("8", six),
        ("16", &ALL),
        ("8_8", six),
        ("32", &WORDS),
        ("16_16", &ALL),
        ("10_11_11", packed),
        ("11_11_10", packed),
        ("10_10_10_2", ten),
        ("2_10_10_10", six),
        ("8_8_8_8", six),
        ("32_32", &WORDS),
        ("16_16_16_16", &ALL),
        ("32_32_32", &WORDS),
        ("32_32_32_32", &WORDS),
    ];
    let mut left = match number {
        0 => return " format:[BUF_FMT_INVALID]".into(),
        1 => return String::new(),
        n => n as usize - 1,
    };
    for (data, numbers) in groups {
        if let Some(numeric) = numbers.get(left) {
            return format!(" format:[BUF_FMT_{data}_{numeric}]");
        }
        left -= numbers.len();
    }
    format!(" format:{number}")
}

/// The operand of `s_version`; `None` if it has bits without a name.
pub fn version(number: u32) -> Option<String> {
    if number & 0x1f00 != 0 {
        return None;
    }
    let code = match number & 0xff {
        0 => "UC_VERSION_GFX7".to_owned(),
        4 => "UC_VERSION_GFX10".to_owned(),
        6 => "UC_VERSION_GFX11".to_owned(),
        9 => "UC_VERSION_GFX12".to_owned(),
        other => other.to_string(),
    };
    let flags = [(13, "UC_VERSION_W64_BIT"), (14, "UC_VERSION_W32_BIT"), (15, "UC_VERSION_MDP_BIT")];
    let set: Vec<&str> =
        flags.iter().filter(|(bit, _)| number >> bit & 1 == 1).map(|(_, name)| *name).collect();
    let add = |text: String, (i, name): (usize, &&str)| match i {
        0 => format!("{text}|{name}"),
        _ => format!("({text})|{name}"),
    };
    Some(set.iter().enumerate().fold(code, add))
}

/// The counters of `s_waitcnt_depctr`: those that differ from the largest value, or all.
pub fn dependencies(number: u32) -> String {
    const COUNTERS: [(&str, u32, u32); 7] = [
        ("depctr_hold_cnt", 7, 1),
        ("depctr_sa_sdst", 0, 1),
        ("depctr_va_vdst", 12, 4),
        ("depctr_va_sdst", 9, 3),
        ("depctr_va_ssrc", 8, 1),
        ("depctr_va_vcc", 1, 1),
        ("depctr_vm_vsrc", 2, 3),
    ];
    let known = COUNTERS.iter().fold(0, |all, (_, low, bits)| all | ((1u32 << bits) - 1) << low);
    if number & !known & 0xffff != 0 {
        return format!("{:#x}", number & 0xffff);
    }
    let values = COUNTERS.map(|(name, low, bits)| (name, number >> low & ((1 << bits) - 1), (1 << bits) - 1));
    let usual = values.iter().all(|(_, value, most)| value == most);
    let shown = values.iter().filter(|(_, value, most)| usual || value != most);
    shown.map(|(name, value, _)| format!("{name}({value})")).collect::<Vec<_>>().join(" ")
}

/// The operand of `s_delay_alu`.
pub fn delay(number: u32) -> String {
    const INSTRUCTIONS: [&str; 12] = [
        "NO_DEP",
        "VALU_DEP_1",
        "VALU_DEP_2",
        "VALU_DEP_3",
        "VALU_DEP_4",
        "TRANS32_DEP_1",
        "TRANS32_DEP_2",
        "TRANS32_DEP_3",
        "FMA_ACCUM_CYCLE_1",
        "SALU_CYCLE_1",
        "SALU_CYCLE_2",
        "SALU_CYCLE_3",
    ];
    const SKIPS: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
    let fields: [(&str, &[&str], u32); 3] = [
        ("instid0", &INSTRUCTIONS, number & 15),
        ("instskip", &SKIPS, number >> 4 & 7),
        ("instid1", &INSTRUCTIONS, number >> 7 & 15),
    ];
    let set = fields.iter().filter(|(_, _, value)| *value != 0);
    let shown: Vec<String> = set
        .map(|(field, names, value)| match names.get(*value as usize) {
            Some(name) => format!("{field}({name})"),
            None => format!("{field}({value})"),
        })
        .collect();
    if shown.is_empty() { "0".into() } else { shown.join(" | ") }
}

/// Temporal hint and scope of a memory instruction of gfx12. (RDNA 4 ISA, "Memory scopes and temporal
/// hints".)
pub fn cache_policy(name: &str, hint: u32, scope: u32) -> String {
    const LOADS: [&str; 7] = ["", "NT", "HT", "LU", "NT_RT", "RT_NT", "NT_HT"];
    const STORES: [&str; 8] = ["", "NT", "HT", "RT_WB", "NT_RT", "RT_NT", "NT_HT", "NT_WB"];
    const ATOMICS: [&str; 4] = ["", "RETURN", "NT", "NT_RETURN"];
    const SCOPES: [&str; 4] = ["", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS"];
    let (atomic, store) = (name.contains("atomic"), name.contains("store"));
    let named = match hint {
        // Results go down to the next level: this needs a scope that reaches it.
        4.. if atomic && scope >= 2 => Some(if hint & 2 == 2 { "CASCADE_NT" } else { "CASCADE_RT" }),
        3 if !atomic && scope == 3 => Some("BYPASS"),
        _ if atomic => ATOMICS.get(hint as usize).copied(),
        _ if store => STORES.get(hint as usize).copied(),
        _ => LOADS.get(hint as usize).copied(),
    };
    let kind = match (atomic, store) {
        (true, _) => "ATOMIC",
        (_, true) => "STORE",
        _ => "LOAD",
    };
    let mut text = match named {
        Some("") => String::new(),
        Some(named) => format!(" th:TH_{kind}_{named}"),
        None if atomic => format!(" th:TH_ATOMIC_{hint:#x}"),
        None => format!(" th:{hint:#x}"),
    };
    if let Some(scope) = SCOPES.get(scope as usize).filter(|s| !s.is_empty()) {
        text += &format!(" scope:{scope}");
    }
    text
}
