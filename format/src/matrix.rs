//! A product of tensor-core tiles, in the form in which lowered code passes it to the CPU device.
//!
//! A tile has 8 or 16 rows (m), 8 columns (n) and one or several *blocks* along k. Registers are 32 bits wide (64 for
//! doubles). In memory, each register's 32 lanes are consecutive. With `group = lane / 4`, `thread = lane % 4` and `e`
//! elements in a register, as the PTX ISA lays out the fragments of `mma.sync`:
//!
//! | operand | register | element `i` of it |
//! |---|---|---|
//! | A | `block · (m / 8) + half` | row `group + 8 half`, column `4 e · block + e · thread + i` |
//! | B | `block` | row `4 e · block + e · thread + i`, column `group` |
//! | C, D | of each `half`: two, or one of two f16 | row `group + 8 half`, column `2 thread` and the next |

use crate::operation::ValueType;

/// Type of the elements of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Element {
    Half,
    Brain,
    Tensor32,
    Double,
    E4M3,
    E5M2,
    Signed8,
    Unsigned8,
    Signed4,
    Unsigned4,
    Bit,
}

/// Type of the elements of C and D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Accumulator {
    Half,
    Single,
    Double,
    Integer,
}

/// Kinds of tensor-core products that have different rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// `f16` and `bf16`, with single-precision accumulation.
    Half,
    /// `f16` with half-precision accumulation.
    HalfSums,
    /// `tf32`.
    Tensor32,
    /// 8-bit floating-point numbers.
    Eighth,
    /// 8-bit integers. Products of 4-bit integers count as a half, and of single bits as an eighth, because they are
    /// faster by these factors.
    Integer,
    /// Doubles.
    Double,
}

impl Product {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Product; 6] =
        [Product::Half, Product::HalfSums, Product::Tensor32, Product::Eighth, Product::Integer, Product::Double];

    /// Returns the name in GPU models, profiles and reports.
    pub fn name(self) -> &'static str {
        match self {
            Product::Half => "tensor_fp16",
            Product::HalfSums => "tensor_fp16_sums",
            Product::Tensor32 => "tensor_tf32",
            Product::Eighth => "tensor_fp8",
            Product::Integer => "tensor_int8",
            Product::Double => "tensor_fp64",
        }
    }
}

const ELEMENTS: [Element; 11] = [
    Element::Half,
    Element::Brain,
    Element::Tensor32,
    Element::Double,
    Element::E4M3,
    Element::E5M2,
    Element::Signed8,
    Element::Unsigned8,
    Element::Signed4,
    Element::Unsigned4,
    Element::Bit,
];
const ACCUMULATORS: [Accumulator; 4] =
    [Accumulator::Half, Accumulator::Single, Accumulator::Double, Accumulator::Integer];

impl Element {
    /// Returns the bits of an element.
    pub fn bits(self) -> u32 {
        match self {
            Element::Double => 64,
            Element::Tensor32 => 32,
            Element::Half | Element::Brain => 16,
            Element::E4M3 | Element::E5M2 | Element::Signed8 | Element::Unsigned8 => 8,
            Element::Signed4 | Element::Unsigned4 => 4,
            Element::Bit => 1,
        }
    }

    /// Returns whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        use Element::*;
        matches!(self, Half | Brain | Tensor32 | Double | E4M3 | E5M2)
    }

    /// Returns the number of elements per register.
    pub fn per_register(self) -> u32 {
        (32 / self.bits()).max(1)
    }

    /// Returns the type of an element in records; that of a register if an element has less than a byte.
    pub fn value_type(self) -> ValueType {
        match self {
            Element::Half => ValueType::Half,
            Element::Brain => ValueType::Brain,
            Element::Tensor32 => ValueType::Single,
            Element::Double => ValueType::Double,
            _ if self.bits() == 8 => ValueType::Int8,
            _ => ValueType::Int32,
        }
    }

    /// Returns the type of a register in records: that of its element or, if it has several, their 32 bits.
    pub fn register_type(self) -> ValueType {
        match self {
            Element::Double => ValueType::Double,
            Element::Tensor32 => ValueType::Single,
            _ => ValueType::Int32,
        }
    }
}

impl Accumulator {
    /// Returns the bits of an element.
    pub fn bits(self) -> u32 {
        match self {
            Accumulator::Half => 16,
            Accumulator::Double => 64,
            Accumulator::Single | Accumulator::Integer => 32,
        }
    }

    /// Returns the number of registers for 8 rows.
    pub fn registers(self) -> u32 {
        if self == Accumulator::Half { 1 } else { 2 }
    }

