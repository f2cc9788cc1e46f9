//! Neighbouring lanes that are a stride apart: each touches a sector of its own (CUDA C++ Best Practices Guide, "Strided
//! Accesses").

use super::super::access::{Access, share};
use super::super::context::{Context, block_of, lane_axis, thread_index, warps};
use super::super::draft::{Draft, Saved};
use super::super::gain::Saving;
use super::super::index;
use super::super::texture;
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::is_system;
use crate::profile::model::ThreadStep;

/// Least share of an access's sectors that its bytes do not need.
const LEAST_EXCESS: f64 = 0.25;
/// Least lanes of a request for neighbours to be among them: two threads that load the halo of a tile are none.
const LEAST_LANES: u64 = 4;
/// Share of the touched bytes of an allocation from which on an access takes all of it.
const MOST_OF_IT: f64 = 0.9;

/// Elements that a thread's part of a tile is wide, at most.
const MOST_OF_TILE: u64 = 4;
/// Elements of a structure, at most; more are a row of a matrix.
const MOST_FIELDS: u64 = 64;

/// Share of a record from which on a kernel takes all of it.
const MOST_OF_RECORD: f64 = 0.75;

/// Items that a library's kernel gives a thread, at most.
const MOST_ITEMS: u64 = 32;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    // Where atomic operations give the places, what lies between neighbouring threads is chance; of an index that is held within an
    // array, only what few lanes do at its border.
    let is_stride = |access: &Access<'_>| !index::is_held_within(access) && !index::is_given_by_atomics(access);
    let strided = |access: &&Access<'_>| (is_strided(access) || by_short_rows(access)) && is_stride(access);
    context.accesses.iter().filter(strided).filter_map(|access| draft(context, access)).collect()
}

