//! Arithmetic: integers, floats, bits.

use names::names;

use crate::types::Fmt;

names! {
/// Integer operations with two operands of the same type. Arithmetic wraps.
pub enum IntOp {
    /// Sum.
    Add = "add",
    /// Difference.
    Sub = "sub",
    /// Low half of the product.
    Mul = "mul",
    /// High half of the signed product.
    MulHiS = "mulhi_s",
    /// High half of the unsigned product.
    MulHiU = "mulhi_u",
    /// Signed quotient, toward zero. As on the hardware, divisor 0 gives all ones, and MIN / -1 gives MIN.
    DivS = "div_s",
    /// Unsigned quotient. Divisor 0 gives all ones.
    DivU = "div_u",
    /// Signed remainder, with the dividend's sign. As on the hardware, divisor 0 gives all ones, and MIN % -1
    /// gives 0.
    RemS = "rem_s",
    /// Unsigned remainder. Divisor 0 gives all ones.
    RemU = "rem_u",
    /// Signed minimum.
    MinS = "min_s",
    /// Signed maximum.
    MaxS = "max_s",
    /// Unsigned minimum.
    MinU = "min_u",
    /// Unsigned maximum.
    MaxU = "max_u",
    /// Bitwise and.
    And = "and",
    /// Bitwise or.
    Or = "or",
    /// Bitwise exclusive or.
    Xor = "xor",
    /// Signed sum, saturated.
    AddSatS = "add_sat_s",
    /// Signed difference, saturated.
    SubSatS = "sub_sat_s",
}}

names! {
/// Shifts. The amount is an unsigned i32; amounts of at least the width shift everything out.
pub enum ShiftOp {
    /// Left.
    Shl = "shl",
    /// Right, filling with zeros.
    ShrU = "shr_u",
    /// Right, filling with the sign.
    ShrS = "shr_s",
}}

names! {
/// Integer operations with one operand.
pub enum IntUnOp {
    /// Bitwise complement.
    Not = "not",
    /// Two's complement negation.
    Neg = "neg",
    /// Absolute value; MIN stays MIN.
    Abs = "abs",
    /// Bit reversal.
    Brev = "brev",
}}

names! {
/// Counts over the bits of one operand; the result is an i32 whatever the operand's width.
pub enum CountOp {
    /// Number of ones.
    Popc = "popc",
    /// Leading zeros; the width for 0.
    Clz = "clz",
    /// Position of the most significant one, 0xffffffff for 0.
    BfindU = "bfind_u",
    /// Position of the most significant bit that differs from the sign, 0xffffffff if none does.
    BfindS = "bfind_s",
    /// Same as `bfind_u`, but the left shift that would bring the bit to the top.
    BfindShU = "bfind_sh_u",
    /// Same as `bfind_s`, but the left shift that would bring the bit below the sign.
    BfindShS = "bfind_sh_s",
}}

names! {
/// Integer comparisons.
pub enum IntCmp {
    /// Equal.
    Eq = "eq",
    /// Not equal.
    Ne = "ne",
    /// Signed less.
    LtS = "lt_s",
    /// Signed less or equal.
    LeS = "le_s",
    /// Signed greater.
    GtS = "gt_s",
    /// Signed greater or equal.
    GeS = "ge_s",
    /// Unsigned less.
    LtU = "lt_u",
    /// Unsigned less or equal.
    LeU = "le_u",
    /// Unsigned greater.
    GtU = "gt_u",
    /// Unsigned greater or equal.
    GeU = "ge_u",
}}

names! {
/// Float comparisons. With a NaN operand, the plain ones are false and the `u` ones true.
pub enum FloatCmp {
    /// Ordered equal.
    Eq = "eq",
    /// Ordered not equal.
    Ne = "ne",
    /// Ordered less.
    Lt = "lt",
    /// Ordered less or equal.
    Le = "le",
    /// Ordered greater.
    Gt = "gt",
    /// Ordered greater or equal.
    Ge = "ge",
    /// Unordered or equal.
    Equ = "equ",
    /// Unordered or not equal.
    Neu = "neu",
    /// Unordered or less.
    Ltu = "ltu",
    /// Unordered or less or equal.
    Leu = "leu",
    /// Unordered or greater.
    Gtu = "gtu",
    /// Unordered or greater or equal.
    Geu = "geu",
    /// Neither operand is NaN.
    Num = "num",
    /// At least one operand is NaN.
    Nan = "nan",
}}

names! {
/// Rounding of a float result.
pub enum Round {
    /// To nearest, ties to even.
    Rn = "rn",
    /// Toward zero.
    Rz = "rz",
    /// Toward minus infinity.
    Rm = "rm",
    /// Toward plus infinity.
    Rp = "rp",
    /// To nearest, ties away from zero (conversions only).
    Rna = "rna",
}}

