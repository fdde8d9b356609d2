//! Lowers one function: its blocks, its variables, and its statements in order.

use std::collections::HashSet;

use ptx::ast::{self, Guard, Instruction, LabelId, LabelKind, Parameter, RegId, StatementKind, VarId};
use ptx::{LineIndex, Opcode, Span};
use wave::func::Slot;
use wave::op::{Guard as Performed, IntCmp, IntOp, MemMode, Op, Space};
use wave::{
    Block, BlockCall, Builder, Function, GlobalId, Inst, KernelInfo, Loc, ParamInfo, SharedId, Terminator,
    Ty, Value,
};

use wave::ssa::Ssa;

use crate::Unit;
use crate::error::{Error, ErrorClass};
use crate::family;
use crate::link::{Linked, ty_of};
use crate::var::Var;

/// An error that has been recorded.
#[derive(Debug)]
pub struct Noted;

/// The result of a lowering step.
pub type Result<T> = std::result::Result<T, Noted>;

/// The location of a function's variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarPlace {
    /// Shared memory.
    Shared(SharedId),
    /// The module image.
    Global(GlobalId, Space),
    /// A stack slot.
    Slot(u32),
    /// The kernel's parameter buffer, at this offset.
    KernelParam(u32),
    /// A scalar `.param` of a device function or a call: an SSA variable of this type.
    Scalar(Ty),
    /// A scalar `.param` whose address is taken: a stack slot that holds a value of this type.
    Kept(u32, Ty),
    /// A `.param` array in a device function's head: the SSA variable holds its generic address.
    Pointer,
}

/// The state of lowering one function.
pub struct Lower<'a> {
    pub linked: &'a Linked,
    pub unit: usize,
    pub module: &'a ast::Module,
    pub function: &'a ast::Function,
    lines: &'a LineIndex,
    pub out: Function,
    block: Block,
    loc: Loc,
    ssa: Ssa<Var>,
    labels: Vec<Option<Block>>,
    vars: Vec<VarPlace>,
    /// The slot of [`Lower::stack_slot`].
    stack: Option<u32>,
    errors: Vec<Error>,
    /// The guard of a pure instruction that is being lowered: results are selected under it.
    select: Option<Value>,
}

/// Parameter and result types of a device function in wave. Arrays are passed as generic addresses, and
/// returned arrays as a last parameter.
pub fn signature(function: &ast::Function) -> (Vec<Ty>, Vec<Ty>) {
    let mut params: Vec<Ty> =
        function.params.iter().map(|p| parameter_ty(function, *p).unwrap_or(Ty::I64)).collect();
    let mut results = Vec::new();
    for r in &function.returns {
        match parameter_ty(function, *r) {
            Some(ty) => results.push(ty),
            None => params.push(Ty::I64),
        }
    }
    (params, results)
}

/// The type of a scalar parameter; `None` for an array.
pub fn parameter_ty(function: &ast::Function, p: Parameter) -> Option<Ty> {
    match p {
        Parameter::Reg(r) => Some(ty_of(function.regs()[r.index()].ty)),
        Parameter::Var(v) => scalar_ty(&function.vars()[v.index()]),
    }
}

/// The type of a `.param` variable that is a scalar.
pub fn scalar_ty(v: &ast::Variable) -> Option<Ty> {
    (v.dims.is_empty() && v.vector <= 1).then(|| ty_of(v.ty))
}

/// Lowers a function that has a body.
pub fn lower(
    linked: &Linked,
    unit: usize,
    source: &Unit,
    lines: &LineIndex,
    function: &ast::Function,
) -> std::result::Result<Function, Vec<Error>> {
    Lower::new(linked, unit, source, lines, function).lowered(None)
}

/// Tries to lower some of a body's statements, given by their indices in ascending order, and skips the
/// others.
pub fn lower_some(
    linked: &Linked,
    unit: usize,
    source: &Unit,
    lines: &LineIndex,
    function: &ast::Function,
    statements: &[u32],
) -> std::result::Result<Function, Vec<Error>> {
    Lower::new(linked, unit, source, lines, function).lowered(Some(statements))
}

