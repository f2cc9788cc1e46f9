//! Writes the lines with the highest avoidable cost, and those with bank conflicts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::kernels::more;
use crate::rows::worst::{Group, Row, by_passes, by_sectors};
use crate::words::figures::{bytes, count, percent, ratio};
use crate::words::names;
use crate::words::places;
use crate::words::style::{Style, bar};
use warpline_profile::Profile;
use warpline_profile::model::Frame;

const WIDTH: usize = 112;

pub(crate) fn write(out: &mut String, profile: &Profile, style: Style, top: usize) {
    let memory = by_sectors(profile);
    if !memory.is_empty() {
        let title = if memory.iter().all(|row| row.excess == 0) {
            "LINES by memory traffic (none of it is avoidable: all requests are ideal)"
        } else {
            "LINES by avoidable traffic (sectors beyond the ideal)"
        };
        _ = writeln!(out, "{}", style.heading(title));
        section(out, profile, style, top, &memory, "avoidable traffic", "lines");
    }
    let mut shared = by_passes(profile);
    let conflict_free = shared.iter().all(|row| row.excess == 0);
    shared.retain(|row| row.excess > 0);
    if !shared.is_empty() {
        _ = writeln!(out, "{}", style.heading("SHARED MEMORY by bank conflicts (passes beyond the ideal)"));
        section(out, profile, style, top, &shared, "extra passes", "lines");
    } else if conflict_free && profile.sites.iter().any(|site| site.metrics.shared.is_some()) {
        _ = writeln!(out, "{}", style.heading("SHARED MEMORY"));
        _ = writeln!(out, "  no bank conflicts\n");
    }
}

