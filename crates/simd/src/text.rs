//! LLVM IR as text: numbered temporaries, declarations on demand.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use wave::types::Fmt;
use wave::{LANES, Ty};

/// Lanes that an expression is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// One value for the whole warp.
    One,
    /// One value a lane.
    Warp,
}

/// The body of a function being written, and what the module must declare for it.
#[derive(Debug, Default)]
pub struct Text {
    /// Lines so far.
    pub out: String,
    next: u32,
    labels: u32,
    /// The source line that instructions are written for, 0 for none: those that may fault have one.
    pub place: u32,
    /// Lines that were used, for the module's metadata.
    pub places: BTreeSet<u32>,
    /// Declarations of intrinsics.
    pub declarations: BTreeSet<String>,
    /// Places of loads, by name.
    loads: HashMap<String, u32>,
    /// Masks that are words until a line asks for the vector, and the vector's name since the last label.
    masks: Vec<(String, Option<String>)>,
    /// Those that are vectors now.
    vectors: Vec<usize>,
}

/// How names of masks that are words begin; a number follows.
const MASK: &str = "%mask.";

impl Text {
    /// A line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        let line = self.with_vectors(line.as_ref());
        let place = self.noted();
        let _ = writeln!(self.out, "  {line}{place}");
    }

    /// A mask of a word's bits, the lowest the first lane's. It is made a vector once between two labels, and only where a line names it:
    /// what is known of lanes stays in scalars where that is enough.
    pub fn mask(&mut self, bits: &str) -> String {
        self.masks.push((bits.into(), None));
        format!("{MASK}{}", self.masks.len() - 1)
    }

    /// The word that a mask is.
    pub fn word_of(&self, mask: &str) -> Option<&str> {
        let number: usize = mask.strip_prefix(MASK)?.parse().ok()?;
        self.masks.get(number).map(|(bits, _)| bits.as_str())
    }

    /// The line with vectors in place of the masks that it names.
    fn with_vectors<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        let Some(at) = line.find(MASK) else { return line.into() };
        let (before, named) = line.split_at(at);
        let digits = named[MASK.len()..].chars().take_while(char::is_ascii_digit).count();
        let (name, after) = named.split_at(MASK.len() + digits);
        let vector = self.vector_of(name);
        let after = self.with_vectors(after);
        format!("{before}{vector}{after}").into()
    }

    /// The vector of a mask: each lane's own bit is tested.
    fn vector_of(&mut self, mask: &str) -> String {
        let number = mask[MASK.len()..].parse().unwrap_or(usize::MAX);
        let Some((bits, vector)) = self.masks.get(number).cloned() else { return mask.into() };
        if let Some(vector) = vector {
            return vector;
        }
        let words = self.splat(Ty::I32, &bits);
        let each = constant_vector(Ty::I32, &std::array::from_fn(|l| 1i64 << l));
        let mine = self.def(format!("and <32 x i32> {words}, {each}"));
        let vector = self.def(format!("icmp ne <32 x i32> {mine}, zeroinitializer"));
        self.masks[number].1 = Some(vector.clone());
        self.vectors.push(number);
        vector
    }

    fn noted(&mut self) -> String {
        if self.place == 0 {
            return String::new();
        }
        self.places.insert(self.place);
        format!(", !dbg !{}", Self::metadata(self.place))
    }

    /// The number of a line's metadata; those below are the module's own.
    pub fn metadata(line: u32) -> u64 {
        u64::from(line) + 16
    }

    /// `%tN = expression`; the name.
    pub fn def(&mut self, expression: impl AsRef<str>) -> String {
        let expression = self.with_vectors(expression.as_ref());
        let expression = expression.as_ref();
        let name = format!("%t{}", self.next);
        self.next += 1;
        if self.place != 0 && expression.starts_with("load ") {
            self.loads.insert(name.clone(), self.place);
        }
        let place = match self.loads.get(recast(expression)) {
            // The code generator makes one load of a load and a cast, at the cast's place.
            Some(&load) if self.place == 0 => format!(", !dbg !{}", Self::metadata(load)),
            _ => self.noted(),
        };
        let _ = writeln!(self.out, "  {name} = {expression}{place}");
        name
    }

    /// A fresh label.
    pub fn fresh(&mut self, hint: &str) -> String {
        self.labels += 1;
        format!("{hint}.{}", self.labels)
    }

    /// Begins a basic block.
    pub fn label(&mut self, name: &str) {
        for number in self.vectors.drain(..) {
            self.masks[number].1 = None;
        }
        let _ = writeln!(self.out, "{name}:");
    }

    /// Calls an intrinsic: `args` are typed operands.
    pub fn intrinsic(&mut self, result: &str, name: &str, args: &[(String, String)]) -> String {
        let types: Vec<&str> = args.iter().map(|a| a.0.as_str()).collect();
        self.declarations.insert(format!("declare {result} @{name}({})", types.join(", ")));
        let list: Vec<String> = args.iter().map(|(t, v)| format!("{t} {v}")).collect();
        let call = format!("call {result} @{name}({})", list.join(", "));
        if result == "void" {
            self.line(call);
            return String::new();
        }
        self.def(call)
    }

    /// A scalar in all lanes.
    pub fn splat(&mut self, ty: Ty, scalar: &str) -> String {
        if is_constant(scalar) {
            return format!("splat ({} {scalar})", int(ty, Lanes::One));
        }
        let v = vector(ty);
        let one = self.def(format!("insertelement {v} poison, i{} {scalar}, i32 0", ty.bits()));
        self.def(format!("shufflevector {v} {one}, {v} poison, <32 x i32> zeroinitializer"))
    }
}

