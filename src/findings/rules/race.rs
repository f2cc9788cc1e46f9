//! Unordered conflicts between threads, as detected by `src/analyzer/races`.

use super::super::facts::conflicts::{Race, is_between_blocks, is_guard, is_in_block};
use super::super::facts::launches::shape;
use super::super::phrase::{Phrase, Unnamed};
use super::super::prelude::*;
use super::super::thresholds::races::*;
use std::collections::{BTreeMap, BTreeSet};
use warpline_profile::model::{Conflict, ConflictParty};

described! {
    enum Cause {
        SmallTile => "tile-smaller-than-program",
        IdleAxis { axis: Shown, block: Shown, threads: Count } => "repeated-by-block-dimension",
        UnevenBarrier { barrier: Shown } => "barrier-not-reached-by-all-warps",
        OneBarrier { barrier: Shown } => "one-barrier-in-loop",
        EarlyLoad => "early-load",
        Neighbours => "missing-barrier-in-loop",
        Replaced => "read-and-replaced",
        LostInWarp => "lost-update-in-warp",
        DifferInWarp => "different-values-in-warp",
        Narrow => "atomic-of-block-scope",
        Guard => "plain-read-before-atomic",
        ReadOfAtomic => "plain-read-of-atomic",
        CheckThenAct { scope: Choice } => "check-then-act",
        Differ { scope: Choice } => "different-values-stored",
        Update { scope: Choice } => "unordered-update",
        InPlace { scope: Choice } => "computed-in-place",
        Stores { scope: Choice } => "unordered-stores",
        StoreAndAtomic { scope: Choice } => "store-and-atomic",
        Warps => "missing-barrier",
        Blocks => "unordered-blocks",
    }
    enum Remedy {
        SeparateTensors => "separate-tensors",
        UseAxis { axis: Shown } => "use-thread-index",
        UniformBarrier { barrier: Shown } => "make-barrier-uniform",
        SecondBarrier => "second-barrier",
        CheckThreads => "check-threads",
        BarrierInLoop => "barrier-in-loop",
        ReadThenStore => "barrier-between-read-and-store",
        OneThread => "store-by-one-thread",
        WidenScope => "device-scope",
        AtomicLoad => "atomic-load",
        UseReturned => "use-returned-value",
        AtomicCheck => "atomic-check",
        Atomic => "atomic-update",
        SeparateOutput { scope: Choice } => "separate-output",
        OrderStores => "order-stores",
        SplitKernel => "split-kernel",
        AtomicStore { scope: Choice } => "atomic-store",
        Barrier => "barrier-between-accesses",
        AtomicOrSplit => "atomic-update-or-split",
    }
}

type Classifier = fn(&Race<'_, '_>) -> Option<(Cause, Remedy)>;

/// Classifiers of causes; the first one that applies determines the cause. Barriers order only warps of one block.
const ORDER: &[Classifier] = &[
    |race| (race.is_triton() && race.is_in_block()).then_some((Cause::SmallTile, Remedy::SeparateTensors)),
    |race| race.is_triton().then_some((Cause::Blocks, Remedy::AtomicOrSplit)),
    of_lanes,
    of_axis,
    of_atomics,
    // A barrier that only some warps reach orders no accesses.
    |race| of_barrier(race).filter(|_| race.has_uneven_barriers()),
    of_update,
    of_barrier,
    |race| race.is_early_load().then_some((Cause::EarlyLoad, Remedy::CheckThreads)),
    |race| {
        let is_meant = race.is_in_block() && race.is_statement() && race.reads_other_threads();
        is_meant.then(|| match race.is_in_loop_without_barrier() {
            true => (Cause::Neighbours, Remedy::BarrierInLoop),
            false => (Cause::Replaced, Remedy::ReadThenStore),
        })
    },
    |race| {
        (race.is_in_block() && race.is_statement()).then_some((Cause::Update { scope: scope(race) }, Remedy::Atomic))
    },
    |race| {
        let is_of_others = race.is_read_elsewhere() || race.is_statement() && race.reads_other_threads();
        let (scope, is_meant) = (scope(race), race.conflict.space == "global" && is_of_others);
        is_meant.then_some((Cause::InPlace { scope }, Remedy::SeparateOutput { scope }))
    },
    |race| {
        let remedy = if race.is_in_block() { Remedy::OrderStores } else { Remedy::SplitKernel };
        race.is_of_stores().then_some((Cause::Stores { scope: scope(race) }, remedy))
    },
    |race| race.is_of_one_store().then_some((Cause::Differ { scope: scope(race) }, Remedy::OneThread)),
    |race| {
        let scope = scope(race);
        race.is_store_with_atomic().then_some((Cause::StoreAndAtomic { scope }, Remedy::AtomicStore { scope }))
    },
    |race| race.is_in_block().then_some((Cause::Warps, Remedy::Barrier)),
    |_| Some((Cause::Blocks, Remedy::AtomicOrSplit)),
];

