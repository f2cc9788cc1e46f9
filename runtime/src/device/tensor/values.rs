//! Tile products in code that tracks values: reports the results to the floating-point check and to the trace.

use super::numbers;
use super::unit::__wl_matrix;
use crate::device::execution::lanes::lanes;
use crate::device::execution::scheduled::warp_of;
use crate::device::execution::warp::{Stop, stop};
use crate::device::floats::products;
use crate::device::operations::record;
use warpline_format::abi::WarpContext;
use warpline_format::access::{LANES, MOST_ROWS, part_word};
use warpline_format::matrix::{Element, Operation, Position};
use warpline_format::operation::{FloatClass, FloatFormat, RECORDED, ValueType, ValueTypes};

/// The maximum number of registers of C.
const MOST_SUMS: usize = 4;

/// The operands and the result of a tile's product.
pub struct Tile {
    /// The product.
    pub operation: Operation,
    /// The lanes that keep the result.
    pub mask: u32,
    /// The `part_word` of the tile in its instruction.
    place: u32,
    a: *const u8,
    b: *const u8,
    start: [[u64; LANES]; MOST_SUMS],
    d: *const u8,
}

/// An element of an operand.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    /// The lane that holds it.
    pub lane: usize,
    /// The bits.
    pub bits: u64,
    /// The type.
    pub element: Element,
}

impl Factor {
    /// Returns the floating-point format, if it has one with 16 bits or more.
    fn format(self) -> Option<FloatFormat> {
        Some(match self.element {
            Element::Half => FloatFormat::Half,
            Element::Brain => FloatFormat::Brain,
            Element::Tensor32 => FloatFormat::Single,
            Element::Double => FloatFormat::Double,
            _ => return None,
        })
    }

    /// Returns the value.
    pub fn value(self) -> f64 {
        match (self.format(), self.element) {
            (Some(format), _) => format.value(self.bits),
            (None, Element::E4M3) => numbers::e4m3(self.bits as u8).into(),
            (None, Element::E5M2) => numbers::e5m2(self.bits as u8).into(),
            (None, _) => self.bits as f64,
        }
    }

    /// Returns the class.
    pub fn class(self) -> FloatClass {
        let exponent = if self.element == Element::E4M3 { 0x78 } else { 0x7c };
        match self.format() {
            Some(format) => format.classify(self.bits),
            None if self.value().is_nan() => FloatClass::NotANumber,
            None if self.value().is_infinite() => FloatClass::Infinite,
            None if self.bits & exponent == 0 && self.value() != 0.0 => FloatClass::Subnormal,
            None => FloatClass::Ordinary,
        }
    }

    /// Returns the highest 16 bits of the element, by which loads of untyped bits are found.
    pub fn top(self) -> u16 {
        self.format().map_or(0, |format| format.top(self.bits))
    }
}

/// Returns a lane's register, one of those that [`__wl_matrix_values`] requires.
fn word(operation: Operation, registers: *const u8, register: usize, lane: usize) -> u64 {
    let index = LANES * register + lane;
    // SAFETY: by the requirements; the type of A determines the width of all registers.
    unsafe {
        match operation.a {
            Element::Double => registers.cast::<u64>().add(index).read(),
            _ => registers.cast::<u32>().add(index).read().into(),
        }
    }
}

impl Tile {
    fn factor(&self, registers: *const u8, element: Element, at: Position) -> Factor {
        let word = self.word(registers, at.register as usize, at.lane as usize);
        let bits = element.bits();
        let bits = (word >> (bits * at.part)) & (u64::MAX >> (64 - bits));
        // The product ignores the low bits.
        let bits = if element == Element::Tensor32 { bits & !0x1fff } else { bits };
        Factor { lane: at.lane as usize, bits, element }
    }

    fn word(&self, registers: *const u8, register: usize, lane: usize) -> u64 {
        word(self.operation, registers, register, lane)
    }