/// A function with a body as a declaration: what callers and launches need to know.
pub fn declaration(function: &ast::Function) -> Function {
    let kernel = function.is_entry.then(|| kernel_info(function));
    let results = if function.is_entry { Vec::new() } else { signature(function).1 };
    Function { name: function.name.clone(), kernel, results, external: true, ..Function::default() }
}

impl<'a> Lower<'a> {
    fn new(
        linked: &'a Linked,
        unit: usize,
        source: &Unit<'a>,
        lines: &'a LineIndex,
        function: &'a ast::Function,
    ) -> Self {
        Lower {
            linked,
            unit,
            module: source.module,
            function,
            lines,
            out: Function { name: function.name.clone(), ..Function::default() },
            block: Block(0),
            loc: Loc::default(),
            ssa: Ssa::default(),
            labels: Vec::new(),
            vars: Vec::new(),
            stack: None,
            errors: Vec::new(),
            select: None,
        }
    }

    fn lowered(mut self, only: Option<&[u32]>) -> std::result::Result<Function, Vec<Error>> {
        self.run(only);
        if self.errors.is_empty() { Ok(self.out) } else { Err(self.errors) }
    }
}

impl Lower<'_> {
    /// Records an error at `span`.
    pub fn fail<T>(&mut self, class: ErrorClass, span: Span, message: impl Into<String>) -> Result<T> {
        self.errors.push(Error { unit: self.unit, class, span, message: message.into() });
        Err(Noted)
    }

    /// Reports a legal instruction that cannot be lowered.
    pub fn unsupported<T>(&mut self, i: &Instruction, what: &str) -> Result<T> {
        let mut name = i.opcode.name().to_string();
        for m in &i.modifiers {
            name += &format!("{m}");
        }
        let detail = if what.is_empty() { String::new() } else { format!(": {what}") };
        self.fail(
            ErrorClass::Unsupported,
            i.span,
            format!("instruction '{name}' is not supported yet{detail}"),
        )
    }

    /// A value's type.
    pub fn ty(&self, v: Value) -> Ty {
        self.out.ty(v)
    }

    /// Appends an operation.
    pub fn op(&mut self, op: Op, args: &[Value]) -> Vec<Value> {
        let mut b = Builder::new(&mut self.out, self.block);
        b.loc = self.loc;
        b.emit(op, args).to_vec()
    }

    /// Appends an operation with one result.
    pub fn op1(&mut self, op: Op, args: &[Value]) -> Value {
        let mut b = Builder::new(&mut self.out, self.block);
        b.loc = self.loc;
        b.emit1(op, args)
    }

    /// Appends a call.
    pub fn op_typed(&mut self, op: Op, args: &[Value], results: &[Ty]) -> Vec<Value> {
        let mut b = Builder::new(&mut self.out, self.block);
        b.loc = self.loc;
        b.emit_typed(op, args, results).to_vec()
    }

    /// A constant.
    pub fn constant(&mut self, ty: Ty, bits: u128) -> Value {
        self.op1(Op::Const { ty, bits: bits & ty.mask() }, &[])
    }

    /// Reads an SSA variable.
    pub fn read(&mut self, var: Var, ty: Ty) -> Value {
        self.ssa.read(&mut self.out, self.block, var, ty)
    }

    /// Writes an SSA variable, under the guard of a pure instruction if there is one.
    pub fn write(&mut self, var: Var, v: Value) {
        let mut v = v;
        if let Some(p) = self.select {
            let ty = self.ty(v);
            let old = self.read(var, ty);
            v = self.op1(Op::Select(ty), &[p, v, old]);
        }
        self.ssa.write(self.block, var, v);
    }

    /// The location of a variable of this function.
    pub fn var_place(&self, v: VarId) -> VarPlace {
        self.vars[v.index()]
    }

    fn new_block(&mut self) -> Block {
        self.out.new_block()
    }

    /// Ends the current block and records its edges.
    fn terminate(&mut self, term: Terminator) {
        let from = self.block;
        for to in term.targets().map(|t| t.block).collect::<Vec<_>>() {
            self.ssa.edge(from, to);
        }
        let mut b = Builder::new(&mut self.out, from);
        b.loc = self.loc;
        b.terminate(term);
    }

    /// Begins a block without predecessors so far, such as the code behind a `ret`.
    fn begin_unreachable(&mut self) {
        self.block = self.new_block();
        self.ssa.seal(self.block);
    }

    /// Lowers all statements, or only those with these indices, which ascend.
    fn run(&mut self, only: Option<&[u32]>) {
        let entry = self.new_block();
        self.ssa.seal(entry);
        self.place_variables();
        self.head();
        let Some(body) = &self.function.body else { return };
        self.labels = vec![None; body.labels.len()];
        for i in 0..body.labels.len() {
            if matches!(body.labels[i].kind, LabelKind::Code) {
                self.labels[i] = Some(self.new_block());
            }
        }
        let mut chosen = only.map(|numbers| numbers.iter().copied().peekable());
        for (n, statement) in body.statements.iter().enumerate() {
            if let Some(chosen) = &mut chosen
                && matches!(statement.kind, StatementKind::Instruction(_))
                && chosen.next_if_eq(&(n as u32)).is_none()
            {
                continue;
            }
            match &statement.kind {
                StatementKind::Label(l) => {
                    if let Some(to) = self.labels[l.index()] {
                        self.terminate(Terminator::Jump(BlockCall::to(to)));
                        self.block = to;
                    }
                }
                StatementKind::Loc(l) => {
                    let file = self.linked.file(self.unit, l.file);
                    self.loc = Loc { file, source_line: l.line, ..self.loc };
                }
                StatementKind::Instruction(i) => {
                    self.loc.line = self.lines.line_column(i.span.start).0;
                    // The error has been recorded; go on to find more.
                    let _ = self.instruction(i);
                }
                _ => {}
            }
        }
        // Falling off the end is a return.
        let _ = self.finish_function();
        for b in self.out.block_ids() {
            self.ssa.seal(b);
        }
        self.ssa.complete(&mut self.out);
    }

    fn place_variables(&mut self) {
        let function = self.function;
        let mut at = 0u32;
        let taken = addresses_taken(function);
        let formal = |v: usize| {
            let id = Parameter::Var(VarId(v as u32));
            function.params.contains(&id) || function.returns.contains(&id)
        };
        for (i, v) in function.vars().iter().enumerate() {
            let place = match v.space {
                ptx::Space::Shared | ptx::Space::SharedCta => {
                    self.linked.shared_of_function(self.unit, v).map_or(VarPlace::Pointer, VarPlace::Shared)
                }
                ptx::Space::Global | ptx::Space::Const => {
                    let space = if v.space == ptx::Space::Const { Space::Const } else { Space::Global };
                    self.linked
                        .global_of_function(self.unit, v)
                        .map_or(VarPlace::Pointer, |g| VarPlace::Global(g, space))
                }
                _ if function.is_entry && formal(i) => {
                    at = at.next_multiple_of(v.alignment());
                    let here = at;
                    at += v.size_bytes() as u32;
                    VarPlace::KernelParam(here)
                }
                ptx::Space::Local => self.new_slot(v),
                _ => match scalar_ty(v) {
                    Some(ty) if taken.contains(&VarId(i as u32)) => match self.new_slot(v) {
                        VarPlace::Slot(slot) => VarPlace::Kept(slot, ty),
                        place => place,
                    },
                    Some(ty) => VarPlace::Scalar(ty),
                    None if formal(i) => VarPlace::Pointer,
                    None => self.new_slot(v),
                },
            };
            self.vars.push(place);
        }
    }

    fn new_slot(&mut self, v: &ast::Variable) -> VarPlace {
        let size = v.size_bytes().min(u64::from(u32::MAX)) as u32;
        self.out.slots.push(Slot { name: v.name.clone(), size, align: v.alignment() });
        VarPlace::Slot(self.out.slots.len() as u32 - 1)
    }

    /// The slot of the stack memory that the function allocates at run time: `size` bytes, aligned to at
    /// least `align`.
    pub fn stack_slot(&mut self, size: u32, align: u32) -> u32 {
        let slots = &mut self.out.slots;
        let slot = *self.stack.get_or_insert_with(|| {
            slots.push(Slot { name: "alloca".into(), size, align });
            slots.len() as u32 - 1
        });
        slots[slot as usize].align = slots[slot as usize].align.max(align);
        slot
    }

    fn head(&mut self) {
        let function = self.function;
        if function.is_entry {
            self.out.kernel = Some(kernel_info(function));
            return;
        }
        let (params, results) = signature(function);
        self.out.results = results;
        let mut values = Vec::new();
        for ty in params {
            values.push(self.out.new_param(Block(0), ty));
        }
        let arrays = function.returns.iter().filter(|r| parameter_ty(function, **r).is_none());
        let formals: Vec<Parameter> = function.params.iter().chain(arrays).copied().collect();
        for (p, v) in formals.into_iter().zip(values) {
            match p {
                Parameter::Reg(r) => self.ssa.write(Block(0), Var::Reg(r.0, 0), v),
                Parameter::Var(id) if self.keep(id, v) => {}
                Parameter::Var(id) => self.ssa.write(Block(0), Var::Param(id.0), v),
            }
        }
    }

    /// Stores `v` in the slot of a scalar whose address is taken; returns false for other variables.
    pub fn keep(&mut self, var: VarId, v: Value) -> bool {
        let VarPlace::Kept(slot, ty) = self.var_place(var) else { return false };
        let address = self.op1(Op::LocalAddr(slot), &[]);
        let v = self.resize(v, ty, false);
        self.op(
            Op::Store { mem: MemMode::weak(Space::Local), ty, count: 1, offset: 0, guard: Performed::Always },
            &[address, v],
        );
        true
    }

    /// The value of a scalar `.param` variable.
    pub fn scalar(&mut self, var: VarId, ty: Ty) -> Value {
        let VarPlace::Kept(slot, ty) = self.var_place(var) else { return self.read(Var::Param(var.0), ty) };
        let address = self.op1(Op::LocalAddr(slot), &[]);
        self.op1(
            Op::Load { mem: MemMode::weak(Space::Local), ty, count: 1, offset: 0, guard: Performed::Always },
            &[address],
        )
    }

    /// `ret`, or the end of the body.
    fn finish_function(&mut self) -> Result<()> {
        let function = self.function;
        if function.is_entry {
            self.terminate(Terminator::Exit);
            return Ok(());
        }
        let mut values = Vec::new();
        for r in &function.returns {
            let Some(ty) = parameter_ty(function, *r) else { continue };
            values.push(match *r {
                Parameter::Reg(r) => self.read(Var::Reg(r.0, 0), ty),
                Parameter::Var(v) => self.scalar(v, ty),
            });
        }
        self.terminate(Terminator::Return(values));
        Ok(())
    }

    fn guard_value(&mut self, guard: Guard) -> Value {
        let p = self.read_reg(guard.reg, 0);
        if guard.negated { self.not(p) } else { p }
    }

    /// Lowers an instruction. Errors inside it name it.
    fn instruction(&mut self, i: &Instruction) -> Result<()> {
        let before = self.errors.len();
        let done = self.lower_instruction(i);
        for error in self.errors.iter_mut().skip(before).filter(|e| !e.message.contains(i.opcode.name())) {
            error.message += &format!(", in instruction '{}'", i.opcode);
        }
        done
    }

    fn lower_instruction(&mut self, i: &Instruction) -> Result<()> {
        match i.opcode {
            Opcode::Bra => return self.branch(i),
            Opcode::Brx => return self.branch_table(i),
            _ => {}
        }
        let Some(row) = family::of(i.opcode) else { return self.unsupported(i, "") };
        let Some(guard) = i.guard else { return self.ungated(i, row) };
        let p = self.guard_value(guard);
        if row.pure {
            self.select = Some(p);
            let done = (row.lower)(self, i);
            self.select = None;
            return done;
        }
        let (then, join) = (self.new_block(), self.new_block());
        self.terminate(Terminator::Branch { cond: p, then: BlockCall::to(then), els: BlockCall::to(join) });
        self.ssa.seal(then);
        self.block = then;
        let done = self.ungated(i, row);
        self.terminate(Terminator::Jump(BlockCall::to(join)));
        self.ssa.seal(join);
        self.block = join;
        done
    }

    fn ungated(&mut self, i: &Instruction, row: &family::Row) -> Result<()> {
        match i.opcode {
            Opcode::Ret => self.finish_function()?,
            Opcode::Exit => self.terminate(Terminator::Exit),
            Opcode::Trap => self.terminate(Terminator::Trap),
            _ => return (row.lower)(self, i),
        }
        self.begin_unreachable();
        Ok(())
    }

    /// Emits `then` for lanes where `cond` holds and `els` for the others. Each must end in the block that it
    /// began in.
    pub fn either(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Self) -> Result<()>,
        els: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let (yes, no, join) = (self.new_block(), self.new_block(), self.new_block());
        self.terminate(Terminator::Branch { cond, then: BlockCall::to(yes), els: BlockCall::to(no) });
        self.ssa.seal(yes);
        self.ssa.seal(no);
        self.block = yes;
        let first = then(self);
        self.terminate(Terminator::Jump(BlockCall::to(join)));
        self.block = no;
        let second = els(self);
        self.terminate(Terminator::Jump(BlockCall::to(join)));
        self.ssa.seal(join);
        self.block = join;
        first.and(second)
    }

    /// Emits `body` for each i32 from 0 below `limit`.
    pub fn count_to(
        &mut self,
        limit: Value,
        body: impl FnOnce(&mut Self, Value) -> Result<()>,
    ) -> Result<()> {
        let (head, inside, after) = (self.new_block(), self.new_block(), self.new_block());
        let zero = self.constant(Ty::I32, 0);
        self.write(Var::Count, zero);
        self.terminate(Terminator::Jump(BlockCall::to(head)));
        self.block = head;
        let i = self.read(Var::Count, Ty::I32);
        let cond = self.op1(Op::IntCmp(IntCmp::LtU, Ty::I32), &[i, limit]);
        self.terminate(Terminator::Branch { cond, then: BlockCall::to(inside), els: BlockCall::to(after) });
        self.ssa.seal(inside);
        self.block = inside;
        let done = body(self, i);
        let one = self.constant(Ty::I32, 1);
        let next = self.op1(Op::Int(IntOp::Add, Ty::I32), &[i, one]);
        self.write(Var::Count, next);
        self.terminate(Terminator::Jump(BlockCall::to(head)));
        self.ssa.seal(head);
        self.ssa.seal(after);
        self.block = after;
        done
    }

    fn label_block(&mut self, label: LabelId, span: Span) -> Result<Block> {
        match self.labels.get(label.index()).copied().flatten() {
            Some(b) => Ok(b),
            None => self.fail(ErrorClass::Invalid, span, "this label is not followed by an instruction"),
        }
    }

    fn branch(&mut self, i: &Instruction) -> Result<()> {
        let Some(label) = i.label() else {
            return self.fail(ErrorClass::Invalid, i.span, "expected a label");
        };
        let to = self.label_block(label, i.span)?;
        match i.guard {
            None => {
                self.terminate(Terminator::Jump(BlockCall::to(to)));
                self.begin_unreachable();
            }
            Some(guard) => {
                let cond = self.guard_value(guard);
                let next = self.new_block();
                self.terminate(Terminator::Branch {
                    cond,
                    then: BlockCall::to(to),
                    els: BlockCall::to(next),
                });
                self.ssa.seal(next);
                self.block = next;
            }
        }
        Ok(())
    }

    /// `brx.idx index, table;`
    fn branch_table(&mut self, i: &Instruction) -> Result<()> {
        let [index, ..] = i.operands.as_slice() else {
            return self.fail(ErrorClass::Invalid, i.span, "expected an index and a table");
        };
        let table = i.label().and_then(|l| self.function.body.as_ref().map(|b| &b.labels[l.index()].kind));
        let Some(LabelKind::BranchTargets(labels)) = table else {
            return self.fail(ErrorClass::Invalid, i.span, "expected the label of a .branchtargets");
        };
        let index = self.value(index, ptx::ScalarType::U32)?;
        let next = i.guard.map(|g| {
            let cond = self.guard_value(g);
            let (then, next) = (self.new_block(), self.new_block());
            self.terminate(Terminator::Branch { cond, then: BlockCall::to(then), els: BlockCall::to(next) });
            self.ssa.seal(then);
            self.ssa.seal(next);
            self.block = then;
            next
        });
        let blocks = labels.iter().map(|l| self.label_block(*l, i.span)).collect::<Result<Vec<_>>>()?;
        self.terminate(Terminator::Switch {
            index,
            targets: blocks.into_iter().map(BlockCall::to).collect(),
        });
        match next {
            Some(next) => self.block = next,
            None => self.begin_unreachable(),
        }
        Ok(())
    }

    /// Number of vector elements of a register.
    pub fn register_elements(&self, reg: RegId) -> u8 {
        self.function.regs()[reg.index()].vector.max(1)
    }

    /// The last instruction of the current block, for lowerings that inspect it.
    pub fn last(&self) -> Option<&Inst> {
        self.out.block(self.block).insts.last()
    }
}

