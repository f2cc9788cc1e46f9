//! Branches whose sides lanes of one warp take: the warp runs both, each with part of its lanes (CUDA C++ Best Practices Guide,
//! "Branching and Divergence").

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::super::access::share;
use super::super::context::{Context, blocks, has_word, warps};
use super::super::draft::Draft;
use super::super::gain::Saving;
use super::super::words;
use crate::profile::model::{Branch, Kernel, Severity};
use warpline_format::condition::Decider;

/// Least share of the kernel's issued lane slots that a branch costs.
const LEAST_COST: f64 = 0.05;
/// Least share of the time of all kernels.
const LEAST_WASTE: f64 = 0.01;
/// The same of a branch that one lane of a warp takes: a guard around little is no finding.
const LEAST_ALONE: f64 = 0.3;

/// Warp instructions of one run of a part, at most, for the part to be little.
const LITTLE: u64 = 12;
/// The same of sides that cost less than what it takes to bring their lanes together elsewhere.
const SHORT: u64 = 40;
/// Times that a side is shorter than another, from which on those on the longer one are what is waited for.
const MUCH_SHORTER: u64 = 8;
/// Share of a branch's executions in which whole warps go by a side, at most, for all lanes to do it as well.
const MOST_GOING_BY: f64 = 0.1;
/// Share of a branch's executions in which lanes part, at most, where it is the border of the data or the end of a loop.
const SELDOM: f64 = 0.25;
/// Share of the kernel's lane slots that last iterations leave idle, at most.
const MOST_OF_LAST: f64 = 0.3;
/// What full warps would have to bring there.
const LEAST_SELDOM_GAIN: f64 = 1.25;

const WARP: u64 = 32;
/// So many threads of a launch do a part for all of it.
const A_FEW_THREADS: u64 = WARP / 4;
/// Lines from a shuffle to the condition on what it brings, at most.
const LINES_OF_STEP: u32 = 3;
/// Lines from a branch to a loop that may be one of its sides, at most.
const LINES_OF_SIDE: u32 = 8;
/// So many lanes of a warp do a part for all of it, as `threadIdx.x == 0` in rows of eight threads.
const FEW_LANES: u64 = 4;
/// Sides that are reported: a switch may have many.
const MOST_SIDES: usize = 4;

/// What to do where one lane of a block or a few of a warp work.
const OF_FEW_LANES: &str = "one lane or a few do this part while the others wait: spread it over the warp (shuffles, one element per lane), or let \
                            another warp or kernel do it";

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    context.profile.kernels.iter().flat_map(|kernel| of_kernel(context, kernel)).collect()
}

