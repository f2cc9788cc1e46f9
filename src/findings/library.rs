//! Findings in the code of libraries: nobody changes that, so they stand at the line that called the library.

use super::context::Context;
use super::draft::{Draft, WORTH_A_CHANGE};
use crate::profile::model::{Frame, Severity};
use crate::profile::{is_system, library_call};

/// Rules whose cure is in how a kernel is written: of a library's kernel they are notes, as the user cannot follow them.
/// The others are about what the user gives to the library: data, its layout and its order.
const ABOUT_CODE: [&str; 11] = [
    "partial-warps",
    "partial-write",
    "bank-conflict",
    "constant-serialised",
    "uniform-load",
    "repeated-load",
    "local-array",
    "spill",
    "atomic-contention",
    "small-launch",
    "launch-tail",
];

/// Those of them that are worth a word only where the library's kernel waits for what they are about.
const OF_LIMITS: [&str; 2] = ["bank-conflict", "atomic-contention"];
/// The gain from which on it does.
const LEAST_GAIN: f64 = 1.05;

/// Those of them that stand at the line of the launch.
const ABOUT_LAUNCHES: [&str; 3] = ["small-launch", "launch-tail", "partial-warps"];

/// The cure of small launches that a library makes: it takes as many blocks as the data needs.
const MORE_AT_ONCE: &str = "the library launches as many blocks as the data needs, so that there is little of it in each call: give it the data of several \
                            calls at once (algorithms by key, segmented or batched ones)";

/// The cure where a library chose how its kernel is written and launched.
pub(super) fn other_code(function: &str) -> String {
    format!(
        "this is the code of `{function}`, not yours: see whether another algorithm of the library, or sizes and types that it is tuned for, serve \
         you better"
    )
}

/// Moves a finding out of a library to the user's line that called it; `None` where it says nothing to the user.
pub(super) fn from_caller(id: &str, draft: Draft, context: &Context<'_>) -> Option<Draft> {
    if draft.file.is_empty() {
        return Some(draft);
    }
    let kernel = draft.kernel.and_then(|id| context.profile.kernels.iter().find(|kernel| kernel.id == id));
    let Some(call) = kernel.and_then(library_call) else { return Some(draft) };
    if !is_system(&draft.file) {
        // The launch of a library's kernel stands at the user's line already.
        return Some(if id == "small-launch" {
            Draft { severity: draft.severity.min(Severity::Note), cure: MORE_AT_ONCE.to_owned(), gain: None, ..draft }
        } else if ABOUT_LAUNCHES.contains(&id) {
            Draft { severity: draft.severity.min(Severity::Note), cure: other_code(&call.function), ..draft }
        } else {
            draft
        });
    }
    // Nobody changes the library's branches, and those that depend on the user's functions stand in the user's code; nor does anybody
    // take another algorithm for little.
    let is_limit = draft.gain.as_ref().is_some_and(|gain| gain.factor >= LEAST_GAIN);
    if id == "divergent-branch"
        || ABOUT_CODE.contains(&id) && draft.score < WORTH_A_CHANGE
        || OF_LIMITS.contains(&id) && !is_limit
    {
        return None;
    }
    let inside = Frame { function: call.function.clone(), file: draft.file, line: draft.line, column: draft.column };
    let (severity, cure) = if id == "race" {
        let cure = format!(
            "see whether ranges that `{}` reads and writes overlap in a way that it does not allow; otherwise the library orders these accesses, \
             or either order gives the same, in a way that is not seen here",
            call.function
        );
        (draft.severity.min(Severity::Note), cure)
    } else if ABOUT_CODE.contains(&id) {
        (draft.severity.min(Severity::Note), other_code(&call.function))
    } else {
        (draft.severity, draft.cure)
    };
    Some(Draft {
        file: call.caller.file.clone(),
        line: call.caller.line,
        column: call.caller.column,
        inside_library: Some(inside),
        severity,
        cure,
        ..draft
    })
}
