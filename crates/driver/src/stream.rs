//! Streams: queues of work, and who runs it.
//!
//! Work in a stream runs in order; what must wait for another stream carries the place in that stream's order to wait for. A thread that
//! synchronises runs the queue itself where nobody else does, so that a launch and its wait need no hand-over. Dispatcher threads, started by
//! the first asynchronous work, run what nobody waits for: they nap briefly between looks at the list of streams with work, and sleep for good
//! when there has been none for a while; only then does enqueueing have to wake one.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use host::threads::Turn;
use smallvec::SmallVec;

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};
use crate::launch::Prepared;

/// The streams with handles.
pub static STREAMS: Table<Stream> = Table::new(5);

/// What a piece of work gives: a fault ends the context.
pub type Work = Box<dyn FnOnce() -> Result<()> + Send>;

/// Work as it lies in a queue. Launches, of which there are most, lie there whole: memory that one thread takes and another gives back makes
/// the two wait for each other.
enum Task {
    Other(Work),
    /// A function of the program.
    Call(Box<dyn FnOnce() + Send>),
    Launch(Prepared),
}

impl Task {
    fn run(self, turn: &Turn) -> Result<()> {
        match self {
            Task::Other(work) => work(),
            Task::Call(function) => {
                turn.outside(|| host_function(function));
                Ok(())
            }
            Task::Launch(launch) => launch.run(),
        }
    }
}

/// A place in a stream's order.
#[derive(Clone)]
pub struct Point {
    pub(crate) stream: Arc<Stream>,
    pub(crate) sequence: u64,
}

impl Point {
    /// Whether everything up to here has ended.
    pub fn reached(&self) -> bool {
        self.stream.completed.load(Ordering::Acquire) >= self.sequence
    }

    /// Waits, running the work where nobody else does.
    pub fn wait(&self) {
        self.stream.drain(self.sequence);
    }
}

struct Item {
    sequence: u64,
    after: SmallVec<[Point; 1]>,
    task: Task,
    /// Runs even after a fault (host-side bookkeeping).
    always: bool,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    /// Room for what a runner takes out: kept, so that it need not be found each time.
    spare: VecDeque<Item>,
    /// Someone runs this stream.
    running: bool,
    /// It is on the dispatchers' list.
    listed: bool,
}

/// How a stream relates to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The legacy default stream itself: waits for every blocking stream and they for it.
    Legacy,
    /// A stream that waits for the legacy stream and is waited for by it.
    Blocking,
    /// A stream of its own.
    NonBlocking,
}

impl Kind {
    /// The kind that a program's flags ask for: 0 or 1.
    pub fn from_flags(flags: u32) -> Result<Self> {
        match flags {
            0 => Ok(Kind::Blocking),
            1 => Ok(Kind::NonBlocking),
            _ => Err(Error::InvalidValue),
        }
    }
}

/// A stream.
pub struct Stream {
    /// Its handle; 0 for default streams.
    pub handle: Handle,
    /// Its number, unique in the process.
    pub id: u64,
    /// Its relation to the legacy stream.
    pub kind: Kind,
    priority: AtomicI32,
    /// Where it stands in its context's list, whose lock guards this.
    pub(crate) place: AtomicUsize,
    /// Nobody can name it any more: its context forgets it once it is idle.
    retired: AtomicBool,
    context: Weak<Context>,
    context_id: u64,
    device: Arc<Device>,
    life: Arc<Shared>,
    queue: Mutex<Queue>,
    changed: Condvar,
    waiters: AtomicU32,
    enqueued: AtomicU64,
    completed: Apart<AtomicU64>,
}

/// What the streams of a context share from its making, or reset, to its end.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// A kernel has faulted.
    pub faulted: AtomicBool,
    /// Some stream other than the legacy one has been made: the streams must look at each other.
    pub many_streams: AtomicBool,
}

