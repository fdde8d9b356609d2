//! A kernel: its blocks, and the registers that the hardware sets before the first instruction (LLVM's "User
//! Guide for AMDGPU Backend", "Initial Kernel Execution State").

use gcn::isa::{Inst, Role};
use gcn::object::{Field, Kernel, KernelDescriptor};
use gcn::{CodeObject, Generation, Target};
use wave::func::Slot;
use wave::layout::RECURSION_STACK;
use wave::op::{BarMode, IntCmp, IntOp, Op, SReg, ShiftOp, Space};
use wave::{Block, BlockCall, Function, KernelInfo, Loc, Terminator, Ty, Value};

use crate::code::{self, Code, Next, Test};
use crate::error::{Error, Result};
use crate::graph::{End, Graph};
use crate::group::{Group, Named};
use crate::launch::{self, Layout};
use crate::memory;
use crate::mode::Mode;
use crate::registers::{Known, Reg, Registers};

/// Lowers a kernel whose code was read.
pub(crate) fn lower(
    object: &CodeObject<'_>,
    kernel: &Kernel,
    mut code: Code,
) -> std::result::Result<Function, Vec<Error>> {
    let mut state = Registers::new(&kernel.name, code.lanes, code.target);
    let at_entry = |message| vec![Error { address: code.entry, message }];
    let (info, layout) = launch::info(object, kernel);
    if let Some(p) =
        info.params.iter().find(|p| p.offset.checked_add(p.size).is_none_or(|end| end > info.param_size))
    {
        let (offset, size) = (p.offset, info.param_size);
        let message =
            format!("the argument at {offset} ends outside of the {size} bytes that the descriptor states");
        return Err(at_entry(message));
    }
    state.parameters = info.param_size;
    // Without metadata it is not known where the arguments end and what the launch writes begins.
    if kernel.metadata.is_some() {
        state.fills = info.fills.clone();
    }
    state.mode = Mode::of_kernel(&kernel.descriptor);
    state.vgprs = kernel.descriptor.vgprs().min(256) as u16;
    state.initial(&kernel.descriptor, &layout).map_err(at_entry)?;
    let graph = Graph::of(object, &mut code, state.words.clone())?;
    let whole_warps = code.keeps_data_in_lanes();
    state.begin(whole_warps);
    if graph.is_unbounded() {
        state.grow_scratch(RECURSION_STACK as u32);
    }
    state.apertures = memory::uses_apertures(object, kernel, &code);
    let mut lowering = Lowering::new(&code, &graph, &mut state);
    lowering.jump(&mut state, 0);
    for number in 0..graph.nodes.len() {
        lowering.block(&mut state, number);
    }
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    state.ssa.complete(&mut state.func);
    wave::ssa::remove_redundant_params(&mut state.func);
    state.func.kernel = Some(KernelInfo { whole_warps, loose_words: true, ..info });
    Ok(state.func)
}

/// Whether an instruction can be lowered by itself, in a mode.
pub(crate) fn lowers(inst: &Inst, target: Target, lanes: u32, mode: Mode) -> Result<Function> {
    let mut state = Registers::new("one", lanes, target);
    state.mode = mode;
    state.begin(false);
    state.func.slots.push(Slot { name: "scratch".to_owned(), size: 16, align: 16 });
    state.scratch = Some(0);
    state.instruction(inst)?;
    if let Some(reason) = state.refused.take() {
        return Err(reason);
    }
    state.terminate(Terminator::Exit);
    state.ssa.seal(state.block);
    state.ssa.complete(&mut state.func);
    Ok(state.func)
}

struct Lowering<'a> {
    code: &'a Code,
    graph: &'a Graph,
    /// By node.
    blocks: Vec<Block>,
    /// Edges to each block that are not recorded yet.
    missing: Vec<u32>,
    errors: Vec<Error>,
}

