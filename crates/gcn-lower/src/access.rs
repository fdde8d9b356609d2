//! What memory instructions do at an address: tables of names, and one engine for global memory, LDS, scratch
//! and buffers.

use gcn::isa::{Inst, Mod, Role, Value as Place};
use wave::op::{
    AtomOp, AtomTy, FloatCmp, Guard, IntCmp, IntOp, IntUnOp, MemMode, Op, Order, Scope, Space, VoteMode,
};
use wave::types::Fmt;
use wave::{BlockCall, Terminator, Ty, Value};

use crate::error::Result;
use crate::operand::operand;
use crate::registers::{ACCUMULATORS, Reg, Registers};

/// What an instruction does at its address.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// Loads this many words.
    Load(u8),
    /// Loads a part of a word and extends it, with its sign or not, to a word or to half of one.
    Part(Ty, bool, Half),
    /// Stores this many words.
    Store(u8),
    /// Stores a part of a word: the low one, or that of the upper half.
    StorePart(Ty, Half),
}

/// Which half of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// The whole register.
    Whole,
    /// The low half; the other one is kept.
    Low,
    /// The high half; the other one is kept.
    High,
}

use Access::*;
use Half::*;

/// Loads and stores by the end of their names, for global memory, scratch and buffers; then for LDS; then the
/// names from gfx11 on.
const ACCESSES: &[(&[&str], Access)] = &[
    (&["load_dword", "read_b32", "load_b32"], Load(1)),
    (&["load_dwordx2", "read_b64", "load_b64"], Load(2)),
    (&["load_dwordx3", "read_b96", "load_b96"], Load(3)),
    (&["load_dwordx4", "read_b128", "load_b128"], Load(4)),
    (&["load_ubyte", "read_u8", "load_u8"], Part(Ty::I8, false, Whole)),
    (&["load_sbyte", "read_i8", "load_i8"], Part(Ty::I8, true, Whole)),
    (&["load_ushort", "read_u16", "load_u16"], Part(Ty::I16, false, Whole)),
    (&["load_sshort", "read_i16", "load_i16"], Part(Ty::I16, true, Whole)),
    (&["load_ubyte_d16", "read_u8_d16", "load_u8_d16", "load_d16_u8"], Part(Ty::I8, false, Low)),
    (&["load_sbyte_d16", "read_i8_d16", "load_i8_d16", "load_d16_i8"], Part(Ty::I8, true, Low)),
    (&["load_short_d16", "read_u16_d16", "load_u16_d16", "load_d16_b16"], Part(Ty::I16, false, Low)),
    (&["load_ubyte_d16_hi", "read_u8_d16_hi", "load_u8_d16_hi", "load_d16_hi_u8"], Part(Ty::I8, false, High)),
    (&["load_sbyte_d16_hi", "read_i8_d16_hi", "load_i8_d16_hi", "load_d16_hi_i8"], Part(Ty::I8, true, High)),
    (
        &["load_short_d16_hi", "read_u16_d16_hi", "load_u16_d16_hi", "load_d16_hi_b16"],
        Part(Ty::I16, false, High),
    ),
    (&["store_dword", "write_b32", "store_b32"], Store(1)),
    (&["store_dwordx2", "write_b64", "store_b64"], Store(2)),
    (&["store_dwordx3", "write_b96", "store_b96"], Store(3)),
    (&["store_dwordx4", "write_b128", "store_b128"], Store(4)),
    (&["store_byte", "write_b8", "store_b8"], StorePart(Ty::I8, Low)),
    (&["store_short", "write_b16", "store_b16"], StorePart(Ty::I16, Low)),
    (
        &["store_byte_d16_hi", "write_b8_d16_hi", "store_b8_d16_hi", "store_d16_hi_b8"],
        StorePart(Ty::I8, High),
    ),
    (
        &["store_short_d16_hi", "write_b16_d16_hi", "store_b16_d16_hi", "store_d16_hi_b16"],
        StorePart(Ty::I16, High),
    ),
];

/// The new value of an atomic update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// As wave IR has it.
    Atom(AtomOp),
    /// The old value less the data.
    Sub,
    /// The data less the old value.
    Rsub,
    /// The old value less the data, or 0 if that would be negative.
    SubClamped,
    /// The old value minus the data if the difference is not negative, otherwise the old value.
    SubIf,
    /// The old value minus the first data if the difference is not negative, otherwise plus the second.
    Wrap,
    /// The bits of the first data cleared, those of the second set.
    Mask,
    /// The second data if the old value equals the first, as floats.
    CasFloat(Fmt),
    /// Each word of the data whose top bit is set, without that bit.
    Conditional,
}

