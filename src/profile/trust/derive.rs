//! Derives the trust block from a document.

use std::collections::{BTreeMap, BTreeSet};

use super::block::{Assumption, Certainty, Effect, Group, MissingLaunches, Trust, Uncounted};
use crate::Profile;
use crate::model::{Basis, Metrics, Missing, Run};

/// Assumptions that describe the build and the choice of the model. No figure depends on them alone.
const NOT_PARAMETERS: [&str; 4] = ["compiler", "compiler_options", "model_chosen", "calls_without_effect"];

/// Mode of runs that count requests on a GPU. Without a trace, other figures are unknown.
const COUNTERS: &str = "counters";

/// Derives the reliability of a profile's figures.
pub fn trust(profile: &Profile) -> Trust {
    let not_counted = not_counted(profile);
    let mut figures = counted(profile, &not_counted);
    figures.extend(computed(profile));
    let parameters = profile.run.assumptions.iter().filter(|(name, _)| !NOT_PARAMETERS.contains(&&name[..]));
    let assumed =
        parameters.map(|(parameter, value)| Assumption { parameter: parameter.clone(), value: value.clone() });
    Trust { figures, not_counted, assumed: assumed.collect(), missing: missing(profile) }
}

fn not_counted(profile: &Profile) -> Vec<Uncounted> {
    let operations = profile.not_seen.iter().map(|row| Uncounted {
        what: row.what.clone(),
        function: row.function.clone(),
        file: row.file.clone(),
        line: row.line,
        affects: Effect::Counts,
    });
    let spills = profile.kernels.iter().filter(|kernel| kernel.spill_bytes > 0).map(|kernel| Uncounted {
        what: format!("register spills of {} bytes per thread", kernel.spill_bytes),
        function: kernel.name.clone(),
        file: kernel.file.clone(),
        line: kernel.line,
        affects: Effect::Counts,
    });
    let kernel_name = |id| {
        let kernel = profile.kernels.iter().find(|kernel| kernel.id == id);
        kernel.map_or_else(String::new, |kernel| kernel.name.clone())
    };
    let parted = profile.branches.iter().filter(|branch| branch.order_assumed).map(|branch| Uncounted {
        what: "order of lanes that wait for others of their warp".to_owned(),
        function: kernel_name(branch.kernel),
        file: branch.file.clone(),
        line: branch.line,
        affects: Effect::ControlFlow,
    });
    let calls = profile.run.assumptions.get("calls_without_effect").map_or("", String::as_str);
    let calls = calls.split(", ").filter(|name| !name.is_empty()).map(|name| Uncounted {
        what: "call that has no effect on the model".to_owned(),
        function: name.to_owned(),
        file: String::new(),
        line: 0,
        affects: Effect::Model,
    });
    operations.chain(spills).chain(parted).chain(calls).collect()
}

/// Returns the groups of counts.
fn counted(profile: &Profile, not_counted: &[Uncounted]) -> BTreeMap<Group, Certainty> {
    let run = &profile.run;
    let of_run = lost(profile);
    let mut of_launches = of_run.clone();
    of_launches.extend(sampled(profile));
    let affecting = |effect| not_counted.iter().filter(|row| row.affects == effect).count();
    let mut of_accesses = of_launches.clone();
    match affecting(Effect::Counts) {
        0 => {}
        1 => of_accesses.push("1 memory operation is not counted".to_owned()),
        several => of_accesses.push(format!("{several} memory operations are not counted")),
    }
    match affecting(Effect::ControlFlow) {
        0 => {}
        branches => {
            let text =
                format!("the order of lanes is assumed at {branches} {}", plural(branches, "branch", "branches"));
            of_accesses.push(text.clone());
            of_launches.push(text);
        }
    }
    let mut groups = vec![(Group::Accesses, of_accesses)];
    if run.mode != COUNTERS {
        groups.extend([(Group::ControlFlow, of_launches), (Group::Allocations, of_run)]);
    }
    if let Some(extent) = run.race_check.as_deref().filter(|_| run.mode != COUNTERS) {
        let part =
            (extent == "sampled").then(|| "a sample of the accesses is checked (--check-race checks all)".to_owned());
        groups.push((Group::Conflicts, part.into_iter().collect()));
    }
    let certainty = |reasons: Vec<String>| Certainty { basis: Basis::Counted, exact: reasons.is_empty(), reasons };
    groups.into_iter().map(|(group, reasons)| (group, certainty(reasons))).collect()
}

