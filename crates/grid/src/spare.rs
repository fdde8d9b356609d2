//! A place for one object that threads take and put back without a lock.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A place for one object, which it owns while the object is there.
pub(crate) struct Spare<T: Send>(AtomicPtr<T>);

impl<T: Send> Default for Spare<T> {
    fn default() -> Self {
        Spare(AtomicPtr::new(null_mut()))
    }
}

impl<T: Send> Spare<T> {
    /// Takes the object, if it is there.
    pub fn take(&self) -> Option<Box<T>> {
        let object = self.0.swap(null_mut(), Ordering::AcqRel);
        // SAFETY: a pointer there comes from `Box::into_raw`, and the swap has made it this thread's alone.
        (!object.is_null()).then(|| unsafe { Box::from_raw(object) })
    }

    /// Puts an object there; gives it back if the place is taken.
    pub fn put(&self, object: Box<T>) -> Result<(), Box<T>> {
        let object = Box::into_raw(object);
        match self.0.compare_exchange(null_mut(), object, Ordering::AcqRel, Ordering::Relaxed) {
            Ok(_) => Ok(()),
            // SAFETY: the pointer was made above and is stored nowhere.
            Err(_) => Err(unsafe { Box::from_raw(object) }),
        }
    }
}

impl<T: Send> Drop for Spare<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Spare;

    #[test]
    fn a_spare_place_holds_one_object() {
        let counted = Arc::new(());
        let spare = Spare::default();
        assert!(spare.take().is_none());
        assert!(spare.put(Box::new(Arc::clone(&counted))).is_ok());
        assert!(spare.put(Box::new(Arc::clone(&counted))).is_err());
        assert_eq!(Arc::strong_count(&counted), 2, "what is given back is the caller's");
        assert!(spare.take().is_some() && spare.take().is_none());
        assert!(spare.put(Box::new(Arc::clone(&counted))).is_ok());
        drop(spare);
        assert_eq!(Arc::strong_count(&counted), 1);
    }

    #[test]
    fn threads_never_share_an_object() {
        let spare: Spare<u64> = Spare::default();
        assert!(spare.put(Box::new(0)).is_ok());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        if let Some(mut object) = spare.take() {
                            *object += 1;
                            assert!(spare.put(object).is_ok(), "there is one object");
                        }
                    }
                });
            }
        });
        assert!(spare.take().is_some_and(|object| *object > 0));
    }
}
