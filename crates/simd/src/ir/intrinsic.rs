//! Calls of LLVM's intrinsic functions that kernels have many of.

use super::{Argument, Builder, Callee, Effect, Note, Operand, Type};

impl Builder {
    /// The zeros above the highest bit set; of zero, all.
    pub fn leading_zeros(&mut self, a: Operand) -> Operand {
        self.zeros("llvm.ctlz", a)
    }

    /// The zeros below the lowest bit set; of zero, all.
    pub fn trailing_zeros(&mut self, a: Operand) -> Operand {
        self.zeros("llvm.cttz", a)
    }

    fn zeros(&mut self, name: &'static str, a: Operand) -> Operand {
        let total = Operand::int(Type::I1, 0);
        self.intrinsic(name, [Some(a.ty()), None], a.ty(), &[a, total])
    }

    /// All elements of a vector combined into one; `how` is the last part of the function's name.
    pub fn reduce(&mut self, how: &str, vector: Operand) -> Operand {
        let ty = vector.ty();
        self.intrinsic(format!("llvm.vector.reduce.{how}"), [Some(ty), None], ty.one(), &[vector])
    }

    /// Consecutive elements from an address on; zeros where the mask has none.
    pub fn masked_load(&mut self, ty: Type, at: Operand, align: usize, mask: Operand) -> Operand {
        let callee = reads("llvm.masked.load", ty, Type::PTR);
        let arguments = [aligned(at, align), mask.into(), Operand::zero(ty).into()];
        self.call(callee, ty, arguments)
    }

    /// Stores those elements of a row that the mask has.
    pub fn masked_store(&mut self, value: Operand, at: Operand, align: usize, mask: Operand) {
        let callee = writes("llvm.masked.store", value.ty(), Type::PTR);
        self.call(callee, Type::Void, [value.into(), aligned(at, align), mask.into()]);
    }

    /// Each element from its own address; zeros where the mask has none.
    pub fn gather(&mut self, ty: Type, at: Operand, mask: Operand, align: usize) -> Operand {
        let callee = reads("llvm.masked.gather", ty, at.ty());
        self.call(callee, ty, [aligned(at, align), mask.into(), Operand::zero(ty).into()])
    }

    /// Each element of the mask to its own address, lowest first.
    pub fn scatter(&mut self, value: Operand, at: Operand, mask: Operand, align: usize) {
        let callee = writes("llvm.masked.scatter", value.ty(), at.ty());
        self.call(callee, Type::Void, [value.into(), aligned(at, align), mask.into()]);
    }

    /// Asks for the memory at an address: to be read, into all levels of the cache, as data.
    pub fn prefetch(&mut self, at: Operand) {
        let [read, locality, data] = [0, 3, 1].map(Operand::i32);
        let name = [Some(Type::PTR), None];
        self.act("llvm.prefetch", name, Type::Void, &[at, read, locality, data]);
    }
}

/// An address of known alignment.
fn aligned(at: Operand, bytes: usize) -> Argument {
    Argument { value: at, note: Note::Align(bytes as u32) }
}

fn reads(name: &'static str, value: Type, address: Type) -> Callee {
    Callee::Intrinsic(name.into(), [Some(value), Some(address)], Effect::Reads)
}

fn writes(name: &'static str, value: Type, address: Type) -> Callee {
    Callee::Intrinsic(name.into(), [Some(value), Some(address)], Effect::Any)
}