fn section(out: &mut String, profile: &Profile, style: Style, top: usize, rows: &[Row<'_>], what: &str, plural: &str) {
    let all: u64 = rows.iter().map(|row| row.excess).sum();
    let mut before = Vec::new();
    for (number, row) in (1..).zip(rows.iter().take(top)) {
        let name = kernel_name(profile, row.kernel);
        let share =
            if all == 0 { String::new() } else { format!("  {} of the {what}", percent(ratio(row.excess, all))) };
        let place = format!("{}  in {}", places::at(row.file, row.line), name);
        _ = writeln!(out, "{:>3}. {}{}", number, style.strong(&place), style.faint(&share));
        if let Some(text) = places::source(profile, row.file, row.line) {
            _ = writeln!(out, "     {:>5} | {}", row.line, text.trim_start());
        }
        for group in &row.groups {
            write_group(out, profile, style, group);
        }
        write_paths(out, profile, style, row, &mut before);
    }
    more(out, rows.len(), top, plural, style);
    out.push('\n');
}

fn write_group(out: &mut String, profile: &Profile, style: Style, group: &Group<'_>) {
    let sum = &group.sum;
    // A load that was moved out of a loop is attributed to a nearby line.
    let near = if group.sites.iter().all(|site| site.approximate) { " ~" } else { "" };
    let kind = format!("{} {} {} B{near}", group.space, group.op, group.bytes);
    let lanes = ratio(sum.lanes, sum.requests);
    let text = match &sum.shared {
        Some(shared) => {
            let share = ratio(shared.ideal_wavefronts, shared.wavefronts);
            let quality = format!("{} {} useful", bar(share), percent(share));
            format!(
                "{} requests, {lanes:.1} lanes, {:.2} passes per request (ideal {:.2})  {}",
                count(sum.requests),
                ratio(shared.wavefronts, sum.requests),
                ratio(shared.ideal_wavefronts, sum.requests),
                style.quality(share, &quality)
            )
        }
        None => {
            let share = ratio(sum.ideal_sectors, sum.sectors);
            let quality = format!("{} {} useful", bar(share), percent(share));
            format!(
                "{} requests, {lanes:.1} lanes, {:.2} sectors per request (ideal {:.2})  {}",
                count(sum.requests),
                ratio(sum.sectors, sum.requests),
                ratio(sum.ideal_sectors, sum.requests),
                style.quality(share, &quality)
            )
        }
    };
    let passes = sum.constant.as_ref().filter(|passes| passes.wavefronts > passes.ideal_wavefronts);
    _ = writeln!(out, "       {kind:<20} {text}");
    if let Some(passes) = passes {
        let each = ratio(passes.wavefronts, sum.requests);
        let share = ratio(passes.ideal_wavefronts, passes.wavefronts);
        let text = format!("{each:.2} passes per request, one for each address (ideal 1)");
        _ = writeln!(out, "       {:<20} {}", "  serialised", style.quality(share, &text));
    }
    if sum.shared.is_none()
        && let Some(text) = spread_of_lines(group)
    {
        _ = writeln!(out, "       {:<20} {text}", "  lines of 128 B");
    }
    let touched = touched(profile, group);
    if !touched.is_empty() {
        _ = writeln!(out, "       {:<20} {touched}", "  touches");
    }
}

/// Describes the number of 128-byte lines that requests touch, if it varies: the most frequent numbers and their
/// shares.
fn spread_of_lines(group: &Group<'_>) -> Option<String> {
    let mut sums: BTreeMap<usize, u64> = BTreeMap::new();
    for lines in group.sites.iter().filter_map(|site| site.metrics.lines_touched.get("128")) {
        for (lines, requests) in (0..).zip(lines).filter(|(_, requests)| **requests > 0) {
            *sums.entry(lines).or_default() += requests;
        }
    }
    if sums.len() < 2 {
        return None;
    }
    let all: u64 = sums.values().sum();
    let mean = sums.iter().map(|(lines, requests)| *lines as u64 * requests).sum::<u64>() as f64 / all as f64;
    let mut sums: Vec<(usize, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|(lines, requests)| (std::cmp::Reverse(*requests), *lines));
    let shown: Vec<String> =
        sums.iter().take(4).map(|(lines, requests)| format!("{lines} in {}", percent(ratio(*requests, all)))).collect();
    let more = if sums.len() > 4 { ", …" } else { "" };
    Some(format!("{mean:.2} per request: {}{more}", shown.join(", ")))
}

/// Returns the allocations that a group touches, by traffic.
fn touched(profile: &Profile, group: &Group<'_>) -> String {
    let mut sums: BTreeMap<Option<u64>, u64> = BTreeMap::new();
    for row in group.sites.iter().flat_map(|site| &site.by_allocation) {
        *sums.entry(row.allocation).or_default() += row.metrics.sectors;
    }
    alike_together(sums.into_iter().map(|(id, sectors)| match id {
        None => ("memory of no known allocation".to_owned(), sectors, 1),
        Some(id) => (allocation_name(profile, id), sectors, profile.allocation(id).map_or(1, |row| row.count as usize)),
    }))
}

/// Lists the names of a sum's parts, the largest first. Parts with the same name are combined, for example a variable
/// that is allocated in each iteration.
fn alike_together(parts: impl Iterator<Item = (String, u64, usize)>) -> String {
    let mut sums: BTreeMap<String, (u64, usize)> = BTreeMap::new();
    for (name, part, allocations) in parts {
        let (sum, count) = sums.entry(name).or_default();
        *sum = sum.saturating_add(part);
        *count = count.saturating_add(allocations);
    }
    let total: u64 = sums.values().map(|(sum, _)| sum).sum();
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by(|(name, (sum, _)), (other, (others, _))| others.cmp(sum).then_with(|| name.cmp(other)));
    let mut names = Vec::new();
    for (name, (sum, count)) in sums.iter().take(4) {
        let mut text = if *count == 1 { name.clone() } else { format!("{count} times {name}") };
        if sums.len() > 1 {
            _ = write!(text, " {}", percent(ratio(*sum, total)));
        }
        names.push(text);
    }
    if sums.len() > 4 {
        names.push(format!("{} more", sums.len() - 4));
    }
    names.join(", ")
}

fn allocation_name(profile: &Profile, id: u64) -> String {
    match profile.allocation(id) {
        Some(allocation) => {
            let name = allocation.name.clone().unwrap_or_else(|| format!("#{id}"));
            // Allocations of a shared row have the same size; otherwise, no size is shown.
            format!("{name} ({}, {})", allocation.kind, bytes(allocation.bytes / allocation.count.max(1)))
        }
        None => format!("#{id}"),
    }
}

fn kernel_name(profile: &Profile, id: u32) -> String {
    let kernel = profile.kernels.iter().find(|kernel| kernel.id == id);
    kernel.map_or("?".to_owned(), |kernel| names::label(profile, kernel))
}

/// Writes the path from `main` to the line: the host path of the heaviest launch, the launch, and the device calls.
/// `before` is the previously shown host path, which is not repeated.
fn write_paths(out: &mut String, profile: &Profile, style: Style, row: &Row<'_>, before: &mut Vec<String>) {
    let Some(kernel) = profile.kernels.iter().find(|kernel| kernel.id == row.kernel) else { return };
    let sectors = |launch: &&warpline_profile::model::Launch| launch.metrics.values().map(|m| m.sectors).sum::<u64>();
    let Some(launch) = kernel.launches.iter().max_by_key(|launch| (sectors(launch), std::cmp::Reverse(launch.id)))
    else {
        return;
    };
    let Some(site) = row.groups.first().and_then(|group| group.sites.first()) else { return };
    let host = places::host_path(&launch.path);
    let mut parts = if !host.is_empty() && host == *before { vec!["(as above)".to_owned()] } else { host.clone() };
    *before = host;
    parts.push(places::launch(&kernel.name, launch));
    let context = site.contexts.iter().max_by_key(|context| context.metrics.sectors);
    let calls = context.map_or(&[][..], |context| &context.calls[..]);
    // Each frame is the position of the next call. The function called at the last one is that of the site.
    let chain: Vec<&Frame> = calls.iter().chain(site.inlined_at.iter().rev()).collect();
    parts.extend(chain.iter().map(|frame| places::frame(frame)));
    let last = Frame { function: site.function.clone(), file: site.file.clone(), line: site.line, column: 0 };
    if chain.is_empty() {
        parts.push(places::at(&last.file, last.line));
    } else {
        parts.push(places::frame(&last));
    }
    let path = places::wrapped(&parts, "                            ", WIDTH);
    _ = writeln!(out, "       {:<20} {path}", "path");
    let paths = kernel.paths();
    if paths.len() > 1 {
        let others = match paths.len() - 1 {
            1 => "1 other call path".to_owned(),
            others => format!("{others} other call paths"),
        };
        let text = format!("       {:<20} and {others} to this kernel", "");
        _ = writeln!(out, "{}", style.faint(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::alike_together;

    #[test]
    fn allocations_that_are_called_the_same_are_reported_once() {
        let text_of =
            |parts: &[(&str, u64)]| alike_together(parts.iter().map(|&(name, part)| (name.to_owned(), part, 1)));
        assert_eq!(text_of(&[("d_a", 5)]), "d_a");
        assert_eq!(text_of(&[("d_a", 5), ("d_a", 7)]), "2 times d_a");
        assert_eq!(text_of(&[("d_a", 1), ("d_b", 6), ("d_a", 1)]), "d_b 75.0 %, 2 times d_a 25.0 %");
        assert_eq!(
            text_of(&[("c", 1), ("b", 1), ("a", 1), ("d", 1), ("e", 4)]),
            "e 50.0 %, a 12.5 %, b 12.5 %, c 12.5 %, 1 more"
        );
    }
}
