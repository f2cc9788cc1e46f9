//! Branches of a kernel: what their figures and their lines show.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::thresholds::control_flow::{
    ALONE, DO_LINES, LITTLE, LONG, MUCH_SHORTER, PASS_BYTES, POLL_LINES, SHORT, SIDE_LINES, STEP_LINES,
};
use super::{Facts, block_of, blocks, has_word};
use warpline_format::condition::Decider;
use warpline_profile::model::{Branch, Kernel, Site};

/// Words of loops, of other decisions, of ways out of a loop, and signs that decide within an expression.
const LOOPS: [&str; 3] = ["for", "while", "do"];
const DECISIONS: [&str; 3] = ["if", "switch", "case"];
const EXITS: [&str; 3] = ["break", "return", "goto"];
const OPERATORS: [&str; 3] = ["?", "&&", "||"];

/// The divergent branches of a kernel by their place: unrolling and inlining make several of one.
pub(in super::super) fn divergent_branches(facts: &Facts<'_>, kernel: &Kernel) -> Vec<Branch> {
    let mut places: BTreeMap<(&str, u32, u32), Branch> = BTreeMap::new();
    let all = facts.profile.branches.iter();
    for branch in all.filter(|branch| branch.kernel == kernel.id && branch.divergent > 0 && branch.line != 0) {
        match places.entry((&branch.file, branch.line, branch.column)) {
            Entry::Vacant(place) => _ = place.insert(branch.clone()),
            Entry::Occupied(mut sum) => add(sum.get_mut(), branch),
        }
    }
    places.into_values().filter(|branch| is_own(facts, branch)).collect()
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

fn text<'f>(facts: &'f Facts<'_>, branch: &Branch) -> Option<&'f str> {
    facts.profile.sources.get(&branch.file)?.get(&branch.line).map(|text| &text[..])
}

/// Lines of the branch's file.
fn lines<'f>(
    facts: &'f Facts<'_>,
    branch: &Branch,
    range: std::ops::RangeInclusive<u32>,
) -> impl Iterator<Item = &'f str> + use<'f> {
    let lines = facts.profile.sources.get(&branch.file);
    lines.into_iter().flat_map(move |lines| lines.range(range.clone())).map(|(_, text)| &text[..])
}

/// The branch is the line's own: one that only calls a function has those of the library that the compiler took into it, which no user
/// changes. (A function of the user's own has its own lines.)
fn is_own(facts: &Facts<'_>, branch: &Branch) -> bool {
    text(facts, branch).is_none_or(|text| {
        let has_any = |words: &[&str]| words.iter().any(|word| has_word(text, word));
        !text.contains('(')
            || has_any(&LOOPS)
            || has_any(&DECISIONS) && (!branch.ends_loop || has_any(&EXITS))
            || OPERATORS.into_iter().any(|sign| text.contains(sign))
    })
}

/// Lanes on the side of fewest.
pub(in super::super) fn fewest_lanes(branch: &Branch) -> u64 {
    branch.lanes.iter().filter(|&&side| side > 0).min().copied().unwrap_or(0)
}

/// Warp instructions of the longest side, and its lanes.
pub(in super::super) fn longest_side(branch: &Branch) -> Option<(u64, u64)> {
    branch.instructions.iter().copied().zip(branch.lanes.iter().copied()).max_by_key(|(issued, _)| *issued)
}

/// One lane of a warp takes another side than the others.
pub(in super::super) fn is_alone(branch: &Branch) -> bool {
    fewest_lanes(branch) as f64 <= ALONE * branch.divergent as f64
}

/// No side issues more than so many warp instructions in one execution.
pub(in super::super) fn runs_at_most(branch: &Branch, most: u64) -> bool {
    let lanes = branch.lanes.iter().copied().chain(std::iter::repeat(u64::MAX));
    let short = |(&issued, lanes): (&u64, u64)| issued <= most.saturating_mul(branch.executions.min(lanes));
    !branch.instructions.is_empty() && branch.instructions.iter().zip(lanes).all(short)
}

