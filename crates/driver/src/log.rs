//! What the driver says on standard error, by `ANYWARP_LOG`.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};

pub use host::options::Level;

/// The levels, for [`LEVEL`].
const LEVELS: [Level; 6] = [Level::Off, Level::Error, Level::Warn, Level::Info, Level::Debug, Level::Trace];

/// Nobody has asked yet.
const UNKNOWN: u8 = u8::MAX;

/// The level as its index in [`LEVELS`].
static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The level asked for. Calls that come before the options are read take it from the environment.
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

/// Sets the level: the options have been read.
pub fn set_level(level: Level) {
    LEVEL.store(level as u8, Ordering::Relaxed);
}

/// Says something at a level.
pub fn say(at: Level, what: impl FnOnce() -> String) {
    if at <= level() {
        tell(&what());
    }
}

/// Says something at every level.
pub fn tell(what: &str) {
    // One write, so that lines of several threads stay whole. A standard error that takes nothing is the
    // program's choice.
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
