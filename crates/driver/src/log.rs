//! The log on standard error, controlled by `ANYWARP_LOG`.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};

pub use host::options::Level;

use crate::history::{self, Severity};

/// The levels that [`LEVEL`] indexes.
const LEVELS: [Level; 6] = [Level::Off, Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];

/// The level has not been read yet.
const UNKNOWN: u8 = u8::MAX;

/// The level as its index in [`LEVELS`].
static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The log level. Calls before the options are read take it from the environment.
pub fn level() -> Level {
    match LEVELS.get(usize::from(LEVEL.load(Ordering::Relaxed))) {
        Some(level) => *level,
        None => {
            let level = host::options::level_of_process();
            let _ = LEVEL.compare_exchange(UNKNOWN, level as u8, Ordering::Relaxed, Ordering::Relaxed);
            level
        }
    }
}

/// Sets the level once the options are read.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Logs a message at a level. Errors and warnings can be read by the program at every level.
pub fn say(at: Level, what: impl FnOnce() -> String) {
    let severity = match at {
        Level::Error => Some(Severity::Error),
        Level::Warn => Some(Severity::Warning),
        _ => None,
    };
    if at > level() && severity.is_none() {
        return;
    }
    let message = what();
    if let Some(severity) = severity {
        history::add(severity, &message);
    }
    if at <= level() {
        tell(&message);
    }
}

/// Logs a message at every level.
pub fn tell(what: &str) {
    // A single write keeps lines of several threads whole. Errors are ignored: standard error is the
    // program's.
    let line = format!("anywarp: {what}\n");
    let _ = host::write::limited(|| std::io::stderr().write_all(line.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_their_numbers() {
        for (number, level) in LEVELS.iter().enumerate() {
            assert_eq!(*level as usize, number);
        }
    }
}
