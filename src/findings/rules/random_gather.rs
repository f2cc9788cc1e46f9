//! Lanes whose addresses follow no rule: each may touch a sector of its own.

use super::super::access::{Access, share};
use super::super::context::{Context, is_of_library, warps};
use super::super::draft::{Draft, Saved, WORTH_A_CHANGE};
use super::super::gain::Saving;
use super::super::index;
use super::super::library;
use super::super::terms::{Term, terms_of};
use super::super::texture;
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::model::Severity;
use crate::profile::{is_system, library_call};

/// Least share of an access's sectors that its bytes do not need.
const LEAST_EXCESS: f64 = 0.4;
/// Bytes between the lists of neighbouring lanes, on average, at most.
const NEAR: f64 = 128.0;

/// Bytes from the first lane to the last for each that the lanes want, at most, where computed indices are no gather.
const NEARLY_DENSE: f64 = 4.0;
/// Bytes of a table that a block may copy into shared memory without a thought.
const SMALL_TABLE: u64 = 4 << 10;
/// The same of one that a thread looks up again and again by what it has found there, as the table of a checksum.
const SMALL_STATES: u64 = 8 << 10;
/// Elements by which an unrolled loop goes on, at most.
const MOST_UNROLLED: i64 = 16;
/// Bytes from the first to the last lane that a library's own compaction leaves, at most.
const LIBRARY_SPAN: f64 = 1024.0;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let scattered = |access: &&Access<'_>| {
        is_scattered(access)
            && !super::struct_fields::is_packed(access)
            && !super::strided_access::by_short_rows(access)
            && !is_compacted_by_library(access)
            && !is_permuted_by_library(context, access)
            && !index::is_held_within(access)
            && !is_nearly_dense(access)
            && !is_of_several_arrays(context, access)
    };
    context.accesses.iter().filter(scattered).filter_map(|access| draft(context, access)).collect()
}

/// Most of its requests follow no rule, and it costs sectors.
pub(super) fn is_scattered(access: &Access<'_>) -> bool {
    let pattern = &access.pattern;
    access.space == "global"
        && !access.is_opaque
        && !access.in_library
        && pattern.atomics.is_none()
        && share(pattern.irregular, pattern.requests) >= 0.5
        && access.sums.excess_share() >= LEAST_EXCESS
}

/// Lanes that computed indices, as of a picture that is scaled, lead to every second or third element: where the next lane goes no order
/// of data brings nearer.
fn is_nearly_dense(access: &Access<'_>) -> bool {
    let bytes_of_lanes = access.sums.lanes as f64 / access.sums.requests.max(1) as f64 * f64::from(access.bytes);
    let is_loaded = access.operand.is_some_and(|operand| operand.loaded_index);
    !is_loaded && access.pattern.span_bytes.is_some_and(|span| span <= NEARLY_DENSE * bytes_of_lanes)
}

/// Lanes that take the same element of one array or another, as where the compiler has made one store of those of two sides: nothing is
/// wrong with the index.
fn is_of_several_arrays(context: &Context<'_>, access: &Access<'_>) -> bool {
    let is_loaded = access.operand.is_some_and(|operand| operand.loaded_index);
    let allocation = access.allocation.and_then(|id| context.profile.allocation(id));
    !is_loaded
        && allocation
            .is_some_and(|allocation| access.pattern.span_bytes.is_some_and(|span| span > allocation.bytes as f64))
}

/// A library's kernel leaves out what is not wanted, so that its lanes are a few elements apart: nobody's order of data changes that.
fn is_compacted_by_library(access: &Access<'_>) -> bool {
    is_system(&access.kernel.file) && access.pattern.span_bytes.is_some_and(|span| span < LIBRARY_SPAN)
}

/// A library's algorithm brings its own scratch memory into another order, or is there to bring data into none: nobody's order of data changes that.
fn is_permuted_by_library(context: &Context<'_>, access: &Access<'_>) -> bool {
    let allocation = access.allocation.and_then(|id| context.profile.allocation(id));
    let shuffles = || library_call(access.kernel).is_some_and(|call| call.function.contains("shuffle"));
    is_system(&access.kernel.file) && is_system(access.file) && (allocation.is_some_and(is_of_library) || shuffles())
}

/// The line that loads the indices, where all of them come from one: what leads to the elements of one array leads to those of others, too.
fn indices_of(terms: &[Term]) -> Option<String> {
    let mut lines = terms.iter().filter(|term| term.loaded).map(|term| term.loaded_at);
    let first = lines.next()??;
    lines.all(|line| line == Some(first)).then(|| format!("indices that line {first} loads"))
}

