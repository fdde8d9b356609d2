//! Appends instructions to a function and numbers their results.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem::take;
use std::rc::Rc;

use wave::Ty;

use super::constants::Long;
use super::operand::Is;
use super::{
    Access, Argument, Bin, Block, Callee, Cast, Cmp, Effect, Elem, Fcmp, Global, Inst, Lanes, Likely,
    LlvmModule, Name, Op, Operand, Order, Place, Rmw, Signature, Target, Type, Width,
};

/// The code of a function under construction.
#[derive(Debug, Default)]
pub struct Body {
    /// The blocks so far.
    pub blocks: Vec<Block>,
    registers: u32,
    labels: u32,
    /// The places of loads that have one, by result register.
    loads: HashMap<u32, Place>,
    /// Masks held as words, each with its vector if the current block has one.
    masks: Vec<(Operand, Option<Operand>)>,
    /// The masks that have a vector.
    vectors: Vec<usize>,
}

impl Body {
    /// Number of instructions and labels so far.
    pub fn size(&self) -> usize {
        self.blocks.iter().map(|b| b.insts.len() + 1).sum()
    }
}

/// A result that consists of several values.
#[derive(Clone, Debug)]
pub struct Several {
    register: u32,
    types: Rc<[Type]>,
}

/// Builds a module's functions, one after the other or nested.
#[derive(Debug, Default)]
pub struct Builder {
    /// The module so far: globals, constants and finished functions.
    pub module: LlvmModule,
    /// The current function.
    pub body: Body,
    /// The source line for instructions that may fault; 0 for none.
    pub line: u32,
    /// The lanes that the code runs together.
    pub width: Width,
}

impl Builder {
    /// Begins a new function and returns the current one.
    pub fn begin(&mut self) -> Body {
        take(&mut self.body)
    }

    /// Ends the current function and returns its blocks. `outer`, which [`Builder::begin`] returned, becomes
    /// current again.
    pub fn end(&mut self, outer: Body) -> Vec<Block> {
        std::mem::replace(&mut self.body, outer).blocks
    }

    /// Adds a constant in memory to the module and returns its address.
    pub fn global(&mut self, global: Global) -> Operand {
        let name = global.name;
        self.module.global(global);
        Operand::global(name)
    }

    // Blocks.

    /// A label that is unique in the function.
    pub fn fresh(&mut self, word: &'static str) -> Name {
        self.body.labels += 1;
        Name { word, number: Some(self.body.labels) }
    }

    /// Begins a block.
    pub fn label(&mut self, label: Name) {
        for number in self.body.vectors.drain(..) {
            self.body.masks[number].1 = None;
        }
        self.body.blocks.push(Block { label, insts: Vec::new() });
    }

    /// Begins instructions that [`Builder::splice`] will insert elsewhere in the function. Returns the blocks
    /// so far.
    pub fn begin_aside(&mut self) -> Vec<Block> {
        let aside = vec![Block { label: Name::of("aside"), insts: Vec::new() }];
        std::mem::replace(&mut self.body.blocks, aside)
    }

    /// Ends them: restores the blocks and returns the instructions.
    pub fn end_aside(&mut self, blocks: Vec<Block>) -> Vec<Inst> {
        let aside = std::mem::replace(&mut self.body.blocks, blocks);
        aside.into_iter().flat_map(|b| b.insts).collect()
    }

    /// Appends instructions that were built elsewhere.
    pub fn splice(&mut self, insts: Vec<Inst>) {
        self.insts().extend(insts);
    }

    /// The instructions of the current block, or of the entry block if the function has none yet.
    fn insts(&mut self) -> &mut Vec<Inst> {
        if self.body.blocks.is_empty() {
            self.body.blocks.push(Block { label: Name::of("entry"), insts: Vec::new() });
        }
        let last = self.body.blocks.len() - 1;
        &mut self.body.blocks[last].insts
    }

    // Masks.

    /// A mask from the bits of a word, the lowest bit for the first lane. It becomes a vector only if an
    /// instruction needs one, at most once per block, so that masks stay in scalars where possible.
    pub fn mask(&mut self, bits: Operand) -> Operand {
        self.body.masks.push((bits, None));
        Operand { ty: self.width.mask(), is: Is::Mask(self.body.masks.len() as u32 - 1) }
    }

