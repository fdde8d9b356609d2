//! The processor that code is compiled for.

use std::fmt;

use host::processor::{self, Processor};

/// The processor that code is compiled for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// LLVM's name for the processor.
    pub cpu: &'static str,
    /// Features in addition to the name's, as `+a,+b`.
    pub features: String,
    /// AVX-512 with its byte, word, doubleword and vector-length extensions.
    pub avx512: bool,
    /// Whose processor it is, which decides what pays, not what runs.
    pub maker: Maker,
}

/// The makers of processors on which different code is fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Maker {
    /// Any: code as measured on Intel's.
    #[default]
    Any,
    /// AMD: its processors see far ahead without prefetches, and add in memory quickly.
    Amd,
}

impl Maker {
    /// The maker of this machine's processor.
    fn here() -> Maker {
        let leaf = std::arch::x86_64::__cpuid(0);
        let name = [leaf.ebx, leaf.edx, leaf.ecx].map(u32::to_le_bytes).concat();
        if name == b"AuthenticAMD" { Maker::Amd } else { Maker::Any }
    }
}

/// The name is no processor whose code this machine can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTarget(String);

impl fmt::Display for UnknownTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot compile for {}: this machine runs {}", self.0, processor::runnable())
    }
}

impl std::error::Error for UnknownTarget {}

impl Target {
    /// Whether kernels can be compiled for it: AVX2 is the minimum.
    pub fn has_vectors(&self) -> bool {
        self.avx512 || self.cpu == "x86-64-v3"
    }

    /// Whether it has instructions for dot products of bf16.
    pub fn has_bf16(&self) -> bool {
        self.has("avx512bf16")
    }

    /// Whether it has instructions for dot products of bytes.
    pub fn has_vnni(&self) -> bool {
        self.has("avx512vnni")
    }

    fn has(&self, feature: &str) -> bool {
        self.avx512 && self.features.split(',').any(|f| f.strip_prefix('+') == Some(feature))
    }

    /// The target with this name: `native`, `x86-64-v3` (AVX2) or `x86-64-v4` (AVX-512).
    ///
    /// # Errors
    /// This machine cannot run code for that processor.
    pub fn named(name: &str) -> Result<Target, UnknownTarget> {
        Processor::from_name(name)
            .filter(|processor| processor.runs_here())
            .map(Target::of)
            .ok_or_else(|| UnknownTarget(name.to_string()))
    }

    /// The target for a processor whose code this machine can run.
    pub fn of(processor: Processor) -> Target {
        let plain = |cpu, avx512| Target { cpu, features: String::new(), avx512, maker: Maker::Any };
        let here = |target| Target { maker: Maker::here(), ..target };
        match processor {
            Processor::V4 => plain("x86-64-v4", true),
            Processor::V3 => plain("x86-64-v3", false),
            Processor::Native if processor::has_avx512() => {
                let mut features = Vec::new();
                for (name, there) in [
                    ("avx512vbmi", is_x86_feature_detected!("avx512vbmi")),
                    ("avx512vbmi2", is_x86_feature_detected!("avx512vbmi2")),
                    ("avx512bf16", is_x86_feature_detected!("avx512bf16")),
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
                Target { features: features.join(","), ..here(plain("x86-64-v4", true)) }
            }
            Processor::Native if processor::has_avx2() => here(plain("x86-64-v3", false)),
            Processor::Native => plain("x86-64-v2", false),
        }
    }

    /// This machine's processor.
    pub fn native() -> Target {
        Target::of(Processor::Native)
    }
}
