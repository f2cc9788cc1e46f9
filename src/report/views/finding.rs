//! View of a finding: problem, position, reason, suggested change and evidence.

use super::figures::{figure, words};
use super::links::{allocation_name, kernel_name, line_target};
use super::model::{Block, Cell, Fact, Row, Table, Target, View};
use super::source::source;
use crate::finding_text;
use warpline_findings::pages;
use warpline_profile::Profile;
use warpline_profile::model::Finding;

/// Number of source lines shown before and after the finding's line.
const AROUND: u32 = 4;

/// Returns the view of a finding by rank; `None` if the profile has no finding with this rank.
pub fn finding(profile: &Profile, rank: u32) -> Option<View> {
    let finding = profile.findings.iter().find(|finding| finding.rank == rank)?;
    let title =
        format!("FINDING {rank}: {} {} at {}", finding.severity.name(), finding.id, finding_text::place(finding));
    let known = !finding.file.is_empty() && finding.line > 0;
    let mut blocks = vec![Block::Facts(facts(profile, finding))];
    blocks.extend(source(profile, &finding.file, finding.line, AROUND).map(Block::Source));
    blocks.extend(evidence(finding));
    if let Some(page) = pages().find(|page| page.id == finding.id) {
        blocks.push(Block::Prose(format!("{} (the whole page: warpline explain {})", page.summary(), page.id)));
    }
    Some(View { title, place: known.then(|| (finding.file.clone(), finding.line)), blocks })
}

fn facts(profile: &Profile, finding: &Finding) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |label, text: String, target| facts.push(Fact { label, text, target });
    fact("line", finding_text::place(finding), line_target(&finding.file, finding.line));
    if let Some(id) = finding.kernel {
        fact("kernel", kernel_name(profile, id), Some(Target::Kernel(id)));
    }
    if let Some(library) = finding_text::library(finding) {
        fact("library", library, None);
    }
    match (finding.allocation, finding_text::object(profile, finding)) {
        (Some(id), object) => {
            let name = allocation_name(profile, Some(id));
            let text = object.filter(|object| *object != name).map(|object| format!("{object}, allocation {name}"));
            fact("object", text.unwrap_or(name), Some(Target::Allocation(id)));
        }
        (None, Some(object)) => fact("object", object, None),
        (None, None) => {}
    }
    // Profiles of version 0.1 contain no ids of causes.
    for (label, id) in [("cause", &finding.cause), ("remedy", &finding.remedy)] {
        if !id.is_empty() {
            fact(label, id.clone(), None);
        }
    }
    fact("why", finding.reason.clone(), None);
    fact("cure", finding.cure.clone(), None);
    if let Some(gain) = &finding.gain {
        fact("gain", finding_text::gain(finding, gain), None);
    }
    facts
}

fn evidence(finding: &Finding) -> Option<Block> {
    let number = |value: f64| {
        // Integers are counts; other values are shares, means and times.
        let whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
        Cell::Text(if whole { (value as u64).to_string() } else { format!("{value:.6}") })
    };
    let rows: Vec<Row> = finding
        .evidence
        .iter()
        .map(|(name, &value)| Row { cells: vec![number(value), Cell::Text(name.clone())], target: None })
        .collect();
    let columns = vec![figure("value", 1, "The number that the finding is based on"), words("evidence")];
    let table = Table { heading: "EVIDENCE".to_owned(), columns, rows, sorted: None };
    (!finding.evidence.is_empty()).then_some(Block::Table(table))
}
