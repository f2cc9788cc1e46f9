//! Conflicts between warps that nothing orders, as far as they were searched for (`src/analyzer/races`).

use std::collections::{BTreeMap, BTreeSet};

use super::super::diagnosis::{Choice, Count, Diagnosis, Shown, described};
use super::super::draft::Draft;
use super::super::facts::conflicts::{Race, is_between_blocks, is_in_block};
use super::super::facts::launches::shape;
use super::super::facts::{Facts, thread_index};
use super::super::thresholds::races::NEAR_LINES;
use warpline_profile::model::{Conflict, ConflictParty, Severity};

described! {
    pub(in super::super) enum Cause {
        /// A tile of Triton has fewer elements than the program has threads.
        SmallTile { memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "tile-smaller-than-program",
        /// A dimension of the block moves neither address.
        IdleAxis {
            memory: Shown, first: Shown, second: Shown, others: Option<Count>, axis: Shown, block: Shown, threads: Count,
        } => "repeated-by-block-dimension",
        /// A barrier is there, which not all warps reach.
        UnevenBarrier { memory: Shown, first: Shown, second: Shown, others: Option<Count>, barrier: Shown } => "barrier-not-reached-by-all-warps",
        /// A barrier orders one direction of a loop.
        OneBarrier { memory: Shown, first: Shown, second: Shown, others: Option<Count>, barrier: Shown } => "one-barrier-in-loop",
        /// The compiler loads before it is known whether the value is needed.
        EarlyLoad { memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "early-load",
        /// Threads read what others update in the same statement.
        Neighbours { memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "missing-barrier-in-loop",
        /// Warps update one element.
        Update { memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "unordered-update",
        /// Elements are computed in place from others.
        InPlace { scope: Choice, memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "computed-in-place",
        /// Two stores of one element.
        Stores { scope: Choice, memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "unordered-stores",
        /// A store and an atomic operation.
        StoreAndAtomic { scope: Choice, memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "store-and-atomic",
        /// Warps of a block.
        Warps { memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "missing-barrier",
        /// Blocks of a launch.
        Blocks { memory: Shown, first: Shown, second: Shown, others: Option<Count> } => "unordered-blocks",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// Another tensor for the output.
        SeparateTensors => "separate-tensors",
        /// A block without that dimension.
        UseAxis { axis: Shown } => "use-thread-index",
        /// A barrier for all warps.
        UniformBarrier { barrier: Shown } => "make-barrier-uniform",
        /// A second barrier.
        SecondBarrier => "second-barrier",
        /// Only one thread comes there.
        CheckThreads => "check-threads",
        /// A barrier in each iteration.
        BarrierInLoop => "barrier-in-loop",
        /// An atomic operation.
        Atomic => "atomic-update",
        /// Another array for the output.
        SeparateOutput { scope: Choice } => "separate-output",
        /// A barrier.
        BarrierBetweenStores => "barrier-between-stores",
        /// A barrier, a kernel of its own, or the smallest or largest value.
        OrderStores => "order-stores",
        /// A kernel of its own.
        SplitKernel => "split-kernel",
        /// An atomic store.
        AtomicStore { scope: Choice } => "atomic-store",
        /// A barrier.
        Barrier => "barrier-between-accesses",
        /// An atomic operation, or a kernel of its own.
        AtomicOrSplit => "atomic-update-or-split",
    }
}

/// What a race is, without its figures.
#[derive(Clone, Copy)]
enum Kind {
    SmallTile,
    IdleAxis,
    UnevenBarrier,
    OneBarrier,
    EarlyLoad,
    Neighbours,
    Update,
    InPlace,
    Stores,
    StoreAndAtomic,
    Warps,
    Blocks,
}

type Condition = fn(&Race<'_, '_>) -> bool;

/// The first that fits. Only warps of one block meet at barriers.
const ORDER: &[(Kind, Condition)] = &[
    (Kind::SmallTile, |race| race.is_triton() && race.is_in_block()),
    (Kind::Blocks, |race| race.is_triton()),
    (Kind::IdleAxis, |race| race.is_in_block() && race.idle_axis().is_some()),
    (Kind::UnevenBarrier, |race| {
        race.is_in_block() && race.is_read_elsewhere() && race.barrier_between().is_some() && race.has_uneven_barriers()
    }),
    (Kind::OneBarrier, |race| race.is_in_block() && race.is_read_elsewhere() && race.barrier_between().is_some()),
    (Kind::EarlyLoad, |race| race.is_in_block() && race.is_early_load()),
    (Kind::Neighbours, |race| race.is_in_block() && race.is_statement() && race.reads_other_threads()),
    (Kind::Update, |race| race.is_in_block() && race.is_statement()),
    (Kind::InPlace, |race| race.conflict.space == "global" && race.is_read_elsewhere()),
    (Kind::Stores, |race| race.is_of_stores()),
    (Kind::StoreAndAtomic, |race| race.is_store_with_atomic()),
    (Kind::Warps, |race| race.is_in_block()),
    (Kind::Blocks, |_| true),
];

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let all = &facts.profile.conflicts;
    // What happens between blocks as well is reported of these: no barrier orders them.
    let is_meant = |conflict: &&Conflict| {
        conflict.severity == "warning"
            && !(is_in_block(conflict) && all.iter().any(|other| is_between_blocks(other, conflict)))
    };
    // One pair of lines is one thing to change, in however many blocks' memory it happens.
    let mut pairs: BTreeMap<_, Vec<&Conflict>> = BTreeMap::new();
    for conflict in all.iter().filter(is_meant) {
        pairs.entry(lines_of(conflict)).or_default().push(conflict);
    }
    let drafts = pairs.into_iter().filter_map(|(lines, conflicts)| Some((lines, draft(facts, &conflicts)?)));
    neighbours_together(drafts.collect())
}

/// Lines side by side that meet one line elsewhere are one thing to change.
fn neighbours_together(drafts: Vec<(Lines<'_>, Draft)>) -> Vec<Draft> {
    // What they have in common, with the last line and its number among those before.
    let mut chains: BTreeMap<_, (u32, usize)> = BTreeMap::new();
    let mut found = Vec::new();
    for ((kernel, scope, space, variable, sides), draft) in drafts {
        let [(op, file, line), other] = sides[..] else {
            found.push(draft);
            continue;
        };
        let remedy = draft.diagnosis.remedy;
        let key = (kernel, scope, space, variable, op, file, other, draft.allocation, remedy);
        // Pairs come in the order of their lines.
        let (last, number) = chains.entry(key).or_insert((line, found.len()));
        if line.abs_diff(*last) > NEAR_LINES {
            *number = found.len();
        }
        *last = line;
        let cause = format!("race {number}");
        found.push(draft.one_cause(Some(cause)));
    }
    found
}

/// A conflict's kernel, scope, space, shared variable, and the lines of both sides.
type Lines<'a> = (u32, &'a str, &'a str, Option<&'a str>, Vec<(&'a str, &'a str, u32)>);

fn lines_of(conflict: &Conflict) -> Lines<'_> {
    let sides = conflict.accesses.iter().map(|party| (&party.op[..], &party.frame.file[..], party.frame.line));
    (conflict.kernel, &conflict.scope, &conflict.space, conflict.variable.as_deref(), sides.collect())
}

/// The finding of what happens most often, with the number of the other allocations.
fn draft(facts: &Facts<'_>, conflicts: &[&Conflict]) -> Option<Draft> {
    let worst = conflicts.iter().max_by_key(|conflict| (conflict.count, std::cmp::Reverse(conflict.allocation)))?;
    let memory: BTreeSet<Option<u64>> = conflicts.iter().map(|conflict| conflict.allocation).collect();
    let times = conflicts.iter().map(|conflict| conflict.count).fold(0, u64::saturating_add);
    let others = (memory.len() as u64).checked_sub(1).filter(|&others| others > 0).map(Count);
    let race = Race::new(facts, worst);
    let diagnosis = diagnosis(&race, others)?;
    let severity = if race.is_early_load() { Severity::Note } else { Severity::Warning };
    let draft = Draft::of(diagnosis).at_frame(worst.accesses.first().map(|party| &party.frame));
    let draft = Draft { kernel: Some(worst.kernel), allocation: worst.allocation, ..draft };
    Some(draft.object(worst.variable.clone()).evidence("times", times as f64).score(1.0).severity(severity))
}

/// "store on line 8", with the file where it is another one than the finding's.
fn place(race: &Race<'_, '_>, party: &ConflictParty) -> Shown {
    let file = race.conflict.accesses.first().map_or("", |party| &party.frame.file[..]);
    let elsewhere = if party.frame.file == file {
        String::new()
    } else {
        format!(" of {}", party.frame.file.rsplit('/').next().unwrap_or_default())
    };
    let is_near = race.conflict.accesses.iter().any(|one| std::ptr::eq(one, party) && race.is_near(one));
    let on = if is_near { "on or near" } else { "on" };
    Shown(format!("{} {on} line {}{elsewhere}", party.op, party.frame.line))
}

fn diagnosis(race: &Race<'_, '_>, others: Option<Count>) -> Option<Diagnosis> {
    let conflict = race.conflict;
    let [first, second] = conflict.accesses.each_ref().map(|party| place(race, party));
    let variable = conflict.variable.as_ref().map(|name| format!("`{name}`"));
    let memory = variable.or_else(|| race.facts.allocation_name(conflict.allocation));
    let memory = Shown(memory.unwrap_or_else(|| "memory".to_owned()));
    let scope = Choice(u8::from(!race.is_in_block()));
    let barrier = Shown(race.barrier_between().map_or(String::new(), |line| line.to_string()));
    let (kind, _) = ORDER.iter().find(|(_, fits)| fits(race))?;
    let (cause, remedy) = match kind {
        Kind::SmallTile => (Cause::SmallTile { memory, first, second, others }, Remedy::SeparateTensors),
        Kind::IdleAxis => {
            let (axis, block) = race.idle_axis()?;
            let threads = Count(block[axis].into());
            let (axis, block) = (Shown(thread_index(axis).to_owned()), Shown(shape(block)));
            let remedy = Remedy::UseAxis { axis: axis.clone() };
            (Cause::IdleAxis { memory, first, second, others, axis, block, threads }, remedy)
        }
        Kind::UnevenBarrier => {
            let remedy = Remedy::UniformBarrier { barrier: barrier.clone() };
            (Cause::UnevenBarrier { memory, first, second, others, barrier }, remedy)
        }
        Kind::OneBarrier => (Cause::OneBarrier { memory, first, second, others, barrier }, Remedy::SecondBarrier),
        Kind::EarlyLoad => (Cause::EarlyLoad { memory, first, second, others }, Remedy::CheckThreads),
        Kind::Neighbours => (Cause::Neighbours { memory, first, second, others }, Remedy::BarrierInLoop),
        Kind::Update => (Cause::Update { memory, first, second, others }, Remedy::Atomic),
        Kind::InPlace => (Cause::InPlace { scope, memory, first, second, others }, Remedy::SeparateOutput { scope }),
        Kind::Stores => {
            let remedy = match (race.is_in_block(), &conflict.space[..]) {
                (false, _) => Remedy::SplitKernel,
                (true, "global") => Remedy::OrderStores,
                (true, _) => Remedy::BarrierBetweenStores,
            };
            (Cause::Stores { scope, memory, first, second, others }, remedy)
        }
        Kind::StoreAndAtomic => {
            (Cause::StoreAndAtomic { scope, memory, first, second, others }, Remedy::AtomicStore { scope })
        }
        Kind::Warps => (Cause::Warps { memory, first, second, others }, Remedy::Barrier),
        Kind::Blocks => (Cause::Blocks { memory, first, second, others }, Remedy::AtomicOrSplit),
    };
    Some(Diagnosis::new(&cause, &remedy))
}
