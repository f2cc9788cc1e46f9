//! Lanes that meet in a bank of shared memory with different words: their request takes a pass for each (CUDA C++ Programming
//! Guide, "Shared Memory" of compute capability 5.x).

mod lanes;
mod padding;
mod structures;

use std::collections::BTreeMap;

use lanes::{
    are_evenly_apart, has_own_rows, is_of_thread, meeting, meets_another_place, row_between_neighbours, rows_of_array,
    rows_of_block, stride,
};
use padding::{Turns, behind_each_turn, padded_by_words, padding, padding_of_rows};
use structures::{of_structures, of_vector};

use super::super::draft::{Draft, Saved, WORTH_A_CHANGE};
use super::super::facts::access::{Access, Sums, share};
use super::super::facts::index;
use super::super::facts::terms::terms_of;
use super::super::facts::{Facts, block_of, lane_axis};
use super::super::gain::Saving;
use super::super::words;
use crate::geometry::Banks;
use crate::profile::is_system;
use crate::profile::model::{BankConflict, Severity, ThreadStep};

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

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let conflicts = |access: &&Access<'_>| {
        let sums = &access.sums;
        access.space == "shared"
            && access.pattern.bank_conflict.is_some()
            && share(sums.passes.saturating_sub(sums.ideal_passes), sums.passes) >= LEAST_EXCESS
    };
    // A statement may take several elements of an array.
    type Key<'a> = (u32, &'a str, u32, &'a str, Option<&'a str>);
    let mut statements: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    for access in facts.accesses.iter().filter(conflicts) {
        let key = (access.kernel.id, access.file, access.line, access.op, access.variable());
        statements.entry(key).or_default().push(access);
    }
    let statements = statements.into_values().filter_map(|accesses| {
        let key = |access: &&&Access<'_>| {
            let excess = access.sums.passes.saturating_sub(access.sums.ideal_passes);
            (excess, std::cmp::Reverse((access.column, access.site)))
        };
        let worst = *accesses.iter().max_by_key(key)?;
        draft(facts, worst, Passes::of(&accesses))
    });
    statements.collect()
}

/// Sums over the accesses of a statement.
#[derive(Clone, Copy)]
struct Passes {
    requests: u64,
    taken: u64,
    ideal: u64,
}

