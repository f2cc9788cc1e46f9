//! Writes the figures of the simulated caches by kernel and by line.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::kernels::more;
use crate::words::figures::{add, bytes, hit_rate, memory};
use crate::words::style::Style;
use crate::words::{names, places};
use warpline_profile::Profile;
use warpline_profile::model::{DramMetrics, LevelMetrics, LookupBytes, Metrics, Site};
use warpline_simulator::geometry::SECTOR_BYTES;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
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
        "CACHES simulated for {model} (L1 empty at each launch; L2 {l2}, {} after copies)",
        assumed("l2_copies")
    );
    _ = writeln!(out, "{}", style.heading(&heading));
    _ = writeln!(out, "{}", style.faint(&legend(profile, model)));
    let unit = profile.run.lookup_bytes.get(model).copied();
    _ = writeln!(out, "{}", style.faint(&head("kernel")));
    let dram = |sum: &Metrics| sum.dram.unwrap_or_default();
    rows.sort_by_key(|(_, sum, id)| (std::cmp::Reverse(dram(sum).read_sectors + dram(sum).write_sectors), *id));
    for (name, sum, _) in rows.iter().take(top) {
        _ = writeln!(out, "{}{}", of_sum(sum, unit), style.strong(name));
    }
    more(out, rows.len(), top, "kernels", style);
    write_host_memory(out, profile, model, top);
    let mut lines: BTreeMap<(&str, u32), Metrics> = BTreeMap::new();
    for site in profile.sites.iter().filter(|site: &&Site| site.metrics.l1.is_some()) {
        add(lines.entry((&site.file, site.line)).or_default(), &site.metrics);
    }
    let mut lines: Vec<((&str, u32), Metrics)> = lines.into_iter().collect();
    // Lines that access only shared memory have no cache lookups.
    lines.retain(|(_, sum)| [sum.l1, sum.l2].into_iter().flatten().any(|level| level.lookups > 0));
    lines.sort_by_key(|(place, sum)| (std::cmp::Reverse(dram(sum).read_sectors + dram(sum).write_sectors), *place));
    _ = writeln!(out, "{}", style.faint(&head("line, by DRAM traffic")));
    for ((file, line), sum) in lines.iter().take(top) {
        _ = writeln!(out, "{}{}", of_sum(sum, unit), places::at(file, *line));
    }
    more(out, lines.len(), top, "lines", style);
    out.push('\n');
}

pub(crate) fn head(what: &str) -> String {
    format!(
        "  {:>8} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}  {what}",
        "L1 hit", "stores", "L2 hit", "to L1", "to L2", "DRAM read", "written"
    )
}

/// Writes the part of the traffic that a GPU would transfer from and to host memory.
fn write_host_memory(out: &mut String, profile: &Profile, model: &str, top: usize) {
    let rows = profile.kernels.iter().filter_map(|kernel| Some((kernel, kernel.host_memory.get(model)?)));
    for (kernel, host) in rows.take(top) {
        _ = writeln!(
            out,
            "  host memory, over the bus on a GPU: {} of the DRAM reads, {} of the writes of {}",
            bytes(host.read_sectors.saturating_mul(SECTOR_BYTES)),
            bytes(host.write_sectors.saturating_mul(SECTOR_BYTES)),
            names::label(profile, kernel)
        );
    }
}

/// Returns the legend of the traffic columns.
fn legend(profile: &Profile, model: &str) -> String {
    let lookups = match profile.run.lookup_bytes.get(model) {
        Some(LookupBytes { l1, l2 }) => {
            format!("  to L1 and to L2: lookups, in bytes of the level's own sectors ({l1} B and {l2} B)")
        }
        None => "  to L1 and to L2: lookups, each of one of the level's own sectors".to_owned(),
    };
    format!(
        "{lookups}\n  L1 hit: of loads; stores: those that find their line in L1, which writes through; L2 hit: of all lookups"
    )
}

fn of_sum(sum: &Metrics, unit: Option<LookupBytes>) -> String {
    figures(&sum.l1.unwrap_or_default(), &sum.l2.unwrap_or_default(), &sum.dram.unwrap_or_default(), unit)
}

/// Formats lookups in bytes, or their number if the bytes of a lookup are unknown.
pub(crate) fn lookups(count: u64, each: Option<u64>) -> String {
    each.map_or_else(|| crate::words::figures::count(count), |each| bytes(count.saturating_mul(each)))
}

/// Returns the columns of [`head`] except the last.
pub(crate) fn figures(l1: &LevelMetrics, l2: &LevelMetrics, dram: &DramMetrics, unit: Option<LookupBytes>) -> String {
    let sectors = |count: u64| bytes(count.saturating_mul(SECTOR_BYTES));
    format!(
        "  {:>8} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}  ",
        hit_rate(l1.as_l1_rate()),
        hit_rate(l1.as_l1_store_rate()),
        hit_rate(l2.as_l2_rate()),
        lookups(l1.lookups, unit.map(|unit| unit.l1)),
        lookups(l2.lookups, unit.map(|unit| unit.l2)),
        sectors(dram.read_sectors),
        sectors(dram.write_sectors)
    )
}
