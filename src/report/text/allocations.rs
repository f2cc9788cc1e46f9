//! Allocations by traffic.

use std::fmt::Write as _;

use super::figures::{bytes, percent, ratio};
use super::kernels::more;
use super::places;
use super::style::Style;
use crate::metrics::SECTOR_BYTES;
use crate::profile::Profile;
use crate::profile::model::Allocation;

pub(super) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let mut rows: Vec<&Allocation> = profile
        .allocations
        .iter()
        .filter(|allocation| allocation.kind != "compiler" || allocation.metrics.requests > 0)
        .collect();
    if rows.is_empty() {
        return;
    }
    rows.sort_by_key(|allocation| {
        (std::cmp::Reverse(allocation.metrics.sectors), std::cmp::Reverse(allocation.bytes), allocation.id)
    });
    let total: u64 = rows.iter().map(|allocation| allocation.metrics.sectors).sum();
    _ = writeln!(out, "{}", style.heading("ALLOCATIONS by memory traffic"));
    let head = format!(
        "  {:<22} {:<18} {:>10} {:>7} {:>10} {:>10}  {:<24} {}",
        "name", "kind", "size", "share", "traffic", "efficiency", "copies", "made at"
    );
    _ = writeln!(out, "{}", style.faint(&head));
    for allocation in rows.iter().take(top) {
        let metrics = &allocation.metrics;
        let efficiency = ratio(metrics.ideal_sectors, metrics.sectors);
        let efficiency = if metrics.sectors == 0 {
            format!("{:>10}", "-")
        } else {
            style.quality(efficiency, &format!("{:>10}", percent(efficiency)))
        };
        let made = places::user_frame(&allocation.path);
        let name = allocation.name.clone().unwrap_or_else(|| format!("#{}", allocation.id));
        _ = writeln!(
            out,
            "  {:<22} {:<18} {:>10} {:>7} {:>10} {efficiency}  {:<24} {}",
            name,
            allocation.kind,
            bytes(allocation.bytes),
            percent(ratio(metrics.sectors, total)),
            bytes(metrics.sectors.saturating_mul(SECTOR_BYTES)),
            copies(allocation),
            made.map_or_else(|| "?".to_owned(), places::frame),
        );
    }
    more(out, rows.len(), top, "allocations", style);
    out.push('\n');
}

/// Bytes copied in and out.
fn copies(allocation: &Allocation) -> String {
    let sum = |direction: &str| {
        let rows = allocation.copies.iter().filter(|row| row.direction == direction);
        rows.fold((0u64, 0u64), |(count, bytes), row| (count + row.count, bytes.saturating_add(row.bytes)))
    };
    let mut parts = Vec::new();
    for (direction, mark) in
        [("host_to_device", "in"), ("device_to_host", "out"), ("device_to_device", "moved"), ("set", "set")]
    {
        let (count, size) = sum(direction);
        if count == 1 {
            parts.push(format!("{mark} {}", bytes(size)));
        } else if count > 1 {
            parts.push(format!("{mark} {} in {count}", bytes(size)));
        }
    }
    if parts.is_empty() { "-".to_owned() } else { parts.join(", ") }
}
