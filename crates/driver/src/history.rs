//! The driver's log as programs read it: the last lines, whatever the level of the log on standard error is.

use std::cell::Cell;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use crate::error::{Error, Result};
use crate::handle::{Handle, Pointers, lock};

/// The most bytes that are kept, as the manual of `cuLogsDumpToMemory` says.
const MOST_BYTES: usize = 25_600;

/// How bad a line is, as the interface numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// An error.
    Error = 0,
    /// A warning.
    Warning = 1,
}

/// A function of the program that receives lines: its data, the severity, the line and its length.
pub type Receiver = extern "C" fn(u64, u32, *const u8, usize);

struct Callback {
    function: Receiver,
    data: u64,
    /// The number of the next line that it receives.
    next: Mutex<u32>,
}

struct Lines {
    /// The number of the oldest line that is kept.
    first: u32,
    lines: VecDeque<Line>,
    bytes: usize,
}

#[derive(Clone)]
struct Line {
    severity: Severity,
    text: String,
    /// Whether a receiver's own call failed. No receiver gets the line: each would make another one.
    inner: bool,
}

thread_local! {
    static RECEIVING: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is in a receiver.
fn is_receiving() -> bool {
    RECEIVING.try_with(Cell::get).unwrap_or(true)
}

static LINES: Mutex<Lines> = Mutex::new(Lines { first: 0, lines: VecDeque::new(), bytes: 0 });
static CALLBACKS: Pointers<Callback> = Pointers::new();
static REGISTERED: Mutex<Vec<Handle>> = Mutex::new(Vec::new());

impl Lines {
    fn next(&self) -> u32 {
        self.first.wrapping_add(self.lines.len() as u32)
    }
}

/// The time of day, the thread, the source and the severity, as in the hardware's lines.
fn prefix(severity: Severity) -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (seconds, milliseconds) = (since.as_secs(), since.subsec_millis());
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    // SAFETY: the call has no arguments and cannot fail.
    let thread = unsafe { libc::gettid() };
    let letter = if severity == Severity::Error { 'E' } else { 'W' };
    format!("[{hour:02}:{minute:02}:{second:02}.{milliseconds:03}][{thread}][CUDA][{letter}] ")
}

/// Keeps the reason for which a call is about to fail.
#[cold]
pub fn explain(reason: &str) {
    add(Severity::Error, reason);
}

/// Keeps a message; the oldest lines make room for it.
pub fn add(severity: Severity, message: &str) {
    let text = prefix(severity) + message.trim_end() + "\n";
    let inner = is_receiving();
    let mut kept = lock(&LINES);
    kept.bytes += text.len();
    kept.lines.push_back(Line { severity, text, inner });
    while kept.bytes > MOST_BYTES
        && let Some(oldest) = kept.lines.pop_front()
    {
        kept.bytes -= oldest.text.len();
        kept.first = kept.first.wrapping_add(1);
    }
}

/// The number that the next line will have.
pub fn current() -> u32 {
    lock(&LINES).next()
}

/// The lines from a number on, or all, in at most `room` bytes, and the number after them. If some are
/// missing, the first line says so, and the last one is the newest.
///
/// # Errors
/// [`Error::InvalidValue`]: lines are missing and there is no room to say so, or no line can have the number
/// yet.
pub fn lines(from: Option<u32>, room: usize) -> Result<(String, u32)> {
    let kept = lock(&LINES);
    let next = kept.next();
    let asked = from.unwrap_or(0);
    // Numbers wrap, so what is far ahead of the next one is behind it.
    if from.is_some() && asked != next && next.wrapping_sub(asked) > u32::MAX / 2 {
        return Err(Error::InvalidValue);
    }
    let skipped = asked.saturating_sub(kept.first) as usize;
    let wanted: Vec<&str> = kept.lines.iter().skip(skipped).map(|line| line.text.as_str()).collect();
    let whole: usize = wanted.iter().map(|line| line.len()).sum();
    if whole <= room && asked >= kept.first {
        return Ok((wanted.concat(), next));
    }
    let notice = prefix(Severity::Warning) + "earlier messages are missing here\n";
    let mut left = room.saturating_sub(notice.len());
    let fitting = wanted.iter().rev().take_while(|line| {
        let fits = line.len() <= left;
        left = left.saturating_sub(line.len());
        fits
    });
    let count = fitting.count();
    match room < notice.len() {
        true => Err(Error::InvalidValue),
        false => Ok((notice + &wanted.get(wanted.len() - count..).unwrap_or_default().concat(), next)),
    }
}

/// Writes the lines from a number on, or all, to a new file; returns the number after them.
///
/// # Errors
/// [`Error::InvalidValue`]: the file cannot be written.
pub fn write(from: Option<u32>, path: &Path) -> Result<u32> {
    let (text, next) = lines(from, usize::MAX)?;
    let written = host::write::named(path, text.as_bytes());
    written.map(|()| next).map_err(|_| Error::InvalidValue)
}

/// Registers a function that receives the lines from now on.
pub fn register(function: Receiver, data: u64) -> Result<Handle> {
    let callback = Callback { function, data, next: Mutex::new(current()) };
    let handle = CALLBACKS.insert(std::sync::Arc::new(callback)).ok_or(Error::OutOfMemory)?;
    lock(&REGISTERED).push(handle);
    Ok(handle)
}

/// Ends a registration.
pub fn unregister(handle: Handle) -> Result<()> {
    CALLBACKS.remove(handle).ok_or(Error::InvalidValue)?;
    lock(&REGISTERED).retain(|registered| *registered != handle);
    Ok(())
}

/// Calls the registered functions with the lines that they have not received. Called where no lock is held:
/// at the end of a call that failed. The lines of calls that such a function makes itself are only kept.
pub fn deliver() {
    if is_receiving() {
        return;
    }
    let registered = lock(&REGISTERED).clone();
    for callback in registered.into_iter().filter_map(|handle| CALLBACKS.get(handle)) {
        let Ok(mut next) = callback.next.try_lock() else { continue };
        let new: Vec<Line> = {
            let kept = LINES.lock().unwrap_or_else(PoisonError::into_inner);
            let skipped = next.saturating_sub(kept.first) as usize;
            *next = kept.next();
            kept.lines.iter().skip(skipped).filter(|line| !line.inner).cloned().collect()
        };
        for Line { severity, text, .. } in new {
            let text = format!("{}\0", text.trim_end());
            let _ = RECEIVING.try_with(|receiving| receiving.set(true));
            (callback.function)(callback.data, severity as u32, text.as_ptr(), text.len() - 1);
            let _ = RECEIVING.try_with(|receiving| receiving.set(false));
        }
    }
}
