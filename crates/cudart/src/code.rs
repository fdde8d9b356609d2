//! The code behind the wrapper of a registered fat binary.
//!
//! A wrapper of version 2 is nvcc's for programs in separately compiled parts (`-rdc=true`): it holds the
//! machine code that nvcc's linker has made, and a list of the parts' own fat binaries, whose PTX is linked
//! here.

use capi::{Text, bytes_at, container};
use driver::backend::LoadOptions;
use driver::link::{self, InputType};
use driver::log::{self, Level};
use driver::module::Report;

use crate::{Result, current};

/// The wrapper's version that has a list.
const WITH_PARTS: u64 = 2;
/// Where the list lies in a wrapper.
const PARTS: u64 = 16;

fn word(address: u64) -> u64 {
    bytes_at(address, 8).try_into().map_or(0, u64::from_ne_bytes)
}

fn fatbin<'a>(address: u64) -> Result<&'a [u8]> {
    Ok(container::at(Text::at(address))?)
}

/// The code behind a wrapper. That of parts is linked for the calling thread's device.
pub fn of(wrapper: u64) -> Result<Vec<u8>> {
    let whole = fatbin(wrapper)?;
    // The version is the upper half of the first word.
    if word(wrapper) >> 32 != WITH_PARTS || !image::contents(whole).ptx.is_empty() {
        return Ok(whole.to_vec());
    }
    let mut parts = Vec::new();
    let mut at = word(wrapper + PARTS);
    while at != 0 && word(at) != 0 {
        parts.push(fatbin(word(at))?);
        at += 8;
    }
    let device = current::context()?;
    let device = &device.device;
    let (major, minor) = device.info.compute_capability;
    // NVIDIA's device runtime, which is such a part, has PTX for later devices alone.
    parts.retain(|part| image::texts(part, major * 10 + minor).is_ok());
    if parts.is_empty() {
        return Ok(whole.to_vec());
    }
    let handle = link::create(device, LoadOptions::default())?;
    let linked = linked(handle, &parts);
    link::destroy(handle)?;
    linked
}

fn linked(handle: u64, parts: &[&[u8]]) -> Result<Vec<u8>> {
    let link = link::get(handle)?;
    let mut report = Report::default();
    let all = parts.iter().enumerate();
    let added = all.map(|(i, part)| link.add(InputType::Fatbin, &format!("part {i}"), part, &mut report));
    let made = added.collect::<driver::Result<()>>().and_then(|()| link.complete(&mut report));
    let (at, size) = made.inspect_err(|_| {
        log::say(Level::Error, || format!("the program's device code cannot be linked:\n{}", report.errors));
    })?;
    Ok(bytes_at(at, size).to_vec())
}
