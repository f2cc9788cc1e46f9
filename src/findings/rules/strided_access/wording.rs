//! The words of a cure: its figures, and the names of an access's array and threads.

use super::super::super::facts::access::Access;
use super::super::super::facts::{Facts, thread_index};
use super::super::super::texture;
use super::super::super::words;
use super::cure::{Cure, MOST_FIELDS, WIDEST};
use super::library;

impl Cure {
    /// In words, for an access.
    pub(super) fn told(&self, facts: &Facts<'_>, access: &Access<'_>) -> String {
        let verb = if access.op == "store" { "write" } else { "read" };
        // The name without the size.
        let target = facts.target(access);
        let target = target.split(" (").next().unwrap_or(&target);
        let variable = access.variable().map(|name| format!("`{name}`"));
        let data = variable.as_deref().unwrap_or("the data");
        let memory = variable.as_deref().unwrap_or("memory");
        match *self {
            Cure::InTriton { elements, bytes } => in_triton(bytes, target, verb, elements),
            Cure::Texture => texture::cure_of_stride(target),
            Cure::BlockWide { elements, algorithm } => format!(
                "each thread takes {elements} neighbouring items here: let CUB exchange them through shared memory, by {algorithm} instead of the direct \
                 algorithm, or take them striped where their order does not matter"
            ),
            Cure::LoadedDistance => of_changing_distance(memory, "is loaded", "each such distance"),
            Cure::GrowingDistance => of_changing_distance(memory, "changes from step to step", "each step"),
            Cure::TransposedKernel { axis } => format!(
                "the kernel's other access is coalesced with {}, so this is a transposition: read a tile into shared memory, \
                 __syncthreads(), and {verb} it from there with the indices exchanged (rows of the tile padded by one element)",
                thread_index(axis),
            ),
            Cure::BlocksAcross { axis, other, by } => of_blocks_shape(axis, other, by, verb),
            Cure::Exchange { axis, other, by } => format!(
                "exchange {} and {}: {} moves the address by {}, so that neighbouring threads would {verb} neighbouring elements",
                thread_index(axis),
                thread_index(other),
                thread_index(other),
                by_elements(by),
            ),
            Cure::MemberForLibrary { bytes, stride } => format!(
                "the call takes {bytes} of every {stride} bytes here, as a member of a structure: keep what it takes in an array of its own (an array for each member, as for zip_iterator)",
            ),
            Cure::Alignment { bytes, at_a_time } => library::aligned(bytes, at_a_time),
            Cure::BeginsAnywhere { elements } => format!(
                "each thread has {elements} neighbouring elements of a part that begins where data says, so that no wide access to them is aligned: let the block move its part through shared memory, \
                 neighbouring threads at neighbouring words, or let neighbouring threads have neighbouring elements"
            ),
            Cure::OneOfFew { elements } => format!(
                "each thread takes one of every {elements} elements here: keep what is used in an array without gaps, or, where others use what lies between, let a block bring its part through shared \
                 memory, neighbouring threads at neighbouring words"
            ),
            Cure::WideAccess { elements } => format!(
                "let a thread {verb} its {elements} neighbouring elements with one wide access, or keep what is used in an array without \
                 gaps"
            ),
            Cure::FewSideBySide { elements } => format!(
                "{elements} elements lie side by side for each thread: let a block move its part through shared memory, neighbouring threads at neighbouring words; where \
                 they are the members of a structure or the channels of a pixel, and their order is free, keep an array (a plane) for each of them"
            ),
            Cure::ExchangeWithStill { axis, other } => format!(
                "exchange {} and {}, which does not move the address: the lanes of a warp would {verb} the same element, and those of other \
                 accesses that {} moves by one element would be neighbours",
                thread_index(axis),
                thread_index(other),
                thread_index(other),
            ),
            Cure::WholeRecord { stride } => format!(
                "each thread takes all of a record of {} here, an element at a time: store the records transposed (the first element of all, then the second \
                 one, …), let a block move its records through shared memory, neighbouring threads at neighbouring words, or {verb} them with wide accesses, for \
                 which their size and their begin are multiples of 4, 8 or 16 bytes",
                words::bytes(stride),
            ),
            Cure::Field { elements, stride } => format!(
                "each thread takes one of every {elements} elements here, as a field of a record of {}{}: keep what this kernel takes in an array \
                 of its own (an array per field), where neighbouring threads have neighbouring elements",
                words::bytes(stride),
                if elements > MOST_FIELDS { ", or a column or diagonal of a matrix with such rows" } else { "" },
            ),
            Cure::Halves => format!(
                "no access is wider than {WIDEST} bytes, so that these elements of {} are taken in two halves, each with gaps: take elements of {WIDEST} bytes (`ulong2`, `float4`) and twice as many of them, \
                 so that neighbouring threads {verb} neighbouring ones",
                2 * WIDEST,
            ),
            Cure::ChosenInOwnPart { stride } => format!(
                "each thread has a part of {data} of its own here{}, and loaded data chooses the element: store {data} transposed (`[element][thread]`), so that threads at the same element meet \
                 neighbouring ones, or keep the parts in shared memory where they fit",
                stride.map_or_else(String::new, |stride| format!(" ({})", words::bytes(stride))),
            ),
            Cure::LoadedIndex => format!(
                "the index comes out of memory: where it is the begin of a part that each thread goes along, as of a row in a sparse matrix, let the \
                 lanes of a warp go along it together; where each index chooses an element, order the elements so that neighbouring threads {verb} \
                 neighbouring ones"
            ),
            Cure::OfIterator => format!(
                "the iterator or function that the call was given goes through {target} so that neighbouring items lie far apart: store the data transposed, or let \
                 the items follow each other as they lie in memory"
            ),
            Cure::OneOfRow => format!(
                "each thread takes one element of {data} here, and its neighbour's lies in another row: let the index that moves along a row of {data} be the one in which neighbouring \
                 threads differ, store {data} transposed, or move a tile of it through shared memory"
            ),
            Cure::OwnPart { goes_through, stride } => format!(
                "{}let neighbouring threads {verb} neighbouring elements in each iteration, or move what the threads of a block need through shared memory, neighbouring threads at \
                 neighbouring words",
                match (goes_through, stride) {
                    (true, Some(stride)) => format!("a thread has {} of its own here: ", words::bytes(stride)),
                    (true, None) => "a thread has a part of its own here: ".to_owned(),
                    (false, _) => String::new(),
                },
            ),
            Cure::IndexOfGrid { axis, other } => {
                let index = thread_index(axis);
                let (counts, with) = match other {
                    Some(other) => (other.to_owned(), format!("{index} and {other}")),
                    None => ("another index of the block or the grid".to_owned(), format!("{index} and that one")),
                };
                format!(
                    "{counts} counts the elements that lie side by side in {memory} here, while {index} counts what lies apart: exchange {with}, with the \
                     shapes of block and grid to match, so that neighbouring threads {verb} neighbouring elements"
                )
            }
            Cure::AcrossOthersRows => format!(
                "other kernels go through {data} along its rows, so that a layout for this one would cost them: let a kernel that has these elements at hand \
                 do this, too, or keep the elements that lie apart, as a border or a column, in an array of their own"
            ),
            Cure::Appended => format!(
                "each thread appends to a part of {memory} of its own, as many elements as the data says: where the layout is free, interleave the parts \
                 (`[element][thread]`), so that threads at the same element meet neighbouring ones; else let the lanes of a warp fill one part together"
            ),
            Cure::AppendedInOrder => format!(
                "each thread writes to a part of {memory} of its own, as many elements as the data says: put what a block writes into shared memory at its place there first, and write it out together, \
                 neighbouring threads at neighbouring places; where the layout is free, as of what only this thread reads again, interleave the parts (`[element][thread]`)"
            ),
            Cure::TransposedStatement => format!(
                "the same statement is coalesced at its other end, so this is a transposition: read a tile into shared memory, __syncthreads(), and \
                 {verb} it from there with the indices exchanged (rows of the tile padded by one element)"
            ),
            Cure::OneElement { axis } => format!(
                "each thread takes one element here, so that no other index could take the place of {}: store {data} transposed, or keep the \
                 elements that this kernel takes in an array of their own",
                thread_index(axis),
            ),
            Cure::FewItems { stride } => format!(
                "each thread goes through {} of its own: where it does not matter which thread takes which element, let neighbouring threads take neighbouring ones \
                 in each iteration (i * blockDim.x + threadIdx.x instead of threadIdx.x * n + i); else let the block move its part through shared memory, \
                 neighbouring threads at neighbouring words, take several elements at once with wide accesses, or store the data transposed",
                stride.map_or_else(|| "a part".to_owned(), words::bytes),
            ),
            Cure::RowsOfRows { axis } => format!(
                "each thread goes along a row of its own here, and makes an element of another row for each that it reads: store {data} transposed (`[element][thread]`), so that threads at the same \
                 element meet neighbouring ones, or move tiles of it through shared memory; where an element needs nothing of those before it, let {} count the elements of a row",
                thread_index(axis),
            ),
            Cure::CountsRows { axis } => format!(
                "let {} count the elements that lie side by side in {memory}: where a row's elements are added up or the like, a warp per row, whose \
                 lanes combine what they have with shuffles, or a thread per column where columns are what is computed; else store the data \
                 transposed, or move tiles of it through shared memory",
                thread_index(axis),
            ),
        }
    }
}

