//! Branches whose sides lanes of one warp take: the warp runs both, each with part of its lanes (CUDA C++ Best Practices Guide,
//! "Branching and Divergence").

use super::super::diagnosis::{Choice, Count, Diagnosis, Share, Shown, described};
use super::super::draft::Draft;
use super::super::facts::access::share;
use super::super::facts::branches::{self, Number};
use super::super::facts::{Facts, block_of, blocks, warps};
use super::super::gain::Saving;
use super::super::thresholds::control_flow::{
    FEW_LANES, FEW_THREADS, LEAST_DIVERGENCE_WASTE, LEAST_IDLE, LEAST_IDLE_ALONE, LEAST_SELDOM_GAIN, LEAST_TO_COLLECT,
    LITTLE, MOST_SIDES, NEARLY_ALWAYS, SELDOM, SHORT, WARP,
};
use super::super::words;
use warpline_format::condition::Decider;
use warpline_profile::model::{Branch, FindingLine, Frame, Kernel, Severity, also_on};

described! {
    /// What decides, and how long the sides are.
    pub(in super::super) enum Cause {
        WaitingLoop => "waiting-loop",
        SharedLoopRemainder => "shared-loop-remainder",
        TripCountByThread => "trip-count-by-thread",
        VaryingTripCount => "varying-trip-count",
        ElectedLane => "elected-lane",
        CaseByThread => "case-by-thread",
        OneLanePerGroup => "one-lane-per-group",
        InterleavedThreads => "interleaved-threads",
        FewLanes => "few-lanes",
        DataBorder => "data-border",
        ThreadBound => "thread-bound",
        RareSide => "rare-side",
        ThreadsLeftOut => "threads-left-out",
        BorderWork => "border-work",
        CallerDecides => "caller-decides",
        ShortLists => "short-lists",
        ValueSelectsLanes => "value-selects-lanes",
        ValueSelectsSide => "value-selects-side",
        AlternatingSides => "alternating-sides",
    }
}

described! {
    pub(in super::super) enum Remedy {
        WaitInOneLane => "wait-in-one-lane",
        SeveralLoopsPerWarp => "several-loops-per-warp",
        EqualTripCounts => "equal-trip-counts",
        GroupByTripCount => "group-by-trip-count",
        ShortenPart => "shorten-part",
        CasePerWarp => "case-per-warp",
        RenumberGroups => "renumber-groups",
        RenumberThreads => "renumber-threads",
        SpreadOverWarp => "spread-over-warp",
        PadToWarps => "pad-to-warps",
        BalanceBound => "balance-bound",
        CollectInList => "collect-in-list",
        FillThreads => "fill-threads",
        SeparateBorder => "separate-border",
        OneWayForAll => "one-way-for-all",
        SeveralListsPerWarp => "several-lists-per-warp",
        OrderSteps => "order-steps",
        SortBySide => "sort-by-side",
        GroupByWarp => "group-by-warp",
    }
}

/// A branch with what classification depends on.
struct Divergent<'f, 'a> {
    facts: &'f Facts<'a>,
    kernel: &'a Kernel,
    branch: &'f Branch,
    number: Option<Number>,
    /// Both sides are long.
    is_both: bool,
    /// Lanes diverge in few of its executions.
    is_seldom: bool,
    /// Lanes diverge in nearly all of them, as where a row is shorter than a warp.
    is_always: bool,
    /// Few lanes of a warp are on the smaller side.
    is_few: bool,
    is_alone: bool,
    is_little: bool,
    /// A warp executes it several times.
    is_iterated: bool,
}

type Condition = fn(&Divergent<'_, '_>) -> bool;

/// Condition, cause and remedy, and whether the remedy makes full warps.
type Row = (Condition, Option<(Cause, Remedy)>, Condition);

const YES: Condition = |_| true;
const NO: Condition = |_| false;

