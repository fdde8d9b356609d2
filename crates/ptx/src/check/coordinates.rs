//! Coordinates, offsets and gradients of textures, surfaces and tensors (PTX ISA 9.7.10, 9.7.11, 9.7.9.27),
//! checked as ptxas checks them: vectors have 1, 2 or 4 elements, and elements beyond those of the geometry
//! are ignored.

use super::operand::{Fit, no};
use crate::ast::{Address, AddressBase, Instruction, Operand, OperandKind};
use crate::parser::Parser;
use crate::types::ScalarType;
use crate::words::{Modifier, Opcode};

/// Number of coordinates of a geometry, without the array index.
fn places(instruction: &Instruction) -> usize {
    use Modifier as M;
    let has = |words: &[Modifier]| words.iter().any(|w| instruction.has(*w));
    match () {
        () if has(&[M::X1d, M::A1d]) => 1,
        () if has(&[M::X2d, M::A2d, M::X2dms, M::A2dms]) => 2,
        () if has(&[M::X3d, M::Cube, M::Acube]) => 3,
        () if has(&[M::X4d]) => 4,
        () if has(&[M::X5d]) => 5,
        () => 0,
    }
}

/// Whether the first coordinate is an array index or a sample number.
fn indexed(instruction: &Instruction) -> bool {
    use Modifier as M;
    instruction.one_of(&[M::A1d, M::A2d, M::Acube, M::X2dms, M::A2dms]).is_some()
}

