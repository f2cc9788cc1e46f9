//! Writes allocations by traffic.

use std::fmt::Write as _;

use super::kernels::more;
use crate::rows::worst;
use crate::words::figures::{bytes, percent, ratio};
use crate::words::places;
use crate::words::style::Style;
use warpline_profile::Profile;
use warpline_profile::model::Allocation;
use warpline_simulator::geometry::SECTOR_BYTES;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let rows = worst::allocations(profile);
    if rows.is_empty() {
        return;
    }
    let total: u64 = rows.iter().map(|allocation| allocation.metrics.sectors).sum();
    _ = writeln!(
        out,
        "{}",
        style.heading(if profile.run.mode == "counters" {
            "ALLOCATIONS"
        } else {
            "ALLOCATIONS by memory traffic (shares of what goes to allocations; local memory belongs to none)"
        })
    );
    let head = format!(
        "  {:<30} {:<18} {:>10} {:>7} {:>10} {:>10}  {}",
        "name", "kind", "size", "share", "traffic", "efficiency", "kernels"
    );
    _ = writeln!(out, "{}", style.faint(&head));
    for allocation in rows.iter().take(top) {
        let metrics = &allocation.metrics;
        let efficiency = ratio(metrics.ideal_sectors, metrics.sectors);
        let or_dash = |text: String| if metrics.is_unreported() { "-".to_owned() } else { text };
        let efficiency = if metrics.sectors == 0 {
            format!("{:>10}", "-")
        } else {
            style.quality(efficiency, &format!("{:>10}", percent(efficiency)))
        };
        let name = name_of(allocation);
        let padding = " ".repeat(30usize.saturating_sub(name.chars().count()));
        _ = writeln!(
            out,
            "  {}{padding} {:<18} {:>10} {:>7} {:>10} {efficiency}  {}",
            style.strong(&name),
            allocation.kind,
            bytes(allocation.bytes),
            or_dash(percent(ratio(metrics.sectors, total))),
            or_dash(bytes(metrics.sectors.saturating_mul(SECTOR_BYTES))),
            or_dash(allocation.by_kernel.len().to_string()),
        );
        let path = places::host_path(&allocation.path);
        if !path.is_empty() {
            let what = if allocation.kind.contains('_') || allocation.kind == "constant" { "declared" } else { "path" };
            _ = writeln!(out, "      {what:<9} {}", places::wrapped(&path, "                ", 112));
        }
        let copies = copies(profile, allocation);
        if !copies.is_empty() {
            _ = writeln!(out, "      {:<9} {copies}", "copies");
        }
    }
    more(out, rows.len(), top, "allocations", style);
    out.push('\n');
}

/// Returns the name of a row's allocations.
pub(crate) fn name_of(row: &Allocation) -> String {
    match (&row.name, row.count) {
        (Some(name), 1) => name.clone(),
        (Some(name), count) => format!("{count} x {name}"),
        (None, 1) => format!("#{}", row.id),
        (None, count) => format!("{count} from #{} on", row.id),
    }
}

/// Describes the bytes copied to and from the allocation, and the host memory on the other side.
pub(crate) fn copies(profile: &Profile, allocation: &Allocation) -> String {
    let mut parts = Vec::new();
    for (direction, mark, towards) in [
        ("host_to_device", "in", "from"),
        ("device_to_host", "out", "to"),
        ("device_to_device", "within the device", ""),
        ("set", "set", ""),
    ] {
        let rows: Vec<_> = allocation.copies.iter().filter(|row| row.direction == direction).collect();
        let count: u64 = rows.iter().map(|row| row.count).sum();
        let size = rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.bytes));
        if count == 0 {
            continue;
        }
        let mut part = format!("{mark} {}", bytes(size));
        if count > 1 {
            _ = write!(part, " in {count}");
        }
        let hosts: std::collections::BTreeSet<u64> = rows.iter().filter_map(|row| row.host).collect();
        let mut names: Vec<String> = profile
            .host_allocations
            .iter()
            .filter(|host| hosts.contains(&host.id))
            .map(|host| match (&host.name, warpline_profile::model::user_frame(&host.path)) {
                (Some(name), _) => format!("{name} ({})", host.kind),
                (None, Some(frame)) => format!("{} at {}", host.kind, places::at(&frame.file, frame.line)),
                (None, None) => format!("unnamed memory ({})", host.kind),
            })
            .collect();
        // Host memory that is allocated again for each copy has a single name.
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names.truncate(3);
        if !names.is_empty() {
            _ = write!(part, " {towards} {}", names.join(", "));
        }
        parts.push(part);
    }
    parts.join("; ")
}
