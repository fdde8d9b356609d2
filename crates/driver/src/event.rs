//! Events: a place in a stream's order, with its time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};
use crate::shared::{Marks, Name};
use crate::stream::{Operation, Point, Policy, Stream};

/// The events with handles.
static EVENTS: Table<Event> = Table::new(6);

/// The flags of an event.
pub mod flag {
    /// Waiting threads sleep rather than spin.
    pub const BLOCKING_SYNC: u32 = 1;
    /// No times are kept.
    pub const DISABLE_TIMING: u32 = 2;
    /// For other processes; only without timing.
    pub const INTERPROCESS: u32 = 4;
}

/// The record made last.
struct Recorded {
    point: Point,
    time: Time,
}

/// When a record was reached, of a timed event: nanoseconds since the process's first event, plus 1; 0: not
/// yet.
type Time = Option<Arc<AtomicU64>>;

/// An event.
pub struct Event {
    /// Its handle.
    pub handle: Handle,
    /// The id of its context.
    pub context_id: u64,
    context: Weak<Context>,
    flags: u32,
    recorded: Mutex<Option<Recorded>>,
    /// What other processes see of it.
    marks: Option<Arc<Marks>>,
}

fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64 + 1
}

/// Makes an event.
pub fn create(context: &Context, flags: u32) -> Result<Handle> {
    if flags & !7 != 0 || (flags & flag::INTERPROCESS != 0 && flags & flag::DISABLE_TIMING == 0) {
        return Err(Error::InvalidValue);
    }
    let marks = if flags & flag::INTERPROCESS != 0 { Some(Marks::make()?) } else { None };
    make(context, flags, marks)
}

fn make(context: &Context, flags: u32, marks: Option<Marks>) -> Result<Handle> {
    let (context_id, weak, marks) = (context.id(), context.weak(), marks.map(Arc::new));
    let made = EVENTS.insert_with(|handle| {
        Arc::new(Event { handle, context_id, context: weak, flags, recorded: Mutex::new(None), marks })
    });
    let (handle, event) = made.ok_or(Error::OutOfMemory)?;
    // A context that ends in another thread may have missed this event when it destroyed its own.
    if !event.is_alive() {
        EVENTS.remove(handle);
        return Err(Error::ContextIsDestroyed);
    }
    Ok(handle)
}

/// Opens an event that another process named.
pub fn open(context: &Context, name: &Name) -> Result<Handle> {
    make(context, flag::INTERPROCESS | flag::DISABLE_TIMING, Some(Marks::open(name)?))
}

/// Why there is no event of a handle.
fn missing(handle: Handle) -> Error {
    if EVENTS.is_orphan(handle) { Error::ContextIsDestroyed } else { Error::InvalidHandle }
}

/// The event of a handle; its context must be alive.
pub fn get(handle: Handle) -> Result<Arc<Event>> {
    let event = EVENTS.get(handle).ok_or_else(|| missing(handle))?;
    if event.is_alive() { Ok(event) } else { Err(Error::ContextIsDestroyed) }
}

/// Destroys an event. If its context has ended, this answers as every other function does (recorded on an
/// H100).
pub fn destroy(handle: Handle) -> Result<()> {
    EVENTS.remove(handle).map(drop).ok_or_else(|| missing(handle))
}

/// Frees the events of a context.
pub(crate) fn context_ended(id: u64) {
    EVENTS.orphan(|event| event.context_id == id);
}

impl Event {
    /// Whether its context is alive.
    fn is_alive(&self) -> bool {
        self.context.upgrade().is_some_and(|c| c.alive() && c.id() == self.context_id)
    }

    /// The name for another process; only an event that was made for it has one.
    pub fn name(&self) -> Result<Name> {
        self.marks.as_ref().ok_or(Error::InvalidHandle)?.name()
    }

    /// Fails if its context has ended, and after a fault.
    pub fn check(&self) -> Result<()> {
        self.context.upgrade().ok_or(Error::ContextIsDestroyed)?.check()
    }

