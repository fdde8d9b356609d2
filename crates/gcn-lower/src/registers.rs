//! The state of a wave while its kernel is lowered: registers as SSA values, and what is known of lane masks.

use crate::index::RESULT_INDEXED;
use crate::mode::Mode;
use gcn::{Generation, Target};
use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;
use wave::launch::Fill;
use wave::op::{IntCmp, IntOp, IntUnOp, SReg, ShiftOp, VoteMode};
use wave::ssa::Ssa;
use wave::{Block, Function, Inst, Loc, Op, Ty, Value, Width};

use crate::flow::Words;
use crate::image::IMAGE;

/// What is written and read like a register. All have 32 bits but the masks, which have as many as a wave has
/// lanes, and the condition code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reg {
    /// An SGPR.
    Scalar(u16),
    /// A VGPR, or from [`ACCUMULATORS`] on an AGPR.
    Vector(u16),
    /// A trap temporary.
    Trap(u16),
    /// The scalar condition code.
    Scc,
    /// The lanes that instructions concern.
    Exec,
    /// The vector condition code.
    Vcc,
    /// Memory register 0.
    M0,
    /// The lanes that an atomic update still has to do.
    Waiting,
    /// The result of such an update of this type.
    Result(Ty),
    /// The high half of VCC in waves of 32 lanes, which is a plain register there.
    VccHigh,
    /// The same of EXEC.
    ExecHigh,
}

/// The number of the first AGPR among the vector registers.
pub(crate) const ACCUMULATORS: u16 = 256;

/// What is known of a value when the kernel is lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The value.
    Constant(u64),
    /// It is the address of the parameter buffer plus a distance.
    Parameter(i64),
    /// It is the address of the object's image plus a distance: an address in the object.
    Image(i64),
}

/// A denominator and a numerator: values, or constants, of which each use is a value of its own.
pub(crate) type Division = [std::result::Result<u64, Value>; 2];

/// The state.
pub(crate) struct Registers {
    pub func: Function,
    pub ssa: Ssa<Reg>,
    pub block: Block,
    pub loc: Loc,
    /// Lanes of a wave.
    pub lanes: u32,
    /// The target's generation.
    pub generation: Generation,
    /// Whether floats of 8 bits are those of the Open Compute Project, rather than gfx942's.
    pub ocp_floats: bool,
    /// Which of the active lanes the present instruction writes, if not all (DPP).
    pub narrowed: Option<Value>,
    /// What is known of scalar registers here.
    pub words: Words,
    /// Whether flat addresses may be ones of LDS or scratch.
    pub apertures: bool,
    /// The stack slot that is scratch memory.
    pub scratch: Option<u32>,
    /// Whether a descriptor tells where scratch is, with the waves' lanes interleaved.
    pub buffers_scratch: bool,
    /// The address that a call goes to, if the call has overwritten the registers that held it.
    pub target: Option<Value>,
    /// How floats are rounded and which are flushed at this place.
    pub mode: Mode,
    /// The mode at the beginning of blocks.
    modes: HashMap<Block, Mode>,
    /// VGPRs of the kernel.
    pub vgprs: u16,
    /// Which operands of vector instructions are indexed by M0 (gfx9): bits for the sources and the result.
    pub indexed: u32,
    /// Why an edge cannot be lowered.
    pub refused: Option<String>,
    /// VGPRs that the first half of a dual instruction writes, while the second half reads its sources.
    pub postponed: Option<Vec<(Reg, Value)>>,
    /// Bytes of the parameter buffer.
    pub parameters: u32,
    /// The denominator and numerator of the division that a flag of `v_div_scale`, and a quotient of
    /// `v_div_fmas`, belong to.
    pub divisions: HashMap<Value, Division>,
    /// Operands with their sign changed or removed, as this block has made them.
    pub modified: HashMap<(Value, bool, bool, u64), Value>,
    /// Whether the instruction extends literals to 64 bits with their sign: those of signed integers do.
    pub long_signed: bool,
    /// Words of it that the launch writes.
    pub fills: Vec<Fill>,
    /// What is known of values.
    known: HashMap<Value, Known>,
    /// Values that are a constant in the lanes with a flag: the flag and the constant.
    constants: HashMap<Value, (Value, u64)>,
    /// The sums of two words, by their carry: what was added, and the result.
    sums: HashMap<Value, (Value, Value, Value)>,
    /// EXEC at the kernel's entry: all lanes that exist.
    all: Option<Value>,
    /// The value of 64 bits that two halves came from.
    wholes: HashMap<(Value, Value), Value>,
    /// The same for pairs of words that this block has joined.
    packed: HashMap<(Value, Value), Value>,
    /// The halves of values that this block has taken apart.
    halves: HashMap<Value, (Value, Value)>,
    /// What a mask says of each lane.
    flags: HashMap<Value, Value>,
    /// The same, as this block has read it from the mask's bits.
    bits: HashMap<Value, Value>,
    /// Masks that a mask's lanes are among.
    within: HashMap<Value, HashSet<Value>>,
    /// EXEC on the edges to a block, as long as it is the same on all of them.
    carried: HashMap<Block, Option<Value>>,
}

