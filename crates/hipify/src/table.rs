//! The counterparts of CUDA names: the rows of `data/*.tsv`, indexed by a perfect hash.

use serde::Serialize;

use crate::options::{Rocm, Target};
use crate::rules::{Action, Rule};
use crate::signature::{Shape, When};

/// The kind of a name, as counted by the statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Kind {
    Error,
    Init,
    Version,
    Device,
    Context,
    Module,
    Memory,
    VirtualMemory,
    OrderedMemory,
    Multicast,
    Unified,
    Stream,
    Event,
    ExternalResource,
    StreamMemory,
    Execution,
    Graph,
    Occupancy,
    Texture,
    Surface,
    Tensor,
    Peer,
    Graphics,
    DriverEntryPoint,
    Cpp,
    Coredump,
    DriverInteract,
    Profiler,
    OpenGL,
    D3D9,
    D3D10,
    D3D11,
    VDPAU,
    EGL,
    Thread,
    Complex,
    Library,
    DeviceLibrary,
    DeviceFunction,
    DeviceType,
    Namespace,
    Include,
    IncludeCudaMainHeader,
    #[serde(rename = "include_cuda_main_header_v2")]
    IncludeCudaMainHeaderV2,
    Type,
    NumericLiteral,
    Define,
    KernelLaunch,
}

impl Kind {
    /// The name printed in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Error => "error",
            Kind::Init => "init",
            Kind::Version => "version",
            Kind::Device => "device",
            Kind::Context => "context",
            Kind::Module => "module",
            Kind::Memory => "memory",
            Kind::VirtualMemory => "virtual_memory",
            Kind::OrderedMemory => "ordered_memory",
            Kind::Multicast => "multicast",
            Kind::Unified => "unified",
            Kind::Stream => "stream",
            Kind::Event => "event",
            Kind::ExternalResource => "external_resource",
            Kind::StreamMemory => "stream_memory",
            Kind::Execution => "execution",
            Kind::Graph => "graph",
            Kind::Occupancy => "occupancy",
            Kind::Texture => "texture",
            Kind::Surface => "surface",
            Kind::Tensor => "tensor",
            Kind::Peer => "peer",
            Kind::Graphics => "graphics",
            Kind::DriverEntryPoint => "driver_entry_point",
            Kind::Cpp => "cpp",
            Kind::Coredump => "coredump",
            Kind::DriverInteract => "driver_interact",
            Kind::Profiler => "profiler",
            Kind::OpenGL => "openGL",
            Kind::D3D9 => "D3D9",
            Kind::D3D10 => "D3D10",
            Kind::D3D11 => "D3D11",
            Kind::VDPAU => "VDPAU",
            Kind::EGL => "EGL",
            Kind::Thread => "thread",
            Kind::Complex => "complex",
            Kind::Library => "library",
            Kind::DeviceLibrary => "device_library",
            Kind::DeviceFunction => "device_function",
            Kind::DeviceType => "device_type",
            Kind::Namespace => "namespace",
            Kind::Include => "include",
            Kind::IncludeCudaMainHeader => "include_cuda_main_header",
            Kind::IncludeCudaMainHeaderV2 => "include_cuda_main_header_v2",
            Kind::Type => "type",
            Kind::NumericLiteral => "numeric_literal",
            Kind::Define => "define",
            Kind::KernelLaunch => "kernel_launch",
        }
    }
}

/// The programming interface that a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Api {
    Driver,
    Runtime,
    Complex,
    Blas,
    Rand,
    Dnn,
    Fft,
    Sparse,
    Solver,
    Cub,
    Caffe2,
    Rtc,
    Nccl,
    Thrust,
}

impl Api {
    /// The name printed in statistics.
    pub fn name(self) -> &'static str {
        match self {
            Api::Driver => "CUDA Driver API",
            Api::Runtime => "CUDA RT API",
            Api::Complex => "cuComplex API",
            Api::Blas => "cuBLAS API",
            Api::Rand => "cuRAND API",
            Api::Dnn => "cuDNN API",
            Api::Fft => "cuFFT API",
            Api::Sparse => "cuSPARSE API",
            Api::Solver => "cuSOLVER API",
            Api::Cub => "CUB API",
            Api::Caffe2 => "CAFFE2 API",
            Api::Rtc => "RTC API",
            Api::Nccl => "NCCL API",
            Api::Thrust => "Thrust API",
        }
    }

    /// Whether a separate ROC library may replace the HIP one.
    fn has_roc(self) -> bool {
        matches!(
            self,
            Api::Blas | Api::Dnn | Api::Sparse | Api::Solver | Api::Runtime | Api::Complex | Api::Rand
        )
    }
}

