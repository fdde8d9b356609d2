//! Turns a recursion into a single function without calls.

use std::collections::{BTreeMap, BTreeSet};

use smallvec::SmallVec;

use super::TOP;
use super::region::{Region, Site};
use crate::func::{Block, BlockCall, Builder, Function, Inst, Loc, Terminator, Value};
use crate::module::FuncId;
use crate::op::{Builtin, Guard, IntCmp, IntOp, MemMode, Op, SReg, ShiftOp, Space};
use crate::types::Ty;

/// Bytes between the start of a flattened function's stack and its first frame; their end holds the return
/// record of the first activation.
const BELOW: u128 = 16;

/// A function without calls that replaces a recursive one. Its first parameter is the offset in local memory
/// where its stack may begin.
pub struct Flattened {
    /// The function.
    pub func: Function,
    /// Alignment of the start of the stack.
    pub align: u64,
}

/// Values that go through the dispatch: parameters of its block, of each type as many as the longest list
/// needs.
struct Registers {
    all: Vec<(Ty, Value)>,
}

impl Registers {
    /// Creates enough registers for all of these lists of types.
    fn new(func: &mut Function, dispatch: Block, lists: &[Vec<Ty>]) -> Registers {
        let mut all = Vec::new();
        for ty in Ty::ALL {
            let most = lists.iter().map(|l| l.iter().filter(|t| **t == ty).count()).max().unwrap_or(0);
            (0..most).for_each(|_| all.push((ty, func.new_param(dispatch, ty))));
        }
        Registers { all }
    }

    /// The indices of the registers that hold a list's values.
    fn places(&self, list: &[Ty]) -> Vec<usize> {
        let mut taken = BTreeSet::new();
        let mut place = |ty: &Ty| {
            let free = self.all.iter().enumerate().position(|(i, (t, _))| t == ty && !taken.contains(&i));
            taken.extend(free);
            free
        };
        list.iter().filter_map(&mut place).collect()
    }

    /// The registers that hold a list's values.
    fn hold(&self, list: &[Ty]) -> Vec<Value> {
        self.places(list).into_iter().map(|i| self.all[i].1).collect()
    }

    /// All registers, with the list's values in theirs; `rest` provides the others.
    fn with(&self, func: &Function, list: &[Value], rest: impl Fn(usize) -> Value) -> Vec<Value> {
        let types: Vec<Ty> = list.iter().map(|&v| func.ty(v)).collect();
        let mut out: Vec<Value> = (0..self.all.len()).map(rest).collect();
        for (place, &v) in self.places(&types).into_iter().zip(list) {
            out[place] = v;
        }
        out
    }
}

/// The targets of the dispatch, numbered in order.
#[derive(Default)]
struct Places {
    numbers: BTreeMap<Place, u32>,
    targets: Vec<BlockCall>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Leaves the flattened function.
    Exit,
    /// The beginning of a function.
    Entry(FuncId),
    /// The continuation of a call, or the header of a loop.
    Block(usize),
}

impl Places {
    fn add(&mut self, place: Place, target: BlockCall) {
        self.numbers.insert(place, self.targets.len() as u32);
        self.targets.push(target);
    }

    fn number(&self, place: Place) -> u32 {
        self.numbers.get(&place).copied().unwrap_or(0)
    }
}

/// A flattened function under construction.
struct Making {
    func: Function,
    dispatch: Block,
    overflow: Block,
    /// The stack pointer: a parameter of the dispatch block.
    stack: Value,
    registers: Registers,
    places: Places,
}