/// The variables whose address is taken: those named by operands of anything but calls.
pub fn addresses_taken(function: &ast::Function) -> HashSet<VarId> {
    let statements = function.body.iter().flat_map(|b| &b.statements);
    let operands = statements.filter_map(|s| match &s.kind {
        StatementKind::Instruction(i) if i.opcode != Opcode::Call => Some(&i.operands),
        _ => None,
    });
    let named = |o: &ast::Operand| match o.kind {
        ast::OperandKind::Symbol(s) => match s.symbol {
            ast::Symbol::Var(v) => Some(v),
            _ => None,
        },
        _ => None,
    };
    operands.flatten().filter_map(named).collect()
}

fn kernel_info(function: &ast::Function) -> KernelInfo {
    let mut info = KernelInfo::default();
    let mut at = 0u32;
    for p in &function.params {
        let Parameter::Var(v) = p else { continue };
        let v = &function.vars()[v.index()];
        at = at.next_multiple_of(v.alignment());
        info.params.push(ParamInfo { offset: at, size: v.size_bytes() as u32, align: v.alignment() });
        at += v.size_bytes() as u32;
    }
    info.param_size = at;
    info.required_block = function.req_ntid().unwrap_or_default();
    info.max_threads = function
        .max_ntid()
        .or(function.req_ntid())
        .map_or(0, |n| n.iter().fold(1, |all: u32, &side| all.saturating_mul(side)));
    for d in &function.directives {
        match d {
            ast::FunctionDirective::MinNctaPerSm(n) => info.min_blocks = *n,
            ast::FunctionDirective::MaxNreg(n) => info.max_registers = *n,
            ast::FunctionDirective::ReqNctaPerCluster(size) => info.required_cluster = *size,
            ast::FunctionDirective::MaxClusterRank(n) => info.max_cluster = *n,
            ast::FunctionDirective::ExplicitCluster => info.explicit_cluster = true,
            ast::FunctionDirective::BlocksAreClusters => info.blocks_are_clusters = true,
            _ => {}
        }
    }
    info
}