/// A value on cache lines of its own: the runner writes it, while others enqueue.
#[repr(align(128))]
struct Apart<T>(T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Places of an empty queue that are kept.
const KEPT: usize = 4096;

/// How long who waits for a runner looks for its end before sleeping: waking takes longer than a short kernel.
const LOOK: Duration = Duration::from_micros(20);

/// The highest priority.
pub const HIGHEST_PRIORITY: i32 = -5;
/// The lowest, one below the default of 0.
pub const LOWEST_PRIORITY: i32 = 1;

static NEXT_ID: AtomicU64 = AtomicU64::new(16);

impl Stream {
    pub(crate) fn new(
        handle: Handle,
        kind: Kind,
        priority: i32,
        context: &Weak<Context>,
        context_id: u64,
        device: &Arc<Device>,
        life: &Arc<Shared>,
    ) -> Arc<Self> {
        let id = if kind == Kind::Legacy { 7 } else { NEXT_ID.fetch_add(1, Ordering::Relaxed) };
        Arc::new(Self {
            handle,
            id,
            kind,
            priority: AtomicI32::new(priority.clamp(HIGHEST_PRIORITY, LOWEST_PRIORITY)),
            place: AtomicUsize::new(usize::MAX),
            retired: AtomicBool::new(false),
            context: context.clone(),
            context_id,
            device: Arc::clone(device),
            life: Arc::clone(life),
            queue: Mutex::default(),
            changed: Condvar::new(),
            waiters: AtomicU32::new(0),
            enqueued: AtomicU64::new(0),
            completed: Apart(AtomicU64::new(0)),
        })
    }

    /// Its priority, from [`HIGHEST_PRIORITY`] to [`LOWEST_PRIORITY`].
    pub fn priority(&self) -> i32 {
        self.priority.load(Ordering::Relaxed)
    }

    /// Changes the priority, within the bounds.
    pub fn set_priority(&self, priority: i32) {
        self.priority.store(priority.clamp(HIGHEST_PRIORITY, LOWEST_PRIORITY), Ordering::Relaxed);
    }

    /// Its context; an error when that is gone.
    pub fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Error::ContextIsDestroyed)
    }

    /// Fails after a fault.
    pub fn check(&self) -> Result<()> {
        self.device.check()
    }

    /// The id of the context it was made in.
    pub fn context_id(&self) -> u64 {
        self.context_id
    }

    /// The end of what has been enqueued so far.
    pub fn point(self: &Arc<Self>) -> Point {
        Point { stream: Arc::clone(self), sequence: self.enqueued.load(Ordering::Acquire) }
    }

    /// Whether nothing waits or runs.
    pub fn idle(&self) -> bool {
        self.completed.load(Ordering::Acquire) >= self.enqueued.load(Ordering::Acquire)
    }

    /// Nobody can name the stream any more; what is in it is still done.
    fn retire(self: &Arc<Self>) {
        self.retired.store(true, Ordering::SeqCst);
        self.leave_if_done();
    }

    fn leave_if_done(self: &Arc<Self>) {
        if self.retired.load(Ordering::SeqCst)
            && self.completed.load(Ordering::SeqCst) >= self.enqueued.load(Ordering::SeqCst)
            && let Some(context) = self.context.upgrade()
        {
            context.forget_stream(self);
        }
    }

    /// Begins work that the caller does itself, now, where nothing is before it, here or by the rules of the legacy stream. The work lasts until
    /// what is given is dropped; what comes to the stream meanwhile waits for it.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<AtOnce> {
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
        let sequence = self.next_sequence();
        Some(AtOnce { stream: Arc::clone(self), sequence })
    }

    /// Adds work that runs after everything before it in this stream and in the streams it waits for by the rules of the legacy stream.
    /// `always`: it runs even when a kernel before it faulted.
    pub fn enqueue(self: &Arc<Self>, always: bool, work: Work) -> Point {
        let sequence = self.enqueue_after(SmallVec::new(), always, Task::Other(work));
        Point { stream: Arc::clone(self), sequence }
    }

    /// Adds a launch, as [`Stream::enqueue`] adds other work.
    pub(crate) fn enqueue_launch(self: &Arc<Self>, launch: Prepared) {
        self.enqueue_after(SmallVec::new(), false, Task::Launch(launch));
    }

    /// Calls a function of the program's after what is in the stream; `always` as for [`Stream::enqueue`].
    pub fn call(self: &Arc<Self>, always: bool, function: impl FnOnce() + Send + 'static) {
        self.enqueue_after(SmallVec::new(), always, Task::Call(Box::new(function)));
    }

    /// Makes what follows in this stream wait for `point`.
    pub fn wait_for(self: &Arc<Self>, point: Point) {
        if !point.reached() {
            self.enqueue_after(SmallVec::from_iter([point]), true, Task::Other(Box::new(|| Ok(()))));
        }
    }

    /// Adds what the legacy stream's rules make work in this stream wait for.
    fn add_waits(self: &Arc<Self>, after: &mut SmallVec<[Point; 1]>) {
        if self.kind != Kind::NonBlocking
            && self.life.many_streams.load(Ordering::Acquire)
            && let Some(context) = self.context.upgrade()
        {
            context.default_stream_waits(self, after);
        }
    }

    /// The number of new work; the queue is locked.
    fn next_sequence(&self) -> u64 {
        let sequence = self.enqueued.load(Ordering::Relaxed) + 1;
        self.enqueued.store(sequence, Ordering::Release);
        sequence
    }

    fn enqueue_after(self: &Arc<Self>, mut after: SmallVec<[Point; 1]>, always: bool, task: Task) -> u64 {
        self.add_waits(&mut after);
        let (sequence, list) = {
            let mut queue = lock(&self.queue);
            let sequence = self.next_sequence();
            queue.items.push_back(Item { sequence, after, task, always });
            let list = !queue.listed && !queue.running;
            queue.listed |= list;
            (sequence, list)
        };
        if list {
            dispatcher().list(self);
        }
        sequence
    }

    /// Waits for everything enqueued so far.
    pub fn synchronize(self: &Arc<Self>) {
        self.drain(self.enqueued.load(Ordering::Acquire));
    }

    /// Runs or waits until everything up to `sequence` has ended.
    fn drain(self: &Arc<Self>, sequence: u64) {
        let mut looked = false;
        while self.completed.load(Ordering::Acquire) < sequence {
            let mut queue = lock(&self.queue);
            if queue.running && !looked {
                drop(queue);
                looked = true;
                self.look(sequence);
                continue;
            }
            if queue.running {
                self.waiters.fetch_add(1, Ordering::SeqCst);
                while queue.running && self.completed.load(Ordering::SeqCst) < sequence {
                    queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
                self.waiters.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            queue.running = true;
            drop(queue);
            self.run_until(sequence);
        }
    }

    /// Waits a moment for everything up to `sequence`, without sleeping.
    fn look(&self, sequence: u64) {
        let start = Instant::now();
        while self.completed.load(Ordering::Acquire) < sequence && start.elapsed() < LOOK {
            std::hint::spin_loop();
        }
    }

    /// Runs what is queued, up to `sequence`; the caller has set `running`.
    fn run_until(self: &Arc<Self>, sequence: u64) {
        let mut batch = VecDeque::new();
        let turn = Turn::begin();
        loop {
            {
                let mut queue = lock(&self.queue);
                // All that may run is taken at once: a lock for each piece of work makes the runner and who enqueues wait for each other.
                match queue.items.back() {
                    Some(last) if last.sequence <= sequence => {
                        if batch.capacity() == 0 {
                            batch = std::mem::take(&mut queue.spare);
                        }
                        std::mem::swap(&mut queue.items, &mut batch);
                    }
                    _ => {
                        let count = queue.items.partition_point(|item| item.sequence <= sequence);
                        batch.extend(queue.items.drain(..count));
                    }
                }
                if batch.is_empty() {
                    if batch.capacity() <= KEPT {
                        queue.spare = batch;
                    }
                    return self.rest(queue);
                }
            }
            turn.again();
            while let Some(item) = batch.pop_front() {
                for point in &item.after {
                    point.wait();
                }
                if item.always || !self.life.faulted.load(Ordering::Acquire) {
                    let outcome =
                        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| item.task.run(&turn)));
                    if let Err(error) = outcome.unwrap_or(Err(Error::Unknown)) {
                        self.fail(error);
                    }
                }
                self.ended(item.sequence);
            }
        }
    }

    /// Tells those who wait that something has ended.
    fn ended(&self, sequence: u64) {
        self.completed.store(sequence, Ordering::SeqCst);
        if self.waiters.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.queue));
            self.changed.notify_all();
        }
    }

    /// Nobody runs the stream any more; if there is work, someone will.
    fn rest(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>) {
        queue.running = false;
        let list = !queue.items.is_empty() && !queue.listed;
        queue.listed |= list;
        // Who waits has said so under the lock.
        let waited_for = self.waiters.load(Ordering::SeqCst) > 0;
        drop(queue);
        if waited_for {
            self.changed.notify_all();
        }
        if list {
            dispatcher().list(self);
        }
        self.leave_if_done();
    }

    /// Marks the context and its device.
    fn fail(&self, error: Error) {
        if !self.life.faulted.swap(true, Ordering::AcqRel) {
            self.device.set_fault(error);
        }
    }
}

