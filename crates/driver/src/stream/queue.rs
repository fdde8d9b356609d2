//! The queue of a stream: when its operations run, and on which thread.
//!
//! [`Stream::submit`] is the only entry to a stream. It runs brief operations in the calling thread if none
//! is pending, and queues all others. A thread that synchronises runs the queue itself unless another thread
//! is running it, so that a launch and its wait need no hand-over. Dispatchers run the queues that no thread
//! waits for.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use host::threads::Turn;
use smallvec::SmallVec;

use crate::coredump;
use crate::error::{Error, Result};
use crate::handle::lock;
use crate::profile;

use super::capture::{self, Intercepted};
use super::dispatch::dispatcher;
use super::hosted::refuse;
use super::operation::{Operation, Rest, Submitted};
use super::parked::{Found, parked};
use super::{Kind, Point, Stream};

/// When the submitting call may return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// At once, unless the operation uses memory that the program may change after the call.
    Later,
    /// After the operation. Operations on device memory alone may still be running, as on the hardware.
    Wait,
}

impl Policy {
    /// The policy of a function that waits, or of one that does not.
    pub fn waiting(wait: bool) -> Self {
        if wait { Policy::Wait } else { Policy::Later }
    }
}

/// A queued operation.
struct Item {
    sequence: u64,
    /// The points in other streams that it waits for, if there are any.
    after: Option<Box<SmallVec<[Point; 1]>>>,
    /// `None` once it has run.
    operation: Option<Operation>,
}

/// Items that change hands as one pointer: what was written a moment ago in smaller pieces is slow to move.
type Batch = Box<VecDeque<Item>>;

#[derive(Default)]
pub(super) struct Queue {
    items: Batch,
    /// The buffer for the items that a runner takes out; kept to avoid allocations.
    spare: Option<Batch>,
    /// Whether a thread is running this stream.
    running: bool,
    /// Whether the stream is on the dispatchers' list.
    listed: bool,
    /// Whether it is on its context's list of streams that may have work.
    pub(super) busy: bool,
}

impl Queue {
    /// Takes out the operations up to a sequence number, if there are any. All that may run at once: with a
    /// lock for each operation, the runner and the threads that submit would wait for each other.
    fn take(&mut self, sequence: u64) -> Option<Batch> {
        if self.items.front()?.sequence > sequence {
            return None;
        }
        let mut batch = self.spare.take().unwrap_or_default();
        if self.items.back()?.sequence <= sequence {
            std::mem::swap(&mut self.items, &mut batch);
        } else {
            let count = self.items.partition_point(|item| item.sequence <= sequence);
            batch.extend(self.items.drain(..count));
        }
        Some(batch)
    }

    /// Keeps the buffer of a batch that has run.
    fn keep(&mut self, mut batch: Batch) {
        if self.spare.is_none() && batch.capacity() <= KEPT {
            batch.clear();
            self.spare = Some(batch);
        }
    }
}

/// The sequence number up to which a dispatcher runs a stream.
const EVERYTHING: u64 = u64::MAX;

/// A spare buffer with a larger capacity is not kept.
const KEPT: usize = 4096;

/// How long a thread that waits for a runner spins before it sleeps: waking takes longer than a short kernel.
const LOOK: Duration = Duration::from_micros(20);
/// How long a dispatcher lets operations gather after a batch of fewer than [`SCANT`]: with one operation in
/// each batch, it and the thread that submits would take the queue's lock and its memory from each other for
/// every one.
const GATHER: Duration = Duration::from_micros(5);
const SCANT: usize = 64;
/// A burst of this many operations wakes a napping dispatcher if nobody runs the stream.
const BURST: usize = 32;

/// An operation that the calling thread runs itself. It counts as finished when this is dropped.
struct AtOnce<'a> {
    stream: &'a Arc<Stream>,
    sequence: u64,
}

impl AtOnce<'_> {
    /// The point after the operation.
    fn point(&self) -> Point {
        Point { stream: Arc::clone(self.stream), sequence: self.sequence, inside: None }
    }
}

impl Drop for AtOnce<'_> {
    fn drop(&mut self) {
        let queue = lock(&self.stream.queue);
        // Threads register as waiters under the lock, and look at this after it.
        self.stream.progress.completed.store(self.sequence, Ordering::Release);
        self.stream.rest(queue);
    }
}

/// What is left to do of an operation that its submitter has tried to run.
enum Left {
    /// To queue it.
    Queue {
        /// The caller must wait for its end.
        must_end: bool,
    },
    /// Nothing.
    Nothing(Submitted),
}

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// How many calls of [`Run::finish`] the calling thread is in: operations may wait for other streams.
pub(super) fn depth() -> u32 {
    DEPTH.try_with(Cell::get).unwrap_or(0)
}

