//! Handles that can be checked.
//!
//! A handle is a number that looks like a pointer: its kind, a generation and a slot of a table. A dead handle's generation is not the slot's
//! any more, and never again: a slot whose generations are used up is left alone. A pointer of the program's own is of no kind. Reading a handle takes two atomic operations on its own slot and no shared lock.

mod pointer;

pub use pointer::{Pointers, ROOM};

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::sync::{Mutex, MutexGuard};

/// What a C program holds of an object.
pub type Handle = u64;

const CHUNK: usize = 256;
const CHUNKS: usize = 4096;
const GENERATION_BITS: u32 = 19;
/// The kind stands above everything else; a handle stays below the 47 bits of a user address.
const KIND_SHIFT: u32 = 43;
const GENERATION_SHIFT: u32 = 24;
const INDEX_SHIFT: u32 = 4;

/// Locks without regard to a panic of another thread: every critical section leaves its data whole.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Slot<T> {
    generation: u32,
    object: Option<Arc<T>>,
}

type Chunk<T> = Box<[RwLock<Slot<T>>]>;

/// The objects of one kind that have handles.
pub struct Table<T> {
    kind: u64,
    chunks: [OnceLock<Chunk<T>>; CHUNKS],
    free: Mutex<Free>,
}

struct Free {
    reusable: Vec<usize>,
    next: usize,
}

impl<T> Table<T> {
    /// An empty table; `kind`, from 1 to 14 and unlike any other table's, tells its handles apart.
    pub const fn new(kind: u64) -> Self {
        Self {
            kind,
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(Free { reusable: Vec::new(), next: 0 }),
        }
    }

    fn slot(&self, index: usize) -> Option<&RwLock<Slot<T>>> {
        self.chunks.get(index / CHUNK)?.get()?.get(index % CHUNK)
    }

    fn encode(&self, index: usize, generation: u32) -> Handle {
        (self.kind << KIND_SHIFT)
            | (u64::from(generation) << GENERATION_SHIFT)
            | ((index as u64) << INDEX_SHIFT)
    }

    fn decode(&self, handle: Handle) -> Option<(usize, u32)> {
        let rest = handle & ((1 << INDEX_SHIFT) - 1);
        if handle >> KIND_SHIFT != self.kind || rest != 0 {
            return None;
        }
        let generation = (handle >> GENERATION_SHIFT) & ((1 << GENERATION_BITS) - 1);
        let index = (handle & ((1 << GENERATION_SHIFT) - 1)) >> INDEX_SHIFT;
        Some((index as usize, generation as u32))
    }

    /// Puts an object in and gives its handle; `make` is told the handle. `None`: the table is full (a million objects).
    pub fn insert_with(&self, make: impl FnOnce(Handle) -> Arc<T>) -> Option<(Handle, Arc<T>)> {
        let index = {
            let mut free = lock(&self.free);
            match free.reusable.pop() {
                Some(index) => index,
                None if free.next < CHUNK * CHUNKS => {
                    free.next += 1;
                    free.next - 1
                }
                None => return None,
            }
        };
        self.chunks
            .get(index / CHUNK)?
            .get_or_init(|| (0..CHUNK).map(|_| RwLock::new(Slot { generation: 1, object: None })).collect());
        let mut slot = self.slot(index)?.write().unwrap_or_else(PoisonError::into_inner);
        let handle = self.encode(index, slot.generation);
        let object = make(handle);
        slot.object = Some(Arc::clone(&object));
        Some((handle, object))
    }

    /// The object of a live handle.
    pub fn get(&self, handle: Handle) -> Option<Arc<T>> {
        let (index, generation) = self.decode(handle)?;
        let slot = self.slot(index)?.read().unwrap_or_else(PoisonError::into_inner);
        if slot.generation == generation { slot.object.clone() } else { None }
    }

    /// Ends a handle and gives its object.
    pub fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        let (index, generation) = self.decode(handle)?;
        let object = {
            let mut slot = self.slot(index)?.write().unwrap_or_else(PoisonError::into_inner);
            if slot.generation != generation {
                return None;
            }
            let object = slot.object.take()?;
            slot.generation += 1;
            if slot.generation >> GENERATION_BITS != 0 {
                // Another object here would have the handle of an ended one.
                return Some(object);
            }
            object
        };
        lock(&self.free).reusable.push(index);
        Some(object)
    }

    /// Whether this was an object's handle and is none any more.
    pub fn has_ended(&self, handle: Handle) -> bool {
        self.decode(handle).is_some_and(|(index, generation)| {
            let slot = self.slot(index).map(|s| s.read().unwrap_or_else(PoisonError::into_inner));
            slot.is_some_and(|s| generation != 0 && generation < s.generation)
        })
    }

    /// All objects.
    pub fn all(&self) -> Vec<Arc<T>> {
        let end = lock(&self.free).next;
        let object =
            |slot: &RwLock<Slot<T>>| slot.read().unwrap_or_else(PoisonError::into_inner).object.clone();
        (0..end).filter_map(|index| self.slot(index).and_then(object)).collect()
    }

    /// Ends the handles of all objects of which `gone` holds.
    pub fn remove_where(&self, gone: impl Fn(&T) -> bool) {
        let end = lock(&self.free).next;
        for index in 0..end {
            let handle = self.slot(index).and_then(|slot| {
                let slot = slot.read().unwrap_or_else(PoisonError::into_inner);
                let gone = slot.object.as_ref().is_some_and(|object| gone(object));
                gone.then(|| self.encode(index, slot.generation))
            });
            if let Some(handle) = handle {
                self.remove(handle);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_and_foreign_handles_are_none() {
        static A: Table<u32> = Table::new(1);
        static B: Table<u32> = Table::new(2);
        let (a, _) = A.insert_with(|_| Arc::new(7)).unwrap();
        assert_eq!(A.get(a).as_deref(), Some(&7));
        assert!(B.get(a).is_none(), "a handle of another kind");
        for wrong in [0, 1, 0x1234, a + 1, a + 16, a | 1 << 62, !0] {
            assert!(A.get(wrong).is_none(), "{wrong:#x}");
        }
        assert!(A.remove(a).is_some());
        assert!(A.get(a).is_none());
        assert!(A.remove(a).is_none());
        let (b, _) = A.insert_with(|_| Arc::new(8)).unwrap();
        assert_ne!(a, b, "a reused slot has another generation");
    }

    #[test]
    fn a_handle_never_comes_back_to_life() {
        static A: Table<u32> = Table::new(1);
        let (first, _) = A.insert_with(|_| Arc::new(0)).unwrap();
        assert!(!A.has_ended(first) && !A.has_ended(first + 16));
        assert!(A.remove(first).is_some());
        for round in 0..(1 << GENERATION_BITS) + 3 {
            let (handle, _) = A.insert_with(|_| Arc::new(round)).unwrap();
            assert_ne!(handle, first, "round {round}");
            assert!(A.get(first).is_none() && A.has_ended(first));
            assert_eq!(A.remove(handle).as_deref(), Some(&round));
        }
    }

    #[test]
    fn many_objects() {
        static A: Table<usize> = Table::new(3);
        let handles: Vec<_> = (0..1000).map(|i| A.insert_with(|_| Arc::new(i)).unwrap().0).collect();
        for (i, h) in handles.iter().enumerate() {
            assert_eq!(*A.get(*h).unwrap(), i);
        }
    }
}
