//! Lanes, their call stacks, and the step that advances a group of them. What they do in memory is in
//! `access.rs`, what they read in special registers in `special.rs`.

use crate::abi::{BULK, BlockCtx, Stop, TEXTURE, WarpCtx};
use crate::barrier;
use crate::func::{Block, BlockCall, Inst, Terminator, Value};
use crate::module::{FuncId, Module};
use crate::op::{AtomOp, BarMode, Builtin, Op, Space};
use crate::types::Width;

use super::spin::Seen;
use super::{Interpreter, eval, memory};

/// Number of instructions after which another group of lanes gets a turn, length of that turn, and number
/// after which the warp yields.
const ROTATE: u64 = 4096;
const TURN: u64 = 512;
const FUEL: u64 = 65_536;

/// Maximum call depth; deeper calls are a stack overflow even if they use no local memory.
const DEPTH: usize = 4096;

/// An activation of a function in one lane.
#[derive(Debug)]
pub(super) struct Frame {
    pub func: FuncId,
    pub block: Block,
    pub inst: usize,
    pub values: Vec<u128>,
    /// Offset of its slots in the lane's local memory.
    pub base: u64,
}

/// The state of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Running,
    /// At a `.sync` operation, waiting for other members.
    Parked,
    /// At a barrier, whose result is stored in this value when it opens.
    Barrier {
        result: Option<Value>,
        id: u32,
    },
    Exited,
}

#[derive(Debug)]
pub(super) struct Lane {
    pub frames: Vec<Frame>,
    pub status: Status,
    pub seen: Seen,
}

/// The state of a warp's lanes between two resumes.
#[derive(Debug)]
pub struct WarpState {
    pub(super) lanes: Vec<Lane>,
    /// Lanes that wait for memory to change, as far as their reads show.
    waiting: u64,
    steps: u64,
    prefer: usize,
}

impl WarpState {
    /// All lanes at the kernel's entry; those not in `mask` have exited.
    pub fn new(code: &Interpreter, mask: u64) -> Self {
        let func = &code.module.functions[code.kernel.index()];
        let lane = |i: usize| Lane {
            frames: vec![Frame {
                func: code.kernel,
                block: Block(0),
                inst: 0,
                values: vec![0; func.values.len()],
                base: 0,
            }],
            status: if mask >> i & 1 == 1 { Status::Running } else { Status::Exited },
            seen: Seen::default(),
        };
        WarpState {
            lanes: (0..code.needs.width.lanes()).map(lane).collect(),
            waiting: 0,
            steps: 0,
            prefer: 0,
        }
    }
}

/// How a step ended.
pub(super) enum Flow {
    /// The group's lanes continue with the next instruction.
    Next,
    /// The lanes' positions have been set already.
    Placed,
    /// The warp stops.
    Stop(Stop),
}

/// A position: call depth, then function, block and instruction.
type Place = (usize, FuncId, Block, usize);

pub(super) struct Machine<'a> {
    pub code: &'a Interpreter,
    pub warp: &'a mut WarpCtx,
    pub state: &'a mut WarpState,
}

/// The lanes of a mask.
pub(super) fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    (0..Width::MOST).filter(move |i| mask >> i & 1 == 1)
}

