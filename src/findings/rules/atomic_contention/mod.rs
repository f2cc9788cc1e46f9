//! Atomic operations that meet on an address: they are done one after the other, wherever in the GPU that is.
//!
//! Modelled: one operation per clock and address, which is what the units at the L2 cache do at best; the estimate has it as the limits
//! `atomic_address` and `shared_atomics`.

mod cure;
mod saving;

use saving::{Left, gain_together, limit, merged, of_merged, serial_seconds, shared_seconds};

use super::super::draft::{Draft, WORTH_A_CHANGE};
use super::super::facts::access::{Access, share};
use super::super::facts::index;
use super::super::facts::{Facts, blocks};
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::{Atomics, HotPlace, Severity, Site};

/// Lanes of a warp that meet on one address, on average, at least.
const DEEP: f64 = 1.5;
/// The same where they are worth a word though the model has no cost for them.
const VERY_DEEP: f64 = 8.0;
/// Lanes that meet where data chooses among as many addresses as a warp has lanes, or among a few times as many, some more often than others,
/// about: what brings nothing is no more than a note.
const BY_CHANCE: f64 = 3.0;

/// Lanes on the hottest address for each block of the kernel, at least: fewer are what a block's one atomic brings.
const LANES_PER_BLOCK: u64 = 4;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.accesses.iter().filter_map(|access| draft(facts, access, access.pattern.atomics.as_ref()?)).collect()
}

/// Lanes of a request at the address that most of them meet, on average.
fn depth(atomics: &Atomics) -> f64 {
    atomics.deepest as f64 / atomics.requests.max(1) as f64
}

/// Whether lanes of a warp meet at an address, so that there is a finding of it unless there are few operations.
pub(super) fn meet(access: &Access<'_>) -> bool {
    access.pattern.atomics.as_ref().is_some_and(|atomics| depth(atomics) >= DEEP && are_many(access, atomics))
}

/// Whether there are more than a block's few.
fn are_many(access: &Access<'_>, atomics: &Atomics) -> bool {
    atomics.lanes > LANES_PER_BLOCK * blocks(access.kernel).max(1)
}

/// Blocks that come to a hot address: launches may update an allocation each, and come to the others never.
fn blocks_at(facts: &Facts<'_>, access: &Access<'_>, hot: &HotPlace) -> u64 {
    let all = blocks(access.kernel);
    let is_own = |site: &&Site| {
        (site.kernel, site.line, site.column, &site.op[..]) == (access.kernel.id, access.line, access.column, access.op)
            && site.file == access.file
    };
    let rows = || facts.profile.sites.iter().filter(is_own).flat_map(|site| &site.by_allocation);
    // Blocks make as many requests, of more or fewer lanes.
    let requests = |only: Option<u64>| {
        let there = rows().filter(|row| only.is_none() || row.allocation == only);
        there.map(|row| row.metrics.requests).fold(0, u64::saturating_add)
    };
    match requests(None) {
        0 => all,
        sum => (all as f64 * share(requests(Some(hot.allocation)), sum)).ceil() as u64,
    }
}

/// Whether they meet on an address so often that there is a finding of it.
fn is_contended(facts: &Facts<'_>, access: &Access<'_>, atomics: &Atomics) -> bool {
    let hot_lanes = atomics.hottest.first().map_or(0, |hot| hot.lanes);
    let blocks = atomics.hottest.first().map_or(0, |hot| blocks_at(facts, access, hot));
    let is_crowded = hot_lanes > LANES_PER_BLOCK * blocks.max(1) && share(hot_lanes, atomics.lanes) >= 0.01;
    is_crowded || depth(atomics) >= DEEP && are_many(access, atomics)
}