/// Each of two sides or more is long, and none much longer: lanes wait for those on the other side.
pub(in super::super) fn works_on_both_sides(branch: &Branch) -> bool {
    let longest = branch.instructions.iter().copied().max().unwrap_or(0);
    let least = LITTLE.saturating_mul(branch.divergent).max(longest / MUCH_SHORTER);
    branch.instructions.iter().filter(|issued| **issued > least).count() >= 2
}

/// Lanes that leave here miss what the others still do, far more than the branch's own sides: it is the way out of a loop.
pub(in super::super) fn leaves_loop(branch: &Branch) -> bool {
    runs_at_most(branch, LITTLE) && branch.idle_lane_slots > branch.divergent.saturating_mul(4 * LITTLE * 32)
}

/// Both sides lead to the same code, as a condition within the head of a loop.
pub(in super::super) fn is_in_loop_head(facts: &Facts<'_>, branch: &Branch) -> bool {
    text(facts, branch).is_some_and(|text| LOOPS.iter().any(|word| has_word(text, word)))
        && matches!(branch.instructions[..], [one, other] if one == other && one > LITTLE.saturating_mul(branch.divergent))
}

/// The lanes on the other side of a long part could share it: none of them has another case to do, and a loop or many instructions are
/// there to deal out.
pub(in super::super) fn can_be_shared(facts: &Facts<'_>, branch: &Branch) -> bool {
    let least = branch.instructions.iter().copied().min().unwrap_or(0);
    let is_long =
        longest_side(branch).is_some_and(|(issued, lanes)| issued >= LONG.saturating_mul(branch.executions.min(lanes)));
    let mut behind = lines(facts, branch, branch.line + 1..=branch.line.saturating_add(SIDE_LINES));
    let mut has_loop = || behind.any(|text| LOOPS[..2].iter().any(|word| has_word(text, word)) && !ends_do(text));
    least == 0 && !is_case(facts, branch) && (is_long || has_loop())
}

/// What a branch compares with a number: `if(kind==)` of `if (kind == 1)`, and the number.
pub(in super::super) fn case_of(facts: &Facts<'_>, branch: &Branch) -> Option<(String, String)> {
    let code = text(facts, branch)?.split("//").next().unwrap_or_default();
    let head = code.split(['{', ';']).next().unwrap_or_default();
    let (left, right) = head.split_once("==")?;
    let starts = |side: &str| side.trim_start_matches(['(', ' ']).starts_with(|c: char| c.is_ascii_digit());
    let is_number = starts(right) || starts(left.rsplit('(').next().unwrap_or_default());
    let is_plain = |c: &char| !(c.is_ascii_digit() || c.is_whitespace() || *c == '}');
    let plain: String = head.chars().filter(is_plain).collect();
    let number = head.chars().filter(char::is_ascii_digit).collect();
    (is_number && has_word(head, "if")).then(|| (plain.trim_start_matches("else").to_owned(), number))
}

/// It is one of several cases: a side of a switch, or one of the branches that compare a value with different numbers.
pub(in super::super) fn is_case(facts: &Facts<'_>, branch: &Branch) -> bool {
    let is_switch = branch.lanes.len() > 2 && !leaves_most_idle(branch);
    let Some((value, number)) = case_of(facts, branch) else { return is_switch };
    let is_other = |one: &Branch| {
        (one.kernel, &one.file) == (branch.kernel, &branch.file)
            && one.line != branch.line
            && case_of(facts, one).is_some_and(|other| other.0 == value && other.1 != number)
    };
    is_switch || facts.profile.branches.iter().any(is_other)
}

/// Most lanes have nothing to do on their side.
fn leaves_most_idle(branch: &Branch) -> bool {
    let all: u64 = branch.lanes.iter().copied().fold(0, u64::saturating_add);
    branch.lanes.iter().zip(&branch.instructions).any(|(&lanes, &issued)| issued == 0 && lanes > all / 2)
}

/// No more warps diverge here than a border of the data runs through: one for each row of each block, on two sides.
pub(in super::super) fn may_be_border(kernel: &Kernel, branch: &Branch) -> bool {
    let rows = block_of(kernel).map_or(1, |[_, y, z]| u64::from(y).saturating_mul(z.into()));
    branch.divergent <= blocks(kernel).saturating_mul(rows).saturating_mul(2)
}

