//! Options of a translation.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::project::Project;

/// A release of ROCm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rocm {
    major: u8,
    minor: u8,
}

impl Rocm {
    /// The oldest release whose names the tables tell apart from those of later ones.
    pub const OLDEST: Rocm = Rocm::new(5, 0);
    /// The newest release that all tables cover, and the default.
    pub const NEWEST: Rocm = Rocm::new(7, 2);
    /// The newest release whose additions to the runtime the tables have.
    pub const LAST: Rocm = Rocm::new(7, 14);

    /// The release `major.minor`.
    pub const fn new(major: u8, minor: u8) -> Self {
        Rocm { major, minor }
    }

    /// The release in a version of the tables, `7.1.0`; `None` if there is none.
    pub(crate) fn read(version: &str) -> Option<Self> {
        let mut parts = version.split('.').map(|part| part.parse().ok());
        Some(Rocm::new(parts.next()??, parts.next().unwrap_or(Some(0))?))
    }
}

impl Default for Rocm {
    fn default() -> Self {
        Rocm::NEWEST
    }
}

impl fmt::Display for Rocm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A text names no release of ROCm that the tables cover.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no release of ROCm from {oldest} to {newest}: write for example '6.3'",
    oldest = Rocm::OLDEST,
    newest = Rocm::LAST
)]
pub struct UnknownRocm(String);

impl FromStr for Rocm {
    type Err = UnknownRocm;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Option<Vec<u8>> = text.split('.').map(|part| part.parse().ok()).collect();
        parts
            .filter(|parts| parts.len() <= 3)
            .map(|parts| Rocm::new(parts.first().copied().unwrap_or(0), parts.get(1).copied().unwrap_or(0)))
            .filter(|release| (Rocm::OLDEST..=Rocm::LAST).contains(release))
            .ok_or_else(|| UnknownRocm(text.into()))
    }
}

/// The family of libraries to translate to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// `hip…`: the names of HIP and its library wrappers.
    #[default]
    Hip,
    /// `roc…` if a ROC library has a counterpart, otherwise `hip…`.
    Roc,
    /// Same as [`Target::Roc`], with MIOpen for cuDNN.
    Miopen,
}

/// Options of a translation.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The family of libraries.
    pub target: Target,
    /// The release of ROCm whose names are written.
    pub rocm: Rocm,
    /// Translate names whose HIP counterpart is experimental.
    pub experimental: bool,
    /// Translate as much as possible, including blocks that the preprocessor would exclude.
    pub as_much_as_possible: bool,
    /// Write launches as `hipLaunchKernelGGL(…)`. Otherwise `<<<…>>>` stays, which HIP's compiler accepts.
    pub hip_launch_syntax: bool,
    /// Leave blocks unchanged that the preprocessor excludes. Blocks whose condition depends on headers count
    /// as included.
    pub skip_excluded: bool,
    /// Declare variables of CUDA's data-type enumeration as `hipDataType`, whatever the target.
    pub hip_data_types: bool,
    /// Macros of the command line: name, and optional value.
    pub defines: Vec<(String, Option<String>)>,
    /// Insert the runtime's header even if the text uses nothing of CUDA. The CUDA compiler includes it in
    /// each `.cu` file.
    pub always_include_runtime: bool,
    /// Also translate words in strings, as hipify-clang does, if a word between blanks is a CUDA name.
    pub strings: bool,
    /// Leave accesses to the members `x` and `y` of `half2` unchanged, since CUDA does not document them.
    pub no_undocumented: bool,
    /// The other files that are translated.
    pub project: Arc<Project>,
}
