//! What a text cannot tell: the names that the other files of its project declare, and the headers there.

use std::collections::{HashMap, HashSet};

use crate::source::Source;
use crate::{supplied, survey, table};

/// The sources of a project.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// Names that are CUDA's or look like it, and are the project's own.
    names: HashSet<String>,
    /// The paths of the files, by the file's name.
    files: HashMap<String, Vec<String>>,
}

impl Project {
    /// Adds a file. Texts of 4 GiB or more, which are not translated, define nothing.
    pub fn add(&mut self, path: &str, text: &[u8]) {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.files.entry(name.into()).or_default().push(path.into());
        if u32::try_from(text.len()).is_ok() {
            let survey = survey::survey(&Source::new(text));
            // Definitions that a translation inserted come with a macro. Every file that needs them has them.
            let lacking = |name: &&String| supplied::has(name) || table::lacks_device_function(name);
            let own_lacking = survey.functions.symmetric_difference(&survey.macros).filter(lacking);
            self.names.extend(own_lacking.cloned());
            let own = survey.own_names();
            self.names.extend(own.filter(|name| table::looks_like(name).is_some()));
        }
    }

    /// Whether a file of the project defines or declares this name.
    pub(crate) fn owns(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether an include may mean a file of the project: whether a path ends with the include's.
    pub(crate) fn has(&self, include: &str) -> bool {
        let parts = |path: &str| path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).count();
        let name = include.rsplit('/').next().unwrap_or(include);
        self.files.get(name).is_some_and(|paths| {
            paths.iter().any(|path| {
                let mut inner = path.rsplit('/');
                let wanted = include.rsplit('/').take(parts(include));
                wanted.into_iter().all(|part| inner.next() == Some(part))
            })
        })
    }
}
