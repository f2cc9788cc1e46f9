//! What to do about a branch: by what decides over it, by how long its sides are, and by how often lanes part.

use super::super::super::facts::access::share;
use super::super::super::facts::{Facts, block_of, blocks, warps};
use super::facts::{self, Number, SHORT, WARP};
use super::is_seldom;
use super::loops::{self, Loop};
use super::periods;
use crate::profile::model::{Branch, Kernel};
use warpline_format::condition::Decider;

/// So many threads of a launch do a part for all of it.
const A_FEW_THREADS: u64 = WARP / 4;
/// So many lanes of a warp do a part for all of it, as `threadIdx.x == 0` in rows of eight threads.
const FEW_LANES: u64 = 4;

/// Share of the kernel's lane slots that are idle, at least, where collecting elements in a list gains what full warps would bring.
const LEAST_TO_COLLECT: f64 = 0.15;

/// What to do where one lane of a block or a few of a warp work.
const OF_FEW_LANES: &str = "one lane or a few do this part while the others wait: spread it over the warp (shuffles, one element per lane), or let \
                            another warp or kernel do it";

/// The same where there is nothing to spread.
const OF_FEW_LANES_FOR_LITTLE: &str = "one lane or a few do this part, and the others wait: as few instructions as can be belong there, and what does not need to be there goes before or behind it, \
                                       where all lanes work; where others have nothing to do here, look at whether the part can be left to a few warps, each full of lanes that have it to do";

