//! The performance of launches that were never made, from the expressions of a kernel's addresses.
//!
//! Data flows one way: a [`launch::Launch`] makes expressions into forms (`evaluate`), forms into requests of warps (`requests`)
//! and footprints of blocks and waves (`volumes`), these into traffic (`caches`), traffic into times by the code of the
//! profile's estimate.

pub mod evaluate;
pub mod form;
pub mod interpret;
pub mod launch;
pub mod classes;
pub mod request;
pub mod count;
pub mod volumes;
pub mod caches;
pub mod curves;
pub mod predict;
pub mod subject;
pub mod configurations;
pub mod document;
