//! What to do where neighbouring threads lie apart: by what the code says of the index, and by what else goes through the data.

use super::super::super::facts::access::Access;
use super::super::super::facts::index;
use super::super::super::facts::terms::terms_of;
use super::super::super::facts::{Facts, block_of, lane_axis, warps};
use super::{exchange, layout, library};
use crate::profile::is_system;
use crate::profile::model::ThreadStep;

/// Elements that a thread's part of a tile is wide, at most.
const MOST_OF_TILE: u64 = 4;
/// Different distances between neighbouring threads in the steps of a loop, at least, where it is the steps that set them apart.
const MANY_STRIDES: usize = 3;
/// Bytes of the widest access of a thread.
pub(super) const WIDEST: u64 = 16;
/// Elements of a structure, at most; more are a row of a matrix.
pub(super) const MOST_FIELDS: u64 = 64;

/// What to do, and the figures that go into its words. Equal where one change cures several accesses, whatever their arrays are called.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cure {
    /// The source has tiles and no threads.
    InTriton { elements: u64, bytes: u32 },
    /// A texture is fetched.
    Texture,
    /// CUB loads or stores a blocked arrangement directly.
    BlockWide { elements: u64, algorithm: &'static str },
    /// Memory holds the distance between neighbours.
    LoadedDistance,
    /// The distance between neighbours is another one in each step of a loop.
    GrowingDistance,
    /// The kernel's other accesses are coalesced with the index that sets this one's neighbours apart.
    TransposedKernel { axis: usize },
    /// Blocks have one thread along the index that moves by little.
    BlocksAcross { axis: usize, other: usize, by: u64 },
    /// Two indices of threads to be exchanged.
    Exchange { axis: usize, other: usize, by: u64 },
    /// A library takes a member of a structure.
    MemberForLibrary { bytes: u32, stride: u64 },
    /// A library moves elements piece by piece, for want of alignment.
    Alignment { bytes: u64, at_a_time: u32 },
    /// A thread's elements begin where data says.
    BeginsAnywhere { elements: u64 },
    /// A thread takes one of a few elements.
    OneOfFew { elements: u64 },
    /// A thread takes a few elements, one by one.
    WideAccess { elements: u64 },
    /// A thread has a few elements of a number that no wide access has.
    FewSideBySide { elements: u64 },
    /// An index that does not move the address at all could take the place of the lanes'.
    ExchangeWithStill { axis: usize, other: usize },
    /// A thread takes all of a record, element by element.
    WholeRecord { stride: u64 },
    /// A thread takes halves of a type that is wider than any access.
    Halves,
    /// A field of a record, or of rows as long.
    Field { elements: u64, stride: u64 },
    /// A thread has a part of its own, in which loaded data chooses.
    ChosenInOwnPart { stride: Option<u64> },
    /// The index comes out of memory.
    LoadedIndex,
    /// An iterator or a function of the user's sets a library's items apart.
    OfIterator,
    /// A thread takes one element, its neighbour's lies in another row.
    OneOfRow,
    /// Neighbours lie apart in a way that the code does not say, as where a thread goes through a part of its own.
    OwnPart { goes_through: bool, stride: Option<u64> },
    /// An index of the grid counts what lies side by side.
    IndexOfGrid { axis: usize, other: Option<&'static str> },
    /// Others go along the rows that this access crosses.
    AcrossOthersRows,
    /// A thread appends to a part of its own.
    Appended,
    /// A thread appends to a part of its own, whose order is a result.
    AppendedInOrder,
    /// The statement is coalesced at its other end.
    TransposedStatement,
    /// A thread takes one element, and no other index could take the place of its number.
    OneElement { axis: usize },
    /// A thread goes through a few elements of its own, of a fixed number.
    FewItems { stride: Option<u64> },
    /// A thread makes a row of a row.
    RowsOfRows { axis: usize },
    /// The lanes' index counts rows.
    CountsRows { axis: usize },
}

/// Whether the call moves whole elements of this distance, rather than reading a member: it stores them, or its accesses take all of them.
fn moves_whole_elements(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let is_stored = |one: &Access<'_>| {
        one.op == "store" && one.bytes == access.bytes && one.pattern.stride_bytes == access.pattern.stride_bytes
    };
    facts.accesses_of(access.kernel.id, "global").any(is_stored)
        || layout::takes_whole_records(facts, access)
        || layout::goes_through_its_part(access)
}

