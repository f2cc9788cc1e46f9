//! Operations whose values are tracked. Lowered code tests each result and calls the runtime if the result is
//! exceptional, or it calls the runtime for each execution, which the runtime records.

mod assembly;
mod matrix;

use super::arithmetic::scalar_bits;
use crate::cpu::emitter::Emitter;
use crate::cpu::emitter::lanes::Lay;
use crate::cpu::emitter::leaf::Leaf;
use crate::cpu::target::types::{LANES, leaf_offsets};
use crate::device::operations::{numbered, numbered_statements, value_type};
use crate::llvm::types::Kind;
use crate::llvm::{Type, Value};
use std::collections::HashMap;
use warpline_format::access::MOST_ROWS;
use warpline_format::operation::{FloatFormat, MOST_PARTS, PART_SHIFTS, RECORDED, ValueType, ValueTypes};

/// The size in bytes of a value in all lanes, in the form that the runtime reads.
const ROW_BYTES: u64 = 8 * LANES as u64;

/// The values for which the runtime is called.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueClass {
    /// NaN, infinite and subnormal values.
    Exceptional,
    /// NaN and infinite values.
    NotFinite,
}

/// An operation whose values are tracked.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct FollowedOperation {
    /// The index into the site table's operations.
    number: u32,
    /// Whether every execution calls the runtime, which records it.
    recorded: bool,
    /// Whether the call for the first leaf has been emitted.
    done: bool,
    /// The index of the next result among those of the execution, and their number.
    part: (u32, u32),
}

impl FollowedOperation {
    fn new((number, recorded): (u32, bool)) -> Self {
        FollowedOperation { number, recorded, done: false, part: (0, 1) }
    }

    /// Returns the bits for the part in the word that the runtime receives.
    fn part_bits(self) -> u32 {
        let (part, parts) = self.part;
        if parts > MOST_PARTS { 0 } else { part << PART_SHIFTS[0] | (parts - 1) << PART_SHIFTS[1] }
    }
}

/// A value to report, and its type.
pub(in crate::cpu) type Typed<'c> = (Value<'c>, ValueType);

/// Returns the type of a value in one lane.
fn type_of(value: Value<'_>) -> Option<ValueType> {
    let ty = value.ty();
    value_type(if matches!(ty.kind(), Kind::Vector(_)) { ty.element() } else { ty })
}

