//! Lanes that access different words of one bank of shared memory, so that their request takes one pass per word (CUDA
//! C++ Programming Guide, "Shared Memory" of compute capability 5.x).

use super::super::facts::banks::{Conflict, conflicts};
use super::super::facts::padding::Padding;
use super::super::prelude::*;
use super::super::subjects;
use super::super::thresholds::banks::*;

described! {
    enum Cause {
        LibraryAlgorithm => "library-algorithm",
        BlockRows => "rows-of-the-block",
        Structures => "array-of-structures",
        Stride { stride: Bytes } => "strided-words",
        ChangingStride => "changing-stride",
        RowPerThread => "row-per-thread",
        DataDependentIndex => "data-dependent-index",
        ComputedIndex => "computed-index",
    }
    enum Remedy {
        ChangeAlgorithm => "change-library-algorithm",
        ChangeTileLayout => "change-tile-layout",
        PadBlockRows { padding: Count, row: Count, padded: Count, left: Count } => "pad-rows-of-the-block",
        ArrayPerMember { padding: Option<Count>, left: Option<Count> } => "array-per-member",
        PadRows { padding: Count, row: Count, padded: Count, left: Count } => "pad-rows",
        PadPeriodically { padding: Count, times: Option<Count>, row: Count, left: Count } => "pad-periodically",
        SequentialAddressing => "sequential-addressing",
        ExchangeIndices => "exchange-indices",
        InterleaveRows => "interleave-rows",
        CopyPerLane => "copy-per-lane",
        InspectIndex { padding: Option<Count>, row: Option<Count>, left: Option<Count> } => "inspect-index",
    }
}

type Condition = fn(&Conflict<'_, '_>) -> bool;
type MakeCause = fn(&Conflict<'_, '_>) -> Cause;

/// Conditions and causes; the first condition that is true determines the cause.
const ORDER: &[(Condition, MakeCause)] = &[
    (|found| found.is_of_library(), |_| Cause::LibraryAlgorithm),
    (|found| found.has_padded_block_rows(), |_| Cause::BlockRows),
    (|found| found.stride.is_some() && found.has_structures, |_| Cause::Structures),
    (|found| found.stride.is_some() && found.row_padding.is_some(), of_stride),
    (|found| found.stride_changes, |_| Cause::ChangingStride),
    (|found| found.stride_elements() > 1, of_stride),
    (|found| found.has_own_rows(), |_| Cause::RowPerThread),
    (|found| found.has_unknown_index(), |_| Cause::DataDependentIndex),
    (|_| true, |_| Cause::ComputedIndex),
];

fn of_stride(found: &Conflict<'_, '_>) -> Cause {
    Cause::Stride { stride: Bytes(found.stride.map_or(0, i64::unsigned_abs)) }
}

/// Returns the remedy of a cause, with the padding that the remedy applies.
fn remedy(cause: &Cause, found: &Conflict<'_, '_>) -> (Remedy, Option<Padding>) {
    let (rows, cycles) = (found.row_padding, found.cycle_padding);
    let padded = |padding: Option<Padding>, pad: fn(Padding) -> Remedy, otherwise: Remedy| {
        (padding.map_or(otherwise, pad), padding)
    };
    match cause {
        _ if found.access.kernel.is_triton() => (Remedy::ChangeTileLayout, None),
        Cause::LibraryAlgorithm => (Remedy::ChangeAlgorithm, None),
        Cause::BlockRows => padded(rows, pad_block_rows, Remedy::ExchangeIndices),
        Cause::Structures => {
            let padding = rows.map(|rows| Count(rows.elements.saturating_mul(rows.element)));
            (Remedy::ArrayPerMember { padding, left: rows.map(left) }, rows)
        }
        // A distance of a few elements between lanes is the data of one thread, and not a row.
        Cause::Stride { .. } if found.stride_elements() <= MOST_ITEMS && cycles.is_some() => {
            padded(cycles, pad_periodically, Remedy::ExchangeIndices)
        }
        Cause::Stride { .. } => padded(rows, pad_rows, Remedy::ExchangeIndices),
        Cause::ChangingStride => padded(cycles, pad_periodically, Remedy::SequentialAddressing),
        Cause::RowPerThread => (Remedy::InterleaveRows, None),
        // Applies to small tables, and not to regions that the thread index selects.
        Cause::DataDependentIndex if found.access.is_load() && !found.is_of_thread => (Remedy::CopyPerLane, None),
        Cause::DataDependentIndex | Cause::ComputedIndex => {
            let padding = cycles.map(|cycles| Count(cycles.elements));
            let row = cycles.map(|cycles| Count(cycles.period()));
            (Remedy::InspectIndex { padding, row, left: cycles.map(left) }, None)
        }
    }
}

