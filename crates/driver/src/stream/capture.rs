//! Stream capture: operations that become nodes of a graph instead of running.
//!
//! A capture begins in one stream, its origin. Other streams join it when they wait for an event that was
//! recorded in a stream of the capture, and must be joined back before it ends. [`Stream::submit`] hands
//! operations over to `Stream::intercept` while any capture is active in the process.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::{Event, Last};
use crate::graph::memory::Reservation;
use crate::graph::{self, Edge, Graph, Position, Work};
use crate::handle::{Handle, lock};

use super::{EventNode, Kind, Operation, Policy, Stream, Submitted};

/// How a capture treats calls that are not safe during it, and how a thread treats other threads' captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// No thread may make such calls.
    Global,
    /// The thread that began the capture may not make such calls.
    ThreadLocal,
    /// Such calls are allowed.
    Relaxed,
}

impl Mode {
    /// By the number in `CUstreamCaptureMode`.
    pub fn from_number(number: u32) -> Result<Self> {
        [Mode::Global, Mode::ThreadLocal, Mode::Relaxed]
            .get(number as usize)
            .copied()
            .ok_or(Error::InvalidValue)
    }

    /// The number in `CUstreamCaptureMode`.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// A capture.
pub struct Capture {
    /// A number unique in the process.
    pub id: u64,
    /// The graph that the nodes are added to.
    pub graph: Arc<Graph>,
    mode: Mode,
    thread: ThreadId,
    invalid: AtomicBool,
    ended: AtomicBool,
    /// The streams that take part, the origin first.
    streams: Mutex<Vec<Arc<Stream>>>,
    /// What streams that were destroyed meanwhile had reached.
    left: Mutex<Vec<Dependency>>,
}

/// A node that the next one will depend on.
pub type Dependency = (Handle, Edge);

/// A stream's part in a capture.
pub(super) struct Part {
    capture: Arc<Capture>,
    /// What the stream's next node depends on.
    next: Vec<Dependency>,
    /// The nodes and edges that were last reported to the program, which has their addresses.
    reported: (Vec<Handle>, Vec<[u8; 8]>),
}

/// What became of an operation that may have been captured.
pub(super) enum Intercepted {
    /// No capture takes it.
    Not(Operation),
    /// It was captured.
    Captured(Submitted),
}

/// What a program can know about the capture that a stream takes part in.
pub struct Info {
    /// Whether the capture is still valid.
    pub valid: bool,
    /// The capture.
    pub capture: Arc<Capture>,
    /// Whether all edges that the next node would get have no data.
    pub plain: bool,
    /// Address and number of the handles of the nodes that the next one depends on. They are valid until the
    /// next call for the stream.
    pub nodes: (u64, usize),
    /// The address of the data of these edges, 8 bytes each.
    pub edges: u64,
}

/// How the dependencies of a capturing stream are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Others are added.
    Add,
    /// They are replaced.
    Set,
}

/// The captures that have not ended.
static CAPTURES: Mutex<Vec<Arc<Capture>>> = Mutex::new(Vec::new());
/// Their number.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

thread_local! {
    static MODE: Cell<u32> = const { Cell::new(0) };
}

/// Whether any stream of the process is capturing.
#[inline]
pub(super) fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed) != 0
}

/// Replaces the number of the calling thread's mode; returns the one before. As on the hardware, any number
/// is accepted; unknown ones stand for [`Mode::Global`].
pub fn exchange_mode(mode: u32) -> u32 {
    MODE.try_with(|current| current.replace(mode)).unwrap_or(0)
}

/// For calls that are not safe during a capture: fails if one forbids them, and invalidates it.
///
/// # Errors
/// [`Error::StreamCaptureUnsupported`]
#[inline]
pub fn check_unsafe() -> Result<()> {
    if active() { forbid_unsafe() } else { Ok(()) }
}

fn forbid_unsafe() -> Result<()> {
    let own = Mode::from_number(MODE.try_with(Cell::get).unwrap_or(0)).unwrap_or(Mode::Global);
    let here = std::thread::current().id();
    let forbids = |capture: &&Arc<Capture>| match (own, capture.mode) {
        (Mode::Relaxed, _) | (_, Mode::Relaxed) => false,
        (Mode::Global, Mode::Global) => true,
        _ => capture.thread == here,
    };
    let captures = lock(&CAPTURES).clone();
    let mut forbidden = false;
    for capture in captures.iter().filter(forbids) {
        capture.invalidate();
        forbidden = true;
    }
    if forbidden { Err(Error::StreamCaptureUnsupported) } else { Ok(()) }
}

