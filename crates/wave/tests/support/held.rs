//! Invariants of any text that is read as wave IR.

use std::sync::Arc;

use wave::range::Ranges;
use wave::read::{read, read_numbered};
use wave::verify::verify;
use wave::{FuncId, Function, Module, fold, inline, recurse, simplify, unreachable};

/// The maximum number of operations of a module whose kernels go through the passes.
const MOST: usize = 2000;

/// Reads the text. What is read prints as what is read again; what keeps the rules keeps them through the
/// passes. No panic anywhere.
pub fn hold(text: &str) {
    let module = read(text);
    // Comments that are no places are an error where places are read.
    assert!(module.is_err() || read_numbered(text).is_ok(), "{text}");
    let Ok(module) = module else { return };
    let printed = module.to_string();
    let again = read(&printed).unwrap_or_else(|e| panic!("{e} in what was printed:\n{printed}\nof\n{text}"));
    assert_eq!(again.to_string(), printed, "{text}");
    if verify(&module).is_ok() && size(&module) <= MOST {
        let kernels: Vec<FuncId> = module.kernels().map(|(id, _)| id).collect();
        kernels.into_iter().for_each(|id| passes(&module, id));
    }
}

fn size(module: &Module) -> usize {
    module.functions.iter().flat_map(|f| &f.blocks).map(|b| b.insts.len() + 1).sum()
}

fn passes(module: &Module, id: FuncId) {
    let mut func = Function::clone(&module.functions[id.index()]);
    let whole = |func: &Function, pass: &str| {
        let mut module = module.clone();
        module.functions[id.index()] = Arc::new(func.clone());
        verify(&module).unwrap_or_else(|p| panic!("{pass} breaks the IR: {p:?}\n{module}"));
    };
    inline::inline(module, id, &mut func);
    whole(&func, "inline");
    if func.blocks.iter().map(|b| b.insts.len()).sum::<usize>() > MOST {
        return;
    }
    recurse::without_recursion(module, id, &mut func);
    whole(&func, "recurse");
    fold::fold(&mut func, |_| None);
    whole(&func, "fold");
    simplify::simplify(&mut func, &|_| None);
    whole(&func, "simplify");
    unreachable::empty(&mut func);
    whole(&func, "unreachable");
    Ranges::of(&func, &|_| None);
}
