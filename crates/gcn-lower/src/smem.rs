//! Scalar memory instructions: the wave reads or writes an address together.

use gcn::Generation;
use gcn::isa::{Inst, Mod, Operand, Role, Value as Place};
use wave::op::{Guard, IntCmp, IntOp, MemMode, Op, Order, SReg, Scope, ShiftOp, Space};
use wave::{Ty, Value};

use crate::error::Result;
use crate::operand::operand;
use crate::registers::{Known, Reg, Registers};

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Loads from an address.
    Load,
    /// Stores to an address.
    Store,
    /// Loads from a buffer.
    BufferLoad,
    /// Stores to a buffer.
    BufferStore,
}

/// Parts of words that gfx12 loads.
const PARTS: &[(&str, Ty, bool)] =
    &[("u8", Ty::I8, false), ("i8", Ty::I8, true), ("u16", Ty::I16, false), ("i16", Ty::I16, true)];

/// The number of words by the end of a name.
fn words(rest: &str) -> Option<u16> {
    Some(match rest {
        "dword" | "b32" => 1,
        "dwordx2" | "b64" => 2,
        "dwordx3" | "b96" => 3,
        "dwordx4" | "b128" => 4,
        "dwordx8" | "b256" => 8,
        "dwordx16" | "b512" => 16,
        _ => return None,
    })
}

/// Messages: to the host, which looks at memory by itself; that the wave gives its VGPRs back (gfx11); and,
/// with an answer, the time.
const INTERRUPT: u32 = 1;
const DEALLOC_VGPRS: u32 = 3;
const GET_REALTIME: u32 = 131;

impl Registers {
    /// A message.
    pub fn message(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let number = match inst.operand(Role::Simm16).or(inst.operand(Role::Src0)).map(|o| o.value) {
            Some(Place::Imm(number)) => number as u32,
            Some(Place::Int(number)) => number as u32,
            _ => return Err("the message is not known".to_owned()),
        };
        let answers = name != "s_sendmsg";
        match number & if self.generation >= Generation::Gfx11 { 0xff } else { 0xf } {
            INTERRUPT if !answers => {
                self.op(Op::Yield, &[]);
                Ok(())
            }
            DEALLOC_VGPRS if !answers && self.generation >= Generation::Gfx11 => Ok(()),
            GET_REALTIME if answers => {
                let time = self.op1(Op::Special(SReg::GlobalTimer64), &[]);
                let time = self.op(Op::Agree(Ty::I64), &[time])[0];
                let time = if name == "s_sendmsg_rtn_b32" { self.resized(time, Ty::I32) } else { time };
                self.write_scalar(operand(inst, Role::Sdst)?, time)
            }
            _ => Err("this message is not supported".to_owned()),
        }
    }

    /// The time, the same in all lanes.
    pub fn clock(&mut self, inst: &Inst, clock: SReg) -> Result<()> {
        let time = self.op1(Op::Special(clock), &[]);
        let time = self.op(Op::Agree(Ty::I64), &[time])[0];
        self.write_scalar(operand(inst, Role::Sdst)?, time)
    }

    /// An access of scalar memory; the rest of its name says how much.
    pub fn scalar_memory(&mut self, inst: &Inst, kind: Kind, rest: &str) -> Result<()> {
        let unknown = "this scalar memory instruction is not supported";
        let part = PARTS.iter().find(|row| row.0 == rest);
        let count = if part.is_some() { 1 } else { words(rest).ok_or(unknown)? };
        let base = operand(inst, Role::Sbase)?;
        let buffer = matches!(kind, Kind::BufferLoad | Kind::BufferStore);
        let described = self.words(base.value, if buffer { 4 } else { 2 })?;
        let (mut constant, mut register) = (0i64, None);
        for role in [Role::Soffset, Role::Offset] {
            match inst.operand(role) {
                Some(Operand { value: Place::Imm(value), .. }) => constant += value,
                Some(o) if !matches!(o.value, Place::Off) => {
                    let value = self.read(o)?;
                    match self.known(value) {
                        Some(Known::Constant(value)) => constant += i64::from(value as u32),
                        _ => register = Some(value),
                    }
                }
                _ => {}
            }
        }
        constant += i64::from(inst.modifier(Mod::Offset) as i32);
        let data = operand(inst, Role::Sdst)?;
        if !matches!(data.value, Place::Sgpr(_) | Place::Ttmp(_)) && count > 2 {
            return Err("the data is in no SGPR".to_owned());
        }
        if buffer {
            let constant = self.constant(Ty::I64, constant as u64);
            let offset = match register {
                Some(register) => {
                    let register = self.resized(register, Ty::I64);
                    self.int(IntOp::Add, register, constant)
                }
                None => constant,
            };
            return self.scalar_buffer(&described, offset, data, count, matches!(kind, Kind::BufferStore));
        }
        let mut address = self.whole(described[0], described[1]);
        if let Some(register) = register {
            let register = self.resized(register, Ty::I64);
            address = self.int(IntOp::Add, address, register);
        }
        // What lies outside of the parameter buffer is read as other memory, which is checked when the kernel
        // runs.
        let mut space = Space::Global;
        if let Some(Known::Parameter(at)) = self.known(address)
            && self.is_parameter(constant + at, i64::from(count) * 4)
            && !matches!(kind, Kind::Store)
        {
            constant += at;
            (space, address) = (Space::Param, self.constant(Ty::I64, 0));
        }
        let stored = if matches!(kind, Kind::Store) { self.words(data.value, count)? } else { Vec::new() };
        let mut loaded = Vec::new();
        for word in 0..count {
            let offset =
                i32::try_from(constant + i64::from(word) * 4).map_err(|_| "the offset is too large")?;
            if let Some(data) = stored.get(usize::from(word)) {
                self.store_together(address, offset, *data, None);
                continue;
            }
            if space == Space::Param
                && part.is_none()
                && let Some(value) = self.dimension_word(i64::from(offset))
            {
                loaded.push(value);
                continue;
            }
            let (ty, signed) = part.map_or((Ty::I32, false), |row| (row.1, row.2));
            let value = self.load_together(space, address, offset, ty, None);
            let (from, to) = (ty, Ty::I32);
            let value = match (ty, signed) {
                (Ty::I32, _) => value,
                (_, true) => self.op1(Op::Sext { from, to }, &[value]),
                (_, false) => self.op1(Op::Zext { from, to }, &[value]),
            };
            loaded.push(value);
        }
        self.write_scalars(data, &loaded)
    }