/// The dimension that would have to be the threads' where blocks lie across what lies side by side.
pub(super) fn blocks_lie_across(facts: &Facts<'_>, access: &Access<'_>) -> Option<usize> {
    let axis = lane_axis(access.kernel);
    let (steps, block) = (&access.operand?.thread_steps, block_of(access.kernel)?);
    let by_one = |other: usize| matches!(steps[other], ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(access.bytes));
    let other = (0..3).find(|&other| other != axis && by_one(other) && block[other] == 1)?;
    (!access.kernel.is_triton() && !exchange::harmed_by_exchange(facts, access, axis, other)).then_some(other)
}

/// Another index that moves the address by one element, and could take the place of the lanes' one.
fn neighbour(access: &Access<'_>, stride: Option<u64>, axis: usize) -> Option<usize> {
    let steps = access.operand.map(|operand| &operand.thread_steps)?;
    let moves = |step: &ThreadStep, most: u64| matches!(step, ThreadStep::Bytes(bytes) if (1..=most).contains(&bytes.unsigned_abs()));
    // Tiles of a few elements lie side by side as well, where what is neighbouring now is far apart.
    let few = MOST_OF_TILE * u64::from(access.bytes);
    let far = stride.is_some_and(|stride| stride >= 8 * few);
    let block = block_of(access.kernel);
    let of_tile = |other: usize| far && block.is_some_and(|block| block[other] > 1) && moves(&steps[other], few);
    let by_one = |other: usize| matches!(steps[other], ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(access.bytes));
    (0..3)
        .find(|&other| other != axis && by_one(other))
        .or_else(|| (0..3).find(|&other| other != axis && of_tile(other)))
}

