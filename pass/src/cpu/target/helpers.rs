//! Functions of the lowered module that its warp functions call: loops over lanes, checks, calls of the runtime.

use super::unit::Unit;
use crate::cpu::target::types::LANES;
use crate::llvm::function::OF_FUNCTION;
use crate::llvm::value::Linkage;
use crate::llvm::{Builder, ModuleItems, Type, Value};

/// LLVM's `preserve_all`: the called function saves the registers that it uses. A warp function uses all vector
/// registers, so this convention avoids that calls on rare paths make the usual paths slower.
const PRESERVE_ALL: u32 = 15;

impl<'c> Unit<'c> {
    /// Returns a wrapper of a function of the runtime that preserves all registers.
    pub fn quiet(&self, function: Value<'c>) -> Value<'c> {
        let name = format!("warpline.quiet.{}", function.name());
        if let Some(door) = ModuleItems::function(&self.target, &name) {
            return door;
        }
        let door = self.new_helper(&name, function.value_type());
        door.add_attribute(OF_FUNCTION, "cold", 0);
        let b = Builder::new(self.t);
        b.at_end(door.append_block("entry"));
        self.clear_uppers(&b);
        let result = b.call(function, &door.parameters());
        if result.ty().is_void() {
            b.return_void();
        } else {
            b.return_value(result);
        }
        door
    }

    /// Returns a function of the lowered module that is not inlined and preserves all registers.
    pub fn new_helper(&self, name: &str, ty: Type<'c>) -> Value<'c> {
        let function = self.target.new_function(name, ty);
        function.set_linkage(Linkage::LLVMInternalLinkage);
        function.set_calling_convention(PRESERVE_ALL);
        self.dress(function);
        function.add_attribute(OF_FUNCTION, "noinline", 0);
        function
    }

    /// Returns a mask as `<32 x i1>`. The conversion is repeated at each use: processors without mask registers test
    /// the bits directly, and would otherwise keep such a vector as bytes from one block to another.
    pub fn lanes_of(&self, b: &Builder<'c>, mask: Value<'c>) -> Value<'c> {
        if self.vectors == super::vectors::Vectors::Avx512 {
            return b.bitcast(mask, self.t.int(1).vector(LANES));
        }
        let bits: Vec<_> = (0..LANES).map(|lane| Value::int(self.t.int(32), 1 << lane)).collect();
        let tested = b.and(b.splat(mask, LANES), Value::vector(&bits));
        b.ne(tested, Value::zero(tested.ty()))
    }

    /// `(values, mask, base...)`: reads or writes one `ty` per lane of the mask, with adjacent elements in each group,
    /// using the host's masked instructions.
    pub fn part_helper(&self, ty: Type<'c>, groups: u32, align: u32, store: bool) -> Value<'c> {
        let name = format!("warpline.part.{}.{ty}.{groups}.{align}", if store { "store" } else { "load" });
        if let Some(function) = ModuleItems::function(&self.target, &name) {
            return function;
        }
        let (pointer, long) = (self.t.pointer(0), self.t.int(64));
        let mut parameters = vec![pointer, self.t.int(32)];
        parameters.extend(vec![long; groups as usize]);
        let function = self.new_helper(&name, self.t.void().function(&parameters));
        let parameters = function.parameters();
        let b = Builder::new(self.t);
        b.at_end(function.append_block("entry"));
        let lanes = self.lanes_of(&b, parameters[1]);
        let count = LANES / groups;
        let vector = ty.vector(count);
        for (group, base) in (0..groups).zip(&parameters[2..]) {
            let wanted: Vec<_> = (group * count..(group + 1) * count).map(Some).collect();
            let some = b.shuffle(lanes, Value::poison(lanes.ty()), &wanted);
            let place = b.gep(ty, parameters[0], &[Value::int(long, u64::from(group * count))]);
            let memory = b.int_to_ptr(*base, pointer);
            if store {
                let masked = self.intrinsic("llvm.masked.store", &[vector, pointer]);
                let call = b.call(masked, &[b.load(vector, place, 8), memory, some]);
                call.set_argument_alignment(1, align);
            } else {
                let masked = self.intrinsic("llvm.masked.load", &[vector, pointer]);
                let call = b.call(masked, &[memory, some, Value::zero(vector)]);
                call.set_argument_alignment(0, align);
                b.store(call, place, 8);
            }
        }
        b.return_void();
        function
    }

    /// Returns a function that does `work` for each lane of a mask, in lane order. The work receives the lane's
    /// address, and the third argument with the lane's number as an index. With `unrolled`, a full mask, which is the
    /// usual case, is processed without a search for its lanes.
    pub fn lane_loop(
        &self,
        name: &str,
        unrolled: bool,
        work: impl Fn(&Builder<'c>, Value<'c>, (Value<'c>, Value<'c>)),
    ) -> Value<'c> {
        if let Some(function) = ModuleItems::function(&self.target, name) {
            return function;
        }
        let (pointer, int, long) = (self.t.pointer(0), self.t.int(32), self.t.int(64));
        let function = self.new_helper(name, self.t.void().function(&[pointer, int, pointer]));
        function.add_attribute(1, "noalias", 0);
        function.add_attribute(3, "noalias", 0);
        let parameters = function.parameters();
        let (entry, body, done) =
            (function.append_block("entry"), function.append_block("lane"), function.append_block("done"));
        let b = Builder::new(self.t);
        b.at_end(entry);
        let some = function.append_block("some");
        if unrolled {
            let all = function.append_block("all");
            b.branch_if(b.eq(parameters[1], Value::int(int, u64::from(u32::MAX))), all, some);
            b.at_end(all);
            for lane in 0..u64::from(LANES) {
                let lane = Value::int(long, lane);
                let address = b.load(long, b.gep(long, parameters[0], &[lane]), 8);
                work(&b, b.int_to_ptr(address, pointer), (parameters[2], lane));
            }
            b.return_void();
        } else {
            b.branch(some);
        }
        b.at_end(some);
        let none = b.eq(parameters[1], Value::zero(int));
        b.branch_if(none, done, body);
        b.at_end(body);
        let left = b.phi(int);
        let count = self.intrinsic("llvm.cttz", &[int]);
        let lane = b.call(count, &[left, Value::int(self.t.int(1), 1)]);
        let lane = b.zext(lane, long);
        let address = b.load(long, b.gep(long, parameters[0], &[lane]), 8);
        let address = b.int_to_ptr(address, pointer);
        work(&b, address, (parameters[2], lane));
        let rest = b.and(left, b.sub(left, Value::int(int, 1)));
        left.add_incoming(&[(parameters[1], some), (rest, b.block())]);
        let none = b.eq(rest, Value::zero(int));
        b.branch_if(none, done, body);
        b.at_end(done);
        b.return_void();
        function
    }

    /// `(values, members) -> results` of a reduction in which each lane has its own members. `whole` is LLVM's
    /// reduction of a vector; `neutral` is its neutral element.
    pub fn reduction_helper(&self, whole: &str, neutral: u64) -> Value<'c> {
        let int = self.t.int(32);
        let lanes = int.vector(LANES);
        let name = whole.replace("llvm.vector.reduce", "warpline.reduce");
        self.vector_helper(&name, int, &[lanes, lanes], |b, scalars, values| {
            let neutral = Value::vector(&vec![Value::int(int, neutral); LANES as usize]);
            let kept = b.select(self.lanes_of(b, scalars[1]), values[0], neutral);
            b.call(self.intrinsic(whole, &[lanes]), &[kept])
        })
    }