    /// Writes the words that a load has read.
    fn write_scalars(&mut self, data: &Operand, words: &[Value]) -> Result<()> {
        match (data.value, words) {
            (Place::Sgpr(first), _) => {
                (first..).zip(words).for_each(|(number, word)| self.set(Reg::Scalar(number), *word));
            }
            (Place::Ttmp(first), _) => {
                (first..).zip(words).for_each(|(number, word)| self.set(Reg::Trap(number), *word));
            }
            (_, &[word]) => self.write_scalar(data, word)?,
            (_, &[low, high]) => {
                let whole = self.whole(low, high);
                self.write_scalar(data, whole)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Words of a buffer; those beyond its end are 0, and are not written.
    fn scalar_buffer(
        &mut self,
        described: &[Value],
        offset: Value,
        data: &Operand,
        count: u16,
        store: bool,
    ) -> Result<()> {
        let (base, stride) = self.buffer_base(described);
        let records = self.resized(described[2], Ty::I64);
        // The size is in units of the stride, if there is one.
        let one = self.constant(Ty::I64, 1);
        let unit = self.int(IntOp::MaxU, stride, one);
        let size = self.int(IntOp::Mul, records, unit);
        let stored = if store { self.words(data.value, count)? } else { Vec::new() };
        let mut loaded = Vec::new();
        for word in 0..count {
            let distance = self.constant(Ty::I64, u64::from(word) * 4);
            let at = self.int(IntOp::Add, offset, distance);
            let four = self.constant(Ty::I64, 4);
            let end = self.int(IntOp::Add, at, four);
            let inside = self.compare(IntCmp::LeU, end, size);
            let address = self.int(IntOp::Add, base, at);
            match stored.get(usize::from(word)) {
                Some(data) => self.store_together(address, 0, *data, Some(inside)),
                None => loaded.push(self.load_together(Space::Global, address, 0, Ty::I32, Some(inside))),
            }
        }
        self.write_scalars(data, &loaded)
    }

    /// The base and the stride that a buffer's descriptor states.
    pub fn buffer_base(&mut self, described: &[Value]) -> (Value, Value) {
        let mask = self.word(0xffff);
        let high = self.int(IntOp::And, described[1], mask);
        let base = self.whole(described[0], high);
        let sixteen = self.word(16);
        let stride = self.shift(ShiftOp::ShrU, described[1], sixteen);
        let mask = self.word(0x3fff);
        let stride = self.int(IntOp::And, stride, mask);
        (base, self.resized(stride, Ty::I64))
    }

    /// Loads a value once for the wave.
    fn load_together(
        &mut self,
        space: Space,
        address: Value,
        offset: i32,
        ty: Ty,
        inside: Option<Value>,
    ) -> Value {
        let guard = if inside.is_some() { Guard::If } else { Guard::Always };
        let args: Vec<Value> = std::iter::once(address).chain(inside).collect();
        let value = self.op1(Op::Load { mem: MemMode::weak(space), ty, count: 1, offset, guard }, &args);
        if space == Space::Param {
            return value;
        }
        // All lanes have read the same; the result is one for the wave.
        self.op(Op::Agree(ty), &[value])[0]
    }

    /// Stores a word for the wave: its lanes write the same.
    fn store_together(&mut self, address: Value, offset: i32, data: Value, inside: Option<Value>) {
        let guard = if inside.is_some() { Guard::If } else { Guard::Always };
        let args: Vec<Value> = [address, data].into_iter().chain(inside).collect();
        let mem = MemMode { space: Space::Global, order: Order::Relaxed, scope: Scope::Sys };
        self.op(Op::Store { mem, ty: Ty::I32, count: 1, offset, guard }, &args);
    }
}
