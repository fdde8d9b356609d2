//! Operations of running code on barriers in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use wave::Width;
use wave::abi::WarpCtx;
use wave::mbarrier::{Update, Word};

use super::waits::Wait;
use super::{Caller, Operands, lanes};

/// Changes a barrier atomically by several `updates` in sequence, and wakes those who waited for the phases
/// that end; `seen` receives the word before each.
///
/// # Safety
/// `place` is 8 aligned bytes of shared memory.
unsafe fn change(c: &Caller, place: *mut u8, updates: &[Update], mut seen: impl FnMut(usize, Word)) {
    // SAFETY: guaranteed by the caller; running code also accesses the word atomically.
    let cell = unsafe { &*place.cast::<AtomicU64>() };
    let mut old = cell.load(Ordering::Acquire);
    loop {
        let mut word = Word(old);
        let mut ended = [false; 2];
        for (i, update) in updates.iter().enumerate() {
            seen(i, word);
            let before = word.phase();
            word = word.after(*update);
            if word.phase() != before {
                ended[usize::from(before)] = true;
            }
        }
        match cell.compare_exchange_weak(old, word.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => {
                for parity in [false, true].into_iter().filter(|&p| ended[usize::from(p)]) {
                    c.link.waits.borrow_mut().wake(place as usize, parity);
                }
                return;
            }
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
            change(c, place, updates, |i, word| {
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
pub(super) unsafe fn update_one(c: &Caller, place: *mut u8, update: Update) {
    // SAFETY: the same contract.
    unsafe { change(c, place, &[update], |_, _| {}) };
}

/// [`wave::op::Builtin::MbarrierWoken`].
pub(super) fn woken(c: &mut Caller, mask: u64, operands: &Operands, give: impl Fn(u32, u64)) -> bool {
    // A result that is the same for all lanes is read from any of them.
    (0..c.block.width).for_each(|l| give(l, 0));
    let mut left = mask;
    while left != 0 {
        let first = left.trailing_zeros();
        let [address, parity] = operands.of(first);
        let same = lanes(left).filter(|&l| operands.of(l) == [address, parity]).fold(0, |m, l| m | 1 << l);
        left &= !same;
        let wait = Wait {
            place: c.block.shared.wrapping_add(address as usize) as usize,
            parity: parity & 1 != 0,
            block: c.block.ctaid,
            warp: std::ptr::from_ref::<WarpCtx>(c.warp) as usize,
        };
        let woken = u64::from(c.link.waits.borrow_mut().found(wait, same));
        let of =
            if same == mask { u64::MAX >> (u64::BITS - c.block.width.clamp(1, u64::BITS)) } else { same };
        lanes(of).for_each(|l| give(l, woken));
    }
    true
}
