//! Runs the rules and puts what they find in order.

use super::context::Context;
use super::draft::Draft;
use super::in_triton;
use super::library;
use super::list::RULES;
use crate::models::Rates;
use crate::profile::Profile;
use crate::profile::model::{Finding, Severity};

/// What an access wastes of the time, at least, to be worth a word.
const LEAST_SCORE: f64 = 0.0003;
/// Rules about single accesses, of which a program has many.
const ABOUT_ACCESSES: [&str; 7] = [
    "strided-access",
    "struct-fields",
    "random-gather",
    "misaligned-access",
    "bank-conflict",
    "constant-serialised",
    "memory-accumulator",
];

/// Findings that are kept; a program with more has enough to do.
const MOST: usize = 500;

/// The findings of a profile, rank 1 first; `rates` are those of its first model.
pub fn find(profile: &Profile, rates: Option<&Rates>) -> Vec<Finding> {
    let context = Context::new(profile, rates);
    let mut all: Vec<(&str, Draft)> = Vec::new();
    for rule in RULES {
        all.extend((rule.find)(&context).into_iter().filter_map(|draft| {
            let draft = library::from_caller(rule.id, draft, &context)?;
            Some((rule.id, in_triton::in_its_language(rule.id, draft, &context)))
        }));
    }
    all.sort_by(|(one_id, one), (other_id, other)| {
        (other.severity.cmp(&one.severity))
            .then(other.score.total_cmp(&one.score))
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
    all.retain(|(id, draft)| {
        !(ABOUT_ACCESSES.contains(id) && draft.severity == Severity::Note && draft.score < LEAST_SCORE)
    });
    // Loads and stores of one line, or of one operand, are one thing to change; the worst stands for all.
    let mut seen = std::collections::HashSet::new();
    all.retain(|(id, draft)| {
        let key = (*id, draft.kernel, draft.file.clone(), draft.line, draft.allocation, draft.object.clone());
        draft.line == 0 || seen.insert(key)
    });
    all.truncate(MOST);
    (1..)
        .zip(all)
        .map(|(rank, (id, draft))| {
            let draft = draft.clone().evidence("wasted_share", draft.score);
            Finding {
                id: id.to_owned(),
                rank,
                severity: draft.severity,
                kernel: draft.kernel,
                file: draft.file,
                line: draft.line,
                column: draft.column,
                inside_library: draft.inside_library,
                allocation: draft.allocation,
                object: draft.object,
                evidence: draft.evidence,
                reason: draft.reason,
                cure: draft.cure,
                gain: draft.gain,
            }
        })
        .collect()
}
