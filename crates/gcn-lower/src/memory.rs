//! Addresses of global memory, flat memory and scratch, and what the hardware's registers say of them.
//!
//! A flat address is one of global memory, of LDS or of scratch. The last two have apertures: addresses with
//! these upper halves, which no mapping of the host has, and whose lower halves are offsets in LDS or in the
//! lane's scratch. An access of an aperture is one of the host address behind it.

use gcn::CodeObject;
use gcn::Generation;
use gcn::isa::{Inst, Mod, Role, Special, Value as Place};
use gcn::object::{Field, Kernel, KernelDescriptor};
use wave::func::Slot;
use wave::launch::{Fill, Filled};
use wave::op::{AtomTy, Builtin, Guard, IntCmp, IntOp, MemMode, Op, SReg, ShiftOp, Space};
use wave::{BlockCall, Terminator, Ty, Value};

use crate::access::{self, At, Update, first_vgpr};
use crate::code::Code;
use crate::error::Result;
use crate::operand::{immediate, operand};
use crate::registers::{Reg, Registers};

/// The upper halves of addresses in the apertures of LDS and of scratch. (SH_MEM_BASES holds their upper 16
/// bits.)
pub(crate) const SHARED_APERTURE: u32 = 0x1_0000;
pub(crate) const PRIVATE_APERTURE: u32 = 0x2_0000;

/// Hardware registers: the apertures, and the base of scratch memory.
const SH_MEM_BASES: u32 = 15;
const FLAT_SCRATCH: [u32; 2] = [20, 21];

/// Hidden arguments that tell the apertures, or where to find them.
const HIDDEN: [&str; 3] = ["hidden_private_base", "hidden_shared_base", "hidden_queue_ptr"];

/// The register that points to the top of the stack, and the bytes above it that a function may use before it
/// calls another.
const STACK_POINTER: u16 = 32;
const STACK_LEFT: u32 = 4096;

/// The number of the hardware register that `s_getreg` or `s_setreg` concerns, the position and the length of
/// the field in it.
fn hardware_register(inst: &Inst) -> Option<(u32, u32, u32)> {
    let number = immediate(inst, Role::Simm16).ok()? as u32;
    Some((number & 63, number >> 6 & 31, (number >> 11 & 31) + 1))
}

/// Whether `s_getreg` or `s_setreg` concerns the apertures or the base of scratch memory.
pub(crate) fn is_of_memory(inst: &Inst, generation: Generation) -> bool {
    let scratch = matches!(generation, Generation::Gfx10 | Generation::Gfx11 | Generation::Gfx12);
    hardware_register(inst).is_some_and(|(register, ..)| match register {
        SH_MEM_BASES => generation != Generation::Gfx12,
        other => scratch && FLAT_SCRATCH.contains(&other),
    })
}

/// Whether a kernel can make flat addresses of LDS or scratch: whether it reads the apertures.
pub(crate) fn uses_apertures(object: &CodeObject<'_>, kernel: &Kernel, code: &Code) -> bool {
    let reads = |inst: &Inst| {
        let registers = inst.operands.iter().any(|o| {
            use Special::{PrivateBase, PrivateLimit, SharedBase, SharedLimit};
            matches!(o.value, Place::Special(PrivateBase | PrivateLimit | SharedBase | SharedLimit, _))
        });
        registers || (inst.op.name() == "s_getreg_b32" && is_of_memory(inst, code.target.generation))
    };
    let metadata = kernel.metadata.and_then(|index| object.metadata.kernels.get(index));
    let hidden = metadata.is_some_and(|m| m.arguments.iter().any(|a| HIDDEN.contains(&a.kind.as_str())));
    hidden || kernel.descriptor.get(Field::QueuePtr) == 1 || code.instructions.values().any(reads)
}

impl Registers {
    /// Notes the scratch memory that a kernel asks for, before its SGPRs are set.
    pub fn scratch_memory(&mut self, descriptor: &KernelDescriptor) {
        let size = descriptor.get(Field::PrivateSegment);
        if size > 0 || descriptor.get(Field::EnablePrivateSegment) == 1 {
            self.func.slots.push(Slot { name: "scratch".to_owned(), size, align: 16 });
            self.scratch = Some(0);
        }
        if descriptor.get(Field::PrivateSegmentBuffer) == 1 {
            self.buffers_scratch = true;
            self.words.scratch(0);
        }
    }

