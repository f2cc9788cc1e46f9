//! Operations of a whole warp: barriers, votes, shuffles, match, reduce; fences and traps.

use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::LANES;
use crate::ir;
use crate::ir::class::Register;
use crate::llvm::Value;
use crate::llvm::value::{IntPredicate, Ordering};
use warpline_format::abi::barrier;
use warpline_format::access::Kind as ItemKind;
use warpline_format::rendezvous::{ARRIVES, BARRIERS, WARPS_MASK, WARPS_SHIFT};

impl<'c> Emitter<'_, 'c> {
    /// Lowers intrinsics whose results depend on more than one lane.
    pub fn special_call(&mut self, call: Value<'c>, name: &str) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let rest = name.strip_prefix("llvm.nvvm.").unwrap_or("");
        if rest.starts_with("bar.warp.sync") || rest.starts_with("griddepcontrol") || rest.starts_with("setmaxnreg") {
            // Lanes of a warp run in lockstep, so the data that they wrote is already visible.
            return Ok(None);
        }
        if let Some(action) = rest.strip_prefix("barrier.cluster.") {
            self.cluster_barrier(action.starts_with("wait"));
            return Ok(None);
        }
        if rest.starts_with("mapa") {
            let (address, rank) = (self.vector(call.operand(0))?, self.vector(call.operand(1))?);
            return Ok(Some(vec![Leaf::Lanes(self.mapped_shared(address, rank))]));
        }
        if rest.starts_with("getctarank") {
            let address = self.vector(call.operand(0))?;
            return Ok(Some(vec![Leaf::Lanes(self.shared_rank(address))]));
        }
        if rest.starts_with("is_explicit_cluster") {
            let blocks = self.register_lanes(Register::ClusterBlocks, self.t.int(32));
            let blocks = blocks.ok_or_else(|| Refusal::new(call, "this query"))?;
            return Ok(Some(vec![Leaf::Lanes(self.b.ugt(blocks, self.same(blocks, 1)))]));
        }
        if rest.starts_with("barrier") || rest.starts_with("bar.") {
            return self.block_barrier(call, rest);
        }
        if rest.starts_with("membar") || rest.starts_with("fence") {
            self.b.fence(Ordering::LLVMAtomicOrderingSequentiallyConsistent);
            return Ok(None);
        }
        if rest.starts_with("vote.") {
            return self.vote(call, rest).map(|leaf| Some(vec![leaf]));
        }
        if rest.starts_with("activemask") {
            return Ok(Some(self.like_shape(call, vec![Leaf::Uniform(self.mask())])));
        }
        if rest.starts_with("texsurf.handle") {
            let handle = self.texture_handle(call)?;
            return Ok(Some(self.like_shape(call, vec![handle])));
        }
        if rest.starts_with("shfl.") {
            return self.shuffle(call, rest).map(Some);
        }
        if rest.starts_with("match.") {
            return self.match_lanes(call, rest).map(Some);
        }
        if rest.starts_with("redux.sync") {
            return self.reduce(call, rest).map(|leaf| Some(vec![leaf]));
        }
        if ["wmma.", "mma.", "ldmatrix.", "stmatrix."].iter().any(|prefix| rest.starts_with(prefix)) {
            return self.matrix_call(call, rest);
        }
        if rest.starts_with("isspacep") {
            return self.is_space(call, rest).map(|leaf| Some(vec![leaf]));
        }
        if rest.starts_with("atomic.") {
            return self.nvvm_atomic(call, rest).map(|leaf| Some(vec![leaf]));
        }
        if ["llvm.memcpy", "llvm.memmove", "llvm.memset"].iter().any(|prefix| name.starts_with(prefix)) {
            self.memory_intrinsic(call, name)?;
            return Ok(None);
        }
        if name.starts_with("llvm.masked.") {
            return self.masked_access(call, name);
        }
        match name {
            "llvm.trap" | "llvm.debugtrap" | "llvm.ubsantrap" => {
                self.b.call(self.unit().runtime().trap(), &[self.context(), self.mask()]);
                Ok(None)
            }
            "llvm.stacksave.p0" | "llvm.stacksave" => Ok(Some(vec![Leaf::Uniform(self.i64(0))])),
            _ if name.starts_with("llvm.stackrestore") => Ok(None),
            _ => Err(Refusal::new(call, format!("the intrinsic {name}"))),
        }
    }

    /// Lowers `__syncthreads` and its variants, and barriers with a number or a count of threads.
    fn block_barrier(&mut self, call: Value<'c>, rest: &str) -> Emitted<Option<Vec<Leaf<'c>>>> {
        let (kind, predicate) = if rest.contains("red.popc") || rest.starts_with("barrier0.popc") {
            (barrier::COUNT, true)
        } else if rest.contains("red.and") || rest.starts_with("barrier0.and") {
            (barrier::AND, true)
        } else if rest.contains("red.or") || rest.starts_with("barrier0.or") {
            (barrier::OR, true)
        } else if rest.contains("sync")
            || rest.contains("arrive")
            || rest == "barrier0"
            || rest.starts_with("barrier.n")
            || rest == "barrier"
        {
            (barrier::SYNC, false)
        } else {
            return Err(Refusal::new(call, format!("the barrier {rest}")));
        };
        let arguments = call.arguments();
        let bits = match arguments.last() {
            Some(&last) if predicate => {
                let mut condition = self.vector(last)?;
                if condition.ty().element().int_bits() != Some(1) {
                    condition = self.b.ne(condition, self.same(condition, 0));
                }
                self.bits(condition)
            }
            _ => self.i32(0),
        };
        // Threads of a warp reach unaligned barriers one by one.
        if rest.contains("aligned") || rest.starts_with("barrier0") {
            self.check_absent_lanes(call);
        }
        let result = if ir::barrier::barrier(call) == Some(ir::barrier::Barrier::Block) {
            self.note_barrier(is_for_all(call, rest).then_some(call));
            self.barrier(kind, bits)
        } else {
            let number = self.uniform_word(arguments[0])?;
            let counts = rest.contains("count") || rest.contains("cnt");
            let threads = if counts { Some(self.uniform_word(arguments[1])?) } else { None };
            let meeting = self.meeting(number, threads, rest.contains("arrive"));
            self.named_barrier(kind, bits, meeting)
        };
        if call.ty().is_void() {
            return Ok(None);
        }
        let result = if call.ty().int_bits() == Some(1) { self.b.ne(result, self.i32(0)) } else { result };
        Ok(Some(self.like_shape(call, vec![Leaf::Uniform(result)])))
    }

    /// Returns a word that is the same in all lanes, or the word of the first active lane.
    fn uniform_word(&mut self, value: Value<'c>) -> Emitted<Value<'c>> {
        let leaf = self.leaf(value)?;
        Ok(match leaf.scalar() {
            Some(scalar) => scalar,
            None => {
                let lanes = leaf.lanes(&self.b);
                self.first_lane(lanes)
            }
        })
    }

    /// Returns the value of the first active lane.
    pub fn first_lane(&self, lanes: Value<'c>) -> Value<'c> {
        let cttz = self.unit().intrinsic("llvm.cttz", &[self.t.int(32)]);
        let first = self.b.call(cttz, &[self.mask(), Value::int(self.t.int(1), 0)]);
        self.b.extract_element(lanes, self.b.and(first, self.i32(LANES - 1)))
    }

    /// Returns the word for an arrival at a numbered barrier, see `Rendezvous`.
    pub fn meeting(&self, number: Value<'c>, threads: Option<Value<'c>>, arrives: bool) -> Value<'c> {
        let b = &self.b;
        let mut word = b.and(number, self.i32(BARRIERS as u32 - 1));
        if let Some(threads) = threads {
            let warps = b.lshr(b.add(threads, self.i32(LANES - 1)), self.i32(LANES.trailing_zeros()));
            word = b.or(word, b.shl(b.and(warps, self.i32(WARPS_MASK)), self.i32(WARPS_SHIFT)));
        }
        if arrives { b.or(word, self.i32(ARRIVES)) } else { word }
    }

    /// Arrives at a numbered barrier and, if its word requires it, waits for it.
    pub fn named_barrier(&mut self, kind: u32, predicates: Value<'c>, meeting: Value<'c>) -> Value<'c> {
        if self.hooked() {
            self.mark(ItemKind::Barrier, 0, meeting);
        }
        self.unit().clear_uppers(&self.b);
        let function = self.unit().runtime().named_barrier();
        self.b.call(function, &[self.context(), self.mask(), self.i32(kind), predicates, meeting])
    }

    /// Waits for the block's other warps.
    pub fn barrier(&mut self, kind: u32, predicates: Value<'c>) -> Value<'c> {
        if self.hooked() {
            self.mark(ItemKind::Barrier, 0, self.i32(0));
        }
        self.unit().clear_uppers(&self.b);
        self.b.call(self.unit().runtime().barrier(), &[self.context(), self.mask(), self.i32(kind), predicates])
    }

    /// Lowers a vote. The participating lanes are those that execute it.
    fn vote(&mut self, call: Value<'c>, rest: &str) -> Emitted<Leaf<'c>> {
        let arguments = call.arguments();
        let synced = rest.contains(".sync");
        let predicate = self.vector(arguments[if synced { 1 } else { 0 }])?;
        let ballot = self.bits(predicate);
        let all = self.mask();
        let members = if synced { Some(self.leaf(arguments[0])?) } else { None };
        if let Some(Leaf::Lanes(members)) = members {
            // Each group of lanes votes separately.
            let mine = self.b.and(members, self.b.splat(ballot, LANES));
            let whole = self.b.and(members, self.b.splat(all, LANES));
            return Ok(Leaf::Lanes(self.verdict(call, rest, mine, whole)?));
        }
        let members = members.and_then(|leaf| leaf.scalar()).unwrap_or(all);
        let mine = self.b.and(ballot, members);
        let whole = self.b.and(all, members);
        let result = self.verdict(call, rest, mine, whole)?;
        Ok(self.like_shape(call, vec![Leaf::Uniform(result)]).remove(0))
    }

    fn verdict(&self, call: Value<'c>, rest: &str, mine: Value<'c>, whole: Value<'c>) -> Emitted<Value<'c>> {
        let zero = self.same(mine, 0);
        if rest.contains("ballot") {
            Ok(mine)
        } else if rest.contains("any") {
            Ok(self.b.ne(mine, zero))
        } else if rest.contains("all") {
            Ok(self.b.eq(mine, whole))
        } else if rest.contains("uni") || rest.contains("eq") {
            Ok(self.b.or(self.b.eq(mine, whole), self.b.eq(mine, zero)))
        } else {
            Err(Refusal::new(call, format!("the vote {rest}")))
        }
    }

    /// Lowers `shfl`: the source lane follows PTX's rules for the `c` operand, which contains clamp and segment mask.
    fn shuffle(&mut self, call: Value<'c>, rest: &str) -> Emitted<Vec<Leaf<'c>>> {
        let mut arguments = call.arguments();
        if rest.starts_with("shfl.sync") {
            arguments.remove(0);
        }
        let [value, amount, control] = arguments[..] else { return Err(Refusal::new(call, "this shuffle")) };
        let mode = ["down", "up", "bfly", "idx"].into_iter().find(|mode| rest.contains(mode));
        let Some(mode) = mode else { return Err(Refusal::new(call, "this shuffle")) };
        let value = self.vector(value)?;
        let (amount, control) = (self.leaf(amount)?, self.leaf(control)?);
        let (result, valid) = self.shuffle_lanes(value, mode, &amount, &control);
        let mut leaves = vec![Leaf::Lanes(result)];
        if rest.ends_with('p') {
            leaves.push(Leaf::Lanes(valid));
        }
        Ok(leaves)
    }

    /// Returns the shuffled value, and whether the source of each lane was in range.
    pub fn shuffle_lanes(
        &mut self,
        value: Value<'c>,
        mode: &str,
        amount: &Leaf<'c>,
        control: &Leaf<'c>,
    ) -> (Value<'c>, Value<'c>) {
        let (amount_scalar, control_scalar) = (amount.scalar(), control.scalar());
        if let (Some(amount), Some(control)) =
            (amount_scalar.and_then(|a| a.as_u64()), control_scalar.and_then(|c| c.as_u64()))
        {
            let sources: Vec<_> =
                (0..LANES).map(|lane| shuffle_source(mode, lane, amount as u32, control as u32)).collect();
            let mask: Vec<_> = sources.iter().map(|source| Some(source.0)).collect();
            let shuffled = self.b.shuffle(value, Value::poison(value.ty()), &mask);
            let valid: Vec<_> = sources.iter().map(|source| Value::int(self.t.int(1), u64::from(source.1))).collect();
            return (shuffled, Value::vector(&valid));
        }
        // This applies the rules of `shuffle_source` to all lanes at once.
        let lanes: Vec<_> = (0..LANES).map(|lane| self.i32(lane)).collect();
        let lane = Value::vector(&lanes);
        let amount = amount.lanes(&self.b);
        let amount = self.b.and(amount, self.same(amount, 31));
        let control = control.lanes(&self.b);
        let clamp = self.b.and(control, self.same(control, 31));
        let segment = self.b.and(self.b.lshr(control, self.same(control, 8)), self.same(control, 31));
        let outside = self.b.not(segment);
        let limit = self.b.or(self.b.and(lane, segment), self.b.and(clamp, outside));
        let first = self.b.and(lane, segment);
        let (source, valid) = match mode {
            "up" => {
                let source = self.b.sub(lane, amount);
                (source, self.b.icmp(IntPredicate::LLVMIntSGE, source, limit))
            }
            "down" => {
                let source = self.b.add(lane, amount);
                (source, self.b.icmp(IntPredicate::LLVMIntSLE, source, limit))
            }
            "bfly" => {
                let source = self.b.xor(lane, amount);
                (source, self.b.icmp(IntPredicate::LLVMIntSLE, source, limit))
            }
            _ => {
                let source = self.b.or(first, self.b.and(amount, outside));
                (source, self.b.icmp(IntPredicate::LLVMIntSLE, source, limit))
            }
        };
        let source = self.b.select(valid, source, lane);
        (self.permute(value, source), valid)
    }

    /// Returns `value[source[lane]]` for each lane; sources are below 32.
    pub fn permute(&mut self, value: Value<'c>, source: Value<'c>) -> Value<'c> {
        let place = self.entry.alloca(value.ty(), 64);
        self.b.store(value, place, 64);
        let element = value.ty().element();
        let size = self.unit().layout().store_size(element);
        let long = self.t.int(64);
        let wide = self.b.zext(source, long.vector(LANES));
        let bytes = self.b.mul(wide, self.same(wide, size));
        let base = self.b.ptr_to_int(place, long);
        let addresses = self.b.add(bytes, self.b.splat(base, LANES));
        // All lanes read, including inactive ones, because the address is always valid.
        self.gather(element, addresses, self.i32(u32::MAX), size)
    }

    fn match_lanes(&mut self, call: Value<'c>, rest: &str) -> Emitted<Vec<Leaf<'c>>> {
        let arguments = call.arguments();
        let members = self.vector(arguments[0])?;
        let value = self.vector(arguments[1])?;
        let (matches, members) = self.matching_lanes(value, members);
        if rest.contains("any") {
            return Ok(vec![Leaf::Lanes(matches)]);
        }
        let all = self.b.eq(matches, members);
        let mask = self.b.select(all, members, self.same(members, 0));
        Ok(vec![Leaf::Lanes(mask), Leaf::Lanes(all)])
    }

    /// Returns, for each lane, the members that have its value, and the members that participate.
    pub fn matching_lanes(&self, value: Value<'c>, members: Value<'c>) -> (Value<'c>, Value<'c>) {
        let running = self.b.splat(self.mask(), LANES);
        let members = self.b.and(members, running);
        // For each active lane in turn, this finds the lanes that have the same value.
        let mut matches = Value::zero(members.ty());
        for lane in 0..LANES {
            let index = self.i64(u64::from(lane));
            let one = self.b.extract_element(value, index);
            let equal = self.b.eq(value, self.b.splat(one, LANES));
            let equal = self.bits(equal);
            let bit = self.i32(1 << lane);
            // The lane's own bit is in the result of every lane with the same value.
            let agreeing = self.b.and(self.lanes_splat(equal), running);
            let lanes: Vec<_> = (0..LANES).map(|other| self.i32(1 << other)).collect();
            let hit = self.b.ne(self.b.and(agreeing, Value::vector(&lanes)), self.same(members, 0));
            matches = self.b.or(matches, self.b.select(hit, self.b.splat(bit, LANES), self.same(members, 0)));
        }
        (self.b.and(matches, members), members)
    }

    fn lanes_splat(&self, scalar: Value<'c>) -> Value<'c> {
        self.b.splat(scalar, LANES)
    }

    /// Lowers `redux.sync`, which has one result for all lanes of the mask.
    fn reduce(&mut self, call: Value<'c>, rest: &str) -> Emitted<Leaf<'c>> {
        let arguments = call.arguments();
        let value = self.vector(arguments[0])?;
        let members = self.leaf(arguments[1])?;
        let operation = rest.strip_prefix("redux.sync.").unwrap_or("");
        let reduced = self.reduced(operation, value, members);
        reduced.ok_or_else(|| Refusal::new(call, format!("the reduction {operation}")))
    }

    /// Returns one result for all lanes of the members, or `None` for an operation that is not supported.
    pub fn reduced(&mut self, operation: &str, value: Value<'c>, members: Leaf<'c>) -> Option<Leaf<'c>> {
        let (name, neutral) = match operation {
            "add" => ("llvm.vector.reduce.add", 0),
            "and" => ("llvm.vector.reduce.and", u64::MAX),
            "or" => ("llvm.vector.reduce.or", 0),
            "xor" => ("llvm.vector.reduce.xor", 0),
            "min" => ("llvm.vector.reduce.smin", i32::MAX as u64),
            "max" => ("llvm.vector.reduce.smax", i32::MIN as u32 as u64),
            "umin" => ("llvm.vector.reduce.umin", u64::from(u32::MAX)),
            "umax" => ("llvm.vector.reduce.umax", 0),
            _ => return None,
        };
        let Some(members) = members.scalar() else {
            // The members are tiles of a warp, each with its own mask.
            let members = members.lanes(&self.b);
            let running = self.b.and(members, self.b.splat(self.mask(), LANES));
            let result = self.b.call(self.unit().reduction_helper(name, neutral), &[value, running]);
            return Some(Leaf::Lanes(result));
        };
        let lanes = self.b.and(self.mask(), members);
        let kept = self.b.select(self.lanes_of(lanes), value, self.same(value, neutral));
        let result = self.b.call(self.unit().intrinsic(name, &[kept.ty()]), &[kept]);
        Some(Leaf::Lanes(self.b.splat(result, LANES)))
    }

    /// Returns whether a generic pointer is in a space.
    fn is_space(&mut self, call: Value<'c>, rest: &str) -> Emitted<Leaf<'c>> {
        let pointer = self.leaf(call.operand(0))?.lanes(&self.b);
        let space = rest.strip_prefix("isspacep.").unwrap_or(rest);
        let inside = self.lies_in(space, pointer).ok_or_else(|| Refusal::new(call, format!("the query {rest}")))?;
        Ok(Leaf::Lanes(inside))
    }

    /// Returns whether addresses are in a space, according to the windows of the CPU device.
    pub fn lies_in(&self, space: &str, address: Value<'c>) -> Option<Value<'c>> {
        use warpline_format::abi::windows;
        let (start, bytes, inside) = if space.starts_with("shared") {
            (windows::SHARED, windows::SHARED_BYTES, true)
        } else if space == "local" {
            (windows::LOCAL, windows::LOCAL_BYTES, true)
        } else if space == "global" {
            // All addresses that are neither shared nor local, including constants.
            (windows::SHARED, windows::LOCAL + windows::LOCAL_BYTES - windows::SHARED, false)
        } else {
            return None;
        };
        let offset = self.b.sub(address, self.same(address, start));
        let within = self.b.ult(offset, self.same(offset, bytes));
        Some(if inside { within } else { self.b.not(within) })
    }
}

/// Returns the source lane of a shuffle, and whether it is in range, as PTX defines it.
fn shuffle_source(mode: &str, lane: u32, amount: u32, control: u32) -> (u32, bool) {
    let (amount, clamp, segment) = (amount & 31, control & 31, control >> 8 & 31);
    let limit = (lane & segment) | (clamp & !segment);
    let (source, valid) = match mode {
        "up" => {
            let source = lane as i32 - amount as i32;
            (source, source >= limit as i32)
        }
        "down" => ((lane + amount) as i32, lane + amount <= limit),
        "bfly" => ((lane ^ amount) as i32, lane ^ amount <= limit),
        _ => {
            let source = (lane & segment) | (amount & !segment & 31);
            (source as i32, source <= limit)
        }
    };
    if valid { (source as u32, true) } else { (lane, false) }
}

/// Returns whether a barrier is `__syncthreads` or one of its variants. Such a barrier is for all threads of the block,
/// and it is not a numbered barrier, at which parts of a block may meet at several source positions.
fn is_for_all(call: Value<'_>, rest: &str) -> bool {
    rest.starts_with("barrier0")
        || (rest.contains("aligned.all") && call.arguments().first().is_some_and(|number| number.as_u64() == Some(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffles_follow_the_ptx_rules() {
        // __shfl_down_sync(m, v, 16): width 32 gives c = 0x1f.
        assert_eq!(shuffle_source("down", 3, 16, 0x1f), (19, true));
        assert_eq!(shuffle_source("down", 20, 16, 0x1f), (20, false));
        // Width 8: c = (32 - 8) << 8 | 0x1f.
        assert_eq!(shuffle_source("down", 6, 1, 0x181f), (7, true));
        assert_eq!(shuffle_source("down", 7, 1, 0x181f), (7, false));
        // __shfl_up_sync clamps at 0.
        assert_eq!(shuffle_source("up", 3, 4, 0), (3, false));
        assert_eq!(shuffle_source("up", 9, 1, 0x1800), (8, true));
        assert_eq!(shuffle_source("up", 8, 1, 0x1800), (8, false));
        assert_eq!(shuffle_source("bfly", 5, 3, 0x1f), (6, true));
        assert_eq!(shuffle_source("idx", 13, 2, 0x181f), (10, true));
    }
}