    /// The word of a mask that is held as one.
    pub fn word_of(&self, mask: Operand) -> Option<Operand> {
        let Is::Mask(number) = mask.is else { return None };
        self.body.masks.get(number as usize).map(|(bits, _)| *bits)
    }

    /// The vector of a mask: tests each lane's bit.
    fn vector_of(&mut self, number: usize) -> Operand {
        let (bits, vector) = self.body.masks[number];
        if let Some(vector) = vector {
            return vector;
        }
        let words = self.word_of_each(bits);
        let each = self.each_bit();
        let mine = self.bin(Bin::And, words, each);
        let vector = self.icmp_int(Cmp::Ne, mine, 0);
        self.body.masks[number].1 = Some(vector);
        self.body.vectors.push(number);
        vector
    }

    /// A vector with the part of a word, of at most 64 bits, that has each lane's bit.
    fn word_of_each(&mut self, bits: Operand) -> Operand {
        let (lanes, part) = (self.width.lanes(), self.bits_of_part());
        if part == lanes {
            return self.splat(bits);
        }
        let parts = self.bitcast(bits, Type::bits_of(part).times(lanes / part));
        self.shuffle(parts, None, (0..lanes).map(|l| l / part))
    }

    /// A vector with each lane's own bit set in its part of a word.
    pub fn each_bit(&mut self) -> Operand {
        let part = self.bits_of_part();
        let bits = (0..self.width.lanes()).map(|l| (1u64 << (l % part)) as i64);
        self.elements(self.width.vector_of(Elem::Int(part as u16)), bits)
    }

    /// Bits of the parts in which words of masks become vectors: those of most values that are masked.
    fn bits_of_part(&self) -> usize {
        self.width.lanes().min(32)
    }

    /// A mask as a vector that later blocks may use too.
    pub fn spread(&mut self, mask: Operand) -> Operand {
        match mask.is {
            Is::Mask(number) => self.vector_of(number as usize),
            _ => mask,
        }
    }

    // Instructions.

    /// Appends an instruction without a result.
    pub fn push(&mut self, mut op: Op) {
        self.with_vectors(&mut op);
        let place = self.place();
        self.insts().push(Inst { result: None, op, place });
    }

    fn place(&self) -> Place {
        if self.line == 0 { Place::None } else { Place::Line(self.line) }
    }

    /// Replaces masks among the operands by their vectors.
    fn with_vectors(&mut self, op: &mut Op) {
        for operand in op.operands_mut() {
            if let Is::Mask(number) = operand.is {
                *operand = self.vector_of(number as usize);
            }
        }
    }

    fn register(&mut self, mut op: Op) -> u32 {
        self.with_vectors(&mut op);
        let number = self.body.registers;
        self.body.registers += 1;
        let mut place = self.place();
        if place != Place::None && matches!(op, Op::Load(..)) {
            self.body.loads.insert(number, place);
        }
        // The code generator folds a load and its cast into one load at the cast's position.
        if let Op::Cast(Cast::Bitcast, Operand { is: Is::Register(of), .. }, _) = op
            && place == Place::None
        {
            place = self.body.loads.get(&of).copied().unwrap_or_default();
        }
        self.insts().push(Inst { result: Some(Target::Register(number)), op, place });
        number
    }

    fn def(&mut self, ty: Type, op: Op) -> Operand {
        let number = self.register(op);
        Operand::register(ty, number)
    }

    /// Appends an instruction whose result has a name chosen in advance.
    pub fn named(&mut self, name: Name, mut op: Op) -> Operand {
        self.with_vectors(&mut op);
        let ty = match &op {
            Op::Load(ty, ..) | Op::Cast(_, _, ty) => *ty,
            Op::Bin(_, a, _) => a.ty,
            _ => Type::Void,
        };
        debug_assert_ne!(ty, Type::Void, "a named {op:?}");
        let place = self.place();
        self.insts().push(Inst { result: Some(Target::Name(name)), op, place });
        Operand::local(ty, name)
    }

    /// A binary operation on operands of one type.
    pub fn bin(&mut self, op: Bin, a: Operand, b: Operand) -> Operand {
        debug_assert_eq!(a.ty, b.ty, "{op:?} of {a:?} and {b:?}");
        self.def(a.ty, Op::Bin(op, a, b))
    }