/// The branches of a kernel by their place: unrolling and inlining make several of one.
fn of_kernel(context: &Context<'_>, kernel: &Kernel) -> Vec<Draft> {
    let mut places: BTreeMap<(&str, u32, u32), Branch> = BTreeMap::new();
    let all = context.profile.branches.iter();
    for branch in all.filter(|branch| branch.kernel == kernel.id && branch.divergent > 0 && branch.line != 0) {
        match places.entry((&branch.file, branch.line, branch.column)) {
            Entry::Vacant(place) => _ = place.insert(branch.clone()),
            Entry::Occupied(mut sum) => add(sum.get_mut(), branch),
        }
    }
    places
        .into_values()
        .filter(|branch| is_own(context, branch))
        .filter_map(|branch| draft(context, kernel, &branch))
        .collect()
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
fn is_own(context: &Context<'_>, branch: &Branch) -> bool {
    let text = context.profile.sources.get(&branch.file).and_then(|lines| lines.get(&branch.line));
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

/// Whether what runs because of the branch is a few instructions, as a guard's one store.
fn is_little(branch: &Branch) -> bool {
    runs_at_most(branch, LITTLE)
}

/// Whether no side issues more than so many warp instructions each time that it runs.
fn runs_at_most(branch: &Branch, most: u64) -> bool {
    let lanes = branch.lanes.iter().copied().chain(std::iter::repeat(u64::MAX));
    let short = |(&issued, lanes): (&u64, u64)| issued <= most.saturating_mul(branch.executions.min(lanes));
    !branch.instructions.is_empty() && branch.instructions.iter().zip(lanes).all(short)
}

/// Whether each of two sides or more is long, and none much longer: no lane is idle for want of work, they wait for those on the other side.
fn works_on_both_sides(branch: &Branch) -> bool {
    let longest = branch.instructions.iter().copied().max().unwrap_or(0);
    let least = LITTLE.saturating_mul(branch.divergent).max(longest / MUCH_SHORTER);
    branch.instructions.iter().filter(|issued| **issued > least).count() >= 2
}

/// Share of the executions in which a whole warp may go by a side that has work, at most: it would do that, too, if all lanes did what the sides do.
fn goes_by(branch: &Branch) -> f64 {
    let together = branch.executions.saturating_sub(branch.divergent);
    let all: u64 = branch.lanes.iter().copied().fold(0, u64::saturating_add);
    let sides = branch.instructions.iter().zip(&branch.lanes).filter(|(issued, _)| **issued > 0);
    // Of those on other sides, one lane at least belongs to each execution in which lanes part.
    let others = sides.map(|(_, &own)| all.saturating_sub(own).saturating_sub(branch.divergent) / WARP);
    share(others.max().unwrap_or(0).min(together), branch.executions)
}

/// Lanes that leave here miss what the others still do, far more than the branch's own sides: it is the way out of a loop.
fn leaves_loop(branch: &Branch) -> bool {
    is_little(branch) && branch.idle_lane_slots > branch.divergent.saturating_mul(4 * LITTLE * 32)
}

/// Both sides lead to the same code, as a condition within the head of a loop: who leaves it does so by the one or the other.
fn goes_on_either_way(context: &Context<'_>, branch: &Branch) -> bool {
    let text = context.profile.sources.get(&branch.file).and_then(|lines| lines.get(&branch.line));
    let has_loop = text.is_some_and(|text| DECIDES[..LOOPS].iter().any(|word| has_word(text, word)));
    has_loop
        && matches!(branch.instructions[..], [one, other] if one == other && one > LITTLE.saturating_mul(branch.divergent))
}

/// Whether a scan within the warp decides by the lane's number who adds what it got from another lane: those below the step have nothing to add,
/// and no other arrangement gives them something.
fn is_step_of_scan(context: &Context<'_>, branch: &Branch) -> bool {
    let lines = context.profile.sources.get(&branch.file);
    let mut before =
        lines.into_iter().flat_map(|lines| lines.range(branch.line.saturating_sub(LINES_OF_STEP)..=branch.line));
    number_of_thread(branch).is_some() && before.any(|(_, text)| text.contains("shfl_up"))
}

/// Whether a loop ends there as soon as other threads have written something: lanes were seen to wait, or its condition is loaded past L1.
fn waits_for_others(context: &Context<'_>, branch: &Branch) -> bool {
    let place = |one: &Branch| (one.kernel, one.line, one.column);
    let copies =
        || context.profile.branches.iter().filter(|one| place(one) == place(branch) && one.file == branch.file);
    let mut there = context
        .accesses_of(branch.kernel, "global")
        .filter(|access| (access.file, access.line) == (&branch.file[..], branch.line));
    copies().any(|one| one.ends_loop)
        && (copies().any(|one| one.order_assumed) || there.any(|access| access.op == "load" && access.past_l1))
}

/// Whether a loop begins a few lines behind the branch, so that it may be a part of one side. One that only ends there (`} while (..);`) is around it.
fn has_loop_behind(context: &Context<'_>, branch: &Branch) -> bool {
    let behind = branch.line + 1..=branch.line + LINES_OF_SIDE;
    let lines = context.profile.sources.get(&branch.file);
    let is_end = |line: u32| {
        let has_do = |(_, text): (&u32, &String)| has_word(text, "do");
        lines.is_some_and(|lines| {
            lines.get(&line).is_some_and(|text| ends_do(text)) && !lines.range(branch.line + 1..=line).any(has_do)
        })
    };
    let mut others = context.profile.branches.iter();
    others.any(|other| {
        other.kernel == branch.kernel
            && other.ends_loop
            && other.file == branch.file
            && behind.contains(&other.line)
            && !is_end(other.line)
    })
}

/// Whether the line ends a `do`.
fn ends_do(text: &str) -> bool {
    let code = text.split("//").next().unwrap_or_default().trim();
    code.trim_start_matches('}').trim_start().starts_with("while") && code.ends_with(';')
}

/// How the number of a thread decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// By its remainder or a bit: neighbours part.
    Interleaved,
    /// By comparison with a bound.
    Compared,
}

/// How the thread's number alone decides, as the compiler saw it; `None` where data or something else does, too.
fn number_of_thread(branch: &Branch) -> Option<Number> {
    match branch.decided_by[..] {
        [Decider::Thread] => Some(Number::Compared),
        [Decider::Thread, Decider::Alternation] => Some(Number::Interleaved),
        _ => None,
    }
}

/// Whether a lane's number within its warp or group and loaded data decide, as where lanes beyond the end of a list have nothing to do.
fn shares_short_lists(branch: &Branch) -> bool {
    matches!(
        branch.decided_by[..],
        [Decider::Thread, Decider::Data] | [Decider::Thread, Decider::Alternation, Decider::Data]
    )
}

/// Whether the lanes of a warp have found out together which of them does the work.
fn is_election(branch: &Branch) -> bool {
    let has = |decider| branch.decided_by.contains(&decider);
    has(Decider::Thread) && has(Decider::Exchange) && !has(Decider::Data)
}

fn draft(context: &Context<'_>, kernel: &Kernel, branch: &Branch) -> Option<Draft> {
    let cost = branch.idle_lane_slots;
    let of_kernel = share(cost, kernel.lane_slots.issued);
    if of_kernel < LEAST_COST {
        return None;
    }
    let lanes: u64 = branch.lanes.iter().copied().fold(0, u64::saturating_add);
    let sides: Vec<String> =
        branch.lanes.iter().take(MOST_SIDES).map(|&side| words::percent(share(side, lanes))).collect();
    // One lane of a warp goes another way than the others: to a part that is done by one of them.
    let fewest = branch.lanes.iter().filter(|&&side| side > 0).min().copied().unwrap_or(0);
    let alone = fewest as f64 <= 1.5 * branch.divergent as f64;
    if alone && of_kernel < LEAST_ALONE {
        return None;
    }
    let is_loop = branch.ends_loop;
    let issued: Vec<String> = branch.instructions.iter().take(MOST_SIDES).map(|&side| words::count(side)).collect();
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
    // Lanes that meet at an address try again: atomic-contention says so, and their loops have the lengths that it gives them.
    if branch.decided_by.contains(&Decider::Attempt) {
        return None;
    }
    if is_step_of_scan(context, branch) {
        return None;
    }
    let seldom = share(branch.divergent, branch.executions) <= SELDOM;
    let little = !is_loop && is_little(branch);
    let few = fewest <= FEW_LANES.saturating_mul(branch.divergent);
    let number = number_of_thread(branch);
    let both = works_on_both_sides(branch);
    // The same lanes have nothing to do in nearly every execution, as where a row is shorter than a warp.
    let always = branch.divergent.saturating_mul(10) >= branch.executions.saturating_mul(9);
    let leaves_lanes_out = number == Some(Number::Compared) && always && !few;
    // A few threads do what the branch is about, in a whole launch.
    let longest = branch.instructions.iter().zip(&branch.lanes).max_by_key(|(issued, _)| **issued);
    let for_a_few = !little
        && longest.is_some_and(|(_, &lanes)| lanes <= A_FEW_THREADS.saturating_mul(kernel.recorded_launches().max(1)));
    // No warp takes that part with half of its lanes or more: no bound runs through work that others share.
    let never_half_a_warp = !little && longest.is_some_and(|(_, &lanes)| lanes < WARP / 2 * branch.divergent.max(1));
    // Whether the cure makes full warps of the same work.
    let mut fills_warps = true;
    // A last iteration is a small part of a loop; where lanes are idle for most of it, they run it differently often.
    let cure = if waits_for_others(context, branch) {
        fills_warps = false;
        "the loop waits here for what other threads write: what is waited for decides how long, and no order of the data does; let one lane of a warp wait for all of them where they wait for the \
         same, or let a launch of its own begin where everything it needs is there"
    } else if is_loop && number.is_some() && of_kernel < MOST_OF_LAST {
        "only some iterations leave lanes idle, as the last one, or those over a row or tile, of elements that are no multiple of 32 or of the block's threads: let what the threads \
         share in an iteration be such a multiple (a block of another size, padded data), or give idle threads a part of another's work"
    } else if is_loop || leaves_loop(branch) || goes_on_either_way(context, branch) {
        "give the threads of a warp loops of about the same length: where an iteration does much, sort or group the work by the number of its \
         iterations, or let the lanes of a warp share the work of one loop; where it does little, see whether a fixed number of iterations, or none \
         (an intrinsic, a closed form), gives the same"
    } else if is_election(branch) {
        fills_warps = false;
        "one lane of each group does this part for the others, which wait for it: as few groups as can be (one a warp) and no more in it than the \
         one operation, as an atomic one; what does not need to be there goes before or behind it, where all lanes work"
    } else if number == Some(Number::Interleaved) && !both && !alone && few && always {
        "one lane of each group does this part, and the others wait: where it ends what the group has done together (with shuffles, a vote), as few instructions as can be belong there; \
         where it is work of its own, number those that work from 0 on, so that whole warps work and whole warps are done"
    } else if number == Some(Number::Interleaved) && !both && !alone {
        "the thread's number decides here so that working and idle threads alternate: number those that work from 0 on, as `threadIdx.x < n` \
         instead of every second one, so that whole warps work and whole warps are done"
    } else if little && !leaves_lanes_out {
        // A warp that takes a few instructions under a condition loses little, whoever is idle.
        return None;
    } else if for_a_few
        || number.is_some() && (seldom && never_half_a_warp || few && !little && branch.divergent >= blocks(kernel))
    {
        OF_FEW_LANES
    } else if number == Some(Number::Compared) && !always && !both && branch.executions <= warps(kernel) {
        "the border of the data runs through warps here, and the lanes beyond it have nothing to do: a bound that is no multiple of 32 vanishes where sizes are such multiples (padded \
         data, several small pieces for one block) or where the block's width divides them; or count the elements in one dimension, so that the last warp alone has a border"
    } else if seldom && number.is_some() {
        "only warps at a bound have lanes on both sides: a bound that is no multiple of 32, as the end of the data or the number of elements that a block \
         has, vanishes where sizes are such multiples (padded data, several small pieces for one block); where it moves from step to step, as in a \
         triangle or a loop that halves its threads, deal the elements out so that the threads of a warp have as many steps, and let one warp finish \
         the last ones with shuffles"
    } else if seldom && branch.executions > warps(kernel) {
        "few warps have lanes on both sides in an iteration of the loop around this: where lanes leave the loop here, give the threads of a warp loops of about the same length (sorted or grouped by \
         the number of iterations); where a few lanes do a long part, collect their elements in a list and give these to whole warps afterwards, or group the data by what decides"
    } else if seldom {
        "few warps have lanes on both sides: where a few lanes do a long part, collect their elements in a list (an atomic counter for a place in \
         it, once per warp) and give these to whole warps afterwards; group the data by what decides where that is cheaper"
    } else if few {
        OF_FEW_LANES
    } else if number.is_some() && !both {
        "the thread's number decides here, compared with a bound that leaves less than a warp or changes from step to step: give the threads \
         that are left out elements of their own (fewer threads with several elements each, several rows or columns a warp); where they are the border of a tile, which only loads, larger tiles have less of it; the last steps of a \
         reduction are done by the lanes of one warp, with shuffles"
    } else if number == Some(Number::Compared) && both {
        "the thread's number decides here, compared with a bound, and warps at the bound run both sides: where it is the border of the data, let blocks or a \
         kernel of its own do the border, or lay rows out so that the bound falls between warps; a side of a few instructions can be written without a \
         branch (all lanes do it, and choose the result)"
    } else if number.is_none() && !is_loop && runs_at_most(branch, SHORT) && has_loop_behind(context, branch) {
        fills_warps = false;
        "no side is long enough for grouping or collecting elements to pay: where one of them is a loop, see whether its length can be the same in all lanes, or the lanes share it; a side without \
         one can be done by all lanes, which choose the result, where that has no side effects; otherwise leave it"
    } else if number.is_none() && !is_loop && runs_at_most(branch, SHORT) {
        // Warps that go by a side would have to do it.
        if goes_by(branch) > MOST_GOING_BY {
            return None;
        }
        fills_warps = false;
        "no side is long enough for grouping or collecting elements to pay, and nearly each warp runs them all as it is: where they have no side effects, let all lanes do what \
         the sides do and choose the result (`?:`, `&` and `|` in the place of `&&` and `||`, a factor of 0), which saves the branch and no more; otherwise leave it"
    } else if !both && shares_short_lists(branch) {
        "lane by lane, the data decides who has work: where the lanes of a warp share a row or list that is mostly shorter than the warp, let as many lanes share \
         one as it has elements (8 or 16, several rows or lists a warp); else order the data by what decides, or collect the elements that have work in a \
         list and give these to whole warps"
    } else if !both && branch.decided_by.contains(&Decider::Data) {
        "the data decides which lanes have work here, and the others wait: order the data by what decides, or collect the elements that have work in a \
         list (an atomic counter for a place in it, once per warp) and give these to whole warps; a short side can be written without a branch"
    } else if number.is_none() && both {
        "what each lane has computed or loaded decides here, and both sides are long: where it is known beforehand, order the data by it, so that whole warps take \
         one side; else let the sides have as much in common as they can (the same instructions with other operands, chosen by `?:`, and what both do before or \
         behind the branch), or take a formula or intrinsic that needs no cases"
    } else if number.is_none() {
        "what each lane has computed decides which lanes have work here, and the others wait for those on the long side: where it is known beforehand, order the data by it; else \
         collect the elements that have work in a list (an atomic counter for a place in it, once per warp) and give these to whole warps; a short side can be \
         written without a branch"
    } else {
        "let whole warps take one side: group the data by what decides, or let the condition depend on the warp (threadIdx.x / 32) instead of \
         the lane; short sides can be written without a branch"
    };
    // Without idle lanes as much fewer warp instructions would do.
    let saved = share(cost, 32);
    let saving = ["instructions", "fp32", "fp64", "special"].into_iter().fold(Saving::default(), |sum, limit| {
        let amount = kernel.estimates.first().and_then(|estimate| estimate.limits.iter().find(|one| one.name == limit));
        let issued = kernel.lane_slots.issued.max(1) as f64 / 32.0;
        sum.and(Saving::of(limit, saved / issued * amount.map_or(0.0, |limit| limit.amount as f64)))
    });
    let waste = context.waste(kernel, &saving, of_kernel);
    if waste < LEAST_WASTE {
        return None;
    }
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
        .gain(context.gain(kernel, &saving, "the same work in full warps"))
        .score(waste);
    let draft = if fills_warps { draft } else { draft.gain(None) };
    // Where something else is slower, full warps would make nothing faster; and nobody makes full warps of every border.
    let worth = draft.gain.as_ref().is_some_and(|gain| !little && (!seldom || gain.factor >= LEAST_SELDOM_GAIN));
    Some(if !worth { draft.severity(Severity::Note) } else { draft })
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
