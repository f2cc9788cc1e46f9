//! Writes source lines with their costs at the left, as `perf annotate` does for instructions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::words::figures::{add, bytes, count, memory, ratio};
use crate::words::places;
use crate::words::style::Style;
use crate::words::wrap::{cut, paragraph};
use warpline_profile::Profile;
use warpline_profile::model::{Finding, Metrics, Severity, Site};
use warpline_simulator::geometry::SECTOR_BYTES;

/// Sums of a line over all kernels.
#[derive(Default)]
struct Row<'a> {
    memory: Metrics,
    shared: Metrics,
    instructions: u64,
    /// Lanes that executed its instructions.
    lanes: u64,
    sites: Vec<&'a Site>,
}

/// Width before the source in columns.
const BEFORE: usize = 48;

/// Writes the lines of the files that remain in the filtered profile.
pub(super) fn write(out: &mut String, profile: &Profile, style: Style, width: usize) {
    let mut files: BTreeMap<&str, BTreeMap<u32, Row<'_>>> = BTreeMap::new();
    for line in &profile.lines {
        let row = files.entry(&line.file).or_default().entry(line.line).or_default();
        add(&mut row.memory, &memory(&line.metrics));
        if let Some(shared) = line.metrics.get("shared") {
            add(&mut row.shared, shared);
        }
        for sum in line.instructions.values() {
            row.instructions = row.instructions.saturating_add(sum.warps);
            row.lanes = row.lanes.saturating_add(sum.lanes);
        }
    }
    for site in &profile.sites {
        files.entry(&site.file).or_default().entry(site.line).or_default().sites.push(site);
    }
    let (mut sectors, mut issued) = (0u64, 0u64);
    for row in files.values().flat_map(BTreeMap::values) {
        sectors = sectors.saturating_add(row.memory.sectors);
        issued = issued.saturating_add(row.instructions);
    }
    for (file, rows) in &files {
        _ = writeln!(out, "{}", style.heading(&format!("SOURCE {file}")));
        let head = format!(
            "{:>7} {:>6} {:>5} {:>5} {:>7} {:>6} {:>6} |",
            "traffic", "issued", "lanes", "sect.", "coalesc", "L1 hit", "passes"
        );
        _ = writeln!(out, "{}", style.faint(&head));
        let shown: BTreeSet<u32> = rows
            .keys()
            .copied()
            .chain(profile.sources.get(*file).into_iter().flat_map(|lines| lines.keys().copied()))
            .collect();
        let mut last = None;
        for line in shown.into_iter().filter(|line| *line != 0) {
            if last.is_some_and(|last| line > last + 1) {
                _ = writeln!(out, "{} |     …", " ".repeat(BEFORE));
            }
            last = Some(line);
            let figures = rows.get(&line).map_or_else(|| " ".repeat(BEFORE), |row| figures(row, sectors, issued));
            let text = places::source(profile, file, line).unwrap_or_default().replace('\t', "    ");
            _ = writeln!(out, "{figures} | {line:>5} {}", cut(&text, width.saturating_sub(BEFORE + 9).max(30)));
            if let Some(row) = rows.get(&line) {
                accesses(out, row, style);
            }
            let here = |finding: &&Finding| finding.file == *file && finding.all_lines().any(|own| own == line);
            for finding in profile.findings.iter().filter(here) {
                let name = finding.severity.name();
                let severity = if finding.severity == Severity::Note { style.faint(name) } else { style.warning(name) };
                out.push_str(&paragraph(&format!("      {severity} {}: ", finding.id), &finding.cure, width));
            }
        }
        out.push('\n');
    }
}

/// Formats a share in whole per cent.
fn whole(share: f64) -> String {
    if share > 0.0 && share < 0.005 { "<1 %".to_owned() } else { format!("{:.0} %", 100.0 * share) }
}

fn figures(row: &Row<'_>, sectors: u64, issued: u64) -> String {
    let or_dash = |known: bool, text: String| if known { text } else { "-".to_owned() };
    let metrics = &row.memory;
    let passes = row.shared.shared.as_ref().filter(|passes| passes.wavefronts > 0);
    format!(
        "{:>7} {:>6} {:>5} {:>5} {:>7} {:>6} {:>6}",
        or_dash(metrics.sectors > 0, whole(ratio(metrics.sectors, sectors))),
        or_dash(row.instructions > 0, whole(ratio(row.instructions, issued))),
        or_dash(row.instructions > 0, format!("{:.1}", ratio(row.lanes, row.instructions))),
        or_dash(metrics.requests > 0, format!("{:.1}", ratio(metrics.sectors, metrics.requests))),
        or_dash(metrics.sectors > 0, whole(ratio(metrics.ideal_sectors, metrics.sectors))),
        metrics.l1_hit_rate().share().map_or("-".to_owned(), whole),
        passes.map_or("-".to_owned(), |passes| format!("{:.1}", ratio(passes.wavefronts, row.shared.requests))),
    )
}

/// Writes the operands of the line, if it accesses more than one.
fn accesses(out: &mut String, row: &Row<'_>, style: Style) {
    let mut groups: BTreeMap<(u32, &str, &str), Vec<&Site>> = BTreeMap::new();
    for site in &row.sites {
        groups.entry((site.column, &site.space, &site.op)).or_default().push(site);
    }
    if groups.len() < 2 {
        return;
    }
    for ((column, space, op), sites) in groups {
        let mut sum = Metrics::default();
        sites.iter().for_each(|site| add(&mut sum, &site.metrics));
        let operand = sites.iter().find_map(|site| site.operand.as_ref());
        let name = operand.and_then(|operand| {
            let variable = operand.variable.as_deref()?;
            Some(format!(" `{variable}{}`", operand.member.as_deref().unwrap_or_default()))
        });
        let near = if sites.iter().all(|site| site.approximate) { ", position approximate" } else { "" };
        let moved = match &sum.shared {
            Some(shared) => format!("{:.2} passes a request", ratio(shared.wavefronts, sum.requests)),
            None => format!(
                "{:.2} sectors a request, {}",
                ratio(sum.sectors, sum.requests),
                bytes(sum.sectors.saturating_mul(SECTOR_BYTES))
            ),
        };
        let text = format!(
            "{:>width$} |       {space} {op}{} in column {column}: {} requests, {moved}{near}",
            "",
            name.unwrap_or_default(),
            count(sum.requests),
            width = BEFORE
        );
        _ = writeln!(out, "{}", style.faint(&text));
    }
}
