//! Kernel descriptors: the 64 bytes that tell the hardware how to start a kernel (LLVM's "User Guide for
//! AMDGPU Backend", "Kernel Descriptor").

use super::Error;
use crate::target::Generation;

/// Size of a descriptor in bytes.
pub const SIZE: usize = 64;

/// Generations, as a range, in which a field exists.
type Range = (Generation, Generation);

const ALL: Range = (Generation::Gfx8, Generation::Gfx12);
const UNTIL_9: Range = (Generation::Gfx8, Generation::Gfx940);
const UNTIL_10: Range = (Generation::Gfx8, Generation::Gfx10);
const UNTIL_11: Range = (Generation::Gfx8, Generation::Gfx11);
const FROM_9: Range = (Generation::Gfx9, Generation::Gfx12);
const FROM_90A: Range = (Generation::Gfx90a, Generation::Gfx12);
const ONLY_90A: Range = (Generation::Gfx90a, Generation::Gfx940);
const FROM_10: Range = (Generation::Gfx10, Generation::Gfx12);
const ONLY_10_11: Range = (Generation::Gfx10, Generation::Gfx11);
const ONLY_11: Range = (Generation::Gfx11, Generation::Gfx11);
const FROM_11: Range = (Generation::Gfx11, Generation::Gfx12);
const ONLY_12: Range = (Generation::Gfx12, Generation::Gfx12);

macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident $name:literal $at:literal $low:literal $bits:literal $range:ident;)*) => {
        /// Fields of a descriptor. Their names are those of LLVM's documentation, in lower case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Field { $($(#[$doc])* $field,)* }

        /// Each field: name, offset of its 32-bit word, lowest bit, width, generations.
        const FIELDS: &[(Field, &str, usize, u32, u32, Range)] =
            &[$((Field::$field, $name, $at, $low, $bits, $range),)*];
    };
}

