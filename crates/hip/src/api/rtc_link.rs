//! The linker of hiprtc, for PTX and NVIDIA's fatbins.

use capi::jit::Jit;
use capi::{container, link};

use super::rtc::{Answer, enter, input, result};
use crate::abi::{In, Out, Text};
use crate::current::{self, Handle};

/// Adds an input. Null and unknown links or types are invalid inputs; other errors are program creation
/// failures.
fn add(link: Handle, kind: u32, bytes: &[u8], name: &str, call: &Jit) -> Answer {
    link::add(link, kind, bytes, name, call).map_err(|error| match error {
        driver::Error::InvalidHandle | driver::Error::InvalidValue => result::ERROR_INVALID_INPUT,
        driver::Error::OutOfMemory => result::ERROR_OUT_OF_MEMORY,
        _ => result::ERROR_PROGRAM_CREATION_FAILURE,
    })
}

/// `hiprtcLinkCreate`.
pub extern "C" fn hiprtcLinkCreate(count: u32, options: In<u32>, values: Out<u64>, out: Out<Handle>) -> u32 {
    enter("hiprtcLinkCreate", &[("count", &count), ("out", &out)], || {
        out.required().map_err(input)?;
        if count != 0 && (options.is_null() || values.is_null()) {
            return Err(result::ERROR_INVALID_INPUT);
        }
        let jit = Jit::read_hip(count, options, values).map_err(|_| result::ERROR_INVALID_OPTION)?;
        let context = current::context().map_err(|_| result::ERROR_INTERNAL_ERROR)?;
        out.set(link::create(&context, jit).map_err(|_| result::ERROR_INVALID_OPTION)?);
        Ok(())
    })
}

/// `hiprtcLinkAddData`.
#[allow(clippy::too_many_arguments)]
pub extern "C" fn hiprtcLinkAddData(
    link: Handle,
    kind: u32,
    data: u64,
    size: usize,
    name: Text,
    count: u32,
    options: In<u32>,
    values: Out<u64>,
) -> u32 {
    enter("hiprtcLinkAddData", &[("link", &link), ("kind", &kind), ("size", &size), ("name", &name)], || {
        if data == 0 || size == 0 {
            return Err(result::ERROR_INVALID_INPUT);
        }
        let call = Jit::read_hip(count, options, values).map_err(|_| result::ERROR_INVALID_OPTION)?;
        let name = name.bytes().map(String::from_utf8_lossy).unwrap_or_default();
        let bytes = container::declared(data, size).map_err(|_| result::ERROR_INVALID_INPUT)?;
        add(link, kind, bytes, &name, &call)
    })
}

/// `hiprtcLinkAddFile`.
pub extern "C" fn hiprtcLinkAddFile(
    link: Handle,
    kind: u32,
    path: Text,
    count: u32,
    options: In<u32>,
    values: Out<u64>,
) -> u32 {
    enter("hiprtcLinkAddFile", &[("link", &link), ("kind", &kind), ("path", &path)], || {
        let call = Jit::read_hip(count, options, values).map_err(|_| result::ERROR_INVALID_OPTION)?;
        let name = String::from_utf8_lossy(path.bytes().map_err(input)?);
        let bytes = container::file(path).map_err(|_| result::ERROR_PROGRAM_CREATION_FAILURE)?;
        add(link, kind, &bytes, &name, &call)
    })
}

/// `hiprtcLinkComplete`.
pub extern "C" fn hiprtcLinkComplete(link: Handle, image: Out<u64>, size: Out<usize>) -> u32 {
    enter("hiprtcLinkComplete", &[("link", &link), ("image", &image), ("size", &size)], || {
        image.required().map_err(input)?;
        size.required().map_err(input)?;
        driver::link::get(link).map_err(input)?;
        let (at, length) = link::complete(link).map_err(|_| result::ERROR_LINKING)?;
        image.set(at);
        size.set(length);
        Ok(())
    })
}

/// `hiprtcLinkDestroy`.
pub extern "C" fn hiprtcLinkDestroy(link: Handle) -> u32 {
    enter("hiprtcLinkDestroy", &[("link", &link)], || link::destroy(link).map_err(input))
}
