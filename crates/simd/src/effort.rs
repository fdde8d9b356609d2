//! LLVM's optimisation effort, chosen by the amount of code, so that every kernel compiles within a time that
//! a program can wait for.

/// How much time LLVM spends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effort {
    /// Values are optimised across the whole kernel.
    #[default]
    Full,
    /// Each block is optimised separately; values shared between blocks live in memory.
    Light,
    /// As for [`Effort::Light`], with instruction selection and register allocation at -O0.
    Least,
    /// The baseline tier: the fastest compilation, for code that optimised code will replace.
    First,
}

impl Effort {
    /// All efforts.
    pub const ALL: [Effort; 4] = [Effort::Full, Effort::Light, Effort::Least, Effort::First];

    /// Whether values live in the warp's frame between blocks.
    pub fn in_frame(self) -> bool {
        matches!(self, Effort::Light | Effort::Least)
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Full => "full",
            Effort::Light => "light",
            Effort::Least => "least",
            Effort::First => "first",
        }
    }
}

// Maximum bytes of LLVM IR for each effort. Times are processor seconds on one core of the machine in
// `docs/performance.md`; no kernel may take 20 seconds there.

/// For [`Effort::Full`]: up to 1.5 s per MiB, and more if many values are live across blocks.
pub const FULL: usize = 4 << 20;

/// For [`Effort::Light`]: up to 1.5 s per MiB, because register allocation over thousands of blocks grows
/// superlinearly.
pub const LIGHT: usize = 4 << 20;

/// For [`Effort::Least`] with AVX-512: 0.5 to 0.6 s per MiB, most of it instruction selection, measured on
/// NCCL's largest kernels (12 to 17 MiB).
pub const LEAST_AVX512: usize = 32 << 20;

/// For [`Effort::Least`] with AVX2: 0.7 to 1.0 s per MiB, measured on the same kernels (14 to 19 MiB). Each
/// vector becomes twice as many instructions.
pub const LEAST_AVX2: usize = 20 << 20;

/// Maximum number of places where a warp stops and resumes in one linearised kernel: LLVM's simplification
/// of the branch to them is quadratic (4,000 take 1.2 s, 20,000 take 63 s).
pub const MOST_STOPS: usize = 4_096;

/// Maximum bytes of LLVM IR that are compiled at all.
pub fn most(avx512: bool) -> usize {
    if avx512 { LEAST_AVX512 } else { LEAST_AVX2 }
}

/// A form in which a kernel is emitted.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Values live in the warp's frame between blocks.
    pub in_frame: bool,
    /// Number of lines of LLVM IR from which a vector operation is outlined; `None` outlines nothing.
    pub outlined: Option<usize>,
    /// Maximum bytes of LLVM IR; `None` for the last form, which is limited by [`most`] alone.
    pub bytes: Option<usize>,
}

/// The forms, best code first.
pub const FORMS: [Form; 3] = [
    Form { in_frame: false, outlined: None, bytes: Some(2 << 20) },
    Form { in_frame: false, outlined: Some(24), bytes: Some(FULL) },
    Form { in_frame: true, outlined: Some(8), bytes: None },
];

/// The most by which outlining shortens a linearised kernel's text. A form is skipped if that would not
/// suffice to meet its bound.
pub const SHRINKS: usize = 3;

/// Number of operations above which a kernel is not tried with full effort.
pub const MANY: usize = 100_000;

/// The same for a kernel in the per-lane mode, in which each of its many edges copies values, unless they
/// live in the frame.
pub const MANY_APART: usize = 6_000;

/// How many times as much text is compiled in the per-lane mode with values in the frame: blocks are small
/// and none keeps registers over its end, so LLVM takes 0.3 s per MiB with AVX-512 and 0.4 s with AVX2.
pub const APART: usize = 2;

/// The effort for text whose values live in the warp's frame between blocks.
pub fn in_frame(bytes: usize) -> Effort {
    if bytes <= LIGHT { Effort::Light } else { Effort::Least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_text_gets_less_effort() {
        assert_eq!(in_frame(1000), Effort::Light);
        assert_eq!(in_frame(LIGHT + 1), Effort::Least);
        assert!(FORMS.is_sorted_by_key(|f| f.bytes.unwrap_or(usize::MAX)));
        assert!([true, false].iter().all(|&avx512| most(avx512) > LIGHT.max(FULL)));
    }
}