/// Bytes of what the array has, of which the access may take a member.
fn element_bytes(access: &Access<'_>) -> i64 {
    i64::from(access.operand.map_or(0, |operand| operand.structure_bytes).max(access.bytes))
}

/// Whether a loop goes from element to element.
fn goes_along(access: &Access<'_>, terms: &[Term]) -> bool {
    terms.iter().any(|term| term.counts && is_along(access, term))
}

/// Whether a term that moves with a loop does so by an element or a few.
fn is_along(access: &Access<'_>, term: &Term) -> bool {
    !(term.loaded || term.of_thread || term.times_unknown)
        && (1..=MOST_UNROLLED * element_bytes(access)).contains(&term.scale)
}

/// Whether loaded data gives a row, and a loop goes along it from element to element.
fn goes_along_rows(access: &Access<'_>, terms: &[Term]) -> bool {
    let rows = |term: &Term| term.loaded && !term.counts && (term.times_unknown || term.scale >= SECTOR_BYTES as i64);
    terms.iter().any(rows) && goes_along(access, terms)
}

/// Whether a loop moves the address by less than whole sectors, as over the neighbours of an element: no layout aligns all its iterations.
pub(super) fn goes_over_neighbours(access: &Access<'_>) -> bool {
    let off =
        |term: &Term| term.counts && !(term.loaded || term.times_unknown) && term.scale % SECTOR_BYTES as i64 != 0;
    terms_of(access).iter().any(off)
}

/// Whether a loop goes from a loaded begin from element to element.
fn goes_along_lists(context: &Context<'_>, access: &Access<'_>, terms: &[Term]) -> bool {
    terms.iter().any(is_begin)
        && goes_along(access, terms)
        && access.most_requests > times_begun(context, access, terms)
}

/// Whether loaded data is the begin of a list.
fn is_begin(term: &Term) -> bool {
    term.loaded && !(term.counts || term.of_thread || term.times_unknown)
}

/// Whether it takes the element at which a loop along a list has ended, as that which a search has found.
fn is_end_of_way(access: &Access<'_>, terms: &[Term]) -> bool {
    let way = |term: &Term| term.counted && is_along(access, term);
    terms.iter().any(is_begin) && terms.iter().any(way) && !goes_along(access, terms)
}

/// Whether two coordinates that were computed in floating point lead to the element, as where an image is sampled.
fn is_sampled(access: &Access<'_>, terms: &[Term]) -> bool {
    access.op == "load" && terms.iter().filter(|term| term.of_floats).count() >= 2
}

/// Warps that begin such a list: those that load its begin, or else all of the kernel, of which many may have nothing to do.
fn times_begun(context: &Context<'_>, access: &Access<'_>, terms: &[Term]) -> u64 {
    let lines: Vec<u32> = terms.iter().filter(|term| term.loaded).filter_map(|term| term.loaded_at).collect();
    let begins = context
        .accesses_of(access.kernel.id, "global")
        .filter(|one| one.op == "load" && one.file == access.file && lines.contains(&one.line));
    let all = warps(access.kernel);
    // The line may have the list's own loads as well.
    begins.map(|one| one.most_requests).min().map_or(all, |begun| begun.min(all))
}

/// Whether the kernel's threads append to the same memory, each to a part of its own.
fn is_appended_to(context: &Context<'_>, access: &Access<'_>) -> bool {
    let there = |one: &&Access<'_>| access.allocation.is_some() && one.allocation == access.allocation;
    // What goes to neighbouring elements is no part of each thread's own, whatever loop comes there.
    let is_scattered = |one: &Access<'_>| one.sums.excess_share() >= LEAST_EXCESS;
    context
        .accesses_of(access.kernel.id, "global")
        .filter(there)
        .any(|one| index::is_appended(one) && is_scattered(one) && stores_several(one))
}

/// Whether a thread stores there again and again: who looks for a slot stores once.
fn stores_several(access: &Access<'_>) -> bool {
    access.sums.lanes >= 2 * 32 * warps(access.kernel)
}

/// Whether the address is that of a row which the thread's number gives, and of a place in it that loaded data gives.
pub(super) fn has_own_rows(terms: &[Term]) -> bool {
    let rows =
        |term: &Term| term.of_thread && !term.loaded && (term.times_unknown || term.scale >= SECTOR_BYTES as i64);
    let places = |term: &Term| term.loaded && !term.of_thread;
    terms.iter().any(rows) && terms.iter().any(places)
}

/// Whether the address is that of a column which the thread's number gives, in a row that loaded data gives.
pub(super) fn has_own_columns(access: &Access<'_>, terms: &[Term]) -> bool {
    let columns =
        |term: &Term| term.of_thread && !term.loaded && !term.times_unknown && term.scale == i64::from(access.bytes);
    let rows =
        |term: &Term| term.loaded && !term.of_thread && (term.times_unknown || term.scale >= SECTOR_BYTES as i64);
    terms.iter().any(columns) && terms.iter().any(rows)
}

