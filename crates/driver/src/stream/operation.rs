//! Stream operations as values.
//!
//! An [`Operation`] holds a program's request and keeps alive what it uses: functions, events, allocations,
//! arrays. It can be stored and submitted any number of times ([`Stream::submit`]). Surrounding state is
//! looked up at each submission: the bindings of texture references, the limits and the state of the
//! context, and which record of an event to wait for.

use std::sync::Arc;

use host::threads::Turn;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::{Event, Record, Wait};
use crate::graph::exec::GraphLaunch;
use crate::handle::Handle;
use crate::launch::Prepared;
use crate::memory::copy::Filling;
use crate::memory::decompress::Unpack;
use crate::memory::sparse::Remap;
use crate::memory::transfer::Copy;
use crate::memory::value::WordOperation;
use crate::memory::{Allocation, address, pool};
use crate::profile;

use super::hosted::host_function;
use super::{Point, Stream};

/// An operation of a stream.
#[derive(Clone)]
pub enum Operation {
    /// Runs a kernel. Most operations are launches. They are stored in the queue by value, because memory
    /// that one thread allocates and another frees makes the two threads contend.
    Launch(Prepared),
    /// Copies memory.
    Copy(Copy),
    /// Fills memory with a value.
    Fill(Filling),
    /// Records an event.
    Record(Record),
    /// Waits for an event.
    Wait(Wait),
    /// Waits for a memory word, or writes it.
    Word(WordOperation),
    /// Several word operations, in order.
    Batch(Arc<[WordOperation]>),
    /// Changes what is mapped to parts of arrays.
    Remap(Arc<[Remap]>),
    /// Decompresses memory.
    Decompress(Arc<[Unpack]>),
    /// Calls a host function of the program.
    Host(HostCall),
    /// Allocates memory. This happens at submission: programs may use the address in other streams as soon
    /// as the call returns.
    Allocate(pool::Request),
    /// Frees memory. The address is unknown from submission on. The memory is released when the operation
    /// runs and nothing else refers to it.
    Free(Arc<Allocation>),
    /// Runs a graph.
    Graph(Box<GraphLaunch>),
    /// Becomes a node of the graph that the stream captures, and fails elsewhere.
    Node(EventNode),
    /// Fails, as the hardware does when it runs an operation that it accepted but cannot execute.
    Fault(Error),
}

/// An event that a captured graph records, or waits for, each time it runs (`CU_EVENT_RECORD_EXTERNAL`,
/// `CU_EVENT_WAIT_EXTERNAL`).
#[derive(Clone)]
pub enum EventNode {
    /// Records it.
    Record(Arc<Event>),
    /// Waits for its last record at the graph's launch.
    Wait(Arc<Event>),
}

/// A call of a host function.
#[derive(Clone, Copy, Debug)]
pub enum HostCall {
    /// A function that is skipped after a fault.
    Function {
        /// The function.
        function: extern "C" fn(u64),
        /// The argument.
        data: u64,
    },
    /// A callback that receives the status of the work before it.
    Callback {
        /// The function. Its arguments are the stream's handle, the status and the data.
        function: extern "C" fn(Handle, u32, u64),
        /// The stream handle as the program passed it.
        stream: Handle,
        /// The program's data.
        data: u64,
        /// Maps a result to a status number of the program's interface.
        status: fn(Result<()>) -> u32,
    },
}

/// What remains to be done after an operation has been settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Run it.
    Run,
    /// Nothing.
    Nothing(Submitted),
}

/// What the submitter of an operation learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submitted {
    /// The address of the memory that it allocates; otherwise 0.
    pub address: u64,
    /// The node that it became, if the stream is capturing.
    pub node: Option<Handle>,
}

impl Operation {
    /// Looks up the state for this submission. Adds the points that the operation must wait for to `after`.
    #[inline]
    pub(super) fn settle(&mut self, stream: &Arc<Stream>, after: &mut SmallVec<[Point; 1]>) -> Result<Rest> {
        match self {
            Operation::Launch(launch) => launch.settle(stream)?,
            Operation::Record(record) => record.settle(),
            Operation::Wait(wait) => {
                after.extend(wait.settle()?);
                if after.is_empty() && !wait.is_left() {
                    return Ok(Rest::Nothing(Submitted::default()));
                }
            }
            Operation::Allocate(request) => {
                let address = request.allocate(stream)?;
                return Ok(Rest::Nothing(Submitted { address, node: None }));
            }
            Operation::Free(allocation) => {
                pool::withdraw(allocation)?;
                if stream.nothing_before() {
                    return Ok(Rest::Nothing(Submitted::default()));
                }
                stream.will_free(allocation.counted_bytes(stream.device.ordinal));
            }
            Operation::Graph(launch) => launch.settle(after)?,
            Operation::Copy(copy) => copy.check_present()?,
            Operation::Fill(filling) => filling.check_present()?,
            Operation::Decompress(all) => all.iter().try_for_each(Unpack::check_present)?,
            Operation::Node(_) => return Err(Error::IllegalState),
            Operation::Word(_)
            | Operation::Batch(_)
            | Operation::Remap(_)
            | Operation::Host(_)
            | Operation::Fault(_) => {}
        }
        Ok(Rest::Run)
    }

