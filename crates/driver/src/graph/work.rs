//! What the nodes of a graph do.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::event::{Event, Record, Wait};
use crate::handle::Handle;
use crate::launch::{Prepared, extra_key};
use crate::memory::copy::Fill;
use crate::memory::rights::{Rights, User};
use crate::memory::transfer::{self, Transfer};
use crate::memory::value::WordOperation;
use crate::stream::{HostCall, Operation};

use super::Graph;
use super::conditional::Conditional;
use super::memory::Reservation;
use super::updatable::{self, Updatable};

/// What a node does.
#[derive(Clone)]
pub enum Work {
    /// Nothing; it only orders other nodes.
    Empty,
    /// Runs a kernel.
    Kernel(Box<Kernel>),
    /// Copies memory.
    Copy(Box<Copying>),
    /// Fills memory.
    Fill(Box<Filling>),
    /// Calls a host function.
    Host(HostCall),
    /// Runs another graph.
    Child(Arc<Graph>),
    /// Records an event.
    Record(Arc<Event>),
    /// Waits for an event.
    Wait(Arc<Event>),
    /// Allocates memory at an address that never changes.
    Allocate(Arc<Reservation>),
    /// Frees what a node of this or of another graph allocates.
    Free(Arc<Reservation>),
    /// Waits for memory words and writes them.
    Batch(Box<Batch>),
    /// Signals external semaphores, or waits for them.
    Semaphores(Box<Semaphores>),
    /// Runs other graphs, depending on a value.
    Conditional(Arc<Conditional>),
}

/// The kinds of nodes, in the order of `CUgraphNodeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Kernel,
    Copy,
    Fill,
    Host,
    Child,
    Empty,
    Wait,
    Record,
    Signal,
    WaitSemaphore,
    Allocate,
    Free,
    Batch,
    Conditional,
}

/// A kernel node.
pub struct Kernel {
    /// The checked launch.
    pub launch: Prepared,
    /// How the program names the kernel: a function, or a kernel of a library with its context.
    pub name: Name,
    /// The launch attributes that were set, by number. Those that matter are part of the launch too.
    pub attributes: BTreeMap<u32, [u64; 8]>,
    /// How kernels update it, if they may.
    pub updatable: Option<Arc<Updatable>>,
    /// The parameters in `launch` as queries report them.
    reported: OnceLock<Box<[u64]>>,
}

impl Clone for Kernel {
    /// The reported parameters are stored in the node; a clone needs its own.
    fn clone(&self) -> Self {
        let updatable = self.updatable.clone();
        Kernel { updatable, ..Kernel::new(self.launch.clone(), self.name, self.attributes.clone()) }
    }
}

/// How a program names the kernel of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The function's handle, or 0.
    pub function: Handle,
    /// The library kernel's handle, or 0.
    pub kernel: Handle,
    /// The context given with it, or 0.
    pub context: Handle,
    /// The size of the parameters, if the program gave them in one buffer.
    pub packed: Option<usize>,
}

/// A copy node. An empty copy does nothing.
#[derive(Clone)]
pub struct Copying {
    /// What the program asked for.
    pub asked: Transfer,
    /// The context given for it.
    pub context: Handle,
    /// What an interface notes for programs that ask. The first number is a direction, which updates cannot
    /// change; 0: nothing noted.
    pub note: [u64; 3],
    copy: Option<transfer::Copy>,
}

/// A fill node.
#[derive(Clone)]
pub struct Filling {
    /// What the program asked for.
    pub fill: Fill,
    /// The context given for it.
    pub context: Handle,
    operation: Option<Operation>,
}

/// A node of operations on memory words.
#[derive(Clone)]
pub struct Batch {
    /// The operations, in order.
    pub steps: Arc<[WordOperation]>,
    /// The context given for it.
    pub context: Handle,
    /// The operations in the layout of the program's interface, as queries report them.
    reported: OnceLock<Box<[[u64; 6]]>>,
}

