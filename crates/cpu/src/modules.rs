//! The wave IR of a program: of a small text one module, lowered when it was loaded; of a large one a module for each kernel that is asked for.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use lower::Deferred;
use wave::{FuncId, Module};

use crate::share;

/// Functions that the modules of single kernels may list, all together: where more kernels are asked for, all are lowered.
const LISTED: usize = 1 << 21;

/// Where a program's kernels have their code.
pub(crate) enum Modules {
    /// All in one module.
    Whole(Arc<Module>),
    /// In modules that are made when they are asked for.
    Later(Box<Later>),
}

/// A large text.
pub(crate) struct Later {
    text: Deferred,
    heads: Arc<Module>,
    /// By the function's number.
    reached: Vec<OnceLock<Arc<Module>>>,
    whole: OnceLock<Arc<Module>>,
    /// Kernels that were asked for.
    asked: AtomicUsize,
    threads: usize,
}

impl Modules {
    /// Of a text whose functions are lowered later.
    pub fn later(text: Deferred, threads: usize) -> Modules {
        let heads = Arc::new(text.heads().clone());
        let reached = heads.functions.iter().map(|_| OnceLock::new()).collect();
        let (whole, asked) = (OnceLock::new(), AtomicUsize::new(0));
        Modules::Later(Box::new(Later { text, heads, reached, whole, asked, threads }))
    }

    /// What the module declares; its functions may be without code.
    pub fn heads(&self) -> &Arc<Module> {
        match self {
            Modules::Whole(module) => module,
            Modules::Later(later) => &later.heads,
        }
    }

    /// The module in which a kernel, and whatever it may reach, has its code.
    pub fn of(&self, kernel: FuncId) -> &Arc<Module> {
        match self {
            Modules::Whole(module) => module,
            Modules::Later(later) => match later.reached.get(kernel.index()) {
                Some(place) => place.get_or_init(|| later.reached_from(kernel)),
                None => &later.heads,
            },
        }
    }

    /// The module in which all functions have their code.
    pub fn whole(&self) -> &Arc<Module> {
        match self {
            Modules::Whole(module) => module,
            Modules::Later(later) => later.whole(),
        }
    }

    /// A module in which the functions that this line of the text is in have their code.
    pub fn at(&self, line: u32) -> Arc<Module> {
        match self {
            Modules::Whole(module) => Arc::clone(module),
            Modules::Later(later) => {
                let functions = later.text.functions_at(line).into_iter().collect();
                later.made(later.text.with(&functions, &lower::one_by_one))
            }
        }
    }

    /// Whether a kernel has no code yet.
    pub fn is_deferred(&self, kernel: FuncId) -> bool {
        self.text_size(kernel).is_some()
    }

    /// Bytes of the text of a kernel that has no code yet.
    pub fn text_size(&self, kernel: FuncId) -> Option<usize> {
        match self {
            Modules::Later(later) if later.reached.get(kernel.index())?.get().is_none() => {
                Some(later.text.text_size(kernel))
            }
            _ => None,
        }
    }
}

impl Later {
    fn whole(&self) -> &Arc<Module> {
        self.whole.get_or_init(|| {
            let each = |count: usize, work: &(dyn Fn(usize) + Sync)| share::each(self.threads, count, work);
            self.made(self.text.whole(&each))
        })
    }

    fn reached_from(&self, kernel: FuncId) -> Arc<Module> {
        let listed = self.asked.fetch_add(1, Ordering::Relaxed).saturating_mul(self.heads.functions.len());
        if listed > LISTED || self.whole.get().is_some() {
            return Arc::clone(self.whole());
        }
        let each = |count: usize, work: &(dyn Fn(usize) + Sync)| share::each(self.threads, count, work);
        self.made(self.text.reached_from(kernel, &each))
    }

    /// Where functions that were found to be in order cannot be lowered after all, kernels have no code, and launches fail.
    fn made(&self, lowered: Result<Module, Vec<lower::Error>>) -> Arc<Module> {
        match lowered {
            Ok(module) => Arc::new(module),
            Err(errors) => {
                for error in errors {
                    tracing::error!(module = %self.heads.name, "{}", error.message);
                }
                Arc::clone(&self.heads)
            }
        }
    }
}
