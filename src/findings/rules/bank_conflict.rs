//! Lanes that want different words of one bank of shared memory: their request takes a pass for each (CUDA C++ Programming Guide,
//! "Shared Memory" of compute capability 5.x).

use super::super::diagnosis::{Bytes, Count, Diagnosis, Ratio, Shown, described};
use super::super::draft::{Draft, Saved, WORTH_A_CHANGE};
use super::super::facts::Facts;
use super::super::facts::access::share;
use super::super::facts::banks::{Conflict, conflicts};
use super::super::facts::padding::Padding;
use super::super::gain::Saving;
use super::super::subjects;
use super::super::thresholds::banks::LEAST_UNSURE_GAIN;
use warpline_profile::model::Severity;

described! {
    pub(in super::super) enum Cause {
        /// The code of a block-wide algorithm of a library.
        LibraryAlgorithm => "library-algorithm",
        /// Rows of the block start in the same banks.
        BlockRows => "rows-of-the-block",
        /// Members of a vector type are accessed one after the other.
        VectorMembers => "members-of-a-vector",
        Structures => "array-of-structures",
        /// Each thread has a few neighbouring elements.
        ItemsPerThread { items: Count } => "items-per-thread",
        Stride { stride: Bytes } => "strided-words",
        /// The distance between lanes changes from step to step.
        ChangingStride => "changing-stride",
        /// Groups of lanes lie a multiple of all banks apart.
        LaneGroups => "groups-of-lanes",
        /// Each thread has a row of its own, and data selects the element.
        RowPerThread => "row-per-thread",
        /// Each thread has a column of its own, of elements narrower than a bank.
        NarrowColumns => "narrow-columns",
        DataDependentIndex => "data-dependent-index",
        ComputedIndex => "computed-index",
    }
}

described! {
    pub(in super::super) enum Remedy {
        ChangeAlgorithm => "change-library-algorithm",
        /// Of a kernel of Triton, whatever the cause.
        ChangeTileLayout => "change-tile-layout",
        PadBlockRows { padding: Count, row: Count, padded: Count, left: Count } => "pad-rows-of-the-block",
        WarpWideBlock => "warp-wide-block",
        VectorAccess { whole: Bytes } => "vector-access",
        ArrayPerMember { padding: Option<Count>, left: Option<Count> } => "array-per-member",
        PadItems { padding: Count, row: Count, left: Count } => "pad-items",
        PadRows { padding: Count, row: Count, padded: Count, left: Count } => "pad-rows",
        PadPeriodically { padding: Count, times: Option<Count>, row: Count, left: Count } => "pad-periodically",
        SequentialAddressing => "sequential-addressing",
        ExchangeIndices => "exchange-indices",
        InterleaveRows => "interleave-rows",
        WordElements => "word-sized-elements",
        CopyPerLane => "copy-per-lane",
        InspectIndex { padding: Option<Count>, row: Option<Count>, left: Option<Count> } => "inspect-index",
    }
}

type Condition = fn(&Conflict<'_, '_>) -> bool;
type MakeCause = fn(&Conflict<'_, '_>) -> Cause;

/// The first cause whose condition is true.
const ORDER: &[(Condition, MakeCause)] = &[
    (|found| found.is_of_library(), |_| Cause::LibraryAlgorithm),
    (|found| found.has_padded_block_rows(), |_| Cause::BlockRows),
    (|found| found.stride.is_some() && found.vector_bytes().is_some(), |_| Cause::VectorMembers),
    (|found| found.stride.is_some() && found.has_structures, |_| Cause::Structures),
    (|found| found.has_items_per_thread(), |found| Cause::ItemsPerThread { items: Count(found.stride_elements()) }),
    (|found| found.stride.is_some() && found.row_padding.is_some(), of_stride),
    (|found| found.stride_changes, |_| Cause::ChangingStride),
    (|found| found.stride_elements() > 1, of_stride),
    (|found| found.has_groups(), |_| Cause::LaneGroups),
    (|found| found.has_narrow_block(), |_| Cause::BlockRows),
    (|found| found.has_own_rows(), |_| Cause::RowPerThread),
    (|found| found.has_narrow_columns(), |_| Cause::NarrowColumns),
    (|found| found.has_unknown_index(), |_| Cause::DataDependentIndex),
];

fn of_stride(found: &Conflict<'_, '_>) -> Cause {
    Cause::Stride { stride: Bytes(found.stride.map_or(0, i64::unsigned_abs)) }
}

fn classify(found: &Conflict<'_, '_>) -> Cause {
    let first = ORDER.iter().find(|(condition, _)| condition(found));
    first.map_or(Cause::ComputedIndex, |(_, make)| make(found))
}

