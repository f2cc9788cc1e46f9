//! What the simulated caches did, by kernel and by line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::figures::{add, bytes, memory, percent, ratio};
use super::kernels::more;
use super::names;
use super::places;
use super::style::Style;
use crate::metrics::SECTOR_BYTES;
use crate::profile::Profile;
use crate::profile::model::{DramMetrics, LevelMetrics, Metrics, Site};

pub(super) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let mut rows: Vec<(String, Metrics, u32)> = profile
        .kernels
        .iter()
        .map(|kernel| (names::label(profile, kernel), memory(&kernel.metrics), kernel.id))
        .filter(|(_, sum, _)| sum.l1.is_some())
        .collect();
    if rows.is_empty() {
        return;
    }
    let model = profile.run.models.first().map_or("", String::as_str);
    let assumed = |what| profile.run.assumptions.get(what).map_or("", String::as_str);
    let l2 = if assumed("l2").starts_with("empty") { "empty, too" } else { "kept" };
    let heading = format!(
        "CACHES simulated for {model} (L1 empty at each launch, its hits are those of loads; L2 {l2}, {} after copies)",
        assumed("l2_copies")
    );
    _ = writeln!(out, "{}", style.heading(&heading));
    _ = writeln!(out, "{}", style.faint(&head("kernel")));
    let dram = |sum: &Metrics| sum.dram.unwrap_or_default();
    rows.sort_by_key(|(_, sum, id)| (std::cmp::Reverse(dram(sum).read_sectors + dram(sum).write_sectors), *id));
    for (name, sum, _) in rows.iter().take(top) {
        _ = writeln!(out, "{}{}", of_sum(sum), style.strong(name));
    }
    more(out, rows.len(), top, "kernels", style);
    let mut lines: BTreeMap<(&str, u32), Metrics> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site: &&Site| site.metrics.l1.is_some()) {
        add(lines.entry((&site.file, site.line)).or_default(), &site.metrics);
    }
    let mut lines: Vec<((&str, u32), Metrics)> = lines.into_iter().collect();
    // Lines that touch shared memory alone came to no cache.
    lines.retain(|(_, sum)| [sum.l1, sum.l2].into_iter().flatten().any(|level| level.lookups > 0));
    lines.sort_by_key(|(place, sum)| (std::cmp::Reverse(dram(sum).read_sectors + dram(sum).write_sectors), *place));
    _ = writeln!(out, "{}", style.faint(&head("line, by DRAM traffic")));
    for ((file, line), sum) in lines.iter().take(top) {
        _ = writeln!(out, "{}{}", of_sum(sum), places::at(file, *line));
    }
    more(out, lines.len(), top, "lines", style);
    out.push('\n');
}

pub(super) fn head(what: &str) -> String {
    format!(
        "  {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}  {what}",
        "L1 hits", "L2 hits", "to L1", "to L2", "DRAM read", "written"
    )
}

fn of_sum(sum: &Metrics) -> String {
    figures(&sum.l1.unwrap_or_default(), &sum.l2.unwrap_or_default(), &sum.dram.unwrap_or_default())
}

/// The columns of [`head`] but for the last. What stores find at level 1 saves nothing: it writes through.
pub(super) fn figures(l1: &LevelMetrics, l2: &LevelMetrics, dram: &DramMetrics) -> String {
    let rate = |hits, lookups| if lookups == 0 { "-".to_owned() } else { percent(ratio(hits, lookups)) };
    let sectors = |count: u64| bytes(count.saturating_mul(SECTOR_BYTES));
    format!(
        "  {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}  ",
        rate(l1.load_hits, l1.load_lookups),
        rate(l2.hits, l2.lookups),
        super::figures::count(l1.lookups),
        super::figures::count(l2.lookups),
        sectors(dram.read_sectors),
        sectors(dram.write_sectors)
    )
}
