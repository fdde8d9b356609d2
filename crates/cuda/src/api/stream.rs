//! Streams.

use std::sync::Arc;

use driver::memory::value::{Comparison, Condition, Step, Word};
use driver::stream::{self as streams, HostCall, Kind, Operation, Policy};
use driver::{Error, Result, context, event};

use crate::abi::{In, Need, Out, check};
use crate::api;
use crate::api::{check_default, current, stream};
use crate::types::{Handle, stream as special};

fn create(out: Out<Handle>, flags: u32, priority: i32) -> Result<()> {
    out.required()?;
    let kind = Kind::from_flags(flags)?;
    out.set(current()?.create_stream(kind, priority.min(0))?);
    Ok(())
}

type HostFunction = extern "C" fn(u64);
type Callback = extern "C" fn(Handle, u32, u64);

/// `CUstreamAttrValue`.
type AttributeValue = [u64; 8];

/// `CUstreamWaitValue_flags`: how the word is compared with the value.
const COMPARISONS: [Comparison; 4] =
    [Comparison::AtLeastCyclic, Comparison::Equal, Comparison::AnySet, Comparison::AnyClear];

/// The stream operation that waits for a word.
fn wait(word: Word, value: u64, flags: u32) -> Result<Step> {
    let comparison = *COMPARISONS.get(flags as usize).ok_or(Error::InvalidValue)?;
    Ok(Step::Wait(word, Condition { comparison, value, mask: u64::MAX }))
}

/// The stream operation that writes a word.
fn write(word: Word, value: u64, flags: u32) -> Result<Step> {
    if flags == 0 { Ok(Step::Write(word, value)) } else { Err(Error::InvalidValue) }
}

/// Checks an operation on one word and submits it to a stream.
fn on_word(
    handle: Handle,
    own: bool,
    address: u64,
    wide: bool,
    step: impl FnOnce(Word) -> Result<Step>,
) -> Result<()> {
    check_default(handle)?;
    let step = step(Word::at(address, wide)?)?;
    stream(handle, own)?.submit(Operation::Word(step), Policy::Later)
}

/// `CUstreamBatchMemOpParams`, 48 bytes: the operation type, then its address, value and flags.
pub(super) type BatchOp = [u64; 6];
/// The maximum number of operations in a batch.
pub(super) const MAX_BATCH: u32 = 256;

/// `CUstreamBatchMemOpType`.
mod batch {
    pub const WAIT_VALUE_32: u32 = 1;
    pub const WRITE_VALUE_32: u32 = 2;
    pub const FLUSH_REMOTE_WRITES: u32 = 3;
    pub const WAIT_VALUE_64: u32 = 4;
    pub const WRITE_VALUE_64: u32 = 5;
    pub const BARRIER: u32 = 6;
}

/// The word that a batch operation works on; `None` if it works on none.
fn word_of(op: &BatchOp) -> Result<Option<Word>> {
    match op[0] as u32 {
        batch::WAIT_VALUE_32 | batch::WRITE_VALUE_32 => Word::at(op[1], false).map(Some),
        batch::WAIT_VALUE_64 | batch::WRITE_VALUE_64 => Word::at(op[1], true).map(Some),
        batch::FLUSH_REMOTE_WRITES | batch::BARRIER => Ok(None),
        _ => Err(Error::InvalidValue),
    }
}

fn step_of(op: &BatchOp, word: Option<Word>) -> Result<Step> {
    let [kind, _, value, flags, ..] = *op;
    let (kind, flags, narrow) = (kind as u32, flags as u32, u64::from(value as u32));
    match (kind, word) {
        (batch::WAIT_VALUE_32, Some(word)) => wait(word, narrow, flags),
        (batch::WAIT_VALUE_64, Some(word)) => wait(word, value, flags),
        (batch::WRITE_VALUE_32, Some(word)) => write(word, narrow, flags),
        (batch::WRITE_VALUE_64, Some(word)) => write(word, value, flags),
        (batch::FLUSH_REMOTE_WRITES, _) => Ok(Step::FlushRemoteWrites),
        _ => Ok(Step::Barrier),
    }
}

/// The steps of a batch.
pub(super) fn steps_of(list: &[BatchOp]) -> Result<Arc<[Step]>> {
    let words = list.iter().map(word_of).collect::<Result<Vec<_>>>()?;
    list.iter().zip(words).map(|(op, word)| step_of(op, word)).collect()
}