/// The table in `data/` that contains a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Table {
    Driver,
    Runtime,
    Device,
    Complex,
    Blas,
    Dnn,
    Fft,
    Rand,
    Rtc,
    Solver,
    Sparse,
    Cub,
    Nccl,
    Thrust,
    Caffe2,
    Headers,
}

impl Table {
    /// Every table, in the order of the documentation.
    pub const ALL: [Table; 16] = [
        Table::Driver,
        Table::Runtime,
        Table::Device,
        Table::Complex,
        Table::Rtc,
        Table::Blas,
        Table::Sparse,
        Table::Solver,
        Table::Dnn,
        Table::Fft,
        Table::Rand,
        Table::Cub,
        Table::Thrust,
        Table::Nccl,
        Table::Caffe2,
        Table::Headers,
    ];

    /// Its title in the documentation.
    pub fn title(self) -> &'static str {
        match self {
            Table::Driver => "CUDA driver API",
            Table::Runtime => "CUDA runtime API",
            Table::Device => "Device functions and types",
            Table::Complex => "cuComplex",
            Table::Blas => "cuBLAS, cuBLASLt",
            Table::Dnn => "cuDNN",
            Table::Fft => "cuFFT",
            Table::Rand => "cuRAND",
            Table::Rtc => "NVRTC",
            Table::Solver => "cuSOLVER",
            Table::Sparse => "cuSPARSE",
            Table::Cub => "CUB",
            Table::Nccl => "NCCL",
            Table::Thrust => "Thrust",
            Table::Caffe2 => "Caffe2",
            Table::Headers => "Headers",
        }
    }
}

/// A set of further facts about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(u16);

#[allow(missing_docs)]
impl Flags {
    /// HIP has no counterpart.
    pub const NO_HIP: Flags = Flags(1);
    /// The ROC library has no counterpart.
    pub const NO_ROC: Flags = Flags(1 << 1);
    pub const CUDA_DEPRECATED: Flags = Flags(1 << 2);
    pub const HIP_DEPRECATED: Flags = Flags(1 << 3);
    pub const ROC_DEPRECATED: Flags = Flags(1 << 4);
    pub const CUDA_REMOVED: Flags = Flags(1 << 5);
    pub const HIP_REMOVED: Flags = Flags(1 << 6);
    pub const ROC_REMOVED: Flags = Flags(1 << 7);
    /// Translated only if experimental interfaces are requested.
    pub const EXPERIMENTAL: Flags = Flags(1 << 8);
    /// Translated only if the source includes the library's `_v2` header.
    pub const V2_ONLY: Flags = Flags(1 << 9);
    /// The ROC name is MIOpen's.
    pub const MIOPEN_ONLY: Flags = Flags(1 << 10);
    /// The counterpart depends on the number of arguments.
    pub const OVERLOADED: Flags = Flags(1 << 11);
    /// A type that `struct` or `enum` may precede in CUDA and not in HIP.
    pub const NO_TAG: Flags = Flags(1 << 12);
    /// A template whose name is also a common word: it counts with its arguments only.
    pub const TEMPLATE: Flags = Flags(1 << 13);

    pub(crate) const fn new(bits: u16) -> Self {
        Flags(bits)
    }

    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// Whether all flags of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A CUDA name and its counterparts.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name in CUDA, the path of a header, or the qualified name of a namespace.
    pub cuda: &'static str,
    /// The name in HIP. If the flags say that HIP lacks it, the name that it would have.
    pub hip: &'static str,
    /// The name in the ROC library, or empty.
    pub roc: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// The interface that it belongs to.
    pub api: Api,
    /// The table that contains it.
    pub table: Table,
    /// The section of the library's manual, numbered as in `data/sections.tsv`; 0 for none.
    pub section: u8,
    /// Further facts.
    pub flags: Flags,
    /// The CUDA version that introduced it; empty if it predates the records.
    pub cuda_in: &'static str,
    /// The CUDA version that deprecated it, or empty.
    pub cuda_deprecated: &'static str,
    /// The first CUDA version without it, or empty.
    pub cuda_out: &'static str,
    /// The HIP version that introduced the counterpart, or empty.
    pub hip_in: &'static str,
    /// The HIP version that deprecated the counterpart, or empty.
    pub hip_deprecated: &'static str,
    /// The first HIP version without the counterpart, or empty.
    pub hip_out: &'static str,
    /// The ROCm version that introduced the ROC counterpart, or empty.
    pub roc_in: &'static str,
}