    /// Returns the register of a lane's element, and the index of the element in the register.
    pub fn place(self, index: u32) -> (u32, u32) {
        if self == Accumulator::Half { (index / 2, index % 2) } else { (index, 0) }
    }

    /// Returns the type of an element.
    pub fn value_type(self) -> ValueType {
        match self {
            Accumulator::Half => ValueType::Half,
            Accumulator::Single => ValueType::Single,
            Accumulator::Double => ValueType::Double,
            Accumulator::Integer => ValueType::Int32,
        }
    }
}

/// Position of an element of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Register of the operand.
    pub register: u32,
    /// Lane that holds it.
    pub lane: u32,
    /// Index of the element in the register, lowest first.
    pub part: u32,
}

/// The operation D = A · B + C on one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Type of the elements of A.
    pub a: Element,
    /// Type of the elements of B.
    pub b: Element,
    /// Type of the elements of C.
    pub c: Accumulator,
    /// Type of the elements of D.
    pub d: Accumulator,
    /// Whether the tile has 16 rows instead of 8.
    pub tall: bool,
    /// Number of blocks along k, 1 to 15.
    pub blocks: u32,
    /// Whether results are saturated (`.satfinite`).
    pub saturate: bool,
    /// For single bits: whether they are combined by `and` instead of `xor` before they are counted.
    pub and: bool,
}

impl Operation {
    /// Returns the kind of product and its number of multiply-adds: 8 or 16 rows, 8 columns, and along k the elements
    /// that fill the registers of four lanes.
    pub fn product(self) -> (Product, u32) {
        let rows = if self.tall { 16 } else { 8 };
        let count = rows * 8 * 4 * self.a.per_register() * self.blocks;
        match self.a {
            Element::Half if self.d == Accumulator::Half => (Product::HalfSums, count),
            Element::Half | Element::Brain => (Product::Half, count),
            Element::Tensor32 => (Product::Tensor32, count),
            Element::E4M3 | Element::E5M2 => (Product::Eighth, count),
            Element::Double => (Product::Double, count),
            Element::Signed8 | Element::Unsigned8 => (Product::Integer, count),
            Element::Signed4 | Element::Unsigned4 => (Product::Integer, count / 2),
            Element::Bit => (Product::Integer, count / 8),
        }
    }

    /// Returns the encoding that `__wl_matrix` takes as its first argument.
    pub fn to_bits(self) -> u32 {
        self.a as u32
            | (self.b as u32) << 4
            | (self.c as u32) << 8
            | (self.d as u32) << 10
            | u32::from(self.tall) << 12
            | u32::from(self.saturate) << 13
            | u32::from(self.and) << 14
            | self.blocks << 16
    }

    /// Decodes the output of [`Operation::to_bits`]; `None` if no operation has these bits.
    pub fn from_bits(bits: u32) -> Option<Self> {
        let blocks = bits >> 16;
        (1..=15).contains(&blocks).then_some(())?;
        Some(Operation {
            a: *ELEMENTS.get((bits & 15) as usize)?,
            b: *ELEMENTS.get((bits >> 4 & 15) as usize)?,
            c: ACCUMULATORS[(bits >> 8 & 3) as usize],
            d: ACCUMULATORS[(bits >> 10 & 3) as usize],
            tall: bits >> 12 & 1 == 1,
            saturate: bits >> 13 & 1 == 1,
            and: bits >> 14 & 1 == 1,
            blocks,
        })
    }

    /// Returns the number of rows of A, C and D.
    pub fn rows(self) -> u32 {
        if self.tall { 16 } else { 8 }
    }

    /// Returns the number of columns of A and rows of B.
    pub fn depth(self) -> u32 {
        4 * self.a.per_register() * self.blocks
    }

    /// Returns the number of registers per lane for A, B, C and D.
    pub fn registers(self) -> [u32; 4] {
        let halves = self.rows() / 8;
        [halves * self.blocks, self.blocks, halves * self.c.registers(), halves * self.d.registers()]
    }

    /// Returns the position of the element of A in this row and column.
    pub fn left(self, row: u32, column: u32) -> Position {
        let position = self.factor(row % 8, column);
        Position { register: position.register * (self.rows() / 8) + row / 8, ..position }
    }

    /// Returns the position of the element of B in this row and column.
    pub fn right(self, row: u32, column: u32) -> Position {
        self.factor(column, row)
    }

    /// Returns the position of an element along k (`inner`) in blocks that have one register.
    fn factor(self, outer: u32, inner: u32) -> Position {
        let elements = self.a.per_register();
        let (block, rest) = (inner / (4 * elements), inner % (4 * elements));
        Position { register: block, lane: 4 * outer + rest / elements, part: rest % elements }
    }