/// The first that fits: a condition, cause and remedy (none where no user would change the branch), and whether the remedy makes full
/// warps of the same work, which is what it gains.
const ORDER: &[Row] = &[
    // Lanes that meet at an address try again, which atomic-contention is about.
    (|it| it.branch.decided_by.contains(&Decider::Attempt), None, NO),
    (|it| branches::is_step_of_scan(it.facts, it.branch), None, NO),
    // Loops.
    (|it| branches::waits_for_others(it.facts, it.branch), Some((Cause::WaitingLoop, Remedy::WaitInOneLane)), NO),
    (|it| it.is_loop() && it.number.is_some(), Some((Cause::TripCountByThread, Remedy::EqualTripCounts)), NO),
    (
        |it| it.is_loop() && branches::shares_lists(it.branch),
        Some((Cause::SharedLoopRemainder, Remedy::SeveralLoopsPerWarp)),
        YES,
    ),
    (|it| it.has_varying_trip_count(), Some((Cause::VaryingTripCount, Remedy::GroupByTripCount)), YES),
    // They collect already.
    (|it| it.number.is_none() && branches::appends(it.facts, it.branch), None, NO),
    // The thread's number decides.
    (|it| branches::is_election(it.branch), Some((Cause::ElectedLane, Remedy::ShortenPart)), NO),
    (|it| it.is_case(), Some((Cause::CaseByThread, Remedy::CasePerWarp)), |it| it.is_both),
    (
        |it| it.is_interleaved() && it.is_few && it.is_always,
        Some((Cause::OneLanePerGroup, Remedy::RenumberGroups)),
        YES,
    ),
    (|it| it.is_interleaved(), Some((Cause::InterleavedThreads, Remedy::RenumberThreads)), YES),
    // A warp that takes a few instructions under a condition loses little.
    (|it| it.is_little && !it.leaves_lanes_out(), None, NO),
    (
        |it| it.may_be_spread() && branches::can_be_shared(it.facts, it.branch),
        Some((Cause::FewLanes, Remedy::SpreadOverWarp)),
        YES,
    ),
    (|it| it.is_of_few_lanes(), Some((Cause::FewLanes, Remedy::ShortenPart)), NO),
    (|it| it.may_be_border_met_once(), Some((Cause::DataBorder, Remedy::PadToWarps)), YES),
    (|it| it.is_seldom && it.number.is_some(), Some((Cause::ThreadBound, Remedy::BalanceBound)), YES),
    (|it| it.is_seldom, Some((Cause::RareSide, Remedy::CollectInList)), YES),
    (|it| it.number.is_some() && !it.is_both, Some((Cause::ThreadsLeftOut, Remedy::FillThreads)), YES),
    (|it| it.number == Some(Number::Compared), Some((Cause::BorderWork, Remedy::SeparateBorder)), YES),
    // Data or what is computed decides.
    (|it| it.has_short_sides(), None, NO),
    (|it| it.branch.decided_by == [Decider::Call], Some((Cause::CallerDecides, Remedy::OneWayForAll)), NO),
    (
        |it| !it.is_both && branches::shares_lists(it.branch),
        Some((Cause::ShortLists, Remedy::SeveralListsPerWarp)),
        |it| it.pays(),
    ),
    (|it| !it.is_both && it.number.is_none(), Some((Cause::ValueSelectsLanes, Remedy::CollectInList)), |it| it.pays()),
    (|it| it.number.is_none() && it.is_iterated, Some((Cause::ValueSelectsSide, Remedy::OrderSteps)), NO),
    (|it| it.number.is_none(), Some((Cause::ValueSelectsSide, Remedy::SortBySide)), YES),
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

    fn is_loop(&self) -> bool {
        self.branch.ends_loop
    }

    fn has_varying_trip_count(&self) -> bool {
        self.is_loop()
            || self.is_iterated && branches::leaves_loop(self.branch)
            || branches::is_in_loop_head(self.facts, self.branch)
    }

    fn is_case(&self) -> bool {
        self.number.is_some()
            && branches::is_case(self.facts, self.branch)
            && (!self.is_both || self.branch.lanes.len() > 2)
    }

    fn is_interleaved(&self) -> bool {
        self.number == Some(Number::Interleaved) && !self.is_both && !self.is_alone
    }

    fn leaves_lanes_out(&self) -> bool {
        self.number == Some(Number::Compared) && self.is_always && !self.is_few
    }

    /// A few threads of a launch do what the branch is about.
    fn is_for_a_few(&self) -> bool {
        let most = FEW_THREADS.saturating_mul(self.kernel.recorded_launches().max(1));
        !self.is_little && branches::longest_side(self.branch).is_some_and(|(_, lanes)| lanes <= most)
    }

    /// One lane or a few of the warps of each block do it.
    fn is_of_few_lanes(&self) -> bool {
        let of_blocks = self.is_few && !self.is_little && self.branch.divergent >= blocks(self.kernel);
        self.is_for_a_few() || self.number.is_some() && of_blocks
    }

    /// The same, or no warp has half of its lanes there: no bound runs through work that others share.
    fn may_be_spread(&self) -> bool {
        let half = (WARP / 2).saturating_mul(self.branch.divergent.max(1));
        let never_half = !self.is_little && branches::longest_side(self.branch).is_some_and(|(_, lanes)| lanes < half);
        // In a warp of several rows of the block, the lanes may be the ends of all of them.
        let is_one_row = block_of(self.kernel).is_none_or(|[width, ..]| u64::from(width) >= WARP);
        self.is_of_few_lanes() || self.number.is_some() && self.is_seldom && never_half && (self.is_few || is_one_row)
    }

    /// A border of the data, which a warp meets once.
    fn may_be_border_met_once(&self) -> bool {
        let is_bound = self.number == Some(Number::Compared) && !self.is_always && !self.is_both;
        is_bound && !self.is_iterated && branches::may_be_border(self.kernel, self.branch)
    }

    fn has_short_sides(&self) -> bool {
        self.number.is_none() && branches::runs_at_most(self.branch, SHORT)
    }

    /// A list, or another order of the data, costs what neighbouring threads have in neighbouring elements now.
    fn pays(&self) -> bool {
        self.of_kernel() >= LEAST_TO_COLLECT
    }

    /// Share of the kernel's lane slots that are idle.
    fn of_kernel(&self) -> f64 {
        share(self.branch.idle_lane_slots, self.kernel.lane_slots.issued)
    }

    /// The same work in full warps, which would issue that much fewer instructions.
    fn saving(&self, fills_warps: bool) -> Saving {
        let part = self.of_kernel();
        let estimate = self.kernel.estimates.first();
        let amount = |name: &str| estimate.and_then(|one| one.limits.iter().find(|limit| limit.name == name));
        let saving = ["instructions", "fp32", "fp64", "special"].into_iter().fold(Saving::default(), |sum, name| {
            sum.and(Saving::of(name, part * amount(name).map_or(0.0, |limit| limit.amount as f64)))
        });
        // Threads that are numbered from 0 on access neighbouring words of shared memory with full warps, too.
        let passes = if fills_warps { self.passes() } else { 0.0 };
        saving.and(Saving::of("shared", passes)).and(Saving::of("l1_data", passes))
    }

    fn passes(&self) -> f64 {
        let is_interleaved = self.number == Some(Number::Interleaved);
        if is_interleaved { branches::sparse_passes(self.facts, self.branch) } else { 0.0 }
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.profile.kernels.iter().flat_map(|kernel| of_kernel(facts, kernel)).collect()
}

fn of_kernel(facts: &Facts<'_>, kernel: &Kernel) -> Vec<Draft> {
    // Cases of one value are one thing to change.
    let mut found: Vec<(Option<String>, Draft)> = Vec::new();
    for branch in branches::divergent_branches(facts, kernel) {
        let it = Divergent::new(facts, kernel, &branch);
        let Some(draft) = draft(&it) else { continue };
        let is_case = branches::is_case(facts, &branch);
        let case = branches::case_of(facts, &branch).filter(|_| is_case).map(|(value, _)| value);
        let what = |draft: &Draft| (draft.diagnosis.cause, draft.diagnosis.remedy);
        let is_same = |(known, one): &&mut (Option<String>, Draft)| {
            known.is_some() && *known == case && one.file == draft.file && what(one) == what(&draft)
        };
        match found.iter_mut().find(is_same) {
            Some((_, whole)) => {
                let score = whole.score + draft.score;
                whole.lines.push(FindingLine { line: draft.line, column: draft.column });
                let sum = whole.clone().score(score);
                *whole = if whole.at_most_note { sum.severity(Severity::Note) } else { sum };
            }
            None => found.push((case, draft)),
        }
    }
    found
        .into_iter()
        .map(|(_, draft)| Draft { remarks: draft.remarks.clone() + &also_on(&draft.lines), ..draft })
        .collect()
}

fn draft(it: &Divergent<'_, '_>) -> Option<Draft> {
    let (branch, of_kernel) = (it.branch, it.of_kernel());
    if of_kernel < LEAST_IDLE || it.is_alone && of_kernel < LEAST_IDLE_ALONE {
        return None;
    }
    let (_, what, fills) = ORDER.iter().find(|(condition, ..)| condition(it))?;
    let (cause, remedy) = what.as_ref()?;
    let fills_warps = fills(it);
    let saving = it.saving(fills_warps);
    let waste = it.facts.waste(it.kernel, &saving, of_kernel);
    if waste < LEAST_DIVERGENCE_WASTE {
        return None;
    }
    let gain = it.facts.gain(it.kernel, &saving, "").filter(|_| fills_warps);
    // Where something else is slower, full warps would gain nothing; and no user makes full warps of each border.
    let is_little = it.is_little && !(fills_warps && it.passes() > 0.0);
    let is_worth = gain.as_ref().is_some_and(|gain| !is_little && (!it.is_seldom || gain.factor >= LEAST_SELDOM_GAIN));
    let frame = Frame { function: String::new(), file: branch.file.clone(), line: branch.line, column: branch.column };
    let draft = Draft::of(with_figures(Diagnosis::new(cause, remedy), it))
        .at_frame(Some(&frame))
        .of_kernel(it.kernel)
        .evidence("executions", branch.executions as f64)
        .evidence("divergent", branch.divergent as f64)
        .evidence("idle_lane_slots", branch.idle_lane_slots as f64)
        .evidence("share_of_lane_slots", of_kernel)
        .gain(gain)
        .score(waste);
    Some(if is_worth { draft } else { draft.severity(Severity::Note) })
}

/// Adds what all causes have: how often lanes diverge, which sides they take and what these issue.
fn with_figures(mut diagnosis: Diagnosis, it: &Divergent<'_, '_>) -> Diagnosis {
    let branch = it.branch;
    let lanes: u64 = branch.lanes.iter().copied().fold(0, u64::saturating_add);
    // Of a switch, sides that no lane takes are left out.
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
