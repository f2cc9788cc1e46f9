//! Functions of one lane: LLVM's math intrinsics.

use super::arithmetic::scalar_bits;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::shapes::shape::Shape;
use crate::cpu::target::types::leaf_types;
use crate::cpu::target::vectors::Vectors;
use crate::llvm::types::Kind;
use crate::llvm::value::{Opcode, RealPredicate};
use crate::llvm::{Type, Value};

impl<'c> Emitter<'_, 'c> {
    /// Lowers a call whose result depends only on the arguments of the same lane.
    pub fn pure_call(&mut self, call: Value<'c>, name: &str) -> Emitted<Vec<Leaf<'c>>> {
        match name.strip_prefix("llvm.nvvm.") {
            Some(rest) => self.nvvm_math(call, rest),
            None => self.llvm_math(call, name),
        }
    }

    fn llvm_math(&mut self, call: Value<'c>, name: &str) -> Emitted<Vec<Leaf<'c>>> {
        let base = base_name(name);
        let flags = call.fast_math();
        if call.ty().kind() == Kind::Struct {
            return self.overflow_math(call, &base);
        }
        if let Some(reduction) = base.strip_prefix("llvm.vector.reduce.") {
            return self.vector_reduction(call, reduction);
        }
        if base.starts_with("llvm.vector.") {
            return Err(Refusal::new(call, format!("the intrinsic {name}")));
        }
        let vector_of_float = |ty: Type<'c>| ty.is_float();
        let results = leaf_types(call.ty());
        let result = results[0];
        if base == "llvm.ptrmask" {
            let [pointer, mask] = [call.operand(0), call.operand(1)].map(|operand| leaf_types(operand.ty())[0]);
            if pointer != mask {
                return Err(Refusal::new(
                    call,
                    format!("the intrinsic {name} with a mask that is not as wide as the pointer"),
                ));
            }
            return self.lanewise(call, |this, operands| this.b.and(operands[0], operands[1]));
        }
        if base == "llvm.powi" {
            // The vector form has one exponent for all lanes.
            return self.lanewise(call, |this, operands| {
                let exponent = this.b.cast(Opcode::LLVMSIToFP, operands[1], this.shaped(operands[0], result));
                if this.is_libm_call("llvm.pow", operands[0]) {
                    return this.libm_call("llvm.pow", &[operands[0], exponent], result);
                }
                this.b.call(this.unit().intrinsic("llvm.pow", &[operands[0].ty()]), &[operands[0], exponent])
            });
        }
        let immediate = match base.as_str() {
            "llvm.ctlz" | "llvm.cttz" | "llvm.abs" | "llvm.is.fpclass" => Some(call.operand(1)),
            _ => None,
        };
        let two_types = matches!(
            base.as_str(),
            "llvm.ldexp"
                | "llvm.lrint"
                | "llvm.llrint"
                | "llvm.lround"
                | "llvm.llround"
                | "llvm.fptosi.sat"
                | "llvm.fptoui.sat"
                | "llvm.scmp"
                | "llvm.ucmp"
        );
        let from_argument = base == "llvm.is.fpclass";
        debug_assert!(!two_types || vector_of_float(result) || result.int_bits().is_some());
        let result = self.computed_in(result);
        self.lanewise(call, |this, operands| {
            this.in_single(operands, |this, operands| {
                let mut arguments = operands.to_vec();
                if let Some(immediate) = immediate {
                    arguments[1] = immediate;
                }
                let shaped = this.shaped(operands[0], result);
                let overloads: Vec<Type<'c>> = if from_argument {
                    vec![operands[0].ty()]
                } else if base == "llvm.ldexp" {
                    vec![shaped, operands[1].ty()]
                } else if two_types {
                    vec![shaped, operands[0].ty()]
                } else {
                    vec![shaped]
                };
                if this.is_half_fma(&base, operands[0]) {
                    return this.half_fma(&arguments);
                }
                if this.is_libm_call(&base, operands[0]) {
                    return this.libm_call(&base, &arguments, result);
                }
                let made = this.b.call(this.unit().intrinsic(&base, &overloads), &arguments);
                made.set_fast_math(flags);
                made
            })
        })
    }

    /// Returns whether the host has no vector instruction for a function, so that LLVM would emit 32 calls of libm.
    fn is_libm_call(&self, base: &str, operand: Value<'c>) -> bool {
        const LIBRARY: [&str; 20] = [
            "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "exp10",
            "log", "log2", "log10", "pow", "ldexp", "sincos", "frem",
        ];
        let name = base.strip_prefix("llvm.").unwrap_or(base);
        let vector = matches!(operand.ty().kind(), Kind::Vector(_));
        vector && (LIBRARY.contains(&name) || (name == "fma" && self.unit().vectors == Vectors::Sse))
    }

    /// Returns a function of libm for all lanes, through a loop that exists once in each module.
    fn libm_call(&self, base: &str, arguments: &[Value<'c>], result: Type<'c>) -> Value<'c> {
        let scalars: Vec<Type<'c>> = arguments.iter().map(|argument| argument.ty().element()).collect();
        let parameters: Vec<Type<'c>> = arguments.iter().map(|argument| argument.ty()).collect();
        let short = base.strip_prefix("llvm.").unwrap_or(base);
        let function =
            self.unit().vector_helper(&format!("warpline.math.{short}.{result}"), result, &parameters, |b, lane, _| {
                if short == "frem" {
                    return b.binary(Opcode::LLVMFRem, lane[0], lane[1]);
                }
                let overloads = if short == "ldexp" { vec![result, scalars[1]] } else { vec![result] };
                b.call(self.unit().intrinsic(base, &overloads), lane)
            });
        self.b.call(function, arguments)
    }

    /// Returns the floating-point remainder from libm, because the processor has no instruction for it.
    pub fn remainder(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        if matches!(left.ty().kind(), Kind::Vector(_)) {
            return self.libm_call("llvm.frem", &[left, right], left.ty().element());
        }
        self.b.binary(Opcode::LLVMFRem, left, right)
    }

    /// Lowers an operation with the result `{ result, overflow }`.
    fn overflow_math(&mut self, call: Value<'c>, base: &str) -> Emitted<Vec<Leaf<'c>>> {
        let uniform = self.analysis().shape(call) == Shape::Uniform;
        let mut operands = Vec::new();
        for argument in call.arguments() {
            let leaf = self.leaf(argument)?;
            operands.push(leaf.scalar().filter(|_| uniform).unwrap_or_else(|| leaf.lanes(&self.b)));
        }
        let overloads: Vec<_> = if base == "llvm.frexp" {
            let exponent = self.shaped(operands[0], leaf_types(call.ty())[1]);
            vec![operands[0].ty(), exponent]
        } else if base.ends_with(".with.overflow") || matches!(base, "llvm.modf" | "llvm.sincos" | "llvm.sincospi") {
            vec![operands[0].ty()]
        } else {
            return Err(Refusal::new(call, format!("the intrinsic {base}")));
        };
        let made = self.b.call(self.unit().intrinsic(base, &overloads), &operands);
        Ok((0..2)
            .map(|index| {
                let part = self.b.extract_value(made, index);
                if uniform { Leaf::Uniform(part) } else { Leaf::Lanes(part) }
            })
            .collect())
    }

    pub(crate) fn unary(&self, name: &str, value: Value<'c>) -> Value<'c> {
        if self.is_libm_call(name, value) {
            return self.libm_call(name, &[value], value.ty().element());
        }
        self.b.call(self.unit().intrinsic(name, &[value.ty()]), &[value])
    }

    pub(crate) fn two(&self, name: &str, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.b.call(self.unit().intrinsic(name, &[left.ty()]), &[left, right])
    }

    pub(crate) fn fma(&self, a: Value<'c>, b: Value<'c>, c: Value<'c>) -> Value<'c> {
        if self.is_half_fma("llvm.fma", a) {
            return self.half_fma(&[a, b, c]);
        }
        if self.is_libm_call("llvm.fma", a) {
            return self.libm_call("llvm.fma", &[a, b, c], a.ty().element());
        }
        self.b.call(self.unit().intrinsic("llvm.fma", &[a.ty()]), &[a, b, c])
    }

    pub(crate) fn float_like(&self, like: Value<'c>, value: f64) -> Value<'c> {
        match like.ty().kind() {
            Kind::Vector(count) => Value::vector(&vec![Value::real(like.ty().element(), value); count as usize]),
            _ => Value::real(like.ty(), value),
        }
    }

    /// Replaces subnormal results by zero with the same sign.
    pub fn flush(&self, value: Value<'c>) -> Value<'c> {
        if scalar_bits(value.ty()) != 32 {
            return value;
        }
        let size = self.unary("llvm.fabs", value);
        let small = self.b.fcmp(RealPredicate::LLVMRealOLT, size, self.float_like(value, f64::from(f32::MIN_POSITIVE)));
        let zero = self.two("llvm.copysign", self.float_like(value, 0.0), value);
        self.b.select(small, zero, value)
    }
}

/// Returns an intrinsic's name without its overloaded types.
fn base_name(name: &str) -> String {
    let mut parts: Vec<&str> = name.split('.').collect();
    while parts.len() > 2 && parts.last().is_some_and(|part| is_type_suffix(part)) {
        parts.pop();
    }
    parts.join(".")
}

fn is_type_suffix(part: &str) -> bool {
    if part == "bf16" {
        return true;
    }
    let digits = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    match part.as_bytes() {
        [b'i' | b'f' | b'p', ..] => digits(&part[1..]),
        [b'v', ..] => {
            part[1..].find(|c: char| !c.is_ascii_digit()).is_some_and(|at| at > 0 && is_type_suffix(&part[1 + at..]))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_suffixes_are_cut() {
        assert_eq!(base_name("llvm.fma.f32"), "llvm.fma");
        assert_eq!(base_name("llvm.uadd.with.overflow.i32"), "llvm.uadd.with.overflow");
        assert_eq!(base_name("llvm.fptosi.sat.i32.f64"), "llvm.fptosi.sat");
        assert_eq!(base_name("llvm.smax.v2i16"), "llvm.smax");
        assert_eq!(base_name("llvm.fma.v2bf16"), "llvm.fma");
    }
}
