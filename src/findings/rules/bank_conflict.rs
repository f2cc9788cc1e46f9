//! Lanes that meet in a bank of shared memory with different words: their request takes a pass for each (CUDA C++ Programming
//! Guide, "Shared Memory" of compute capability 5.x).

use super::super::access::{Access, share};
use super::super::context::{Context, block_of, lane_axis};
use super::super::draft::{Draft, Saved, WORTH_A_CHANGE};
use super::super::gain::Saving;
use super::super::index;
use super::super::terms::terms_of;
use super::super::words;
use crate::geometry::{BankRules, Banks, Width};
use crate::metrics::{WavefrontMemo, wavefronts};
use crate::profile::is_system;
use crate::profile::model::{BankConflict, Severity, ThreadStep};
use warpline_format::access::{Addresses, Space};

/// Of a bank; accesses of more may be several of the source, joined.
const WORD_BYTES: u32 = 4;
/// Least share of an access's passes that come of conflicts.
const LEAST_EXCESS: f64 = 0.2;
/// Passes of all requests against those of the worst, at most, where the distance between lanes changes from step to step.
const MOST_ALIKE: f64 = 0.9;
/// The same of each active lane.
const MOST_ALIKE_BY_LANE: f64 = 0.75;
/// Elements of padding that are tried.
const MOST_PADDING: u64 = 4;
/// The same for rows of the block that meet each other: half a warp's row may have to move by half the banks.
const MOST_ROW_PADDING: u64 = 16;

/// What a cure that may not be there would have to bring.
const LEAST_UNSURE_GAIN: f64 = 1.1;

/// Elements from lane to lane, at most, that are a thread's own rather than a row of an array.
const MOST_PAIR: u64 = 4;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let conflicts = |access: &&Access<'_>| {
        let sums = &access.sums;
        access.space == "shared"
            && access.pattern.bank_conflict.is_some()
            && share(sums.passes.saturating_sub(sums.ideal_passes), sums.passes) >= LEAST_EXCESS
    };
    context.accesses.iter().filter(conflicts).filter_map(|access| draft(context, access)).collect()
}

