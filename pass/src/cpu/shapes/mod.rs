//! Facts of a function before it is lowered: the order of its blocks, which values lanes share, where lanes part and wait.

pub(super) mod analysis;
pub(super) mod body;
pub(super) mod cautious;
pub(super) mod flow;
pub(super) mod shape;
pub(super) mod spin;
pub(super) mod worth;
