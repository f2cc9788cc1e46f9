//! Results of matrix products, with the registers that are sent with them.

use super::{Execution, Recorder, Row};
use crate::llvm::Value;
use crate::llvm::types::Kind;
use crate::matrix::Multiply;
use warpline_format::gpu::AddressKind;
use warpline_format::operation::ValueType;

/// The operands of a product, in the order of an instruction's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Result,
    Left,
    Right,
    Summand,
}

/// A register of an operand, or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) operand: Operand,
    /// The index among the registers of the operand.
    pub(super) register: usize,
    /// The first bit of the value in the register.
    pub(super) below: u32,
    pub(super) ty: ValueType,
}

/// Returns the number of registers of A, B, C and D that a lane has.
pub(super) fn held(product: &Multiply) -> [usize; 4] {
    let [a, b, c, d] = product.tile.registers().map(|count| count as usize);
    let (rows, columns) = (product.tiles.0 as usize, product.tiles.1 as usize);
    let (a, b) = product.held.map_or((a * rows, b * columns), |(a, b)| (a as usize, b as usize));
    [a, b, c * rows * columns, d * rows * columns]
}

/// Returns the rows of each result, as the CPU device records them: the element of D and that of C, then the registers
/// of A and of B with the same number in the tile, if they exist.
pub(super) fn rows(product: &Multiply) -> Vec<Vec<Part>> {
    let tile = product.tile;
    let [in_a, in_b, in_c, in_d] = tile.registers();
    let mut rows = Vec::new();
    for (row, column) in (0..product.tiles.0).flat_map(|row| (0..product.tiles.1).map(move |column| (row, column))) {
        let sum = row * product.tiles.1 + column;
        for index in 0..tile.results() {
            let ((d, half_d), (c, half_c)) = (tile.d.place(index), tile.c.place(index));
            let part = |operand, register: u32, below, ty| Part { operand, register: register as usize, below, ty };
            let mut parts = vec![
                part(Operand::Result, sum * in_d + d, half_d * tile.d.bits(), tile.d.value_type()),
                part(Operand::Summand, sum * in_c + c, half_c * tile.c.bits(), tile.c.value_type()),
            ];
            let factor = tile.a.register_type();
            if index < in_a {
                parts.push(part(Operand::Left, row * in_a + index, 0, factor));
            }
            if index < in_b {
                parts.push(part(Operand::Right, column * in_b + index, 0, factor));
            }
            rows.push(parts);
        }
    }
    rows
}

/// Returns the product of an intrinsic whose registers are its arguments and the fields of its result.
pub(super) fn intrinsic(call: Value<'_>) -> Option<Multiply> {
    let product = Multiply::read_intrinsic(call.callee_name().strip_prefix("llvm.nvvm.")?)?;
    let [a, b, c, d] = held(&product);
    let fields = match call.ty().kind() {
        Kind::Struct => call.ty().fields().len(),
        _ => 1,
    };
    (call.arguments().len() == a + b + c && fields == d).then_some(product)
}

impl<'c> Recorder<'_, 'c> {
    /// Sends the results of a product.
    pub(super) fn product(&self, call: Value<'c>, number: u32, product: &Multiply) {
        let [a, b, ..] = held(product);
        let arguments = call.arguments();
        let all = rows(product);
        let parts = all.len();
        for (part, row) in all.iter().enumerate() {
            let value = |part: &Part| match part.operand {
                Operand::Result if call.ty().kind() == Kind::Struct => {
                    self.builder.extract_value(call, part.register as u32)
                }
                Operand::Result => call,
                Operand::Left => arguments[part.register],
                Operand::Right => arguments[a + part.register],
                Operand::Summand => arguments[a + b + part.register],
            };
            let rows = row.iter().map(|part| self.element(value(part), part)).collect();
            self.send(&Execution { number, part: (part, parts), rows, guard: None });
        }
    }

    /// Returns a part of a register, which may be a number or a vector.
    fn element(&self, register: Value<'c>, part: &Part) -> Row<'c> {
        let (b, types) = (&self.builder, self.builder.types());
        let bits = if register.ty().scalar().kind() == Kind::Double { 64 } else { 32 };
        let whole = match register.ty().kind() {
            Kind::Int(_) => register,
            _ => b.bitcast(register, types.int(bits)),
        };
        let moved = match part.below {
            0 => whole,
            below => b.lshr(whole, Value::int(whole.ty(), u64::from(below))),
        };
        Row { value: b.fit(moved, types.int(part.ty.bits())), ty: part.ty, kind: AddressKind::Value }
    }
}