    /// A binary operation with a constant.
    pub fn bin_int(&mut self, op: Bin, a: Operand, b: i64) -> Operand {
        self.bin(op, a, Operand::int(a.ty, b))
    }

    /// A comparison of integers.
    pub fn icmp(&mut self, cmp: Cmp, a: Operand, b: Operand) -> Operand {
        debug_assert_eq!(a.ty, b.ty, "{cmp:?} of {a:?} and {b:?}");
        self.def(a.ty.with(Elem::Int(1)), Op::Icmp(cmp, a, b))
    }

    /// A comparison of integers with a constant.
    pub fn icmp_int(&mut self, cmp: Cmp, a: Operand, b: i64) -> Operand {
        self.icmp(cmp, a, Operand::int(a.ty, b))
    }

    /// A comparison of floats.
    pub fn fcmp(&mut self, cmp: Fcmp, a: Operand, b: Operand) -> Operand {
        debug_assert_eq!(a.ty, b.ty, "{cmp:?} of {a:?} and {b:?}");
        self.def(a.ty.with(Elem::Int(1)), Op::Fcmp(cmp, a, b))
    }

    /// Negates a float.
    pub fn fneg(&mut self, a: Operand) -> Operand {
        self.def(a.ty, Op::FNeg(a))
    }

    /// `a` if the condition holds, otherwise `b`; element by element for a vector condition.
    pub fn select(&mut self, condition: Operand, a: Operand, b: Operand) -> Operand {
        debug_assert_eq!(a.ty, b.ty, "select of {a:?} and {b:?}");
        self.def(a.ty, Op::Select(condition, a, b))
    }

    /// Converts to another element type; no instruction if it has that type already.
    pub fn cast(&mut self, how: Cast, a: Operand, to: Type) -> Operand {
        if a.ty == to {
            return a;
        }
        self.def(to, Op::Cast(how, a, to))
    }

    /// Reinterprets the bits as another type.
    pub fn bitcast(&mut self, a: Operand, to: Type) -> Operand {
        self.cast(Cast::Bitcast, a, to)
    }

    /// Freezes a value: even poison then has the same value at every use.
    pub fn freeze(&mut self, a: Operand) -> Operand {
        self.def(a.ty, Op::Freeze(a))
    }

    // Vectors.

    /// One value in all lanes of a warp.
    pub fn splat(&mut self, one: Operand) -> Operand {
        self.splat_to(one, self.width.lanes())
    }

    /// One value in all elements of a vector.
    pub fn splat_to(&mut self, one: Operand, count: usize) -> Operand {
        let ty = one.ty.times(count);
        if one.is_constant() {
            return one.spread(ty);
        }
        let first = self.insert(Operand::poison(ty), one, Operand::i32(0));
        self.shuffle(first, None, (0..count).map(|_| 0))
    }

    /// A constant vector with a value for each lane.
    pub fn lanes(&mut self, ty: Ty, value: impl Fn(usize) -> i64) -> Operand {
        self.elements(self.width.vector(ty), (0..self.width.lanes()).map(value))
    }

    /// A constant vector.
    pub fn elements(&mut self, ty: Type, values: impl Iterator<Item = i64>) -> Operand {
        let cut = |v: i64| Operand::int(ty.one(), v).as_int().unwrap_or(v);
        let values: Rc<[i64]> = values.map(cut).collect();
        debug_assert_eq!(values.len(), ty.count());
        match values.first() {
            Some(&first) if values.iter().all(|v| *v == first) => Operand::int(ty, first),
            _ => Operand { ty, is: Is::Long(self.module.constants.keep(Long::Elements(values))) },
        }
    }

    /// Each lane's number.
    pub fn lane_numbers(&mut self) -> Operand {
        self.lanes(Ty::I32, |l| l as i64)
    }

    /// An integer constant of any width of wave IR.
    pub fn literal(&mut self, ty: Ty, lanes: Lanes, bits: u128) -> Operand {
        let of = self.width.int(ty, lanes);
        let bits = bits & ty.mask();
        let value = if ty == Ty::I128 { bits as i128 } else { i128::from(bits as u64 as i64) };
        match i64::try_from(value) {
            Ok(value) => Operand::int(of, value),
            Err(_) => Operand { ty: of, is: Is::Long(self.module.constants.keep(Long::Int(value))) },
        }
    }

