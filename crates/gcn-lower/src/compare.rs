//! Comparisons of vectors and scalars, by their names.

use gcn::isa::{Inst, Role};
use wave::op::{FloatCmp, IntCmp, Op};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::operand;
use crate::registers::{Reg, Registers};
use crate::table::Form;

/// A relation: what it compares, or that the answer is always the same.
enum Relation {
    Int(IntCmp),
    Float(FloatCmp, Fmt),
    Constant(bool),
}

/// The relation of a name's middle and type, such as `gt` and `i32`.
fn relation(name: &str, ty: &str) -> Option<Relation> {
    let fmt = match ty {
        "f16" => Some(Fmt::F16),
        "f32" => Some(Fmt::F32),
        "f64" => Some(Fmt::F64),
        _ => None,
    };
    if let Some(fmt) = fmt {
        let cmp = match name {
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
    let signed = match ty {
        "i16" | "i32" | "i64" => true,
        "u16" | "u32" | "u64" | "b32" => false,
        _ => return None,
    };
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
    fn related(&mut self, relation: &Relation, a: Value, b: Value) -> Value {
        match *relation {
            Relation::Int(cmp) => self.compare(cmp, a, b),
            Relation::Float(cmp, fmt) => {
                let ftz = self.float_mode(fmt).ftz;
                self.op1(Op::FloatCmp { cmp, fmt, ftz }, &[a, b])
            }
            Relation::Constant(answer) => self.constant(Ty::I1, u64::from(answer)),
        }
    }

    /// A comparison of vectors; whether the name is one.
    pub fn vector_comparison(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let (rest, to_exec) = match (name.strip_prefix("v_cmp_"), name.strip_prefix("v_cmpx_")) {
            (Some(rest), _) => (rest, false),
            (_, Some(rest)) => (rest, true),
            _ => return Ok(false),
        };
        let Some((name, ty)) = rest.rsplit_once('_') else { return Ok(false) };
        let Some(form) = Form::read(ty) else { return Ok(false) };
        let a = self.source_as(inst, 0, form)?[0];
        let flag = if let ("class", Some(fmt)) = (name, form.fmt()) {
            let mask = self.source_as(inst, 1, Form::Int(Ty::I32, false))?[0];
            self.class(fmt, a, mask)
        } else {
            let Some(relation) = relation(name, ty) else { return Ok(false) };
            if let Some(fmt) = form.fmt() {
                self.mode.check(fmt)?;
            }
            let b = self.source_as(inst, 1, form)?[0];
            self.related(&relation, a, b)
        };
        let mask = self.ballot(flag);
        if to_exec {
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

    /// A comparison of scalars; whether the name is one.
    pub fn scalar_comparison(&mut self, inst: &Inst, name: &str) -> Result<bool> {
        let (rest, constant) = match (name.strip_prefix("s_cmp_"), name.strip_prefix("s_cmpk_")) {
            (Some(rest), _) => (rest, false),
            (_, Some(rest)) => (rest, true),
            _ => return Ok(false),
        };
        let Some((name, ty)) = rest.rsplit_once('_') else { return Ok(false) };
        let Some(relation) = relation(name, ty) else { return Ok(false) };
        let (a, b) = if constant {
            let value = crate::operand::immediate(inst, Role::Simm16)?;
            let value = if ty.starts_with('u') { value as u16 as u32 } else { value as i16 as i32 as u32 };
            (self.source(inst, Role::Sdst)?, self.word(value))
        } else {
            (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?)
        };
        let (a, b) = match ty {
            "f16" => (self.resized(a, Ty::I16), self.resized(b, Ty::I16)),
            _ => (a, b),
        };
        let flag = self.related(&relation, a, b);
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