impl Registers {
    pub fn new(name: &str, lanes: u32, target: Target) -> Registers {
        let generation = target.generation;
        let width = if lanes == 64 { Width::W64 } else { Width::W32 };
        let mut func = Function { name: name.to_owned(), width, ..Function::default() };
        let block = func.new_block();
        Registers {
            func,
            ssa: Ssa::default(),
            block,
            loc: Loc::default(),
            lanes,
            generation,
            ocp_floats: generation >= Generation::Gfx12 || target.name == "gfx950",
            narrowed: None,
            words: Words::default(),
            apertures: false,
            scratch: None,
            buffers_scratch: false,
            target: None,
            mode: Mode::default(),
            modes: HashMap::new(),
            vgprs: 32,
            indexed: 0,
            refused: None,
            postponed: None,
            parameters: 0,
            divisions: HashMap::new(),
            modified: HashMap::new(),
            long_signed: false,
            fills: Vec::new(),
            known: HashMap::new(),
            constants: HashMap::new(),
            sums: HashMap::new(),
            all: None,
            wholes: HashMap::new(),
            packed: HashMap::new(),
            halves: HashMap::new(),
            flags: HashMap::new(),
            bits: HashMap::new(),
            within: HashMap::new(),
            carried: HashMap::new(),
        }
    }

    /// Goes on in another block.
    pub fn enter(&mut self, block: Block) {
        self.block = block;
        self.indexed = 0;
        // A block that nothing has led to yet: the edges that follow are checked.
        let mode = self.mode;
        self.mode = *self.modes.entry(block).or_insert(mode);
        self.halves.clear();
        self.bits.clear();
        self.modified.clear();
        self.packed.clear();
    }

    /// Goes on in a block that belongs to the same instruction.
    pub fn go_on(&mut self, block: Block) {
        self.block = block;
        self.halves.clear();
        self.bits.clear();
        self.modified.clear();
        self.packed.clear();
    }

    /// The type of lane masks.
    pub fn mask(&self) -> Ty {
        if self.lanes == 64 { Ty::I64 } else { Ty::I32 }
    }

    // Operations.

    pub fn op(&mut self, op: Op, args: &[Value]) -> SmallVec<[Value; 2]> {
        let types = op.signature(self.func.width).map(|s| s.results).unwrap_or_default();
        let results: SmallVec<[Value; 2]> = types.iter().map(|&ty| self.func.new_value(ty)).collect();
        let inst = Inst { op, args: SmallVec::from_slice(args), results: results.clone(), loc: self.loc };
        self.func.block_mut(self.block).insts.push(inst);
        results
    }

