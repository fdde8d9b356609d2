//! What a stream can do, as values.
//!
//! An [`Operation`] holds what a program asked for and keeps alive what it touches: functions, events,
//! allocations, arrays. It can be kept and submitted again any number of times ([`Stream::submit`]). Whatever
//! a call finds in its surroundings belongs to one submission and is looked up by each: what texture
//! references are bound to, the limits and the state of the context, which record of an event a wait is for.

use std::sync::Arc;

use host::threads::Turn;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::{Record, Wait};
use crate::handle::Handle;
use crate::launch::Prepared;
use crate::memory::copy::Filling;
use crate::memory::transfer::Copy;
use crate::memory::value::Step;
use crate::memory::{Allocation, pool};

use super::{Point, Stream, host_function};

/// One thing that a stream can do.
#[derive(Clone)]
pub enum Operation {
    /// Runs a kernel. Most operations are launches; they lie in the queue whole, since memory that one thread
    /// allocates and another frees makes the two threads wait for each other.
    Launch(Prepared),
    /// Copies memory.
    Copy(Copy),
    /// Fills memory with a value.
    Fill(Filling),
    /// Records an event.
    Record(Record),
    /// Waits for an event.
    Wait(Wait),
    /// Waits for a word of memory, or writes it.
    Word(Step),
    /// Several of these, one after the other.
    Batch(Arc<[Step]>),
    /// Calls a function of the program.
    Host(HostCall),
    /// Makes memory of a pool known at its address. That happens when the operation is submitted: programs
    /// may use the address in other streams as soon as the call returns.
    Allocate(Arc<Allocation>),
    /// Releases memory. The address is unknown as soon as the operation is submitted; the memory is released
    /// when the stream comes to the operation and nothing else holds it.
    Free(Arc<Allocation>),
    /// Fails, as the hardware does when it comes to an operation that it accepted and cannot do.
    Fault(Error),
}

/// A call of a function of the program.
#[derive(Clone, Copy, Debug)]
pub enum HostCall {
    /// A function, left out after a fault.
    Function {
        /// The function.
        function: extern "C" fn(u64),
        /// Its argument.
        data: u64,
    },
    /// A function that is told whether the work before it succeeded.
    Callback {
        /// The function; it takes the stream's handle, a status and the data.
        function: extern "C" fn(Handle, u32, u64),
        /// The stream as the program named it.
        stream: Handle,
        /// The program's data.
        data: u64,
        /// The status for an outcome, by the numbers of the program's interface.
        status: fn(Result<()>) -> u32,
    },
}

/// What is left to do after an operation has been settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// Running it.
    Run,
    /// Nothing.
    Nothing,
}

impl Operation {
    /// Looks up what belongs to this submission. Work that the operation has to wait for goes to `after`.
    #[inline]
    pub(super) fn settle(&mut self, stream: &Arc<Stream>, after: &mut SmallVec<[Point; 1]>) -> Result<Rest> {
        match self {
            Operation::Launch(launch) => launch.settle(stream)?,
            Operation::Record(record) => record.settle(),
            Operation::Wait(wait) => {
                after.extend(wait.settle());
                if after.is_empty() && !wait.is_left() {
                    return Ok(Rest::Nothing);
                }
            }
            Operation::Allocate(allocation) => {
                pool::publish(allocation)?;
                return Ok(Rest::Nothing);
            }
            Operation::Free(allocation) => pool::withdraw(allocation)?,
            Operation::Copy(_)
            | Operation::Fill(_)
            | Operation::Word(_)
            | Operation::Batch(_)
            | Operation::Host(_)
            | Operation::Fault(_) => {}
        }
        Ok(Rest::Run)
    }

    /// Does it. `turn`: the thread is in a turn of running streams.
    #[inline]
    pub(super) fn run(&self, stream: &Arc<Stream>, turn: Option<&Turn>) -> Result<()> {
        match self {
            Operation::Launch(launch) => launch.run(),
            Operation::Copy(copy) => copy.run(),
            Operation::Fill(filling) => {
                filling.run();
                Ok(())
            }
            Operation::Record(record) => {
                record.run();
                Ok(())
            }
            Operation::Wait(wait) => {
                wait.run();
                Ok(())
            }
            Operation::Word(step) => step.run(),
            Operation::Batch(steps) => steps.iter().try_for_each(Step::run),
            Operation::Host(call) => {
                match turn {
                    Some(turn) => turn.outside(|| call.run(stream)),
                    None => call.run(stream),
                }
                Ok(())
            }
            // What they hold is released when they are dropped.
            Operation::Allocate(_) | Operation::Free(_) => Ok(()),
            Operation::Fault(error) => Err(*error),
        }
    }

    /// Whether it is done even after a kernel before it has faulted.
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
            | Operation::Host(HostCall::Function { .. })
            | Operation::Fault(_) => false,
        }
    }

    /// Whether it takes less time than handing it to another thread does.
    #[inline]
    pub(super) fn is_brief(&self) -> bool {
        match self {
            Operation::Copy(copy) => copy.bytes() <= INLINE,
            Operation::Fill(filling) => filling.bytes() <= INLINE,
            Operation::Record(_) | Operation::Free(_) => true,
            _ => false,
        }
    }

    /// Whether the call that submits it may return only when it has ended; `wait`: the call is a synchronous
    /// one.
    #[inline]
    pub(super) fn must_end(&self, wait: bool) -> bool {
        match self {
            Operation::Copy(copy) => copy.must_end(wait),
            Operation::Fill(filling) => wait && filling.reaches_host(),
            _ => false,
        }
    }

    /// Reads what the program may change as soon as the call that submits the operation returns.
    pub(super) fn detach(&mut self) {
        if let Operation::Copy(copy) = self {
            copy.stage();
        }
    }
}

/// Copies and fills up to this size run in the calling thread if the stream is idle.
const INLINE: u64 = 64 << 10;

impl HostCall {
    fn run(self, stream: &Stream) {
        host_function(|| match self {
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