/// The code moves the address by a row or so from thread to thread, and rows of the block are so short that its requests show no
/// one stride.
pub(super) fn by_short_rows(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    let Some(operand) = access.operand else { return false };
    let axis = lane_axis(access.kernel);
    let apart = match &operand.thread_steps[axis] {
        ThreadStep::Bytes(bytes) => bytes.unsigned_abs() > access.bytes.into(),
        ThreadStep::Times(_) => true,
        ThreadStep::None | ThreadStep::Other => false,
    };
    access.space == "global"
        && !access.is_opaque
        && has_neighbours(access)
        && pattern.atomics.is_none()
        && apart
        && !operand.loaded_index
        && operand.thread_steps.iter().all(|step| *step != ThreadStep::Other)
        && block_of(access.kernel).is_some_and(|block| block[axis] < 32)
        && share(pattern.irregular, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_EXCESS
}

/// Most of its requests have one stride that leaves gaps, and it costs sectors.
pub(super) fn is_strided(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    let gaps = pattern.stride_bytes.is_some_and(|stride| stride.unsigned_abs() > access.bytes.into());
    access.space == "global"
        && !access.is_opaque
        && !access.in_library
        && has_neighbours(access)
        && pattern.atomics.is_none()
        && gaps
        && share(pattern.strided, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_EXCESS
        && !has_neighbours_apart(access)
}

/// The code gives neighbouring threads neighbouring elements: what lies between those that are there is that of lanes which a branch
/// leaves out, as all but those at a border.
fn has_neighbours_apart(access: &Access<'_>) -> bool {
    let step = access.operand.map(|operand| &operand.thread_steps[lane_axis(access.kernel)]);
    matches!(step, Some(ThreadStep::Bytes(bytes)) if bytes.unsigned_abs() <= access.bytes.into())
}

fn has_neighbours(access: &Access<'_>) -> bool {
    access.sums.lanes >= LEAST_LANES * access.sums.requests
}

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

fn draft(context: &Context<'_>, access: &Access<'_>) -> Option<Draft> {
    let stride = access.pattern.stride_bytes.filter(|_| is_strided(access));
    if super::struct_fields::explains(access) || is_blocked_by_library(access) || texture::is_scaled(access) {
        return None;
    }
    let sums = &access.sums;
    let verb = if access.op == "store" { "write" } else { "read" };
    let target = context.target(access);
    let elements = stride.map_or(0, i64::unsigned_abs) / u64::from(access.bytes.max(1));
    let axis = lane_axis(access.kernel);
    let steps = access.operand.map(|operand| &operand.thread_steps);
    let index = thread_index(axis);
    let because = match steps.map(|steps| &steps[axis]) {
        Some(ThreadStep::Times(factor)) if !factor.is_empty() => {
            format!(", because {index} is multiplied by `{factor}`")
        }
        Some(ThreadStep::Times(_)) => format!(", because {index} is multiplied by a row's length"),
        Some(ThreadStep::Bytes(bytes))
            if elements > 1 && stride.map(i64::unsigned_abs) == Some(bytes.unsigned_abs()) =>
        {
            format!(", because {index} is multiplied by {elements}")
        }
        _ => String::new(),
    };
    let apart = match stride {
        Some(stride) => format!(
            "{} ({} of {}) apart",
            words::bytes(stride.unsigned_abs()),
            words::several(elements, "element", "elements"),
            words::bytes(access.bytes.into()),
        ),
        None => "far apart".to_owned(),
    };
    let reason = format!(
        "neighbouring threads {verb} {target} {apart}{because}: a request touches {} sectors of 32 bytes where {} \
         would hold its data",
        words::ratio(sums.sectors, sums.requests),
        words::ratio(sums.ideal_sectors, sums.requests),
    );
    // Another index that moves the address by one element could take this one's place.
    let neighbour = steps.and_then(|steps| {
        let moves = |step: &ThreadStep, most: u64| {
            matches!(step, ThreadStep::Bytes(bytes) if (1..=most).contains(&bytes.unsigned_abs()))
        };
        // Tiles of a few elements lie side by side as well, where what is neighbouring now is far apart.
        let few = MOST_OF_TILE * u64::from(access.bytes);
        let far = stride.is_some_and(|stride| stride.unsigned_abs() >= 8 * few);
        let block = block_of(access.kernel);
        let of_tile = |other: usize| far && block.is_some_and(|block| block[other] > 1) && moves(&steps[other], few);
        let by_one = |other: usize| {
            matches!(steps[other], ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(access.bytes))
        };
        (0..3).find(|&other| other != axis && by_one(other)).or_else(|| (0..3).find(|&other| other != axis && of_tile(other)))
    });
    let by = |other: usize| match steps.map(|steps| &steps[other]) {
        Some(ThreadStep::Bytes(bytes)) if bytes.unsigned_abs() > access.bytes.into() => {
            words::several(bytes.unsigned_abs() / u64::from(access.bytes.max(1)), "element", "elements")
        }
        _ => "one element".to_owned(),
    };
    // A transposition: whichever index is neighbouring here is not in the access that is well coalesced now.
    let exchanged_would_harm = neighbour.is_some_and(|other| harmed_by_exchange(context, access, axis, other));
    // A column or a border of what others go through row by row.
    let crosses_rows =
        sums.requests <= warps(access.kernel) && others_go_along(context, access) && !goes_on_apart(context, access);
    let cure = match neighbour {
        // There are no threads in the source.
        _ if access.kernel.is_triton() => in_triton(access, &target, verb, elements),
        _ if access.by_texture => texture::cure_of_stride(target.split(" (").next().unwrap_or(&target)),
        None if let Some(algorithm) = of_block_wide(access) => format!(
            "each thread takes {elements} neighbouring items here: let CUB exchange them through shared memory, by {algorithm} instead of the direct \
             algorithm, or take them striped where their order does not matter"
        ),
        Some(_) if exchanged_would_harm => format!(
            "the kernel's other access is coalesced with {index}, so this is a transposition: read a tile into shared memory, \
             __syncthreads(), and {verb} it from there with the indices exchanged (rows of the tile padded by one element)"
        ),
        Some(other) if block_of(access.kernel).is_some_and(|block| block[other] == 1) => format!(
            "let {index} take the place of {}, which moves the address by {}, and shape block and grid to match: neighbouring \
             threads would {verb} neighbouring elements",
            thread_index(other),
            by(other),
        ),
        Some(other) => format!(
            "exchange {index} and {}: {} moves the address by {}, so that neighbouring threads would {verb} neighbouring elements",
            thread_index(other),
            thread_index(other),
            by(other),
        ),
        None if matches!(elements, 2 | 4 | 8 | 16) && elements * u64::from(access.bytes) <= 16 => format!(
            "let a thread {verb} its {elements} neighbouring elements with one wide access, or keep what is used in an array without \
             gaps"
        ),
        None if (3..=8).contains(&elements)
            && matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_)))
            && !(elements.is_power_of_two()
                && (goes_through_its_part(access) || takes_whole_records(context, access))) =>
        {
            format!(
                "{elements} elements lie side by side for each thread: let a block move its part through shared memory, neighbouring threads at neighbouring words; where \
                 they are the members of a structure or the channels of a pixel, and their order is free, keep an array (a plane) for each of them"
            )
        }
        None if let Some(other) = still(access, context, axis).filter(|&other| {
            !harmed_by_exchange(context, access, axis, other) && !brought_apart(context, access, axis, other)
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
        None if matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_)))
            && sums.requests <= warps(access.kernel)
            && takes_whole_records(context, access) =>
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
        // The code does not say how the address changes: a thread has a part of its own.
        None if !matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_) | ThreadStep::Times(_)))
            && !is_transposition(context, access) =>
        {
            format!(
                "a thread has {} of its own here: let neighbouring threads {verb} neighbouring elements in each iteration, or move what the threads of \
                 a block need through shared memory, neighbouring threads at neighbouring words",
                stride.map_or_else(|| "a part".to_owned(), |stride| words::bytes(stride.unsigned_abs())),
            )
        }
        // Others take what lies between: an index of the grid runs along it.
        None if sums.requests <= warps(access.kernel) && is_dense(context, access) => {
            let (counts, with) = match index_of_grid(access) {
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
            && others_go_along(context, access)
            && takes_all(context, access) =>
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
        // No loop goes along the row, here nor on another line.
        None if sums.requests <= warps(access.kernel) && !goes_on_apart(context, access) => format!(
            "each thread takes one element here, so that no other index could take the place of {index}: store {} transposed, or keep the \
             elements that this kernel takes in an array of their own",
            access.variable().map_or_else(|| "the data".to_owned(), |name| format!("`{name}`")),
        ),
        None if is_transposition(context, access) => format!(
            "the same statement is coalesced at its other end, so this is a transposition: read a tile into shared memory, __syncthreads(), and \
             {verb} it from there with the indices exchanged (rows of the tile padded by one element)"
        ),
        // A few elements of a fixed number, one after the other: the code multiplies the thread's number by a constant.
        None if matches!(steps.map(|steps| &steps[axis]), Some(ThreadStep::Bytes(_))) && has_few_items(access) => {
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
    };
    let saved = Saved {
        saving: Saving::of_coalescing(&[access], context),
        otherwise: excess_of_kernel(context, access),
        assumption: "each request touches only the sectors that its bytes fill",
    };
    Some(index::with_its_line(
        Draft::new(reason, cure)
            .at_access(access)
            .evidence("stride_bytes", stride.map_or(f64::NAN, |stride| stride as f64))
            .evidence("requests", sums.requests as f64)
            .evidence("sectors", sums.sectors as f64)
            .evidence("ideal_sectors", sums.ideal_sectors as f64)
            .saves(context, saved),
        context,
        access,
    ))
}

/// Whether the kernel's accesses of this stride to the same memory together take most of what lies between neighbouring threads.
fn takes_whole_records(context: &Context<'_>, access: &Access<'_>) -> bool {
    let Some(stride) = access.pattern.stride_bytes.map(i64::unsigned_abs) else { return false };
    let alike = |one: &&Access<'_>| {
        one.allocation.is_some()
            && one.allocation == access.allocation
            && one.op == access.op
            && one.pattern.stride_bytes.map(i64::unsigned_abs) == Some(stride)
    };
    let of_kernel = context.accesses_of(access.kernel.id, "global").filter(alike);
    // An element that several lines take counts several times.
    let taken = of_kernel.map(|one| one.bytes_together.unwrap_or(one.bytes.into())).fold(0, u64::saturating_add);
    taken as f64 >= MOST_OF_RECORD * stride as f64
}

