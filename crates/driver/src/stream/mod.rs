//! Streams: queues of work.
//!
//! Work in a stream is a value, an [`Operation`]. Operations run in submission order. An operation that
//! depends on another stream holds the [`Point`] in that stream that it waits for.

mod busy;
pub mod capture;
mod dispatch;
mod hosted;
mod operation;
mod parked;
mod queue;

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};
use crate::memory;

use busy::Busy;
use dispatch::dispatcher;

pub use hosted::{in_host_function, take_refused};
pub(crate) use hosted::{permitted, refuse};
pub use operation::{EventNode, HostCall, Operation, Submitted};
pub use queue::Policy;
use queue::Queue;

/// The streams that have handles.
pub static STREAMS: Table<Stream> = Table::new(crate::handle::Kind::Stream);

/// A position in a stream's order.
#[derive(Clone)]
pub struct Point {
    pub(crate) stream: Arc<Stream>,
    pub(crate) sequence: u64,
    /// Set when the point is reached inside an operation, before that ends.
    pub(crate) inside: Option<Arc<AtomicBool>>,
}

impl Point {
    /// Whether all work up to this point has finished.
    pub fn reached(&self) -> bool {
        self.stream.progress.completed.load(Ordering::Acquire) >= self.sequence
            || self.inside.as_ref().is_some_and(|reached| reached.load(Ordering::Acquire))
    }

    /// Whether it is reached, for a program that asks again until it is: without dispatchers, which the
    /// system may refuse, the calling thread runs the stream's work.
    pub fn poll(&self) -> bool {
        if !self.reached() && dispatcher().is_missing() && !self.stream.waits_for_caller() {
            self.stream.drain(self.sequence);
        }
        let reached = self.reached();
        if !reached {
            self.stream.want();
        }
        reached
    }

    /// Waits for it; runs the stream's work unless another thread does.
    pub fn wait(&self) {
        let depth = queue::depth();
        let fits = depth == 0 || depth < DEEPEST && host::stack::left() >= LEAST_STACK;
        let own = self.inside.is_none() && fits;
        if own || dispatcher().is_missing() {
            return self.stream.drain(self.sequence);
        }
        if self.stream.waits_for_caller() && !self.reached() {
            refuse();
            return;
        }
        // What follows the point in its operation may wait for the calling thread, so another one must run
        // the operation. Below many streams a dispatcher must, because the stack is finite.
        let start = Instant::now();
        while !self.reached() {
            if start.elapsed() > SPIN { std::thread::sleep(NAP) } else { std::hint::spin_loop() }
        }
    }
}

/// How long a thread that waits for a point inside an operation spins before it naps between looks.
const SPIN: Duration = Duration::from_micros(50);
const NAP: Duration = Duration::from_micros(20);
/// Maximum depth of streams that a thread runs, each on behalf of an event node in a graph of the one before.
const DEEPEST: u32 = 16;
/// The stack that it must have left for one more.
const LEAST_STACK: usize = 128 << 10;

/// Flags of streams.
pub mod flag {
    /// No flags.
    pub const DEFAULT: u32 = 0;
    /// No implicit synchronisation with the legacy stream.
    pub const NON_BLOCKING: u32 = 1;
}

/// How a stream relates to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The legacy stream: it and every blocking stream wait for each other's work.
    Legacy,
    /// The stream and the legacy stream wait for each other's work.
    Blocking,
    /// The stream and the legacy stream do not wait for each other.
    NonBlocking,
}

impl Kind {
    /// The kind that the creation flags ask for.
    pub fn from_flags(flags: u32) -> Result<Self> {
        match flags {
            flag::DEFAULT => Ok(Kind::Blocking),
            flag::NON_BLOCKING => Ok(Kind::NonBlocking),
            _ => Err(Error::InvalidValue),
        }
    }
}

/// A stream.
pub struct Stream {
    /// The handle; 0 for default streams.
    pub handle: Handle,
    /// A number unique in the process.
    pub id: u64,
    /// The relation to the legacy stream.
    pub kind: Kind,
    priority: AtomicI32,
    /// Index in the context's list of streams; guarded by that list's lock.
    pub(crate) place: AtomicUsize,
    /// The handle is destroyed: the context drops the stream once it is idle.
    retired: AtomicBool,
    context: Weak<Context>,
    context_id: u64,
    device: Arc<Device>,
    life: Arc<Shared>,
    queue: Apart<Mutex<Queue>>,
    changed: Condvar,
    /// The stream's part in a capture.
    capture: Mutex<Option<capture::Part>>,
    /// The sequence number of the last operation submitted.
    enqueued: Apart<AtomicU64>,
    progress: Apart<Progress>,
    freeing: Mutex<Freeing>,
}

