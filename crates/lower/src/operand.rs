//! Operands: reading them as values of a given width, writing results.

use ptx::ast::{
    Address, AddressBase, Component, ElementRef, Operand, OperandKind, SpecialReg, Symbol, VariableRef,
};
use ptx::{ScalarType, Space as PtxSpace};
use wave::op::{Builtin, DeviceFn, Guard, IntCmp, IntOp, MemMode, Op, SReg, Space};
use wave::types::Fmt;
use wave::{Ty, Value};

use crate::call;
use crate::error::ErrorClass;
use crate::function::{Lower, Result, VarPlace};
use crate::link::{Place, ty_of};
use crate::var::Var;

/// The first architecture with subnormal f32.
const FIRST_WITH_SUBNORMALS: u16 = 20;
/// The first architecture with clusters.
const FIRST_WITH_CLUSTERS: u16 = 90;

impl Lower<'_> {
    /// The element `n` of a register.
    pub fn reg_var(&self, reg: ptx::ast::RegId, element: u8) -> (Var, Ty) {
        (Var::Reg(reg.0, element), ty_of(self.function.regs()[reg.index()].ty))
    }

    /// Whether an instruction flushes subnormals: if it says so, and for all f32 on the first architectures
    /// (PTX ISA 9.7.3).
    pub fn flushes(&self, i: &ptx::ast::Instruction, fmt: Fmt) -> bool {
        i.has(ptx::Modifier::Ftz)
            || (fmt == Fmt::F32 && self.module.arch().is_some_and(|arch| arch < FIRST_WITH_SUBNORMALS))
    }

    /// Whether the text targets devices with clusters.
    pub fn has_clusters(&self) -> bool {
        self.module.arch().is_some_and(|arch| arch >= FIRST_WITH_CLUSTERS)
    }

    /// Whether a register is a predicate.
    pub fn is_predicate(&self, reg: ptx::ast::RegId) -> bool {
        self.function.regs()[reg.index()].ty == ScalarType::Pred
    }

    /// A register's value, in its own width.
    pub fn read_reg(&mut self, reg: ptx::ast::RegId, element: u8) -> Value {
        let (var, ty) = self.reg_var(reg, element);
        self.read(var, ty)
    }

    /// `v` with width `to`: truncated, zero-extended or sign-extended.
    pub fn resize(&mut self, v: Value, to: Ty, signed: bool) -> Value {
        let from = self.ty(v);
        if from == to {
            v
        } else if signed {
            self.op1(Op::Sext { from, to }, &[v])
        } else {
            self.op1(Op::Zext { from, to }, &[v])
        }
    }

    /// An operand as a value of the type that the instruction names.
    pub fn value(&mut self, operand: &Operand, t: ScalarType) -> Result<Value> {
        let ty = ty_of(t);
        Ok(match &operand.kind {
            OperandKind::Reg(r) => {
                let v = self.read_reg(*r, 0);
                self.resize(v, ty, false)
            }
            OperandKind::Component(r, Component::Element(e)) => {
                let v = self.read_reg(*r, *e);
                self.resize(v, ty, false)
            }
            OperandKind::Not(r) => {
                let v = self.read_reg(*r, 0);
                self.not(v)
            }
            OperandKind::Special(reg, component) => {
                let v = self.special(*reg, *component, operand)?;
                self.resize(v, ty, false)
            }
            OperandKind::Int(i) => {
                let bits = match t {
                    ScalarType::F32 => u128::from((i.value() as f32).to_bits()),
                    ScalarType::F64 => u128::from((i.value() as f64).to_bits()),
                    _ => i.value() as u128,
                };
                self.constant(ty, bits)
            }
            OperandKind::F32(bits) => match t {
                ScalarType::F64 => self.constant(ty, u128::from(f64::from(f32::from_bits(*bits)).to_bits())),
                _ => self.constant(ty, u128::from(*bits)),
            },
            OperandKind::F64(bits) => match t {
                ScalarType::F32 => self.constant(ty, u128::from((f64::from_bits(*bits) as f32).to_bits())),
                _ => self.constant(ty, u128::from(*bits)),
            },
            OperandKind::Symbol(s) => {
                let (v, _) = self.symbol_address(s.symbol, s.offset, operand)?;
                // The address of a device function's parameter is in local memory (PTX ISA 5.1.6.4).
                let v =
                    if self.is_pointer(s.symbol) { self.op1(Op::FromGeneric(Space::Local), &[v]) } else { v };
                self.resize(v, ty, false)
            }
            OperandKind::Element(element) => {
                let (v, _) = self.element(element, operand)?;
                self.resize(v, ty, false)
            }
            OperandKind::Vector(parts) => self.pack(parts, ty, operand)?,
            _ => {
                return self.fail(
                    ErrorClass::Unsupported,
                    operand.span,
                    "this operand is not supported here yet",
                );
            }
        })
    }

    /// `{a, b}` as one wide value, the first lowest.
    fn pack(&mut self, parts: &[Operand], whole: Ty, operand: &Operand) -> Result<Value> {
        let Some(part) = Ty::of_bits(whole.bits() / (parts.len().max(1) as u32)).filter(|t| *t != Ty::I1)
        else {
            return self.fail(ErrorClass::Invalid, operand.span, "the parts do not fill the type");
        };
        let t = bits_type(part);
        let values = parts.iter().map(|p| self.value(p, t)).collect::<Result<Vec<_>>>()?;
        Ok(self.op1(Op::Pack { part, whole }, &values))
    }

    /// Writes `v` to a destination; `signed` decides how a wider register is filled.
    pub fn write_dest(&mut self, operand: &Operand, v: Value, signed: bool) -> Result<()> {
        match &operand.kind {
            OperandKind::Sink => Ok(()),
            OperandKind::Reg(r) => self.write_reg(*r, 0, v, signed),
            OperandKind::Component(r, Component::Element(e)) => self.write_reg(*r, *e, v, signed),
            OperandKind::Vector(parts) => {
                let whole = self.ty(v);
                let Some(part) =
                    Ty::of_bits(whole.bits() / (parts.len().max(1) as u32)).filter(|t| *t != Ty::I1)
                else {
                    return self.fail(ErrorClass::Invalid, operand.span, "the parts do not fill the type");
                };
                let pieces = self.op(Op::Unpack { part, whole }, &[v]);
                parts.iter().zip(pieces).try_for_each(|(p, piece)| self.write_dest(p, piece, signed))
            }
            OperandKind::Pair(pair) => self.write_dest(&pair.0, v, signed),
            _ => self.fail(ErrorClass::Invalid, operand.span, "this cannot be written"),
        }
    }

    fn write_reg(&mut self, reg: ptx::ast::RegId, element: u8, v: Value, signed: bool) -> Result<()> {
        let (var, ty) = self.reg_var(reg, element);
        let v = self.resize(v, ty, signed);
        self.write(var, v);
        Ok(())
    }

    /// Bitwise complement of a predicate.
    pub fn not(&mut self, v: Value) -> Value {
        let one = self.constant(Ty::I1, 1);
        self.op1(Op::Int(IntOp::Xor, Ty::I1), &[v, one])
    }

    /// Whether a symbol is an array parameter of a device function.
    fn is_pointer(&self, symbol: Symbol) -> bool {
        matches!(symbol, Symbol::Var(v) if self.var_place(v) == VarPlace::Pointer)
    }

    /// The address of a variable or function in its own state space, and that space.
    pub fn symbol_address(&mut self, symbol: Symbol, offset: i64, at: &Operand) -> Result<(Value, Space)> {
        match symbol {
            Symbol::Func(f) => {
                let id = self.linked.function(self.unit, f);
                Ok((self.op1(Op::FuncAddr(id), &[]), Space::Generic))
            }
            Symbol::Global(g) => match self.linked.place(self.unit, g) {
                Place::Global(id) => {
                    let global = &self.linked.module().globals[id.index()];
                    let (constant, reference) = (global.constant, global.reference);
                    if reference.is_some() {
                        // The name refers to the texture or surface that it is bound to.
                        let place = self.op1(Op::GlobalAddr(id, 0), &[]);
                        let mem = MemMode::weak(Space::Global);
                        let load = Op::Load { mem, ty: Ty::I64, count: 1, offset: 0, guard: Guard::Always };
                        return Ok((self.op1(load, &[place]), Space::Generic));
                    }
                    let space = if constant { Space::Const } else { Space::Global };
                    Ok((self.op1(Op::GlobalAddr(id, offset), &[]), space))
                }
                Place::Shared(id) => Ok((self.op1(Op::SharedAddr(id, offset), &[]), Space::Shared)),
                Place::Address(base) => {
                    let address = base.wrapping_add(offset as u64);
                    Ok((self.constant(Ty::I64, address.into()), Space::Global))
                }
                Place::Nowhere => self.fail(ErrorClass::Unsupported, at.span, "this variable has no memory"),
            },
            Symbol::Var(v) => match self.var_place(v) {
                VarPlace::Shared(id) => Ok((self.op1(Op::SharedAddr(id, offset), &[]), Space::Shared)),
                VarPlace::Global(id, space) => Ok((self.op1(Op::GlobalAddr(id, offset), &[]), space)),
                VarPlace::Slot(slot) => {
                    let base = self.op1(Op::LocalAddr(slot), &[]);
                    Ok((self.offset(base, offset), Space::Local))
                }
                VarPlace::KernelParam(start) => {
                    Ok((self.constant(Ty::I64, (i64::from(start) + offset) as u64 as u128), Space::Param))
                }
                VarPlace::Pointer => {
                    let base = self.read(Var::Param(v.0), Ty::I64);
                    Ok((self.offset(base, offset), Space::Generic))
                }
                VarPlace::Kept(slot, _) => {
                    let base = self.op1(Op::LocalAddr(slot), &[]);
                    Ok((self.offset(base, offset), Space::Local))
                }
                VarPlace::Scalar(_) => self.fail(
                    ErrorClass::Invalid,
                    at.span,
                    "the address of a scalar parameter cannot be taken here",
                ),
            },
            Symbol::Label(_) => self.fail(ErrorClass::Invalid, at.span, "a label has no address"),
        }
    }

    /// The address of an element selected by a register, and its state space.
    fn element(&mut self, element: &ElementRef, at: &Operand) -> Result<(Value, Space)> {
        let symbol = match element.array {
            VariableRef::Global(g) => Symbol::Global(g),
            VariableRef::Var(v) => Symbol::Var(v),
        };
        let (base, space) = self.symbol_address(symbol, 0, at)?;
        // ptxas computes the offset in unsigned 32 bits, whatever the register's type.
        let index = self.read_reg(element.index, 0);
        let index = self.resize(index, Ty::I32, false);
        let plus = self.constant(Ty::I32, u128::from(element.plus as u32));
        let index = self.op1(Op::Int(IntOp::Add, Ty::I32), &[index, plus]);
        let size = self.constant(Ty::I32, element.size.into());
        let bytes = self.op1(Op::Int(IntOp::Mul, Ty::I32), &[index, size]);
        let bytes = self.resize(bytes, Ty::I64, false);
        Ok((self.op1(Op::Int(IntOp::Add, Ty::I64), &[base, bytes]), space))
    }

    /// `base + bytes`.
    pub fn offset(&mut self, base: Value, bytes: i64) -> Value {
        if bytes == 0 {
            return base;
        }
        let c = self.constant(Ty::I64, bytes as u64 as u128);
        self.op1(Op::Int(IntOp::Add, Ty::I64), &[base, c])
    }

    /// An address operand: a 64-bit address, the constant to add to it, and the state space that a variable's
    /// name implies.
    pub fn address(&mut self, operand: &Operand) -> Result<(Value, i64, Option<Space>)> {
        let Some(a) = operand.address() else {
            // `ld.param.u32 %r, param` without brackets was legal once, also with a register.
            let v = self.value(operand, ScalarType::B64)?;
            return Ok((v, 0, None));
        };
        if !a.parts.is_empty() {
            return self.fail(
                ErrorClass::Unsupported,
                operand.span,
                "an address of several parts is not supported yet",
            );
        }
        self.first_part(a, operand)
    }

    /// The base of an address in shared memory, whose addresses have 32 bits, so that a 32-bit register plus
    /// an offset wraps: `[%r+12]` with `%r` = -12 is 0. Widening the register with its sign gives the same
    /// sum in 64 bits, because all of shared memory is below 2^31.
    pub fn wrapping_base(&mut self, operand: &Operand, base: Value) -> Value {
        let register = match operand.address().map(|a| (a.base, a.offset)) {
            Some((AddressBase::Reg(r), 1..)) => self.read_reg(r, 0),
            Some((AddressBase::Component(r, Component::Element(e)), 1..)) => self.read_reg(r, e),
            _ => return base,
        };
        if self.ty(register) == Ty::I32 { self.resize(register, Ty::I64, true) } else { base }
    }

    /// Same as [`Lower::address`], for the part before the first comma.
    pub fn first_part(&mut self, a: &Address, operand: &Operand) -> Result<(Value, i64, Option<Space>)> {
        Ok(match a.base {
            AddressBase::Reg(r) => {
                let v = self.read_reg(r, 0);
                (self.resize(v, Ty::I64, false), a.offset, None)
            }
            AddressBase::Component(r, Component::Element(e)) => {
                let v = self.read_reg(r, e);
                (self.resize(v, Ty::I64, false), a.offset, None)
            }
            AddressBase::Component(..) => {
                return self.fail(ErrorClass::Invalid, operand.span, "part of a register is not an address");
            }
            AddressBase::Absolute => (self.constant(Ty::I64, a.offset as u64 as u128), 0, None),
            AddressBase::Element(element) => {
                let (v, s) = self.element(&element, operand)?;
                (v, a.offset, Some(s))
            }
            AddressBase::Func(f) => {
                let (v, s) = self.symbol_address(Symbol::Func(f), 0, operand)?;
                (v, a.offset, Some(s))
            }
            AddressBase::Var(v) => {
                let symbol = match v {
                    VariableRef::Global(g) => Symbol::Global(g),
                    VariableRef::Var(v) => Symbol::Var(v),
                };
                let (v, s) = self.symbol_address(symbol, a.offset, operand)?;
                (v, 0, Some(s))
            }
        })
    }

    fn special(&mut self, reg: SpecialReg, component: Option<Component>, at: &Operand) -> Result<Value> {
        use SpecialReg as S;
        let axis = match component {
            Some(Component::Element(e)) => e,
            _ => 0,
        };
        let pick = |x, y, z| match axis {
            0 => Some(x),
            1 => Some(y),
            2 => Some(z),
            _ => None,
        };
        let simple = match reg {
            S::Tid => pick(SReg::TidX, SReg::TidY, SReg::TidZ),
            S::Ntid => pick(SReg::NtidX, SReg::NtidY, SReg::NtidZ),
            S::Ctaid => pick(SReg::CtaidX, SReg::CtaidY, SReg::CtaidZ),
            S::Nctaid => pick(SReg::NctaidX, SReg::NctaidY, SReg::NctaidZ),
            S::Clusterid => pick(SReg::ClusterIdX, SReg::ClusterIdY, SReg::ClusterIdZ),
            S::Nclusterid => pick(SReg::NClusterIdX, SReg::NClusterIdY, SReg::NClusterIdZ),
            S::ClusterCtaid => pick(SReg::ClusterCtaidX, SReg::ClusterCtaidY, SReg::ClusterCtaidZ),
            S::ClusterNctaid => pick(SReg::ClusterNctaidX, SReg::ClusterNctaidY, SReg::ClusterNctaidZ),
            S::ClusterCtarank => Some(SReg::ClusterRank),
            S::ClusterNctarank => Some(SReg::ClusterBlocks),
            S::Laneid => Some(SReg::LaneId),
            S::Warpid => Some(SReg::WarpId),
            S::Nwarpid => Some(SReg::NWarpId),
            S::Smid => Some(SReg::SmId),
            S::Nsmid => Some(SReg::NSmId),
            S::Gridid => Some(SReg::GridId64),
            S::LanemaskEq => Some(SReg::LaneMaskEq),
            S::LanemaskLe => Some(SReg::LaneMaskLe),
            S::LanemaskLt => Some(SReg::LaneMaskLt),
            S::LanemaskGe => Some(SReg::LaneMaskGe),
            S::LanemaskGt => Some(SReg::LaneMaskGt),
            S::Clock => Some(SReg::Clock),
            S::Clock64 => Some(SReg::Clock64),
            S::Globaltimer => Some(SReg::GlobalTimer64),
            S::TotalSmemSize | S::AggrSmemSize => Some(SReg::TotalSharedSize),
            S::DynamicSmemSize => Some(SReg::DynSharedSize),
            _ => None,
        };
        if let Some(s) = simple {
            return Ok(self.op1(Op::Special(s), &[]));
        }
        Ok(match reg {
            // The fourth element of a vector register is zero, also of dimensions.
            S::Tid | S::Ctaid | S::Ntid | S::Nctaid => self.constant(Ty::I32, 0),
            S::Clusterid | S::Nclusterid | S::ClusterCtaid | S::ClusterNctaid => self.constant(Ty::I32, 0),
            S::IsExplicitCluster => {
                let (asked, none) =
                    (self.op1(Op::Special(SReg::ExplicitCluster), &[]), self.constant(Ty::I32, 0));
                self.op1(Op::IntCmp(IntCmp::Ne, Ty::I32), &[asked, none])
            }
            S::ClockHi | S::GlobaltimerHi | S::GlobaltimerLo => {
                let s = if reg == S::ClockHi { SReg::Clock64 } else { SReg::GlobalTimer64 };
                let wide = self.op1(Op::Special(s), &[]);
                let halves = self.op(Op::Unpack { part: Ty::I32, whole: Ty::I64 }, &[wide]);
                halves[usize::from(reg != S::GlobaltimerLo)]
            }
            // No shared memory is reserved for the system.
            S::ReservedSmemOffsetBegin
            | S::ReservedSmemOffsetEnd
            | S::ReservedSmemOffsetCap
            | S::ReservedSmemOffset0
            | S::ReservedSmemOffset1 => self.constant(Ty::I32, 0),
            // The driver's own registers: these two hold the high and the low half of the workspace address
            // (cooperative groups' driver_abi.h); the others are undocumented.
            S::Envreg(n @ 1..=2) => {
                let wide = self.op1(Op::Special(SReg::Workspace64), &[]);
                let halves = self.op(Op::Unpack { part: Ty::I32, whole: Ty::I64 }, &[wide]);
                halves[usize::from(n == 1)]
            }
            S::Envreg(_) | S::Pm(_) => self.constant(Ty::I32, 0),
            S::Pm64(_) => self.constant(Ty::I64, 0),
            S::CurrentGraphExec => {
                let args = call::device_call(self, DeviceFn::CurrentGraphExec, &[]);
                self.op1(Op::Builtin(Builtin::DeviceCall), &args)
            }
            // A device is one locality domain, the first, with no supplemental multiprocessors
            // (CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT). ptxas writes the same zeros for sm_120.
            S::LocalityDomainId | S::LocalityDomainSupplementalSm => self.constant(Ty::I32, 0),
            // Size 0 tells that the driver gives blocks no private memory (PTX ISA 10.35), whatever
            // `.minperctamemory` asks for.
            S::PerCtaMemorySize => self.constant(Ty::I32, 0),
            S::PerCtaMemoryOffset => self.constant(Ty::I64, 0),
            _ => {
                return self.fail(
                    ErrorClass::Unsupported,
                    at.span,
                    format!("special register {reg} is not supported yet"),
                );
            }
        })
    }

    /// The state space that an instruction names.
    pub fn space(&self, space: Option<PtxSpace>) -> Option<Space> {
        Some(match space? {
            PtxSpace::Global => Space::Global,
            PtxSpace::Const => Space::Const,
            PtxSpace::Shared | PtxSpace::SharedCta | PtxSpace::SharedCluster => Space::Shared,
            PtxSpace::Local => Space::Local,
            PtxSpace::Param | PtxSpace::ParamEntry | PtxSpace::ParamFunc => Space::Param,
            _ => return None,
        })
    }
}

/// The untyped scalar of a width.
pub fn bits_type(ty: Ty) -> ScalarType {
    match ty {
        Ty::I1 => ScalarType::Pred,
        Ty::I8 => ScalarType::B8,
        Ty::I16 => ScalarType::B16,
        Ty::I32 => ScalarType::B32,
        Ty::I64 => ScalarType::B64,
        Ty::I128 => ScalarType::B128,
    }
}

/// The float format of a type, if it is one.
pub fn fmt_of(t: ScalarType) -> Option<Fmt> {
    Some(match t {
        ScalarType::F16 | ScalarType::F16x2 => Fmt::F16,
        ScalarType::Bf16 | ScalarType::Bf16x2 => Fmt::BF16,
        ScalarType::F32 | ScalarType::F32x2 | ScalarType::Tf32 => Fmt::F32,
        ScalarType::F64 => Fmt::F64,
        _ => return None,
    })
}
