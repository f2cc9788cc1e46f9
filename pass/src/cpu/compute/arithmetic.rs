//! Arithmetic, comparisons, conversions and the shuffling of vector elements.

use crate::cpu::emitter::leaf::{Leaf, leaf_range};
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::shapes::shape::Shape;
use crate::cpu::target::types::{LANES, held, leaf_types};
use crate::ir::address;
use crate::llvm::types::Kind;
use crate::llvm::value::{IntPredicate, Opcode, RealPredicate};
use crate::llvm::{Type, Value};

impl<'c> Emitter<'_, 'c> {
    /// Lowers an instruction other than a phi or terminator. Returns `None` if it has no result.
    pub fn instruction(&mut self, value: Value<'c>) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let Some(opcode) = value.opcode() else { return Err(Refusal::new(value, "this value")) };
        let leaves = match opcode {
            Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl | Opcode::LLVMOr => {
                match self.affine_arithmetic(value, opcode)? {
                    Some(leaf) => vec![leaf],
                    None => self.binary(value, opcode)?,
                }
            }
            Opcode::LLVMAnd | Opcode::LLVMXor | Opcode::LLVMLShr | Opcode::LLVMAShr => self.binary(value, opcode)?,
            Opcode::LLVMFAdd | Opcode::LLVMFSub | Opcode::LLVMFMul | Opcode::LLVMFDiv => {
                self.float_arithmetic(value, opcode)?
            }
            Opcode::LLVMFRem => self.lanewise(value, |this, operands| {
                this.in_single(operands, |this, operands| this.remainder(operands[0], operands[1]))
            })?,
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem => {
                self.division(value, opcode)?
            }
            Opcode::LLVMFNeg => self.lanewise(value, |this, operands| this.b.fneg(operands[0]))?,
            Opcode::LLVMFreeze => self.freeze(value)?,
            Opcode::LLVMICmp => {
                let predicate = value.int_predicate().unwrap_or(IntPredicate::LLVMIntEQ);
                self.lanewise(value, |this, operands| this.b.icmp(predicate, operands[0], operands[1]))?
            }
            Opcode::LLVMFCmp => {
                let predicate = value.real_predicate().unwrap_or(RealPredicate::LLVMRealOEQ);
                self.lanewise(value, |this, operands| {
                    this.in_single(operands, |this, operands| this.b.fcmp(predicate, operands[0], operands[1]))
                })?
            }
            Opcode::LLVMSelect => self.select(value)?,
            Opcode::LLVMTrunc | Opcode::LLVMSExt | Opcode::LLVMZExt => vec_of(self.integer_cast(value, opcode)?),
            Opcode::LLVMPtrToInt | Opcode::LLVMIntToPtr => vec_of(self.pointer_cast(value)?),
            Opcode::LLVMAddrSpaceCast => vec_of(self.space_cast(value)?),
            Opcode::LLVMFPToSI | Opcode::LLVMFPToUI => self.float_to_int(value, opcode)?,
            Opcode::LLVMSIToFP | Opcode::LLVMUIToFP | Opcode::LLVMFPTrunc | Opcode::LLVMFPExt => {
                let to = leaf_types(value.ty())[0];
                self.lanewise(value, |this, operands| {
                    let brain = this.brain_cast(opcode, operands[0], to);
                    brain.unwrap_or_else(|| this.b.cast(opcode, operands[0], this.shaped(operands[0], to)))
                })?
            }
            Opcode::LLVMBitCast => self.bit_cast(value)?,
            Opcode::LLVMGetElementPtr => vec![self.pointer_arithmetic(value)?],
            Opcode::LLVMExtractElement => self.extract_element(value)?,
            Opcode::LLVMInsertElement => self.insert_element(value)?,
            Opcode::LLVMShuffleVector => self.shuffle_vector(value)?,
            Opcode::LLVMExtractValue => {
                let (first, count) = leaf_range(value.operand(0).ty(), &value.indices());
                self.leaves(value.operand(0))?[first..first + count].to_vec()
            }
            Opcode::LLVMInsertValue => {
                let (first, count) = leaf_range(value.ty(), &value.indices());
                let mut leaves = self.leaves(value.operand(0))?;
                let part = self.leaves(value.operand(1))?;
                leaves.splice(first..first + count, part);
                self.like_shape(value, leaves)
            }
            Opcode::LLVMAlloca => vec![self.local_variable(value)?],
            Opcode::LLVMLoad => self.load(value)?,
            Opcode::LLVMStore => {
                self.store(value)?;
                return Ok(None);
            }
            Opcode::LLVMAtomicRMW => vec![self.atomic_update(value)?],
            Opcode::LLVMAtomicCmpXchg => self.compare_exchange(value)?,
            Opcode::LLVMFence => {
                self.b.fence(
                    value.ordering().unwrap_or(crate::llvm::value::Ordering::LLVMAtomicOrderingSequentiallyConsistent),
                );
                return Ok(None);
            }
            Opcode::LLVMCall => return self.call(value),
            _ => return Err(Refusal::new(value, "this instruction")),
        };
        Ok(Some(leaves))
    }

    /// Applies `make` to each leaf: to scalars if the result is uniform, otherwise to vectors.
    pub fn lanewise(
        &mut self,
        value: Value<'c>,
        make: impl Fn(&Self, &[Value<'c>]) -> Value<'c>,
    ) -> Emitted<Vec<Leaf<'c>>> {
        let operands = if value.is_call() { value.arguments() } else { value.operands() };
        self.lanewise_of(value, &operands, make)
    }

    /// The variant of [`Self::lanewise`] with other operands than those of the instruction.
    pub fn lanewise_of(
        &mut self,
        value: Value<'c>,
        operands: &[Value<'c>],
        make: impl Fn(&Self, &[Value<'c>]) -> Value<'c>,
    ) -> Emitted<Vec<Leaf<'c>>> {
        let uniform = self.analysis().shape(value) == Shape::Uniform;
        let mut columns = Vec::with_capacity(operands.len());
        for &operand in operands {
            columns.push(self.leaves(operand)?);
        }
        let count = leaf_types(value.ty()).len();
        let mut results = Vec::with_capacity(count);
        for index in 0..count {
            let mut row = Vec::with_capacity(columns.len());
            for column in &columns {
                let leaf = column.get(index).or_else(|| column.first());
                let Some(leaf) = leaf else { return Err(Refusal::new(value, "an operand without a value")) };
                row.push(match (uniform, leaf.scalar()) {
                    (true, Some(scalar)) => scalar,
                    (true, None) => return Err(Refusal::new(value, "a uniform result of varying operands")),
                    (false, _) => leaf.lanes(&self.b),
                });
            }
            let made = make(self, &row);
            self.follow_part(index, count);
            self.follow_result(made, &row);
            results.push(if uniform { Leaf::Uniform(made) } else { Leaf::Lanes(made) });
        }
        Ok(results)
    }

    fn binary(&mut self, value: Value<'c>, opcode: Opcode) -> Emitted<Vec<Leaf<'c>>> {
        let flags = value.fast_math();
        self.lanewise(value, |this, operands| {
            let made = this.b.binary(opcode, operands[0], operands[1]);
            made.set_fast_math(flags);
            made
        })
    }

    /// Converts leaves to vectors if the analysis requires it.
    pub fn like_shape(&self, value: Value<'c>, leaves: Vec<Leaf<'c>>) -> Vec<Leaf<'c>> {
        match self.analysis().shape(value) {
            Shape::Varying { .. } => leaves.into_iter().map(|leaf| Leaf::Lanes(leaf.lanes(&self.b))).collect(),
            _ => leaves,
        }
    }

    fn affine_arithmetic(&mut self, value: Value<'c>, opcode: Opcode) -> Emitted<Option<Leaf<'c>>> {
        let Some(affine) = self.analysis().affine(value) else { return Ok(None) };
        let (left, right) = (self.leaf(value.operand(0))?, self.leaf(value.operand(1))?);
        // The value is exact as signed, or as unsigned, or only its low bits are used; in the last case, either
        // extension is correct.
        let signed = affine.signed || !affine.unsigned;
        let (Some((left, _)), Some((right, _))) = (self.wide(&left, signed), self.wide(&right, signed)) else {
            return Err(Refusal::new(value, "affine arithmetic on varying operands"));
        };
        // An `or` of disjoint bits is a sum; a shift count is small and not negative.
        let opcode = if opcode == Opcode::LLVMOr { Opcode::LLVMAdd } else { opcode };
        let bases = left.iter().zip(&right).map(|(left, right)| self.b.binary(opcode, *left, *right)).collect();
        Ok(Some(Leaf::Affine { bases, stride: affine.stride, ty: held(value.ty()) }))
    }

    fn freeze(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let leaves = self.leaves(value.operand(0))?;
        let frozen = leaves
            .into_iter()
            .map(|leaf| match leaf {
                Leaf::Uniform(scalar) => Leaf::Uniform(self.b.freeze(scalar)),
                Leaf::Lanes(vector) => Leaf::Lanes(self.b.freeze(vector)),
                affine => affine,
            })
            .collect();
        Ok(self.like_shape(value, frozen))
    }

    fn select(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let shape = self.analysis().shape(value);
        let conditions = self.leaves(value.operand(0))?;
        let (yes, no) = (self.leaves(value.operand(1))?, self.leaves(value.operand(2))?);
        let mut leaves = Vec::with_capacity(yes.len());
        for (index, (yes, no)) in yes.iter().zip(&no).enumerate() {
            let Some(condition) = conditions.get(index).or(conditions.first()) else {
                return Err(Refusal::new(value, "a condition without a value"));
            };
            leaves.push(self.select_leaf(condition, yes, no, shape));
        }
        Ok(leaves)
    }

    fn integer_cast(&mut self, value: Value<'c>, opcode: Opcode) -> Emitted<Vec<Leaf<'c>>> {
        let to = leaf_types(value.ty())[0];
        if let Some(affine) = self.analysis().affine(value) {
            // The wide bases are already in the form that the analysis uses for the result.
            let leaf = self.leaf(value.operand(0))?;
            if let Leaf::Affine { bases, .. } = leaf {
                return Ok(vec![Leaf::Affine { bases, stride: affine.stride, ty: to }]);
            }
            return Err(Refusal::new(value, "an affine cast of a value that is not"));
        }
        self.lanewise(value, |this, operands| this.b.cast(opcode, operands[0], this.shaped(operands[0], to)))
    }

    fn pointer_cast(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let to = held(value.ty());
        let from = held(value.operand(0).ty());
        let (Some(to_bits), Some(from_bits)) = (to.int_bits(), from.int_bits()) else {
            return Err(Refusal::new(value, "a conversion between vectors and pointers"));
        };
        if let Some(affine) = self.analysis().affine(value) {
            return match self.leaf(value.operand(0))? {
                Leaf::Affine { bases, .. } => Ok(vec![Leaf::Affine { bases, stride: affine.stride, ty: to }]),
                _ => Err(Refusal::new(value, "an affine cast of a value that is not")),
            };
        }
        if to_bits > from_bits && matches!(value.ty().kind(), Kind::Pointer(3)) {
            // A shared pointer that was converted to 32 bits, as `cp.async` and other instructions require.
            let leaf = self.leaf(value.operand(0))?;
            let uniform = self.analysis().shape(value) == Shape::Uniform;
            let low = leaf.scalar().filter(|_| uniform).unwrap_or_else(|| leaf.lanes(&self.b));
            let low = self.b.cast(Opcode::LLVMZExt, low, self.shaped(low, self.t.int(32)));
            let address = self.widen_shared(low);
            return Ok(vec![if uniform { Leaf::Uniform(address) } else { Leaf::Lanes(address) }]);
        }
        let opcode = if to_bits < from_bits { Opcode::LLVMTrunc } else { Opcode::LLVMZExt };
        self.lanewise(value, |this, operands| this.b.cast(opcode, operands[0], this.shaped(operands[0], to)))
    }

    fn space_cast(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let space = |ty: Type<'c>| match ty.kind() {
            Kind::Pointer(space) => space,
            _ => 0,
        };
        let (from, to) = (space(value.operand(0).ty()), space(value.ty()));
        if (from == 5) == (to == 5) {
            let leaves = self.leaves(value.operand(0))?;
            return Ok(self.like_shape(value, leaves));
        }
        if from == 5 {
            // Converts an offset in the lane's stack to an address.
            let offset = self.leaf(value.operand(0))?.lanes(&self.b);
            let stacks = self.lane_stacks();
            return Ok(vec![Leaf::Lanes(self.b.add(stacks, offset))]);
        }
        if value.operand(0).opcode() == Some(Opcode::LLVMAlloca) {
            let offset = self.frame_offset(value.operand(0))?;
            return Ok(self.like_shape(value, vec![Leaf::Uniform(offset)]));
        }
        let address = self.leaf(value.operand(0))?.lanes(&self.b);
        let stacks = self.lane_stacks();
        Ok(vec![Leaf::Lanes(self.b.sub(address, stacks))])
    }

    /// Converts floating point to integers. The GPU's conversion saturates and turns NaN to 0. In LLVM IR, these cases
    /// are undefined, and x86 gives other values.
    fn float_to_int(&mut self, value: Value<'c>, opcode: Opcode) -> Emitted<Vec<Leaf<'c>>> {
        let to = leaf_types(value.ty())[0];
        let signed = opcode == Opcode::LLVMFPToSI;
        self.lanewise(value, |this, operands| {
            this.in_single(operands, |this, operands| this.saturating(signed, operands[0], to))
        })
    }

    /// Saturating conversion of a floating-point scalar or vector to integers of type `to`.
    pub fn saturating(&self, signed: bool, value: Value<'c>, to: Type<'c>) -> Value<'c> {
        let name = if signed { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
        let to = self.shaped(value, to);
        self.b.call(self.unit().intrinsic(name, &[to, value.ty()]), &[value])
    }

    fn division(&mut self, value: Value<'c>, opcode: Opcode) -> Emitted<Vec<Leaf<'c>>> {
        // Inactive lanes may contain a zero divisor, and a GPU does not trap on a division by zero or on minimum / -1.
        let uniform = self.analysis().shape(value) == Shape::Uniform;
        let active = if uniform { None } else { Some(self.active()) };
        self.lanewise(value, |this, operands| this.divided(opcode, operands[0], operands[1], active))
    }

    /// Returns a quotient or remainder without traps. `active` contains the lanes whose divisors count, if some do not.
    pub fn divided(&self, opcode: Opcode, left: Value<'c>, right: Value<'c>, active: Option<Value<'c>>) -> Value<'c> {
        let (zero, one) = (self.same(right, 0), self.same(right, 1));
        let mut bad = self.b.eq(right, zero);
        if matches!(opcode, Opcode::LLVMSDiv | Opcode::LLVMSRem) {
            let bits = held(right.ty()).int_bits().or(Some(scalar_bits(right.ty()))).unwrap_or(64);
            let least = self.same(left, 1u64.checked_shl(bits - 1).unwrap_or(0));
            let minus_one = self.same(right, u64::MAX);
            let overflow = self.b.and(self.b.eq(left, least), self.b.eq(right, minus_one));
            bad = self.b.or(bad, overflow);
        }
        if let Some(active) = active {
            bad = self.b.select(active, bad, Value::all_ones(active.ty()));
        }
        let divisor = self.b.select(bad, one, right);
        self.safe_division(opcode, left, divisor)
    }

    /// Divides, assuming that no divisor is zero. x86 has no vector division of integers; up to 32 bits, the quotient
    /// of doubles, truncated to an integer, is exact.
    fn safe_division(&self, opcode: Opcode, left: Value<'c>, right: Value<'c>) -> Value<'c> {
        let bits = scalar_bits(left.ty());
        let constant = right.is_constant();
        if !matches!(left.ty().kind(), Kind::Vector(_)) || bits > 32 || constant {
            return self.b.binary(opcode, left, right);
        }
        let signed = matches!(opcode, Opcode::LLVMSDiv | Opcode::LLVMSRem);
        let (to, from) =
            if signed { (Opcode::LLVMSIToFP, Opcode::LLVMFPToSI) } else { (Opcode::LLVMUIToFP, Opcode::LLVMFPToUI) };
        let doubles = self.t.double().vector(LANES);
        // Inactive lanes may contain any value, including values for which the quotient is too large. Freeze prevents
        // the undefined result from propagating.
        let quotient = self.b.binary(Opcode::LLVMFDiv, self.b.cast(to, left, doubles), self.b.cast(to, right, doubles));
        let quotient = self.b.cast(from, quotient, left.ty());
        if matches!(opcode, Opcode::LLVMUDiv | Opcode::LLVMSDiv) {
            return quotient;
        }
        self.b.sub(left, self.b.mul(quotient, right))
    }

    fn bit_cast(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let from = leaf_types(value.operand(0).ty());
        let to = leaf_types(value.ty());
        let leaves = self.leaves(value.operand(0))?;
        let leaves = self.recast(value, &leaves, &from, &to)?;
        Ok(self.like_shape(value, leaves))
    }

    /// Returns leaves with the same bits in other types.
    pub fn recast(
        &mut self,
        at: Value<'c>,
        leaves: &[Leaf<'c>],
        from: &[Type<'c>],
        to: &[Type<'c>],
    ) -> Emitted<Vec<Leaf<'c>>> {
        if from == to {
            return Ok(leaves.to_vec());
        }
        let uniform = leaves.iter().all(|leaf| leaf.scalar().is_some());
        let values: Vec<Value<'c>> = leaves
            .iter()
            .map(|leaf| leaf.scalar().filter(|_| uniform).unwrap_or_else(|| leaf.lanes(&self.b)))
            .collect();
        let wrap = |value| if uniform { Leaf::Uniform(value) } else { Leaf::Lanes(value) };
        if from.len() == to.len() {
            return Ok(values.iter().zip(to).map(|(v, ty)| wrap(self.b.bitcast(*v, self.shaped(*v, *ty)))).collect());
        }
        // Processes groups of elements that end at the same bit, such as an `i64` and two `i32`.
        let bits = |ty: &Type<'c>| scalar_bits(*ty);
        let (mut results, mut left, mut right) = (Vec::with_capacity(to.len()), 0, 0);
        while left < from.len() || right < to.len() {
            let (first, start) = (left, right);
            let (mut given, mut wanted) = (0, 0);
            while given == 0 || given != wanted {
                let (sum, next, place) = if given <= wanted {
                    (&mut given, from.get(left), &mut left)
                } else {
                    (&mut wanted, to.get(right), &mut right)
                };
                let Some(ty) = next else { return Err(Refusal::new(at, "this conversion between vectors")) };
                *sum += bits(ty);
                *place += 1;
            }
            if given > 512 {
                return Err(Refusal::new(at, "this conversion between vectors"));
            }
            let parts = self.regrouped(&values[first..left], &from[first..left], &to[start..right]);
            results.extend(parts.into_iter().map(wrap));
        }
        Ok(results)
    }

    /// Combines two vectors of 16 bits to one of 32: a shuffle needs half the code of widening both.
    pub fn paired(&self, low: Value<'c>, high: Value<'c>) -> Value<'c> {
        let [low, high] = [low, high].map(|half| self.b.bitcast(half, self.int_lanes(16)));
        let order: Vec<_> = (0..LANES).flat_map(|lane| [Some(lane), Some(LANES + lane)]).collect();
        self.b.bitcast(self.b.shuffle(low, high, &order), self.int_lanes(32))
    }

    /// Returns the same bits in elements of other types, through one integer that contains all of them.
    fn regrouped(&self, values: &[Value<'c>], from: &[Type<'c>], to: &[Type<'c>]) -> Vec<Value<'c>> {
        match (values, to) {
            ([value], [ty]) => return vec![self.b.bitcast(*value, self.shaped(*value, *ty))],
            ([low, high], [ty])
                if matches!(low.ty().kind(), Kind::Vector(_))
                    && from.iter().chain([ty]).map(|ty| scalar_bits(*ty)).eq([16, 16, 32]) =>
            {
                return vec![self.b.bitcast(self.paired(*low, *high), ty.vector(LANES))];
            }
            _ => {}
        }
        let whole = self.t.int(from.iter().map(|ty| scalar_bits(*ty)).sum());
        let mut all = None;
        let mut shift = 0;
        for (value, ty) in values.iter().zip(from) {
            let bits = scalar_bits(*ty);
            let int = self.b.bitcast(*value, self.shaped(*value, self.t.int(bits)));
            let wide = self.b.zext(int, self.shaped(int, whole));
            let placed = if shift == 0 { wide } else { self.b.shl(wide, self.same(wide, u64::from(shift))) };
            all = Some(all.map_or(placed, |before| self.b.or(before, placed)));
            shift += bits;
        }
        let Some(all) = all else { return Vec::new() };
        let mut shift = 0;
        let mut results = Vec::with_capacity(to.len());
        for ty in to {
            let bits = scalar_bits(*ty);
            let moved = if shift == 0 { all } else { self.b.lshr(all, self.same(all, u64::from(shift))) };
            let part = self.b.trunc(moved, self.shaped(moved, self.t.int(bits)));
            results.push(self.b.bitcast(part, self.shaped(part, *ty)));
            shift += bits;
        }
        results
    }

    fn pointer_arithmetic(&mut self, gep: Value<'c>) -> Emitted<Leaf<'c>> {
        let Some(steps) = address::steps(gep, self.unit().layout()) else {
            return Err(Refusal::new(gep, "pointer arithmetic on vectors of pointers"));
        };
        let base = self.leaf(gep.operand(0))?;
        let shape = self.analysis().shape(gep);
        let mut indices = Vec::with_capacity(steps.variable.len());
        for step in &steps.variable {
            indices.push((self.leaf(step.index)?, step.scale));
        }
        let long = self.t.int(64);
        match shape {
            Shape::Uniform | Shape::Affine(_) => {
                let Some((mut sums, _)) = self.wide(&base, true) else {
                    return Err(Refusal::new(gep, "an affine address from a varying pointer"));
                };
                for (index, scale) in &indices {
                    let Some((terms, _)) = self.wide(index, true) else {
                        return Err(Refusal::new(gep, "an affine address from a varying index"));
                    };
                    for (sum, term) in sums.iter_mut().zip(terms) {
                        let bytes = self.b.mul(term, self.i64(*scale));
                        *sum = self.b.add(*sum, bytes);
                    }
                }
                for sum in &mut sums {
                    if steps.constant != 0 {
                        *sum = self.b.add(*sum, self.i64(steps.constant as u64));
                    }
                }
                Ok(match shape {
                    Shape::Affine(affine) => Leaf::Affine { bases: sums, stride: affine.stride, ty: long },
                    _ => Leaf::Uniform(sums[0]),
                })
            }
            Shape::Varying { .. } => {
                // Scalar terms are added before they are converted to vectors.
                let mut scalar = self.i64(steps.constant as u64);
                let mut vector: Option<Value<'c>> = None;
                let mut terms = vec![(base, 1)];
                terms.extend(indices);
                for (leaf, scale) in terms {
                    let wide = |this: &Self, value: Value<'c>| {
                        let ty = this.shaped(value, long);
                        let extended =
                            if scalar_bits(value.ty()) > 64 { this.b.trunc(value, ty) } else { this.b.sext(value, ty) };
                        if scale == 1 { extended } else { this.b.mul(extended, this.same(extended, scale)) }
                    };
                    match leaf.scalar() {
                        Some(term) => scalar = self.b.add(scalar, wide(self, term)),
                        None => {
                            let term = wide(self, leaf.lanes(&self.b));
                            vector = Some(vector.map_or(term, |before| self.b.add(before, term)));
                        }
                    }
                }
                Ok(Leaf::Lanes(match vector {
                    Some(vector) => self.b.add(vector, self.b.splat(scalar, LANES)),
                    None => self.b.splat(scalar, LANES),
                }))
            }
        }
    }

    fn extract_element(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let leaves = self.leaves(value.operand(0))?;
        if let Some(index) = value.operand(1).as_u64() {
            let Some(leaf) = leaves.get(index as usize) else {
                return Err(Refusal::new(value, "an element out of range"));
            };
            return Ok(self.like_shape(value, vec![leaf.clone()]));
        }
        let index = self.leaf(value.operand(1))?;
        let shape = self.analysis().shape(value);
        let mut result = leaves[0].clone();
        for (number, leaf) in leaves.iter().enumerate().skip(1) {
            let condition = self.index_is(&index, number as u64);
            result = self.select_leaf(&condition, leaf, &result, shape);
        }
        Ok(self.like_shape(value, vec![result]))
    }

    fn insert_element(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let mut leaves = self.leaves(value.operand(0))?;
        let element = self.leaf(value.operand(1))?;
        if let Some(index) = value.operand(2).as_u64() {
            let Some(place) = leaves.get_mut(index as usize) else {
                return Err(Refusal::new(value, "an element out of range"));
            };
            *place = element;
            return Ok(self.like_shape(value, leaves));
        }
        let index = self.leaf(value.operand(2))?;
        let shape = self.analysis().shape(value);
        let leaves = (leaves.iter().enumerate())
            .map(|(number, leaf)| {
                let condition = self.index_is(&index, number as u64);
                self.select_leaf(&condition, &element, leaf, shape)
            })
            .collect();
        Ok(self.like_shape(value, leaves))
    }

    fn index_is(&self, index: &Leaf<'c>, number: u64) -> Leaf<'c> {
        match index.scalar() {
            Some(scalar) => Leaf::Uniform(self.b.eq(scalar, self.same(scalar, number))),
            None => {
                let lanes = index.lanes(&self.b);
                Leaf::Lanes(self.b.eq(lanes, self.same(lanes, number)))
            }
        }
    }

    fn shuffle_vector(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let mut all = self.leaves(value.operand(0))?;
        all.extend(self.leaves(value.operand(1))?);
        let element = held(value.ty().element());
        let leaves = (value.shuffle_mask().into_iter())
            .map(|index| match index {
                Some(index) => all[index as usize].clone(),
                None => Leaf::Uniform(Value::undef(element)),
            })
            .collect();
        Ok(self.like_shape(value, leaves))
    }
}

/// Returns the number of bits of a scalar, or of a vector's elements.
pub fn scalar_bits(ty: Type<'_>) -> u32 {
    match ty.kind() {
        Kind::Vector(_) | Kind::Array(_) => scalar_bits(ty.element()),
        Kind::Int(bits) => bits,
        Kind::Half | Kind::BFloat => 16,
        Kind::Float => 32,
        _ => 64,
    }
}

fn vec_of<T>(list: Vec<T>) -> Vec<T> {
    list
}
