//! Barriers of a whole grid: global wave sync (`ds_gws_barrier`), by which the waves of a cooperative launch
//! wait for one another. The hardware counts arrivals in a resource, here the launch's workspace does.

use std::mem::offset_of;

use gcn::isa::{Inst, Role};
use wave::abi::Workspace;
use wave::op::{AtomOp, AtomTy, Guard, IntCmp, IntOp, MemMode, Op, Order, SReg, Scope, Space};
use wave::{BlockCall, Terminator, Ty, Value};

use crate::error::Result;
use crate::operand::operand;
use crate::registers::{Reg, Registers};

/// Where the workspace counts.
const COUNT: i32 = offset_of!(Workspace, barrier) as i32;

impl Registers {
    /// Instructions of global wave sync. A barrier states the number of waves, so that nothing is left to do
    /// for `ds_gws_init`.
    pub fn wave_sync(&mut self, inst: &Inst, rest: &str) -> Result<()> {
        match rest {
            "init" => Ok(()),
            "barrier" => {
                let others = self.words(operand(inst, Role::Gdata)?.value, 1)?[0];
                self.grid_barrier(others);
                Ok(())
            }
            _ => Err("of global wave sync, only barriers are supported".to_owned()),
        }
    }

    /// The first active lane counts the wave; its data is the number of the other waves that do so. The wave
    /// goes on when the count is a multiple of all again.
    fn grid_barrier(&mut self, others: Value) {
        let special = |s: &mut Self, register| s.op1(Op::Special(register), &[]);
        let workspace = special(self, SReg::Workspace64);
        let (lane, one) = (special(self, SReg::LaneId), self.word(1));
        let exec = self.get(Reg::Exec);
        let first = self.lowest_bit(exec);
        let waves = self.int(IntOp::Add, others, one);
        let waves = self.of_lane(waves, first);
        let waves = self.op(Op::Agree(Ty::I32), &[waves])[0];
        let counts = self.compare(IntCmp::Eq, lane, first);
        let mem = MemMode { space: Space::Global, order: Order::AcqRel, scope: Scope::Gpu };
        let (op, ty, guard) = (AtomOp::Add, AtomTy::U32, Guard::If);
        let before = self.op1(Op::Atom { op, ty, mem, offset: COUNT, guard }, &[workspace, one, counts]);
        // What the lane knows is the wave's.
        let before = self.of_lane(before, first);
        let before = self.op(Op::Agree(Ty::I32), &[before])[0];
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
        let now = self.op(Op::Agree(Ty::I32), &[now])[0];
        let left = self.int(IntOp::Sub, now, target);
        let zero = self.word(0);
        let cond = self.compare(IntCmp::GeS, left, zero);
        for to in [after, wait] {
            self.ssa.edge(wait, to);
            self.ssa.seal(to);
        }
        self.terminate(Terminator::Branch { cond, then: BlockCall::to(after), els: BlockCall::to(wait) });
        self.enter(after);
    }
}
