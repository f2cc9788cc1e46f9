//! What to do about lanes that meet sectors of their own: by how they come to their elements.

use super::super::super::facts::access::Access;
use super::super::super::facts::index;
use super::super::super::facts::terms::{Term, terms_of};
use super::super::super::facts::{Facts, warps};
use super::super::super::texture;
use super::ways::{
    goes_along, goes_along_lists, goes_along_rows, has_own_columns, has_own_rows, has_part_of_own, is_appended_to,
    is_begin, is_end_of_way, is_sampled, meets_appended, stores_several,
};
use crate::profile::{is_system, library_call};

/// Bytes between the lists of neighbouring lanes, on average, at most.
const NEAR: f64 = 128.0;
/// Bytes of a table that a block may copy into shared memory without a thought.
const SMALL_TABLE: u64 = 4 << 10;
/// The same of one that a thread looks up again and again by what it has found there, as the table of a checksum.
const SMALL_STATES: u64 = 8 << 10;

/// A cure, and how much is known of it.
pub(super) struct Cure {
    pub text: String,
    /// What leads to other objects in the same way.
    pub one_cause: Option<String>,
    /// It only says what to look at.
    pub is_vague: bool,
    /// Nobody knows how the index comes about.
    pub is_unknown: bool,
    /// How the library's own search or merge goes through the data is the library's.
    pub of_library: bool,
}

/// The line that loads the indices, where all of them come from one: what leads to the elements of one array leads to those of others, too.
fn indices_of(terms: &[Term]) -> Option<String> {
    let mut lines = terms.iter().filter(|term| term.loaded).map(|term| term.loaded_at);
    let first = lines.next()??;
    lines.all(|line| line == Some(first)).then(|| format!("indices that line {first} loads"))
}

/// What accesses of one line have in common that go along lists or rows which begin where another line loads.
fn ways_of(access: &Access<'_>, terms: &[Term]) -> Option<String> {
    Some(format!("ways of line {} by {}", access.line, indices_of(terms)?))
}

/// What small tables that a kernel looks up have in common.
const SMALL_TABLES: &str = "small tables";

/// Whether it looks up elements of a table that shared memory could hold beside other data.
fn is_small_table(facts: &Facts<'_>, access: &Access<'_>, most: u64) -> bool {
    let Some(allocation) = access.allocation.and_then(|id| facts.profile.allocation(id)) else { return false };
    let is_written = |other: &Access<'_>| other.op != "load" && other.allocation == access.allocation;
    access.op == "load" && allocation.bytes <= most && !facts.accesses.iter().any(is_written)
}

fn of_small_table(name: &str) -> String {
    format!(
        "{name} is a small table that kernels never write: as long as it is so small, copy it into shared memory at the begin of the kernel, where \
         lanes at different elements of it meet in banks alone"
    )
}

