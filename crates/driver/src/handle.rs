//! Handles that can be validated.
//!
//! A handle is a number that looks like a pointer. It holds a kind, a generation and the index of a table
//! slot. The slot moves on to a new generation when its object ends, and never repeats one: a slot with no
//! generations left is not reused. A pointer of the program has no valid kind. Reading a handle takes two
//! atomic operations on its own slot and no shared lock.
//!
//! A generation has 13 bits and an index 26, so 67 million objects of a kind can exist at once. A slot wears
//! out after 8191 objects and costs 40 bytes, so a billion objects created and destroyed in turn cost 5 MB.

mod owner;
mod pointer;

use owner::Links;
pub use owner::Owner;
pub use pointer::{Pointers, ROOM};

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::sync::{Mutex, MutexGuard};

/// The value that a C program holds for an object.
pub type Handle = u64;

/// The kinds of objects that have handles, each with one table. The numbers are the top bits of the handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Kind {
    /// `CUcontext`.
    Context = 1,
    /// `CUmodule`.
    Module = 2,
    /// `CUfunction`.
    Function = 3,
    /// `CUkernel`.
    Kernel = 4,
    /// `CUstream`.
    Stream = 5,
    /// `CUevent`.
    Event = 6,
    /// `CUlibrary`.
    Library = 7,
    /// `CUlinkState`.
    Link = 8,
    /// `CUmemoryPool`.
    Pool = 9,
    /// `CUgraph`.
    Graph = 10,
    /// `CUgraphNode`.
    GraphNode = 11,
    /// `CUmemGenericAllocationHandle`, of memory.
    Memory = 12,
    /// `CUmemGenericAllocationHandle`, of a multicast object.
    Multicast = 13,
    /// `CUgraphExec`.
    GraphExec = 14,
}

/// Slots of the first chunk; each further chunk has twice as many as the one before.
const FIRST_CHUNK: usize = 256;
const CHUNKS: usize = (INDEX_BITS - FIRST_CHUNK.ilog2()) as usize;
const INDEX_SHIFT: u32 = 4;
const INDEX_BITS: u32 = 26;
const GENERATION_SHIFT: u32 = INDEX_SHIFT + INDEX_BITS;
const GENERATION_BITS: u32 = 13;
/// The kind takes the top bits; a handle stays below 2^47, like a user-space address.
const KIND_SHIFT: u32 = GENERATION_SHIFT + GENERATION_BITS;
const _: () = assert!(((Kind::GraphExec as u64 + 1) << KIND_SHIFT) <= 1 << 47);

/// Locks a mutex and ignores poisoning: every critical section leaves its data consistent.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Slot<T> {
    generation: u32,
    /// The last generation ended by [`Table::orphan`]; 0 if there is none.
    orphaned: u32,
    object: Option<Arc<T>>,
}

impl<T> Slot<T> {
    const EMPTY: Self = Slot { generation: 1, orphaned: 0, object: None };

    /// Ends the current generation and returns its object.
    fn end(&mut self) -> Option<Arc<T>> {
        let object = self.object.take()?;
        self.generation += 1;
        Some(object)
    }

    /// Whether the slot has a generation left for another object.
    fn is_usable(&self) -> bool {
        self.generation >> GENERATION_BITS == 0
    }
}

/// A slot and its place in the list of its owner, which the table's lock guards.
struct Place<T> {
    slot: RwLock<Slot<T>>,
    links: Links,
}

type Chunk<T> = Box<[Place<T>]>;

/// The objects of one kind that have handles.
pub struct Table<T> {
    kind: Kind,
    chunks: [OnceLock<Chunk<T>>; CHUNKS],
    free: Mutex<Free>,
}

struct Free {
    reusable: Vec<usize>,
    next: usize,
}

impl<T> Table<T> {
    /// An empty table. A kind is for one table alone, whose handles it tells apart from others.
    pub const fn new(kind: Kind) -> Self {
        Self {
            kind,
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::new(Free { reusable: Vec::new(), next: 0 }),
        }
    }

