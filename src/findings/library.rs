//! Findings in the code of libraries, which users do not change, so they are reported at the line that called the
//! library.

use super::diagnosis::{Name, described};
use super::draft::{Draft, WORTH_A_CHANGE};
use super::facts::Facts;
use super::list::{About, is_about};
use warpline_profile::model::{Frame, Severity};
use warpline_profile::{is_system, library_call};

/// The gain from which on a kernel waits for a limit. Policy.
const LEAST_GAIN: f64 = 1.05;

described! {
    enum Remedy {
        ChangeCall { function: Name } => "change-library-call",
        MergeCalls => "merge-library-calls",
        CheckRanges { function: Name } => "check-ranges",
    }
}

/// Returns the remedy where a library chose how its kernel is written and launched.
pub(super) fn other_code(function: &str) -> Remedy {
    Remedy::ChangeCall { function: Name(function.to_owned()) }
}

/// Moves a finding out of a library to the user's line that called it; `None` if it means nothing to the user.
pub(super) fn from_caller(id: &str, draft: Draft, facts: &Facts<'_>) -> Option<Draft> {
    if draft.file.is_empty() {
        return Some(draft);
    }
    let kernel = draft.kernel.and_then(|id| facts.profile.kernels.iter().find(|kernel| kernel.id == id));
    let Some(call) = kernel.and_then(library_call) else { return Some(draft) };
    let as_note = |draft: Draft| Draft { severity: draft.severity.min(Severity::Note), ..draft };
    let is = |about| is_about(id, about);
    if !is_system(&draft.file) {
        // The launch of a library's kernel is at the user's line already.
        return Some(match () {
            () if is(About::Calls) => Draft { gain: None, ..as_note(draft.with_remedy(&Remedy::MergeCalls)) },
            () if is(About::Launch) => as_note(draft.with_remedy(&other_code(&call.function))),
            () => draft,
        });
    }
    // A different algorithm is not worth a small gain.
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