/// Where the distance between neighbouring threads is no fixed one.
fn of_changing_distance(name: &str, how: &str, of_each: &str) -> String {
    format!(
        "the distance between neighbouring threads in {name} {how}: look at whether what {of_each} takes can be stored side by side (as a table of each stage's own factors, one stage after \
         the other), or whether the threads that work can be neighbours in all steps; else bring what a block needs of it into shared memory once"
    )
}

/// Where blocks lie across what lies side by side.
fn of_blocks_shape(axis: usize, other: usize, by: u64, verb: &str) -> String {
    format!(
        "let {} take the place of {}, which moves the address by {}, and shape block and grid to match: neighbouring threads would {verb} neighbouring elements",
        thread_index(axis),
        thread_index(other),
        by_elements(by),
    )
}

/// That cure of all of a kernel's accesses.
pub(super) fn of_all_across(axis: usize, other: usize) -> String {
    of_blocks_shape(axis, other, 1, "take")
}

fn by_elements(count: u64) -> String {
    if count > 1 { words::several(count, "element", "elements") } else { "one element".to_owned() }
}

/// What to do where the source has tiles and no threads.
fn in_triton(bytes: u32, name: &str, verb: &str, elements: u64) -> String {
    match elements {
        2 | 4 | 8 if elements * u64::from(bytes) <= 16 => format!(
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