fn draft(context: &Context<'_>, access: &Access<'_>) -> Option<Draft> {
    let example = access.pattern.bank_conflict.as_ref()?;
    let banks = context.rates.and_then(|rates| rates.shared_banks).unwrap_or(Banks::USUAL);
    let sums = &access.sums;
    let name = access.variable().map_or_else(|| "shared memory".to_owned(), |name| format!("`{name}`"));
    let verb = match access.op {
        "store" => "write",
        "atomic" => "update",
        _ => "read",
    };
    let excess = sums.passes.saturating_sub(sums.ideal_passes);
    let stride = stride(access, example);
    let lanes_met = meeting(example, banks);
    let apart = match stride {
        Some(stride) if stride.unsigned_abs() > example.bytes.into() => {
            format!(", whose words are {} apart", words::bytes(stride.unsigned_abs()))
        }
        _ => String::new(),
    };
    let reason = format!(
        "the lanes of a warp {verb} {name} through the same banks{apart}: {} take {} passes where {} would do; in the worst request lanes \
         {} meet in one bank, and it takes {} passes instead of {}",
        words::several(sums.requests, "request", "requests"),
        words::count(sums.passes),
        words::count(sums.ideal_passes),
        lanes_met,
        example.passes,
        example.ideal,
    );
    // Where the stride changes from request to request, as in a reduction's steps, no padding cures them all; where the index
    // comes out of memory, the data says where lanes meet.
    let computed = access.operand.is_some_and(|operand| operand.loaded_index) || index::is_made_of_data(access);
    // Lanes that meet at an address as well have the atomic finding's cure, copies of the array, for both.
    let of_thread = index::is_made_of_thread(access);
    if (computed || !of_thread) && access.op == "atomic" && super::atomic_contention::meet(access) {
        return None;
    }
    let fixed = access.operand.is_some_and(|operand| {
        matches!(operand.thread_steps[lane_axis(access.kernel)], ThreadStep::Bytes(_) | ThreadStep::Times(_))
    });
    let stride = stride.filter(|_| !computed);
    let own_rows = computed && has_own_rows(example, banks);
    // What pads the rows for one access pads them for all of the array's.
    let peers: Vec<&Access<'_>> = context
        .accesses_of(access.kernel.id, "shared")
        .filter(|peer| peer.variable().is_some() && peer.variable() == access.variable())
        .collect();
    let rows =
        rows_of_block(access).or_else(|| peers.iter().find_map(|peer| rows_of_block(peer))).filter(|_| !computed);
    let peers: Vec<&BankConflict> = peers.iter().filter_map(|peer| peer.pattern.bank_conflict.as_ref()).collect();
    // Lanes that take a member of neighbouring structures, wherever the first of them begins, as around the end of a ring.
    let structure = of_structures(access, stride, example);
    let of_structures = stride.is_some() && structure;
    // The code's first step is not that of the worst request: a loop changes it.
    let steps_grow = stride.is_some_and(|stride| {
        let step = access.operand.map(|operand| &operand.thread_steps[lane_axis(access.kernel)]);
        matches!(step, Some(ThreadStep::Bytes(first)) if !of_structures && first.unsigned_abs() < stride.unsigned_abs())
    });
    let varies = (sums.passes as f64) < MOST_ALIKE * sums.requests as f64 * f64::from(example.passes);
    // A step that is multiplied by a value of the kernel: by one that a loop changes where a lane's passes are not always alike. Fewer
    // active lanes take fewer passes whatever is between them.
    let differs_by_lane = sums.lanes > 0 && {
        let of_lane = sums.passes as f64 / sums.lanes as f64;
        let of_worst = f64::from(example.passes) / example.lanes.len().max(1) as f64;
        of_lane < MOST_ALIKE_BY_LANE * of_worst
    };
    let times_grow = differs_by_lane && {
        let step = access.operand.map(|operand| &operand.thread_steps[lane_axis(access.kernel)]);
        matches!(step, Some(ThreadStep::Times(_)))
    };
    let in_steps = stride.is_some()
        && varies
        && !of_structures
        && (steps_grow || times_grow || !fixed && differs_by_lane || access.steps_differ || index::step_grows(access));
    let length = match access.operand {
        Some(operand) if of_structures => {
            stride.map(|stride| stride.unsigned_abs().max(u64::from(operand.structure_bytes)))
        }
        _ => stride.filter(|_| fixed && !in_steps).map(i64::unsigned_abs),
    };
    let padding = length
        .and_then(|length| padding(example, &peers, length, MOST_PADDING, banks))
        .or_else(|| padding(example, &peers, rows?, MOST_ROW_PADDING, banks));
    // A vector type of that size, and no elements that the compiler joined.
    let is_whole = access.operand.is_some_and(|operand| operand.structure_bytes == example.bytes);
    let mut is_sure = true;
    let cure = match (stride, padding) {
        // No arrangement of the one's rows keeps the other's lanes away.
        _ if !computed && meets_another_place(access, example, banks) => {
            is_sure = false;
            "most lanes take neighbouring places here and would not meet; those that they meet take another array, or a part far away (as at the border of a tile, of which the compiler has \
             made one access): keep what all of them take in one array, as a tile that has its border around it, or leave it"
                .to_owned()
        }
        // The padding is tried for the lanes of a row first, whose distance may be that of the rows, too.
        (_, Some((length, elements, passes))) if rows == Some(length) && stride.map(i64::unsigned_abs) != rows => {
            let row = length / u64::from(example.bytes.max(1));
            format!(
                "rows of the block meet in the same banks: pad the rows of {name} by {} ({} instead of {row}), or, where several of them lie between two rows of the \
                 block, all of these together: counted again with that, the request takes {passes} instead of {} passes; or give the block a width of 32 threads, so that a warp is one row",
                words::several(elements, "element", "elements"),
                row + elements,
                example.passes,
            )
        }
        (Some(_), Some(_)) if structure && let Some(whole) = of_vector(access, example) => format!(
            "take {whole} bytes of {name} with one access (the vector type as a whole), which is done for {} lanes at a time, instead of one member after \
             the other; or keep an array of each member",
            u64::from(banks.pass_bytes()) / whole,
        ),
        (Some(_), Some((_, elements, passes))) if structure => format!(
            "keep an array of each member instead of an array of structures in {name}, or pad the structure by {} bytes: counted again with \
             that, the request takes {passes} instead of {} passes",
            elements * u64::from(example.bytes.max(1)),
            example.passes,
        ),
        (Some(stride), Some((_, elements, passes))) if example.bytes > WORD_BYTES && !is_whole => format!(
            "pad the rows of {name} by {}, so that neighbouring lanes are {} instead of {} apart: counted again with that, the request takes {passes} \
             instead of {} passes; where its elements are smaller, of which the compiler has joined neighbouring ones to one access, one of them \
             is padding enough",
            words::bytes(elements * u64::from(example.bytes)),
            words::bytes(stride.unsigned_abs() + elements * u64::from(example.bytes)),
            words::bytes(stride.unsigned_abs()),
            example.passes,
        ),
        // Two or four elements are what a thread takes, rather than a row.
        (Some(stride), Some((_, elements, passes))) if is_of_thread(stride, example) => {
            let (padded, passes) = padded_turns(example, banks).unwrap_or_else(|| {
                let each = stride.unsigned_abs() / u64::from(example.bytes.max(1));
                let padding = words::several(elements, "element", "elements");
                (format!("pad the {each} elements of a thread by {padding}"), passes)
            });
            of_items(&name, stride, example, &padded, passes)
        }
        (Some(stride), None)
            if is_of_thread(stride, example)
                && !(structure || in_steps)
                && let Some((padded, passes)) = padded_turns(example, banks) =>
        {
            of_items(&name, stride, example, &padded, passes)
        }
        (Some(stride), Some((_, elements, passes))) => {
            let row = stride.unsigned_abs() / u64::from(example.bytes.max(1));
            format!(
                "pad the rows of {name} by {}, so that neighbouring lanes are {} instead of {row} elements apart: counted again with that, the \
                 request takes {passes} instead of {} passes; or swizzle the column index with the row (`column ^ row`)",
                words::several(elements, "element", "elements"),
                row + elements,
                example.passes,
            )
        }
        (Some(_), None) if in_steps && let Some(passes) = behind_each_turn(example, banks) => format!(
            "the distance between lanes in {name} changes from step to step: leave an element of padding behind every {} words, so that index i \
             becomes i + i / {}: counted again with that, the request takes {passes} instead of {} passes; in a reduction, let the active lanes be \
             neighbours in every step instead (`if (i < half) a[i] += a[i + half]`)",
            banks.banks,
            u64::from(banks.pass_bytes()) / u64::from(example.bytes.max(1)),
            example.passes,
        ),
        (Some(_), None) if in_steps => format!(
            "the distance between lanes in {name} changes from request to request: let the active lanes be neighbours in every step \
             (in a reduction: `if (i < half) a[i] += a[i + half]`)"
        ),
        (Some(stride), None) if stride.unsigned_abs() > u64::from(example.bytes) => format!(
            "let neighbouring lanes take neighbouring words of {name}: {}exchange the indices, or pad the rows",
            if structure { "keep an array of each member instead of an array of structures, " } else { "" },
        ),
        // No padding of the rows serves all accesses of the array.
        _ if rows.is_some() && block_of(access.kernel).is_some_and(|block| block[0] < 32) => format!(
            "rows of the block meet in the same banks, and no padding of {name} serves all of its accesses: give the block a width of 32 threads, so that a warp is \
             one row, with rows that are longer by one element where lanes go across them"
        ),
        _ if own_rows => format!(
            "each thread has a row of {name} to itself, and what it takes of it depends on the data: exchange the indices, so that the thread's \
             number is the last one ({name} as `[element][threadIdx.x]`) and each lane stays in a bank of its own whatever its element"
        ),
        // Columns of elements that are narrower than a bank's word: two lanes have theirs in one bank.
        _ if computed
            && access.bytes < WORD_BYTES
            && super::random_gather::has_own_columns(access, &terms_of(access)) =>
        {
            format!(
                "each thread has a column of {name} of its own, but elements of {} put those of {} neighbouring lanes into one bank: take elements of {WORD_BYTES} bytes, so that each lane stays in a bank of its own",
                words::bytes(access.bytes.into()),
                WORD_BYTES / access.bytes.max(1),
            )
        }
        _ if computed && access.op == "store" => {
            is_sure = false;
            let turn = u64::from(banks.pass_bytes()) / u64::from(example.bytes.max(1));
            let padded = behind_each_turn(example, banks).map_or(String::new(), |passes| {
                format!(
                    "; with an element of padding behind every {turn} words, so that index i becomes i + i / {turn}, the worst request takes {passes} \
                     instead of {} passes, counted again",
                    example.passes
                )
            });
            format!("the data says where each lane stores in {name}: see how the index is computed{padded}")
        }
        // Data gives how far lanes are apart, the thread's number how often: no table that each lane could have a copy of.
        _ if computed && of_thread && are_evenly_apart(example) => {
            is_sure = false;
            let turn = u64::from(banks.pass_bytes()) / u64::from(example.bytes.max(1));
            let padded = behind_each_turn(example, banks).map_or(String::new(), |passes| {
                format!(
                    ": with an element of padding behind every {turn} words, so that index i becomes i + i / {turn}, the worst request takes {passes} instead of {} passes, counted again",
                    example.passes
                )
            });
            format!(
                "how far neighbouring lanes are apart in {name} depends on the data here: look at which distances are usual, and at whether padding helps those{padded}"
            )
        }
        _ if computed => {
            is_sure = false;
            format!(
                "the banks depend on the data here: look at how the index into {name} is computed, and whether lanes can take the same or neighbouring elements; of a table of a few elements each lane may \
                 have a copy (`[index][lane]`), and stay in a bank of its own"
            )
        }
        // The code does not say how the index is made.
        _ if !of_thread && index::is_decided_by_data(access) => {
            is_sure = false;
            format!(
                "the index into {name} is not known before the kernel runs: look at how it is computed; where loaded data chooses the element, as of a table, no padding helps, and a copy of a small one for \
                 each lane (`[index][lane]`) keeps each in a bank of its own"
            )
        }
        _ => {
            is_sure = false;
            format!(
                "the index into {name} is computed{} so that the lanes above are a multiple of {} words apart: look at how, and at whether \
                 the lanes of a warp can take neighbouring words, or padding can lie between the groups of lanes that meet",
                if of_thread { " from the thread's number" } else { "" },
                banks.banks,
            )
        }
    };
    let of_library = is_of_library(access);
    let cure = if of_library {
        "this is the code of a block-wide algorithm that the line calls, not yours: see whether another algorithm of it, or another number of items for \
         each thread (an odd one keeps lanes in different banks), serves you better"
            .to_owned()
    } else {
        cure
    };
    let unified = context.rates.is_none_or(|rates| rates.unified);
    let saving = Saving::of(if unified { "l1_data" } else { "shared" }, excess as f64);
    let all: u64 =
        context.accesses_of(access.kernel.id, "shared").map(|access| access.sums.passes).fold(0, u64::saturating_add);
    let saved = Saved { saving, otherwise: share(excess, all), assumption: "no bank conflicts in this access" };
    let draft = Draft::new(reason, cure)
        .at_access(access)
        .evidence("requests", sums.requests as f64)
        .evidence("passes", sums.passes as f64)
        .evidence("ideal_passes", sums.ideal_passes as f64)
        .evidence("worst_passes", example.passes.into())
        .evidence("padding_elements", padding.map_or(0.0, |(_, elements, _)| elements as f64))
        .saves(context, saved);
    let draft = match padding {
        Some((_, elements, _)) => draft.alike(format!("padding by {elements} elements of {} bytes", example.bytes)),
        None => draft,
    };
    // Where nobody knows a cure, as of places that the data chooses, what the kernel hardly waits for need not change.
    let by_chance = !is_sure && draft.gain.as_ref().is_none_or(|gain| gain.factor < LEAST_UNSURE_GAIN);
    if by_chance && !of_library && draft.score < WORTH_A_CHANGE {
        return None;
    }
    Some(if by_chance || of_library { draft.severity(Severity::Note) } else { draft })
}

