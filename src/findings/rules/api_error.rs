//! Calls of CUDA's API that failed, and kernels that ended with an error (CUDA C++ Programming Guide, "Error Checking").

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::Draft;
use super::super::facts::{Facts, innermost};
use crate::profile::model::{FailedCall, Frame, Launch, Missing, Severity};

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

/// CUDA error code of memory that is not available.
const MEMORY_ALLOCATION: i32 = 2;
/// CUDA error code of what the device, or Warpline, does not offer.
const NOT_SUPPORTED: i32 = 801;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut places: BTreeMap<(Option<&Frame>, &str), Vec<&FailedCall>> = BTreeMap::new();
    for call in &facts.profile.failed_calls {
        places.entry((innermost(&call.path), &call.function)).or_default().push(call);
    }
    let failed = places.into_iter().map(|((frame, function), calls)| of_calls(frame, function, &calls));
    failed.chain(facts.profile.run.missing.iter().filter_map(|row| of_kernel(facts, row))).collect()
}

/// The calls of one function from one line.
fn of_calls(frame: Option<&Frame>, function: &str, calls: &[&FailedCall]) -> Draft {
    let count = calls.iter().map(|call| call.calls).fold(0, u64::saturating_add);
    let most = calls.iter().max_by_key(|call| call.calls);
    let (error, name) = most.map_or((0, ""), |call| (call.error, &call.name));
    let text = most.map_or("", |call| if call.detail.is_empty() { &call.text } else { &call.detail });
    let times = if count == 1 { "failed".to_owned() } else { format!("failed {count} times") };
    let reasons: BTreeSet<(i32, &str)> = calls.iter().map(|call| (call.error, &call.detail[..])).collect();
    let others = match reasons.len() {
        0 | 1 => String::new(),
        count => format!("; {count} different reasons, of which this is the most frequent"),
    };
    let is_launch = LAUNCHES.contains(&function);
    let effect = if is_launch { ": the kernel did not run" } else { "" };
    let reason = format!("{function} {times} with {name} ({text}){effect}{others}");
    let cure = match error {
        MEMORY_ALLOCATION => {
            "free memory that is no longer needed, or use less; check the returned error and handle it"
        }
        NOT_SUPPORTED => {
            "use a function that this device offers; where a GPU does, docs/limits.md lists what Warpline does not provide"
        }
        _ if is_launch => "correct the launch's configuration, and check cudaGetLastError() after it",
        _ => "correct the call's arguments or its order, and check the error that it returns",
    };
    let draft = Draft::new(reason, cure).at_frame(frame).object(Some(function)).severity(Severity::Error).score(1.0);
    draft.evidence("calls", count as f64).evidence("error", error.into())
}

/// Launches of a kernel that ended with an error of their own; bad accesses are findings already.
fn of_kernel(facts: &Facts<'_>, row: &Missing) -> Option<Draft> {
    let id = row.kernel.filter(|_| row.ended_early())?;
    if facts.profile.faults.iter().any(|fault| fault.kernel == Some(id)) {
        return None;
    }
    let kernel = facts.profile.kernels.iter().find(|kernel| kernel.id == id)?;
    let launched = |launch: &&Launch| row.launch.is_none_or(|number| launch.id == number);
    let frame = kernel.launches.iter().find(launched).and_then(|launch| innermost(&launch.path));
    let reason = format!("the kernel ended with {}: what it should have done after that is missing", row.reason);
    let cure = "correct the kernel, and check the error that cudaDeviceSynchronize() returns after it";
    let draft = Draft::new(reason, cure).of_kernel(kernel).at_frame(frame).severity(Severity::Error).score(1.0);
    Some(draft.evidence("calls", row.launches as f64).evidence("error", row.error.unwrap_or_default().into()))
}
