//! What the driver says on standard error: `ANYWARP_LOG` is `off`, `error` (the default), `warn`, `info` or `trace`.

use std::io::Write;
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
    *LEVEL.get_or_init(|| match host::options::text("ANYWARP_LOG").as_deref() {
        None | Some("error" | "") => Level::Error,
        Some("off") => Level::Off,
        Some("warn") => Level::Warn,
        Some("info" | "debug") => Level::Info,
        Some("trace") => Level::Trace,
        Some(other) => {
            tell(&format!("ANYWARP_LOG={other}: not one of off, error, warn, info, trace; error is used"));
            Level::Error
        }
    })
}

/// Says something at a level.
pub fn say(at: Level, what: impl FnOnce() -> String) {
    if at <= level() {
        tell(&what());
    }
}

/// Says something at every level.
pub fn tell(what: &str) {
    // One write, so that lines of several threads stay whole. A standard error that takes nothing is the program's choice.
    let line = format!("anywarp: {what}\n");
    let _ = host::write::limited(|| std::io::stderr().write_all(line.as_bytes()));
}
