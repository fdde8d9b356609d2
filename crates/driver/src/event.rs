//! Events: points in a stream's order, with timestamps.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, Owner, Table, lock};
use crate::shared::{Marks, Name};
use crate::stream::capture::{Capture, Dependency};
use crate::stream::{EventNode, Operation, Point, Policy, Stream};

/// The events that have handles.
static EVENTS: Table<Event> = Table::new(crate::handle::Kind::Event);

/// Event flags.
pub mod flag {
    /// Waiting threads sleep instead of spinning.
    pub const BLOCKING_SYNC: u32 = 1;
    /// No timestamps.
    pub const DISABLE_TIMING: u32 = 2;
    /// The event can be shared with other processes; requires [`DISABLE_TIMING`].
    pub const INTERPROCESS: u32 = 4;
    /// All of them.
    pub const ALL: u32 = BLOCKING_SYNC | DISABLE_TIMING | INTERPROCESS;
}

/// The last record.
enum Recorded {
    /// It was submitted.
    Submitted { point: Point, time: Time },
    /// It was captured: by which capture, and after which nodes.
    Captured(Arc<Capture>, Vec<Dependency>),
}

/// The last record of an event, for a stream that will wait for it.
pub(crate) enum Last {
    /// There is none.
    Never,
    /// It was submitted to a stream.
    Submitted,
    /// It was captured: by which capture, and after which nodes.
    Captured(Arc<Capture>, Vec<Dependency>),
}

/// When a record was reached, in nanoseconds since the process's first event, plus 1.
#[derive(Clone)]
enum Time {
    /// The event is not timed.
    None,
    /// It was reached when it was submitted.
    Known(u64),
    /// Stored when it is reached; 0 before.
    Later(Arc<AtomicU64>),
}

/// An event.
pub struct Event {
    /// The handle.
    pub handle: Handle,
    /// The id of its context.
    pub context_id: u64,
    context: Weak<Context>,
    flags: u32,
    recorded: Mutex<Option<Recorded>>,
    /// The state shared with other processes.
    marks: Option<Arc<Marks>>,
}

/// The error of calls that need the time of a record that was captured (recorded on an H200).
fn captured(capture: &Capture) -> Error {
    if capture.is_over() { Error::InvalidValue } else { Error::CapturedEvent }
}

fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// Creates an event.
pub fn create(context: &Context, flags: u32) -> Result<Handle> {
    if flags & !flag::ALL != 0 || (flags & flag::INTERPROCESS != 0 && flags & flag::DISABLE_TIMING == 0) {
        return Err(Error::InvalidValue);
    }
    let marks = if flags & flag::INTERPROCESS != 0 { Some(Marks::make()?) } else { None };
    make(context, flags, marks)
}

fn make(context: &Context, flags: u32, marks: Option<Marks>) -> Result<Handle> {
    let (context_id, weak, marks) = (context.id(), context.weak(), marks.map(Arc::new));
    let made = EVENTS.insert_owned(&context.events, |handle| {
        Arc::new(Event { handle, context_id, context: weak, flags, recorded: Mutex::new(None), marks })
    });
    let handle = made.ok_or(Error::OutOfMemory)?.0;
    // Another thread may have destroyed the context and missed this event.
    if !context.alive() || context.id() != context_id {
        EVENTS.remove(handle);
        return Err(Error::ContextIsDestroyed);
    }
    Ok(handle)
}

/// Opens another process's event by name.
pub fn open(context: &Context, name: &Name) -> Result<Handle> {
    make(context, flag::INTERPROCESS | flag::DISABLE_TIMING, Some(Marks::open(name)?))
}

/// The error for a handle without an event.
fn missing(handle: Handle) -> Error {
    if EVENTS.is_orphan(handle) { Error::ContextIsDestroyed } else { Error::InvalidHandle }
}

/// The event of a handle; its context must be alive.
pub fn get(handle: Handle) -> Result<Arc<Event>> {
    let event = EVENTS.get(handle).ok_or_else(|| missing(handle))?;
    if event.is_alive() { Ok(event) } else { Err(Error::ContextIsDestroyed) }
}

/// Destroys an event. If its context is destroyed, this returns the same error as the other functions
/// (recorded on an H100).
pub fn destroy(handle: Handle) -> Result<()> {
    EVENTS.remove(handle).map(drop).ok_or_else(|| missing(handle))
}

/// Frees the events of a destroyed context.
pub(crate) fn context_ended(events: &Owner, id: u64) {
    EVENTS.orphan(events, |event| event.context_id == id);
}

impl Event {
    /// An event without a handle or timestamps, by which streams of a context wait for each other.
    pub(crate) fn private(context: &Context) -> Arc<Event> {
        Arc::new(Event {
            handle: 0,
            context_id: context.id(),
            context: context.weak(),
            flags: flag::DISABLE_TIMING,
            recorded: Mutex::new(None),
            marks: None,
        })
    }

    /// Makes a stream wait for everything that was submitted to another one of its context.
    pub(crate) fn order(context: &Context, first: &Arc<Stream>, later: &Arc<Stream>) -> Result<()> {
        if first.idle() {
            return Ok(());
        }
        let event = Event::private(context);
        event.record(first)?;
        event.wait_in(later)
    }