use AtomTy::{B32, B64, BF16x2, F16x2, F32Kept, F64, S32, S64, U32, U64};

/// Atomics by their names without `atomic_` and `rtn_`: those before gfx11, of LDS, and from gfx11 on.
const UPDATES: &[(&[&str], Update, AtomTy)] = &[
    (&["add", "add_u32"], Update::Atom(AtomOp::Add), U32),
    (&["add_x2", "add_u64"], Update::Atom(AtomOp::Add), U64),
    (&["sub", "sub_u32"], Update::Sub, U32),
    (&["sub_x2", "sub_u64"], Update::Sub, U64),
    (&["rsub_u32"], Update::Rsub, U32),
    (&["rsub_u64"], Update::Rsub, U64),
    (&["csub", "csub_u32", "sub_clamp_u32"], Update::SubClamped, U32),
    (&["cond_sub_u32"], Update::SubIf, U32),
    (&["smin", "min_i32"], Update::Atom(AtomOp::Min), S32),
    (&["smin_x2", "min_i64"], Update::Atom(AtomOp::Min), S64),
    (&["umin", "min_u32"], Update::Atom(AtomOp::Min), U32),
    (&["umin_x2", "min_u64"], Update::Atom(AtomOp::Min), U64),
    (&["smax", "max_i32"], Update::Atom(AtomOp::Max), S32),
    (&["smax_x2", "max_i64"], Update::Atom(AtomOp::Max), S64),
    (&["umax", "max_u32"], Update::Atom(AtomOp::Max), U32),
    (&["umax_x2", "max_u64"], Update::Atom(AtomOp::Max), U64),
    (&["and", "and_b32"], Update::Atom(AtomOp::And), B32),
    (&["and_x2", "and_b64"], Update::Atom(AtomOp::And), B64),
    (&["or", "or_b32"], Update::Atom(AtomOp::Or), B32),
    (&["or_x2", "or_b64"], Update::Atom(AtomOp::Or), B64),
    (&["xor", "xor_b32"], Update::Atom(AtomOp::Xor), B32),
    (&["xor_x2", "xor_b64"], Update::Atom(AtomOp::Xor), B64),
    (&["inc", "inc_u32"], Update::Atom(AtomOp::Inc), U32),
    (&["inc_x2", "inc_u64"], Update::Atom(AtomOp::Inc), U64),
    (&["dec", "dec_u32"], Update::Atom(AtomOp::Dec), U32),
    (&["dec_x2", "dec_u64"], Update::Atom(AtomOp::Dec), U64),
    (&["swap", "swap_b32", "wrxchg_b32", "storexchg_b32"], Update::Atom(AtomOp::Exch), B32),
    (&["swap_x2", "swap_b64", "wrxchg_b64", "storexchg_b64"], Update::Atom(AtomOp::Exch), B64),
    (&["cmpswap", "cmpswap_b32", "cmpst_b32", "cmpstore_b32"], Update::Atom(AtomOp::Cas), B32),
    (&["cmpswap_x2", "cmpswap_b64", "cmpst_b64", "cmpstore_b64"], Update::Atom(AtomOp::Cas), B64),
    (&["fcmpswap", "cmpswap_f32", "cmpst_f32", "cmpstore_f32"], Update::CasFloat(Fmt::F32), B32),
    (&["fcmpswap_x2", "cmpst_f64", "cmpstore_f64"], Update::CasFloat(Fmt::F64), B64),
    (&["add_f32"], Update::Atom(AtomOp::Add), F32Kept),
    (&["add_f64"], Update::Atom(AtomOp::Add), F64),
    (&["fmin", "min_f32", "min_num_f32"], Update::Atom(AtomOp::Min), F32Kept),
    (&["fmin_x2", "min_f64", "min_num_f64"], Update::Atom(AtomOp::Min), F64),
    (&["fmax", "max_f32", "max_num_f32"], Update::Atom(AtomOp::Max), F32Kept),
    (&["fmax_x2", "max_f64", "max_num_f64"], Update::Atom(AtomOp::Max), F64),
    (&["pk_add_f16"], Update::Atom(AtomOp::Add), F16x2),
    (&["pk_add_bf16"], Update::Atom(AtomOp::Add), BF16x2),
    (&["mskor_b32"], Update::Mask, B32),
    (&["mskor_b64"], Update::Mask, B64),
    (&["wrap_b32"], Update::Wrap, U32),
    (&["condxchg32_b64"], Update::Conditional, B64),
];

