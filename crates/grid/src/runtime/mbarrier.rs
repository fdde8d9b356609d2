//! Operations of running code on barriers in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use wave::Width;
use wave::mbarrier::{Update, Word};

use super::{Caller, Operands, lanes};

/// Changes a barrier atomically by several `updates` in sequence; `seen` receives the word before each.
///
/// # Safety
/// `place` is 8 aligned bytes of shared memory.
unsafe fn change(place: *mut u8, updates: &[Update], mut seen: impl FnMut(usize, Word)) {
    // SAFETY: guaranteed by the caller; running code also accesses the word atomically.
    let cell = unsafe { &*place.cast::<AtomicU64>() };
    let mut old = cell.load(Ordering::Acquire);
    loop {
        let mut word = Word(old);
        for (i, update) in updates.iter().enumerate() {
            seen(i, word);
            word = word.after(*update);
        }
        match cell.compare_exchange_weak(old, word.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => old = now,
        }
    }
}

/// One operation per lane; `give` receives the word before it. Lanes at the same barrier are combined to one
/// change, in lane order.
pub(super) fn update(c: &mut Caller, mask: u64, operands: &Operands, give: impl Fn(u32, u64)) -> bool {
    let mut left = mask;
    while left != 0 {
        let first = left.trailing_zeros();
        let [address] = operands.of(first);
        let (mut updates, mut of, mut count) = ([Update::default(); Width::MOST], [0; Width::MOST], 0);
        for lane in lanes(left).filter(|&l| operands.of(l) == [address]) {
            let [_, bytes, arrivals, dropped] = operands.of(lane).map(|word| word as u32);
            let slots = updates.get_mut(count).zip(of.get_mut(count));
            let Some((update, lane_of)) = slots else { break };
            *update = Update { bytes: bytes as i32, arrivals, dropped };
            *lane_of = lane;
            left &= !(1 << lane);
            count += 1;
        }
        let Some(place) = c.shared(first, address, Word::SIZE, Word::SIZE, "mbarrier") else { return false };
        let updates = updates.get(..count).unwrap_or_default();
        // SAFETY: the address has just been checked.
        unsafe {
            change(place, updates, |i, word| {
                if let Some(&lane) = of.get(i) {
                    give(lane, word.state());
                }
            });
        }
    }
    true
}

/// One operation at a checked address.
///
/// # Safety
/// Same as for [`change`].
pub(super) unsafe fn update_one(place: *mut u8, update: Update) {
    // SAFETY: the same contract.
    unsafe { change(place, &[update], |_, _| {}) };
}
