//! The linker as both interfaces have it: what was told goes into the logs that a link was made with, at every call.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use driver::context::Context;
use driver::handle::{Handle, lock};
use driver::link::{self, InputType};
use driver::module::Report;
use driver::{Error, Result};

use crate::jit::Jit;

/// `CUjitInputType` and `hiprtcJITInputType` in order.
const INPUT_TYPES: [InputType; 6] = [
    InputType::Cubin,
    InputType::Ptx,
    InputType::Fatbin,
    InputType::Object,
    InputType::Library,
    InputType::Bitcode,
];

/// What a link was made with: its logs are written at every call. With the texts told so far.
#[derive(Default)]
struct Session {
    jit: Jit,
    report: Report,
}

static SESSIONS: LazyLock<Mutex<HashMap<Handle, Session>>> = LazyLock::new(Mutex::default);

/// Does something to a link and writes what it told into the logs that it was made with, and into those of the call.
fn told<T>(handle: Handle, call: &Jit, f: impl FnOnce(&link::Link, &mut Report) -> Result<T>) -> Result<T> {
    let link = link::get(handle)?;
    let mut report = Report::default();
    let result = f(&link, &mut report);
    call.finish(&report);
    let mut sessions = lock(&SESSIONS);
    let session = sessions.entry(handle).or_default();
    session.report.info.push_str(&report.info);
    session.report.errors.push_str(&report.errors);
    session.report.wall_time += report.wall_time;
    session.jit.finish(&session.report);
    result
}

/// A new link for a context's device, or for the capability that is asked for, whose code a link may make for
/// another device.
pub fn create(context: &Context, mut jit: Jit) -> Result<Handle> {
    jit.options.target = jit.asked_target()?;
    let handle = link::create(&context.device, jit.options.clone())?;
    jit.finish(&Report::default());
    lock(&SESSIONS).insert(handle, Session { jit, report: Report::default() });
    Ok(handle)
}

/// Adds an input; `kind` is the C number, `call` the options of this call.
pub fn add(handle: Handle, kind: u32, bytes: &[u8], name: &str, call: &Jit) -> Result<()> {
    let kind = *INPUT_TYPES.get(kind as usize).ok_or(Error::InvalidValue)?;
    if kind == InputType::Ptx && lock(&SESSIONS).get(&handle).is_some_and(|s| !s.jit.has_code()) {
        return Err(Error::InvalidImage);
    }
    told(handle, call, |link, report| link.add(kind, name, bytes, report))
}

/// Links; gives the result's address and size.
pub fn complete(handle: Handle) -> Result<(u64, usize)> {
    told(handle, &Jit::default(), |link, report| link.complete(report))
}

/// Ends a link.
pub fn destroy(handle: Handle) -> Result<()> {
    link::destroy(handle)?;
    lock(&SESSIONS).remove(&handle);
    Ok(())
}
