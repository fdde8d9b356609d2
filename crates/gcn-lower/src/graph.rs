//! The control flow of a kernel with its functions: blocks by the place in the code and the calls that lead
//! to them.
//!
//! AMD's calls are jumps: `s_swappc_b64` writes the address after it to a pair of SGPRs, `s_setpc_b64` goes
//! back. Registers and the stack need no treatment, since a function's blocks become blocks of the kernel.
//! Each call has a copy of the function, so that it returns to one place. Where that makes too much code, a
//! long function has one copy for all calls from a function; one that may call itself has one for the calls
//! from inside the recursion. The return of such a copy compares the address with those of all of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gcn::CodeObject;
use gcn::isa::{Inst, Role, Value as Place};
use hashbrown::HashMap;

use crate::code::{self, Code, Next, Test};
use crate::error::Error;
use crate::flow::Words;

/// Most instructions that copies for each call may make; beyond, the calls in a function share long
/// functions.
const MOST_FOR_CALLS: usize = 1_500;

/// Functions with at least this many instructions are long.
const LONG: usize = 40;

/// Most instructions of copies for each function that calls; beyond, all calls share their functions.
const MOST: usize = 60_000;

/// Instructions that an address takes which a call or a return compares with its own: a comparison and a
/// branch with all registers.
const COMPARED: usize = 4;

/// The register pair by which functions return in AMD's calling convention.
const RETURN: u16 = 30;

/// How a block ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The wave ends.
    Ends,
    /// The wave traps: by an instruction, or because it goes on where no code is known.
    Traps,
    /// It goes on in one block.
    Jumps(usize),
    /// To the first block if the test says so, otherwise to the second.
    Branches(Test, usize, usize),
    /// To the block whose address the instruction's source holds; a trap if there is none.
    Chooses(Vec<(u64, usize)>),
}

/// A block.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Where its code begins.
    pub leader: u64,
    /// How it ends.
    pub end: End,
    /// What is known where it begins.
    pub known: Words,
}

/// The blocks; the first is the entry.
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    /// Those that end in a call inside a recursion.
    pub recursive: BTreeSet<usize>,
    /// The addresses in the object that its relocations write, by place.
    pub stored: BTreeMap<u64, u64>,
}

impl End {
    /// Where it goes on, with repetition.
    pub fn targets(&self) -> Vec<usize> {
        match self {
            End::Ends | End::Traps => Vec::new(),
            End::Jumps(to) => vec![*to],
            End::Branches(_, to, after) => vec![*to, *after],
            End::Chooses(all) => all.iter().map(|(_, to)| *to).collect(),
        }
    }
}

/// A copy of a function.
struct Copy {
    function: u64,
    /// The copy by which a recursion was entered: functions that call each other share it.
    recursion: usize,
    /// Where it returns to, and the copy of the caller.
    returns: Vec<(u64, usize)>,
    /// Blocks that return.
    leaving: BTreeSet<usize>,
}

/// The calls that share a copy of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Call {
    /// All.
    Any { function: u64 },
    /// Those inside the recursion that was entered by this copy.
    Inside { recursion: usize, function: u64 },
    /// Those in a copy of the caller.
    From { caller: usize, function: u64 },
    /// One, by the address that it returns to.
    One { caller: usize, back: u64, function: u64 },
}

/// A block while the graph is made.
struct Open {
    copy: usize,
    leader: u64,
    known: Words,
}

struct Maker<'a> {
    code: &'a Code,
    /// Addresses that relocations write.
    stored: &'a BTreeMap<u64, u64>,
    /// Functions whose address is used otherwise than to call them.
    taken: BTreeSet<u64>,
    /// Groups of functions that call each other, by function; `None`: calls share all functions.
    groups: Option<BTreeMap<u64, u64>>,
    /// Functions that the calls in a copy of a function share.
    shared: BTreeSet<u64>,
    copies: Vec<Copy>,
    by_call: HashMap<Call, usize>,
    nodes: Vec<Open>,
    by_place: HashMap<(usize, u64), usize>,
    waiting: VecDeque<usize>,
    /// Which functions a function calls.
    calls: BTreeMap<u64, BTreeSet<u64>>,
    /// Blocks that end in a call inside a recursion.
    recursive: BTreeSet<usize>,
    /// Blocks that end in the call of an address, with the number of functions that it may be.
    choosing: BTreeMap<usize, usize>,
    /// Code that is called and not decoded yet.
    unread: BTreeSet<u64>,
    instructions: usize,
}

