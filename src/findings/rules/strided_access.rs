//! Consecutive threads that are a stride apart: each touches a sector of its own (CUDA C++ Best Practices Guide, "Strided Accesses").

use super::super::diagnosis::{Bytes, Choice, Count, Described, Diagnosis, Name, Shown, described};
use super::super::draft::{Draft, Saved};
use super::super::facts::access::Access;
use super::super::facts::gather::{has_own_rows, iterates_within_sectors};
use super::super::facts::pattern::is_strided;
use super::super::facts::terms::terms_of;
use super::super::facts::{
    Facts, block_of, excess_of_kernel, exchange, index, lane_axis, layout, library_layout, thread_index, warps,
};
use super::super::gain::Saving;
use super::super::subjects::{Coalescing, coalescing};
use super::super::thresholds::coalescing::{MANY_STRIDES, MOST_FIELDS, WIDEST_BYTES};
use warpline_profile::is_system;
use warpline_profile::model::ThreadStep;

described! {
    /// Why consecutive threads are apart.
    pub(in super::super) enum Cause {
        /// The last axis of a Triton tile does not run along memory.
        StridedTile => "strided-tile",
        /// The elements that a thread of a Triton tile has are not known to be contiguous.
        UnknownContiguity => "unknown-contiguity",
        /// Texels apart.
        StridedTexels => "strided-texels",
        /// CUB loads or stores a blocked arrangement directly.
        BlockedArrangement => "blocked-arrangement",
        /// The stride is loaded, or is another one in each step of a loop.
        ChangingStride { how: Choice } => "changing-stride",
        /// One side of a copy is contiguous in an index and the other is not.
        Transposition => "transposition",
        /// Another index moves the address by less.
        OtherIndexContiguous { other: Shown, by: Option<Count> } => "other-index-contiguous",
        /// The address does not depend on another index, along which other accesses are contiguous.
        OtherIndexUnused { other: Shown } => "other-index-unused",
        /// A library moves a type piece by piece.
        UnderalignedType { size: Bytes } => "underaligned-type",
        /// A thread accesses a few consecutive elements one by one.
        FewPerThread { group: Count } => "few-elements-per-thread",
        /// A thread accesses one of a few elements.
        OneOfFew { group: Count } => "one-of-few-elements",
        /// A thread accesses all of a record.
        RecordPerThread => "record-per-thread",
        /// A thread accesses a field of a record.
        FieldOfRecord => "field-of-record",
        /// A thread has a region of its own.
        PrivateRegion => "private-region",
        /// The index comes out of memory.
        LoadedIndex => "loaded-index",
        /// The user's iterator sets a library's items apart.
        LibraryIterator => "library-iterator",
        /// A thread accesses one element of a row.
        Column => "column",
        /// A thread iterates along a row.
        RowPerThread => "row-per-thread",
    }
}

described! {
    pub(in super::super) enum Remedy {
        TransposeTile => "transpose-tile",
        StateContiguity => "state-contiguity",
        FetchNeighbours => "fetch-neighbouring-texels",
        WarpTranspose { algorithm: Name } => "use-warp-transpose",
        StorePerStep => "store-per-step",
        TileThroughShared => "transpose-through-shared-memory",
        ReshapeBlocks => "reshape-blocks",
        ExchangeIndices => "exchange-indices",
        AlignType => "align-type",
        ArrayPerField => "array-per-field",
        WideAccess => "wide-access",
        StageThroughShared => "stage-through-shared-memory",
        InterleaveRegions => "interleave-regions",
        OrderElements => "sort-elements",
        ReorderData => "reorder-data",
        TransposeData => "transpose-data",
        StripeItems => "stripe-items",
        ShareRow => "share-row-among-lanes",
    }
}

/// A strided access with what classification depends on.
struct Strided<'f, 'a> {
    facts: &'f Facts<'a>,
    access: &'f Access<'a>,
    /// Bytes between consecutive threads in most requests.
    stride: Option<u64>,
    /// The same in elements; 0 where it is not known.
    elements: u64,
    axis: usize,
    /// How the address moves with the lanes' index.
    step: Option<&'a ThreadStep>,
    /// Executed once by each warp.
    is_once: bool,
}

