//! Random graphs of operations on a few words, compared with a model that runs the same operations one by
//! one.
//!
//! An operation reads and writes slots. Two operations of which one writes what the other reads or writes are
//! ordered, by an edge or by a path; all others are in no order. So every order that respects the edges has
//! the same outcome, and a launch that ignores one is found.

use hwtruth::sample;

use super::kit::*;
use crate::by_name::{self, at};

const SLOTS: usize = 6;
/// Graphs in a long run, and otherwise.
const SEEDS: [u64; 2] = [240, 48];

/// Numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `to = to * 31 + from + value`, by a kernel.
    Mix,
    /// `to = from`
    Copy,
    /// `to = value`
    Fill,
    /// `to = to * 7 + value`, by a host function.
    Host,
    /// `to = value`, by a batch.
    Write,
    Empty,
}

const KINDS: [Kind; 6] = [Kind::Mix, Kind::Copy, Kind::Fill, Kind::Host, Kind::Write, Kind::Empty];

/// What a host function gets: the address of a slot and the value.
type Note = Box<(u64, u32)>;

#[derive(Debug)]
struct Operation {
    kind: Kind,
    to: usize,
    from: usize,
    note: Note,
    /// Earlier operations.
    after: Vec<usize>,
}

impl Operation {
    fn value(&self) -> u32 {
        self.note.1
    }

    fn reads(&self, slot: usize) -> bool {
        match self.kind {
            Kind::Mix => slot == self.to || slot == self.from,
            Kind::Copy => slot == self.from,
            Kind::Host => slot == self.to,
            Kind::Fill | Kind::Write | Kind::Empty => false,
        }
    }

    fn writes(&self, slot: usize) -> bool {
        self.kind != Kind::Empty && slot == self.to
    }

    fn conflicts(&self, other: &Operation) -> bool {
        (0..SLOTS).any(|slot| {
            self.writes(slot) && (other.reads(slot) || other.writes(slot))
                || self.reads(slot) && other.writes(slot)
        })
    }

    /// The model.
    fn apply(&self, slots: &mut [u32; SLOTS]) {
        let (old, from, value) = (slots[self.to], slots[self.from], self.value());
        slots[self.to] = match self.kind {
            Kind::Mix => old.wrapping_mul(31).wrapping_add(from).wrapping_add(value),
            Kind::Copy => from,
            Kind::Fill | Kind::Write => value,
            Kind::Host => old.wrapping_mul(7).wrapping_add(value),
            Kind::Empty => old,
        };
    }
}

extern "C" fn on_host(note: u64) {
    // SAFETY: a note that lives as long as the test, with the address of a word of device memory, which no
    // other operation uses at the same time.
    unsafe {
        let (slot, value) = *(note as *const (u64, u32));
        let slot = slot as *mut u32;
        slot.write_volatile(slot.read_volatile().wrapping_mul(7).wrapping_add(value));
    }
}

/// Operations with dependencies. Of those that must be ordered, an edge is left out if a path is there
/// already; some edges that are not needed are added.
fn operations(random: &mut Random, memory: u64) -> Vec<Operation> {
    let count = 2 + random.below(24);
    let mut all: Vec<Operation> = Vec::with_capacity(count);
    let mut before: Vec<Vec<bool>> = Vec::new();
    for index in 0..count {
        let kind = KINDS[random.below(KINDS.len())];
        let (to, from) = (random.below(SLOTS), random.below(SLOTS));
        let from = if from == to { (to + 1) % SLOTS } else { from };
        let note = Box::new((memory + 4 * to as u64, random.next() as u32));
        let mut one = Operation { kind, to, from, note, after: Vec::new() };
        let mut reached = vec![false; count];
        for earlier in (0..index).rev() {
            let needed = one.conflicts(&all[earlier]) && !reached[earlier];
            if needed || random.below(12) == 0 {
                one.after.push(earlier);
                reached[earlier] = true;
                for (place, before) in reached.iter_mut().zip(&before[earlier]) {
                    *place |= before;
                }
            }
        }
        all.push(one);
        before.push(reached);
    }
    all
}

