//! Calls of the LLVM intrinsics that kernels use most.

use names::names;

use super::{Argument, Builder, Callee, Effect, Note, Operand, Type};

names! {
/// How a vector of integers is reduced to a scalar, by the last part of the intrinsic's name.
#[allow(missing_docs)]
pub enum Reduction {
    Add = "add",
    And = "and",
    Or = "or",
    Xor = "xor",
    MinS = "smin",
    MaxS = "smax",
    MinU = "umin",
    MaxU = "umax",
}}

impl Builder {
    /// Number of leading zeros; the width for zero.
    pub fn leading_zeros(&mut self, a: Operand) -> Operand {
        self.zeros("llvm.ctlz", a)
    }

    /// Number of trailing zeros; the width for zero.
    pub fn trailing_zeros(&mut self, a: Operand) -> Operand {
        self.zeros("llvm.cttz", a)
    }

    fn zeros(&mut self, name: &'static str, a: Operand) -> Operand {
        let total = Operand::int(Type::I1, 0);
        self.intrinsic(name, [Some(a.ty()), None], a.ty(), &[a, total])
    }

    /// Reduces a vector to a scalar.
    pub fn reduce(&mut self, how: Reduction, vector: Operand) -> Operand {
        let ty = vector.ty();
        self.intrinsic(format!("llvm.vector.reduce.{}", how.name()), [Some(ty), None], ty.one(), &[vector])
    }

    /// Loads consecutive elements; zeros in inactive lanes.
    pub fn masked_load(&mut self, ty: Type, at: Operand, align: usize, mask: Operand) -> Operand {
        let callee = reads("llvm.masked.load", ty, Type::PTR);
        let arguments = [aligned(at, align), mask.into(), Operand::zero(ty).into()];
        self.call(callee, ty, arguments)
    }

    /// Stores the active elements of a row.
    pub fn masked_store(&mut self, value: Operand, at: Operand, align: usize, mask: Operand) {
        let callee = writes("llvm.masked.store", value.ty(), Type::PTR);
        self.call(callee, Type::Void, [value.into(), aligned(at, align), mask.into()]);
    }

    /// Loads each element from its own address; zeros in inactive lanes.
    pub fn gather(&mut self, ty: Type, at: Operand, mask: Operand, align: usize) -> Operand {
        let callee = reads("llvm.masked.gather", ty, at.ty());
        self.call(callee, ty, [aligned(at, align), mask.into(), Operand::zero(ty).into()])
    }

    /// Stores each active element to its own address, lowest first.
    pub fn scatter(&mut self, value: Operand, at: Operand, mask: Operand, align: usize) {
        let callee = writes("llvm.masked.scatter", value.ty(), at.ty());
        self.call(callee, Type::Void, [value.into(), aligned(at, align), mask.into()]);
    }

    /// Prefetches data for reading, with LLVM's locality: into all cache levels (3), or from 2 to 0 into ever
    /// fewer of them.
    pub fn prefetch(&mut self, at: Operand, locality: i64) {
        let [read, locality, data] = [0, locality, 1].map(Operand::i32);
        let name = [Some(Type::PTR), None];
        self.act("llvm.prefetch", name, Type::Void, &[at, read, locality, data]);
    }
}

/// A pointer argument with its alignment.
fn aligned(at: Operand, bytes: usize) -> Argument {
    Argument { value: at, note: Note::Align(bytes as u32) }
}

fn reads(name: &'static str, value: Type, address: Type) -> Callee {
    Callee::Intrinsic(name.into(), [Some(value), Some(address)], Effect::Reads)
}

fn writes(name: &'static str, value: Type, address: Type) -> Callee {
    Callee::Intrinsic(name.into(), [Some(value), Some(address)], Effect::Any)
}
