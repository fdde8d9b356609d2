//! What flags that are set or clear say about other flags.
//!
//! A set of literals is closed by what conjunctions, disjunctions, negations and selections of flags imply,
//! in both directions, and by what holds for a block's parameters on all edges to it. Only flags whose
//! definitions dominate a place count there: then it is the same execution of them.

use std::rc::Rc;

use hashbrown::HashMap;

use super::Made;
use crate::dominance::Dominators;
use crate::func::{Block, BlockCall, Function, Inst, Terminator, Value};
use crate::op::{IntCmp, IntOp, IntUnOp, Op, VoteMode};
use crate::types::Ty;

/// Most literals of a set.
const MOST: usize = 48;
/// Most operations on a flag that are looked at.
const MOST_USERS: usize = 32;
/// Most rounds over the blocks until nothing is assumed about parameters.
const MOST_ROUNDS: usize = 12;

/// A flag that is set, or clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Literal {
    /// The flag.
    pub flag: Value,
    /// Whether it is set.
    pub set: bool,
}

impl Literal {
    /// A flag that is set.
    pub fn set(flag: Value) -> Literal {
        Literal { flag, set: true }
    }

    /// A flag that is clear.
    pub fn clear(flag: Value) -> Literal {
        Literal { flag, set: false }
    }

    fn index(self) -> usize {
        self.flag.index() * 2 + usize::from(self.set)
    }
}

/// Literals in order; `None` if no lane satisfies them.
pub(super) type Literals = Option<Rc<[Literal]>>;

/// No literals: all lanes.
pub(super) fn none() -> Rc<[Literal]> {
    Rc::from([])
}

/// The literals that both have.
pub(super) fn meet(a: &Literals, b: &Literals) -> Literals {
    match (a, b) {
        (None, other) | (other, None) => other.clone(),
        (Some(a), Some(b)) if a == b => Some(a.clone()),
        (Some(a), Some(b)) => Some(a.iter().copied().filter(|l| b.binary_search(l).is_ok()).collect()),
    }
}

fn sorted(mut all: Vec<Literal>) -> Rc<[Literal]> {
    all.sort_unstable();
    all.dedup();
    all.truncate(MOST);
    all.into()
}

/// The literals of a set and one more.
pub(super) fn with(all: &[Literal], one: Literal) -> Vec<Literal> {
    all.iter().copied().chain([one]).collect()
}

/// An operation on flags.
#[derive(Clone, Copy)]
enum Gate {
    Not(Value),
    And(Value, Value),
    Or(Value, Value),
    Select(Value, Value, Value),
}

impl Gate {
    fn of(inst: &Inst) -> Option<Gate> {
        Some(match (&inst.op, &inst.args[..]) {
            (Op::IntUn(IntUnOp::Not, Ty::I1), &[a]) => Gate::Not(a),
            (Op::Int(IntOp::And, Ty::I1), &[a, b]) => Gate::And(a, b),
            (Op::Int(IntOp::Or, Ty::I1), &[a, b]) => Gate::Or(a, b),
            (Op::Select(Ty::I1), &[c, a, b]) => Gate::Select(c, a, b),
            _ => return None,
        })
    }
}

/// The flags of a function.
pub(super) struct Known {
    /// Where each value is made.
    pub made: Made,
    /// The dominators of the function's blocks.
    pub dominators: Dominators,
    users: HashMap<Value, Vec<Value>>,
    /// By a literal of a parameter: what it says; `None` if it never holds.
    given: Vec<Literals>,
    parameters: Vec<bool>,
    closed: HashMap<(Block, Vec<Literal>), Literals>,
}

