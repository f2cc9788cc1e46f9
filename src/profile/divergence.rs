//! Memory divergence of a whole program: requests to global memory by the number of distinct sectors and lines that they touch.

use std::collections::BTreeMap;

use super::model::Profile;

/// Number of requests with 0, 1, 2, … pieces, by size of a piece in bytes: `32`, `128`.
pub type BySize = BTreeMap<String, Vec<u64>>;

/// Key of the sums over loads, stores and atomic operations.
pub const ALL: &str = "all";

/// Returns the distributions of `load`, `store`, `atomic` and `all` requests to global memory, over all kernels; empty
/// if requests were not recorded.
pub fn memory_divergence(profile: &Profile) -> BTreeMap<String, BySize> {
    let mut sums: BTreeMap<String, BySize> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site| site.space == "global") {
        for (size, counts) in &site.metrics.lines_touched {
            for op in [&site.op[..], ALL] {
                let sum = sums.entry(op.to_owned()).or_default().entry(size.clone()).or_default();
                if sum.len() < counts.len() {
                    sum.resize(counts.len(), 0);
                }
                sum.iter_mut().zip(counts).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
            }
        }
    }
    sums
}

/// Returns the mean number of pieces per request, which is the divergence degree.
pub fn degree(counts: &[u64]) -> Option<f64> {
    let requests = counts.iter().fold(0u64, |sum, more| sum.saturating_add(*more));
    let pieces =
        (0u64..).zip(counts).fold(0u64, |sum, (pieces, count)| sum.saturating_add(pieces.saturating_mul(*count)));
    (requests > 0).then(|| pieces as f64 / requests as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Metrics, Site};

    #[test]
    fn sites_of_global_memory_are_added_up() {
        let site = |op: &str, space: &str, counts: &[u64]| Site {
            op: op.to_owned(),
            space: space.to_owned(),
            metrics: Metrics {
                lines_touched: BTreeMap::from([("128".to_owned(), counts.to_vec())]),
                ..Metrics::default()
            },
            ..Site::default()
        };
        let profile = Profile {
            sites: vec![
                site("load", "global", &[0, 3]),
                site("load", "global", &[0, 1, 0, 4]),
                site("store", "global", &[0, 0, 2]),
                site("load", "shared", &[0, 9]),
            ],
            ..Profile::default()
        };
        let found = memory_divergence(&profile);
        assert_eq!(found["load"]["128"], [0, 4, 0, 4]);
        assert_eq!(found["store"]["128"], [0, 0, 2]);
        assert_eq!(found[ALL]["128"], [0, 4, 2, 4]);
        assert_eq!(degree(&found["load"]["128"]), Some(2.0));
        assert_eq!(degree(&[]), None);
    }
}
