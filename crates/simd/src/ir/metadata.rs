//! A module's metadata and target attributes: debug information (line tables only, so that a fault's address
//! gives its line), and hints for branches and loops. The numbers are fixed except for the lines', which are
//! defined as they are used.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use super::LlvmModule;

/// A function that has debug information of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The code of one warp, which holds all lines.
    Warp,
    /// The loops over blocks and warps around it.
    Blocks,
    /// The loop over a block's warps.
    Sweep,
}

/// Where an instruction stands in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Nowhere: it has no source.
    #[default]
    None,
    /// In a function without lines.
    In(Scope),
    /// In this line of the kernel.
    Line(u32),
}

/// A fixed item of metadata, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Meta(u64);

/// An empty node; also says that a load is invariant.
pub(super) const NOTHING: Meta = Meta(0);
/// The second target of a branch is likely.
pub(super) const SECOND: Meta = Meta(1);
const UNIT: Meta = Meta(2);
const DEBUG_VERSION: Meta = Meta(3);
const FILE: Meta = Meta(4);
const WARP: Meta = Meta(5);
const BLOCKS: Meta = Meta(6);
const IN_BLOCKS: Meta = Meta(7);
const DWARF_VERSION: Meta = Meta(8);
const FUNCTION_TYPE: Meta = Meta(9);
/// The first target of a branch is likely.
pub(super) const FIRST: Meta = Meta(10);
const SWEEP: Meta = Meta(11);
const IN_SWEEP: Meta = Meta(12);
/// A loop that is to be unrolled.
pub(super) const UNROLLED: Meta = Meta(13);
const UNROLL: Meta = Meta(14);
/// The number of line 0; each line has one.
const LINES: u64 = 16;

/// The weight of a likely branch beside that of an unlikely one, which is 1.
const LIKELY: u32 = (1 << 20) - 1;

impl fmt::Display for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "!{}", self.0)
    }
}

impl Scope {
    const ALL: [Scope; 3] = [Scope::Warp, Scope::Blocks, Scope::Sweep];

    /// Its `DISubprogram`.
    pub(super) fn function(self) -> Meta {
        match self {
            Scope::Warp => WARP,
            Scope::Blocks => BLOCKS,
            Scope::Sweep => SWEEP,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Scope::Warp => "warp",
            Scope::Blocks => "blocks",
            Scope::Sweep => "sweep",
        }
    }
}

impl Place {
    /// Its `DILocation`.
    pub(super) fn location(self) -> Option<Meta> {
        match self {
            Place::None => None,
            Place::In(Scope::Blocks) => Some(IN_BLOCKS),
            Place::In(Scope::Sweep) => Some(IN_SWEEP),
            Place::In(Scope::Warp) => Some(Meta(LINES)),
            Place::Line(line) => Some(Meta(LINES + u64::from(line))),
        }
    }
}

/// The processor that code is made for, and how it computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Processor<'a> {
    /// Its name for LLVM.
    pub cpu: &'a str,
    /// The features for LLVM.
    pub features: &'a str,
    /// The bits of the vectors that code may use.
    pub vector_bits: u32,
    /// Subnormal operands and results of f32 arithmetic are flushed to zero.
    pub flushes: bool,
}

impl fmt::Display for Processor<'_> {
    /// The attributes that all functions have. A null pointer is an address like any other.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Processor { cpu, features, vector_bits: bits, flushes } = self;
        f.write_str("nounwind null_pointer_is_valid ")?;
        if *flushes {
            f.write_str("\"denormal-fp-math\"=\"preserve-sign,preserve-sign\" ")?;
        }
        write!(f, "\"prefer-vector-width\"=\"{bits}\" \"min-legal-vector-width\"=\"{bits}\" ")?;
        write!(f, "\"target-cpu\"=\"{cpu}\" \"target-features\"=\"{features}\"")
    }
}

impl LlvmModule {
    /// Writes all metadata that the module's functions refer to.
    pub(super) fn metadata(&self, out: &mut String) {
        let mut define = |meta: Meta, what: fmt::Arguments<'_>| {
            let _ = writeln!(out, "{meta} = {what}");
        };
        define(NOTHING, format_args!("!{{}}"));
        define(SECOND, format_args!("!{{!\"branch_weights\", i32 1, i32 {LIKELY}}}"));
        define(FIRST, format_args!("!{{!\"branch_weights\", i32 {LIKELY}, i32 1}}"));
        define(UNROLLED, format_args!("distinct !{{{UNROLLED}, {UNROLL}}}"));
        define(UNROLL, format_args!("!{{!\"llvm.loop.unroll.full\"}}"));
        define(DEBUG_VERSION, format_args!("!{{i32 2, !\"Debug Info Version\", i32 3}}"));
        define(DWARF_VERSION, format_args!("!{{i32 7, !\"Dwarf Version\", i32 4}}"));
        define(FILE, format_args!("!DIFile(filename: \"kernel\", directory: \"\")"));
        define(FUNCTION_TYPE, format_args!("!DISubroutineType(types: {NOTHING})"));
        let kind = "language: DW_LANG_C, emissionKind: LineTablesOnly";
        define(UNIT, format_args!("distinct !DICompileUnit({kind}, file: {FILE})"));
        for scope in Scope::ALL {
            let kind = format_args!("unit: {UNIT}, type: {FUNCTION_TYPE}, spFlags: DISPFlagDefinition");
            let name = scope.name();
            define(
                scope.function(),
                format_args!("distinct !DISubprogram(name: \"{name}\", file: {FILE}, line: 1, {kind})"),
            );
        }
        let blocks = self.functions.iter().flat_map(|f| &f.blocks);
        let used: BTreeSet<Place> = blocks.flat_map(|b| &b.insts).map(|i| i.place).collect();
        // The loop over a block's warps may be appended to the module later.
        let places = used.into_iter().chain([Place::In(Scope::Sweep)]).collect::<BTreeSet<_>>();
        for place in places {
            let Some(meta) = place.location() else { continue };
            let (line, scope) = match place {
                Place::Line(line) => (line, Scope::Warp),
                Place::In(scope) => (0, scope),
                Place::None => continue,
            };
            define(meta, format_args!("!DILocation(line: {line}, scope: {})", scope.function()));
        }
        let _ = writeln!(out, "!llvm.dbg.cu = !{{{UNIT}}}");
        let _ = writeln!(out, "!llvm.module.flags = !{{{DEBUG_VERSION}, {DWARF_VERSION}}}");
    }
}