    /// Gives the stack more memory, for a kernel whose calls do not bound it.
    pub fn grow_scratch(&mut self, bytes: u32) {
        if let Some(slot) = self.func.slots.first_mut() {
            slot.size = slot.size.saturating_add(bytes);
        }
    }

    /// Before a call inside a recursion: the launch fails if the stack is full. The pointer to its top is the
    /// one of AMD's calling convention, which counts bytes of a lane, or of the wave where scratch has a
    /// descriptor.
    pub fn check_stack(&mut self) {
        let Some(slot) = self.scratch else { return };
        let size = self.func.slots.get(slot as usize).map_or(0, |slot| slot.size);
        let mut top = self.get(Reg::Scalar(STACK_POINTER));
        if self.buffers_scratch {
            let lanes = self.word(self.lanes.trailing_zeros());
            top = self.shift(ShiftOp::ShrU, top, lanes);
        }
        let limit = self.word(size.saturating_sub(STACK_LEFT));
        let full = self.compare(IntCmp::GtU, top, limit);
        let full = self.op(Op::Agree(Ty::I1), &[full])[0];
        let exec = self.get(Reg::Exec);
        let from = self.block;
        let [over, on] = [(); 2].map(|()| self.func.new_block());
        for block in [over, on] {
            self.ssa.edge(from, block);
            self.ssa.seal(block);
        }
        let (then, els) = (BlockCall::to(over), BlockCall::to(on));
        self.terminate(Terminator::Branch { cond: full, then, els });
        self.go_on(over);
        self.op(Op::Builtin(Builtin::StackOverflow), &[]);
        self.terminate(Terminator::Trap);
        self.go_on(on);
        self.set(Reg::Exec, exec);
    }

    /// Writes the address of code that an instruction names: its own, or where a call returns to.
    pub fn note_place(&mut self, inst: &Inst) -> Result<()> {
        if let Some(o) = inst.operand(Role::Src0) {
            self.target = Some(self.read(o)?);
        }
        let after = self.code_address(inst.address.wrapping_add(u64::from(inst.size)));
        self.write_scalar(operand(inst, Role::Sdst)?, after)
    }

    /// An address in the loaded code object.
    pub fn code_address(&mut self, address: u64) -> Value {
        self.image_address(address as i64)
    }

    /// `s_getreg` and `s_setreg` of the apertures and of the base of scratch, which is not needed.
    pub fn memory_register(&mut self, inst: &Inst, name: &str) -> Result<()> {
        let Some((register, at, bits)) = hardware_register(inst) else { return Ok(()) };
        if name == "s_setreg_b32" {
            return Ok(());
        }
        let whole = match register {
            SH_MEM_BASES => u64::from(PRIVATE_APERTURE >> 16 | SHARED_APERTURE & 0xffff_0000),
            _ => 0,
        };
        let value = self.word((whole >> at & ((1 << bits) - 1)) as u32);
        self.write_scalar(operand(inst, Role::Sdst)?, value)
    }

    /// 32 bits of the limits of the apertures.
    pub fn aperture(&mut self, special: Special, high: bool) -> Value {
        use Special::{PrivateBase, PrivateLimit, SharedBase};
        self.word(match (special, high) {
            (SharedBase | PrivateBase, false) => 0,
            (_, false) => u32::MAX,
            (PrivateBase | PrivateLimit, true) => PRIVATE_APERTURE,
            (_, true) => SHARED_APERTURE,
        })
    }

    /// A sum of 32 bits as an address.
    pub fn sum_of_words(&mut self, mut address: Value, offset: u32) -> Value {
        if offset != 0 {
            let offset = self.word(offset);
            address = self.int(IntOp::Add, address, offset);
        }
        self.resized(address, Ty::I64)
    }

    /// The address of a lane's own scratch memory at an offset of 32 bits.
    pub fn in_scratch(&mut self, address: Value, offset: u32) -> Result<Value> {
        let slot = self.scratch.ok_or("the kernel's descriptor asks for no scratch memory")?;
        let base = self.op1(Op::LocalAddr(slot), &[]);
        let offset = self.sum_of_words(address, offset);
        Ok(self.int(IntOp::Add, base, offset))
    }