fn change_depth(change: impl FnOnce(u32) -> u32) {
    // At a thread's end, thread-local storage is gone.
    let _ = DEPTH.try_with(|depth| depth.set(change(depth.get())));
}

/// What a thread does after a part of a stream.
enum Next {
    /// It has become the runner of another stream, and runs that first.
    First(Run<'static>),
    /// It gives the stream back, because the next operation waits.
    Park,
    /// All operations have run.
    Done,
}

/// A stream that the thread runs, up to a sequence number.
pub(super) struct Run<'a> {
    stream: Cow<'a, Arc<Stream>>,
    sequence: u64,
    /// Operations taken out of the queue. They run where they are: moving one takes as long as running a
    /// small one.
    batch: Option<Batch>,
    /// The index in `batch` of the operation to run next.
    next: usize,
    /// When that operation began to wait for other streams, for a profile.
    blocked: Option<u64>,
}

impl<'a> Run<'a> {
    /// Makes the calling thread the runner of a stream that has none.
    fn begin(stream: Cow<'a, Arc<Stream>>, sequence: u64, mut queue: MutexGuard<'_, Queue>) -> Self {
        queue.running = true;
        let batch = queue.take(sequence);
        drop(queue);
        Run { stream, sequence, batch, next: 0, blocked: None }
    }

    /// Runs operations until all have finished or one waits for another stream that no thread runs: the
    /// thread has become that stream's runner, and must run it first. If it `may_park`, it also ends at an
    /// operation that waits while many others do.
    fn go_on(&mut self, turn: &Turn, may_park: bool) -> Next {
        while self.refill(turn) {
            while let Some(item) = self.batch.as_mut().and_then(|batch| batch.get_mut(self.next)) {
                while let Some(point) = item.after.as_ref().and_then(|after| after.last()) {
                    if self.blocked.is_none() && profile::recorder().is_some() && !point.reached() {
                        self.blocked = Some(profile::now());
                    }
                    if may_park && point.is_being_run() && dispatcher().should_park(false) {
                        return Next::Park;
                    }
                    if let Some(first) = point.reach() {
                        return Next::First(first);
                    }
                    item.after.as_mut().and_then(|after| after.pop());
                }
                if let Some(from) = self.blocked.take()
                    && let Some(recorder) = profile::recorder()
                {
                    recorder.work(profile::Kind::Wait, &self.stream, from, 0);
                }
                while may_park
                    && let Some(operation) = &mut item.operation
                    && operation.may_be_blocked()
                    && dispatcher().should_park(true)
                {
                    if self.stream.is_blocked_by(operation) {
                        return Next::Park;
                    }
                    let Some((now, later)) = operation.split() else { break };
                    self.stream.perform(&now, turn);
                    *operation = later;
                }
                if let Some(operation) = &item.operation {
                    self.stream.perform(operation, turn);
                }
                let sequence = item.sequence;
                self.next += 1;
                self.release();
                self.stream.ended(sequence);
            }
        }
        Next::Done
    }

    /// Releases what the operation that has just run holds, before its end is published. Launches release
    /// their functions together before the end of the batch's last operation: a program that launches one
    /// kernel again and again counts references to it at the same time.
    fn release(&mut self) {
        let Some(batch) = &mut self.batch else { return };
        if self.next == batch.len() {
            batch.iter_mut().for_each(|item| item.operation = None);
        } else if let Some(item) = batch.get_mut(self.next - 1)
            && !matches!(item.operation, Some(Operation::Launch(_)))
        {
            item.operation = None;
        }
    }

    /// Runs the operations up to the sequence number.
    pub(super) fn finish(self) {
        self.finish_by(false);
    }

    /// The same, but where too many streams wait, the rest is put back.
    pub(super) fn finish_or_park(self) {
        self.finish_by(true);
    }

    fn finish_by(self, may_park: bool) {
        let turn = Turn::begin();
        change_depth(|depth| depth + 1);
        let mut run = self;
        // Each of them waits for the next, and the last for `run`. A list, because thousands of streams may
        // wait for one another, more than the thread's stack could hold.
        let mut waiting: Vec<Run<'a>> = Vec::new();
        loop {
            match run.go_on(&turn, may_park) {
                Next::First(first) => waiting.push(std::mem::replace(&mut run, first)),
                Next::Done => match waiting.pop() {
                    Some(last) => run = last,
                    None => break,
                },
                Next::Park => {
                    // Those that wait for it first, so that they do not find it without a runner.
                    waiting.into_iter().for_each(Run::park);
                    run.park();
                    break;
                }
            }
        }
        change_depth(|depth| depth.saturating_sub(1));
    }

