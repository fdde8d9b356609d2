//! Options of a translation.

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
}