fields! {
    /// Bytes of LDS that a workgroup needs.
    GroupSegment "group_segment_fixed_size" 0 0 32 ALL;
    /// Bytes of scratch that a lane needs.
    PrivateSegment "private_segment_fixed_size" 4 0 32 ALL;
    /// Bytes of the kernel's arguments.
    KernargSize "kernarg_size" 8 0 32 ALL;
    /// Offset of AGPRs in the unified register file, in units of 4, less 1.
    AccumOffset "accum_offset" 44 0 6 ONLY_90A;
    /// Waves of a workgroup may run on several compute units.
    TgSplit "tg_split" 44 16 1 ONLY_90A;
    /// VGPRs shared by the halves of a wave of 64 lanes, in units of 8.
    SharedVgprCount "shared_vgpr_count" 44 0 4 ONLY_10_11;
    /// Bytes of instructions to prefetch, in units of 128.
    InstPrefSize11 "inst_pref_size" 44 4 6 ONLY_11;
    /// Bytes of instructions to prefetch, in units of 128.
    InstPrefSize12 "inst_pref_size" 44 4 8 ONLY_12;
    /// Trap before the first instruction.
    TrapOnStart "trap_on_start" 44 10 1 ONLY_11;
    /// Trap at the end of the program.
    TrapOnEnd "trap_on_end" 44 11 1 ONLY_11;
    /// Group launch guarantee.
    GlgEn "glg_en" 44 13 1 ONLY_12;
    /// The kernel uses image instructions.
    ImageOp "image_op" 44 31 1 FROM_11;
    /// VGPRs in granules, less 1; [`KernelDescriptor::vgprs`] decodes it.
    Vgprs "granulated_workitem_vgpr_count" 48 0 6 ALL;
    /// SGPRs in granules, less 1; [`KernelDescriptor::sgprs`] decodes it.
    Sgprs "granulated_wavefront_sgpr_count" 48 6 4 UNTIL_9;
    /// Scheduling priority.
    Priority "priority" 48 10 2 ALL;
    /// Rounding of 32-bit floats: 0 nearest even, 1 up, 2 down, 3 towards zero.
    RoundMode32 "float_round_mode_32" 48 12 2 ALL;
    /// Rounding of 16- and 64-bit floats.
    RoundMode1664 "float_round_mode_16_64" 48 14 2 ALL;
    /// Denormals of 32-bit floats: bit 0 keeps sources, bit 1 keeps results.
    DenormMode32 "float_denorm_mode_32" 48 16 2 ALL;
    /// Denormals of 16- and 64-bit floats.
    DenormMode1664 "float_denorm_mode_16_64" 48 18 2 ALL;
    /// Privileged mode.
    Priv "priv" 48 20 1 ALL;
    /// Clamping turns a NaN into 0.
    Dx10Clamp "enable_dx10_clamp" 48 21 1 UNTIL_11;
    /// Round-robin scheduling of workgroups.
    WgRrEn "enable_wg_rr_en" 48 21 1 ONLY_12;
    /// Single-step mode.
    DebugMode "debug_mode" 48 22 1 ALL;
    /// Operations quieten signalling NaNs.
    IeeeMode "enable_ieee_mode" 48 23 1 UNTIL_11;
    /// No performance monitoring.
    DisablePerf "disable_perf" 48 23 1 ONLY_12;
    /// One workgroup on a compute unit.
    Bulky "bulky" 48 24 1 ALL;
    /// For the debugger.
    CdbgUser "cdbg_user" 48 25 1 ALL;
    /// Overflow of 16-bit floats gives the largest number instead of infinity.
    Fp16Ovfl "fp16_ovfl" 48 26 1 FROM_9;
    /// A workgroup runs on both compute units of a work-group processor.
    WgpMode "wgp_mode" 48 29 1 FROM_10;
    /// Memory operations return in order.
    MemOrdered "mem_ordered" 48 30 1 FROM_10;
    /// Oldest waves have no priority.
    FwdProgress "fwd_progress" 48 31 1 FROM_10;
    /// The kernel uses scratch.
    EnablePrivateSegment "enable_private_segment" 52 0 1 ALL;
    /// Number of user SGPRs, which the packet processor sets.
    UserSgprCount "user_sgpr_count" 52 1 5 ALL;
    /// A trap handler exists.
    TrapHandler "enable_trap_handler" 52 6 1 ALL;
    /// An SGPR holds the workgroup's x.
    WorkgroupIdX "enable_sgpr_workgroup_id_x" 52 7 1 ALL;
    /// An SGPR holds the workgroup's y.
    WorkgroupIdY "enable_sgpr_workgroup_id_y" 52 8 1 ALL;
    /// An SGPR holds the workgroup's z.
    WorkgroupIdZ "enable_sgpr_workgroup_id_z" 52 9 1 ALL;
    /// An SGPR holds facts about the workgroup.
    WorkgroupInfo "enable_sgpr_workgroup_info" 52 10 1 ALL;
    /// VGPRs with the work-item's position: 0 x, 1 x and y, 2 x, y and z.
    WorkitemId "enable_vgpr_workitem_id" 52 11 2 ALL;
    /// Exceptions for watched addresses.
    AddressWatch "enable_exception_address_watch" 52 13 1 ALL;
    /// Exceptions for memory violations.
    MemoryException "enable_exception_memory" 52 14 1 ALL;
    /// LDS in granules; the packet processor sets it.
    LdsSize "granulated_lds_size" 52 15 9 ALL;
    /// Traps for invalid operations.
    InvalidOperation "enable_exception_ieee_754_fp_invalid_operation" 52 24 1 ALL;
    /// Traps for denormal sources.
    DenormalSource "enable_exception_fp_denormal_source" 52 25 1 ALL;
    /// Traps for divisions by zero.
    DivisionByZero "enable_exception_ieee_754_fp_division_by_zero" 52 26 1 ALL;
    /// Traps for overflow.
    Overflow "enable_exception_ieee_754_fp_overflow" 52 27 1 ALL;
    /// Traps for underflow.
    Underflow "enable_exception_ieee_754_fp_underflow" 52 28 1 ALL;
    /// Traps for inexact results.
    Inexact "enable_exception_ieee_754_fp_inexact" 52 29 1 ALL;
    /// Traps for integer divisions by zero.
    IntDivideByZero "enable_exception_int_divide_by_zero" 52 30 1 ALL;
    /// User SGPRs: descriptor of the scratch buffer (4).
    PrivateSegmentBuffer "enable_sgpr_private_segment_buffer" 56 0 1 UNTIL_10;
    /// User SGPRs: address of the dispatch packet (2).
    DispatchPtr "enable_sgpr_dispatch_ptr" 56 1 1 ALL;
    /// User SGPRs: address of the queue (2).
    QueuePtr "enable_sgpr_queue_ptr" 56 2 1 ALL;
    /// User SGPRs: address of the kernel's arguments (2).
    KernargPtr "enable_sgpr_kernarg_segment_ptr" 56 3 1 ALL;
    /// User SGPRs: the dispatch's number (2).
    DispatchId "enable_sgpr_dispatch_id" 56 4 1 ALL;
    /// User SGPRs: base and size of scratch (2).
    FlatScratchInit "enable_sgpr_flat_scratch_init" 56 5 1 UNTIL_10;
    /// User SGPRs: bytes of scratch of a lane (1).
    PrivateSegmentSize "enable_sgpr_private_segment_size" 56 6 1 ALL;
    /// Waves of 32 lanes.
    Wave32 "enable_wavefront_size32" 56 10 1 FROM_10;
    /// The stack's size is not known when the kernel is compiled.
    DynamicStack "uses_dynamic_stack" 56 11 1 ALL;
    /// Dwords of arguments that are loaded into user SGPRs.
    PreloadLength "kernarg_preload_spec_length" 56 16 7 FROM_90A;
    /// The first of these dwords.
    PreloadOffset "kernarg_preload_spec_offset" 56 23 9 FROM_90A;
}