    /// Returns the factors of each product that a lane's result is the sum of, in order.
    pub fn factors(&self, lane: usize, index: u32) -> impl Iterator<Item = [Factor; 2]> + '_ {
        let operation = self.operation;
        let (row, column) = operation.result(lane as u32, index);
        (0..operation.depth()).map(move |k| {
            [
                self.factor(self.a, operation.a, operation.left(row, k)),
                self.factor(self.b, operation.b, operation.right(k, column)),
            ]
        })
    }

    /// Returns a lane's element of D.
    pub fn result(&self, lane: usize, index: u32) -> u64 {
        let (register, part) = self.operation.d.place(index);
        let bits = self.operation.d.bits();
        (self.word(self.d, register as usize, lane) >> (bits * part)) & (u64::MAX >> (64 - bits))
    }

    /// Returns a lane's element of C.
    pub fn start(&self, lane: usize, index: u32) -> u64 {
        let (register, part) = self.operation.c.place(index);
        let bits = self.operation.c.bits();
        (self.start[register as usize][lane] >> (bits * part)) & (u64::MAX >> (64 - bits))
    }

    /// Returns whether this is the first tile of its instruction.
    pub fn is_first(&self) -> bool {
        self.place & 0xffff == 0
    }

    /// Returns the `part_word` of a result.
    fn part(&self, index: u32) -> u32 {
        let results = self.operation.results();
        let (number, tiles) = (self.place & 0xffff, (self.place >> 16) + 1);
        part_word((number * results + index) as u16, (tiles * results) as u16)
    }

    /// Returns the rows of the record of a result: the element of D and that of C, then the register of A and that of B
    /// with the same number, if there is one.
    fn rows(&self, index: u32) -> ([[u64; LANES]; MOST_ROWS], ValueTypes) {
        let [in_a, in_b, ..] = self.operation.registers();
        let lanes = |value: &dyn Fn(usize) -> u64| std::array::from_fn(value);
        let none = [0; LANES];
        let rows = [
            lanes(&|lane| self.result(lane, index)),
            lanes(&|lane| self.start(lane, index)),
            if index < in_a { lanes(&|lane| self.word(self.a, index as usize, lane)) } else { none },
            if index < in_b { lanes(&|lane| self.word(self.b, index as usize, lane)) } else { none },
        ];
        let factor = self.operation.a.register_type();
        let types: [ValueType; MOST_ROWS] =
            [self.operation.d.value_type(), self.operation.c.value_type(), factor, factor];
        let count = 2 + usize::from(index < in_a) + usize::from(index < in_b);
        (rows, ValueTypes::new(&types[..count]))
    }
}

/// Computes D = A · B + C of one tile and reports the results; see `format/src/hooks.rs`.
///
/// # Safety
/// The requirements of [`__wl_matrix`] apply. Lowered code calls this function with its own context.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn __wl_matrix_values(
    context: *mut WarpContext,
    number: u32,
    mask: u32,
    tile: u32,
    operation: u32,
    a: *const u8,
    b: *const u8,
    c: *const u8,
    d: *mut u8,
) {
    let known = Operation::from_bits(operation);
    let mut start = [[0; LANES]; MOST_SUMS];
    if let Some(known) = known {
        for (register, lanes) in start.iter_mut().enumerate().take(known.registers()[2] as usize) {
            *lanes = std::array::from_fn(|lane| word(known, c, register, lane));
        }
    }
    // SAFETY: by the contract. D may be C, which was copied.
    unsafe { __wl_matrix(operation, a, b, c, d) };
    let Some(operation) = known else { return };
    let tile = Tile { operation, mask, place: tile, a, b, start, d };
    let (recorded, number) = (number & RECORDED != 0, number & !RECORDED);
    // SAFETY: by the contract. Nothing that needs to be dropped is alive where the warp pauses or stops.
    unsafe {
        let warp = warp_of(context);
        if products::follow(warp, number, &tile) {
            stop(warp, Stop::Trap);
        }
        if !recorded || mask == 0 || (*warp).context.record_end.is_null() {
            return;
        }
        for index in 0..operation.results() {
            let (rows, types) = tile.rows(index);
            record(warp, number, types, tile.part(index), mask, &rows);
        }
    }
}

/// Returns the lanes that keep a result, and the numbers of their elements.
pub fn results(tile: &Tile) -> impl Iterator<Item = (usize, u32)> + '_ {
    lanes(tile.mask).flat_map(|lane| (0..tile.operation.results()).map(move |index| (lane, index)))
}
