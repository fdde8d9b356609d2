//! Headers: each CUDA header becomes its counterpart once, and the runtime's header stands where the compiler included CUDA's by itself.

use std::collections::HashSet;

use crate::directives::Directives;
use crate::edit::Edits;
use crate::options::Target;
use crate::table::{self, Api, Entry, Kind};

/// The header that every HIP source needs.
pub const RUNTIME: &str = "hip/hip_runtime.h";

/// What became of an include.
pub enum Outcome {
    /// It was rewritten or taken out.
    Converted,
    /// It has no counterpart and stays.
    Unsupported,
}

/// The headers that a text has by now.
#[derive(Default)]
pub struct Included {
    main: HashSet<Api>,
    main_v2: HashSet<Api>,
    /// Counterparts of headers that several CUDA headers share.
    shared: HashSet<&'static str>,
    /// Whether the runtime's header is there.
    pub runtime: bool,
}

impl Included {
    /// Whether the library's `_v2` header was included.
    pub fn has_v2(&self, api: Api) -> bool {
        self.main_v2.contains(&api)
    }

    /// Whether the counterpart of this header is there already, or there is none to write.
    fn superfluous(&mut self, entry: &Entry, name: &'static str, target: Target) -> bool {
        let roc = entry.to_roc(target);
        match (entry.kind, entry.api) {
            (Kind::IncludeCudaMainHeader, Api::Driver | Api::Runtime) => {
                std::mem::replace(&mut self.runtime, true)
            }
            // rocRAND has a header for each generator.
            (Kind::IncludeCudaMainHeader, Api::Rand) => !roc && !self.shared.insert(name),
            (Kind::IncludeCudaMainHeader, Api::Caffe2 | Api::Cub | Api::Rtc) => false,
            (Kind::IncludeCudaMainHeader, api) => !self.main.insert(api),
            (Kind::IncludeCudaMainHeaderV2, api) => !self.main_v2.insert(api) || self.main.contains(&api),
            _ if entry.hip.is_empty() => true,
            (_, Api::Rand) => {
                let shared = matches!(
                    name,
                    "hiprand/hiprand_kernel.h"
                        | "rocrand/rocrand_discrete.h"
                        | "rocrand/rocrand_mtgp32.h"
                        | "rocrand/rocrand_normal.h"
                );
                shared && !self.shared.insert(name)
            }
            _ => false,
        }
    }
}

/// Rewrites the includes of a text; `report` hears of each CUDA header with its place.
pub fn rewrite(
    directives: &Directives,
    target: Target,
    edits: &mut Edits,
    mut report: impl FnMut(&'static Entry, usize, Outcome),
) -> Included {
    let mut included = Included::default();
    for include in &directives.includes {
        if include.path == RUNTIME {
            included.runtime = true;
        }
        let Some(entry) = table::header(&include.path) else { continue };
        let name = entry.replacement(target);
        let superfluous = included.superfluous(entry, name, target);
        if entry.unsupported(target) {
            report(entry, include.name.start, Outcome::Unsupported);
            continue;
        }
        report(entry, include.name.start, Outcome::Converted);
        if superfluous {
            edits.replace(include.hash..include.name.end, "");
        } else if include.angled {
            edits.replace(include.name.clone(), format!("<{name}>"));
        } else {
            edits.replace(include.name.clone(), format!("\"{name}\""));
        }
    }
    included
}

/// Puts the runtime's header after the guard or `#pragma once`, whichever comes first; else before the first include; else at the top.
pub fn insert_runtime(directives: &Directives, top: usize, edits: &mut Edits) {
    let place = match (directives.guard, directives.pragma_once) {
        (Some(guard), Some(once)) => guard.min(once),
        (Some(place), None) | (None, Some(place)) => place,
        (None, None) => directives.includes.first().map_or(top, |include| include.hash),
    };
    edits.open(place, format!("\n#include <{RUNTIME}>\n"));
}
