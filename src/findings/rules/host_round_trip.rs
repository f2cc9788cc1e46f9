//! Results that come to the host after each launch, and maybe go back for the next one.

use std::collections::BTreeSet;

use super::super::draft::Draft;
use super::super::facts::access::share;
use super::super::facts::{Copies, Facts, innermost};
use super::super::words;
use crate::profile::copy_seconds;
use crate::profile::model::Severity;

/// Copies to the host, at least.
const LEAST: u64 = 3;
/// Bytes of a copy, at least: a flag or a sum is what the host is to get.
const LEAST_BYTES: u64 = 64 << 10;
/// The part of the estimated time of kernels and copies, at least, where nothing goes back: results have to come back some time.
const LEAST_SHARE: f64 = 0.2;
/// From so much of it on it is more than a note.
const MOST_SHARE: f64 = 0.5;
/// What goes to the device meanwhile, over what comes back, from which on each launch has an input of its own.
const INPUTS: f64 = 0.1;
/// The size of the place on the host over that of a copy, at most, where each copy takes the place of the one before.
const SAME_PLACE: f64 = 1.5;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let copies = facts.bus_copies();
    let back = copies.iter().filter(|one| !one.to_device() && is_looped(one) && facts.is_written(one));
    back.filter_map(|back| match copies.iter().find(|forth| returns(back, forth)) {
        Some(forth) => Some(round_trip(facts, back, forth)),
        None if let Some(forth) =
            copies.iter().find(|forth| replaces(facts, back, forth) || goes_on_elsewhere(facts, back, forth)) =>
        {
            Some(replaced(facts, back, forth))
        }
        None if is_overwritten(facts, back) && !has_inputs(back, &copies) => only_back(facts, back),
        None => None,
    })
    .collect()
}

/// Large copies of which most bring something new, each after another launch.
fn is_looped(copies: &Copies<'_>) -> bool {
    let launches = copies.launches.map_or(0, |(first, last)| last.saturating_sub(first));
    copies.count >= LEAST
        && copies.bytes / copies.count >= LEAST_BYTES
        && copies.unchanged < copies.count.div_ceil(2)
        && launches + 1 >= copies.count
}

/// Whether copies to the device come after copies to the host: input of a launch of its own would go there first.
fn comes_after(back: &Copies<'_>, forth: &Copies<'_>) -> bool {
    // The first input may come from the same line.
    let is_later = |back_at: (u64, u64), forth_at: (u64, u64)| {
        forth_at.1 >= back_at.1 && (forth_at.0 >= back_at.0 || forth.count > back.count)
    };
    back.launches.zip(forth.launches).is_some_and(|(back_at, forth_at)| is_later(back_at, forth_at))
}

/// Whether the same place on the device gets as much from another place on the host each time after it has come back, which is as large as one copy:
/// of what came back, or new.
fn replaces(facts: &Facts<'_>, back: &Copies<'_>, forth: &Copies<'_>) -> bool {
    let ids = |copies: &Copies<'_>| copies.memory().map(|one| one.id).collect::<Vec<u64>>();
    forth.to_device()
        && is_looped(forth)
        && ids(back) == ids(forth)
        && back.bytes / back.count.max(1) == forth.bytes / forth.count.max(1)
        && comes_after(back, forth)
        && is_of_one_copy(facts, back)
        && is_of_one_copy(facts, forth)
}

/// Whether other memory on the device gets as much from another place on the host each time after it has come back, also behind the last launch: what goes up for a launch of its own
/// goes there before it.
fn goes_on_elsewhere(facts: &Facts<'_>, back: &Copies<'_>, forth: &Copies<'_>) -> bool {
    let launches = facts.profile.kernels.iter().map(|kernel| kernel.launch_count()).fold(0, u64::saturating_add);
    let is_behind_all = |copies: &Copies<'_>| copies.launches.is_some_and(|(_, last)| last >= launches);
    let ids = |copies: &Copies<'_>| copies.memory().map(|one| one.id).collect::<BTreeSet<u64>>();
    forth.to_device()
        && is_looped(forth)
        && ids(back).is_disjoint(&ids(forth))
        && back.bytes / back.count.max(1) == forth.bytes / forth.count.max(1)
        && forth.count >= back.count
        && is_behind_all(back)
        && is_behind_all(forth)
        && is_of_one_copy(facts, back)
        && is_of_one_copy(facts, forth)
}

/// Whether about as much goes from the same place on the host to the device, after it has come back.
fn returns(back: &Copies<'_>, forth: &Copies<'_>) -> bool {
    forth.to_device()
        && is_looped(forth)
        && forth.bytes.saturating_mul(2) >= back.bytes
        && comes_after(back, forth)
        && back.hosts.intersection(&forth.hosts).any(Option::is_some)
}

/// Whether each copy takes the place of the one before on the host.
fn is_overwritten(facts: &Facts<'_>, copies: &Copies<'_>) -> bool {
    is_of_one_copy(facts, copies) && share(copies.hosts.len() as u64, copies.count) < 0.5
}

/// Whether the memory of the host is as large as one copy: no part of what has all of them.
fn is_of_one_copy(facts: &Facts<'_>, copies: &Copies<'_>) -> bool {
    let each = share(copies.bytes, copies.count);
    let size = |id: u64| {
        facts.profile.host_allocations.iter().find(|host| host.id == id).map(|host| share(host.bytes, host.count))
    };
    copies.hosts.iter().all(|host| host.and_then(size).is_some_and(|bytes| bytes <= SAME_PLACE * each))
}

