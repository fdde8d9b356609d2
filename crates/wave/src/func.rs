//! A function: blocks of instructions in SSA form, with block parameters instead of phis.

use smallvec::SmallVec;

use crate::module::KernelInfo;
use crate::op::{IntOp, Op};
use crate::types::{Ty, Width};

/// An SSA value, numbered within its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// A basic block, numbered within its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u32);

impl Value {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Block {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The source position of an instruction. All zero if it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Loc {
    /// Line in the module's text (PTX), or the code offset (AMD); from 1.
    pub line: u32,
    /// Source file by `.loc`, index into [`crate::Module::files`] plus 1.
    pub file: u32,
    /// Line in that file, from 1.
    pub source_line: u32,
}

/// A function of the module; the entry is block 0, whose parameters are the function's.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// The function's name.
    pub name: String,
    /// Present for kernels. A kernel's entry block has no parameters; the code loads them from
    /// [`crate::op::Space::Param`].
    pub kernel: Option<KernelInfo>,
    /// The number of lanes that its operations between lanes see.
    pub width: Width,
    /// Types of the returned values.
    pub results: Vec<Ty>,
    /// Blocks, by [`Block`].
    pub blocks: Vec<BlockData>,
    /// Types of the values, by [`Value`].
    pub values: Vec<Ty>,
    /// By value: a number for the register of the source that it is a value of; 0 or no number if that is not
    /// known. Only a hint to which values may share memory: nothing that a function computes depends on it.
    pub registers: Vec<u32>,
    /// Stack slots: per-lane local memory of one call of the function.
    pub slots: Vec<Slot>,
    /// Whether it is only a declaration, whose body must be found by linking.
    pub external: bool,
}

/// A piece of per-lane local memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// For messages.
    pub name: String,
    /// Bytes.
    pub size: u32,
    /// Alignment, bytes.
    pub align: u32,
}

/// A basic block.
#[derive(Clone, Debug)]
pub struct BlockData {
    /// Values passed by the predecessors.
    pub params: Vec<Value>,
    /// Straight-line code.
    pub insts: Vec<Inst>,
    /// How it ends.
    pub term: Terminator,
    /// Source position of the terminator.
    pub term_loc: Loc,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// Operands.
    pub args: SmallVec<[Value; 4]>,
    /// Results.
    pub results: SmallVec<[Value; 2]>,
    /// Source position.
    pub loc: Loc,
}

impl Inst {
    /// The guard of a memory access, if it has one, and the values that lanes get whose guard is false (none:
    /// zeros).
    pub fn guard(&self) -> Option<(Value, &[Value])> {
        let count = self.op.guard().operands(self.results.len());
        let (guard, fallbacks) = self.args.get(self.args.len().checked_sub(count)?..)?.split_first()?;
        Some((*guard, fallbacks))
    }

    /// The same access by all lanes.
    #[must_use]
    pub fn unguarded(&self) -> Inst {
        let count = self.op.guard().operands(self.results.len());
        let mut inst = Inst { op: self.op.clone().unguarded(), ..self.clone() };
        inst.args.truncate(self.args.len().saturating_sub(count));
        inst
    }
}

/// A jump's target, with the arguments for its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCall {
    /// Target.
    pub block: Block,
    /// One value for each of its parameters.
    pub args: Vec<Value>,
}

impl BlockCall {
    /// A target without parameters.
    pub fn to(block: Block) -> Self {
        BlockCall { block, args: Vec::new() }
    }
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    /// Unconditional.
    Jump(BlockCall),
    /// On an i1.
    Branch {
        /// The condition.
        cond: Value,
        /// The target if it is true.
        then: BlockCall,
        /// The target if it is false.
        els: BlockCall,
    },
    /// On an i32; an index beyond the list selects the last target.
    Switch {
        /// The index.
        index: Value,
        /// The targets, at least one.
        targets: Vec<BlockCall>,
    },
    /// Returns from a device function; in a kernel the same as `Exit`.
    Return(Vec<Value>),
    /// The lane ends.
    Exit,
    /// The launch fails.
    Trap,
}

impl Terminator {
    /// The block calls in order.
    pub fn targets(&self) -> impl Iterator<Item = &BlockCall> {
        let v: SmallVec<[&BlockCall; 2]> = match self {
            Terminator::Jump(t) => SmallVec::from_slice(&[t]),
            Terminator::Branch { then, els, .. } => SmallVec::from_slice(&[then, els]),
            Terminator::Switch { targets, .. } => targets.iter().collect(),
            _ => SmallVec::new(),
        };
        v.into_iter()
    }