impl Flattened {
    /// Builds the flattened function for calls of `first` from outside. `bodies` are the functions of the
    /// recursion, each with the alignment that its slots need.
    pub fn new(source: &Function, first: FuncId, bodies: BTreeMap<FuncId, (Function, u64)>) -> Flattened {
        let mut func = Function {
            name: source.name.clone(),
            width: source.width,
            results: source.results.clone(),
            ..Function::default()
        };
        let [start, begin, dispatch, exit, overflow] = std::array::from_fn(|_| func.new_block());
        let top = func.new_param(start, Ty::I64);
        let args: Vec<Value> = source.params().into_iter().map(|ty| func.new_param(start, ty)).collect();
        let place = func.new_param(dispatch, Ty::I32);
        let stack = func.new_param(dispatch, Ty::I64);
        let members: BTreeSet<FuncId> = bodies.keys().copied().collect();
        let mut regions: BTreeMap<FuncId, Region> = bodies
            .iter()
            .map(|(&f, (body, align))| (f, Region::new(&mut func, body, *align, &members)))
            .collect();
        let align = regions.values().map(|r| r.align).max().unwrap_or(8);
        for region in regions.values_mut() {
            region.frame = region.frame.next_multiple_of(align);
        }
        let results: BTreeMap<FuncId, Vec<Ty>> =
            bodies.iter().map(|(&f, (body, _))| (f, body.results.clone())).collect();

        // What goes through the dispatch: arguments, results, and the values carried by loops that are routed
        // through it.
        let types = |func: &Function, list: &[Value]| list.iter().map(|&v| func.ty(v)).collect::<Vec<Ty>>();
        let mut lists: Vec<Vec<Ty>> = results.values().cloned().collect();
        for region in regions.values() {
            lists.push(types(&func, &func.block(region.entry).params));
            for header in region.routed.keys() {
                let mut list = types(&func, &func.blocks[*header].params);
                list.extend(types(&func, region.needs.get(header).map_or(&[], Vec::as_slice)));
                lists.push(list);
            }
        }
        let registers = Registers::new(&mut func, dispatch, &lists);
        let mut places = Places::default();
        let out = BlockCall { block: exit, args: registers.hold(&source.results) };
        let given: Vec<Value> = source.results.iter().map(|&ty| func.new_param(exit, ty)).collect();
        func.block_mut(exit).term = Terminator::Return(given);
        places.add(Place::Exit, out);
        let mut entries = BTreeMap::new();
        for &f in regions.keys() {
            let block = func.new_block();
            entries.insert(f, block);
            places.add(Place::Entry(f), BlockCall::to(block));
        }
        for region in regions.values() {
            for site in &region.sites {
                let args = registers.hold(&types(&func, &func.blocks[site.rest].params));
                places.add(Place::Block(site.rest), BlockCall { block: Block(site.rest as u32), args });
            }
            for &header in region.routed.keys() {
                let mut list = types(&func, &func.blocks[header].params);
                list.extend(types(&func, region.needs.get(&header).map_or(&[], Vec::as_slice)));
                let args = registers.hold(&list);
                places.add(Place::Block(header), BlockCall { block: Block(header as u32), args });
            }
        }
        func.block_mut(dispatch).term = Terminator::Switch { index: place, targets: places.targets.clone() };
        let mut making = Making { func, dispatch, overflow, stack, registers, places };
        // A function that recurses, rather than the kernel that calls it.
        let named = regions.iter().find(|(id, _)| **id != first).map(|(_, region)| region);
        let loc = named.or_else(|| regions.get(&first)).map_or(Loc::default(), |r| making.loc_of(r));
        making.fill_overflow(overflow, loc);
        making.fill_start([start, begin], top, &args, first);
        // The distance that a return goes back, if it is the same for all callers.
        let frames: BTreeSet<u64> = regions.values().map(|r| r.frame).collect();
        let back = if frames.len() == 1 { frames.first().copied() } else { None };
        for (f, region) in &regions {
            making.fill_entry(entries[f], region);
            making.fill_region(region, back);
        }
        making.func.slots.clear();
        Flattened { func: making.func, align }
    }
}