impl Batch {
    /// A node of these operations.
    pub fn new(steps: Arc<[WordOperation]>, context: Handle) -> Self {
        Batch { steps, context, reported: OnceLock::new() }
    }

    /// The operations in the layout of the program's interface. They are stored in the node and valid until
    /// it is changed or destroyed.
    pub fn reported(&self, describe: impl Fn(&WordOperation) -> [u64; 6]) -> &[[u64; 6]] {
        self.reported.get_or_init(|| self.steps.iter().map(describe).collect())
    }
}

/// A node of signals of external semaphores, or of waits for them.
#[derive(Clone)]
pub struct Semaphores {
    steps: Arc<[WordOperation]>,
    signals: bool,
    /// In each layout that was asked for: HIP 5 has shorter parameters than CUDA and later HIP.
    reported: [OnceLock<Arc<Reported>>; 2],
}

/// What queries report about a node of semaphores.
pub struct Reported {
    /// The words of one semaphore's parameters.
    words: usize,
    /// The handles.
    pub handles: Vec<Handle>,
    /// The words of the parameters of each, in the layout of the program's interface.
    pub parameters: Vec<u64>,
}

impl Semaphores {
    /// A node of these steps: all of them signals, or all of them waits. There may be none.
    pub fn new(steps: Arc<[WordOperation]>, signals: bool) -> Self {
        Semaphores { steps, signals, reported: Default::default() }
    }

    /// Whether it signals.
    pub fn signals(&self) -> bool {
        self.signals
    }

    /// The number of semaphores.
    pub fn count(&self) -> usize {
        self.steps.len()
    }

    /// The handles of the semaphores, with the values that are signalled or waited for.
    pub(super) fn uses(&self) -> impl Iterator<Item = (Handle, u64)> {
        self.steps.iter().filter_map(|step| match step {
            WordOperation::Signal(semaphore, value) | WordOperation::Await(semaphore, value) => {
                Some((semaphore.handle(), *value))
            }
            _ => None,
        })
    }

    /// What queries report: parameters of so many words, the value first, as in the program's interface. It
    /// is valid until the node is changed or destroyed.
    pub fn reported(&self, words: usize) -> &Reported {
        let report = || {
            let (mut handles, mut parameters) = (Vec::new(), Vec::new());
            for (handle, value) in self.uses() {
                handles.push(handle);
                parameters.extend((0..words).map(|word| if word == 0 { value } else { 0 }));
            }
            Arc::new(Reported { words, handles, parameters })
        };
        let [first, other] = &self.reported;
        let first = first.get_or_init(report);
        if first.words == words { first } else { other.get_or_init(report) }
    }
}

impl Kernel {
    /// A node with a launch that has passed [`check`](crate::launch::check).
    pub fn new(launch: Prepared, name: Name, attributes: BTreeMap<u32, [u64; 8]>) -> Self {
        Kernel { launch, name, attributes, updatable: None, reported: OnceLock::new() }
    }

    /// Lets kernels update the node, under a new handle.
    pub fn make_updatable(&mut self) {
        let node = Updatable::new(&self.launch);
        self.attributes.insert(updatable::ATTRIBUTE, node.attribute());
        self.updatable = Some(node);
    }

    /// The addresses of the parameters, or, if the program gave one buffer, the list that describes it:
    /// `CU_LAUNCH_PARAM_BUFFER_POINTER` and its address, `CU_LAUNCH_PARAM_BUFFER_SIZE` and the address of its
    /// size, `CU_LAUNCH_PARAM_END`, the size. They are stored in the node and valid until it is changed or
    /// destroyed.
    pub fn reported(&self) -> &[u64] {
        self.reported.get_or_init(|| {
            let bytes = self.launch.params().bytes().as_ptr() as u64;
            if let Some(size) = self.name.packed {
                let (pointer, of_size) = (extra_key::BUFFER_POINTER, extra_key::BUFFER_SIZE);
                let mut list = Box::new([pointer, bytes, of_size, 0, extra_key::END, size as u64]);
                list[3] = &raw const list[5] as u64;
                return list;
            }
            let info = self.launch.function().info();
            info.params.iter().map(|param| bytes + u64::from(param.offset)).collect()
        })
    }
}

