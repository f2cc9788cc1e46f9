//! Everything of an allocation in one place.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::allocations::name_of;
use super::figures::{add, bytes, count, memory, percent, ratio};
use super::names;
use super::places;
use super::style::Style;
use super::wrap::paragraph;
use crate::geometry::SECTOR_BYTES;
use crate::profile::Profile;
use crate::profile::model::{Allocation, LevelMetrics, Metrics};
use crate::report::finding_text;

/// Kernels and lines that are listed.
const MOST: usize = 12;

/// The allocations of a profile that was narrowed down to them.
pub(super) fn write(out: &mut String, profile: &Profile, shown: &[u64], style: Style, width: usize) {
    let all = profile.kernels.iter().fold(0u64, |sum, row| sum.saturating_add(memory(&row.metrics).sectors));
    for allocation in shown.iter().filter_map(|id| profile.allocation(*id)) {
        one(out, profile, allocation, all, style, width);
    }
}

fn one(out: &mut String, profile: &Profile, allocation: &Allocation, all: u64, style: Style, width: usize) {
    let heading = format!("ALLOCATION {}: {}, {}", name_of(allocation), bytes(allocation.bytes), allocation.kind);
    _ = writeln!(out, "{}", style.heading(&heading));
    let mut line = |name: &str, text: String| out.push_str(&paragraph(&format!("  {name:<9} "), &text, width));
    let path = places::host_path(&allocation.path);
    if !path.is_empty() {
        line("made", path.join(" > "));
    }
    let freed = match (allocation.freed, allocation.freed_count, allocation.count) {
        (true, _, _) => "yes".to_owned(),
        (false, 0, _) => "no".to_owned(),
        (false, freed, count) => format!("{freed} of {count}"),
    };
    line("freed", freed);
    for copy in &allocation.copies {
        let host = copy.host.and_then(|id| profile.host_allocations.iter().find(|host| host.id == id));
        let host =
            host.and_then(|host| host.name.as_deref()).map_or(String::new(), |name| format!(", host memory {name}"));
        let unchanged = match copy.unchanged_count {
            0 => String::new(),
            unchanged => format!(", {unchanged} of them brought nothing new"),
        };
        let place = crate::profile::model::user_frame(&copy.path)
            .map_or(String::new(), |frame| format!(" at {}", places::at(&frame.file, frame.line)));
        let direction = copy.direction.replace('_', " ");
        let times = if copy.count == 1 { "once".to_owned() } else { format!("{} times", count(copy.count)) };
        line("copied", format!("{direction}, {times}, {}{place}{host}{unchanged}", bytes(copy.bytes)));
    }
    if allocation.metrics.requests == 0 {
        line("used", "by no kernel".to_owned());
    } else {
        if allocation.touched_bytes > 0 {
            let share = percent(ratio(allocation.touched_bytes, allocation.bytes));
            line("touched", format!("{} of {} ({share})", bytes(allocation.touched_bytes), bytes(allocation.bytes)));
        }
        line(
            "traffic",
            format!("{}, {} of all", traffic(&allocation.metrics), percent(ratio(allocation.metrics.sectors, all))),
        );
    }
    let mut kernels: Vec<_> = allocation.by_kernel.iter().collect();
    kernels.sort_by_key(|row| (std::cmp::Reverse(row.metrics.sectors), row.kernel));
    for row in kernels.iter().take(MOST) {
        let kernel = profile.kernels.iter().find(|kernel| kernel.id == row.kernel);
        let name = kernel.map_or("?".to_owned(), |kernel| names::label(profile, kernel));
        line("kernel", format!("{name}: {}", traffic(&row.metrics)));
    }
    // Unrolling makes several sites of one access.
    let mut sums: BTreeMap<(u32, &str, u32, u32, &str), Metrics> = BTreeMap::new();
    for site in &profile.sites {
        for row in site.by_allocation.iter().filter(|row| row.allocation == Some(allocation.id)) {
            let key = (site.kernel, &site.file[..], site.line, site.column, &site.op[..]);
            add(sums.entry(key).or_default(), &row.metrics);
        }
    }
    let mut sites: Vec<_> = sums.into_iter().collect();
    sites.sort_by_key(|(key, metrics)| (std::cmp::Reverse(metrics.sectors), *key));
    for ((_, file, number, _, op), metrics) in sites.iter().take(MOST) {
        line("line", format!("{} {op}: {}", places::at(file, *number), traffic(metrics)));
    }
    if sites.len() > MOST {
        line("", format!("… and {} more accesses", sites.len() - MOST));
    }
    for finding in profile.findings.iter().filter(|finding| finding.allocation == Some(allocation.id)) {
        let place = finding_text::place(finding);
        line("finding", format!("{} {} at {place}: {}", finding.severity.name(), finding.id, finding.cure));
    }
    out.push('\n');
}

/// Bytes moved, and how well: before the caches, in them, and behind them.
fn traffic(metrics: &Metrics) -> String {
    let mut text = format!(
        "{} in {} requests, {} coalesced",
        bytes(metrics.sectors.saturating_mul(SECTOR_BYTES)),
        count(metrics.requests),
        percent(ratio(metrics.ideal_sectors, metrics.sectors)),
    );
    let mut level = |name: &str, level: &Option<LevelMetrics>| {
        if let Some(level) = level.as_ref().filter(|level| level.lookups > 0) {
            _ = write!(text, ", {name} hit {}", percent(ratio(level.hits, level.lookups)));
        }
    };
    level("L1", &metrics.l1);
    level("L2", &metrics.l2);
    if let Some(dram) = &metrics.dram {
        _ = write!(
            text,
            ", DRAM {} read and {} written",
            bytes(dram.read_sectors.saturating_mul(SECTOR_BYTES)),
            bytes(dram.write_sectors.saturating_mul(SECTOR_BYTES)),
        );
    }
    text
}
