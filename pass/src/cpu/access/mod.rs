//! Memory accesses: the positions of lanes, checks, records, and the handling of lanes that may not continue.

pub(super) mod atomics;
pub(super) mod check;
pub(super) mod compact;
pub(super) mod copies;
pub(super) mod detour;
pub(super) mod guarded;
pub(super) mod guess;
pub(super) mod local;
pub(super) mod memory;
pub(super) mod outlined;
pub(super) mod places;
pub(super) mod record;
