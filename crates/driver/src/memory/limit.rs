//! What the process's limits leave for device memory.

use host::limits::{ADDRESS_SPACE, DATA, Limit};

use super::space::{self, BLOCK, MOST};

/// Memory that the process needs besides: LLVM, stacks, shared and local memory of blocks, the program
/// itself.
const BESIDE: u64 = 768 << 20;

/// The bytes that device memory may have under a limit; `None` without one.
fn share(limit: &Limit) -> Option<u64> {
    limit.left().map(share_of)
}

/// How many of the bytes that are left device memory may take.
fn share_of(left: u64) -> u64 {
    let beside = (left / 4).max(BESIDE.min(left / 2));
    (left - beside) / BLOCK * BLOCK
}

/// The maximum reservation under the limit on the address space; `None` without a limit.
pub(super) fn address_space() -> Option<u64> {
    share(&ADDRESS_SPACE)
}

/// The largest number of arenas of the C library's `malloc` in a process with a limit. Each takes 64 MiB of
/// addresses, and by default every thread has its own.
const ARENAS: i32 = 2;

/// The maximum memory of all devices together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// In bytes.
    pub bytes: u64,
    /// The limit that it follows from, as the beginning of a message: "… is limited (ulimit -v)".
    pub what: &'static str,
}

/// The smaller of the bounds that the limits set, if `reserved` bytes of addresses can be used.
fn smaller(reserved: Option<u64>, data: Option<u64>) -> Option<Bound> {
    let one = |share: Option<u64>, limit: &Limit| {
        share.map(|share| Bound { bytes: share.min(MOST).saturating_sub(BLOCK), what: limit.what })
    };
    let both = [one(reserved, &ADDRESS_SPACE), one(data, &DATA)];
    both.into_iter().flatten().min_by_key(|bound| bound.bytes)
}

/// The bound that the process's limits set on device memory; `None` without a limit.
pub(crate) fn bound() -> Option<Bound> {
    let (addresses, data) = (share(&ADDRESS_SPACE), share(&DATA));
    if addresses.is_none() && data.is_none() {
        return None;
    }
    // SAFETY: the call only sets a number.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS) };
    // If there is no address space at all, allocations report it.
    let reserved = addresses.and_then(|_| space::reserved());
    smaller(reserved, data)
}

/// About what the driver of this process would find to bound device memory, without reserving anything.
pub(crate) fn bound_now() -> Option<Bound> {
    smaller(share(&ADDRESS_SPACE), share(&DATA))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_leaves_room_for_the_rest() {
        assert_eq!(share_of(0), 0);
        assert_eq!(share_of(256 << 20), 128 << 20);
        assert_eq!(share_of(2 << 30), (2 << 30) - BESIDE);
        assert_eq!(share_of(100 << 30), 75 << 30);
    }

    #[test]
    fn the_smaller_limit_counts_and_is_named() {
        assert_eq!(smaller(None, None), None);
        let found = |addresses, data| smaller(addresses, data).map(|bound| (bound.bytes, bound.what));
        let (addresses, data) = (ADDRESS_SPACE.what, DATA.what);
        assert_eq!(found(Some(5 * BLOCK), None), Some((4 * BLOCK, addresses)));
        assert_eq!(found(None, Some(5 * BLOCK)), Some((4 * BLOCK, data)));
        assert_eq!(found(Some(9 * BLOCK), Some(5 * BLOCK)), Some((4 * BLOCK, data)));
        assert_eq!(found(Some(3 * BLOCK), Some(5 * BLOCK)), Some((2 * BLOCK, addresses)));
        assert_eq!(found(None, Some(0)), Some((0, data)));
    }
}
