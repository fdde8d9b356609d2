//! Opens LLVM before there is anything to compile.
//!
//! The first compilation of a process takes longer than later ones: the library is opened, its tables are
//! built, and its code is paged in. If a compilation is likely, another thread does this while the program
//! continues.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::ending::{self, Opening};
use super::{ASKED, LLVM, Llvm, Search};
use crate::effort::Effort;
use crate::target::Target;

/// The right to open LLVM ahead of time; only one is given out.
pub struct Ahead(Opening);

/// The function that is compiled to page in LLVM's code. A whole kernel would be no better: it takes so long
/// that the program's first kernel arrives meanwhile.
const FUNCTION: &str = "define i32 @nothing() { ret i32 0 }";

/// The delay after opening within which threads that waited for it submit their work.
const PAUSE: Duration = Duration::from_micros(500);

impl Ahead {
    /// The right, unless LLVM is open or about to be opened. Take it before starting the thread: the process
    /// does not exit before the right is used or dropped.
    pub fn new() -> Option<Ahead> {
        static GIVEN: AtomicBool = AtomicBool::new(false);
        let first = LLVM.get().is_none() && !GIVEN.swap(true, Ordering::Relaxed);
        first.then(|| Ahead(ending::opening()))
    }

    /// Opens LLVM. If no thread waits for it by then, compiles a function with it.
    pub fn open(self, target: &Target, search: &Search) {
        // If there is no LLVM, the first compilation reports it.
        let Ok(llvm) = Llvm::opened(search) else { return };
        drop(self.0);
        // Threads that started meanwhile waited for the loader's lock; give them time to submit their work.
        std::thread::sleep(PAUSE);
        if ASKED.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = llvm.object(FUNCTION, target, Effort::First.into()) {
            tracing::debug!(%error, "the trial compilation failed");
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
            let object = Llvm::get(&Search::default())
                .and_then(|llvm| llvm.object(FUNCTION, &target, Effort::First.into()));
            assert_eq!(object.map(|o| o.starts_with(b"\x7fELF")), Ok(true), "{}", target.cpu);
        }
    }
}
