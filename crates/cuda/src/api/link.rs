//! The linker.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use driver::handle::lock;
use driver::link::{self, InputType};
use driver::module::Report;
use driver::{Error, Result};

use crate::abi::{In, Out, Text, bytes_at};
use crate::api;
use crate::api::current;
use crate::types::Handle;
use capi::container;
use capi::jit::Jit;

/// `CUjitInputType` in order.
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

fn add(handle: Handle, kind: u32, bytes: &[u8], name: &str, call: &Jit) -> Result<()> {
    let kind = *INPUT_TYPES.get(kind as usize).ok_or(Error::InvalidValue)?;
    told(handle, call, |link, report| link.add(kind, name, bytes, report))
}

api! {
    Context fn cuLinkCreate / cuLinkCreate_v2 (count: u32, options: In<u32>, values: Out<u64>, out: Out<Handle>) {
        out.required()?;
        let jit = Jit::read(count, options, values)?;
        let context = current()?;
        jit.check_target(&context.device)?;
        let handle = link::create(&context.device, jit.options.clone())?;
        jit.finish(&Report::default());
        lock(&SESSIONS).insert(handle, Session { jit, report: Report::default() });
        out.set(handle);
        Ok(())
    }

    Context fn cuLinkAddData / cuLinkAddData_v2 (
        handle: Handle, kind: u32, data: u64, size: usize, name: Text, count: u32, options: In<u32>, values: Out<u64>,
    ) {
        link::get(handle)?;
        if data == 0 || size == 0 {
            return Err(Error::InvalidValue);
        }
        let call = Jit::read(count, options, values)?;
        let name = name.bytes().map(String::from_utf8_lossy).unwrap_or_default();
        add(handle, kind, bytes_at(data, size), &name, &call)
    }

    Context fn cuLinkAddFile / cuLinkAddFile_v2 (
        handle: Handle, kind: u32, path: Text, count: u32, options: In<u32>, values: Out<u64>,
    ) {
        link::get(handle)?;
        let call = Jit::read(count, options, values)?;
        let bytes = container::file(path)?;
        add(handle, kind, &bytes, &String::from_utf8_lossy(path.bytes()?), &call)
    }

    Context fn cuLinkComplete(handle: Handle, image: Out<u64>, size: Out<usize>) {
        link::get(handle)?;
        image.required()?;
        let (at, length) = told(handle, &Jit::default(), |link, report| link.complete(report))?;
        image.set(at);
        size.set(length);
        Ok(())
    }

    Context fn cuLinkDestroy(handle: Handle) {
        link::destroy(handle)?;
        lock(&SESSIONS).remove(&handle);
        Ok(())
    }
}
