//! `clusterlaunchcontrol`: running code cancels clusters that have not begun, to do their work itself.

use wave::abi::{MAX_CLUSTER, WINDOW_BITS};
use wave::mbarrier::{Update, Word};

use super::{Caller, Operands, lanes, mbarrier};

/// The instruction's name in messages.
const NAME: &str = "clusterlaunchcontrol.try_cancel";

/// A response: the first block of the cluster, and whether there is one.
type Response = [u32; 4];

/// Bytes of a response, and its alignment.
const SIZE: u64 = size_of::<Response>() as u64;

/// Cancels one cluster per lane. The response is its first block's position and 1, or zeros if none is left.
pub(super) fn run(c: &mut Caller, mask: u64, operands: &Operands) -> bool {
    lanes(mask).all(|lane| {
        let [address, barrier, all] = operands.of(lane);
        let response = match c.job.claim_next(c.block.smid) {
            Some(ticket) => {
                let [x, y, z] = c.job.launch.place(ticket, 0).0;
                [x, y, z, 1]
            }
            None => [0; 4],
        };
        let own = 1u64 << (address >> WINDOW_BITS & u64::from(MAX_CLUSTER - 1));
        let blocks = if all == 0 { own } else { (1 << c.block.cluster.blocks) - 1 };
        (0..u64::from(MAX_CLUSTER))
            .filter(|rank| blocks >> rank & 1 != 0)
            .all(|rank| respond(c, lane, rank, [address, barrier], response))
    })
}

/// Writes a response in one block of the cluster.
fn respond(c: &Caller, lane: u32, rank: u64, places: [u64; 2], response: Response) -> bool {
    let [address, barrier] = places.map(|place| place & ((1 << WINDOW_BITS) - 1) | rank << WINDOW_BITS);
    let (Some(to), Some(word)) =
        (c.shared(lane, address, SIZE, SIZE, NAME), c.shared(lane, barrier, Word::SIZE, Word::SIZE, NAME))
    else {
        return false;
    };
    // SAFETY: the bytes have just been checked.
    unsafe { to.cast::<Response>().write(response) };
    let update = Update { bytes: -(SIZE as i32), ..Update::default() };
    // SAFETY: the address has just been checked.
    unsafe { mbarrier::update_one(c, lane, word, update) };
    true
}
