//! Outlines long operations into functions in large kernels.
//!
//! LLVM's compile time grows superlinearly with the number of instructions. A conversion between narrow
//! floats takes dozens of them for each of the vectors that hold a warp's lanes. In a large kernel each such
//! operation is compiled once, as an outlined function, and called. The values in registers are spilled
//! around the call, which costs little compared with the operation.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use wave::op::Op;
use wave::{Inst, Ty, Value};

use super::value::SLOT_ALIGNMENT;
use super::{Kernel, Result};
use crate::ir::{
    Access, Argument, Attributes, Bin, Block, Callee, Cmp, Effect, Function, Lanes, Name, Operand, Parameter,
    Signature, Type,
};
use crate::lanewise;

/// An operation, its operands that are constants, and whether its result may be any NaN.
type Key = (Op, Vec<Option<Operand>>, bool);

/// The name of a function and its return types.
type Signed = (Name, Rc<[Type]>);

/// The outlined functions of a kernel.
#[derive(Debug, Default)]
pub struct Outlined {
    /// The function of each operation that has been seen; `None` if it is not outlined.
    known: HashMap<Key, Option<Signed>>,
    /// Types for which there is a function that stores a vector under a mask.
    kept: BTreeSet<Ty>,
    /// Whether the function that tests the lanes' addresses has been emitted.
    tests_lanes: bool,
}

/// The attributes of outlined functions. They must not be inlined: their purpose is that LLVM sees the code
/// once.
const ATTRIBUTES: Attributes = Attributes {
    internal: true,
    always_inline: false,
    no_inline: true,
    cold: false,
    will_return: false,
    no_memory: false,
};

const fn parameter(ty: Type, word: &'static str) -> (Parameter, Operand) {
    let name = Name::of(word);
    (Parameter::new(ty, name), Operand::local(ty, name))
}

