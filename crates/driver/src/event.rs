//! Events: a place in a stream's order, with its time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Instant;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::handle::{Handle, Table, lock};
use crate::stream::{Point, Stream};

/// The events with handles.
pub static EVENTS: Table<Event> = Table::new(6);

/// The flags of an event.
pub mod flag {
    /// Waiting threads sleep rather than spin.
    pub const BLOCKING_SYNC: u32 = 1;
    /// No times are kept.
    pub const DISABLE_TIMING: u32 = 2;
    /// For other processes; only without timing.
    pub const INTERPROCESS: u32 = 4;
}

struct Recorded {
    point: Point,
    /// Nanoseconds since the process's first event, plus 1; 0: not yet reached.
    time: Arc<AtomicU64>,
}

/// An event.
pub struct Event {
    /// Its handle.
    pub handle: Handle,
    /// The id of its context.
    pub context_id: u64,
    context: Weak<Context>,
    flags: u32,
    recorded: Mutex<Option<Recorded>>,
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
    let context_id = context.id();
    let context = context.weak();
    EVENTS
        .insert_with(|handle| {
            Arc::new(Event { handle, context_id, context, flags, recorded: Mutex::new(None) })
        })
        .map(|e| e.0)
        .ok_or(Error::OutOfMemory)
}

/// The event of a handle; its context must be alive.
pub fn get(handle: Handle) -> Result<Arc<Event>> {
    let event = EVENTS.get(handle).ok_or(Error::InvalidHandle)?;
    let alive = event.context.upgrade().is_some_and(|c| c.alive() && c.id() == event.context_id);
    if alive { Ok(event) } else { Err(Error::ContextIsDestroyed) }
}

impl Event {
    /// Records the work enqueued so far.
    pub fn record(&self, stream: &Arc<Stream>) {
        let time = Arc::new(AtomicU64::new(0));
        let timed = self.flags & flag::DISABLE_TIMING == 0;
        let at = Arc::clone(&time);
        let reached = |timed: bool| if timed { now() } else { 0 };
        let point = match stream.begin() {
            Some(now) => {
                at.store(reached(timed), Ordering::Release);
                now.point()
            }
            None => stream.enqueue(
                true,
                Box::new(move || {
                    at.store(reached(timed), Ordering::Release);
                    Ok(())
                }),
            ),
        };
        *lock(&self.recorded) = Some(Recorded { point, time });
    }

    /// The place last recorded.
    pub fn point(&self) -> Option<Point> {
        lock(&self.recorded).as_ref().map(|r| r.point.clone())
    }

    /// Whether the recorded work has ended; true when nothing was recorded.
    pub fn query(&self) -> bool {
        self.point().is_none_or(|p| p.reached())
    }

    /// Waits for the recorded work.
    pub fn synchronize(&self) {
        if let Some(point) = self.point() {
            point.wait();
        }
    }

    fn time(&self) -> Result<u64> {
        if self.flags & flag::DISABLE_TIMING != 0 {
            return Err(Error::InvalidHandle);
        }
        let recorded = lock(&self.recorded);
        let recorded = recorded.as_ref().ok_or(Error::InvalidHandle)?;
        if recorded.point.reached() {
            Ok(recorded.time.load(Ordering::Acquire))
        } else {
            Err(Error::NotReady)
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