/// For calls that wait for a whole context: fails if a stream of it is capturing, and invalidates the
/// capture.
///
/// # Errors
/// [`Error::StreamCaptureUnsupported`]
pub(crate) fn check_context(context: &Context) -> Result<()> {
    if !active() {
        return Ok(());
    }
    let captures = lock(&CAPTURES).clone();
    let mut found = false;
    for capture in captures.iter().filter(|capture| capture.is_in(context.id())) {
        capture.invalidate();
        found = true;
    }
    if found { Err(Error::StreamCaptureUnsupported) } else { Ok(()) }
}

/// Ends the captures of a destroyed context. Always takes the lock: a capture that begins meanwhile is in the
/// list here, or is listed later and finds that the context has ended.
pub(crate) fn context_ended(id: u64) {
    let captures = lock(&CAPTURES).clone();
    captures.iter().filter(|capture| capture.is_in(id)).for_each(|capture| capture.give_up());
}

impl Capture {
    fn is_in(&self, context: u64) -> bool {
        lock(&self.streams).iter().any(|stream| stream.context_id() == context)
    }

    pub(crate) fn invalidate(&self) {
        self.invalid.store(true, Ordering::Release);
    }

    fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Acquire)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    fn is_of_another_thread(&self) -> bool {
        self.mode != Mode::Relaxed && self.thread != std::thread::current().id()
    }

    /// Whether it has ended or is invalid.
    pub(crate) fn is_over(&self) -> bool {
        self.has_ended() || self.is_invalid()
    }

    /// Releases all streams; says whether the capture had not ended before.
    fn end(self: &Arc<Self>) -> bool {
        if self.ended.swap(true, Ordering::AcqRel) {
            return false;
        }
        // The lock of the list is not held in the loop: a stream that joins takes its own lock first.
        let streams = std::mem::take(&mut *lock(&self.streams));
        for stream in streams {
            lock(&stream.capture).take_if(|part| Arc::ptr_eq(&part.capture, self));
        }
        lock(&CAPTURES).retain(|other| !Arc::ptr_eq(other, self));
        self.graph.end_capture();
        ACTIVE.fetch_sub(1, Ordering::SeqCst);
        true
    }

    /// Ends it without a result. The graph is gone, even if the program gave it (recorded on an H200).
    fn give_up(self: &Arc<Self>) {
        if self.end() {
            self.graph.end();
        }
    }

    /// Whether blocking streams of a context take part, on which the legacy stream would depend.
    fn blocks_legacy(&self, context: u64) -> bool {
        lock(&self.streams).iter().any(|s| s.kind == Kind::Blocking && s.context_id() == context)
    }

    /// Whether everything that the streams did comes before `next`, what the origin's next node would depend
    /// on.
    fn is_joined(&self, next: &[Dependency]) -> bool {
        let mut ends: Vec<Handle> = Vec::new();
        let streams = lock(&self.streams).clone();
        for stream in streams.iter().skip(1) {
            if let Some(part) = &*lock(&stream.capture) {
                ends.extend(part.next.iter().map(|one| one.0));
            }
        }
        // After the streams: one that was destroyed meanwhile has left this before it gave up its part.
        ends.extend(lock(&self.left).iter().map(|one| one.0));
        let next: Vec<Handle> = next.iter().map(|one| one.0).collect();
        ends.retain(|end| !next.contains(end));
        ends.is_empty() || self.graph.comes_before(&ends, &next)
    }
}

/// The address of a list; null if it has no elements.
fn address<T>(list: &[T]) -> u64 {
    if list.is_empty() { 0 } else { list.as_ptr() as u64 }
}