    /// An element of a vector.
    pub fn extract(&mut self, vector: Operand, index: Operand) -> Operand {
        self.def(vector.ty.one(), Op::ExtractElement(vector, index))
    }

    /// The element of a lane known at compile time.
    pub fn extract_lane(&mut self, vector: Operand, lane: usize) -> Operand {
        self.extract(vector, Operand::i32(lane as i64))
    }

    /// The vector with one element replaced.
    pub fn insert(&mut self, vector: Operand, one: Operand, index: Operand) -> Operand {
        debug_assert_eq!(vector.ty.one(), one.ty);
        self.def(vector.ty, Op::InsertElement(vector, one, index))
    }

    /// Picks elements of one vector, or of two of the same type that are numbered through.
    pub fn shuffle(&mut self, a: Operand, b: Option<Operand>, picks: impl Iterator<Item = usize>) -> Operand {
        let picks: Rc<[u16]> = picks.map(|p| p as u16).collect();
        let b = b.unwrap_or(Operand::poison(a.ty));
        debug_assert_eq!(a.ty, b.ty);
        self.def(a.ty.times(picks.len()), Op::ShuffleVector(a, b, picks))
    }

    // Memory.

    /// A stack slot, as an instruction to be inserted into the entry block by [`Builder::splice`], and its
    /// address.
    pub fn alloca(name: Name, ty: Type, count: usize, align: u32) -> (Inst, Operand) {
        let op = Op::Alloca { name, ty, count, align };
        (Inst { result: None, op, place: Place::None }, Operand::local(Type::PTR, name))
    }

    /// A load with the type's natural alignment.
    pub fn load(&mut self, ty: Type, at: Operand) -> Operand {
        self.load_as(ty, at, Access::NATURAL)
    }

    /// A load with the given alignment and ordering.
    pub fn load_as(&mut self, ty: Type, at: Operand, access: Access) -> Operand {
        self.def(ty, Op::Load(ty, at, access))
    }

    /// A store with the type's natural alignment.
    pub fn store(&mut self, value: Operand, at: Operand) {
        self.store_as(value, at, Access::NATURAL);
    }

    /// A store with the given alignment and ordering.
    pub fn store_as(&mut self, value: Operand, at: Operand, access: Access) {
        self.push(Op::Store(value, at, access));
    }

    /// An address plus a number of bytes.
    pub fn offset(&mut self, base: Operand, bytes: usize) -> Operand {
        self.element(Type::I8, base, Operand::i64(bytes as i64))
    }

    /// An address plus an index of elements; a vector of indices gives a vector of addresses.
    pub fn element(&mut self, ty: Type, base: Operand, index: Operand) -> Operand {
        self.def(index.ty.with(Elem::Ptr), Op::GetElementPtr(ty, base, index))
    }

    /// Converts an address to a pointer.
    pub fn pointer(&mut self, address: Operand) -> Operand {
        self.cast(Cast::IntToPtr, address, address.ty.with(Elem::Ptr))
    }

    /// A fence; `one_thread` restricts it to the compiler.
    pub fn fence(&mut self, order: Order, one_thread: bool) {
        self.push(Op::Fence { order, one_thread });
    }

    /// A sequentially consistent compare-and-exchange. Returns the old value and whether it was exchanged.
    pub fn cmpxchg(&mut self, at: Operand, old: Operand, new: Operand, align: u32) -> Several {
        let register = self.register(Op::CmpXchg { at, old, new, align });
        Several { register, types: [old.ty, Type::I1].into() }
    }

    /// A sequentially consistent atomic update. Returns the old value.
    pub fn atomic_update(&mut self, op: Rmw, at: Operand, value: Operand, align: u32) -> Operand {
        self.def(value.ty, Op::AtomicRmw { op, at, value, align })
    }

    // Calls.

