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

/// The most that one effort is spent on.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The effort.
    pub effort: Effort,
    /// Bytes of LLVM IR, at most.
    pub bytes: usize,
    /// Why not more.
    pub why: &'static str,
}

/// The efforts, the best first. Times are processor seconds of one core of the machine that `docs/performance.md` describes, where no kernel
/// may take 20.
pub const BOUNDS: [Bound; 3] = [
    Bound {
        effort: Effort::Full,
        bytes: 4 << 20,
        why: "up to 1.5 s a MiB, and more where many values live from block to block",
    },
    Bound {
        effort: Effort::Light,
        bytes: 4 << 20,
        why: "up to 1.5 s a MiB: giving out registers among thousands of blocks, which grows faster than they do",
    },
    Bound { effort: Effort::Least, bytes: 32 << 20, why: "up to 0.5 s a MiB: choosing instructions" },
];

/// How a kernel is written.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Values lie in the warp's frame between blocks.
    pub in_frame: bool,
    /// Lines of LLVM IR from which an operation on vectors is a call of a function; `None`: none is.
    pub routines: Option<usize>,
    /// Bytes of LLVM IR, at most; of the last, what [`BOUNDS`] says.
    pub bytes: usize,
}

/// The forms, the best code first.
pub const FORMS: [Form; 3] = [
    Form { in_frame: false, routines: None, bytes: 2 << 20 },
    Form { in_frame: false, routines: Some(24), bytes: BOUNDS[0].bytes },
    Form { in_frame: true, routines: Some(8), bytes: BOUNDS[2].bytes },
];

/// What calls shorten a kernel's text by, at most: a form is not tried whose bound that does not reach.
pub const SHRINKS: usize = 3;

/// Operations beyond which a kernel is not tried with the full effort.
pub const MANY: usize = 100_000;

/// Whether text of so many bytes gets an effort.
pub fn allows(effort: Effort, bytes: usize) -> bool {
    BOUNDS.iter().any(|b| b.effort == effort && bytes <= b.bytes)
}

/// The effort for text whose values lie in the warp's frame between blocks, if any allows it.
pub fn in_frame(bytes: usize) -> Effort {
    if allows(Effort::Light, bytes) { Effort::Light } else { Effort::Least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_text_gets_less_effort() {
        assert_eq!(in_frame(1000), Effort::Light);
        assert_eq!(in_frame(BOUNDS[1].bytes + 1), Effort::Least);
        assert!(allows(Effort::Full, 1000) && !allows(Effort::Full, BOUNDS[0].bytes + 1));
        assert!(!allows(Effort::Least, BOUNDS[2].bytes + 1));
    }
}
