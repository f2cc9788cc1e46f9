//! The performance of launches that were never made, from the expressions of a kernel's addresses.
//!
//! Data flows one way: a [`launch::Launch`] makes expressions into forms (`evaluate`), forms into requests of warps (`requests`)
//! and footprints of blocks and waves (`traffic::volumes`), these into traffic (`traffic::caches`), traffic into times by the code of the
//! profile's estimate.

pub mod accesses;
pub mod changes;
pub mod classes;
pub mod configurations;
pub mod count;
pub mod digits;
pub mod document;
pub mod evaluate;
pub mod executable;
pub mod form;
pub mod interpret;
pub mod lanes;
pub mod laps;
pub mod launch;
pub mod other_work;
pub mod overflow;
pub mod predict;
pub mod request;
pub mod shared_memory;
pub mod stepped;
pub mod subject;
pub mod sums;
pub mod throughout;
pub mod tiling;
pub mod traffic;
pub mod unrolled;
pub mod warp_interpreter;
