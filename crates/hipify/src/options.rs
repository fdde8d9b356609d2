//! What the caller may choose.

/// The family of libraries whose names are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// `hip…`: the names of HIP and of its wrappers of libraries.
    #[default]
    Hip,
    /// `roc…` where a ROC library has a counterpart, else `hip…`.
    Roc,
    /// As [`Target::Roc`], and MIOpen for cuDNN.
    Miopen,
}

/// How a translation is done.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The family of libraries.
    pub target: Target,
    /// Translate names whose HIP counterpart is experimental.
    pub experimental: bool,
    /// Translate as much as possible: blocks that the preprocessor would leave out too.
    pub as_much_as_possible: bool,
    /// Write launches as `hipLaunchKernelGGL(…)`; otherwise `<<<…>>>` stays, which HIP's compiler accepts.
    pub hip_launch_syntax: bool,
    /// Leave blocks alone that the preprocessor leaves out. Conditions that depend on headers count as kept.
    pub skip_excluded: bool,
    /// Declare variables of CUDA's data-type enumeration with `hipDataType` whatever the target.
    pub hip_data_types: bool,
    /// Macros of the command line: name, and value where one is given.
    pub defines: Vec<(String, Option<String>)>,
    /// Insert the runtime's header even where nothing in the text is CUDA; the compiler includes it in each `.cu` file.
    pub always_include_runtime: bool,
    /// Translate words of strings too, as hipify-clang does: words between blanks that are a CUDA name.
    pub strings: bool,
    /// Leave accesses to the members `x` and `y` of `half2` alone, which CUDA does not document.
    pub no_undocumented: bool,
}