    /// Mutable references to the block calls in order.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut BlockCall> {
        let v: SmallVec<[&mut BlockCall; 2]> = match self {
            Terminator::Jump(t) => {
                let mut v = SmallVec::new();
                v.push(t);
                v
            }
            Terminator::Branch { then, els, .. } => {
                let mut v = SmallVec::new();
                v.push(then);
                v.push(els);
                v
            }
            Terminator::Switch { targets, .. } => targets.iter_mut().collect(),
            _ => SmallVec::new(),
        };
        v.into_iter()
    }

    /// The value that selects the target.
    pub fn condition(&self) -> Option<Value> {
        match self {
            Terminator::Branch { cond, .. } => Some(*cond),
            Terminator::Switch { index, .. } => Some(*index),
            _ => None,
        }
    }

    /// Mutable references to every value it uses.
    pub fn uses_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let mut v: SmallVec<[&mut Value; 4]> = SmallVec::new();
        match self {
            Terminator::Jump(t) => v.extend(&mut t.args),
            Terminator::Branch { cond, then, els } => {
                v.push(cond);
                v.extend(then.args.iter_mut().chain(&mut els.args));
            }
            Terminator::Switch { index, targets } => {
                v.push(index);
                v.extend(targets.iter_mut().flat_map(|t| &mut t.args));
            }
            Terminator::Return(values) => v.extend(values),
            Terminator::Exit | Terminator::Trap => {}
        }
        v.into_iter()
    }

    /// Every value it uses: the condition, the returned values, the targets' arguments.
    pub fn uses(&self) -> Vec<Value> {
        let mut v: Vec<Value> = self.condition().into_iter().collect();
        if let Terminator::Return(r) = self {
            v.extend(r);
        }
        for t in self.targets() {
            v.extend(&t.args);
        }
        v
    }
}

impl Function {
    /// The function's parameter types: those of the entry block's parameters.
    pub fn params(&self) -> Vec<Ty> {
        self.blocks.first().map(|b| b.params.iter().map(|&v| self.ty(v)).collect()).unwrap_or_default()
    }

    /// A value's type.
    pub fn ty(&self, v: Value) -> Ty {
        self.values[v.index()]
    }

    /// A block.
    pub fn block(&self, b: Block) -> &BlockData {
        &self.blocks[b.index()]
    }

    /// A mutable reference to a block.
    pub fn block_mut(&mut self, b: Block) -> &mut BlockData {
        &mut self.blocks[b.index()]
    }

    /// All block numbers.
    pub fn block_ids(&self) -> impl Iterator<Item = Block> + use<> {
        (0..self.blocks.len() as u32).map(Block)
    }

    /// Successors of `b`, with repetition.
    pub fn successors(&self, b: Block) -> Vec<Block> {
        self.block(b).term.targets().map(|t| t.block).collect()
    }

    /// A new value of type `ty`, not yet defined.
    pub fn new_value(&mut self, ty: Ty) -> Value {
        self.values.push(ty);
        Value(self.values.len() as u32 - 1)
    }

    /// The number of the register that a value belongs to, if it is known.
    pub fn register(&self, v: Value) -> Option<u32> {
        self.registers.get(v.index()).copied().filter(|number| *number != 0)
    }

    /// Records the register that a value belongs to.
    pub fn set_register(&mut self, v: Value, number: u32) {
        if self.registers.len() <= v.index() {
            self.registers.resize(v.index() + 1, 0);
        }
        self.registers[v.index()] = number;
    }

    /// A new block, empty but for a trap.
    pub fn new_block(&mut self) -> Block {
        self.blocks.push(BlockData {
            params: vec![],
            insts: vec![],
            term: Terminator::Trap,
            term_loc: Loc::default(),
        });
        Block(self.blocks.len() as u32 - 1)
    }

    /// A new parameter of `b`.
    pub fn new_param(&mut self, b: Block, ty: Ty) -> Value {
        let v = self.new_value(ty);
        self.block_mut(b).params.push(v);
        v
    }
}

/// Appends instructions to a block of a function.
#[derive(Debug)]
pub struct Builder<'f> {
    /// The function.
    pub func: &'f mut Function,
    /// The block that instructions are appended to.
    pub block: Block,
    /// Source position for new instructions.
    pub loc: Loc,
}

impl<'f> Builder<'f> {
    /// Creates a builder that appends to `block`.
    pub fn new(func: &'f mut Function, block: Block) -> Self {
        Builder { func, block, loc: Loc::default() }
    }

    /// Appends an operation other than a call and returns its results in order. Types come from
    /// [`Op::signature`].
    ///
    /// # Panics
    /// On [`Op::Call`]; use `Builder::call`.
    pub fn emit(&mut self, op: Op, args: &[Value]) -> SmallVec<[Value; 2]> {
        let sig = op.signature(self.func.width).expect("calls go through Builder::call");
        self.emit_typed(op, args, &sig.results)
    }

    /// Appends an operation with one result.
    pub fn emit1(&mut self, op: Op, args: &[Value]) -> Value {
        self.emit(op, args)[0]
    }

    /// Appends a call with these result types.
    pub fn emit_typed(&mut self, op: Op, args: &[Value], results: &[Ty]) -> SmallVec<[Value; 2]> {
        let results: SmallVec<[Value; 2]> = results.iter().map(|&t| self.func.new_value(t)).collect();
        let loc = self.loc;
        self.func.block_mut(self.block).insts.push(Inst {
            op,
            args: SmallVec::from_slice(args),
            results: results.clone(),
            loc,
        });
        results
    }

    /// A constant.
    pub fn iconst(&mut self, ty: Ty, bits: u128) -> Value {
        self.emit1(Op::Const { ty, bits: bits & ty.mask() }, &[])
    }

    /// An integer operation.
    pub fn int(&mut self, op: IntOp, a: Value, b: Value) -> Value {
        let ty = self.func.ty(a);
        self.emit1(Op::Int(op, ty), &[a, b])
    }

    /// Ends the block.
    pub fn terminate(&mut self, term: Terminator) {
        let loc = self.loc;
        let b = self.func.block_mut(self.block);
        b.term = term;
        b.term_loc = loc;
    }
}