/// Work of a stream that its caller does.
pub(crate) struct AtOnce {
    stream: Arc<Stream>,
    sequence: u64,
}

impl AtOnce {
    /// The end of the work.
    pub(crate) fn point(&self) -> Point {
        Point { stream: Arc::clone(&self.stream), sequence: self.sequence }
    }
}

impl Drop for AtOnce {
    fn drop(&mut self) {
        self.stream.ended(self.sequence);
        self.stream.rest(lock(&self.stream.queue));
    }
}

/// Naps between looks at the list while there has been work lately.
const NAP: Duration = Duration::from_micros(40);
/// Without work for so long, dispatchers sleep until they are woken.
const IDLE: Duration = Duration::from_millis(3);
/// Threads that may run streams at once.
const MAX_DISPATCHERS: usize = 256;

struct Dispatcher {
    list: Mutex<VecDeque<Weak<Stream>>>,
    listed: AtomicUsize,
    work: Condvar,
    /// Threads that look at the list (napping or sleeping), and those of them that only a notification wakes.
    free: AtomicUsize,
    asleep: AtomicUsize,
    threads: AtomicUsize,
}

fn dispatcher() -> &'static Dispatcher {
    static DISPATCHER: OnceLock<Dispatcher> = OnceLock::new();
    DISPATCHER.get_or_init(|| Dispatcher {
        list: Mutex::default(),
        listed: AtomicUsize::new(0),
        work: Condvar::new(),
        free: AtomicUsize::new(0),
        asleep: AtomicUsize::new(0),
        threads: AtomicUsize::new(0),
    })
}

