//! Descriptions of graphs in the DOT language of Graphviz.

use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::stream::HostCall;

use super::work::{Kind, Work};
use super::{Graph, conditional};

/// What is described besides nodes and edges.
pub mod flag {
    /// Everything.
    pub const VERBOSE: u32 = 1 << 0;
    /// The names that the CUDA runtime uses.
    pub const RUNTIME_TYPES: u32 = 1 << 1;
    /// Parameters of kernel, copy, fill, host and event nodes, each with its own flag.
    pub const KERNEL_PARAMS: u32 = 1 << 2;
    /// Parameters of copy nodes.
    pub const COPY_PARAMS: u32 = 1 << 3;
    /// Parameters of fill nodes.
    pub const FILL_PARAMS: u32 = 1 << 4;
    /// Parameters of host nodes.
    pub const HOST_PARAMS: u32 = 1 << 5;
    /// Parameters of event nodes.
    pub const EVENT_PARAMS: u32 = 1 << 6;
    /// Parameters of nodes that signal external semaphores.
    pub const SIGNAL_PARAMS: u32 = 1 << 7;
    /// Parameters of nodes that wait for external semaphores.
    pub const AWAIT_PARAMS: u32 = 1 << 8;
    /// Attributes of kernel nodes.
    pub const KERNEL_ATTRIBUTES: u32 = 1 << 9;
    /// Handles.
    pub const HANDLES: u32 = 1 << 10;
    /// Parameters of allocation nodes.
    pub const ALLOCATE_PARAMS: u32 = 1 << 11;
    /// Parameters of free nodes.
    pub const FREE_PARAMS: u32 = 1 << 12;
    /// Parameters of batches of memory operations.
    pub const BATCH_PARAMS: u32 = 1 << 13;
    /// The data of edges.
    pub const EXTRA_TOPOLOGY: u32 = 1 << 14;
    /// Parameters of conditional nodes.
    pub const CONDITIONAL_PARAMS: u32 = 1 << 15;
}

/// All flags.
const KNOWN_FLAGS: u32 = (1 << 17) - 1;

/// Writes the description of a graph to a file. Unknown flags have no effect, as on the hardware.
///
/// # Errors
/// [`Error::OperatingSystem`]: the file cannot be written.
pub fn write(graph: &Graph, path: &OsStr, flags: u32) -> Result<()> {
    let text = describe(graph, flags);
    host::write::named(Path::new(path), text.as_bytes()).map_err(|_| Error::OperatingSystem)
}

/// The description of a graph.
pub fn describe(graph: &Graph, flags: u32) -> String {
    let mut text = String::from("digraph dot {\n");
    let flags = if flags & flag::VERBOSE != 0 { KNOWN_FLAGS & !flag::RUNTIME_TYPES } else { flags };
    let mut inside = describe_into(&mut text, graph, flags);
    // Iteratively: graphs may be nested deeper than a thread's stack allows.
    while let Some(graph) = inside.pop() {
        inside.extend(describe_into(&mut text, &graph, flags));
    }
    text.push_str("}\n");
    text
}

/// Adds a graph. Returns the graphs inside, the last one first.
fn describe_into(text: &mut String, graph: &Graph, flags: u32) -> Vec<Arc<Graph>> {
    let body = graph.lock();
    let id = graph.id;
    let mut inner: Vec<Arc<Graph>> = Vec::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "subgraph cluster_{id} {{\nlabel=\"graph_{id}\" graph[style=\"dashed\"];");
    for (index, entry) in body.entries() {
        let mut label = format!("{index}\n{}", name(&entry.work));
        if flags & flag::HANDLES != 0 {
            let _ = write!(label, "\nnode {:#x}", entry.handle);
        }
        details(&mut label, &entry.work, flags);
        let shape = match entry.work.kind() {
            Kind::Kernel => "octagon",
            Kind::Child => "component",
            Kind::Conditional => "diamond",
            _ => "rectangle",
        };
        let label = escaped(&label);
        let _ = writeln!(
            text,
            "\"graph_{id}_node_{index}\"[style=\"solid\" shape=\"{shape}\" label=\"{label}\"];"
        );
        inner.extend(entry.work.graphs().iter().cloned());
    }
    for (index, entry) in body.entries() {
        for (from, edge) in &entry.incoming {
            let _ = write!(text, "\"graph_{id}_node_{from}\" -> \"graph_{id}_node_{index}\"");
            if flags & flag::EXTRA_TOPOLOGY != 0 && !edge.is_default() {
                let _ = write!(text, "[label=\"{}.{}.{}\"]", edge.from_port, edge.to_port, edge.kind);
            }
            text.push_str(";\n");
        }
    }
    text.push_str("}\n");
    inner.reverse();
    inner
}

