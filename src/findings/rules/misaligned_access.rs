//! Requests of neighbouring lanes that begin within a sector: they touch one sector more (CUDA C++ Best Practices Guide, "A
//! Sequential but Misaligned Access Pattern").

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::{Draft, WORTH_A_CHANGE};
use super::super::facts::access::{Access, share};
use super::super::facts::beside;
use super::super::facts::index;
use super::super::facts::{Facts, block_of, warps};
use super::super::gain::Saving;
use super::super::words;
use crate::geometry::SECTOR_BYTES;
use crate::profile::is_system;
use crate::profile::model::Severity;

/// Least share of an access's sectors that alignment would save: one in five or nine of full warps.
const LEAST_EXCESS: f64 = 0.1;
/// Least share of the kernel's sectors.
const LEAST_OF_KERNEL: f64 = 0.05;

/// Pointers beside an aligned one of the same allocation that may be an element to the left and to the right of it.
const NEIGHBOURS: usize = 2;

/// Gain of rows that are laid out anew with their borders, at least, for more than a note.
const LEAST_FOR_BORDERS: f64 = 1.25;

/// Least share of the requests that begin within a sector where all begin at one place: of rows some begin on sectors, others do not.
const NEARLY_ALL: f64 = 0.9;
/// Lines from a load to the store of its value to shared memory, at most.
const NEAR_LINES: u32 = 2;
/// Bytes of a border in front of what threads take of a row, at most.
const MOST_OF_BORDER: i64 = 4096;

const PAD_ROWS: &str = "make the length of a row a multiple of 32 bytes, as cudaMallocPitch does";

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    // Pointers into one allocation lead to parts of it, of which each begins somewhere.
    type Key<'a> = (u32, Option<u64>, Option<&'a str>);
    let mut groups: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    for access in facts
        .accesses
        .iter()
        .filter(|access| access.space == "global" && access.allocation.is_some() && !access.is_opaque)
    {
        groups.entry((access.kernel.id, access.allocation, access.variable())).or_default().push(access);
    }
    // By allocation, with the number of its pointers.
    let mut parts: BTreeMap<(u32, Option<u64>), (Vec<Found<'_>>, usize)> = BTreeMap::new();
    for ((kernel, allocation, _), accesses) in &groups {
        let (all, pointers) = parts.entry((*kernel, *allocation)).or_default();
        all.extend(found(facts, accesses));
        *pointers += usize::from(accesses.iter().any(|access| is_contiguous(access)));
    }
    let mut drafts = Vec::new();
    // Arrays that one line goes through are one thing to change.
    let mut lines: BTreeMap<(u32, String, u32, String), Vec<Found<'_>>> = BTreeMap::new();
    for (found, pointers) in parts.into_values() {
        // Beside one that is aligned, two may be the neighbours on both sides.
        if found.len() < pointers && found.len() <= NEIGHBOURS {
            continue;
        }
        if found.len() > 1 && found.iter().all(|one| one.is_offset) {
            drafts.extend(of_parts(facts, found));
            continue;
        }
        for found in found {
            let draft = &found.draft;
            // Of an offset that several arrays have, as a region that begins somewhere in rows, the lines are one thing, too.
            let line = if found.is_offset { 0 } else { draft.line };
            let place = (found.worst.kernel.id, draft.file.clone(), line, draft.cure.clone());
            lines.entry(place).or_default().push(found);
        }
    }
    drafts.extend(lines.into_values().filter_map(|found| of_line(facts, found, |access| facts.target(access))));
    drafts
}

/// The finding of parts that an allocation is divided into without regard to sectors.
fn of_parts(facts: &Facts<'_>, found: Vec<Found<'_>>) -> Option<Draft> {
    let allocation = facts.allocation_name(found.first()?.worst.allocation)?;
    let name = |access: &Access<'_>| access.variable().map_or_else(|| facts.target(access), |name| format!("`{name}`"));
    let draft = of_line(facts, found, name)?;
    let cure = format!(
        "let each part of {allocation} begin on a multiple of 128 bytes, as what cudaMalloc returns does: round its offset up where the parts are laid out"
    );
    Some(Draft { cure, ..draft })
}

