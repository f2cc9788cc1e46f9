//! Reports on a single subject: a line, a finding, an allocation or a kernel.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::Filter;
use super::filter::allocations_named;
use super::views::{self, View};
use warpline_findings::Suppression;
use warpline_profile::Profile;
use warpline_profile::model::Finding;

/// Number of source lines that are kept before and after a selected line.
const SOURCE_AROUND: u32 = 8;

/// A source line given by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePlace {
    /// The last part of a path.
    pub file: String,
    /// Line, counted from 1.
    pub line: u32,
}

/// The text is not of the form `FILE:LINE`.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a source position: write FILE:LINE, for example transpose.cu:20")]
pub struct PlaceError(String);

impl FromStr for LinePlace {
    type Err = PlaceError;

    fn from_str(text: &str) -> Result<LinePlace, PlaceError> {
        let parts = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
        match parts {
            Some((file, line)) if !file.is_empty() && line > 0 => Ok(LinePlace { file: file.to_owned(), line }),
            _ => Err(PlaceError(text.to_owned())),
        }
    }
}

/// Findings given by the user: one by rank, or all with an id, optionally at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FindingChoice {
    /// Rank of the finding, as in the report.
    Rank(u32),
    /// `ID`, `ID@FILE:LINE`, `ID@KERNEL` or `@FILE:LINE`.
    Those(Suppression),
}

impl FromStr for FindingChoice {
    type Err = warpline_findings::SuppressionError;

    fn from_str(text: &str) -> Result<FindingChoice, Self::Err> {
        match text.parse() {
            Ok(rank) => Ok(FindingChoice::Rank(rank)),
            Err(_) => Ok(FindingChoice::Those(text.parse()?)),
        }
    }
}

impl std::fmt::Display for FindingChoice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FindingChoice::Rank(rank) => write!(formatter, "{rank}"),
            FindingChoice::Those(those) => write!(formatter, "{those}"),
        }
    }
}

impl FindingChoice {
    fn includes(&self, profile: &Profile, finding: &Finding) -> bool {
        match self {
            FindingChoice::Rank(rank) => finding.rank == *rank,
            FindingChoice::Those(those) => those.covers(finding, profile),
        }
    }
}

/// Keeps the data of a line; returns `false` if there is none.
pub(super) fn keep_line(kept: &mut Profile, place: &LinePlace) -> bool {
    let places = lines_at(kept, place);
    let at = |file: &str, line: u32| places.contains(&(file.to_owned(), line));
    kept.findings.retain(|row| row.all_lines().any(|line| at(&row.file, line)));
    keep_places(kept, &places);
    !(kept.lines.is_empty() && kept.sites.is_empty() && kept.branches.is_empty() && kept.findings.is_empty())
}

/// Keeps findings and the data of their lines; returns `false` if there are none.
pub(super) fn keep_findings(kept: &mut Profile, choice: &FindingChoice) -> bool {
    let chosen: Vec<Finding> = kept.findings.iter().filter(|finding| choice.includes(kept, finding)).cloned().collect();
    let of_one = |finding: &Finding| finding.all_lines().map(|line| (finding.file.clone(), line)).collect::<Vec<_>>();
    let places = chosen.iter().flat_map(of_one).collect();
    kept.findings = chosen;
    keep_places(kept, &places);
    !kept.findings.is_empty()
}

/// Returns the source positions in the profile that match the given one.
fn lines_at(profile: &Profile, place: &LinePlace) -> BTreeSet<(String, u32)> {
    let lines = profile.lines.iter().map(|row| (&row.file, row.line));
    let sites = profile.sites.iter().map(|row| (&row.file, row.line));
    let branches = profile.branches.iter().map(|row| (&row.file, row.line));
    let findings = profile.findings.iter().flat_map(|row| row.all_lines().map(|line| (&row.file, line)));
    let all = lines.chain(sites).chain(branches).chain(findings);
    let meant = all.filter(|(file, line)| *line == place.line && warpline_findings::ends_with(file, &place.file));
    meant.map(|(file, line)| (file.clone(), line)).collect()
}