/// The access that the end of a name means.
pub(crate) fn access(name: &str) -> Option<Access> {
    ACCESSES.iter().find(|row| row.0.contains(&name)).map(|row| row.1)
}

/// The access that the end of a name means, if the lane's number is part of its address.
pub(crate) fn by_lane(name: &str) -> Option<Access> {
    match name {
        "load_dword_addtid" | "read_addtid_b32" | "load_addtid_b32" => Some(Load(1)),
        "store_dword_addtid" | "write_addtid_b32" | "store_addtid_b32" => Some(Store(1)),
        _ => None,
    }
}

/// The load that the end of a name means, if its name says that it goes to LDS.
pub(crate) fn to_lds(name: &str) -> Option<Access> {
    access(&format!("load_{}", name.strip_prefix("load_lds_")?))
}

/// The atomic update that the end of a name means; `None` if it is no atomic.
pub(crate) fn atomic(name: &str) -> Result<Option<(Update, AtomTy)>> {
    let Some(name) = name.strip_prefix("atomic_") else { return Ok(None) };
    update(name).map(Some).ok_or_else(|| "this atomic is not supported".to_owned())
}

/// The atomic update that a name without `atomic_` and `rtn_` means.
pub(crate) fn update(name: &str) -> Option<(Update, AtomTy)> {
    UPDATES.iter().find(|row| row.0.contains(&name)).map(|row| (row.1, row.2))
}

impl Update {
    /// The number of values that it takes as data.
    pub fn operands(self) -> u16 {
        match self {
            Update::Atom(AtomOp::Cas) | Update::CasFloat(_) | Update::Wrap | Update::Mask => 2,
            _ => 1,
        }
    }
}

/// An address with its constant offset and its space, and which of the active lanes access it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub space: Space,
    pub address: Value,
    pub offset: i32,
    /// Lanes outside of this do nothing, and load 0.
    pub inside: Option<Value>,
}

impl At {
    /// The place this many bytes further on.
    pub fn plus(self, bytes: i32) -> At {
        At { offset: self.offset.wrapping_add(bytes), ..self }
    }
}

/// The number of the first register of an operand, which holds data of memory: a VGPR, or from gfx90a on an
/// AGPR.
pub(crate) fn first_vgpr(inst: &Inst, role: Role) -> Result<u16> {
    match operand(inst, role)?.value {
        Place::Vgpr(first) => Ok(first),
        Place::Agpr(first) => Ok(ACCUMULATORS + first),
        _ => Err(format!("{} is no VGPR", role.name())),
    }
}

/// The order of a load. One that goes past the caches of its compute unit is volatile or atomic in the source
/// (LLVM's "User Guide for AMDGPU Backend", "Memory Model"): a loop may wait for what it reads.
fn order_of(inst: &Inst, space: Space) -> Order {
    let others = matches!(space, Space::Global | Space::Generic);
    match others && (inst.modifier(Mod::Glc) == 1 || inst.modifier(Mod::Scope) > 0) {
        true => Order::Volatile,
        false => Order::Weak,
    }
}

impl Registers {
    /// A load or a store; the data of a store is in `data`, the result of a load in `result`.
    pub fn access(&mut self, inst: &Inst, access: Access, at: At, data: Role, result: Role) -> Result<()> {
        match access {
            Load(words) => self.load(at, order_of(inst, at.space), words, first_vgpr(inst, result)?),
            Part(ty, signed, half) => {
                let into = first_vgpr(inst, result)?;
                let part = self.load_one_in(at, order_of(inst, at.space), ty);
                self.set_part(part, signed, half, into);
            }
            Store(words) => {
                let data = self.words(operand(inst, data)?.value, u16::from(words))?;
                self.store(at, &data);
            }
            StorePart(ty, half) => {
                let mut word = self.words(operand(inst, data)?.value, 1)?[0];
                if half == High {
                    word = self.upper_half(word);
                }
                let part = self.resized(word, ty);
                self.store_one(at, part);
            }
        }
        Ok(())
    }

    /// The upper 16 bits of a word.
    pub fn upper_half(&mut self, word: Value) -> Value {
        let sixteen = self.word(16);
        self.shift(wave::op::ShiftOp::ShrU, word, sixteen)
    }

