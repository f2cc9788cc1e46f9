//! Notes for readers of the profile about the run and the trace.

use std::collections::{BTreeMap, BTreeSet};

use super::document::RunFacts;
use super::kernels::whole;
use super::run::sampled;
use crate::model::{Kernel, Profile};
use warpline_analyzer::analysis::sharing::{ALLOCATIONS, LAUNCHES};
use warpline_analyzer::analysis::{Analysis, Finish, GivenUp, KernelData};
use warpline_format::occupancy::architecture;

const COUNTERS_MODE: &str = "requests were counted on the GPU and no trace was kept: which allocations they touch, bank \
                             conflicts, caches and reuse distances are not known";

/// Maximum number of launches without an end that are named.
const MOST_CUT: usize = 8;

/// Returns notes on how the run and its trace ended, and on the data that is missing as a result.
pub(super) fn of_finish(analysis: &Analysis, facts: &RunFacts) -> Vec<String> {
    let mut notes = Vec::new();
    match &analysis.finish {
        Finish::Complete => {}
        Finish::Nothing | Finish::Unfinished => {
            notes.push("the program ended before its trace did: figures cover what it had sent until then".to_owned())
        }
        Finish::OutOfMemory => notes.push(
            "--memory: what is known of the launches so far takes all that was granted, and nothing is left to give up; figures \
             cover what came before"
                .to_owned(),
        ),
        Finish::Damaged(what) => {
            notes.push(format!("the trace is damaged: {what}; figures cover what came before"));
        }
    }
    for given_up in &analysis.given_up {
        let GivenUp::Conflicts { launch } = given_up;
        notes.push(format!(
            "--memory: conflicts between warps were not checked from launch {launch} on, as the memory of who touched what is \
             too large; those found before are listed"
        ));
    }
    if analysis.counted {
        notes.push(COUNTERS_MODE.to_owned());
        let modules = analysis.kernels.iter().map(|kernel| kernel.module).collect::<BTreeSet<_>>();
        let sites = modules.iter().filter_map(|id| analysis.modules.get(id)).flat_map(|module| &module.table.sites);
        let odd = sites.filter(|site| !warpline_format::gpu::is_counted(site)).count();
        if odd > 0 {
            notes.push(format!("{odd} accesses of unusual width or alignment were not counted"));
        }
    }
    if analysis.dropped > 0 {
        notes.push(format!(
            "{} records were dropped, as the options allow: all counts are too low by them",
            analysis.dropped
        ));
    }
    notes.extend(of_recorded_part(analysis));
    notes.extend(of_shared_rows(analysis));
    notes.extend(of_unlisted_rows(analysis));
    notes.extend(of_cut_launches(analysis));
    if analysis.kernels.is_empty() && matches!(analysis.finish, Finish::Complete) && facts.ended_by_itself {
        notes.push("the program launched no kernel".to_owned());
    }
    notes
}

/// Returns a note if only a part of the work was recorded.
fn of_recorded_part(analysis: &Analysis) -> Option<String> {
    let recorded: u64 = analysis.kernels.iter().map(KernelData::recorded_launches).sum();
    if sampled(analysis) && recorded == 0 {
        let all: u64 = analysis.kernels.iter().map(KernelData::launch_count).sum();
        let launches = if all == 1 { "the only launch was not" } else { &format!("none of the {all} launches was") };
        return Some(format!(
            "nothing was recorded: {launches} requested; only allocations and copies are in the profile"
        ));
    }
    if let Some(whole) = &analysis.whole {
        return Some(whole::note(&whole.all));
    }
    sampled(analysis).then(|| {
        let what = "only a part of the launches or blocks was recorded: counts are those of that part, and the simulated \
                    caches saw nothing else";
        what.to_owned()
    })
}

/// Returns notes on launches and allocations that share rows.
fn of_shared_rows(analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    let grouped: u64 =
        analysis.kernels.iter().flat_map(|kernel| kernel.groups.values()).map(|group| group.launches).sum();
    if grouped > 0 {
        let all: u64 = analysis.kernels.iter().map(KernelData::launch_count).sum();
        notes.push(format!(
            "{grouped} of {all} launches are summed up in groups: listed are the first {} of each call path and \
             shape, and no more than {} in all",
            LAUNCHES.of_a_kind, LAUNCHES.in_all
        ));
    }
    let shared = |counts: &mut dyn Iterator<Item = u64>| counts.filter(|count| *count > 1).sum::<u64>();
    for (what, shared) in [
        ("allocations", shared(&mut analysis.allocations.values().map(|data| data.count))),
        ("host allocations", shared(&mut analysis.host_allocations.values().map(|data| data.count))),
    ] {
        if shared > 0 {
            notes.push(format!(
                "{shared} {what} share rows: of each name, kind, call path and size the first {} have a row of their own, and \
                 no more than {} in all",
                ALLOCATIONS.of_a_kind, ALLOCATIONS.in_all
            ));
        }
    }
    notes
}

