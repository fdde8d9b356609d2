//! Registered variables: their addresses, and copies to and from them.

use driver::memory::transfer::{Place, Transfer};

use crate::abi::Out;
use crate::api::copy::{Order, copy};
use crate::current::{self, Handle};
use crate::{Error, Result, api, registered};

/// `hipMemcpyKind`.
mod kind {
    pub const HOST_TO_DEVICE: u32 = 1;
    pub const DEVICE_TO_HOST: u32 = 2;
    pub const DEVICE_TO_DEVICE: u32 = 3;
    pub const DEFAULT: u32 = 4;
    pub const DEVICE_TO_DEVICE_NO_CU: u32 = 1024;
}

/// A copy between a variable and somewhere else.
#[derive(Clone, Copy)]
pub(super) struct Copy {
    pub(super) symbol: u64,
    pub(super) other: u64,
    pub(super) size: usize,
    pub(super) offset: usize,
    pub(super) kind: u32,
    pub(super) to_symbol: bool,
}

impl Copy {
    /// Checks the copy in HIP's order and submits it to a stream; with `wait` it is synchronous.
    fn go(&self, stream: Handle, own: bool, wait: bool) -> Result<()> {
        let transfer = self.transfer()?;
        let order = Order { stream, own, wait };
        order.check()?;
        copy(&transfer, order)
    }

    /// The checked copy.
    pub(super) fn transfer(&self) -> Result<Transfer> {
        let host = if self.to_symbol { kind::HOST_TO_DEVICE } else { kind::DEVICE_TO_HOST };
        let other = match self.kind {
            k if k == host => Place::Host(self.other),
            kind::DEVICE_TO_DEVICE | kind::DEVICE_TO_DEVICE_NO_CU => Place::Device(self.other),
            kind::DEFAULT => Place::Any(self.other),
            _ => return Err(Error::InvalidMemcpyDirection),
        };
        let context = current::context()?;
        let (address, bytes) = registered::variable_of(self.symbol, &context)?;
        let end = self.offset.checked_add(self.size).ok_or(Error::InvalidValue)?;
        if end as u64 > bytes {
            return Err(Error::InvalidValue);
        }
        let variable = Place::Device(address.wrapping_add(self.offset as u64));
        let (to, from) = if self.to_symbol { (variable, other) } else { (other, variable) };
        Ok(Transfer::line(to, from, self.size as u64))
    }
}

api! {
    Context Legal fn hipGetSymbolAddress(out: Out<u64>, symbol: u64) {
        out.required()?;
        out.set(registered::variable_of(symbol, &current::context()?)?.0);
        Ok(())
    }

    Context Legal fn hipGetSymbolSize(out: Out<usize>, symbol: u64) {
        out.required()?;
        out.set(registered::variable_of(symbol, &current::context()?)?.1 as usize);
        Ok(())
    }

    Context Invalidates fn hipMemcpyToSymbol / hipMemcpyToSymbol_spt (
        symbol: u64, other: u64, size: usize, offset: usize, kind: u32,
    ) |own| {
        Copy { symbol, other, size, offset, kind, to_symbol: true }.go(0, own, true)
    }

    Context Appends fn hipMemcpyToSymbolAsync / hipMemcpyToSymbolAsync_spt (
        symbol: u64, other: u64, size: usize, offset: usize, kind: u32, stream: Handle,
    ) |own| {
        Copy { symbol, other, size, offset, kind, to_symbol: true }.go(stream, own, false)
    }

    Context Invalidates fn hipMemcpyFromSymbol / hipMemcpyFromSymbol_spt (
        other: u64, symbol: u64, size: usize, offset: usize, kind: u32,
    ) |own| {
        Copy { symbol, other, size, offset, kind, to_symbol: false }.go(0, own, true)
    }

    Context Appends fn hipMemcpyFromSymbolAsync / hipMemcpyFromSymbolAsync_spt (
        other: u64, symbol: u64, size: usize, offset: usize, kind: u32, stream: Handle,
    ) |own| {
        Copy { symbol, other, size, offset, kind, to_symbol: false }.go(stream, own, false)
    }
}
