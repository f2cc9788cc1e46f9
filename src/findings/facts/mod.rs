//! What is known of a profile: computed from it alone, and all that rules inspect.

pub(super) mod access;
pub(super) mod access_order;
pub(super) mod accumulator;
pub(super) mod atomic_cost;
pub(super) mod atomics;
pub(super) mod banks;
pub(super) mod beside;
pub(super) mod branches;
pub(super) mod broadcast;
pub(super) mod eviction;
pub(super) mod exchange;
pub(super) mod gather;
pub(super) mod handover;
pub(super) mod index;
pub(super) mod layout;
pub(super) mod library_layout;
pub(super) mod local;
mod model;
pub(super) mod padding;
pub(super) mod pattern;
pub(super) mod precision;
mod profile;
pub(super) mod reuse;
pub(super) mod source;
pub(super) mod staging;
pub(super) mod steps;
pub(super) mod sweep;
pub(super) mod terms;

pub(super) use profile::*;