impl<'f, 'a> Strided<'f, 'a> {
    fn new(facts: &'f Facts<'a>, access: &'f Access<'a>) -> Strided<'f, 'a> {
        let stride = access.pattern.stride_bytes.filter(|_| is_strided(access)).map(i64::unsigned_abs);
        let axis = lane_axis(access.kernel);
        Strided {
            facts,
            access,
            stride,
            elements: stride.unwrap_or(0) / u64::from(access.bytes.max(1)),
            axis,
            step: access.operand.map(|operand| &operand.thread_steps[axis]),
            is_once: access.sums.requests <= warps(access.kernel),
        }
    }

    /// The code shows how the lanes' index moves the address.
    fn is_known(&self) -> bool {
        matches!(self.step, Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
    }

    fn takes_all_between(&self) -> bool {
        layout::takes_whole_records(self.facts, self.access) || layout::goes_through_its_part(self.access)
    }

    fn is_transposition(&self) -> bool {
        exchange::is_transposition(self.facts, self.access)
    }

    fn goes_on_apart(&self) -> bool {
        layout::goes_on_apart(self.facts, self.access)
    }

    /// A column or a border of what other kernels access row by row.
    fn crosses_rows(&self) -> bool {
        self.is_once && layout::others_go_along(self.facts, self.access) && !self.goes_on_apart()
    }
}

/// What to change; `None` where another order would cost others as much.
fn classify(it: &Strided<'_, '_>) -> Option<(Cause, Remedy)> {
    let special = of_environment(it).or_else(|| of_indices(it)).or_else(|| of_few_elements(it));
    special.or_else(|| of_records_and_regions(it)).or_else(|| of_rows(it))
}

/// Triton, textures and libraries, which have remedies of their own.
fn of_environment(it: &Strided<'_, '_>) -> Option<(Cause, Remedy)> {
    let access = it.access;
    if access.kernel.is_triton() {
        let is_group = matches!(it.elements, 2 | 4 | 8) && it.stride <= Some(WIDEST_BYTES);
        return Some(match is_group {
            true => (Cause::UnknownContiguity, Remedy::StateContiguity),
            false => (Cause::StridedTile, Remedy::TransposeTile),
        });
    }
    if access.by_texture {
        return Some((Cause::StridedTexels, Remedy::FetchNeighbours));
    }
    if let Some(algorithm) = library_layout::transposing_algorithm(access) {
        return Some((Cause::BlockedArrangement, Remedy::WarpTranspose { algorithm: Name(algorithm.to_owned()) }));
    }
    if matches!(it.elements, 2 | 4) && library_layout::is_copied(access) {
        let is_stored = |one: &Access<'_>| {
            one.op == "store" && (one.bytes, one.pattern.stride_bytes) == (access.bytes, access.pattern.stride_bytes)
        };
        let is_whole = it.takes_all_between() || it.facts.accesses_of(access.kernel.id, "global").any(is_stored);
        let size = Bytes(it.stride.unwrap_or(0));
        return Some(match is_whole {
            true => (Cause::UnderalignedType { size }, Remedy::AlignType),
            false => (Cause::FieldOfRecord, Remedy::ArrayPerField),
        });
    }
    None
}

