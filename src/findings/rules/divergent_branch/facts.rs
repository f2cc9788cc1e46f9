//! What a branch's figures and its lines say of it.

use super::super::super::facts::access::share;
use super::super::super::facts::{Facts, block_of, blocks, has_word};
use super::{DECIDES, LOOPS};
use crate::profile::model::{Branch, Kernel};
use warpline_format::condition::Decider;

/// Warp instructions of one run of a part, at most, for the part to be little.
pub(super) const LITTLE: u64 = 12;
/// The same of sides that cost less than what it takes to bring their lanes together elsewhere.
pub(super) const SHORT: u64 = 40;
/// Times that a side is shorter than another, from which on those on the longer one are what is waited for.
pub(super) const MUCH_SHORTER: u64 = 8;
pub(super) const WARP: u64 = 32;
/// Lines from a shuffle to the condition on what it brings, at most.
pub(super) const LINES_OF_STEP: u32 = 3;
/// Lines from a branch to a loop that may be one of its sides, at most.
pub(super) const LINES_OF_SIDE: u32 = 8;
/// Lines from the `do` of a loop to its end that are looked through, at most.
const LINES_OF_DO: u32 = 20;
/// Lines from the head of a loop that waits to the branch that asks whether it is over, at most.
const LINES_OF_POLL: u32 = 2;
/// Least share of the lanes on each of two sides that have about half of them.
const NEARLY_HALF: f64 = 0.45;
/// Warp instructions of one run of a part without a loop of its own on its lines, from which on it is work that others could share.
const LONG: u64 = 200;
/// Lines from a branch to the operation that gives the place of what it appends, at most.
const LINES_OF_APPEND: u32 = 3;

/// Whether one lane of a warp goes another way than the others: to a part that is done by one of them.
pub(super) fn is_alone(branch: &Branch) -> bool {
    let fewest = branch.lanes.iter().filter(|&&side| side > 0).min().copied().unwrap_or(0);
    fewest as f64 <= 1.5 * branch.divergent as f64
}

/// Whether what runs because of the branch is a few instructions, as a guard's one store.
pub(super) fn is_little(branch: &Branch) -> bool {
    runs_at_most(branch, LITTLE)
}

/// Whether no side issues more than so many warp instructions each time that it runs.
pub(super) fn runs_at_most(branch: &Branch, most: u64) -> bool {
    let lanes = branch.lanes.iter().copied().chain(std::iter::repeat(u64::MAX));
    let short = |(&issued, lanes): (&u64, u64)| issued <= most.saturating_mul(branch.executions.min(lanes));
    !branch.instructions.is_empty() && branch.instructions.iter().zip(lanes).all(short)
}

/// Whether each of two sides or more is long, and none much longer: no lane is idle for want of work, they wait for those on the other side.
pub(super) fn works_on_both_sides(branch: &Branch) -> bool {
    let longest = branch.instructions.iter().copied().max().unwrap_or(0);
    let least = LITTLE.saturating_mul(branch.divergent).max(longest / MUCH_SHORTER);
    branch.instructions.iter().filter(|issued| **issued > least).count() >= 2
}

/// Lanes that leave here miss what the others still do, far more than the branch's own sides: it is the way out of a loop.
pub(super) fn leaves_loop(branch: &Branch) -> bool {
    is_little(branch) && branch.idle_lane_slots > branch.divergent.saturating_mul(4 * LITTLE * 32)
}

/// Both sides lead to the same code, as a condition within the head of a loop: who leaves it does so by the one or the other.
pub(super) fn goes_on_either_way(facts: &Facts<'_>, branch: &Branch) -> bool {
    let text = facts.profile.sources.get(&branch.file).and_then(|lines| lines.get(&branch.line));
    let has_loop = text.is_some_and(|text| DECIDES[..LOOPS].iter().any(|word| has_word(text, word)));
    has_loop
        && matches!(branch.instructions[..], [one, other] if one == other && one > LITTLE.saturating_mul(branch.divergent))
}

/// Whether the lanes on the other side of a long part wait for it, and the part is one that they could share: none of them has another case to do
/// behind it, and a loop or many instructions are there to deal out.
pub(super) fn can_be_shared(facts: &Facts<'_>, branch: &Branch) -> bool {
    let least = branch.instructions.iter().copied().min().unwrap_or(0);
    let longest = branch.instructions.iter().zip(&branch.lanes).max_by_key(|(issued, _)| **issued);
    let is_long = longest.is_some_and(|(&issued, &lanes)| issued >= LONG.saturating_mul(branch.executions.min(lanes)));
    least == 0 && !is_case(facts, branch) && (is_long || has_loop_on_side(facts, branch))
}

/// Whether one of the lines behind a branch begins a loop.
fn has_loop_on_side(facts: &Facts<'_>, branch: &Branch) -> bool {
    let lines = facts.profile.sources.get(&branch.file);
    let mut behind = lines.into_iter().flat_map(|lines| lines.range(branch.line + 1..=branch.line + LINES_OF_SIDE));
    behind.any(|(_, text)| ["for", "while"].into_iter().any(|word| has_word(text, word)) && !ends_do(text))
}

