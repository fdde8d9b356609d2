//! Queries of texture and surface attributes.

use crate::access::{Access, Level, Query};
use crate::descriptor::{Address, Channel, Descriptor, Format};
use crate::{Lanes, lanes};

/// The numbers of the channel orders R, RG and RGBA.
const ORDER_R: u32 = 0x10b0;
const ORDER_RG: u32 = 0x10b2;
const ORDER_RGBA: u32 = 0x10b5;

/// The number of a channel's data type.
fn data_type(format: Format) -> u32 {
    match (format.channel, format.bytes) {
        (Channel::Snorm, 1) => 0x10d0,
        (Channel::Snorm, _) => 0x10d1,
        (Channel::Unorm, 1) => 0x10d2,
        (Channel::Unorm, _) => 0x10d3,
        (Channel::Signed, 1) => 0x10d7,
        (Channel::Signed, 2) => 0x10d8,
        (Channel::Signed, _) => 0x10d9,
        (Channel::Unsigned, 1) => 0x10da,
        (Channel::Unsigned, 2) => 0x10db,
        (Channel::Unsigned, _) => 0x10dc,
        (Channel::Float, 2) => 0x10dd,
        (Channel::Float, _) => 0x10de,
    }
}

/// The number of an address mode in the manual's list: wrap, mirror, clamp_ogl, clamp_to_edge,
/// clamp_to_border (PTX ISA 9.7.10.5; the hardware's driver refuses such queries).
fn address_mode(mode: Address) -> u32 {
    match mode {
        Address::Wrap => 0,
        Address::Mirror => 1,
        Address::Clamp => 3,
        Address::Border => 4,
    }
}

/// The hardware's answers: a texture always has a height, a one-dimensional array returns its layers as
/// height, and a missing level has no size.
fn answer(descriptor: &Descriptor, query: Query, level: u32) -> u32 {
    if level as usize >= descriptor.levels.len() {
        return 0;
    }
    let shrunk = |size: u32| if size == 0 { 0 } else { (size >> level.min(31)).max(1) };
    let [width, height, depth] = descriptor.extent;
    let rows = height == 0 && descriptor.layered;
    let (height, depth) = match descriptor.surface {
        _ if rows => (depth, 0),
        false if descriptor.cube => (height, if descriptor.layered { descriptor.layers } else { 0 }),
        false if descriptor.borrowed => (height, depth),
        false => (height.max(1), depth),
        true => (height, depth),
    };
    match query {
        Query::Width => shrunk(width),
        Query::Height => shrunk(height),
        Query::Depth => shrunk(depth),
        Query::DataType => data_type(descriptor.format),
        Query::Order => match descriptor.format.channels {
            1 => ORDER_R,
            2 => ORDER_RG,
            _ => ORDER_RGBA,
        },
        Query::Normalized => u32::from(descriptor.sampler.normalized),
        Query::Layers => descriptor.layers,
        Query::Levels => descriptor.levels.len() as u32,
        Query::Samples => 1,
        Query::Layout => 0,
        Query::Filter => u32::from(descriptor.sampler.linear),
        Query::Address0 => address_mode(descriptor.sampler.address[0]),
        Query::Address1 => address_mode(descriptor.sampler.address[1]),
        Query::Address2 => address_mode(descriptor.sampler.address[2]),
    }
}

/// Runs a query.
pub fn run(access: Access, descriptor: &Descriptor, mask: u32, args: &[Lanes], results: &mut [Lanes]) {
    for lane in lanes(mask) {
        let level = match (access.level, args.first()) {
            (Level::Level, Some(levels)) => levels.get(lane).copied().unwrap_or_default() as u32,
            _ => 0,
        };
        if let Some(result) = results.first_mut().and_then(|r| r.get_mut(lane)) {
            *result = u64::from(answer(descriptor, access.query, level));
        }
    }
}
