//! Streams.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use driver::handle::lock;
use driver::memory::value::{Comparison, Condition, Word, WordOperation};
use driver::stream::{self as streams, HostCall, Kind, LOWEST_PRIORITY, Operation, Policy, Stream};

use crate::abi::{In, Out, tell};
use crate::api::device::HIGHEST_PRIORITY;
use crate::current::{self, Handle, special, stream};
use crate::types::{STREAM_OPERATION_SIZE, StreamOperation};
use crate::{Error, Result, api};

/// Compute unit masks by stream handle. They are returned by queries and have no effect on workers.
static MASKS: Mutex<BTreeMap<Handle, Vec<u32>>> = Mutex::new(BTreeMap::new());

/// The maximum number of words read from a compute unit mask.
const MAX_MASK: u32 = 1 << 16;

fn create(out: Out<Handle>, flags: u32, priority: i32) -> Result<()> {
    out.required()?;
    let kind = Kind::from_flags(flags)?;
    let priority = priority.clamp(HIGHEST_PRIORITY, LOWEST_PRIORITY);
    out.set(current::context()?.create_stream(kind, priority)?);
    Ok(())
}

/// The mask of all compute units of the thread's device.
fn all_units() -> Result<Vec<u32>> {
    let units = current::device()?.info.multiprocessors as usize;
    let word = |i: usize| if units - i * 32 >= 32 { u32::MAX } else { (1 << (units - i * 32)) - 1 };
    Ok((0..units.div_ceil(32)).map(word).collect())
}

type HostFunction = extern "C" fn(u64);
type Callback = extern "C" fn(Handle, u32, u64);

/// `hipStreamWaitValueGte` and the flags after it: how the word is compared with the value.
const COMPARISONS: [Comparison; 4] =
    [Comparison::AtLeast, Comparison::Equal, Comparison::AnySet, Comparison::AnyClear];

/// Submits an operation on one word to a stream.
fn on_word(
    handle: Handle,
    address: u64,
    wide: bool,
    step: impl FnOnce(Word) -> Result<WordOperation>,
) -> Result<()> {
    if address == 0 {
        return Err(Error::InvalidValue);
    }
    let stream = stream(handle, false)?;
    let step = step(Word::at(address, wide)?)?;
    Ok(stream.submit(Operation::Word(step), Policy::Later)?)
}

/// The stream operation that waits for a word; only the bits of the mask are compared.
fn wait(word: Word, value: u64, mask: u64, flags: u32) -> Result<WordOperation> {
    let comparison = *COMPARISONS.get(flags as usize).ok_or(Error::InvalidValue)?;
    Ok(WordOperation::Wait(word, Condition { comparison, value, mask }))
}

/// `hipLaunchAttributeID`: the attributes of streams.
mod attribute {
    pub const SYNCHRONIZATION_POLICY: u32 = 3;
    pub const PRIORITY: u32 = 8;
}

/// `hipSynchronizationPolicy`: automatic, the default; spin, yield, and blocking.
const POLICIES: std::ops::RangeInclusive<u32> = 1..=4;

/// Synchronization policies by stream, where they were set. A waiting thread always blocks.
static WAITING: Mutex<BTreeMap<u64, u32>> = Mutex::new(BTreeMap::new());

fn policy_of(stream: &Stream) -> u32 {
    lock(&WAITING).get(&stream.id).copied().unwrap_or(*POLICIES.start())
}

/// `hipLaunchAttributeValue`.
type AttributeValue = [u32; 16];

/// The stream of a handle; an unknown one is an invalid handle here.
fn named(handle: Handle) -> Result<Arc<Stream>> {
    stream(handle, false).map_err(|_| Error::InvalidHandle)
}

/// `hipStreamBatchMemOpType`. HIP does not implement the barrier (6) and the flush (3).
mod batch {
    pub const WAIT_VALUE_32: u32 = 1;
    pub const WRITE_VALUE_32: u32 = 2;
    pub const WAIT_VALUE_64: u32 = 4;
    pub const WRITE_VALUE_64: u32 = 5;
}

/// The maximum number of operations in a batch.
pub(super) const MAX_BATCH: u32 = 256;

/// The stream operation of one entry of a batch.
fn step_of(entry: &StreamOperation) -> Result<WordOperation> {
    let StreamOperation { operation, address, value, flags, .. } = *entry;
    let wide = matches!(operation, batch::WAIT_VALUE_64 | batch::WRITE_VALUE_64);
    let value = if wide { value } else { u64::from(value as u32) };
    match operation {
        batch::WAIT_VALUE_32 | batch::WAIT_VALUE_64 => wait(Word::at(address, wide)?, value, u64::MAX, flags),
        batch::WRITE_VALUE_32 | batch::WRITE_VALUE_64 if flags == 0 => {
            Ok(WordOperation::Write(Word::at(address, wide)?, value))
        }
        _ => Err(Error::InvalidValue),
    }
}