/// Another index of the block, or another step, is where consecutive elements are.
fn of_indices(it: &Strided<'_, '_>) -> Option<(Cause, Remedy)> {
    let (facts, access) = (it.facts, it.access);
    if let Some(other) = exchange::contiguous_index(access, it.stride, it.axis) {
        if exchange::harmed_by_exchange(facts, access, it.axis, other) {
            return Some((Cause::Transposition, Remedy::TileThroughShared));
        }
        let by = match access.operand.map(|operand| &operand.thread_steps[other]) {
            Some(ThreadStep::Bytes(bytes)) => (bytes.unsigned_abs() / u64::from(access.bytes.max(1))).max(1),
            _ => 1,
        };
        let is_alone = block_of(access.kernel).is_some_and(|block| block[other] == 1);
        let cause = Cause::OtherIndexContiguous { other: Shown(thread_index(other).to_owned()), by: Some(Count(by)) };
        return Some((cause, if is_alone { Remedy::ReshapeBlocks } else { Remedy::ExchangeIndices }));
    }
    if index::step_is_loaded(access) && !iterates_within_sectors(access) {
        return Some((Cause::ChangingStride { how: Choice(0) }, Remedy::StorePerStep));
    }
    if !it.is_known() && (access.strides >= MANY_STRIDES || index::step_grows(access)) {
        return Some((Cause::ChangingStride { how: Choice(1) }, Remedy::StorePerStep));
    }
    None
}

/// A thread has a few elements.
fn of_few_elements(it: &Strided<'_, '_>) -> Option<(Cause, Remedy)> {
    let (facts, access, elements) = (it.facts, it.access, it.elements);
    let group = Count(elements);
    if matches!(elements, 2 | 4 | 8 | 16) && it.stride <= Some(WIDEST_BYTES) {
        return Some(if !it.takes_all_between() {
            (Cause::OneOfFew { group }, Remedy::ArrayPerField)
        } else if layout::begins_anywhere(access, elements * u64::from(access.bytes)) {
            (Cause::FewPerThread { group }, Remedy::StageThroughShared)
        } else {
            (Cause::FewPerThread { group }, Remedy::WideAccess)
        });
    }
    if elements > MOST_FIELDS
        && let Some(elements) = layout::side_by_side(facts, access)
    {
        return Some((Cause::FewPerThread { group: Count(elements) }, Remedy::WideAccess));
    }
    if (3..=8).contains(&elements) && it.is_known() && !(elements.is_power_of_two() && it.takes_all_between()) {
        return Some((Cause::FewPerThread { group }, Remedy::StageThroughShared));
    }
    None
}

/// Records of a fixed size, and regions of a thread.
fn of_records_and_regions(it: &Strided<'_, '_>) -> Option<(Cause, Remedy)> {
    let (facts, access) = (it.facts, it.access);
    if let Some(other) = exchange::unused_index(facts, access) {
        let cause = Cause::OtherIndexUnused { other: Shown(thread_index(other).to_owned()) };
        return Some((cause, Remedy::ExchangeIndices));
    }
    if it.is_once && it.elements <= MOST_FIELDS && layout::takes_whole_records(facts, access) {
        return Some((Cause::RecordPerThread, Remedy::StageThroughShared));
    }
    let is_fixed = matches!(it.step, Some(ThreadStep::Bytes(_)));
    if is_fixed && it.is_once && !(it.elements > MOST_FIELDS && it.crosses_rows()) {
        return Some((Cause::FieldOfRecord, Remedy::ArrayPerField));
    }
    if has_own_rows(&terms_of(access)) || index::is_appended(access) {
        return Some((Cause::PrivateRegion, Remedy::InterleaveRegions));
    }
    if access.operand.is_some_and(|operand| operand.loaded_index) && matches!(it.step, Some(ThreadStep::Other)) {
        return Some((Cause::LoadedIndex, Remedy::OrderElements));
    }
    is_system(&access.kernel.file).then_some((Cause::LibraryIterator, Remedy::ReorderData))
}

