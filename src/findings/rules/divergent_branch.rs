//! Branches at which lanes of one warp diverge, so that the warp executes both sides, each with a part of its lanes
//! (CUDA C++ Best Practices Guide, "Branching and Divergence").

use super::super::facts::branches::{self, Number};
use super::super::prelude::*;
use super::super::thresholds::control_flow::*;
use super::super::words;
use warpline_format::condition::Decider;

described! {
    enum Cause {
        WaitingLoop => "waiting-loop",
        ShortLists => "short-lists",
        VaryingTripCount => "varying-trip-count",
        FewLanes => "few-lanes",
        InterleavedThreads => "interleaved-threads",
        ThreadsLeftOut => "threads-left-out",
        ValueSelectsLanes => "value-selects-lanes",
        ValueSelectsSide => "value-selects-side",
        AlternatingSides => "alternating-sides",
    }
    enum Remedy {
        WaitInOneLane => "wait-in-one-lane",
        SeveralListsPerWarp => "several-lists-per-warp",
        GroupByTripCount => "group-by-trip-count",
        ShortenPart => "shorten-part",
        RenumberThreads => "renumber-threads",
        FillThreads => "fill-threads",
        CollectInList => "collect-in-list",
        SortBySide => "sort-by-side",
        GroupByWarp => "group-by-warp",
    }
}

/// A branch with the properties that determine its cause.
struct Divergent<'f, 'a> {
    facts: &'f Facts<'a>,
    kernel: &'a Kernel,
    branch: &'f Branch,
    number: Option<Number>,
    /// Whether both sides are long.
    is_both: bool,
    /// Whether lanes diverge in few executions of the branch.
    is_seldom: bool,
    /// Whether lanes diverge in nearly all executions, as for rows that are shorter than a warp.
    is_always: bool,
    /// Whether few lanes of a warp are on the smaller side.
    is_few: bool,
    is_alone: bool,
    is_little: bool,
    /// Whether a warp executes the branch several times.
    is_iterated: bool,
}

type Condition = fn(&Divergent<'_, '_>) -> bool;

/// A condition, a cause with its remedy, and a condition that is true if the remedy creates full warps.
type Row = (Condition, Option<(Cause, Remedy)>, Condition);

const YES: Condition = |_| true;
const NO: Condition = |_| false;

/// Conditions with causes and remedies; the first condition that is true applies. A row without a cause and remedy is
/// for branches that no user would change. The last column states whether the remedy executes the same work in full
/// warps; the gain is that of full warps.
const ORDER: &[Row] = &[
    // Lanes that collide at an address try again; atomic-contention reports this.
    (|it| it.branch.decided_by.contains(&Decider::Attempt), None, NO),
    (|it| branches::is_step_of_scan(it.facts, it.branch), None, NO),
    // If only the caller decides, there is no work to reorder.
    (|it| it.branch.decided_by == [Decider::Call], None, NO),
    // Loops.
    (|it| branches::waits_for_others(it.facts, it.branch), Some((Cause::WaitingLoop, Remedy::WaitInOneLane)), NO),
    (|it| it.has_short_lists(), Some((Cause::ShortLists, Remedy::SeveralListsPerWarp)), |it| it.pays()),
    (
        |it| it.has_varying_trip_count(),
        Some((Cause::VaryingTripCount, Remedy::GroupByTripCount)),
        |it| it.number.is_none(),
    ),
    // These branches already collect their work in a list.
    (|it| it.number.is_none() && branches::appends(it.facts, it.branch), None, NO),
    // Branches whose side the thread index determines.
    (|it| branches::is_election(it.branch), Some((Cause::FewLanes, Remedy::ShortenPart)), NO),
    (|it| it.is_interleaved(), Some((Cause::InterleavedThreads, Remedy::RenumberThreads)), YES),
    // A warp that executes a few instructions under a condition loses little.
    (|it| it.is_little && !it.leaves_lanes_out(), None, NO),
    (|it| it.is_of_few_lanes(), Some((Cause::FewLanes, Remedy::ShortenPart)), NO),
    (|it| it.leaves_threads_out(), Some((Cause::ThreadsLeftOut, Remedy::FillThreads)), YES),
    // Branches whose side loaded or computed data determines.
    (|it| it.number.is_none() && branches::runs_at_most(it.branch, SHORT), None, NO),
    (|it| it.selects_lanes(), Some((Cause::ValueSelectsLanes, Remedy::CollectInList)), |it| it.is_seldom || it.pays()),
    (|it| it.number.is_none(), Some((Cause::ValueSelectsSide, Remedy::SortBySide)), |it| !it.is_iterated),
    (YES, Some((Cause::AlternatingSides, Remedy::GroupByWarp)), YES),
];

