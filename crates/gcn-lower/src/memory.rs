//! Memory: scalar loads, global, flat and LDS accesses.

use gcn::isa::{Inst, Mod, Operand, Role, Value as Place};
use wave::op::{AtomOp, AtomTy, Guard, IntOp, MemMode, Op, Order, SReg, Scope, ShiftOp, Space};
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::{immediate, operand};
use crate::registers::{Reg, Registers};

/// What a memory instruction does, by the end of its name.
#[derive(Clone, Copy)]
enum Access {
    /// Loads so many words.
    Load(u8),
    /// Loads a part of a word, and extends it.
    LoadPart(Ty, bool),
    /// Stores so many words.
    Store(u8),
    /// Stores the low part of a word.
    StorePart(Ty),
    /// An atomic.
    Atomic(AtomOp, AtomTy),
}

/// Accesses of global and flat memory. The names before gfx11 and after differ.
const GLOBAL: &[(&str, Access)] = &[
    ("load_dword", Access::Load(1)),
    ("load_b32", Access::Load(1)),
    ("load_dwordx2", Access::Load(2)),
    ("load_b64", Access::Load(2)),
    ("load_dwordx3", Access::Load(3)),
    ("load_b96", Access::Load(3)),
    ("load_dwordx4", Access::Load(4)),
    ("load_b128", Access::Load(4)),
    ("load_ubyte", Access::LoadPart(Ty::I8, false)),
    ("load_u8", Access::LoadPart(Ty::I8, false)),
    ("load_sbyte", Access::LoadPart(Ty::I8, true)),
    ("load_i8", Access::LoadPart(Ty::I8, true)),
    ("load_ushort", Access::LoadPart(Ty::I16, false)),
    ("load_u16", Access::LoadPart(Ty::I16, false)),
    ("load_sshort", Access::LoadPart(Ty::I16, true)),
    ("load_i16", Access::LoadPart(Ty::I16, true)),
    ("store_dword", Access::Store(1)),
    ("store_b32", Access::Store(1)),
    ("store_dwordx2", Access::Store(2)),
    ("store_b64", Access::Store(2)),
    ("store_dwordx3", Access::Store(3)),
    ("store_b96", Access::Store(3)),
    ("store_dwordx4", Access::Store(4)),
    ("store_b128", Access::Store(4)),
    ("store_byte", Access::StorePart(Ty::I8)),
    ("store_b8", Access::StorePart(Ty::I8)),
    ("store_short", Access::StorePart(Ty::I16)),
    ("store_b16", Access::StorePart(Ty::I16)),
    ("atomic_add", Access::Atomic(AtomOp::Add, AtomTy::U32)),
    ("atomic_add_u32", Access::Atomic(AtomOp::Add, AtomTy::U32)),
    ("atomic_add_x2", Access::Atomic(AtomOp::Add, AtomTy::U64)),
    ("atomic_add_u64", Access::Atomic(AtomOp::Add, AtomTy::U64)),
    ("atomic_smin", Access::Atomic(AtomOp::Min, AtomTy::S32)),
    ("atomic_min_i32", Access::Atomic(AtomOp::Min, AtomTy::S32)),
    ("atomic_umin", Access::Atomic(AtomOp::Min, AtomTy::U32)),
    ("atomic_min_u32", Access::Atomic(AtomOp::Min, AtomTy::U32)),
    ("atomic_smax", Access::Atomic(AtomOp::Max, AtomTy::S32)),
    ("atomic_max_i32", Access::Atomic(AtomOp::Max, AtomTy::S32)),
    ("atomic_umax", Access::Atomic(AtomOp::Max, AtomTy::U32)),
    ("atomic_max_u32", Access::Atomic(AtomOp::Max, AtomTy::U32)),
    ("atomic_and", Access::Atomic(AtomOp::And, AtomTy::B32)),
    ("atomic_and_b32", Access::Atomic(AtomOp::And, AtomTy::B32)),
    ("atomic_or", Access::Atomic(AtomOp::Or, AtomTy::B32)),
    ("atomic_or_b32", Access::Atomic(AtomOp::Or, AtomTy::B32)),
    ("atomic_xor", Access::Atomic(AtomOp::Xor, AtomTy::B32)),
    ("atomic_xor_b32", Access::Atomic(AtomOp::Xor, AtomTy::B32)),
    ("atomic_swap", Access::Atomic(AtomOp::Exch, AtomTy::B32)),
    ("atomic_swap_b32", Access::Atomic(AtomOp::Exch, AtomTy::B32)),
    ("atomic_cmpswap", Access::Atomic(AtomOp::Cas, AtomTy::B32)),
    ("atomic_cmpswap_b32", Access::Atomic(AtomOp::Cas, AtomTy::B32)),
    ("atomic_add_f32", Access::Atomic(AtomOp::Add, AtomTy::F32Kept)),
    ("atomic_add_f64", Access::Atomic(AtomOp::Add, AtomTy::F64)),
];

