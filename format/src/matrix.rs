//! A product of tensor-core tiles, as lowered code hands it to the CPU device.
//!
//! A tile has 8 or 16 rows (m), 8 columns (n) and one or several *blocks* along k. Registers are 32 bits wide, or 64 for
//! doubles, and stand in memory register by register, each with its 32 lanes. With `group = lane / 4`, `thread = lane % 4` and
//! `e` elements in a register, as the PTX ISA lays out the fragments of `mma.sync`:
//!
//! | operand | register | element `i` of it |
//! |---|---|---|
//! | A | `block · (m / 8) + half` | row `group + 8 half`, column `4 e · block + e · thread + i` |
//! | B | `block` | row `4 e · block + e · thread + i`, column `group` |
//! | C, D | of each `half`: two, or one of two f16 | row `group + 8 half`, column `2 thread` and the next |

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
    /// Bits of an element.
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

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        use Element::*;
        matches!(self, Half | Brain | Tensor32 | Double | E4M3 | E5M2)
    }

    /// Elements in a register.
    pub fn per_register(self) -> u32 {
        (32 / self.bits()).max(1)
    }
}

impl Accumulator {
    /// Bits of an element.
    pub fn bits(self) -> u32 {
        match self {
            Accumulator::Half => 16,
            Accumulator::Double => 64,
            Accumulator::Single | Accumulator::Integer => 32,
        }
    }

    /// Registers for 8 rows.
    pub fn registers(self) -> u32 {
        if self == Accumulator::Half { 1 } else { 2 }
    }
}

/// D = A · B + C of one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Elements of A.
    pub a: Element,
    /// Elements of B.
    pub b: Element,
    /// Elements of C.
    pub c: Accumulator,
    /// Elements of D.
    pub d: Accumulator,
    /// 16 rows, else 8.
    pub tall: bool,
    /// Blocks along k, 1 to 15.
    pub blocks: u32,
    /// `.satfinite`.
    pub saturate: bool,
    /// Of bits: `and`, else `xor`, before they are counted.
    pub and: bool,
}

impl Operation {
    /// As the first argument of `__wl_matrix`.
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

    /// Reads [`Operation::to_bits`]; `None` where no operation has such bits.
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

    /// Rows of A, C and D.
    pub fn rows(self) -> u32 {
        if self.tall { 16 } else { 8 }
    }

    /// Columns of A and rows of B.
    pub fn depth(self) -> u32 {
        4 * self.a.per_register() * self.blocks
    }

    /// Registers of A, B, C and D that a lane has.
    pub fn registers(self) -> [u32; 4] {
        let halves = self.rows() / 8;
        [halves * self.blocks, self.blocks, halves * self.c.registers(), halves * self.d.registers()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