names! {
/// Correctly rounded float operations with two operands.
///
/// As on the hardware, in all float operations: f16, bf16 and f32 arithmetic with a NaN operand returns the
/// canonical NaN (0x7fff, 0x7fffffff). f64 arithmetic keeps an operand's NaN, made quiet: that of `b` before
/// that of `a` (for `fdiv`, `a` before `b`; for `fma`, `b`, `c`, `a`); without a NaN operand it returns
/// 0xfff8000000000000. If several f64 operands of a difference or an `fma` are NaN, compiled code may keep a
/// different one.
pub enum FloatOp {
    /// Sum.
    Add = "fadd",
    /// Difference.
    Sub = "fsub",
    /// Product.
    Mul = "fmul",
    /// Quotient.
    Div = "fdiv",
    /// Minimum; a NaN operand is ignored; -0 < +0.
    Min = "fmin",
    /// Maximum; a NaN operand is ignored; -0 < +0.
    Max = "fmax",
    /// Minimum; a NaN operand gives the canonical NaN.
    MinNan = "fmin_nan",
    /// Maximum; a NaN operand gives the canonical NaN.
    MaxNan = "fmax_nan",
}}

names! {
/// Float operations with one operand.
pub enum FloatUnOp {
    /// Sign flipped; NaN as in arithmetic.
    Neg = "fneg",
    /// Sign cleared; NaN as in arithmetic.
    Abs = "fabs",
    /// Square root, correctly rounded.
    Sqrt = "fsqrt",
    /// Reciprocal, correctly rounded.
    Rcp = "frcp",
    /// Rounded to an integral value with mode `round`, in the same format.
    RoundInt = "fround",
}}

names! {
/// Approximate functions, with results inside the error bounds that the PTX manual states for the instruction
/// of the same name.
pub enum ApproxOp {
    /// `rcp.approx`.
    Rcp = "rcp_approx",
    /// `sqrt.approx`.
    Sqrt = "sqrt_approx",
    /// `rsqrt.approx`.
    Rsqrt = "rsqrt_approx",
    /// `sin.approx`.
    Sin = "sin_approx",
    /// `cos.approx`.
    Cos = "cos_approx",
    /// `lg2.approx`.
    Lg2 = "lg2_approx",
    /// `ex2.approx`.
    Ex2 = "ex2_approx",
    /// `tanh.approx`.
    Tanh = "tanh_approx",
    /// `div.approx` (two operands).
    Div = "div_approx",
    /// `div.full` (two operands).
    DivFull = "div_full",
}}

names! {
/// Operations of the special function unit on an f32, bit-exact as described in [`crate::sfu`]. Subnormal
/// operands and results are zero.
pub enum SfuOp {
    /// Reciprocal.
    Rcp = "sfu_rcp",
    /// Square root.
    Sqrt = "sfu_sqrt",
    /// Reciprocal of the square root.
    Rsqrt = "sfu_rsqrt",
    /// Sine of an angle in turns.
    Sin = "sfu_sin",
    /// Cosine of an angle in turns.
    Cos = "sfu_cos",
    /// Logarithm to base 2.
    Lg2 = "sfu_lg2",
    /// Power of 2.
    Ex2 = "sfu_ex2",
    /// Hyperbolic tangent.
    Tanh = "sfu_tanh",
}}

names! {
/// `prmt` modes.
pub enum PrmtMode {
    /// Each nibble of the selector selects a byte; its top bit replicates the sign.
    Default = "default",
    /// Forward 4 extract.
    F4e = "f4e",
    /// Backward 4 extract.
    B4e = "b4e",
    /// Replicate 8.
    Rc8 = "rc8",
    /// Edge clamp left.
    Ecl = "ecl",
    /// Edge clamp right.
    Ecr = "ecr",
    /// Replicate 16.
    Rc16 = "rc16",
}}

/// Modifiers of a float operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatMode {
    /// The format of operands and result.
    pub fmt: Fmt,
    /// Rounding of the result.
    pub round: Round,
    /// Whether subnormal operands and results become zeros of the same sign. A result counts as subnormal if
    /// it is one after rounding as though the exponent had no bound (what x86 calls tiny after rounding).
    /// Conversions flush only f32.
    pub ftz: bool,
    /// Whether the result is clamped to [0, 1]; NaN becomes +0.
    pub sat: bool,
}

impl FloatMode {
    /// Round to nearest even, nothing else.
    pub const fn rn(fmt: Fmt) -> Self {
        FloatMode { fmt, round: Round::Rn, ftz: false, sat: false }
    }
}

impl IntCmp {
    /// The same comparison with swapped operands.
    #[must_use]
    pub fn exchanged(self) -> IntCmp {
        match self {
            IntCmp::Eq | IntCmp::Ne => self,
            IntCmp::LtS => IntCmp::GtS,
            IntCmp::LeS => IntCmp::GeS,
            IntCmp::GtS => IntCmp::LtS,
            IntCmp::GeS => IntCmp::LeS,
            IntCmp::LtU => IntCmp::GtU,
            IntCmp::LeU => IntCmp::GeU,
            IntCmp::GtU => IntCmp::LtU,
            IntCmp::GeU => IntCmp::LeU,
        }
    }

    /// The negated comparison.
    #[must_use]
    pub fn opposite(self) -> IntCmp {
        match self {
            IntCmp::Eq => IntCmp::Ne,
            IntCmp::Ne => IntCmp::Eq,
            IntCmp::LtS => IntCmp::GeS,
            IntCmp::LeS => IntCmp::GtS,
            IntCmp::GtS => IntCmp::LeS,
            IntCmp::GeS => IntCmp::LtS,
            IntCmp::LtU => IntCmp::GeU,
            IntCmp::LeU => IntCmp::GtU,
            IntCmp::GtU => IntCmp::LeU,
            IntCmp::GeU => IntCmp::LtU,
        }
    }
}
