//! The tensor core of the CPU device: products of tiles, for which lowered code calls.

pub mod numbers;
pub mod product;
pub mod unit;