/// The steps of a batch.
pub(super) fn steps_of(operations: In<StreamOperation>, count: u32) -> Result<Arc<[WordOperation]>> {
    let place = |i: usize| operations.address().wrapping_add((i * STREAM_OPERATION_SIZE) as u64);
    let entry = |i| step_of(&In::<StreamOperation>::at_address(place(i)).get()?);
    (0..count as usize).map(entry).collect()
}

/// A step as a program describes it: the words of `hipStreamBatchMemOpParams`.
pub(super) fn described(step: &WordOperation) -> [u64; 6] {
    let number = |word: &Word, narrow, wide| u64::from(if word.is_wide() { wide } else { narrow });
    match step {
        WordOperation::Wait(word, condition) => {
            let flags = COMPARISONS.iter().position(|known| *known == condition.comparison).unwrap_or(0);
            let number = number(word, batch::WAIT_VALUE_32, batch::WAIT_VALUE_64);
            [number, word.address(), condition.value, flags as u64, 0, 0]
        }
        WordOperation::Write(word, value) => {
            let number = number(word, batch::WRITE_VALUE_32, batch::WRITE_VALUE_64);
            [number, word.address(), *value, 0, 0, 0]
        }
        // HIP's batches have no others.
        _ => [0; 6],
    }
}

/// The status for the result of a stream's work.
fn status(outcome: driver::Result<()>) -> u32 {
    outcome.err().map_or(0, |error| Error::from(error).code())
}

/// The device of a stream; for default streams, the thread's.
fn device_of(handle: Handle) -> Result<i32> {
    Ok(stream(handle, false)?.context()?.device.ordinal as i32)
}

/// `hipGetStreamDeviceId`: the ordinal of a stream's device; -1 if there is no such stream.
pub extern "C" fn hipGetStreamDeviceId(handle: Handle) -> i32 {
    let mut ordinal = -1;
    tell("hipGetStreamDeviceId", &[("handle", &handle)], || {
        ordinal = device_of(handle).unwrap_or(-1);
        0
    });
    ordinal
}