/// Whether the lanes that lie where the thread's number puts them do not meet each other, but others, which lie elsewhere.
fn meets_another_place(access: &Access<'_>, example: &BankConflict, banks: Banks) -> bool {
    let Some(block) = block_of(access.kernel) else { return false };
    let (Some(operand), axis) = (access.operand, lane_axis(access.kernel)) else { return false };
    let width = block[axis].max(1);
    let step = |axis: usize| match operand.thread_steps.get(axis) {
        Some(ThreadStep::Bytes(bytes)) => Some(*bytes),
        _ => None,
    };
    let Some(by_lane) = step(axis).filter(|bytes| *bytes != 0) else { return false };
    let by_row = step(axis + 1);
    if by_row.is_none() && width < 32 {
        return false;
    }
    let begin = |&(lane, address): &(u32, u64)| {
        let moved = i64::from(lane % width) * by_lane + i64::from(lane / width) * by_row.unwrap_or(0);
        (address as i64).wrapping_sub(moved)
    };
    let mut counts = std::collections::BTreeMap::new();
    example.lanes.iter().for_each(|lane| *counts.entry(begin(lane)).or_insert(0usize) += 1);
    let Some((&usual, &count)) = counts.iter().max_by_key(|(_, count)| **count) else { return false };
    let own = BankConflict {
        lanes: example.lanes.iter().filter(|lane| begin(lane) == usual).copied().collect(),
        ..example.clone()
    };
    2 * count > example.lanes.len()
        && count < example.lanes.len()
        && passes(&own, banks, |address| address) <= own.ideal
}

