//! Functions of one lane: LLVM's math intrinsics, and libdevice's own.

use super::arithmetic::scalar_bits;
use super::emitter::{Emitted, Emitter};
use super::error::Refusal;
use super::leaf::{Leaf, leaf_types};
use super::shape::Shape;
use super::unit::Vectors;
use crate::llvm::types::Kind;
use crate::llvm::value::{Opcode, RealPredicate};
use crate::llvm::{Type, Value};

/// Rounding of an nvvm operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Toward zero.
    Zero,
    /// Toward minus infinity.
    Down,
    /// Toward infinity.
    Up,
}

impl<'c> Emitter<'_, 'c> {
    /// Lowers a call whose result depends on the arguments of the same lane alone.
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
        if matches!(base.as_str(), "llvm.vector.reduce.add" | "llvm.vector.reduce.fadd")
            || base.starts_with("llvm.vector.")
        {
            return Err(Refusal::of(call, format!("the intrinsic {name}")));
        }
        let vector_of_float = |ty: Type<'c>| ty.is_float();
        let results = leaf_types(call.ty());
        let result = results[0];
        if base == "llvm.powi" {
            // The vector form takes one exponent for all lanes.
            return self.lanewise(call, |this, operands| {
                let exponent = this.b.cast(Opcode::LLVMSIToFP, operands[1], this.shaped(operands[0], result));
                if this.is_library_call("llvm.pow", operands[0]) {
                    return this.library_call("llvm.pow", &[operands[0], exponent], result);
                }
                this.b.call(this.unit.intrinsic("llvm.pow", &[operands[0].ty()]), &[operands[0], exponent])
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
        );
        let from_argument = base == "llvm.is.fpclass";
        debug_assert!(!two_types || vector_of_float(result) || result.int_bits().is_some());
        self.lanewise(call, |this, operands| {
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
            if this.is_library_call(&base, operands[0]) {
                return this.library_call(&base, &arguments, result);
            }
            let made = this.b.call(this.unit.intrinsic(&base, &overloads), &arguments);
            made.set_fast_math(flags);
            made
        })
    }

    /// Whether the host has no vector instruction for a function, so that LLVM would write out 32 calls of libm.
    fn is_library_call(&self, base: &str, operand: Value<'c>) -> bool {
        const LIBRARY: [&str; 20] = [
            "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "exp10",
            "log", "log2", "log10", "pow", "ldexp", "sincos", "frem",
        ];
        let name = base.strip_prefix("llvm.").unwrap_or(base);
        let vector = matches!(operand.ty().kind(), Kind::Vector(_));
        vector && (LIBRARY.contains(&name) || (name == "fma" && self.unit.vectors == Vectors::Sse))
    }

    /// A function of libm for all lanes, through a loop that each module has once.
    fn library_call(&self, base: &str, arguments: &[Value<'c>], result: Type<'c>) -> Value<'c> {
        let scalars: Vec<Type<'c>> = arguments.iter().map(|argument| argument.ty().element()).collect();
        let parameters: Vec<Type<'c>> = arguments.iter().map(|argument| argument.ty()).collect();
        let short = base.strip_prefix("llvm.").unwrap_or(base);
        let function =
            self.unit.vector_helper(&format!("warpline.math.{short}.{result}"), result, &parameters, |b, lane| {
                if short == "frem" {
                    return b.binary(Opcode::LLVMFRem, lane[0], lane[1]);
                }
                let overloads = if short == "ldexp" { vec![result, scalars[1]] } else { vec![result] };
                b.call(self.unit.intrinsic(base, &overloads), lane)
            });
        self.b.call(function, arguments)
    }

    /// Floating-point remainder: libm's, as the processor has none.
    pub fn remainder(&self, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        if matches!(left.ty().kind(), Kind::Vector(_)) {
            return self.library_call("llvm.frem", &[left, right], left.ty().element());
        }
        self.b.binary(Opcode::LLVMFRem, left, right)
    }

    /// `{ result, overflow }`.
    fn overflow_math(&mut self, call: Value<'c>, base: &str) -> Emitted<Vec<Leaf<'c>>> {
        let uniform = self.analysis.shape(call) == Shape::Uniform;
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
            return Err(Refusal::of(call, format!("the intrinsic {base}")));
        };
        let made = self.b.call(self.unit.intrinsic(base, &overloads), &operands);
        Ok((0..2)
            .map(|index| {
                let part = self.b.extract_value(made, index);
                if uniform { Leaf::Uniform(part) } else { Leaf::Lanes(part) }
            })
            .collect())
    }

    fn unary(&self, name: &str, value: Value<'c>) -> Value<'c> {
        if self.is_library_call(name, value) {
            return self.library_call(name, &[value], value.ty().element());
        }
        self.b.call(self.unit.intrinsic(name, &[value.ty()]), &[value])
    }

    fn two(&self, name: &str, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        self.b.call(self.unit.intrinsic(name, &[left.ty()]), &[left, right])
    }

    fn fma(&self, a: Value<'c>, b: Value<'c>, c: Value<'c>) -> Value<'c> {
        if self.is_library_call("llvm.fma", a) {
            return self.library_call("llvm.fma", &[a, b, c], a.ty().element());
        }
        self.b.call(self.unit.intrinsic("llvm.fma", &[a.ty()]), &[a, b, c])
    }

    fn float_like(&self, like: Value<'c>, value: f64) -> Value<'c> {
        match like.ty().kind() {
            Kind::Vector(count) => Value::vector(&vec![Value::real(like.ty().element(), value); count as usize]),
            _ => Value::real(like.ty(), value),
        }
    }

    /// Subnormal results become zero of the same sign.
    pub fn flush(&self, value: Value<'c>) -> Value<'c> {
        if scalar_bits(value.ty()) != 32 {
            return value;
        }
        let size = self.unary("llvm.fabs", value);
        let small = self.b.fcmp(RealPredicate::LLVMRealOLT, size, self.float_like(value, f64::from(f32::MIN_POSITIVE)));
        let zero = self.two("llvm.copysign", self.float_like(value, 0.0), value);
        self.b.select(small, zero, value)
    }

    /// libdevice's intrinsics. Approximate ones are computed exactly or better than the GPU does.
    fn nvvm_math(&mut self, call: Value<'c>, rest: &str) -> Emitted<Vec<Leaf<'c>>> {
        let parts: Vec<&str> = rest.split('.').collect();
        let ftz = parts.contains(&"ftz");
        let rounding = parts.iter().find_map(|part| match *part {
            "rn" | "rni" => Some(Rounding::Nearest),
            "rz" | "rzi" => Some(Rounding::Zero),
            "rm" | "rmi" => Some(Rounding::Down),
            "rp" | "rpi" => Some(Rounding::Up),
            _ => None,
        });
        let first = parts[0].to_string();
        let name = rest.to_string();
        if call.ty().is_void() {
            return Err(Refusal::of(call, format!("the intrinsic llvm.nvvm.{rest}")));
        }
        let results = leaf_types(call.ty());
        let result = results[0];
        if first == "bitcast" {
            let from = leaf_types(call.operand(0).ty());
            let leaves = self.leaves(call.operand(0))?;
            let leaves = self.recast(call, &leaves, &from, &results)?;
            return Ok(self.like_shape(call, leaves));
        }
        let supported = std::cell::Cell::new(true);
        let leaves = self.lanewise(call, |this, operands| {
            let made = this.nvvm_one(&first, &name, operands, result, rounding.unwrap_or(Rounding::Nearest));
            match made {
                Some(value) if ftz && result.is_float() => this.flush(value),
                Some(value) => value,
                None => {
                    supported.set(false);
                    Value::zero(this.shaped(operands[0], result))
                }
            }
        })?;
        if !supported.get() {
            return Err(Refusal::of(call, format!("the intrinsic llvm.nvvm.{rest}")));
        }
        Ok(leaves)
    }

    fn nvvm_one(
        &self,
        first: &str,
        name: &str,
        operands: &[Value<'c>],
        result: Type<'c>,
        rounding: Rounding,
    ) -> Option<Value<'c>> {
        let b = &self.b;
        let x = operands[0];
        let directed = rounding != Rounding::Nearest;
        Some(match first {
            "fabs" => self.unary("llvm.fabs", x),
            "fmin" | "fmax" => {
                let nan = name.contains(".nan");
                let base = match (first, nan) {
                    ("fmin", false) => "llvm.minnum",
                    ("fmin", true) => "llvm.minimum",
                    ("fmax", false) => "llvm.maxnum",
                    _ => "llvm.maximum",
                };
                if name.contains("xorsign") {
                    return None;
                }
                self.two(base, x, operands[1])
            }
            "add" | "mul" | "div" | "fma" | "sqrt" | "rcp" if directed => {
                return self.directed(first, operands, rounding);
            }
            "add" => b.binary(Opcode::LLVMFAdd, x, operands[1]),
            "mul" => b.binary(Opcode::LLVMFMul, x, operands[1]),
            "div" => b.binary(Opcode::LLVMFDiv, x, operands[1]),
            "fma" => self.fma(x, operands[1], operands[2]),
            "sqrt" => self.unary("llvm.sqrt", x),
            "rcp" | "rsqrt" if name.contains("approx.ftz.d") => self.gross(first == "rsqrt", x),
            "rcp" => b.binary(Opcode::LLVMFDiv, self.float_like(x, 1.0), x),
            "rsqrt" if scalar_bits(x.ty()) == 64 => self.inverse_root(x),
            "rsqrt" => b.binary(Opcode::LLVMFDiv, self.float_like(x, 1.0), self.unary("llvm.sqrt", x)),
            "ex2" => self.exp2(x),
            "lg2" => self.log2(x),
            "sin" => self.unary("llvm.sin", x),
            "cos" => self.unary("llvm.cos", x),
            "tanh" => self.unary("llvm.tanh", x),
            "floor" | "ceil" | "trunc" => self.unary(&format!("llvm.{first}"), x),
            "round" => self.unary("llvm.roundeven", x),
            "saturate" => {
                // NaN becomes 0.
                let low = self.two("llvm.maxnum", x, self.float_like(x, 0.0));
                self.two("llvm.minnum", low, self.float_like(x, 1.0))
            }
            "mulhi" => return self.mulhi(name, x, operands[1]),
            "mul24" => {
                let signed = name.contains(".i");
                let cut = |v: Value<'c>| {
                    if signed {
                        let eight = self.same(v, 8);
                        b.ashr(b.shl(v, eight), eight)
                    } else {
                        b.and(v, self.same(v, 0xff_ffff))
                    }
                };
                b.mul(cut(x), cut(operands[1]))
            }
            "sad" => {
                let signed = name.starts_with("sad.i") || name.starts_with("sad.s") || name.starts_with("sad.ll");
                let (largest, smallest) = if signed { ("llvm.smax", "llvm.smin") } else { ("llvm.umax", "llvm.umin") };
                let distance = b.sub(self.two(largest, x, operands[1]), self.two(smallest, x, operands[1]));
                b.add(distance, operands[2])
            }
            "prmt" => self.prmt(x, operands[1], operands[2]),
            "lohi" => {
                let long = self.shaped(x, self.t.int(64));
                let high = b.zext(operands[1], long);
                let whole = b.or(b.shl(high, self.same(high, 32)), b.zext(x, long));
                b.bitcast(whole, self.shaped(x, self.t.double()))
            }
            "d2i" if name == "d2i.lo" || name == "d2i.hi" => {
                let bits = b.bitcast(x, self.shaped(x, self.t.int(64)));
                let moved = if name == "d2i.hi" { b.lshr(bits, self.same(bits, 32)) } else { bits };
                b.trunc(moved, self.shaped(x, self.t.int(32)))
            }
            "brev32" | "brev64" | "brev" => self.unary("llvm.bitreverse", x),
            "popc" => self.unary("llvm.ctpop", x),
            _ if first.contains('2') => return self.conversion(first, x, result, rounding),
            _ => return None,
        })
    }

    /// `rsqrt.approx.f64`, which CUDA promises to be right to one unit in the last place. Two roundings after each other
    /// (of the root and of the quotient) miss that, so a step of Newton's method follows.
    pub fn inverse_root(&self, x: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let first = b.binary(Opcode::LLVMFDiv, self.float_like(x, 1.0), self.unary("llvm.sqrt", x));
        // 1 - x * first^2, with the product x * first in two parts.
        let product = b.binary(Opcode::LLVMFMul, x, first);
        let low = self.fma(x, first, b.fneg(product));
        let rest = self.fma(b.fneg(product), first, self.float_like(x, 1.0));
        let rest = self.fma(b.fneg(low), first, rest);
        let half = b.binary(Opcode::LLVMFMul, first, self.float_like(x, 0.5));
        let second = self.fma(half, rest, first);
        // Zero, infinity and their kin leave nothing to refine.
        let usual = b.fcmp(RealPredicate::LLVMRealORD, rest, rest);
        b.select(usual, second, first)
    }

    /// `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: of operand and result only the upper 32 bits count, subnormal
    /// ones are zero (PTX ISA, "rcp.approx.ftz.f64"). libdevice refines the value in steps whose rounding errors are
    /// small only as long as it has few bits: with an exact one `rsqrt` and `log2` would be worse, not better.
    pub fn gross(&self, root: bool, x: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let top = |value: Value<'c>| {
            let int = self.shaped(value, self.t.int(64));
            let pattern = b.bitcast(value, int);
            let kept = b.and(pattern, self.same(pattern, 0xffff_ffff_0000_0000));
            let exponent = b.and(pattern, self.same(pattern, 0x7ff0_0000_0000_0000));
            let sign = b.and(pattern, self.same(pattern, 1 << 63));
            let flushed = b.select(b.eq(exponent, self.same(pattern, 0)), sign, kept);
            // A NaN whose upper half is that of infinity stays one.
            let nan = b.fcmp(RealPredicate::LLVMRealUNO, value, value);
            b.select(nan, value, b.bitcast(flushed, value.ty()))
        };
        let operand = top(x);
        let bottom = if root { self.unary("llvm.sqrt", operand) } else { operand };
        top(b.binary(Opcode::LLVMFDiv, self.float_like(x, 1.0), bottom))
    }

    /// `f2i.rz` and its kin.
    fn conversion(&self, first: &str, x: Value<'c>, result: Type<'c>, rounding: Rounding) -> Option<Value<'c>> {
        let (from, to) = first.split_once('2')?;
        let b = &self.b;
        let from_float = matches!(from, "f" | "d");
        match (from_float, to) {
            (true, "i" | "ll" | "ui" | "ull") => {
                let whole = match rounding {
                    Rounding::Nearest => self.unary("llvm.roundeven", x),
                    Rounding::Zero => x,
                    Rounding::Down => self.unary("llvm.floor", x),
                    Rounding::Up => self.unary("llvm.ceil", x),
                };
                Some(self.saturating(!to.starts_with('u'), whole, result))
            }
            (true, "f") if from == "d" => {
                let near = b.cast(Opcode::LLVMFPTrunc, x, self.shaped(x, result));
                if rounding == Rounding::Nearest {
                    return Some(near);
                }
                let back = b.cast(Opcode::LLVMFPExt, near, x.ty());
                let error = b.binary(Opcode::LLVMFSub, x, back);
                Some(self.nudge(near, error, rounding))
            }
            (true, "h") => {
                let half = b.cast(Opcode::LLVMFPTrunc, x, self.shaped(x, self.t.half()));
                Some(b.bitcast(half, self.shaped(x, result)))
            }
            (false, "f" | "d") if matches!(from, "i" | "ll" | "ui" | "ull") => {
                let opcode = if from.starts_with('u') { Opcode::LLVMUIToFP } else { Opcode::LLVMSIToFP };
                let near = b.cast(opcode, x, self.shaped(x, result));
                if rounding == Rounding::Nearest || (result.kind() == Kind::Double && scalar_bits(x.ty()) == 32) {
                    return Some(near);
                }
                if result.kind() == Kind::Float && scalar_bits(x.ty()) == 32 {
                    let exact = b.cast(opcode, x, self.shaped(x, self.t.double()));
                    let back = b.cast(Opcode::LLVMFPExt, near, exact.ty());
                    return Some(self.nudge(near, b.binary(Opcode::LLVMFSub, exact, back), rounding));
                }
                None
            }
            _ => None,
        }
    }

    /// Moves a result that was rounded to nearest to where another rounding would have put it. `error` is the exact
    /// result less the rounded one; only its sign matters.
    pub fn nudge(&self, near: Value<'c>, error: Value<'c>, rounding: Rounding) -> Value<'c> {
        let b = &self.b;
        let bits = scalar_bits(near.ty());
        let int = self.shaped(near, self.t.int(bits));
        let pattern = b.bitcast(near, int);
        let zero = self.float_like(error, 0.0);
        let above = b.fcmp(RealPredicate::LLVMRealOLT, error, zero);
        let below = b.fcmp(RealPredicate::LLVMRealOGT, error, zero);
        let negative = b.icmp(crate::llvm::value::IntPredicate::LLVMIntSLT, pattern, self.same(pattern, 0));
        let one = self.same(pattern, 1);
        let away = b.add(pattern, one);
        let toward = b.sub(pattern, one);
        let is_zero = b.fcmp(RealPredicate::LLVMRealOEQ, near, self.float_like(near, 0.0));
        let least = |sign: u64| self.same(pattern, (sign << (bits - 1)) | 1);
        let down = b.select(is_zero, least(1), b.select(negative, away, toward));
        let up = b.select(is_zero, least(0), b.select(negative, toward, away));
        let chosen = match rounding {
            Rounding::Nearest => return near,
            Rounding::Down => b.select(above, down, pattern),
            Rounding::Up => b.select(below, up, pattern),
            Rounding::Zero => {
                // Toward zero: down for positive results, up for negative ones.
                let positive = b.select(above, down, pattern);
                let minus = b.select(below, up, pattern);
                b.select(negative, minus, positive)
            }
        };
        b.bitcast(chosen, near.ty())
    }

    /// Addition, multiplication, division, square root and fma with another rounding than to nearest, from the
    /// rounded result and the sign of its exact error.
    pub fn directed(&self, first: &str, operands: &[Value<'c>], rounding: Rounding) -> Option<Value<'c>> {
        let b = &self.b;
        let x = operands[0];
        let (near, error) = match first {
            "add" => {
                let sum = b.binary(Opcode::LLVMFAdd, x, operands[1]);
                (sum, self.sum_error(x, operands[1], sum))
            }
            "mul" => {
                let product = b.binary(Opcode::LLVMFMul, x, operands[1]);
                (product, self.fma(x, operands[1], b.fneg(product)))
            }
            "div" | "rcp" => {
                let (top, bottom) = if first == "rcp" { (self.float_like(x, 1.0), x) } else { (x, operands[1]) };
                let quotient = b.binary(Opcode::LLVMFDiv, top, bottom);
                // (top - q * bottom) / bottom has the sign of the error.
                let rest = self.fma(b.fneg(quotient), bottom, top);
                let sign = self.two("llvm.copysign", self.float_like(x, 1.0), bottom);
                (quotient, b.binary(Opcode::LLVMFMul, rest, sign))
            }
            "sqrt" => {
                let root = self.unary("llvm.sqrt", x);
                (root, self.fma(b.fneg(root), root, x))
            }
            "fma" if scalar_bits(x.ty()) == 32 => {
                // In doubles the product is exact; the sum's error is known exactly.
                let double = self.shaped(x, self.t.double());
                let wide = |value: Value<'c>| b.cast(Opcode::LLVMFPExt, value, double);
                let product = b.binary(Opcode::LLVMFMul, wide(x), wide(operands[1]));
                let addend = wide(operands[2]);
                let sum = b.binary(Opcode::LLVMFAdd, product, addend);
                let rest = self.sum_error(product, addend, sum);
                let near = b.cast(Opcode::LLVMFPTrunc, sum, x.ty());
                let coarse = b.binary(Opcode::LLVMFSub, sum, wide(near));
                let exact = b.fcmp(RealPredicate::LLVMRealOEQ, coarse, self.float_like(coarse, 0.0));
                (near, b.select(exact, rest, coarse))
            }
            "fma" => {
                let near = self.fma(x, operands[1], operands[2]);
                let product = b.binary(Opcode::LLVMFMul, x, operands[1]);
                let low = self.fma(x, operands[1], b.fneg(product));
                // Exact sum of three terms against the rounded result, largest first.
                let sum = b.binary(Opcode::LLVMFAdd, product, operands[2]);
                let rest = self.sum_error(product, operands[2], sum);
                let coarse = b.binary(Opcode::LLVMFSub, sum, near);
                let fine = b.binary(Opcode::LLVMFAdd, rest, low);
                (near, b.binary(Opcode::LLVMFAdd, coarse, fine))
            }
            _ => return None,
        };
        Some(self.nudge(near, error, rounding))
    }

    /// What a rounded sum lost, exactly (Knuth's two-sum).
    fn sum_error(&self, left: Value<'c>, right: Value<'c>, sum: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let (add, sub) = (Opcode::LLVMFAdd, Opcode::LLVMFSub);
        let right_part = b.binary(sub, sum, left);
        let left_part = b.binary(sub, sum, right_part);
        let right_error = b.binary(sub, right, right_part);
        let left_error = b.binary(sub, left, left_part);
        b.binary(add, left_error, right_error)
    }

    fn mulhi(&self, name: &str, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let b = &self.b;
        let bits = scalar_bits(left.ty());
        let signed = !name.contains(".u");
        let wide = self.shaped(left, self.t.int(2 * bits));
        let extend = |value: Value<'c>| if signed { b.sext(value, wide) } else { b.zext(value, wide) };
        let product = b.mul(extend(left), extend(right));
        Some(b.trunc(b.lshr(product, self.same(product, u64::from(bits))), left.ty()))
    }

    /// `prmt.b32`: picks four of eight bytes, optionally spreading their sign.
    pub fn prmt(&self, low: Value<'c>, high: Value<'c>, selector: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let long = self.shaped(low, self.t.int(64));
        let whole = b.or(b.zext(low, long), b.shl(b.zext(high, long), self.same(Value::zero(long), 32)));
        let mut result = self.same(low, 0);
        for byte in 0..4 {
            let nibble = b.and(b.lshr(selector, self.same(selector, 4 * byte)), self.same(selector, 15));
            let shift = b.shl(b.and(nibble, self.same(nibble, 7)), self.same(nibble, 3));
            let picked = b.trunc(b.lshr(whole, b.zext(shift, long)), low.ty());
            let picked = b.and(picked, self.same(picked, 0xff));
            let negative = b.ne(b.and(picked, self.same(picked, 0x80)), self.same(picked, 0));
            let sign = b.select(negative, self.same(picked, 0xff), self.same(picked, 0));
            let spread = b.ne(b.and(nibble, self.same(nibble, 8)), self.same(nibble, 0));
            let chosen = b.select(spread, sign, picked);
            result = b.or(result, b.shl(chosen, self.same(chosen, 8 * byte)));
        }
        result
    }

    /// 2^x. For floats a polynomial of degree 6 on [-0.5, 0.5], scaled by the exponent: within 2 units in the last
    /// place, as the GPU's own `ex2.approx`, and it vectorises, which a call into libm does not.
    fn exp2(&self, x: Value<'c>) -> Value<'c> {
        if scalar_bits(x.ty()) != 32 {
            return self.unary("llvm.exp2", x);
        }
        let b = &self.b;
        let clamped = self.two("llvm.minnum", x, self.float_like(x, 129.0));
        let clamped = self.two("llvm.maxnum", clamped, self.float_like(x, -151.0));
        let whole = self.unary("llvm.roundeven", clamped);
        let part = b.binary(Opcode::LLVMFSub, clamped, whole);
        // Taylor terms of 2^f: ln(2)^k / k!.
        let mut term = 1.0;
        let coefficients: Vec<f64> = (0..=7)
            .map(|k| {
                let this = term;
                term *= std::f64::consts::LN_2 / f64::from(k + 1);
                this
            })
            .collect();
        let mut value = self.float_like(x, coefficients[7]);
        for &coefficient in coefficients[..7].iter().rev() {
            value = self.fma(value, part, self.float_like(x, coefficient));
        }
        let exponent = self.saturating(true, whole, self.t.int(32));
        // In two steps, so that subnormal and overflowing results come out right.
        let half = b.ashr(exponent, self.same(exponent, 1));
        let rest = b.sub(exponent, half);
        let power = |e: Value<'c>| {
            let biased = b.add(e, self.same(e, 127));
            b.bitcast(b.shl(biased, self.same(e, 23)), x.ty())
        };
        let scaled = b.binary(Opcode::LLVMFMul, b.binary(Opcode::LLVMFMul, value, power(half)), power(rest));
        let nan = b.fcmp(RealPredicate::LLVMRealUNO, x, x);
        b.select(nan, x, scaled)
    }

    /// Base-2 logarithm through libm.
    fn log2(&self, x: Value<'c>) -> Value<'c> {
        self.unary("llvm.log2", x)
    }
}

/// An intrinsic's name without its overloaded types.
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