    fn place(&self, index: usize) -> Option<&Place<T>> {
        let (chunk, at) = place(index);
        self.chunks.get(chunk)?.get()?.get(at)
    }

    fn slot(&self, index: usize) -> Option<&RwLock<Slot<T>>> {
        self.place(index).map(|place| &place.slot)
    }

    /// A slot for a new object; `None` if the table is full or memory for more slots runs out.
    fn take(&self, free: &mut Free) -> Option<usize> {
        if let Some(index) = free.reusable.pop() {
            return Some(index);
        }
        let index = free.next;
        let (chunk, at) = place(index);
        // There is no further chunk: the table is full.
        let slots_of = self.chunks.get(chunk)?;
        if at == 0 {
            let size = FIRST_CHUNK << chunk;
            let mut slots = Vec::new();
            slots.try_reserve_exact(size).ok()?;
            slots.resize_with(size, || Place { slot: RwLock::new(Slot::EMPTY), links: Links::default() });
            // The lock is held, so no other thread fills a chunk.
            slots_of.set(slots.into_boxed_slice()).ok()?;
        }
        free.next += 1;
        Some(index)
    }

    fn encode(&self, index: usize, generation: u32) -> Handle {
        ((self.kind as u64) << KIND_SHIFT)
            | (u64::from(generation) << GENERATION_SHIFT)
            | ((index as u64) << INDEX_SHIFT)
    }

    fn decode(&self, handle: Handle) -> Option<(usize, u32)> {
        let rest = handle & ((1 << INDEX_SHIFT) - 1);
        if handle >> KIND_SHIFT != self.kind as u64 || rest != 0 {
            return None;
        }
        let generation = (handle >> GENERATION_SHIFT) & ((1 << GENERATION_BITS) - 1);
        let index = (handle & ((1 << GENERATION_SHIFT) - 1)) >> INDEX_SHIFT;
        Some((index as usize, generation as u32))
    }

    /// Inserts an object and returns its handle, which `make` receives. `None` if the table is full or memory
    /// for more slots runs out.
    pub fn insert_with(&self, make: impl FnOnce(Handle) -> Arc<T>) -> Option<(Handle, Arc<T>)> {
        let index = self.take(&mut lock(&self.free))?;
        self.fill(index, self.place(index)?, make)
    }

    /// Puts an object into a slot that was taken for it.
    #[inline]
    fn fill(
        &self,
        index: usize,
        place: &Place<T>,
        make: impl FnOnce(Handle) -> Arc<T>,
    ) -> Option<(Handle, Arc<T>)> {
        let mut slot = place.slot.write().unwrap_or_else(PoisonError::into_inner);
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

    /// Ends a handle and returns its object.
    pub fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        let (index, generation) = self.decode(handle)?;
        let place = self.place(index)?;
        let mut slot = place.slot.write().unwrap_or_else(PoisonError::into_inner);
        if slot.generation != generation {
            return None;
        }
        let object = slot.end()?;
        let usable = slot.is_usable();
        drop(slot);
        let listed = place.links.is_listed();
        if usable || listed {
            let mut free = lock(&self.free);
            self.unlist(place);
            if usable {
                free.reusable.push(index);
            }
        }
        Some(object)
    }

    /// Whether this was an object's handle and no longer is.
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

    /// Whether [`Table::orphan`] ended this handle. The answer turns to `false` once another object in the
    /// same slot is orphaned.
    pub fn is_orphan(&self, handle: Handle) -> bool {
        self.decode(handle).is_some_and(|(index, generation)| {
            let slot = self.slot(index).map(|s| s.read().unwrap_or_else(PoisonError::into_inner));
            slot.is_some_and(|s| generation != 0 && generation == s.orphaned)
        })
    }
}

