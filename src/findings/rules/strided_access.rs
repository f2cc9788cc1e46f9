//! Accesses with a stride between consecutive threads, so that each thread touches a different sector (CUDA C++ Best
//! Practices Guide, "Strided Accesses").

use super::super::facts::address::terms_of;
use super::super::facts::gather::has_own_rows;
use super::super::facts::{exchange, index, layout, library_layout};
use super::super::prelude::*;
use super::super::subjects::{Coalescing, coalescing};
use super::super::thresholds::coalescing::*;

described! {
    enum Cause {
        StridedTile => "strided-tile",
        UnknownContiguity => "unknown-contiguity",
        StridedTexels => "strided-texels",
        LibraryLayout => "library-layout",
        ChangingStride => "changing-stride",
        Transposition => "transposition",
        OtherIndexContiguous { other: Shown, by: Option<Count> } => "other-index-contiguous",
        FewPerThread { group: Count } => "few-elements-per-thread",
        FieldOfRecord => "field-of-record",
        PrivateRegion => "private-region",
        LoadedIndex => "loaded-index",
        Column => "column",
        RowPerThread => "row-per-thread",
    }
    enum Remedy {
        TransposeTile => "transpose-tile",
        StateContiguity => "state-contiguity",
        FetchNeighbours => "fetch-neighbouring-texels",
        ReorderData => "reorder-data",
        StorePerStep => "store-per-step",
        TileThroughShared => "transpose-through-shared-memory",
        ExchangeIndices => "exchange-indices",
        ReshapeBlocks => "reshape-blocks",
        WideAccess => "wide-access",
        StageThroughShared => "stage-through-shared-memory",
        ArrayPerField => "array-per-field",
        InterleaveRegions => "interleave-regions",
        OrderElements => "sort-elements",
        TransposeData => "transpose-data",
        StoreWhereSwept => "access-in-other-kernel",
        ShareRow => "share-row-among-lanes",
    }
}

/// A strided access with the properties that determine its cause.
struct Strided<'f, 'a> {
    facts: &'f Facts<'a>,
    access: &'f Access<'a>,
    /// Number of bytes between consecutive threads in most requests.
    stride: Option<u64>,
    /// Number of elements between consecutive threads; 0 if it is unknown.
    elements: u64,
    axis: usize,
    /// Whether each warp executes the access once.
    is_once: bool,
}

type Diagnosed = Option<(Cause, Remedy)>;
type Classifier = fn(&Strided<'_, '_>) -> Option<Diagnosed>;

/// Classifiers of causes; the first one that applies determines the cause. The inner value is `None` if another order
/// would cost other accesses as much.
const ORDER: &[Classifier] = &[
    |it| it.access.kernel.is_triton().then(|| it.of_triton()),
    |it| it.is(it.access.by_texture, Cause::StridedTexels, Remedy::FetchNeighbours),
    |it| it.is(library_layout::is_copied(it.access), Cause::LibraryLayout, Remedy::ReorderData),
    |it| it.other_index().map(Some),
    |it| it.one_column().map(Some),
    |it| it.is(it.has_changing_stride(), Cause::ChangingStride, Remedy::StorePerStep),
    |it| it.few_elements().map(Some),
    |it| it.is(it.is_field(), Cause::FieldOfRecord, Remedy::ArrayPerField),
    |it| {
        it.is(
            has_own_rows(&terms_of(it.access)) || index::is_appended(it.access),
            Cause::PrivateRegion,
            Remedy::InterleaveRegions,
        )
    },
    |it| {
        it.is(
            it.access.has_loaded_index() && it.step() == Some(&ThreadStep::Other),
            Cause::LoadedIndex,
            Remedy::OrderElements,
        )
    },
    |it| it.is(is_system(&it.access.kernel.file), Cause::LibraryLayout, Remedy::ReorderData),
    |it| Some(it.of_rows()),
];

impl<'f, 'a> Strided<'f, 'a> {
    fn new(facts: &'f Facts<'a>, access: &'f Access<'a>) -> Strided<'f, 'a> {
        let stride = access.pattern.stride_bytes.filter(|_| is_strided(access)).map(i64::unsigned_abs);
        let elements = stride.unwrap_or(0) / u64::from(access.bytes.max(1));
        let is_once = access.sums.requests <= warps(access.kernel);
        Strided { facts, access, stride, elements, axis: lane_axis(access.kernel), is_once }
    }

