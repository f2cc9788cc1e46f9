//! The content of the site table's rows: source positions, names, the mix of a block.

pub(super) mod addresses;
pub(super) mod atomics;
pub(super) mod describe;
pub(super) mod elements;
pub(super) mod fence;
pub(super) mod flow;
pub(super) mod hint;
pub(super) mod locate;
pub(super) mod members;
pub(super) mod mix;
pub(super) mod operand;
pub(super) mod parts;
pub(super) mod table;
mod update;