    /// Puts the operations that have not run back into the queue, to be run when the first no longer waits.
    fn park(self) {
        let Run { stream, batch, next, .. } = self;
        let mut queue = lock(&stream.queue);
        if let Some(mut batch) = batch {
            batch.drain(..next);
            batch.append(&mut queue.items);
            queue.items = batch;
        }
        queue.running = false;
        let is_new = !queue.listed;
        queue.listed = true;
        // Waiters register under the lock.
        let waited_for = stream.progress.waiters.load(Ordering::SeqCst) > 0;
        drop(queue);
        if waited_for {
            stream.changed.notify_all();
        }
        if is_new {
            parked().add(&stream);
        }
    }

    /// Takes operations out of the queue unless some are left. `false`: there are none, and the thread no
    /// longer runs the stream.
    fn refill(&mut self, turn: &Turn) -> bool {
        if self.batch.as_ref().is_some_and(|batch| self.next < batch.len()) {
            return true;
        }
        self.next = 0;
        let Run { stream, sequence, batch, .. } = self;
        if *sequence == EVERYTHING && batch.as_ref().is_some_and(|batch| batch.len() < SCANT) {
            stream.gather();
        }
        let mut queue = lock(&stream.queue);
        if let Some(done) = batch.take() {
            queue.keep(done);
        }
        *batch = queue.take(*sequence);
        if batch.is_none() {
            stream.rest(queue);
            return false;
        }
        drop(queue);
        turn.again();
        true
    }
}

impl Point {
    /// Whether a thread runs its stream and has not reached it.
    fn is_being_run(&self) -> bool {
        !self.reached() && lock(&self.stream.queue).running
    }

    /// Waits for the point unless no thread runs its stream: then the caller becomes the stream's runner up
    /// to the point.
    fn reach(&self) -> Option<Run<'static>> {
        if self.inside.is_some() {
            self.wait();
            return None;
        }
        let (stream, sequence) = (&self.stream, self.sequence);
        let queue = stream.take_over_before(sequence)?;
        Some(Run::begin(Cow::Owned(Arc::clone(stream)), sequence, queue))
    }
}

impl Stream {
    /// Submits an operation, which runs after everything before it in this stream, and in the streams that
    /// the rules of the legacy stream make it wait for.
    ///
    /// All operations are run or queued here. The function is inlined where an operation is constructed, so
    /// that a brief one runs without being moved.
    #[inline(always)]
    pub fn submit(self: &Arc<Self>, operation: Operation, policy: Policy) -> Result<()> {
        self.submit_and_tell(operation, policy).map(|_| ())
    }

    /// As [`Stream::submit`]. Returns what is reported to the program.
    #[inline(always)]
    pub fn submit_and_tell(self: &Arc<Self>, operation: Operation, policy: Policy) -> Result<Submitted> {
        if capture::active() {
            return self.submit_unless_captured(operation, policy);
        }
        self.submit_at_last(operation, policy)
    }

    #[cold]
    fn submit_unless_captured(self: &Arc<Self>, operation: Operation, policy: Policy) -> Result<Submitted> {
        match self.intercept(operation, policy)? {
            Intercepted::Not(operation) => self.submit_at_last(operation, policy),
            Intercepted::Captured(submitted) => Ok(submitted),
        }
    }

    /// Submits an operation that no capture takes.
    #[inline(always)]
    fn submit_at_last(self: &Arc<Self>, mut operation: Operation, policy: Policy) -> Result<Submitted> {
        let mut after = SmallVec::new();
        match self.run_at_once(&mut operation, &mut after, policy)? {
            Left::Queue { must_end } => {
                self.submit_later(operation, after, must_end).map(|()| Submitted::default())
            }
            Left::Nothing(submitted) => Ok(submitted),
        }
    }

    /// Settles an operation, and runs it if it is brief and nothing is pending. Adds the points that it must
    /// wait for to `after`.
    #[inline]
    fn run_at_once(
        self: &Arc<Self>,
        operation: &mut Operation,
        after: &mut SmallVec<[Point; 1]>,
        policy: Policy,
    ) -> Result<Left> {
        if let Rest::Nothing(submitted) = operation.settle(self, after)? {
            return Ok(Left::Nothing(submitted));
        }
        let must_end = operation.must_end(policy == Policy::Wait);
        if must_end && self.waits_for_caller() {
            return Err(refuse());
        }
        if (must_end || operation.is_brief())
            && after.is_empty()
            && let Some(now) = self.begin()
        {
            self.run_now(operation, &now)?;
            return Ok(Left::Nothing(Submitted::default()));
        }
        Ok(Left::Queue { must_end })
    }