/// What a node is called.
fn name(work: &Work) -> String {
    match work {
        Work::Kernel(kernel) => kernel.launch.function().info().name.clone(),
        Work::Conditional(conditional) => match conditional.kind {
            conditional::Kind::If => "CONDITIONAL IF".into(),
            conditional::Kind::While => "CONDITIONAL WHILE".into(),
            conditional::Kind::Switch => "CONDITIONAL SWITCH".into(),
        },
        Work::Child(child) => format!("GRAPH graph_{}", child.id),
        _ => match work.kind() {
            Kind::Copy => "MEMCPY",
            Kind::Fill => "MEMSET",
            Kind::Host => "HOST",
            Kind::Wait => "EVENT_WAIT",
            Kind::Record => "EVENT_RECORD",
            Kind::Allocate => "MEM_ALLOC",
            Kind::Free => "MEM_FREE",
            Kind::Batch => "BATCH_MEM_OP",
            Kind::Signal => "EXT_SEMAS_SIGNAL",
            Kind::WaitSemaphore => "EXT_SEMAS_WAIT",
            _ => "EMPTY",
        }
        .into(),
    }
}

/// Adds the parameters that the flags ask for.
fn details(label: &mut String, work: &Work, flags: u32) {
    let asked = |flag: u32| flags & flag != 0;
    // Writing to a string cannot fail.
    let _ = match work {
        // Their names say everything.
        Work::Empty | Work::Child(_) => Ok(()),
        Work::Kernel(kernel) => {
            let config = kernel.launch.config();
            if asked(flag::KERNEL_PARAMS) {
                let ([x, y, z], [i, j, k]) = (config.grid, config.block);
                let _ = write!(label, "\n<<<({x},{y},{z}),({i},{j},{k}),{}>>>", config.dynamic_shared);
            }
            if asked(flag::KERNEL_ATTRIBUTES) {
                for (number, value) in &kernel.attributes {
                    let _ = write!(label, "\nattribute {number}: {:#x}", value[0]);
                }
            }
            Ok(())
        }
        Work::Copy(copying) => when(asked(flag::COPY_PARAMS), || {
            let asked = &copying.asked;
            let [width, height, depth] = asked.extent;
            write!(label, "\n{width} x {height} x {depth}\n{:x?}\nto {:x?}", asked.from.place, asked.to.place)
        }),
        Work::Fill(filling) => when(asked(flag::FILL_PARAMS), || {
            let fill = &filling.fill;
            write!(
                label,
                "\n{:#x} = {:#x}\n{} x {} of {} bytes",
                fill.to, fill.value, fill.width, fill.height, fill.element
            )
        }),
        Work::Host(HostCall::Function { function, data }) => {
            when(asked(flag::HOST_PARAMS), || write!(label, "\n{:#x}({data:#x})", *function as usize))
        }
        // No node calls one.
        Work::Host(HostCall::Callback { .. }) => Ok(()),
        Work::Record(event) | Work::Wait(event) => {
            when(asked(flag::EVENT_PARAMS), || write!(label, "\nevent {:#x}", event.handle))
        }
        Work::Allocate(reservation) => when(asked(flag::ALLOCATE_PARAMS), || {
            write!(label, "\n{} bytes at {:#x}", reservation.asked.size, reservation.address())
        }),
        Work::Free(reservation) => {
            when(asked(flag::FREE_PARAMS), || write!(label, "\n{:#x}", reservation.address()))
        }
        Work::Batch(batch) => {
            when(asked(flag::BATCH_PARAMS), || write!(label, "\n{} operations", batch.steps.len()))
        }
        Work::Semaphores(semaphores) => {
            let flag = if semaphores.signals() { flag::SIGNAL_PARAMS } else { flag::AWAIT_PARAMS };
            when(asked(flag), || {
                semaphores.uses().try_for_each(|(semaphore, value)| {
                    write!(label, "\nsemaphore {semaphore:#x}: {value:#x}")
                })
            })
        }
        Work::Conditional(conditional) => when(asked(flag::CONDITIONAL_PARAMS), || {
            let bodies = conditional.bodies.iter().map(|body| format!(" graph_{}", body.id));
            write!(label, "\nhandle {:#x}{}", conditional.variable.handle, bodies.collect::<String>())
        }),
    };
}

fn when(asked: bool, write: impl FnOnce() -> fmt::Result) -> fmt::Result {
    if asked { write() } else { Ok(()) }
}

/// A label within quotation marks.
fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
