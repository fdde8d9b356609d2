//! The structures that HIP's headers publish for arrays, mipmaps and texture references, behind their
//! handles.
//!
//! The structure of an array or a mipmap is written at creation and never read. That of a texture reference
//! is kept in sync: every call with the reference first adopts what the program wrote there, and then writes
//! the new state.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};

use driver::handle::{ROOM, lock};
use driver::memory::array::{self, Array, Descriptor, flag as array_flag};
use driver::texture::flag;
use driver::texture::reference::{Reference, State};

use crate::Result;
use crate::abi::{In, Out};
use crate::current::Handle;
use crate::types::{ArrayStructure, ChannelFormat, MipmapStructure, TextureReference};

use super::texture::{READ_ELEMENTS, READ_NORMALIZED, flags};

const _: () = assert!(
    size_of::<TextureReference>() <= ROOM
        && size_of::<ArrayStructure>() <= ROOM
        && size_of::<MipmapStructure>() <= ROOM
);

/// `hipTextureType…`, defined in HIP's `texture_types.h`.
mod kind {
    pub const ONE: u32 = 1;
    pub const TWO: u32 = 2;
    pub const THREE: u32 = 3;
    pub const CUBEMAP: u32 = 0x0c;
    pub const ONE_LAYERED: u32 = 0xf1;
    pub const TWO_LAYERED: u32 = 0xf2;
    pub const CUBEMAP_LAYERED: u32 = 0xfc;
}

/// The [`kind`] for an array's shape.
fn texture_type(d: &Descriptor) -> u32 {
    let layered = d.flags & array_flag::LAYERED != 0;
    match (d.height, d.depth) {
        _ if d.flags & array_flag::CUBEMAP != 0 => match layered {
            true => kind::CUBEMAP_LAYERED,
            false => kind::CUBEMAP,
        },
        (0, _) if layered => kind::ONE_LAYERED,
        _ if layered => kind::TWO_LAYERED,
        (0, 0) => kind::ONE,
        (_, 0) => kind::TWO,
        _ => kind::THREE,
    }
}

fn show_array(handle: Handle, made: &Array) {
    let d = &made.descriptor;
    Out::at(handle).set(ArrayStructure {
        data: made.base,
        format: ChannelFormat::of(d.format, d.channels),
        flags: d.flags,
        width: d.width as u32,
        height: d.height as u32,
        depth: d.depth as u32,
        array_format: d.format,
        channels: d.channels,
        of_driver: 0,
        texture_type: texture_type(d),
    });
}

fn show_mipmap(handle: Handle, d: &Descriptor, levels: u32) {
    Out::at(handle).set(MipmapStructure {
        data: handle,
        format: ChannelFormat::of(d.format, d.channels),
        kind: texture_type(d),
        width: d.width as u32,
        height: d.height as u32,
        depth: d.depth as u32,
        first_level: 0,
        last_level: levels.saturating_sub(1),
        flags: d.flags,
        array_format: d.format,
        channels: d.channels,
    });
}

/// From now on, new arrays and mipmaps of either interface get their structures.
pub fn show_arrays() {
    array::set_show(array::Show { array: show_array, mipmap: show_mipmap });
}

/// The structures last written for modules' references. The weak reference tells whether the handle has been
/// reused.
static SHOWN: Mutex<BTreeMap<Handle, (Weak<Reference>, TextureReference)>> = Mutex::new(BTreeMap::new());

impl TextureReference {
    /// The structure for a reference's state.
    fn of(state: &State) -> Self {
        let s = &state.sampling;
        let (array_format, channels) = state.format;
        TextureReference {
            normalized: i32::from(s.flags & flag::NORMALIZED != 0),
            read_mode: if s.flags & flag::INTEGERS == 0 { READ_NORMALIZED } else { READ_ELEMENTS },
            filter: s.filter,
            address: s.address,
            format: ChannelFormat::of(array_format, channels),
            srgb: i32::from(s.flags & flag::SRGB != 0),
            anisotropy: s.anisotropy,
            level_filter: s.level_filter,
            bias: s.bias,
            least: s.least,
            most: s.most,
            object: 0,
            channels: channels as i32,
            array_format,
        }
    }

    /// This structure with the fields that differ between two others, so that changes by CUDA calls apply
    /// where the program has not written to the structure.
    fn changed(self, before: &Self, after: &Self) -> Self {
        macro_rules! merged {
            ($($field:ident),*) => {
                TextureReference { $($field: if after.$field == before.$field { self.$field } else { after.$field },)* ..self }
            };
        }
        merged!(normalized, read_mode, filter, address, srgb, anisotropy, level_filter, bias, least, most)
    }

    /// Writes the structure's sampling state to a reference's state.
    pub(super) fn sampling(&self, state: &mut State) {
        let s = &mut state.sampling;
        s.flags = flags(self.read_mode, self.normalized != 0, self.srgb != 0);
        (s.filter, s.address) = (self.filter, self.address);
        (s.anisotropy, s.level_filter) = (self.anisotropy, self.level_filter);
        (s.bias, s.least, s.most) = (self.bias, self.least, self.most);
    }
}

/// Adopts what the program wrote to the structure of a module's reference.
pub(super) fn take(handle: Handle, reference: &Arc<Reference>) -> Result<()> {
    let now = In::<TextureReference>::at_address(handle).get()?;
    let shown = match lock(&SHOWN).get(&handle) {
        Some((of, shown)) if of.as_ptr() == Arc::as_ptr(reference) && *shown != now => *shown,
        _ => return Ok(()),
    };
    if (now.array_format, now.channels) != (shown.array_format, shown.channels) {
        reference.set_format(now.array_format, now.channels as u32)?;
    }
    reference.change(|state| TextureReference::of(state).changed(&shown, &now).sampling(state));
    Ok(())
}

/// Writes the structure of a module's reference.
pub(super) fn show(handle: Handle, reference: &Arc<Reference>) {
    let structure = TextureReference::of(&reference.state());
    Out::at(handle).set(structure);
    lock(&SHOWN).insert(handle, (Arc::downgrade(reference), structure));
}

/// Writes the sampling state to the structure of a registered variable; the other fields are the program's.
pub(super) fn show_registered(host: u64, reference: &Reference) -> Result<()> {
    let place = Out::<TextureReference>::at(host);
    let old = place.read()?;
    place.set(TextureReference {
        format: old.format,
        object: old.object,
        channels: old.channels,
        array_format: old.array_format,
        ..TextureReference::of(&reference.state())
    });
    Ok(())
}
