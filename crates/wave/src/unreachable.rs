//! Blocks that nothing leads to any more.

use crate::dominance::postorder;
use crate::func::{BlockData, Function, Loc, Terminator};

/// Empties every block that control cannot come to. Blocks keep their numbers; later passes need not keep the
/// ways from such a block in order.
pub fn empty(func: &mut Function) {
    let mut reached = vec![false; func.blocks.len()];
    postorder(func).into_iter().for_each(|b| reached[b.index()] = true);
    for (data, _) in func.blocks.iter_mut().zip(reached).filter(|(_, reached)| !reached) {
        *data = BlockData { params: vec![], insts: vec![], term: Terminator::Trap, term_loc: Loc::default() };
    }
}
