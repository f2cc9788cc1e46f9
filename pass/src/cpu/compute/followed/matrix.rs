//! Products, loads and stores of matrix fragments whose values are tracked.

use super::FollowedOperation;
use crate::cpu::compute::arithmetic::scalar_bits;
use crate::cpu::emitter::Emitter;
use crate::cpu::target::types::LANES;
use crate::llvm::Value;
use crate::matrix::{Fragment, Linear, Rows};
use warpline_format::access::part_word;
use warpline_format::operation::{RECORDED, ValueType};

impl<'c> Emitter<'_, 'c> {
    /// Computes one of the `tiles` tiles of a product. `operands` are those of the runtime's function `matrix`.
    pub(in crate::cpu) fn tile_product(
        &mut self,
        operands: [Value<'c>; 5],
        (tile, tiles): (usize, usize),
        mask: Value<'c>,
    ) {
        let Some(FollowedOperation { number, recorded, done, .. }) = &mut self.operation else {
            self.b.call(self.unit().runtime().matrix(), &operands);
            return;
        };
        *done = true;
        let (number, recorded) = (*number, *recorded);
        let number = if recorded { number | RECORDED } else { number };
        let place = part_word(tile as u16, tiles as u16);
        let mut arguments = vec![self.context(), self.i32(number), mask, self.i32(place)];
        arguments.extend(operands);
        self.b.call(self.unit().runtime().matrix_values(), &arguments);
        if recorded {
            // The runtime has written records, and other warps may have run.
            self.accesses.discard_room();
        }
    }

    /// Tracks the elements of a fragment that the current operation loads or stores.
    pub(in crate::cpu) fn follow_fragment(
        &mut self,
        (fragment, ty): (&Fragment, ValueType),
        base: Value<'c>,
        stride: Option<Value<'c>>,
        registers: &[Value<'c>],
        mask: Value<'c>,
    ) {
        let Some(operation) = &mut self.operation else { return };
        operation.done = true;
        // Elements of less than a byte are tracked as registers.
        let (elements, bits) = (fragment.elements(), ty.bits());
        let step = (bits / fragment.bits).max(1);
        let (blocks, width) = (fragment.blocks(), fragment.register_bits());
        let count = blocks.len() * (elements / step) as usize;
        let mut index = 0;
        for ((outer, inner), registers) in blocks.into_iter().zip(registers.chunks(fragment.registers() as usize)) {
            for element in (0..elements).step_by(step as usize) {
                let at = element * fragment.bits;
                let value = self.bits_from(registers[(at / width) as usize], at % width, bits);
                let along = Linear { fixed: inner + element, group: 0, thread: elements };
                let across = Linear { fixed: outer, group: 1, thread: 0 };
                let (row, column) = if fragment.along_inner { (across, along) } else { (along, across) };
                let (row, column) = (self.linear(row), self.linear(column));
                let addresses = self.elements_at(fragment, row, column, base, stride);
                self.follow_part(index, count);
                index += 1;
                self.follow_element((value, ty), addresses, mask);
            }
        }
    }

    /// Tracks the halves of the registers that `ldmatrix` loads or `stmatrix` stores. `addresses` are those of the rows.
    pub(in crate::cpu) fn follow_rows(
        &mut self,
        rows: Rows,
        addresses: Value<'c>,
        mask: Value<'c>,
        registers: &[Value<'c>],
    ) {
        let Some(operation) = &mut self.operation else { return };
        operation.done = true;
        let moved = self.row_addresses(rows, addresses);
        for (number, register) in (0..).zip(registers) {
            for half in 0..2 {
                let places: Vec<_> = (0..LANES).map(|lane| rows.place(number, lane, half)).collect();
                let picks: Vec<_> = places.iter().map(|(lane, _)| Some(*lane)).collect();
                let within: Vec<_> =
                    places.iter().map(|(_, half)| Value::int(self.t.int(64), u64::from(2 * half))).collect();
                let starts = self.b.shuffle(moved, Value::poison(moved.ty()), &picks);
                let addresses = self.b.add(starts, Value::vector(&within));
                let value = self.bits_from(*register, 16 * half, 16);
                self.follow_part((2 * number + half) as usize, 2 * registers.len());
                self.follow_element((value, ValueType::Int16), addresses, mask);
            }
        }
    }

    /// Returns bits of a register, from `below` on.
    fn bits_from(&self, register: Value<'c>, below: u32, bits: u32) -> Value<'c> {
        let register = self.b.bitcast(register, self.int_lanes(scalar_bits(register.ty())));
        let moved = self.b.lshr(register, self.same(register, u64::from(below)));
        self.b.fit_lanes(moved, self.int_lanes(bits))
    }

    /// Tracks an element that the current operation moves.
    pub(in crate::cpu) fn follow_element(
        &mut self,
        element: (Value<'c>, ValueType),
        addresses: Value<'c>,
        mask: Value<'c>,
    ) {
        self.follow_moved_value(element, &[(addresses, ValueType::Int64)], mask);
    }
}