impl Copying {
    /// A copy node; checks both sides, and whether they are open to the context.
    ///
    /// # Safety
    /// Memory unknown to the driver must be accessible whenever the node runs.
    pub unsafe fn new(asked: Transfer, context: Handle, rights: Rights) -> Result<Self> {
        // SAFETY: the caller guarantees it.
        let copy = unsafe { asked.check() }?;
        copy.iter().try_for_each(|copy| copy.check_open(rights, |_| User::named(context)))?;
        Ok(Copying { asked, context, note: [0; 3], copy })
    }
}

impl Filling {
    /// A fill node; checks the destination, and whether it is open to the context.
    pub fn new(fill: Fill, context: Handle, rights: Rights) -> Result<Self> {
        let operation = fill.operation()?;
        if let Some(Operation::Fill(filling)) = &operation
            && rights != Rights::Ignored
        {
            filling.check_open_to(context)?;
        }
        Ok(Filling { fill, context, operation })
    }
}

impl Work {
    /// The kind.
    pub fn kind(&self) -> Kind {
        match self {
            Work::Empty => Kind::Empty,
            Work::Kernel(_) => Kind::Kernel,
            Work::Copy(_) => Kind::Copy,
            Work::Fill(_) => Kind::Fill,
            Work::Host(_) => Kind::Host,
            Work::Child(_) => Kind::Child,
            Work::Record(_) => Kind::Record,
            Work::Wait(_) => Kind::Wait,
            Work::Allocate(_) => Kind::Allocate,
            Work::Free(_) => Kind::Free,
            Work::Batch(_) => Kind::Batch,
            Work::Semaphores(semaphores) if semaphores.signals() => Kind::Signal,
            Work::Semaphores(_) => Kind::WaitSemaphore,
            Work::Conditional(_) => Kind::Conditional,
        }
    }

    /// The node that stands for a captured operation. `context` is the context of the stream.
    ///
    /// # Errors
    /// [`Error::StreamCaptureUnsupported`]: no node does this.
    pub(crate) fn of(operation: Operation, context: Handle) -> Result<Work> {
        Ok(match operation {
            Operation::Launch(launch) => {
                let name = Name { function: launch.function().handle, ..Name::default() };
                let attributes = launch.attributes();
                Work::Kernel(Box::new(Kernel::new(launch, name, attributes)))
            }
            Operation::Copy(copy) => {
                let asked = copy.asked();
                Work::Copy(Box::new(Copying { asked, context, note: [0; 3], copy: Some(copy) }))
            }
            Operation::Fill(filling) => {
                let fill = filling.fill();
                Work::Fill(Box::new(Filling { fill, context, operation: Some(Operation::Fill(filling)) }))
            }
            Operation::Host(call @ HostCall::Function { .. }) => Work::Host(call),
            Operation::Word(step) => Work::Batch(Box::new(Batch::new(Arc::new([step]), context))),
            Operation::Batch(steps)
                if matches!(steps.first(), Some(WordOperation::Signal(..) | WordOperation::Await(..))) =>
            {
                let signals = matches!(steps.first(), Some(WordOperation::Signal(..)));
                Work::Semaphores(Box::new(Semaphores::new(steps, signals)))
            }
            Operation::Batch(steps) => Work::Batch(Box::new(Batch::new(steps, context))),
            Operation::Graph(launch) => Work::Child(launch.exec().as_child()?),
            Operation::Record(_)
            | Operation::Wait(_)
            | Operation::Allocate(_)
            | Operation::Free(_)
            | Operation::Remap(_)
            | Operation::Decompress(_)
            | Operation::Node(_)
            | Operation::Fault(_)
            | Operation::Host(HostCall::Callback { .. }) => return Err(Error::StreamCaptureUnsupported),
        })
    }