/// The addresses in the object that its relocations write, by place.
fn stored(object: &CodeObject<'_>) -> BTreeMap<u64, u64> {
    let symbols: HashMap<&str, u64> =
        object.symbols.iter().filter(|s| !s.undefined).map(|s| (s.name.as_str(), s.address)).collect();
    let target = |r: &gcn::object::Relocation| {
        let symbol = if r.symbol.is_empty() { 0 } else { *symbols.get(r.symbol.as_str())? };
        Some((r.address, symbol.wrapping_add_signed(r.addend)))
    };
    object.relocations.iter().filter_map(target).collect()
}

impl Graph {
    /// Whether the descriptor may not know how much memory the stack takes: where calls choose their
    /// function, or return to an address that is not known here.
    pub fn is_unbounded(&self) -> bool {
        self.nodes.iter().any(|node| matches!(&node.end, End::Chooses(all) if !all.is_empty()))
    }

    /// The graph of a kernel; reads the functions that it calls into `code`.
    pub fn of(object: &CodeObject<'_>, code: &mut Code, entry: Words) -> Result<Graph, Vec<Error>> {
        let stored = stored(object);
        let in_code = |address: &u64| {
            let holds = |s: &gcn::object::Section<'_>| {
                s.code && s.address <= *address && address - s.address < s.bytes.len() as u64
            };
            address.is_multiple_of(4) && object.sections.iter().any(holds)
        };
        let mut taken: BTreeSet<u64> = stored.values().copied().filter(in_code).collect();
        loop {
            let make = |groups, shared| {
                let mut maker = Maker::new(code, &stored, taken.clone(), groups, shared);
                maker.run(&entry);
                maker
            };
            let mut maker = make(None, BTreeSet::new());
            let found: BTreeSet<u64> = maker.taken.iter().copied().filter(in_code).collect();
            let unread: Vec<u64> = maker.unread.iter().copied().filter(in_code).collect();
            let (shared, calls) = (maker.copies.iter().any(|c| c.returns.len() > 1), maker.calls.clone());
            if !unread.is_empty() || found != taken {
                taken = found;
                unread.iter().try_for_each(|address| code.read_from(object, *address))?;
                continue;
            }
            if shared {
                let groups = groups(&calls);
                let mut copied = make(Some(groups.clone()), BTreeSet::new());
                if copied.size() > MOST_FOR_CALLS {
                    copied = make(Some(groups), maker.long());
                }
                if copied.size() <= MOST && copied.unread.iter().all(|a| !in_code(a)) {
                    maker = copied;
                }
            }
            if !shared {
                maker.recursive.clear();
            }
            return Ok(maker.finished());
        }
    }
}

/// The recursion that each function belongs to, by its lowest address; functions outside of any are absent.
fn groups(calls: &BTreeMap<u64, BTreeSet<u64>>) -> BTreeMap<u64, u64> {
    let reached = |from: u64| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(function) = open.pop() {
            let callees = calls.get(&function).into_iter().flatten().copied();
            open.extend(callees.filter(|callee| seen.insert(*callee)));
        }
        seen
    };
    let all: BTreeMap<u64, BTreeSet<u64>> = calls.keys().map(|f| (*f, reached(*f))).collect();
    let group = |function: &u64, own: &BTreeSet<u64>| {
        own.iter().copied().filter(|other| all.get(other).is_some_and(|seen| seen.contains(function))).min()
    };
    all.iter().filter_map(|(function, own)| Some((*function, group(function, own)?))).collect()
}