    /// Queues a settled operation.
    fn submit_later(
        self: &Arc<Self>,
        mut operation: Operation,
        after: SmallVec<[Point; 1]>,
        must_end: bool,
    ) -> Result<()> {
        if !must_end {
            operation.detach();
        }
        operation.defer();
        let noted = operation.is_noted().then(|| operation.clone());
        let sequence = self.enqueue(after, operation);
        if let Some(operation) = noted {
            operation.submitted(Point { stream: Arc::clone(self), sequence, inside: None });
        }
        if must_end {
            self.drain(sequence);
            return self.context()?.check();
        }
        Ok(())
    }

    #[inline]
    fn run_now(self: &Arc<Self>, operation: &Operation, now: &AtOnce<'_>) -> Result<()> {
        if !operation.survives_faults() {
            self.context()?.check()?;
        }
        let outcome = operation.run(self, None);
        if let Err(error) = outcome {
            self.fail(error);
        }
        if operation.is_noted() {
            operation.submitted(now.point());
        }
        outcome
    }

    /// Lets the caller run an operation itself if none is pending, in this stream or by the rules of the
    /// legacy stream. Operations submitted meanwhile wait for it.
    fn begin(self: &Arc<Self>) -> Option<AtOnce<'_>> {
        if !self.idle() {
            return None;
        }
        let mut after = SmallVec::new();
        self.add_waits(&mut after);
        let mut queue = lock(&self.queue);
        if !after.is_empty() || queue.running || !queue.items.is_empty() {
            return None;
        }
        queue.running = true;
        let sequence = self.next_sequence(&mut queue);
        Some(AtOnce { stream: self, sequence })
    }

    /// Adds the points that an operation in this stream must wait for by the rules of the legacy stream.
    fn add_waits(self: &Arc<Self>, after: &mut SmallVec<[Point; 1]>) {
        if self.kind != Kind::NonBlocking
            && self.has_many_streams()
            && let Some(context) = self.context.upgrade()
        {
            context.default_stream_waits(self, after);
        }
    }

    /// Whether a new operation certainly has nothing to wait for. Needs no lock.
    pub(super) fn nothing_before(&self) -> bool {
        self.idle()
            && match self.kind {
                Kind::NonBlocking => true,
                Kind::Blocking => self.life.legacy_is_idle(),
                Kind::Legacy => !self.has_many_streams(),
            }
    }

    /// The sequence number of a new operation.
    pub(super) fn next_sequence(self: &Arc<Self>, queue: &mut Queue) -> u64 {
        if !queue.busy && self.kind != Kind::Legacy {
            queue.busy = true;
            self.life.busy.add(self);
        }
        let sequence = self.enqueued.load(Ordering::Relaxed) + 1;
        self.enqueued.store(sequence, Ordering::Release);
        sequence
    }

    #[inline]
    fn enqueue(self: &Arc<Self>, mut after: SmallVec<[Point; 1]>, operation: Operation) -> u64 {
        self.add_waits(&mut after);
        let (sequence, list, many) = {
            let mut queue = lock(&self.queue);
            let sequence = self.next_sequence(&mut queue);
            let after = (!after.is_empty()).then(|| Box::new(after));
            queue.items.push_back(Item { sequence, after, operation: Some(operation) });
            let list = !queue.listed && !queue.running;
            queue.listed |= list;
            (sequence, list, queue.items.len() == BURST && !queue.running)
        };
        if list {
            dispatcher().list(self);
        } else if many {
            dispatcher().hurry();
        }
        sequence
    }

    /// Waits for everything submitted so far.
    pub fn synchronize(self: &Arc<Self>) {
        self.drain(self.enqueued.load(Ordering::Acquire));
    }

    /// Runs the stream or waits until all operations up to `sequence` have finished. In a host function, a
    /// wait that would not end is refused.
    pub(super) fn drain(self: &Arc<Self>, sequence: u64) {
        if self.waits_for_caller() && self.progress.completed.load(Ordering::Acquire) < sequence {
            refuse();
            return;
        }
        while let Some(queue) = self.take_over_before(sequence) {
            Run::begin(Cow::Borrowed(self), sequence, queue).finish();
        }
    }

    /// Waits until all operations up to `sequence` have finished, or until no thread runs the stream. Then
    /// the caller may become its runner.
    fn take_over_before(&self, sequence: u64) -> Option<MutexGuard<'_, Queue>> {
        let mut looked = false;
        while self.progress.completed.load(Ordering::Acquire) < sequence {
            let mut queue = lock(&self.queue);
            if queue.running && !looked {
                drop(queue);
                looked = true;
                self.look(sequence);
                continue;
            }
            if queue.running {
                self.progress.waiters.fetch_add(1, Ordering::SeqCst);
                while queue.running && self.progress.completed.load(Ordering::SeqCst) < sequence {
                    queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
                self.progress.waiters.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            return Some(queue);
        }
        None
    }

    /// Notes that a thread waits for operations of the stream: its runner does not let more of them gather.
    pub(super) fn want(&self) {
        self.progress.wanted.store(true, Ordering::Relaxed);
    }

    /// Lets operations gather for a moment unless a thread waits. Reads nothing that submissions write.
    fn gather(&self) {
        let start = Instant::now();
        while !self.progress.wanted.load(Ordering::Relaxed) && start.elapsed() < GATHER {
            std::hint::spin_loop();
        }
        self.progress.wanted.store(false, Ordering::Relaxed);
    }

    /// Spins briefly until all operations up to `sequence` have finished.
    fn look(&self, sequence: u64) {
        self.want();
        let start = Instant::now();
        while self.progress.completed.load(Ordering::Acquire) < sequence && start.elapsed() < LOOK {
            std::hint::spin_loop();
        }
    }

    /// Makes the calling thread, a dispatcher that took the stream off the list, its runner: for everything
    /// that is queued now or later. `None` if there is nothing to run, or if another thread is running it.
    pub(super) fn take_over(self: &Arc<Self>) -> Option<Run<'_>> {
        let mut queue = lock(&self.queue);
        queue.listed = false;
        if queue.running || queue.items.is_empty() {
            return None;
        }
        Some(Run::begin(Cow::Borrowed(self), EVERYTHING, queue))
    }

    /// Looks whether the stream, which is parked, can continue.
    pub(super) fn look_at_parked(self: &Arc<Self>) -> Found {
        let mut queue = lock(&self.queue);
        if queue.running {
            return Found::Waits;
        }
        let Some(item) = queue.items.front() else {
            queue.listed = false;
            return Found::Idle;
        };
        if item.after.as_ref().is_some_and(|after| after.iter().any(|point| !point.reached())) {
            return Found::Waits;
        }
        // A look at memory may fault, and the handlers take locks.
        let operation = item.operation.as_ref().filter(|one| one.may_be_blocked()).cloned();
        drop(queue);
        let is_blocked = operation.is_some_and(|operation| self.is_blocked_by(&operation));
        if is_blocked { Found::Waits } else { Found::Listed }
    }

    /// Whether the stream would wait in its next operation. If that fails, so does the context, and the
    /// operation will not run.
    fn is_blocked_by(&self, operation: &Operation) -> bool {
        operation.is_blocked(self).unwrap_or_else(|error| {
            self.fail(error);
            false
        })
    }

    /// Runs an operation unless a fault forbids it.
    fn perform(self: &Arc<Self>, operation: &Operation, turn: &Turn) {
        if operation.survives_faults() || !self.life.faulted.load(Ordering::Acquire) {
            let outcome = catch_unwind(AssertUnwindSafe(|| operation.run(self, Some(turn))));
            if let Err(error) = outcome.unwrap_or(Err(Error::Unknown)) {
                self.fail(error);
            }
        }
    }

    /// Publishes that an operation has finished.
    fn ended(&self, sequence: u64) {
        self.progress.completed.store(sequence, Ordering::SeqCst);
        if self.progress.waiters.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.queue));
            self.changed.notify_all();
        }
    }

    /// Stops running the stream. If work is left, a dispatcher takes over.
    fn rest(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>) {
        queue.running = false;
        let list = !queue.items.is_empty() && !queue.listed;
        queue.listed |= list;
        // Waiters register under the lock.
        let waited_for = self.progress.waiters.load(Ordering::SeqCst) > 0;
        drop(queue);
        if waited_for {
            self.changed.notify_all();
        }
        if list {
            dispatcher().list(self);
        }
        self.leave_if_done();
    }

    /// Marks the context and its device as faulted.
    fn fail(&self, error: Error) {
        if !self.life.faulted.swap(true, Ordering::AcqRel) {
            self.device.set_fault(error);
            coredump::faulted(self.context_id);
        }
    }
}