/// What is found of one allocation.
struct Found<'a> {
    /// Without what it is rated by.
    draft: Draft,
    worst: &'a Access<'a>,
    hits: Vec<&'a Access<'a>>,
    /// The data begins at an offset, the same in all requests.
    is_offset: bool,
}

/// The finding of a line and a cure: of the array that loses most, with the others' names.
fn of_line(facts: &Facts<'_>, mut found: Vec<Found<'_>>, name: impl Fn(&Access<'_>) -> String) -> Option<Draft> {
    found.sort_by_key(|one| (std::cmp::Reverse(one.worst.sums.excess()), one.worst.column, one.worst.allocation));
    let hits: Vec<&Access<'_>> = found.iter().flat_map(|one| one.hits.iter().copied()).collect();
    let each: Vec<Vec<&Access<'_>>> = found.iter().map(|one| one.hits.clone()).collect();
    let names: Vec<String> = found.iter().skip(1).map(|one| name(one.worst)).collect();
    let Found { mut draft, worst, .. } = found.into_iter().next()?;
    if !names.is_empty() {
        let others = match &names[..] {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            names => names.join(""),
        };
        draft.reason.push_str(&format!("; so do those to {others}"));
    }
    let wasted_by = |hits: &[&Access<'_>]| {
        let of_kernel = hits.iter().map(|access| super::strided_access::excess_of_kernel(facts, access)).sum();
        facts.waste(worst.kernel, &Saving::of_coalescing(hits, facts), of_kernel)
    };
    let is_worth = each.iter().any(|hits| wasted_by(hits) >= WORTH_A_CHANGE);
    let of_kernel: f64 = hits.iter().map(|access| super::strided_access::excess_of_kernel(facts, access)).sum();
    if of_kernel < LEAST_OF_KERNEL {
        return None;
    }
    let saving = Saving::of_coalescing(&hits, facts);
    let waste = facts.waste(worst.kernel, &saving, of_kernel);
    let gain = facts.gain(worst.kernel, &saving, "each request touches only the sectors that its bytes fill");
    // Neighbouring warps share the sectors at the seams, so that caches hide what the estimate does not see either.
    let score = waste.max(of_kernel * facts.kernel_share(worst.kernel)).min(waste.max(WORTH_A_CHANGE));
    let is_gained = gain.is_some() || facts.estimate(worst.kernel).is_none();
    let draft = draft.gain(gain).score(score);
    // Longer rows are more bytes, and another begin of what lies in them is another index everywhere: where little is gained for these, nobody has to.
    let pads_rows = draft.cure.starts_with(PAD_ROWS);
    let is_little = draft.cure.contains("behind the row's begin")
        && draft.gain.as_ref().is_none_or(|gain| gain.factor < LEAST_FOR_BORDERS);
    let draft =
        if pads_rows && (!(is_gained || is_worth) || is_little) { draft.severity(Severity::Note) } else { draft };
    // Where a library is to begin, as one behind a zero, the user knows.
    (draft.severity > Severity::Note || !is_system(&worst.kernel.file)).then_some(draft)
}

/// A stencil reads its neighbours beside the element itself, and only one of the three can be aligned. So all accesses of the
/// kernel through one pointer have to be misaligned, or the rows begin anywhere.
fn found<'a>(facts: &Facts<'_>, accesses: &[&'a Access<'a>]) -> Option<Found<'a>> {
    let plain = is_contiguous;
    let misaligned = |access: &Access<'_>| share(access.pattern.misaligned, access.pattern.contiguous) >= 0.5;
    if !accesses.iter().all(|access| !plain(access) || (misaligned(access) && !access.has_aligned)) {
        return None;
    }
    // Neighbours on both sides without the element between them: whatever is moved, one of them stays off.
    let offsets: BTreeSet<u64> = accesses.iter().flat_map(|access| &access.sector_offsets).copied().collect();
    if offsets.len() > 1 {
        return None;
    }
    // Where an index out of memory says where lanes begin, as a row of a sparse matrix, no layout aligns them.
    let loaded = |access: &Access<'_>| access.operand.is_some_and(|operand| operand.loaded_index);
    let hit = |access: &&&Access<'_>| plain(access) && !loaded(access) && access.sums.excess_share() >= LEAST_EXCESS;
    let hits: Vec<&'a Access<'a>> = accesses.iter().filter(hit).copied().collect();
    let worst =
        *hits.iter().max_by_key(|access| (access.sums.excess(), std::cmp::Reverse((access.line, access.column))))?;
    let sums = &worst.sums;
    let target = facts.target(worst);
    let array = worst.variable().map_or_else(|| "the array".to_owned(), |name| format!("`{name}`"));
    let structure = worst.operand.filter(|operand| {
        operand.member.is_some()
            && operand.structure_bytes > worst.bytes
            && u64::from(operand.structure_bytes) % SECTOR_BYTES != 0
    });
    // Whatever begins on a sector, what lies beside it does not.
    if worst.op == "load" && beside::is_neighbour(worst) && !is_staged(facts, worst) {
        return None;
    }
    let pattern = &worst.pattern;
    let begins_alike = share(pattern.misaligned, pattern.contiguous) >= NEARLY_ALL;
    let offset = pattern.offset_bytes.filter(|offset| begins_alike && offset % SECTOR_BYTES != 0);
    let (where_it_is, cure) = match (offset, structure) {
        (None, Some(operand)) => (
            format!(
                "where the member {} begins in structures of {}",
                operand.member.as_deref().map_or(String::new(), |name| format!("`{}`", name.trim_start_matches('.'))),
                words::bytes(operand.structure_bytes.into()),
            ),
            "let the member begin on a multiple of 32 bytes in the structure, and give the structure a size that is one (alignas(32)), or \
             keep the member in an array of its own"
                .to_owned(),
        ),
        (Some(offset), _) => (
            format!("{offset} bytes behind the begin of a 128-byte line"),
            format!(
                "let the data begin on a multiple of 128 bytes: move the offset of {} ({} of {} bytes) to the padding or pad the front to a \
                 whole line",
                words::bytes(offset),
                words::several(offset / u64::from(worst.bytes.max(1)), "element", "elements"),
                worst.bytes
            ),
        ),
        // A block whose threads fill no whole lines puts the next one's begin off, too.
        (None, None) if ends_within_sector(worst).is_some_and(is_row) && index::blocks_follow_each_other(worst) => (
            "where the block before them ends".to_owned(),
            "give blocks a multiple of 32 threads, so that each begins on a sector".to_owned(),
        ),
        (None, None) if let Some(offset) = pattern.sector_offset_bytes.filter(|&offset| begins_alike && offset != 0) => (
            format!("{} behind the begin of a sector, in each block and row alike", words::bytes(offset)),
            format!(
                "let each block's first thread begin on a multiple of 32 bytes in {array}: a border that blocks share, an offset in the index \
                 or the number of elements that a block takes puts it off; make these multiples of {} elements",
                (SECTOR_BYTES / u64::from(worst.bytes.max(1))).max(1),
            ),
        ),
        // One block a launch, each warp once: the launch works on a part that begins anywhere, and there are no rows.
        (None, None) if is_one_part(worst) => return None,
        // A window whose elements are held within the rows, as by min and max, has neighbours on both sides.
        (None, None) if beside::is_held_within(worst) => return None,
        // Where data decides over the begin, as of the part of an array that is sorted next, there are no rows either.
        (None, None) if index::is_decided_by_data(worst) => return None,
        (None, None) if index::slides(worst) => return None,
        (None, None) if index::has_shares_of_blocks(worst) => (
            "where the block's share happens to begin".to_owned(),
            format!(
                "blocks share a border, or take another number of elements than they have threads: let that number be a multiple of {} elements, so that each \
                 block begins on a sector",
                (SECTOR_BYTES / u64::from(worst.bytes.max(1))).max(1),
            ),
        ),
        // Warps of such blocks begin within rows, wherever these begin.
        (None, None) if let Some([width, ..]) = ends_within_sector(worst).filter(|&block| !is_row(block)) => (
            format!("within rows, as a warp of a block {width} threads wide does"),
            "give blocks a width of a multiple of 32 threads, so that no warp begins within a block's row; let the length of a row be a \
             multiple of 32 bytes, too, as cudaMallocPitch does"
                .to_owned(),
        ),
        // Nothing in the index goes from row to row.
        (None, None) if !index::has_rows(worst) => return None,
        // A number of more bytes is that of a row which unrolling has made a constant.
        (None, None) if let border @ 1..=MOST_OF_BORDER = index::border_bytes(worst) && border % SECTOR_BYTES as i64 != 0 => (
            format!("where rows happen to begin, and {} behind that", words::bytes(border.unsigned_abs())),
            format!(
                "{PAD_ROWS}, and let what the threads take of a row begin on a sector, too: it begins {} of {} bytes behind the row's begin, as behind a border, to which padding in front of it gives whole sectors",
                words::several(border.unsigned_abs() / u64::from(worst.bytes.max(1)), "element", "elements"),
                worst.bytes,
            ),
        ),
        (None, None) if let Some(share) = index::share_of_blocks(worst) => (
            "where rows, or the parts of blocks, happen to begin".to_owned(),
            format!(
                "{PAD_ROWS}; where blocks take parts of {share} elements each, round that number up to a multiple of {}, so that each part begins on a sector",
                (SECTOR_BYTES / u64::from(worst.bytes.max(1))).max(1),
            ),
        ),
        (None, None) => (where_rows_begin(worst), PAD_ROWS.to_owned()),
    };
    let reason = format!(
        "the requests to {target} begin {where_it_is}, not on a sector: each touches {} sectors of 32 bytes where {} would hold its data",
        words::ratio(sums.sectors, sums.requests),
        words::ratio(sums.ideal_sectors, sums.requests),
    );
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .evidence("offset_bytes", worst.pattern.offset_bytes.map_or(f64::NAN, |offset| offset as f64))
        .evidence("sector_offset_bytes", worst.pattern.sector_offset_bytes.map_or(f64::NAN, |offset| offset as f64))
        .evidence("misaligned_requests", worst.pattern.misaligned as f64)
        .evidence("requests", sums.requests as f64)
        .evidence("sectors", sums.sectors as f64)
        .evidence("ideal_sectors", sums.ideal_sectors as f64);
    Some(Found { draft, worst, hits, is_offset: offset.is_some() })
}