    /// The host address that a flat address means.
    fn translated(&mut self, whole: Value) -> Result<Value> {
        let (low, high) = self.halves(whole);
        let offset = self.resized(low, Ty::I64);
        let shared = self.op1(Op::ToGeneric(Space::Shared), &[offset]);
        let aperture = self.word(SHARED_APERTURE);
        let is_shared = self.compare(IntCmp::Eq, high, aperture);
        let mut address = self.select(is_shared, shared, whole);
        if self.scratch.is_some() {
            let own = self.in_scratch(low, 0)?;
            let own = self.op1(Op::ToGeneric(Space::Local), &[own]);
            let aperture = self.word(PRIVATE_APERTURE);
            let is_private = self.compare(IntCmp::Eq, high, aperture);
            address = self.select(is_private, own, address);
        }
        Ok(address)
    }

    /// A word of the parameter buffer that holds the launch's dimensions, from registers: code is compiled
    /// for a block's size, which is then a constant.
    pub fn dimension_word(&mut self, at: i64) -> Option<Value> {
        let inside = |fill: &&Fill| (at..at + 4).contains(&i64::from(fill.offset));
        let fills: Vec<Fill> = self.fills.iter().filter(inside).copied().collect();
        let fits = |fill: &Fill| i64::from(fill.offset + fill.size) <= at + 4;
        if fills.iter().map(|fill| fill.size).sum::<u32>() != 4 || !fills.iter().all(fits) {
            return None;
        }
        let mut word = None;
        for fill in fills {
            let part = self.dimension(fill.what)?;
            let by = self.word(8 * (i64::from(fill.offset) - at) as u32);
            let part = self.shift(ShiftOp::Shl, part, by);
            word = Some(match word {
                None => part,
                Some(other) => self.int(IntOp::Or, other, part),
            });
        }
        word
    }

    /// What a launch writes, if it is a dimension.
    fn dimension(&mut self, what: Filled) -> Option<Value> {
        let grid = [SReg::NctaidX, SReg::NctaidY, SReg::NctaidZ];
        let block = [SReg::NtidX, SReg::NtidY, SReg::NtidZ];
        let mut read = |list: [SReg; 3], axis| Some(self.op1(Op::Special(*list.get(axis)?), &[]));
        match what {
            Filled::Grid(axis) => read(grid, axis),
            Filled::Block(axis) => read(block, axis),
            Filled::Threads(axis) => {
                let (groups, threads) = (read(grid, axis)?, read(block, axis)?);
                Some(self.int(IntOp::Mul, groups, threads))
            }
            _ => None,
        }
    }

    /// A word of the parameter buffer.
    pub fn parameter_word(&mut self, at: i64) -> Result<Value> {
        if !self.is_parameter(at, 4) {
            return Err(format!("an argument at {at}, outside of the kernel's arguments"));
        }
        if let Some(word) = self.dimension_word(at) {
            return Ok(word);
        }
        let offset = i32::try_from(at).map_err(|_| "the offset is too large")?;
        let (zero, guard) = (self.constant(Ty::I64, 0), Guard::Always);
        let op = Op::Load { mem: MemMode::weak(Space::Param), ty: Ty::I32, count: 1, offset, guard };
        Ok(self.op1(op, &[zero]))
    }

    /// An access of global or flat memory, by its name without that.
    pub fn global(&mut self, inst: &Inst, rest: &str, flat: bool) -> Result<()> {
        let by_lane = access::by_lane(rest);
        let at = self.global_address(inst, flat, by_lane.is_some())?;
        if let Some((update, ty)) = access::atomic(rest)? {
            return self.global_atomic(inst, update, ty, at);
        }
        if let Some(access) = lds_access(inst, rest) {
            return self.load_to_lds(inst, access, at);
        }
        let access = by_lane.or_else(|| access::access(rest));
        let access = access.ok_or("this memory instruction is not supported")?;
        self.access(inst, access, at, Role::Vdata, Role::Vdst)
    }

