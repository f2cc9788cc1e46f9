//! The representation of device code's values in a warp function.
//!
//! A value is a list of *leaves*, which are its scalars in depth-first order: one for an `i32`, four for a `<4 x
//! float>`. Pointers are stored as `i64`. A leaf is one scalar if all lanes have the same value, a base and a stride if
//! lanes differ by a constant, and otherwise a vector of 32.

use crate::cpu::target::types::{LANES, leaf_types};
use crate::llvm::types::Kind;
use crate::llvm::{Builder, Type, Value};

/// One scalar of a value, for all lanes. The values of inactive lanes are undefined.
#[derive(Clone, Debug)]
pub enum Leaf<'c> {
    /// All active lanes have this scalar.
    Uniform(Value<'c>),
    /// Lane `l` of group `g` has the low bits of `bases[g] + (l - first lane of g) * stride`; bases are `i64`.
    Affine {
        /// One base per group of lanes: one group of 32 or two groups of 16.
        bases: Vec<Value<'c>>,
        /// The difference between neighbouring lanes.
        stride: i64,
        /// The integer type of the leaf.
        ty: Type<'c>,
    },
    /// A vector `<32 x T>`.
    Lanes(Value<'c>),
}

/// Returns the range of leaves that the `indices` of an `extractvalue` name: the first leaf and the count.
pub fn leaf_range(ty: Type<'_>, indices: &[u32]) -> (usize, usize) {
    let Some((&index, rest)) = indices.split_first() else { return (0, leaf_types(ty).len()) };
    let (before, inner) = match ty.kind() {
        Kind::Struct => {
            let fields = ty.fields();
            let before = fields[..index as usize].iter().map(|field| leaf_types(*field).len()).sum();
            (before, fields[index as usize])
        }
        _ => (leaf_types(ty.element()).len() * index as usize, ty.element()),
    };
    let (first, count) = leaf_range(inner, rest);
    (before + first, count)
}

/// Returns a constant vector with the number of each lane in its group, times `stride`.
pub fn steps<'c>(ty: Type<'c>, groups: usize, stride: i64) -> Value<'c> {
    let size = LANES as usize / groups;
    let lanes: Vec<_> =
        (0..LANES as usize).map(|lane| Value::int(ty, ((lane % size) as i64).wrapping_mul(stride) as u64)).collect();
    Value::vector(&lanes)
}

/// Returns a vector in which each lane has the scalar of its group.
pub fn spread<'c>(b: &Builder<'c>, groups: &[Value<'c>]) -> Value<'c> {
    match groups {
        [one] => b.splat(*one, LANES),
        _ => {
            let empty = Value::poison(groups[0].ty().vector(LANES));
            let index = |at: u64| Value::int(b.types().int(64), at);
            let low = b.insert_element(empty, groups[0], index(0));
            let both = b.insert_element(low, groups[1], index(16));
            let mask: Vec<_> = (0..LANES).map(|lane| Some(lane / 16 * 16)).collect();
            b.shuffle(both, empty, &mask)
        }
    }
}

impl<'c> Leaf<'c> {
    /// Returns the leaf as a vector.
    pub fn lanes(&self, b: &Builder<'c>) -> Value<'c> {
        match self {
            Leaf::Lanes(vector) => *vector,
            Leaf::Uniform(scalar) => b.splat(*scalar, LANES),
            Leaf::Affine { bases, stride, ty } => {
                let narrow: Vec<_> = bases.iter().map(|base| b.trunc(*base, *ty)).collect();
                let spread = spread(b, &narrow);
                if *stride == 0 { spread } else { b.add(spread, steps(*ty, bases.len(), *stride)) }
            }
        }
    }

    /// Returns the scalar, if all lanes have the same value.
    pub fn scalar(&self) -> Option<Value<'c>> {
        match self {
            Leaf::Uniform(scalar) => Some(*scalar),
            _ => None,
        }
    }
}