/// Returns descriptions of the data that the counts lack.
fn lost(profile: &Profile) -> Vec<String> {
    let run = &profile.run;
    let mut reasons = Vec::new();
    if run.dropped_records > 0 {
        reasons.push(format!("{} records were dropped", run.dropped_records));
    }
    let sum = |rows: &mut dyn Iterator<Item = &Missing>| rows.map(|row| row.launches).fold(0, u64::saturating_add);
    let early = sum(&mut run.missing.iter().filter(|row| row.ended_early()));
    if early > 0 {
        reasons.push(format!("{early} {} ended early", plural(early as usize, "launch", "launches")));
    }
    let absent = sum(&mut run.missing.iter().filter(|row| row.is_work() && !row.ended_early()));
    if absent > 0 {
        reasons.push(format!("{absent} {} did not run", plural(absent as usize, "launch", "launches")));
    }
    if !run.complete && reasons.is_empty() {
        reasons.push("the run is incomplete".to_owned());
    }
    reasons
}

/// Returns a description of the recorded part of the launches.
fn sampled(profile: &Profile) -> Option<String> {
    if !profile.run.sampled {
        return None;
    }
    let all: u64 = profile.kernels.iter().map(|kernel| kernel.launch_count()).fold(0, u64::saturating_add);
    let recorded = profile.kernels.iter().map(|kernel| kernel.recorded_launches()).fold(0, u64::saturating_add);
    Some(match recorded < all {
        true => format!("{recorded} of {all} launches are recorded"),
        false => "a part of the blocks is recorded".to_owned(),
    })
}

/// Returns the modelled and estimated groups that the profile has.
fn computed(profile: &Profile) -> BTreeMap<Group, Certainty> {
    let run = &profile.run;
    if run.mode == COUNTERS {
        return BTreeMap::new();
    }
    let metrics = || profile.kernels.iter().flat_map(|kernel| kernel.metrics.values());
    let has = |figure: fn(&Metrics) -> bool| metrics().any(figure);
    let mut groups: Vec<(Group, Basis, Vec<String>)> = Vec::new();
    if has(|one| one.shared.is_some() || one.constant.is_some() || one.l1_wavefronts.is_some()) {
        groups.push((Group::Passes, Basis::Modelled, Vec::new()));
    }
    if has(|one| one.l1.is_some()) {
        let assumed =
            assumption(run, "model_figures_assumed").map(|text| format!("assumed figures of the model: {text}"));
        let unrecorded = run.sampled.then(|| "launches and blocks that are not recorded are not simulated".to_owned());
        groups.push((Group::Caches, Basis::Modelled, assumed.into_iter().chain(unrecorded).collect()));
    }
    if has(|one| one.reuse.is_some()) {
        let approximate = assumption(run, "reuse_distances");
        let basis = if approximate.is_some() { Basis::Estimated } else { Basis::Modelled };
        groups.push((Group::ReuseDistances, basis, approximate.map(str::to_owned).into_iter().collect()));
    }
    if profile.kernels.iter().flat_map(|kernel| &kernel.launches).any(|launch| launch.resident_blocks > 0) {
        let assumed =
            (assumption(run, "occupancy") == Some("assumed")).then(|| "registers per thread are assumed".to_owned());
        groups.push((Group::Occupancy, Basis::Modelled, assumed.into_iter().collect()));
    }
    if profile.kernels.iter().any(|kernel| !kernel.estimates.is_empty()) {
        groups.push((Group::Time, Basis::Estimated, reasons_of_times(profile)));
    }
    if let Some(whole) = &run.whole_run {
        let text = format!(
            "from {} of {} launches; bounds hold with a probability of {}",
            whole.recorded_launches, whole.launches, whole.confidence
        );
        groups.push((Group::WholeRun, Basis::Estimated, vec![text]));
    }
    let certainty = |basis, reasons| Certainty { basis, exact: false, reasons };
    groups.into_iter().map(|(group, basis, reasons)| (group, certainty(basis, reasons))).collect()
}

fn reasons_of_times(profile: &Profile) -> Vec<String> {
    let estimates = || profile.kernels.iter().filter_map(|kernel| Some((kernel, kernel.estimates.first()?)));
    let unknown: BTreeSet<&str> = estimates().flat_map(|(_, estimate)| &estimate.unknown).map(String::as_str).collect();
    let mut reasons = vec!["all parts overlap, and no request waits for latencies".to_owned()];
    if !unknown.is_empty() {
        let unknown: Vec<&str> = unknown.into_iter().collect();
        reasons.push(format!("the model has no rate of: {}", unknown.join(", ")));
    }
    let left_out = |(kernel, estimate): (&crate::model::Kernel, &crate::model::Estimate)| {
        kernel.recorded_launches().saturating_sub(estimate.launches)
    };
    match estimates().map(left_out).fold(0, u64::saturating_add) {
        0 => {}
        launches => {
            let word = plural(launches as usize, "launch", "launches");
            reasons.push(format!("{launches} recorded {word} without an estimate"));
        }
    }
    reasons
}

