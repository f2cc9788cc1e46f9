//! Calls: hooks, registers, functions of the module, pointers, and the device runtime's functions.

use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter, context};
use crate::cpu::error::Refusal;
use crate::cpu::shapes::analysis::Version;
use crate::cpu::shapes::shape::{Shape, VARYING};
use crate::cpu::target::types::{LANES, leaf_types};
use crate::ir::class::{self, Call, LaneMask, Register};
use crate::llvm::value::Opcode;
use crate::llvm::{Type, Value};
use warpline_format::access::Kind as ItemKind;
use warpline_format::hooks::Hook;

impl<'c> Emitter<'_, 'c> {
    /// Lowers a call. Returns `None` if the call has no result.
    pub fn call(&mut self, call: Value<'c>) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let Some(callee) = call.called_value() else { return Err(Refusal::new(call, "this call")) };
        if callee.is_inline_asm() {
            return self.assembly(call, callee);
        }
        if !callee.is_function() {
            return self.indirect_call(call).map(Some);
        }
        let name = callee.name();
        match class::classify(&name) {
            Call::Hook(hook) => {
                self.hook(call, hook)?;
                Ok(None)
            }
            Call::Register(register) => Ok(Some(vec![self.register(call, register)?])),
            Call::Nothing => Ok(None),
            Call::PassThrough => {
                let leaves = self.leaves(call.operand(0))?;
                Ok(Some(self.like_shape(call, leaves)))
            }
            Call::Pure => Ok(Some(self.pure_call(call, &name)?)),
            Call::WarpWide | Call::Other if name.starts_with("llvm.") => self.special_call(call, &name),
            _ if callee.is_declaration() => self.runtime_call(call, &name),
            _ => self.direct_call(call, callee).map(Some),
        }
    }

    fn hook(&mut self, call: Value<'c>, hook: Hook) -> Emitted<()> {
        match hook {
            Hook::Block => self.block_hook(call),
            _ if !self.hooked() => Ok(()),
            Hook::Access(_) => self.access_hook(call),
            Hook::Member(_) => self.member_hook(call),
            Hook::Branch => self.branch_hook(call, false),
            Hook::Switch => self.branch_hook(call, true),
            Hook::Call => {
                let Some(site) = call.operand(0).as_u64() else {
                    return Err(Refusal::new(call, "a hook without a number"));
                };
                self.mark(ItemKind::Call, site as u32, self.mask());
                Ok(())
            }
            Hook::Texture => {
                let Some(site) = call.operand(0).as_u64() else {
                    return Err(Refusal::new(call, "a hook without a site number"));
                };
                self.expect_fetch(site as u32);
                Ok(())
            }
            Hook::Return => {
                self.mark(ItemKind::Return, 0, self.i32(0));
                Ok(())
            }
        }
    }

    /// Emits the value of a special register, in the shape that the analysis has assigned to `value`.
    pub fn register(&mut self, value: Value<'c>, register: Register) -> Emitted<Leaf<'c>> {
        let ty = leaf_types(value.ty())[0];
        let shape = self.analysis().shape(value);
        self.register_as(register, ty, shape)
    }

    /// Returns the lanes of a register that inline assembly reads.
    pub fn register_lanes(&mut self, register: Register, ty: Type<'c>) -> Option<Value<'c>> {
        let leaf = self.register_as(register, ty, VARYING).ok()?;
        Some(leaf.lanes(&self.b))
    }

    fn register_as(&mut self, register: Register, ty: Type<'c>, shape: Shape) -> Emitted<Leaf<'c>> {
        let leaf = match register {
            Register::Thread(dimension) if self.version() == Version::Serial => {
                let numbers = self.entry.offset(self.context(), context::THREAD[dimension].offset);
                let first = self.entry.load(self.t.int(32), numbers, 4);
                let number = if dimension == 0 { self.entry.add(first, self.only_lane()) } else { first };
                Leaf::Uniform(number)
            }
            Register::Lane if self.version() == Version::Serial => Leaf::Uniform(self.only_lane()),
            Register::Thread(dimension) => {
                let field = context::THREAD[dimension];
                match shape {
                    Shape::Varying { .. } => Leaf::Lanes(self.field(field)),
                    shape => {
                        let lanes = self.field(field);
                        let step = u64::from(LANES) / self.version().groups() as u64;
                        let mut bases = Vec::new();
                        for group in 0..self.version().groups() as u64 {
                            bases.push(self.entry.extract_element(lanes, self.i64(group * step)));
                        }
                        match shape {
                            Shape::Affine(affine) => {
                                let long = self.t.int(64);
                                let bases = bases.into_iter().map(|base| self.entry.zext(base, long)).collect();
                                Leaf::Affine { bases, stride: affine.stride, ty }
                            }
                            _ => Leaf::Uniform(bases[0]),
                        }
                    }
                }
            }
            Register::Lane => self.lane_numbers(ty),
            Register::BlockSize(dimension) => Leaf::Uniform(self.field(context::BLOCK_DIM.dimension(dimension))),
            Register::Block(dimension) => Leaf::Uniform(self.field(context::BLOCK_INDEX.dimension(dimension))),
            Register::GridSize(dimension) => Leaf::Uniform(self.field(context::GRID_DIM.dimension(dimension))),
            Register::ClusterSize(dimension) => Leaf::Uniform(self.field(context::CLUSTER_DIM.dimension(dimension))),
            Register::ClusterBlock(dimension) => Leaf::Uniform(self.of_cluster(dimension, context::BLOCK_INDEX, true)),
            Register::ClusterIndex(dimension) => Leaf::Uniform(self.of_cluster(dimension, context::BLOCK_INDEX, false)),
            Register::Clusters(dimension) => Leaf::Uniform(self.of_cluster(dimension, context::GRID_DIM, false)),
            Register::ClusterRank => {
                let [x, y, z] = [0, 1, 2].map(|axis| self.of_cluster(axis, context::BLOCK_INDEX, true));
                let [width, height] = [0, 1].map(|axis| self.field(context::CLUSTER_DIM.dimension(axis)));
                let rows = self.entry.add(y, self.entry.mul(z, height));
                Leaf::Uniform(self.entry.add(x, self.entry.mul(rows, width)))
            }
            Register::ClusterBlocks => {
                let [x, y, z] = [0, 1, 2].map(|axis| self.field(context::CLUSTER_DIM.dimension(axis)));
                Leaf::Uniform(self.entry.mul(x, self.entry.mul(y, z)))
            }
            Register::WarpSlot => Leaf::Uniform(self.field(context::WARP_SLOT)),
            Register::WarpSlots => Leaf::Uniform(self.i32(64)),
            Register::Sm => Leaf::Uniform(self.field(context::SM)),
            Register::Sms => Leaf::Uniform(self.i32(1 << 16)),
            Register::WarpSize => Leaf::Uniform(self.i32(LANES)),
            Register::Clock => {
                let clock = self.field_now(context::CLOCK);
                Leaf::Uniform(self.b.trunc(clock, ty))
            }
            Register::Clock64 => Leaf::Uniform(self.field_now(context::CLOCK)),
            Register::GlobalTimer => Leaf::Uniform(self.b.call(self.unit().runtime().globaltimer(), &[self.context()])),
            Register::Workspace(from) => {
                let address = self.field(context::WORKSPACE);
                let half = self.entry.lshr(address, self.i64(u64::from(from)));
                Leaf::Uniform(self.entry.trunc(half, self.t.int(32)))
            }
            Register::Zero => Leaf::Uniform(Value::zero(ty)),
            Register::LaneMask(which) => {
                let lanes = (0..LANES).map(|lane| self.i32(lane_mask(which, lane))).collect::<Vec<_>>();
                Leaf::Lanes(Value::vector(&lanes))
            }
        };
        let leaf = match leaf {
            Leaf::Uniform(scalar) if scalar.ty() != ty && ty.int_bits().is_some() => {
                Leaf::Uniform(self.b.fit(scalar, ty))
            }
            Leaf::Lanes(lanes) => Leaf::Lanes(self.b.fit_lanes(lanes, ty.vector(LANES))),
            other => other,
        };
        Ok(match shape {
            Shape::Varying { .. } => Leaf::Lanes(leaf.lanes(&self.b)),
            _ => leaf,
        })
    }

    /// Returns a dimension of a field, divided by the dimension of the clusters: the quotient, or the remainder.
    fn of_cluster(&mut self, dimension: usize, field: context::Field, rest: bool) -> Value<'c> {
        let (whole, by) =
            (self.field(field.dimension(dimension)), self.field(context::CLUSTER_DIM.dimension(dimension)));
        self.entry.binary(if rest { Opcode::LLVMURem } else { Opcode::LLVMUDiv }, whole, by)
    }

    fn call_arguments(&mut self, call: Value<'c>) -> Emitted<Vec<Value<'c>>> {
        let mut arguments = vec![self.context(), self.mask()];
        for argument in call.arguments() {
            for leaf in self.leaves(argument)? {
                arguments.push(leaf.lanes(&self.b));
            }
        }
        Ok(arguments)
    }

    fn results(&self, call: Value<'c>, result: Value<'c>) -> Vec<Leaf<'c>> {
        match leaf_types(call.ty()).len() {
            0 => Vec::new(),
            1 => vec![Leaf::Lanes(result)],
            count => (0..count).map(|index| Leaf::Lanes(self.b.extract_value(result, index as u32))).collect(),
        }
    }

    fn direct_call(&mut self, call: Value<'c>, callee: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let functions = self.unit().functions.get(&callee);
        let Some(target) = functions.and_then(|functions| functions.form(self.hooked())) else {
            return Err(Refusal::new(call, "a call of a kernel from device code"));
        };
        if self.unit().reach.may_exit(callee) {
            return Err(Refusal::new(call, "a call of a function that may end the thread and was not inlined"));
        }
        let arguments = self.call_arguments(call)?;
        let result = self.b.call(target, &arguments);
        Ok(self.results(call, result))
    }

    /// Calls the callee once for each distinct target.
    fn indirect_call(&mut self, call: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let (Some(pointer), Some(ty)) = (call.called_value(), call.called_type()) else {
            return Err(Refusal::new(call, "this call"));
        };
        let candidates = self.unit().reach.candidates(ty);
        if candidates.iter().any(|candidate| self.unit().reach.may_exit(*candidate)) {
            return Err(Refusal::new(call, "a call through a pointer to a function that may end the thread"));
        }
        let targets = self.vector(pointer)?;
        let arguments = self.call_arguments(call)?;
        let types = leaf_types(call.ty());
        let results: Vec<_> = types.iter().map(|ty| self.entry.alloca(ty.vector(LANES), 64)).collect();
        // There is one test per function whose address is taken with this type. A call of any other address is an
        // error.
        let mut left = self.mask();
        for candidate in candidates {
            let Some(functions) = self.unit().functions.get(&candidate) else { continue };
            let Some((entry, target)) = functions.entry.zip(functions.form(self.hooked())) else { continue };
            let address = self.unit().address_of(&self.b, entry);
            let equal = self.b.eq(targets, self.b.splat(address, LANES));
            let lanes = self.bits(equal);
            let (run, done) = (self.new_block("target"), self.new_block("called"));
            self.b.branch_if(self.b.ne(lanes, self.i32(0)), run, done);
            self.b.at_end(run);
            let mut mine = arguments.clone();
            mine[1] = lanes;
            let result = self.b.call(target, &mine);
            for (index, leaf) in self.results(call, result).iter().enumerate() {
                let new = leaf.lanes(&self.b);
                let old = self.b.load(new.ty(), results[index], 64);
                let kept = self.b.select(self.lanes_of(lanes), new, old);
                self.b.store(kept, results[index], 64);
            }
            self.b.branch(done);
            self.b.at_end(done);
            left = self.b.and(left, self.b.not(lanes));
        }
        let (bad, good) = (self.new_block("bad_call"), self.new_block("good_call"));
        self.branch_unlikely(self.b.ne(left, self.i32(0)), bad, good);
        self.b.at_end(bad);
        let place = self.spill(targets);
        self.b.call(self.unit().runtime().bad_call(), &[self.context(), left, place]);
        self.b.branch(good);
        self.b.at_end(good);
        Ok((types.iter().zip(&results))
            .map(|(ty, place)| Leaf::Lanes(self.b.load(ty.vector(LANES), *place, 64)))
            .collect())
    }

    /// Lowers calls of functions that the device runtime provides.
    fn runtime_call(&mut self, call: Value<'c>, name: &str) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let arguments = call.arguments();
        let int = self.t.int(32).vector(LANES);
        match (name, arguments.len()) {
            ("vprintf", 2) => {
                let (formats, values) = (self.pointers(arguments[0])?, self.pointers(arguments[1])?);
                let results = self.entry.alloca(int, 64);
                let function = self.unit().runtime().vprintf();
                self.b.call(function, &[self.context(), self.mask(), formats, values, results]);
                Ok(Some(vec![Leaf::Lanes(self.b.load(int, results, 64))]))
            }
            ("__assertfail" | "__assert_fail", count) if count >= 4 => {
                let message = self.pointers(arguments[0])?;
                let file = self.pointers(arguments[1])?;
                let line = self.vector(arguments[2])?;
                let lines = self.entry.alloca(int, 64);
                self.b.store(line, lines, 64);
                let function = self.pointers(arguments[3])?;
                let assert = self.unit().runtime().assert();
                self.b.call(assert, &[self.context(), self.mask(), message, file, lines, function]);
                Ok(None)
            }
            ("malloc", 1) => {
                let sizes = self.pointers(arguments[0])?;
                let long = self.t.int(64).vector(LANES);
                let results = self.entry.alloca(long, 64);
                self.b.call(self.unit().runtime().malloc(), &[self.context(), self.mask(), sizes, results]);
                Ok(Some(vec![Leaf::Lanes(self.b.load(long, results, 64))]))
            }
            ("free", 1) => {
                let pointers = self.pointers(arguments[0])?;
                self.b.call(self.unit().runtime().free(), &[self.context(), self.mask(), pointers]);
                Ok(None)
            }
            _ if name.starts_with("__cudaCDP2") => self.device_call(call, name),
            _ => Err(Refusal::undefined(call, name)),
        }
    }

    /// Stores the lanes of pointers (or other 64-bit values) in memory.
    fn pointers(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        let vector = self.vector(value)?;
        let place = self.entry.alloca(vector.ty(), 64);
        self.b.store(vector, place, 64);
        Ok(place)
    }

    /// Ends the threads of the block's lanes.
    pub fn end_threads(&mut self) {
        let live = self.field_now(context::LIVE);
        let rest = self.b.and(live, self.b.not(self.mask()));
        self.set_field(context::LIVE, rest);
    }
}

fn lane_mask(which: LaneMask, lane: u32) -> u32 {
    let bit = 1u32 << lane;
    match which {
        LaneMask::Equal => bit,
        LaneMask::Less => bit - 1,
        LaneMask::LessEqual => bit | (bit - 1),
        LaneMask::GreaterEqual => !(bit - 1),
        LaneMask::Greater => !(bit | (bit - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_masks() {
        assert_eq!(lane_mask(LaneMask::Less, 3), 0b0111);
        assert_eq!(lane_mask(LaneMask::LessEqual, 31), u32::MAX);
        assert_eq!(lane_mask(LaneMask::Greater, 31), 0);
        assert_eq!(lane_mask(LaneMask::GreaterEqual, 0), u32::MAX);
    }
}
