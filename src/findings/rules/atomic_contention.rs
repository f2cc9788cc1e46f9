//! Atomic operations that collide on an address, so that they are serialised in every unit of the GPU.
//!
//! The model executes one operation per clock and address, which is the best case of the units at the L2 cache. The
//! estimate contains this as the limits `atomic_address` and `shared_atomics`.

use super::super::facts::atomic_cost::Left;
use super::super::facts::atomics::Contention;
use super::super::facts::index;
use super::super::prelude::*;
use super::super::thresholds::atomics::*;
use warpline_format::condition::AtomicKind;

described! {
    enum Cause {
        AtomicRead => "atomic-read",
        UncheckedAttempt => "compare-and-swap-without-retry",
        RetryLoop => "compare-and-swap-loop",
        UnusedExchange => "exchange-without-result",
        ExchangeOrLock => "exchange-or-lock",
        SlotPerLane => "slot-per-lane",
        SharedCounter => "shared-slot-counter",
        SlotsOfLists => "slots-of-several-lists",
        InSharedMemory => "collisions-in-shared-memory",
        SingleAddress => "single-address",
        LargeArray => "large-array",
        SmallArray => "small-array",
    }
    enum Remedy {
        LoadInstead => "load-instead",
        TestFirst => "test-before-compare-and-swap",
        CombineBeforeRetry => "native-atomic-or-combine",
        PlainStore => "plain-store",
        ElectLane => "elect-lane",
        AggregatePerWarp { subtracts: Choice } => "warp-aggregated-slots",
        ReserveSeveral => "reserve-several-slots",
        ReservePerBlock => "reserve-slots-per-block",
        MatchLanes => "aggregate-matching-lanes",
        ReplicateArray => "combine-or-replicate",
        ReduceWithinBlock => "reduce-within-block",
        CombineOrSort => "combine-or-sort",
        Privatise => "privatise-in-shared-memory",
        ReduceWithinProgram => "reduce-within-program",
    }
}

type Condition = fn(&Contention<'_, '_>) -> bool;

/// Conditions and causes; the first condition that is true determines the cause.
const ORDER: &[(Condition, Cause)] = &[
    (|found| found.only_reads(), Cause::AtomicRead),
    (|found| found.kind() == AtomicKind::Attempt && !found.access.result_used, Cause::UncheckedAttempt),
    (|found| found.kind() == AtomicKind::Attempt, Cause::RetryLoop),
    (|found| found.kind() == AtomicKind::Exchange && !found.access.result_used, Cause::UnusedExchange),
    (|found| matches!(found.kind(), AtomicKind::Exchange | AtomicKind::Lock), Cause::ExchangeOrLock),
    (|found| found.access.result_used && found.is_deep() && found.has_one_address(), Cause::SlotPerLane),
    (|found| found.access.result_used && found.has_one_address(), Cause::SharedCounter),
    (|found| found.access.result_used, Cause::SlotsOfLists),
    (|found| found.is_shared(), Cause::InSharedMemory),
    (|found| found.has_one_address(), Cause::SingleAddress),
    (|found| found.exceeds_shared_memory(), Cause::LargeArray),
];

fn classify(found: &Contention<'_, '_>) -> Cause {
    ORDER.iter().find(|(condition, _)| condition(found)).map_or(Cause::SmallArray, |(_, cause)| cause.clone())
}

/// Returns the remedy of a cause, and the operations that remain with it.
fn remedy(cause: &Cause, found: &Contention<'_, '_>) -> (Remedy, Left) {
    let subtracts = Choice(u8::from(found.kind() == AtomicKind::Subtract));
    let (remedy, left) = match cause {
        Cause::AtomicRead => (Remedy::LoadInstead, Left::Block),
        Cause::UncheckedAttempt => (Remedy::TestFirst, Left::Warp),
        Cause::RetryLoop => (Remedy::CombineBeforeRetry, Left::Warp),
        Cause::UnusedExchange => (Remedy::PlainStore, Left::Warp),
        Cause::ExchangeOrLock => (Remedy::ElectLane, Left::Warp),
        Cause::SlotPerLane => (Remedy::AggregatePerWarp { subtracts }, Left::Warp),
        Cause::SharedCounter => (Remedy::ReserveSeveral, Left::Block),
        Cause::SlotsOfLists if found.is_shared() => (Remedy::MatchLanes, Left::Warp),
        Cause::SlotsOfLists => (Remedy::ReservePerBlock, Left::Block),
        Cause::InSharedMemory => (Remedy::ReplicateArray, Left::Warp),
        // With other data, lanes may update different addresses.
        Cause::SingleAddress if found.access.has_loaded_index() => (Remedy::CombineOrSort, Left::Warp),
        Cause::SingleAddress => (Remedy::ReduceWithinBlock, Left::Block),
        Cause::LargeArray => (Remedy::CombineOrSort, Left::Warp),
        Cause::SmallArray => (Remedy::Privatise, Left::BlockAfterShared),
    };
    (if found.access.kernel.is_triton() { Remedy::ReduceWithinProgram } else { remedy }, left)
}

/// Returns the operations that remain with the remedy of an access.
fn left_of(found: &Contention<'_, '_>) -> Left {
    remedy(&classify(found), found).1
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let found = facts.accesses.iter().filter_map(|access| Contention::for_access(facts, access));
    found.map(|found| draft(facts, &found)).collect()
}

