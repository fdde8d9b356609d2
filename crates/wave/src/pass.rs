//! Passes over wave IR: lists of named steps, run in order by one engine.
//!
//! In builds with debug assertions the verifier runs after every pass, and a failure names the pass.

use crate::func::Function;
use crate::module::Module;
use crate::verify;

/// A step that changes a function of a module. `C` holds what it may look at besides (the launch that code is
/// made for) and what later passes take from it (analyses that still hold); `E` says why a pass cannot be
/// applied.
#[derive(Clone, Copy)]
pub struct Pass<C, E> {
    /// Its name, unique in its list.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// Applies it.
    pub run: fn(&Module, &mut C, &mut Function) -> Result<(), E>,
    /// Whether the verifier's rules hold afterwards. Only the last pass of a list may break them.
    pub verified: bool,
}

/// Runs a list of passes. `watch` sees the function after each of them.
///
/// # Errors
/// A pass cannot be applied; the passes before it have been.
///
/// # Panics
/// In builds with debug assertions, if a pass breaks a rule of the IR.
pub fn run<C, E>(
    passes: &[Pass<C, E>],
    module: &Module,
    context: &mut C,
    func: &mut Function,
    watch: &dyn Fn(&'static str, &Function),
) -> Result<(), E> {
    for pass in passes {
        (pass.run)(module, context, func)?;
        if cfg!(debug_assertions)
            && pass.verified
            && let Err(problems) = verify::verify_functions(module, [&*func])
        {
            let list: String = problems.iter().map(|p| format!("\n  {p}")).collect();
            panic!("the pass `{}` breaks the IR:{list}\n{}", pass.name, module.shown(func));
        }
        watch(pass.name, func);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::func::{Terminator, Value};

    type Counting = Pass<u32, &'static str>;

    const NOTHING: Counting = Pass {
        name: "nothing",
        about: "",
        verified: true,
        run: |_, count, _| {
            *count += 1;
            Ok(())
        },
    };
    const REFUSES: Counting = Pass { name: "refuses", about: "", verified: true, run: |_, _, _| Err("why") };
    const BREAKS: Counting = Pass {
        name: "breaks",
        about: "",
        verified: true,
        run: |_, _, func| {
            func.blocks[0].term = Terminator::Return(vec![Value(9)]);
            Ok(())
        },
    };

    fn module() -> Module {
        crate::read::read("kernel @k {\nblock0:\n    exit\n}\n").expect("a module")
    }

    #[test]
    fn passes_run_in_order_until_one_refuses() {
        let (module, mut count, seen) = (module(), 0, RefCell::new(Vec::new()));
        let mut func = Function::clone(&module.functions[0]);
        let watch = |name: &'static str, _: &Function| seen.borrow_mut().push(name);
        let again = Counting { name: "again", ..NOTHING };
        let list = [NOTHING, again, REFUSES, NOTHING];
        assert_eq!(run(&list, &module, &mut count, &mut func, &watch), Err("why"));
        assert_eq!((count, seen.into_inner()), (2, vec!["nothing", "again"]));
    }

    #[test]
    fn the_pass_that_breaks_the_ir_is_named() {
        let module = module();
        let mut func = Function::clone(&module.functions[0]);
        let list = [NOTHING, BREAKS, NOTHING];
        let result = catch_unwind(AssertUnwindSafe(|| run(&list, &module, &mut 0, &mut func, &|_, _| ())));
        if !cfg!(debug_assertions) {
            assert_eq!(result.ok(), Some(Ok(())));
            return;
        }
        let message = result.expect_err("the verifier speaks");
        let message = message.downcast_ref::<String>().expect("a text");
        assert!(message.starts_with("the pass `breaks` breaks the IR:\n  function `k`, block0"), "{message}");
        assert!(message.contains("v9 is used and defined nowhere"), "{message}");
    }

    #[test]
    fn what_need_not_hold_is_not_verified() {
        let (module, mut count) = (module(), 0);
        let mut func = Function::clone(&module.functions[0]);
        let last = Counting { verified: false, ..BREAKS };
        assert_eq!(run(&[NOTHING, last], &module, &mut count, &mut func, &|_, _| ()), Ok(()));
    }
}