/// Whether this one access takes all that lies between neighbouring threads, element by element in a loop.
fn goes_through_its_part(access: &Access<'_>) -> bool {
    let stride = access.pattern.stride_bytes.map(i64::unsigned_abs);
    let is_unrolled = stride.is_some() && access.bytes_together >= stride;
    is_unrolled || super::random_gather::goes_over_neighbours(access)
}

/// Whether a thread's own part has at most so many elements as a library's kernel would give it.
fn has_few_items(access: &Access<'_>) -> bool {
    let structure = access.operand.map_or(0, |operand| operand.structure_bytes);
    let item = u64::from(structure.max(access.bytes).max(1));
    access.pattern.stride_bytes.is_some_and(|stride| {
        let stride = stride.unsigned_abs();
        stride.is_multiple_of(item) && (2..=MOST_ITEMS).contains(&(stride / item))
    })
}

/// A library's kernel gives each thread neighbouring items, all of which it takes: an arrangement that the library chose, and tuned.
fn is_blocked_by_library(access: &Access<'_>) -> bool {
    let whole = |stride: i64| access.bytes_together >= Some(stride.unsigned_abs());
    // The user's iterator or function is called for one item after the other.
    let by_items = |stride: i64| {
        let axis = lane_axis(access.kernel);
        let fixed = access.operand.is_some_and(|operand| matches!(operand.thread_steps[axis], ThreadStep::Bytes(_)));
        fixed && stride.unsigned_abs() <= MOST_ITEMS * u64::from(access.bytes)
    };
    is_system(&access.kernel.file)
        && access.pattern.stride_bytes.is_some_and(|stride| whole(stride) || by_items(stride))
}

