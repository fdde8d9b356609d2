//! The programs that are loaded. A module that is loaded again, as for each device of a process, shares what
//! was parsed, lowered and compiled the first time: code does not depend on contexts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use driver::backend::Input;

use crate::front::Frontend;
use crate::program::Program;
use crate::rules::Rules;

/// What a program depends on besides the backend's settings.
pub(crate) type Key = [u8; 32];

/// The key of a module's code.
pub(crate) fn key(inputs: &[Input], code: &dyn Frontend, rules: &Rules) -> Key {
    let names: Vec<&str> = inputs.iter().map(|input| input.name).collect();
    simd::digest(&(names, code.digest(), rules.checks()))
}

/// A place that is locked while its program is being loaded, so that others wait for it.
type Place = Arc<Mutex<Weak<Program>>>;

/// The programs in use.
#[derive(Default)]
pub(crate) struct Programs(Mutex<HashMap<Key, Place>>);

impl Programs {
    /// The program of this key, loaded now unless a module has it. A program that cannot be loaded is tried
    /// again the next time.
    pub(crate) fn get<E>(
        &self,
        key: Key,
        load: impl FnOnce() -> Result<Program, E>,
    ) -> Result<Arc<Program>, E> {
        let place = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.retain(|_, place| Arc::strong_count(place) > 1 || is_used(place));
            Arc::clone(all.entry(key).or_default())
        };
        let mut program = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = program.upgrade() {
            return Ok(program);
        }
        let loaded = Arc::new(load()?);
        *program = Arc::downgrade(&loaded);
        Ok(loaded)
    }
}

fn is_used(place: &Place) -> bool {
    place.try_lock().is_ok_and(|program| program.strong_count() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::LoadError;
    use crate::program::Engine;

    fn empty() -> Result<Program, LoadError> {
        let text = ".version 8.0\n.target sm_80\n.address_size 64\n";
        Program::load(&[crate::Source { name: "empty", text }], Engine::Interpreter)
    }

    #[test]
    fn a_program_is_shared_as_long_as_it_is_used() {
        let programs = Programs::default();
        let never = || Err::<Program, ()>(());
        let one = programs.get([1; 32], empty).expect("it loads");
        let again = programs.get([1; 32], never).expect("it is loaded");
        assert!(Arc::ptr_eq(&one, &again));
        assert!(programs.get([2; 32], never).is_err());
        drop((one, again));
        assert!(programs.get([1; 32], never).is_err());
        // Removes programs that nothing uses any more.
        let _other = programs.get([3; 32], empty);
        assert_eq!(programs.0.lock().expect("no panic").len(), 1);
    }
}
