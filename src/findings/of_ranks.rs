//! Findings that no rank has alone.

/// Returns whether a finding compares ranks: then no single profile can have it.
pub fn is_of_ranks(id: &str) -> bool {
    id == "rank-imbalance"
}
