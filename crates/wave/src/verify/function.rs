//! The rules for one function.

use super::Problem;
use crate::dominance::Dominators;
use crate::func::{Block, BlockCall, Function, Inst, Loc, Terminator, Value};
use crate::module::Module;
use crate::op::{AtomOp, AtomTy, Guard, Op, Signature, Space};
use crate::types::{Ty, Width};

/// The definition of a value.
#[derive(Clone, Copy)]
struct Definition {
    block: Block,
    /// Index of the instruction plus 1; 0 for parameters.
    after: usize,
}

struct Checker<'a> {
    module: &'a Module,
    func: &'a Function,
    problems: &'a mut Vec<Problem>,
    defs: Vec<Option<Definition>>,
    /// The position that is being checked.
    block: Option<Block>,
    inst: Option<usize>,
    loc: Loc,
}

/// Checks `func` and appends the problems.
pub fn check(module: &Module, func: &Function, problems: &mut Vec<Problem>) {
    let defs = vec![None; func.values.len()];
    let mut c = Checker { module, func, problems, defs, block: None, inst: None, loc: Loc::default() };
    c.head();
    if func.blocks.is_empty() {
        return;
    }
    c.definitions();
    // Targets first, because dominance follows them.
    if c.targets() {
        c.bodies();
    }
}