    /// Whether it needs the point that it occupies in its stream ([`Operation::submitted`]).
    #[inline]
    pub(super) fn is_noted(&self) -> bool {
        matches!(self, Operation::Record(_) | Operation::Graph(_))
    }

    /// Prepares an operation that will be queued.
    #[inline]
    pub(super) fn defer(&mut self) {
        if let Operation::Record(record) = self {
            record.defer();
        }
    }

    /// Notes the point that this submission occupies in its stream.
    #[inline]
    pub(super) fn submitted(&self, point: Point) {
        match self {
            Operation::Record(record) => record.recorded(point),
            Operation::Graph(launch) => launch.submitted(&point),
            _ => {}
        }
    }

    /// Runs the operation; `turn` is the thread's turn of running streams, if it is in one.
    #[inline]
    pub(crate) fn run(&self, stream: &Arc<Stream>, turn: Option<&Turn>) -> Result<()> {
        match profile::recorder() {
            None => self.perform(stream, turn),
            Some(recorder) => recorder.operation(self, stream, turn),
        }
    }

    /// What a profile calls the operation, and the bytes that it moves; `None` if it is not recorded, or
    /// consists of others that are.
    pub(crate) fn kind(&self) -> Option<(profile::Kind, u64)> {
        match self {
            Operation::Launch(_) => Some((profile::Kind::Kernel, 0)),
            Operation::Copy(copy) => Some((copy.kind(), copy.bytes())),
            Operation::Fill(filling) => Some((profile::Kind::Fill, filling.bytes())),
            Operation::Decompress(_) => Some((profile::Kind::Decompress, 0)),
            Operation::Host(_) => Some((profile::Kind::HostFunction, 0)),
            Operation::Wait(wait) if wait.may_wait() => Some((profile::Kind::Wait, 0)),
            Operation::Word(step) if step.waits() => Some((profile::Kind::Wait, 0)),
            Operation::Batch(steps) if steps.iter().any(WordOperation::waits) => {
                Some((profile::Kind::Wait, 0))
            }
            Operation::Word(_)
            | Operation::Batch(_)
            | Operation::Record(_)
            | Operation::Wait(_)
            | Operation::Remap(_)
            | Operation::Allocate(_)
            | Operation::Free(_)
            | Operation::Graph(_)
            | Operation::Node(_)
            | Operation::Fault(_) => None,
        }
    }

    /// Runs the operation without recording it.
    #[inline]
    pub(crate) fn perform(&self, stream: &Arc<Stream>, turn: Option<&Turn>) -> Result<()> {
        match self {
            Operation::Launch(launch) => launch.run(profile::Measured::default()),
            Operation::Copy(copy) => accessing(|| copy.run()),
            Operation::Fill(filling) => accessing(|| {
                filling.run();
                Ok(())
            }),
            Operation::Record(record) => {
                record.run();
                Ok(())
            }
            Operation::Wait(wait) => {
                wait.run();
                Ok(())
            }
            Operation::Word(step) => accessing(|| step.run(|| stream.go_on())),
            Operation::Batch(steps) => {
                accessing(|| steps.iter().try_for_each(|step| step.run(|| stream.go_on())))
            }
            Operation::Remap(changes) => changes.iter().try_for_each(Remap::run),
            Operation::Decompress(all) => accessing(|| {
                all.iter().for_each(Unpack::run);
                Ok(())
            }),
            Operation::Host(call) => {
                match turn {
                    Some(turn) => turn.outside(|| call.run(stream)),
                    None => call.run(stream),
                }
                Ok(())
            }
            Operation::Allocate(_) | Operation::Node(_) => Ok(()),
            // The memory is released when the operation is dropped.
            Operation::Free(allocation) => {
                let device = stream.device.ordinal;
                stream.keep_promise(device, allocation.counted_bytes(device), 0);
                Ok(())
            }
            Operation::Graph(launch) => launch.run(stream, turn),
            Operation::Fault(error) => Err(*error),
        }
    }