api! {
    Context Legal fn hipStreamCreate(out: Out<Handle>) {
        create(out, 0, 0)
    }

    Context Legal fn hipStreamCreateWithFlags(out: Out<Handle>, flags: u32) {
        create(out, flags, 0)
    }

    Context Legal fn hipStreamCreateWithPriority(out: Out<Handle>, flags: u32, priority: i32) {
        create(out, flags, priority)
    }

    Context Legal fn hipExtStreamCreateWithCUMask(out: Out<Handle>, words: u32, mask: In<u32>) {
        if out.is_null() {
            return Err(Error::InvalidHandle);
        }
        if words == 0 || words > MAX_MASK {
            return Err(Error::InvalidValue);
        }
        let mask = mask.list(words as usize)?;
        create(out, 0, 0)?;
        lock(&MASKS).insert(out.read()?, mask);
        Ok(())
    }

    /// A mask without any of the device's units means all units.
    Context Legal fn hipExtStreamGetCUMask(handle: Handle, words: u32, out: Out<u32>) {
        out.required()?;
        let all = all_units()?;
        if (words as usize) < all.len() {
            return Err(Error::InvalidValue);
        }
        stream(handle, false)?;
        let own = lock(&MASKS).get(&handle).cloned().unwrap_or_default();
        let mask: Vec<u32> = own.iter().zip(&all).map(|(own, all)| own & all).collect();
        out.set_all(if mask.iter().all(|word| *word == 0) { &all } else { &mask });
        Ok(())
    }

    Context Legal fn hipStreamDestroy(handle: Handle) {
        if matches!(handle, 0 | special::LEGACY | special::PER_THREAD) {
            return Err(Error::InvalidHandle);
        }
        let id = streams::STREAMS.get(handle).map(|stream| stream.id);
        streams::destroy(handle).ok_or(Error::ContextIsDestroyed)?;
        lock(&MASKS).remove(&handle);
        if let Some(id) = id {
            lock(&WAITING).remove(&id);
        }
        Ok(())
    }

    Context Invalidates fn hipStreamQuery / hipStreamQuery_spt (handle: Handle) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        if stream.poll() { Ok(stream.context()?.check()?) } else { Err(Error::NotReady) }
    }

    Context Invalidates fn hipStreamSynchronize / hipStreamSynchronize_spt (handle: Handle) |own| {
        let stream = stream(handle, own)?;
        stream.check_not_capturing()?;
        stream.synchronize();
        Ok(stream.context()?.check()?)
    }

    /// The null stream is refused.
    Context Legal fn hipStreamGetFlags / hipStreamGetFlags_spt (handle: Handle, flags: Out<u32>) |own| {
        flags.required()?;
        if handle == 0 && !own {
            return Err(Error::InvalidValue);
        }
        flags.set(u32::from(stream(handle, own)?.kind == Kind::NonBlocking));
        Ok(())
    }

    Context Legal fn hipStreamGetPriority / hipStreamGetPriority_spt (
        handle: Handle, priority: Out<i32>,
    ) |own| {
        priority.required()?;
        priority.set(stream(handle, own)?.priority().max(HIGHEST_PRIORITY));
        Ok(())
    }

    Context Legal fn hipStreamGetDevice(handle: Handle, device: Out<i32>) {
        device.required()?.set(device_of(handle)?);
        Ok(())
    }

    Context Appends fn hipStreamWaitEvent / hipStreamWaitEvent_spt (
        handle: Handle, event: Handle, flags: u32,
    ) |own| {
        let stream = stream(handle, own).map_err(|_| Error::InvalidHandle)?;
        let event = super::event::with_record(event)?;
        if flags != 0 {
            return Err(Error::InvalidValue);
        }
        Ok(event.wait_in(&stream)?)
    }

    Context Appends fn hipStreamAddCallback / hipStreamAddCallback_spt (
        handle: Handle, function: Option<Callback>, data: u64, flags: u32,
    ) |own| {
        let function = function.filter(|_| flags == 0).ok_or(Error::InvalidValue)?;
        let stream = stream(handle, own)?;
        stream.context()?;
        let callback = HostCall::Callback { function, stream: handle, data, status };
        Ok(stream.submit(Operation::Host(callback), Policy::Later)?)
    }

    Context Appends fn hipLaunchHostFunc / hipLaunchHostFunc_spt (
        handle: Handle, function: Option<HostFunction>, data: u64,
    ) |own| {
        let function = function.ok_or(Error::InvalidValue)?;
        Ok(stream(handle, own)?.submit(Operation::Host(HostCall::Function { function, data }), Policy::Later)?)
    }

    Context Appends fn hipStreamWaitValue32(handle: Handle, address: u64, value: u32, flags: u32, mask: u32) {
        on_word(handle, address, false, |word| wait(word, u64::from(value), u64::from(mask), flags))
    }

    Context Appends fn hipStreamWaitValue64(handle: Handle, address: u64, value: u64, flags: u32, mask: u64) {
        on_word(handle, address, true, |word| wait(word, value, mask, flags))
    }

    /// The flags are reserved: any value is accepted and has no effect.
    Context Appends fn hipStreamWriteValue32(handle: Handle, address: u64, value: u32, _flags: u32) {
        on_word(handle, address, false, |word| Ok(WordOperation::Write(word, u64::from(value))))
    }

    Context Appends fn hipStreamWriteValue64(handle: Handle, address: u64, value: u64, _flags: u32) {
        on_word(handle, address, true, |word| Ok(WordOperation::Write(word, value)))
    }

    Context Appends fn hipStreamBatchMemOp(
        handle: Handle, count: u32, operations: In<StreamOperation>, flags: u32,
    ) {
        if operations.is_null() || flags != 0 || !(1..=MAX_BATCH).contains(&count) {
            return Err(Error::InvalidValue);
        }
        let stream = stream(handle, false)?;
        let steps = steps_of(operations, count)?;
        Ok(stream.submit(Operation::Batch(steps), Policy::Later)?)
    }

    Context Legal fn hipStreamGetId(handle: Handle, id: Out<u64>) {
        id.required()?.set(named(handle)?.id);
        Ok(())
    }

    Context Legal fn hipStreamGetAttribute(handle: Handle, number: u32, value: Out<u32>) {
        value.required()?;
        let stream = named(handle)?;
        value.set(match number {
            attribute::SYNCHRONIZATION_POLICY => policy_of(&stream),
            attribute::PRIORITY => stream.priority().max(HIGHEST_PRIORITY) as u32,
            _ => return Err(Error::InvalidValue),
        });
        Ok(())
    }

    /// As in HIP, only the synchronization policy can be set.
    Context Invalidates fn hipStreamSetAttribute(handle: Handle, number: u32, value: In<AttributeValue>) {
        let [policy, ..] = value.get()?;
        let stream = named(handle)?;
        if number != attribute::SYNCHRONIZATION_POLICY || !POLICIES.contains(&policy) {
            return Err(Error::InvalidValue);
        }
        lock(&WAITING).insert(stream.id, policy);
        Ok(())
    }

    Context Legal fn hipStreamCopyAttributes(to: Handle, from: Handle) {
        let (from, to) = (named(from)?, named(to)?);
        let policy = policy_of(&from);
        lock(&WAITING).insert(to.id, policy);
        Ok(())
    }
}
