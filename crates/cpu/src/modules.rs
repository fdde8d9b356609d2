//! The wave IR of a program. Small texts are one module, lowered at load. Large texts have a module for
//! each requested kernel.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use wave::{FuncId, Module};

use crate::front;
use crate::share;

/// Maximum number of functions listed by the modules of single kernels, in total. Beyond it, all kernels are
/// lowered.
const LISTED: usize = 1 << 21;

/// Where the code of a program's kernels is.
pub(crate) enum Modules {
    /// All in one module.
    Whole(Arc<Module>),
    /// In modules that are lowered on demand.
    Later(Box<Later>),
}

/// A large module.
pub(crate) struct Later {
    code: Box<dyn front::Later>,
    heads: Arc<Module>,
    /// By function number.
    reached: Vec<OnceLock<Arc<Module>>>,
    whole: OnceLock<Arc<Module>>,
    /// Number of kernels that were requested.
    asked: AtomicUsize,
    threads: usize,
}

impl Modules {
    /// For code whose functions are lowered on demand.
    pub fn later(code: Box<dyn front::Later>, threads: usize) -> Modules {
        let heads = Arc::new(code.heads().clone());
        let reached = heads.functions.iter().map(|_| OnceLock::new()).collect();
        let (whole, asked) = (OnceLock::new(), AtomicUsize::new(0));
        Modules::Later(Box::new(Later { code, heads, reached, whole, asked, threads }))
    }

    /// The module's declarations; its functions may have no code.
    pub fn heads(&self) -> &Arc<Module> {
        match self {
            Modules::Whole(module) => module,
            Modules::Later(later) => &later.heads,
        }
    }

    /// The module that contains the code of a kernel and of all functions it can reach.
    pub fn of(&self, kernel: FuncId) -> &Arc<Module> {
        match self {
            Modules::Whole(module) => module,
            Modules::Later(later) => match later.reached.get(kernel.index()) {
                Some(place) => place.get_or_init(|| later.reached_from(kernel)),
                None => &later.heads,
            },
        }
    }

    /// The module that contains the code of all functions.
    pub fn whole(&self) -> &Arc<Module> {
        match self {
            Modules::Whole(module) => module,
            Modules::Later(later) => later.whole(),
        }
    }

    /// A module that contains the code of the functions at this line of the text.
    pub fn at(&self, line: u32) -> Arc<Module> {
        match self {
            Modules::Whole(module) => Arc::clone(module),
            Modules::Later(later) => later.made(later.code.at(line)),
        }
    }

    /// Whether a kernel has no code yet.
    pub fn is_deferred(&self, kernel: FuncId) -> bool {
        self.text_size(kernel).is_some()
    }

    /// Bytes of text of a kernel that has no code yet.
    pub fn text_size(&self, kernel: FuncId) -> Option<usize> {
        match self {
            Modules::Later(later) if later.reached.get(kernel.index())?.get().is_none() => {
                Some(later.code.size_of(kernel))
            }
            _ => None,
        }
    }
}

impl Later {
    fn whole(&self) -> &Arc<Module> {
        self.whole.get_or_init(|| {
            let each = |count: usize, work: &(dyn Fn(usize) + Sync)| share::each(self.threads, count, work);
            self.made(self.code.whole(&each))
        })
    }

    fn reached_from(&self, kernel: FuncId) -> Arc<Module> {
        let listed = self.asked.fetch_add(1, Ordering::Relaxed).saturating_mul(self.heads.functions.len());
        if listed > LISTED || self.whole.get().is_some() {
            return Arc::clone(self.whole());
        }
        let each = |count: usize, work: &(dyn Fn(usize) + Sync)| share::each(self.threads, count, work);
        self.made(self.code.reached_from(kernel, &each))
    }

    /// If functions that passed the checks cannot be lowered after all, kernels have no code and launches
    /// fail.
    fn made(&self, lowered: Result<Module, Vec<String>>) -> Arc<Module> {
        match lowered {
            Ok(module) => Arc::new(module),
            Err(errors) => {
                for error in errors {
                    tracing::error!(module = %self.heads.name, "{error}");
                }
                Arc::clone(&self.heads)
            }
        }
    }
}
