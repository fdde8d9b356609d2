//! Kernels that count what they do, for a profile: the pass over a front end's IR, and a launch's counters.

use std::sync::atomic::{AtomicU64, Ordering};

use driver::profile::Counts;
use wave::count::{self, Counter, ROW, ROWS};
use wave::verify::Each;
use wave::{FuncId, Module};

use crate::front::{Later, Lowered};

/// Makes the functions of a module count, also those that are lowered later.
pub(crate) fn counting(lowered: Lowered) -> Lowered {
    let place = count::place(lowered.heads());
    match lowered {
        Lowered::Whole(mut module) => {
            count::module(&mut module, place);
            Lowered::Whole(module)
        }
        Lowered::Later(later) => {
            let mut heads = later.heads().clone();
            count::module(&mut heads, place);
            Lowered::Later(Box::new(Counted { later, heads, place }))
        }
    }
}

/// A module whose functions are lowered on demand, and then count.
struct Counted {
    later: Box<dyn Later>,
    heads: Module,
    place: u32,
}

impl Counted {
    fn counting(&self, lowered: Result<Module, Vec<String>>) -> Result<Module, Vec<String>> {
        lowered.map(|mut module| {
            count::module(&mut module, self.place);
            module
        })
    }
}

impl Later for Counted {
    fn heads(&self) -> &Module {
        &self.heads
    }

    fn reached_from(&self, kernel: FuncId, each: Each) -> Result<Module, Vec<String>> {
        self.counting(self.later.reached_from(kernel, each))
    }

    fn whole(&self, each: Each) -> Result<Module, Vec<String>> {
        self.counting(self.later.whole(each))
    }

    fn at(&self, line: u32) -> Result<Module, Vec<String>> {
        self.counting(self.later.at(line))
    }

    fn size_of(&self, function: FuncId) -> usize {
        self.later.size_of(function)
    }
}

/// A row of counters on its own cache line.
#[repr(align(64))]
#[derive(Default)]
struct Row([AtomicU64; ROW]);

/// The counters of one grid.
pub(crate) struct Counters(Box<[Row]>);

impl Counters {
    pub fn new() -> Counters {
        Counters(std::iter::repeat_with(Row::default).take(ROWS).collect())
    }

    /// Their address, which the kernel adds to.
    pub fn address(&self) -> u64 {
        self.0.as_ptr().addr() as u64
    }

    /// The sums of all rows, after the grid's end.
    pub fn counts(&self) -> Counts {
        let sum = |counter: Counter| {
            let words = self.0.iter().filter_map(|row| row.0.get(counter as usize));
            words.map(|word| word.load(Ordering::Relaxed)).sum()
        };
        Counts {
            operations: sum(Counter::Operations),
            slots: sum(Counter::Slots),
            flops: sum(Counter::Flops),
            loaded: sum(Counter::Loaded),
            stored: sum(Counter::Stored),
            shared: sum(Counter::Shared),
            barriers: sum(Counter::Barriers),
        }
    }
}