impl Stream {
    /// Begins a capture into a new graph, or into `to`: a graph, with the program's list of nodes that the
    /// first captured one depends on.
    ///
    /// # Errors
    /// [`Error::StreamCaptureUnsupported`]: the legacy stream. [`Error::IllegalState`]: the stream is
    /// capturing, or another stream captures into the graph. [`Error::InvalidValue`]: nodes of another graph.
    /// [`Error::InvalidHandle`]: the stream was destroyed meanwhile. [`Error::ContextIsDestroyed`]: its
    /// context was.
    pub fn begin_capture(
        self: &Arc<Self>,
        mode: Mode,
        to: Option<(Arc<Graph>, &mut dyn Iterator<Item = Result<Dependency>>)>,
    ) -> Result<()> {
        if self.kind == Kind::Legacy {
            self.forbid_legacy()?;
            return Err(Error::StreamCaptureUnsupported);
        }
        let mut own = lock(&self.capture);
        self.check_not_retired()?;
        if own.is_some() {
            return Err(Error::IllegalState);
        }
        let (graph, next) = match to {
            Some((graph, listed)) => {
                let next = graph.listed(listed)?;
                (graph, next)
            }
            None => (graph::create()?, Vec::new()),
        };
        graph.begin_capture()?;
        let capture = Arc::new(Capture {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            graph,
            mode,
            thread: std::thread::current().id(),
            invalid: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            streams: Mutex::new(vec![Arc::clone(self)]),
            left: Mutex::default(),
        });
        ACTIVE.fetch_add(1, Ordering::SeqCst);
        lock(&CAPTURES).push(Arc::clone(&capture));
        *own = Some(Part { capture: Arc::clone(&capture), next, reported: Default::default() });
        drop(own);
        // If the context ends from here on, it finds the capture in the list.
        self.check_context().inspect_err(|_| capture.give_up())
    }

    /// Fails if the handle was destroyed after the caller had looked it up. The caller holds the lock of
    /// `capture`.
    fn check_not_retired(&self) -> Result<()> {
        if self.retired.load(Ordering::Acquire) { Err(Error::InvalidHandle) } else { Ok(()) }
    }

    /// Fails if the context has ended, even if a reset one has taken its place.
    fn check_context(&self) -> Result<()> {
        let context = self.context()?;
        // In this order: a reset context gets its new number before it is alive again.
        let same = context.alive() && context.id() == self.context_id;
        if same { Ok(()) } else { Err(Error::ContextIsDestroyed) }
    }

    /// Ends the capture that began in this stream; returns its graph.
    ///
    /// # Errors
    /// [`Error::IllegalState`]: the stream is not capturing. [`Error::StreamCaptureUnmatched`]: the capture
    /// began in another stream, and becomes invalid. [`Error::StreamCaptureWrongThread`]: it began in another
    /// thread and is not relaxed; it ends without a graph, as [`Error::StreamCaptureInvalidated`] and
    /// [`Error::StreamCaptureUnjoined`] do.
    pub fn end_capture(self: &Arc<Self>) -> Result<Arc<Graph>> {
        let (capture, next) = match &*lock(&self.capture) {
            Some(part) => (Arc::clone(&part.capture), part.next.clone()),
            None => return Err(Error::IllegalState),
        };
        if !lock(&capture.streams).first().is_some_and(|origin| Arc::ptr_eq(origin, self)) {
            capture.invalidate();
            return Err(Error::StreamCaptureUnmatched);
        }
        if capture.is_of_another_thread() {
            capture.give_up();
            return Err(Error::StreamCaptureWrongThread);
        }
        let outcome = match capture.is_invalid() {
            true => Err(Error::StreamCaptureInvalidated),
            false if !capture.is_joined(&next) => Err(Error::StreamCaptureUnjoined),
            false => Ok(Arc::clone(&capture.graph)),
        };
        if outcome.is_err() {
            capture.give_up();
        } else if !capture.end() {
            // Another thread has ended it, or destroyed the stream.
            return Err(Error::IllegalState);
        }
        outcome
    }

    /// Whether a capture began in this stream that only another thread can end with a graph.
    pub fn captures_for_another_thread(self: &Arc<Self>) -> bool {
        let capture = lock(&self.capture).as_ref().map(|part| Arc::clone(&part.capture));
        capture.is_some_and(|capture| {
            let origin = lock(&capture.streams).first().is_some_and(|origin| Arc::ptr_eq(origin, self));
            origin && capture.is_of_another_thread()
        })
    }