/// Whether lanes are so near each other that what lies between them is a thread's own.
fn is_of_thread(stride: i64, example: &BankConflict) -> bool {
    (2..=MOST_PAIR).contains(&(stride.unsigned_abs() / u64::from(example.bytes.max(1))))
}

/// Padding behind all banks' words, in words, and the passes of the example with it.
fn padded_turns(example: &BankConflict, banks: Banks) -> Option<(String, u32)> {
    let turn = u64::from(banks.pass_bytes()) / u64::from(example.bytes.max(1));
    let passes = behind_each_turn(example, banks)?;
    Some((format!("leave an element of padding behind every {turn} (index i becomes i + i / {turn})"), passes))
}

/// The cure where each thread has a few neighbouring elements.
fn of_items(name: &str, stride: i64, example: &BankConflict, padded: &str, passes: u32) -> String {
    let each = stride.unsigned_abs() / u64::from(example.bytes.max(1));
    format!(
        "neighbouring lanes take one of every {each} elements of {name} here: let a thread take elements that lie far apart, as i and i + blockDim.x in \
         the place of {each} * i and {each} * i + 1, so that neighbouring lanes have neighbouring words, or {padded}: counted again with \
         that, the request takes {passes} instead of {} passes",
        example.passes,
    )
}

/// Whether a library's function, which the compiler took into the user's kernel, makes the access.
fn is_of_library(access: &Access<'_>) -> bool {
    !is_system(&access.kernel.file) && ["cub::", "thrust::"].iter().any(|name| access.innermost.contains(name))
}