fn left(padding: Padding) -> Count {
    Count(padding.passes.into())
}

fn pad_rows(rows: Padding) -> Remedy {
    let (padding, row) = (Count(rows.elements), Count(rows.period()));
    Remedy::PadRows { padding, row, padded: Count(rows.period().saturating_add(rows.elements)), left: left(rows) }
}

fn pad_block_rows(rows: Padding) -> Remedy {
    let (padding, row) = (Count(rows.elements), Count(rows.period()));
    Remedy::PadBlockRows { padding, row, padded: Count(rows.period().saturating_add(rows.elements)), left: left(rows) }
}

fn pad_periodically(padding: Padding) -> Remedy {
    let times = (padding.elements > 1).then_some(Count(padding.elements));
    let (elements, row) = (Count(padding.elements), Count(padding.period()));
    Remedy::PadPeriodically { padding: elements, times, row, left: left(padding) }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let found = conflicts(facts);
    let own = found.iter().filter(|found| !subjects::is_about_contention(found));
    own.filter_map(|found| draft(facts, found)).collect()
}

fn draft(facts: &Facts<'_>, found: &Conflict<'_, '_>) -> Option<Draft> {
    let Conflict { access, request, .. } = *found;
    let (_, make) = ORDER.iter().find(|(condition, _)| condition(found))?;
    let cause = make(found);
    let (remedy, padding) = remedy(&cause, found);
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    diagnosis.verified = padding.is_some() && cause != Cause::Structures;
    let figures = &mut diagnosis.figures;
    figures.set("requests", Count(found.requests));
    figures.set("passes", Count(found.passes));
    figures.set("ideal_passes", Count(found.ideal_passes));
    figures.set("mean", Ratio(share(found.passes, found.requests)));
    figures.set("mean_ideal", Ratio(share(found.ideal_passes, found.requests)));
    figures.set("worst", Count(request.passes.into()));
    figures.set("worst_ideal", Count(request.ideal.into()));
    // The unit of the padding is the data that one lane accesses at once.
    figures.set("unit", Bytes(request.bytes.into()));
    figures.set("collide", found.colliding_lanes().map(Shown));
    let excess = found.passes.saturating_sub(found.ideal_passes);
    let of_kernel = facts.accesses_of(access.kernel.id, "shared").map(|access| access.sums.passes).total();
    let is_unified = facts.rates.is_none_or(|rates| rates.unified);
    let saving = Saving::new(if is_unified { "l1_data" } else { "shared" }, excess as f64);
    let draft = Draft::for_access(facts, diagnosis, access)
        .evidence("requests", found.requests as f64)
        .evidence("passes", found.passes as f64)
        .evidence("ideal_passes", found.ideal_passes as f64)
        .evidence("worst_passes", request.passes.into())
        .evidence("padding_elements", padding.map_or(0.0, |padding| padding.elements as f64))
        .evidence("padding_period", padding.map_or(f64::NAN, |padding| padding.period() as f64))
        .evidence("padded_passes", padding.map_or(f64::NAN, |padding| padding.passes.into()))
        .saves(facts, Saved::new(saving, share(excess, of_kernel)));
    // One padding of an array is one change, even if its effect differs between accesses.
    let draft = match padding.and(found.row_padding).or(padding) {
        Some(padding) => draft.alike(format!("{} behind {} of {}", padding.elements, padding.row, padding.element)),
        None => draft,
    };
    // If data or an unknown index determines the banks, the remedy may not be applicable.
    let is_unsure = matches!(cause, Cause::DataDependentIndex | Cause::ComputedIndex);
    let by_chance = is_unsure && draft.gain.as_ref().is_none_or(|gain| gain.factor < LEAST_UNSURE_GAIN);
    let is_negligible = by_chance && draft.score < WORTH_A_CHANGE;
    (!is_negligible).then(|| draft.note_if(by_chance || cause == Cause::LibraryAlgorithm))
}
