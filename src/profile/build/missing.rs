//! Builds the profile's rows of missing work: kernels that ended early, and launches that did not start.

use warpline_format::event::{NotLaunched, StopCause};

use super::rows::Paths;
use crate::model::{FailedCall, Missing};
use warpline_analyzer::analysis::{Analysis, FailedLaunch};

/// Maximum number of separate rows for the launches of one kernel. A program that resets the device can have any number
/// of failed launches.
const ROWS_OF_A_KERNEL: usize = 16;

/// Returns rows for all work that did not run or did not complete.
pub(super) fn rows(analysis: &Analysis) -> Vec<Missing> {
    let mut rows: Vec<Missing> = Vec::new();
    let failures = &analysis.failures;
    let mut of_kernel = vec![0usize; analysis.kernels.len()];
    for failed in &failures.launches {
        let Some(before) = of_kernel.get_mut(failed.kernel as usize) else { continue };
        *before += 1;
        if *before > ROWS_OF_A_KERNEL
            && let Some(row) = rows.iter_mut().find(|row| row.kernel == Some(failed.kernel) && row.launch.is_none())
        {
            row.launches += 1;
            continue;
        }
        let one = *before <= ROWS_OF_A_KERNEL;
        rows.push(Missing {
            what: "ended_early".to_owned(),
            kernel: Some(failed.kernel),
            launch: one.then_some(failed.launch),
            launches: 1,
            error: one.then_some(failed.error),
            reason: if one { reason(failed) } else { "further launches of this kernel".to_owned() },
            ..Missing::default()
        });
    }
    for (why, &launches) in &failures.not_launched {
        rows.push(match why {
            NotLaunched::AfterStop(launch) => Missing {
                what: "after_stop".to_owned(),
                launch: Some(*launch),
                launches,
                reason: format!("the error of launch {launch} was still active"),
                ..Missing::default()
            },
            NotLaunched::NotInstrumented { kernel } => Missing {
                what: "not_instrumented".to_owned(),
                name: kernel.clone(),
                launches,
                reason: "it was compiled without Warpline".to_owned(),
                ..Missing::default()
            },
            NotLaunched::Refused { kernel, error, reason } => Missing {
                what: "refused".to_owned(),
                name: kernel.clone(),
                launches,
                error: Some(*error),
                reason: reason.clone(),
                ..Missing::default()
            },
        });
    }
    rows
}

/// Returns failed API calls by source position.
pub(super) fn failed_calls(analysis: &Analysis, paths: &mut Paths<'_>) -> Vec<FailedCall> {
    let rows = analysis.failures.calls.iter().map(|(call, &calls)| FailedCall {
        function: call.function.clone(),
        error: call.error,
        name: call.name.clone(),
        text: call.text.clone(),
        detail: call.detail.clone(),
        calls,
        path: paths.host(call.path),
    });
    let mut rows: Vec<FailedCall> = rows.collect();
    FailedCall::sort(&mut rows);
    // A loop that the host compiler unrolls has several calls at one line.
    rows.dedup_by(|later, kept| {
        let is_like = kept.is_like(later);
        if is_like {
            kept.calls = kept.calls.saturating_add(later.calls);
        }
        is_like
    });
    rows
}

fn reason(failed: &FailedLaunch) -> String {
    let what = match failed.stopped {
        Some((cause, block)) => {
            let what = match cause {
                StopCause::IllegalAddress => "an invalid memory access",
                StopCause::Misaligned => "a misaligned memory access",
                StopCause::Assert => "a failed assert",
                StopCause::Trap => "a trap",
                StopCause::StackOverflow => "a stack overflow",
                StopCause::IllegalInstruction => "an illegal instruction",
                StopCause::OutOfMemory => "no host memory for its threads",
                StopCause::Deadlock => "a barrier that never opens",
            };
            format!("{what} in block {block}")
        }
        None => "an error".to_owned(),
    };
    format!("{what} (CUDA error {})", failed.error)
}

/// Returns the rows as notes.
pub(super) fn notes(analysis: &Analysis, rows: &[Missing]) -> Vec<String> {
    let plural = |count: u64| if count == 1 { "launch" } else { "launches" };
    let note = |row: &Missing| {
        let (launches, word, reason) = (row.launches, plural(row.launches), &row.reason);
        match (row.what.as_str(), row.kernel, row.launch) {
            ("ended_early", Some(kernel), Some(launch)) => format!(
                "launch {launch} of {} ended early: {reason}; its figures are those of what it did until then",
                name_of(analysis, kernel)
            ),
            ("ended_early", Some(kernel), None) => {
                format!("{launches} further {word} of {} ended early", name_of(analysis, kernel))
            }
            ("after_stop", _, Some(launch)) => {
                format!("{launches} {word} after launch {launch} {} refused: no figure has their work", was(launches))
            }
            ("not_instrumented", ..) => {
                format!("{launches} {word} of {} {} not possible: {reason}", row.name, was(launches))
            }
            _ => {
                let error = row.error.unwrap_or_default();
                let name = row.name.split('(').next().unwrap_or_default();
                format!("{launches} {word} of {name} {} refused (CUDA error {error}): {reason}", was(launches))
            }
        }
    };
    let more = Some(analysis.failures.more_calls).filter(|&calls| calls > 0);
    let more = more.map(|calls| format!("{calls} further calls of CUDA's API failed: too many different ones to list"));
    let ignored = analysis.failures.without_effect.iter().map(|(function, what)| format!("{function}: {what}"));
    rows.iter().map(note).chain(more).chain(ignored).collect()
}

fn was(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// Returns a kernel's name without its parameters.
fn name_of(analysis: &Analysis, kernel: u32) -> &str {
    let name = analysis.kernels.get(kernel as usize).and_then(|kernel| {
        let function = analysis.modules.get(&kernel.module)?.table.functions.get(kernel.function as usize)?;
        function.name.split('(').next()
    });
    name.unwrap_or("a kernel")
}