/// A kernel descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDescriptor {
    bytes: [u8; SIZE],
    generation: Generation,
}

impl KernelDescriptor {
    /// A descriptor from its bytes. `symbol` names it in errors.
    pub(super) fn read(bytes: &[u8], generation: Generation, symbol: &str) -> Result<Self, Error> {
        let bytes = bytes.try_into().map_err(|_| Error::Malformed {
            place: format!("the kernel descriptor {symbol}"),
            reason: format!("it has {} bytes instead of {SIZE}", bytes.len()),
        })?;
        Ok(KernelDescriptor { bytes, generation })
    }

    /// A 32-bit word; 0 beyond the end.
    fn word(&self, at: usize) -> u32 {
        self.bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    /// The value of a field; 0 if the generation does not have it.
    pub fn get(&self, field: Field) -> u32 {
        let found = FIELDS.iter().find(|f| f.0 == field && self.has(f.5));
        found.map_or(0, |&(_, _, at, low, bits, _)| self.bits(at, low, bits))
    }

    fn bits(&self, at: usize, low: u32, bits: u32) -> u32 {
        self.word(at) >> low & (u32::MAX >> (32 - bits))
    }

    fn has(&self, (first, last): Range) -> bool {
        (first..=last).contains(&self.generation)
    }

    /// All fields of the generation with their names and values, in the order of the descriptor.
    pub fn fields(&self) -> impl Iterator<Item = (Field, &'static str, u32)> {
        let mine = FIELDS.iter().filter(|f| self.has(f.5));
        mine.map(|&(field, name, at, low, bits, _)| (field, name, self.bits(at, low, bits)))
    }

    /// Distance in bytes from the descriptor to the kernel's first instruction.
    pub fn entry_offset(&self) -> i64 {
        (u64::from(self.word(20)) << 32 | u64::from(self.word(16))) as i64
    }

    /// Lanes of a wave.
    pub fn wave_size(&self) -> u32 {
        if self.get(Field::Wave32) == 1 { 32 } else { 64 }
    }

    /// Number of VGPRs that a lane may use, AGPRs of a unified file included.
    pub fn vgprs(&self) -> u32 {
        let granule = match self.generation {
            Generation::Gfx8 | Generation::Gfx9 => 4,
            Generation::Gfx90a | Generation::Gfx940 => 8,
            _ if self.wave_size() == 32 => 8,
            _ => 4,
        };
        (self.get(Field::Vgprs) + 1) * granule
    }

    /// Number of SGPRs that a wave may use; those of gfx10 and later are not counted.
    pub fn sgprs(&self) -> u32 {
        match self.generation {
            Generation::Gfx8 => (self.get(Field::Sgprs) + 1) * 8,
            Generation::Gfx9 | Generation::Gfx90a | Generation::Gfx940 => {
                (self.get(Field::Sgprs) / 2 + 1) * 16
            }
            _ => 128,
        }
    }

    /// The bits that no field covers and that must be zero; the reserved bytes included. Empty if all are.
    pub fn reserved(&self) -> Vec<(usize, u32)> {
        (0..SIZE / 4)
            .map(|i| i * 4)
            .filter(|at| !matches!(at, 16 | 20))
            .filter_map(|at| {
                let used = FIELDS.iter().filter(|f| f.2 == at && self.has(f.5));
                let known = used.fold(0, |all, f| all | (u32::MAX >> (32 - f.4)) << f.3);
                let rest = self.word(at) & !known;
                (rest != 0).then_some((at, rest))
            })
            .collect()
    }
}
