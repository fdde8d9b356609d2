//! Dropping nested graphs and plans without recursion, which could overflow a thread's stack.
//!
//! The contents of a graph or plan that is dropped inside another one's are put off until those are dropped.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use super::Entry;
use super::plan::{Step, Task};

/// What is dropped.
enum Part {
    Nodes(Vec<Option<Entry>>),
    Steps(Vec<Step>),
}

thread_local! {
    /// What is to be dropped after what is being dropped; `None` if nothing is. Without a destructor: graphs
    /// may be dropped when the thread's other values have been.
    static LATER: RefCell<ManuallyDrop<Option<Vec<Part>>>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Drops the nodes of a graph.
pub(super) fn drop_nodes(nodes: Vec<Option<Entry>>) {
    if !nodes.is_empty() {
        drop_part(Part::Nodes(nodes));
    }
}

/// Drops the steps of a plan.
pub(super) fn drop_steps(steps: Vec<Step>) {
    if steps.iter().any(|step| matches!(step.task, Task::Branch(_))) {
        drop_part(Part::Steps(steps));
    }
}

fn drop_part(part: Part) {
    let first = LATER.with(|later| {
        let mut later = later.borrow_mut();
        match &mut **later {
            Some(list) => {
                list.push(part);
                None
            }
            None => {
                **later = Some(Vec::new());
                Some(part)
            }
        }
    });
    let mut next = first;
    while let Some(part) = next {
        match part {
            Part::Nodes(nodes) => drop(nodes),
            Part::Steps(steps) => drop(steps),
        }
        next = LATER.with(|later| {
            let mut later = later.borrow_mut();
            let next = later.as_mut().and_then(Vec::pop);
            if next.is_none() {
                **later = None;
            }
            next
        });
    }
}
