//! Stream operations on words of memory.
//!
//! The functions without `_v2` in their names are those of before CUDA 12, which a module option of the
//! hardware's driver enables. They do the same.

use std::sync::Arc;

use driver::memory::rights::User;
use driver::memory::value::{Comparison, Condition, Word, WordOperation};
use driver::stream::{Operation, Policy};
use driver::{Error, Result};

use crate::abi::In;
use crate::api;
use crate::api::{check_default, stream};
use crate::types::Handle;

/// `CUstreamWaitValue_flags`: how the word is compared with the value.
const COMPARISONS: [Comparison; 4] =
    [Comparison::AtLeastCyclic, Comparison::Equal, Comparison::AnySet, Comparison::AnyClear];

/// The stream operation that waits for a word.
fn wait(word: Word, value: u64, flags: u32) -> Result<WordOperation> {
    let comparison = *COMPARISONS.get(flags as usize).ok_or(Error::InvalidValue)?;
    Ok(WordOperation::Wait(word, Condition { comparison, value, mask: u64::MAX }))
}

/// The stream operation that writes a word.
fn write(word: Word, value: u64, flags: u32) -> Result<WordOperation> {
    if flags == 0 { Ok(WordOperation::Write(word, value)) } else { Err(Error::InvalidValue) }
}

/// Checks an operation on one word and submits it to a stream.
fn on_word(
    handle: Handle,
    own: bool,
    address: u64,
    wide: bool,
    step: impl FnOnce(Word) -> Result<WordOperation>,
) -> Result<()> {
    check_default(handle)?;
    let step = step(Word::at(address, wide)?)?;
    let stream = stream(handle, own)?;
    stream.submit(Operation::Word(step.used_by(User::of(&stream))?), Policy::Later)
}

/// `CUstreamBatchMemOpParams`, 48 bytes: the operation type, then its address, value and flags.
pub(super) type BatchOp = [u64; 6];
/// The maximum number of operations in a batch.
pub(super) const MAX_BATCH: u32 = 256;

/// `CUstreamBatchMemOpType`.
mod kind {
    pub const WAIT_VALUE_32: u32 = 1;
    pub const WRITE_VALUE_32: u32 = 2;
    pub const FLUSH_REMOTE_WRITES: u32 = 3;
    pub const WAIT_VALUE_64: u32 = 4;
    pub const WRITE_VALUE_64: u32 = 5;
    pub const BARRIER: u32 = 6;
}

/// `CU_STREAM_MEMORY_BARRIER_TYPE_GPU`, the only flag of a barrier.
const SCOPE: u64 = 1;

/// The word that a batch operation works on; `None` if it works on none.
fn word_of(op: &BatchOp) -> Result<Option<Word>> {
    match op[0] as u32 {
        kind::WAIT_VALUE_32 | kind::WRITE_VALUE_32 => Word::at(op[1], false).map(Some),
        kind::WAIT_VALUE_64 | kind::WRITE_VALUE_64 => Word::at(op[1], true).map(Some),
        kind::FLUSH_REMOTE_WRITES | kind::BARRIER => Ok(None),
        _ => Err(Error::InvalidValue),
    }
}

fn step_of(op: &BatchOp, word: Option<Word>) -> Result<WordOperation> {
    let [kind, _, value, flags, ..] = *op;
    let (number, flags, narrow) = (kind as u32, flags as u32, u64::from(value as u32));
    match (number, word) {
        (kind::WAIT_VALUE_32, Some(word)) => wait(word, narrow, flags),
        (kind::WAIT_VALUE_64, Some(word)) => wait(word, value, flags),
        (kind::WRITE_VALUE_32, Some(word)) => write(word, narrow, flags),
        (kind::WRITE_VALUE_64, Some(word)) => write(word, value, flags),
        // Devices do not report that they can (`CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES`).
        (kind::FLUSH_REMOTE_WRITES, _) => Err(Error::NotSupported),
        _ if (kind >> 32) & !SCOPE == 0 => Ok(WordOperation::Barrier),
        _ => Err(Error::InvalidValue),
    }
}

/// The steps of a batch as those of a context.
pub(super) fn used_by(steps: Vec<WordOperation>, user: User) -> Result<Arc<[WordOperation]>> {
    steps.into_iter().map(|step| step.used_by(user)).collect()
}

/// The steps of a batch.
pub(super) fn steps_of(list: &[BatchOp]) -> Result<Vec<WordOperation>> {
    let words = list.iter().map(word_of).collect::<Result<Vec<_>>>()?;
    list.iter().zip(words).map(|(op, word)| step_of(op, word)).collect()
}

