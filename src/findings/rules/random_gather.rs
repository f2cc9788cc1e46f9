//! Lanes whose addresses follow no rule: each may touch a different sector.

use super::super::diagnosis::{Bytes, Diagnosis, Name, Shown, described};
use super::super::draft::{Draft, Saved, WORTH_A_CHANGE};
use super::super::facts::access::Access;
use super::super::facts::gather::{
    has_own_region, has_own_rows, is_appended_to, is_sampled, is_start, iterates_lists, iterates_loaded_rows,
    line_of_indices, stores_several,
};
use super::super::facts::terms::{Term, terms_of};
use super::super::facts::{Facts, excess_of_kernel, index};
use super::super::gain::Saving;
use super::super::library;
use super::super::subjects::{Coalescing, coalescing};
use super::super::thresholds::coalescing::SMALL_TABLE_BYTES;
use warpline_profile::model::Severity;
use warpline_profile::{LibraryCall, is_system, library_call};

described! {
    /// How the lanes come to their elements.
    pub(in super::super) enum Cause {
        /// A library's search or merge.
        LibraryAlgorithm => "library-algorithm",
        /// A small table that kernels only read.
        SmallTable => "small-table",
        /// Texels at computed coordinates.
        ScatteredTexels => "scattered-texels",
        /// An atomic operation gives each thread its slot.
        AtomicSlot => "atomic-slot",
        /// A thread searches its slot, as in a hash table.
        SearchedSlot => "searched-slot",
        /// Each thread has a region of its own, in which data chooses.
        PrivateRegion => "private-region",
        /// Each step depends on loaded data, as in a tree or a search.
        PointerChase => "data-dependent-walk",
        /// Each thread iterates along a row or list that loaded data chooses.
        RowPerThread => "row-per-thread",
        /// Coordinates in floating point.
        SampledCoordinates => "sampled-coordinates",
        /// Loaded indices of stores.
        IndexedScatter => "indexed-scatter",
        /// Loaded indices of loads.
        IndexedGather => "indexed-gather",
        /// The index depends on a value of another kind.
        ValueDependentIndex { value: Shown, line: Option<Shown> } => "value-dependent-index",
        /// Several indices are made of one number.
        SplitIndex => "quotient-and-remainder",
        /// The code does not show how the index is computed.
        UnknownIndex => "unknown-index",
    }
}

described! {
    pub(in super::super) enum Remedy {
        CopyTable => "copy-table-to-shared-memory",
        StageTexels => "stage-texels",
        ReserveTogether => "reserve-slots-per-block",
        SortBySlot => "sort-by-slot",
        InterleaveRegions => "interleave-regions",
        StageWalk => "stage-or-sort-walks",
        ShareRow => "share-row-among-lanes",
        SampleTexture => "sample-through-texture",
        SortInBlock => "sort-within-block",
        SortIndices => "sort-indices",
        GroupByValue => "group-by-value",
        FastestIndex => "make-row-index-fastest",
        InspectIndex => "inspect-index",
    }
}

/// A scattered access with what classification depends on.
struct Scattered<'f, 'a> {
    facts: &'f Facts<'a>,
    access: &'f Access<'a>,
    terms: Vec<Term>,
    /// Loaded data is a part of the index.
    is_indirect: bool,
    library: Option<LibraryCall<'a>>,
}

impl Scattered<'_, '_> {
    fn is_load(&self) -> bool {
        self.access.op == "load"
    }

    fn is_walked(&self) -> bool {
        index::is_walked(self.access)
    }

    /// Shared memory could hold the table beside other data, and no kernel writes it.
    fn is_small_table(&self) -> bool {
        let id = self.access.allocation;
        let Some(allocation) = id.and_then(|id| self.facts.profile.allocation(id)) else { return false };
        let is_written = |other: &Access<'_>| other.op != "load" && other.allocation == id;
        self.is_load()
            && allocation.bytes <= SMALL_TABLE_BYTES
            && !self.facts.accesses.iter().any(is_written)
            && (self.is_walked() || !iterates_loaded_rows(self.access, &self.terms))
    }

    /// Each thread has a region, which it fills, reads at its own pace, or in which loaded data chooses.
    fn is_private_region(&self) -> bool {
        index::is_appended(self.access)
            || self.is_indirect && has_own_rows(&self.terms)
            || self.is_indirect
                && self.is_load()
                && (self.is_walked() || index::is_made_of_thread(self.access))
                && is_appended_to(self.facts, self.access)
    }

    fn iterates_rows(&self) -> bool {
        iterates_loaded_rows(self.access, &self.terms) || iterates_lists(self.facts, self.access, &self.terms)
    }
}

type Classifier = fn(&Scattered<'_, '_>) -> bool;

