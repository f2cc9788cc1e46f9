//! What is known of a profile: computed from it alone, and all that rules inspect.

pub(super) mod access;
pub(super) mod access_order;
pub(super) mod accumulator;
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
mod model;
pub(super) mod pattern;
mod profile;
pub(super) mod reuse;
pub(super) mod source;
pub(super) mod staging;
pub(super) mod steps;
pub(super) mod sweep;
pub(super) mod terms;

pub(super) use profile::*;
