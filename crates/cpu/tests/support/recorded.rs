//! The instructions of the kernels that were recorded on the hardware, and the grammar's forms that they
//! match.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use hwtruth::{Kernel, clusters, copies, instructions, matrix, textures};
use ptx::ScalarType;
use ptx::ast::{Body, Operand, OperandKind, StatementKind};

use super::grammar::{Form, Slot};

/// The shape of an operand, as far as it distinguishes forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    Address,
    Predicate,
    Sink,
    /// Several registers in braces.
    Several,
    /// A register, a constant, a symbol.
    Value,
}

/// An instruction as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recorded {
    opcode: String,
    /// The words after dots, in order.
    pub words: Vec<String>,
    operands: Vec<Shape>,
}

fn shape(body: &Body, operand: &Operand) -> Shape {
    match &operand.kind {
        OperandKind::Address(_) => Shape::Address,
        OperandKind::Reg(r) if body.regs.get(r.index()).is_some_and(|r| r.ty == ScalarType::Pred) => {
            Shape::Predicate
        }
        OperandKind::Not(_) => Shape::Predicate,
        OperandKind::Sink => Shape::Sink,
        OperandKind::Vector(_) | OperandKind::List(_) => Shape::Several,
        OperandKind::Pair(pair) => shape(body, &pair.0),
        _ => Shape::Value,
    }
}

/// Adds the instructions of a module.
fn add(found: &mut BTreeSet<Recorded>, name: &str, text: &str) {
    let module =
        ptx::parse(text).unwrap_or_else(|errors| panic!("{name}: {}", ptx::log(&errors, name, text)));
    for body in module.functions.iter().filter_map(|f| f.body.as_ref()) {
        for statement in &body.statements {
            if let StatementKind::Instruction(i) = &statement.kind {
                found.insert(Recorded {
                    opcode: i.opcode.name().to_owned(),
                    words: i.modifiers.iter().map(|m| m.name().to_owned()).collect(),
                    operands: i.operands.iter().map(|o| shape(body, o)).collect(),
                });
            }
        }
    }
}

/// Adds the kernels of a recorder's cases that succeeded on the hardware.
fn add_kernels(found: &mut BTreeSet<Recorded>, kernels: Vec<Kernel>, gave: impl Fn(&str) -> bool) {
    let mut seen = HashSet::new();
    for kernel in kernels {
        if gave(&kernel.case) && seen.insert(kernel.text.clone()) {
            add(found, &kernel.case, &kernel.text);
        }
    }
}

/// Every instruction in the recorded kernels that tests compare with.
pub fn instructions() -> BTreeSet<Recorded> {
    let mut found = BTreeSet::new();
    let mut groups = BTreeMap::new();
    for form in instructions::forms().expect("the table of instructions") {
        let recording = groups
            .entry(form.group.clone())
            .or_insert_with(|| instructions::Recording::of_group(&form.group).expect("the recording"));
        if recording.results(&form.name).is_some() {
            let (version, target) = instructions::home(&form.group);
            add(&mut found, &form.name, &instructions::module([&form], version, target));
        }
    }
    let mut groups = BTreeMap::new();
    for form in matrix::forms().expect("the table of matrix instructions") {
        let recording = groups
            .entry(form.group.clone())
            .or_insert_with(|| matrix::Recording::of_group(&form.group).expect("the recording"));
        if recording.results(&form.name).is_some() {
            add(&mut found, &form.name, &matrix::module([&form]));
        }
    }
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    let kernels = |all: Result<Vec<Kernel>, hwtruth::Error>| all.expect("the recorder's kernels");
    let recorded = copies::recorded().expect("the recording");
    add_kernels(
        &mut found,
        kernels(copies::Recorder::build(&include).and_then(|r| r.kernels())),
        // A copy whose barrier was still open at the end has its own name.
        |case| {
            [case.to_owned(), format!("{case}.open")]
                .iter()
                .any(|n| recorded.get(n).is_some_and(|o| o.status == 0))
        },
    );
    let recorded = textures::recorded().expect("the recording");
    add_kernels(&mut found, kernels(textures::Recorder::build(&include).and_then(|r| r.kernels())), |case| {
        matches!(recorded.get(case), Some(textures::Outcome::Results(_)))
    });
    let recorded = clusters::recorded().expect("the recording");
    add_kernels(&mut found, kernels(clusters::Recorder::build(&include).and_then(|r| r.kernels())), |case| {
        recorded.get(case).is_some_and(|result| result.starts_with("ok"))
    });
    found
}

impl Recorded {
    /// Whether the form matches the instruction's words and operands.
    pub fn is_of(&self, form: &Form) -> bool {
        form.opcode == self.opcode
            && takes(&form.slots, &mut self.words.iter().collect())
            && operands_fit(&form.operands, &self.operands)
    }
}

/// Whether these words fill the slots of a form: each word a different slot, and no required slot left empty.
fn takes(slots: &[Slot], left: &mut Vec<&String>) -> bool {
    let Some((slot, rest)) = slots.split_first() else { return left.is_empty() };
    for n in 0..left.len() {
        if slot.words.contains(left[n]) {
            let word = left.remove(n);
            let done = takes(rest, left);
            left.insert(n, word);
            if done {
                return true;
            }
        }
    }
    slot.optional && left.len() <= rest.len() && takes(rest, left)
}

/// Whether these operands match a form's, with or without the optional ones.
fn operands_fit(form: &[String], operands: &[Shape]) -> bool {
    let Some((first, rest)) = form.split_first() else { return operands.is_empty() };
    if let Some((shape, others)) = operands.split_first()
        && fits(first.trim_start_matches('?'), *shape)
        && operands_fit(rest, others)
    {
        return true;
    }
    first.starts_with('?') && operands_fit(rest, operands)
}

/// Whether an operand of this shape matches the grammar's `operand`.
fn fits(operand: &str, shape: Shape) -> bool {
    if operand.starts_with('[') {
        return shape == Shape::Address;
    }
    let (name, class) = operand.split_once(':').unwrap_or((operand, ""));
    let class = class.trim_end_matches("|p").trim_end_matches('|').split('(').next().unwrap_or_default();
    let several = ["vec", "vec1", "offsets", "gradient", "mem", "mem256", "mov"].contains(&class)
        || class.starts_with("frag")
        || class.contains('*');
    match class.trim_end_matches('!') {
        "any" => true,
        "sink" => shape == Shape::Sink,
        // A constant may also name one.
        "pred" => shape == Shape::Predicate || (operand.contains('(') && shape == Shape::Value),
        // Of the instruction's type, which may be `.pred`.
        "" if name != "imm" => shape != Shape::Address,
        _ if several => matches!(shape, Shape::Several | Shape::Value | Shape::Predicate),
        _ => shape == Shape::Value,
    }
}
