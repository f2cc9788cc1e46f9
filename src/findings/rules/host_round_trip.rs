//! Results that are copied to the host after each launch, and may be copied back for the next launch.

use super::super::prelude::*;
use super::super::thresholds::transfers::*;

described! {
    enum Cause {
        Returned { to: Option<Shown>, line: Option<Shown> } => "copied-there-and-back",
        Replaced { to: Option<Shown>, line: Option<Shown> } => "replaced-from-other-host-memory",
        Overwritten => "overwritten-on-host",
    }
    enum Remedy {
        Keep { other: Choice } => "keep-on-device",
        ComputeOnDevice => "compute-on-device",
        Reduce => "reduce-on-device",
    }
}

/// Use of the results on the host.
enum Trip<'c, 'a> {
    Returned(&'c Copies<'a>),
    Replaced(&'c Copies<'a>),
    Overwritten,
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let all = facts.bus_copies();
    let is_result = |one: &&Copies<'_>| !one.to_device() && one.are_large_and_new() && facts.is_written(one);
    all.iter().filter(is_result).filter_map(|back| draft(facts, back, &classify(facts, back, &all)?)).collect()
}

/// Returns the use of the results on the host. The first case that applies is returned.
fn classify<'c, 'a>(facts: &Facts<'a>, back: &Copies<'a>, all: &'c [Copies<'a>]) -> Option<Trip<'c, 'a>> {
    let forth = || all.iter().filter(|one| one.to_device() && one.are_large_and_new());
    let is_repeated = back.count >= LEAST_REPEATED_COPIES;
    if let Some(forth) = forth().find(|forth| returns(back, forth)) {
        Some(Trip::Returned(forth))
    } else if let Some(forth) = forth().find(|forth| is_repeated && replaces(facts, back, forth)) {
        Some(Trip::Replaced(forth))
    } else if is_repeated && back.overwrites_host(facts) && !has_inputs(back, all) {
        Some(Trip::Overwritten)
    } else {
        None
    }
}

/// Returns whether a similar number of bytes is copied from the same host memory to the device afterwards.
fn returns(back: &Copies<'_>, forth: &Copies<'_>) -> bool {
    forth.bytes.saturating_mul(2) >= back.bytes && forth.comes_after(back) && back.shares_host_memory(forth)
}

/// Returns whether the same number of bytes is copied to the device from different host memory each time. The
/// destination is the same memory or different memory, and copies also follow the last launch, when no launch needs new
/// input.
fn replaces(facts: &Facts<'_>, back: &Copies<'_>, forth: &Copies<'_>) -> bool {
    let launches = facts.profile.kernels.iter().map(|kernel| kernel.launch_count()).total();
    let is_after_all = |copies: &Copies<'_>| copies.launches.is_some_and(|(_, last)| last >= launches);
    let is_same = back.memory().map(|one| one.id).eq(forth.memory().map(|one| one.id)) && forth.comes_after(back);
    let is_other =
        !back.shares_device_memory(forth) && forth.count >= back.count && is_after_all(back) && is_after_all(forth);
    forth.count >= LEAST_REPEATED_COPIES
        && back.bytes_each() == forth.bytes_each()
        && (is_same || is_other)
        && back.fills_host_memory(facts)
        && forth.fills_host_memory(facts)
}

/// Returns whether launches between these copies receive separate input data from the host.
fn has_inputs(back: &Copies<'_>, all: &[Copies<'_>]) -> bool {
    let Some((first, last)) = back.launches else { return true };
    let meanwhile =
        |one: &&Copies<'_>| one.to_device() && one.launches.is_none_or(|(start, end)| end >= first && start <= last);
    let bytes: u64 = all.iter().filter(meanwhile).map(|one| one.bytes).total();
    bytes as f64 > INPUT_SHARE * back.bytes as f64
}

fn draft(facts: &Facts<'_>, back: &Copies<'_>, trip: &Trip<'_, '_>) -> Option<Draft> {
    let forth = match trip {
        Trip::Returned(forth) | Trip::Replaced(forth) => Some(*forth),
        Trip::Overwritten => None,
    };
    let moved = back.bytes.saturating_add(forth.map_or(0, |forth| forth.bytes));
    let seconds = copy_seconds(moved, back.count.saturating_add(forth.map_or(0, |forth| forth.count)));
    let to = forth.filter(|forth| !forth.shares_device_memory(back)).map(Copies::describe);
    let other = Choice(u8::from(to.is_some()));
    let line = forth.and_then(Copies::line).map(|line| Shown(line.to_string()));
    let share = facts.program_share(seconds);
    let (cause, remedy, is_sure) = match trip {
        Trip::Returned(_) => (Cause::Returned { to, line }, Remedy::Keep { other }, true),
        // If each copy has separate host memory, the memory may be the input of a launch.
        Trip::Replaced(forth) => {
            let is_sure = back.overwrites_host(facts) && forth.overwrites_host(facts) && share >= DOMINANT_SHARE;
            (Cause::Replaced { to, line }, Remedy::ComputeOnDevice, is_sure)
        }
        Trip::Overwritten if share < LEAST_RESULT_SHARE => return None,
        Trip::Overwritten => (Cause::Overwritten, Remedy::Reduce, share >= DOMINANT_SHARE),
    };
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    let figures = &mut diagnosis.figures;
    figures.set("data", back.describe());
    figures.set("times", Count(back.count));
    figures.set("bytes", Bytes(moved));
    figures.set("time", Seconds(seconds));
    figures.set("kernels", Seconds(facts.kernel_seconds));
    // New data must be copied to the device in any case.
    let gain = facts.program_gain(seconds).filter(|_| !matches!(trip, Trip::Replaced(_)));
    let draft = Draft::new(diagnosis).at_copies(back).evidence("bytes", moved as f64).gain(gain).score(share);
    Some(draft.note_if(!is_sure))
}
