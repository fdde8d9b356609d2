//! The address ranges of kernels' machine code.
//!
//! The signal handler looks addresses up, so the table is read without locks and never shrinks; a slot is
//! reused once its range is unregistered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The source position of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line in the module's text.
    pub line: u32,
    /// Further information, such as the function.
    pub detail: String,
}

type Resolver = Box<dyn Fn(usize) -> Option<Place> + Send>;

const FIRST: usize = 256;
const CHUNKS: usize = 20;

struct Entry {
    start: AtomicUsize,
    end: AtomicUsize,
}

/// Chunk `n` holds `FIRST << n` entries; it is allocated on demand and never freed.
static TABLE: [AtomicUsize; CHUNKS] = [const { AtomicUsize::new(0) }; CHUNKS];

struct Registry {
    free: Vec<usize>,
    used: usize,
    resolvers: Option<HashMap<usize, Resolver>>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { free: Vec::new(), used: 0, resolvers: None });

fn entries(chunk: usize) -> &'static [Entry] {
    let Some(pointer) = TABLE.get(chunk) else { return &[] };
    let pointer = pointer.load(Ordering::Acquire) as *const Entry;
    if pointer.is_null() {
        return &[];
    }
    // SAFETY: a chunk is published complete, with this many entries, and never freed.
    unsafe { std::slice::from_raw_parts(pointer, FIRST << chunk) }
}

/// The chunk and index of a slot.
fn locate(slot: usize) -> (usize, usize) {
    let n = slot / FIRST + 1;
    let chunk = n.ilog2() as usize;
    (chunk, slot - FIRST * ((1 << chunk) - 1))
}

/// Whether `ip` is in kernel code. Safe in a signal handler.
pub(crate) fn is_code(ip: usize) -> bool {
    (0..CHUNKS).map_while(|c| Some(entries(c)).filter(|e| !e.is_empty())).flatten().any(|e| {
        let start = e.start.load(Ordering::Acquire);
        start != 0 && start <= ip && ip < e.end.load(Ordering::Acquire)
    })
}

/// The position of the instruction at `ip`, if its code provides it.
pub(crate) fn place(ip: usize) -> Option<Place> {
    let registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    let resolvers = registry.resolvers.as_ref()?;
    resolvers.iter().find_map(|(&slot, resolver)| {
        let (chunk, index) = locate(slot);
        let e = entries(chunk).get(index)?;
        let range = e.start.load(Ordering::Acquire)..e.end.load(Ordering::Acquire);
        range.contains(&ip).then(|| resolver(ip)).flatten()
    })
}

/// A registered range; dropping it unregisters the range.
#[derive(Debug)]
pub struct CodeRange {
    slot: usize,
}

/// Registers `start..end` as machine code of kernels: a fault there ends the launch rather than the process,
/// and an endless kernel can be stopped there. `resolve` maps an instruction's address to its position.
/// `None` if the range is empty or the table is full (more than a hundred million ranges).
pub fn register_code_range(
    start: usize,
    end: usize,
    resolve: Option<Box<dyn Fn(usize) -> Option<Place> + Send>>,
) -> Option<CodeRange> {
    if start == 0 || end <= start {
        return None;
    }
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    let slot = registry.free.pop().unwrap_or(registry.used);
    let (chunk, index) = locate(slot);
    if entries(chunk).is_empty() {
        let fresh: Vec<Entry> = (0..FIRST << chunk)
            .map(|_| Entry { start: AtomicUsize::new(0), end: AtomicUsize::new(0) })
            .collect();
        let leaked: &'static [Entry] = Vec::leak(fresh);
        TABLE.get(chunk)?.store(leaked.as_ptr() as usize, Ordering::Release);
    }
    let entry = entries(chunk).get(index)?;
    registry.used = registry.used.max(slot + 1);
    entry.end.store(end, Ordering::Release);
    entry.start.store(start, Ordering::Release);
    if let Some(resolve) = resolve {
        registry.resolvers.get_or_insert_default().insert(slot, resolve);
    }
    Some(CodeRange { slot })
}

impl Drop for CodeRange {
    fn drop(&mut self) {
        let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
        let (chunk, index) = locate(self.slot);
        if let Some(entry) = entries(chunk).get(index) {
            entry.start.store(0, Ordering::Release);
        }
        if let Some(resolvers) = &mut registry.resolvers {
            resolvers.remove(&self.slot);
        }
        registry.free.push(self.slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_lie_one_after_the_other() {
        assert_eq!(locate(0), (0, 0));
        assert_eq!(locate(FIRST - 1), (0, FIRST - 1));
        assert_eq!(locate(FIRST), (1, 0));
        assert_eq!(locate(3 * FIRST - 1), (1, 2 * FIRST - 1));
        assert_eq!(locate(3 * FIRST), (2, 0));
    }

    #[test]
    fn ranges_come_and_go() {
        let base = 0x7000_0000_0000_0000usize;
        let ranges: Vec<_> = (0..1000)
            .map(|i| {
                let start = base + i * 0x100;
                let line = i as u32;
                let resolve = move |ip: usize| Some(Place { line, detail: format!("+{}", ip - start) });
                register_code_range(start, start + 0x80, Some(Box::new(resolve))).unwrap()
            })
            .collect();
        assert!(is_code(base + 999 * 0x100 + 0x7f));
        assert!(!is_code(base + 999 * 0x100 + 0x80));
        assert_eq!(place(base + 0x304), Some(Place { line: 3, detail: "+4".into() }));
        drop(ranges);
        assert!(!is_code(base));
        assert_eq!(place(base + 0x304), None);
        assert!(register_code_range(5, 5, None).is_none());
    }
}