impl Machine<'_> {
    /// Lanes in a warp.
    pub(super) fn lanes(&self) -> usize {
        self.code.needs.width.lanes()
    }

    pub(super) fn module(&self) -> &Module {
        &self.code.module
    }

    pub(super) fn block_ctx(&self) -> &BlockCtx {
        // SAFETY: the scheduler keeps the block's context valid while its warps run (contract of
        // `Code::resume`).
        unsafe { &*self.warp.block }
    }

    pub(super) fn top(&mut self, lane: usize) -> &mut Frame {
        // A lane that has not exited has a frame; this is never called for others.
        self.state.lanes[lane].frames.last_mut().expect("a live lane has a frame")
    }

    fn place(&self, lane: usize) -> Option<Place> {
        let l = &self.state.lanes[lane];
        l.frames.last().map(|f| (l.frames.len(), f.func, f.block, f.inst))
    }

    pub(super) fn get(&mut self, lane: usize, v: Value) -> u128 {
        self.top(lane).values[v.index()]
    }

    pub(super) fn set(&mut self, lane: usize, v: Value, bits: u128) {
        let ty = {
            let func = self.top(lane).func;
            self.module().functions[func.index()].ty(v)
        };
        self.top(lane).values[v.index()] = bits & ty.mask();
    }

    /// Whether every lane that can run waits for memory.
    fn all_wait(&self) -> bool {
        let waiting = self.state.waiting;
        let running = if waiting == 0 { 0 } else { self.with_status(Status::Running) };
        running != 0 && running & !waiting == 0
    }

    /// Records that a lane has read memory that others write, without changing it. `plain`: by a load that is
    /// not ordered.
    pub(super) fn observe(&mut self, lane: usize, address: u64, value: u128, plain: bool) {
        if let Some((_, func, block, inst)) = self.place(lane)
            && self.state.lanes[lane].seen.is_again((func, block, inst), address, value, plain)
        {
            self.state.waiting |= 1 << lane;
        }
    }

    fn live(&self) -> u64 {
        (0..self.lanes()).filter(|&i| self.state.lanes[i].status != Status::Exited).fold(0, |m, i| m | 1 << i)
    }

    pub(super) fn with_status(&self, wanted: Status) -> u64 {
        (0..self.lanes()).filter(|&i| self.state.lanes[i].status == wanted).fold(0, |m, i| m | 1 << i)
    }

    /// Lanes whose barrier has opened continue, with its result.
    fn leave_barriers(&mut self) {
        for i in 0..self.lanes() {
            if let Status::Barrier { result, id } = self.state.lanes[i].status
                && self.warp.waiting >> i & 1 == 0
            {
                self.state.lanes[i].status = Status::Running;
                if let Some(v) = result {
                    let bits = self.warp.bar_result[barrier::number(id) as usize];
                    self.set(i, v, u128::from(bits));
                }
            }
        }
    }

    /// The next group: all running lanes at the first position or, during a turn, at the position of the
    /// preferred lane. Lanes at one position never part, on which AMD code relies.
    fn pick(&mut self) -> u64 {
        let running = self.with_status(Status::Running);
        let key = |m: &Self, lane: usize| {
            m.place(lane).map(|(depth, func, block, inst)| {
                (std::cmp::Reverse(depth), func, m.code.plans[func.index()].rank[block.index()], inst)
            })
        };
        let in_turn = self.state.steps % ROTATE >= ROTATE - TURN;
        let leader = if in_turn {
            if self.state.steps % ROTATE == ROTATE - TURN {
                self.state.prefer = (self.state.prefer + 1) % self.lanes();
            }
            let start = self.state.prefer;
            (0..self.lanes()).map(|i| (start + i) % self.lanes()).find(|&i| running >> i & 1 == 1)
        } else {
            // Lanes that wait for memory let those at other positions go first.
            lanes_of(running & !self.state.waiting).min_by_key(|&i| key(self, i))
        };
        let Some(leader) = leader else { return 0 };
        let place = self.place(leader);
        lanes_of(running).filter(|&i| self.place(i) == place).fold(0, |m, i| m | 1 << i)
    }

    /// Runs until the warp has to stop.
    pub(super) fn run(mut self) -> Stop {
        self.leave_barriers();
        let mut fuel = FUEL;
        loop {
            self.warp.live = self.live();
            if self.code.probe.as_ref().is_some_and(|probe| !probe.step()) {
                self.warp.live = 0;
            }
            if self.warp.live == 0 {
                return Stop::Done;
            }
            if fuel == 0 || self.all_wait() {
                self.state.waiting = 0;
                self.warp.sleep = 0;
                return Stop::Yield;
            }
            fuel -= 1;
            self.state.steps += 1;
            let group = self.pick();
            if group == 0 {
                // No lane can run. Lanes at barriers may still join parked lanes that wait for them. If there
                // are none, parked lanes wait for lanes that took another path (undefined on hardware), and
                // continue with those that are present.
                if self.with_status(Status::Parked) == 0 || self.warp.waiting & self.warp.live != 0 {
                    self.warp.sleep = 0;
                    return Stop::Yield;
                }
                if !self.release_parked(true) {
                    return Stop::Fault;
                }
                continue;
            }
            if let Some(stop) = self.step(group) {
                self.warp.live = self.live();
                return stop;
            }
        }
    }

    fn step(&mut self, group: u64) -> Option<Stop> {
        let leader = lanes_of(group).next()?;
        let (_, func, block, inst) = self.place(leader)?;
        let module = self.code.module.clone();
        let data = module.functions[func.index()].block(block);
        let flow = match data.insts.get(inst) {
            Some(i) => {
                self.warp.line = i.loc.line;
                self.instruction(group, i)
            }
            None => {
                self.warp.line = data.term_loc.line;
                self.terminator(group, &data.term)
            }
        };
        match flow {
            Flow::Next => {
                for lane in lanes_of(group) {
                    self.top(lane).inst += 1;
                }
                None
            }
            Flow::Placed => None,
            Flow::Stop(stop) => Some(stop),
        }
    }

    fn go(&mut self, lane: usize, to: &BlockCall) {
        let values: Vec<u128> = to.args.iter().map(|&v| self.get(lane, v)).collect();
        let module = self.code.module.clone();
        let frame = self.top(lane);
        let params = &module.functions[frame.func.index()].block(to.block).params;
        for (&p, v) in params.iter().zip(values) {
            frame.values[p.index()] = v;
        }
        frame.block = to.block;
        frame.inst = 0;
    }

    fn leave(&mut self, lane: usize, results: &[u128]) {
        let frames = &mut self.state.lanes[lane].frames;
        if frames.len() == 1 {
            self.state.lanes[lane].status = Status::Exited;
            return;
        }
        frames.pop();
        let module = self.code.module.clone();
        let (func, block, inst) = {
            let f = self.top(lane);
            (f.func, f.block, f.inst)
        };
        let call = &module.functions[func.index()].block(block).insts[inst];
        for (&r, &v) in call.results.iter().zip(results) {
            self.set(lane, r, v);
        }
        self.top(lane).inst += 1;
    }

    fn terminator(&mut self, group: u64, term: &Terminator) -> Flow {
        for lane in lanes_of(group) {
            match term {
                Terminator::Jump(to) => self.go(lane, to),
                Terminator::Branch { cond, then, els } => {
                    let to = if self.get(lane, *cond) & 1 == 1 { then } else { els };
                    self.go(lane, to);
                }
                Terminator::Switch { index, targets } => {
                    let at = self.get(lane, *index) as usize;
                    if let Some(to) = targets.get(at).or(targets.last()) {
                        self.go(lane, to);
                    }
                }
                Terminator::Return(values) => {
                    let results: Vec<u128> = values.iter().map(|&v| self.get(lane, v)).collect();
                    self.leave(lane, &results);
                }
                Terminator::Exit => self.state.lanes[lane].status = Status::Exited,
                Terminator::Trap => {
                    // SAFETY: the runtime's functions are valid for the launch.
                    unsafe { ((*self.block_ctx().runtime).trap)(self.warp, group) };
                    return Flow::Stop(Stop::Fault);
                }
            }
        }
        Flow::Placed
    }

    fn enter(&mut self, lane: usize, func: FuncId, args: &[u128]) -> bool {
        let module = self.code.module.clone();
        let callee = &module.functions[func.index()];
        let (caller, below) = {
            let f = self.top(lane);
            (f.func, f.base)
        };
        let base = below + self.code.plans[caller.index()].frame;
        let mut values = vec![0; callee.values.len()];
        for (&p, &v) in callee.blocks[0].params.iter().zip(args) {
            values[p.index()] = v;
        }
        let room = self.code.plans[func.index()].frame;
        if base + room > self.block_ctx().local_stride || self.state.lanes[lane].frames.len() >= DEPTH {
            let address = {
                let b = self.block_ctx();
                (b.local as u64).wrapping_add(b.local_stride)
            };
            // SAFETY: the runtime's functions are valid for the launch. A size of zero means a stack
            // overflow.
            unsafe {
                ((*self.block_ctx().runtime).bad_access)(self.warp, address, 0, true, false, 1 << lane)
            };
            return false;
        }
        self.state.lanes[lane].frames.push(Frame { func, block: Block(0), inst: 0, values, base });
        true
    }

    /// The lanes of a group that perform an access; the others get the values in its place.
    fn guarded(&mut self, group: u64, inst: &Inst, guard: Value, fallbacks: &[Value]) -> u64 {
        let (yes, no): (Vec<usize>, Vec<usize>) =
            lanes_of(group).partition(|&lane| self.get(lane, guard) & 1 == 1);
        for lane in no {
            for (i, &r) in inst.results.iter().enumerate() {
                let v = fallbacks.get(i).map_or(0, |&v| self.get(lane, v));
                self.set(lane, r, v);
            }
        }
        yes.into_iter().fold(0, |m, lane| m | 1 << lane)
    }

    fn instruction(&mut self, group: u64, inst: &Inst) -> Flow {
        if let Some((guard, fallbacks)) = inst.guard() {
            let those = self.guarded(group, inst, guard, fallbacks);
            return self.instruction(those, &inst.unguarded());
        }
        match &inst.op {
            Op::Load { mem, ty, count, offset, .. } => self.load(group, inst, *mem, *ty, *count, *offset),
            Op::Store { mem, ty, count, offset, .. } => self.store(group, inst, *mem, *ty, *count, *offset),
            Op::Atom { op, ty, mem, offset, .. } => {
                for lane in lanes_of(group) {
                    let address = self.address(lane, inst, *offset);
                    let size = ty.ty().bytes();
                    let Some(at) = self.locate(lane, *mem, address, size, true) else {
                        return Flow::Stop(Stop::Fault);
                    };
                    let b = self.get(lane, inst.args[1]);
                    let c = if *op == AtomOp::Cas { self.get(lane, inst.args[2]) } else { 0 };
                    let (shared, shared_size) = self.window(lane, Space::Shared);
                    let global = at.wrapping_sub(shared) >= shared_size;
                    let mut new = 0;
                    let mut change = |old| {
                        new = memory::update(*op, *ty, global, old, b, c);
                        new
                    };
                    // SAFETY: `locate` checked the bytes and their alignment.
                    let old = unsafe {
                        match self.probe_of(lane, at) {
                            Some(probe) => {
                                let old = probe.read(at, size);
                                probe.write(at, size, change(old));
                                old
                            }
                            None => memory::atomic(at, size, &mut change),
                        }
                    };
                    if new == old {
                        self.observe(lane, at, old, false);
                    }
                    if let Some(&r) = inst.results.first() {
                        self.set(lane, r, old);
                    }
                }
                Flow::Next
            }
            Op::Fence { .. } => {
                std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
                lanes_of(group).for_each(|lane| self.state.lanes[lane].seen.fence());
                Flow::Next
            }
            Op::Special(reg) => {
                for lane in lanes_of(group) {
                    let v = self.special(lane, *reg);
                    self.set(lane, inst.results[0], v);
                }
                Flow::Next
            }
            Op::GlobalAddr(id, offset) => {
                let base = self.block_ctx().image as u64;
                let v =
                    base.wrapping_add(self.module().globals[id.index()].offset).wrapping_add(*offset as u64);
                self.broadcast(group, inst, u128::from(v))
            }
            Op::SharedAddr(id, offset) => {
                let own = self.block_ctx().cluster.window();
                let v =
                    self.code.shared[id.index()].unwrap_or(0).wrapping_add(*offset as u64).wrapping_add(own);
                self.broadcast(group, inst, u128::from(v))
            }
            Op::FuncAddr(f) => self.broadcast(group, inst, u128::from(Module::func_handle(*f))),
            Op::LocalAddr(slot) => {
                for lane in lanes_of(group) {
                    let frame = self.top(lane);
                    let (func, base) = (frame.func, frame.base);
                    let v = base + self.code.plans[func.index()].slots[*slot as usize];
                    self.set(lane, inst.results[0], u128::from(v));
                }
                Flow::Next
            }
            Op::ToGeneric(space) | Op::FromGeneric(space) => {
                for lane in lanes_of(group) {
                    let base = self.window(lane, *space).0;
                    let a = self.get(lane, inst.args[0]) as u64;
                    let to = matches!(inst.op, Op::ToGeneric(_));
                    let v = if to { a.wrapping_add(base) } else { a.wrapping_sub(base) };
                    self.set(lane, inst.results[0], u128::from(v));
                }
                Flow::Next
            }
            Op::IsSpace(space) => {
                for lane in lanes_of(group) {
                    let a = self.get(lane, inst.args[0]) as u64;
                    let v = self.is_space(lane, *space, a);
                    self.set(lane, inst.results[0], u128::from(v));
                }
                Flow::Next
            }
            Op::Bar { mode } => self.barrier(group, inst, *mode),
            Op::Yield => {
                self.warp.sleep = 0;
                self.advance(group);
                Flow::Stop(Stop::Yield)
            }
            Op::Nop | Op::Prefetch(..) => Flow::Next,
            Op::Call(f) => {
                for lane in lanes_of(group) {
                    let args: Vec<u128> = inst.args.iter().map(|&v| self.get(lane, v)).collect();
                    if !self.enter(lane, *f, &args) {
                        return Flow::Stop(Stop::Fault);
                    }
                }
                Flow::Placed
            }
            Op::CallIndirect { .. } => {
                for lane in lanes_of(group) {
                    let handle = self.get(lane, inst.args[0]) as u64;
                    let args: Vec<u128> = inst.args[1..].iter().map(|&v| self.get(lane, v)).collect();
                    let Some(f) = self.callee(handle, args.len()) else {
                        // SAFETY: the runtime's functions are valid for the launch.
                        unsafe {
                            ((*self.block_ctx().runtime).bad_access)(
                                self.warp,
                                handle,
                                1,
                                false,
                                false,
                                1 << lane,
                            )
                        };
                        return Flow::Stop(Stop::Fault);
                    };
                    if !self.enter(lane, f, &args) {
                        return Flow::Stop(Stop::Fault);
                    }
                }
                Flow::Placed
            }
            Op::Builtin(b) => self.builtin(group, inst, *b),
            Op::Texture(access) => self.call_runtime(group, inst, TEXTURE | access.number()),
            // The runtime reports invalid numbers.
            Op::Bulk(bulk) => self.call_runtime(group, inst, BULK | bulk.number().unwrap_or(BULK - 1)),
            op if op.is_convergent() => self.converge(group, inst),
            op => {
                for lane in lanes_of(group) {
                    let args: smallvec::SmallVec<[u128; 4]> =
                        inst.args.iter().map(|&v| self.get(lane, v)).collect();
                    // All operations that are not pure have been handled above.
                    let Some(results) = eval::eval(op, &args) else { return Flow::Stop(Stop::Fault) };
                    for (&r, v) in inst.results.iter().zip(results) {
                        self.set(lane, r, v);
                    }
                }
                Flow::Next
            }
        }
    }

    pub(super) fn advance(&mut self, group: u64) {
        for lane in lanes_of(group) {
            self.top(lane).inst += 1;
        }
    }

    fn broadcast(&mut self, group: u64, inst: &Inst, v: u128) -> Flow {
        for lane in lanes_of(group) {
            self.set(lane, inst.results[0], v);
        }
        Flow::Next
    }

    fn callee(&self, handle: u64, args: usize) -> Option<FuncId> {
        let id = Module::func_of_handle(handle)?;
        let f = self.module().functions.get(id.index())?;
        (f.params().len() == args && !f.external && f.kernel.is_none()).then_some(id)
    }

    pub(super) fn thread(&self, lane: usize) -> u64 {
        u64::from(self.warp.index) * self.lanes() as u64 + lane as u64
    }

    /// Lanes of the group that name the same barrier and count arrive together; the others arrive at the next
    /// resume.
    fn barrier(&mut self, group: u64, inst: &Inst, mode: BarMode) -> Flow {
        let Some(leader) = lanes_of(group).next() else { return Flow::Placed };
        let key = |m: &mut Self, lane| match inst.args.as_slice() {
            &[id, threads, ..] => (m.get(lane, id) as u32, m.get(lane, threads) as u32),
            _ => (0, 0),
        };
        let (id, threads) = key(self, leader);
        let arriving =
            lanes_of(group).filter(|&l| key(self, l) == (id, threads)).fold(0, |m, l| m | 1u64 << l);
        let mut preds = 0;
        if let Some(&p) = inst.args.get(2) {
            preds = lanes_of(arriving).filter(|&l| self.get(l, p) & 1 == 1).fold(0, |m, l| m | 1u64 << l);
        }
        self.warp.bar_id = id;
        self.warp.bar_threads = threads;
        self.warp.bar_mode = BarMode::ALL.iter().position(|&m| m == mode).unwrap_or(0) as u32;
        self.warp.bar_lanes = arriving;
        self.warp.bar_preds = preds;
        self.advance(arriving);
        if mode.waits() {
            for lane in lanes_of(arriving) {
                self.state.lanes[lane].status = Status::Barrier { result: inst.results.first().copied(), id };
            }
        }
        Flow::Stop(Stop::Barrier)
    }

    fn builtin(&mut self, group: u64, inst: &Inst, which: Builtin) -> Flow {
        if which == Builtin::NanoSleep {
            let longest = lanes_of(group).map(|l| self.get(l, inst.args[0]) as u32).max();
            self.warp.sleep = longest.filter(|_| self.code.probe.is_none()).unwrap_or(0);
            self.advance(group);
            return Flow::Stop(Stop::Yield);
        }
        let number = Builtin::ALL.iter().position(|&b| b == which).unwrap_or(0) as u32;
        self.call_runtime(group, inst, number)
    }

    fn call_runtime(&mut self, group: u64, inst: &Inst, number: u32) -> Flow {
        if let Some(probe) = &self.code.probe {
            // What the runtime does is seen outside the block.
            probe.give_up();
            self.warp.live = 0;
            return Flow::Stop(Stop::Done);
        }
        let lanes = self.lanes();
        let mut args = vec![0u64; inst.args.len().max(1) * lanes];
        let mut results = vec![0u64; inst.results.len().max(1) * lanes];
        for lane in lanes_of(group) {
            for (i, &v) in inst.args.iter().enumerate() {
                args[i * lanes + lane] = self.get(lane, v) as u64;
            }
        }
        let call = {
            // SAFETY: the runtime is valid for the launch.
            unsafe { (*self.block_ctx().runtime).builtin }
        };
        // SAFETY: the arrays have an entry for each lane per operand and result.
        let code = unsafe { call(self.warp, number, group, args.as_ptr(), results.as_mut_ptr()) };
        if code != 0 {
            return Flow::Stop(Stop::Fault);
        }
        for lane in lanes_of(group) {
            for (i, &r) in inst.results.iter().enumerate() {
                self.set(lane, r, u128::from(results[i * lanes + lane]));
            }
        }
        Flow::Next
    }
}