impl Entry {
    /// Whether `target` uses the ROC library's name.
    pub fn to_roc(&self, target: Target) -> bool {
        self.api.has_roc()
            && match target {
                Target::Hip => false,
                Target::Roc => !self.flags.has(Flags::MIOPEN_ONLY),
                Target::Miopen => true,
            }
    }

    /// Whether a release has a counterpart under `target`.
    pub fn presence(&self, target: Target, rocm: Rocm) -> Presence {
        let roc = self.to_roc(target);
        if self.flags.has(if roc { Flags::NO_ROC } else { Flags::NO_HIP }) {
            return Presence::Never;
        }
        let since = if roc && !self.roc.is_empty() {
            Rocm::read(self.roc_in)
        } else {
            match renamed(self.cuda).filter(|old| old.until.is_some_and(|until| rocm < until)) {
                Some(old) => old.from,
                None => Rocm::read(self.hip_in),
            }
        };
        match since.filter(|since| rocm < *since) {
            Some(since) => Presence::Since(since),
            None => Presence::Here,
        }
    }

    /// Whether a release has no counterpart under `target`.
    pub fn unsupported(&self, target: Target, rocm: Rocm) -> bool {
        self.presence(target, rocm) != Presence::Here
    }

    /// Its counterpart under `target` in a release.
    pub fn replacement(&self, target: Target, rocm: Rocm) -> &'static str {
        if self.to_roc(target) && !self.roc.is_empty() {
            return self.roc;
        }
        match renamed(self.cuda).filter(|old| old.until.is_some_and(|until| rocm < until)) {
            Some(old) => old.hip,
            None => self.hip,
        }
    }

    /// The title of its section in the library's manual.
    pub fn section_title(&self) -> Option<&'static str> {
        let table = format!("{:?}", self.table).to_lowercase();
        let section = self.section.to_string();
        SECTIONS.iter().find(|[t, s, _]| *t == table && *s == section).map(|[_, _, title]| *title)
    }
}

/// Whether a release has a counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It has.
    Here,
    /// Only later ones have, from this one on.
    Since(Rocm),
    /// No release has.
    Never,
}

/// The counterpart that a name had before the one in its entry.
pub(crate) struct Renamed {
    /// The name in CUDA.
    cuda: &'static str,
    /// The older counterpart.
    hip: &'static str,
    /// The first release with the older counterpart, if it is recorded.
    from: Option<Rocm>,
    /// The first release with the entry's counterpart.
    until: Option<Rocm>,
}

/// A name that older releases declare only if a macro is defined.
pub(crate) struct Guard {
    name: &'static str,
    /// The macro.
    pub define: &'static str,
    /// The first release that does without.
    until: Option<Rocm>,
}

/// A member of a structure of CUDA's that HIP's does not have under this name.
pub(crate) struct Member {
    /// HIP's structure.
    pub of: &'static str,
    /// CUDA's member; `{}` stands for lists that set members by position, where the orders differ, and `=`
    /// for the structure itself, which is another one.
    pub member: &'static str,
    /// HIP's member; `@` and the member's structure, which has such members; empty if there is none.
    pub hip: &'static str,
    /// What to write if there is none.
    pub advice: &'static str,
}

fn renamed(cuda: &str) -> Option<&'static Renamed> {
    RENAMED.binary_search_by(|row| row.cuda.cmp(cuda)).ok().and_then(|place| RENAMED.get(place))
}

/// The macro without which a release does not declare a name.
pub(crate) fn guard(name: &str, rocm: Rocm) -> Option<&'static Guard> {
    let place = GUARDS.binary_search_by(|row| row.name.cmp(name)).ok()?;
    GUARDS.get(place).filter(|guard| guard.until.is_some_and(|until| rocm < until))
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The entry of an identifier.
pub fn name(name: &str) -> Option<&'static Entry> {
    NAMES.get(name).and_then(|place| ENTRIES.get(usize::from(*place)))
}

/// The entry of a namespace, given with all its qualifiers (`thrust::cuda`).
pub fn namespace(path: &str) -> Option<&'static Entry> {
    NAMESPACES.get(path).and_then(|place| ENTRIES.get(usize::from(*place)))
}

/// The entry of a header.
pub fn header(path: &str) -> Option<&'static Entry> {
    HEADERS.binary_search_by(|entry| entry.cuda.cmp(path)).ok().and_then(|place| HEADERS.get(place))
}

/// Whether a header is CUDA's or a counterpart of one, and so not part of the project.
pub(crate) fn is_known_header(path: &str) -> bool {
    header(path).is_some() || HEADERS.iter().any(|entry| entry.hip == path || entry.roc == path)
}