/// Rows of a matrix, along which or across which the threads go.
fn of_rows(it: &Strided<'_, '_>) -> Option<(Cause, Remedy)> {
    let (facts, access) = (it.facts, it.access);
    let column = (Cause::Column, Remedy::TransposeData);
    // Blocks of one column: consecutive threads go across the rows, whatever the code computes of their index.
    if !it.is_known() && it.axis != 0 && block_of(access.kernel).is_some_and(|block| block[0] == 1) {
        let cause = Cause::OtherIndexContiguous { other: Shown(thread_index(0).to_owned()), by: None };
        return Some((cause, Remedy::ReshapeBlocks));
    }
    if !it.is_known() && !it.is_transposition() {
        let is_column = it.is_once && !it.goes_on_apart() && !layout::goes_through_its_part(access);
        return Some(if is_column { column } else { (Cause::PrivateRegion, Remedy::InterleaveRegions) });
    }
    if it.is_once && layout::is_dense(facts, access) {
        let other = layout::index_of_grid(access).map_or_else(|| "blockIdx".to_owned(), str::to_owned);
        return Some((Cause::OtherIndexContiguous { other: Shown(other), by: None }, Remedy::ExchangeIndices));
    }
    // All of what others access row by row, a column for each block: somebody has to go across.
    let others_go_along = it.is_once && layout::others_go_along(facts, access);
    if access.op == "store" && others_go_along && layout::takes_all(facts, access) {
        return None;
    }
    if it.crosses_rows() {
        return Some(column);
    }
    if it.is_transposition() && (!it.is_once || it.goes_on_apart() || layout::covers(facts, access)) {
        return Some((Cause::Transposition, Remedy::TileThroughShared));
    }
    if it.is_once && !it.goes_on_apart() {
        return Some(column);
    }
    if matches!(it.step, Some(ThreadStep::Bytes(_))) && layout::has_few_items(access) {
        return Some((Cause::RowPerThread, Remedy::StripeItems));
    }
    // Of rows that threads store and none loads, each element depends on the one before, so that lanes cannot share a row.
    let is_made = access.op == "store" && !facts.accesses_of(access.kernel.id, "global").any(is_strided_load);
    Some((Cause::RowPerThread, if is_made { Remedy::TransposeData } else { Remedy::ShareRow }))
}

fn is_strided_load(access: &Access<'_>) -> bool {
    access.op == "load" && is_strided(access)
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let strided = |access: &&Access<'_>| coalescing(facts, access) == Some(Coalescing::Strided);
    facts.accesses.iter().filter(strided).filter_map(|access| draft(facts, access)).collect()
}

fn draft(facts: &Facts<'_>, access: &Access<'_>) -> Option<Draft> {
    let it = Strided::new(facts, access);
    let (cause, remedy) = classify(&it)?;
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    diagnosis.figures.set("stride", it.stride.map(Bytes));
    diagnosis.figures.set("elements", it.stride.map(|_| Count(it.elements)));
    diagnosis.figures.set("factor", factor(&it));
    let sums = &access.sums;
    let saved = Saved {
        saving: Saving::of_coalescing(&[access], facts),
        otherwise: excess_of_kernel(facts, access),
        ..Saved::default()
    };
    // Other indices in a kernel change all its accesses; so do arrays that one index sets apart by as many elements.
    let shared = match remedy {
        Remedy::ExchangeIndices | Remedy::ReshapeBlocks => Some(remedy.id().to_owned()),
        _ => it.is_known().then(|| format!("{} {} by {}", cause.id(), remedy.id(), it.elements)),
    };
    let draft = Draft::of_access(facts, diagnosis, access)
        .evidence(
            "stride_bytes",
            access.pattern.stride_bytes.filter(|_| it.stride.is_some()).map_or(f64::NAN, |stride| stride as f64),
        )
        .evidence("requests", sums.requests as f64)
        .evidence("sectors", sums.sectors as f64)
        .evidence("ideal_sectors", sums.ideal_sectors as f64)
        .one_cause(shared)
        .saves(facts, saved);
    Some(index::with_its_line(draft, facts, access))
}

/// What the code multiplies the lanes' index by.
fn factor(it: &Strided<'_, '_>) -> Option<Shown> {
    match it.step? {
        ThreadStep::Times(factor) if !factor.is_empty() => Some(Shown(format!("`{factor}`"))),
        ThreadStep::Bytes(bytes) if it.elements > 1 && it.stride == Some(bytes.unsigned_abs()) => {
            Some(Shown(it.elements.to_string()))
        }
        _ => None,
    }
}
