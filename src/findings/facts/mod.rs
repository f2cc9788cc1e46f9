//! What is known of a profile: computed from it alone, and all that rules inspect.

pub(super) mod access;
pub(super) mod beside;
pub(super) mod index;
mod model;
mod profile;
pub(super) mod access_order;
pub(super) mod gather;
pub(super) mod library_layout;
pub(super) mod pattern;
pub(super) mod terms;

pub(super) use profile::*;