/// Whether it looks up elements of a table that shared memory could hold beside other data.
fn is_small_table(context: &Context<'_>, access: &Access<'_>, most: u64) -> bool {
    let Some(allocation) = access.allocation.and_then(|id| context.profile.allocation(id)) else { return false };
    let is_written = |other: &Access<'_>| other.op != "load" && other.allocation == access.allocation;
    access.op == "load" && allocation.bytes <= most && !context.accesses.iter().any(is_written)
}

fn of_small_table(name: &str) -> String {
    format!(
        "{name} is a small table that kernels never write: as long as it is so small, copy it into shared memory at the begin of the kernel, where \
         lanes at different elements of it meet in banks alone"
    )
}

fn draft(context: &Context<'_>, access: &Access<'_>) -> Option<Draft> {
    let sums = &access.sums;
    let target = context.target(access);
    let indirect = access.operand.is_some_and(|operand| operand.loaded_index);
    let (does, lanes) = if access.op == "store" { ("scatter to", "writes") } else { ("gather from", "reads") };
    let span = access.pattern.span_bytes.unwrap_or(0.0);
    let why = if indirect { " by indices that depend on loaded data" } else { "" };
    let reason = format!(
        "the lanes of a warp {does} {target}{why}, {} apart from the first to the last: a request touches {} sectors of 32 bytes where \
         {} would hold what it {lanes}",
        words::bytes(span as u64),
        words::ratio(sums.sectors, sums.requests),
        words::ratio(sums.ideal_sectors, sums.requests),
    );
    // A texture has no variable in the code, and the name of what it was bound to.
    let of_texture = || target.split(" (").next().filter(|_| access.by_texture).unwrap_or("the data").to_owned();
    let name = access.variable().map_or_else(of_texture, |name| format!("`{name}`"));
    let terms = terms_of(access);
    // Each thread goes over a list of its own: its next element lies beside the last one.
    let lists = goes_along_lists(context, access, &terms)
        || indirect
            && (terms.is_empty() || terms.iter().any(|term| term.counts || is_begin(term)))
            && access.most_requests > warps(access.kernel)
            && span < sums.lanes as f64 / sums.requests.max(1) as f64 * NEAR;
    let verb = if access.op == "store" { "write" } else { "read" };
    let stores_there = access.op == "store"
        || context.accesses_of(access.kernel.id, "global").any(|other| {
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
        library::other_code(&call.function)
    } else if access.by_texture && is_small_table(context, access, SMALL_STATES) {
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
    } else if indirect && access.op == "load" && is_appended_to(context, access) {
        format!(
            "each thread has a part of {name} of its own here, which it fills and reads at its own pace: interleave the parts (`[element][thread]`), so that \
             threads at the same element meet neighbouring ones, or keep what is read again in shared memory"
        )
    } else if (index::is_walked(access) || !goes_along_rows(access, &terms))
        && is_small_table(context, access, if index::is_walked(access) { SMALL_STATES } else { SMALL_TABLE })
    {
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
    } else if lists {
        format!(
            "where each thread goes over a list of {name} from a loaded begin to a loaded end, as over a row of a sparse matrix, let the lanes \
             of a warp or a part of it share one list, so that they {verb} neighbouring elements; else sort or group the indices, or keep the part that is hot in \
             shared memory"
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
    let saved = Saved {
        saving: Saving::of_coalescing(&[access], context),
        otherwise: super::strided_access::excess_of_kernel(context, access),
        assumption: if access.op == "load" && index::is_walked(access) {
            "each request touches only the sectors that its bytes fill, and sectors are what the kernel waits for; where a thread waits for one load after \
             the other, as on its way through a tree, another layout may bring nothing"
        } else {
            "each request touches only the sectors that its bytes fill"
        },
    };
    let draft = Draft::new(reason, cure)
        .at_access(access)
        .evidence("requests", sums.requests as f64)
        .evidence("sectors", sums.sectors as f64)
        .evidence("ideal_sectors", sums.ideal_sectors as f64)
        .evidence("span_bytes", span)
        .one_cause(one_cause)
        .saves(context, saved);
    // Where nobody knows a cure, and little is lost, there is nothing to say.
    if is_vague && draft.score < WORTH_A_CHANGE {
        return None;
    }
    let draft = if of_library.is_some() || is_unknown { draft.severity(Severity::Note) } else { draft };
    Some(if indirect { draft } else { index::with_its_line(draft, context, access) })
}
