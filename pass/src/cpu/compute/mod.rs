//! The computations of a lane: arithmetic, math functions, conversions, tensor cores.

pub(super) mod arithmetic;
pub(super) mod brain;
pub(super) mod followed;
pub(super) mod fusion;
pub(super) mod half;
pub(super) mod math;
pub(super) mod matrix;
pub(super) mod nvvm;
pub(super) mod reduction;
pub(super) mod rounding;