impl<'a> Lowering<'a> {
    fn new(code: &'a Code, graph: &'a Graph, state: &mut Registers) -> Lowering<'a> {
        let blocks = graph.nodes.iter().map(|_| state.func.new_block()).collect();
        let mut missing = vec![0; graph.nodes.len()];
        missing[..1].fill(1);
        for to in graph.nodes.iter().flat_map(|node| node.end.targets()) {
            missing[to] += 1;
        }
        Lowering { code, graph, blocks, missing, errors: Vec::new() }
    }

    /// Records an edge from the current block; returns the target.
    fn edge(&mut self, state: &mut Registers, to: usize) -> Block {
        let block = self.blocks[to];
        state.ssa.edge(state.block, block);
        state.note_exec(block);
        self.missing[to] -= 1;
        if self.missing[to] == 0 {
            state.ssa.seal(block);
        }
        block
    }

    fn jump(&mut self, state: &mut Registers, to: usize) {
        let block = self.edge(state, to);
        state.terminate(Terminator::Jump(BlockCall::to(block)));
    }

    fn block(&mut self, state: &mut Registers, number: usize) {
        let node = &self.graph.nodes[number];
        state.target = None;
        state.enter(self.blocks[number]);
        if self.missing[number] == 0 {
            state.restore_exec();
        }
        state.words = node.known.clone();
        let instructions: Vec<&Inst> = self.code.block(node.leader).collect();
        for inst in &instructions {
            state.loc = Loc { line: inst.address as u32, ..Loc::default() };
            if let Err(reason) = state.instruction_or_two(inst) {
                self.errors.push(Error { address: inst.address, message: format!("{inst}: {reason}") });
            }
            state.words.step(inst, |place| self.graph.stored.get(&place).copied());
        }
        let Some(last) = instructions.last() else { return };
        if self.graph.recursive.contains(&number) {
            state.check_stack();
        }
        match &node.end {
            End::Jumps(to) => self.jump(state, *to),
            End::Branches(test, to, after) => {
                let cond = state.condition(*test);
                let (then, els) = (self.edge(state, *to), self.edge(state, *after));
                let (then, els) = (BlockCall::to(then), BlockCall::to(els));
                state.terminate(Terminator::Branch { cond, then, els });
            }
            End::Chooses(all) => {
                if let Err(reason) = self.choose(state, last, all) {
                    self.errors.push(Error { address: last.address, message: format!("{last}: {reason}") });
                }
            }
            End::Ends => state.terminate(Terminator::Exit),
            End::Traps => state.trap(),
        }
        if let Some(reason) = state.refused.take() {
            self.errors.push(Error { address: last.address, message: format!("{last}: {reason}") });
        }
    }

    /// Goes on at the address that an instruction's source holds.
    fn choose(&mut self, state: &mut Registers, last: &Inst, all: &[(u64, usize)]) -> Result<()> {
        let to = match state.target.take() {
            Some(target) => target,
            None => state.source(last, Role::Src0)?,
        };
        // The lanes read the same registers; the branches are the wave's.
        let to = state.op(Op::Agree(Ty::I64), &[to])[0];
        for (address, node) in all {
            let here = state.code_address(*address);
            let cond = state.compare(IntCmp::Eq, to, here);
            let then = self.edge(state, *node);
            let next = state.func.new_block();
            state.ssa.edge(state.block, next);
            state.ssa.seal(next);
            let (then, els) = (BlockCall::to(then), BlockCall::to(next));
            state.terminate(Terminator::Branch { cond, then, els });
            state.go_on(next);
        }
        state.terminate(Terminator::Trap);
        Ok(())
    }
}

impl Registers {
    /// Ends with a trap of the active lanes, which messages name, or of all if none is active.
    fn trap(&mut self) {
        if let Some(active) = self.active() {
            let (exec, nothing) = (self.get(Reg::Exec), self.constant(self.mask(), 0));
            let none = self.compare(IntCmp::Eq, exec, nothing);
            let cond = self.int(IntOp::Or, active, none);
            let from = self.block;
            let [hit, others] = [(); 2].map(|()| self.func.new_block());
            for block in [hit, others] {
                self.ssa.edge(from, block);
                self.ssa.seal(block);
            }
            let (then, els) = (BlockCall::to(hit), BlockCall::to(others));
            self.terminate(Terminator::Branch { cond, then, els });
            self.go_on(others);
            self.terminate(Terminator::Exit);
            self.go_on(hit);
        }
        self.terminate(Terminator::Trap);
    }

    pub fn terminate(&mut self, term: Terminator) {
        let loc = self.loc;
        let block = self.func.block_mut(self.block);
        block.term = term;
        block.term_loc = loc;
    }

