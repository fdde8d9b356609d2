//! A kernel: its blocks, and the registers that the hardware sets before the first instruction (LLVM's "User
//! Guide for AMDGPU Backend", "Initial Kernel Execution State").

use std::collections::BTreeMap;

use gcn::isa::Inst;
use gcn::object::{Field, Kernel, KernelDescriptor};
use gcn::{CodeObject, Generation};
use wave::op::{BarMode, IntCmp, IntOp, Op, SReg, ShiftOp, Space};
use wave::{Block, BlockCall, Function, KernelInfo, Loc, ParamInfo, Terminator, Ty, Value};

use crate::code::{self, Code, Next};
use crate::error::{Error, Result};
use crate::registers::{Reg, Registers};

/// Lowers a kernel whose code was read.
pub(crate) fn lower(
    object: &CodeObject<'_>,
    kernel: &Kernel,
    code: &Code,
) -> std::result::Result<Function, Vec<Error>> {
    let generation = code.target.generation;
    let mut state = Registers::new(&kernel.name, code.lanes, generation);
    let at_entry = |message| vec![Error { address: code.entry, message }];
    state.begin();
    state.initial(&kernel.descriptor, generation).map_err(at_entry)?;
    let mut lowering =
        Lowering { code, blocks: BTreeMap::new(), missing: BTreeMap::new(), errors: Vec::new() };
    for leader in &code.leaders {
        let block = state.func.new_block();
        lowering.blocks.insert(*leader, block);
    }
    for leader in &code.leaders {
        for next in lowering.successors(*leader) {
            *lowering.missing.entry(next).or_insert(0) += 1;
        }
    }
    *lowering.missing.entry(code.entry).or_insert(0) += 1;
    lowering.jump(&mut state, code.entry);
    for leader in &code.leaders {
        lowering.block(&mut state, *leader);
    }
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    state.ssa.complete(&mut state.func);
    wave::ssa::remove_redundant_params(&mut state.func);
    state.func.kernel = Some(info(object, kernel));
    Ok(state.func)
}

/// What a launch needs to know.
fn info(object: &CodeObject<'_>, kernel: &Kernel) -> KernelInfo {
    let metadata = kernel.metadata.and_then(|index| object.metadata.kernels.get(index));
    let params = metadata.map(|m| {
        let arguments = m.arguments.iter().filter(|a| !a.kind.starts_with("hidden_"));
        arguments.map(|a| ParamInfo { offset: a.offset, size: a.size, align: 1 }).collect()
    });
    KernelInfo {
        params: params.unwrap_or_default(),
        param_size: kernel.descriptor.get(Field::KernargSize),
        required_block: metadata.and_then(|m| m.required_workgroup).unwrap_or_default(),
        max_threads: metadata.map_or(0, |m| m.max_workgroup),
        shared_size: u64::from(kernel.descriptor.get(Field::GroupSegment)),
        ..KernelInfo::default()
    }
}

struct Lowering<'a> {
    code: &'a Code,
    blocks: BTreeMap<u64, Block>,
    /// Edges to each block that are not recorded yet.
    missing: BTreeMap<u64, u32>,
    errors: Vec<Error>,
}

impl Lowering<'_> {
    /// The leaders that control can go to at the end of a block.
    fn successors(&self, leader: u64) -> Vec<u64> {
        let Some(last) = self.code.block(leader).last() else { return Vec::new() };
        let after = last.address + u64::from(last.size);
        match code::next(last) {
            Ok(Next::Falls) => vec![after],
            Ok(Next::Jumps(to)) => vec![to],
            Ok(Next::Branches(to)) => vec![to, after],
            Ok(Next::Ends) | Err(_) => Vec::new(),
        }
    }

    /// Records an edge from the current block; returns the target.
    fn edge(&mut self, state: &mut Registers, to: u64) -> Option<Block> {
        let block = *self.blocks.get(&to)?;
        state.ssa.edge(state.block, block);
        state.note_exec(block);
        if let Some(missing) = self.missing.get_mut(&to) {
            *missing = missing.saturating_sub(1);
            if *missing == 0 {
                state.ssa.seal(block);
            }
        }
        Some(block)
    }

    fn jump(&mut self, state: &mut Registers, to: u64) {
        if let Some(block) = self.edge(state, to) {
            state.terminate(Terminator::Jump(BlockCall::to(block)));
        }
    }

    fn block(&mut self, state: &mut Registers, leader: u64) {
        let Some(&block) = self.blocks.get(&leader) else { return };
        state.enter(block);
        if self.missing.get(&leader) == Some(&0) {
            state.restore_exec();
        }
        let instructions: Vec<&Inst> = self.code.block(leader).collect();
        for inst in &instructions {
            state.loc = Loc { line: inst.address as u32, ..Loc::default() };
            if let Err(reason) = state.instruction(inst) {
                self.errors.push(Error { address: inst.address, message: format!("{inst}: {reason}") });
            }
        }
        let Some(last) = instructions.last() else { return };
        let after = last.address + u64::from(last.size);
        match code::next(last) {
            Ok(Next::Falls) => self.jump(state, after),
            Ok(Next::Jumps(to)) => self.jump(state, to),
            Ok(Next::Branches(to)) => {
                let cond = state.condition(last.op.name());
                let (then, els) = (self.edge(state, to), self.edge(state, after));
                if let (Some(then), Some(els)) = (then, els) {
                    let (then, els) = (BlockCall::to(then), BlockCall::to(els));
                    state.terminate(Terminator::Branch { cond, then, els });
                }
            }
            Ok(Next::Ends) if last.op.name() == "s_trap" => state.terminate(Terminator::Trap),
            Ok(Next::Ends) | Err(_) => state.terminate(Terminator::Exit),
        }
    }
}