    /// Splits off the operations on words before the first that waits, or that one, so that the rest can be
    /// put back. `None` if there is no rest.
    pub(super) fn split(&self) -> Option<(Operation, Operation)> {
        let Operation::Batch(steps) = self else { return None };
        let first = steps.iter().position(WordOperation::waits)?.max(1);
        let (now, later) = steps.split_at_checked(first).filter(|(_, later)| !later.is_empty())?;
        Some((Operation::Batch(now.into()), Operation::Batch(later.into())))
    }

    /// Whether [`Operation::is_blocked`] may hold.
    pub(super) fn may_be_blocked(&self) -> bool {
        matches!(self, Operation::Word(_) | Operation::Batch(_) | Operation::Wait(_))
    }

    /// Whether it would begin by waiting for memory that the program, a kernel or another process writes.
    ///
    /// # Errors
    /// [`Error::IllegalAddress`]: the memory is gone. Then the operation has failed, since a second look
    /// would find the page that has taken its place.
    pub(super) fn is_blocked(&self, stream: &Stream) -> Result<bool> {
        let step = match self {
            Operation::Word(step) => step,
            Operation::Batch(steps) => steps.first().unwrap_or(&WordOperation::Barrier),
            Operation::Wait(wait) => return Ok(wait.is_blocked() && crate::driver().is_ok()),
            _ => return Ok(false),
        };
        // After a fault it fails, and does not wait.
        let may_wait = step.waits() && stream.go_on().is_ok() && crate::driver().is_ok();
        if may_wait { accessing(|| Ok(step.is_blocked())) } else { Ok(false) }
    }

    /// Whether it runs even if an earlier kernel has faulted.
    #[inline]
    pub(super) fn survives_faults(&self) -> bool {
        match self {
            Operation::Record(_)
            | Operation::Wait(_)
            | Operation::Allocate(_)
            | Operation::Free(_)
            | Operation::Host(HostCall::Callback { .. }) => true,
            Operation::Launch(_)
            | Operation::Copy(_)
            | Operation::Fill(_)
            | Operation::Word(_)
            | Operation::Batch(_)
            | Operation::Remap(_)
            | Operation::Decompress(_)
            | Operation::Host(HostCall::Function { .. })
            | Operation::Graph(_)
            | Operation::Node(_)
            | Operation::Fault(_) => false,
        }
    }

    /// Whether it takes less time than handing it to another thread.
    #[inline]
    pub(super) fn is_brief(&self) -> bool {
        match self {
            Operation::Copy(copy) => copy.bytes() <= INLINE,
            Operation::Fill(filling) => filling.bytes() <= INLINE,
            Operation::Record(_) | Operation::Free(_) => true,
            _ => false,
        }
    }

    /// Whether the submitting call must wait until the operation has finished; `wait`: the call is
    /// synchronous.
    #[inline]
    pub(super) fn must_end(&self, wait: bool) -> bool {
        match self {
            Operation::Copy(copy) => copy.must_end(wait),
            Operation::Fill(filling) => wait && filling.reaches_host(),
            _ => false,
        }
    }

    /// Reads memory that the program may change as soon as the submitting call returns.
    pub(super) fn detach(&mut self) {
        if let Operation::Copy(copy) = self {
            copy.stage();
        }
    }
}

/// Copies and fills up to this size run in the calling thread if the stream is idle.
const INLINE: u64 = 64 << 10;

/// Runs what accesses memory.
///
/// # Errors
/// [`Error::IllegalAddress`]: a part of the memory is gone, because its file was truncated, or closed
/// (`cuMemSetAccess`).
#[inline]
fn accessing<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    if host::mapped::any() { accessing_guarded(run) } else { run() }
}

fn accessing_guarded<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    let _turn = crate::driver()?.backend.ready();
    let (result, lost) = host::mapped::during(run);
    if lost {
        address::restore();
        return Err(Error::IllegalAddress);
    }
    result
}

impl HostCall {
    fn run(self, stream: &Arc<Stream>) {
        host_function(stream, || match self {
            HostCall::Function { function, data } => function(data),
            HostCall::Callback { function, stream: handle, data, status } => {
                function(handle, status(stream.context().and_then(|context| context.check())), data);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_operation_makes_the_queue_larger_than_launches_do() {
        assert!(
            size_of::<Operation>() <= size_of::<Prepared>() + size_of::<u128>(),
            "{} and {} bytes",
            size_of::<Operation>(),
            size_of::<Prepared>()
        );
    }
}
