//! The types in which values of device code are stored.

use crate::llvm::types::Kind;
use crate::llvm::{Layout, Type, Types};

/// The number of lanes of a warp.
pub const LANES: u32 = 32;

/// Returns the type in which a scalar is stored: `i64` for pointers, otherwise the type itself.
pub fn held(ty: Type<'_>) -> Type<'_> {
    match ty.kind() {
        Kind::Pointer(_) => Types::from_type(ty).int(64),
        _ => ty,
    }
}

/// Returns the stored types of a value's leaves, in order.
pub fn leaf_types(ty: Type<'_>) -> Vec<Type<'_>> {
    match ty.kind() {
        Kind::Void => Vec::new(),
        Kind::Vector(count) => vec![held(ty.element()); count as usize],
        Kind::Array(count) => {
            let one = leaf_types(ty.element());
            (0..count).flat_map(|_| one.iter().copied()).collect()
        }
        Kind::Struct => ty.fields().into_iter().flat_map(leaf_types).collect(),
        _ => vec![held(ty)],
    }
}

/// Returns the byte offsets of a value's leaves in memory, in the order of [`leaf_types`].
pub fn leaf_offsets(layout: Layout<'_>, ty: Type<'_>) -> Vec<u64> {
    match ty.kind() {
        Kind::Void => Vec::new(),
        Kind::Vector(count) => {
            let size = layout.store_size(ty.element());
            (0..u64::from(count)).map(|index| index * size).collect()
        }
        Kind::Array(count) => {
            let (one, size) = (leaf_offsets(layout, ty.element()), layout.size(ty.element()));
            (0..count).flat_map(|index| one.iter().map(move |offset| index * size + offset)).collect()
        }
        Kind::Struct => (ty.fields().into_iter().enumerate())
            .flat_map(|(index, field)| {
                let start = layout.offset(ty, index as u32);
                leaf_offsets(layout, field).into_iter().map(move |offset| start + offset)
            })
            .collect(),
        _ => vec![0],
    }
}
