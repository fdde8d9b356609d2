//! Limits on the memory of the process.

/// Bytes of a page.
const PAGE: u64 = 4096;

/// A limit on the memory of a process.
#[derive(Debug)]
pub struct Limit {
    resource: libc::__rlimit_resource_t,
    /// What it limits and the shell's command, for messages.
    pub what: &'static str,
    /// The word of `/proc/self/statm` with the pages that count.
    used: usize,
}

/// Counts all addresses that are mapped or reserved.
pub static ADDRESS_SPACE: Limit =
    Limit { resource: libc::RLIMIT_AS, what: "the address space is limited (ulimit -v)", used: 0 };

/// Counts private pages that can be written, whoever maps them. Reserved addresses are none until they are
/// allocated.
pub static DATA: Limit =
    Limit { resource: libc::RLIMIT_DATA, what: "private memory is limited (ulimit -d)", used: 5 };

impl Limit {
    /// The bytes that are left; `None` without a limit.
    pub fn left(&self) -> Option<u64> {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the call only fills the structure.
        let known = unsafe { libc::getrlimit(self.resource, &raw mut limit) } == 0;
        if !known || limit.rlim_cur == libc::RLIM_INFINITY {
            return None;
        }
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
        let used = pages.split_ascii_whitespace().nth(self.used).and_then(|n| n.parse::<u64>().ok());
        Some(limit.rlim_cur.saturating_sub(used.unwrap_or(0).saturating_mul(PAGE)))
    }
}