    /// The address of an access of global or flat memory. The lane's number may take the place of a VGPR.
    fn global_address(&mut self, inst: &Inst, flat: bool, by_lane: bool) -> Result<At> {
        let base = inst.operand(Role::Saddr).filter(|o| !matches!(o.value, Place::Off));
        let vector = inst.operand(Role::Vaddr).filter(|o| !matches!(o.value, Place::Off));
        let address = match (base, vector) {
            (Some(base), vector) => {
                let halves = self.words(base.value, 2)?;
                let base = self.whole(halves[0], halves[1]);
                // The lanes' numbers, or the offsets in a VGPR.
                let lane = match vector {
                    Some(vector) => self.words(vector.value, 1)?[0],
                    None if by_lane => {
                        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
                        let two = self.word(2);
                        self.shift(ShiftOp::Shl, lane, two)
                    }
                    None => self.word(0),
                };
                let lane = self.resized(lane, Ty::I64);
                self.int(IntOp::Add, base, lane)
            }
            (None, Some(vector)) => {
                let halves = self.words(vector.value, 2)?;
                self.whole(halves[0], halves[1])
            }
            (None, None) => return Err("the access has no address".to_owned()),
        };
        let offset = self.signed_offset(inst, flat);
        if flat && self.apertures {
            let address = self.translated(address)?;
            return Ok(At { space: Space::Generic, address, offset, inside: None });
        }
        Ok(At { space: Space::Global, address, offset, inside: None })
    }

    /// The constant offset of an access: signed but for flat memory before gfx12.
    fn signed_offset(&self, inst: &Inst, flat: bool) -> i32 {
        let bits = match self.generation {
            Generation::Gfx12 => 24,
            _ if flat => return inst.modifier(Mod::Offset) as i32,
            Generation::Gfx10 => 12,
            _ => 13,
        };
        (inst.modifier(Mod::Offset) << (32 - bits)) as i32 >> (32 - bits)
    }

    fn global_atomic(&mut self, inst: &Inst, update: Update, ty: AtomTy, at: At) -> Result<()> {
        let mut data = self.atomic_data(inst, Role::Vdata, ty, update.operands())?;
        // The new value comes first, then what is compared.
        data.reverse();
        let old = self.atomic(update, ty, at, &data);
        if inst.operand(Role::Vdst).is_some() {
            self.set_old(old, first_vgpr(inst, Role::Vdst)?);
        }
        Ok(())
    }

    /// An access of scratch memory by the instructions of its own: offsets in it in an SGPR, a VGPR, both or
    /// none.
    pub fn scratch(&mut self, inst: &Inst, rest: &str) -> Result<()> {
        let mut offset = self.word(0);
        for role in [Role::Saddr, Role::Vaddr] {
            if let Some(o) = inst.operand(role).filter(|o| !matches!(o.value, Place::Off)) {
                let part = self.words(o.value, 1)?[0];
                offset = self.int(IntOp::Add, offset, part);
            }
        }
        let address = self.in_scratch(offset, self.signed_offset(inst, false) as u32)?;
        let at = At { space: Space::Local, address, offset: 0, inside: None };
        if let Some(access) = lds_access(inst, rest) {
            return self.load_to_lds(inst, access, at);
        }
        let access = access::access(rest).ok_or("this memory instruction is not supported")?;
        self.access(inst, access, at, Role::Vdata, Role::Vdst)
    }

    /// A load into LDS: from the base in M0 plus the instruction's offset on, a word for each lane.
    pub fn load_to_lds(&mut self, inst: &Inst, access: access::Access, at: At) -> Result<()> {
        let value = match access {
            access::Access::Load(1) => self.load_one(at, Ty::I32),
            access::Access::Part(from, signed, access::Half::Whole) => {
                let part = self.load_one(at, from);
                let to = Ty::I32;
                self.op1(if signed { Op::Sext { from, to } } else { Op::Zext { from, to } }, &[part])
            }
            _ => return Err("loads of this size into LDS are not supported".to_owned()),
        };
        let base = self.get(Reg::M0);
        let mask = self.word(0xffff);
        let base = self.int(IntOp::And, base, mask);
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        let two = self.word(2);
        let lane = self.shift(ShiftOp::Shl, lane, two);
        let sum = self.int(IntOp::Add, base, lane);
        let address = self.resized(sum, Ty::I64);
        let offset = inst.modifier(Mod::Offset) as i32;
        self.store_one(At { space: Space::Shared, address, offset, inside: at.inside }, value);
        Ok(())
    }
}

/// What an instruction loads into LDS, if it does.
pub(crate) fn lds_access(inst: &Inst, rest: &str) -> Option<access::Access> {
    match access::to_lds(rest) {
        None if inst.modifier(Mod::Lds) == 1 => access::access(rest),
        access => access,
    }
}