    /// Writes a part of a word to a VGPR or half of it.
    pub fn set_part(&mut self, part: Value, signed: bool, half: Half, into: u16) {
        let from = self.func.ty(part);
        let to = Ty::I32;
        let op = if signed { Op::Sext { from, to } } else { Op::Zext { from, to } };
        let mut value = self.op1(op, &[part]);
        if half != Whole {
            let old = self.get(Reg::Vector(into));
            let (at, bits) = (self.word(if half == High { 16 } else { 0 }), self.word(16));
            value = self.op1(Op::Bfi(Ty::I32), &[value, old, at, bits]);
        }
        self.set_vector(into, value);
    }

    /// Loads words into VGPRs. They need not be aligned to more than a word, so each is loaded by itself.
    fn load(&mut self, at: At, order: Order, words: u8, first: u16) {
        let one = |i| self.load_one_in(at.plus(i * 4), order, Ty::I32);
        let values: Vec<Value> = (0..i32::from(words)).map(one).collect();
        for (number, value) in (first..).zip(values) {
            self.set_vector(number, value);
        }
    }

    /// Stores words.
    pub fn store(&mut self, at: At, data: &[Value]) {
        for (i, word) in data.iter().enumerate() {
            self.store_one(at.plus(i as i32 * 4), *word);
        }
    }

    /// Loads a value in the active lanes; 0 in the others.
    pub fn load_one(&mut self, at: At, ty: Ty) -> Value {
        self.load_one_in(at, Order::Weak, ty)
    }

    fn load_one_in(&mut self, at: At, order: Order, ty: Ty) -> Value {
        let mut args = vec![at.address];
        let guard = self.guarded(at.inside, &mut args);
        let mem = MemMode { order, ..MemMode::weak(at.space) };
        self.op1(Op::Load { mem, ty, count: 1, offset: at.offset, guard }, &args)
    }

    /// Stores a value in the active lanes.
    pub fn store_one(&mut self, at: At, value: Value) {
        let ty = self.func.ty(value);
        let mut args = vec![at.address, value];
        let guard = self.guarded(at.inside, &mut args);
        self.op(Op::Store { mem: MemMode::weak(at.space), ty, count: 1, offset: at.offset, guard }, &args);
    }

    /// The active lanes, of those that are inside.
    fn performing(&mut self, inside: Option<Value>) -> Option<Value> {
        match (self.active(), inside) {
            (Some(active), Some(inside)) => Some(self.int(IntOp::And, active, inside)),
            (active, inside) => active.or(inside),
        }
    }

    /// Restricts an access to the active lanes by adding the operand that holds them.
    fn guarded(&mut self, inside: Option<Value>, args: &mut Vec<Value>) -> Guard {
        match self.performing(inside) {
            None => Guard::Always,
            Some(lanes) => {
                args.push(lanes);
                Guard::If
            }
        }
    }

    /// The values that an atomic takes, from consecutive registers of one operand.
    pub fn atomic_data(&mut self, inst: &Inst, role: Role, ty: AtomTy, count: u16) -> Result<Vec<Value>> {
        let words = ty.ty().bits() as u16 / 32;
        let all = self.words(operand(inst, role)?.value, words * count)?;
        let value = |s: &mut Self, own: &[Value]| match own {
            [low, high] => s.whole(*low, *high),
            _ => own[0],
        };
        Ok(all.chunks(usize::from(words)).map(|own| value(self, own)).collect())
    }

    /// An atomic update; returns the old value. Of two data, the first is compared, or is the mask, and the
    /// second is the new value.
    pub fn atomic(&mut self, update: Update, ty: AtomTy, at: At, data: &[Value]) -> Value {
        let first = data[0];
        let op = match update {
            Update::Atom(op) => op,
            Update::Sub => {
                let negated = self.op1(Op::IntUn(IntUnOp::Neg, ty.ty()), &[first]);
                return self.atom(AtomOp::Add, ty, at, &[negated]);
            }
            _ => return self.atomic_loop(update, ty, at, data),
        };
        self.atom(op, ty, at, data)
    }

    fn atom(&mut self, op: AtomOp, ty: AtomTy, at: At, data: &[Value]) -> Value {
        let mut args = vec![at.address];
        args.extend(data);
        let guard = self.guarded(at.inside, &mut args);
        let mem = MemMode { space: at.space, order: Order::Relaxed, scope: Scope::Sys };
        self.op1(Op::Atom { op, ty, mem, offset: at.offset, guard }, &args)
    }

