//! Variables, their initial values and their sizes.

use super::{FuncId, Symbol, SymbolRef};
use crate::span::Span;
use crate::types::{ScalarType, Space};

/// Visibility of a symbol when modules are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// This module only.
    #[default]
    Internal,
    /// `.extern`: defined elsewhere.
    Extern,
    /// `.visible`
    Visible,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// `.ptr{.space}{.align n}` of a kernel parameter: what the pointer refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PtrAttribute {
    /// The space; generic if none.
    pub space: Option<Space>,
    /// Alignment of the target in bytes, if written.
    pub align: Option<u32>,
}

/// A variable or a `.param` parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// Its state space.
    pub space: Space,
    /// Type of one element.
    pub ty: ScalarType,
    /// Elements of `.v2`, `.v4`; 1 if none.
    pub vector: u8,
    /// Array dimensions, outermost first; empty for a scalar. The outermost is `None` in `x[]`.
    pub dims: Vec<Option<u64>>,
    /// `.align`, in bytes, if written.
    pub align: Option<u32>,
    /// The initial value.
    pub init: Option<InitValue>,
    /// Visibility when modules are linked.
    pub linkage: Linkage,
    /// `.ptr` of a kernel parameter.
    pub ptr: Option<PtrAttribute>,
    /// `.attribute(.managed)`
    pub managed: bool,
    /// `.attribute(.unified(a, b))`
    pub unified: Option<(u64, u64)>,
    /// Position of the name.
    pub span: Span,
}

/// An initial value (PTX ISA 5.4.4).
#[derive(Clone, Debug, PartialEq)]
pub enum InitValue {
    /// An integer, two's complement.
    Int(i128),
    /// Bits of a single-precision value (`0f…`).
    F32(u32),
    /// Bits of a double-precision value (`0d…` or decimal).
    F64(u64),
    /// An address.
    Address {
        /// The symbol, plus a constant.
        target: SymbolRef,
        /// `generic(x)`: the generic address rather than the offset in the state space.
        generic: bool,
        /// `0xFF00(x)`: the bits of the address that are stored, shifted down to bit 0.
        mask: Option<u64>,
    },
    /// `{…}`
    List(Vec<InitValue>),
}

impl InitValue {
    /// Calls `each` with every function whose address appears in the value.
    pub fn functions(&self, each: &mut impl FnMut(FuncId)) {
        match self {
            InitValue::Address { target: SymbolRef { symbol: Symbol::Func(function), .. }, .. } => {
                each(*function)
            }
            InitValue::List(values) => values.iter().for_each(|value| value.functions(each)),
            _ => {}
        }
    }
}

/// A variable's initial contents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// The variable's bytes, zero where an address goes.
    pub bytes: Vec<u8>,
    /// The addresses to write into them.
    pub relocations: Vec<Relocation>,
}

/// An address in a variable's initial contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Bytes from the variable's start.
    pub offset: u64,
    /// Width in bytes.
    pub size: u32,
    /// The symbol whose address is written.
    pub symbol: Symbol,
    /// Bytes added to the address.
    pub addend: i64,
    /// Whether to write the generic address rather than the offset in the state space.
    pub generic: bool,
    /// The bits of the address that are stored, shifted down to bit 0.
    pub mask: Option<u64>,
}

impl Variable {
    /// Bytes of one element, which is a scalar or a whole vector.
    pub fn element_bytes(&self) -> u64 {
        // A vector of three is laid out like a vector of four.
        let lanes = if self.vector == 3 { 4 } else { u64::from(self.vector.max(1)) };
        u64::from(self.ty.size_bytes()).saturating_mul(lanes)
    }

    /// Number of elements: 1 for a scalar, 0 for `x[]` without an initial value.
    pub fn elements(&self) -> u64 {
        self.dims.iter().fold(1, |n: u64, d| n.saturating_mul(d.unwrap_or(0)))
    }

    /// Size in bytes; 0 for `x[]`.
    pub fn size_bytes(&self) -> u64 {
        self.elements().saturating_mul(self.element_bytes())
    }

    /// Alignment in bytes: `.align`, or the size of an element.
    pub fn alignment(&self) -> u32 {
        let natural = u32::try_from(self.element_bytes()).unwrap_or(1).max(1).next_power_of_two();
        self.align.map_or(natural, |a| a.max(1))
    }

    /// Whether it is `x[]`, whose size the launch decides (`.extern .shared`).
    pub fn is_unsized(&self) -> bool {
        self.dims.first() == Some(&None)
    }

    /// The initial contents: bytes, and the addresses to write into them. All zero without an initial value.
    ///
    /// Allocates the variable's size, which the parser has bounded.
    pub fn image(&self) -> Image {
        let size = usize::try_from(self.size_bytes()).unwrap_or(0);
        let mut image = Image { bytes: Vec::new(), relocations: Vec::new() };
        if image.bytes.try_reserve_exact(size).is_err() {
            return image;
        }
        image.bytes.resize(size, 0);
        if let Some(init) = &self.init {
            let mut dims: Vec<u64> = self.dims.iter().map(|d| d.unwrap_or(0)).collect();
            if self.vector > 1 {
                dims.push(self.element_bytes() / u64::from(self.ty.size_bytes()).max(1));
            }
            self.fill(&mut image, init, 0, &dims);
        }
        image
    }

    fn fill(&self, image: &mut Image, value: &InitValue, at: u64, dims: &[u64]) {
        let scalar = u64::from(self.ty.size_bytes());
        match value {
            InitValue::List(values) => {
                let inner = dims.get(1..).unwrap_or(&[]);
                let nested = values.iter().any(|v| matches!(v, InitValue::List(_)));
                let row = inner.iter().fold(1, |n: u64, d| n.saturating_mul(*d));
                // A flat list fills the elements in order, whatever the dimensions.
                let stride = if nested { row } else { 1 };
                for (i, v) in values.iter().enumerate() {
                    let step = (i as u64).saturating_mul(stride).saturating_mul(scalar);
                    self.fill(image, v, at.saturating_add(step), inner);
                }
            }
            InitValue::Address { target, generic, mask } => image.relocations.push(Relocation {
                offset: at,
                size: self.ty.size_bytes(),
                symbol: target.symbol,
                addend: target.offset,
                generic: *generic,
                mask: *mask,
            }),
            number => {
                let bytes = scalar_bytes(number, self.ty);
                let start = usize::try_from(at).unwrap_or(usize::MAX);
                let end = start.saturating_add(scalar as usize);
                if let (Some(to), Some(from)) =
                    (image.bytes.get_mut(start..end), bytes.get(..scalar as usize))
                {
                    to.copy_from_slice(from);
                }
            }
        }
    }
}

/// The little-endian bytes of a value of type `ty`.
fn scalar_bytes(value: &InitValue, ty: ScalarType) -> [u8; 16] {
    let bits: u128 = match (value, ty) {
        (InitValue::Int(i), ScalarType::F32) => u128::from((*i as f32).to_bits()),
        (InitValue::Int(i), ScalarType::F64) => u128::from((*i as f64).to_bits()),
        (InitValue::Int(i), _) => *i as u128,
        (InitValue::F32(b), ScalarType::F64) => u128::from(f64::from(f32::from_bits(*b)).to_bits()),
        (InitValue::F32(b), _) => u128::from(*b),
        (InitValue::F64(b), ScalarType::F32) => u128::from((f64::from_bits(*b) as f32).to_bits()),
        (InitValue::F64(b), _) => u128::from(*b),
        _ => 0,
    };
    bits.to_le_bytes()
}