impl Registers {
    pub fn terminate(&mut self, term: Terminator) {
        let loc = self.loc;
        let block = self.func.block_mut(self.block);
        block.term = term;
        block.term_loc = loc;
    }

    /// Whether a conditional branch is taken.
    fn condition(&mut self, name: &str) -> Value {
        let rest = name.trim_start_matches("s_cbranch_");
        match rest {
            "scc1" => self.get(Reg::Scc),
            "scc0" => {
                let scc = self.get(Reg::Scc);
                self.not(scc)
            }
            _ => {
                let mask = self.get(if rest.starts_with("vcc") { Reg::Vcc } else { Reg::Exec });
                let zero = self.constant(self.mask(), 0);
                let cmp = if rest.ends_with("nz") { IntCmp::Ne } else { IntCmp::Eq };
                self.compare(cmp, mask, zero)
            }
        }
    }

    /// Lowers an instruction other than a branch.
    fn instruction(&mut self, inst: &Inst) -> Result<()> {
        let name = inst.op.name();
        match name {
            "s_barrier" => {
                let zero = self.word(0);
                self.op(Op::Bar { mode: BarMode::Sync }, &[zero, zero]);
                Ok(())
            }
            _ if !matches!(code::next(inst)?, Next::Falls) => Ok(()),
            "s_sleep" => {
                self.op(Op::Yield, &[]);
                Ok(())
            }
            _ if name.starts_with("s_load_") => self.scalar_load(inst, name),
            _ if name.starts_with("s_") => self.scalar(inst, name),
            _ if name.starts_with("v_") => self.vector(inst, name),
            _ if name.starts_with("global_") || name.starts_with("flat_") => self.global(inst, name),
            _ if name.starts_with("ds_") => self.lds(inst, name),
            // Caches: memory is coherent here.
            _ if name.starts_with("buffer_gl")
                || name.starts_with("buffer_inv")
                || name.starts_with("buffer_wb") =>
            {
                Ok(())
            }
            _ => Err("this instruction is not supported".to_owned()),
        }
    }

    /// Sets the registers that a kernel begins with.
    fn initial(&mut self, descriptor: &KernelDescriptor, generation: Generation) -> Result<()> {
        if descriptor.get(Field::EnablePrivateSegment) == 1 {
            return Err("the kernel uses scratch memory, which is not supported yet".to_owned());
        }
        let mut next = 0u16;
        let pairs = [
            (Field::PrivateSegmentBuffer, 4, None),
            (Field::DispatchPtr, 2, Some("the dispatch packet")),
            (Field::QueuePtr, 2, Some("the queue")),
            (Field::KernargPtr, 2, None),
            (Field::DispatchId, 2, Some("the dispatch's number")),
            (Field::FlatScratchInit, 2, None),
            (Field::PrivateSegmentSize, 1, None),
        ];
        for (field, words, refused) in pairs {
            if descriptor.get(field) == 0 {
                continue;
            }
            if let Some(what) = refused {
                return Err(format!("the kernel asks for {what}, which is not supported yet"));
            }
            if field == Field::KernargPtr {
                let zero = self.constant(Ty::I64, 0);
                let pointer = self.op1(Op::ToGeneric(Space::Param), &[zero]);
                self.arguments = Some(pointer);
                let (low, high) = self.halves(pointer);
                self.set(Reg::Scalar(next), low);
                self.set(Reg::Scalar(next + 1), high);
            }
            next += words;
        }
        if descriptor.get(Field::PreloadLength) > 0 {
            return Err("arguments that are loaded before the kernel begins are not supported yet".to_owned());
        }
        if generation == Generation::Gfx12 {
            return Err("the block's position in trap registers (gfx12) is not supported yet".to_owned());
        }
        // The system's registers follow the number that the descriptor states, which may leave a gap.
        next = descriptor.get(Field::UserSgprCount) as u16;
        let positions = [
            (Field::WorkgroupIdX, SReg::CtaidX),
            (Field::WorkgroupIdY, SReg::CtaidY),
            (Field::WorkgroupIdZ, SReg::CtaidZ),
        ];
        for (field, register) in positions {
            if descriptor.get(field) == 1 {
                let value = self.op1(Op::Special(register), &[]);
                self.set(Reg::Scalar(next), value);
                next += 1;
            }
        }
        self.positions(descriptor.get(Field::WorkitemId), generation);
        Ok(())
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