    /// Whether a conditional branch is taken.
    fn condition(&mut self, test: Test) -> Value {
        let (mask, set) = match test {
            Test::Scc(set) => {
                let scc = self.get(Reg::Scc);
                return if set { scc } else { self.not(scc) };
            }
            Test::Vcc(set) => (Reg::Vcc, set),
            Test::Exec(set) => (Reg::Exec, set),
        };
        let mask = self.get(mask);
        let zero = self.constant(self.mask(), 0);
        self.compare(if set { IntCmp::Ne } else { IntCmp::Eq }, mask, zero)
    }

    /// Lowers an instruction other than a branch, or both halves of a dual one: they read before either
    /// writes.
    fn instruction_or_two(&mut self, inst: &Inst) -> Result<()> {
        let Some(second) = &inst.second else { return self.instruction(inst) };
        self.postponed = Some(Vec::new());
        let outcome = self.instruction(inst).and_then(|()| self.instruction(second));
        for (register, value) in self.postponed.take().unwrap_or_default() {
            self.set(register, value);
        }
        outcome
    }

    /// Lowers an instruction other than a branch.
    fn instruction(&mut self, inst: &Inst) -> Result<()> {
        let &Named { name, group, rest, long_signed, .. } = Named::of(inst.op);
        self.long_signed = long_signed;
        if self.newer(inst, name)? {
            return Ok(());
        }
        match name {
            "s_barrier" => {
                let zero = self.word(0);
                self.op(Op::Bar { mode: BarMode::Sync }, &[zero, zero]);
                Ok(())
            }
            "s_sendmsg" | "s_sendmsg_rtn_b32" | "s_sendmsg_rtn_b64" => self.message(inst, name),
            "s_getpc_b64" | "s_swappc_b64" | "s_call_b64" => self.note_place(inst),
            _ if !matches!(code::next(inst)?, Next::Falls) => Ok(()),
            // A breakpoint: without a debugger, the wave goes on.
            "s_trap" => Ok(()),
            "s_sleep" | "s_sleep_var" => {
                self.op(Op::Yield, &[]);
                Ok(())
            }
            "s_getreg_b32" | "s_setreg_b32" if memory::is_of_memory(inst, self.generation) => {
                self.memory_register(inst, name)
            }
            "s_memtime" => self.clock(inst, SReg::Clock64),
            "s_memrealtime" => self.clock(inst, SReg::GlobalTimer64),
            _ => match group {
                Group::Scalar => self.scalar(inst, name),
                Group::ScalarMemory(kind) => self.scalar_memory(inst, kind, rest),
                Group::Vector => self.vector(inst, name),
                Group::Interpolation => Err("interpolation is for graphics alone".to_owned()),
                Group::Global | Group::Flat => self.global(inst, rest, group == Group::Flat),
                Group::Scratch => self.scratch(inst, rest),
                Group::Buffer | Group::TypedBuffer => self.buffer(inst, rest, group == Group::TypedBuffer),
                Group::Image => self.image(inst, rest),
                Group::WaveSync => self.wave_sync(inst, rest),
                Group::Lds => self.lds(inst, rest),
                Group::Nothing => Ok(()),
                Group::Other => Err("this instruction is not supported".to_owned()),
            },
        }
    }