fn scope(race: &Race<'_, '_>) -> Choice {
    Choice(u8::from(!race.is_in_block()))
}

fn of_axis(race: &Race<'_, '_>) -> Option<(Cause, Remedy)> {
    let (axis, block) = race.idle_axis().filter(|_| race.is_in_block())?;
    let threads = Count(block[axis].into());
    let (axis, block) = (Shown(thread_index(axis).to_owned()), Shown(shape(block)));
    Some((Cause::IdleAxis { axis: axis.clone(), block, threads }, Remedy::UseAxis { axis }))
}

/// Classifies conflicts between lanes of one warp.
fn of_lanes(race: &Race<'_, '_>) -> Option<(Cause, Remedy)> {
    race.is_in_warp().then(|| match race.update() {
        Some("value") => (Cause::LostInWarp, Remedy::Atomic),
        _ => (Cause::DifferInWarp, Remedy::OneThread),
    })
}

/// Classifies atomic operations that conflict with plain loads, or with other blocks although they have block scope.
fn of_atomics(race: &Race<'_, '_>) -> Option<(Cause, Remedy)> {
    if race.is_of_narrow_atomics() {
        return Some((Cause::Narrow, Remedy::WidenScope));
    }
    if race.is_guard_of_atomic() {
        return Some((Cause::Guard, Remedy::AtomicLoad));
    }
    race.is_read_of_atomic().then(|| match race.is_in_block() {
        true => (Cause::Warps, Remedy::Barrier),
        false => (Cause::ReadOfAtomic, Remedy::UseReturned),
    })
}

/// Classifies updates of one element by several threads, for which a barrier does not help.
fn of_update(race: &Race<'_, '_>) -> Option<(Cause, Remedy)> {
    let scope = scope(race);
    race.is_update_by_several().then(|| match race.update() {
        Some("condition") => (Cause::CheckThenAct { scope }, Remedy::AtomicCheck),
        _ => (Cause::Update { scope }, Remedy::Atomic),
    })
}

fn of_barrier(race: &Race<'_, '_>) -> Option<(Cause, Remedy)> {
    let line = race.barrier_between().filter(|_| race.is_in_block() && race.is_read_elsewhere())?;
    let barrier = Shown(line.to_string());
    Some(match race.has_uneven_barriers() {
        true => (Cause::UnevenBarrier { barrier: barrier.clone() }, Remedy::UniformBarrier { barrier }),
        false => (Cause::OneBarrier { barrier }, Remedy::SecondBarrier),
    })
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let all = &facts.profile.conflicts;
    // Conflicts that also occur between blocks are reported only for blocks, because no barrier orders them.
    let is_meant = |conflict: &&Conflict| {
        (conflict.severity == "warning" || is_guard(conflict))
            && !(is_in_block(conflict) && all.iter().any(|other| is_between_blocks(other, conflict)))
    };
    // One pair of lines is one change, independent of the number of blocks in whose memory the conflict occurs.
    let mut pairs: BTreeMap<_, Vec<&Conflict>> = BTreeMap::new();
    for conflict in all.iter().filter(is_meant) {
        pairs.entry(lines_of(conflict)).or_default().push(conflict);
    }
    let drafts = pairs.into_iter().filter_map(|(lines, conflicts)| Some((lines, draft(facts, &conflicts)?)));
    neighbours_together(drafts.collect())
}