impl Kernel<'_> {
    /// Writes a value to its frame slot under a mask by a call, if that is cheaper to compile. AVX2 has no
    /// mask registers, so each use of a mask expands it to vectors of the value's width. Returns whether it
    /// emitted the call.
    pub fn kept_by_call(&mut self, v: Value, new: Operand, mask: Operand) -> bool {
        let ty = self.func_ty(v);
        let fits = matches!(ty, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64);
        if self.facts.avx512 || !self.facts.in_frame || self.facts.outlined_from.is_none() || !fits {
            return false;
        }
        let Some(bits) = self.out.ir.word_of(mask) else { return false };
        let name = Name::numbered("keep", ty.bits() as usize);
        if self.out.outlined.kept.insert(ty) {
            self.keep(name, ty);
        }
        let slot = self.slot(self.value_slot(v));
        self.out.ir.call(Callee::Function(name), Type::Void, [slot, new, bits].map(Argument::from));
        true
    }

    /// Emits the function that writes a vector to a slot under a mask.
    fn keep(&mut self, name: Name, ty: Ty) {
        let t = self.width().vector(ty);
        let (slot_parameter, slot) = parameter(Type::PTR, "slot");
        let (new_parameter, new) = parameter(t, "new");
        let (bits_parameter, bits) = parameter(self.width().bits(), "bits");
        let outer = self.out.ir.begin();
        let mask = self.out.ir.mask(bits);
        // Slots are aligned as the frame is.
        let access = Access::aligned((self.width().lanes() as u32 * ty.bytes()).min(SLOT_ALIGNMENT));
        let old = self.out.ir.load_as(t, slot, access);
        let kept = self.out.ir.select(mask, new, old);
        self.out.ir.store_as(kept, slot, access);
        self.out.ir.ret_void();
        let blocks = self.out.ir.end(outer);
        self.out.ir.module.functions.push(Function {
            name,
            returns: Signature::One(Type::Void),
            parameters: vec![slot_parameter, new_parameter, bits_parameter],
            attributes: ATTRIBUTES,
            scope: None,
            blocks,
        });
    }

    /// The active lanes whose addresses have any of these bits set, by a call if operations are outlined and
    /// masks are words.
    pub fn lanes_with_by_call(&mut self, addresses: Operand, bits: i64) -> Option<Operand> {
        self.facts.outlined_from.filter(|_| self.facts.in_frame)?;
        let mask = self.out.ir.word_of(self.cursor.mask)?;
        let name = Name::of("lanes.with");
        if !std::mem::replace(&mut self.out.outlined.tests_lanes, true) {
            self.lanes_with_function(name);
        }
        let arguments = [addresses, Operand::i64(bits), mask].map(Argument::from);
        Some(self.out.ir.call(Callee::Function(name), self.width().bits(), arguments))
    }

    fn lanes_with_function(&mut self, name: Name) {
        let (addresses_parameter, addresses) = parameter(self.width().addresses(), "addresses");
        let (bits_parameter, bits) = parameter(Type::I64, "bits");
        let (mask_parameter, mask) = parameter(self.width().bits(), "mask");
        let outer = self.out.ir.begin();
        let all = self.out.ir.splat(bits);
        let some = self.out.ir.bin(Bin::And, addresses, all);
        let those = self.out.ir.icmp_int(Cmp::Ne, some, 0);
        let sure = self.out.ir.freeze(those);
        let word = self.out.ir.bitcast(sure, self.width().bits());
        let here = self.out.ir.bin(Bin::And, word, mask);
        self.out.ir.ret(here);
        let blocks = self.out.ir.end(outer);
        self.out.ir.module.functions.push(Function {
            name,
            returns: Signature::One(self.width().bits()),
            parameters: vec![addresses_parameter, bits_parameter, mask_parameter],
            attributes: Attributes { will_return: true, no_memory: true, ..ATTRIBUTES },
            scope: None,
            blocks,
        });
    }

    /// The results of an operation on vectors, by a call if it is outlined.
    pub fn on_vectors(&mut self, inst: &Inst, raw: bool, args: &[Operand]) -> Result<Vec<Operand>> {
        let Some(from) = self.facts.outlined_from else {
            return Ok(lanewise::emit(&mut self.any_nan(Lanes::Warp, raw), &inst.op, args)?);
        };
        let literals = args.iter().map(|a| a.is_constant().then_some(*a)).collect();
        let key = (inst.op.clone(), literals, raw);
        if !self.out.outlined.known.contains_key(&key) {
            let made = self.outline(inst, raw, args, from)?;
            self.out.outlined.known.insert(key.clone(), made);
        }
        let Some((name, types)) = self.out.outlined.known.get(&key).cloned().flatten() else {
            return Ok(lanewise::emit(&mut self.any_nan(Lanes::Warp, raw), &inst.op, args)?);
        };
        let passed = args.iter().filter(|a| !a.is_constant()).map(|a| Argument::from(*a));
        let callee = Callee::Function(name);
        if let [one] = types[..] {
            return Ok(vec![self.out.ir.call(callee, one, passed)]);
        }
        let count = types.len();
        let all = self.out.ir.call_several(callee, types, passed.collect());
        Ok((0..count).map(|i| self.out.ir.part(&all, i)).collect())
    }

    /// Outlines an operation if it takes at least `from` instructions. Returns the function's name and return
    /// types.
    fn outline(&mut self, inst: &Inst, raw: bool, args: &[Operand], from: usize) -> Result<Option<Signed>> {
        let mut parameters = Vec::new();
        let mut operands = Vec::new();
        for (i, a) in args.iter().enumerate() {
            if a.is_constant() {
                operands.push(*a);
                continue;
            }
            let name = Name::numbered("a", i);
            parameters.push(Parameter::new(a.ty(), name));
            operands.push(Operand::local(a.ty(), name));
        }
        let outer = self.out.ir.begin();
        let done = lanewise::emit(&mut self.any_nan(Lanes::Warp, raw), &inst.op, &operands);
        let long = self.out.ir.body.size() > from;
        let returns = match &done {
            Ok(results) if long => Some(self.return_all(results)),
            _ => None,
        };
        let blocks = self.out.ir.end(outer);
        done?;
        let Some(types) = returns else { return Ok(None) };
        let name = Name::numbered("outlined", self.out.outlined.known.len());
        // LLVM counts loads of constants from memory as reads.
        let touches = |b: &Block| b.insts.iter().any(|i| i.op.effect() != Effect::None);
        let no_memory = !blocks.iter().any(touches);
        self.out.ir.module.functions.push(Function {
            name,
            returns: match types[..] {
                [one] => Signature::One(one),
                _ => Signature::Several(Rc::clone(&types)),
            },
            parameters,
            attributes: Attributes { will_return: true, no_memory, ..ATTRIBUTES },
            scope: None,
            blocks,
        });
        Ok(Some((name, types)))
    }

    /// Returns an operation's results from the function, and gives their types.
    fn return_all(&mut self, results: &[Operand]) -> Rc<[Type]> {
        if let [one] = results {
            self.out.ir.ret(*one);
        } else {
            let all = self.out.ir.together(results);
            self.out.ir.ret_several(&all);
        }
        results.iter().map(|r| r.ty()).collect()
    }
}