impl Dispatcher {
    fn list(&'static self, stream: &Arc<Stream>) {
        lock(&self.list).push_back(Arc::downgrade(stream));
        self.listed.fetch_add(1, Ordering::SeqCst);
        self.wake();
    }

    /// Sees to it that some thread will look at the list.
    fn wake(&'static self) {
        let free = self.free.load(Ordering::SeqCst);
        if free == 0 {
            self.spawn();
        } else if self.asleep.load(Ordering::SeqCst) >= free {
            self.work.notify_one();
        }
    }

    fn spawn(&'static self) {
        if self.threads.fetch_add(1, Ordering::SeqCst) >= MAX_DISPATCHERS {
            self.threads.fetch_sub(1, Ordering::SeqCst);
            return;
        }
        self.free.fetch_add(1, Ordering::SeqCst);
        let thread = std::thread::Builder::new().name("anywarp-stream".into()).stack_size(1 << 20);
        let started = host::threads::spawn(thread, || self.run());
        if started.is_err() {
            // Whoever synchronises runs the work; nothing is lost but overlap.
            self.free.fetch_sub(1, Ordering::SeqCst);
            self.threads.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// A dispatcher thread, counted as free when it begins.
    fn run(&'static self) {
        let mut last = Instant::now();
        loop {
            let mut list = lock(&self.list);
            let stream = loop {
                if let Some(stream) = list.pop_front() {
                    self.listed.fetch_sub(1, Ordering::SeqCst);
                    break stream;
                }
                if last.elapsed() < IDLE {
                    list = self.work.wait_timeout(list, NAP).unwrap_or_else(PoisonError::into_inner).0;
                } else {
                    self.asleep.fetch_add(1, Ordering::SeqCst);
                    list = self.work.wait(list).unwrap_or_else(PoisonError::into_inner);
                    self.asleep.fetch_sub(1, Ordering::SeqCst);
                    last = Instant::now();
                }
            };
            drop(list);
            if let Some(stream) = stream.upgrade() {
                self.serve(&stream);
            }
            last = Instant::now();
        }
    }

    fn serve(&'static self, stream: &Arc<Stream>) {
        {
            let mut queue = lock(&stream.queue);
            queue.listed = false;
            if queue.running || queue.items.is_empty() {
                return;
            }
            queue.running = true;
        }
        // The work may take long: another thread must be there for the other streams.
        self.free.fetch_sub(1, Ordering::SeqCst);
        if self.listed.load(Ordering::SeqCst) > 0 {
            self.wake();
        }
        stream.run_until(u64::MAX);
        self.free.fetch_add(1, Ordering::SeqCst);
    }
}

/// Ends a stream's handle; what is in the stream is still done.
pub fn destroy(handle: Handle) -> Option<Arc<Stream>> {
    let stream = STREAMS.remove(handle)?;
    stream.retire();
    Some(stream)
}

/// The streams that a thread calls its own: by the id of the context.
#[derive(Default)]
struct PerThread(Vec<(u64, Arc<Stream>)>);

impl Drop for PerThread {
    fn drop(&mut self) {
        for (_, stream) in &self.0 {
            stream.retire();
        }
    }
}

thread_local! {
    static PER_THREAD: RefCell<PerThread> = RefCell::default();
}

/// The calling thread's own default stream in a context.
pub fn per_thread(context: &Arc<Context>) -> Result<Arc<Stream>> {
    let id = context.id();
    PER_THREAD
        .try_with(|streams| {
            let mut streams = streams.borrow_mut();
            if let Some((_, stream)) = streams.0.iter().find(|s| s.0 == id) {
                return Arc::clone(stream);
            }
            let stream = context.new_stream(0, Kind::Blocking, 0);
            streams.0.retain(|(id, stream)| stream.context().is_ok_and(|c| c.alive() && c.id() == *id));
            streams.0.push((id, Arc::clone(&stream)));
            stream
        })
        .map_err(|_| Error::Deinitialized)
}

thread_local! {
    static IN_HOST_FUNCTION: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Whether the calling thread is inside a function that the program put into a stream: the driver may not be called there.
pub fn in_host_function() -> bool {
    IN_HOST_FUNCTION.try_with(std::cell::Cell::get).unwrap_or(false)
}

/// Runs a function of the program's.
fn host_function(f: impl FnOnce()) {
    let before = IN_HOST_FUNCTION.try_with(|c| c.replace(true)).unwrap_or(false);
    f();
    let _ = IN_HOST_FUNCTION.try_with(|c| c.set(before));
}
