//! The report as one page for a browser, with nothing to fetch: tables that sort by a click, the lines with their
//! source text and the allocations behind them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::branch_rows::branch_rows;
use super::text::{bytes, copies, count, facts, label, name_of, notes, percent, plain_name, ratio, short, tables};
use super::worst::{self, Group, Row, by_passes, by_sectors};
use super::{finding_text, reuse};
use crate::geometry::SECTOR_BYTES;
use crate::profile::Profile;
use crate::profile::model::{Frame, Metrics};

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/sort.js");

/// Call paths of a kernel that are shown.
const MOST_PATHS: usize = 16;
/// Rows of allocations that are shown, or more where more rows are asked for.
const MOST_ALLOCATIONS: usize = 1000;

/// The page; `top` rows per table of lines.
pub fn html(profile: &Profile, top: usize) -> String {
    let program = profile.run.program.join(" ");
    let title = if program.is_empty() { "Warpline".to_owned() } else { format!("Warpline: {}", text(&program)) };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n<style>{STYLE}</style>\
         </head>\n<body>\n<pre class=\"facts\">{}</pre>\n",
        text(&facts(profile))
    );
    findings(&mut out, profile);
    faults(&mut out, profile);
    conflicts(&mut out, profile);
    kernels(&mut out, profile);
    lines(&mut out, profile, "Lines by avoidable traffic", "sectors", &by_sectors(profile), top);
    let mut shared = by_passes(profile);
    shared.retain(|row| row.excess > 0);
    lines(&mut out, profile, "Shared memory by bank conflicts", "passes", &shared, top);
    reuses(&mut out, profile, top);
    allocations(&mut out, profile, top);
    branches(&mut out, profile, top);
    let tables = tables(profile, top);
    if !tables.is_empty() {
        _ = writeln!(out, "<h2>Caches, estimates and idle lanes</h2>\n<pre class=\"facts\">{}</pre>", text(&tables));
    }
    let notes = notes(profile);
    if !notes.is_empty() {
        _ = writeln!(out, "<pre class=\"facts\">{}</pre>", text(&notes));
    }
    _ = writeln!(out, "<script>{SCRIPT}</script>\n</body></html>");
    out
}

/// Text of the program or of a file, as the page may hold it.
fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for character in raw.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// A table with these columns; those of numbers begin with `#`.
fn table(out: &mut String, title: &str, columns: &[&str]) {
    _ = write!(out, "<h2>{}</h2>\n<table><thead><tr>", text(title));
    for column in columns {
        match column.strip_prefix('#') {
            Some(name) => _ = write!(out, "<th class=\"n\">{}</th>", text(name)),
            None => _ = write!(out, "<th>{}</th>", text(column)),
        }
    }
    out.push_str("</tr></thead><tbody>\n");
}

fn end(out: &mut String) {
    out.push_str("</tbody></table>\n");
}

/// A cell that sorts by `by`.
fn number(out: &mut String, by: f64, shown: &str) {
    _ = write!(out, "<td class=\"n\" data-by=\"{by}\">{}</td>", text(shown));
}

/// A bar for a share, coloured by how good it is.
fn quality(out: &mut String, share: f64) {
    let class = if share >= 0.75 {
        "good"
    } else if share >= 0.4 {
        "fair"
    } else {
        "bad"
    };
    _ = write!(
        out,
        "<td class=\"n\" data-by=\"{share}\"><span class=\"bar\"><i class=\"{class}\" style=\"width:{:.0}%\"></i></span> {}</td>",
        share * 100.0,
        percent(share)
    );
}

fn at(file: &str, line: u32) -> String {
    let short = file.rsplit('/').next().unwrap_or(file);
    if line == 0 { short.to_owned() } else { format!("{short}:{line}") }
}

fn path(frames: &[Frame]) -> String {
    let parts: Vec<String> = frames
        .iter()
        .map(|frame| format!("{} ({})", short(plain_name(&frame.function)), at(&frame.file, frame.line)))
        .collect();
    text(&parts.join(" › "))
}