/// A step as a program describes it.
pub(super) fn described(step: &Step) -> BatchOp {
    let kind = |word: &Word, narrow: u32, wide: u32| u64::from(if word.is_wide() { wide } else { narrow });
    match step {
        Step::Wait(word, condition) => {
            let flags = COMPARISONS.iter().position(|known| *known == condition.comparison).unwrap_or(0);
            let kind = kind(word, batch::WAIT_VALUE_32, batch::WAIT_VALUE_64);
            [kind, word.address(), condition.value, flags as u64, 0, 0]
        }
        Step::Write(word, value) => {
            let kind = kind(word, batch::WRITE_VALUE_32, batch::WRITE_VALUE_64);
            [kind, word.address(), *value, 0, 0, 0]
        }
        Step::FlushRemoteWrites => [u64::from(batch::FLUSH_REMOTE_WRITES), 0, 0, 0, 0, 0],
        Step::Barrier => [u64::from(batch::BARRIER), 0, 0, 0, 0, 0],
    }
}

/// `CUstreamAttrID`.
mod attribute {
    pub const ACCESS_POLICY_WINDOW: u32 = 1;
    pub const SYNCHRONIZATION_POLICY: u32 = 3;
    pub const PRIORITY: u32 = 8;
    pub const MEM_SYNC_DOMAIN_MAP: u32 = 9;
    pub const MEM_SYNC_DOMAIN: u32 = 10;
}

/// `CU_SYNC_POLICY_AUTO`.
const SYNC_POLICY_AUTO: u64 = 1;

/// `CUevent_wait_flags`.
mod wait_flag {
    pub const DEFAULT: u32 = 0;
    /// For stream capture only.
    pub const EXTERNAL: u32 = 1;
}

/// The status code for the result of a stream's work.
fn status(outcome: Result<()>) -> u32 {
    outcome.err().map_or(0, Error::code)
}

