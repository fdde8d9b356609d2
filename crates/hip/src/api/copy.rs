//! Copies of contiguous bytes: with a direction, or with the kind of memory of each side.
//!
//! The address determines the kind of memory, so the direction is only validated, as in HIP.

use driver::memory::rights::Rights;
use driver::memory::transfer::{Place, Transfer};

use crate::current::{self, Handle, stream};
use crate::{Error, Result, api};

/// How a function orders its copy: the stream, whether null is the per-thread stream, whether the call waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    /// The stream.
    pub(crate) stream: Handle,
    /// Whether null is the per-thread stream.
    pub(crate) own: bool,
    /// Whether the call waits.
    pub(crate) wait: bool,
}

impl Order {
    /// In the default stream, synchronously.
    pub(crate) fn now(own: bool) -> Order {
        Order { stream: 0, own, wait: true }
    }

    /// In a stream, asynchronously.
    pub(crate) fn later(stream: Handle, own: bool) -> Order {
        Order { stream, own, wait: false }
    }

    /// Checks that the stream exists.
    pub(crate) fn check(self) -> Result<()> {
        stream(self.stream, self.own).map(|_| ())
    }
}

/// `hipMemcpyDeviceToDeviceNoCU`; the other directions of `hipMemcpyKind` are 0 to 4.
const WITHOUT_UNITS: u32 = 1024;
/// `hipMemcpyDefault`, the highest of these.
pub(crate) const DEFAULT: u32 = 4;

/// Checks a direction.
pub(crate) fn check_kind(kind: u32) -> Result<()> {
    if kind <= DEFAULT || kind == WITHOUT_UNITS { Ok(()) } else { Err(Error::InvalidMemcpyDirection) }
}

/// Copies.
pub(crate) fn copy(transfer: &Transfer, order: Order) -> Result<()> {
    // SAFETY: by the contract of the API, the program guarantees memory that the driver does not know.
    unsafe { transfer.run(|| stream(order.stream, order.own), order.wait, Rights::Ignored) }
}

/// Copies bytes from one address to another.
pub(crate) fn line(to: u64, from: u64, size: usize, order: Order) -> Result<()> {
    copy(&Transfer::line(Place::Any(to), Place::Any(from), size as u64), order)
}

/// Copies bytes with a direction.
fn directed(to: u64, from: u64, size: usize, kind: u32, order: Order) -> Result<()> {
    if size > 0 {
        if to == 0 || from == 0 {
            return Err(Error::InvalidValue);
        }
        check_kind(kind)?;
    }
    line(to, from, size, order)
}

/// Copies bytes with a direction, in a stream. Checks the direction and the stream first.
fn directed_later(to: u64, from: u64, size: usize, kind: u32, order: Order) -> Result<()> {
    check_kind(kind)?;
    order.check()?;
    line(to, from, size, order)
}

fn line_later(to: u64, from: u64, size: usize, in_stream: Handle) -> Result<()> {
    directed_later(to, from, size, DEFAULT, Order::later(in_stream, false))
}

/// Copies bytes between devices, whose memory is all the process's.
fn between(to: u64, to_device: i32, from: u64, from_device: i32, size: usize, order: Order) -> Result<()> {
    current::device_at(from_device)?;
    current::device_at(to_device)?;
    order.check()?;
    line(to, from, size, order)
}

api! {
    Context Invalidates fn hipMemcpy / hipMemcpy_spt (to: u64, from: u64, size: usize, kind: u32) |own| {
        directed(to, from, size, kind, Order::now(own))
    }

    Context Invalidates fn hipMemcpyWithStream(
        to: u64, from: u64, size: usize, kind: u32, in_stream: Handle,
    ) {
        let order = Order { wait: true, ..Order::later(in_stream, false) };
        order.check()?;
        directed(to, from, size, kind, order)
    }

    Context Appends fn hipMemcpyAsync / hipMemcpyAsync_spt (
        to: u64, from: u64, size: usize, kind: u32, in_stream: Handle,
    ) |own| {
        directed_later(to, from, size, kind, Order::later(in_stream, own))
    }

    Context Invalidates fn hipMemcpyHtoD(to: u64, from: u64, size: usize) {
        line(to, from, size, Order::now(false))
    }

    Context Invalidates fn hipMemcpyDtoH(to: u64, from: u64, size: usize) {
        line(to, from, size, Order::now(false))
    }

    Context Invalidates fn hipMemcpyDtoD(to: u64, from: u64, size: usize) {
        line(to, from, size, Order::now(false))
    }

    Context Appends fn hipMemcpyHtoDAsync(to: u64, from: u64, size: usize, in_stream: Handle) {
        line_later(to, from, size, in_stream)
    }

    Context Appends fn hipMemcpyDtoHAsync(to: u64, from: u64, size: usize, in_stream: Handle) {
        line_later(to, from, size, in_stream)
    }

    Context Appends fn hipMemcpyDtoDAsync(to: u64, from: u64, size: usize, in_stream: Handle) {
        line_later(to, from, size, in_stream)
    }

    Context Invalidates fn hipMemcpyPeer(to: u64, to_device: i32, from: u64, from_device: i32, size: usize) {
        between(to, to_device, from, from_device, size, Order::now(false))
    }

    Context Appends fn hipMemcpyPeerAsync(
        to: u64, to_device: i32, from: u64, from_device: i32, size: usize, in_stream: Handle,
    ) {
        between(to, to_device, from, from_device, size, Order::later(in_stream, false))
    }
}