    /// What is known of the capture that the stream takes part in; `None` if it is not capturing.
    ///
    /// # Errors
    /// [`Error::StreamCaptureImplicit`]: the legacy stream, while a blocking stream of the context captures.
    pub fn capture_info(&self) -> Result<Option<Info>> {
        if !active() {
            return Ok(None);
        }
        if self.kind == Kind::Legacy {
            let captures = lock(&CAPTURES).clone();
            let blocked = captures.iter().any(|capture| capture.blocks_legacy(self.context_id()));
            return if blocked { Err(Error::StreamCaptureImplicit) } else { Ok(None) };
        }
        let mut own = lock(&self.capture);
        Ok(own.as_mut().map(|part| {
            let nodes = part.next.iter().map(|one| one.0).collect();
            let edges = part.next.iter().map(|(_, edge)| edge.bytes()).collect();
            part.reported = (nodes, edges);
            Info {
                valid: !part.capture.is_invalid(),
                capture: Arc::clone(&part.capture),
                plain: part.next.iter().all(|(_, edge)| edge.is_default()),
                nodes: (address(&part.reported.0), part.reported.0.len()),
                edges: address(&part.reported.1),
            }
        }))
    }

    /// Changes what the next captured node depends on.
    ///
    /// # Errors
    /// [`Error::IllegalState`]: the stream is not capturing. [`Error::InvalidValue`]: nodes of another graph.
    pub fn change_dependencies(
        &self,
        nodes: impl Iterator<Item = Result<Dependency>>,
        change: Change,
    ) -> Result<()> {
        if self.kind == Kind::Legacy {
            self.forbid_legacy()?;
        }
        let mut own = lock(&self.capture);
        let part = own.as_mut().ok_or(Error::IllegalState)?;
        if part.capture.is_invalid() {
            return Err(Error::StreamCaptureInvalidated);
        }
        let nodes = part.capture.graph.listed(nodes)?;
        if change == Change::Set {
            part.next.clear();
        }
        part.add(&nodes);
        Ok(())
    }

    /// For calls that cannot be captured: fails if the call concerns a capture, and invalidates that.
    ///
    /// # Errors
    /// [`Error::StreamCaptureUnsupported`]: the stream is capturing. [`Error::StreamCaptureImplicit`]: the
    /// legacy stream would depend on a capturing stream.
    #[inline]
    pub fn check_not_capturing(&self) -> Result<()> {
        if active() { self.forbid() } else { Ok(()) }
    }

    fn forbid(&self) -> Result<()> {
        if self.kind == Kind::Legacy {
            return self.forbid_legacy();
        }
        match &*lock(&self.capture) {
            Some(part) => {
                part.capture.invalidate();
                Err(Error::StreamCaptureUnsupported)
            }
            None => Ok(()),
        }
    }

    /// Work in the legacy stream would depend on the blocking streams that capture.
    fn forbid_legacy(&self) -> Result<()> {
        let captures = lock(&CAPTURES).clone();
        let mut blocked = false;
        for capture in captures.iter().filter(|capture| capture.blocks_legacy(self.context_id())) {
            capture.invalidate();
            blocked = true;
        }
        if blocked { Err(Error::StreamCaptureImplicit) } else { Ok(()) }
    }

    /// Whether the stream takes part in a capture.
    pub fn is_capturing(&self) -> bool {
        active() && lock(&self.capture).is_some()
    }

    /// For batches, which cannot be captured but leave the capture valid (recorded on an H200).
    ///
    /// # Errors
    /// [`Error::StreamCaptureUnsupported`]: the stream is capturing.
    pub fn refuse_in_capture(&self) -> Result<()> {
        if self.is_capturing() { Err(Error::StreamCaptureUnsupported) } else { Ok(()) }
    }

    /// Captures an operation if the stream is capturing, or joins a capture by it.
    pub(super) fn intercept(self: &Arc<Self>, operation: Operation, policy: Policy) -> Result<Intercepted> {
        if self.kind == Kind::Legacy {
            if let Operation::Node(_) = operation {
                return Err(Error::IllegalState);
            }
            if let Operation::Wait(wait) = &operation
                && let Last::Captured(capture, _) = wait.event().last()
            {
                if capture.has_ended() {
                    return Err(Error::InvalidValue);
                }
                capture.invalidate();
                return Err(Error::StreamCaptureImplicit);
            }
            self.forbid_legacy()?;
            return Ok(Intercepted::Not(operation));
        }
        let mut own = lock(&self.capture);
        let Some(part) = &mut *own else {
            if let Operation::Wait(wait) = &operation
                && let Last::Captured(capture, reached) = wait.event().last()
            {
                self.join(&mut own, capture, reached)?;
                return Ok(Intercepted::Captured(Submitted::default()));
            }
            return Ok(Intercepted::Not(operation));
        };
        let capture = Arc::clone(&part.capture);
        if capture.is_invalid() {
            return Err(Error::StreamCaptureInvalidated);
        }
        let outcome = if policy == Policy::Wait {
            Err(Error::StreamCaptureUnsupported)
        } else {
            part.capture(operation, self)
        };
        outcome.map(Intercepted::Captured).inspect_err(|error| {
            // A wrong handle leaves a capture as it is; what cannot be captured invalidates it.
            if error.code() >= Error::StreamCaptureUnsupported.code() {
                capture.invalidate();
            }
        })
    }

