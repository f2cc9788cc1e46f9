//! Determines which instructions access memory, and how.

pub(super) mod access;
pub(super) mod assembly;
pub(super) mod inspect;
pub(super) mod matrix;
