//! CUDA API calls that failed, and kernels that ended with an error (CUDA C++ Programming Guide, "Error Checking").

use super::super::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use warpline_profile::model::{FailedCall, Missing};

/// Functions that launch kernels.
const LAUNCHES: [&str; 8] = [
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "cudaLaunchCooperativeKernel",
    "cudaGraphLaunch",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel",
    "cuGraphLaunch",
];

/// CUDA error code for unavailable memory.
const MEMORY_ALLOCATION: i32 = 2;
/// CUDA error code for features that the device, or Warpline, does not support.
const NOT_SUPPORTED: i32 = 801;

described! {
    enum Cause {
        Launch { call: Name, calls: Count, error: Name, text: Shown, reasons: Option<Count> } => "launch-refused",
        Call { call: Name, calls: Count, error: Name, text: Shown, reasons: Option<Count> } => "call-failed",
        Kernel { error: Shown } => "kernel-ended-early",
    }
    enum Remedy {
        FreeMemory => "free-memory",
        UseSupported => "use-supported-function",
        CorrectLaunch => "correct-launch",
        CorrectCall => "correct-call",
        CorrectKernel => "correct-kernel",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut places: BTreeMap<(Option<&Frame>, &str), Vec<&FailedCall>> = BTreeMap::new();
    for call in &facts.profile.failed_calls {
        places.entry((innermost(&call.path), &call.function)).or_default().push(call);
    }
    let failed = places.into_iter().map(|((frame, function), calls)| of_calls(frame, function, &calls));
    failed.chain(facts.profile.run.missing.iter().filter_map(|row| of_kernel(facts, row))).collect()
}

/// Creates the finding for the calls of one function from one line, based on their most frequent error.
fn of_calls(frame: Option<&Frame>, function: &str, calls: &[&FailedCall]) -> Draft {
    let count = calls.iter().map(|call| call.calls).total();
    let most = calls.iter().max_by_key(|call| call.calls);
    let number = most.map_or(0, |call| call.error);
    let text = most.map_or("", |call| if call.detail.is_empty() { &call.text } else { &call.detail });
    let different: BTreeSet<(i32, &str)> = calls.iter().map(|call| (call.error, &call.detail[..])).collect();
    let reasons = Some(Count(different.len() as u64)).filter(|reasons| reasons.0 > 1);
    let (call, text) = (Name(function.to_owned()), Shown(text.to_owned()));
    let error = Name(most.map_or(String::new(), |call| call.name.clone()));
    let is_launch = LAUNCHES.contains(&function);
    let remedy = match number {
        MEMORY_ALLOCATION => Remedy::FreeMemory,
        NOT_SUPPORTED => Remedy::UseSupported,
        _ if is_launch => Remedy::CorrectLaunch,
        _ => Remedy::CorrectCall,
    };
    let cause = if is_launch {
        Cause::Launch { call, calls: Count(count), error, text, reasons }
    } else {
        Cause::Call { call, calls: Count(count), error, text, reasons }
    };
    let draft = Draft::new(Diagnosis::new(&cause, &remedy)).at_frame(frame).object(Some(function));
    let draft = draft.severity(Severity::Error).score(1.0);
    draft.evidence("calls", count as f64).evidence("error", number.into())
}

/// Creates the finding for launches of a kernel that ended with an error. Invalid accesses have separate findings.
fn of_kernel(facts: &Facts<'_>, row: &Missing) -> Option<Draft> {
    let id = row.kernel.filter(|_| row.ended_early())?;
    if facts.profile.faults.iter().any(|fault| fault.kernel == Some(id)) {
        return None;
    }
    let kernel = facts.kernel(Some(id))?;
    let is_launched = |launch: &&Launch| row.launch.is_none_or(|number| launch.id == number);
    let frame = kernel.launches.iter().find(is_launched).and_then(|launch| innermost(&launch.path));
    let cause = Cause::Kernel { error: Shown(row.reason.clone()) };
    let draft = Draft::new(Diagnosis::new(&cause, &Remedy::CorrectKernel)).of_kernel(kernel).at_frame(frame);
    let draft = draft.severity(Severity::Error).score(1.0);
    Some(draft.evidence("calls", row.launches as f64).evidence("error", row.error.unwrap_or_default().into()))
}
