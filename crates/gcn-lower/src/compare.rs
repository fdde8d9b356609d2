//! Comparisons of vectors and scalars, by their names.

use std::sync::OnceLock;

use gcn::isa::{Inst, Op as Operation, Role};
use hashbrown::HashMap;
use wave::op::{FloatCmp, IntCmp, Op};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::operand;
use crate::registers::{Reg, Registers};
use crate::table::Form;

/// A relation: what it compares, or that the answer is always the same.
#[derive(Clone, Copy, Debug)]
enum Relation {
    Int(IntCmp),
    Float(FloatCmp, Fmt),
    Constant(bool),
    /// Whether a float is of a class of a mask.
    Class(Fmt),
}

/// What is compared, and where the answer goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Lanes, to a mask.
    Vector,
    /// Lanes, to EXEC.
    ToExec,
    /// Scalars, to SCC.
    Scalar,
    /// A scalar with a constant, to SCC.
    WithConstant,
}

/// The beginnings of names.
const KINDS: [(&str, Kind); 4] = [
    ("v_cmp_", Kind::Vector),
    ("v_cmpx_", Kind::ToExec),
    ("s_cmp_", Kind::Scalar),
    ("s_cmpk_", Kind::WithConstant),
];

/// A comparison.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    kind: Kind,
    relation: Relation,
    form: Form,
}

impl Comparison {
    /// What a name says, such as `v_cmp_gt_i32`.
    fn read(name: &'static str) -> Option<Comparison> {
        let (rest, kind) = KINDS.iter().find_map(|(start, kind)| Some((name.strip_prefix(start)?, *kind)))?;
        let (name, ty) = rest.rsplit_once('_')?;
        let form = Form::read(ty)?;
        Some(Comparison { kind, relation: relation(name, form)?, form })
    }

    /// The comparison that an operation is.
    fn of(op: Operation) -> Option<Comparison> {
        static ALL: OnceLock<HashMap<Operation, Comparison>> = OnceLock::new();
        let read = |op: Operation| Some((op, Comparison::read(op.name())?));
        ALL.get_or_init(|| Operation::all().filter_map(read).collect()).get(&op).copied()
    }
}

/// The relation of a name's middle, such as `gt`, for a type.
fn relation(name: &str, form: Form) -> Option<Relation> {
    if let Form::Float(fmt @ (Fmt::F16 | Fmt::F32 | Fmt::F64)) = form {
        let cmp = match name {
            "class" => return Some(Relation::Class(fmt)),
            "f" => return Some(Relation::Constant(false)),
            "t" | "tru" => return Some(Relation::Constant(true)),
            "lt" => FloatCmp::Lt,
            "eq" => FloatCmp::Eq,
            "le" => FloatCmp::Le,
            "gt" => FloatCmp::Gt,
            "lg" => FloatCmp::Ne,
            "ge" => FloatCmp::Ge,
            "o" => FloatCmp::Num,
            "u" => FloatCmp::Nan,
            "nge" => FloatCmp::Ltu,
            "nlg" => FloatCmp::Equ,
            "ngt" => FloatCmp::Leu,
            "nle" => FloatCmp::Gtu,
            "neq" => FloatCmp::Neu,
            "nlt" => FloatCmp::Geu,
            _ => return None,
        };
        return Some(Relation::Float(cmp, fmt));
    }
    let Form::Int(_, signed) = form else { return None };
    Some(Relation::Int(match (name, signed) {
        ("f", _) => return Some(Relation::Constant(false)),
        ("t", _) => return Some(Relation::Constant(true)),
        ("eq", _) => IntCmp::Eq,
        ("ne" | "lg", _) => IntCmp::Ne,
        ("lt", true) => IntCmp::LtS,
        ("lt", false) => IntCmp::LtU,
        ("le", true) => IntCmp::LeS,
        ("le", false) => IntCmp::LeU,
        ("gt", true) => IntCmp::GtS,
        ("gt", false) => IntCmp::GtU,
        ("ge", true) => IntCmp::GeS,
        ("ge", false) => IntCmp::GeU,
        _ => return None,
    }))
}