impl<'f, 'a> Divergent<'f, 'a> {
    fn new(facts: &'f Facts<'a>, kernel: &'a Kernel, branch: &'f Branch) -> Divergent<'f, 'a> {
        let part = share(branch.divergent, branch.executions);
        Divergent {
            facts,
            kernel,
            branch,
            number: branches::number_of_thread(branch),
            is_both: branches::works_on_both_sides(branch),
            is_seldom: part <= SELDOM,
            is_always: part >= NEARLY_ALWAYS,
            is_few: branches::fewest_lanes(branch) <= FEW_LANES.saturating_mul(branch.divergent),
            is_alone: branches::is_alone(branch),
            is_little: !branch.ends_loop && branches::runs_at_most(branch, LITTLE),
            is_iterated: branch.executions > warps(kernel),
        }
    }

    fn has_short_lists(&self) -> bool {
        let is_short = branches::runs_at_most(self.branch, SHORT);
        branches::shares_lists(self.branch) && (self.branch.ends_loop || !self.is_both && !self.is_seldom && !is_short)
    }

    fn has_varying_trip_count(&self) -> bool {
        self.branch.ends_loop
            || self.is_iterated && branches::leaves_loop(self.branch)
            || branches::is_in_loop_head(self.facts, self.branch)
    }

    fn is_interleaved(&self) -> bool {
        self.number == Some(Number::Interleaved) && !self.is_both && !self.is_alone
    }

    fn leaves_lanes_out(&self) -> bool {
        self.number == Some(Number::Compared) && self.is_always && !self.is_few
    }

    /// Returns whether a few threads of a launch, or at most a few lanes of the warps of each block, execute the main
    /// work of the branch.
    fn is_of_few_lanes(&self) -> bool {
        let most = FEW_THREADS.saturating_mul(self.kernel.recorded_launches().max(1));
        let is_for_a_few = || branches::longest_side(self.branch).is_some_and(|(_, lanes)| lanes <= most);
        let is_of_blocks = self.is_few && self.branch.divergent >= blocks(self.kernel);
        !self.is_little && (is_for_a_few() || self.number.is_some() && is_of_blocks)
    }

    /// Returns whether the thread index leaves threads without work, either at a bound or permanently.
    fn leaves_threads_out(&self) -> bool {
        self.number.is_some() && (self.is_seldom || !self.is_both)
    }

    fn selects_lanes(&self) -> bool {
        self.number.is_none() && (self.is_seldom || !self.is_both)
    }

    /// Returns whether the gain of a list, or of another order of the data, exceeds its cost. With either, neighbouring
    /// threads no longer access neighbouring elements.
    fn pays(&self) -> bool {
        self.branch.ends_loop || self.of_kernel() >= LEAST_TO_COLLECT
    }

    /// Returns the idle share of the kernel's lane slots.
    fn of_kernel(&self) -> f64 {
        share(self.branch.idle_lane_slots, self.kernel.lane_slots.issued)
    }

    /// Returns the saving if full warps execute the same work, because they issue fewer instructions.
    fn saving(&self, passes: f64) -> Saving {
        let part = self.of_kernel();
        let estimate = self.kernel.estimates.first();
        let amount = |name: &str| estimate.and_then(|one| one.limits.iter().find(|limit| limit.name == name));
        let saving = ["instructions", "fp32", "fp64", "special"].into_iter().fold(Saving::default(), |sum, name| {
            sum.and(Saving::new(name, part * amount(name).map_or(0.0, |limit| limit.amount as f64)))
        });
        saving.and(Saving::new("shared", passes)).and(Saving::new("l1_data", passes))
    }

