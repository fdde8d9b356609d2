//! The module around a kernel: its entry point, the loop over blocks and warps, and the functions it calls.

use std::mem::take;

use wave::Ty;
use wave::abi::Stop;

use super::names::{self, AT, BLOCK, DONE, FAULT, FRAME, INDEX, LIVE, START, WARP};
use super::stop::ARRIVED;
use super::sweep::{BODY, SETTLE};
use super::{Kernel, RESUME, RUN_BLOCKS, offset};
use crate::ir::{
    Access, Argument, Attributes, Bin, Builder, Callee, Cast, Cmp, Function, Global, Initialiser, Name, Note,
    Op, Operand, Parameter, Place, Processor, Scope, Signature, Type, Width,
};
use crate::lanewise::control_word;
use crate::target::Target;

/// What an inner function of the module is.
pub(super) const INLINED: Attributes = Attributes {
    internal: true,
    always_inline: true,
    no_inline: false,
    cold: false,
    will_return: false,
    no_memory: false,
};

/// An access to a context field that does not change while a kernel runs.
const UNCHANGING: Access = Access { invariant: true, ..Access::NATURAL };

impl Kernel<'_> {
    /// The whole module, and the function that sweeps a block's warps, if there is one.
    pub fn finish(&mut self, target: &Target) -> (String, Option<String>) {
        let sweeps = self.sweeps();
        self.matrix_places();
        self.out.ir.global(Global { name: names::SAFE, value: Initialiser::Zeros(Type::I8, 64), align: 64 });
        let misaligned = self.misaligned();
        self.out.ir.module.functions.push(misaligned);
        let warp = self.warp_function();
        self.out.ir.module.functions.push(warp);
        let settle = self.settle();
        let settles = settle.is_some();
        self.out.ir.module.functions.extend(settle);
        let mut entry = match (self.facts.suspends, self.facts.spec.across) {
            (true, _) => self.resume(settles),
            (false, true) => self.run_rows(),
            (false, false) => self.run_blocks(),
        };
        if self.facts.flushes {
            entry = self.flushing(entry);
        }
        self.out.ir.module.functions.push(entry);
        let processor = Processor {
            cpu: target.cpu,
            features: &target.features,
            vector_bits: if target.avx512 { 512 } else { 256 },
            flushes: self.facts.flushes,
        };
        let text = self.out.ir.module.print(&processor);
        let sweep = sweeps.then(|| self.sweep());
        (text, sweep)
    }

    /// The function of one warp: the emitted blocks and what they need at entry.
    fn warp_function(&mut self) -> Function {
        let code = take(&mut self.out.ir.body.blocks);
        let parameter = |operand: Operand, name| Parameter::new(operand.ty(), name);
        let (name, parameters) = if self.facts.suspends {
            let parameters = vec![
                Parameter::alone(Name::of("warp")),
                Parameter::alone(Name::of("frame")),
                parameter(AT, Name::of("at")),
                Parameter::alone(Name::of("block")),
                parameter(INDEX, Name::of("index")),
                parameter(names::lanes(self.width()), Name::of("lanes")),
            ];
            (BODY, parameters)
        } else {
            let parameters = vec![
                Parameter::alone(Name::of("warp")),
                Parameter::alone(Name::of("block")),
                parameter(INDEX, Name::of("index")),
                parameter(names::lanes(self.width()), Name::of("lanes")),
            ];
            (names::ONE_WARP, parameters)
        };
        self.out.ir.label(Name::of("entry"));
        self.entry();
        let mut blocks = take(&mut self.out.ir.body.blocks);
        blocks.extend(code);
        self.out.ir.label(DONE);
        self.out.ir.ret(Operand::i32(Stop::Done as i64));
        self.out.ir.label(FAULT);
        self.out.ir.ret(Operand::i32(Stop::Fault as i64));
        blocks.extend(take(&mut self.out.ir.body.blocks));
        Function {
            name,
            returns: Signature::One(Type::I32),
            parameters,
            attributes: INLINED,
            scope: Some(Scope::Warp),
            blocks,
        }
    }

    /// Emits the entry block of a warp's function.
    fn entry(&mut self) {
        for (word, at) in [
            ("params", offset::PARAMS),
            ("shared", offset::SHARED),
            ("image", offset::IMAGE),
            ("local", offset::LOCAL),
        ] {
            self.name_field(Name::of(word), BLOCK, at, Type::I64, UNCHANGING);
        }
        if self.facts.local_size.is_none() {
            self.local_sizes();
        }
        let slots = take(&mut self.out.slots);
        self.out.ir.splice(slots);
        self.declare_live();
        let clear = self.out.begin.remove(&None).unwrap_or_default();
        self.out.ir.splice(clear);
        if self.facts.suspends {
            let cases = (1..=self.out.resumes).map(|i| (i as i64, names::resume(i))).collect();
            self.out.ir.switch(AT, START, cases);
            self.out.ir.label(START);
        }
        let start = take(&mut self.out.start);
        self.out.ir.splice(start);
        if !self.per_lane() && self.facts.uniformity.masked[0] {
            let width = self.width();
            let lanes = if self.keeps_words() { names::lanes(width) } else { lanes_mask(width) };
            self.set_slot(names::coming(0), lanes);
        }
        self.out.ir.br(if self.dispatches() { names::CLEAR } else { names::place(0) });
    }

    /// Loads a context field under the name by which the code refers to it.
    fn name_field(&mut self, name: Name, base: Operand, at: usize, ty: Type, access: Access) {
        let p = self.out.ir.offset(base, at);
        self.out.ir.named(name, Op::Load(ty, p, access));
    }

    /// Local memory per thread if the launch decides its size, and each lane's offset from the first lane's.
    fn local_sizes(&mut self) {
        self.name_field(Name::of("local.size"), BLOCK, offset::LOCAL_STRIDE, Type::I64, UNCHANGING);
        let all = self.out.ir.splat(names::LOCAL_SIZE);
        let numbers = self.out.ir.lanes(Ty::I64, |l| l as i64);
        self.out.ir.named(Name::of("local.steps"), Op::Bin(Bin::Mul, all, numbers));
    }

    /// Declares the slot of the lanes that have not ended.
    fn declare_live(&mut self) {
        let width = self.width();
        let ty = self.slot_type(width.mask());
        let (slot, at) = Builder::alloca(LIVE, ty, 1, 64);
        self.out.ir.splice(vec![slot]);
        let lanes = if ty.is_mask() {
            let cast = Op::Cast(Cast::Bitcast, names::lanes(width), width.mask());
            self.out.ir.named(Name::of("lanes.mask"), cast);
            lanes_mask(width)
        } else {
            names::lanes(width)
        };
        self.out.ir.store(lanes, at);
    }

    /// The entry point of a kernel with stops: resumes one warp. If it `settles`, a stop may be known by its
    /// number alone.
    fn resume(&mut self, settles: bool) -> Function {
        let outer = self.out.ir.begin();
        let p = self.out.ir.offset(WARP, offset::W_RESUME);
        let at = self.out.ir.load(Type::I32, p);
        let block = self.field(WARP, offset::W_BLOCK, Type::PTR);
        let index = self.field(WARP, offset::W_INDEX, Type::I32);
        let lanes = self.field(WARP, offset::W_LANES, self.width().bits());
        let arguments = [WARP, FRAME, at, block, index, lanes].map(Argument::from);
        let code = self.out.ir.call_at(
            Place::In(Scope::Blocks),
            Callee::Function(BODY),
            Type::I32,
            arguments,
            false,
        );
        if settles {
            let [arrived, other] = ["arrived", "other"].map(Name::of);
            let known = self.out.ir.icmp_int(Cmp::Uge, code, ARRIVED);
            self.out.ir.br_if(known, arrived, other);
            self.out.ir.label(arrived);
            let number = self.out.ir.bin_int(Bin::Sub, code, ARRIVED);
            let arguments = [WARP, FRAME, number].map(Argument::from);
            self.out.ir.call_at(
                Place::In(Scope::Blocks),
                Callee::Function(SETTLE),
                Type::Void,
                arguments,
                false,
            );
            self.out.ir.ret(Operand::i32(Stop::Barrier as i64));
            self.out.ir.label(other);
        }
        self.out.ir.ret(code);
        Function {
            name: Name::of(RESUME),
            returns: Signature::One(Type::I32),
            parameters: vec![Parameter::alone(Name::of("warp")), Parameter::alone(Name::of("frame"))],
            attributes: Attributes::default(),
            scope: Some(Scope::Blocks),
            blocks: self.out.ir.end(outer),
        }
    }

    /// Wraps an entry point in a function that makes the processor flush subnormals. Adds the entry point to
    /// the module.
    pub fn flushing(&mut self, mut entry: Function) -> Function {
        let inner = Name { word: entry.name.word, number: Some(0) };
        let outside = entry.name;
        entry.name = inner;
        entry.attributes.internal = true;
        let words = [("mxcsr.flush", true), ("mxcsr.plain", false)]
            .map(|(name, flushes)| self.out.ir.global(control_word(name, 0, flushes)));
        let Signature::One(returns) = entry.returns else { return entry };
        let parameters: Vec<Parameter> = entry
            .parameters
            .iter()
            .enumerate()
            .map(|(i, p)| Parameter::new(p.ty, Name::numbered("a", i)))
            .collect();
        let outer = self.out.ir.begin();
        self.out.ir.act("llvm.x86.sse.ldmxcsr", [None; 2], Type::Void, &[words[0]]);
        let arguments: Vec<Argument> =
            parameters.iter().map(|p| Operand::local(p.ty, p.name).into()).collect();
        let result = self.out.ir.call_at(Place::None, Callee::Function(inner), returns, arguments, true);
        self.out.ir.act("llvm.x86.sse.ldmxcsr", [None; 2], Type::Void, &[words[1]]);
        self.out.ir.ret(result);
        let blocks = self.out.ir.end(outer);
        self.out.ir.module.functions.push(entry);
        Function {
            name: outside,
            returns: Signature::One(returns),
            parameters,
            attributes: Attributes::default(),
            scope: None,
            blocks,
        }
    }

    /// The function that reports a misaligned address.
    fn misaligned(&mut self) -> Function {
        let names = ["warp", "block", "address", "size", "write", "line"].map(Name::of);
        let types = [Type::PTR, Type::PTR, Type::I64, Type::I32, Type::I1, Type::I32];
        let [warp, block, address, size, write, line]: [Operand; 6] =
            std::array::from_fn(|i| Operand::local(types[i], names[i]));
        let outer = self.out.ir.begin();
        let p = self.out.ir.offset(warp, offset::W_LINE);
        self.out.ir.store(line, p);
        let runtime = self.field(block, offset::RUNTIME, Type::PTR);
        let report = self.field(runtime, offset::BAD_ACCESS, Type::PTR);
        let flag = |value| Argument { value, note: Note::ZeroExt };
        let no_lanes = Operand::int(Type::I64, 0).into();
        let arguments =
            [warp.into(), address.into(), size.into(), flag(write), flag(Operand::TRUE), no_lanes];
        self.out.ir.call(Callee::Pointer(report), Type::Void, arguments);
        self.out.ir.ret_void();
        Function {
            name: names::MISALIGNED,
            returns: Signature::One(Type::Void),
            parameters: names.iter().zip(types).map(|(name, ty)| Parameter::new(ty, *name)).collect(),
            attributes: Attributes { internal: true, cold: true, no_inline: true, ..Attributes::default() },
            scope: None,
            blocks: self.out.ir.end(outer),
        }
    }

    /// The entry point of a kernel without stops: the loop over blocks. `body` runs the next ones, goes to
    /// [`ADVANCE`], and returns how many of a row of the grid it has run.
    fn over_blocks(&mut self, body: impl FnOnce(&mut Builder, &BlockLoop) -> Operand) -> Function {
        let [entry, blocks, end] = ["entry", "blocks", "end"].map(Name::of);
        let count = Operand::local(Type::I64, Name::of("count"));
        let outer = self.out.ir.begin();
        let ir = &mut self.out.ir;
        ir.label(entry);
        let (slot, warp) = Builder::alloca(Name::of("warp"), Type::I8, offset::WARP_SIZE, 64);
        ir.splice(vec![slot]);
        let block = ir.offset(warp, offset::W_BLOCK);
        ir.store(BLOCK, block);
        let index = ir.offset(warp, offset::W_INDEX);
        ir.br(blocks);
        ir.label(blocks);
        let left_next = Name::of("left.next");
        let left = ir.phi(Type::I64, vec![(count, entry), (Operand::local(Type::I64, left_next), ADVANCE)]);
        let empty = ir.icmp_int(Cmp::Eq, left, 0);
        ir.br_if(empty, end, BEFORE);
        ir.label(end);
        ir.ret(Operand::i32(Stop::Done as i64));
        ir.label(FAILED);
        ir.ret(Operand::i32(Stop::Fault as i64));
        ir.label(BEFORE);
        let ran = body(ir, &BlockLoop { warp, index, left });
        ir.label(ADVANCE);
        ir.named(left_next, Op::Bin(Bin::Sub, left, ran));
        let ran = match ran.as_int() {
            Some(number) => Operand::i32(number),
            None => ir.cast(Cast::Trunc, ran, Type::I32),
        };
        next_block(ir, BLOCK, ran);
        ir.br(blocks);
        Function {
            name: Name::of(RUN_BLOCKS),
            returns: Signature::One(Type::I32),
            parameters: vec![
                Parameter::alone(Name::of("block")),
                Parameter::new(Type::I64, Name::of("count")),
            ],
            attributes: Attributes::default(),
            scope: Some(Scope::Blocks),
            blocks: self.out.ir.end(outer),
        }
    }

    /// The loops over blocks and over the warps of each.
    fn run_blocks(&mut self) -> Function {
        let threads = self.facts.spec.threads();
        let width = self.width();
        let threads =
            if self.facts.spec.whole { threads.next_multiple_of(self.warp() as u32) } else { threads };
        let (full, rest) = (threads / width.lanes() as u32, threads % width.lanes() as u32);
        // The index of a warp in a block, by the number of those that run together.
        let warps_each = (width.lanes() / self.warp()) as i64;
        self.over_blocks(|ir, blocks| {
            let tail = Name::of("tail");
            if full > 0 {
                let all = Operand::int(width.bits(), -1);
                blocks.over_warps(ir, [BEFORE, tail], ["warps", "w"], i64::from(full), warps_each, all);
            } else {
                ir.br(tail);
            }
            ir.label(tail);
            if rest > 0 {
                // Hides the mask's value from LLVM: with a constant mask, instcombine may not terminate on
                // sums.
                let callee =
                    Callee::Assembly { text: "".into(), constraints: "=r,0".into(), side_effect: false };
                let lanes = Operand::int(width.bits(), (1i64 << rest) - 1);
                let lanes = ir.call(callee, width.bits(), [lanes.into()]);
                blocks.run(ir, Operand::i32(i64::from(full) * warps_each), lanes, ADVANCE);
            } else {
                ir.br(ADVANCE);
            }
            Operand::i64(1)
        })
    }

    /// The loops over groups of blocks side by side and over the warps of a block, where each warp runs as
    /// one with the same warp of the group's other blocks.
    fn run_rows(&mut self) -> Function {
        let width = self.width();
        let lanes_each = self.warp() as i64;
        let together = width.lanes() as i64 / lanes_each;
        let warps = i64::from(self.facts.spec.threads().div_ceil(self.warp() as u32));
        self.over_blocks(|ir, blocks| {
            let [full, part] = ["full", "part"].map(Name::of);
            // No more blocks than are left of the grid's row and of those to run.
            let x = ir.offset(BLOCK, offset::CTAID);
            let x = ir.load(Type::I32, x);
            let size = ir.offset(BLOCK, offset::NCTAID);
            let size = ir.load_as(Type::I32, size, UNCHANGING);
            let row = ir.bin(Bin::Sub, size, x);
            let row = ir.cast(Cast::ZExt, row, Type::I64);
            let least = |ir: &mut Builder, a: Operand, b: Operand| {
                let less = ir.icmp(Cmp::Ult, a, b);
                ir.select(less, a, b)
            };
            let here = least(ir, blocks.left, row);
            let here = least(ir, here, Operand::i64(together));
            let whole = ir.icmp_int(Cmp::Eq, here, together);
            ir.br_if(whole, full, part);
            ir.label(full);
            let all = Operand::int(width.bits(), -1);
            blocks.over_warps(ir, [full, ADVANCE], ["full.warps", "full.w"], warps, 1, all);
            ir.label(part);
            let lanes = ir.bin_int(Bin::Mul, here, lanes_each);
            let gone = ir.bin(Bin::Sub, Operand::i64(width.lanes() as i64), lanes);
            let gone = ir.cast(Cast::ZExt, gone, width.bits());
            let lanes = ir.bin(Bin::LShr, all, gone);
            blocks.over_warps(ir, [part, ADVANCE], ["part.warps", "part.w"], warps, 1, lanes);
            here
        })
    }
}