/// A scan within the warp decides by the lane's number who adds the value of another lane: those below the step have nothing to add.
pub(in super::super) fn is_step_of_scan(facts: &Facts<'_>, branch: &Branch) -> bool {
    let mut before = lines(facts, branch, branch.line.saturating_sub(STEP_LINES)..=branch.line);
    number_of_thread(branch).is_some() && before.any(|text| text.contains("shfl_up"))
}

/// A loop ends there as soon as other threads have written something: lanes were seen to wait, or the loop loads, past L1, what the
/// kernel stores.
pub(in super::super) fn waits_for_others(facts: &Facts<'_>, branch: &Branch) -> bool {
    let is_end = text(facts, branch).is_some_and(ends_do);
    let body = match is_end {
        true => branch.line.saturating_sub(DO_LINES)..=branch.line,
        false => branch.line..=branch.line.saturating_add(POLL_LINES),
    };
    let accesses = || facts.accesses_of(branch.kernel, "global");
    let is_stored = |id: Option<u64>| id.is_some() && accesses().any(|one| one.op != "load" && one.allocation == id);
    let mut polled = accesses().filter(|one| one.op == "load" && one.past_l1 && one.file == branch.file);
    // Copies that do not diverge count, too.
    let place = |one: &Branch| (one.kernel, one.line, one.column);
    let copies = || facts.profile.branches.iter().filter(|one| place(one) == place(branch) && one.file == branch.file);
    copies().any(|one| one.ends_loop)
        && (copies().any(|one| one.order_assumed)
            || polled.any(|one| body.contains(&one.line) && is_stored(one.allocation)))
}

/// A short side appends to a list: an atomic operation, a few lines on, gives the place.
pub(in super::super) fn appends(facts: &Facts<'_>, branch: &Branch) -> bool {
    let behind = branch.line..=branch.line.saturating_add(STEP_LINES);
    let gives_place = |line: u32, file: &str| file == branch.file && behind.contains(&line);
    let mut atomics = facts.accesses.iter().filter(|one| one.kernel.id == branch.kernel && one.op == "atomic");
    runs_at_most(branch, SHORT) && atomics.any(|one| one.result_used && gives_place(one.line, one.file))
}

/// The line ends a `do`.
fn ends_do(text: &str) -> bool {
    let code = text.split("//").next().unwrap_or_default().trim();
    code.trim_start_matches('}').trim_start().starts_with("while") && code.ends_with(';')
}

/// How the number of a thread decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Number {
    /// By its remainder or a bit: neighbours diverge.
    Interleaved,
    /// By comparison with a bound.
    Compared,
}

/// How the thread's number alone decides, as the compiler saw it; `None` where data or something else does, too.
pub(in super::super) fn number_of_thread(branch: &Branch) -> Option<Number> {
    match branch.decided_by[..] {
        [Decider::Thread] => Some(Number::Compared),
        [Decider::Thread, Decider::Alternation] => Some(Number::Interleaved),
        _ => None,
    }
}

/// A lane's number within its warp or group and loaded data decide, as where lanes beyond the end of a list have nothing to do.
pub(in super::super) fn shares_lists(branch: &Branch) -> bool {
    matches!(
        branch.decided_by[..],
        [Decider::Thread, Decider::Data] | [Decider::Thread, Decider::Alternation, Decider::Data]
    )
}

/// The lanes of a warp have found out together which of them does the work.
pub(in super::super) fn is_election(branch: &Branch) -> bool {
    let has = |decider| branch.decided_by.contains(&decider);
    has(Decider::Thread) && has(Decider::Exchange) && !has(Decider::Data)
}

/// Passes over shared memory that the lines behind the branch make, also in functions that they call, and that requests of full warps
/// would not need.
pub(in super::super) fn sparse_passes(facts: &Facts<'_>, branch: &Branch) -> f64 {
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
        // Few lanes run all that the branch is about, on one side or the other.
        let mut sum = copy([20, 300], [90, 0]);
        add(&mut sum, &copy([300, 20], [0, 90]));
        assert_eq!((sum.lanes, sum.instructions), (vec![600, 40], vec![0, 180]));
    }
}
