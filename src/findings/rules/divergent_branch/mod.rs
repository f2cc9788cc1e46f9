//! Branches whose sides lanes of one warp take: the warp runs both, each with part of its lanes (CUDA C++ Best Practices Guide,
//! "Branching and Divergence").

mod cure;
mod facts;
mod loops;
mod periods;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::draft::Draft;
use super::super::facts::access::share;
use super::super::facts::{Facts, has_word};
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::{Branch, FindingLine, Kernel, Severity, Site, also_on};
use facts::Number;
use warpline_format::condition::Decider;

/// Least share of the kernel's issued lane slots that a branch costs.
const LEAST_COST: f64 = 0.05;
/// Least share of the time of all kernels.
const LEAST_WASTE: f64 = 0.01;
/// The same of a branch that one lane of a warp takes: a guard around little is no finding.
const LEAST_ALONE: f64 = 0.3;

/// Share of a branch's executions in which lanes part, at most, where it is the border of the data or the end of a loop.
const SELDOM: f64 = 0.25;
/// What full warps would have to bring there.
const LEAST_SELDOM_GAIN: f64 = 1.25;

/// Bytes that a pass over shared memory brings to a full warp.
const BYTES_OF_PASS: u64 = 128;

/// Sides that are reported: a switch may have many.
const MOST_SIDES: usize = 8;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().flat_map(|kernel| of_kernel(facts, kernel)).collect()
}

/// The branches of a kernel by their place: unrolling and inlining make several of one.
fn of_kernel(facts: &Facts<'_>, kernel: &Kernel) -> Vec<Draft> {
    let mut places: BTreeMap<(&str, u32, u32), Branch> = BTreeMap::new();
    let all = facts.profile.branches.iter();
    for branch in all.filter(|branch| branch.kernel == kernel.id && branch.divergent > 0 && branch.line != 0) {
        match places.entry((&branch.file, branch.line, branch.column)) {
            Entry::Vacant(place) => _ = place.insert(branch.clone()),
            Entry::Occupied(mut sum) => add(sum.get_mut(), branch),
        }
    }
    let own = places.into_values().filter(|branch| is_own(facts, branch));
    cases_together(facts, own.filter_map(|branch| Some((draft(facts, kernel, &branch)?, branch))).collect())
}

/// Puts the cases of one value together: one change cures them all.
fn cases_together(facts: &Facts<'_>, drafts: Vec<(Draft, Branch)>) -> Vec<Draft> {
    let mut found: Vec<(Option<String>, Draft)> = Vec::new();
    for (draft, branch) in drafts {
        let case = facts::case_of(facts, &branch).filter(|_| facts::is_case(facts, &branch));
        let same = |(known, one): &&mut (Option<String>, Draft)| {
            known.is_some() && *known == case && one.file == draft.file && one.cure == draft.cure
        };
        match found.iter_mut().find(same) {
            Some((_, whole)) => {
                let score = whole.score + draft.score;
                whole.lines.push(FindingLine { line: draft.line, column: draft.column });
                let whole_again = whole.clone().score(score);
                *whole = if whole.at_most_note { whole_again.severity(Severity::Note) } else { whole_again };
            }
            None => found.push((case, draft)),
        }
    }
    let told =
        found.into_iter().map(|(_, draft)| Draft { reason: draft.reason.clone() + &also_on(&draft.lines), ..draft });
    told.collect()
}

/// What a line has that decides itself.
const DECIDES: [&str; 6] = ["for", "while", "do", "if", "switch", "case"];
/// The first of these end loops; a line that has others alone calls what has the loop, unless it leaves it.
const LOOPS: usize = 3;
/// What leaves a loop.
const LEAVES: [&str; 3] = ["break", "return", "goto"];
/// The same within an expression.
const DECIDES_BETWEEN: [&str; 3] = ["?", "&&", "||"];