    pub fn op1(&mut self, op: Op, args: &[Value]) -> Value {
        self.op(op, args)[0]
    }

    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        let value = self.op1(Op::Const { ty, bits: u128::from(bits) & ty.mask() }, &[]);
        self.known.insert(value, Known::Constant(bits & ty.mask() as u64));
        value
    }

    pub fn word(&mut self, bits: u32) -> Value {
        self.constant(Ty::I32, u64::from(bits))
    }

    pub fn int(&mut self, op: IntOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op1(Op::Int(op, ty), &[a, b])
    }

    pub fn shift(&mut self, op: ShiftOp, a: Value, amount: Value) -> Value {
        let ty = self.func.ty(a);
        self.op1(Op::Shift(op, ty), &[a, amount])
    }

    pub fn compare(&mut self, cmp: IntCmp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op1(Op::IntCmp(cmp, ty), &[a, b])
    }

    pub fn select(&mut self, flag: Value, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.op1(Op::Select(ty), &[flag, a, b])
    }

    pub fn not(&mut self, a: Value) -> Value {
        let ty = self.func.ty(a);
        self.op1(Op::IntUn(IntUnOp::Not, ty), &[a])
    }

    pub fn is_not_zero(&mut self, a: Value) -> Value {
        let ty = self.func.ty(a);
        let zero = self.constant(ty, 0);
        self.compare(IntCmp::Ne, a, zero)
    }

    /// A value with another width: cut, or extended with zeros.
    pub fn resized(&mut self, a: Value, to: Ty) -> Value {
        let from = self.func.ty(a);
        if from == to { a } else { self.op1(Op::Zext { from, to }, &[a]) }
    }

    pub fn whole(&mut self, low: Value, high: Value) -> Value {
        match self.wholes.get(&(low, high)) {
            Some(whole) => *whole,
            None => {
                if let Some(&whole) = self.packed.get(&(low, high)) {
                    return whole;
                }
                let whole = self.op1(Op::Pack { part: Ty::I32, whole: Ty::I64 }, &[low, high]);
                self.packed.insert((low, high), whole);
                self.halves.insert(whole, (low, high));
                whole
            }
        }
    }

    pub fn halves(&mut self, whole: Value) -> (Value, Value) {
        if let Some(halves) = self.halves.get(&whole) {
            return *halves;
        }
        let parts = self.op(Op::Unpack { part: Ty::I32, whole: Ty::I64 }, &[whole]);
        let halves = (parts[0], parts[1]);
        self.halves.insert(whole, halves);
        self.wholes.insert(halves, whole);
        halves
    }

    // Addresses.

    /// Notes what is known of a value.
    pub fn know(&mut self, value: Value, known: Known) {
        self.known.insert(value, known);
    }

    /// Whether these bytes lie in the parameter buffer.
    pub fn is_parameter(&self, at: i64, size: i64) -> bool {
        at >= 0 && at.checked_add(size).is_some_and(|end| end <= i64::from(self.parameters))
    }

    /// What is known of a value.
    pub fn known(&self, value: Value) -> Option<Known> {
        self.known.get(&value).copied()
    }

    /// The constant that a value is in the active lanes, if that is known.
    pub fn active_constant(&mut self, value: Value) -> Option<u64> {
        if let Some(Known::Constant(bits)) = self.known(value) {
            return Some(bits);
        }
        let (flag, bits) = self.constants.get(&value).copied()?;
        (self.active() == Some(flag)).then_some(bits)
    }

    /// A denominator and a numerator, to be compared with others.
    pub fn division(&self, denominator: Value, numerator: Value) -> Division {
        [denominator, numerator].map(|value| match self.known(value) {
            Some(Known::Constant(bits)) => Ok(bits),
            _ => Err(value),
        })
    }

    /// The address of a place in the object's image.
    pub fn image_address(&mut self, address: i64) -> Value {
        let value = self.op1(Op::GlobalAddr(IMAGE, address), &[]);
        self.know(value, Known::Image(address));
        value
    }

    /// A sum of words, with its carry.
    pub fn note_sum(&mut self, a: Value, b: Value, sum: Value, carry: Value) {
        self.sums.insert(carry, (a, b, sum));
    }

    /// The sum of the upper words `a` and `b` and of the carry of a sum of lower words: both halves together
    /// are a sum of 64 bits, by which an address stays what it is. `None` if the carry is not one of a sum.
    pub fn long_sum(&mut self, a: Value, b: Value, carry: Value) -> Option<(Value, Value)> {
        let &(low_a, low_b, low) = self.sums.get(&carry)?;
        let (first, second) = (self.joined(low_a, a), self.joined(low_b, b));
        let (whole, flag) = match (self.known(first), self.known(second)) {
            (Some(Known::Image(at)), Some(Known::Constant(by))) => {
                (self.image_address(at.wrapping_add(by as i64)), None)
            }
            _ => {
                let zero = self.constant(Ty::I1, 0);
                let results = self.op(Op::AddCarry(Ty::I64), &[first, second, zero]);
                if let (Some(Known::Parameter(at)), Some(Known::Constant(by))) =
                    (self.known(first), self.known(second))
                {
                    self.know(results[0], Known::Parameter(at.wrapping_add(by as i64)));
                }
                (results[0], Some(results[1]))
            }
        };
        let (_, high) = self.halves(whole);
        self.wholes.insert((low, high), whole);
        // Addresses of the image are below 2^63, so that a sum with a distance carries if that is negative.
        let flag = match flag {
            Some(flag) => flag,
            None => {
                let zero = self.constant(Ty::I64, 0);
                self.compare(IntCmp::LtS, second, zero)
            }
        };
        Some((high, flag))
    }

    /// Two words as one value; a constant if both are.
    fn joined(&mut self, low: Value, high: Value) -> Value {
        match (self.known(low), self.known(high)) {
            (Some(Known::Constant(low)), Some(Known::Constant(high))) => {
                self.constant(Ty::I64, low | high << 32)
            }
            _ => self.whole(low, high),
        }
    }

    // Registers.

    fn ty(&self, register: Reg) -> Ty {
        match register {
            Reg::Scc | Reg::Waiting => Ty::I1,
            Reg::Result(ty) => ty,
            Reg::Exec | Reg::Vcc => self.mask(),
            _ => Ty::I32,
        }
    }

    pub fn get(&mut self, register: Reg) -> Value {
        let ty = self.ty(register);
        self.ssa.read(&mut self.func, self.block, register, ty)
    }

    pub fn set(&mut self, register: Reg, value: Value) {
        self.ssa.write(self.block, register, value);
    }

    /// Writes a VGPR in the active lanes.
    pub fn set_vector(&mut self, number: u16, value: Value) {
        if self.indexed & RESULT_INDEXED == 0 {
            return self.set_masked(Reg::Vector(number), value);
        }
        let offset = self.index();
        self.set_vector_at(number, offset, value);
    }

    /// Writes a register of lanes in the active ones.
    pub fn set_masked(&mut self, register: Reg, value: Value) {
        let value = match self.active() {
            None => value,
            Some(active) => {
                let old = self.get(register);
                let selected = self.select(active, value, old);
                if let Some(Known::Constant(bits)) = self.known(value) {
                    self.constants.insert(selected, (active, bits));
                }
                selected
            }
        };
        match &mut self.postponed {
            Some(writes) => writes.push((register, value)),
            None => self.set(register, value),
        }
    }

    // Masks.

    /// Makes the lanes active that have a thread. Others exist in whole warps alone.
    pub fn begin(&mut self, whole_warps: bool) {
        if whole_warps {
            let special = |s: &mut Self, register| s.op1(Op::Special(register), &[]);
            let sizes = [SReg::NtidX, SReg::NtidY, SReg::NtidZ].map(|size| special(self, size));
            let threads = self.int(IntOp::Mul, sizes[0], sizes[1]);
            let threads = self.int(IntOp::Mul, threads, sizes[2]);
            let (warp, lane) = (special(self, SReg::WarpId), special(self, SReg::LaneId));
            let lanes = self.word(self.lanes);
            let first = self.int(IntOp::Mul, warp, lanes);
            let thread = self.int(IntOp::Add, first, lane);
            let flag = self.compare(IntCmp::LtU, thread, threads);
            let none = self.constant(self.mask(), 0);
            let mask = self.op1(Op::Vote { mode: VoteMode::Ballot, sync: false }, &[flag, none]);
            self.flags.insert(mask, flag);
            self.set(Reg::Exec, mask);
            return;
        }
        let all = self.op1(Op::ActiveMask, &[]);
        self.all = Some(all);
        self.set(Reg::Exec, all);
    }

    /// Whether a lane is active; `None` if all are.
    pub fn active(&mut self) -> Option<Value> {
        let exec = self.get(Reg::Exec);
        let active = if Some(exec) == self.all { None } else { Some(self.flag(exec)) };
        match (active, self.narrowed) {
            (Some(active), Some(narrowed)) => Some(self.int(IntOp::And, active, narrowed)),
            (active, narrowed) => active.or(narrowed),
        }
    }

    /// Each lane's bit of a mask.
    pub fn flag(&mut self, mask: Value) -> Value {
        if let Some(flag) = self.flags.get(&mask).or_else(|| self.bits.get(&mask)) {
            return *flag;
        }
        let lane = self.op1(Op::Special(SReg::LaneId), &[]);
        let shifted = self.shift(ShiftOp::ShrU, mask, lane);
        let ty = self.func.ty(mask);
        let flag = self.op1(Op::Zext { from: ty, to: Ty::I1 }, &[shifted]);
        self.bits.insert(mask, flag);
        flag
    }

    /// Notes EXEC on an edge from this block.
    pub fn note_exec(&mut self, to: Block) {
        let mode = self.mode;
        if *self.modes.entry(to).or_insert(mode) != mode {
            self.refused = Some("the float mode differs between the ways to the next instruction".to_owned());
        }
        if self.indexed != 0 {
            self.refused = Some("indexed registers are in use at the end of a block".to_owned());
        }
        let exec = self.get(Reg::Exec);
        let known = self.carried.entry(to).or_insert(Some(exec));
        if *known != Some(exec) {
            *known = None;
        }
    }

    /// At the beginning of a block that nothing else leads to: EXEC, if it is the same on all edges.
    pub fn restore_exec(&mut self) {
        if let Some(Some(exec)) = self.carried.get(&self.block).copied() {
            self.set(Reg::Exec, exec);
        }
    }

    /// The mask of the active lanes in which a flag is set.
    pub fn ballot(&mut self, flag: Value) -> Value {
        let exec = self.get(Reg::Exec);
        let flag = match self.active() {
            None => flag,
            Some(active) => self.int(IntOp::And, flag, active),
        };
        let none = self.constant(self.mask(), 0);
        let mask = self.op1(Op::Vote { mode: VoteMode::Ballot, sync: false }, &[flag, none]);
        self.flags.insert(mask, flag);
        self.is_within(mask, exec);
        mask
    }

    /// Notes that the lanes of one mask are among those of another.
    fn is_within(&mut self, mask: Value, other: Value) {
        let mut all = self.within.get(&other).cloned().unwrap_or_default();
        all.insert(other);
        self.within.entry(mask).or_default().extend(all);
    }

    /// A bitwise operation, which may be on masks.
    pub fn bitwise(&mut self, op: IntOp, a: Value, b: Value) -> Value {
        let among = |one: Value, other: Value| {
            one == other || self.within.get(&one).is_some_and(|all| all.contains(&other))
        };
        match op {
            IntOp::And if among(a, b) => return a,
            IntOp::And if among(b, a) => return b,
            IntOp::Or if among(a, b) => return b,
            IntOp::Or if among(b, a) => return a,
            _ => {}
        }
        let result = self.int(op, a, b);
        if op == IntOp::And {
            for one in [a, b] {
                self.is_within(result, one);
            }
            if let (Some(x), Some(y)) = (self.flags.get(&a).copied(), self.flags.get(&b).copied()) {
                let both = self.int(IntOp::And, x, y);
                self.flags.insert(result, both);
            }
        }
        result
    }
}