fn draft(facts: &Facts<'_>, access: &Access<'_>, atomics: &Atomics) -> Option<Draft> {
    if !is_contended(facts, access, atomics) {
        return None;
    }
    let kernel = access.kernel;
    let depth = depth(atomics);
    let hottest = atomics.hottest.first();
    let hot_lanes = hottest.map_or(0, |hot| hot.lanes);
    let is_shared = access.space == "shared";
    let seconds = serial_seconds(facts, access, atomics);
    let name = facts.target(access);
    let place = match hottest {
        Some(hot) => {
            let offset = if hot.offset == 0 { "the first bytes".to_owned() } else { format!("byte {}", hot.offset) };
            let whose = facts.allocation_name(Some(hot.allocation)).unwrap_or_default();
            format!(
                "; {} of the {} operations go to {offset} of {whose}",
                words::count(hot.lanes),
                words::count(atomics.lanes)
            )
        }
        None => String::new(),
    };
    let meet = if depth >= DEEP {
        format!("on average {depth:.1} lanes of a warp update the same address of {name}")
    } else {
        format!("the warps of all blocks update the same addresses of {name}")
    };
    // Of a launch that did not end nobody counted the hottest address.
    let is_counted = is_shared || hottest.is_some();
    let takes =
        if is_counted { format!(", {} at one per clock (modelled)", words::time(seconds)) } else { String::new() };
    let reason = format!(
        "{meet}, in {}{place}: they are done one after the other{takes}",
        words::several(atomics.requests, "request", "requests"),
    );
    let (cure, left) = cure::cure(facts, access, atomics);
    let saving = saving::saving(facts, access, atomics, left);
    let instead = match left {
        Left::BlockAfterShared => shared_seconds(facts, access, atomics.deepest),
        Left::Warp | Left::Block => 0.0,
    };
    let gain = match merged(facts, access, atomics) {
        Some(merged) => {
            let low = facts.gain_besides(kernel, &merged, &saving, instead);
            facts.gain_for(kernel, &saving, instead, &format!("{}; {}", left.assumption(), of_merged(low)))
        }
        None => facts.gain_for(kernel, &saving, instead, left.assumption()),
    };
    let is_together = gain.is_none();
    let gain = gain.or_else(|| gain_together(facts, access, left, instead));
    // One operation per warp or block in global memory runs beside what else the kernel does, and costs what it takes longer.
    let waste = if depth < DEEP && !is_shared && !kernel.estimates.is_empty() && facts.kernel_seconds > 0.0 {
        gain.as_ref().map_or(0.0, |gain| gain.seconds) / facts.kernel_seconds
    } else {
        // Where several addresses are as hot as each other, no cure of one brings anything, and each of them costs as much.
        let own = hottest.map_or(0, |hot| hot.lanes.saturating_sub(left.of(facts, access, hot)));
        let own = if is_shared { saving } else { Saving::of(limit(access), own as f64) };
        facts.waste(kernel, &own, share(atomics.lanes, facts.requests(kernel).saturating_mul(32)))
    };
    // What so many lanes of one address cost on their way there, and where they meet others of its sector, no model knows.
    let is_unknown = !is_shared && depth >= VERY_DEEP && waste < WORTH_A_CHANGE;
    let requests = share(atomics.requests, facts.requests(kernel)) * facts.kernel_share(kernel);
    let gain = gain.filter(|_| !is_unknown);
    let waste = if is_unknown { waste.max(requests) } else { waste };
    let draft = Draft::new(reason, cure)
        .at_access(access)
        .evidence("requests", atomics.requests as f64)
        .evidence("lanes", atomics.lanes as f64)
        .evidence("lanes_on_one_address", depth)
        .evidence("hottest_lanes", hot_lanes as f64)
        .evidence("hottest_offset", hottest.map_or(f64::NAN, |hot| hot.offset as f64))
        .evidence("serial_seconds", if is_counted { seconds } else { f64::NAN })
        .gain(gain)
        .score(waste);
    let object = draft.object.clone();
    let draft = if draft.allocation.is_none() {
        Draft { allocation: hottest.map(|hot| hot.allocation), ..draft }
    } else {
        draft
    };
    let is_little = depth < DEEP && waste < 0.1 || depth < BY_CHANCE && draft.gain.is_none();
    let is_weak = is_unknown && waste < WORTH_A_CHANGE;
    // How often a loop looks whether others are done, nothing in the program says.
    let is_waiting = access.result_used && cure::only_reads(facts, access) && index::stays_in_loop(access);
    let draft = if is_waiting { draft.gain(None) } else { draft };
    let draft = if is_weak || is_little || is_waiting { draft.severity(Severity::Note) } else { draft };
    // What several lines add to at the same places of arrays of their own, they would combine together; so they would where no line brings anything
    // without the others.
    let is_one = depth >= VERY_DEEP && (draft.gain.is_none() || is_together);
    let cause = is_one.then(|| draft.cure.clone());
    Some(Draft { object, ..draft.one_cause(cause) })
}
