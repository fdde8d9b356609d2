//! External semaphores, as C programs name them in calls and in graph nodes.

use std::sync::Arc;

use driver::external;
use driver::graph::Work;
use driver::graph::work::Semaphores;
use driver::memory::value::WordOperation;
use driver::{Error, Result};

use crate::In;
use crate::types::{SemaphoreParams, SemaphoreUse};

/// The type of memory and semaphores that are file descriptors, in both interfaces.
pub const OPAQUE_FD: u32 = 1;
/// The type of semaphores that are files with a growing value, in both interfaces.
pub const TIMELINE_FD: u32 = 9;

/// The most semaphores of one call.
const MOST: u32 = 1 << 16;
/// The parameters of a signal or a wait, in an interface's layout: words, of which the first is the value.
pub trait Use: Copy {
    /// The value that a timeline gets or reaches.
    fn value(&self) -> u64;
    /// The flags, all of them for NvSciSync.
    fn flags(&self) -> u32;
}

impl Use for SemaphoreUse {
    fn value(&self) -> u64 {
        self.value
    }

    fn flags(&self) -> u32 {
        self.flags
    }
}

/// The steps of a call or a node, all signals or all waits.
///
/// # Errors
/// [`Error::InvalidHandle`]: no such semaphore. [`Error::InvalidValue`]: any other mistake.
pub fn steps<U: Use>(list: In<u64>, uses: In<U>, count: u32, signal: bool) -> Result<Arc<[WordOperation]>> {
    if count == 0 {
        return Ok(Arc::default());
    }
    if count > MOST {
        return Err(Error::InvalidValue);
    }
    let uses = uses.list(count as usize)?;
    let each = list.list(count as usize)?.into_iter().zip(uses).map(|(handle, asked)| {
        if handle == 0 || asked.flags() != 0 {
            return Err(Error::InvalidValue);
        }
        let semaphore = external::semaphore(handle)?;
        let value = asked.value();
        Ok(match signal {
            true => WordOperation::Signal(semaphore, value),
            false => WordOperation::Await(semaphore, value),
        })
    });
    each.collect()
}

/// A node that signals external semaphores, or waits for them.
pub fn node<U: Use>(params: &SemaphoreParams, signal: bool) -> Result<Work> {
    let SemaphoreParams { list, uses, count } = *params;
    let steps = steps::<U>(In::at_address(list), In::at_address(uses), count, signal)?;
    Ok(Work::Semaphores(Box::new(Semaphores::new(steps, signal))))
}

/// The parameters of a node that signals, or of one that waits.
///
/// # Errors
/// [`Error::InvalidValue`]: it is one of the other kind.
pub fn node_params<U: Use>(semaphores: &Semaphores, signal: bool) -> Result<SemaphoreParams> {
    if semaphores.signals() != signal {
        return Err(Error::InvalidValue);
    }
    let reported = semaphores.reported(size_of::<U>() / size_of::<u64>());
    Ok(SemaphoreParams {
        list: reported.handles.as_ptr() as u64,
        uses: reported.parameters.as_ptr() as u64,
        count: reported.handles.len() as u32,
    })
}