    /// A call that returns one value or none.
    pub fn call(
        &mut self,
        callee: Callee,
        returns: Type,
        arguments: impl IntoIterator<Item = Argument>,
    ) -> Operand {
        let arguments = arguments.into_iter().collect();
        let op = Op::Call { callee, returns: Signature::One(returns), arguments, no_inline: false };
        if returns == Type::Void {
            self.push(op);
            return Operand::poison(Type::Void);
        }
        self.def(returns, op)
    }

    /// A call with a place of its own; `no_inline` prevents inlining.
    pub fn call_at(
        &mut self,
        place: Place,
        callee: Callee,
        returns: Type,
        arguments: impl IntoIterator<Item = Argument>,
        no_inline: bool,
    ) -> Operand {
        let result = self.call(callee, returns, arguments);
        if let Some(inst) = self.insts().last_mut() {
            inst.place = place;
            if let Op::Call { no_inline: never, .. } = &mut inst.op {
                *never = no_inline;
            }
        }
        result
    }

    /// A call that returns several values.
    pub fn call_several(&mut self, callee: Callee, types: Rc<[Type]>, arguments: Vec<Argument>) -> Several {
        let returns = Signature::Several(Rc::clone(&types));
        let register = self.register(Op::Call { callee, returns, arguments, no_inline: false });
        Several { register, types }
    }

    /// A call of an intrinsic without side effects.
    pub fn intrinsic(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        overloads: [Option<Type>; 2],
        returns: Type,
        arguments: &[Operand],
    ) -> Operand {
        let callee = Callee::Intrinsic(name.into(), overloads, Effect::None);
        self.call(callee, returns, arguments.iter().map(|a| Argument::from(*a)))
    }

    /// A call of an intrinsic that affects memory or the processor's state.
    pub fn act(
        &mut self,
        name: &'static str,
        overloads: [Option<Type>; 2],
        returns: Type,
        arguments: &[Operand],
    ) -> Operand {
        let callee = Callee::Intrinsic(name.into(), overloads, Effect::Any);
        self.call(callee, returns, arguments.iter().map(|a| Argument::from(*a)))
    }

    /// A call of an intrinsic whose operands and result have one type.
    pub fn intrinsic_of(&mut self, name: &'static str, arguments: &[Operand]) -> Operand {
        let ty = arguments.first().map_or(Type::Void, |a| a.ty);
        self.intrinsic(name, [Some(ty), None], ty, arguments)
    }

    /// One of several values.
    pub fn part(&mut self, of: &Several, index: usize) -> Operand {
        self.def(of.types[index], Op::ExtractValue(of.register, Rc::clone(&of.types), index))
    }

    /// Combines several values, to return them.
    pub fn together(&mut self, values: &[Operand]) -> Several {
        let types: Rc<[Type]> = values.iter().map(|v| v.ty).collect();
        let mut so_far = None;
        for (i, &value) in values.iter().enumerate() {
            so_far = Some(self.register(Op::InsertValue(so_far, Rc::clone(&types), value, i)));
        }
        Several { register: so_far.unwrap_or_default(), types }
    }

    // Control.

    /// An unconditional branch.
    pub fn br(&mut self, to: Name) {
        self.push(Op::Br(to));
    }

    /// A conditional branch.
    pub fn br_if(&mut self, condition: Operand, then: Name, els: Name) {
        self.br_likely(condition, then, els, Likely::Unknown);
    }

    /// A conditional branch with a probability.
    pub fn br_likely(&mut self, condition: Operand, then: Name, els: Name, likely: Likely) {
        self.push(Op::CondBr(condition, then, els, likely));
    }

    /// Branches to the label of a case, or to `other`.
    pub fn switch(&mut self, index: Operand, other: Name, cases: Vec<(i64, Name)>) {
        self.push(Op::Switch(index, other, cases));
    }

    /// A phi: one value for each predecessor.
    pub fn phi(&mut self, ty: Type, values: Vec<(Operand, Name)>) -> Operand {
        self.def(ty, Op::Phi(ty, values))
    }

    /// Returns an integer.
    pub fn ret(&mut self, value: Operand) {
        self.push(Op::Ret(Some(value)));
    }

    /// Returns nothing.
    pub fn ret_void(&mut self) {
        self.push(Op::Ret(None));
    }

    /// Returns several values.
    pub fn ret_several(&mut self, values: &Several) {
        self.push(Op::RetSeveral(values.register, Rc::clone(&values.types)));
    }
}