/// Where [`Kernel::over_blocks`] begins to run blocks, goes on after them, and ends after a fault.
const BEFORE: Name = Name::of("warps.pre");
const ADVANCE: Name = Name::of("advance");
const FAILED: Name = Name::of("failed");

/// What the body of the loop over blocks uses.
struct BlockLoop {
    /// The warp's context.
    warp: Operand,
    /// The address of the warp's index in it.
    index: Operand,
    /// The number of blocks that are left to run.
    left: Operand,
}

impl BlockLoop {
    /// Runs a warp with these lanes, then goes to `on`.
    fn run(&self, ir: &mut Builder, number: Operand, lanes: Operand, on: Name) {
        ir.store(number, self.index);
        let arguments = [self.warp, BLOCK, number, lanes].map(Argument::from);
        let callee = Callee::Function(names::ONE_WARP);
        let code = ir.call_at(Place::In(Scope::Blocks), callee, Type::I32, arguments, false);
        let bad = ir.icmp_int(Cmp::Ne, code, 0);
        ir.br_if(bad, FAILED, on);
    }

    /// A loop over `count` warps with these lanes, between two labels: their indices are multiples of `each`.
    /// `words` name its label and its counter.
    fn over_warps(
        &self,
        ir: &mut Builder,
        [from, to]: [Name; 2],
        words: [&'static str; 2],
        count: i64,
        each: i64,
        lanes: Operand,
    ) {
        let [warps, following] = words.map(Name::of);
        let next = Name { word: words[0], number: Some(1) };
        ir.br(warps);
        ir.label(warps);
        let again = Operand::local(Type::I32, following);
        let w = ir.phi(Type::I32, vec![(Operand::i32(0), from), (again, next)]);
        let first = if each == 1 { w } else { ir.bin_int(Bin::Mul, w, each) };
        self.run(ir, first, lanes, next);
        ir.label(next);
        let following = ir.named(following, Op::Bin(Bin::Add, w, Operand::i32(1)));
        let more = ir.icmp_int(Cmp::Ult, following, count);
        ir.br_if(more, warps, to);
    }
}

/// Advances by a number of blocks, at most to the end of a row: the axes are the digits of a number, x the
/// lowest.
pub(super) fn next_block(ir: &mut Builder, block: Operand, by: Operand) {
    let mut carry = by;
    for axis in [0, 1] {
        let place = ir.offset(block, offset::axis(offset::CTAID, axis));
        let size = ir.offset(block, offset::axis(offset::NCTAID, axis));
        let size = ir.load_as(Type::I32, size, UNCHANGING);
        let at = ir.load(Type::I32, place);
        let at = ir.bin(Bin::Add, at, carry);
        let over = ir.icmp(Cmp::Eq, at, size);
        let at = ir.select(over, Operand::i32(0), at);
        ir.store(at, place);
        carry = ir.cast(Cast::ZExt, over, Type::I32);
    }
    let place = ir.offset(block, offset::axis(offset::CTAID, 2));
    let z = ir.load(Type::I32, place);
    let z = ir.bin(Bin::Add, z, carry);
    ir.store(z, place);
}

/// The mask of the lanes that the warp has.
const fn lanes_mask(width: Width) -> Operand {
    Operand::local(width.mask(), Name::of("lanes.mask"))
}