impl Known {
    /// Finds what holds for the parameters of blocks.
    pub fn new(func: &Function, order: &[Block]) -> Known {
        let n = func.values.len();
        let mut known = Known {
            made: Made::of(func, order),
            dominators: Dominators::of(func),
            users: HashMap::new(),
            given: vec![None; n * 2],
            parameters: vec![false; n],
            closed: HashMap::new(),
        };
        for &b in order {
            for inst in &func.block(b).insts {
                if let (Some(_), Some(&result)) = (Gate::of(inst), inst.results.first()) {
                    for arg in &inst.args {
                        let users = known.users.entry(*arg).or_default();
                        if users.len() < MOST_USERS {
                            users.push(result);
                        }
                    }
                }
            }
            for p in func.block(b).params.iter().filter(|p| func.ty(**p) == Ty::I1) {
                known.parameters[p.index()] = true;
            }
        }
        known.imply(func, order);
        known
    }

    /// Parameters begin with everything, and lose what an edge does not bring.
    fn imply(&mut self, func: &Function, order: &[Block]) {
        if !self.parameters.contains(&true) {
            return;
        }
        // Nothing is known about what the function is given.
        for p in order.first().map(|b| &func.block(*b).params).into_iter().flatten() {
            self.given[Literal::set(*p).index()] = Some(none());
            self.given[Literal::clear(*p).index()] = Some(none());
        }
        for _ in 0..MOST_ROUNDS {
            let mut changed = false;
            for &b in order {
                let term = &func.block(b).term;
                for (at, target) in term.targets().enumerate() {
                    changed |= self.bring(func, b, at, target);
                }
            }
            self.closed.clear();
            if !changed {
                return;
            }
        }
        self.given.iter_mut().for_each(|all| *all = Some(none()));
    }

    /// Takes what an edge brings to the parameters of its target.
    fn bring(&mut self, func: &Function, from: Block, at: usize, target: &BlockCall) -> bool {
        let mut changed = false;
        let params = &func.block(target.block).params;
        let facts = self.edge(func, from, at);
        for (&p, &v) in params.iter().zip(&target.args).filter(|(p, _)| func.ty(**p) == Ty::I1) {
            for set in [false, true] {
                let seed = facts.iter().copied().chain([Literal { flag: v, set }]).collect();
                let Some(all) = self.close(seed, from) else { continue };
                let mut brought: Vec<Literal> =
                    all.iter().copied().filter(|l| self.is_before(l.flag, target.block)).collect();
                for (&q, &w) in params.iter().zip(&target.args).filter(|(q, _)| func.ty(**q) == Ty::I1) {
                    brought.extend(self.state(w, &all).map(|set| Literal { flag: q, set }));
                }
                brought.push(Literal { flag: p, set });
                let index = Literal { flag: p, set }.index();
                let met = meet(&self.given[index], &Some(sorted(brought)));
                if met != self.given[index] {
                    self.given[index] = met;
                    self.closed.clear();
                    changed = true;
                }
            }
        }
        changed
    }

    /// What a branch says about all lanes on its way to a target: a mask that it compares with 0 is empty.
    pub fn edge(&self, func: &Function, from: Block, at: usize) -> Vec<Literal> {
        let Terminator::Branch { cond, .. } = func.block(from).term else { return vec![] };
        let Some(Inst { op: Op::IntCmp(cmp, _), args, .. }) = self.made.inst(cond) else { return vec![] };
        let empty = match cmp {
            IntCmp::Eq => at == 0,
            IntCmp::Ne => at == 1,
            _ => false,
        };
        let (mask, other) = match self.made.constant(args[0]) {
            Some(_) => (args[1], args[0]),
            None => (args[0], args[1]),
        };
        match self.made.inst(mask) {
            Some(Inst { op: Op::Vote { mode: VoteMode::Ballot, sync: false }, args, .. })
                if empty && self.made.constant(other) == Some(0) =>
            {
                vec![Literal::clear(args[0])]
            }
            _ => vec![],
        }
    }

    /// Whether a value is defined before a block begins, on every way to it.
    pub fn is_before(&self, v: Value, b: Block) -> bool {
        self.made.blocks[v.index()].is_some_and(|at| at != b && self.dominators.dominates(at, b))
    }

