//! The verdict on a profile.

use super::baseline::Choice;
use super::case::Case;
use super::document::{Baseline, Program, Verdict};
use crate::limits::LimitSet;
use crate::{Options, compare};
use warpline_profile::Profile;

/// Default limits, in the form of a limits file.
pub const DEFAULT_LIMITS: &str = include_str!("default-limits.toml");

/// A verdict with the profiles that it refers to.
#[derive(Debug)]
pub struct Judged {
    /// The result.
    pub program: Program,
    /// The profile of the baseline.
    pub before: Option<Profile>,
    /// The judged profile.
    pub after: Profile,
}

/// Compares a profile with its baseline. Without a baseline, absolute limits still apply.
pub fn judge(case: Case, choice: Choice, why: &str, limits: &LimitSet, options: &Options) -> Judged {
    let Case { name, commit, branch, profile: after, .. } = case;
    let (baseline, before) = match choice.chosen {
        Some((recorded, profile)) => (Some(Baseline::from_record(&recorded, why)), Some(profile)),
        None => (None, None),
    };
    let comparison = match (&before, choice.passed.is_empty()) {
        (Some(before), _) => Some(compare(before, &after, options, Some(limits))),
        (None, true) => Some(compare(&after, &after, options, Some(limits))),
        (None, false) => None,
    };
    let broken = comparison.iter().flat_map(|diff| &diff.limits).any(|limits| !limits.broken.is_empty());
    let verdict = match (&baseline, &comparison) {
        _ if broken => Verdict::Broken,
        (_, None) => Verdict::Unlike,
        (None, Some(_)) => Verdict::NoBaseline,
        (Some(_), Some(_)) => Verdict::Held,
    };
    let models = after.run.models.clone();
    let program = Program { name, models, commit, branch, verdict, baseline, passed: choice.passed, comparison };
    Judged { program, before, after }
}
