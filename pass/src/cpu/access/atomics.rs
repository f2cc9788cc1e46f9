//! Atomic operations, one lane after another in lane order.

use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::emitter::{Emitted, Emitter};
use crate::cpu::error::Refusal;
use crate::cpu::target::types::{LANES, held};
use crate::llvm::types::Kind;
use crate::llvm::value::{AtomicOp, IntPredicate, Opcode, Ordering, RealPredicate};
use crate::llvm::{Builder, Type, Value};

const ORDER: Ordering = Ordering::LLVMAtomicOrderingSequentiallyConsistent;

impl<'c> Emitter<'_, 'c> {
    /// Lowers `atomicrmw`.
    pub fn atomic_update(&mut self, value: Value<'c>) -> Emitted<Leaf<'c>> {
        let Some(op) = value.atomic_op() else { return Err(Refusal::new(value, "this atomic operation")) };
        self.update(value, op, value.operand(0), value.operand(1), value.alignment())
    }

    /// Reads, changes and writes memory for each lane; returns the old values.
    pub fn update(
        &mut self,
        at: Value<'c>,
        op: AtomicOp,
        pointer: Value<'c>,
        operand: Value<'c>,
        align: u32,
    ) -> Emitted<Leaf<'c>> {
        let lay = self.lay(pointer)?;
        let operands = self.vector(operand)?;
        let mask = self.access_mask();
        let shared = matches!(pointer.ty().kind(), Kind::Pointer(3 | 5));
        if !supported(op) {
            return Err(Refusal::new(at, format!("the atomic operation {op:?}")));
        }
        let addresses = self.addresses(&lay);
        Ok(Leaf::Lanes(self.update_lanes(op, addresses, operands, mask, shared, align)))
    }

    /// The variant of [`Self::update`] for vectors.
    pub fn update_lanes(
        &mut self,
        op: AtomicOp,
        addresses: Value<'c>,
        operands: Value<'c>,
        mask: Value<'c>,
        shared: bool,
        align: u32,
    ) -> Value<'c> {
        let ty = operands.ty().element();
        self.update_viewed(op, addresses, operands, mask, shared, align, ty)
    }

    /// The variant of [`Self::update_lanes`] that interprets each operand as a value of type `view`, such as two
    /// half-precision numbers in a word.
    #[allow(clippy::too_many_arguments)] // One argument more than a plain update has.
    pub fn update_viewed(
        &mut self,
        op: AtomicOp,
        addresses: Value<'c>,
        operands: Value<'c>,
        mask: Value<'c>,
        shared: bool,
        align: u32,
        view: Type<'c>,
    ) -> Value<'c> {
        let whole = operands.ty();
        let ty = view;
        let align = align.max(scalar_bits(whole) / 8);
        let name = format!("warpline.atomic.{op:?}.{ty}.{}", if shared { "plain" } else { "atomic" });
        // The old values are stored in the memory of the operands.
        let helper = self.unit().lane_loop(&name, false, |b, address, (place, lane)| {
            let slot = b.gep(ty, place, &[lane]);
            let operand = b.load(ty, slot, 1);
            let old = if shared {
                // One host thread runs a block, so its shared memory needs no locked instructions.
                let old = b.load(ty, address, align);
                let new = combined(b, op, old, operand);
                b.store(new, address, align);
                old
            } else {
                b.atomic_rmw(op, address, operand, ORDER)
            };
            b.store(old, slot, 1);
        });
        let from = self.spill(addresses);
        let place = self.entry.alloca(whole, 64);
        self.b.store(operands, place, 64);
        self.b.call(helper, &[from, mask, place]);
        self.b.load(whole, place, 64)
    }

    /// Lowers `cmpxchg`: returns the old value, and whether it was the expected one.
    pub fn compare_exchange(&mut self, value: Value<'c>) -> Emitted<Vec<Leaf<'c>>> {
        let old = self.swap(value.operand(0), value.operand(1), value.operand(2))?;
        let expected = self.vector(value.operand(1))?;
        let equal = self.b.eq(old, expected);
        Ok(vec![Leaf::Lanes(old), Leaf::Lanes(equal)])
    }

    /// Compares and swaps for each lane; returns the old values.
    pub fn swap(&mut self, pointer: Value<'c>, expected: Value<'c>, new: Value<'c>) -> Emitted<Value<'c>> {
        let lay = self.lay(pointer)?;
        let (wanted, new) = (self.vector(expected)?, self.vector(new)?);
        let mask = self.access_mask();
        let addresses = self.addresses(&lay);
        Ok(self.swap_lanes(addresses, wanted, new, mask))
    }

    /// The variant of [`Self::swap`] for vectors.
    pub fn swap_lanes(
        &mut self,
        addresses: Value<'c>,
        wanted: Value<'c>,
        new: Value<'c>,
        mask: Value<'c>,
    ) -> Value<'c> {
        let ty = wanted.ty().element();
        let size = u64::from(scalar_bits(ty) / 8);
        // The expected values and then the new ones are in one memory area; the old values replace the expected ones.
        let helper = self.unit().lane_loop(&format!("warpline.swap.{ty}"), false, |b, address, (place, lane)| {
            let slot = b.gep(ty, place, &[lane]);
            let second = b.offset(slot, u64::from(LANES) * size);
            let (wanted, new) = (b.load(ty, slot, 1), b.load(ty, second, 1));
            let pair = b.compare_exchange(address, wanted, new, ORDER);
            b.store(b.extract_value(pair, 0), slot, 1);
        });
        let from = self.spill(addresses);
        let place = self.entry.alloca(ty.vector(LANES).array(2), 64);
        self.b.store(wanted, place, 64);
        self.b.store(new, self.b.offset(place, u64::from(LANES) * size), 1);
        self.b.call(helper, &[from, mask, place]);
        self.b.load(ty.vector(LANES), place, 64)
    }

    /// Lowers `llvm.nvvm.atomic.*`, the forms with an explicit scope.
    pub fn nvvm_atomic(&mut self, call: Value<'c>, rest: &str) -> Emitted<Leaf<'c>> {
        let arguments = call.arguments();
        let op = rest.strip_prefix("atomic.").unwrap_or("");
        if op.starts_with("cas") {
            let old = self.swap(arguments[0], arguments[1], arguments[2])?;
            return Ok(Leaf::Lanes(old));
        }
        let float = held(call.ty()).is_float();
        let op = match op.split('.').next().unwrap_or("") {
            "add" if float => AtomicOp::LLVMAtomicRMWBinOpFAdd,
            "add" => AtomicOp::LLVMAtomicRMWBinOpAdd,
            "and" => AtomicOp::LLVMAtomicRMWBinOpAnd,
            "or" => AtomicOp::LLVMAtomicRMWBinOpOr,
            "xor" => AtomicOp::LLVMAtomicRMWBinOpXor,
            "exch" => AtomicOp::LLVMAtomicRMWBinOpXchg,
            "min" => AtomicOp::LLVMAtomicRMWBinOpMin,
            "max" => AtomicOp::LLVMAtomicRMWBinOpMax,
            "inc" => AtomicOp::LLVMAtomicRMWBinOpUIncWrap,
            "dec" => AtomicOp::LLVMAtomicRMWBinOpUDecWrap,
            _ => return Err(Refusal::new(call, format!("the intrinsic llvm.nvvm.{rest}"))),
        };
        self.update(call, op, arguments[0], arguments[1], 0)
    }
}

fn supported(op: AtomicOp) -> bool {
    use AtomicOp::*;
    matches!(
        op,
        LLVMAtomicRMWBinOpXchg
            | LLVMAtomicRMWBinOpAdd
            | LLVMAtomicRMWBinOpSub
            | LLVMAtomicRMWBinOpAnd
            | LLVMAtomicRMWBinOpNand
            | LLVMAtomicRMWBinOpOr
            | LLVMAtomicRMWBinOpXor
            | LLVMAtomicRMWBinOpMax
            | LLVMAtomicRMWBinOpMin
            | LLVMAtomicRMWBinOpUMax
            | LLVMAtomicRMWBinOpUMin
            | LLVMAtomicRMWBinOpFAdd
            | LLVMAtomicRMWBinOpFSub
            | LLVMAtomicRMWBinOpFMax
            | LLVMAtomicRMWBinOpFMin
            | LLVMAtomicRMWBinOpUIncWrap
            | LLVMAtomicRMWBinOpUDecWrap
    )
}

/// Returns the value that an atomic operation stores.
fn combined<'c>(b: &Builder<'c>, op: AtomicOp, old: Value<'c>, operand: Value<'c>) -> Value<'c> {
    use AtomicOp::*;
    let int = |value: u64| Value::int(old.ty(), value);
    let choose = |predicate| b.select(b.icmp(predicate, old, operand), old, operand);
    let choose_real = |predicate| {
        // A number has precedence over NaN.
        let better = b.fcmp(predicate, old, operand);
        let other_nan = b.fcmp(RealPredicate::LLVMRealUNO, operand, operand);
        b.select(b.or(better, other_nan), old, operand)
    };
    match op {
        LLVMAtomicRMWBinOpXchg => operand,
        LLVMAtomicRMWBinOpAdd => b.add(old, operand),
        LLVMAtomicRMWBinOpSub => b.sub(old, operand),
        LLVMAtomicRMWBinOpAnd => b.and(old, operand),
        LLVMAtomicRMWBinOpNand => b.not(b.and(old, operand)),
        LLVMAtomicRMWBinOpOr => b.or(old, operand),
        LLVMAtomicRMWBinOpXor => b.xor(old, operand),
        LLVMAtomicRMWBinOpMax => choose(IntPredicate::LLVMIntSGT),
        LLVMAtomicRMWBinOpMin => choose(IntPredicate::LLVMIntSLT),
        LLVMAtomicRMWBinOpUMax => choose(IntPredicate::LLVMIntUGT),
        LLVMAtomicRMWBinOpUMin => choose(IntPredicate::LLVMIntULT),
        LLVMAtomicRMWBinOpFAdd => b.binary(Opcode::LLVMFAdd, old, operand),
        LLVMAtomicRMWBinOpFSub => b.binary(Opcode::LLVMFSub, old, operand),
        LLVMAtomicRMWBinOpFMax => choose_real(RealPredicate::LLVMRealOGT),
        LLVMAtomicRMWBinOpFMin => choose_real(RealPredicate::LLVMRealOLT),
        LLVMAtomicRMWBinOpUIncWrap => {
            let wraps = b.icmp(IntPredicate::LLVMIntUGE, old, operand);
            b.select(wraps, int(0), b.add(old, int(1)))
        }
        LLVMAtomicRMWBinOpUDecWrap => {
            let wraps = b.or(b.eq(old, int(0)), b.ugt(old, operand));
            b.select(wraps, operand, b.sub(old, int(1)))
        }
        _ => operand,
    }
}