impl<'a> Maker<'a> {
    fn new(
        code: &'a Code,
        stored: &'a BTreeMap<u64, u64>,
        taken: BTreeSet<u64>,
        groups: Option<BTreeMap<u64, u64>>,
        shared: BTreeSet<u64>,
    ) -> Maker<'a> {
        let root = Copy { function: code.entry, recursion: 0, returns: Vec::new(), leaving: BTreeSet::new() };
        Maker {
            code,
            stored,
            taken,
            groups,
            shared,
            copies: vec![root],
            by_call: HashMap::from([(Call::Any { function: code.entry }, 0)]),
            nodes: Vec::new(),
            by_place: HashMap::new(),
            waiting: VecDeque::new(),
            calls: BTreeMap::new(),
            recursive: BTreeSet::new(),
            choosing: BTreeMap::new(),
            unread: BTreeSet::new(),
            instructions: 0,
        }
    }

    fn run(&mut self, entry: &Words) {
        self.reach(0, self.code.entry, entry);
        while let Some(node) = self.waiting.pop_front() {
            if self.groups.is_some() && self.instructions > MOST {
                return;
            }
            self.leave(node);
        }
    }

    /// The instructions, with those that compare addresses. Functions that may all call each other have as
    /// many copies as there are pairs of them, and each copy compares with all.
    fn size(&self) -> usize {
        let returns = self.copies.iter().map(|copy| copy.leaving.len() * copy.returns.len());
        let compared = returns.chain(self.choosing.values().copied()).sum::<usize>();
        self.instructions + COMPARED * compared
    }

    /// The long functions, where each has one copy.
    fn long(&self) -> BTreeSet<u64> {
        let mut sizes = vec![0; self.copies.len()];
        for node in &self.nodes {
            sizes[node.copy] += self.code.block(node.leader).count();
        }
        self.copies
            .iter()
            .zip(sizes)
            .filter(|(_, size)| *size >= LONG)
            .map(|(copy, _)| copy.function)
            .collect()
    }

    /// A block that control reaches with what is known.
    fn reach(&mut self, copy: usize, leader: u64, known: &Words) -> Option<usize> {
        if !self.code.leaders.contains(&leader) {
            self.unread.insert(leader);
            return None;
        }
        if let Some(&node) = self.by_place.get(&(copy, leader)) {
            if self.nodes.get_mut(node)?.known.meet(known, &mut self.taken) {
                self.waiting.push_back(node);
            }
            return Some(node);
        }
        let node = self.nodes.len();
        self.instructions += self.code.block(leader).count();
        self.nodes.push(Open { copy, leader, known: known.clone() });
        self.by_place.insert((copy, leader), node);
        self.waiting.push_back(node);
        Some(node)
    }

    /// Whether a call from a copy stays inside a recursion; any may if calls share all functions.
    fn is_recursion(&self, caller: usize, function: u64) -> bool {
        let Some(groups) = &self.groups else { return true };
        let group = groups.get(&function);
        group.is_some() && group == groups.get(&self.copies[caller].function)
    }

    /// The copy of a function for a call.
    fn called(&mut self, caller: usize, back: u64, function: u64) -> usize {
        let from = &self.copies[caller];
        self.calls.entry(from.function).or_default().insert(function);
        self.calls.entry(function).or_default();
        let recursion = from.recursion;
        let call = match &self.groups {
            None => Call::Any { function },
            Some(groups) => match groups.get(&function) {
                Some(group) if groups.get(&from.function) == Some(group) => {
                    Call::Inside { recursion, function }
                }
                _ if self.shared.contains(&function) => Call::From { caller, function },
                _ => Call::One { caller, back, function },
            },
        };
        let next = self.copies.len();
        let copy = *self.by_call.entry(call).or_insert(next);
        if copy == next {
            let recursion = if matches!(call, Call::Inside { .. }) { recursion } else { next };
            self.copies.push(Copy { function, recursion, returns: Vec::new(), leaving: BTreeSet::new() });
            self.by_call.insert(Call::Inside { recursion, function }, next);
        }
        let known = &mut self.copies[copy];
        if !known.returns.contains(&(back, caller)) {
            known.returns.push((back, caller));
            self.waiting.extend(known.leaving.iter().copied());
        }
        copy
    }

    /// Follows a block to where it leads.
    fn leave(&mut self, node: usize) -> End {
        let Some(Open { copy, leader, known }) = self.nodes.get(node) else { return End::Traps };
        let (copy, leader, mut known) = (*copy, *leader, known.clone());
        let code = self.code;
        let mut last = None;
        for inst in code.block(leader) {
            self.taken.extend(known.escaping(inst));
            last = Some((inst, known.clone()));
            known.step(inst, |place| self.stored.get(&place).copied());
        }
        let Some((last, before)) = last else { return End::Traps };
        let after = last.address.wrapping_add(u64::from(last.size));
        let jumps = |to: Option<usize>| to.map_or(End::Traps, End::Jumps);
        match code::next(last) {
            Ok(Next::Falls) => jumps(self.reach(copy, after, &known)),
            Ok(Next::Jumps(to)) => jumps(self.reach(copy, to, &known)),
            Ok(Next::Branches(test, to)) => {
                match (self.reach(copy, to, &known), self.reach(copy, after, &known)) {
                    (Some(to), Some(after)) => End::Branches(test, to, after),
                    _ => End::Traps,
                }
            }
            Ok(Next::Calls(to)) => {
                let to = to.or_else(|| before.address(last.operand(Role::Src0)?));
                let call = |maker: &mut Self, function| {
                    let callee = maker.called(copy, after, function);
                    if maker.is_recursion(copy, function) {
                        maker.recursive.insert(node);
                    }
                    maker.reach(callee, function, &known)
                };
                match to {
                    Some(function) => jumps(call(self, function)),
                    None => {
                        let all: Vec<u64> = self.taken.iter().copied().collect();
                        self.choosing.insert(node, all.len());
                        let found = all.into_iter().filter_map(|f| Some((f, call(self, f)?)));
                        End::Chooses(found.collect())
                    }
                }
            }
            Ok(Next::Leaves) => self.back(node, copy, last, &before, &known),
            Ok(Next::Ends) => End::Ends,
            Ok(Next::Traps) | Err(_) => End::Traps,
        }
    }

    /// Where a jump to an address in registers leads: a return, or the call of a function that returns for
    /// this one.
    fn back(&mut self, node: usize, copy: usize, last: &Inst, before: &Words, known: &Words) -> End {
        self.copies[copy].leaving.insert(node);
        let source = last.operand(Role::Src0);
        let returns = self.copies[copy].returns.clone();
        if let Some(to) = source.and_then(|o| before.address(o)) {
            let caller = returns.iter().find(|(back, _)| *back == to).map_or(copy, |(_, caller)| *caller);
            return self.reach(caller, to, known).map_or(End::Traps, End::Jumps);
        }
        let mut found = Vec::new();
        for (back, caller) in returns {
            found.extend(self.reach(caller, back, known).map(|to| (back, to)));
        }
        if source.is_none_or(|o| o.value != Place::Sgpr(RETURN)) {
            for function in self.taken.clone() {
                found.extend(self.reach(copy, function, known).map(|to| (function, to)));
            }
        }
        End::Chooses(found)
    }

    /// The blocks that can still be reached now that all is known.
    fn finished(mut self) -> Graph {
        // What a call leads to may still become known here, and the blocks of functions whose address was
        // found after their callers.
        let ends = loop {
            let count = self.nodes.len();
            let ends: Vec<End> = (0..count).map(|node| self.leave(node)).collect();
            if self.waiting.is_empty() && self.nodes.len() == count {
                break ends;
            }
            while let Some(node) = self.waiting.pop_front() {
                self.leave(node);
            }
        };
        let mut order = Vec::new();
        let mut number: HashMap<usize, usize> = HashMap::new();
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            if number.contains_key(&node) {
                continue;
            }
            number.insert(node, order.len());
            order.push(node);
            open.extend(ends.get(node).map(End::targets).unwrap_or_default());
        }
        let place = |node: &usize| number.get(node).copied().unwrap_or(0);
        let nodes = order.iter().filter_map(|node| {
            let open = self.nodes.get(*node)?;
            let end = match ends.get(*node)? {
                End::Ends => End::Ends,
                End::Traps => End::Traps,
                End::Jumps(to) => End::Jumps(place(to)),
                End::Branches(test, to, after) => End::Branches(*test, place(to), place(after)),
                End::Chooses(all) => End::Chooses(all.iter().map(|(at, to)| (*at, place(to))).collect()),
            };
            Some(Node { leader: open.leader, end, known: open.known.clone() })
        });
        let nodes = nodes.collect();
        let recursive = self.recursive.iter().filter_map(|node| number.get(node).copied()).collect();
        Graph { nodes, recursive, stored: self.stored.clone() }
    }
}