/// What a branch compares with different numbers on different lines: `if(kind==)` of `if (kind == 1)`; `None` of anything else.
pub(super) fn case_of(facts: &Facts<'_>, branch: &Branch) -> Option<String> {
    let text = facts.profile.sources.get(&branch.file)?.get(&branch.line)?;
    let code = text.split("//").next().unwrap_or_default();
    let head = code.split(['{', ';']).next().unwrap_or_default();
    let is_number = head.split_once("==").is_some_and(|(left, right)| {
        let begins = |side: &str| side.trim_start_matches(['(', ' ']).starts_with(|c: char| c.is_ascii_digit());
        begins(right) || begins(left.rsplit('(').next().unwrap_or_default())
    });
    let plain = head.chars().filter(|c| !(c.is_ascii_digit() || c.is_whitespace() || *c == '}')).collect::<String>();
    (is_number && has_word(head, "if")).then(|| plain.trim_start_matches("else").to_owned())
}

/// Whether it is one of several cases: a side of a switch, or one of the branches that compare the same value with other numbers.
pub(super) fn is_case(facts: &Facts<'_>, branch: &Branch) -> bool {
    // What the value is compared with: the same number on another line is no other case.
    let number = |one: &Branch| {
        let text = facts.profile.sources.get(&one.file)?.get(&one.line)?;
        let head = text.split("//").next()?.split(['{', ';']).next()?;
        Some(head.chars().filter(char::is_ascii_digit).collect::<String>())
    };
    let case = case_of(facts, branch);
    branch.lanes.len() > 2 && !leaves_most_idle(branch)
        || case.is_some()
            && facts.profile.branches.iter().any(|one| {
                (one.kernel, &one.file) == (branch.kernel, &branch.file)
                    && one.line != branch.line
                    && number(one) != number(branch)
                    && case_of(facts, one) == case
            })
}

/// Whether most lanes have nothing to do on their side.
fn leaves_most_idle(branch: &Branch) -> bool {
    let all: u64 = branch.lanes.iter().copied().fold(0, u64::saturating_add);
    branch.lanes.iter().zip(&branch.instructions).any(|(&lanes, &issued)| issued == 0 && lanes > all / 2)
}

/// Whether no more warps part here than a border of the data, or of each block's part of it, runs through: one for each row of each block, on two sides.
pub(super) fn may_be_border(kernel: &Kernel, branch: &Branch) -> bool {
    let rows = block_of(kernel).map_or(1, |[_, y, z]| u64::from(y).saturating_mul(z.into()));
    branch.divergent <= blocks(kernel).saturating_mul(rows).saturating_mul(2)
}

/// Whether as many lanes take one side as the other, and one of the sides is empty.
pub(super) fn leaves_half_out(branch: &Branch) -> bool {
    let all: u64 = branch.lanes.iter().copied().fold(0, u64::saturating_add);
    let is_half = |&lanes: &u64| (NEARLY_HALF..=1.0 - NEARLY_HALF).contains(&share(lanes, all));
    branch.lanes.len() == 2 && branch.lanes.iter().all(is_half) && branch.instructions.contains(&0)
}

/// Whether a scan within the warp decides by the lane's number who adds what it got from another lane: those below the step have nothing to add,
/// and no other arrangement gives them something.
pub(super) fn is_step_of_scan(facts: &Facts<'_>, branch: &Branch) -> bool {
    let lines = facts.profile.sources.get(&branch.file);
    let mut before =
        lines.into_iter().flat_map(|lines| lines.range(branch.line.saturating_sub(LINES_OF_STEP)..=branch.line));
    number_of_thread(branch).is_some() && before.any(|(_, text)| text.contains("shfl_up"))
}

/// Whether a loop ends there as soon as other threads have written something: lanes were seen to wait, its condition is loaded past L1, or a branch within it is decided by what is
/// loaded so, and the kernel stores there.
pub(super) fn waits_for_others(facts: &Facts<'_>, branch: &Branch) -> bool {
    let place = |one: &Branch| (one.kernel, one.line, one.column);
    let copies = || facts.profile.branches.iter().filter(|one| place(one) == place(branch) && one.file == branch.file);
    let mut there = facts
        .accesses_of(branch.kernel, "global")
        .filter(|access| (access.file, access.line) == (&branch.file[..], branch.line));
    copies().any(|one| one.ends_loop)
        && (copies().any(|one| one.order_assumed)
            || there.any(|access| access.op == "load" && access.past_l1)
            || polls(facts, branch))
}

