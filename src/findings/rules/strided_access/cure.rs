//! What to do where neighbouring threads lie apart: by what the code says of the index, and by what else goes through the data.

use super::super::super::access::Access;
use super::super::super::context::{Context, block_of, lane_axis, thread_index, warps};
use super::super::super::index;
use super::super::super::terms::terms_of;
use super::super::super::texture;
use super::super::super::words;
use super::{exchange, layout, library};
use crate::profile::is_system;
use crate::profile::model::ThreadStep;

/// Elements that a thread's part of a tile is wide, at most.
const MOST_OF_TILE: u64 = 4;
/// Different distances between neighbouring threads in the steps of a loop, at least, where it is the steps that set them apart.
const MANY_STRIDES: usize = 3;
/// Elements of a structure, at most; more are a row of a matrix.
const MOST_FIELDS: u64 = 64;

/// What to do where the source has tiles and no threads.
fn in_triton(access: &Access<'_>, target: &str, verb: &str, elements: u64) -> String {
    // The name without the size.
    let name = target.split(" (").next().unwrap_or(target);
    match elements {
        2 | 4 | 8 if elements * u64::from(access.bytes) <= 16 => format!(
            "Triton makes a request for each of the {elements} elements that a thread has, as it cannot know that they lie side by side in \
             {name} and that the mask has them all or none: pass sizes and strides that are multiples of 16 (pad the tensor), or say so \
             with tl.multiple_of and tl.max_contiguous"
        ),
        _ => format!(
            "let the last axis of the tile run along the elements that lie side by side in {name}: exchange the strides and {verb} the \
             transposed tile (tl.trans), or hand over a tensor that is contiguous along that axis"
        ),
    }
}

/// Whether the call moves whole elements of this distance, rather than reading a member: it stores them, or its accesses take all of them.
fn moves_whole_elements(context: &Context<'_>, access: &Access<'_>) -> bool {
    let is_stored = |one: &Access<'_>| {
        one.op == "store" && one.bytes == access.bytes && one.pattern.stride_bytes == access.pattern.stride_bytes
    };
    context.accesses_of(access.kernel.id, "global").any(is_stored)
        || layout::takes_whole_records(context, access)
        || layout::goes_through_its_part(access)
}

/// The cure where blocks lie across what lies side by side.
fn of_blocks_shape(index: &str, other: usize, by: &str, verb: &str) -> String {
    format!(
        "let {index} take the place of {}, which moves the address by {by}, and shape block and grid to match: neighbouring threads would {verb} neighbouring elements",
        thread_index(other),
    )
}

/// The dimension that would have to be the threads' by that cure, where it is an access's.
pub(super) fn blocks_lie_across(context: &Context<'_>, access: &Access<'_>) -> Option<usize> {
    let axis = lane_axis(access.kernel);
    let (steps, block) = (&access.operand?.thread_steps, block_of(access.kernel)?);
    let by_one = |other: usize| matches!(steps[other], ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(access.bytes));
    let other = (0..3).find(|&other| other != axis && by_one(other) && block[other] == 1)?;
    (!access.kernel.is_triton() && !exchange::harmed_by_exchange(context, access, axis, other)).then_some(other)
}

/// That cure of all of a kernel's accesses.
pub(super) fn of_all_across(axis: usize, other: usize) -> String {
    of_blocks_shape(thread_index(axis), other, "one element", "take")
}

/// Another index that moves the address by one element, and could take the place of the lanes' one.
fn neighbour(access: &Access<'_>, stride: Option<i64>, axis: usize) -> Option<usize> {
    let steps = access.operand.map(|operand| &operand.thread_steps)?;
    let moves = |step: &ThreadStep, most: u64| matches!(step, ThreadStep::Bytes(bytes) if (1..=most).contains(&bytes.unsigned_abs()));
    // Tiles of a few elements lie side by side as well, where what is neighbouring now is far apart.
    let few = MOST_OF_TILE * u64::from(access.bytes);
    let far = stride.is_some_and(|stride| stride.unsigned_abs() >= 8 * few);
    let block = block_of(access.kernel);
    let of_tile = |other: usize| far && block.is_some_and(|block| block[other] > 1) && moves(&steps[other], few);
    let by_one = |other: usize| matches!(steps[other], ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(access.bytes));
    (0..3)
        .find(|&other| other != axis && by_one(other))
        .or_else(|| (0..3).find(|&other| other != axis && of_tile(other)))
}

