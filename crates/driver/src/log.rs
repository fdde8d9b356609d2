//! What the driver says on standard error: `ANYWARP_LOG` is `off`, `error` (the default), `warn`, `info` or `trace`.

use std::sync::OnceLock;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing.
    Off,
    /// Kernels that fault.
    Error,
    /// What is not supported, and what was done instead.
    Warn,
    /// Modules that load.
    Info,
    /// Every call.
    Trace,
}

/// The level asked for.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| match std::env::var("ANYWARP_LOG").as_deref() {
        Err(_) | Ok("error" | "") => Level::Error,
        Ok("off") => Level::Off,
        Ok("warn") => Level::Warn,
        Ok("info" | "debug") => Level::Info,
        Ok("trace") => Level::Trace,
        Ok(other) => {
            eprintln!(
                "anywarp: ANYWARP_LOG={other}: not one of off, error, warn, info, trace; error is used"
            );
            Level::Error
        }
    })
}

/// Says something at a level.
pub fn say(at: Level, what: impl FnOnce() -> String) {
    if at <= level() {
        eprintln!("anywarp: {}", what());
    }
}
