//! Properties of a function that are determined before it is lowered: the order of its blocks, the values that lanes
//! share, and the positions where lanes diverge and wait.

pub(super) mod analysis;
pub(super) mod body;
pub(super) mod cautious;
pub(super) mod flow;
pub(super) mod serial;
pub(super) mod shape;
pub(super) mod spin;
pub(super) mod worth;
