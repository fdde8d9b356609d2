//! LLVM opened before there is anything to compile.
//!
//! The first compilation of a process takes longer than a later one: the library is opened, its tables are made, and its code comes in page
//! by page. Where a compilation is to be expected, another thread does that while the program goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::ending::{self, Opening};
use super::{ASKED, LLVM, Llvm, Search};
use crate::effort::Effort;
use crate::target::Target;

/// The right to open LLVM ahead, which is given once.
pub struct Ahead(Opening);

/// What is compiled to have been through LLVM. A whole kernel is no better: it takes so long that the program's own comes meanwhile.
const FUNCTION: &str = "define i32 @nothing() { ret i32 0 }";

/// How long after the opening those have asked who waited for it.
const PAUSE: Duration = Duration::from_micros(500);

impl Ahead {
    /// The right, if nobody has opened LLVM or is about to. To be taken before a thread is started for it: the process does not end before
    /// it is used or dropped.
    pub fn new() -> Option<Ahead> {
        static GIVEN: AtomicBool = AtomicBool::new(false);
        let first = LLVM.get().is_none() && !GIVEN.swap(true, Ordering::Relaxed);
        first.then(|| Ahead(ending::opening()))
    }

    /// Opens LLVM. Unless somebody waits for it by then, sends a function through it.
    pub fn open(self, target: &Target, search: &Search) {
        // Where there is no LLVM, the first compilation will say so.
        let Ok(llvm) = Llvm::opened(search) else { return };
        drop(self.0);
        // Threads that began meanwhile waited for the loader's lock: they come to ask now.
        std::thread::sleep(PAUSE);
        if ASKED.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = llvm.object(FUNCTION, target, Effort::First) {
            tracing::debug!(%error, "LLVM could not be tried out");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_compiles_on_every_processor() {
        for target in ["native", "x86-64-v3"] {
            let target = Target::named(target).expect("this machine runs it");
            let object =
                Llvm::get(&Search::default()).and_then(|llvm| llvm.object(FUNCTION, &target, Effort::First));
            assert_eq!(object.map(|o| o.starts_with(b"\x7fELF")), Ok(true), "{}", target.cpu);
        }
    }
}