/// What a `bitcast` casts; nothing of other expressions.
fn recast(expression: &str) -> &str {
    let operand = expression.strip_prefix("bitcast ").and_then(|rest| rest.split_once(" to "));
    operand.and_then(|(typed, _)| typed.rsplit(' ').next()).unwrap_or_default()
}

/// Whether an operand is a literal.
pub fn is_constant(operand: &str) -> bool {
    !operand.starts_with('%')
}

/// The integer type for a value.
pub fn int(ty: Ty, lanes: Lanes) -> String {
    match lanes {
        Lanes::One => format!("i{}", ty.bits()),
        Lanes::Warp => vector(ty),
    }
}

/// `<32 x iN>`.
pub fn vector(ty: Ty) -> String {
    format!("<32 x i{}>", ty.bits())
}

/// The LLVM name of a format.
pub fn float_name(fmt: Fmt) -> &'static str {
    match fmt {
        Fmt::F16 => "half",
        Fmt::BF16 => "bfloat",
        Fmt::F32 => "float",
        Fmt::F64 => "double",
    }
}

/// The float type for a value.
pub fn float(fmt: Fmt, lanes: Lanes) -> String {
    match lanes {
        Lanes::One => float_name(fmt).to_string(),
        Lanes::Warp => format!("<32 x {}>", float_name(fmt)),
    }
}

/// An integer literal for all lanes: LLVM accepts a signed or unsigned decimal of the width.
pub fn literal(ty: Ty, lanes: Lanes, value: u128) -> String {
    let v = value & ty.mask();
    let text = if ty == Ty::I1 { (if v == 1 { "true" } else { "false" }).to_string() } else { v.to_string() };
    match lanes {
        Lanes::One => text,
        Lanes::Warp => format!("splat (i{} {text})", ty.bits()),
    }
}

/// 0, 1, 2 … 31.
pub fn lane_numbers() -> String {
    constant_vector(Ty::I32, &std::array::from_fn(|l| l as i64))
}

/// A constant of 32 values.
pub fn constant_vector(ty: Ty, values: &[i64; LANES]) -> String {
    let bits = ty.bits();
    let list: Vec<String> = values
        .iter()
        .map(|v| {
            let v = if bits >= 64 { *v } else { (*v as u64 & ty.mask() as u64) as i64 };
            if ty == Ty::I1 { format!("i1 {}", v & 1 == 1) } else { format!("i{bits} {v}") }
        })
        .collect();
    format!("<{}>", list.join(", "))
}
