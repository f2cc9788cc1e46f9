//! Source lines with their share of the cost.

use std::collections::BTreeMap;

use super::model::{Source, SourceLine};
use crate::words::{memory, ratio};
use warpline_profile::Profile;

/// The blanks that replace a tab.
const TAB: &str = "    ";

/// Returns the lines of a file that the profile contains, at most `around` lines away from `line`; `None` if there are
/// none.
pub(super) fn source(profile: &Profile, file: &str, line: u32, around: u32) -> Option<Source> {
    let known = profile.sources.get(file)?;
    let heat = heat(profile, file);
    let near = line.saturating_sub(around)..=line.saturating_add(around);
    let lines: Vec<SourceLine> = known
        .range(near)
        .map(|(&number, text)| SourceLine {
            number,
            text: text.replace('\t', TAB),
            heat: heat.get(&number).copied().unwrap_or(0.0),
            marked: number == line,
        })
        .collect();
    (!lines.is_empty()).then(|| Source { file: file.to_owned(), lines })
}

/// Returns each line's share of the traffic or of the issued instructions of all lines, whichever is larger.
fn heat(profile: &Profile, file: &str) -> BTreeMap<u32, f64> {
    let (mut sectors, mut issued) = (0u64, 0u64);
    let mut lines: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for row in &profile.lines {
        let moved = memory(&row.metrics).sectors;
        let warps = row.instructions.values().fold(0u64, |sum, more| sum.saturating_add(more.warps));
        sectors = sectors.saturating_add(moved);
        issued = issued.saturating_add(warps);
        if row.file == file {
            let sum = lines.entry(row.line).or_default();
            *sum = (sum.0.saturating_add(moved), sum.1.saturating_add(warps));
        }
    }
    lines.into_iter().map(|(line, (moved, warps))| (line, ratio(moved, sectors).max(ratio(warps, issued)))).collect()
}
