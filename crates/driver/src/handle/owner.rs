//! The objects of an owner, such as the events of a context.
//!
//! Each owner's slots form a ring, so that the owner's end looks at no other slot. Entering and leaving it
//! takes no lock besides the one that taking and releasing a slot takes anyway. The ring begins at a slot
//! without an object, by which the others need not know the owner.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, PoisonError};

use super::{Handle, Place, Slot, Table, lock};

/// No slot.
const NONE: u32 = u32::MAX;

/// The neighbours of a slot in its ring.
pub(super) struct Links {
    before: AtomicU32,
    next: AtomicU32,
}

impl Default for Links {
    fn default() -> Self {
        Links { before: AtomicU32::new(NONE), next: AtomicU32::new(NONE) }
    }
}

impl Links {
    /// Whether the slot is in a ring.
    pub(super) fn is_listed(&self) -> bool {
        self.next.load(Relaxed) != NONE
    }

    fn set(&self, before: u32, next: u32) {
        self.before.store(before, Relaxed);
        self.next.store(next, Relaxed);
    }
}

/// An owner of objects in one table.
pub struct Owner(
    /// The slot at which its ring begins, guarded by the table's lock.
    AtomicU32,
);

impl Owner {
    /// An owner of nothing.
    pub const fn new() -> Owner {
        Owner(AtomicU32::new(NONE))
    }
}

impl Default for Owner {
    fn default() -> Self {
        Owner::new()
    }
}

impl<T> Table<T> {
    /// As [`Table::insert_with`], for an object that ends with its owner ([`Table::orphan`]).
    pub fn insert_owned(
        &self,
        owner: &Owner,
        make: impl FnOnce(Handle) -> Arc<T>,
    ) -> Option<(Handle, Arc<T>)> {
        let mut free = lock(&self.free);
        if owner.0.load(Relaxed) == NONE {
            let first = self.take(&mut free)?;
            self.place(first)?.links.set(first as u32, first as u32);
            owner.0.store(first as u32, Relaxed);
        }
        let index = self.take(&mut free)?;
        let place = self.place(index)?;
        let first = owner.0.load(Relaxed);
        let links = &self.place(first as usize)?.links;
        let next = links.next.load(Relaxed);
        links.next.store(index as u32, Relaxed);
        let behind = if next == first { links } else { &self.place(next as usize)?.links };
        behind.before.store(index as u32, Relaxed);
        place.links.set(first, next);
        drop(free);
        self.fill(index, place, make)
    }

    /// Takes a slot out of its ring, if it is in one. The caller holds the table's lock.
    pub(super) fn unlist(&self, place: &Place<T>) {
        let (before, next) = (place.links.before.load(Relaxed), place.links.next.load(Relaxed));
        if let (Some(one), Some(other)) = (self.place(before as usize), self.place(next as usize)) {
            one.links.next.store(next, Relaxed);
            other.links.before.store(before, Relaxed);
            place.links.set(NONE, NONE);
        }
    }

    /// Ends the handles of the owner's objects for which `gone` holds, because it has ended.
    /// [`Table::is_orphan`] recognises these handles. The others no longer end with the owner.
    pub fn orphan(&self, owner: &Owner, gone: impl Fn(&T) -> bool) {
        for index in self.disband(owner) {
            let Some(slot) = self.slot(index) else { continue };
            let mut slot = slot.write().unwrap_or_else(PoisonError::into_inner);
            // Another thread may have ended it meanwhile, and may have put another object here.
            if !slot.object.as_ref().is_some_and(|object| gone(object)) {
                continue;
            }
            slot.orphaned = slot.generation;
            let object = slot.end();
            let usable = Slot::is_usable(&slot);
            drop(slot);
            drop(object);
            if usable {
                lock(&self.free).reusable.push(index);
            }
        }
    }

    /// Takes all slots out of the owner's ring, in the order in which they were filled.
    fn disband(&self, owner: &Owner) -> Vec<usize> {
        let mut free = lock(&self.free);
        let first = owner.0.swap(NONE, Relaxed);
        let mut slots = Vec::new();
        let mut at = first;
        while let Some(place) = self.place(at as usize) {
            let before = place.links.before.load(Relaxed);
            place.links.set(NONE, NONE);
            if at == first {
                free.reusable.push(at as usize);
            } else {
                slots.push(at as usize);
            }
            if before == first {
                break;
            }
            at = before;
        }
        slots
    }
}