/// Returns notes on what the checks found in addition to what is listed.
fn of_unlisted_rows(analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    if analysis.values.more > 0 {
        let more = analysis.values.more;
        notes.push(format!("values of accesses at more places are not listed: {more} of launches"));
    }
    if analysis.floats.more > 0 {
        let more = analysis.floats.more;
        notes.push(format!("exceptional floating-point values at more places are not listed: {more} of launches"));
    }
    if analysis.initialisation.more > 0 {
        let more = analysis.initialisation.more;
        notes.push(format!(
            "uninitialised reads and copies at more places are not listed: {more} of launches and copies"
        ));
    }
    if analysis.more_faults > 0 {
        let (more, first) = (analysis.more_faults, analysis.faults.len());
        notes.push(format!("{more} more bad accesses are not listed, only the first {first}"));
    }
    notes
}

/// Returns notes on launches without an end.
fn of_cut_launches(analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    let cut = analysis.kernels.iter().flat_map(|kernel| &kernel.launches).filter(|launch| launch.error.is_none());
    let cut: Vec<u64> = cut.map(|launch| launch.event.id).collect();
    for launch in cut.iter().take(MOST_CUT) {
        notes.push(format!("launch {launch} did not end; its blocks and branches are not counted"));
    }
    let in_groups: u64 =
        analysis.kernels.iter().flat_map(|kernel| kernel.groups.values()).map(|group| group.unended).sum();
    let more = cut.len().saturating_sub(MOST_CUT) as u64 + in_groups;
    if more > 0 {
        notes.push(format!("{more} more launches did not end either"));
    }
    notes
}

/// Returns notes, by kernel, on loops in which lanes of a warp continued before others that waited.
pub(super) fn of_parted_lanes(profile: &Profile) -> Vec<String> {
    let mut places: BTreeMap<u32, BTreeSet<(&str, u32)>> = BTreeMap::new();
    for branch in profile.branches.iter().filter(|branch| branch.order_assumed) {
        places.entry(branch.kernel).or_default().insert((&branch.file, branch.line));
    }
    let each = |(kernel, places): (u32, BTreeSet<(&str, u32)>)| {
        let kernel = profile.kernels.iter().find(|one| one.id == kernel);
        let name = kernel.map_or("?", |kernel| kernel.name.split('(').next().unwrap_or_default());
        let places: Vec<String> = places.iter().map(|(file, line)| format!("{file}:{line}")).collect();
        format!(
            "{name}: lanes waited for others of their own warp at {}; the order in which lanes went on, and so how many \
             requests they share, is assumed",
            places.join(", ")
        )
    };
    places.into_iter().map(each).collect()
}

/// Returns a note for each kernel that spills registers.
pub(super) fn of_spills(profile: &Profile) -> impl Iterator<Item = String> {
    profile.kernels.iter().filter(|kernel| kernel.spill_bytes > 0).map(|kernel| {
        let name = kernel.name.split('(').next().unwrap_or_default();
        format!("{name}: ptxas spills {} bytes per thread: local traffic that no figure shows", kernel.spill_bytes)
    })
}

/// Returns notes, by kernel, on launches for which the order of blocks on a model's SMs is partly assumed.
pub(super) fn of_assumed_turns(analysis: &Analysis, models: &[String]) -> Vec<String> {
    let line = |(&(model, kernel), launches): (&(usize, u32), &u64)| {
        format!(
            "{}: in {launches} launch{} of {} blocks without records were taken to last as long as those before them that have \
             some, so where blocks ran is assumed in part",
            models.get(model).map_or("?", String::as_str),
            if *launches == 1 { "" } else { "es" },
            short_name(analysis, kernel),
        )
    };
    analysis.assumed_turns.iter().map(line).collect()
}

/// Returns a note if Triton compiled the kernels for an architecture different from the model's, because the kernels
/// contain choices for that architecture.
pub(super) fn of_other_kernels(analysis: &Analysis, profile: &Profile) -> Option<String> {
    let modelled = architecture(analysis.program.as_ref()?.device.compute_capability);
    let built = &profile.run.architectures;
    if !profile.kernels.iter().any(Kernel::is_triton) || built.contains(&modelled) {
        return None;
    }
    let built: Vec<String> = built.iter().map(|number| format!("sm_{number}")).collect();
    Some(format!(
        "{}: Triton's kernels are those that it made for {}; for sm_{modelled} it makes others, with layouts and instructions of their own",
        profile.run.models.first().map_or("?", String::as_str),
        built.join(" and "),
    ))
}

/// Returns a kernel's name without its parameters.
fn short_name(analysis: &Analysis, kernel: u32) -> &str {
    let found = analysis.kernels.get(kernel as usize).and_then(|kernel| {
        let module = analysis.modules.get(&kernel.module)?;
        module.table.functions[kernel.function as usize].name.split('(').next()
    });
    found.unwrap_or("?")
}

/// Returns notes, by kernel and reason, on launches that a model's figures lack.
pub(super) fn of_left_out(analysis: &Analysis, models: &[String]) -> Vec<String> {
    let mut groups: BTreeMap<(usize, u32, &str), Vec<u64>> = BTreeMap::new();
    for left in &analysis.left_out {
        groups.entry((left.model, left.kernel, &left.why)).or_default().push(left.launch);
    }
    let line = |((model, kernel, why), launches): ((usize, u32, &str), Vec<u64>)| {
        let name = short_name(analysis, kernel);
        let what = match launches[..] {
            [one] => format!("launch {one} of {name}"),
            _ => format!("{} launches of {name}", launches.len()),
        };
        format!("{}: {what} left out, {why}", models.get(model).map_or("?", String::as_str))
    };
    groups.into_iter().map(line).collect()
}