/// The cure of an access; `None` where there is nothing to change.
pub(super) fn of(context: &Context<'_>, access: &Access<'_>, stride: Option<i64>) -> Option<String> {
    let sums = &access.sums;
    let verb = if access.op == "store" { "write" } else { "read" };
    let target = context.target(access);
    let elements = stride.map_or(0, i64::unsigned_abs) / u64::from(access.bytes.max(1));
    let axis = lane_axis(access.kernel);
    let steps = access.operand.map(|operand| &operand.thread_steps);
    let index = thread_index(axis);
    let neighbour = neighbour(access, stride, axis);
    let by = |other: usize| match steps.map(|steps| &steps[other]) {
        Some(ThreadStep::Bytes(bytes)) if bytes.unsigned_abs() > access.bytes.into() => {
            words::several(bytes.unsigned_abs() / u64::from(access.bytes.max(1)), "element", "elements")
        }
        _ => "one element".to_owned(),
    };
    // A transposition: whichever index is neighbouring here is not in the access that is well coalesced now.
    let exchanged_would_harm =
        neighbour.is_some_and(|other| exchange::harmed_by_exchange(context, access, axis, other));
    // A column or a border of what others go through row by row.
    let crosses_rows = sums.requests <= warps(access.kernel)
        && layout::others_go_along(context, access)
        && !layout::goes_on_apart(context, access);
    let is_loaded = index::step_is_loaded(access) && !super::super::random_gather::goes_over_neighbours(access);
    Some(match neighbour {
        // There are no threads in the source.
        _ if access.kernel.is_triton() => in_triton(access, &target, verb, elements),
        _ if access.by_texture => texture::cure_of_stride(target.split(" (").next().unwrap_or(&target)),
        None if let Some(algorithm) = library::of_block_wide(access) => format!(
            "each thread takes {elements} neighbouring items here: let CUB exchange them through shared memory, by {algorithm} instead of the direct \
             algorithm, or take them striped where their order does not matter"
        ),
        None if is_loaded
            || !matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
                && (access.strides >= MANY_STRIDES || index::step_grows(access)) =>
        {
            let (how, of_each) = if is_loaded {
                ("is loaded", "each such distance")
            } else {
                ("changes from step to step", "each step")
            };
            format!(
                "the distance between neighbouring threads in {} {how}: look at whether what {of_each} takes can be stored side by side (as a table of each stage's own factors, one stage after \
                 the other), or whether the threads that work can be neighbours in all steps; else bring what a block needs of it into shared memory once",
                access.variable().map_or_else(|| "memory".to_owned(), |name| format!("`{name}`")),
            )
        }
        Some(_) if exchanged_would_harm => format!(
            "the kernel's other access is coalesced with {index}, so this is a transposition: read a tile into shared memory, \
             __syncthreads(), and {verb} it from there with the indices exchanged (rows of the tile padded by one element)"
        ),
        Some(other) if block_of(access.kernel).is_some_and(|block| block[other] == 1) => {
            of_blocks_shape(index, other, &by(other), verb)
        }
        Some(other) => format!(
            "exchange {index} and {}: {} moves the address by {}, so that neighbouring threads would {verb} neighbouring elements",
            thread_index(other),
            thread_index(other),
            by(other),
        ),
        // The library copies an element of the user's type, as far as the type's alignment lets it.
        None if matches!(elements, 2 | 4) && library::is_copied(access) && !moves_whole_elements(context, access) => {
            format!(
                "the call takes {} of every {} bytes here, as a member of a structure: keep what it takes in an array of its own (an array for each member, as for zip_iterator)",
                access.bytes,
                stride.map_or(0, i64::unsigned_abs),
            )
        }
        None if matches!(elements, 2 | 4) && library::is_copied(access) => {
            library::aligned(stride.map_or(0, i64::unsigned_abs), access.bytes)
        }
        None if matches!(elements, 2 | 4 | 8 | 16)
            && elements * u64::from(access.bytes) <= 16
            && layout::begins_anywhere(access, elements * u64::from(access.bytes)) =>
        {
            format!(
                "each thread has {elements} neighbouring elements of a part that begins where data says, so that no wide access to them is aligned: let the block move its part through shared memory, \
                 neighbouring threads at neighbouring words, or let neighbouring threads have neighbouring elements"
            )
        }
        None if matches!(elements, 2 | 4 | 8 | 16)
            && elements * u64::from(access.bytes) <= 16
            && !(layout::takes_whole_records(context, access) || layout::goes_through_its_part(access)) =>
        {
            format!(
                "each thread takes one of every {elements} elements here: keep what is used in an array without gaps, or, where others use what lies between, let a block bring its part through shared \
                 memory, neighbouring threads at neighbouring words"
            )
        }
        None if matches!(elements, 2 | 4 | 8 | 16) && elements * u64::from(access.bytes) <= 16 => format!(
            "let a thread {verb} its {elements} neighbouring elements with one wide access, or keep what is used in an array without \
             gaps"
        ),
        None if (3..=8).contains(&elements)
            && matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
            && !(elements.is_power_of_two()
                && (layout::goes_through_its_part(access) || layout::takes_whole_records(context, access))) =>
        {
            format!(
                "{elements} elements lie side by side for each thread: let a block move its part through shared memory, neighbouring threads at neighbouring words; where \
                 they are the members of a structure or the channels of a pixel, and their order is free, keep an array (a plane) for each of them"
            )
        }
        None if let Some(other) = exchange::still(access, context, axis).filter(|&other| {
            !exchange::harmed_by_exchange(context, access, axis, other)
                && !exchange::brought_apart(context, access, axis, other)
        }) =>
        {
            format!(
                "exchange {index} and {}, which does not move the address: the lanes of a warp would {verb} the same element, and those of other \
             accesses that {} moves by one element would be neighbours",
                thread_index(other),
                thread_index(other),
            )
        }
        // Other lines take the rest of the record.
        None if sums.requests <= warps(access.kernel)
            && elements <= MOST_FIELDS
            && layout::takes_whole_records(context, access) =>
        {
            format!(
                "each thread takes all of a record of {} here, an element at a time: store the records transposed (the first element of all, then the second \
                 one, …), let a block move its records through shared memory, neighbouring threads at neighbouring words, or {verb} them with wide accesses, for \
                 which their size and their begin are multiples of 4, 8 or 16 bytes",
                words::bytes(stride.map_or(0, i64::unsigned_abs)),
            )
        }
        // Records of a fixed size, and no loop goes along them.
        None if matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_)))
            && sums.requests <= warps(access.kernel)
            && !(elements > MOST_FIELDS && crosses_rows) =>
        {
            format!(
                "each thread takes one of every {elements} elements here, as a field of a record of {}{}: keep what this kernel takes in an array \
                 of its own (an array per field), where neighbouring threads have neighbouring elements",
                words::bytes(stride.map_or(0, i64::unsigned_abs)),
                if elements > MOST_FIELDS { ", or a column or diagonal of a matrix with such rows" } else { "" },
            )
        }
        // The thread's number gives the part, loaded data the place in it.
        None if super::super::random_gather::has_own_rows(&terms_of(access)) => {
            let name = access.variable().map_or_else(|| "the data".to_owned(), |name| format!("`{name}`"));
            format!(
                "each thread has a part of {name} of its own here{}, and loaded data chooses the element: store {name} transposed (`[element][thread]`), so that threads at the same element meet \
                 neighbouring ones, or keep the parts in shared memory where they fit",
                stride.map_or_else(String::new, |stride| format!(" ({})", words::bytes(stride.unsigned_abs()))),
            )
        }
        // Whether memory holds the begin of a thread's part or each element's place, the code does not say.
        None if access.operand.is_some_and(|operand| operand.loaded_index)
            && matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Other)) =>
        {
            format!(
                "the index comes out of memory: where it is the begin of a part that each thread goes along, as of a row in a sparse matrix, let the \
                 lanes of a warp go along it together; where each index chooses an element, order the elements so that neighbouring threads {verb} \
                 neighbouring ones"
            )
        }
        // The order is the user's iterator's, the threads are the library's.
        None if is_system(&access.kernel.file) => format!(
            "the iterator or function that the call was given goes through {} so that neighbouring items lie far apart: store the data transposed, or let \
             the items follow each other as they lie in memory",
            target.split(" (").next().unwrap_or(&target),
        ),
        // Once for each thread, in no loop: nothing is a thread's own part.
        None if !matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
            && sums.requests <= warps(access.kernel)
            && !layout::goes_on_apart(context, access)
            && !layout::goes_through_its_part(access)
            && !exchange::is_transposition(context, access) =>
        {
            let name = access.variable().map_or_else(|| "the data".to_owned(), |name| format!("`{name}`"));
            format!(
                "each thread takes one element of {name} here, and its neighbour's lies in another row: let the index that moves along a row of {name} be the one in which neighbouring \
                 threads differ, store {name} transposed, or move a tile of it through shared memory"
            )
        }
        // The code does not say how the address changes: a thread has a part of its own.
        None if !matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
            && !exchange::is_transposition(context, access) =>
        {
            let own = if layout::goes_through_its_part(access) {
                let part = stride.map_or_else(|| "a part".to_owned(), |stride| words::bytes(stride.unsigned_abs()));
                format!("a thread has {part} of its own here: ")
            } else {
                String::new()
            };
            format!(
                "{own}let neighbouring threads {verb} neighbouring elements in each iteration, or move what the threads of a block need through shared memory, neighbouring threads at \
                 neighbouring words"
            )
        }
        // Others take what lies between: an index of the grid runs along it.
        None if sums.requests <= warps(access.kernel) && layout::is_dense(context, access) => {
            let (counts, with) = match layout::index_of_grid(access) {
                Some(other) => (other.to_owned(), format!("{index} and {other}")),
                None => ("another index of the block or the grid".to_owned(), format!("{index} and that one")),
            };
            format!(
                "{counts} counts the elements that lie side by side in {} here, while {index} counts what lies apart: exchange {with}, with the \
                 shapes of block and grid to match, so that neighbouring threads {verb} neighbouring elements",
                access.variable().map_or_else(|| "memory".to_owned(), |name| format!("`{name}`")),
            )
        }
        // All of what others go through row by row, a column for each block: somebody has to go across.
        None if access.op == "store"
            && sums.requests <= warps(access.kernel)
            && layout::others_go_along(context, access)
            && layout::takes_all(context, access) =>
        {
            return None;
        }
        None if crosses_rows => {
            format!(
                "other kernels go through {} along its rows, so that a layout for this one would cost them: let a kernel that has these elements at hand \
             do this, too, or keep the elements that lie apart, as a border or a column, in an array of their own",
                access.variable().map_or_else(|| "the data".to_owned(), |name| format!("`{name}`")),
            )
        }
        None if index::is_appended(access) => format!(
            "each thread appends to a part of {} of its own, as many elements as the data says: where the layout is free, interleave the parts \
             (`[element][thread]`), so that threads at the same element meet neighbouring ones; else let the lanes of a warp fill one part together",
            access.variable().map_or_else(|| "memory".to_owned(), |name| format!("`{name}`")),
        ),
        None if exchange::is_transposition(context, access)
            && (sums.requests > warps(access.kernel)
                || layout::goes_on_apart(context, access)
                || layout::covers(context, access)) =>
        {
            format!(
                "the same statement is coalesced at its other end, so this is a transposition: read a tile into shared memory, __syncthreads(), and \
             {verb} it from there with the indices exchanged (rows of the tile padded by one element)"
            )
        }
        // No loop goes along the row, here nor on another line.
        None if sums.requests <= warps(access.kernel) && !layout::goes_on_apart(context, access) => format!(
            "each thread takes one element here, so that no other index could take the place of {index}: store {} transposed, or keep the \
             elements that this kernel takes in an array of their own",
            access.variable().map_or_else(|| "the data".to_owned(), |name| format!("`{name}`")),
        ),
        // A few elements of a fixed number, one after the other: the code multiplies the thread's number by a constant.
        None if matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_)))
            && layout::has_few_items(access) =>
        {
            format!(
                "each thread goes through {} of its own: where it does not matter which thread takes which element, let neighbouring threads take neighbouring ones \
             in each iteration (i * blockDim.x + threadIdx.x instead of threadIdx.x * n + i); else let the block move its part through shared memory, \
             neighbouring threads at neighbouring words, take several elements at once with wide accesses, or store the data transposed",
                stride.map_or_else(|| "a part".to_owned(), |stride| words::bytes(stride.unsigned_abs())),
            )
        }
        None => format!(
            "let {index} count the elements that lie side by side in {}: where a row's elements are added up or the like, a warp per row, whose \
             lanes combine what they have with shuffles, or a thread per column where columns are what is computed; else store the data \
             transposed, or move tiles of it through shared memory",
            access.variable().map_or_else(|| "memory".to_owned(), |name| format!("`{name}`")),
        ),
    })
}