impl Parser<'_> {
    /// `[t, {x, y}]`
    pub(super) fn coordinates_fit(&self, instruction: &Instruction, operand: &Operand) -> Fit {
        let OperandKind::Address(address) = &operand.kind else {
            return no(operand, "expected brackets with coordinates");
        };
        let tensor = matches!(instruction.opcode, Opcode::Cp);
        if !tensor {
            self.handle_fits(instruction, operand, address)?;
        }
        // A texture operand may be followed by a sampler.
        let sampled = matches!(instruction.opcode, Opcode::Tex | Opcode::Tld4);
        let vector = match address.parts.as_slice() {
            [vector] => vector,
            [_, vector] if sampled => vector,
            _ => return no(operand, "expected coordinates after the first comma in the brackets"),
        };
        let rows = instruction.one_of(&[Modifier::TileGather4, Modifier::TileScatter4]).is_some();
        if tensor {
            let count = if rows { 5 } else { places(instruction) };
            if !matches!(vector.kind, OperandKind::Vector(_)) {
                return no(operand, "expected coordinates in braces");
            }
            return self.elements_fit(vector, count..=count, [false; 2], |_| ScalarType::S32);
        }
        let indexed = indexed(instruction);
        let float = instruction.ty(1).is_some_and(ScalarType::is_float);
        let least =
            (places(instruction) + usize::from(indexed && places(instruction) < 3)).next_power_of_two();
        let number = |o: &Operand| matches!(o.kind, OperandKind::F32(_) | OperandKind::F64(_));
        if let Some(first) = vector.elements().first().filter(|f| indexed && number(f)) {
            return no(first, "the array index must be an integer");
        }
        let array = instruction.one_of(&[Modifier::A1d, Modifier::A2d, Modifier::Acube]).is_some();
        // Gradients require coordinates of their own type.
        let loose = !instruction.has(Modifier::Grad);
        self.elements_fit(
            vector,
            least..=4,
            [loose, !float && instruction.opcode == Opcode::Tex],
            |n| match n {
                0 if array => ScalarType::U32,
                0 if indexed => ScalarType::S32,
                _ if float => ScalarType::F32,
                _ => ScalarType::S32,
            },
        )
    }

    /// The register or variable that names a texture or a surface.
    pub(super) fn handle_fits(&self, instruction: &Instruction, operand: &Operand, address: &Address) -> Fit {
        let (wanted, label) = match instruction.opcode {
            Opcode::Tex | Opcode::Tld4 | Opcode::Txq => {
                (ScalarType::Texref, "expected a .texref variable or a .u64 register")
            }
            _ => (ScalarType::Surfref, "expected a .surfref variable or a .u64 register"),
        };
        let fits = match address.base {
            _ if address.offset != 0 => false,
            _ if matches!(instruction.opcode, Opcode::Txq | Opcode::Suq) && !address.parts.is_empty() => {
                false
            }
            AddressBase::Reg(reg) | AddressBase::Component(reg, _) => {
                let (ty, n) = self.reg(reg);
                ty.bits() == 64 && n == 1 && !ty.is_float()
            }
            // A parameter can name one too.
            AddressBase::Var(variable) => self.variable(variable).is_none_or(|v| {
                v.ty == wanted || v.space == crate::types::Space::Param && v.size_bytes() == 8
            }),
            AddressBase::Element(_) | AddressBase::Func(_) | AddressBase::Absolute => false,
        };
        if fits { Ok(()) } else { no(operand, label) }
    }

    /// Offsets, in whole texels or, for im2col tensor copies, in whole elements.
    pub(super) fn offsets_fit(&self, instruction: &Instruction, operand: &Operand) -> Fit {
        if instruction.opcode == Opcode::Cp {
            let row = instruction.one_of(&[Modifier::Im2colW, Modifier::Im2colW128]).is_some();
            let count = if row { 2 } else { places(instruction).saturating_sub(2) };
            if !matches!(operand.kind, OperandKind::Vector(_)) {
                return no(operand, "expected offsets in braces");
            }
            return self.elements_fit(operand, count..=count, [false; 2], |_| ScalarType::U16);
        }
        self.elements_fit(operand, places(instruction).next_power_of_two()..=4, [true, false], |_| {
            ScalarType::S32
        })
    }

    /// Gradients, one per coordinate.
    pub(super) fn gradient_fits(&self, instruction: &Instruction, operand: &Operand) -> Fit {
        let count = places(instruction).next_power_of_two();
        match operand.kind {
            OperandKind::Vector(_) => {
                self.elements_fit(operand, count..=count, [false; 2], |_| ScalarType::F32)
            }
            _ => no(operand, format!("expected {count} registers in braces")),
        }
    }

    /// A vector, or a single value where one is enough. `loose` also accepts numbers of the other kind
    /// (integer or float); `halves` accepts registers of two halves for an integer.
    fn elements_fit(
        &self,
        operand: &Operand,
        counts: std::ops::RangeInclusive<usize>,
        [loose, halves]: [bool; 2],
        ty: impl Fn(usize) -> ScalarType,
    ) -> Fit {
        let (least, most) = (*counts.start(), *counts.end());
        let items = operand.elements();
        let legal = counts.contains(&items.len()) && (least == most || items.len() != 3);
        if !legal {
            let wanted: Vec<String> =
                counts.filter(|n| least == most || *n != 3).map(|n| n.to_string()).collect();
            return no(operand, format!("{} elements, expected {}", items.len(), wanted.join(" or ")));
        }
        items.iter().enumerate().try_for_each(|(n, item)| match item.kind {
            OperandKind::Reg(reg) => match self.reg(reg) {
                (ScalarType::F16x2, 1) if halves && ty(n) == ScalarType::S32 => Ok(()),
                (ScalarType::F16x2, 1) => no(item, format!("expected a register of type `{}`", ty(n))),
                (found, 1)
                    if loose && found.is_integer() && found.bits() == 32 && ty(n) == ScalarType::F32 =>
                {
                    Ok(())
                }
                (found, 1) => self.typed(item, found, ty(n), false),
                (_, count) if items.len() == 1 && usize::from(count) >= least => Ok(()),
                (found, count) => no(item, format!("a `.v{count} {found}` register, expected one value")),
            },
            OperandKind::Component(reg, _) => self.typed(item, self.reg(reg).0, ty(n), false),
            OperandKind::Int(_) | OperandKind::F32(_) | OperandKind::F64(_)
                if loose && items.iter().any(|i| i.reg().is_some()) =>
            {
                Ok(())
            }
            OperandKind::Int(_) if !ty(n).is_float() => Ok(()),
            OperandKind::F32(_) | OperandKind::F64(_) if ty(n).is_float() => Ok(()),
            _ => no(item, format!("expected a register of type `{}`", ty(n))),
        })
    }
}
