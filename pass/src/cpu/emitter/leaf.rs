//! How values of device code are held in a warp function.
//!
//! A value is a list of *leaves*, its scalars in depth-first order: one for an `i32`, four for a `<4 x float>`.
//! Pointers are held as `i64`. A leaf is one scalar where all lanes agree, a base and a stride where lanes differ by a
//! constant, else a vector of 32.

use crate::cpu::target::types::{LANES, leaf_types};
use crate::llvm::types::Kind;
use crate::llvm::{Builder, Type, Value};

/// One scalar of a value, for all lanes. What inactive lanes hold is undefined.
#[derive(Clone, Debug)]
pub enum Leaf<'c> {
    /// All active lanes hold this scalar.
    Uniform(Value<'c>),
    /// Lane `l` of group `g` holds the low bits of `bases[g] + (l - first lane of g) * stride`; bases are `i64`.
    Affine {
        /// One base per group of lanes: one group of 32 or two of 16.
        bases: Vec<Value<'c>>,
        /// Difference of neighbouring lanes.
        stride: i64,
        /// The integer type of the leaf.
        ty: Type<'c>,
    },
    /// `<32 x T>`.
    Lanes(Value<'c>),
}

/// Position of the leaf, or the range of leaves, that `indices` of an `extractvalue` name: first and count.
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

/// Returns the lane numbers of each lane within its group, times `stride`, as a constant vector.
pub fn steps<'c>(ty: Type<'c>, groups: usize, stride: i64) -> Value<'c> {
    let size = LANES as usize / groups;
    let lanes: Vec<_> =
        (0..LANES as usize).map(|lane| Value::int(ty, ((lane % size) as i64).wrapping_mul(stride) as u64)).collect();
    Value::vector(&lanes)
}

/// One scalar per group, spread over the lanes of the group.
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

    /// Returns the scalar, where all lanes agree.
    pub fn scalar(&self) -> Option<Value<'c>> {
        match self {
            Leaf::Uniform(scalar) => Some(*scalar),
            _ => None,
        }
    }
}