/// Whether it takes a member of an array's structures, and not of one structure that holds the array.
fn of_structures(access: &Access<'_>, stride: Option<i64>, example: &BankConflict) -> bool {
    let Some(operand) = access.operand else { return false };
    let size = u64::from(operand.structure_bytes);
    // An array within a structure: without the structure's size, lanes are taken to stay in it.
    let is_array = size == 0 && operand.member.as_deref().is_some_and(|member| member.ends_with("[]"));
    operand.member.is_some()
        && !is_array
        && (stride.is_none_or(|stride| size <= stride.unsigned_abs()) || are_neighbours(example, size))
}

/// Bytes of the vector type whose members it takes one at a time: padding would take its alignment away. Where the size of the type is not
/// known, as of what is read through another one, its members tell.
fn of_vector(access: &Access<'_>, example: &BankConflict) -> Option<u64> {
    let size = match u64::from(access.operand?.structure_bytes) {
        0 => of_all_members(access)?,
        size => size,
    };
    (matches!(size, 8 | 16) && size > u64::from(example.bytes)).then_some(size)
}

/// Bytes of all members of a vector of two or four, where the access takes them all.
fn of_all_members(access: &Access<'_>) -> Option<u64> {
    let names: Vec<&str> = access.members.keys().map(|name| name.trim_start_matches("[].")).collect();
    let all = ["w", "x", "y", "z"];
    (names == all || names == all[1..3]).then(|| access.members.values().map(|&bytes| u64::from(bytes)).sum())
}

