//! The guard around C functions: no panic crosses the C boundary, and calls are logged.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use driver::log::{self, Level};

/// Runs a function's checks and body and returns its code, or `after_panic` after a panic. Under
/// `ANYWARP_LOG=trace` it logs the call, with the code's name from `text`.
pub fn run(
    name: &str,
    args: &[(&str, &dyn Debug)],
    after_panic: u32,
    text: impl Fn(u32) -> String,
    body: impl FnOnce() -> u32,
) -> u32 {
    let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(after_panic);
    if log::level() >= Level::Trace {
        let list: Vec<String> = args.iter().map(|(n, v)| format!("{n}={v:?}")).collect();
        log::say(Level::Trace, || format!("{name}({}) = {}", list.join(", "), text(code)));
    }
    code
}

/// Logs, once per name, that a function is not implemented.
pub fn named_once(name: &'static str) {
    static NAMED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let named = catch_unwind(|| {
        if log::level() >= Level::Warn && NAMED.lock().unwrap_or_else(PoisonError::into_inner).insert(name) {
            log::say(Level::Warn, || format!("{name} is not supported"));
        }
    });
    drop(named);
}
