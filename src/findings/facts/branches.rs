//! Branches of a kernel, classified by their figures and their source lines.

use super::super::prelude::*;
use super::super::thresholds::control_flow::*;
use super::source::has_word;
use std::collections::BTreeMap;
use warpline_format::condition::Decider;

/// Keywords of loops, of other conditions, and of loop exits, and operators that select a value within an expression.
const LOOPS: [&str; 3] = ["for", "while", "do"];
const DECISIONS: [&str; 3] = ["if", "switch", "case"];
const EXITS: [&str; 3] = ["break", "return", "goto"];
const OPERATORS: [&str; 3] = ["?", "&&", "||"];

/// Returns the divergent branches of a kernel by source position. Unrolling and inlining create several copies of a
/// branch.
pub fn divergent_branches(facts: &Facts<'_>, kernel: &Kernel) -> Vec<Branch> {
    let mut places: BTreeMap<(&str, u32, u32), Branch> = BTreeMap::new();
    let all = facts.profile.branches.iter();
    for branch in all.filter(|branch| branch.kernel == kernel.id && branch.divergent > 0 && branch.line != 0) {
        let place = (&branch.file[..], branch.line, branch.column);
        places.entry(place).and_modify(|sum| add(sum, branch)).or_insert_with(|| branch.clone());
    }
    places.into_values().filter(|branch| is_own(facts, branch)).collect()
}

/// Adds a copy of a branch to the sum. The sides of a copy can have another order, so the side with more instructions
/// is matched.
fn add(sum: &mut Branch, more: &Branch) {
    sum.executions = sum.executions.saturating_add(more.executions);
    sum.divergent = sum.divergent.saturating_add(more.divergent);
    sum.idle_lane_slots = sum.idle_lane_slots.saturating_add(more.idle_lane_slots);
    sum.ends_loop |= more.ends_loop;
    sum.decided_by.extend(&more.decided_by);
    sum.decided_by.sort_unstable();
    sum.decided_by.dedup();
    let count = [&sum.lanes, &sum.instructions, &more.lanes, &more.instructions].map(Vec::len).into_iter().max();
    let sides = |branch: &Branch| {
        let each = |values: &[u64], side: usize| values.get(side).copied().unwrap_or(0);
        let sides = (0..count.unwrap_or(0)).map(|side| (each(&branch.instructions, side), each(&branch.lanes, side)));
        let mut sides: Vec<(u64, u64)> = sides.collect();
        sides.sort_unstable();
        sides
    };
    let has_instructions = !(sum.instructions.is_empty() && more.instructions.is_empty());
    let (own, others) = (sides(sum), sides(more));
    let both = || own.iter().zip(&others);
    sum.lanes = both().map(|(one, other)| one.1.saturating_add(other.1)).collect();
    sum.instructions = both().filter(|_| has_instructions).map(|(one, other)| one.0.saturating_add(other.0)).collect();
}

fn text<'f>(facts: &'f Facts<'_>, branch: &Branch) -> Option<&'f str> {
    facts.profile.sources.get(&branch.file)?.get(&branch.line).map(|text| &text[..])
}

/// Returns whether the branch belongs to the line itself. A line that only calls a library function also has the
/// inlined branches of that function, which users cannot change. (Functions of the user have their own lines.)
fn is_own(facts: &Facts<'_>, branch: &Branch) -> bool {
    text(facts, branch).is_none_or(|text| {
        let has_any = |words: &[&str]| words.iter().any(|word| has_word(text, word));
        !text.contains('(')
            || has_any(&LOOPS)
            || has_any(&DECISIONS) && (!branch.ends_loop || has_any(&EXITS))
            || OPERATORS.into_iter().any(|sign| text.contains(sign))
    })
}

/// Returns the number of lanes on the side with the fewest lanes.
pub fn fewest_lanes(branch: &Branch) -> u64 {
    branch.lanes.iter().filter(|&&side| side > 0).min().copied().unwrap_or(0)
}

/// Returns the warp instructions and the lanes of the longest side of a branch.
pub fn longest_side(branch: &Branch) -> Option<(u64, u64)> {
    branch.instructions.iter().copied().zip(branch.lanes.iter().copied()).max_by_key(|(issued, _)| *issued)
}

/// Returns whether a single lane of a warp takes a different side.
pub fn is_alone(branch: &Branch) -> bool {
    fewest_lanes(branch) as f64 <= ALONE * branch.divergent as f64
}

/// Returns whether no side issues more than `most` warp instructions in one execution.
pub fn runs_at_most(branch: &Branch, most: u64) -> bool {
    let lanes = branch.lanes.iter().copied().chain(std::iter::repeat(u64::MAX));
    let short = |(&issued, lanes): (&u64, u64)| issued <= most.saturating_mul(branch.executions.min(lanes));
    !branch.instructions.is_empty() && branch.instructions.iter().zip(lanes).all(short)
}

/// Returns whether at least two sides are long and have similar lengths, so that lanes of one side wait for the other
/// side.
pub fn works_on_both_sides(branch: &Branch) -> bool {
    let longest = branch.instructions.iter().copied().max().unwrap_or(0);
    let least = LITTLE.saturating_mul(branch.divergent).max(longest / MUCH_SHORTER);
    branch.instructions.iter().filter(|issued| **issued > least).count() >= 2
}

/// Returns whether the branch is the exit of a loop: lanes that leave miss far more instructions than the branch's own
/// sides contain.
pub fn leaves_loop(branch: &Branch) -> bool {
    runs_at_most(branch, LITTLE) && branch.idle_lane_slots > branch.divergent.saturating_mul(4 * LITTLE * 32)
}