    /// Whether its records have times.
    pub fn is_timed(&self) -> bool {
        self.flags & flag::DISABLE_TIMING == 0
    }

    /// Records the work submitted to a stream so far.
    pub fn record(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<()> {
        stream.submit(Operation::Record(Record::of(self)), Policy::Later)
    }

    fn point(&self) -> Option<Point> {
        lock(&self.recorded).as_ref().map(|r| r.point.clone())
    }

    /// Whether the work recorded last has ended; true if nothing was recorded.
    pub fn query(&self) -> bool {
        match &self.marks {
            Some(marks) => marks.reached(marks.asked()),
            None => self.point().is_none_or(|p| p.reached()),
        }
    }

    /// Waits for the work recorded last.
    pub fn synchronize(&self) {
        let marked = self.marks.as_ref().map(|marks| (marks, marks.asked()));
        if let Some(point) = self.point() {
            point.wait();
        }
        if let Some((marks, number)) = marked {
            marks.wait(number);
        }
    }

    /// Makes what follows in a stream wait for the work recorded last.
    pub fn wait_in(self: &Arc<Self>, stream: &Arc<Stream>) -> Result<()> {
        stream.submit(Operation::Wait(Wait::on(self)), Policy::Later)
    }

    fn time(&self) -> Result<u64> {
        if !self.is_timed() {
            return Err(Error::InvalidHandle);
        }
        let recorded = lock(&self.recorded);
        let recorded = recorded.as_ref().ok_or(Error::InvalidHandle)?;
        if recorded.point.reached() {
            Ok(recorded.time.as_ref().map_or(0, |time| time.load(Ordering::Acquire)))
        } else {
            Err(Error::NotReady)
        }
    }
}

/// The record of an event, as an operation of a stream.
#[derive(Clone)]
pub struct Record {
    event: Arc<Event>,
    /// Where this submission stores its time.
    time: Time,
    /// The number of this submission among the records that other processes see.
    number: u64,
}

impl Record {
    /// A record of an event.
    pub fn of(event: &Arc<Event>) -> Self {
        Record { event: Arc::clone(event), time: None, number: 0 }
    }

    /// Begins a submission: each has a time and a number of its own.
    pub(crate) fn settle(&mut self) {
        self.time = self.event.is_timed().then(Arc::default);
        self.number = self.event.marks.as_ref().map_or(0, |marks| marks.ask());
    }

    /// Notes the place in the stream's order at which this submission is.
    pub(crate) fn recorded(&self, point: Point) {
        *lock(&self.event.recorded) = Some(Recorded { point, time: self.time.clone() });
    }

    pub(crate) fn run(&self) {
        if let Some(time) = &self.time {
            time.store(now(), Ordering::Release);
        }
        if let Some(marks) = &self.event.marks {
            marks.reach(self.number);
        }
    }
}

/// The wait for an event, as an operation of a stream. Each submission waits for the record that is the last
/// then.
#[derive(Clone)]
pub struct Wait {
    event: Arc<Event>,
    /// The number of the record, if it may be another process's and was not reached when this was submitted.
    number: Option<u64>,
}

impl Wait {
    /// A wait for an event.
    pub fn on(event: &Arc<Event>) -> Self {
        Wait { event: Arc::clone(event), number: None }
    }

    /// Finds the record to wait for; gives its place in a stream of this process unless it has been reached.
    pub(crate) fn settle(&mut self) -> Option<Point> {
        self.number = self.event.marks.as_ref().and_then(|marks| {
            let number = marks.asked();
            (!marks.reached(number)).then_some(number)
        });
        self.event.point().filter(|point| !point.reached())
    }

    /// Whether a record that other processes see is still to be waited for.
    pub(crate) fn is_left(&self) -> bool {
        self.number.is_some()
    }

    pub(crate) fn run(&self) {
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
