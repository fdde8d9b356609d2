//! Handles that are pointers, for objects of which an interface publishes a structure.

use std::alloc::{Layout, alloc_zeroed};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use super::{Handle, lock};

/// Bytes behind a handle.
pub const ROOM: usize = 128;
/// Rooms that are made at once.
const CHUNK: usize = 64;
/// Rooms of ended handles that wait before one is used again: a dead handle stays none for that long.
const REST: usize = 4096;

/// The objects of one kind whose handles point to [`ROOM`] bytes that the program may look into, and write.
///
/// What lies there says nothing to the driver: an object is found by the handle alone. The room is never unmapped, so that a look through a dead
/// handle is no fault.
pub struct Pointers<T> {
    objects: RwLock<BTreeMap<Handle, Arc<T>>>,
    free: Mutex<Free>,
}

struct Free {
    fresh: Vec<Handle>,
    ended: VecDeque<Handle>,
}

impl<T> Default for Pointers<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Pointers<T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self {
            objects: RwLock::new(BTreeMap::new()),
            free: Mutex::new(Free { fresh: Vec::new(), ended: VecDeque::new() }),
        }
    }

    /// Puts an object in and gives its handle, behind which everything is zero. `None`: no memory.
    pub fn insert(&self, object: Arc<T>) -> Option<Handle> {
        let handle = lock(&self.free).take()?;
        self.objects.write().unwrap_or_else(PoisonError::into_inner).insert(handle, object);
        Some(handle)
    }

    /// The object of a live handle.
    pub fn get(&self, handle: Handle) -> Option<Arc<T>> {
        self.objects.read().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned()
    }

    /// Ends a handle and gives its object.
    pub fn remove(&self, handle: Handle) -> Option<Arc<T>> {
        let object = self.objects.write().unwrap_or_else(PoisonError::into_inner).remove(&handle)?;
        lock(&self.free).ended.push_back(handle);
        Some(object)
    }

    /// Ends the handles of all objects of which `gone` holds.
    pub fn remove_where(&self, gone: impl Fn(&T) -> bool) {
        let handles: Vec<Handle> = {
            let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
            objects.iter().filter(|(_, object)| gone(object)).map(|(handle, _)| *handle).collect()
        };
        for handle in handles {
            self.remove(handle);
        }
    }
}

impl Free {
    fn take(&mut self) -> Option<Handle> {
        if self.ended.len() > REST
            && let Some(handle) = self.ended.pop_front()
        {
            // SAFETY: a room of `rooms`, which is never given back, and no live handle's.
            unsafe { (handle as *mut u8).write_bytes(0, ROOM) };
            return Some(handle);
        }
        if self.fresh.is_empty() {
            self.fresh = rooms()?;
        }
        self.fresh.pop()
    }
}

/// New rooms, all zero.
fn rooms() -> Option<Vec<Handle>> {
    let layout = Layout::from_size_align(CHUNK * ROOM, ROOM).ok()?;
    // SAFETY: the layout is not empty.
    let first = unsafe { alloc_zeroed(layout) };
    (!first.is_null()).then(|| (0..CHUNK).map(|i| first.wrapping_add(i * ROOM) as Handle).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_a_place_and_dead_and_foreign_ones_are_none() {
        let a: Pointers<usize> = Pointers::new();
        let handles: Vec<Handle> = (0..200).map(|i| a.insert(Arc::new(i)).unwrap()).collect();
        for (i, handle) in handles.iter().enumerate() {
            assert_eq!(a.get(*handle).as_deref(), Some(&i));
            // SAFETY: the room behind a handle is the program's to look into and to write.
            unsafe {
                assert_eq!(*(*handle as *const [u8; ROOM]), [0; ROOM]);
                *(*handle as *mut [u8; ROOM]) = [i as u8; ROOM];
            }
        }
        for wrong in [0, 1, handles[0] + 1, handles[0] + 8, !0] {
            assert!(a.get(wrong).is_none(), "{wrong:#x}");
        }
        assert_eq!(a.remove(handles[7]).as_deref(), Some(&7));
        assert!(a.get(handles[7]).is_none());
        assert!(a.remove(handles[7]).is_none());
        a.remove_where(|i| i % 2 == 0);
        assert_eq!(handles.iter().filter(|h| a.get(**h).is_some()).count(), 99);
    }

    #[test]
    fn rooms_are_used_again_but_not_soon() {
        let a: Pointers<usize> = Pointers::new();
        let mut seen = BTreeMap::new();
        for i in 0..3 * REST {
            let handle = a.insert(Arc::new(i)).unwrap();
            if let Some(before) = seen.insert(handle, i) {
                assert!(i - before > REST, "{i} after {before}");
            }
            a.remove(handle);
        }
        assert!(seen.len() < 2 * REST);
    }
}
