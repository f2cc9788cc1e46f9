//! Thresholds of findings, one file per subject. Each threshold has a unit and a kind: *physical* (a property of
//! hardware), *policy* (a decision about which changes are worth a user's time), or *calibrated* (fitted to programs,
//! which are named).

pub(super) mod allocations;
pub(super) mod arithmetic;
pub(super) mod atomics;
pub(super) mod banks;
pub(super) mod coalescing;
pub(super) mod control_flow;
pub(super) mod launches;
pub(super) mod local_memory;
pub(super) mod races;
pub(super) mod reuse;
pub(super) mod transfers;
pub(super) mod values;
