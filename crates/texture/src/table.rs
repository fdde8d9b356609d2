//! Maps handles to descriptors.
//!
//! Kernels pass handles as plain numbers, so every access looks its handle up here; each thread caches the
//! last result.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::Descriptor;
use crate::record::{Family, Record};

/// Slots by index; a handle is `generation << 20 | index + 1`.
static SLOTS: RwLock<Vec<Slot>> = RwLock::new(Vec::new());
/// Counts changes, which invalidates the threads' caches.
static CHANGES: AtomicU64 = AtomicU64::new(0);
const INDEX_BITS: u32 = 20;
/// A slot's generation wraps after this many objects: handles have 32 bits, which AMD's descriptors have
/// room for.
const GENERATIONS: u64 = 1 << (32 - INDEX_BITS);

/// The handles of records, by their addresses.
static RECORDS: RwLock<BTreeMap<u64, u64>> = RwLock::new(BTreeMap::new());

#[derive(Default)]
struct Slot {
    generation: u64,
    descriptor: Option<Arc<Descriptor>>,
}

/// The last result of a thread.
struct Last {
    handle: u64,
    changes: u64,
    descriptor: Option<Arc<Descriptor>>,
}

thread_local! {
    static LAST: RefCell<Last> = const { RefCell::new(Last { handle: 0, changes: 0, descriptor: None }) };
}

fn split(handle: u64) -> Option<(usize, u64)> {
    let index = (handle & ((1 << INDEX_BITS) - 1)).checked_sub(1)?;
    Some((index as usize, handle >> INDEX_BITS))
}

/// Assigns a handle to a descriptor; `None` if there are too many.
pub fn insert(descriptor: Descriptor) -> Option<u64> {
    let mut slots = SLOTS.write().unwrap_or_else(PoisonError::into_inner);
    let free = slots.iter().position(|s| s.descriptor.is_none());
    let index = free.unwrap_or(slots.len());
    if index + 2 > 1 << INDEX_BITS {
        return None;
    }
    if free.is_none() {
        slots.push(Slot::default());
    }
    let slot = slots.get_mut(index)?;
    slot.descriptor = Some(Arc::new(descriptor));
    CHANGES.fetch_add(1, Ordering::Release);
    Some(slot.generation << INDEX_BITS | (index as u64 + 1))
}

/// Assigns a handle that is the address of a record: what kernels of this family of AMD's read.
pub fn insert_with_record(descriptor: Descriptor, family: Family) -> Option<u64> {
    let record = Record::new(&descriptor, family)?;
    let handle = insert(descriptor)?;
    let address = record.publish(handle as u32);
    RECORDS.write().unwrap_or_else(PoisonError::into_inner).insert(address, handle);
    Some(address)
}

/// The handle that a record belongs to; otherwise the number itself.
fn resolved(handle: u64) -> u64 {
    if handle >> 32 == 0 {
        return handle;
    }
    RECORDS.read().unwrap_or_else(PoisonError::into_inner).get(&handle).copied().unwrap_or(handle)
}

/// The descriptor with this handle.
pub fn get(handle: u64) -> Option<Arc<Descriptor>> {
    let (index, generation) = split(resolved(handle))?;
    let slots = SLOTS.read().unwrap_or_else(PoisonError::into_inner);
    slots.get(index).filter(|s| s.generation == generation)?.descriptor.clone()
}

/// Removes a handle and returns its descriptor.
pub fn remove(handle: u64) -> Option<Arc<Descriptor>> {
    let number = resolved(handle);
    if number != handle {
        RECORDS.write().unwrap_or_else(PoisonError::into_inner).remove(&handle);
        // SAFETY: the address was in the table, so it is that of a record; nobody else removes it.
        drop(unsafe { Record::unpublish(handle) });
    }
    let (index, generation) = split(number)?;
    let mut slots = SLOTS.write().unwrap_or_else(PoisonError::into_inner);
    let slot = slots.get_mut(index).filter(|s| s.generation == generation)?;
    let descriptor = slot.descriptor.take()?;
    slot.generation = (slot.generation + 1) % GENERATIONS;
    CHANGES.fetch_add(1, Ordering::Release);
    Some(descriptor)
}

/// Calls `f` with the descriptor of a handle. Fast if the thread used the same handle before.
pub fn with<T>(handle: u64, f: impl FnOnce(Option<&Descriptor>) -> T) -> T {
    LAST.with(|last| {
        let Ok(mut last) = last.try_borrow_mut() else { return f(get(handle).as_deref()) };
        let changes = CHANGES.load(Ordering::Acquire);
        if last.handle != handle || last.changes != changes || last.descriptor.is_none() {
            *last = Last { handle, changes, descriptor: get(handle) };
        }
        f(last.descriptor.as_deref())
    })
}

/// Clears the calling thread's cache, so that it keeps no memory alive.
pub fn forget() {
    LAST.with(|last| {
        if let Ok(mut last) = last.try_borrow_mut() {
            last.descriptor = None;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::{Channel, Format, Sampler};

    fn descriptor(width: u32) -> Descriptor {
        Descriptor {
            surface: false,
            format: Format::plain(Channel::Float, 4, 1),
            sampler: Sampler::default(),
            levels: vec![],
            extent: [width, 0, 0],
            layers: 1,
            layered: false,
            cube: false,
            borrowed: false,
            mapped: None,
            keep: vec![],
        }
    }

    #[test]
    fn a_dead_handle_is_of_nothing() {
        let first = insert(descriptor(1)).expect("a handle");
        let width = |handle| with(handle, |d| d.map(|d| d.extent[0]));
        assert_eq!((width(first), width(first)), (Some(1), Some(1)));
        assert!(remove(first).is_some() && remove(first).is_none());
        assert_eq!(width(first), None);
        let second = insert(descriptor(2)).expect("a handle");
        assert_ne!(first, second);
        assert_eq!((width(second), width(0), width(u64::MAX)), (Some(2), None, None));
        remove(second);
    }
}