/// Whether the branch is the line's own: one that only calls a function has those of the library that the compiler took into it, which
/// nobody changes. (A function of the user's own stands on its own lines.)
fn is_own(facts: &Facts<'_>, branch: &Branch) -> bool {
    let text = facts.profile.sources.get(&branch.file).and_then(|lines| lines.get(&branch.line));
    text.is_none_or(|text| {
        let has_any = |words: &[&str]| words.iter().any(|word| has_word(text, word));
        !text.contains('(')
            || has_any(&DECIDES[..LOOPS])
            || has_any(&DECIDES[LOOPS..]) && (!branch.ends_loop || has_any(&LEAVES))
            || DECIDES_BETWEEN.into_iter().any(|sign| text.contains(sign))
    })
}

/// Copies may have their sides in another order: the one of more instructions is the same in each.
fn add(sum: &mut Branch, more: &Branch) {
    sum.executions = sum.executions.saturating_add(more.executions);
    sum.divergent = sum.divergent.saturating_add(more.divergent);
    sum.idle_lane_slots = sum.idle_lane_slots.saturating_add(more.idle_lane_slots);
    sum.ends_loop |= more.ends_loop;
    sum.decided_by.extend(&more.decided_by);
    sum.decided_by.sort_unstable();
    sum.decided_by.dedup();
    let sides = |branch: &Branch| {
        let count = branch.lanes.len().max(branch.instructions.len());
        let each = |values: &[u64], side: usize| values.get(side).copied().unwrap_or(0);
        let mut sides: Vec<(u64, u64)> =
            (0..count).map(|side| (each(&branch.instructions, side), each(&branch.lanes, side))).collect();
        sides.sort_unstable();
        sides
    };
    let (mut own, mut others) = (sides(sum), sides(more));
    let count = own.len().max(others.len());
    own.resize(count, (0, 0));
    others.resize(count, (0, 0));
    let has_instructions = !(sum.instructions.is_empty() && more.instructions.is_empty());
    let both = || own.iter().zip(&others);
    sum.lanes = both().map(|(one, other)| one.1.saturating_add(other.1)).collect();
    sum.instructions = both().filter(|_| has_instructions).map(|(one, other)| one.0.saturating_add(other.0)).collect();
}

/// Whether lanes part in few of its executions, as at the border of the data or the end of a loop.
fn is_seldom(branch: &Branch) -> bool {
    share(branch.divergent, branch.executions) <= SELDOM
}

