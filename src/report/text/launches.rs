//! How the launches of a kernel from one call path differ.

use std::fmt::Write as _;

use super::figures::{bytes, percent};
use super::kernels::more;
use super::names;
use super::places;
use super::style::Style;
use crate::metrics::SECTOR_BYTES;
use crate::profile::Profile;
use crate::profile::model::{Kernel, PathSpread, RatioSpread, Spread};

/// Ratios that are shown, and their titles.
const SHOWN: [(&str, &str); 6] = [
    ("global.coalescing_efficiency", "efficiency"),
    ("global.l1.load_hit_rate", "L1 hits of loads"),
    ("global.l2.hit_rate", "L2 hits"),
    ("shared.passes_useful", "shared passes useful"),
    ("constant.passes_useful", "constant passes useful"),
    ("branches.divergent_share", "divergent branches"),
];

/// Differences below this share of the traffic, or below as many points, are no news: caches alone make them.
const TELLING: f64 = 0.01;

/// Whether the launches of a path differ in a figure that is shown.
fn differ(path: &PathSpread) -> bool {
    let far = |min: f64, max: f64, whole: f64| max - min >= TELLING * whole && max > min;
    let spread = path.counts.get("global.sectors");
    let traffic = spread.is_some_and(|spread| far(spread.min as f64, spread.max as f64, spread.max as f64));
    let ratio = |(name, _): &(&str, &str)| path.ratios.get(*name).is_some_and(|ratio| far(ratio.min, ratio.max, 1.0));
    traffic || SHOWN.iter().any(ratio)
}

pub(super) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let all = |kernel: &PathSpread| kernel.counts.get("global.sectors").copied().unwrap_or_default();
    // Launches that do the same need no table.
    let mut rows: Vec<(&Kernel, &PathSpread)> = profile
        .kernels
        .iter()
        .flat_map(|kernel| kernel.over_paths.iter().map(move |path| (kernel, path)))
        .filter(|(_, path)| differ(path))
        .collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by(|one, other| {
        let total = |path: &PathSpread| all(path).mean * path.launches.len() as f64;
        total(other.1).total_cmp(&total(one.1)).then(one.0.id.cmp(&other.0.id))
    });
    _ = writeln!(
        out,
        "{}",
        style.heading("LAUNCHES from one call path that differ: mean (least to most; standard deviation)")
    );
    for (kernel, path) in rows.iter().take(top) {
        _ = writeln!(out, "  {} launches of {}", path.launches.len(), style.strong(&names::label(profile, kernel)));
        let traffic = all(path);
        if traffic.max > 0 {
            let size = |sectors: f64| bytes((sectors * SECTOR_BYTES as f64).round() as u64);
            let Spread { mean, min, max, stddev } = traffic;
            let text = format!("{} ({} to {}; {})", size(mean), size(min as f64), size(max as f64), size(stddev));
            _ = writeln!(out, "      {:<20} {text}", "global traffic");
        }
        for (name, title) in SHOWN {
            if let Some(RatioSpread { mean, min, max, stddev }) = path.ratios.get(name) {
                let text = format!("{} ({} to {}; {})", percent(*mean), percent(*min), percent(*max), percent(*stddev));
                _ = writeln!(out, "      {title:<20} {text}");
            }
        }
        let host = places::host_path(&path.path);
        if !host.is_empty() {
            _ = writeln!(out, "      {:<20} {}", "path", places::wrapped(&host, "                           ", 112));
        }
    }
    more(out, rows.len(), top, "call paths", style);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_no_difference() {
        let path = |sectors: [u64; 2], hits: [f64; 2]| {
            let count = Spread { min: sectors[0], max: sectors[1], ..Spread::default() };
            let ratio = RatioSpread { min: hits[0], max: hits[1], ..RatioSpread::default() };
            PathSpread {
                path: Vec::new(),
                launches: vec![0, 1],
                counts: [("global.sectors".to_owned(), count)].into(),
                ratios: [("global.l2.hit_rate".to_owned(), ratio)].into(),
            }
        };
        assert!(!differ(&path([0, 0], [0.5, 0.5])));
        assert!(!differ(&path([1000, 1000], [0.249, 0.2545])));
        assert!(differ(&path([1000, 1000], [0.2, 0.3])));
        assert!(!differ(&path([1000, 1005], [0.5, 0.5])));
        assert!(differ(&path([1000, 1500], [0.5, 0.5])));
    }
}