/// Accesses of LDS.
const LDS: &[(&str, Access)] = &[
    ("read_b32", Access::Load(1)),
    ("load_b32", Access::Load(1)),
    ("read_b64", Access::Load(2)),
    ("load_b64", Access::Load(2)),
    ("read_b96", Access::Load(3)),
    ("load_b96", Access::Load(3)),
    ("read_b128", Access::Load(4)),
    ("load_b128", Access::Load(4)),
    ("read_u8", Access::LoadPart(Ty::I8, false)),
    ("load_u8", Access::LoadPart(Ty::I8, false)),
    ("read_i8", Access::LoadPart(Ty::I8, true)),
    ("load_i8", Access::LoadPart(Ty::I8, true)),
    ("read_u16", Access::LoadPart(Ty::I16, false)),
    ("load_u16", Access::LoadPart(Ty::I16, false)),
    ("read_i16", Access::LoadPart(Ty::I16, true)),
    ("load_i16", Access::LoadPart(Ty::I16, true)),
    ("write_b32", Access::Store(1)),
    ("store_b32", Access::Store(1)),
    ("write_b64", Access::Store(2)),
    ("store_b64", Access::Store(2)),
    ("write_b96", Access::Store(3)),
    ("store_b96", Access::Store(3)),
    ("write_b128", Access::Store(4)),
    ("store_b128", Access::Store(4)),
    ("write_b8", Access::StorePart(Ty::I8)),
    ("store_b8", Access::StorePart(Ty::I8)),
    ("write_b16", Access::StorePart(Ty::I16)),
    ("store_b16", Access::StorePart(Ty::I16)),
    ("add_u32", Access::Atomic(AtomOp::Add, AtomTy::U32)),
    ("add_rtn_u32", Access::Atomic(AtomOp::Add, AtomTy::U32)),
    ("min_i32", Access::Atomic(AtomOp::Min, AtomTy::S32)),
    ("min_u32", Access::Atomic(AtomOp::Min, AtomTy::U32)),
    ("max_i32", Access::Atomic(AtomOp::Max, AtomTy::S32)),
    ("max_u32", Access::Atomic(AtomOp::Max, AtomTy::U32)),
    ("and_b32", Access::Atomic(AtomOp::And, AtomTy::B32)),
    ("or_b32", Access::Atomic(AtomOp::Or, AtomTy::B32)),
    ("xor_b32", Access::Atomic(AtomOp::Xor, AtomTy::B32)),
    ("add_f32", Access::Atomic(AtomOp::Add, AtomTy::F32Kept)),
];