fn faults(out: &mut String, profile: &Profile) {
    if profile.faults.is_empty() {
        return;
    }
    out.push_str("<h2 class=\"bad\">Bad accesses</h2>\n<ul>\n");
    for fault in &profile.faults {
        let source = profile.sources.get(&fault.frame.file).and_then(|lines| lines.get(&fault.frame.line));
        _ = writeln!(
            out,
            "<li>{}<pre>{}</pre></li>",
            text(&super::fault_line(profile, fault)),
            text(source.map_or("", |line| line.trim()))
        );
    }
    out.push_str("</ul>\n");
}

fn conflicts(out: &mut String, profile: &Profile) {
    if profile.conflicts.is_empty() {
        return;
    }
    out.push_str("<h2 class=\"bad\">Conflicts between warps</h2>\n<ul>\n");
    for conflict in &profile.conflicts {
        _ = write!(
            out,
            "<li>{}: {}<br>{}",
            text(&conflict.severity),
            text(&super::conflict_line(profile, conflict)),
            text(&super::conflict_place(profile, conflict)),
        );
        for access in &conflict.accesses {
            let source = profile.sources.get(&access.frame.file).and_then(|lines| lines.get(&access.frame.line));
            _ = write!(out, "<pre>{}</pre>", text(source.map_or("", |line| line.trim())));
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}

/// Sums over the spaces that have sectors.
fn traffic(spaces: &BTreeMap<String, Metrics>) -> Metrics {
    let mut sum = Metrics::default();
    spaces.iter().filter(|(space, _)| *space != "shared").for_each(|(_, metrics)| super::text::add(&mut sum, metrics));
    sum
}

fn kernels(out: &mut String, profile: &Profile) {
    let mut rows: Vec<_> = profile.kernels.iter().map(|kernel| (kernel, traffic(&kernel.metrics))).collect();
    rows.sort_by_key(|(kernel, sum)| (std::cmp::Reverse(sum.sectors), kernel.id));
    let all: u64 = rows.iter().map(|(_, sum)| sum.sectors).sum();
    let columns = [
        "Kernel",
        "#share",
        "#traffic",
        "#requests",
        "#lanes / request",
        "#sectors / request",
        "#ideal",
        "#efficiency",
        "#L1 hits of loads",
        "#L2 hits",
        "#launches",
    ];
    table(out, "Kernels by memory traffic", &columns);
    for (kernel, sum) in rows {
        _ = write!(out, "<tr><td title=\"{}\">{}", text(&kernel.name), text(&label(profile, kernel)));
        let paths = kernel.paths();
        for frames in paths.iter().filter(|frames| !frames.is_empty()).take(MOST_PATHS) {
            _ = write!(out, "<div class=\"path\">{}</div>", path(frames));
        }
        if paths.len() > MOST_PATHS {
            _ = write!(out, "<div class=\"path\">and {} more call paths</div>", paths.len() - MOST_PATHS);
        }
        out.push_str("</td>");
        let share = ratio(sum.sectors, all);
        number(out, share, &percent(share));
        number(out, sum.sectors as f64, &bytes(sum.sectors.saturating_mul(SECTOR_BYTES)));
        number(out, sum.requests as f64, &count(sum.requests));
        for (part, whole) in [(sum.lanes, sum.requests), (sum.sectors, sum.requests), (sum.ideal_sectors, sum.requests)]
        {
            let value = ratio(part, whole);
            number(out, value, &format!("{value:.2}"));
        }
        quality(out, if sum.sectors == 0 { 1.0 } else { ratio(sum.ideal_sectors, sum.sectors) });
        // A store that finds its sector in level 1 is written through all the same.
        let l1 = sum.l1.map(|level| (level.load_hits, level.load_lookups));
        let l2 = sum.l2.map(|level| (level.hits, level.lookups));
        for level in [l1, l2] {
            match level.filter(|(_, lookups)| *lookups > 0) {
                Some((hits, lookups)) => {
                    let rate = ratio(hits, lookups);
                    number(out, rate, &percent(rate));
                }
                None => number(out, -1.0, "-"),
            }
        }
        number(out, kernel.recorded_launches() as f64, &count(kernel.recorded_launches()));
        out.push_str("</tr>\n");
    }
    end(out);
}

fn lines(out: &mut String, profile: &Profile, title: &str, unit: &str, rows: &[Row<'_>], top: usize) {
    if rows.is_empty() {
        return;
    }
    let all: u64 = rows.iter().map(|row| row.excess).sum();
    let made = format!("#{unit}");
    table(out, title, &["Line", "Kernel", "#share", &made, "#avoidable", "#useful"]);
    for row in rows.iter().take(top) {
        let source = profile.sources.get(row.file).and_then(|lines| lines.get(&row.line));
        let kernel = profile.kernels.iter().find(|kernel| kernel.id == row.kernel);
        _ = write!(
            out,
            "<tr><td><details><summary title=\"{}\">{} <code>{}</code></summary>",
            text(row.file),
            text(&at(row.file, row.line)),
            text(source.map_or("", |line| line.trim()))
        );
        row.groups.iter().for_each(|group| detail(out, profile, group));
        _ = write!(
            out,
            "</details></td><td>{}</td>",
            text(&kernel.map_or("?".to_owned(), |kernel| label(profile, kernel)))
        );
        let share = ratio(row.excess, all);
        number(out, share, &percent(share));
        number(out, row.total as f64, &count(row.total));
        number(out, row.excess as f64, &count(row.excess));
        quality(out, 1.0 - ratio(row.excess, row.total));
        out.push_str("</tr>\n");
    }
    end(out);
    if rows.len() > top {
        _ = writeln!(out, "<p>{} more lines (--top {})</p>", rows.len() - top, rows.len());
    }
}

/// What one kind of access of a line does, the memory it touches and where it was inlined.
fn detail(out: &mut String, profile: &Profile, group: &Group<'_>) {
    let sum = &group.sum;
    _ = write!(
        out,
        "<div>{} {} of {} bytes, column {}: {} requests, {:.1} lanes each, ",
        group.space,
        group.op,
        group.bytes,
        group.column,
        count(sum.requests),
        ratio(sum.lanes, sum.requests)
    );
    match &sum.shared {
        Some(shared) => {
            let (made, ideal) = (ratio(shared.wavefronts, sum.requests), ratio(shared.ideal_wavefronts, sum.requests));
            _ = write!(out, "{made:.2} passes where {ideal:.2} would do");
        }
        None => {
            let (made, ideal) = (ratio(sum.sectors, sum.requests), ratio(sum.ideal_sectors, sum.requests));
            _ = write!(out, "{made:.2} sectors where {ideal:.2} would do");
        }
    }
    let mut touched: BTreeMap<Option<u64>, u64> = BTreeMap::new();
    for row in group.sites.iter().flat_map(|site| &site.by_allocation) {
        *touched.entry(row.allocation).or_default() += row.metrics.sectors;
    }
    if !touched.is_empty() {
        let name = |id: &Option<u64>| match id.and_then(|id| profile.allocation(id)) {
            Some(allocation) => allocation.name.clone().unwrap_or_else(|| format!("#{}", allocation.id)),
            None => "memory of no known allocation".to_owned(),
        };
        let names: BTreeSet<String> = touched.keys().map(name).collect();
        let names: Vec<String> = names.into_iter().collect();
        _ = write!(out, "; touches {}", text(&names.join(", ")));
    }
    out.push_str("</div>");
    if let Some(site) = group.sites.iter().find(|site| !site.inlined_at.is_empty()) {
        _ = write!(out, "<div class=\"path\">inlined at {}</div>", path(&site.inlined_at));
    }
    for context in
        group.sites.iter().flat_map(|site| &site.contexts).filter(|context| !context.calls.is_empty()).take(8)
    {
        _ = write!(out, "<div class=\"path\">called from {}</div>", path(&context.calls));
    }
}

fn reuses(out: &mut String, profile: &Profile, top: usize) {
    let rows = reuse::by_line(profile);
    if rows.is_empty() {
        return;
    }
    let columns = ["Line", "#uses", "#first", "#half within", "#90 % within", "#beyond L1", "#beyond L2", "#used once"];
    table(out, &reuse::heading(profile), &columns);
    for ((file, line), row) in rows.into_iter().take(top) {
        let source = profile.sources.get(file).and_then(|lines| lines.get(&line));
        let source = text(source.map_or("", |line| line.trim()));
        _ = write!(out, "<tr><td title=\"{}\">{} <code>{source}</code></td>", text(file), text(&at(file, line)));
        number(out, row.uses as f64, &count(row.uses));
        let shares = |part| ratio(part, row.uses);
        number(out, shares(row.first), &percent(shares(row.first)));
        for share in [0.5, 0.9] {
            match row.within(share) {
                Some(distance) => number(out, distance as f64, &count(distance)),
                None => number(out, -1.0, "-"),
            }
        }
        for share in [shares(row.beyond[0]), shares(row.beyond[1]), ratio(row.streaming, row.elements)] {
            number(out, share, &percent(share));
        }
        out.push_str("</tr>\n");
    }
    end(out);
}

fn allocations(out: &mut String, profile: &Profile, top: usize) {
    let rows = worst::allocations(profile);
    if rows.is_empty() {
        return;
    }
    let all: u64 = rows.iter().map(|row| row.metrics.sectors).sum();
    table(
        out,
        "Allocations by memory traffic",
        &["Allocation", "Kind", "#size", "#share", "#traffic", "#efficiency", "#kernels", "Copies"],
    );
    let more = rows.len().saturating_sub(top.max(MOST_ALLOCATIONS));
    for row in rows.iter().take(top.max(MOST_ALLOCATIONS)) {
        let name = name_of(row);
        _ = write!(
            out,
            "<tr><td>{}<div class=\"path\">{}</div></td><td>{}</td>",
            text(&name),
            path(&row.path),
            text(&row.kind)
        );
        number(out, row.bytes as f64, &bytes(row.bytes));
        let share = ratio(row.metrics.sectors, all);
        number(out, share, &percent(share));
        number(out, row.metrics.sectors as f64, &bytes(row.metrics.sectors.saturating_mul(SECTOR_BYTES)));
        if row.metrics.sectors == 0 {
            number(out, -1.0, "-");
        } else {
            quality(out, ratio(row.metrics.ideal_sectors, row.metrics.sectors));
        }
        number(out, row.by_kernel.len() as f64, &row.by_kernel.len().to_string());
        _ = writeln!(out, "<td>{}</td></tr>", text(&copies(profile, row)));
    }
    end(out);
    if more > 0 {
        _ = writeln!(out, "<p>{more} more allocations (--top {})</p>", more + top.max(MOST_ALLOCATIONS));
    }
}

fn branches(out: &mut String, profile: &Profile, top: usize) {
    let rows = branch_rows(profile);
    if rows.is_empty() {
        return;
    }
    table(out, "Divergent branches", &["Line", "Kernel", "#executions", "#divergent", "#share", "Sides"]);
    for row in rows.iter().take(top) {
        let source = profile.sources.get(row.file).and_then(|lines| lines.get(&row.line));
        let kernel = profile.kernels.iter().find(|kernel| kernel.id == row.kernel);
        _ = write!(
            out,
            "<tr><td>{}{} <code>{}</code></td><td>{}</td>",
            text(&at(row.file, row.line)),
            if row.column == 0 { String::new() } else { format!(":{}", row.column) },
            text(source.map_or("", |line| line.trim())),
            text(&kernel.map_or("?".to_owned(), |kernel| label(profile, kernel)))
        );
        number(out, row.executions as f64, &count(row.executions));
        number(out, row.divergent as f64, &count(row.divergent));
        number(out, row.share(), &percent(row.share()));
        _ = writeln!(out, "<td>{}</td></tr>", text(&row.sides()));
    }
    end(out);
}

/// What is wrong, what to do, and what that brings.
fn findings(out: &mut String, profile: &Profile) {
    if profile.findings.is_empty() {
        return;
    }
    table(out, "Findings", &["#rank", "Severity", "Finding", "Place", "Object", "Why", "Cure", "Gain"]);
    for finding in &profile.findings {
        out.push_str("<tr>");
        number(out, finding.rank.into(), &finding.rank.to_string());
        let kernel = finding_text::kernel(profile, finding).unwrap_or_default();
        _ = writeln!(
            out,
            "<td>{}</td><td>{}</td><td>{} <code>{}</code><br>{}<br>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            finding.severity.name(),
            text(&finding.id),
            text(&finding_text::place(finding)),
            text(finding_text::source(profile, finding).unwrap_or_default()),
            text(&kernel),
            text(&finding_text::library(finding).unwrap_or_default()),
            text(&finding_text::object(profile, finding).unwrap_or_default()),
            text(&finding.reason),
            text(&finding.cure),
            text(&finding.gain.as_ref().map_or(String::new(), |gain| finding_text::gain(finding, gain))),
        );
    }
    end(out);
}
