//! Ordered accesses of several elements, or of 128 bits, done at once.
//!
//! PTX promises only that each element is accessed at once, but GPUs do not tear aligned vectors, and CUB
//! passes a state and a value in the two halves of one. Processors with AVX do not tear 16 aligned bytes.

use wave::Ty;
use wave::op::{Order, Space};

use super::Kernel;
use super::memory::Access;
use super::value::IN_SLOT;
use crate::ir::{Access as How, Operand, Type};

impl Access {
    /// The type of the one access that takes the place of those to the elements.
    pub fn whole(self) -> Option<Type> {
        let visible = matches!(self.space, Space::Generic | Space::Global | Space::Shared);
        if self.order == Order::Weak || !visible || self.count == 1 && self.ty < Ty::I128 {
            return None;
        }
        match self.size() {
            bytes @ (2 | 4 | 8) => Some(Type::bits_of(8 * bytes)),
            16 => Some(Type::wide(2, Ty::I64)),
            _ => None,
        }
    }

    /// The access to a whole of up to 64 bits as one element.
    fn as_one(self) -> Option<Access> {
        let ty = match self.size() {
            2 => Ty::I16,
            4 => Ty::I32,
            8 => Ty::I64,
            _ => return None,
        };
        Some(Access { ty, count: 1, ..self })
    }
}

/// 16 bytes in one instruction.
const SIXTEEN: How = How { volatile: true, ..How::aligned(16) };

impl Kernel<'_> {
    /// Loads one lane's elements at once.
    pub fn load_whole(&mut self, a: Access, t: Type, at: Operand) -> Vec<Operand> {
        let all = match a.as_one() {
            Some(one) => self.load_one(one, at, 0),
            None => {
                let p = self.out.ir.pointer(at);
                self.out.ir.load_as(t, p, SIXTEEN)
            }
        };
        if a.count == 1 {
            return vec![self.out.ir.bitcast(all, Type::scalar(a.ty))];
        }
        let parts = self.out.ir.bitcast(all, Type::wide(a.count, a.ty));
        (0..a.count).map(|i| self.out.ir.extract_lane(parts, i)).collect()
    }

    /// Stores one lane's elements at once.
    pub fn store_whole(&mut self, a: Access, at: Operand, values: &[Operand]) {
        let all = match values {
            [one] => *one,
            _ => {
                let mut all = Operand::zero(Type::wide(a.count, a.ty));
                for (i, v) in values.iter().enumerate() {
                    all = self.out.ir.insert(all, *v, Operand::i64(i as i64));
                }
                all
            }
        };
        match a.as_one() {
            Some(one) => {
                let all = self.out.ir.bitcast(all, Type::scalar(one.ty));
                self.store_one(one, at, 0, all);
            }
            None => {
                let all = self.out.ir.bitcast(all, Type::wide(2, Ty::I64));
                let p = self.out.ir.pointer(at);
                self.out.ir.store_as(all, p, SIXTEEN);
            }
        }
    }

    /// Loads each lane's elements at once.
    pub fn load_wholes(&mut self, a: Access, t: Type, addresses: Operand) -> Vec<Operand> {
        let vector = self.width().vector(a.ty);
        let at = self.put("addresses", 0, addresses);
        let slots: Vec<Operand> =
            (0..a.count).map(|i| self.put("values", i, Operand::zero(vector))).collect();
        self.each_lane(|k, lane| {
            let from = k.get(at, Ty::I64, lane);
            for (v, &slot) in k.load_whole(a, t, from).into_iter().zip(&slots) {
                let to = k.element(slot, a.ty, lane);
                k.out.ir.store(v, to);
            }
        });
        slots.iter().map(|r| self.out.ir.load_as(vector, *r, IN_SLOT)).collect()
    }

    /// Stores each lane's elements at once.
    pub fn store_wholes(&mut self, a: Access, addresses: Operand, values: &[Operand]) {
        let at = self.put("addresses", 0, addresses);
        let slots: Vec<Operand> = values.iter().enumerate().map(|(i, v)| self.put("values", i, *v)).collect();
        self.each_lane(|k, lane| {
            let to = k.get(at, Ty::I64, lane);
            let values: Vec<Operand> = slots.iter().map(|&slot| k.get(slot, a.ty, lane)).collect();
            k.store_whole(a, to, &values);
        });
    }
}
