//! Findings in the code of libraries: nobody changes that, so they stand at the line that called the library.

use super::diagnosis::{Name, described};
use super::draft::{Draft, WORTH_A_CHANGE};
use super::facts::Facts;
use super::list::{About, is_about};
use warpline_profile::model::{Frame, Severity};
use warpline_profile::{is_system, library_call};

/// The gain from which on a kernel waits for a limit. Policy.
const LEAST_GAIN: f64 = 1.05;

described! {
    /// What users of a library can do, whose code they cannot change.
    pub(super) enum Remedy {
        /// Another algorithm, or sizes and types that this one is tuned for.
        ChangeCall { function: Name } => "change-library-call",
        /// The data of several calls at once.
        MergeCalls => "merge-library-calls",
        /// Ranges that overlap.
        CheckRanges { function: Name } => "check-ranges",
    }
}

/// The remedy where a library chose how its kernel is written and launched.
pub(super) fn other_code(function: &str) -> Remedy {
    Remedy::ChangeCall { function: Name(function.to_owned()) }
}

/// Moves a finding out of a library to the user's line that called it; `None` where it says nothing to the user.
pub(super) fn from_caller(id: &str, draft: Draft, facts: &Facts<'_>) -> Option<Draft> {
    if draft.file.is_empty() {
        return Some(draft);
    }
    let kernel = draft.kernel.and_then(|id| facts.profile.kernels.iter().find(|kernel| kernel.id == id));
    let Some(call) = kernel.and_then(library_call) else { return Some(draft) };
    if !is_system(&draft.file) {
        // The launch of a library's kernel stands at the user's line already.
        return Some(if is_about(id, About::Calls) {
            let draft = draft.with_remedy(&Remedy::MergeCalls);
            Draft { severity: draft.severity.min(Severity::Note), gain: None, ..draft }
        } else if is_about(id, About::Launch) {
            let draft = draft.with_remedy(&other_code(&call.function));
            Draft { severity: draft.severity.min(Severity::Note), ..draft }
        } else {
            draft
        });
    }
    // Nobody changes the library's branches, and those that depend on the user's functions stand in the user's code; nor does anybody
    // take another algorithm for little.
    let is_limit = draft.gain.as_ref().is_some_and(|gain| gain.factor >= LEAST_GAIN);
    if id == "divergent-branch"
        || is_about(id, About::Code) && draft.score < WORTH_A_CHANGE
        || is_about(id, About::Limit) && !is_limit
    {
        return None;
    }
    let inside =
        Frame { function: call.function.clone(), file: draft.file.clone(), line: draft.line, column: draft.column };
    let draft = if id == "race" {
        let remedy = Remedy::CheckRanges { function: Name(call.function.clone()) };
        Draft { severity: draft.severity.min(Severity::Note), ..draft.with_remedy(&remedy) }
    } else if is_about(id, About::Code) {
        Draft { severity: draft.severity.min(Severity::Note), ..draft.with_remedy(&other_code(&call.function)) }
    } else {
        draft
    };
    let caller = &call.caller;
    Some(Draft {
        file: caller.file.clone(),
        line: caller.line,
        column: caller.column,
        inside_library: Some(inside),
        ..draft
    })
}