/// The remedy of a cause, with the padding that it applies.
fn remedy(cause: &Cause, found: &Conflict<'_, '_>) -> (Remedy, Option<Padding>) {
    if found.access.kernel.is_triton() {
        return (Remedy::ChangeTileLayout, None);
    }
    let rows = found.row_padding;
    let cycles = found.cycle_padding;
    let plain = |remedy| (remedy, None);
    match cause {
        Cause::LibraryAlgorithm => plain(Remedy::ChangeAlgorithm),
        Cause::BlockRows => rows.map_or(plain(Remedy::WarpWideBlock), |rows| (pad_block_rows(rows), Some(rows))),
        Cause::VectorMembers => plain(Remedy::VectorAccess { whole: Bytes(found.vector_bytes().unwrap_or(0)) }),
        Cause::Structures => {
            let padding = rows.map(|rows| Count(rows.elements.saturating_mul(rows.element)));
            (Remedy::ArrayPerMember { padding, left: rows.map(left) }, rows)
        }
        Cause::ItemsPerThread { .. } => {
            let padding = cycles.filter(|_| !found.stride_changes).or(rows);
            padding.map_or(plain(Remedy::ExchangeIndices), |padding| (pad_items(padding), Some(padding)))
        }
        Cause::Stride { .. } => rows.map_or(plain(Remedy::ExchangeIndices), |rows| (pad_rows(rows), Some(rows))),
        Cause::ChangingStride => {
            cycles.map_or(plain(Remedy::SequentialAddressing), |cycles| (pad_periodically(cycles), Some(cycles)))
        }
        Cause::LaneGroups => {
            let groups = found.group_padding;
            groups.map_or(plain(Remedy::ExchangeIndices), |groups| (pad_periodically(groups), Some(groups)))
        }
        Cause::RowPerThread => plain(Remedy::InterleaveRows),
        Cause::NarrowColumns => plain(Remedy::WordElements),
        // A small table, and no region that the thread's number gives.
        Cause::DataDependentIndex if found.access.op == "load" && !found.is_of_thread => plain(Remedy::CopyPerLane),
        Cause::DataDependentIndex | Cause::ComputedIndex => plain(Remedy::InspectIndex {
            padding: cycles.map(|cycles| Count(cycles.elements)),
            row: cycles.map(|cycles| Count(cycles.period())),
            left: cycles.map(left),
        }),
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

fn pad_items(padding: Padding) -> Remedy {
    Remedy::PadItems { padding: Count(padding.elements), row: Count(padding.period()), left: left(padding) }
}

fn pad_periodically(padding: Padding) -> Remedy {
    let times = (padding.elements > 1).then_some(Count(padding.elements));
    let (elements, row) = (Count(padding.elements), Count(padding.period()));
    Remedy::PadPeriodically { padding: elements, times, row, left: left(padding) }
}

/// The data or an unknown index decides over the banks: the remedy may not exist.
fn is_unsure(cause: &Cause) -> bool {
    matches!(cause, Cause::LaneGroups | Cause::DataDependentIndex | Cause::ComputedIndex)
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let found = conflicts(facts);
    let own = found.iter().filter(|found| !subjects::is_about_contention(found));
    own.filter_map(|found| draft(facts, found)).collect()
}

fn draft(facts: &Facts<'_>, found: &Conflict<'_, '_>) -> Option<Draft> {
    let Conflict { access, request, .. } = *found;
    let cause = classify(found);
    let (remedy, padding) = remedy(&cause, found);
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    if padding.is_some() && cause != Cause::Structures {
        diagnosis = diagnosis.verified();
    }
    let figures = &mut diagnosis.figures;
    figures.set("requests", Count(found.requests));
    figures.set("passes", Count(found.passes));
    figures.set("ideal_passes", Count(found.ideal_passes));
    figures.set("mean", Ratio(share(found.passes, found.requests)));
    figures.set("mean_ideal", Ratio(share(found.ideal_passes, found.requests)));
    figures.set("worst", Count(request.passes.into()));
    figures.set("worst_ideal", Count(request.ideal.into()));
    figures.set("collide", found.colliding_lanes().map(Shown));
    let excess = found.passes.saturating_sub(found.ideal_passes);
    let of_kernel = facts.accesses_of(access.kernel.id, "shared").map(|access| access.sums.passes);
    let is_unified = facts.rates.is_none_or(|rates| rates.unified);
    let saved = Saved {
        saving: Saving::of(if is_unified { "l1_data" } else { "shared" }, excess as f64),
        otherwise: share(excess, of_kernel.fold(0, u64::saturating_add)),
        ..Saved::default()
    };
    let draft = Draft::of_access(facts, diagnosis, access)
        .evidence("requests", found.requests as f64)
        .evidence("passes", found.passes as f64)
        .evidence("ideal_passes", found.ideal_passes as f64)
        .evidence("worst_passes", request.passes.into())
        .evidence("padding_elements", padding.map_or(0.0, |padding| padding.elements as f64))
        .evidence("padding_period", padding.map_or(f64::NAN, |padding| padding.period() as f64))
        .evidence("padded_passes", padding.map_or(f64::NAN, |padding| padding.passes.into()))
        .saves(facts, saved);
    // One padding of an array is one change, whatever it leaves of each access.
    let draft = match padding.and(found.row_padding).or(padding) {
        Some(padding) => draft.alike(format!("{} behind {} of {}", padding.elements, padding.row, padding.element)),
        None => draft,
    };
    let is_library = cause == Cause::LibraryAlgorithm;
    let is_little = draft.gain.as_ref().is_none_or(|gain| gain.factor < LEAST_UNSURE_GAIN);
    let by_chance = is_unsure(&cause) && is_little;
    if by_chance && draft.score < WORTH_A_CHANGE {
        return None;
    }
    Some(if by_chance || is_library { draft.severity(Severity::Note) } else { draft })
}