api! {
    Context Legal fn cuStreamCreate(out: Out<Handle>, flags: u32) {
        create(out, flags, 0)
    }

    Context Legal fn cuStreamCreateWithPriority(out: Out<Handle>, flags: u32, priority: i32) {
        create(out, flags, priority)
    }

    Process Legal fn cuStreamDestroy / cuStreamDestroy_v2 (handle: Handle) {
        if matches!(handle, 0 | special::LEGACY | special::PER_THREAD) {
            return Err(Error::InvalidHandle);
        }
        check(Need::Object)?;
        streams::destroy(handle).map(|_| ()).ok_or(Error::InvalidHandle)
    }

    Object Invalidates fn cuStreamQuery / cuStreamQuery_ptsz (handle: Handle) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        if stream.idle() {
            return stream.context()?.check();
        }
        Err(Error::NotReady)
    }

    Object Invalidates fn cuStreamSynchronize / cuStreamSynchronize_ptsz (handle: Handle) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        stream.synchronize();
        stream.context()?.check()
    }

    Object Legal fn cuStreamGetFlags / cuStreamGetFlags_ptsz (handle: Handle, flags: Out<u32>) |own| {
        let stream = stream(handle, own)?;
        flags.required()?.set(u32::from(stream.kind == Kind::NonBlocking));
        Ok(())
    }

    Object Legal fn cuStreamGetPriority / cuStreamGetPriority_ptsz (
        handle: Handle, priority: Out<i32>,
    ) |own| {
        let stream = stream(handle, own)?;
        priority.required()?.set(stream.priority().min(0));
        Ok(())
    }

    Object Legal fn cuStreamGetId / cuStreamGetId_ptsz (handle: Handle, id: Out<u64>) |own| {
        let stream = stream(handle, own)?;
        id.required()?.set(stream.id);
        Ok(())
    }

    Object Legal fn cuStreamGetCtx / cuStreamGetCtx_ptsz (handle: Handle, context: Out<Handle>) |own| {
        let stream = stream(handle, own)?;
        context.required()?.set(stream.context()?.handle);
        Ok(())
    }

    Object Legal fn cuStreamGetCtx_v2 / cuStreamGetCtx_v2_ptsz (
        handle: Handle, context: Out<Handle>, green: Out<Handle>,
    ) |own| {
        let stream = stream(handle, own)?;
        context.required()?.set(stream.context()?.handle);
        green.set(0);
        Ok(())
    }

    Object Legal fn cuStreamGetDevice / cuStreamGetDevice_ptsz (handle: Handle, device: Out<i32>) |own| {
        let stream = stream(handle, own)?;
        device.required()?.set(stream.context()?.device.ordinal as i32);
        Ok(())
    }

    Object Appends fn cuStreamWaitEvent / cuStreamWaitEvent_ptsz (
        handle: Handle, event: Handle, flags: u32,
    ) |own| {
        let stream = stream(handle, own)?;
        let event = event::get(event)?;
        match flags {
            wait_flag::DEFAULT => event.wait_in(&stream),
            wait_flag::EXTERNAL => event.wait_in_graph(&stream),
            _ => Err(Error::InvalidValue),
        }
    }

    Process Appends fn cuLaunchHostFunc / cuLaunchHostFunc_ptsz (
        handle: Handle, function: Option<HostFunction>, data: u64,
    ) |own| {
        let function = function.ok_or(Error::InvalidValue)?;
        check(Need::Object)?;
        let stream = stream(handle, own)?;
        if context::current().is_some_and(|c| c.id() != stream.context_id()) {
            return Err(Error::InvalidValue);
        }
        stream.submit(Operation::Host(HostCall::Function { function, data }), Policy::Later)
    }

    Object Invalidates fn cuStreamAddCallback / cuStreamAddCallback_ptsz (
        handle: Handle, function: Option<Callback>, data: u64, flags: u32,
    ) |own| {
        check_default(handle)?;
        let function = function.ok_or(Error::InvalidValue)?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        let stream = stream(handle, own)?;
        stream.context()?;
        let callback = HostCall::Callback { function, stream: handle, data, status };
        stream.submit(Operation::Host(callback), Policy::Later)
    }

    Object Legal fn cuStreamGetAttribute / cuStreamGetAttribute_ptsz (
        handle: Handle, number: u32, value: Out<AttributeValue>,
    ) |own| {
        let stream = stream(handle, own)?;
        value.required()?;
        let mut out: AttributeValue = [0; 8];
        out[0] = match number {
            // These have their default value.
            attribute::ACCESS_POLICY_WINDOW | attribute::MEM_SYNC_DOMAIN_MAP | attribute::MEM_SYNC_DOMAIN => 0,
            attribute::SYNCHRONIZATION_POLICY => SYNC_POLICY_AUTO,
            attribute::PRIORITY => u64::from(stream.priority() as u32),
            _ => return Err(Error::InvalidValue),
        };
        value.set(out);
        Ok(())
    }

    Object Legal fn cuStreamSetAttribute / cuStreamSetAttribute_ptsz (
        handle: Handle, number: u32, value: In<AttributeValue>,
    ) |own| {
        let stream = stream(handle, own)?;
        let value = value.get()?;
        match number {
            attribute::ACCESS_POLICY_WINDOW
            | attribute::SYNCHRONIZATION_POLICY
            | attribute::MEM_SYNC_DOMAIN_MAP
            | attribute::MEM_SYNC_DOMAIN => Ok(()),
            attribute::PRIORITY => {
                stream.set_priority((value[0] as u32 as i32).min(0));
                Ok(())
            }
            _ => Err(Error::InvalidValue),
        }
    }

    Object Legal fn cuStreamCopyAttributes / cuStreamCopyAttributes_ptsz (to: Handle, from: Handle) |own| {
        let (to, from) = (stream(to, own)?, stream(from, own)?);
        to.set_priority(from.priority());
        Ok(())
    }

    Object Appends fn cuStreamWaitValue32_v2 / cuStreamWaitValue32_v2_ptsz (
        handle: Handle, address: u64, value: u32, flags: u32,
    ) |own| {
        on_word(handle, own, address, false, |word| wait(word, u64::from(value), flags))
    }

    Object Appends fn cuStreamWaitValue64_v2 / cuStreamWaitValue64_v2_ptsz (
        handle: Handle, address: u64, value: u64, flags: u32,
    ) |own| {
        on_word(handle, own, address, true, |word| wait(word, value, flags))
    }

    Object Appends fn cuStreamWriteValue32_v2 / cuStreamWriteValue32_v2_ptsz (
        handle: Handle, address: u64, value: u32, flags: u32,
    ) |own| {
        on_word(handle, own, address, false, |word| write(word, u64::from(value), flags))
    }

    Object Appends fn cuStreamWriteValue64_v2 / cuStreamWriteValue64_v2_ptsz (
        handle: Handle, address: u64, value: u64, flags: u32,
    ) |own| {
        on_word(handle, own, address, true, |word| write(word, value, flags))
    }

    Object Appends fn cuStreamBatchMemOp_v2 / cuStreamBatchMemOp_v2_ptsz (
        handle: Handle, count: u32, operations: In<BatchOp>, flags: u32,
    ) |own| {
        check_default(handle)?;
        if flags != 0 || count > MAX_BATCH {
            return Err(Error::InvalidValue);
        }
        let steps = steps_of(&operations.list(count as usize)?)?;
        if steps.is_empty() {
            return Ok(());
        }
        stream(handle, own)?.submit(Operation::Batch(steps), Policy::Later)
    }
}
