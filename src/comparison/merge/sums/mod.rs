//! Adds rows to rows.

pub(super) mod estimates;
pub(super) mod metrics;
pub(super) mod open;
pub(super) mod patterns;
pub(super) mod spreads;
pub(super) mod tables;
pub(super) mod whole;
