//! The machine's processors and memory nodes, and how busy the processors are.

use std::fs;

/// CPU time of all processors since the machine started, in the system's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Time in which a program or the system ran.
    pub busy: u64,
    /// All time.
    pub total: u64,
}

impl Times {
    /// The times until now; `None` if the system does not tell.
    pub fn now() -> Option<Times> {
        parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The busy share of the time since an earlier look, in percent.
    pub fn percent_since(&self, before: &Times) -> u32 {
        let busy = self.busy.saturating_sub(before.busy).saturating_mul(100);
        let total = self.total.saturating_sub(before.total);
        busy.checked_div(total).map_or(0, |percent| percent.min(100) as u32)
    }
}

/// The numbers of the processors that are online.
pub fn processors() -> Vec<u32> {
    listed("/sys/devices/system/cpu/online")
}

/// The numbers of the memory (NUMA) nodes that are online.
pub fn nodes() -> Vec<u32> {
    listed("/sys/devices/system/node/online")
}

fn listed(file: &str) -> Vec<u32> {
    numbers(&fs::read_to_string(file).unwrap_or_default()).unwrap_or_else(|| vec![0])
}

/// The numbers of a list such as `0-3,8`.
fn numbers(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // More than any system has, and little enough to store.
        all.extend(first..=last.min(1 << 16));
    }
    Some(all)
}

/// Reads the line of all processors: user, nice, system, idle, waiting for devices, and others. The last two
/// of ten (guests) are contained in the first two.
fn parse(text: &str) -> Option<Times> {
    let numbers = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let numbers: Option<Vec<u64>> = numbers.split_whitespace().take(8).map(|n| n.parse().ok()).collect();
    let numbers = numbers.filter(|numbers| numbers.len() >= 4)?;
    let total = numbers.iter().fold(0u64, |sum, n| sum.wrapping_add(*n));
    let idle = numbers.iter().skip(3).take(2).fold(0u64, |sum, n| sum.wrapping_add(*n));
    Some(Times { busy: total.wrapping_sub(idle), total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_all_processors_is_read() {
        let text = "cpu  10 1 5 70 4 2 3 5 9 9\ncpu0 1 1 1 1\nintr 5\n";
        assert_eq!(parse(text), Some(Times { busy: 26, total: 100 }));
        assert_eq!(parse("cpu  1 2 3\n"), None);
        assert_eq!(parse("cpu  1 2 x 4\n"), None);
        assert_eq!(parse("cpu0 1 2 3 4\n"), None);
        assert!(Times::now().is_some_and(|times| times.busy <= times.total));
    }

    #[test]
    fn lists_are_read() {
        assert_eq!(numbers("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(numbers("0\n"), Some(vec![0]));
        assert_eq!(numbers(""), None);
        assert_eq!(numbers("1-x"), None);
        assert!(!processors().is_empty() && !nodes().is_empty());
    }

    #[test]
    fn the_share_is_of_the_time_between() {
        let at = |busy, total| Times { busy, total };
        assert_eq!(at(30, 200).percent_since(&at(5, 100)), 25);
        assert_eq!(at(5, 100).percent_since(&at(5, 100)), 0);
        assert_eq!(at(0, 100).percent_since(&at(50, 200)), 0);
    }
}