/// Whether one of the first branches within a loop, or any within a `do` that ends there, asks for what others may have stored: data that the kernel stores, loaded past L1 on the branch's line or the one
/// before it.
fn polls(facts: &Facts<'_>, branch: &Branch) -> bool {
    let lines = facts.profile.sources.get(&branch.file);
    let is_end = lines.and_then(|lines| lines.get(&branch.line)).is_some_and(|text| ends_do(text));
    // Of the `do` itself the line may not be known.
    let begin = lines.filter(|_| is_end).map(|lines| {
        let first = branch.line.saturating_sub(LINES_OF_DO);
        let mut before = lines.range(first..branch.line).rev();
        before.find(|(_, text)| has_word(text, "do")).map_or(first, |(&line, _)| line)
    });
    let body = begin.map_or(branch.line + 1..=branch.line + LINES_OF_POLL, |begin| begin + 1..=branch.line - 1);
    let is_asked = |line: u32| {
        let mut others = facts.profile.branches.iter();
        others.any(|one| {
            (one.kernel, &one.file) == (branch.kernel, &branch.file)
                && (line..=line + 1).contains(&one.line)
                && one.decided_by == [Decider::Data]
                && !one.ends_loop
        })
    };
    let is_stored = |id: Option<u64>| {
        let mut accesses = facts.accesses_of(branch.kernel, "global");
        id.is_some() && accesses.any(|one| one.op != "load" && one.allocation == id)
    };
    facts.accesses_of(branch.kernel, "global").any(|access| {
        access.op == "load"
            && access.past_l1
            && access.file == branch.file
            && body.contains(&access.line)
            && is_asked(access.line)
            && is_stored(access.allocation)
    })
}

/// Whether a short side is there to append to a list: an atomic operation, a few lines on, gives the place.
pub(super) fn appends(facts: &Facts<'_>, branch: &Branch) -> bool {
    let behind = branch.line..=branch.line + LINES_OF_APPEND;
    runs_at_most(branch, SHORT)
        && facts.accesses.iter().any(|access| {
            access.kernel.id == branch.kernel
                && access.op == "atomic"
                && access.result_used
                && access.file == branch.file
                && behind.contains(&access.line)
        })
}

/// The line of a loop a few lines behind the branch whose first test the compiler has joined to it: all lanes that come to the loop have work there, and they are those that take one side of the
/// branch.
pub(super) fn joined_loop(facts: &Facts<'_>, branch: &Branch) -> Option<u32> {
    let behind = branch.line + 1..=branch.line + LINES_OF_APPEND;
    let alike = |one: &&Branch| {
        (one.kernel, &one.file) == (branch.kernel, &branch.file) && one.ends_loop && behind.contains(&one.line)
    };
    let loops: Vec<&Branch> = facts.profile.branches.iter().filter(alike).collect();
    let line = loops.first()?.line;
    let sum = |value: fn(&Branch) -> u64| loops.iter().map(|one| value(one)).fold(0, u64::saturating_add);
    let lanes = loops.iter().flat_map(|one| &one.lanes).copied().fold(0, u64::saturating_add);
    let is_joined =
        loops.iter().all(|one| one.line == line && one.divergent == 0 && one.decided_by.contains(&Decider::Thread))
            && sum(|one| one.executions) == branch.divergent
            && branch.lanes.contains(&lanes)
            && !branch.ends_loop;
    is_joined.then_some(line)
}

/// Whether a loop begins a few lines behind the branch, so that it may be a part of one side. One that only ends there (`} while (..);`) is around it.
pub(super) fn has_loop_behind(facts: &Facts<'_>, branch: &Branch) -> bool {
    let behind = branch.line + 1..=branch.line + LINES_OF_SIDE;
    let lines = facts.profile.sources.get(&branch.file);
    let is_end = |line: u32| {
        let has_do = |(_, text): (&u32, &String)| has_word(text, "do");
        lines.is_some_and(|lines| {
            lines.get(&line).is_some_and(|text| ends_do(text)) && !lines.range(branch.line + 1..=line).any(has_do)
        })
    };
    let mut others = facts.profile.branches.iter();
    others.any(|other| {
        other.kernel == branch.kernel
            && other.ends_loop
            && other.file == branch.file
            && behind.contains(&other.line)
            && !is_end(other.line)
    })
}

/// Whether the line ends a `do`.
pub(super) fn ends_do(text: &str) -> bool {
    let code = text.split("//").next().unwrap_or_default().trim();
    code.trim_start_matches('}').trim_start().starts_with("while") && code.ends_with(';')
}

/// How the number of a thread decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// By its remainder or a bit: neighbours part.
    Interleaved,
    /// By comparison with a bound.
    Compared,
}

/// How the thread's number alone decides, as the compiler saw it; `None` where data or something else does, too.
pub(super) fn number_of_thread(branch: &Branch) -> Option<Number> {
    match branch.decided_by[..] {
        [Decider::Thread] => Some(Number::Compared),
        [Decider::Thread, Decider::Alternation] => Some(Number::Interleaved),
        _ => None,
    }
}

/// Whether a lane's number within its warp or group and loaded data decide, as where lanes beyond the end of a list have nothing to do.
pub(super) fn shares_short_lists(branch: &Branch) -> bool {
    matches!(
        branch.decided_by[..],
        [Decider::Thread, Decider::Data] | [Decider::Thread, Decider::Alternation, Decider::Data]
    )
}

/// Whether the lanes of a warp have found out together which of them does the work.
pub(super) fn is_election(branch: &Branch) -> bool {
    let has = |decider| branch.decided_by.contains(&decider);
    has(Decider::Thread) && has(Decider::Exchange) && !has(Decider::Data)
}