/// Every row of every table.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().chain(&HEADERS)
}

/// The argument edits for calls of a function.
pub(crate) fn rules(name: &str) -> &'static [Rule] {
    RULE_PLACES.get(name).and_then(|(a, b)| RULES.get(usize::from(*a)..usize::from(*b))).unwrap_or(&[])
}

/// The text of the longest matching pattern; `*` at the end of a pattern matches any rest.
fn fitting(patterns: &[[&'static str; 2]], name: &str) -> Option<&'static str> {
    patterns
        .iter()
        .filter(|[pattern, _]| match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => *pattern == name,
        })
        .max_by_key(|[pattern, _]| pattern.len())
        .map(|[_, text]| *text)
}

/// The alternative to a name without a counterpart.
pub(crate) fn hint(name: &str) -> Option<&'static str> {
    fitting(&HINTS, name)
}

/// The row for a word of a build file: what takes its place, and what to do.
pub(crate) fn build_word(kind: &str, word: &str) -> Option<(&'static str, &'static str)> {
    let row = |kind: &str, word: &str| {
        BUILD
            .iter()
            .filter(|[pattern, of, ..]| {
                *of == kind
                    && match pattern.strip_suffix('*') {
                        Some(prefix) => word.starts_with(prefix),
                        None => *pattern == word,
                    }
            })
            .max_by_key(|[pattern, ..]| pattern.len())
            .map(|[_, _, to, advice]| (*to, *advice))
    };
    // CMake files have the options of makefiles, and both have programs.
    row(kind, word)
        .or_else(|| if word.starts_with('-') { row("make", word) } else { None })
        .or_else(|| row("tool", word.rsplit('/').next().unwrap_or(word)))
}

/// Advice about an NVIDIA header that is in no table.
pub(crate) fn foreign_header(path: &str) -> Option<&'static str> {
    fitting(&FOREIGN, path)
}

/// Whether a name is that of a function for devices that no release of HIP has.
pub(crate) fn lacks_device_function(text: &str) -> bool {
    name(text).is_some_and(|entry| entry.kind == Kind::DeviceFunction && entry.flags.has(Flags::NO_HIP))
}

/// A qualified name of a library of NVIDIA's.
pub(crate) struct Foreign {
    /// The include without which the name is another's, or its start; empty if it is CUDA's anyway.
    pub header: &'static str,
    /// The first release of ROCm that has it.
    pub since: Option<Rocm>,
    /// What takes the place of its namespace, or of a directive that uses this one; empty if HIP lacks it.
    pub space: &'static str,
    /// What to do without a counterpart.
    pub advice: &'static str,
}

/// The row for a name with all its qualifiers.
pub(crate) fn foreign_name(path: &str) -> Option<Foreign> {
    QUALIFIED
        .iter()
        .filter(|[pattern, ..]| match pattern.strip_suffix('*') {
            Some(prefix) => path.starts_with(prefix),
            None => *pattern == path,
        })
        .max_by_key(|[pattern, ..]| pattern.len())
        .map(|[_, header, since, space, advice]| Foreign { header, since: Rocm::read(since), space, advice })
}

/// Whether a namespace begins the name of a row in `data/qualified.tsv`.
pub(crate) fn is_foreign_space(name: &str) -> bool {
    QUALIFIED.iter().any(|[pattern, ..]| pattern.split("::").next() == Some(name))
}

/// What to write instead of a word of PTX: an instruction or a register.
pub(crate) fn ptx(word: &str) -> Option<&'static str> {
    fitting(&PTX, word)
}

/// The likely owner of a name that is in no table, judged by its prefix.
pub(crate) fn looks_like(name: &str) -> Option<&'static str> {
    // A fast path: nearly every word fails here.
    if !name.starts_with(['c', 'C', 'n', 'N']) {
        return None;
    }
    let capital = |rest: &str| rest.starts_with(|first: char| first.is_ascii_uppercase());
    PREFIXES
        .iter()
        .find(|[prefix, _]| name.strip_prefix(prefix).is_some_and(capital))
        .map(|[_, owner]| *owner)
}

/// The families of functions of packed integers: name, kinds, operands, values, what else they do.
pub(crate) fn packed() -> &'static [[&'static str; 5]] {
    &PACKED
}

/// The value that CUDA's host compiler gives to a macro; `Some("")` if it leaves the macro undefined.
pub(crate) fn predefined(name: &str) -> Option<&'static str> {
    PREDEFINED
        .binary_search_by(|[macro_name, _]| (*macro_name).cmp(name))
        .ok()
        .and_then(|place| PREDEFINED.get(place))
        .map(|[_, value]| *value)
}
