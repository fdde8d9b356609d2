//! Streams: queues of work.
//!
//! Work in a stream is a value, an [`Operation`]: it runs in the order in which it was submitted. What must
//! wait for another stream carries the [`Point`] in that stream's order to wait for.

mod dispatch;
mod operation;
mod queue;

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};

use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table};

pub use operation::{HostCall, Operation};
pub use queue::Policy;
use queue::Queue;

/// The streams with handles.
pub static STREAMS: Table<Stream> = Table::new(5);

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

    /// Waits for it, running the stream unless another thread does.
    pub fn wait(&self) {
        self.stream.drain(self.sequence);
    }
}

/// Flags of streams.
pub mod flag {
    /// None.
    pub const DEFAULT: u32 = 0;
    /// The stream does not wait for the legacy stream, nor the legacy stream for it.
    pub const NON_BLOCKING: u32 = 1;
}

/// How a stream relates to the legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is the legacy stream: its work waits for every blocking stream, and theirs for it.
    Legacy,
    /// Its work waits for the legacy stream, and the legacy stream for it.
    Blocking,
    /// The two do not wait for each other.
    NonBlocking,
}

impl Kind {
    /// The kind that a program's flags ask for.
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
    /// Its handle; 0 for default streams.
    pub handle: Handle,
    /// Its number, unique in the process.
    pub id: u64,
    /// Its relation to the legacy stream.
    pub kind: Kind,
    priority: AtomicI32,
    /// Its index in its context's list, whose lock guards this.
    pub(crate) place: AtomicUsize,
    /// No handle names it any more: its context forgets it once it is idle.
    retired: AtomicBool,
    context: Weak<Context>,
    context_id: u64,
    device: Arc<Device>,
    life: Arc<Shared>,
    queue: Mutex<Queue>,
    changed: Condvar,
    waiters: AtomicU32,
    /// The number of the operation submitted last, and of the one that ended last.
    enqueued: AtomicU64,
    completed: Apart<AtomicU64>,
}

/// What the streams of a context share from its creation or reset to its end.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// A kernel has faulted.
    pub faulted: AtomicBool,
    /// The context has had another stream than the legacy one: the rules between the two apply.
    pub many_streams: AtomicBool,
}

/// A value on cache lines of its own: the runner writes it while other threads submit.
#[repr(align(128))]
struct Apart<T>(T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// The highest priority.
pub const HIGHEST_PRIORITY: i32 = -5;
/// The lowest, one below the default of 0.
pub const LOWEST_PRIORITY: i32 = 1;

/// The number of every legacy stream; the others count from `NEXT_ID`.
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

    /// The end of what has been submitted so far.
    pub fn point(self: &Arc<Self>) -> Point {
        Point { stream: Arc::clone(self), sequence: self.enqueued.load(Ordering::Acquire) }
    }

    /// Whether nothing waits or runs.
    pub fn idle(&self) -> bool {
        self.completed.load(Ordering::Acquire) >= self.enqueued.load(Ordering::Acquire)
    }

    /// Notes that no handle names the stream any more. What is in it is still done.
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
}

/// Destroys a stream's handle. What is in the stream is still done.
pub fn destroy(handle: Handle) -> Option<Arc<Stream>> {
    let stream = STREAMS.remove(handle)?;
    stream.retire();
    Some(stream)
}

/// A thread's own default streams, by the id of the context.
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

/// Whether the calling thread is inside a function that the program put into a stream, where it may not call
/// the driver.
pub fn in_host_function() -> bool {
    IN_HOST_FUNCTION.try_with(std::cell::Cell::get).unwrap_or(false)
}

/// Runs a function of the program.
fn host_function(f: impl FnOnce()) {
    let before = IN_HOST_FUNCTION.try_with(|c| c.replace(true)).unwrap_or(false);
    f();
    let _ = IN_HOST_FUNCTION.try_with(|c| c.set(before));
}
