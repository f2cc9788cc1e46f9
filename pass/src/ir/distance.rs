//! Computes the distance between two addresses, if it is a constant.

use super::address::steps;
use super::linear::Linear;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};

/// The maximum depth of nested sums and products that are expanded to an index's terms.
const DEEPEST: u32 = 12;

/// How a value was extended to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extension {
    /// The value already has 64 bits.
    Whole,
    Signed,
    Unsigned,
}

impl Extension {
    /// Returns whether the extension of a sum is the sum of the extensions.
    fn goes_through(self, sum: Value<'_>) -> bool {
        match self {
            Extension::Whole => true,
            // An `or disjoint` wraps neither as a signed nor as an unsigned sum.
            Extension::Signed => sum.is_nsw() || sum.is_disjoint(),
            Extension::Unsigned => sum.is_nuw() || sum.is_disjoint(),
        }
    }

    fn constant(self, value: Value<'_>) -> Option<i64> {
        match self {
            Extension::Unsigned => value.as_u64().map(|value| value as i64),
            _ => value.as_i64(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Term<'c> {
    value: Value<'c>,
    extension: Extension,
    scale: i64,
}

/// An address as the sum of a pointer, multiples of values, and a constant, all modulo 2^64.
#[derive(Clone, Debug)]
pub struct Sum<'c> {
    root: Value<'c>,
    terms: Vec<Term<'c>>,
    constant: i64,
}

impl<'c> Sum<'c> {
    /// Creates a `Sum` for a pointer.
    pub fn from_pointer(pointer: Value<'c>, layout: Layout<'_>) -> Sum<'c> {
        let mut sum = Sum { root: pointer, terms: Vec::new(), constant: 0 };
        loop {
            let opcode = sum.root.opcode().or_else(|| sum.root.constant_opcode());
            match opcode {
                Some(Opcode::LLVMAddrSpaceCast) => {}
                Some(Opcode::LLVMGetElementPtr) => {
                    let Some(steps) = steps(sum.root, layout) else { break };
                    sum.constant = sum.constant.wrapping_add(steps.constant);
                    for step in steps.variable {
                        // Narrow indices of a `getelementptr` are sign-extended.
                        let narrow = step.index.ty().int_bits().is_none_or(|bits| bits < 64);
                        let extension = if narrow { Extension::Signed } else { Extension::Whole };
                        sum.add(step.index, extension, step.scale as i64, DEEPEST);
                    }
                }
                _ => break,
            }
            sum.root = sum.root.operand(0);
        }
        sum.terms.retain(|term| term.scale != 0);
        sum
    }

    /// Returns the values on which the address depends.
    pub fn values(&self) -> impl Iterator<Item = Value<'c>> {
        std::iter::once(self.root).chain(self.terms.iter().map(|term| term.value))
    }

    fn add(&mut self, value: Value<'c>, extension: Extension, scale: i64, deepest: u32) {
        if let Some(constant) = extension.constant(value) {
            self.constant = self.constant.wrapping_add(constant.wrapping_mul(scale));
            return;
        }
        if deepest > 0 && self.add_parts(value, extension, scale, deepest - 1) {
            return;
        }
        match self.terms.iter_mut().find(|term| term.value == value && term.extension == extension) {
            Some(term) => term.scale = term.scale.wrapping_add(scale),
            None => self.terms.push(Term { value, extension, scale }),
        }
    }

    /// Adds the operands of a value instead of the value itself, if the extended value is known to be their extended sum.
    /// Returns `false` if it added nothing.
    fn add_parts(&mut self, value: Value<'c>, extension: Extension, scale: i64, deepest: u32) -> bool {
        if extension.goes_through(value)
            && let Some(linear) = Linear::recognise(value)
        {
            match linear {
                Linear::Sum(left, right, sign) => {
                    self.add(left, extension, scale, deepest);
                    self.add(right, extension, scale.wrapping_mul(sign), deepest);
                }
                Linear::Shifted(of, by) => self.add(of, extension, scale.wrapping_mul(by), deepest),
                Linear::Product(left, right) => {
                    let Some(factor) = extension.constant(right) else { return false };
                    self.add(left, extension, scale.wrapping_mul(factor), deepest);
                }
            }
            return true;
        }
        match value.opcode() {
            // Two sign extensions are equivalent to one; the same applies to zero extensions, and `nneg` permits both.
            Some(Opcode::LLVMSExt) if extension != Extension::Unsigned => {
                self.add(value.operand(0), Extension::Signed, scale, deepest);
            }
            Some(Opcode::LLVMZExt) if value.is_nneg() && extension != Extension::Unsigned => {
                self.add(value.operand(0), Extension::Signed, scale, deepest);
            }
            Some(Opcode::LLVMZExt) => self.add(value.operand(0), Extension::Unsigned, scale, deepest),
            _ => return false,
        }
        true
    }

    /// Returns the constant bytes of the address.
    pub fn constant(&self) -> i64 {
        self.constant
    }

    /// Returns the number of bytes from `self` to `other`, which is the same in every lane if both are computed from
    /// the same values.
    pub fn to(&self, other: &Sum<'c>) -> Option<i64> {
        let same = self.root == other.root
            && self.terms.len() == other.terms.len()
            && self.terms.iter().all(|term| other.terms.contains(term));
        same.then(|| other.constant.wrapping_sub(self.constant))
    }
}
