//! What an instruction is, after decoding.

use crate::target::Generation;

use super::table::{Encoding, Op, Row};

/// Most bytes of an instruction.
pub const MAX_SIZE: usize = 20;

macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident $text:literal)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// The member with this name.
            pub fn of_name(name: &str) -> Option<$name> {
                match name { $($text => Some($name::$variant),)* _ => None }
            }

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

named! {
    /// What an operand is to its instruction: the field that holds it, by AMD's names.
    Role {
        /// Vector result.
        Vdst "vdst"
        /// Scalar result; in vector instructions the carry or comparison result.
        Sdst "sdst"
        /// First source.
        Src0 "src0"
        /// Second source.
        Src1 "src1"
        /// Third source.
        Src2 "src2"
        /// Fourth source (exports).
        Src3 "src3"
        /// Indices of a sparse matrix product.
        Idx "idx"
        /// Immediate of 16 bits.
        Simm16 "simm16"
        /// Immediate of 32 bits.
        Imm "imm"
        /// A register that the encoding implies.
        Implied "implied"
        /// Source of interpolation.
        Vsrc "vsrc"
        /// Attribute of interpolation.
        Attr "attr"
        /// Channel of the attribute.
        AttrChan "attrchan"
        /// LDS address.
        Addr "addr"
        /// Vector address.
        Vaddr "vaddr"
        /// First data.
        Data0 "data0"
        /// Second data.
        Data1 "data1"
        /// Data of global wave sync.
        Gdata "gdata"
        /// Data of a vector memory instruction: source of stores, result of loads.
        Vdata "vdata"
        /// Scalar address.
        Saddr "saddr"
        /// Scalar base address.
        Sbase "sbase"
        /// Scalar offset.
        Soffset "soffset"
        /// Constant offset.
        Offset "offset"
        /// Descriptor of a buffer or an image.
        Srsrc "srsrc"
        /// Descriptor of a sampler.
        Ssamp "ssamp"
        /// Target of an export.
        Tgt "tgt"
    }
}

named! {
    /// Controls of an instruction besides its operands.
    Mod {
        /// Results are clamped.
        Clamp "clamp"
        /// Results are multiplied: 1 by 2, 2 by 4, 3 by 1/2.
        Omod "omod"
        /// Halves of sources, and of the result, to use: a bit for each.
        OpSel "op_sel"
        /// Halves for the high half of the result.
        OpSelHi "op_sel_hi"
        /// Negated sources, for the low half.
        NegLo "neg_lo"
        /// Negated sources, for the high half.
        NegHi "neg_hi"
        /// High half of an attribute.
        High "high"
        /// Part of the result that is written.
        DstSel "dst_sel"
        /// What happens to the rest of the result.
        DstUnused "dst_unused"
        /// Part of the first source.
        Src0Sel "src0_sel"
        /// Part of the second source.
        Src1Sel "src1_sel"
        /// Permutation of lanes.
        DppCtrl "dpp_ctrl"
        /// Rows of lanes that are written.
        RowMask "row_mask"
        /// Banks of lanes that are written.
        BankMask "bank_mask"
        /// Lanes without a source read 0.
        BoundCtrl "bound_ctrl"
        /// Inactive lanes are read.
        Fi "fi"
        /// Permutation in groups of eight lanes.
        Dpp8 "dpp8"
        /// Constant offset.
        Offset "offset"
        /// First constant offset of two.
        Offset0 "offset0"
        /// Second constant offset.
        Offset1 "offset1"
        /// Global data share.
        Gds "gds"
        /// Global coherence; atomics return the value before.
        Glc "glc"
        /// System coherence.
        Slc "slc"
        /// Device coherence.
        Dlc "dlc"
        /// Coherence between devices.
        Scc "scc"
        /// Temporal hint (gfx12).
        Th "th"
        /// Scope of coherence (gfx12).
        Scope "scope"
        /// The address has an index.
        Idxen "idxen"
        /// The address has an offset register.
        Offen "offen"
        /// A scratch address has a vector register.
        Sve "sve"
        /// Data goes to LDS.
        Lds "lds"
        /// A further register receives the state of the texture.
        Tfe "tfe"
        /// Format of a typed buffer.
        Format "format"
        /// Channels of an image.
        Dmask "dmask"
        /// Coordinates are not normalised.
        Unorm "unorm"
        /// Descriptor of 128 bits, or addresses of 16 bits.
        R128 "r128"
        /// Addresses of 16 bits.
        A16 "a16"
        /// Level-of-detail warnings.
        Lwe "lwe"
        /// The image is an array.
        Da "da"
        /// Dimension of the image.
        Dim "dim"
        /// Data of 16 bits.
        D16 "d16"
        /// Last export.
        Done "done"
        /// Compressed export.
        Compr "compr"
        /// Mask of valid lanes.
        Vm "vm"
        /// Export of a row.
        RowEn "row_en"
        /// Enabled sources of an export.
        En "en"
        /// Broadcast size of a matrix product.
        Cbsz "cbsz"
        /// Broadcast identifier of a matrix product.
        Abid "abid"
        /// Lane group of B, or formats.
        Blgp "blgp"
        /// Wait for vector results.
        WaitVdst "waitvdst"
        /// Wait for exports.
        WaitExp "waitexp"
        /// Wait before reading vector memory's sources.
        WaitVmVsrc "waitvsrc"
        /// Sparse index.
        IndexKey16 "index_key_16bit"
        /// Sparse index.
        IndexKey8 "index_key_8bit"
        /// Byte of the result.
        ByteSel "byte_sel"
        /// Byte of the result that is written.
        ByteDst "byte_dst"
        /// The truth table of a bitwise function.
        Bitop3 "bitop3"
        /// Non-volatile (gfx11 and before: ignored).
        Nv "nv"
    }
}