/// Returns the value with its type, if the type can be reported.
fn typed(value: Value<'_>) -> Option<Typed<'_>> {
    Some((value, type_of(value)?))
}

/// The variant of [`typed`] for floating-point numbers only.
fn typed_float(value: Value<'_>) -> Option<Typed<'_>> {
    typed(value).filter(|(_, ty)| ty.float().is_some())
}

/// Returns whether values of this type are tracked as bits of unknown type.
fn is_bits(ty: ValueType) -> bool {
    matches!(ty, ValueType::Int16 | ValueType::Int32)
}

impl<'c> Emitter<'_, 'c> {
    /// Returns the tracked operation for an instruction.
    pub(in crate::cpu) fn followed_operation(&self, value: Value<'c>) -> Option<FollowedOperation> {
        if self.values() { numbered(value).map(FollowedOperation::new) } else { None }
    }

    /// Returns the tracked operations for the statements of inline assembly, by their indices.
    pub(in crate::cpu) fn followed_statements(&self, call: Value<'c>) -> HashMap<usize, FollowedOperation> {
        let numbers = if self.values() { numbered_statements(call) } else { Vec::new() };
        numbers.into_iter().map(|(statement, number)| (statement, FollowedOperation::new(number))).collect()
    }

    /// Tracks the result of the current operation, which has these operands.
    pub(in crate::cpu) fn follow_result(&mut self, made: Value<'c>, operands: &[Value<'c>]) {
        let Some(operation) = self.operation else { return };
        if operation.recorded {
            return self.record(made, operands, self.mask());
        }
        let Some(result) = typed_float(made) else { return };
        let floats: Vec<_> = operands.iter().filter_map(|operand| typed_float(*operand)).collect();
        self.follow(result, &floats, Some(ValueClass::Exceptional), self.mask());
    }

    /// Records the current operation, if each execution is recorded and none of its leaves was recorded before.
    pub(in crate::cpu) fn record_instruction(&mut self, value: Value<'c>, leaves: &[Leaf<'c>]) {
        let Some(FollowedOperation { recorded: true, done: false, .. }) = self.operation else { return };
        let operands = if value.is_call() { value.arguments() } else { value.operands() };
        let columns: Vec<Vec<Leaf<'c>>> = operands.iter().map_while(|operand| self.leaves(*operand).ok()).collect();
        let mask = self.mask();
        for (index, leaf) in leaves.iter().enumerate() {
            self.follow_part(index, leaves.len());
            let lanes = |column: &Vec<Leaf<'c>>| Some(column.get(index).or(column.first())?.lanes(&self.b));
            let row: Vec<_> = columns.iter().map_while(lanes).collect();
            let made = leaf.lanes(&self.b);
            self.record(made, &row, mask);
        }
    }

    /// Records an execution. The first operand with a type that cannot be recorded ends the list of operands.
    fn record(&mut self, made: Value<'c>, operands: &[Value<'c>], mask: Value<'c>) {
        let Some(result) = typed(made) else { return };
        let operands: Vec<_> = operands.iter().map_while(|operand| typed(*operand)).collect();
        self.follow(result, &operands, None, mask);
    }

    /// Tracks bits with which inline assembly computes, in lanes for which a guard is true.
    pub(in crate::cpu) fn follow_bits(
        &mut self,
        [format, from]: [FloatFormat; 2],
        made: Value<'c>,
        operands: &[Value<'c>],
        guard: Option<Value<'c>>,
    ) {
        let mask = match guard {
            Some(guard) => self.bits(guard),
            None => self.mask(),
        };
        let operands: Vec<_> = operands.iter().map(|operand| (*operand, from.into())).collect();
        let recorded = self.operation.is_some_and(|operation| operation.recorded);
        let wanted = if recorded { None } else { Some(ValueClass::Exceptional) };
        self.follow((made, format.into()), &operands, wanted, mask);
    }

    /// Tracks the value that the current load or store moves. Values in local memory are not tracked.
    pub(in crate::cpu) fn follow_leaves(
        &mut self,
        pointer: Value<'c>,
        ty: Type<'c>,
        leaves: &[Leaf<'c>],
        lay: &Lay<'c>,
        mask: Value<'c>,
    ) {
        let Some(operation) = &mut self.operation else { return };
        operation.done = true;
        let recorded = operation.recorded;
        if matches!(pointer.ty().kind(), Kind::Pointer(5)) {
            return;
        }
        let offsets = leaf_offsets(self.unit().layout(), ty);
        for (index, (leaf, offset)) in leaves.iter().zip(offsets).enumerate() {
            self.follow_part(index, leaves.len());
            if recorded {
                let (value, addresses) = (leaf.lanes(&self.b), self.moved_addresses(lay, offset));
                self.record(value, &[addresses], mask);
            } else {
                self.follow_moved(leaf, lay, offset, mask);
            }
        }
    }

    /// States that the next value that is tracked is this one of several results of the current operation.
    pub(in crate::cpu) fn follow_part(&mut self, index: usize, count: usize) {
        if let Some(operation) = &mut self.operation {
            operation.part = (index as u32, count as u32);
        }
    }

    fn moved_addresses(&mut self, lay: &Lay<'c>, offset: u64) -> Value<'c> {
        let addresses = self.addresses(lay);
        self.b.add(addresses, self.same(addresses, offset))
    }

    /// Tracks a value that the current operation moves, with its address or the coordinates of a texture.
    pub(in crate::cpu) fn follow_moved_value(&mut self, value: Typed<'c>, operands: &[Typed<'c>], mask: Value<'c>) {
        let recorded = self.operation.is_some_and(|operation| operation.recorded);
        let wanted = (!recorded).then_some(ValueClass::NotFinite);
        self.follow(value, operands, wanted, mask);
    }

    fn follow_moved(&mut self, leaf: &Leaf<'c>, lay: &Lay<'c>, offset: u64, mask: Value<'c>) {
        let (Leaf::Uniform(value) | Leaf::Lanes(value)) = leaf else { return };
        let Some(result) = typed(*value).filter(|(_, ty)| ty.float().is_some() || is_bits(*ty)) else { return };
        let addresses = self.moved_addresses(lay, offset);
        self.follow(result, &[(addresses, ValueType::Int64)], Some(ValueClass::NotFinite), mask);
    }

    /// Calls the runtime for the current operation: in lanes whose result is in the wanted class, or in all lanes of
    /// `mask`.
    fn follow(&mut self, made: Typed<'c>, operands: &[Typed<'c>], wanted: Option<ValueClass>, mask: Value<'c>) {
        let Some(operation) = &mut self.operation else { return };
        operation.done = true;
        let (number, part) = (operation.number, operation.part_bits());
        let bits = self.raw_bits(made.0);
        let lanes = wanted.map_or(mask, |wanted| self.exceptional_lanes(made.1, bits, wanted, mask));
        let (call, after) = (self.new_block("followed"), self.new_block("after"));
        self.branch_unlikely(self.b.ne(lanes, self.i32(0)), call, after);
        self.b.at_end(call);
        let room = self.once("values", |this| this.entry.alloca(this.t.int(64).vector(4 * LANES), 64));
        let rows: Vec<_> = std::iter::once((bits, made.1)).chain(operands.iter().copied()).take(MOST_ROWS).collect();
        for (row, (value, _)) in (0..).zip(&rows) {
            let wide = self.wide_bits(*value);
            self.b.store(wide, self.b.offset(room, row * ROW_BYTES), 64);
        }
        let types = ValueTypes::new(&rows.iter().map(|(_, ty)| *ty).collect::<Vec<_>>()).0;
        let types = if wanted.is_none() { types | part | RECORDED } else { types };
        let arguments = [self.context(), self.i32(number), self.i32(types), lanes, room];
        self.b.call(self.unit().runtime().operation(), &arguments);
        self.b.branch(after);
        self.b.at_end(after);
        self.accesses.note_spill(None, after);
        if wanted.is_none() {
            // The runtime has written a record, and other warps may have run.
            self.accesses.discard_room();
        }
    }

    /// Returns the lanes of `mask` whose result is in the wanted class.
    fn exceptional_lanes(&self, ty: ValueType, bits: Value<'c>, wanted: ValueClass, mask: Value<'c>) -> Value<'c> {
        let found = match ty.float() {
            Some(format) => self.exceptional(format, bits, wanted),
            None => self.may_be_exceptional(bits),
        };
        match found.ty().kind() {
            Kind::Vector(_) => {
                let all = self.b.bitcast(self.b.freeze(found), self.t.int(32));
                self.b.and(all, mask)
            }
            _ => {
                let found = self.b.freeze(found);
                self.b.select(found, mask, self.i32(0))
            }
        }
    }

    /// Returns a value's bits as an integer of the same width.
    fn raw_bits(&self, value: Value<'c>) -> Value<'c> {
        let bits = self.t.int(scalar_bits(value.ty()));
        self.b.bitcast(value, self.shaped(value, bits))
    }

    /// Returns the bits of a value in all lanes, as 64 bits each.
    fn wide_bits(&self, value: Value<'c>) -> Value<'c> {
        let bits = self.raw_bits(value);
        let lanes = if matches!(bits.ty().kind(), Kind::Vector(_)) { bits } else { self.b.splat(bits, LANES) };
        self.b.fit_lanes(lanes, self.t.int(64).vector(LANES))
    }

    /// Returns whether bits of unknown type may be those of NaNs or infinities: in wider formats, the highest 16 bits of
    /// such a number have all bits of the half-precision exponent, too.
    fn may_be_exceptional(&self, bits: Value<'c>) -> Value<'c> {
        let infinity = FloatFormat::Half.infinity();
        let half = |below: u64| {
            let exponent = self.same(bits, infinity << below);
            self.b.eq(self.b.and(bits, exponent), exponent)
        };
        if scalar_bits(bits.ty()) > 16 { self.b.or(half(0), half(16)) } else { half(0) }
    }

    fn exceptional(&self, format: FloatFormat, bits: Value<'c>, wanted: ValueClass) -> Value<'c> {
        let magnitude = self.b.and(bits, self.same(bits, format.magnitude(u64::MAX)));
        let finite = self.same(bits, format.infinity() - 1);
        if wanted == ValueClass::NotFinite {
            return self.b.ugt(magnitude, finite);
        }
        // The difference wraps for magnitudes below the smallest normal number. Zero, which also wraps, is excluded.
        let least = self.same(bits, format.smallest_normal());
        let range = self.same(bits, format.infinity() - format.smallest_normal() - 1);
        let outside = self.b.ugt(self.b.sub(magnitude, least), range);
        self.b.and(outside, self.b.ne(magnitude, self.same(bits, 0)))
    }
}