    /// Returns the passes over shared memory that full warps save, because threads with consecutive indices access
    /// neighbouring words.
    fn passes(&self) -> f64 {
        let is_interleaved = self.number == Some(Number::Interleaved);
        if is_interleaved { branches::sparse_passes(self.facts, self.branch) } else { 0.0 }
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let of_kernel = |kernel| {
        let branches = branches::divergent_branches(facts, kernel);
        branches.iter().filter_map(|branch| draft(&Divergent::new(facts, kernel, branch))).collect::<Vec<_>>()
    };
    facts.profile.kernels.iter().flat_map(of_kernel).collect()
}

fn draft(it: &Divergent<'_, '_>) -> Option<Draft> {
    let (branch, of_kernel) = (it.branch, it.of_kernel());
    if of_kernel < LEAST_IDLE || it.is_alone && of_kernel < LEAST_IDLE_ALONE {
        return None;
    }
    let (_, what, fills) = ORDER.iter().find(|(condition, ..)| condition(it))?;
    let (cause, remedy) = what.as_ref()?;
    let fills_warps = fills(it);
    let passes = if fills_warps { it.passes() } else { 0.0 };
    let saving = it.saving(passes);
    let waste = it.facts.waste(it.kernel, &saving, of_kernel);
    if waste < LEAST_DIVERGENCE_WASTE {
        return None;
    }
    let gain = it.facts.gain(it.kernel, &saving).filter(|_| fills_warps);
    // If another limit is slower, full warps have no gain. In addition, users do not create full warps for every
    // border.
    let is_little = it.is_little && passes <= 0.0;
    let is_worth = gain.as_ref().is_some_and(|gain| !is_little && (!it.is_seldom || gain.factor >= LEAST_SELDOM_GAIN));
    let frame = Frame { function: String::new(), file: branch.file.clone(), line: branch.line, column: branch.column };
    let draft = Draft::new(with_figures(Diagnosis::new(cause, remedy), it))
        .at_frame(Some(&frame))
        .of_kernel(it.kernel)
        .evidence("executions", branch.executions as f64)
        .evidence("divergent", branch.divergent as f64)
        .evidence("idle_lane_slots", branch.idle_lane_slots as f64)
        .evidence("share_of_lane_slots", of_kernel)
        .gain(gain)
        .score(waste);
    Some(draft.note_if(!is_worth))
}

/// Adds the figures of all causes: how often lanes diverge, which sides they take, and how many instructions the sides
/// issue.
fn with_figures(mut diagnosis: Diagnosis, it: &Divergent<'_, '_>) -> Diagnosis {
    let branch = it.branch;
    let lanes = branch.lanes.iter().copied().total();
    // Sides of a switch that no lane takes are omitted.
    let is_taken = |side: &usize| branch.lanes.len() <= 2 || branch.lanes[*side] > 0;
    let taken = || (0..branch.lanes.len()).filter(is_taken).take(MOST_SIDES);
    let sides: Vec<String> = taken().map(|side| words::percent(share(branch.lanes[side], lanes))).collect();
    let issued = taken().filter_map(|side| branch.instructions.get(side)).map(|&count| words::count(count));
    let issued: Vec<String> = issued.filter(|_| !branch.ends_loop).collect();
    let figures = &mut diagnosis.figures;
    figures.set("kind", Choice(u8::from(branch.ends_loop)));
    figures.set("divergent", Share(share(branch.divergent, branch.executions)));
    figures.set("executions", Count(branch.executions));
    figures.set("sides", Shown(sides.join(" and ")));
    figures.set("issued", (!issued.is_empty()).then(|| Shown(issued.join(" and "))));
    figures.set("slots", Share(it.of_kernel()));
    diagnosis
}