/// A step as a program describes it.
pub(super) fn described(step: &WordOperation) -> BatchOp {
    let number = |word: &Word, narrow: u32, wide: u32| u64::from(if word.is_wide() { wide } else { narrow });
    match step {
        WordOperation::Wait(word, condition) => {
            let flags = COMPARISONS.iter().position(|known| *known == condition.comparison).unwrap_or(0);
            let number = number(word, kind::WAIT_VALUE_32, kind::WAIT_VALUE_64);
            [number, word.address(), condition.value, flags as u64, 0, 0]
        }
        WordOperation::Write(word, value) => {
            let number = number(word, kind::WRITE_VALUE_32, kind::WRITE_VALUE_64);
            [number, word.address(), *value, 0, 0, 0]
        }
        // These are nodes of another kind.
        WordOperation::Signal(..) | WordOperation::Await(..) => [0; 6],
        WordOperation::Barrier => [u64::from(kind::BARRIER), 0, 0, 0, 0, 0],
    }
}

/// Checks the operations of a batch and submits them to a stream.
fn batch(handle: Handle, own: bool, count: u32, operations: In<BatchOp>, flags: u32) -> Result<()> {
    check_default(handle)?;
    if flags != 0 || count > MAX_BATCH {
        return Err(Error::InvalidValue);
    }
    let steps = steps_of(&operations.list(count as usize)?)?;
    if steps.is_empty() {
        return Ok(());
    }
    let stream = stream(handle, own)?;
    let steps = used_by(steps, User::of(&stream))?;
    stream.submit(Operation::Batch(steps), Policy::Later)
}

api! {
    Object Appends fn cuStreamWaitValue32 / cuStreamWaitValue32_ptsz (
        handle: Handle, address: u64, value: u32, flags: u32,
    ) |own| {
        on_word(handle, own, address, false, |word| wait(word, u64::from(value), flags))
    }

    Object Appends fn cuStreamWaitValue32_v2 / cuStreamWaitValue32_v2_ptsz (
        handle: Handle, address: u64, value: u32, flags: u32,
    ) |own| {
        on_word(handle, own, address, false, |word| wait(word, u64::from(value), flags))
    }

    Object Appends fn cuStreamWriteValue32 / cuStreamWriteValue32_ptsz (
        handle: Handle, address: u64, value: u32, flags: u32,
    ) |own| {
        on_word(handle, own, address, false, |word| write(word, u64::from(value), flags))
    }

    Object Appends fn cuStreamWriteValue32_v2 / cuStreamWriteValue32_v2_ptsz (
        handle: Handle, address: u64, value: u32, flags: u32,
    ) |own| {
        on_word(handle, own, address, false, |word| write(word, u64::from(value), flags))
    }

    Object Appends fn cuStreamWaitValue64 / cuStreamWaitValue64_ptsz (
        handle: Handle, address: u64, value: u64, flags: u32,
    ) |own| {
        on_word(handle, own, address, true, |word| wait(word, value, flags))
    }

    Object Appends fn cuStreamWaitValue64_v2 / cuStreamWaitValue64_v2_ptsz (
        handle: Handle, address: u64, value: u64, flags: u32,
    ) |own| {
        on_word(handle, own, address, true, |word| wait(word, value, flags))
    }

    Object Appends fn cuStreamWriteValue64 / cuStreamWriteValue64_ptsz (
        handle: Handle, address: u64, value: u64, flags: u32,
    ) |own| {
        on_word(handle, own, address, true, |word| write(word, value, flags))
    }

    Object Appends fn cuStreamWriteValue64_v2 / cuStreamWriteValue64_v2_ptsz (
        handle: Handle, address: u64, value: u64, flags: u32,
    ) |own| {
        on_word(handle, own, address, true, |word| write(word, value, flags))
    }

    Object Appends fn cuStreamBatchMemOp / cuStreamBatchMemOp_ptsz (
        handle: Handle, count: u32, operations: In<BatchOp>, flags: u32,
    ) |own| {
        batch(handle, own, count, operations, flags)
    }

    Object Appends fn cuStreamBatchMemOp_v2 / cuStreamBatchMemOp_v2_ptsz (
        handle: Handle, count: u32, operations: In<BatchOp>, flags: u32,
    ) |own| {
        batch(handle, own, count, operations, flags)
    }
}