/// Whether launches between these copies get data of their own from the host.
fn has_inputs(back: &Copies<'_>, all: &[Copies<'_>]) -> bool {
    let Some((first, last)) = back.launches else { return true };
    let meanwhile =
        |one: &&Copies<'_>| one.to_device() && one.launches.is_none_or(|(start, end)| end >= first && start <= last);
    let bytes: u64 = all.iter().filter(meanwhile).map(|one| one.bytes).fold(0, u64::saturating_add);
    bytes as f64 > INPUTS * back.bytes as f64
}

fn round_trip(facts: &Facts<'_>, back: &Copies<'_>, forth: &Copies<'_>) -> Draft {
    let bytes = back.bytes.saturating_add(forth.bytes);
    let seconds = copy_seconds(bytes, back.count.saturating_add(forth.count));
    let line = innermost(forth.path).map_or(String::new(), |frame| format!(" (line {})", frame.line));
    let (names, several) = back.describe();
    let place = match back.memory().any(|one| forth.memory().any(|other| one.id == other.id)) {
        true => String::new(),
        false => format!(", to {}", forth.describe().0),
    };
    let reason = format!(
        "{names} {} to the host {} here between launches, and what the host has made of it goes to the device again{place}{line}: {} in all, {}",
        if several { "come" } else { "comes" },
        words::several(back.count, "time", "times"),
        words::bytes(bytes),
        time(facts, seconds),
    );
    let cure = "do in a kernel what the host does between the two copies, and leave the data on the device; where the host changes a part of it, copy that \
                part alone (a pointer into the array, rows with cudaMemcpy2D); where each launch has new data, let its copies overlap with other launches \
                (pinned memory, cudaMemcpyAsync, a second buffer)";
    draft(facts, back, (reason, cure), bytes, seconds)
}

/// What goes to the device may be new data or made of what has come back: nobody knows what would be saved.
fn replaced(facts: &Facts<'_>, back: &Copies<'_>, forth: &Copies<'_>) -> Draft {
    let bytes = back.bytes.saturating_add(forth.bytes);
    let seconds = copy_seconds(bytes, back.count.saturating_add(forth.count));
    let line = innermost(forth.path).map_or(String::new(), |frame| format!(" (line {})", frame.line));
    let (names, several) = back.describe();
    let place = match back.memory().any(|one| forth.memory().any(|other| one.id == other.id)) {
        true => String::new(),
        false => format!(", to {}", forth.describe().0),
    };
    let reason = format!(
        "{names} {} to the host {} here between launches, and as much goes to the device again from other memory of the host each time{place}{line}: {} in all, {}",
        if several { "come" } else { "comes" },
        words::several(back.count, "time", "times"),
        words::bytes(bytes),
        time(facts, seconds),
    );
    let cure = "where the host makes what goes to the device of what has come back (chooses, sorts, permutes), do that in a kernel, and leave the data on the device; where each launch has new data, \
                let its copies overlap with other launches (pinned memory, cudaMemcpyAsync, a second buffer)";
    let draft = Draft { gain: None, ..draft(facts, back, (reason, cure), bytes, seconds) };
    // Memory of its own for each copy may as well be what each launch has.
    let is_sure = is_overwritten(facts, back) && is_overwritten(facts, forth);
    if is_sure && facts.program_share(seconds) >= MOST_SHARE { draft } else { draft.severity(Severity::Note) }
}

fn only_back(facts: &Facts<'_>, back: &Copies<'_>) -> Option<Draft> {
    let seconds = copy_seconds(back.bytes, back.count);
    let part = facts.program_share(seconds);
    if part < LEAST_SHARE {
        return None;
    }
    let (names, several) = back.describe();
    let reason = format!(
        "{names} {} to the host {} here between launches ({} in all), each time over the copy before, and no launch gets new data from the host \
         meanwhile: {}",
        if several { "come" } else { "comes" },
        words::several(back.count, "time", "times"),
        words::bytes(back.bytes),
        time(facts, seconds),
    );
    let cure = "let a kernel work out what the host wants to know (a flag, a sum, a maximum) and copy that, copy all of it once after the loop, or only \
                every so many launches; what has to be written out each time can overlap with the next launches (pinned memory, cudaMemcpyAsync, a \
                second buffer)";
    let draft = draft(facts, back, (reason, cure), back.bytes, seconds);
    Some(if part < MOST_SHARE { draft.severity(Severity::Note) } else { draft })
}

/// How long that takes, beside the kernels.
fn time(facts: &Facts<'_>, seconds: f64) -> String {
    let kernels = match facts.kernel_seconds > 0.0 {
        true => format!(", where all kernels take {}", words::time(facts.kernel_seconds)),
        false => String::new(),
    };
    format!("{} by what is assumed of the bus{kernels}", words::time(seconds))
}

fn draft(facts: &Facts<'_>, back: &Copies<'_>, (reason, cure): (String, &str), bytes: u64, seconds: f64) -> Draft {
    let draft = Draft::new(reason, cure)
        .at_frame(innermost(back.path))
        .evidence("copies", back.count as f64)
        .evidence("bytes", bytes as f64)
        .gain(facts.program_gain(seconds))
        .score(facts.program_share(seconds));
    match back.allocation() {
        Some(allocation) => draft.of_allocation(allocation.id).object(allocation.name.clone()),
        None => draft,
    }
}