/// Registers with names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Special {
    /// Flat scratch base.
    FlatScratch,
    /// Mask of lanes to replay.
    XnackMask,
    /// Vector condition code.
    Vcc,
    /// Mask of active lanes.
    Exec,
    /// Zero, and no result.
    Null,
    /// Memory register 0.
    M0,
    /// Base of the LDS aperture.
    SharedBase,
    /// Limit of the LDS aperture.
    SharedLimit,
    /// Base of the scratch aperture.
    PrivateBase,
    /// Limit of the scratch aperture.
    PrivateLimit,
    /// Ordered wave identifier.
    PopsExitingWaveId,
    /// VCC is zero.
    Vccz,
    /// EXEC is zero.
    Execz,
    /// Scalar condition code.
    Scc,
    /// A word of LDS.
    LdsDirect,
}

/// Which part of a special register of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of it.
    Whole,
    /// The low 32 bits.
    Low,
    /// The high 32 bits.
    High,
}

/// The value of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Scalar registers from this one on.
    Sgpr(u16),
    /// Trap temporaries from this one on.
    Ttmp(u16),
    /// Vector registers from this one on.
    Vgpr(u16),
    /// Accumulation registers from this one on.
    Agpr(u16),
    /// A special register.
    Special(Special, Part),
    /// An inline integer, −16 to 64.
    Int(i8),
    /// An inline float: 0.5, −0.5, 1, −1, 2, −2, 4, −4, 1/2π.
    Float(u8),
    /// A word after the instruction.
    Literal(u32),
    /// An immediate in a field; how it prints depends on the instruction.
    Imm(i64),
    /// No register.
    Off,
}

/// How a constant is interpreted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Integer of 16 bits.
    I16,
    /// Integer of 32 bits.
    I32,
    /// Integer of 64 bits.
    I64,
    /// Float of 16 bits.
    F16,
    /// bfloat16.
    Bf16,
    /// Float of 32 bits.
    F32,
    /// Float of 64 bits.
    F64,
    /// Two integers of 16 bits.
    V2I16,
    /// Two floats of 16 bits.
    V2F16,
    /// Two bfloat16.
    V2Bf16,
    /// No constant can stand here.
    None,
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// What it is to the instruction.
    pub role: Role,
    /// Its value.
    pub value: Value,
    /// Its size in bits.
    pub bits: u16,
    /// How a constant is interpreted.
    pub ty: Type,
    /// The source is negated.
    pub neg: bool,
    /// The source's absolute value is used, before negation.
    pub abs: bool,
    /// The selected part of the source is extended with its sign (SDWA).
    pub sext: bool,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// Its address.
    pub address: u64,
    /// Its bytes, as words; those beyond `size` are 0.
    pub words: [u32; MAX_SIZE / 4],
    /// Size in bytes.
    pub size: u8,
    /// The operation.
    pub op: Op,
    /// The encoding.
    pub encoding: Encoding,
    /// Operands in the order of the assembly text: results first.
    pub operands: Vec<Operand>,
    /// Controls with their values, in the order of the assembly text.
    pub mods: Vec<(Mod, u32)>,
    /// The second half of a dual instruction. Both halves read their sources before either writes its result;
    /// the address, the bytes and the size are those of both.
    pub second: Option<Box<Inst>>,
    pub(super) row: &'static Row,
    pub(super) generation: Generation,
}

impl Inst {
    /// The operand with this role.
    pub fn operand(&self, role: Role) -> Option<&Operand> {
        self.operands.iter().find(|o| o.role == role)
    }

    /// The value of a control, if the instruction has it.
    pub fn control(&self, wanted: Mod) -> Option<u32> {
        self.mods.iter().find(|(m, _)| *m == wanted).map(|(_, value)| *value)
    }

    /// The value of a control; 0 if the instruction does not have it.
    pub fn modifier(&self, wanted: Mod) -> u32 {
        self.control(wanted).unwrap_or(0)
    }

    /// The name as the assembler writes it, with the ending that tells the encoding.
    pub fn mnemonic(&self) -> &'static str {
        self.row.mnemonic
    }
}