fn missing(profile: &Profile) -> Vec<MissingLaunches> {
    let name = |id: u32| profile.kernels.iter().find(|kernel| kernel.id == id).map(|kernel| kernel.name.clone());
    let rows = profile.run.missing.iter().map(|row| MissingLaunches {
        what: row.what.clone(),
        kernel: row.kernel.and_then(name).unwrap_or_else(|| row.name.clone()),
        launches: row.launches,
        reason: row.reason.clone(),
    });
    let unrecorded = profile.kernels.iter().filter_map(|kernel| {
        let launches = kernel.launch_count().saturating_sub(kernel.recorded_launches());
        (launches > 0).then(|| MissingLaunches {
            what: "not_recorded".to_owned(),
            kernel: kernel.name.clone(),
            launches,
            reason: "the options of the run exclude them".to_owned(),
        })
    });
    rows.chain(unrecorded).collect()
}

fn assumption<'a>(run: &'a Run, name: &str) -> Option<&'a str> {
    run.assumptions.get(name).map(String::as_str)
}

fn plural<'a>(count: usize, one: &'a str, several: &'a str) -> &'a str {
    if count == 1 { one } else { several }
}

#[cfg(test)]
mod tests {
    use super::super::block::is_count;
    use super::*;
    use crate::model::{Estimate, Kernel, LevelMetrics, NotSeen};

    fn whole() -> Profile {
        let metrics = Metrics { l1: Some(LevelMetrics::default()), ..Metrics::default() };
        let kernel = Kernel {
            name: "sum".to_owned(),
            launch_count: 4,
            metrics: [("global".to_owned(), metrics)].into(),
            estimates: vec![Estimate { launches: 4, ..Estimate::default() }],
            ..Kernel::default()
        };
        let run = Run { complete: true, mode: "trace".to_owned(), ..Run::default() };
        Profile { run, kernels: vec![kernel], ..Profile::default() }
    }

    #[test]
    fn a_whole_run_is_exact() {
        let trust = trust(&whole());
        assert!(trust.figures.iter().all(|(group, one)| one.exact || !is_count(*group, one)), "{trust:?}");
        let words: Vec<_> = trust.figures.iter().map(|(group, certainty)| (*group, certainty.basis)).collect();
        let expected = [
            (Group::Accesses, Basis::Counted),
            (Group::ControlFlow, Basis::Counted),
            (Group::Allocations, Basis::Counted),
            (Group::Caches, Basis::Modelled),
            (Group::Time, Basis::Estimated),
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn what_is_missing_is_in_the_reasons() {
        let mut profile = whole();
        profile.run.complete = false;
        profile.run.missing = vec![
            Missing { what: "ended_early".to_owned(), kernel: Some(0), launches: 1, ..Missing::default() },
            Missing { what: "refused".to_owned(), name: "big".to_owned(), launches: 2, ..Missing::default() },
        ];
        profile.not_seen = vec![NotSeen {
            function: "sum".to_owned(),
            file: "/a.cu".to_owned(),
            line: 3,
            what: "inline assembly".to_owned(),
        }];
        let trust = trust(&profile);
        assert!(!trust.figures[&Group::Accesses].exact);
        let reasons = |group| trust.figures[&group].reasons.clone();
        assert_eq!(reasons(Group::Accesses), ["1 launch ended early", "1 memory operation is not counted"]);
        assert_eq!(reasons(Group::Allocations), ["1 launch ended early"]);
        // Work that a GPU also refuses is not missing in the counts.
        let missing: Vec<_> = trust.missing.iter().map(|row| (&row.kernel[..], row.launches)).collect();
        assert_eq!(missing, [("sum", 1), ("big", 2)]);
    }

    #[test]
    fn a_sample_is_not_exact() {
        let mut profile = whole();
        profile.run.sampled = true;
        profile.kernels[0].recorded_launches = Some(1);
        profile.run.assumptions.insert("reuse_distances".to_owned(), "approximate".to_owned());
        profile.kernels[0].metrics.get_mut("global").unwrap().reuse = Some(Default::default());
        let trust = trust(&profile);
        assert_eq!(trust.figures[&Group::Accesses].reasons, ["1 of 4 launches are recorded"]);
        assert!(trust.figures[&Group::Allocations].exact && !trust.figures[&Group::Accesses].exact);
        assert_eq!(trust.figures[&Group::ReuseDistances].basis, Basis::Estimated);
        assert_eq!(trust.missing[0].what, "not_recorded");
    }
}