impl Making {
    fn builder(&mut self, block: Block, loc: Loc) -> Builder<'_> {
        let mut b = Builder::new(&mut self.func, block);
        b.loc = loc;
        b
    }

    /// Where a function begins.
    fn loc_of(&self, region: &Region) -> Loc {
        let data = self.func.block(region.entry);
        data.insts.first().map_or(data.term_loc, |i| i.loc)
    }

    /// Fills the block for an overflow in the function at `loc`.
    fn fill_overflow(&mut self, block: Block, loc: Loc) {
        self.builder(block, loc).emit(Op::Builtin(Builtin::StackOverflow), &[]);
    }

    /// Fills the start: the caller of the outermost activation is the exit.
    fn fill_start(&mut self, [start, begin]: [Block; 2], top: Value, args: &[Value], first: FuncId) {
        let overflow = self.overflow;
        let mut b = self.builder(start, Loc::default());
        let below = b.iconst(Ty::I64, BELOW);
        let stack = b.int(IntOp::Add, top, below);
        let size = b.emit1(Op::Special(SReg::LocalSize64), &[]);
        let cond = b.emit1(Op::IntCmp(IntCmp::LeU, Ty::I64), &[stack, size]);
        b.terminate(Terminator::Branch { cond, then: BlockCall::to(begin), els: BlockCall::to(overflow) });
        let number = u128::from(self.places.number(Place::Entry(first)));
        let exit = u128::from(self.places.number(Place::Exit));
        let types: Vec<Ty> = self.registers.all.iter().map(|r| r.0).collect();
        let mut b = self.builder(begin, Loc::default());
        let word = b.iconst(Ty::I64, exit);
        b.emit(store(Ty::I64, -8), &[stack, word]);
        let place = b.iconst(Ty::I32, number);
        let zeros: Vec<Value> = types.into_iter().map(|ty| b.iconst(ty, 0)).collect();
        let mut list = vec![place, stack];
        list.extend(self.registers.with(&self.func, args, |i| zeros[i]));
        self.func.block_mut(begin).term = Terminator::Jump(BlockCall { block: self.dispatch, args: list });
    }

    /// Fills a function's beginning: checks that there is room for its frame.
    fn fill_entry(&mut self, block: Block, region: &Region) {
        let params = &self.func.block(region.entry).params;
        let types: Vec<Ty> = params.iter().map(|&p| self.func.ty(p)).collect();
        let then = BlockCall { block: region.entry, args: self.registers.hold(&types) };
        // One block for all: with one for each function, the kernel `rounds` of tests/ptx/recursion.ptx ended
        // with a false overflow.
        let (stack, overflow) = (self.stack, self.overflow);
        let loc = self.loc_of(region);
        let mut b = self.builder(block, loc);
        let frame = b.iconst(Ty::I64, u128::from(region.frame));
        let end = b.int(IntOp::Add, stack, frame);
        let size = b.emit1(Op::Special(SReg::LocalSize64), &[]);
        let cond = b.emit1(Op::IntCmp(IntCmp::LeU, Ty::I64), &[end, size]);
        b.terminate(Terminator::Branch { cond, then, els: BlockCall::to(overflow) });
    }

    /// Turns the calls and returns of a region into jumps.
    fn fill_region(&mut self, region: &Region, back: Option<u64>) {
        let sites: BTreeMap<usize, &Site> = region.sites.iter().map(|s| (s.block, s)).collect();
        let resumed: BTreeMap<usize, &Site> = region.sites.iter().map(|s| (s.rest, s)).collect();
        for &b in &region.blocks {
            let loc = self.func.blocks[b].term_loc;
            let mut old = std::mem::take(&mut self.func.blocks[b].insts);
            let mut names: BTreeMap<Value, Value> = BTreeMap::new();
            let needs = region.needs.get(&b).map_or(&[][..], Vec::as_slice);
            match resumed.get(&b) {
                Some(site) => {
                    for &(v, at) in &site.kept {
                        let again = self.reload(b, v, at, site.loc);
                        names.insert(v, again);
                    }
                }
                None => {
                    for &v in needs {
                        let ty = self.func.ty(v);
                        names.insert(v, self.func.new_param(Block(b as u32), ty));
                    }
                }
            }
            self.make_anew(b, &old, region, sites.get(&b).copied(), &mut names);
            for inst in &mut old {
                inst.args.iter_mut().for_each(|v| *v = named(&names, *v));
            }
            self.func.blocks[b].insts.append(&mut old);
            match (sites.get(&b), self.func.blocks[b].term.clone()) {
                (Some(site), _) => self.call(site, region, &names),
                (None, Terminator::Return(list)) => {
                    let list: Vec<Value> = list.iter().map(|&v| named(&names, v)).collect();
                    self.go_back(b, &list, back, loc);
                }
                (None, mut term) => {
                    match &mut term {
                        Terminator::Branch { cond: v, .. } | Terminator::Switch { index: v, .. } => {
                            *v = named(&names, *v);
                        }
                        _ => {}
                    }
                    for target in term.targets_mut() {
                        target.args.iter_mut().for_each(|v| *v = named(&names, *v));
                        let to = target.block.index();
                        let more = region.needs.get(&to).into_iter().flatten();
                        target.args.extend(more.map(|&v| named(&names, v)));
                        if region.routed.get(&to).is_some_and(|l| l.contains(&b)) {
                            *target = self.through(b, Place::Block(to), &target.args, loc);
                        }
                    }
                    self.func.blocks[b].term = term;
                }
            }
        }
        self.place_slots(region);
    }

    /// Rematerialises values at the beginning of a block that uses them, if they are not kept in the frame.
    fn make_anew(
        &mut self,
        b: usize,
        insts: &[Inst],
        region: &Region,
        site: Option<&Site>,
        names: &mut BTreeMap<Value, Value>,
    ) {
        let own: BTreeSet<Value> = insts.iter().flat_map(|i| i.results.iter().copied()).collect();
        let ends = site.map_or_else(|| self.func.blocks[b].term.uses(), |s| s.args.clone());
        let uses = insts.iter().flat_map(|i| i.args.iter().copied()).chain(ends);
        for v in uses.filter(|v| !own.contains(v)) {
            self.one_anew(b, v, region, names);
        }
    }

    fn one_anew(&mut self, b: usize, v: Value, region: &Region, names: &mut BTreeMap<Value, Value>) {
        let Some(inst) = region.anew.get(&v) else { return };
        if names.contains_key(&v) {
            return;
        }
        // A chain of few operations (see `region`), so the recursion is shallow.
        inst.args.iter().for_each(|&a| self.one_anew(b, a, region, names));
        let ty = self.func.ty(v);
        let again = self.func.new_value(ty);
        names.insert(v, again);
        let args = inst.args.iter().map(|&a| named(names, a)).collect();
        let results = SmallVec::from_slice(&[again]);
        self.func.blocks[b].insts.push(Inst { op: inst.op.clone(), args, results, loc: inst.loc });
    }

    fn reload(&mut self, block: usize, v: Value, at: u64, loc: Loc) -> Value {
        let (ty, stack) = (self.func.ty(v), self.stack);
        let mut b = self.builder(Block(block as u32), loc);
        match ty {
            Ty::I1 => {
                let byte = b.emit1(load(Ty::I8, at as i32), &[stack]);
                let zero = b.iconst(Ty::I8, 0);
                b.emit1(Op::IntCmp(IntCmp::Ne, Ty::I8), &[byte, zero])
            }
            _ => b.emit1(load(ty, at as i32), &[stack]),
        }
    }

    /// A call: saves what is needed afterwards and goes to the callee.
    fn call(&mut self, site: &Site, region: &Region, names: &BTreeMap<Value, Value>) {
        let (stack, block) = (self.stack, Block(site.block as u32));
        let number = u128::from(self.places.number(Place::Block(site.rest)));
        for &(v, at) in &site.kept {
            let v = named(names, v);
            let ty = self.func.ty(v);
            let mut b = self.builder(block, site.loc);
            if ty == Ty::I1 {
                let byte = b.emit1(Op::Zext { from: Ty::I1, to: Ty::I8 }, &[v]);
                b.emit(store(Ty::I8, at as i32), &[stack, byte]);
            } else {
                b.emit(store(ty, at as i32), &[stack, v]);
            }
        }
        let mut b = self.builder(block, site.loc);
        let word = b.iconst(Ty::I64, u128::from(region.frame) << 32 | number);
        b.emit(store(Ty::I64, region.frame as i32 - 8), &[stack, word]);
        let frame = b.iconst(Ty::I64, u128::from(region.frame));
        let above = b.int(IntOp::Add, stack, frame);
        let args: Vec<Value> = site.args.iter().map(|&v| named(names, v)).collect();
        let mut to = self.through(site.block, Place::Entry(site.callee), &args, site.loc);
        to.args[1] = above;
        let data = self.func.block_mut(block);
        data.term = Terminator::Jump(to);
        data.term_loc = site.loc;
    }

    /// A return: reads the continuation, and the distance to the caller's frame.
    fn go_back(&mut self, block: usize, results: &[Value], back: Option<u64>, loc: Loc) {
        let stack = self.stack;
        let mut b = self.builder(Block(block as u32), loc);
        let word = b.emit1(load(Ty::I64, -8), &[stack]);
        let place = b.emit1(Op::Zext { from: Ty::I64, to: Ty::I32 }, &[word]);
        let down = match back {
            Some(bytes) => b.iconst(Ty::I64, u128::from(bytes)),
            None => {
                let half = b.iconst(Ty::I32, 32);
                b.emit1(Op::Shift(ShiftOp::ShrU, Ty::I64), &[word, half])
            }
        };
        let below = b.int(IntOp::Sub, stack, down);
        let mut args = vec![place, below];
        args.extend(self.registers.with(&self.func, results, |i| self.registers.all[i].1));
        self.func.blocks[block].term = Terminator::Jump(BlockCall { block: self.dispatch, args });
    }

    /// Jumps from a block to a target through the dispatch, with an unchanged stack pointer.
    fn through(&mut self, block: usize, place: Place, values: &[Value], loc: Loc) -> BlockCall {
        let number = u128::from(self.places.number(place));
        let number = self.builder(Block(block as u32), loc).iconst(Ty::I32, number);
        let mut args = vec![number, self.stack];
        args.extend(self.registers.with(&self.func, values, |i| self.registers.all[i].1));
        BlockCall { block: self.dispatch, args }
    }

    /// Places the slots in the frame.
    fn place_slots(&mut self, region: &Region) {
        let (first, offsets) = &region.slots;
        for &b in &region.blocks {
            let old = std::mem::take(&mut self.func.blocks[b].insts);
            let mut new = Vec::with_capacity(old.len());
            for mut inst in old {
                if let Op::LocalAddr(slot) = inst.op {
                    let offset = if slot == TOP {
                        region.frame
                    } else {
                        offsets.get(slot.wrapping_sub(*first) as usize).copied().unwrap_or(0)
                    };
                    let constant = self.func.new_value(Ty::I64);
                    new.push(Inst {
                        op: Op::Const { ty: Ty::I64, bits: u128::from(offset) },
                        args: SmallVec::new(),
                        results: SmallVec::from_slice(&[constant]),
                        loc: inst.loc,
                    });
                    inst.op = Op::Int(IntOp::Add, Ty::I64);
                    inst.args = SmallVec::from_slice(&[self.stack, constant]);
                }
                new.push(inst);
            }
            self.func.blocks[b].insts = new;
        }
    }
}

fn named(names: &BTreeMap<Value, Value>, v: Value) -> Value {
    names.get(&v).copied().unwrap_or(v)
}

fn load(ty: Ty, offset: i32) -> Op {
    Op::Load { mem: MemMode::weak(Space::Local), ty, count: 1, offset, guard: Guard::Always }
}

fn store(ty: Ty, offset: i32) -> Op {
    Op::Store { mem: MemMode::weak(Space::Local), ty, count: 1, offset, guard: Guard::Always }
}
