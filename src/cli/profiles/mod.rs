//! Commands that read profiles.

pub(super) mod diff;
pub(super) mod explain;
pub(super) mod explore;
pub(super) mod export;
pub(super) mod findings;
pub(super) mod merge;
pub(super) mod query;
pub(super) mod report;
pub(super) mod synthesize;