/// Whether the active lanes are structures of this size apart, with lanes between them that do nothing.
fn are_neighbours(example: &BankConflict, size: u64) -> bool {
    let mut apart = example.lanes.windows(2).map(|pair| pair[1].1.abs_diff(pair[0].1));
    size > 0 && apart.all(|bytes| bytes != 0 && bytes.is_multiple_of(size))
}

/// Passes of the example with an element of padding behind all banks' words, if that cures most of the conflict.
fn behind_each_turn(example: &BankConflict, banks: Banks) -> Option<u32> {
    let turn = u64::from(banks.pass_bytes());
    if u64::from(example.bytes) >= turn {
        return None;
    }
    let passes = passes(example, banks, |address| address + address / turn * u64::from(example.bytes));
    (passes <= example.ideal.max(example.passes / 4)).then_some(passes)
}

/// Whether each lane of the example stays in a row of its own whose length is a multiple of what the banks hold once: then the place
/// in the row alone decides over the bank.
fn has_own_rows(example: &BankConflict, banks: Banks) -> bool {
    let period = u64::from(banks.banks) * u64::from(banks.word_bytes);
    let (Some(&(first, low)), Some(&(last, high))) = (example.lanes.first(), example.lanes.last()) else {
        return false;
    };
    let apart = u64::from(last.saturating_sub(first));
    if period == 0 || apart < 8 || high <= low {
        return false;
    }
    let length = ((high - low) / apart + period / 2) / period * period;
    let start = low / period * period;
    let in_own_row = |&(lane, address): &(u32, u64)| {
        let begin = start.saturating_add(u64::from(lane.saturating_sub(first)).saturating_mul(length));
        (begin..begin.saturating_add(length)).contains(&address)
    };
    length > 0 && example.lanes.iter().all(in_own_row)
}

/// Whether neighbouring lanes of the example are about equally far apart, by more than an element, as where their number is multiplied or divided.
fn are_evenly_apart(example: &BankConflict) -> bool {
    let element = u64::from(example.bytes.max(1));
    let mut apart = Vec::new();
    for pair in example.lanes.windows(2) {
        let lanes = u64::from(pair[1].0.saturating_sub(pair[0].0)).max(1);
        let Some(bytes) = pair[1].1.checked_sub(pair[0].1) else { return false };
        apart.push(bytes / lanes);
    }
    let (least, most) = (apart.iter().min().copied().unwrap_or(0), apart.iter().max().copied().unwrap_or(0));
    least > element && most <= least + element
}

/// Bytes from one lane to the next: as the code has it, or as all lanes of the example have it.
fn stride(access: &Access<'_>, example: &BankConflict) -> Option<i64> {
    let pairs = example.lanes.windows(2).map(|pair| (pair[1].0 - pair[0].0, pair[1].1 as i64 - pair[0].1 as i64));
    let steps_of_example: Vec<Option<i64>> =
        pairs.map(|(lanes, bytes)| (bytes % i64::from(lanes) == 0).then(|| bytes / i64::from(lanes))).collect();
    let first = (*steps_of_example.first()?)?;
    if steps_of_example.iter().all(|step| *step == Some(first)) {
        return Some(first);
    }
    // Warps of several rows: within a row, and to the next.
    match access.operand?.thread_steps.get(lane_axis(access.kernel))? {
        // An unrolled loop may have other steps, and the example come from one of these.
        ThreadStep::Bytes(bytes) if steps_of_example.contains(&Some(*bytes)) => Some(*bytes),
        _ => None,
    }
}

