//! What is known of a profile: computed from it alone, and all that rules inspect.

pub(super) mod access;
pub(super) mod beside;
pub(super) mod conflicts;
pub(super) mod copies;
pub(super) mod faults;
pub(super) mod fills;
pub(super) mod index;
pub(super) mod launches;
pub(super) mod memory;
mod model;
pub(super) mod occupancy;
mod profile;
pub(super) mod rows;
pub(super) mod shapes;
pub(super) mod terms;
pub(super) mod untouched;

pub(super) use profile::*;
