//! Operations of running code on barriers in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use wave::Width;
use wave::abi::WarpCtx;
use wave::mbarrier::{Update, Word};

use super::waits::{Phase, Warp};
use super::{Caller, Operands, lanes};

/// Changes a barrier atomically by several `updates` in sequence, which `lanes` make, and wakes those who
/// wait for the phases that end; `seen` receives the word before each.
///
/// # Safety
/// `place` is 8 aligned bytes of shared memory.
unsafe fn change(
    c: &Caller,
    lanes: u64,
    place: *mut u8,
    updates: &[Update],
    mut seen: impl FnMut(usize, Word),
) {
    // SAFETY: guaranteed by the caller; running code also accesses the word atomically.
    let cell = unsafe { &*place.cast::<AtomicU64>() };
    let mut old = cell.load(Ordering::Acquire);
    let ended = loop {
        let (mut word, mut ended) = (Word(old), [false; 2]);
        for (i, update) in updates.iter().enumerate() {
            seen(i, word);
            let before = word.phase();
            word = word.after(*update);
            if let Some(ended) = ended.get_mut(usize::from(before)) {
                *ended |= word.phase() != before;
            }
        }
        match cell.compare_exchange_weak(old, word.0, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => break ended,
            Err(now) => old = now,
        }
    };
    let mut waits = c.link.waits.borrow_mut();
    waits.leave(memory(c), warp(c), lanes);
    for parity in [false, true].into_iter().zip(ended).filter_map(|(parity, ended)| ended.then_some(parity)) {
        waits.wake(memory(c), place as usize, parity);
    }
}

/// The shared memory of the caller's block or cluster, which tells apart those on a multiprocessor.
fn memory(c: &Caller) -> usize {
    c.block.shared as usize
}

/// The caller's warp.
fn warp(c: &Caller) -> Warp {
    Warp { context: std::ptr::from_ref::<WarpCtx>(c.warp) as usize, block: c.block.ctaid }
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
        let makers = of.iter().take(count).fold(0, |mask, lane| mask | 1 << lane);
        // SAFETY: the address has just been checked.
        unsafe {
            change(c, makers, place, updates, |i, word| {
                if let Some(&lane) = of.get(i) {
                    give(lane, word.state());
                }
            });
        }
    }
    true
}

/// One operation of a lane at a checked address.
///
/// # Safety
/// Same as for [`change`].
pub(super) unsafe fn update_one(c: &Caller, lane: u32, place: *mut u8, update: Update) {
    // SAFETY: the same contract.
    unsafe { change(c, 1 << lane, place, &[update], |_, _| {}) };
}

/// [`wave::op::Builtin::MbarrierWait`].
pub(super) fn wait(c: &mut Caller, mask: u64, operands: &Operands, give: impl Fn(u32, u64)) -> bool {
    let mut waits = c.link.waits.borrow_mut();
    let mut left = mask;
    while left != 0 {
        let [address, parity, over] = operands.of(left.trailing_zeros());
        let same = lanes(left).filter(|&l| operands.of(l) == [address, parity, over]);
        let same = same.fold(0, |mask, lane| mask | 1 << lane);
        left &= !same;
        let place = c.block.shared.wrapping_add(address as usize) as usize;
        let phase = Phase { place, parity: parity & 1 != 0 };
        let over = waits.read(memory(c), warp(c), same, phase, over != 0);
        // A result that is the same for all lanes may be read from any of them.
        let to = if same == mask { u64::MAX } else { same };
        lanes(to).take_while(|&l| l < c.block.width).for_each(|l| give(l, u64::from(over)));
    }
    true
}