    /// An update that wave IR does not have: each lane reads, computes and swaps until no other write came in
    /// between.
    fn atomic_loop(&mut self, update: Update, ty: AtomTy, at: At, data: &[Value]) -> Value {
        let bits = ty.ty();
        let cas = if bits == Ty::I64 { B64 } else { B32 };
        let exec = self.get(Reg::Exec);
        let lanes = match self.performing(at.inside) {
            Some(lanes) => lanes,
            None => self.constant(Ty::I1, 1),
        };
        let none = self.constant(bits, 0);
        let outside = self.block;
        let [around, behind] = [(); 2].map(|()| self.func.new_block());
        self.set(Reg::Waiting, lanes);
        self.set(Reg::Result(bits), none);
        self.terminate(Terminator::Jump(BlockCall::to(around)));
        self.ssa.edge(outside, around);
        self.go_on(around);
        self.set(Reg::Exec, exec);
        let (waiting, result) = (self.get(Reg::Waiting), self.get(Reg::Result(bits)));
        let at = At { inside: Some(waiting), ..at };
        let mem = MemMode { space: at.space, order: Order::Relaxed, scope: Scope::Sys };
        let load = Op::Load { mem, ty: bits, count: 1, offset: at.offset, guard: Guard::If };
        let old = self.op1(load, &[at.address, waiting]);
        let new = self.updated(update, old, data);
        let args = [at.address, old, new, waiting];
        let op = Op::Atom { op: AtomOp::Cas, ty: cas, mem, offset: at.offset, guard: Guard::If };
        let seen = self.op1(op, &args);
        let done = self.compare(IntCmp::Eq, seen, old);
        let result = self.select(waiting, seen, result);
        let not_done = self.not(done);
        let waiting = self.int(IntOp::And, waiting, not_done);
        self.set(Reg::Waiting, waiting);
        self.set(Reg::Result(bits), result);
        let members = self.constant(self.mask(), 0);
        let again = self.op1(Op::Vote { mode: VoteMode::Any, sync: false }, &[waiting, members]);
        self.ssa.edge(around, around);
        self.ssa.seal(around);
        let (then, els) = (BlockCall::to(around), BlockCall::to(behind));
        self.terminate(Terminator::Branch { cond: again, then, els });
        // Registers are the same behind the loop as before it, which dominates it.
        self.ssa.edge(outside, behind);
        self.ssa.seal(behind);
        self.go_on(behind);
        result
    }

    /// The new value of an update.
    fn updated(&mut self, update: Update, old: Value, data: &[Value]) -> Value {
        let first = data[0];
        let second = data.get(1).copied().unwrap_or(first);
        let ty = self.func.ty(old);
        match update {
            Update::Atom(_) | Update::Sub => first,
            Update::Rsub => self.int(IntOp::Sub, first, old),
            Update::SubClamped | Update::SubIf | Update::Wrap => {
                let less = self.int(IntOp::Sub, old, first);
                let enough = self.compare(IntCmp::GeU, old, first);
                let otherwise = match update {
                    Update::SubClamped => self.constant(ty, 0),
                    Update::SubIf => old,
                    _ => self.int(IntOp::Add, old, second),
                };
                self.select(enough, less, otherwise)
            }
            Update::Mask => {
                let kept = self.not(first);
                let kept = self.int(IntOp::And, old, kept);
                self.int(IntOp::Or, kept, second)
            }
            Update::CasFloat(fmt) => {
                let cmp = FloatCmp::Eq;
                let equal = self.op1(Op::FloatCmp { cmp, fmt, ftz: false }, &[old, first]);
                self.select(equal, second, old)
            }
            Update::Conditional => {
                let ((old_low, old_high), (low, high)) = (self.halves(old), self.halves(first));
                let mut word = |old: Value, new: Value| {
                    let (zero, rest) = (self.word(0), self.word(u32::MAX >> 1));
                    let set = self.compare(IntCmp::LtS, new, zero);
                    let new = self.int(IntOp::And, new, rest);
                    self.select(set, new, old)
                };
                let (low, high) = (word(old_low, low), word(old_high, high));
                self.whole(low, high)
            }
        }
    }

    /// Writes the old value of an atomic to VGPRs.
    pub fn set_old(&mut self, old: Value, first: u16) {
        if self.func.ty(old) == Ty::I64 {
            let (low, high) = self.halves(old);
            self.set_vector(first, low);
            self.set_vector(first + 1, high);
        } else {
            self.set_vector(first, old);
        }
    }
}