/// The cure of an access; `None` where there is nothing to change.
pub(super) fn of(facts: &Facts<'_>, access: &Access<'_>, stride: Option<i64>) -> Option<Cure> {
    let sums = &access.sums;
    let stride = stride.map(i64::unsigned_abs);
    let elements = stride.unwrap_or(0) / u64::from(access.bytes.max(1));
    let is_wide = elements * u64::from(access.bytes) <= WIDEST;
    let axis = lane_axis(access.kernel);
    let steps = access.operand.map(|operand| &operand.thread_steps);
    let step = steps.map(|steps| &steps[axis]);
    let is_told = matches!(step, Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)));
    let neighbour = neighbour(access, stride, axis);
    let by = |other: usize| match steps.map(|steps| &steps[other]) {
        Some(ThreadStep::Bytes(bytes)) => (bytes.unsigned_abs() / u64::from(access.bytes.max(1))).max(1),
        _ => 1,
    };
    // A transposition: whichever index is neighbouring here is not in the access that is well coalesced now.
    let exchanged_would_harm = neighbour.is_some_and(|other| exchange::harmed_by_exchange(facts, access, axis, other));
    let is_once = sums.requests <= warps(access.kernel);
    // A column or a border of what others go through row by row.
    let crosses_rows = is_once && layout::others_go_along(facts, access) && !layout::goes_on_apart(facts, access);
    let is_loaded = index::step_is_loaded(access) && !super::super::random_gather::goes_over_neighbours(access);
    let goes_through = || layout::goes_through_its_part(access);
    let takes_records = || layout::takes_whole_records(facts, access);
    Some(match neighbour {
        _ if access.kernel.is_triton() => Cure::InTriton { elements, bytes: access.bytes },
        _ if access.by_texture => Cure::Texture,
        None if let Some(algorithm) = library::of_block_wide(access) => Cure::BlockWide { elements, algorithm },
        None if is_loaded => Cure::LoadedDistance,
        None if !is_told && (access.strides >= MANY_STRIDES || index::step_grows(access)) => Cure::GrowingDistance,
        Some(_) if exchanged_would_harm => Cure::TransposedKernel { axis },
        Some(other) if block_of(access.kernel).is_some_and(|block| block[other] == 1) => {
            Cure::BlocksAcross { axis, other, by: by(other) }
        }
        Some(other) => Cure::Exchange { axis, other, by: by(other) },
        // The library copies an element of the user's type, as far as the type's alignment lets it.
        None if matches!(elements, 2 | 4) && library::is_copied(access) => {
            let stride = stride.unwrap_or(0);
            match moves_whole_elements(facts, access) {
                true => Cure::Alignment { bytes: stride, at_a_time: access.bytes },
                false => Cure::MemberForLibrary { bytes: access.bytes, stride },
            }
        }
        None if matches!(elements, 2 | 4 | 8 | 16) && is_wide => {
            if layout::begins_anywhere(access, elements * u64::from(access.bytes)) {
                Cure::BeginsAnywhere { elements }
            } else if !(takes_records() || goes_through()) {
                Cure::OneOfFew { elements }
            } else {
                Cure::WideAccess { elements }
            }
        }
        None if elements > MOST_FIELDS
            && let Some(elements) = layout::side_by_side(facts, access) =>
        {
            Cure::WideAccess { elements }
        }
        None if (3..=8).contains(&elements)
            && is_told
            && !(elements.is_power_of_two() && (goes_through() || takes_records())) =>
        {
            Cure::FewSideBySide { elements }
        }
        None if let Some(other) = exchange::still(access, facts, axis).filter(|&other| {
            !exchange::harmed_by_exchange(facts, access, axis, other)
                && !exchange::brought_apart(facts, access, axis, other)
        }) =>
        {
            Cure::ExchangeWithStill { axis, other }
        }
        // Other lines take the rest of the record.
        None if is_once && elements <= MOST_FIELDS && takes_records() => {
            Cure::WholeRecord { stride: stride.unwrap_or(0) }
        }
        // Records of a fixed size, and no loop goes along them.
        None if matches!(step, Some(ThreadStep::Bytes(_))) && is_once && !(elements > MOST_FIELDS && crosses_rows) => {
            Cure::Field { elements, stride: stride.unwrap_or(0) }
        }
        // A type that is wider than any access, as `ulong4`, is taken in halves.
        None if elements == 2 && u64::from(access.bytes) == WIDEST && takes_records() => Cure::Halves,
        // What a thread writes there one after the other may be the result, as of a merge: its order is not free.
        None if index::is_appended(access) && super::super::random_gather::has_own_rows(&terms_of(access)) => {
            Cure::AppendedInOrder
        }
        // The thread's number gives the part, loaded data the place in it.
        None if super::super::random_gather::has_own_rows(&terms_of(access)) => Cure::ChosenInOwnPart { stride },
        // Whether memory holds the begin of a thread's part or each element's place, the code does not say.
        None if access.operand.is_some_and(|operand| operand.loaded_index)
            && matches!(step, Some(ThreadStep::Other)) =>
        {
            Cure::LoadedIndex
        }
        // The order is the user's iterator's, the threads are the library's.
        None if is_system(&access.kernel.file) => Cure::OfIterator,
        // Once for each thread, in no loop: nothing is a thread's own part.
        None if !is_told
            && is_once
            && !layout::goes_on_apart(facts, access)
            && !goes_through()
            && !exchange::is_transposition(facts, access) =>
        {
            Cure::OneOfRow
        }
        // The code does not say how the address changes: a thread has a part of its own.
        None if !is_told && !exchange::is_transposition(facts, access) => {
            Cure::OwnPart { goes_through: goes_through(), stride }
        }
        // Others take what lies between: an index of the grid runs along it.
        None if is_once && layout::is_dense(facts, access) => {
            Cure::IndexOfGrid { axis, other: layout::index_of_grid(access) }
        }
        // All of what others go through row by row, a column for each block: somebody has to go across.
        None if access.op == "store"
            && is_once
            && layout::others_go_along(facts, access)
            && layout::takes_all(facts, access) =>
        {
            return None;
        }
        None if crosses_rows => Cure::AcrossOthersRows,
        None if index::is_appended(access) => Cure::Appended,
        None if exchange::is_transposition(facts, access)
            && (!is_once || layout::goes_on_apart(facts, access) || layout::covers(facts, access)) =>
        {
            Cure::TransposedStatement
        }
        // No loop goes along the row, here nor on another line.
        None if is_once && !layout::goes_on_apart(facts, access) => Cure::OneElement { axis },
        // A few elements of a fixed number, one after the other: the code multiplies the thread's number by a constant.
        None if matches!(step, Some(ThreadStep::Bytes(_))) && layout::has_few_items(access) => {
            Cure::FewItems { stride }
        }
        None if layout::makes_rows_of_rows(facts, access) => Cure::RowsOfRows { axis },
        None => Cure::CountsRows { axis },
    })
}