impl Registers {
    /// Whether a relation holds. The mask of classes has 32 bits, all other operands have the same type.
    fn related(&mut self, relation: Relation, a: Value, b: Value) -> Value {
        match relation {
            Relation::Int(cmp) => self.compare(cmp, a, b),
            Relation::Float(cmp, fmt) => {
                let ftz = self.float_mode(fmt).ftz;
                self.op1(Op::FloatCmp { cmp, fmt, ftz }, &[a, b])
            }
            Relation::Constant(answer) => self.constant(Ty::I1, u64::from(answer)),
            Relation::Class(fmt) => self.class(fmt, a, b),
        }
    }

    /// A comparison of vectors; whether the instruction is one.
    pub fn vector_comparison(&mut self, inst: &Inst) -> Result<bool> {
        let Some(Comparison { kind: kind @ (Kind::Vector | Kind::ToExec), relation, form }) =
            Comparison::of(inst.op)
        else {
            return Ok(false);
        };
        let a = self.source_as(inst, 0, form)?[0];
        let second = match relation {
            Relation::Class(_) => Form::Int(Ty::I32, false),
            _ => {
                if let Some(fmt) = form.fmt() {
                    self.mode.check(fmt)?;
                }
                form
            }
        };
        let b = self.source_as(inst, 1, second)?[0];
        let flag = self.related(relation, a, b);
        let mask = self.ballot(flag);
        if kind == Kind::ToExec {
            // Before gfx10 the mask goes to a register too.
            if let Ok(result) = operand(inst, Role::Sdst) {
                self.write_scalar(result, mask)?;
            }
            self.set(Reg::Exec, mask);
        } else {
            self.write_scalar(self.mask_result(inst)?, mask)?;
        }
        Ok(true)
    }

    /// The result of an instruction that is a mask: a field, or VCC by its encoding.
    pub fn mask_result<'a>(&self, inst: &'a Inst) -> Result<&'a gcn::isa::Operand> {
        operand(inst, Role::Sdst).or_else(|_| operand(inst, Role::Implied))
    }

    /// A comparison of scalars; whether the instruction is one.
    pub fn scalar_comparison(&mut self, inst: &Inst) -> Result<bool> {
        let Some(Comparison { kind, relation, form }) = Comparison::of(inst.op) else { return Ok(false) };
        let (a, b) = if kind == Kind::WithConstant {
            let value = crate::operand::immediate(inst, Role::Simm16)?;
            let value = if form.is_signed() { value as i16 as i32 as u32 } else { value as u16 as u32 };
            (self.source(inst, Role::Sdst)?, self.word(value))
        } else {
            (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?)
        };
        let (a, b) = match form {
            Form::Float(Fmt::F16) => (self.resized(a, Ty::I16), self.resized(b, Ty::I16)),
            _ => (a, b),
        };
        let flag = self.related(relation, a, b);
        self.set(Reg::Scc, flag);
        Ok(true)
    }

    /// The flag of an instruction's mask source, `src2` or VCC by its encoding.
    pub fn mask_source(&mut self, inst: &Inst) -> Result<Value> {
        let operand = match inst.operand(Role::Src2) {
            Some(operand) => operand,
            None => inst.operands.iter().rev().find(|o| o.role == Role::Implied).ok_or("it has no mask")?,
        };
        let mask = self.read(operand)?;
        Ok(self.flag(mask))
    }

    /// `a + b + carry`, or `a - b - borrow`, with the mask of the carries.
    pub fn carried(&mut self, subtract: bool, a: Value, b: Value, carry: Option<Value>) -> (Value, Value) {
        let ty = self.func.ty(a);
        let none = match carry {
            Some(flag) => flag,
            None => self.constant(Ty::I1, 0),
        };
        let op = if subtract { Op::SubBorrow(ty) } else { Op::AddCarry(ty) };
        let results = self.op(op, &[a, b, none]);
        let mask = self.ballot(results[1]);
        (results[0], mask)
    }
}