    /// Sets the registers that a kernel begins with.
    fn initial(&mut self, descriptor: &KernelDescriptor, layout: &Layout) -> Result<()> {
        self.scratch_memory(descriptor);
        let mut next = 0u16;
        let users = [
            (Field::PrivateSegmentBuffer, 4),
            (Field::DispatchPtr, 2),
            (Field::QueuePtr, 2),
            (Field::KernargPtr, 2),
            (Field::DispatchId, 2),
            (Field::FlatScratchInit, 2),
            (Field::PrivateSegmentSize, 1),
        ];
        for (field, words) in users {
            if descriptor.get(field) == 0 {
                continue;
            }
            match field {
                Field::DispatchPtr => self.set_parameter(next, layout.packet),
                Field::QueuePtr => self.set_parameter(next, layout.queue),
                Field::KernargPtr => self.set_parameter(next, 0),
                Field::DispatchId => {
                    let number = self.op1(Op::Special(SReg::GridId64), &[]);
                    self.set_pair(next, number);
                }
                Field::PrivateSegmentSize => {
                    let size = self.word(descriptor.get(Field::PrivateSegment));
                    self.set(Reg::Scalar(next), size);
                }
                // What concerns scratch.
                _ => {
                    for word in 0..words {
                        let zero = self.word(0);
                        self.set(Reg::Scalar(next + word), zero);
                    }
                }
            }
            next += words;
        }
        // Arguments that the hardware has loaded.
        let first = descriptor.get(Field::PreloadOffset);
        for word in 0..descriptor.get(Field::PreloadLength) {
            let value = self.parameter_word(i64::from(first + word) * 4)?;
            self.set(Reg::Scalar(next), value);
            next += 1;
        }
        // The system's registers follow the number that the descriptor states, which may leave a gap.
        next = descriptor.get(Field::UserSgprCount) as u16;
        let positions = [
            (Field::WorkgroupIdX, SReg::CtaidX),
            (Field::WorkgroupIdY, SReg::CtaidY),
            (Field::WorkgroupIdZ, SReg::CtaidZ),
        ];
        if self.generation == Generation::Gfx12 {
            self.positions_in_trap_registers();
        } else {
            for (field, register) in positions {
                if descriptor.get(field) == 1 {
                    let value = self.op1(Op::Special(register), &[]);
                    self.set(Reg::Scalar(next), value);
                    next += 1;
                }
            }
        }
        if descriptor.get(Field::WorkgroupInfo) == 1 {
            let value = self.group_info();
            self.set(Reg::Scalar(next), value);
        }
        self.positions(descriptor.get(Field::WorkitemId), self.generation);
        Ok(())
    }

    /// Puts the address of a place in the parameter buffer into a pair of SGPRs.
    fn set_parameter(&mut self, register: u16, offset: u32) {
        let at = self.constant(Ty::I64, u64::from(offset));
        let pointer = self.op1(Op::ToGeneric(Space::Param), &[at]);
        self.know(pointer, Known::Parameter(i64::from(offset)));
        self.set_pair(register, pointer);
    }

    fn set_pair(&mut self, register: u16, value: Value) {
        let (low, high) = self.halves(value);
        self.set(Reg::Scalar(register), low);
        self.set(Reg::Scalar(register + 1), high);
    }

    /// gfx12: x in ttmp9, y and z in the halves of ttmp7.
    fn positions_in_trap_registers(&mut self) {
        let [x, y, z] = [SReg::CtaidX, SReg::CtaidY, SReg::CtaidZ].map(|r| self.op1(Op::Special(r), &[]));
        let by = self.word(16);
        let z = self.shift(ShiftOp::Shl, z, by);
        let both = self.int(IntOp::Or, y, z);
        self.set(Reg::Trap(9), x);
        self.set(Reg::Trap(7), both);
    }

    /// Facts about the group: bit 31 says that the wave is the first, the low bits count the waves.
    fn group_info(&mut self) -> Value {
        let [wave, waves] = [SReg::WarpId, SReg::NWarpId].map(|r| self.op1(Op::Special(r), &[]));
        let zero = self.word(0);
        let first = self.compare(IntCmp::Eq, wave, zero);
        let first = self.resized(first, Ty::I32);
        let by = self.word(31);
        let first = self.shift(ShiftOp::Shl, first, by);
        self.int(IntOp::Or, first, waves)
    }

    /// The work-item's position: a register for each axis, or ten bits of one register.
    fn positions(&mut self, most: u32, generation: Generation) {
        let packed = generation.is_gfx90a_or_later_compute() || generation >= Generation::Gfx11;
        let mut all = None;
        for (axis, register) in [SReg::TidX, SReg::TidY, SReg::TidZ].into_iter().enumerate() {
            if axis as u32 > most {
                break;
            }
            let value = self.op1(Op::Special(register), &[]);
            if !packed {
                self.set(Reg::Vector(axis as u16), value);
                continue;
            }
            let by = self.word(axis as u32 * 10);
            let shifted = self.shift(ShiftOp::Shl, value, by);
            all = Some(match all {
                None => shifted,
                Some(all) => self.int(IntOp::Or, all, shifted),
            });
        }
        if let Some(all) = all {
            self.set(Reg::Vector(0), all);
        }
    }
}