/// Bytes from one row of the block to the next, where a warp has several.
fn rows_of_block(access: &Access<'_>) -> Option<u64> {
    let block = block_of(access.kernel)?;
    let axis = lane_axis(access.kernel);
    let steps = &access.operand?.thread_steps;
    // Where the row's own lanes do not lie along it, as on the fields of one colour of a board, the step is not one row of the array.
    match (&steps[axis], steps.get(axis + 1)?) {
        (ThreadStep::Bytes(_), ThreadStep::Bytes(bytes)) if block[axis] < 32 => Some(bytes.unsigned_abs()),
        _ => None,
    }
}

/// Passes of the example, if its addresses were these.
fn passes(example: &BankConflict, banks: Banks, place: impl Fn(u64) -> u64) -> u32 {
    let bytes: Vec<u8> = example.lanes.iter().flat_map(|&(_, address)| place(address).to_le_bytes()).collect();
    let mask = example.lanes.iter().fold(0u32, |mask, &(lane, _)| mask | 1u32.checked_shl(lane).unwrap_or(0));
    if mask.count_ones() as usize != example.lanes.len() || mask == 0 {
        return u32::MAX;
    }
    let access =
        warpline_format::access::Access { site: 0, space: Space::Shared, mask, addresses: Addresses::Full(&bytes) };
    let rules = BankRules { shared: banks, data: None };
    let width = Width::solid(example.bytes.clamp(1, 64));
    wavefronts(&access, width, &rules, &mut WavefrontMemo::default(), &mut Vec::new(), None).passes
}

/// The fewest elements that rows of this length are to be padded by so that the example needs no passes beyond the ideal ones,
/// or at most an eighth of those it takes, and other examples of the array as few as can be: the row's length in bytes, the elements, and
/// the passes then.
fn padding(
    example: &BankConflict,
    peers: &[&BankConflict],
    row: u64,
    most: u64,
    banks: Banks,
) -> Option<(u64, u64, u32)> {
    let element = u64::from(example.bytes.max(1));
    if row < 2 * element || !row.is_multiple_of(element) {
        return None;
    }
    let tried = (1..=most).map(|elements| {
        let padded = |address: u64| address + address / row * elements * element;
        let others = peers.iter().map(|peer| passes(peer, banks, padded)).fold(0, u32::saturating_add);
        (passes(example, banks, padded), others, elements)
    });
    let (passes, _, elements) = tried.min()?;
    (passes <= example.ideal.max(example.passes / 8)).then_some((row, elements, passes))
}

/// Lanes of the example that meet in a bank with different words: one of each word, of the bank where most words are wanted.
/// Lanes that are served in different passes anyway, as of 8 and 16 bytes each, do not meet.
fn meeting(example: &BankConflict, banks: Banks) -> String {
    use std::collections::BTreeMap;
    let together = match example.bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    };
    let mut by_bank: BTreeMap<(u32, u64), BTreeMap<u64, u32>> = BTreeMap::new();
    for &(lane, address) in &example.lanes {
        let word = address / u64::from(banks.word_bytes.max(1));
        let bank = word % u64::from(banks.banks.max(1));
        by_bank.entry((lane / together, bank)).or_default().entry(word).or_insert(lane);
    }
    let most = by_bank.into_values().max_by_key(BTreeMap::len).unwrap_or_default();
    let mut lanes: Vec<u32> = most.into_values().collect();
    lanes.sort_unstable();
    let shown: Vec<String> = lanes.iter().take(3).map(u32::to_string).collect();
    format!("{}{}", shown.join(", "), if lanes.len() > 3 { ", …" } else { "" })
}