    /// Returns a function of the lowered module that is not inlined, for vectors in registers.
    pub fn new_vector_function(&self, name: &str, result: Type<'c>, parameters: &[Type<'c>]) -> Value<'c> {
        let function = self.target.new_function(name, result.function(parameters));
        function.set_linkage(Linkage::LLVMInternalLinkage);
        self.dress(function);
        function.add_attribute(OF_FUNCTION, "noinline", 0);
        function
    }

    /// Returns a function on vectors of 32 elements that does `work` on each lane's scalars in turn; the work also
    /// receives the vectors.
    pub fn vector_helper(
        &self,
        name: &str,
        result: Type<'c>,
        parameters: &[Type<'c>],
        work: impl Fn(&Builder<'c>, &[Value<'c>], &[Value<'c>]) -> Value<'c>,
    ) -> Value<'c> {
        if let Some(function) = ModuleItems::function(&self.target, name) {
            return function;
        }
        let function = self.new_vector_function(name, result.vector(LANES), parameters);
        let (entry, body, done) =
            (function.append_block("entry"), function.append_block("lane"), function.append_block("done"));
        let b = Builder::new(self.t);
        b.at_end(entry);
        let values = function.parameters();
        let places: Vec<_> = parameters.iter().map(|ty| b.alloca(*ty, 64)).collect();
        let results = b.alloca(result.vector(LANES), 64);
        for (value, place) in values.iter().zip(&places) {
            b.store(*value, *place, 64);
        }
        b.branch(body);
        b.at_end(body);
        let long = self.t.int(64);
        let lane = b.phi(long);
        let scalars: Vec<_> = (parameters.iter().zip(&places))
            .map(|(ty, place)| b.load(ty.element(), b.gep(ty.element(), *place, &[lane]), 1))
            .collect();
        let made = work(&b, &scalars, &values);
        b.store(made, b.gep(result, results, &[lane]), 1);
        let next = b.add(lane, Value::int(long, 1));
        lane.add_incoming(&[(Value::zero(long), entry), (next, b.block())]);
        b.branch_if(b.eq(next, Value::int(long, u64::from(LANES))), done, body);
        b.at_end(done);
        b.return_value(b.load(result.vector(LANES), results, 64));
        function
    }

    /// `(context, full)`: reports a full lane stack.
    pub fn stack_check(&self) -> Value<'c> {
        let name = "warpline.stack_check";
        if let Some(function) = ModuleItems::function(&self.target, name) {
            return function;
        }
        let ty = self.t.void().function(&[self.t.pointer(0), self.t.int(1)]);
        let function = self.target.new_function(name, ty);
        function.set_linkage(Linkage::LLVMInternalLinkage);
        self.dress(function);
        let parameters = function.parameters();
        let (entry, full, fits) =
            (function.append_block("entry"), function.append_block("full"), function.append_block("fits"));
        let b = Builder::new(self.t);
        b.at_end(entry);
        b.branch_if(parameters[1], full, fits);
        b.at_end(full);
        b.call(self.runtime().stack_overflow(), &[parameters[0]]);
        b.branch(fits);
        b.at_end(fits);
        b.return_void();
        function
    }
}