/// In this order: the first that applies is the cause.
const ORDER: &[(Classifier, Cause)] = &[
    (|it| it.library.is_some(), Cause::LibraryAlgorithm),
    (|it| it.is_small_table(), Cause::SmallTable),
    (|it| it.access.by_texture, Cause::ScatteredTexels),
    (|it| !it.is_load() && index::is_given_by_atomics(it.access), Cause::AtomicSlot),
    (|it| index::is_appended(it.access) && !stores_several(it.access), Cause::SearchedSlot),
    (|it| it.is_private_region(), Cause::PrivateRegion),
    (|it| it.is_load() && it.is_walked() && !it.terms.iter().any(|term| term.loaded), Cause::PointerChase),
    (|it| it.is_load() && it.is_walked() && it.terms.iter().any(is_start), Cause::PointerChase),
    (|it| it.iterates_rows(), Cause::RowPerThread),
    (|it| is_sampled(it.access, &it.terms), Cause::SampledCoordinates),
    (|it| it.is_indirect && !it.is_load() && !is_system(&it.access.kernel.file), Cause::IndexedScatter),
    (|it| it.is_indirect, Cause::IndexedGather),
    (|it| has_own_region(it.access), Cause::PrivateRegion),
];

fn classify(scattered: &Scattered<'_, '_>) -> Cause {
    if let Some((_, cause)) = ORDER.iter().find(|(applies, _)| applies(scattered)) {
        return cause.clone();
    }
    if let Some((value, line)) = index::unknown_part(scattered.access) {
        let line = (line != 0).then(|| Shown(line.to_string()));
        return Cause::ValueDependentIndex { value: Shown(value.to_owned()), line };
    }
    if index::is_split(scattered.access) { Cause::SplitIndex } else { Cause::UnknownIndex }
}

impl Cause {
    fn remedy(&self) -> Remedy {
        match self {
            Cause::SmallTable => Remedy::CopyTable,
            Cause::ScatteredTexels => Remedy::StageTexels,
            Cause::AtomicSlot => Remedy::ReserveTogether,
            Cause::SearchedSlot => Remedy::SortBySlot,
            Cause::PrivateRegion => Remedy::InterleaveRegions,
            Cause::PointerChase => Remedy::StageWalk,
            Cause::RowPerThread => Remedy::ShareRow,
            Cause::SampledCoordinates => Remedy::SampleTexture,
            Cause::IndexedScatter => Remedy::SortInBlock,
            Cause::IndexedGather => Remedy::SortIndices,
            Cause::ValueDependentIndex { .. } => Remedy::GroupByValue,
            Cause::SplitIndex => Remedy::FastestIndex,
            Cause::LibraryAlgorithm | Cause::UnknownIndex => Remedy::InspectIndex,
        }
    }

    /// What findings of several arrays have in common that one change fixes.
    fn shared_by(&self, access: &Access<'_>, terms: &[Term]) -> Option<String> {
        match self {
            Cause::SmallTable => Some("small tables".to_owned()),
            Cause::RowPerThread => line_of_indices(terms).map(|line| format!("rows of {line} on {}", access.line)),
            Cause::IndexedGather => line_of_indices(terms).map(|line| format!("indices of {line}")),
            _ => None,
        }
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let scattered = |access: &&Access<'_>| coalescing(facts, access) == Some(Coalescing::Scattered);
    facts.accesses.iter().filter(scattered).filter_map(|access| draft(facts, access)).collect()
}

fn draft(facts: &Facts<'_>, access: &Access<'_>) -> Option<Draft> {
    let is_indirect = access.operand.is_some_and(|operand| operand.loaded_index);
    let library = library_call(access.kernel).filter(|_| is_system(access.file) && index::is_walked(access));
    let scattered = Scattered { facts, access, terms: terms_of(access), is_indirect, library };
    let cause = classify(&scattered);
    let mut diagnosis = Diagnosis::new(&cause, &cause.remedy());
    let span = access.pattern.span_bytes.unwrap_or(0.0);
    diagnosis.figures.set("span", Bytes(span as u64));
    let saved = Saved {
        saving: Saving::of_coalescing(&[access], facts),
        otherwise: excess_of_kernel(facts, access),
        ..Saved::default()
    };
    let sums = &access.sums;
    let draft = Draft::of_access(facts, diagnosis, access)
        .evidence("requests", sums.requests as f64)
        .evidence("sectors", sums.sectors as f64)
        .evidence("ideal_sectors", sums.ideal_sectors as f64)
        .evidence("span_bytes", span)
        .one_cause(cause.shared_by(access, &scattered.terms))
        .saves(facts, saved);
    let draft = match &scattered.library {
        Some(call) => draft.with_remedy(&library::Remedy::ChangeCall { function: Name(call.function.clone()) }),
        None => draft,
    };
    // Where no remedy is known and little is lost, a finding is of no use.
    let is_vague = matches!(cause, Cause::ValueDependentIndex { .. } | Cause::UnknownIndex);
    if is_vague && draft.score < WORTH_A_CHANGE {
        return None;
    }
    let is_note = matches!(cause, Cause::LibraryAlgorithm | Cause::UnknownIndex);
    let draft = if is_note { draft.severity(Severity::Note) } else { draft };
    Some(if is_indirect || is_note { draft } else { index::with_its_line(draft, facts, access) })
}
