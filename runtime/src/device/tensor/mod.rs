//! The tensor core of the CPU device: lowered code calls these functions to multiply tiles.

pub mod numbers;
pub mod product;
pub mod unit;
pub mod values;
