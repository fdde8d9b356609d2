//! The linker for both interfaces. Every call writes its messages to the logs that the link was created with.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use driver::context::Context;
use driver::handle::{Handle, lock};
use driver::link::{self, InputType};
use driver::module::Report;
use driver::{Error, Result};

use crate::jit::Jit;

/// `CUjitInputType` and `hiprtcJITInputType`, in order.
const INPUT_TYPES: [InputType; 6] = [
    InputType::Cubin,
    InputType::Ptx,
    InputType::Fatbin,
    InputType::Object,
    InputType::Library,
    InputType::Bitcode,
];

/// The options a link was created with, whose logs every call writes, and the messages so far.
#[derive(Default)]
struct Session {
    jit: Jit,
    report: Report,
}

static SESSIONS: LazyLock<Mutex<HashMap<Handle, Session>>> = LazyLock::new(Mutex::default);

/// Runs an operation on a link. Writes its messages to the logs of the link and of the call.
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

/// Creates a link for a context's device or for the requested capability; a link may produce code for another
/// device.
pub fn create(context: &Context, mut jit: Jit) -> Result<Handle> {
    jit.options.target = jit.asked_target()?;
    let handle = link::create(&context.device, jit.options.clone())?;
    jit.begin();
    lock(&SESSIONS).insert(handle, Session { jit, report: Report::default() });
    Ok(handle)
}

/// Adds an input. `kind` is the C number, `call` the options of this call.
pub fn add(handle: Handle, kind: u32, bytes: &[u8], name: &str, call: &Jit) -> Result<()> {
    let kind = *INPUT_TYPES.get(kind as usize).ok_or(Error::InvalidValue)?;
    if kind == InputType::Ptx && lock(&SESSIONS).get(&handle).is_some_and(|s| !s.jit.has_code()) {
        return Err(Error::InvalidImage);
    }
    told(handle, call, |link, report| link.add(kind, name, bytes, report))
}

/// Links the inputs and returns the result's address and size.
pub fn complete(handle: Handle) -> Result<(u64, usize)> {
    told(handle, &Jit::default(), |link, report| link.complete(report))
}

/// Destroys a link.
pub fn destroy(handle: Handle) -> Result<()> {
    link::destroy(handle)?;
    lock(&SESSIONS).remove(&handle);
    Ok(())
}
