//! Instructions to be judged, and the module text that contains each.

use std::fmt::Write as _;
use std::sync::Arc;

/// A PTX version, major and minor.
pub type Version = (u32, u32);

/// The version and target that a module states.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    pub version: Version,
    /// `sm_90a`
    pub target: String,
}

impl Setting {
    pub fn new(version: Version, target: &str) -> Setting {
        Setting { version, target: target.to_owned() }
    }

    /// 90 of `sm_90a`.
    pub fn arch(&self) -> u32 {
        let digits: String = self.target.chars().filter(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{} {}", self.version.0, self.version.1, self.target)
    }
}

/// An instruction in a module of some version for some target.
#[derive(Clone, Debug)]
pub struct Case {
    pub setting: Setting,
    /// With its semicolon.
    pub instruction: String,
    /// The form or recording that it came from.
    pub origin: Arc<str>,
    /// The change applied to it; empty if none.
    pub change: &'static str,
}

impl Case {
    /// The case's name in the table of differences and in the report.
    pub fn name(&self) -> String {
        format!("{} {}", self.setting, self.instruction)
    }
}

/// Registers of each type that cases may use, numbered from 0.
const REGISTERS: u32 = 10;

/// The text before the first case: a module with variables in every state space, and a kernel with registers
/// of every type.
pub fn head(setting: &Setting) -> String {
    let (major, minor) = setting.version;
    let mut text = format!(".version {major}.{minor}\n.target {}\n", setting.target);
    // Writing to a string cannot fail.
    if setting.version >= (2, 3) {
        text += ".address_size 64\n";
    }
    if setting.version >= (2, 0) {
        text += ".func callee() { ret; }\n";
    }
    let align = if setting.version >= (2, 0) { 32 } else { 16 };
    let _ = writeln!(text, ".const .align {align} .b8 table[64];\n.global .align {align} .b8 gvar[64];");
    let _ = writeln!(text, ".shared .align {align} .b8 svar[64];");
    if setting.version >= (1, 5) {
        text += ".global .texref tref;\n.global .surfref sref;\n";
    }
    let parameter = format!("(.param .align {align} .b8 kernel_param[64])");
    let _ = writeln!(text, ".entry k{}\n{{", if setting.version >= (1, 4) { &parameter } else { "" });
    let wide = setting.version >= (8, 3) && setting.arch() >= 70;
    for bits in [8, 16, 32, 64].into_iter().chain(wide.then_some(128)) {
        let names: Vec<String> = (0..REGISTERS).map(|n| format!("%r{bits}_{n}")).collect();
        let _ = writeln!(text, ".reg .b{bits} {};", names.join(", "));
    }
    for name in ["u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "f32", "f64"] {
        if name != "f16x2" || (setting.version >= (4, 2) && setting.arch() >= 53) {
            let _ = writeln!(text, ".reg .{name} %{name}_1;");
        }
    }
    text += ".reg .v2 .b32 %v2_1;\n.reg .v4 .b32 %v4_1;\n.reg .pred %p<16>;\n";
    let _ = writeln!(text, ".local .align {align} .b8 lvar[64];");
    if setting.version >= (2, 0) {
        text += ".param .align 32 .b8 call_param[64];\n";
    }
    if setting.version >= (6, 0) && setting.arch() >= 30 {
        text += "targets: .branchtargets label;\n";
    }
    text
}

/// The text after the last case.
pub const TAIL: &str = "label:\nexit;\n}\n";

/// A module with these cases, one per line, and the line number of the first.
pub fn module<'a>(setting: &Setting, instructions: impl IntoIterator<Item = &'a str>) -> (String, usize) {
    let mut text = head(setting);
    let first = text.lines().count() + 1;
    for instruction in instructions {
        text.push_str(instruction);
        text.push('\n');
    }
    text.push_str(TAIL);
    (text, first)
}