fn found(table: &[(&str, Access)], name: &str) -> Option<Access> {
    table.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// An address with its constant offset and its space.
#[derive(Clone, Copy)]
struct At {
    space: Space,
    address: Value,
    offset: i32,
}

impl Registers {
    /// A scalar load: the lanes read the same address together.
    pub fn scalar_load(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let words: u8 = match name {
            "s_load_dword" | "s_load_b32" => 1,
            "s_load_dwordx2" | "s_load_b64" => 2,
            "s_load_dwordx4" | "s_load_b128" => 4,
            "s_load_dwordx8" | "s_load_b256" => 8,
            "s_load_dwordx16" | "s_load_b512" => 16,
            _ => return Err("this scalar memory instruction is not supported".to_owned()),
        };
        let base = operand(inst, Role::Sbase)?;
        let halves = self.words(base.value, 2)?;
        let mut address = self.whole(halves[0], halves[1]);
        let mut offset = 0i64;
        for role in [Role::Soffset, Role::Offset] {
            match inst.operand(role) {
                Some(Operand { value: Place::Imm(value), .. }) => offset += value,
                Some(o) if !matches!(o.value, Place::Off) => {
                    let register = self.read(o)?;
                    let register = self.resized(register, Ty::I64);
                    address = self.int(IntOp::Add, address, register);
                }
                _ => {}
            }
        }
        offset += i64::from(inst.modifier(Mod::Offset) as i32);
        let Place::Sgpr(first) = operand(inst, Role::Sdst)?.value else {
            return Err("the result is no SGPR".to_owned());
        };
        let space = if Some(address) == self.arguments { Space::Param } else { Space::Global };
        let address = if space == Space::Param { self.constant(Ty::I64, 0) } else { address };
        for word in 0..u16::from(words) {
            let at = i32::try_from(offset + i64::from(word) * 4).map_err(|_| "the offset is too large")?;
            let guard = Guard::Always;
            let op = Op::Load { mem: MemMode::weak(space), ty: Ty::I32, count: 1, offset: at, guard };
            let mut value = self.op1(op, &[address]);
            if space == Space::Global {
                // All lanes have read the same; the result is one for the wave.
                value = self.op(Op::Agree(Ty::I32), &[value])[0];
            }
            self.set(Reg::Scalar(first + word), value);
        }
        Ok(())
    }

    /// An access of global or flat memory.
    pub fn global(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let rest = name.strip_prefix("global_").or_else(|| name.strip_prefix("flat_")).unwrap_or(name);
        let access = found(GLOBAL, rest).ok_or("this memory instruction is not supported")?;
        let flat = name.starts_with("flat_");
        let vector = operand(inst, Role::Vaddr)?;
        let base = inst.operand(Role::Saddr).filter(|o| !matches!(o.value, Place::Off));
        let address = match base {
            Some(base) => {
                let halves = self.words(base.value, 2)?;
                let base = self.whole(halves[0], halves[1]);
                let lane = self.words(vector.value, 1)?[0];
                let lane = self.resized(lane, Ty::I64);
                self.int(IntOp::Add, base, lane)
            }
            None => {
                let halves = self.words(vector.value, 2)?;
                self.whole(halves[0], halves[1])
            }
        };
        let offset = self.offset(inst);
        let space = if flat { Space::Generic } else { Space::Global };
        self.access(inst, access, At { space, address, offset }, Role::Vdata, Role::Vdst)
    }

    /// The constant offset of a global access, which is signed.
    fn offset(&self, inst: &Inst) -> i32 {
        let bits = match self.generation {
            gcn::Generation::Gfx10 => 12,
            gcn::Generation::Gfx12 => 24,
            _ => 13,
        };
        (inst.modifier(Mod::Offset) << (32 - bits)) as i32 >> (32 - bits)
    }

    /// An access of LDS.
    pub fn lds(&mut self, inst: &Inst, name: &str) -> Result<()> {
        if inst.modifier(Mod::Gds) == 1 {
            return Err("global data share is not supported".to_owned());
        }
        let rest = name.strip_prefix("ds_").unwrap_or(name);
        let address = self.words(operand(inst, Role::Addr)?.value, 1)?[0];
        if rest == "bpermute_b32" {
            let (offset, two) = (self.word(inst.modifier(Mod::Offset)), self.word(2));
            let address = self.int(IntOp::Add, address, offset);
            let lane = self.shift(ShiftOp::ShrU, address, two);
            let data = self.words(operand(inst, Role::Data0)?.value, 1)?[0];
            return self.exchanged(inst, data, lane);
        }
        if rest == "swizzle_b32" {
            let lane = self.swizzled(immediate(inst, Role::Offset)? as u32)?;
            return self.exchanged(inst, address, lane);
        }
        let address = self.resized(address, Ty::I64);
        let at = |offset: u32| At { space: Space::Shared, address, offset: offset as i32 };
        if let Some(pair) = rest.strip_prefix("read2").or_else(|| rest.strip_prefix("load_2addr")) {
            let (words, unit) = pair_of(pair).ok_or("this LDS instruction is not supported")?;
            let Place::Vgpr(first) = operand(inst, Role::Vdst)?.value else {
                return Err("the result is no VGPR".to_owned());
            };
            for (i, which) in [Mod::Offset0, Mod::Offset1].into_iter().enumerate() {
                let at = at(inst.modifier(which) * unit);
                self.load(at, words, first + i as u16 * u16::from(words));
            }
            return Ok(());
        }
        if let Some(pair) = rest.strip_prefix("write2").or_else(|| rest.strip_prefix("store_2addr")) {
            let (words, unit) = pair_of(pair).ok_or("this LDS instruction is not supported")?;
            for (which, role) in [(Mod::Offset0, Role::Data0), (Mod::Offset1, Role::Data1)] {
                let data = self.words(operand(inst, role)?.value, u16::from(words))?;
                self.store(at(inst.modifier(which) * unit), &data);
            }
            return Ok(());
        }
        let access = found(LDS, rest).or_else(|| found(LDS, &rest.replace("_rtn", "")));
        let access = access.ok_or("this LDS instruction is not supported")?;
        self.access(inst, access, at(inst.modifier(Mod::Offset)), Role::Data0, Role::Vdst)
    }

    /// The lane that a swizzle's offset names: two bits for each lane of four, or masks for and, or and exclusive
    /// or of the lane's number among 32.
    fn swizzled(&mut self, offset: u32) -> Result<Value> {
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        let part = |low: u32| offset >> low & 31;
        let (low, group) = match offset >> 14 {
            2 => {
                let (own, one) = (self.amount(lane, 4), self.word(1));
                let by = self.shift(ShiftOp::Shl, own, one);
                let all = self.word(offset & 0xff);
                let chosen = self.shift(ShiftOp::ShrU, all, by);
                (self.amount(chosen, 4), 4)
            }
            0 | 1 => {
                let (and, or, xor) = (self.word(part(0)), self.word(part(5)), self.word(part(10)));
                let low = self.int(IntOp::And, lane, and);
                let low = self.int(IntOp::Or, low, or);
                (self.int(IntOp::Xor, low, xor), 32)
            }
            _ => return Err("swizzles that rotate are not supported yet".to_owned()),
        };
        Ok(self.with_low(lane, low, group))
    }

    /// The data of another lane; 0 if that is not active. No memory is involved.
    fn exchanged(&mut self, inst: &Inst, data: Value, lane: Value) -> Result<()> {
        let Place::Vgpr(into) = operand(inst, Role::Vdst)?.value else {
            return Err("the result is no VGPR".to_owned());
        };
        let lane = self.amount(lane, self.lanes);
        let mut value = self.of_lane(data, lane);
        if self.active().is_some() {
            let exec = self.get(Reg::Exec);
            let bit = self.shift(ShiftOp::ShrU, exec, lane);
            let ty = self.func.ty(exec);
            let active = self.op1(Op::Zext { from: ty, to: Ty::I1 }, &[bit]);
            let zero = self.word(0);
            value = self.select(active, value, zero);
        }
        self.set_vector(into, value);
        Ok(())
    }

    fn access(&mut self, inst: &Inst, access: Access, at: At, data: Role, result: Role) -> Result<()> {
        let first = |role| match inst.operand(role).map(|o| o.value) {
            Some(Place::Vgpr(first)) => Ok(first),
            _ => Err(format!("{} is no VGPR", role.name())),
        };
        match access {
            Access::Load(words) => self.load(at, words, first(result)?),
            Access::LoadPart(ty, signed) => {
                let into = first(result)?;
                let part = self.load_one(at, ty);
                let (from, to) = (ty, Ty::I32);
                let op = if signed { Op::Sext { from, to } } else { Op::Zext { from, to } };
                let value = self.op1(op, &[part]);
                self.set_vector(into, value);
            }
            Access::Store(words) => {
                let data = self.words(operand(inst, data)?.value, u16::from(words))?;
                self.store(at, &data);
            }
            Access::StorePart(ty) => {
                let word = self.words(operand(inst, data)?.value, 1)?[0];
                let part = self.resized(word, ty);
                self.store_one(at, part);
            }
            Access::Atomic(op, ty) => self.atomic(inst, op, ty, at, data, result)?,
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        inst: &Inst,
        op: AtomOp,
        ty: AtomTy,
        at: At,
        data: Role,
        result: Role,
    ) -> Result<()> {
        let words = ty.ty().bits() as u16 / 32;
        let value = |s: &mut Self, role: Role, from: u16| {
            let all = s.words(operand(inst, role)?.value, from + words)?;
            let own = &all[usize::from(from)..];
            Ok::<_, String>(if words == 2 { s.whole(own[0], own[1]) } else { own[0] })
        };
        let mut args = vec![at.address];
        if op == AtomOp::Cas {
            // The new value comes first, then what is compared.
            args.push(value(self, data, words)?);
        }
        args.push(value(self, data, 0)?);
        let mem = MemMode { space: at.space, order: Order::Relaxed, scope: Scope::Sys };
        let guard = self.guarded(&mut args);
        let old = self.op1(Op::Atom { op, ty, mem, offset: at.offset, guard }, &args);
        let Some(Place::Vgpr(first)) = inst.operand(result).map(|o| o.value) else { return Ok(()) };
        if words == 2 {
            let (low, high) = self.halves(old);
            self.set_vector(first, low);
            self.set_vector(first + 1, high);
        } else {
            self.set_vector(first, old);
        }
        Ok(())
    }

    /// Loads words into VGPRs. They need not be aligned to more than a word, so each is loaded by itself.
    fn load(&mut self, at: At, words: u8, first: u16) {
        let each = |i: u16| At { offset: at.offset + i32::from(i) * 4, ..at };
        let values: Vec<Value> = (0..u16::from(words)).map(|i| self.load_one(each(i), Ty::I32)).collect();
        for (number, value) in (first..).zip(values) {
            self.set_vector(number, value);
        }
    }

    fn store(&mut self, at: At, data: &[Value]) {
        for (i, word) in data.iter().enumerate() {
            self.store_one(At { offset: at.offset + i as i32 * 4, ..at }, *word);
        }
    }

    /// Loads a value in the active lanes; 0 in the others.
    fn load_one(&mut self, At { space, address, offset }: At, ty: Ty) -> Value {
        let mut args = vec![address];
        let guard = self.guarded(&mut args);
        self.op1(Op::Load { mem: MemMode::weak(space), ty, count: 1, offset, guard }, &args)
    }

    /// Stores a value in the active lanes.
    fn store_one(&mut self, At { space, address, offset }: At, value: Value) {
        let ty = self.func.ty(value);
        let mut args = vec![address, value];
        let guard = self.guarded(&mut args);
        self.op(Op::Store { mem: MemMode::weak(space), ty, count: 1, offset, guard }, &args);
    }

    /// Makes an access one of the active lanes: adds the operand that tells them.
    fn guarded(&mut self, args: &mut Vec<Value>) -> Guard {
        match self.active() {
            None => Guard::Always,
            Some(active) => {
                args.push(active);
                Guard::If
            }
        }
    }
}

/// The words of each access, and the bytes that an offset counts, of an instruction with two addresses.
fn pair_of(rest: &str) -> Option<(u8, u32)> {
    Some(match rest {
        "_b32" => (1, 4),
        "_b64" => (2, 8),
        "st64_b32" | "_stride64_b32" => (1, 256),
        "st64_b64" | "_stride64_b64" => (2, 512),
        _ => return None,
    })
}
