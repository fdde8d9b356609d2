//! Scalar instructions.

use std::sync::OnceLock;

use gcn::isa::{Inst, Op as Operation, Role};
use hashbrown::HashMap;
use wave::op::{CountOp, IntOp, IntUnOp, Op, ShiftOp};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::error::Result;
use crate::evaluate::Scope;
use crate::operand::{immediate, operand};
use crate::registers::{Reg, Registers};
use crate::table::{self, Expr, Form, Row};

/// The message that interrupts the host, after a call to it.
const INTERRUPT: i64 = 1;

/// The message by which a wave that is about to end gives its VGPRs back (gfx11).
const DEALLOC_VGPRS: i64 = 3;

/// What a bitwise operation complements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Complement {
    Nothing,
    First,
    Second,
    Result,
}

/// Which EXEC is the result of an operation on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The one before.
    Old,
    /// The new one.
    New,
}

/// A bitwise operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bitwise {
    op: IntOp,
    complement: Complement,
    /// For operations that combine their source with EXEC and write it: what their result is.
    pub exec: Option<Kept>,
}

/// Bitwise operations by the middle of their names.
const BITWISE: &[(&str, IntOp, Complement)] = &[
    ("and", IntOp::And, Complement::Nothing),
    ("or", IntOp::Or, Complement::Nothing),
    ("xor", IntOp::Xor, Complement::Nothing),
    ("andn1", IntOp::And, Complement::First),
    ("and_not0", IntOp::And, Complement::First),
    ("orn1", IntOp::Or, Complement::First),
    ("or_not0", IntOp::Or, Complement::First),
    ("andn2", IntOp::And, Complement::Second),
    ("and_not1", IntOp::And, Complement::Second),
    ("orn2", IntOp::Or, Complement::Second),
    ("or_not1", IntOp::Or, Complement::Second),
    ("nand", IntOp::And, Complement::Result),
    ("nor", IntOp::Or, Complement::Result),
    ("xnor", IntOp::Xor, Complement::Result),
];

/// How names of bitwise operations end, without the number of bits.
const ON_EXEC: [(&str, Option<Kept>); 3] =
    [("", None), ("_saveexec", Some(Kept::Old)), ("_wrexec", Some(Kept::New))];

impl Bitwise {
    /// The bitwise operation that an operation is.
    pub fn of(op: Operation) -> Option<Bitwise> {
        static ALL: OnceLock<HashMap<Operation, Bitwise>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let mut all = HashMap::new();
            for &(middle, op, complement) in BITWISE {
                for (end, exec) in ON_EXEC {
                    let names = [32, 64].map(|bits| format!("s_{middle}{end}_b{bits}"));
                    // Not each of them exists.
                    let known = names.iter().filter_map(|name| Operation::of_name(name));
                    all.extend(known.map(|known| (known, Bitwise { op, complement, exec })));
                }
            }
            all
        });
        all.get(&op).copied()
    }
}

/// A sum or a difference with a carry.
#[derive(Clone, Copy)]
struct Carry {
    /// Whether it is a difference, and the carry a borrow.
    subtracts: bool,
    /// Whether it takes the carry of another one.
    continues: bool,
}

impl Registers {
    /// Lowers a scalar instruction.
    pub fn scalar(&mut self, inst: &Inst, name: &str) -> Result<()> {
        if name == "s_sendmsg" {
            return match immediate(inst, Role::Simm16)? & 0xff {
                DEALLOC_VGPRS => Ok(()),
                // The host looks at what the wave has written anyway.
                INTERRUPT => {
                    self.op(Op::Yield, &[]);
                    Ok(())
                }
                _ => Err("only interrupts and the message that gives VGPRs back are supported".to_owned()),
            };
        }
        if self.scalar_comparison(inst)? || self.scalar_bits(inst)? {
            return Ok(());
        }
        if self.hardware_register(inst, name)? || self.scalar_index(inst, name)? {
            return Ok(());
        }
        match name {
            "s_add_u32" => return self.scalar_carry(inst, Carry { subtracts: false, continues: false }),
            "s_addc_u32" => return self.scalar_carry(inst, Carry { subtracts: false, continues: true }),
            "s_sub_u32" => return self.scalar_carry(inst, Carry { subtracts: true, continues: false }),
            "s_subb_u32" => return self.scalar_carry(inst, Carry { subtracts: true, continues: true }),
            _ => {}
        }
        match table::scalar().rows.get(name) {
            Some(row) => self.scalar_row(inst, row),
            None => Err("this scalar instruction is not supported".to_owned()),
        }
    }

