//! Irregular accesses: lane addresses form no recognised pattern, so each lane may touch a different sector.

use super::super::facts::address::{Term, terms_of};
use super::super::facts::gather::*;
use super::super::facts::index;
use super::super::library;
use super::super::prelude::*;
use super::super::subjects::{Coalescing, coalescing};
use super::super::thresholds::coalescing::*;
use warpline_profile::LibraryCall;

described! {
    enum Cause {
        LibraryAlgorithm => "library-algorithm",
        SmallTable => "small-table",
        ScatteredTexels => "scattered-texels",
        AtomicSlot => "atomic-slot",
        SearchedSlot => "searched-slot",
        PrivateRegion => "private-region",
        PointerChase => "data-dependent-walk",
        RowPerThread => "row-per-thread",
        SampledCoordinates => "sampled-coordinates",
        IndexedScatter => "indexed-scatter",
        IndexedGather => "indexed-gather",
        UnknownIndex => "unknown-index",
    }
    enum Remedy {
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
        InspectIndex => "inspect-index",
    }
}

/// A scattered access with the properties that determine its cause.
struct Scattered<'f, 'a> {
    facts: &'f Facts<'a>,
    access: &'f Access<'a>,
    terms: Vec<Term>,
    library: Option<LibraryCall<'a>>,
}

impl Scattered<'_, '_> {
    fn is_walked(&self) -> bool {
        index::is_walked(self.access)
    }

    /// Returns whether shared memory could contain the table in addition to other data, and no kernel writes the table.
    fn is_small_table(&self) -> bool {
        let is_written = |other: &Access<'_>| !other.is_load() && other.allocation == self.access.allocation;
        self.access.is_load()
            && self.facts.memory(self.access).is_some_and(|memory| memory.bytes <= SMALL_TABLE_BYTES)
            && !self.facts.accesses.iter().any(is_written)
            && (self.is_walked() || !iterates_loaded_rows(self.access, &self.terms))
    }

    /// Returns whether each thread has a separate region, which it fills, reads independently of other threads, or
    /// indexes with loaded data.
    fn is_private_region(&self) -> bool {
        let is_read_there = || {
            self.access.is_load()
                && (self.is_walked() || index::is_made_of_thread(self.access))
                && is_appended_to(self.facts, self.access)
        };
        let is_indirect = self.access.has_loaded_index();
        index::is_appended(self.access) || is_indirect && (has_own_rows(&self.terms) || is_read_there())
    }

    /// Returns whether each step depends on loaded data, as in a tree or a search, and no index determines its start.
    fn is_chase(&self) -> bool {
        let from_start = !self.terms.iter().any(|term| term.loaded) || self.terms.iter().any(is_start);
        self.access.is_load() && self.is_walked() && from_start
    }

    fn iterates_rows(&self) -> bool {
        iterates_loaded_rows(self.access, &self.terms) || iterates_lists(self.facts, self.access, &self.terms)
    }

    /// Returns the common property of findings about several arrays that one change fixes.
    fn shared_by(&self, cause: &Cause) -> Option<String> {
        match cause {
            Cause::SmallTable => Some("small tables".to_owned()),
            Cause::RowPerThread => {
                line_of_indices(&self.terms).map(|line| format!("rows of {line} on {}", self.access.line))
            }
            Cause::IndexedGather => line_of_indices(&self.terms).map(|line| format!("indices of {line}")),
            _ => None,
        }
    }
}

type Condition = fn(&Scattered<'_, '_>) -> bool;

/// Conditions, causes and remedies; the first condition that is true determines the cause.
const ORDER: &[(Condition, Cause, Remedy)] = &[
    (|it| it.library.is_some(), Cause::LibraryAlgorithm, Remedy::InspectIndex),
    (|it| it.is_small_table(), Cause::SmallTable, Remedy::CopyTable),
    (|it| it.access.by_texture, Cause::ScatteredTexels, Remedy::StageTexels),
    (|it| !it.access.is_load() && index::is_given_by_atomics(it.access), Cause::AtomicSlot, Remedy::ReserveTogether),
    (|it| index::is_appended(it.access) && !stores_several(it.access), Cause::SearchedSlot, Remedy::SortBySlot),
    (|it| it.is_private_region(), Cause::PrivateRegion, Remedy::InterleaveRegions),
    (|it| it.is_chase(), Cause::PointerChase, Remedy::StageWalk),
    (|it| it.iterates_rows(), Cause::RowPerThread, Remedy::ShareRow),
    (|it| is_sampled(it.access, &it.terms), Cause::SampledCoordinates, Remedy::SampleTexture),
    (
        |it| it.access.has_loaded_index() && !it.access.is_load() && !is_system(&it.access.kernel.file),
        Cause::IndexedScatter,
        Remedy::SortInBlock,
    ),
    (|it| it.access.has_loaded_index(), Cause::IndexedGather, Remedy::SortIndices),
    (|it| has_own_region(it.access), Cause::PrivateRegion, Remedy::InterleaveRegions),
    (|_| true, Cause::UnknownIndex, Remedy::InspectIndex),
];

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let scattered = |access: &&Access<'_>| coalescing(facts, access) == Some(Coalescing::Scattered);
    facts.accesses.iter().filter(scattered).filter_map(|access| draft(facts, access)).collect()
}

fn draft(facts: &Facts<'_>, access: &Access<'_>) -> Option<Draft> {
    let library = library_call(access.kernel).filter(|_| is_system(access.file) && index::is_walked(access));
    let scattered = Scattered { facts, access, terms: terms_of(access), library };
    let (_, cause, remedy) = ORDER.iter().find(|(applies, ..)| applies(&scattered))?;
    let mut diagnosis = Diagnosis::new(cause, remedy);
    let span = access.pattern.span_bytes.unwrap_or(0.0);
    diagnosis.figures.set("span", Bytes(span as u64));
    let draft = Draft::for_access(facts, diagnosis, access)
        .sectors(&access.sums)
        .evidence("span_bytes", span)
        .one_cause(scattered.shared_by(cause))
        .saves(facts, Saved::new(Saving::by_coalescing(&[access], facts), excess_of_kernel(facts, access)));
    let draft = match &scattered.library {
        Some(call) => draft.with_remedy(&library::other_code(&call.function)),
        None => draft,
    };
    // If no remedy is known and little time is lost, a finding has no benefit.
    if *cause == Cause::UnknownIndex && draft.score < WORTH_A_CHANGE {
        return None;
    }
    let is_note = matches!(cause, Cause::LibraryAlgorithm | Cause::UnknownIndex);
    let draft = draft.note_if(is_note);
    Some(if access.has_loaded_index() || is_note { draft } else { index::with_its_line(draft, facts, access) })
}