/// Keeps the rows at some source positions, and the kernels, allocations and sources that these rows and the findings
/// refer to.
fn keep_places(kept: &mut Profile, places: &BTreeSet<(String, u32)>) {
    let at = |file: &str, line: u32| places.contains(&(file.to_owned(), line));
    kept.lines.retain(|row| at(&row.file, row.line));
    kept.sites.retain(|row| at(&row.file, row.line));
    kept.branches.retain(|row| at(&row.file, row.line));
    kept.blocks.retain(|row| at(&row.file, row.line));
    kept.faults.retain(|row| at(&row.frame.file, row.frame.line));
    kept.access_values.retain(|row| at(&row.frame.file, row.frame.line));
    for row in &mut kept.rounded_allocations {
        row.writes.retain(|row| at(&row.frame.file, row.frame.line));
        row.other_accesses.retain(|other| at(&other.frame.file, other.frame.line));
    }
    kept.compared_results.clear();
    kept.rounded_allocations.retain(|row| !row.writes.is_empty() || !row.other_accesses.is_empty());
    kept.float_exceptions.retain(|row| at(&row.frame.file, row.frame.line));
    kept.float_origins.retain(|row| row.steps.iter().any(|step| at(&step.frame.file, step.frame.line)));
    kept.uninitialised.retain(|row| at(&row.frame.file, row.frame.line));
    kept.conflicts.retain(|row| row.accesses.iter().any(|access| at(&access.frame.file, access.frame.line)));
    let kernels: BTreeSet<u32> = (kept.lines.iter().map(|row| row.kernel))
        .chain(kept.sites.iter().map(|row| row.kernel))
        .chain(kept.branches.iter().map(|row| row.kernel))
        .chain(kept.findings.iter().filter_map(|row| row.kernel))
        .collect();
    kept.kernels.retain(|row| kernels.contains(&row.id));
    let accessed = kept.sites.iter().flat_map(|site| &site.by_allocation).filter_map(|row| row.allocation);
    let allocations: BTreeSet<u64> = accessed.chain(kept.findings.iter().filter_map(|row| row.allocation)).collect();
    kept.allocations.retain(|row| allocations.contains(&row.id));
    let hosts: BTreeSet<u64> =
        kept.allocations.iter().flat_map(|row| &row.copies).filter_map(|copy| copy.host).collect();
    kept.host_allocations.retain(|row| hosts.contains(&row.id));
    for (file, lines) in &mut kept.sources {
        let near = |line: u32| {
            let places = places.iter().filter(|(other, _)| other == file);
            places.into_iter().any(|(_, other)| other.abs_diff(line) <= SOURCE_AROUND)
        };
        lines.retain(|line, _| near(*line));
    }
    kept.sources.retain(|_, lines| !lines.is_empty());
}

/// Returns views with all data of the subject that a filter selects by name; empty if it selects none or several
/// kernels. Figures include the whole profile, or the selected kernels.
pub fn answers(profile: &Profile, filter: &Filter) -> Vec<View> {
    let of_kernels = Filter { kernel: filter.kernel.clone(), ..Filter::default() };
    let Some(whole) = super::apply(profile, &of_kernels) else { return Vec::new() };
    let Some(kept) = super::apply(profile, filter) else { return Vec::new() };
    if filter.finding.is_some() {
        let ranks = kept.findings.iter().map(|finding| finding.rank);
        return ranks.filter_map(|rank| views::finding(&whole, rank)).collect();
    }
    if let Some(place) = &filter.line {
        let places = lines_at(&kept, place);
        return places.iter().filter_map(|(file, line)| views::line(&whole, file, *line)).collect();
    }
    if let Some(name) = &filter.allocation {
        let named = allocations_named(&kept, name);
        let device = named.device.into_iter().filter_map(|id| views::allocation(&whole, id));
        return device.chain(named.host.into_iter().filter_map(|id| views::host_allocation(&whole, id))).collect();
    }
    match (&filter.kernel, &filter.source, &kept.kernels[..]) {
        (Some(_), None, [kernel]) => views::kernel(profile, kernel.id).into_iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_findings_are_read_as_typed() {
        let place = |file: &str, line| Ok(LinePlace { file: file.to_owned(), line });
        assert_eq!("a.cu:20".parse(), place("a.cu", 20));
        assert_eq!("C:/x/a.cu:7".parse(), place("C:/x/a.cu", 7));
        for wrong in ["a.cu", "a.cu:0", ":3", "a.cu:x", ""] {
            assert_eq!(wrong.parse::<LinePlace>(), Err(PlaceError(wrong.to_owned())));
        }
        assert_eq!("3".parse(), Ok(FindingChoice::Rank(3)));
        assert!(matches!("bank-conflict@a.cu:20".parse(), Ok(FindingChoice::Those(_))));
        assert!("no-such-finding".parse::<FindingChoice>().is_err());
    }
}
