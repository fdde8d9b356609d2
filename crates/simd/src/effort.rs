//! How hard LLVM tries, by how much there is to compile: whatever the kernel, there is code within a time that a program can wait for.

/// How hard LLVM tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effort {
    /// Values are followed through the whole kernel.
    #[default]
    Full,
    /// Blocks are tidied each for itself; what they share lies in memory.
    Light,
    /// Besides, code is chosen and registers are given out in the quickest way.
    Least,
    /// The quickest of all, for code that better code takes the place of.
    First,
}

impl Effort {
    /// All of them.
    pub const ALL: [Effort; 4] = [Effort::Full, Effort::Light, Effort::Least, Effort::First];

    /// Whether values lie in the warp's frame between blocks.
    pub fn in_frame(self) -> bool {
        matches!(self, Effort::Light | Effort::Least)
    }

    /// What it is called in reports.
    pub fn name(self) -> &'static str {
        match self {
            Effort::Full => "full",
            Effort::Light => "light",
            Effort::Least => "least",
            Effort::First => "first",
        }
    }
}

// Bytes of LLVM IR, at most, of each effort. Times are processor seconds of one core of the machine that `docs/performance.md` describes, where
// no kernel may take 20.

/// For [`Effort::Full`]: up to 1.5 s a MiB, and more where many values live from block to block.
pub const FULL: usize = 4 << 20;

/// For [`Effort::Light`]: up to 1.5 s a MiB, for giving out registers among thousands of blocks, which grows faster than they do.
pub const LIGHT: usize = 4 << 20;

/// For [`Effort::Least`] and AVX-512: 0.5 to 0.6 s a MiB, most of it for choosing instructions, of NCCL's largest kernels (12 to 17 MiB).
pub const LEAST_AVX512: usize = 32 << 20;

/// For [`Effort::Least`] and AVX2: 0.7 to 1.0 s a MiB of the same kernels (14 to 19 MiB). Each vector of the text becomes twice as many
/// instructions.
pub const LEAST_AVX2: usize = 20 << 20;

/// Bytes of LLVM IR of which code is made at all.
pub fn most(avx512: bool) -> usize {
    if avx512 { LEAST_AVX512 } else { LEAST_AVX2 }
}

/// How a kernel is written.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Values lie in the warp's frame between blocks.
    pub in_frame: bool,
    /// Lines of LLVM IR from which an operation on vectors is a call of a function; `None`: none is.
    pub outlined: Option<usize>,
    /// Bytes of LLVM IR, at most; of the last, as many as are compiled at all.
    pub bytes: Option<usize>,
}

/// The forms, the best code first.
pub const FORMS: [Form; 3] = [
    Form { in_frame: false, outlined: None, bytes: Some(2 << 20) },
    Form { in_frame: false, outlined: Some(24), bytes: Some(FULL) },
    Form { in_frame: true, outlined: Some(8), bytes: None },
];

/// What calls shorten a kernel's text by, at most: a form is not tried whose bound that does not reach.
pub const SHRINKS: usize = 3;

/// Operations beyond which a kernel is not tried with the full effort.
pub const MANY: usize = 100_000;

/// The effort for text whose values lie in the warp's frame between blocks.
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
