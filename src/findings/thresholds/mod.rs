//! The numbers that findings compare with, one file per subject. Each has its unit and its kind: *physical* (a property
//! of hardware), a *policy* (what is worth a user's time), or *calibrated* (chosen on programs, which are named).

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
