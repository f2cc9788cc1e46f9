//! Findings that compare ranks.

/// Returns whether a finding compares ranks, so that no single profile can contain it.
pub fn is_of_ranks(id: &str) -> bool {
    id == "rank-imbalance"
}
