//! The fields of the [`WarpContext`] that lowered code reads.

use crate::llvm::{Type, Types};
use std::mem::offset_of;
use warpline_format::abi::WarpContext;

/// A field of the context.
#[derive(Clone, Copy)]
pub struct Field {
    /// The unique name.
    pub name: &'static str,
    /// The byte offset.
    pub offset: u64,
    kind: FieldKind,
}

#[derive(Clone, Copy)]
enum FieldKind {
    Pointer,
    Int(u32),
    Lanes,
}

impl Field {
    /// Returns the type of the field, which is a vector if there is one value per lane.
    pub fn ty<'c>(self, types: Types<'c>) -> Type<'c> {
        match self.kind {
            FieldKind::Pointer => types.pointer(0),
            FieldKind::Int(bits) => types.int(bits),
            FieldKind::Lanes => types.int(32).vector(32),
        }
    }

    /// Returns the alignment in bytes.
    pub fn align(self) -> u32 {
        match self.kind {
            FieldKind::Pointer => 8,
            FieldKind::Int(bits) => bits / 8,
            FieldKind::Lanes => 64,
        }
    }

    /// Returns dimension `index` of a field that has three dimensions.
    pub fn dimension(self, index: usize) -> Field {
        let names: [&'static str; 3] = match self.name {
            "block_index" => ["block_index.x", "block_index.y", "block_index.z"],
            "block_dim" => ["block_dim.x", "block_dim.y", "block_dim.z"],
            "shared_range" => ["shared_range.low", "shared_range.high", ""],
            "shared_stores" => ["shared_stores.low", "shared_stores.high", ""],
            "cluster_dim" => ["cluster_dim.x", "cluster_dim.y", "cluster_dim.z"],
            _ => ["grid_dim.x", "grid_dim.y", "grid_dim.z"],
        };
        Field { name: names[index], offset: self.offset + u64::from(self.align()) * index as u64, kind: self.kind }
    }
}

macro_rules! fields {
    ($($name:ident = $field:ident: $kind:expr;)*) => {
        $(
            #[doc = concat!("[`WarpContext::", stringify!($field), "`].")]
            pub const $name: Field =
                Field { name: stringify!($field), offset: offset_of!(WarpContext, $field) as u64, kind: $kind };
        )*
    };
}

fields! {
    RECORD_CURSOR = record_cursor: FieldKind::Pointer;
    RECORD_END = record_end: FieldKind::Pointer;
    ARGUMENTS = arguments: FieldKind::Pointer;
    SHARED = shared: FieldKind::Int(64);
    SHARED_BYTES = shared_bytes: FieldKind::Int(64);
    DYNAMIC_SHARED = dynamic_shared: FieldKind::Int(32);
    RESERVED_OFFSET = reserved_offset: FieldKind::Int(32);
    LOCAL = local: FieldKind::Int(64);
    LOCAL_STRIDE = local_stride: FieldKind::Int(64);
    LOCAL_USED = local_used: FieldKind::Int(64);
    LOCAL_LIMIT = local_limit: FieldKind::Int(64);
    COUNTS = counts: FieldKind::Pointer;
    CLOCK = clock: FieldKind::Int(64);
    PATIENCE = patience: FieldKind::Int(64);
    BLOCK_INDEX = block_index: FieldKind::Int(32);
    BLOCK_DIM = block_dim: FieldKind::Int(32);
    GRID_DIM = grid_dim: FieldKind::Int(32);
    CLUSTER_DIM = cluster_dim: FieldKind::Int(32);
    LIVE = live: FieldKind::Int(32);
    SM = sm: FieldKind::Int(32);
    WARP_SLOT = warp_slot: FieldKind::Int(32);
    WORKSPACE = workspace: FieldKind::Int(64);
    SHARED_RANGE = shared_range: FieldKind::Int(64);
    SHARED_STORES = shared_stores: FieldKind::Int(64);
    BARRIER = barrier: FieldKind::Pointer;
    THREAD_X = thread_x: FieldKind::Lanes;
    THREAD_Y = thread_y: FieldKind::Lanes;
    THREAD_Z = thread_z: FieldKind::Lanes;
}

/// The fields of `threadIdx`, by dimension.
pub const THREAD: [Field; 3] = [THREAD_X, THREAD_Y, THREAD_Z];
