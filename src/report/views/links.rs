//! Facts and rows that several views share.

use std::collections::BTreeMap;

use super::figures::{Figures, cells};
use super::model::{Block, Cell, Column, Fact, Row, Table, Target};
use crate::finding_text;
use crate::text::name_of;
use crate::words::{at, bytes, label, memory};
use warpline_profile::Profile;
use warpline_profile::model::{Finding, Frame, Site};

/// Returns the sectors of all kernels, the total for shares.
pub(super) fn all_sectors(profile: &Profile) -> u64 {
    profile.kernels.iter().fold(0, |sum, row| sum.saturating_add(memory(&row.metrics).sectors))
}

/// Returns the name of a kernel.
pub(super) fn kernel_name(profile: &Profile, id: u32) -> String {
    let kernel = profile.kernels.iter().find(|kernel| kernel.id == id);
    kernel.map_or_else(|| "an unknown kernel".to_owned(), |kernel| label(profile, kernel))
}

/// Returns the name of an allocation, or a text for memory without an allocation.
pub(super) fn allocation_name(profile: &Profile, id: Option<u64>) -> String {
    match id.map(|id| (id, profile.allocation(id))) {
        None => "memory of no known allocation".to_owned(),
        Some((id, None)) => format!("#{id}"),
        Some((_, Some(row))) => name_of(row),
    }
}

/// Returns the link target for a line; `None` if the line is unknown.
pub(super) fn line_target(file: &str, line: u32) -> Option<Target> {
    (!file.is_empty() && line > 0).then(|| Target::Line { file: file.to_owned(), line })
}

/// Returns the link target for the innermost known frame of a call path.
pub(super) fn path_target(path: &[Frame]) -> Option<Target> {
    let frame = warpline_profile::model::user_frame(path)?;
    line_target(&frame.file, frame.line)
}

/// Returns the findings about a subject as one block; `None` if there are none.
pub(super) fn findings(profile: &Profile, concerns: impl Fn(&Finding) -> bool) -> Option<Block> {
    let facts: Vec<Fact> = profile
        .findings
        .iter()
        .filter(|finding| concerns(finding))
        .map(|finding| Fact {
            label: "finding",
            text: format!(
                "{} {} {} at {}: {}",
                finding.rank,
                finding.severity.name(),
                finding.id,
                finding_text::place(finding),
                finding.cure
            ),
            target: Some(Target::Finding(finding.rank)),
        })
        .collect();
    (!facts.is_empty()).then_some(Block::Facts(facts))
}

/// Describes a memory instruction, for example `global load 4 B input[k]`.
pub(super) fn access_name(site: &Site) -> String {
    let operand = site.operand.as_ref().and_then(|operand| {
        Some(format!(" {}{}", operand.variable.as_deref()?, operand.member.as_deref().unwrap_or_default()))
    });
    let near = if site.approximate { " (position approximate)" } else { "" };
    format!("{} {} {}{}{near}", site.space, site.op, bytes(u64::from(site.bytes)), operand.unwrap_or_default())
}

/// Returns a row of figures for each key, in descending order of traffic.
pub(super) fn rows<K: Ord>(
    sums: BTreeMap<K, Figures>,
    all: u64,
    name: impl Fn(&K) -> Vec<Cell>,
    target: impl Fn(&K) -> Option<Target>,
) -> Vec<Row> {
    let mut rows: Vec<(K, Figures)> = sums.into_iter().collect();
    rows.sort_by_key(|(_, figures)| std::cmp::Reverse((figures.memory.sectors, figures.requests())));
    rows.into_iter()
        .map(|(key, figures)| {
            let mut row = cells(&figures, all);
            row.extend(name(&key));
            Row { cells: row, target: target(&key) }
        })
        .collect()
}

/// Returns a table of such rows in their order; `None` if there are none.
pub(super) fn table(heading: impl Into<String>, columns: Vec<Column>, rows: Vec<Row>) -> Option<Block> {
    (!rows.is_empty()).then(|| Block::Table(Table { heading: heading.into(), columns, rows, sorted: Some(0) }))
}

/// Returns `file:line` in a cell.
pub(super) fn place(file: &str, line: u32) -> Cell {
    Cell::Text(at(file, line))
}