    /// Returns the number of elements of C, which is that of D, per lane.
    pub fn results(self) -> u32 {
        2 * (self.rows() / 8)
    }

    /// Returns the row and column of a lane's element of C and D.
    pub fn result(self, lane: u32, index: u32) -> (u32, u32) {
        (8 * (index / 2) + lane / 4, 2 * (lane % 4) + index % 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_as_many_multiply_adds_as_its_shape_says() {
        let of =
            |a, d, tall, blocks| Operation { a, b: a, c: d, d, tall, blocks, saturate: false, and: false }.product();
        // These are shapes of PTX: rows times columns times k.
        assert_eq!(of(Element::Half, Accumulator::Single, true, 2), (Product::Half, 16 * 8 * 16));
        assert_eq!(of(Element::Brain, Accumulator::Single, true, 1), (Product::Half, 16 * 8 * 8));
        assert_eq!(of(Element::Half, Accumulator::Half, true, 2), (Product::HalfSums, 16 * 8 * 16));
        assert_eq!(of(Element::Tensor32, Accumulator::Single, true, 1), (Product::Tensor32, 16 * 8 * 4));
        assert_eq!(of(Element::E4M3, Accumulator::Single, true, 2), (Product::Eighth, 16 * 8 * 32));
        assert_eq!(of(Element::Signed8, Accumulator::Integer, true, 2), (Product::Integer, 16 * 8 * 32));
        assert_eq!(of(Element::Double, Accumulator::Double, false, 1), (Product::Double, 8 * 8 * 4));
        // These are two times and eight times as fast as 8-bit products.
        assert_eq!(of(Element::Signed4, Accumulator::Integer, true, 2), (Product::Integer, 16 * 8 * 64 / 2));
        assert_eq!(of(Element::Bit, Accumulator::Integer, true, 2), (Product::Integer, 16 * 8 * 256 / 8));
    }

    /// Each lane's registers contain distinct elements, which together are the whole matrix.
    #[test]
    fn positions_are_those_of_the_figures() {
        for (a, d, tall, blocks) in [
            (Element::Half, Accumulator::Half, true, 2),
            (Element::Tensor32, Accumulator::Single, true, 1),
            (Element::Signed8, Accumulator::Integer, false, 2),
            (Element::Double, Accumulator::Double, true, 4),
        ] {
            let one = Operation { a, b: a, c: d, d, tall, blocks, saturate: false, and: false };
            let elements = |count: u32| count * 32 * a.per_register();
            let distinct = |positions: Vec<Position>| {
                let keys = positions.iter().map(|at| (at.register, at.lane, at.part));
                keys.collect::<std::collections::BTreeSet<_>>().len() as u32
            };
            let all =
                |rows: u32, columns: u32| (0..rows).flat_map(move |row| (0..columns).map(move |column| (row, column)));
            let left = all(one.rows(), one.depth()).map(|(row, column)| one.left(row, column)).collect();
            let right = all(one.depth(), 8).map(|(row, column)| one.right(row, column)).collect();
            let [in_a, in_b, ..] = one.registers();
            assert_eq!((distinct(left), distinct(right)), (elements(in_a), elements(in_b)));
            let results = all(32, one.results()).map(|(lane, index)| one.result(lane, index));
            assert_eq!(results.collect::<std::collections::BTreeSet<_>>().len() as u32, one.rows() * 8);
        }
        // PTX ISA, figures of m16n8k16 with f16: a4 and a5 of lane 5 are in row 1, columns 10 and 11.
        let half = Operation::from_bits(Element::Half as u32 | 1 << 8 | 1 << 10 | 1 << 12 | 2 << 16).unwrap();
        assert_eq!(half.left(1, 11), Position { register: 2, lane: 5, part: 1 });
        assert_eq!(half.right(11, 1), Position { register: 1, lane: 5, part: 1 });
        assert_eq!(half.result(5, 3), (9, 3));
    }

    #[test]
    fn operations_come_back_from_their_bits() {
        for a in ELEMENTS {
            for d in ACCUMULATORS {
                for (blocks, tall) in [(1, false), (4, true)] {
                    let whole = Operation { a, b: a, c: d, d, tall, blocks, saturate: tall, and: !tall };
                    assert_eq!(Operation::from_bits(whole.to_bits()), Some(whole));
                }
            }
        }
        assert_eq!(Operation::from_bits(0), None);
        assert_eq!(Operation::from_bits(1 << 16 | 15), None);
    }
}