impl Passes {
    fn of(accesses: &[&Access<'_>]) -> Passes {
        let sum = |value: fn(&Sums) -> u64| accesses.iter().map(|one| value(&one.sums)).fold(0, u64::saturating_add);
        Passes {
            requests: sum(|sums| sums.requests),
            taken: sum(|sums| sums.passes),
            ideal: sum(|sums| sums.ideal_passes),
        }
    }
}

fn draft(facts: &Facts<'_>, access: &Access<'_>, all: Passes) -> Option<Draft> {
    let example = access.pattern.bank_conflict.as_ref()?;
    let banks = facts.rates.and_then(|rates| rates.shared_banks).unwrap_or(Banks::USUAL);
    let banks = Banks { merges_pairs: banks.merges_pairs && access.op == "load", ..banks };
    let sums = &access.sums;
    let name = access.variable().map_or_else(|| "shared memory".to_owned(), |name| format!("`{name}`"));
    let verb = match access.op {
        "store" => "write",
        "atomic" => "update",
        _ => "read",
    };
    let excess = all.taken.saturating_sub(all.ideal);
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
        words::several(all.requests, "request", "requests"),
        words::count(all.taken),
        words::count(all.ideal),
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
    let peers: Vec<&Access<'_>> = facts
        .accesses_of(access.kernel.id, "shared")
        .filter(|peer| peer.variable().is_some() && peer.variable() == access.variable())
        .collect();
    let rows =
        rows_of_block(access).or_else(|| peers.iter().find_map(|peer| rows_of_block(peer))).filter(|_| !computed);
    let rows_of_peers = rows_of_array(access, example, &peers, banks);
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
    // Several rows of the array may lie between two of the block.
    let row = rows.and_then(|rows| {
        let each = std::iter::once(example).chain(peers.iter().copied()).find_map(row_between_neighbours)?;
        rows.is_multiple_of(each).then_some(each)
    });
    let padding = length
        .and_then(|length| padding(example, &peers, length, MOST_PADDING, banks))
        .or_else(|| padding_of_rows(example, &peers, row?, block_of(access.kernel)?[0], banks))
        .or_else(|| padding(example, &peers, rows?, MOST_ROW_PADDING, banks));
    let turns = behind_each_turn(example, &peers, banks);
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
        (_, Some((length, elements, passes))) if row == Some(length) && stride.is_none() => {
            let row = length / u64::from(example.bytes.max(1));
            format!(
                "rows of {name} meet in the same banks here: pad them by {} ({} instead of {row}): counted again with that, the request takes {passes} instead of {} passes; or give the block a width \
                 of 32 threads, so that a warp is one row",
                words::several(elements, "element", "elements"),
                row + elements,
                example.passes,
            )
        }
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
            let (padded, passes) = turns.map(padded_turns).unwrap_or_else(|| {
                let each = stride.unsigned_abs() / u64::from(example.bytes.max(1));
                let padding = words::several(elements, "element", "elements");
                (format!("pad the {each} elements of a thread by {padding}"), passes)
            });
            of_items(&name, stride, example, &padded, passes)
        }
        (Some(stride), None)
            if !(is_whole || structure || in_steps)
                && let Some(passes) = padded_by_words(example, stride.unsigned_abs(), banks) =>
        {
            let row = stride.unsigned_abs() / u64::from(WORD_BYTES);
            format!(
                "neighbouring lanes have rows of {row} words of {name} here, of which the compiler takes {} bytes at a time: leave a word of padding behind each row (index i becomes i + i / {row}), so that \
                 lanes at the same word of their rows are in different banks: counted again with that, word by word, the request takes {passes} instead of {} passes",
                example.bytes, example.passes,
            )
        }
        (Some(stride), None)
            if is_of_thread(stride, example)
                && !(structure || in_steps)
                && let Some((padded, passes)) = turns.map(padded_turns) =>
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
        (Some(_), None) if in_steps && let Some(turns) = turns => format!(
            "the distance between lanes in {name} changes from step to step: leave {}, so that {}: counted again with that, the request takes {} instead of {} passes; in a reduction, \
             {} instead (`if (i < half) a[i] += a[i + half]`)",
            turns.padding(),
            turns.index(),
            turns.passes,
            example.passes,
            in_each_step(example),
        ),
        (Some(_), None) if in_steps => format!(
            "the distance between lanes in {name} changes from request to request: in a reduction, {} (`if (i < half) a[i] += a[i + half]`); the steps of a scan or a transform keep their \
             distances, and no padding that was tried here serves the worst of them",
            in_each_step(example),
        ),
        (Some(stride), None) if stride.unsigned_abs() > u64::from(example.bytes) => format!(
            "let neighbouring lanes take neighbouring words of {name}: {}exchange the indices, or pad the rows",
            if structure { "keep an array of each member instead of an array of structures, " } else { "" },
        ),
        (None, None)
            if !(computed || varies)
                && let Some((row, elements, passes)) =
                    rows_of_peers.iter().find_map(|&(row, most)| padding::padding(example, &[], row, most, banks)) =>
        {
            is_sure = false;
            let row = row / u64::from(example.bytes.max(1));
            format!(
                "groups of lanes lie a multiple of {} words apart in {name}: leave {} of padding behind every {row} (index i becomes i + i / {row}{}): counted again with that, the request takes {passes} \
                 instead of {} passes",
                banks.banks,
                words::several(elements, "element", "elements"),
                if elements > 1 { format!(" * {elements}") } else { String::new() },
                example.passes,
            )
        }
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
            && super::super::facts::gather::has_own_columns(access, &terms_of(access)) =>
        {
            format!(
                "each thread has a column of {name} of its own, but elements of {} put those of {} neighbouring lanes into one bank: take elements of {WORD_BYTES} bytes, so that each lane stays in a bank of its own",
                words::bytes(access.bytes.into()),
                WORD_BYTES / access.bytes.max(1),
            )
        }
        _ if computed && access.op == "store" => {
            is_sure = false;
            let padded = turns.map_or(String::new(), |turns| format!("; {}", with_turns(turns, example)));
            format!("the data says where each lane stores in {name}: see how the index is computed{padded}")
        }
        // Data gives how far lanes are apart, the thread's number how often: no table that each lane could have a copy of.
        _ if computed && of_thread && are_evenly_apart(example) => {
            is_sure = false;
            let padded = turns.map_or(String::new(), |turns| format!(": {}", with_turns(turns, example)));
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
    let unified = facts.rates.is_none_or(|rates| rates.unified);
    let saving = Saving::of(if unified { "l1_data" } else { "shared" }, excess as f64);
    let of_kernel: u64 =
        facts.accesses_of(access.kernel.id, "shared").map(|access| access.sums.passes).fold(0, u64::saturating_add);
    let saved = Saved {
        saving,
        otherwise: share(excess, of_kernel),
        assumption: "no bank conflicts in this access",
        ..Saved::default()
    };
    let draft = Draft::new(reason, cure)
        .at_access(access)
        .evidence("requests", all.requests as f64)
        .evidence("passes", all.taken as f64)
        .evidence("ideal_passes", all.ideal as f64)
        .evidence("worst_passes", example.passes.into())
        .evidence("padding_elements", padding.map_or(0.0, |(_, elements, _)| elements as f64))
        .saves(facts, saved);
    let draft = match padding {
        Some((_, elements, _)) => draft.alike(format!("padding by {elements} elements of {} bytes", example.bytes)),
        // However many passes are left in each of the accesses.
        None if in_steps && turns.is_some() => {
            draft.alike(format!("padding behind each turn of elements of {} bytes", example.bytes))
        }
        None => draft,
    };
    // Where nobody knows a cure, as of places that the data chooses, what the kernel hardly waits for need not change.
    let by_chance = !is_sure && draft.gain.as_ref().is_none_or(|gain| gain.factor < LEAST_UNSURE_GAIN);
    if by_chance && !of_library && draft.score < WORTH_A_CHANGE {
        return None;
    }
    Some(if by_chance || of_library { draft.severity(Severity::Note) } else { draft })
}

/// What the lanes of a reduction's steps can do: those that work may have idle ones between them.
fn in_each_step(example: &BankConflict) -> &'static str {
    if example.lanes.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1) {
        "let neighbouring lanes take neighbouring elements in every step"
    } else {
        "let the active lanes be neighbours in every step"
    }
}