fn draft(facts: &Facts<'_>, found: &Contention<'_, '_>) -> Draft {
    let Contention { access, atomics, .. } = *found;
    let cause = classify(found);
    let (remedy, left) = remedy(&cause, found);
    let rating = Rating::compute(facts, found, left);
    let depth = found.depth();
    let hottest = atomics.hottest.first();
    // If a launch did not end, its hottest address was not counted.
    let serial = (found.is_shared() || hottest.is_some()).then(|| found.serial_seconds());
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    let figures = &mut diagnosis.figures;
    let per_address = share(atomics.lanes, atomics.addresses);
    figures.set("requests", Count(atomics.requests));
    figures.set("updates", Count(atomics.lanes));
    figures.set("depth", found.is_deep().then_some(Ratio(depth)));
    figures.set("per_address", found.is_deep().then_some(Ratio(per_address)));
    figures.set("crowd", hottest.filter(|_| !found.is_deep()).map(|hot| Count(hot.lanes)));
    figures.set("hottest", hottest.map(|hot| Count(hot.lanes)));
    figures.set("offset", hottest.map(|hot| Count(hot.offset)));
    figures.set("whose", hottest.and_then(|hot| facts.profile.allocation(hot.allocation)).map(describe));
    figures.set("serial", serial.map(Seconds));
    figures.set("left", Choice(u8::from(left != Left::Warp)));
    figures.set("merged", rating.merged.map(Ratio));
    let together = (!rating.together.is_empty()).then(|| Shown(rating.together.join(", ")));
    figures.set("together", together);
    // If several lines add to the same slots of different arrays, one change combines their operations. The same
    // applies to lines that gain only together.
    let is_one = depth >= VERY_DEEP && (rating.gain.is_none() || !rating.together.is_empty());
    let one_cause = is_one.then(|| format!("{} {}", cause.id(), remedy.id()));
    // The number of iterations of a polling loop depends on other threads, and the program does not determine it.
    let is_polled = found.only_reads() && index::stays_in_loop(access);
    let is_little = !found.is_deep() && rating.waste < LEAST_WASTE_OF_WARPS
        || depth < BY_CHANCE && rating.gain.is_none()
        || rating.is_unknown && rating.waste < WORTH_A_CHANGE;
    let draft = Draft::for_access(facts, diagnosis, access)
        .evidence("requests", atomics.requests as f64)
        .evidence("lanes", atomics.lanes as f64)
        .evidence("lanes_on_one_address", depth)
        .evidence("lanes_per_address", per_address)
        .evidence("hottest_lanes", hottest.map_or(0, |hot| hot.lanes) as f64)
        .evidence("hottest_offset", hottest.map_or(f64::NAN, |hot| hot.offset as f64))
        .evidence("serial_seconds", serial.unwrap_or(f64::NAN))
        .evidence("gain_if_merged", rating.merged.unwrap_or(f64::NAN))
        .gain(rating.gain.filter(|_| !is_polled))
        .score(rating.waste)
        .one_cause(one_cause);
    let allocation = draft.allocation.or(hottest.map(|hot| hot.allocation));
    let draft = draft.note_if(is_little || is_polled);
    Draft { allocation, ..draft }
}

/// Rating of a remedy.
struct Rating {
    gain: Option<Gain>,
    waste: f64,
    /// Whether the model lacks the cost of a request with this many lanes at one address.
    is_unknown: bool,
    /// Factor of the gain if the GPU already merges the operations of a warp.
    merged: Option<f64>,
    /// Other lines whose remedies are required for the gain.
    together: Vec<String>,
}

impl Rating {
    fn compute(facts: &Facts<'_>, found: &Contention<'_, '_>, left: Left) -> Rating {
        let kernel = found.access.kernel;
        let hottest = found.atomics.hottest.first();
        let saving = found.saving(left);
        let instead = if left == Left::BlockAfterShared { found.shared_seconds() } else { 0.0 };
        let alone = facts.gain_for(kernel, &saving, instead);
        let merged = found.merged().filter(|_| alone.is_some());
        let merged = merged.map(|merged| facts.gain_besides(kernel, &merged, &saving, instead).max(1.0));
        let all = if alone.is_none() { found.saving_together(left_of) } else { None };
        let together = all.and_then(|(saving, lines)| Some((facts.gain_for(kernel, &saving, instead)?, lines)));
        let (gain, lines) = together.map_or((alone, Default::default()), |(gain, lines)| (Some(gain), lines));
        // One operation per warp or block in global memory runs in parallel with the rest of the kernel, so only the
        // time beyond the kernel's time is a cost.
        let is_parallel = !found.is_deep() && !found.is_shared();
        let waste = if is_parallel && !kernel.estimates.is_empty() && facts.kernel_seconds > 0.0 {
            gain.as_ref().map_or(0.0, |gain| gain.seconds) / facts.kernel_seconds
        } else {
            // With several equally hot addresses, the remedy of one address gains nothing, and each address has the
            // full cost.
            let own = hottest.map_or(0, |hot| hot.lanes.saturating_sub(left.at(found, hot)));
            let own = if found.is_shared() { saving } else { Saving::new(found.limit(), own as f64) };
            facts.waste(kernel, &own, share(found.atomics.lanes, facts.requests(kernel).saturating_mul(32)))
        };
        let is_unknown = !found.is_shared() && found.depth() >= VERY_DEEP && waste < WORTH_A_CHANGE;
        let of_requests = share(found.atomics.requests, facts.requests(kernel)) * facts.kernel_share(kernel);
        Rating {
            gain: gain.filter(|_| !is_unknown),
            waste: if is_unknown { waste.max(of_requests) } else { waste },
            is_unknown,
            merged: merged.filter(|_| !is_unknown),
            together: lines.iter().map(u32::to_string).collect(),
        }
    }
}