    /// Makes the stream take part in a capture, after what an event of it has recorded.
    fn join(
        self: &Arc<Self>,
        own: &mut Option<Part>,
        capture: Arc<Capture>,
        reached: Vec<Dependency>,
    ) -> Result<()> {
        self.check_not_retired()?;
        // The end takes the list: under its lock, the stream is in the list then or sees the end here.
        let mut streams = lock(&capture.streams);
        if capture.has_ended() {
            return Err(Error::InvalidValue);
        }
        if capture.is_invalid() {
            return Err(Error::StreamCaptureInvalidated);
        }
        streams.push(Arc::clone(self));
        drop(streams);
        *own = Some(Part { capture, next: reached, reported: Default::default() });
        Ok(())
    }

    /// Notes that the stream's handle is destroyed, and ends its part in a capture. From here on it takes
    /// part in none.
    pub(super) fn leave_capture(self: &Arc<Self>) {
        let mut own = lock(&self.capture);
        self.retired.store(true, Ordering::SeqCst);
        let Some(Part { capture, next, .. }) = own.take() else { return };
        let origin = lock(&capture.streams).first().is_some_and(|first| Arc::ptr_eq(first, self));
        if origin {
            drop(own);
            capture.give_up();
        } else {
            lock(&capture.left).extend(next);
            drop(own);
            lock(&capture.streams).retain(|stream| !Arc::ptr_eq(stream, self));
        }
    }
}

impl Part {
    /// Adds dependencies that the next node does not have yet.
    fn add(&mut self, nodes: &[Dependency]) {
        for node in nodes {
            if !self.next.contains(node) {
                self.next.push(*node);
            }
        }
    }

    fn capture(&mut self, operation: Operation, stream: &Stream) -> Result<Submitted> {
        let mut address = 0;
        let work = match operation {
            Operation::Record(record) => {
                record.event().captured(&self.capture, self.next.clone());
                return Ok(Submitted::default());
            }
            Operation::Wait(wait) => {
                self.wait(wait.event())?;
                return Ok(Submitted::default());
            }
            Operation::Node(EventNode::Record(event)) => Work::Record(event),
            Operation::Node(EventNode::Wait(event)) => Work::Wait(event),
            Operation::Allocate(request) => {
                let at = Position { graph: &self.capture.graph, after: &self.next };
                let reservation = Reservation::new(&*stream.context()?, &at, request.in_graph())?;
                address = reservation.address();
                Work::Allocate(reservation)
            }
            Operation::Free(allocation) => self.capture.graph.release(allocation.base)?,
            mut operation => {
                if let Operation::Launch(launch) = &mut operation {
                    if launch.function().module.context_id != stream.context_id() {
                        return Err(Error::InvalidHandle);
                    }
                    launch.take_share(stream);
                }
                Work::of(operation, stream.context()?.handle)?
            }
        };
        let node = self.capture.graph.add(&self.next, work)?;
        self.next = vec![(node, Edge::default())];
        Ok(Submitted { address, node: Some(node) })
    }

    fn wait(&mut self, event: &Arc<Event>) -> Result<()> {
        match event.last() {
            Last::Never => Ok(()),
            Last::Submitted => Err(Error::StreamCaptureIsolation),
            Last::Captured(capture, reached) if Arc::ptr_eq(&capture, &self.capture) => {
                self.add(&reached);
                Ok(())
            }
            Last::Captured(capture, _) if capture.has_ended() => {
                self.capture.invalidate();
                Err(Error::InvalidValue)
            }
            Last::Captured(capture, _) => {
                capture.invalidate();
                Err(Error::StreamCaptureMerge)
            }
        }
    }
}