/// The chunk of a slot, and the slot's index in it.
fn place(index: usize) -> (usize, usize) {
    let index = index + FIRST_CHUNK;
    let bits = index.ilog2();
    ((bits - FIRST_CHUNK.ilog2()) as usize, index - (1 << bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dead_and_foreign_handles_are_none() {
        static A: Table<u32> = Table::new(Kind::Context);
        static B: Table<u32> = Table::new(Kind::Module);
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
    fn objects_end_with_their_owner() {
        static A: Table<u32> = Table::new(Kind::Context);
        let owners = [Owner::new(), Owner::new()];
        let make = |i: u32| A.insert_owned(&owners[i as usize % 2], |_| Arc::new(i % 2)).unwrap().0;
        let handles: Vec<_> = (0..1000).map(make).collect();
        assert!(A.remove(handles[1]).is_some());
        let kept = Arc::downgrade(&A.get(handles[3]).unwrap());
        let asked = std::cell::Cell::new(0);
        let orphan = |owner: &Owner| {
            asked.set(0);
            A.orphan(owner, |owner| {
                asked.set(asked.get() + 1);
                *owner == 1
            });
            asked.get()
        };
        assert_eq!(orphan(&owners[1]), 499, "only its own are looked at");
        assert!(kept.upgrade().is_none(), "the object is gone");
        assert!(!A.is_orphan(handles[1]), "its own end came first");
        for (i, handle) in handles.iter().enumerate().filter(|(i, _)| *i != 1) {
            assert_eq!((A.get(*handle).is_some(), A.is_orphan(*handle)), (i % 2 == 0, i % 2 == 1), "{i}");
        }
        let end = lock(&A.free).next;
        (0..500).for_each(|_| assert!(A.insert_with(|_| Arc::new(0)).is_some()));
        assert_eq!(lock(&A.free).next, end, "their slots are used again");
        assert!(handles.iter().skip(3).step_by(2).all(|handle| A.is_orphan(*handle)));
        assert!(!A.is_orphan(0) && !A.is_orphan(!0));
        // The owner can have objects again, as a primary context after a reset. They may end in any order.
        let again: Vec<_> = [1, 3, 5, 7].map(make).into();
        assert_eq!(A.remove(again[2]).as_deref(), Some(&1));
        assert_eq!(A.remove(again[0]).as_deref(), Some(&1));
        assert_eq!(orphan(&owners[1]), 2);
        assert!(again.iter().all(|handle| A.get(*handle).is_none()));
        assert!(handles.iter().step_by(2).all(|handle| A.remove(*handle).is_some()));
        assert_eq!(orphan(&owners[0]), 0);
    }

    #[test]
    fn every_slot_has_a_place_of_its_own() {
        const SLOTS: usize = (1 << INDEX_BITS) - FIRST_CHUNK;
        for (index, wanted) in [(0, (0, 0)), (255, (0, 255)), (256, (1, 0)), (767, (1, 511)), (768, (2, 0))] {
            assert_eq!(place(index), wanted);
        }
        assert_eq!(place(SLOTS - 1), (CHUNKS - 1, (FIRST_CHUNK << (CHUNKS - 1)) - 1));
        assert_eq!(place(SLOTS), (CHUNKS, 0), "a full table has no chunk for the next one");
        let table: Table<u32> = Table::new(Kind::GraphExec);
        let last = table.encode(SLOTS - 1, (1 << GENERATION_BITS) - 1);
        assert!(last < 1 << 47);
        assert_eq!(table.decode(last), Some((SLOTS - 1, (1 << GENERATION_BITS) - 1)));
    }

    #[test]
    fn a_handle_never_comes_back_to_life() {
        static A: Table<u32> = Table::new(Kind::Context);
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
    fn more_than_a_million_objects() {
        static A: Table<usize> = Table::new(Kind::Function);
        let handles: Vec<_> =
            (0..(1 << 20) + 10).map(|i| A.insert_with(|_| Arc::new(i)).unwrap().0).collect();
        for (i, h) in handles.iter().enumerate() {
            assert_eq!(*A.get(*h).unwrap(), i);
        }
    }
}