/// The cure of an access.
pub(super) fn of(facts: &Facts<'_>, access: &Access<'_>) -> Cure {
    let sums = &access.sums;
    let target = facts.target(access);
    let indirect = access.operand.is_some_and(|operand| operand.loaded_index);
    let span = access.pattern.span_bytes.unwrap_or(0.0);
    // A texture has no variable in the code, and the name of what it was bound to.
    let of_texture = || target.split(" (").next().filter(|_| access.by_texture).unwrap_or("the data").to_owned();
    let name = access.variable().map_or_else(of_texture, |name| format!("`{name}`"));
    let terms = terms_of(access);
    // Each thread goes over a list of its own: its next element lies beside the last one.
    let lists = goes_along_lists(facts, access, &terms)
        || indirect
            && (terms.is_empty() || terms.iter().any(|term| term.counts))
            && access.most_requests > warps(access.kernel)
            && span < sums.lanes as f64 / sums.requests.max(1) as f64 * NEAR;
    let verb = if access.op == "store" { "write" } else { "read" };
    let stores_there = access.op == "store"
        || facts.accesses_of(access.kernel.id, "global").any(|other| {
            other.op == "store"
                && (other.line, other.allocation) == (access.line, access.allocation)
                && other.variable() == access.variable()
        });
    // How a library's own search or merge goes through the data is the library's.
    let mut one_cause = None;
    let mut is_vague = false;
    let mut is_unknown = false;
    let of_library = library_call(access.kernel).filter(|_| is_system(access.file) && index::is_walked(access));
    let cure = if let Some(call) = &of_library {
        format!(
            "this is the code of `{}`, not yours: see whether another algorithm of the library, or sizes and types that it is tuned for, serve you better",
            call.function
        )
    } else if access.by_texture && is_small_table(facts, access, SMALL_STATES) {
        one_cause = Some(SMALL_TABLES.to_owned());
        of_small_table(&name)
    } else if access.by_texture {
        texture::cure_of_gather(&name)
    } else if access.op == "store" && index::is_given_by_atomics(access) {
        format!(
            "an atomic operation gives each thread its place in {name}: let the threads of a warp or block take their places together (one \
             atomicAdd for each list), so that neighbouring threads have neighbouring places; where there are several lists, order what the block \
             has by list in shared memory first"
        )
    } else if index::is_appended(access) && !stores_several(access) {
        format!(
            "each thread finds its place in {name} step by step, as the data says: where it looks for a slot, as in a hash table, order what the threads bring by \
             where it goes (by its hash), so that neighbours come to the same sectors; where it appends to a part of its own whose layout is free, interleave \
             the parts (`[element][thread]`), or put what a block writes into shared memory first and write it out together"
        )
    } else if index::is_appended(access) {
        format!(
            "each thread appends to a part of {name} of its own, as many elements as the data says: where the layout is free, as of what only this thread \
             reads again, interleave the parts (`[element][thread]`), so that threads at the same element meet neighbouring ones; else put what a block \
             writes into shared memory at its place there first, and write it out together, neighbouring threads at neighbouring places"
        )
    } else if indirect
        && access.op == "load"
        && (index::is_walked(access) || index::is_made_of_thread(access))
        && is_appended_to(facts, access)
    {
        format!(
            "each thread has a part of {name} of its own here, which it fills and reads at its own pace: interleave the parts (`[element][thread]`), so that \
             threads at the same element meet neighbouring ones, or keep what is read again in shared memory"
        )
    } else if (index::is_walked(access) || !goes_along_rows(access, &terms))
        && is_small_table(facts, access, if index::is_walked(access) { SMALL_STATES } else { SMALL_TABLE })
    {
        one_cause = Some(SMALL_TABLES.to_owned());
        of_small_table(&name)
    } else if access.op == "load" && index::is_walked(access) && !terms.iter().any(|term| term.loaded) {
        format!(
            "each thread finds its way through {name} step by step, as the data says (a tree, a search, a merge): keep what a block needs of it in shared memory, \
             as the top of a tree, the first steps of a search or the parts that are merged; order what the threads look for, so that neighbours go the same \
             way; or let the lanes of a warp work on one part together"
        )
    } else if indirect && access.op == "load" && index::is_walked(access) && terms.iter().any(is_begin) {
        format!(
            "each thread goes through a part of {name} of its own, from where loaded data lets it begin and by as many elements as the data says: bring what a block needs of it into shared memory first, \
             neighbouring threads at neighbouring words, or let the lanes of a warp work on one part together; where the threads search, keep what the first steps of all of them meet in shared memory"
        )
    } else if goes_along_rows(access, &terms) {
        one_cause = ways_of(access, &terms);
        format!(
            "each thread goes along a row of {name} that loaded data chooses: let the lanes of a warp go along one row together, neighbouring lanes at \
             neighbouring elements (a row per warp or part of one), so that they {verb} whole sectors whatever the order of the rows"
        )
    } else if indirect && has_own_rows(&terms) && goes_along(access, &terms) {
        let (along, written) = match access.op {
            "store" => (
                "fill",
                "put what a block writes into shared memory first and write it out together, neighbouring threads at neighbouring places",
            ),
            _ => (
                "go along",
                "bring what a block needs into shared memory first, neighbouring threads at neighbouring words",
            ),
        };
        format!(
            "each thread goes along a part of {name} of its own, element by element from where loaded data lets it begin: let the lanes of a warp {along} one part \
             together, or {written}"
        )
    } else if indirect && has_own_rows(&terms) && stores_there {
        format!(
            "each thread has a row of {name} of its own, and loaded data chooses the element: store {name} transposed (`[element][thread]`), so that \
             threads which choose the same element meet neighbouring ones, or keep the rows in shared memory"
        )
    } else if indirect && has_own_rows(&terms) {
        format!(
            "each thread takes an element of a row of its own here, which loaded data chooses, so that no order of the threads brings the elements \
             together: let the kernel that goes through the rows of {name} take these elements along, or pack them side by side for the next one"
        )
    } else if indirect && has_own_columns(access, &terms) {
        format!(
            "each thread takes the element of its own column here, in a row of {name} that loaded data chooses, so that no order of the rows brings the \
             elements together: take it where the kernel goes through all rows anyway (the row that is the chosen one), or group the threads by \
             what they choose"
        )
    } else if lists && access.op == "load" && meets_appended(facts, access) {
        format!(
            "each thread goes through a part of {name} of its own, from where loaded data lets it begin, and what it makes of an element depends on those before it: interleave the parts \
             (`[element][thread]`), so that threads at the same element meet neighbouring ones, or bring what a block needs of it into shared memory first, neighbouring threads at neighbouring words"
        )
    } else if lists {
        one_cause = ways_of(access, &terms);
        format!(
            "where each thread goes over a list of {name} from a loaded begin to a loaded end, as over a row of a sparse matrix, let the lanes \
             of a warp or a part of it share one list, so that they {verb} neighbouring elements; where what it makes of an element depends on those before it, interleave the lists \
             (`[element][thread]`) or bring what a block needs of them into shared memory; else sort or group the indices, or keep the part that is hot in shared memory"
        )
    } else if indirect && access.op == "load" && is_end_of_way(access, &terms) {
        format!(
            "each thread takes the element here at which its way along a list of {name} has ended: what cures the way (lanes that share a list, an order of the lists \
             like that of the threads) brings these elements together as well"
        )
    } else if is_sampled(access, &terms) {
        format!(
            "coordinates that are computed in floating point lead each lane to its element: where {name} is an image that neighbouring threads sample near each other, \
             fetch it through a texture, whose array keeps neighbours of both directions together, or bring the part that a block needs into shared memory; where \
             each thread has a place of its own, as a particle, order the threads' data by place"
        )
    } else if indirect && access.op == "store" && !is_system(&access.kernel.file) {
        format!(
            "where the indices put the data in order, as in a sort or a partition, order what a block has in shared memory first and write it out in runs; \
             else sort or group the indices so that the threads of a warp meet neighbouring elements of {name}, or reorder {name} to match"
        )
    } else if indirect {
        one_cause = indices_of(&terms);
        format!(
            "sort or group the indices so that the threads of a warp meet neighbouring elements of {name}, reorder {name} to match, or \
             keep the part that is hot in shared memory"
        )
    } else if has_part_of_own(access) {
        format!(
            "each thread takes an element of a part of {name} of its own here, each at a place that the data or its way there gives: store {name} transposed (`[element][thread]`), so that threads at the \
             same element meet neighbouring ones, or bring what a block needs of it into shared memory first, neighbouring threads at neighbouring words"
        )
    } else if let Some((what, line)) = index::unknown_part(access) {
        is_vague = true;
        format!(
            "the place in {name} depends on a value that is {what}{}: order what the threads of a warp work on by that value, so that they meet neighbouring elements, or let them take one part of {name} \
             together",
            if line == 0 { String::new() } else { format!(" (line {line})") },
        )
    } else if index::is_split(access) {
        format!(
            "the code makes several indices of one number, by quotients and remainders: let the index that goes along a row of {name} be the one that changes fastest (the remainder that is \
             taken first), so that threads of a warp meet neighbouring elements"
        )
    } else {
        is_vague = true;
        is_unknown = true;
        format!(
            "look at how the index into {name} is computed, and whether threads of a warp can meet neighbouring elements"
        )
    };
    Cure { text: cure, one_cause, is_vague, is_unknown, of_library: of_library.is_some() }
}
