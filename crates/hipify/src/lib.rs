//! Translates CUDA source to HIP source at the token level, without a compiler or CUDA headers. Bytes that do
//! not belong to CUDA are never changed.
//!
//! ```
//! let source = b"#include <cuda_runtime.h>\nint main() { cudaDeviceSynchronize(); }\n";
//! let translation = hipify::translate(source, &hipify::Options::default())?;
//! assert_eq!(
//!     translation.text,
//!     b"#include <hip/hip_runtime.h>\nint main() { hipDeviceSynchronize(); }\n"
//! );
//! # Ok::<(), hipify::TooLong>(())
//! ```
//!
//! The counterpart of each name is data (`data/*.tsv`), see [`table`]. [`translate`] runs the passes in
//! order: directives, headers, names with their calls, launches, definitions of what HIP lacks. The output
//! has the form that AMD's hipify-clang writes.

pub mod build_files;
mod condition;
mod diagnostic;
mod directives;
mod edit;
mod half2;
mod includes;
mod launch;
mod mask;
mod members;
mod options;
mod packed;
mod pointers;
mod project;
mod redefined;
mod rules;
mod signature;
mod source;
mod stats;
mod supplied;
mod survey;
pub mod table;
mod token;
mod translate;

pub use diagnostic::{Diagnostic, Lines, Reason};
pub use options::{Options, Rocm, Target, UnknownRocm};
pub use project::Project;
pub use stats::{Counter, Format, Statistics, print_totals};
pub use translate::{TooLong, Translation, translate};

/// Versions between which the tables know names: CUDA, cuDNN, HIP, and of HIP the runtime.
pub const VERSIONS: [(&str, &str, &str); 4] = [
    ("CUDA Toolkit", "7.0", "13.5"),
    ("cuDNN", "7.0.5", "9.5.0"),
    ("ROCm HIP", "5.0.0", "7.2.0"),
    ("HIP runtime", "5.0.0", "7.14.0"),
];