/// New values for the same operations.
fn changed(random: &mut Random, operations: &mut [Operation]) {
    for one in operations {
        one.note.1 = random.next() as u32;
    }
}

fn params_of(kit: &Kit, one: &Operation, memory: u64, use_it: &mut dyn FnMut(&mut Params) -> u64) -> u64 {
    let (to, from) = (memory + 4 * one.to as u64, memory + 4 * one.from as u64);
    match one.kind {
        Kind::Mix => kit.with_kernel("mix", &[to, from, u64::from(one.value())], |params| use_it(params)),
        Kind::Copy => use_it(&mut copy(to, from, 4)),
        Kind::Fill => use_it(&mut fill(to, one.value(), 4, 1)),
        Kind::Host => use_it(&mut host(on_host, std::ptr::from_ref(&*one.note) as u64)),
        Kind::Write => use_it(&mut kit.batch(&[[WRITE_32, to, u64::from(one.value()), 0, 0, 0]])),
        Kind::Empty => use_it(&mut params(EMPTY, &[])),
    }
}

/// The graph by its nodes; some are added with their dependencies, others get them later.
fn by_nodes(kit: &Kit, random: &mut Random, operations: &[Operation], memory: u64) -> (u64, Vec<u64>) {
    let graph = kit.graph();
    let mut nodes: Vec<u64> = Vec::new();
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for one in operations {
        let after: Vec<u64> = one.after.iter().map(|index| nodes[*index]).collect();
        let later = random.below(3) == 0;
        let now = if later { &[][..] } else { &after };
        let node = params_of(kit, one, memory, &mut |params| kit.add_to(graph, now, params));
        if later {
            to.extend(after.iter().map(|_| node));
            from.extend(after);
        }
        nodes.push(node);
    }
    kit.ok("cuGraphAddDependencies", &[graph, list(&from), list(&to), from.len() as u64]);
    (graph, nodes)
}

/// The graph by capture: each operation in one of three streams, which wait for events of the operations that
/// come before it.
fn by_capture(kit: &Kit, random: &mut Random, operations: &[Operation], memory: u64) -> u64 {
    let streams = [kit.stream, kit.made("cuStreamCreate", &[1]), kit.made("cuStreamCreate", &[1])];
    let start = kit.made("cuEventCreate", &[2]);
    let mut made = vec![start];
    let graph = kit.captured(|| {
        kit.ok("cuEventRecord", &[start, streams[0]]);
        let mut events = Vec::new();
        for one in operations {
            let s = streams[random.below(3)];
            kit.ok("cuStreamWaitEvent", &[s, start, 0]);
            for earlier in &one.after {
                kit.ok("cuStreamWaitEvent", &[s, events[*earlier], 0]);
            }
            let (to, from) = (memory + 4 * one.to as u64, memory + 4 * one.from as u64);
            let value = u64::from(one.value());
            match one.kind {
                Kind::Mix => {
                    let arguments = [to, from, value];
                    let pointers = arguments.each_ref().map(|one| std::ptr::from_ref(one) as u64);
                    let function = kit.function("mix");
                    kit.ok("cuLaunchKernel", &[function, 1, 1, 1, 1, 1, 1, 0, s, list(&pointers), 0]);
                }
                Kind::Copy => kit.ok("cuMemcpyAsync", &[to, from, 4, s]),
                Kind::Fill => kit.ok("cuMemsetD32Async", &[to, value, 1, s]),
                Kind::Host => {
                    let note = std::ptr::from_ref(&*one.note) as u64;
                    kit.ok("cuLaunchHostFunc", &[s, on_host as *const () as u64, note]);
                }
                Kind::Write => kit.ok("cuStreamWriteValue32_v2", &[s, to, value, 0]),
                Kind::Empty => {}
            }
            let event = kit.made("cuEventCreate", &[2]);
            kit.ok("cuEventRecord", &[event, s]);
            events.push(event);
        }
        for event in &events {
            kit.ok("cuStreamWaitEvent", &[streams[0], *event, 0]);
        }
        made.extend(events);
    });
    for event in made {
        kit.ok("cuEventDestroy_v2", &[event]);
    }
    kit.ok("cuStreamDestroy_v2", &[streams[1]]);
    kit.ok("cuStreamDestroy_v2", &[streams[2]]);
    graph
}

