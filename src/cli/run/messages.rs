//! Messages of `run` after the program has ended.

use std::path::Path;

use super::plan::Plan;
use warpline_profile::Profile;
use warpline_profile::ranks;

/// Returns a note if further processes of the program used the device and are not in the profile.
pub(super) fn other_processes(refused: u32, children: bool) -> Option<String> {
    let (processes, their, were) =
        if refused == 1 { ("process", "its", "was") } else { ("processes", "their", "were") };
    (refused > 0).then(|| match children {
        // All other processes have a trace.
        true => format!(
            "{refused} {processes} {were} forked from one that used the device already, where CUDA does not work: {their} work is not in \
             the profile"
        ),
        false => format!(
            "{refused} other {processes} of this run used the device, and {their} work is not in the profile; `warpline run --children` puts \
             the work of all processes together"
        ),
    })
}

/// Explains why a program that ended with `code` may have produced nothing to profile.
pub(super) fn not_instrumented(plan: &Plan, code: u8) -> String {
    let python = Path::new(&plan.program).file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    let built = match python {
        true => "launched no kernel that Warpline compiles (of Triton or NVRTC)",
        false => "was not built with `warpline cc`, never reached the CUDA runtime, or reported why it cannot",
    };
    let program = plan.program.to_string_lossy();
    match code {
        0 => format!("{program} sent nothing: it {built}; no profile is written"),
        _ => format!(
            "{program} ended with exit code {code} and sent nothing: it failed before its first kernel, or {built}; no profile is written"
        ),
    }
}

/// Offers this machine's GPU to a user who chose no device. `how` describes how to use it.
pub(in crate::cli) fn gpu_offer(name: &str, how: &str) -> String {
    format!("note: the kernels ran on the CPU device, and this machine has a GPU ({name}): to run them there, {how}")
}

/// Prints one line for the user, and the command that shows more.
pub(super) fn report(plan: &Plan, profile: &Profile) {
    if plan.rank.rank.as_ref().is_some_and(|rank| rank.index != 0) {
        report_rank(profile);
        return;
    }
    for note in &profile.run.notes {
        crate::cli::output::say(format_args!("note: {note}"));
    }
    // The program's runtime has already reported each fault when it occurred.
    let of_kind = |kind: &str| profile.faults.iter().filter(|fault| fault.kind == kind).count();
    let (barriers, pairs) = (of_kind("divergent_barrier"), of_kind("different_barriers"));
    let remarks = of_kind("misaligned_local");
    for (count, one, several) in [
        (profile.faults.len() - barriers - pairs - remarks, "bad access", "bad accesses"),
        (remarks, "misaligned access to a local variable", "misaligned accesses to local variables"),
        (barriers, "divergent barrier", "divergent barriers"),
        (
            pairs,
            "pair of different barriers that wait for each other",
            "pairs of different barriers that wait for each other",
        ),
    ] {
        if count > 0 {
            let what = if count == 1 { one } else { several };
            crate::cli::output::say(format_args!("{count} {what}, see the report"));
        }
    }
    let unset = profile.uninitialised.iter().filter(|row| !row.partial).count();
    let made = profile.float_origins.iter().filter(|origin| origin.kind == "nan").count();
    for (count, one, several) in [
        (unset, "place uses memory that nothing has written", "places use memory that nothing has written"),
        (made, "allocation gets a NaN", "allocations get NaNs"),
    ] {
        if count > 0 {
            let what = if count == 1 { one } else { several };
            crate::cli::output::say(format_args!("{count} {what}, see the report"));
        }
    }
    if let Some(line) = warpline_report::conflicts_in_short(profile) {
        crate::cli::output::say(format_args!("{line}"));
    }
    let requests: u64 =
        profile.kernels.iter().flat_map(|kernel| kernel.metrics.values()).map(|metrics| metrics.requests).sum();
    crate::cli::output::say(format_args!(
        "{} kernel{}, {requests} memory requests; wrote {}{}",
        profile.kernels.len(),
        if profile.kernels.len() == 1 { "" } else { "s" },
        plan.output.display(),
        if profile.run.complete { "" } else { " (INCOMPLETE, see the notes)" },
    ));
    if let Some(name) = &plan.unused_gpu {
        crate::cli::output::say(gpu_offer(
            name,
            "build with `warpline cc --device=gpu` and start with `warpline run --device gpu`",
        ));
    }
    if let Some(code) = profile.run.exit_code.filter(|code| *code != 0 && profile.kernels.is_empty()) {
        crate::cli::output::say(format_args!(
            "the program failed with exit code {code} before its first kernel: there is nothing to report"
        ));
        return;
    }
    match plan.output.parent().filter(|_| plan.rank.rank.is_some() && ranks::rank_of(&plan.output).is_some()) {
        Some(folder) => crate::cli::output::say(format_args!(
            "next, when all ranks are done: warpline merge {} -o {}",
            folder.display(),
            folder.with_extension("wlprof").display()
        )),
        None => crate::cli::output::say(format_args!("next: warpline report {}", plan.output.display())),
    }
}

/// Prints at most one line per rank, and only for a problem, because there may be thousands of ranks.
fn report_rank(profile: &Profile) {
    let faults = profile.faults.len();
    let mut parts = Vec::new();
    if let Some(code) = profile.run.exit_code.filter(|code| *code != 0) {
        parts.push(format!("the program ended with exit code {code}"));
    }
    if faults > 0 {
        parts.push(format!("{faults} bad access{}", if faults == 1 { "" } else { "es" }));
    }
    if !profile.run.complete {
        parts.push("the profile is incomplete, see its notes".to_owned());
    }
    if !parts.is_empty() {
        crate::cli::output::say(parts.join("; "));
    }
}
