//! The processor that the process runs on, as far as compiled code depends on it.

/// The processors that code can be compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Processor {
    /// This machine's processor, with all its features.
    #[default]
    Native,
    /// Any with AVX-512: level x86-64-v4.
    V4,
    /// Any with AVX2: level x86-64-v3.
    V3,
}

impl Processor {
    /// All variants.
    pub const ALL: [Processor; 3] = [Processor::Native, Processor::V4, Processor::V3];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Processor::Native => "native",
            Processor::V4 => "x86-64-v4",
            Processor::V3 => "x86-64-v3",
        }
    }

    /// The processor with a name.
    pub fn from_name(name: &str) -> Option<Processor> {
        Processor::ALL.into_iter().find(|processor| processor.name() == name)
    }

    /// Whether this machine can run its code.
    pub fn runs_here(self) -> bool {
        match self {
            Processor::Native => true,
            Processor::V4 => has_avx512(),
            Processor::V3 => has_avx2(),
        }
    }
}

/// The names of the processors whose code this machine can run, for messages.
pub fn runnable() -> String {
    let names: Vec<&str> =
        Processor::ALL.into_iter().filter(|processor| processor.runs_here()).map(Processor::name).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_string(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}

/// Whether the machine has the parts of AVX-512 that compiled code uses.
pub fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512cd")
        && has_avx2()
}

/// Whether the machine has AVX2 and the other features that compiled code uses with it.
pub fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_have_names() {
        for processor in Processor::ALL {
            assert_eq!(Processor::from_name(processor.name()), Some(processor));
        }
        assert_eq!(Processor::from_name("x86-64-v2"), None);
        assert!(Processor::Native.runs_here() && runnable().starts_with("native"));
        assert_eq!(runnable().contains("x86-64-v4"), has_avx512());
    }
}