/// Launches twice, and compares with the model.
fn check(kit: &Kit, exec: u64, operations: &[Operation], memory: u64, what: &str) {
    let mut expected: [u32; SLOTS] = std::array::from_fn(|slot| slot as u32 + 1);
    kit.write(memory, &expected);
    for round in 0..2 {
        kit.run(exec);
        operations.iter().for_each(|one| one.apply(&mut expected));
        assert_eq!(kit.read::<u32, SLOTS>(memory), expected, "{what}, launch {round}: {operations:#?}");
    }
}

fn random_graphs(kit: &Kit) {
    let memory = kit.words(SLOTS as u64);
    for seed in 0..sample::of(SEEDS[0], SEEDS[1]) {
        let random = &mut Random(seed);
        let mut all = operations(random, memory);
        let (graph, nodes) = by_nodes(kit, random, &all, memory);
        let exec = kit.instantiate(graph);
        check(kit, exec, &all, memory, &format!("seed {seed}, nodes"));
        let clone = kit.made("cuGraphClone", &[graph]);
        let captured = by_capture(kit, random, &all, memory);
        for (other, way) in [(clone, "clone"), (captured, "capture")] {
            let exec = kit.instantiate(other);
            check(kit, exec, &all, memory, &format!("seed {seed}, {way}"));
            kit.rows(&[("cuGraphExecDestroy", &[exec], 0), ("cuGraphDestroy", &[other], 0)]);
        }
        // As the child of another graph.
        let outer = kit.graph();
        kit.add(outer, &[], params(GRAPH, &[graph, 0]));
        let nested = kit.instantiate(outer);
        check(kit, nested, &all, memory, &format!("seed {seed}, child"));
        kit.rows(&[("cuGraphExecDestroy", &[nested], 0), ("cuGraphDestroy", &[outer], 0)]);
        // Other values: node by node in the executable graph, and by an update from another graph.
        changed(random, &mut all);
        for (one, node) in all.iter().zip(&nodes).filter(|(one, _)| one.kind != Kind::Empty) {
            params_of(kit, one, memory, &mut |params| {
                kit.ok("cuGraphExecNodeSetParams", &[exec, *node, at(params)]);
                0
            });
        }
        check(kit, exec, &all, memory, &format!("seed {seed}, changed"));
        changed(random, &mut all);
        // The edges in the same order: the same choices again.
        let again = &mut Random(seed);
        operations(again, memory);
        let (other, _) = by_nodes(kit, again, &all, memory);
        let mut info = [0u64; 3];
        kit.ok("cuGraphExecUpdate_v2", &[exec, other, at(&mut info)]);
        check(kit, exec, &all, memory, &format!("seed {seed}, updated"));
        kit.rows(&[
            ("cuGraphDestroy", &[graph], 0),
            ("cuGraphDestroy", &[other], 0),
            ("cuGraphExecDestroy", &[exec], 0),
        ]);
    }
}

#[test]
fn random_graphs_do_what_their_operations_do_one_by_one() {
    for (engine, workers) in
        [("interpreter", "1"), ("interpreter", "4"), ("compiled", "1"), ("compiled", "4")]
    {
        by_name::isolated(
            "graphs::random::random_graphs_do_what_their_operations_do_one_by_one",
            &[("ANYWARP_ENGINE", engine), ("ANYWARP_WORKERS", workers)],
            || random_graphs(&Kit::start()),
        );
    }
}
