//! Findings in library code. Users cannot change this code, so the findings are reported at the line that called the
//! library.

use super::diagnosis::{Name, described};
use super::draft::{Draft, WORTH_A_CHANGE};
use super::facts::Facts;
use super::list::{About, is_about};
use warpline_profile::model::{Frame, Severity};
use warpline_profile::{is_system, library_call};

/// Minimum gain for a kernel that is limited by a resource. Policy.
const LEAST_GAIN: f64 = 1.05;

described! {
    enum Remedy {
        ChangeCall { function: Name } => "change-library-call",
        MergeCalls => "merge-library-calls",
        CheckRanges { function: Name } => "check-ranges",
    }
}

/// Returns the remedy if a library determines the code and the launch of its kernel.
pub(super) fn other_code(function: &str) -> Remedy {
    Remedy::ChangeCall { function: Name(function.to_owned()) }
}

/// Moves a finding from library code to the user's line that called it; `None` if the finding is not useful to the
/// user.
pub(super) fn from_caller(id: &str, draft: Draft, facts: &Facts<'_>) -> Option<Draft> {
    if draft.file.is_empty() {
        return Some(draft);
    }
    let kernel = draft.kernel.and_then(|id| facts.profile.kernels.iter().find(|kernel| kernel.id == id));
    let Some(call) = kernel.and_then(library_call) else { return Some(draft) };
    let as_note = |draft: Draft| Draft { severity: draft.severity.min(Severity::Note), ..draft };
    let is = |about| is_about(id, about);
    if !is_system(&draft.file) {
        // The launch of a library's kernel is already at the user's line.
        return Some(match () {
            () if is(About::Calls) => Draft { gain: None, ..as_note(draft.with_remedy(&Remedy::MergeCalls)) },
            () if is(About::Launch) => as_note(draft.with_remedy(&other_code(&call.function))),
            () => draft,
        });
    }
    // A small gain does not justify a different algorithm.
    let is_limit = draft.gain.as_ref().is_some_and(|gain| gain.factor >= LEAST_GAIN);
    let is_little = is(About::Code) && draft.score < WORTH_A_CHANGE || is(About::Limit) && !is_limit;
    if is(About::Inner) || is_little {
        return None;
    }
    let inside =
        Frame { function: call.function.clone(), file: draft.file.clone(), line: draft.line, column: draft.column };
    let function = Name(call.function.clone());
    let draft = match () {
        () if is(About::Order) => as_note(draft.with_remedy(&Remedy::CheckRanges { function })),
        () if is(About::Code) => as_note(draft.with_remedy(&other_code(&call.function))),
        () => draft,
    };
    Some(Draft { inside_library: Some(inside), ..draft.at_frame(Some(call.caller)) })
}
