//! The processor that code is made for.

use std::fmt;

use crate::effort::{self, Effort};

/// What code may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// LLVM's name of the processor.
    pub cpu: &'static str,
    /// Features beyond the name, `+a,+b`.
    pub features: String,
    /// AVX-512 with its byte, word, double-word and vector-length parts.
    pub avx512: bool,
    /// Every kernel is compiled in the per-lane mode, also those that need not be: so that tests can compare.
    pub per_lane: bool,
    /// Every kernel is compiled with this effort, as large ones are: so that tests can compare.
    pub effort: Option<Effort>,
    /// Bytes of LLVM IR that a kernel may have; one that has more is interpreted. [`effort::most`], unless a test sets less.
    pub most: usize,
}

/// `ANYWARP_CPU` names nothing that this machine can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTarget(String);

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ANYWARP_CPU={}: this machine runs `native`", self.0)?;
        if has_avx2() {
            f.write_str(", `x86-64-v3`")?;
        }
        if has_avx512() {
            f.write_str(", `x86-64-v4`")?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownTarget {}

fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512cd")
        && has_avx2()
}

fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi2")
}

impl Target {
    /// Whether code can be made for it at all: AVX2 is the least.
    pub fn has_vectors(&self) -> bool {
        self.avx512 || self.cpu == "x86-64-v3"
    }

    /// By name: `native`, `x86-64-v3` (AVX2) or `x86-64-v4` (AVX-512).
    pub fn named(name: &str) -> Result<Target, UnknownTarget> {
        let plain = |cpu, avx512| Target {
            cpu,
            features: String::new(),
            avx512,
            per_lane: false,
            effort: None,
            most: effort::most(avx512),
        };
        match name {
            "x86-64-v4" if has_avx512() => Ok(plain("x86-64-v4", true)),
            "x86-64-v3" if has_avx2() => Ok(plain("x86-64-v3", false)),
            "native" if has_avx512() => {
                let mut features = Vec::new();
                for (name, there) in [
                    ("avx512vbmi", is_x86_feature_detected!("avx512vbmi")),
                    ("avx512vbmi2", is_x86_feature_detected!("avx512vbmi2")),
                    ("avx512vnni", is_x86_feature_detected!("avx512vnni")),
                    ("avx512ifma", is_x86_feature_detected!("avx512ifma")),
                    ("avx512bitalg", is_x86_feature_detected!("avx512bitalg")),
                    ("avx512vpopcntdq", is_x86_feature_detected!("avx512vpopcntdq")),
                    ("gfni", is_x86_feature_detected!("gfni")),
                ] {
                    if there {
                        features.push(format!("+{name}"));
                    }
                }
                Ok(Target { features: features.join(","), ..plain("x86-64-v4", true) })
            }
            "native" if has_avx2() => Ok(plain("x86-64-v3", false)),
            "native" => Ok(plain("x86-64-v2", false)),
            other => Err(UnknownTarget(other.to_string())),
        }
    }

    /// This machine's processor.
    pub fn native() -> Target {
        // The name is always known.
        Target::named("native").unwrap_or(Target {
            cpu: "x86-64-v2",
            features: String::new(),
            avx512: false,
            per_lane: false,
            effort: None,
            most: effort::most(false),
        })
    }

    /// By `ANYWARP_CPU`, `native` if it is not set.
    pub fn from_environment() -> Result<Target, UnknownTarget> {
        Target::named(&host::options::text("ANYWARP_CPU").unwrap_or_else(|| "native".into()))
    }
}
