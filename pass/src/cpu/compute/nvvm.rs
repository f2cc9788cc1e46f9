//! The intrinsics of libdevice, which are also functions of one lane.

use super::arithmetic::scalar_bits;
use super::rounding::Rounding;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::leaf_types;
use crate::llvm::types::Kind;
use crate::llvm::value::{IntPredicate, Opcode, RealPredicate};
use crate::llvm::{ModuleItems, Type, Value};

impl<'c> Emitter<'_, 'c> {
    /// Lowers libdevice's intrinsics. Approximate functions are computed exactly, or more precisely than on the GPU.
    pub(crate) fn nvvm_math(&mut self, call: Value<'c>, rest: &str) -> Emitted<Vec<Leaf<'c>>> {
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
            return Err(Refusal::new(call, format!("the intrinsic llvm.nvvm.{rest}")));
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
            return Err(Refusal::new(call, format!("the intrinsic llvm.nvvm.{rest}")));
        }
        Ok(leaves)
    }

    pub(crate) fn nvvm_one(
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
            "fns" => self.find_set(x, operands[1], operands[2]),
            "f2tf32" => {
                let bits = b.bitcast(x, self.shaped(x, self.t.int(32)));
                return self.tensor32(bits, &name.split('.').collect::<Vec<_>>());
            }
            _ if first.contains('2') => return self.conversion(first, x, result, rounding),
            _ => return None,
        })
    }

    /// Lowers `rsqrt.approx.f64`, for which CUDA guarantees an error of at most one unit in the last place. Rounding
    /// twice (the root and the quotient) does not reach this, so a step of Newton's method follows.
    pub fn inverse_root(&self, x: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let first = b.binary(Opcode::LLVMFDiv, self.float_like(x, 1.0), self.unary("llvm.sqrt", x));
        // Computes 1 - x * first^2, with the product x * first in two parts.
        let product = b.binary(Opcode::LLVMFMul, x, first);
        let low = self.fma(x, first, b.fneg(product));
        let rest = self.fma(b.fneg(product), first, self.float_like(x, 1.0));
        let rest = self.fma(b.fneg(low), first, rest);
        let half = b.binary(Opcode::LLVMFMul, first, self.float_like(x, 0.5));
        let second = self.fma(half, rest, first);
        // For zero, infinity and NaN, there is nothing to refine.
        let usual = b.fcmp(RealPredicate::LLVMRealORD, rest, rest);
        b.select(usual, second, first)
    }

    /// Lowers `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`: only the upper 32 bits of operand and result count, and
    /// subnormal values are zero (PTX ISA, "rcp.approx.ftz.f64"). libdevice refines the value in steps whose rounding
    /// errors are small only if the value has few bits. With an exact value, `rsqrt` and `log2` would be less precise.
    pub fn gross(&self, root: bool, x: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let top = |value: Value<'c>| {
            let int = self.shaped(value, self.t.int(64));
            let pattern = b.bitcast(value, int);
            let kept = b.and(pattern, self.same(pattern, 0xffff_ffff_0000_0000));
            let exponent = b.and(pattern, self.same(pattern, 0x7ff0_0000_0000_0000));
            let sign = b.and(pattern, self.same(pattern, 1 << 63));
            let flushed = b.select(b.eq(exponent, self.same(pattern, 0)), sign, kept);
            // A NaN whose upper half is that of infinity stays a NaN.
            let nan = b.fcmp(RealPredicate::LLVMRealUNO, value, value);
            b.select(nan, value, b.bitcast(flushed, value.ty()))
        };
        let operand = top(x);
        let bottom = if root { self.unary("llvm.sqrt", operand) } else { operand };
        top(b.binary(Opcode::LLVMFDiv, self.float_like(x, 1.0), bottom))
    }

    /// Lowers `fns.b32`: returns the position of the set bit of `word` that is the `offset`-th set bit from `base` on,
    /// counted from 1, upwards for a positive offset and downwards for a negative one. Offset 0 selects the bit at
    /// `base` itself. Returns all ones if there is no such bit.
    fn find_set(&self, word: Value<'c>, base: Value<'c>, offset: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let number = |value: u64| self.same(word, value);
        let down = b.icmp(IntPredicate::LLVMIntSLT, offset, number(0));
        let place = b.and(base, number(31));
        // Searching downwards is the same as searching upwards in the reversed word.
        let from = b.select(down, b.sub(number(31), place), place);
        let turned = b.select(down, self.unary("llvm.bitreverse", word), word);
        let itself = b.eq(offset, number(0));
        let bits = b.lshr(turned, from);
        let bits = b.select(itself, b.and(bits, number(1)), bits);
        let wanted = self.two("llvm.umax", b.select(down, b.sub(number(0), offset), offset), number(1));
        let missing = b.ugt(wanted, self.unary("llvm.ctpop", bits));
        // The search halves the word: if the lower half does not contain enough set bits, they are skipped.
        let (mut bits, mut left, mut found) = (bits, wanted, from);
        for width in [16, 8, 4, 2, 1] {
            let low = self.unary("llvm.ctpop", b.and(bits, number((1 << width) - 1)));
            let beyond = b.ugt(left, low);
            left = b.select(beyond, b.sub(left, low), left);
            bits = b.select(beyond, b.lshr(bits, number(width)), bits);
            found = b.select(beyond, b.add(found, number(width)), found);
        }
        let found = b.select(down, b.sub(number(31), found), found);
        b.select(missing, number(u64::from(u32::MAX)), found)
    }

    pub(crate) fn mulhi(&self, name: &str, left: Value<'c>, right: Value<'c>) -> Option<Value<'c>> {
        let b = &self.b;
        let bits = scalar_bits(left.ty());
        let signed = !name.contains(".u");
        let wide = self.shaped(left, self.t.int(2 * bits));
        let extend = |value: Value<'c>| if signed { b.sext(value, wide) } else { b.zext(value, wide) };
        let product = b.mul(extend(left), extend(right));
        Some(b.trunc(b.lshr(product, self.same(product, u64::from(bits))), left.ty()))
    }

    /// Lowers `prmt.b32`: selects four of eight bytes, and optionally replicates their sign.
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

    /// Returns 2^x. For floats, this is a polynomial of degree 6 on [-0.5, 0.5], scaled by the exponent. The error is
    /// at most 2 units in the last place, as for the GPU's own `ex2.approx`. Unlike a call of libm, it can be
    /// vectorised.
    pub(crate) fn exp2(&self, x: Value<'c>) -> Value<'c> {
        if scalar_bits(x.ty()) != 32 {
            return self.unary("llvm.exp2", x);
        }
        if self.is_large() && matches!(x.ty().kind(), Kind::Vector(_)) {
            return self.shared_function("warpline.exp2", x, |x| self.exp2_here(x));
        }
        self.exp2_here(x)
    }

    /// The inlined variant of [`Self::exp2`] for 32 bits.
    fn exp2_here(&self, x: Value<'c>) -> Value<'c> {
        let b = &self.b;
        let clamped = self.two("llvm.minnum", x, self.float_like(x, 129.0));
        let clamped = self.two("llvm.maxnum", clamped, self.float_like(x, -151.0));
        let whole = self.unary("llvm.roundeven", clamped);
        let part = b.binary(Opcode::LLVMFSub, clamped, whole);
        // These are the Taylor terms of 2^f: ln(2)^k / k!.
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
        // The scaling has two steps, so that subnormal and overflowing results are correct.
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

    /// Returns the result of a function of the module that does `work` on one vector.
    fn shared_function(&self, name: &str, x: Value<'c>, work: impl FnOnce(Value<'c>) -> Value<'c>) -> Value<'c> {
        let function = ModuleItems::function(&self.unit().target, name).unwrap_or_else(|| {
            let function = self.unit().new_vector_function(name, x.ty(), &[x.ty()]);
            let here = self.b.block();
            self.b.at_end(function.append_block("entry"));
            let result = work(function.parameters()[0]);
            self.b.return_value(result);
            self.b.at_end(here);
            function
        });
        self.b.call(function, &[x])
    }

    /// Returns the base-2 logarithm through libm.
    pub(crate) fn log2(&self, x: Value<'c>) -> Value<'c> {
        self.unary("llvm.log2", x)
    }
}