    /// Writes the result, and whether it is not zero to SCC.
    fn result_and_scc(&mut self, inst: &Inst, value: Value) -> Result<()> {
        let flag = self.is_not_zero(value);
        self.set(Reg::Scc, flag);
        self.write_scalar(operand(inst, Role::Sdst)?, value)
    }

    fn combined(&mut self, Bitwise { op, complement, .. }: Bitwise, a: Value, b: Value) -> Value {
        match complement {
            Complement::Nothing => self.bitwise(op, a, b),
            Complement::First => {
                let a = self.not(a);
                self.bitwise(op, b, a)
            }
            Complement::Second => {
                let b = self.not(b);
                self.bitwise(op, a, b)
            }
            Complement::Result => {
                let value = self.bitwise(op, a, b);
                self.not(value)
            }
        }
    }

    /// Bitwise operations, and those on EXEC; whether the instruction is one.
    fn scalar_bits(&mut self, inst: &Inst) -> Result<bool> {
        let Some(bitwise) = Bitwise::of(inst.op) else { return Ok(false) };
        let Some(kept) = bitwise.exec else {
            let (a, b) = (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?);
            let value = self.combined(bitwise, a, b);
            self.result_and_scc(inst, value)?;
            return Ok(true);
        };
        let source = self.source(inst, Role::Src0)?;
        let exec = self.get(Reg::Exec);
        if self.func.ty(source) != self.mask() {
            return Err(format!("a wave of {} lanes has another size of EXEC", self.lanes));
        }
        let value = self.combined(bitwise, source, exec);
        let result = match kept {
            Kept::Old => exec,
            Kept::New => value,
        };
        self.write_scalar(operand(inst, Role::Sdst)?, result)?;
        let flag = self.is_not_zero(value);
        self.set(Reg::Scc, flag);
        self.set(Reg::Exec, value);
        Ok(true)
    }

    /// Sums and differences with carries. Sums may be halves of addresses.
    fn scalar_carry(&mut self, inst: &Inst, Carry { subtracts, continues }: Carry) -> Result<()> {
        let (a, b) = (self.source(inst, Role::Src0)?, self.source(inst, Role::Src1)?);
        let carry = if continues { self.get(Reg::Scc) } else { self.constant(Ty::I1, 0) };
        let long = if continues && !subtracts { self.long_sum(a, b, carry) } else { None };
        let (sum, carry) = match long {
            Some(sum) => sum,
            None => {
                let op = if subtracts { Op::SubBorrow(Ty::I32) } else { Op::AddCarry(Ty::I32) };
                let results = self.op(op, &[a, b, carry]);
                (results[0], results[1])
            }
        };
        if !continues && !subtracts {
            self.note_sum(a, b, sum, carry);
        }
        self.set(Reg::Scc, carry);
        self.write_scalar(operand(inst, Role::Sdst)?, sum)
    }