impl Checker<'_> {
    fn say(&mut self, message: String) {
        self.problems.push(Problem {
            function: Some(self.func.name.clone()),
            block: self.block,
            inst: self.inst,
            loc: self.loc,
            message,
        });
    }

    fn at(&mut self, block: Block, inst: usize, loc: Loc) {
        (self.block, self.inst, self.loc) = (Some(block), Some(inst), loc);
    }

    fn head(&mut self) {
        let func = self.func;
        if func.external != func.blocks.is_empty() {
            self.say(if func.external { "is external and has a body" } else { "has no body" }.to_owned());
        }
        if let Some(info) = &func.kernel {
            if !func.params().is_empty() || !func.results.is_empty() {
                self.say("a kernel has neither parameters nor results".to_owned());
            }
            for p in &info.params {
                if p.offset.checked_add(p.size).is_none_or(|end| end > info.param_size) {
                    self.say(format!("a parameter at {} ends outside of the buffer", p.offset));
                }
            }
            for fill in &info.fills {
                if fill.size > 8 || fill.offset.checked_add(fill.size).is_none_or(|end| end > info.param_size)
                {
                    self.say(format!(
                        "the launch writes {} bytes at {}, outside of the buffer",
                        fill.size, fill.offset
                    ));
                }
            }
            for (id, _) in &info.shared {
                if id.index() >= self.module.shared.len() {
                    self.say(format!("uses {id:?}, which is not there"));
                }
            }
        }
        for (n, slot) in func.slots.iter().enumerate() {
            if !slot.align.is_power_of_two() {
                self.say(format!("slot{n} has an alignment of {}", slot.align));
            }
        }
    }

    fn define(&mut self, v: Value, block: Block, after: usize) {
        match self.defs.get_mut(v.index()) {
            None => {
                self.say(format!("{v} is defined, but the function has {} values", self.func.values.len()))
            }
            Some(Some(_)) => self.say(format!("{v} is defined a second time")),
            Some(place) => *place = Some(Definition { block, after }),
        }
    }

    fn definitions(&mut self) {
        let func = self.func;
        for (id, block) in func.block_ids().zip(&func.blocks) {
            self.block = Some(id);
            for &v in &block.params {
                (self.inst, self.loc) = (None, Loc::default());
                self.define(v, id, 0);
            }
            for (n, inst) in block.insts.iter().enumerate() {
                self.at(id, n, inst.loc);
                for &v in &inst.results {
                    self.define(v, id, n + 1);
                }
            }
        }
    }

    /// Whether all targets exist.
    fn targets(&mut self) -> bool {
        let func = self.func;
        let before = self.problems.len();
        for (id, block) in func.block_ids().zip(&func.blocks) {
            self.at(id, block.insts.len(), block.term_loc);
            for t in block.term.targets() {
                if t.block.index() >= func.blocks.len() {
                    self.say(format!("{} is not there", t.block));
                } else if t.block == Block(0) {
                    self.say("the entry cannot be jumped to".to_owned());
                }
            }
        }
        self.problems.len() == before
    }

    fn bodies(&mut self) {
        let func = self.func;
        let dominators = Dominators::of(func);
        for (id, block) in func.block_ids().zip(&func.blocks) {
            for (n, inst) in block.insts.iter().enumerate() {
                self.at(id, n, inst.loc);
                for &v in &inst.args {
                    self.used(&dominators, v, id, n);
                }
                self.instruction(inst);
            }
            let last = block.insts.len();
            self.at(id, last, block.term_loc);
            for v in block.term.uses() {
                self.used(&dominators, v, id, last);
            }
            self.terminator(&block.term);
        }
    }

    /// Checks a use of `v` by instruction `n` of `block`.
    fn used(&mut self, dominators: &Dominators, v: Value, block: Block, n: usize) {
        match self.defs.get(v.index()).copied().flatten() {
            None => self.say(format!("{v} is used and defined nowhere")),
            // Unreachable code may use anything.
            Some(_) if !dominators.reached(block) => {}
            Some(d) if d.block == block && d.after > n => {
                self.say(format!("{v} is used before it is defined, in the same block"));
            }
            Some(d) if !dominators.dominates(d.block, block) => {
                self.say(format!("{v} is defined in {}, which not every way here goes through", d.block));
            }
            Some(_) => {}
        }
    }

    fn ty(&self, v: Value) -> Option<Ty> {
        self.func.values.get(v.index()).copied()
    }

    /// Checks values against the types that they must have.
    fn types(&mut self, what: &str, values: &[Value], wanted: &[Ty]) {
        if values.len() != wanted.len() {
            return self.say(format!("{} {what}s, {} expected", values.len(), wanted.len()));
        }
        for (n, (&v, &want)) in values.iter().zip(wanted).enumerate() {
            // Values that do not exist have been reported.
            if let Some(ty) = self.ty(v).filter(|ty| *ty != want) {
                self.say(format!("{what} {n} is {v}: {ty}, {want} expected"));
            }
        }
    }

    fn instruction(&mut self, inst: &Inst) {
        let signature = match inst.op {
            Op::Call(id) => match self.module.functions.get(id.index()) {
                None => return self.say(format!("{id:?} is called and not there")),
                Some(f) if f.kernel.is_some() => {
                    return self.say(format!("kernel `{}` is called", f.name));
                }
                Some(f) if f.width != self.func.width => {
                    let (own, other) = (self.func.width.lanes(), f.width.lanes());
                    return self
                        .say(format!("`{}` has warps of {other} lanes and is called from {own}", f.name));
                }
                Some(f) if f.external => return self.external_call(inst, f),
                Some(f) => Some(Signature { args: f.params(), results: f.results.clone() }),
            },
            _ => inst.op.signature(self.func.width),
        };
        if let Some(Signature { args, results }) = signature {
            self.types("operand", &inst.args, &args);
            self.types("result", &inst.results, &results);
        }
        if let Some(message) = self.rule(&inst.op) {
            self.say(message);
        }
    }

    /// A function that is only declared has no entry block with its parameters.
    fn external_call(&mut self, inst: &Inst, callee: &Function) {
        let results = callee.results.clone();
        self.types("result", &inst.results, &results);
    }

    /// Requirements of an operation beyond its operands' types.
    fn rule(&self, op: &Op) -> Option<String> {
        let unless = |ok: bool, message: String| (!ok).then_some(message);
        match *op {
            Op::Const { ty, bits } => unless(bits & !ty.mask() == 0, format!("{bits:#x} is no {ty}")),
            Op::Bfe { ty, .. } | Op::Bfi(ty) => {
                unless(matches!(ty, Ty::I32 | Ty::I64), format!("bit fields are i32 or i64, not {ty}"))
            }
            Op::Pack { part, whole } | Op::Unpack { part, whole } => unless(
                part != Ty::I1 && part.bits() < whole.bits(),
                format!("a {whole} has no parts of {part}"),
            ),
            Op::Load { mem, ty, count, .. } | Op::Store { mem, ty, count, .. } => {
                let written = matches!(op, Op::Store { .. });
                if ty == Ty::I1 {
                    Some("a predicate is not in memory".to_owned())
                } else if !matches!(count, 1 | 2 | 4 | 8) || ty.bytes() * u32::from(count) > 32 {
                    Some(format!("{count} elements of {ty} are no access"))
                } else if written && op.guard() == Guard::Else {
                    Some("a store has no result to replace".to_owned())
                } else {
                    unless(
                        !written || !matches!(mem.space, Space::Param | Space::Const),
                        format!("{} memory is not written", mem.space.name()),
                    )
                }
            }
            Op::Atom { op, ty, mem, .. } => {
                if matches!(mem.space, Space::Param | Space::Const | Space::Local) {
                    return Some(format!("{} memory has no atomics", mem.space.name()));
                }
                unless(atomic(op, ty), format!("there is no atomic {} of {}", op.name(), ty.name()))
            }
            Op::GlobalAddr(id, _) => {
                unless(id.index() < self.module.globals.len(), format!("{id:?} is not there"))
            }
            Op::SharedAddr(id, _) => {
                unless(id.index() < self.module.shared.len(), format!("{id:?} is not there"))
            }
            Op::FuncAddr(id) => {
                unless(id.index() < self.module.functions.len(), format!("{id:?} is not there"))
            }
            Op::LocalAddr(slot) => {
                unless((slot as usize) < self.func.slots.len(), format!("slot{slot} is not there"))
            }
            Op::CallIndirect { .. } => {
                let callees = self.module.functions.iter().filter(|f| f.kernel.is_none());
                let other = callees.clone().find(|f| f.width != self.func.width);
                other.map(|f| format!("`{}`, which may be called, has warps of another size", f.name))
            }
            Op::Matrix(_) => unless(
                self.func.width == Width::W32,
                "matrix instructions need a warp of 32 lanes".to_owned(),
            ),
            _ => None,
        }
    }

    fn call(&mut self, to: &BlockCall) {
        let params = &self.func.block(to.block).params;
        let wanted: Vec<Ty> = params.iter().filter_map(|&p| self.ty(p)).collect();
        if wanted.len() == params.len() {
            self.types(&format!("{} argument", to.block), &to.args, &wanted);
        }
    }

    fn terminator(&mut self, term: &Terminator) {
        for t in term.targets() {
            self.call(t);
        }
        match term {
            Terminator::Branch { cond, .. } => self.types("condition", &[*cond], &[Ty::I1]),
            Terminator::Switch { index, targets } => {
                self.types("index", &[*index], &[Ty::I32]);
                if targets.is_empty() {
                    self.say("a switch needs a target".to_owned());
                }
            }
            Terminator::Return(values) => {
                let results = self.func.results.clone();
                self.types("returned value", values, &results);
            }
            Terminator::Jump(_) | Terminator::Exit | Terminator::Trap => {}
        }
    }
}

/// Whether this atomic operation is defined for this type.
fn atomic(op: AtomOp, ty: AtomTy) -> bool {
    use AtomTy::*;
    let float = matches!(ty, F16 | F16x2 | BF16 | BF16x2 | F32 | F64);
    match op {
        AtomOp::Exch | AtomOp::Cas => !float,
        AtomOp::And | AtomOp::Or | AtomOp::Xor => matches!(ty, B16 | B32 | B64 | U32 | U64 | S32 | S64),
        AtomOp::Inc | AtomOp::Dec => matches!(ty, U32 | U64),
        AtomOp::Add => !matches!(ty, B128),
        AtomOp::Min | AtomOp::Max => !matches!(ty, B16 | B32 | B64 | B128),
    }
}