    /// The stream operation that does the work; `None` if there is nothing to do, or if the work consists of
    /// other graphs.
    pub(crate) fn operation(&self) -> Option<Operation> {
        match self {
            Work::Empty | Work::Child(_) | Work::Conditional(_) | Work::Allocate(_) | Work::Free(_) => None,
            Work::Kernel(kernel) => Some(Operation::Launch(kernel.launch.clone())),
            Work::Copy(copying) => copying.copy.clone().map(Operation::Copy),
            Work::Fill(filling) => filling.operation.clone(),
            Work::Host(call) => Some(Operation::Host(*call)),
            Work::Record(event) => Some(Operation::Record(Record::of(event))),
            Work::Wait(event) => Some(Operation::Wait(Wait::on(event))),
            Work::Batch(batch) => Some(Operation::Batch(Arc::clone(&batch.steps))),
            Work::Semaphores(semaphores) => Some(Operation::Batch(Arc::clone(&semaphores.steps))),
        }
    }

    /// Takes over what new parameters of a node do not say: where a captured kernel runs, and whether kernels
    /// may update it.
    pub(super) fn inherit(&mut self, old: &Work) {
        if let (Work::Kernel(new), Work::Kernel(old)) = (self, old) {
            new.launch.inherit(&old.launch);
            new.updatable.clone_from(&old.updatable);
        }
    }

    /// Forgets what kernels have changed in the node: the host has given it this work.
    pub(super) fn reset_updates(&self) {
        if let Work::Kernel(kernel) = self
            && let Some(node) = &kernel.updatable
        {
            node.reset(&kernel.launch);
        }
    }

    /// Whether kernels may update it.
    pub(super) fn is_updatable(&self) -> bool {
        matches!(self, Work::Kernel(kernel) if kernel.updatable.is_some())
    }

    /// The graphs that a node with this work owns.
    pub(super) fn graphs(&self) -> &[Arc<Graph>] {
        match self {
            Work::Child(graph) => std::slice::from_ref(graph),
            Work::Conditional(conditional) => &conditional.bodies,
            _ => &[],
        }
    }

    /// Whether the graphs of conditional nodes may have such nodes.
    pub(super) fn can_be_conditional(&self) -> bool {
        let kinds = [Kind::Kernel, Kind::Copy, Kind::Fill, Kind::Child, Kind::Empty, Kind::Conditional];
        kinds.contains(&self.kind())
    }

    /// The handle of the context that a kernel, copy or fill runs in.
    pub(super) fn context(&self) -> Option<Handle> {
        match self {
            Work::Kernel(kernel) => Some(kernel.launch.function().module.context.handle),
            Work::Copy(copying) => Some(copying.context),
            Work::Fill(filling) => Some(filling.context),
            _ => None,
        }
        .filter(|context| *context != 0)
    }

    /// Ends what belongs to a node of a graph alone.
    pub(super) fn end(&self, graph: &Graph) {
        self.graphs().iter().for_each(|inside| inside.end());
        self.end_alone(graph);
    }

    /// The same without the graphs inside.
    pub(super) fn end_alone(&self, graph: &Graph) {
        match self {
            Work::Free(reservation) => reservation.remove_free(graph),
            Work::Conditional(conditional) => conditional.variable.release(),
            _ => {}
        }
    }

    /// Ends the graphs that were made for a node which is not added. A graph that the program hands over
    /// stays the program's.
    pub fn abandon(&self) {
        let made = self.graphs().iter().filter(|graph| graph.is_owned() && graph.has_no_owner());
        made.for_each(|graph| graph.end());
    }

    /// Replaces graphs that a program may still change by copies, in which graphs are still to be replaced.
    pub(super) fn detach(&mut self) {
        match self {
            Work::Child(graph) => *graph = graph.snapshot_alone(),
            Work::Conditional(conditional) => *conditional = Arc::new(conditional.snapshot_alone()),
            _ => {}
        }
    }
}