/// "with an element of padding behind every 32, so that …".
fn with_turns(turns: Turns, example: &BankConflict) -> String {
    format!(
        "with {}, so that {}, the worst request takes {} instead of {} passes, counted again",
        turns.padding(),
        turns.index(),
        turns.passes,
        example.passes
    )
}

/// The same as something to do, and the passes of the example with it.
fn padded_turns(turns: Turns) -> (String, u32) {
    (format!("leave {} ({})", turns.padding(), turns.index()), turns.passes)
}

/// The cure where each thread has a few neighbouring elements.
fn of_items(name: &str, stride: i64, example: &BankConflict, padded: &str, passes: u32) -> String {
    let each = stride.unsigned_abs() / u64::from(example.bytes.max(1));
    format!(
        "neighbouring lanes take one of every {each} elements of {name} here: {padded}: counted again with that, the request takes {passes} instead of {} passes; or, where it does not \
         matter which thread takes which elements, let a thread take some that lie far apart, as i and i + blockDim.x in the place of {each} * i and {each} * i + 1",
        example.passes,
    )
}

/// Whether a library's function, which the compiler took into the user's kernel, makes the access.
fn is_of_library(access: &Access<'_>) -> bool {
    !is_system(&access.kernel.file) && ["cub::", "thrust::"].iter().any(|name| access.innermost.contains(name))
}
