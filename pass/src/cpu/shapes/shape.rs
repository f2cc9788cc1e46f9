//! Determines which values all lanes share, and which differ by a constant from lane to lane.
//!
//! Shapes describe active lanes only. An affine integer with fewer than 64 bits is stored as a 64-bit base. The shape
//! states whether the wide value is the sign or the zero extension of the narrow value, so that an extended index stays
//! affine only if no lane can wrap.

use crate::ir::range::Range;

/// The shape of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The value is the same in all active lanes.
    Uniform,
    /// The value is a base plus the lane number times a stride.
    Affine(Affine),
    /// Any value. `probably_affine` means that the value is an extension of an affine value that might wrap; memory
    /// accesses test this at run time.
    Varying {
        /// Whether the value is an extension of an affine value that might wrap.
        probably_affine: bool,
    },
}

/// The properties of an affine value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// The difference between neighbouring lanes.
    pub stride: i64,
    /// Whether the wide value of each active lane is the sign extension of the narrow one.
    pub signed: bool,
    /// Whether the wide value of each active lane is the zero extension of the narrow one.
    pub unsigned: bool,
}

/// Any value.
pub const VARYING: Shape = Shape::Varying { probably_affine: false };

/// The largest stride that is tracked; for hash-like arithmetic on lane numbers, tracking is not worthwhile.
const LARGEST_STRIDE: i64 = 1 << 20;

impl Shape {
    /// Returns an affine shape, or a weaker shape if the stride is zero or too large to be useful.
    pub fn affine(stride: i64, signed: bool, unsigned: bool) -> Shape {
        if stride.unsigned_abs() > LARGEST_STRIDE as u64 {
            return VARYING;
        }
        Shape::Affine(Affine { stride, signed, unsigned })
    }

    /// Returns the properties of a shape as an operand of affine arithmetic: the stride, and the exactness of its wide
    /// value. A uniform value is exact in both ways, because it is extended as needed.
    pub fn terms(self) -> Option<Affine> {
        match self {
            Shape::Uniform => Some(Affine { stride: 0, signed: true, unsigned: true }),
            Shape::Affine(affine) => Some(affine),
            Shape::Varying { .. } => None,
        }
    }

    /// Returns the shape of a value that has this shape on one path and the shape `other` on another path, if all lanes
    /// take a path together.
    pub fn meet(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Uniform, Shape::Uniform) => Shape::Uniform,
            (Shape::Affine(left), Shape::Affine(right)) if left.stride == right.stride => Shape::Affine(Affine {
                stride: left.stride,
                signed: left.signed && right.signed,
                unsigned: left.unsigned && right.unsigned,
            }),
            _ => Shape::Varying { probably_affine: self.may_be_affine() && other.may_be_affine() },
        }
    }

    /// Returns whether a memory access through the value should test for a constant stride at run time.
    pub fn may_be_affine(self) -> bool {
        match self {
            Shape::Varying { probably_affine } => probably_affine,
            Shape::Uniform | Shape::Affine(_) => true,
        }
    }
}

/// The guarantees of an addition, subtraction or multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags {
    /// No signed wrap.
    pub nsw: bool,
    /// No unsigned wrap.
    pub nuw: bool,
}

/// Returns the shape of an arithmetic result with this stride on operands of known exactness. `range` is the exact
/// result, as far as it is known.
pub fn combine(stride: i64, left: Affine, right: Affine, flags: Flags, range: Option<Range>, bits: u32) -> Shape {
    let fits = range.is_some_and(|range| range.fits(bits));
    let natural = range.is_some_and(|range| range.is_natural() && range.fits(bits));
    let signed = left.signed && right.signed && (flags.nsw || fits);
    let unsigned = (signed && natural) || (!signed && left.unsigned && right.unsigned && flags.nuw);
    Shape::affine(stride, signed, unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: Affine = Affine { stride: 1, signed: true, unsigned: true };
    const SAME: Affine = Affine { stride: 0, signed: true, unsigned: true };

    #[test]
    fn a_thread_index_minus_one_does_not_extend_as_unsigned() {
        // For threadIdx.x - 1u, lane 0 wraps to 2^32 - 1.
        let range = Range { low: 0, high: 1023 }.plus(Range::constant(-1));
        let shape = combine(1, EXACT, SAME, Flags::default(), range, 32);
        assert_eq!(shape, Shape::Affine(Affine { stride: 1, signed: true, unsigned: false }));
    }

    #[test]
    fn a_global_index_fits() {
        let block = Range { low: 0, high: (1 << 21) - 1 }.times(Range { low: 1, high: 1024 });
        let index = block.unwrap().plus(Range { low: 0, high: 1023 });
        assert_eq!(combine(1, EXACT, SAME, Flags::default(), index, 32), Shape::Affine(EXACT));
    }

    #[test]
    fn an_unknown_sum_is_only_right_in_its_low_bits() {
        let range = Range::full(32).plus(Range { low: 0, high: 1023 });
        let shape = combine(1, EXACT, SAME, Flags::default(), range, 32);
        assert_eq!(shape, Shape::Affine(Affine { stride: 1, signed: false, unsigned: false }));
    }

    #[test]
    fn the_bits_of_an_or_bound_it() {
        let natural = |high| Range { low: 0, high };
        for (left, right, high) in
            [(0, 0, 0), (1, 0, 1), (4, 3, 7), (8, 8, 15), (1 << 62, 1 << 61, i64::MAX), (i64::MAX, 0, i64::MAX)]
        {
            assert_eq!(natural(left).or(natural(right)), natural(high), "{left} | {right}");
        }
        for left in 0..40 {
            for right in 0..40 {
                let most = (0..=left).flat_map(|a| (0..=right).map(move |b| a | b)).max();
                assert!(Some(natural(left).or(natural(right)).high) >= most, "{left} | {right}");
            }
        }
    }

    #[test]
    fn meeting_different_strides_is_varying() {
        assert_eq!(
            Shape::affine(4, true, true).meet(Shape::affine(8, true, true)),
            Shape::Varying { probably_affine: true }
        );
        assert_eq!(Shape::Uniform.meet(VARYING), VARYING);
    }

    #[test]
    fn huge_strides_are_not_followed() {
        assert_eq!(Shape::affine(1_103_515_245, true, true), VARYING);
    }
}