    /// Whether a flag is set where literals hold, if that is known.
    pub fn state(&self, v: Value, all: &[Literal]) -> Option<bool> {
        if let Some(bits) = self.made.constant(v) {
            return Some(bits & 1 == 1);
        }
        let has = |set| all.binary_search(&Literal { flag: v, set }).is_ok();
        if has(true) {
            return Some(true);
        }
        has(false).then_some(false)
    }

    /// All that follows from literals, for a place in a block.
    pub fn close(&mut self, mut seed: Vec<Literal>, at: Block) -> Literals {
        seed.sort_unstable();
        seed.dedup();
        if seed.is_empty() {
            return Some(none());
        }
        if let Some(known) = self.closed.get(&(at, seed.clone())) {
            return known.clone();
        }
        let all = self.found(&seed, at);
        self.closed.insert((at, seed), all.clone());
        all
    }

    fn found(&self, seed: &[Literal], at: Block) -> Literals {
        let mut states: HashMap<Value, bool> = HashMap::new();
        let mut all: Vec<Literal> = Vec::new();
        let mut open: Vec<Literal> = seed.to_vec();
        while let Some(l) = open.pop() {
            let state = self.made.constant(l.flag).map(|bits| bits & 1 == 1).or(states.get(&l.flag).copied());
            match state {
                Some(set) if set == l.set => continue,
                Some(_) => return None,
                None => {}
            }
            // The rest does not follow then, which loses nothing but knowledge.
            if all.len() >= MOST {
                continue;
            }
            states.insert(l.flag, l.set);
            all.push(l);
            if self.parameters[l.flag.index()] {
                open.extend(self.given[l.index()].as_ref()?.iter());
            }
            self.infer(l.flag, &states, &mut open);
            for &user in self.users.get(&l.flag).into_iter().flatten() {
                let there = self.made.blocks[user.index()].is_some_and(|b| self.dominators.dominates(b, at));
                if there {
                    self.infer(user, &states, &mut open);
                }
            }
        }
        Some(sorted(all))
    }

    /// What an operation's known operands say about its result and the others, and its result about them.
    fn infer(&self, result: Value, states: &HashMap<Value, bool>, open: &mut Vec<Literal>) {
        let Some(gate) = self.made.inst(result).and_then(Gate::of) else { return };
        let state = |v: Value| match self.made.constant(v) {
            Some(bits) => Some(bits & 1 == 1),
            None => states.get(&v).copied(),
        };
        let mut say = |flag: Value, set: bool| open.push(Literal { flag, set });
        match gate {
            Gate::Not(a) => {
                if let Some(set) = state(result) {
                    say(a, !set);
                }
                if let Some(set) = state(a) {
                    say(result, !set);
                }
            }
            // `one` is the state of an operand that decides the result.
            Gate::And(a, b) | Gate::Or(a, b) => {
                let one = matches!(gate, Gate::Or(..));
                let (x, y) = (state(a), state(b));
                if x == Some(one) || y == Some(one) {
                    say(result, one);
                }
                if x == Some(!one) && y == Some(!one) {
                    say(result, !one);
                }
                match state(result) {
                    Some(set) if set != one => {
                        say(a, !one);
                        say(b, !one);
                    }
                    Some(_) if x == Some(!one) => say(b, one),
                    Some(_) if y == Some(!one) => say(a, one),
                    _ => {}
                }
            }
            Gate::Select(c, a, b) => {
                let chosen = state(c).map(|set| if set { a } else { b });
                if let Some(chosen) = chosen {
                    if let Some(set) = state(result) {
                        say(chosen, set);
                    }
                    if let Some(set) = state(chosen) {
                        say(result, set);
                    }
                    return;
                }
                let (x, y, r) = (state(a), state(b), state(result));
                if x.is_some() && x == y {
                    say(result, x == Some(true));
                }
                if let (Some(r), Some(x)) = (r, x)
                    && r != x
                {
                    say(c, false);
                }
                if let (Some(r), Some(y)) = (r, y)
                    && r != y
                {
                    say(c, true);
                }
            }
        }
    }
}
