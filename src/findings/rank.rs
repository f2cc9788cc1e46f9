//! Runs the rules and ranks their findings.

use std::collections::HashMap;

use super::diagnosis::{Count, Diagnosis};
use super::draft::Draft;
use super::facts::Facts;
use super::group::group;
use super::library;
use super::list::{About, RULES, basis, is_about};
use super::phrase::{Phrase, push};
use super::text::{Text, write};
use warpline_profile::Profile;
use warpline_profile::model::{Finding, Kernel, Severity};
use warpline_simulator::models::Rates;

/// Minimum share of the estimated time of all kernels for a note. Policy: smaller shares do not justify a change.
const LEAST_SCORE: f64 = 0.003;
/// Minimum share for a note about a small part of its kernel.
const LEAST_OF_PART: f64 = 0.01;
/// Minimum share if another limit of the kernel is slower, so that the change alone has no gain.
const LEAST_WITHOUT_GAIN: f64 = 0.03;
/// Minimum share of the kernel's time for a part that is not small.
const SMALL_PART: f64 = 0.2;

/// Minimum cost in seconds of a finding about kernel time, for a gain and a severity above a note. Smaller costs are
/// those of tests, or are unimportant, whatever their share.
const LEAST_SECONDS: f64 = 0.5e-6;
/// Minimum cost as a share of the time of kernels and copies.
const LEAST_OF_PROGRAM: f64 = 0.0002;

/// Maximum number of findings in a report.
const MOST: usize = 500;

/// Returns the findings of a profile, rank 1 first. `rates` are those of its first model.
pub fn find(profile: &Profile, rates: Option<&Rates>) -> Vec<Finding> {
    let facts = Facts::new(profile, rates);
    let mut all: Vec<(&str, Draft)> = Vec::new();
    for rule in RULES {
        all.extend((rule.find)(&facts).into_iter().filter_map(|draft| {
            let draft = library::from_caller(rule.id, draft, &facts)?;
            Some((rule.id, draft))
        }));
    }
    sort(&mut all);
    let mut all: Vec<_> = group(of_lines(all, &facts), &facts)
        .into_iter()
        .filter_map(|(id, draft)| Some((id, worth(id, draft, &facts)?)))
        .collect();
    sort(&mut all);
    all.truncate(MOST);
    let found = (1..)
        .zip(all)
        .map(|(rank, (id, draft))| {
            let mut draft = draft.clone().evidence("wasted_share", draft.score);
            let text = in_words(id, &mut draft, &facts);
            let Diagnosis { cause, remedy, verified, .. } = draft.diagnosis;
            Finding {
                id: id.to_owned(),
                rank,
                severity: draft.severity,
                cause: cause.to_owned(),
                remedy: remedy.to_owned(),
                verified,
                confidence: Some(basis(id)),
                title: text.title,
                kernel: draft.kernel,
                file: draft.file,
                line: draft.line,
                column: draft.column,
                lines: draft.lines,
                other_kernels: draft.other_kernels,
                inside_library: draft.inside_library,
                allocation: draft.allocation,
                object: draft.object,
                evidence: draft.evidence,
                reason: text.reason,
                cure: text.remedy,
                gain: draft.gain,
            }
        })
        .collect();
    by_themselves(found, profile)
}

/// Returns the texts of the diagnosis and adds the remarks. The assumption is moved to the gain.
fn in_words(id: &str, draft: &mut Draft, facts: &Facts<'_>) -> Text {
    let kernel = draft.kernel.and_then(|id| facts.profile.kernels.iter().find(|kernel| kernel.id == id));
    let mut text = write(id, &draft.diagnosis, kernel.is_some_and(Kernel::is_triton));
    if !draft.remarks.is_empty() {
        text.reason = format!("{}{}.", text.reason.trim_end_matches('.'), draft.remarks);
    }
    if let Some(gain) = &mut draft.gain {
        gain.assumption.insert_str(0, &text.assumption);
    }
    text
}

