//! Barriers of a whole grid: global wave sync (`ds_gws_barrier`), by which the waves of a cooperative launch wait for
//! one another. The hardware counts waves in a resource that the runtime sets to their number; here the launch's
//! workspace counts their arrivals.

use std::mem::offset_of;

use wave::abi::Workspace;
use wave::op::{AtomOp, AtomTy, Guard, IntCmp, IntOp, MemMode, Op, Order, SReg, Scope, Space, VoteMode};
use wave::{BlockCall, Terminator, Ty};

use crate::error::Result;
use crate::registers::Registers;

/// Where the workspace counts.
const COUNT: i32 = offset_of!(Workspace, barrier) as i32;

impl Registers {
    /// Instructions of global wave sync. The host sets the resource, so that nothing is left to do for a kernel that
    /// sets it, too.
    pub fn wave_sync(&mut self, name: &str) -> Result<()> {
        match name {
            "ds_gws_init" => Ok(()),
            "ds_gws_barrier" => {
                self.grid_barrier();
                Ok(())
            }
            _ => Err("of global wave sync, only barriers are supported".to_owned()),
        }
    }

    /// One lane of each wave counts it. The wave goes on when the count is a multiple of the number of waves again.
    fn grid_barrier(&mut self) {
        let special = |s: &mut Self, register| s.op1(Op::Special(register), &[]);
        let workspace = special(self, SReg::Workspace64);
        let mut waves = special(self, SReg::NWarpId);
        for register in [SReg::NctaidX, SReg::NctaidY, SReg::NctaidZ] {
            let blocks = special(self, register);
            waves = self.int(IntOp::Mul, waves, blocks);
        }
        let (lane, zero, one) = (special(self, SReg::LaneId), self.word(0), self.word(1));
        let counts = self.compare(IntCmp::Eq, lane, zero);
        let mem = MemMode { space: Space::Global, order: Order::AcqRel, scope: Scope::Gpu };
        let (op, ty, guard) = (AtomOp::Add, AtomTy::U32, Guard::If);
        let before = self.op1(Op::Atom { op, ty, mem, offset: COUNT, guard }, &[workspace, one, counts]);
        let rounds = self.int(IntOp::DivU, before, waves);
        let rounds = self.int(IntOp::Add, rounds, one);
        let target = self.int(IntOp::Mul, rounds, waves);
        let (wait, after) = (self.func.new_block(), self.func.new_block());
        self.ssa.edge(self.block, wait);
        self.terminate(Terminator::Jump(BlockCall::to(wait)));
        self.enter(wait);
        self.op(Op::Yield, &[]);
        let mem = MemMode { space: Space::Global, order: Order::Acquire, scope: Scope::Gpu };
        let (ty, guard) = (Ty::I32, Guard::Always);
        let now = self.op1(Op::Load { mem, ty, count: 1, offset: COUNT, guard }, &[workspace]);
        let left = self.int(IntOp::Sub, now, target);
        let zero = self.word(0);
        let arrived = self.compare(IntCmp::GeS, left, zero);
        let counts_not = self.not(counts);
        let arrived = self.int(IntOp::Or, arrived, counts_not);
        let none = self.constant(self.mask(), 0);
        let cond = self.op1(Op::Vote { mode: VoteMode::All, sync: false }, &[arrived, none]);
        for to in [after, wait] {
            self.ssa.edge(wait, to);
            self.ssa.seal(to);
        }
        self.terminate(Terminator::Branch { cond, then: BlockCall::to(after), els: BlockCall::to(wait) });
        self.enter(after);
    }
}