/// What the runner of a stream looks at after each operation.
#[derive(Debug, Default)]
struct Progress {
    /// The sequence number of the last operation finished.
    completed: AtomicU64,
    /// Number of threads that sleep until more operations have finished.
    waiters: AtomicU32,
    /// A thread waits or polls: the runner does not let operations gather.
    wanted: AtomicBool,
}

/// Bytes of the device that queued operations of a stream will free.
#[derive(Debug, Default)]
struct Freeing {
    /// All of them.
    pending: u64,
    /// Those that later memory takes, which does not count as used until they are free.
    promised: u64,
}

/// State that the streams of a context share from its creation or reset until it is destroyed or reset.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// A kernel has faulted.
    pub faulted: AtomicBool,
    /// The context has had a stream besides the legacy one, so the rules between the two apply.
    pub many_streams: AtomicBool,
    /// The legacy stream.
    pub legacy: OnceLock<Weak<Stream>>,
    /// The other streams that may have work.
    pub busy: Busy,
}

impl Shared {
    /// Whether the legacy stream has no work. Needs no lock.
    fn legacy_is_idle(&self) -> bool {
        self.legacy.get().and_then(Weak::upgrade).is_none_or(|legacy| legacy.idle())
    }
}

/// A value on its own cache lines: the runner of a stream and the threads that submit work at the same time.
#[repr(align(128))]
struct Apart<T>(T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The highest priority; a lower number is a higher priority.
pub const HIGHEST_PRIORITY: i32 = -5;
/// The lowest priority, one below the default of 0.
pub const LOWEST_PRIORITY: i32 = 1;

/// The id of every legacy stream; other ids count up from `NEXT_ID`.
const LEGACY_ID: u64 = 7;
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
        let id = if kind == Kind::Legacy { LEGACY_ID } else { NEXT_ID.fetch_add(1, Ordering::Relaxed) };
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
            queue: Apart(Mutex::default()),
            changed: Condvar::new(),
            capture: Mutex::new(None),
            enqueued: Apart(AtomicU64::new(0)),
            progress: Apart(Progress::default()),
            freeing: Mutex::default(),
        })
    }

    /// The priority, from [`HIGHEST_PRIORITY`] to [`LOWEST_PRIORITY`].
    pub fn priority(&self) -> i32 {
        self.priority.load(Ordering::Relaxed)
    }

    /// Sets the priority, clamped to the valid range.
    pub fn set_priority(&self, priority: i32) {
        self.priority.store(priority.clamp(HIGHEST_PRIORITY, LOWEST_PRIORITY), Ordering::Relaxed);
    }

    /// The context; an error if it no longer exists.
    pub fn context(&self) -> Result<Arc<Context>> {
        self.context.upgrade().ok_or(Error::ContextIsDestroyed)
    }

    /// Fails if work of the context has failed; waiting operations then stop waiting.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.life.faulted.load(Ordering::Acquire) { Err(Error::Unknown) } else { Ok(()) }
    }

    /// Fails if a kernel has faulted.
    pub fn check(&self) -> Result<()> {
        self.device.check()
    }

    /// Whether its context has had streams besides the legacy one.
    pub(crate) fn has_many_streams(&self) -> bool {
        self.life.many_streams.load(Ordering::Acquire)
    }

    /// The id of the context that the stream was created in.
    pub fn context_id(&self) -> u64 {
        self.context_id
    }

    /// The point after everything submitted so far.
    pub fn point(self: &Arc<Self>) -> Point {
        Point { stream: Arc::clone(self), sequence: self.enqueued.load(Ordering::Acquire), inside: None }
    }

    /// Whether no work is pending or running.
    pub fn idle(&self) -> bool {
        self.progress.completed.load(Ordering::Acquire) >= self.enqueued.load(Ordering::Acquire)
    }

    /// As [`Stream::idle`], for a program that asks again until it is.
    pub fn poll(self: &Arc<Self>) -> bool {
        self.idle() || self.point().poll()
    }

    /// Notes that the handle is destroyed. Pending work still runs.
    fn retire(self: &Arc<Self>) {
        self.leave_capture();
        // A runner that has not seen this publishes the end of its operation before it gives back the lock.
        drop(lock(&self.queue));
        self.leave_if_done();
    }

    fn leave_if_done(self: &Arc<Self>) {
        if self.retired.load(Ordering::SeqCst)
            && self.progress.completed.load(Ordering::SeqCst) >= self.enqueued.load(Ordering::SeqCst)
            && let Some(context) = self.context.upgrade()
        {
            context.forget_stream(self);
        }
    }
}