/// Returns whether both sides lead to the same code, as for a condition within the head of a loop.
pub fn is_in_loop_head(facts: &Facts<'_>, branch: &Branch) -> bool {
    text(facts, branch).is_some_and(|text| LOOPS.iter().any(|word| has_word(text, word)))
        && matches!(branch.instructions[..], [one, other] if one == other && one > LITTLE.saturating_mul(branch.divergent))
}

/// Returns whether the branch is a step of a scan within a warp. The lane index determines which lanes add the value of
/// another lane; lanes below the step have nothing to add.
pub fn is_step_of_scan(facts: &Facts<'_>, branch: &Branch) -> bool {
    let lines = facts.profile.sources.get(&branch.file);
    let before = branch.line.saturating_sub(STEP_LINES)..=branch.line;
    let has_shuffle = lines.is_some_and(|lines| lines.range(before).any(|(_, text)| text.contains("shfl_up")));
    number_of_thread(branch).is_some() && has_shuffle
}

/// Returns whether a loop ends when other threads have written a value: either lanes were observed waiting, or the loop
/// loads, bypassing L1, data that the kernel stores.
pub fn waits_for_others(facts: &Facts<'_>, branch: &Branch) -> bool {
    let is_end = text(facts, branch).is_some_and(ends_do);
    let body = match is_end {
        true => branch.line.saturating_sub(DO_LINES)..=branch.line,
        false => branch.line..=branch.line.saturating_add(POLL_LINES),
    };
    let accesses = || facts.accesses_of(branch.kernel, "global");
    let is_stored = |id: Option<u64>| id.is_some() && accesses().any(|one| !one.is_load() && one.allocation == id);
    let mut polled = accesses().filter(|one| one.is_load() && one.past_l1 && one.file == branch.file);
    // Copies of the branch that do not diverge count as well.
    let place = |one: &Branch| (one.kernel, one.line, one.column);
    let copies = || facts.profile.branches.iter().filter(|one| place(one) == place(branch) && one.file == branch.file);
    copies().any(|one| one.ends_loop)
        && (copies().any(|one| one.order_assumed)
            || polled.any(|one| body.contains(&one.line) && is_stored(one.allocation)))
}

/// Returns whether a short side appends to a list: an atomic operation within a few lines reserves the slot.
pub fn appends(facts: &Facts<'_>, branch: &Branch) -> bool {
    let behind = branch.line..=branch.line.saturating_add(STEP_LINES);
    let gives_place = |line: u32, file: &str| file == branch.file && behind.contains(&line);
    let mut atomics = facts.accesses.iter().filter(|one| one.kernel.id == branch.kernel && one.op == "atomic");
    runs_at_most(branch, SHORT) && atomics.any(|one| one.result_used && gives_place(one.line, one.file))
}

/// Returns whether the line ends a `do` loop.
fn ends_do(text: &str) -> bool {
    let code = text.split("//").next().unwrap_or_default().trim();
    code.trim_start_matches('}').trim_start().starts_with("while") && code.ends_with(';')
}

/// The kind of expression by which the thread index determines the side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// A remainder or a bit of the thread index determines the side, so that neighbouring lanes diverge.
    Interleaved,
    /// A comparison of the thread index with a bound determines the side.
    Compared,
}

/// Returns how the thread index alone determines the side, according to the compiler; `None` if data or other values
/// contribute.
pub fn number_of_thread(branch: &Branch) -> Option<Number> {
    match branch.decided_by[..] {
        [Decider::Thread] => Some(Number::Compared),
        [Decider::Thread, Decider::Alternation] => Some(Number::Interleaved),
        _ => None,
    }
}

/// Returns whether the lane index within the warp or group, together with loaded data, determines the side. An example
/// is a list for which the lanes beyond its end have no work.
pub fn shares_lists(branch: &Branch) -> bool {
    matches!(
        branch.decided_by[..],
        [Decider::Thread, Decider::Data] | [Decider::Thread, Decider::Alternation, Decider::Data]
    )
}

/// Returns whether the lanes of a warp have elected the lane that does the work.
pub fn is_election(branch: &Branch) -> bool {
    let has = |decider| branch.decided_by.contains(&decider);
    has(Decider::Thread) && has(Decider::Exchange) && !has(Decider::Data)
}

/// Returns the additional shared-memory passes that partial warps cause on the lines after the branch, including
/// functions that these lines call.
pub fn sparse_passes(facts: &Facts<'_>, branch: &Branch) -> f64 {
    let behind = branch.line..=branch.line.saturating_add(SIDE_LINES);
    let is_there = |file: &str, line: u32| file == branch.file && behind.contains(&line);
    let is_behind = |site: &&Site| {
        site.kernel == branch.kernel
            && site.space == "shared"
            && (is_there(&site.file, site.line) || site.inlined_at.iter().any(|one| is_there(&one.file, one.line)))
    };
    let sparse = facts.profile.sites.iter().filter(is_behind).map(|site| {
        let passes = site.metrics.shared.as_ref().map_or(0, |passes| passes.wavefronts);
        let full = site.metrics.lanes.saturating_mul(site.bytes.into()).div_ceil(PASS_BYTES);
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
        // Few lanes execute the main work of the branch, on either side.
        let mut sum = copy([20, 300], [90, 0]);
        add(&mut sum, &copy([300, 20], [0, 90]));
        assert_eq!((sum.lanes, sum.instructions), (vec![600, 40], vec![0, 180]));
    }
}