    /// Whether its context is alive.
    fn is_alive(&self) -> bool {
        self.context.upgrade().is_some_and(|c| c.alive() && c.id() == self.context_id)
    }

    /// The name by which another process opens the event, if it was created to be shared.
    pub fn name(&self) -> Result<Name> {
        self.marks.as_ref().ok_or(Error::InvalidHandle)?.name()
    }

    /// Fails if the context is destroyed or a kernel has faulted.
    pub fn check(&self) -> Result<()> {
        self.context.upgrade().ok_or(Error::ContextIsDestroyed)?.check()
    }

    /// Whether its records have timestamps.
    pub fn is_timed(&self) -> bool {
        self.flags & flag::DISABLE_TIMING == 0
    }

    /// Records the work submitted to a stream so far.
    pub fn record(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<()> {
        stream.submit(Operation::Record(Record::of(self)), Policy::Later)
    }

    /// Records the work that a stream has captured so far by a node of the graph.
    ///
    /// # Errors
    /// [`Error::IllegalState`]: the stream is not capturing.
    pub fn record_in_graph(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<()> {
        stream.submit(Operation::Node(EventNode::Record(Arc::clone(self))), Policy::Later)
    }

    /// Makes what a stream captures from now on wait, by a node of the graph, for the work that is recorded
    /// when the graph is launched.
    ///
    /// # Errors
    /// [`Error::IllegalState`]: the stream is not capturing.
    pub fn wait_in_graph(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<()> {
        stream.submit(Operation::Node(EventNode::Wait(Arc::clone(self))), Policy::Later)
    }

    /// The last record.
    pub(crate) fn last(&self) -> Last {
        match &*lock(&self.recorded) {
            None => Last::Never,
            Some(Recorded::Submitted { .. }) => Last::Submitted,
            Some(Recorded::Captured(capture, after)) => Last::Captured(Arc::clone(capture), after.clone()),
        }
    }

    /// Notes that a capture has recorded it, after these nodes.
    pub(crate) fn captured(&self, capture: &Arc<Capture>, after: Vec<Dependency>) {
        *lock(&self.recorded) = Some(Recorded::Captured(Arc::clone(capture), after));
    }

    /// The point of the last record.
    ///
    /// # Errors
    /// As [`Event::check_not_captured`].
    fn point(&self) -> Result<Option<Point>> {
        self.look(Point::clone)
    }

    /// What `f` finds at the point of the last record; `None` if nothing was recorded.
    ///
    /// # Errors
    /// As [`Event::check_not_captured`].
    fn look<T>(&self, f: impl FnOnce(&Point) -> T) -> Result<Option<T>> {
        match &*lock(&self.recorded) {
            None => Ok(None),
            Some(Recorded::Submitted { point, .. }) => Ok(Some(f(point))),
            Some(Recorded::Captured(capture, _)) => {
                let error = captured(capture);
                capture.invalidate();
                Err(error)
            }
        }
    }

    /// Fails if the last record was captured, as [`Event::query`] does.
    ///
    /// # Errors
    /// [`Error::CapturedEvent`]: by a capture, which becomes invalid. [`Error::InvalidValue`]: by one that
    /// has ended or is invalid.
    pub fn check_not_captured(&self) -> Result<()> {
        self.look(|_| ()).map(drop)
    }

    /// Forgets the last record if a capture that has ended made it. The event then is as one that was never
    /// recorded.
    pub fn forget_ended_capture(&self) {
        let ended =
            |last: &mut Recorded| matches!(last, Recorded::Captured(capture, _) if capture.has_ended());
        let forgotten = lock(&self.recorded).take_if(ended);
        drop(forgotten);
    }

    /// Whether the last recorded work has finished; true if nothing was recorded.
    ///
    /// # Errors
    /// As [`Event::check_not_captured`].
    pub fn query(&self) -> Result<bool> {
        let point = self.point()?;
        Ok(match &self.marks {
            Some(marks) => marks.reached(marks.asked()),
            None => point.is_none_or(|p| p.poll()),
        })
    }

    /// Waits for the last recorded work.
    ///
    /// # Errors
    /// As [`Event::check_not_captured`].
    pub fn synchronize(&self) -> Result<()> {
        let marked = self.marks.as_ref().map(|marks| (marks, marks.asked()));
        let pending = self.look(|point| (!point.reached()).then(|| point.clone()))?;
        if let Some(point) = pending.flatten() {
            point.wait();
        }
        if let Some((marks, number)) = marked {
            marks.wait(number);
        }
        Ok(())
    }

    /// Makes later work of a stream wait for the last recorded work.
    pub fn wait_in(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<()> {
        stream.submit(Operation::Wait(Wait::on(self)), Policy::Later)
    }

    fn time(&self) -> Result<u64> {
        if !self.is_timed() {
            return Err(Error::InvalidHandle);
        }
        match lock(&self.recorded).as_ref().ok_or(Error::InvalidHandle)? {
            Recorded::Submitted { point, time } if point.reached() => Ok(match time {
                Time::None => 0,
                Time::Known(time) => *time,
                Time::Later(time) => time.load(Ordering::Acquire),
            }),
            Recorded::Submitted { .. } => Err(Error::NotReady),
            // Unlike a query, this leaves the capture as it is.
            Recorded::Captured(capture, _) => Err(captured(capture)),
        }
    }
}

/// The record of an event, as a stream operation.
#[derive(Clone)]
pub struct Record {
    event: Arc<Event>,
    /// Where this submission stores its timestamp, if it does not run at once.
    time: Option<Arc<AtomicU64>>,
    /// The number of this submission among the records that other processes see.
    number: u64,
    /// Set when a record inside another operation is reached.
    inside: Option<Arc<AtomicBool>>,
}

impl Record {
    /// A record of an event.
    pub fn of(event: &Arc<Event>) -> Self {
        Record { event: Arc::clone(event), time: None, number: 0, inside: None }
    }

    /// The event.
    pub(crate) fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// As [`Record::settle`], for a record that is a part of another operation.
    pub(crate) fn settle_inside(&mut self) {
        self.settle();
        self.defer();
        self.inside = Some(Arc::default());
    }

    /// Prepares a submission that does not run at once: it stores its timestamp when it runs.
    pub(crate) fn defer(&mut self) {
        self.time = self.event.is_timed().then(Arc::default);
    }

    /// Begins a submission, which gets its own number.
    pub(crate) fn settle(&mut self) {
        self.time = None;
        self.number = self.event.marks.as_ref().map_or(0, |marks| marks.ask());
    }

    /// Stores the point in the stream that this submission occupies. One that was not deferred has run.
    pub(crate) fn recorded(&self, mut point: Point) {
        point.inside.clone_from(&self.inside);
        let time = match &self.time {
            Some(time) => Time::Later(Arc::clone(time)),
            None if self.event.is_timed() => Time::Known(now()),
            None => Time::None,
        };
        *lock(&self.event.recorded) = Some(Recorded::Submitted { point, time });
    }

    pub(crate) fn run(&self) {
        if let Some(time) = &self.time {
            time.store(now(), Ordering::Release);
        }
        if let Some(marks) = &self.event.marks {
            marks.reach(self.number);
        }
        if let Some(reached) = &self.inside {
            reached.store(true, Ordering::Release);
        }
    }
}

/// A wait for an event, as a stream operation. Each submission waits for the record that is the last one when
/// it is submitted.
#[derive(Clone)]
pub struct Wait {
    event: Arc<Event>,
    /// The number of the record, if it may belong to another process and was not reached at submission.
    number: Option<u64>,
    /// The record's point, of a wait that is a part of another operation.
    inside: Option<Point>,
}

impl Wait {
    /// A wait for an event.
    pub fn on(event: &Arc<Event>) -> Self {
        Wait { event: Arc::clone(event), number: None, inside: None }
    }

    /// The event.
    pub(crate) fn event(&self) -> &Arc<Event> {
        &self.event
    }

    /// As [`Wait::settle`], for a wait that is a part of another operation: it waits when it runs.
    pub(crate) fn settle_inside(&mut self) -> Result<()> {
        self.inside = self.settle()?;
        Ok(())
    }

    /// Finds the record to wait for. Returns its point in a stream of this process, unless it was reached.
    ///
    /// # Errors
    /// [`Error::CapturedEvent`]: it was recorded in a stream whose capture has ended.
    pub(crate) fn settle(&mut self) -> Result<Option<Point>> {
        self.number = self.event.marks.as_ref().and_then(|marks| {
            let number = marks.asked();
            (!marks.reached(number)).then_some(number)
        });
        Ok(self.event.point()?.filter(|point| !point.reached()))
    }

    /// Whether a record that other processes see is still pending.
    pub(crate) fn is_left(&self) -> bool {
        self.number.is_some()
    }

    /// Whether [`Wait::run`] may have to wait. Otherwise the stream has waited before.
    pub(crate) fn may_wait(&self) -> bool {
        self.inside.is_some() || self.number.is_some()
    }

    /// Whether it would wait now for a record that other processes see.
    pub(crate) fn is_blocked(&self) -> bool {
        let marks = self.event.marks.as_ref().zip(self.number);
        marks.is_some_and(|(marks, number)| !marks.reached(number))
    }

    pub(crate) fn run(&self) {
        if let Some(point) = &self.inside {
            point.wait();
        }
        if let (Some(marks), Some(number)) = (&self.event.marks, self.number) {
            marks.wait(number);
        }
    }
}

/// Milliseconds between two recorded events.
pub fn elapsed(start: &Event, end: &Event) -> Result<f32> {
    let (a, b) = (start.time(), end.time());
    let (a, b) = match (a, b) {
        (Err(Error::InvalidHandle), _) | (_, Err(Error::InvalidHandle)) => return Err(Error::InvalidHandle),
        (a, b) => (a?, b?),
    };
    Ok((b as f64 - a as f64) as f32 / 1e6)
}