/// The algorithm of CUB's that takes the place of one of its block-wide loads or stores in the user's kernel.
fn of_block_wide(access: &Access<'_>) -> Option<&'static str> {
    if is_system(&access.kernel.file) || !access.innermost.contains("cub::") {
        return None;
    }
    let is = |name: &str| access.innermost.contains(name);
    match () {
        () if is("LoadDirectBlocked") => Some("BLOCK_LOAD_WARP_TRANSPOSE"),
        () if is("StoreDirectBlocked") => Some("BLOCK_STORE_WARP_TRANSPOSE"),
        () => None,
    }
}

/// Whether the accesses leave no gaps in their allocation, all threads of a launch together, and no other access would suffer if
/// another index took the place of the threads'.
fn is_dense(context: &Context<'_>, access: &Access<'_>) -> bool {
    let coalesced = |one: &Access<'_>| share(one.pattern.contiguous, one.pattern.requests) >= 0.5;
    takes_all(context, access) && !context.accesses_of(access.kernel.id, "global").any(coalesced)
}

/// Whether a launch takes as many bytes as anybody touches of the allocation.
fn takes_all(context: &Context<'_>, access: &Access<'_>) -> bool {
    let Some(allocation) = access.allocation.and_then(|id| context.profile.allocation(id)) else { return false };
    let of_launch = access.sums.bytes / access.kernel.recorded_launches().max(1);
    of_launch as f64 >= MOST_OF_IT * allocation.touched_bytes as f64
}

/// Whether the kernel goes through the same memory in loops, its threads far apart, so that its layout is what matters.
fn goes_on_apart(context: &Context<'_>, access: &Access<'_>) -> bool {
    let same = |one: &&Access<'_>| access.allocation.is_some() && one.allocation == access.allocation;
    let apart = |one: &Access<'_>| is_strided(one) && one.sums.requests > warps(one.kernel);
    context.accesses_of(access.kernel.id, "global").filter(same).any(apart)
}

/// Whether other kernels move more of the same memory, and their neighbouring threads have neighbouring elements.
fn others_go_along(context: &Context<'_>, access: &Access<'_>) -> bool {
    let (mut along, mut all) = (0u64, 0u64);
    let others = context.accesses.iter().filter(|one| {
        one.kernel.id != access.kernel.id && access.allocation.is_some() && one.allocation == access.allocation
    });
    for one in others {
        all = all.saturating_add(one.sums.bytes);
        // Blocks may be narrower than a warp, and have parts of rows.
        if share(one.pattern.contiguous.saturating_add(one.pattern.rows), one.pattern.requests) >= 0.5 {
            along = along.saturating_add(one.sums.bytes);
        }
    }
    along >= access.sums.bytes && share(along, all) >= 0.5
}

/// The index that alone runs along a dimension of the grid in which blocks have one thread.
fn index_of_grid(access: &Access<'_>) -> Option<&'static str> {
    let block = block_of(access.kernel)?;
    let grid = access.kernel.launches.first()?.grid;
    let mut alone = (0..3).filter(|&axis| grid[axis] > 1 && block[axis] == 1);
    let axis = alone.next().filter(|_| alone.next().is_none())?;
    Some(["blockIdx.x", "blockIdx.y", "blockIdx.z"][axis])
}

/// Whether the statement moves data from here to where neighbouring threads have neighbouring elements, or the other way. What a loop
/// adds up at one address goes nowhere.
fn is_transposition(context: &Context<'_>, access: &Access<'_>) -> bool {
    let other_end = match access.op {
        "load" => "store",
        _ => "load",
    };
    let here = context
        .accesses_of(access.kernel.id, "global")
        .filter(|one| (one.file, one.line) == (access.file, access.line));
    let mut ends = here.filter(|one| one.op == other_end && one.allocation != access.allocation);
    !index::stays_in_loop(access)
        && ends.any(|one| {
            share(one.pattern.contiguous, one.pattern.requests) >= 0.5
                && !index::stays_in_loop(one)
                && one.bytes == access.bytes
                && one.sums.lanes == access.sums.lanes
        })
}

/// Whether another access of the kernel is coalesced by this index and would not be by the other one.
fn harmed_by_exchange(context: &Context<'_>, access: &Access<'_>, axis: usize, other: usize) -> bool {
    context.accesses_of(access.kernel.id, "global").any(|one| {
        let steps = one.operand.map(|operand| &operand.thread_steps);
        let contiguous = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(one.bytes));
        steps.is_some_and(|steps| contiguous(&steps[axis]) && !contiguous(&steps[other]) && steps[other] != ThreadStep::None)
    })
}

/// Whether another load of the kernel has what neighbouring threads take side by side, and the other index would bring it far apart.
fn brought_apart(context: &Context<'_>, access: &Access<'_>, axis: usize, other: usize) -> bool {
    let is_near = |step: &ThreadStep| matches!(step, ThreadStep::Bytes(bytes) if bytes.unsigned_abs() <= SECTOR_BYTES);
    context.accesses_of(access.kernel.id, "global").any(|one| {
        let steps = one.operand.map(|operand| &operand.thread_steps);
        one.op == "load"
            && steps.is_some_and(|steps| {
                is_near(&steps[axis]) && !is_near(&steps[other]) && steps[other] != ThreadStep::None
            })
    })
}

/// An index of the block's other dimensions that does not move the address of this load, though it moves another access's by one
/// element.
fn still(access: &Access<'_>, context: &Context<'_>, axis: usize) -> Option<usize> {
    let steps = &access.operand?.thread_steps;
    let block = block_of(access.kernel)?;
    let coalesces = |other: usize| {
        context.accesses_of(access.kernel.id, "global").any(|one| {
            one.operand.is_some_and(|operand| {
                matches!(operand.thread_steps[other], ThreadStep::Bytes(bytes) if bytes.unsigned_abs() == u64::from(one.bytes))
            })
        })
    };
    (0..3).find(|&other| {
        other != axis && access.op == "load" && block[other] > 1 && steps[other] == ThreadStep::None && coalesces(other)
    })
}

/// An access's sectors that its bytes do not need, of all sectors of its kernel.
pub(super) fn excess_of_kernel(context: &Context<'_>, access: &Access<'_>) -> f64 {
    let all: u64 = context
        .accesses_of(access.kernel.id, access.space)
        .map(|access| access.sums.sectors)
        .fold(0, u64::saturating_add);
    share(access.sums.excess(), all)
}