    /// Instructions that a row of the table describes.
    fn scalar_row(&mut self, inst: &Inst, row: &Row) -> Result<()> {
        let mut names: Vec<(&'static str, Value)> = Vec::new();
        let roles = [("a", Role::Src0), ("b", Role::Src1)];
        for ((name, role), form) in roles.into_iter().zip(&row.sources) {
            let value = self.source(inst, role)?;
            names.push((name, self.resized(value, form.ty())));
        }
        let occurs = |name| row.value.names(name) || row.code.as_ref().is_some_and(|code| code.names(name));
        if occurs("d") {
            names.push(("d", self.source(inst, Role::Sdst)?));
        }
        if occurs("k") {
            let k = immediate(inst, Role::Simm16)? as i16 as i32 as u32;
            names.push(("k", self.word(k)));
        }
        if occurs("scc") {
            names.push(("scc", self.get(Reg::Scc)));
        }
        let ty = row.result.ty();
        let mut scope = Scope { names, fmt: Fmt::F32, exact: None, table: table::scalar() };
        let value = self.evaluate(&scope, &row.value, ty)?;
        if row.result == Form::Code {
            self.set(Reg::Scc, value);
            return Ok(());
        }
        match &row.code {
            None => {}
            Some(Expr::Name("nz")) => return self.result_and_scc(inst, value),
            Some(code) => {
                scope.names.push(("r", value));
                let flag = self.evaluate(&scope, code, ty)?;
                self.set(Reg::Scc, flag);
            }
        }
        self.write_scalar(operand(inst, Role::Sdst)?, value)
    }

    /// Each bit of a word twice.
    pub fn replicated(&mut self, value: Value) -> Value {
        let mut value = self.resized(value, Ty::I64);
        let steps = [
            (16, 0x0000_ffff_0000_ffff_u64),
            (8, 0x00ff_00ff_00ff_00ff),
            (4, 0x0f0f_0f0f_0f0f_0f0f),
            (2, 0x3333_3333_3333_3333),
            (1, 0x5555_5555_5555_5555),
        ];
        for (by, kept) in steps {
            let (by, kept) = (self.word(by), self.constant(Ty::I64, kept));
            let moved = self.shift(ShiftOp::Shl, value, by);
            let both = self.int(IntOp::Or, value, moved);
            value = self.int(IntOp::And, both, kept);
        }
        let one = self.word(1);
        let moved = self.shift(ShiftOp::Shl, value, one);
        self.int(IntOp::Or, value, moved)
    }

    /// The lowest bit of each four: whether one of the four is set.
    fn any_of_four(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        let mut any = value;
        for by in [1, 2] {
            let by = self.word(by);
            let moved = self.shift(ShiftOp::ShrU, any, by);
            any = self.int(IntOp::Or, any, moved);
        }
        let lowest = self.constant(ty, 0x1111_1111_1111_1111);
        self.int(IntOp::And, any, lowest)
    }

    /// A bit for each four bits of which one is set, together at the bottom.
    pub fn quads(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        let mut bits = self.any_of_four(value);
        let steps = [
            (3, 0x0303_0303_0303_0303_u64),
            (6, 0x000f_000f_000f_000f),
            (12, 0x0000_00ff_0000_00ff),
            (24, 0xffff),
        ];
        for (by, kept) in steps {
            if ty == Ty::I32 && by == 24 {
                break;
            }
            let (by, kept) = (self.word(by), self.constant(ty, kept));
            let moved = self.shift(ShiftOp::ShrU, bits, by);
            let both = self.int(IntOp::Or, bits, moved);
            bits = self.int(IntOp::And, both, kept);
        }
        bits
    }

    /// All of each four bits of which one is set.
    pub fn whole_quads(&mut self, value: Value) -> Value {
        let bits = self.any_of_four(value);
        let all = self.constant(self.func.ty(value), 15);
        self.int(IntOp::Mul, bits, all)
    }

    /// The number of the lowest bit that is set, -1 without one.
    pub fn lowest_bit(&mut self, value: Value) -> Value {
        let ty = self.func.ty(value);
        let reversed = self.op1(Op::IntUn(IntUnOp::Brev, ty), &[value]);
        self.op1(Op::Count(CountOp::BfindShU, ty), &[reversed])
    }
}