/// Whether what it loads goes to shared memory, as a tile that may as well begin on a sector.
fn is_staged(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let mut shared = facts.accesses_of(access.kernel.id, "shared");
    shared.any(|one| one.op == "store" && one.file == access.file && one.line.abs_diff(access.line) <= NEAR_LINES)
}

/// Where rows of no whole sectors begin, with their length where that is known.
fn where_rows_begin(access: &Access<'_>) -> String {
    let begin = "where rows happen to begin";
    match beside::row_bytes(access).filter(|bytes| bytes % SECTOR_BYTES != 0) {
        Some(bytes) => format!(
            "{begin}, which are {bytes} bytes long (the next multiple of {SECTOR_BYTES} is {})",
            bytes.next_multiple_of(SECTOR_BYTES)
        ),
        None => begin.to_owned(),
    }
}

/// Whether lane lies beside lane in most requests.
fn is_contiguous(access: &Access<'_>) -> bool {
    share(access.pattern.contiguous, access.pattern.requests) >= 0.5
}

/// The shape of the kernel's blocks, if what a row of a block's threads accesses does not fill whole sectors.
fn ends_within_sector(access: &Access<'_>) -> Option<[u32; 3]> {
    block_of(access.kernel).filter(|block| u64::from(block[0]) * u64::from(access.bytes) % SECTOR_BYTES != 0)
}

/// Whether a block has one row of threads.
fn is_row(block: [u32; 3]) -> bool {
    block[1] == 1 && block[2] == 1
}

/// Whether each launch has a block that makes a request of each warp.
fn is_one_part(access: &Access<'_>) -> bool {
    let one = |grid: [u32; 3]| grid == [1; 3];
    let kernel = access.kernel;
    access.most_requests <= warps(kernel)
        && kernel.launches.iter().all(|launch| one(launch.grid))
        && kernel.launch_groups.iter().all(|group| group.grid.is_some_and(one))
}