fn draft(facts: &Facts<'_>, kernel: &Kernel, branch: &Branch) -> Option<Draft> {
    let cost = branch.idle_lane_slots;
    let of_kernel = share(cost, kernel.lane_slots.issued);
    if of_kernel < LEAST_COST {
        return None;
    }
    let lanes: u64 = branch.lanes.iter().copied().fold(0, u64::saturating_add);
    // Of a switch, those that no lane takes are left out.
    let taken: Vec<usize> =
        (0..branch.lanes.len()).filter(|&side| branch.lanes.len() <= 2 || branch.lanes[side] > 0).collect();
    let taken = || taken.iter().copied().take(MOST_SIDES);
    let sides: Vec<String> = taken().map(|side| words::percent(share(branch.lanes[side], lanes))).collect();
    if facts::is_alone(branch) && of_kernel < LEAST_ALONE {
        return None;
    }
    let is_loop = branch.ends_loop;
    let issued: Vec<String> =
        taken().filter_map(|side| branch.instructions.get(side)).map(|&count| words::count(count)).collect();
    let issued = if is_loop || issued.is_empty() {
        String::new()
    } else {
        format!("; what runs because of them issues {} warp instructions", issued.join(" and "))
    };
    let reason = format!(
        "the lanes of a warp diverge at this {} in {} of its {} executions ({} of the lanes take its sides{issued}), and the warp runs what each \
         part needs with the others idle: {} of the kernel's lane slots",
        if is_loop { "loop" } else { "branch" },
        words::percent(share(branch.divergent, branch.executions)),
        words::count(branch.executions),
        sides.join(" and "),
        words::percent(of_kernel),
    );
    let reason = match facts::joined_loop(facts, branch) {
        Some(line) => format!("{reason}; the compiler has joined the first test of the loop on line {line} to it"),
        None => reason,
    };
    // Lanes that meet at an address try again: atomic-contention says so, and their loops have the lengths that it gives them.
    if branch.decided_by.contains(&Decider::Attempt) || facts::is_step_of_scan(facts, branch) {
        return None;
    }
    let (cure, fills_warps) = cure::of(facts, kernel, branch)?;
    let seldom = is_seldom(branch);
    let little = !is_loop && facts::is_little(branch);
    // Without idle lanes as much fewer warp instructions would do.
    let saved = share(cost, 32);
    let saving = ["instructions", "fp32", "fp64", "special"].into_iter().fold(Saving::default(), |sum, limit| {
        let amount = kernel.estimates.first().and_then(|estimate| estimate.limits.iter().find(|one| one.name == limit));
        let issued = kernel.lane_slots.issued.max(1) as f64 / 32.0;
        sum.and(Saving::of(limit, saved / issued * amount.map_or(0.0, |limit| limit.amount as f64)))
    });
    // Threads that are numbered from 0 on, and take neighbouring words, ask shared memory with full warps, too.
    let is_numbered = fills_warps && facts::number_of_thread(branch) == Some(Number::Interleaved);
    let passes = if is_numbered { sparse_passes(facts, branch) } else { 0.0 };
    let saving = saving.and(Saving::of("shared", passes)).and(Saving::of("l1_data", passes));
    let little = little && passes == 0.0;
    let waste = facts.waste(kernel, &saving, of_kernel);
    if waste < LEAST_WASTE {
        return None;
    }
    let assumption = if is_loop && branch.decided_by.iter().any(|one| matches!(one, Decider::Data | Decider::Computed))
    {
        "at most, as of the same work in full warps: whatever the order, lanes of a warp differ by some iterations"
    } else {
        "the same work in full warps"
    };
    let draft = Draft::new(reason, cure)
        .at_frame(Some(&crate::profile::model::Frame {
            function: String::new(),
            file: branch.file.clone(),
            line: branch.line,
            column: branch.column,
        }))
        .of_kernel(kernel)
        .evidence("executions", branch.executions as f64)
        .evidence("divergent", branch.divergent as f64)
        .evidence("idle_lane_slots", cost as f64)
        .evidence("share_of_lane_slots", of_kernel)
        .gain(facts.gain(kernel, &saving, assumption))
        .score(waste);
    let draft = if fills_warps { draft } else { draft.gain(None) };
    // Where something else is slower, full warps would make nothing faster; and nobody makes full warps of every border.
    let worth = draft.gain.as_ref().is_some_and(|gain| !little && (!seldom || gain.factor >= LEAST_SELDOM_GAIN));
    Some(if !worth { draft.severity(Severity::Note) } else { draft })
}

/// Passes over shared memory that the lines behind the branch make, also in functions that they call, and that fewer requests of full warps would not
/// need.
fn sparse_passes(facts: &Facts<'_>, branch: &Branch) -> f64 {
    let behind = branch.line..=branch.line + facts::LINES_OF_SIDE;
    let is_there = |file: &str, line: u32| file == branch.file && behind.contains(&line);
    let is_behind = |site: &&Site| {
        site.kernel == branch.kernel
            && site.space == "shared"
            && (is_there(&site.file, site.line) || site.inlined_at.iter().any(|one| is_there(&one.file, one.line)))
    };
    let sparse = facts.profile.sites.iter().filter(is_behind).map(|site| {
        let passes = site.metrics.shared.as_ref().map_or(0, |passes| passes.wavefronts);
        let full = site.metrics.lanes.saturating_mul(site.bytes.into()).div_ceil(BYTES_OF_PASS);
        passes.saturating_sub(full) as f64
    });
    sparse.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_branch_keep_lanes_and_instructions_together() {
        let copy = |lanes: [u64; 2], instructions: [u64; 2]| Branch {
            executions: 10,
            divergent: 10,
            lanes: lanes.to_vec(),
            instructions: instructions.to_vec(),
            ..Branch::default()
        };
        // Few lanes run all that the branch is about, on one side or the other.
        let mut sum = copy([20, 300], [90, 0]);
        add(&mut sum, &copy([300, 20], [0, 90]));
        assert_eq!((sum.lanes, sum.instructions), (vec![600, 40], vec![0, 180]));
    }
}