/// What to do, and whether that makes full warps of the same work; `None` where nobody would change the branch.
pub(super) fn of(facts: &Facts<'_>, kernel: &Kernel, branch: &Branch) -> Option<(&'static str, bool)> {
    let is_loop = branch.ends_loop;
    let seldom = is_seldom(branch);
    let little = !is_loop && facts::is_little(branch);
    let fewest = branch.lanes.iter().filter(|&&side| side > 0).min().copied().unwrap_or(0);
    let alone = facts::is_alone(branch);
    let few = fewest <= FEW_LANES.saturating_mul(branch.divergent);
    let number = facts::number_of_thread(branch);
    let both = facts::works_on_both_sides(branch);
    // The same lanes have nothing to do in nearly every execution, as where a row is shorter than a warp.
    let always = branch.divergent.saturating_mul(10) >= branch.executions.saturating_mul(9);
    let leaves_lanes_out = number == Some(Number::Compared) && always && !few;
    // A few threads do what the branch is about, in a whole launch.
    let longest = branch.instructions.iter().zip(&branch.lanes).max_by_key(|(issued, _)| **issued);
    let for_a_few = !little
        && longest.is_some_and(|(_, &lanes)| lanes <= A_FEW_THREADS.saturating_mul(kernel.recorded_launches().max(1)));
    // No warp takes that part with half of its lanes or more: no bound runs through work that others share.
    let never_half_a_warp = !little && longest.is_some_and(|(_, &lanes)| lanes < WARP / 2 * branch.divergent.max(1));
    // In a warp of several rows of the block, the lanes may be the ends of all of them, each with its own element.
    let is_one_row = block_of(kernel).is_none_or(|[width, ..]| u64::from(width) >= WARP);
    let mut fills_warps = true;
    // A list, or another order of the data, costs what neighbouring threads have in neighbouring elements now.
    let pays = share(branch.idle_lane_slots, kernel.lane_slots.issued) >= LEAST_TO_COLLECT;
    let cure = if facts::waits_for_others(facts, branch) {
        fills_warps = false;
        "the loop waits here for what other threads write: what is waited for decides how long, and no order of the data does; let one lane of a warp wait for all of them where they wait for the \
         same, or let a launch of its own begin where everything it needs is there"
    } else if is_loop && loops::of(facts, branch) == Some(Loop::Shared) {
        "the threads share this loop already, and the lanes beyond its end are idle: where it mostly has fewer elements than a warp has lanes, let several such loops share a warp (groups of 8 or 16 \
         lanes, each with a loop of its own); where it has more, only its last iteration is not full, which a number of elements that is a multiple of 32 (a block of another size, padded data) cures, \
         or idle threads that take a part of another's work"
    } else if is_loop && loops::of(facts, branch) == Some(Loop::AsLongAsNumber) {
        fills_warps = false;
        "each thread makes as many iterations here as its number says, so that the last ones of a warp go on while the others wait: look at whether a closed form, or a few iterations (as by powers of \
         two), gives the same, or whether the threads of a warp can share each other's iterations"
    } else if is_loop && number.is_some() {
        fills_warps = false;
        "the thread's number decides how long each lane stays in this loop: look at how its begin, its end or its step comes from that number; lanes that share one loop (begin at the lane, step by the \
         warp) differ by one iteration at most"
    } else if is_loop
        || branch.executions > warps(kernel) && facts::leaves_loop(branch)
        || facts::goes_on_either_way(facts, branch)
    {
        "give the threads of a warp loops of about the same length: where an iteration does much, sort or group the work by the number of its \
         iterations, or let the lanes of a warp share the work of one loop; where it does little, see whether a fixed number of iterations, or none \
         (an intrinsic, a closed form), gives the same"
    } else if number.is_none() && facts::appends(facts, branch) {
        // They collect already, and whose places they are atomic-contention says.
        return None;
    } else if facts::is_election(branch) {
        fills_warps = false;
        "one lane of each group does this part for the others, which wait for it: as few groups as can be (one a warp) and no more in it than the \
         one operation, as an atomic one; what does not need to be there goes before or behind it, where all lanes work"
    } else if number.is_some() && facts::is_case(facts, branch) && (!both || branch.lanes.len() > 2) {
        fills_warps = both;
        "the thread's number decides which of several cases a lane has, and a warp runs all that its lanes have, one after the other: let the case be what changes slowest with the thread's number, so that \
         a warp or block has one of them, or let what differs between the cases be operands (chosen by `?:` or from a table) of the same instructions"
    } else if number == Some(Number::Interleaved) && !both && !alone && few && always {
        "one lane of each group does this part, and the others wait: where it ends what the group has done together (with shuffles, a vote), as few instructions as can be belong there; \
         where it is work of its own, number those that work from 0 on, so that whole warps work and whole warps are done"
    } else if number == Some(Number::Interleaved) && !both && !alone {
        "the thread's number decides here so that working and idle threads alternate: number those that work from 0 on, as `threadIdx.x < n` \
         instead of every second one, so that whole warps work and whole warps are done"
    } else if little && !leaves_lanes_out {
        // A warp that takes a few instructions under a condition loses little, whoever is idle.
        return None;
    } else if (for_a_few
        || number.is_some()
            && (seldom && never_half_a_warp && (few || is_one_row)
                || few && !little && branch.divergent >= blocks(kernel)))
        && facts::can_be_shared(facts, branch)
    {
        OF_FEW_LANES
    } else if for_a_few || number.is_some() && few && !little && branch.divergent >= blocks(kernel) {
        fills_warps = false;
        OF_FEW_LANES_FOR_LITTLE
    } else if number == Some(Number::Compared)
        && !always
        && !both
        && branch.executions <= warps(kernel)
        && facts::leaves_half_out(branch)
        && !facts::may_be_border(kernel, branch)
    {
        fills_warps = periods::are_counted(facts, kernel, branch);
        "half of the threads have nothing to do here, and those that work are the first or the last of each few (no border of the data has so many parts): let half as many threads run, numbered by \
         those that work: of periods of 2 h elements of which the first h have work, thread t takes i = t / h * 2 h + t % h, so that all lanes of a warp work"
    } else if number == Some(Number::Compared)
        && !always
        && !both
        && branch.executions <= warps(kernel)
        && facts::may_be_border(kernel, branch)
    {
        "the border of the data runs through warps here, and the lanes beyond it have nothing to do: a bound that is no multiple of 32 vanishes where sizes are such multiples (padded \
         data, several small pieces for one block) or where the block's width divides them; or count the elements in one dimension, so that the last warp alone has a border"
    } else if seldom && number.is_some() {
        "only warps at a bound have lanes on both sides: a bound that is no multiple of 32, as the end of the data or the number of elements that a block \
         has, vanishes where sizes are such multiples (padded data, several small pieces for one block); where it moves from step to step, as in a \
         triangle or a loop that halves its threads, deal the elements out so that the threads of a warp have as many steps, and let one warp finish \
         the last ones with shuffles"
    } else if seldom && [Decider::Thread, Decider::Data].iter().all(|one| branch.decided_by.contains(one)) {
        fills_warps = false;
        "the thread's number and the data decide together here, and few warps have lanes on both sides: look at which of the two leaves lanes idle; where it is a bound that moves from step to step, as \
         along a diagonal or in a triangle, give idle lanes elements of another one; where it is the data, collect the elements that have work in a list"
    } else if seldom && branch.executions > warps(kernel) {
        "few warps have lanes on both sides in an iteration of the loop around this: where lanes leave the loop here, give the threads of a warp loops of about the same length (sorted or grouped by \
         the number of iterations); where a few lanes do a long part, collect their elements in a list and give these to whole warps afterwards, or group the data by what decides"
    } else if seldom {
        "few warps have lanes on both sides: where a few lanes do a long part, collect their elements in a list (an atomic counter for a place in \
         it, once per warp) and give these to whole warps afterwards; group the data by what decides where that is cheaper"
    } else if few
        && longest.is_some_and(|(_, &lanes)| lanes == fewest)
        && number.is_some()
        && facts::can_be_shared(facts, branch)
    {
        OF_FEW_LANES
    } else if number.is_some() && !both {
        "the thread's number decides here, compared with a bound that leaves less than a warp or changes from step to step: give the threads \
         that are left out elements of their own (fewer threads with several elements each, several rows or columns a warp); where they are the border of a tile, which only loads, larger tiles have less of it; the last steps of a \
         reduction are done by the lanes of one warp, with shuffles"
    } else if number == Some(Number::Compared) && both {
        "the thread's number decides here, compared with a bound, and warps at the bound run both sides: where it is the border of the data, let blocks or a \
         kernel of its own do the border, or lay rows out so that the bound falls between warps; a side of a few instructions can be written without a \
         branch (all lanes do it, and choose the result)"
    } else if number.is_none() && facts::runs_at_most(branch, SHORT) && facts::has_loop_behind(facts, branch) {
        fills_warps = false;
        "no side is long enough for grouping or collecting elements to pay: where one of them is a loop, see whether its length can be the same in all lanes, or the lanes share it; a side without \
         one can be done by all lanes, which choose the result, where that has no side effects; otherwise leave it"
    } else if number.is_none() && facts::runs_at_most(branch, SHORT) {
        // No order of the data pays for so little, and all lanes doing both sides saves the branch alone.
        return None;
    } else if branch.decided_by == [Decider::Call] {
        fills_warps = false;
        "what the caller of this function hands over, or another function returns, decides here lane by lane: look at where it comes from; of what follows from the thread's number, as whether \
         the lane's pointer is aligned, no list or order of the data changes anything: let all lanes go one way (a narrower vector access, the same instructions with other operands); of what data says, \
         order the data by it, or collect the elements that have work in a list and give these to whole warps"
    } else if !both && facts::shares_short_lists(branch) {
        fills_warps = pays;
        "lane by lane, the data decides who has work: where the lanes of a warp share a row or list that is mostly shorter than the warp, let as many lanes share \
         one as it has elements (8 or 16, several rows or lists a warp); else order the data by what decides, or collect the elements that have work in a \
         list and give these to whole warps"
    } else if !both && branch.decided_by.contains(&Decider::Data) {
        fills_warps = pays;
        "the data decides which lanes have work here, and the others wait: order the data by what decides, or collect the elements that have work in a \
         list (an atomic counter for a place in it, once per warp) and give these to whole warps; where each lane is in a step of a loop of its own, of which no list can be made, let a step do the same for all lanes \
         (other operands in the place of a branch)"
    } else if number.is_none() && both && branch.executions > warps(kernel) {
        fills_warps = false;
        "step by step, what each lane has computed or loaded decides here, and more than one side is long: where the order in which a lane goes through its elements is free, order them by what decides, so \
         that the lanes of a warp have the same case in a step; where it is not, as along a stream, look at whether a step can do the same for all lanes (the same instructions with other operands, chosen by `?:`), \
         or whether a warp can work on one stream together"
    } else if number.is_none() && both {
        "what each lane has computed or loaded decides here, and more than one side is long: where it is known beforehand, order the data by it, so that whole warps take \
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
    Some((cure, fills_warps))
}