/// Merges findings about neighbouring lines that conflict with the same other line, because they are one change.
fn neighbours_together(drafts: Vec<(Lines<'_>, Draft)>) -> Vec<Draft> {
    // Maps the common properties of a chain to its last line and its index among the merged findings.
    let mut chains: BTreeMap<_, (u32, usize)> = BTreeMap::new();
    let mut found = Vec::new();
    for ((kernel, scope, space, variable, sides), draft) in drafts {
        let [(op, file, line), other] = sides[..] else {
            found.push(draft);
            continue;
        };
        let remedy = draft.diagnosis.remedy;
        let key = (kernel, scope, space, variable, op, file, other, draft.allocation, remedy);
        // Pairs are sorted by their lines.
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

/// A conflict's kernel, scope, space and shared variable, and the lines of both sides.
type Lines<'a> = (u32, &'a str, &'a str, Option<&'a str>, Vec<(&'a str, &'a str, u32)>);

fn lines_of(conflict: &Conflict) -> Lines<'_> {
    let sides = conflict.accesses.iter().map(|party| (&party.op[..], &party.frame.file[..], party.frame.line));
    (conflict.kernel, &conflict.scope, &conflict.space, conflict.variable.as_deref(), sides.collect())
}

/// Returns the finding for the most frequent conflict, with the number of other allocations.
fn draft(facts: &Facts<'_>, conflicts: &[&Conflict]) -> Option<Draft> {
    let worst = conflicts.iter().max_by_key(|conflict| (conflict.count, std::cmp::Reverse(conflict.allocation)))?;
    let memory: BTreeSet<Option<u64>> = conflicts.iter().map(|conflict| conflict.allocation).collect();
    let times = conflicts.iter().map(|conflict| conflict.count).total();
    let others = (memory.len() as u64).checked_sub(1).filter(|&others| others > 0).map(Count);
    let race = Race::new(facts, worst);
    let diagnosis = diagnosis(&race, others)?;
    let severity = if race.is_early_load() || is_guard(worst) { Severity::Note } else { Severity::Warning };
    let draft = Draft::new(diagnosis).at_frame(worst.accesses.first().map(|party| &party.frame));
    let draft = Draft { kernel: Some(worst.kernel), allocation: worst.allocation, ..draft };
    Some(draft.object(worst.variable.clone()).evidence("times", times as f64).score(1.0).severity(severity))
}

/// Formats an access as "store on line 8", with the file if it differs from the finding's file.
fn place<'f>(race: &Race<'f, '_>, party: &'f ConflictParty) -> Shown {
    let file = &race.conflict.accesses[0].frame.file;
    let is_elsewhere = party.frame.file != *file;
    let name = party.frame.file.rsplit('/').next().unwrap_or_default().to_owned();
    let near = Choice(u8::from(race.is_near(party)));
    let file = is_elsewhere.then_some(Shown(name));
    Phrase::Party { op: Shown(party.op.clone()), near, line: Shown(party.frame.line.to_string()), file }.shown()
}

fn diagnosis(race: &Race<'_, '_>, others: Option<Count>) -> Option<Diagnosis> {
    let (cause, remedy) = ORDER.iter().find_map(|classify| classify(race))?;
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    let conflict = race.conflict;
    let [first, second] = conflict.accesses.each_ref().map(|party| place(race, party));
    let variable = conflict.variable.as_ref().map(|name| Shown(format!("`{name}`")));
    let allocation = || conflict.allocation.and_then(|id| race.facts.profile.allocation(id)).map(describe);
    let memory = variable.or_else(allocation).unwrap_or_else(|| Unnamed::Memory.shown());
    diagnosis.figures.set("memory", memory);
    diagnosis.figures.set("first", first);
    diagnosis.figures.set("second", second);
    diagnosis.figures.set("others", others);
    Some(diagnosis)
}
