//! What the simulated caches did, by kernel and by line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::figures::{add, bytes, memory, percent, ratio};
use super::kernels::more;
use super::places;
use super::style::Style;
use crate::metrics::SECTOR_BYTES;
use crate::profile::Profile;
use crate::profile::model::{LevelMetrics, Metrics, Site};

pub(super) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let mut rows: Vec<(String, Metrics, u32)> = profile
        .kernels
        .iter()
        .map(|kernel| (places::plain_name(&kernel.name).to_owned(), memory(&kernel.metrics), kernel.id))
        .filter(|(_, sum, _)| sum.l1.is_some())
        .collect();
    if rows.is_empty() {
        return;
    }
    let model = profile.run.models.first().map_or("", String::as_str);
    let copies = profile.run.assumptions.get("l2_copies").map_or("", String::as_str);
    let heading = format!("CACHES simulated for {model} (L1 empty at each launch; L2 kept, {copies} after copies)");
    _ = writeln!(out, "{}", style.heading(&heading));
    _ = writeln!(out, "{}", style.faint(&head("kernel")));
    let dram = |sum: &Metrics| sum.dram.unwrap_or_default();
    rows.sort_by_key(|(_, sum, id)| (std::cmp::Reverse(dram(sum).read_sectors + dram(sum).write_sectors), *id));
    for (name, sum, _) in rows.iter().take(top) {
        _ = writeln!(out, "{}{}", figures(sum), style.strong(name));
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
        _ = writeln!(out, "{}{}", figures(sum), places::at(file, *line));
    }
    more(out, lines.len(), top, "lines", style);
    out.push('\n');
}

fn head(what: &str) -> String {
    format!(
        "  {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}  {what}",
        "L1 hits", "L2 hits", "to L1", "to L2", "DRAM read", "written"
    )
}

fn figures(sum: &Metrics) -> String {
    let (l1, l2, dram) = (sum.l1.unwrap_or_default(), sum.l2.unwrap_or_default(), sum.dram.unwrap_or_default());
    let rate = |level: &LevelMetrics| {
        if level.lookups == 0 { "-".to_owned() } else { percent(ratio(level.hits, level.lookups)) }
    };
    let sectors = |count: u64| bytes(count.saturating_mul(SECTOR_BYTES));
    format!(
        "  {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}  ",
        rate(&l1),
        rate(&l2),
        super::figures::count(l1.lookups),
        super::figures::count(l2.lookups),
        sectors(dram.read_sectors),
        sectors(dram.write_sectors)
    )
}