/// Merges findings about loads and stores of one line or one operand, because they are one change. The worst finding
/// represents all of them, with the savings of all.
fn of_lines<'a>(drafts: Vec<(&'a str, Draft)>, facts: &Facts<'_>) -> Vec<(&'a str, Draft)> {
    let mut places = HashMap::new();
    let mut kept: Vec<(&str, Draft, bool)> = Vec::new();
    for (id, draft) in drafts {
        let key = (id, draft.kernel, draft.file.clone(), draft.line, draft.allocation, draft.object.clone());
        let place = if draft.line == 0 { kept.len() } else { *places.entry(key).or_insert(kept.len()) };
        match kept.get_mut(place) {
            Some((_, whole, is_sum)) => {
                if let (Some(sum), Some(saved)) = (&mut whole.saved, draft.saved) {
                    sum.add(saved);
                    *is_sum = true;
                }
            }
            None => kept.push((id, draft, false)),
        }
    }
    kept.into_iter().map(|(id, draft, is_sum)| (id, if is_sum { draft.rated(facts) } else { draft })).collect()
}

/// Sorts findings by importance, the most important first.
fn sort(all: &mut [(&str, Draft)]) {
    all.sort_by(|(one_id, one), (other_id, other)| {
        (other.severity.cmp(&one.severity))
            .then(other.score.total_cmp(&one.score))
            // Scores are limited to the kernel's whole time, so savings decide between equal scores.
            .then(saved(other).total_cmp(&saved(one)))
            .then_with(|| {
                (one_id, &one.file, one.line, one.column, one.kernel).cmp(&(
                    other_id,
                    &other.file,
                    other.line,
                    other.column,
                    other.kernel,
                ))
            })
            .then_with(|| (one.allocation, &one.object).cmp(&(other.allocation, &other.object)))
    });
}

/// Returns the savings of a finding in the limit's unit, to compare findings of one rule and kernel.
fn saved(draft: &Draft) -> f64 {
    draft.saved.as_ref().map_or(0.0, |saved| saved.saving.most())
}

/// Returns the finding with a severity that corresponds to its cost; `None` if it is not worth reporting.
fn worth(id: &str, draft: Draft, facts: &Facts<'_>) -> Option<Draft> {
    if !is_about(id, About::KernelTime) {
        return Some(draft);
    }
    if draft.severity == Severity::Note && is_negligible(&draft, facts) {
        return None;
    }
    if facts.kernel_seconds <= 0.0 {
        return Some(draft);
    }
    // If a kernel was stopped, its complete cost is unknown.
    let was_stopped = facts.profile.faults.iter().any(|fault| fault.stopped && fault.kernel == draft.kernel);
    if was_stopped && draft.kernel.is_some() {
        return Some(draft.severity(Severity::Note));
    }
    let seconds = draft.score * facts.kernel_seconds;
    let little = seconds < LEAST_SECONDS || facts.program_share(seconds) < LEAST_OF_PROGRAM;
    Some(if little { Draft { severity: draft.severity.min(Severity::Note), gain: None, ..draft } } else { draft })
}

/// Returns whether a note's subject is too small for a change.
fn is_negligible(draft: &Draft, facts: &Facts<'_>) -> bool {
    let kernel = facts.profile.kernels.iter().find(|kernel| Some(kernel.id) == draft.kernel);
    let of_kernel = kernel.map_or(0.0, |kernel| facts.kernel_share(kernel));
    let least = match &draft.gain {
        _ if draft.score >= SMALL_PART * of_kernel => LEAST_SCORE,
        Some(_) => LEAST_OF_PART,
        None => LEAST_WITHOUT_GAIN,
    };
    draft.score < least
}

/// Marks gains that cannot be added to those of earlier findings, because a kernel cannot save more than its time.
fn by_themselves(mut found: Vec<Finding>, profile: &Profile) -> Vec<Finding> {
    for kernel in &profile.kernels {
        let Some(estimate) = kernel.estimates.first() else { continue };
        let (mut sum, mut before) = (0.0, Vec::new());
        for finding in found.iter_mut().filter(|finding| finding.kernel == Some(kernel.id)) {
            let Some(gain) = &mut finding.gain else { continue };
            if sum + gain.seconds > estimate.seconds && !before.is_empty() {
                let (first, last) = (before[0], before[before.len() - 1]);
                let last = (last != first).then_some(Count(last));
                push(&mut gain.assumption, &Phrase::NotInAddition { first: Count(first), last });
            }
            sum += gain.seconds;
            before.push(u64::from(finding.rank));
        }
    }
    found
}