/// Destroys a stream's handle. Pending work still runs.
pub fn destroy(handle: Handle) -> Option<Arc<Stream>> {
    let stream = STREAMS.remove(handle)?;
    stream.retire();
    Some(stream)
}

/// A thread's per-thread default streams, by context id.
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
    // Without a destructor: handlers of `atexit` call the driver after the first thread's have run.
    static PER_THREAD: RefCell<ManuallyDrop<PerThread>> =
        const { RefCell::new(ManuallyDrop::new(PerThread(Vec::new()))) };
}

impl Stream {
    /// The number of its device.
    pub(crate) fn ordinal(&self) -> u32 {
        self.device.ordinal
    }

    /// Whether it is a stream of the device.
    pub(crate) fn is_of(&self, device: &Device) -> bool {
        self.device.ordinal == device.ordinal
    }

    /// Counts bytes that an operation, which is about to be queued, will free.
    fn will_free(&self, bytes: u64) {
        lock(&self.freeing).pending += bytes;
    }

    /// Promises up to `bytes` of pending frees to a later allocation; returns how many.
    pub(crate) fn promise(&self, bytes: u64) -> u64 {
        let mut freeing = lock(&self.freeing);
        let promised = bytes.min(freeing.pending - freeing.promised);
        freeing.promised += promised;
        promised
    }

    /// An operation frees bytes now, or a promise is taken back. What was promised and is no longer to come
    /// counts as used.
    pub(crate) fn keep_promise(&self, device: u32, freed: u64, taken_back: u64) {
        let due = {
            let mut freeing = lock(&self.freeing);
            freeing.pending = freeing.pending.saturating_sub(freed);
            freeing.promised = freeing.promised.saturating_sub(taken_back);
            let due = freeing.promised.saturating_sub(freeing.pending);
            freeing.promised -= due;
            due
        };
        memory::kept(device, due);
    }

    /// Waits until `done` returns a result. `None` if all work has ended before, or if none has ended for a
    /// while: the stream may wait for the caller.
    pub(crate) fn wait_for<T>(self: &Arc<Self>, mut done: impl FnMut() -> Option<T>) -> Option<T> {
        if dispatcher().is_missing() {
            self.synchronize();
        }
        let (mut seen, mut since) = (self.progress.completed.load(Ordering::Acquire), Instant::now());
        loop {
            let idle = self.idle();
            if let Some(result) = done() {
                return Some(result);
            }
            let completed = self.progress.completed.load(Ordering::Acquire);
            if completed != seen {
                (seen, since) = (completed, Instant::now());
            } else if idle || since.elapsed() >= STUCK {
                return None;
            }
            std::thread::sleep(NAP);
        }
    }
}

/// A stream in which nothing ends for this long may wait for the thread that waits for it.
const STUCK: Duration = Duration::from_secs(2);

/// The calling thread's per-thread default stream in a context.
pub fn per_thread(context: &Arc<Context>) -> Result<Arc<Stream>> {
    let id = context.id();
    PER_THREAD
        .try_with(|streams| {
            let mut streams = streams.borrow_mut();
            if let Some((_, stream)) = streams.0.iter().find(|s| s.0 == id) {
                return Arc::clone(stream);
            }
            let stream = context.new_stream(0, Kind::Blocking, 0);
            host::threads::at_end(|| {
                drop(PER_THREAD.try_with(|streams| std::mem::take(&mut **streams.borrow_mut())));
            });
            streams.0.retain(|(id, stream)| stream.context().is_ok_and(|c| c.alive() && c.id() == *id));
            streams.0.push((id, Arc::clone(&stream)));
            stream
        })
        .map_err(|_| Error::Deinitialized)
}

/// Runs a function of the program that ends something. If the thread is running a stream, calls of the driver
/// are not allowed, as in host functions: they could wait for that stream.
pub(crate) fn end_function(f: impl FnOnce()) {
    if queue::depth() > 0 { hosted::inside(f) } else { f() }
}