    fn is(&self, applies: bool, cause: Cause, remedy: Remedy) -> Option<Diagnosed> {
        applies.then_some(Some((cause, remedy)))
    }

    fn step(&self) -> Option<&ThreadStep> {
        self.access.step()
    }

    /// Returns whether the code shows how the lane index changes the address.
    fn is_known(&self) -> bool {
        matches!(self.step(), Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
    }

    fn takes_all_between(&self) -> bool {
        layout::takes_whole_records(self.facts, self.access) || layout::goes_through_its_part(self.access)
    }

    fn goes_on_apart(&self) -> bool {
        layout::goes_on_apart(self.facts, self.access)
    }

    /// Returns whether the access is to a column or a border of data that other kernels access row by row.
    fn crosses_rows(&self) -> bool {
        self.is_once && layout::others_go_along(self.facts, self.access) && !self.goes_on_apart()
    }

    fn of_triton(&self) -> Diagnosed {
        let is_group = matches!(self.elements, 2 | 4 | 8) && self.stride <= Some(WIDEST_BYTES);
        Some(match is_group {
            true => (Cause::UnknownContiguity, Remedy::StateContiguity),
            false => (Cause::StridedTile, Remedy::TransposeTile),
        })
    }

    /// Classifies accesses for which consecutive elements correspond to another index of the block.
    fn other_index(&self) -> Diagnosed {
        let (facts, access) = (self.facts, self.access);
        let Some(other) = exchange::contiguous_index(access, self.stride, self.axis) else {
            let other = exchange::unused_index(facts, access)?;
            let is_few = self.few_elements().is_some();
            let cause = Cause::OtherIndexContiguous { other: Shown(thread_index(other).to_owned()), by: None };
            return (!is_few).then_some((cause, Remedy::ExchangeIndices));
        };
        if exchange::harmed_by_exchange(facts, access, self.axis, other) {
            return Some((Cause::Transposition, Remedy::TileThroughShared));
        }
        let by = match access.operand.map(|operand| &operand.thread_steps[other]) {
            Some(ThreadStep::Bytes(bytes)) => (bytes.unsigned_abs() / u64::from(access.bytes.max(1))).max(1),
            _ => 1,
        };
        let is_alone = block_of(access.kernel).is_some_and(|block| block[other] == 1);
        let cause = Cause::OtherIndexContiguous { other: Shown(thread_index(other).to_owned()), by: Some(Count(by)) };
        Some((cause, if is_alone { Remedy::ReshapeBlocks } else { Remedy::ExchangeIndices }))
    }

    /// Classifies blocks with one column, whose consecutive threads access different rows, whatever index the code
    /// computes.
    fn one_column(&self) -> Diagnosed {
        let is_column = self.axis != 0 && block_of(self.access.kernel).is_some_and(|block| block[0] == 1);
        let cause = Cause::OtherIndexContiguous { other: Shown(thread_index(0).to_owned()), by: None };
        (is_column && !self.is_known()).then_some((cause, Remedy::ReshapeBlocks))
    }

    fn has_changing_stride(&self) -> bool {
        let access = self.access;
        index::step_is_loaded(access) && !layout::goes_through_its_part(access)
            || !self.is_known() && (access.strides >= MANY_STRIDES || index::step_grows(access))
    }

    /// Classifies accesses in which each thread has a few elements, or a record.
    fn few_elements(&self) -> Diagnosed {
        let (facts, access, elements) = (self.facts, self.access, self.elements);
        let is_vector = matches!(elements, 2 | 4 | 8 | 16) && self.stride <= Some(WIDEST_BYTES);
        let is_whole = self.takes_all_between();
        let is_apart = elements > MOST_FIELDS;
        let (group, remedy) = match is_apart.then(|| layout::side_by_side(facts, access)).flatten() {
            Some(group) => (group, Remedy::WideAccess),
            None if is_vector && is_whole && !layout::starts_anywhere(access, elements * u64::from(access.bytes)) => {
                (elements, Remedy::WideAccess)
            }
            None if is_vector && is_whole => (elements, Remedy::StageThroughShared),
            None if is_vector => return Some((Cause::FieldOfRecord, Remedy::ArrayPerField)),
            None if (3..=8).contains(&elements) && self.is_known() && !(elements.is_power_of_two() && is_whole) => {
                (elements, Remedy::StageThroughShared)
            }
            None if self.is_once && !is_apart && layout::takes_whole_records(facts, access) => {
                (elements, Remedy::StageThroughShared)
            }
            None => return None,
        };
        Some((Cause::FewPerThread { group: Count(group) }, remedy))
    }

    fn is_field(&self) -> bool {
        let is_fixed = matches!(self.step(), Some(ThreadStep::Bytes(_)));
        is_fixed && self.is_once && !(self.elements > MOST_FIELDS && self.crosses_rows())
    }

    /// Classifies accesses to rows of a matrix, with threads along or across the rows.
    fn of_rows(&self) -> Diagnosed {
        let (facts, access) = (self.facts, self.access);
        let column = Some((Cause::Column, Remedy::TransposeData));
        let is_transposition = exchange::is_transposition(facts, access);
        if !self.is_known() && !is_transposition {
            let is_column = self.is_once && !self.goes_on_apart() && !layout::goes_through_its_part(access);
            return if is_column { column } else { Some((Cause::PrivateRegion, Remedy::InterleaveRegions)) };
        }
        if self.is_once && layout::is_dense(facts, access) {
            let other = Shown(layout::index_of_grid(access).unwrap_or("blockIdx").to_owned());
            return Some((Cause::OtherIndexContiguous { other, by: None }, Remedy::ExchangeIndices));
        }
        // If other kernels access the data row by row, and each block accesses a column, one of the kernels must access
        // it across the rows.
        let others_go_along = self.is_once && layout::others_go_along(facts, access);
        if access.op == "store" && others_go_along && layout::takes_all(facts, access) {
            return None;
        }
        // Transposing the data for this kernel would also transpose it for kernels that move more of it.
        if self.crosses_rows() {
            return Some((Cause::Column, Remedy::StoreWhereSwept));
        }
        if is_transposition && (!self.is_once || self.goes_on_apart() || layout::covers(facts, access)) {
            return Some((Cause::Transposition, Remedy::TileThroughShared));
        }
        if self.is_once && !self.goes_on_apart() {
            return column;
        }
        // If threads store rows and none are loaded, each element depends on the previous one, so lanes cannot share a
        // row.
        let is_made = access.op == "store" && !facts.loads_of(access.kernel.id).any(is_strided);
        Some((Cause::RowPerThread, if is_made { Remedy::TransposeData } else { Remedy::ShareRow }))
    }

    /// Returns the factor by which the code multiplies the lane index.
    fn factor(&self) -> Option<Shown> {
        match self.step()? {
            ThreadStep::Times(factor) if !factor.is_empty() => Some(Shown(format!("`{factor}`"))),
            ThreadStep::Bytes(bytes) if self.elements > 1 && self.stride == Some(bytes.unsigned_abs()) => {
                Some(Shown(self.elements.to_string()))
            }
            _ => None,
        }
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let strided = |access: &&Access<'_>| coalescing(facts, access) == Some(Coalescing::Strided);
    facts.accesses.iter().filter(strided).filter_map(|access| draft(facts, access)).collect()
}

fn draft(facts: &Facts<'_>, access: &Access<'_>) -> Option<Draft> {
    let it = Strided::new(facts, access);
    let (cause, remedy) = ORDER.iter().find_map(|classify| classify(&it))??;
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    diagnosis.figures.set("stride", it.stride.map(Bytes));
    diagnosis.figures.set("elements", it.stride.map(|_| Count(it.elements)));
    diagnosis.figures.set("factor", it.factor());
    // An exchange of indices in a kernel changes all its accesses. The same applies to arrays with the same distance in
    // elements for one index.
    let shared = match remedy {
        Remedy::ExchangeIndices | Remedy::ReshapeBlocks => Some(remedy.id().to_owned()),
        _ => it.is_known().then(|| format!("{} {} by {}", cause.id(), remedy.id(), it.elements)),
    };
    let stride = access.pattern.stride_bytes.filter(|_| it.stride.is_some());
    let draft = Draft::for_access(facts, diagnosis, access)
        .evidence("stride_bytes", stride.map_or(f64::NAN, |stride| stride as f64))
        .sectors(&access.sums)
        .one_cause(shared)
        .saves(facts, Saved::new(Saving::by_coalescing(&[access], facts), excess_of_kernel(facts, access)));
    Some(index::with_its_line(draft, facts, access))
}
