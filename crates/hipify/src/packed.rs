//! Definitions of CUDA's functions of integers packed in a word (`__vadd4`, `__viaddmax_s16x2`), which HIP
//! lacks. Each is generated from the row of its family in `data/packed.tsv`.

use std::fmt::Write as _;

use crate::table;

/// The lanes of a word.
#[derive(Clone, Copy)]
struct Lanes {
    bits: u32,
    signed: bool,
    /// Whether negative results become 0.
    relu: bool,
    /// Whether operands and result have the lane's type: a lane is the whole word.
    whole: bool,
}

impl Lanes {
    /// The lanes that the end of a name states, for a family of these kinds.
    fn read(end: &str, kinds: &str) -> Option<Lanes> {
        let has = |kind: &str| kinds.split(' ').any(|word| word == kind);
        let word = |bits: u32| Lanes { bits, signed: has("s"), relu: false, whole: false };
        match end {
            "2" if has("s") || has("u") => return Some(word(16)),
            "4" if has("s") || has("u") => return Some(word(8)),
            _ => {}
        }
        let (kind, relu) = match end.strip_suffix("_relu") {
            Some(kind) => (kind, true),
            None => (end, false),
        };
        let (signed, rest) = match kind.strip_prefix("_s") {
            Some(rest) => (true, rest),
            None => (false, kind.strip_prefix("_u")?),
        };
        let bits = match rest {
            "16x2" => 16,
            "32" => 32,
            _ => return None,
        };
        let exists = if relu { has("relu") && signed } else { has("dpx") };
        exists.then_some(Lanes { bits, signed, relu, whole: bits == 32 })
    }

    fn name(self) -> &'static str {
        match (self.bits, self.signed) {
            (8, true) => "signed char",
            (8, false) => "unsigned char",
            (16, true) => "short",
            (16, false) => "unsigned short",
            (_, true) => "int",
            (_, false) => "unsigned int",
        }
    }

    /// The least and the greatest value of a lane of a part of a word.
    fn limits(self) -> (i64, i64) {
        let all = (1i64 << self.bits) - 1;
        if self.signed { (-(all / 2) - 1, all / 2) } else { (0, all) }
    }
}

/// The family of a function, and its lanes.
fn find(name: &str) -> Option<(&'static [&'static str; 5], Lanes)> {
    if !name.starts_with("__v") {
        return None;
    }
    table::packed().iter().find_map(|row| {
        let [family, kinds, ..] = row;
        name.strip_prefix(family).and_then(|end| Lanes::read(end, kinds)).map(|lanes| (row, lanes))
    })
}

/// Whether there is a definition of this function.
pub fn is_defined(name: &str) -> bool {
    find(name).is_some()
}

/// The definition of a function in C++ for HIP.
pub fn definition(name: &str) -> Option<String> {
    let ([_, _, operands, value, more], lanes) = find(name)?;
    let operands: &[(&str, &str)] = match *operands {
        "1" => &[("x", "a")],
        "2" => &[("x", "a"), ("y", "b")],
        _ => &[("x", "a"), ("y", "b"), ("z", "c")],
    };
    let (word, lane) = (if lanes.whole { lanes.name() } else { "unsigned int" }, lanes.name());
    let predicate = !matches!(*more, "" | "sum");
    let mut parameters: Vec<String> = operands.iter().map(|(_, from)| format!("{word} {from}")).collect();
    match (predicate, lanes.whole) {
        (true, true) => parameters.push("bool *pred".into()),
        (true, false) => parameters.extend(["bool *pred_hi".into(), "bool *pred_lo".into()]),
        _ => {}
    }
    let (least, most) = lanes.limits();
    let mut body = Vec::new();
    // A part of a word is computed as an int, which holds every sum.
    let kind = if lanes.whole { lane } else { "int" };
    let loaded: Vec<String> = operands
        .iter()
        .map(
            |(to, from)| {
                if lanes.whole { format!("{to} = {from}") } else { format!("{to} = ({lane})({from} >> i)") }
            },
        )
        .collect();
    body.push(format!("{kind} {};", loaded.join(", ")));
    if predicate {
        let to = if lanes.whole { "*pred" } else { "*(i ? pred_hi : pred_lo)" };
        body.push(format!("{to} = {more};"));
    }
    for step in value.split("; ").chain(lanes.relu.then_some("x < 0 ? 0 : x")) {
        let step = step.replace("LEAST", &least.to_string()).replace("MOST", &most.to_string());
        body.push(format!("x = {};", step.replace("LANE", lane)));
    }
    let mut out = format!("static inline __device__ {word} {name}({}) {{\n", parameters.join(", "));
    if lanes.whole {
        for line in body {
            let _ = writeln!(out, "    {line}");
        }
        out += "    return x;\n}\n";
        return Some(out);
    }
    body.push(match *more {
        "sum" => "r += x;".into(),
        _ => format!("r |= (x & {most:#x}u) << i;", most = (1u32 << lanes.bits) - 1),
    });
    let _ = write!(out, "    unsigned int r = 0;\n    for (int i = 0; i < 32; i += {}) {{\n", lanes.bits);
    for line in body {
        let _ = writeln!(out, "        {line}");
    }
    out += "    }\n    return r;\n}\n";
    Some(out)
}
