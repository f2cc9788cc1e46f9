//! From footprints to traffic: volumes of blocks and waves, and what the caches keep of them.

pub mod caches;
pub mod curves;
mod replay;
mod sweep;
pub mod volumes;
