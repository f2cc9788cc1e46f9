//! Conflicts between warps that nothing orders, as far as they were looked for (`src/races`).

use std::collections::{BTreeMap, BTreeSet};

use super::super::draft::Draft;
use super::super::facts::access::Access;
use super::super::facts::{Facts, block_of, thread_index};
use super::super::words;
use super::super::facts::launches::shape;
use crate::profile::model::{Conflict, ConflictParty, Kernel, Severity, ThreadStep};

/// Lines from one access to the next, at most, that lie side by side.
const NEAR_LINES: u32 = 2;
/// Lanes that load for each that stores, at least, where most of them load for nothing.
const FAR_MORE: u64 = 4;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let all = &facts.profile.conflicts;
    // What happens between blocks as well is told of these: no barrier orders them.
    let is_told = |conflict: &&Conflict| {
        conflict.severity == "warning"
            && !(is_in_block(conflict) && all.iter().any(|other| is_between_blocks(other, conflict)))
    };
    // One pair of lines is one thing to change, in however many blocks' memory it happens.
    let mut pairs: BTreeMap<_, Vec<&Conflict>> = BTreeMap::new();
    for conflict in all.iter().filter(is_told) {
        pairs.entry(lines_of(conflict)).or_default().push(conflict);
    }
    let drafts = pairs.into_iter().filter_map(|(lines, conflicts)| Some((lines, draft_of_pair(facts, &conflicts)?)));
    neighbours_together(drafts.collect())
}

/// Lines side by side that meet one line elsewhere are one thing to change.
fn neighbours_together(drafts: Vec<(Lines<'_>, Draft)>) -> Vec<Draft> {
    // What they have in common, with the last line and its number among those before.
    let mut chains: BTreeMap<_, (u32, usize)> = BTreeMap::new();
    let mut found = Vec::new();
    for ((kernel, scope, space, variable, sides), draft) in drafts {
        let [(op, file, line), other] = sides[..] else {
            found.push(draft);
            continue;
        };
        let key = (kernel, scope, space, variable, op, file, other, draft.allocation, draft.cure.clone());
        // Pairs come in the order of their lines.
        let (last, number) = chains.entry(key).or_insert((line, found.len()));
        if line.abs_diff(*last) > NEAR_LINES {
            *number = found.len();
        }
        *last = line;
        let cause = format!("race {number}");
        found.push(draft.one_cause(Some(cause)));
    }
    found
}

/// A conflict's kernel, scope, space, shared variable, and the lines of both sides.
type Lines<'a> = (u32, &'a str, &'a str, Option<&'a str>, Vec<(&'a str, &'a str, u32)>);

fn lines_of(conflict: &Conflict) -> Lines<'_> {
    let sides = conflict.accesses.iter().map(|party| (&party.op[..], &party.frame.file[..], party.frame.line));
    (conflict.kernel, &conflict.scope, &conflict.space, conflict.variable.as_deref(), sides.collect())
}

/// The finding of what happens most often, with the memory that the others are about.
fn draft_of_pair(facts: &Facts<'_>, conflicts: &[&Conflict]) -> Option<Draft> {
    let worst = conflicts.iter().max_by_key(|conflict| (conflict.count, std::cmp::Reverse(conflict.allocation)))?;
    let memory: BTreeSet<Option<u64>> = conflicts.iter().map(|conflict| conflict.allocation).collect();
    let times = conflicts.iter().map(|conflict| conflict.count).fold(0, u64::saturating_add);
    let others = match memory.len() {
        0 | 1 => String::new(),
        several => {
            format!("; the same in {}", words::several(several as u64 - 1, "other allocation", "other allocations"))
        }
    };
    let draft = draft(facts, worst);
    let draft = if is_early(facts, worst) { draft.severity(Severity::Note) } else { draft };
    Some(Draft { reason: draft.reason.clone() + &others, ..draft }.evidence("times", times as f64))
}

fn is_in_block(conflict: &Conflict) -> bool {
    conflict.scope == "block"
}

/// Whether blocks meet through the same two accesses as these warps of a block do: that is told of the blocks, or it is a bound or a flag, for
/// warps as for blocks.
fn is_between_blocks(other: &Conflict, conflict: &Conflict) -> bool {
    let places = |conflict: &Conflict| {
        let mut sites = conflict.accesses.each_ref().map(|party| party.site);
        sites.sort_unstable();
        (conflict.kernel, conflict.allocation, sites)
    };
    let is_settled = other.severity == "warning" || other.verdict == "flag";
    is_settled && !is_in_block(other) && places(other) == places(conflict)
}

fn draft(facts: &Facts<'_>, conflict: &Conflict) -> Draft {
    let file = conflict.accesses.first().map_or("", |party| &party.frame.file[..]);
    let place = |party: &ConflictParty| {
        // The finding's own file is told with its place.
        let elsewhere = if party.frame.file == file {
            String::new()
        } else {
            format!(" of {}", party.frame.file.rsplit('/').next().unwrap_or_default())
        };
        let on = if is_near(facts, conflict, party) { "on or near" } else { "on" };
        format!("the {} {on} line {}{elsewhere}", party.op, party.frame.line)
    };
    let places: Vec<String> = conflict.accesses.iter().map(place).collect();
    let named = conflict.variable.clone().map(|name| format!("`{name}`"));
    let target = named.or_else(|| facts.allocation_name(conflict.allocation));
    let in_block = is_in_block(conflict);
    let reason = format!(
        "{} reach the same bytes of {} through {}, and nothing orders them: the result depends on which comes first",
        if in_block { "warps of a block" } else { "blocks" },
        target.unwrap_or_else(|| "memory".to_owned()),
        places.join(" and "),
    );
    let kernel = facts.profile.kernels.iter().find(|kernel| kernel.id == conflict.kernel);
    let doubled = kernel.filter(|_| in_block).and_then(|kernel| doubled(facts, conflict, kernel));
    let (reason, cure) = match doubled {
        Some((axis, block)) => (
            format!(
                "{reason}; {} moves none of these addresses, so that in blocks of {} threads {} do the same to each element",
                thread_index(axis),
                shape(block),
                words::several(block[axis].into(), "thread", "threads"),
            ),
            format!(
                "launch blocks whose size in {} is 1, or let {} take part in the index",
                thread_index(axis).trim_start_matches("threadIdx."),
                thread_index(axis),
            ),
        ),
        None if kernel.is_some_and(Kernel::is_triton) => in_triton(reason, conflict, in_block),
        // A load before its condition, whose value may be thrown away.
        None if in_block && is_early(facts, conflict) => (
            reason + "; the load may be one that the compiler makes before it is known whether the value is needed",
            "where only one thread comes to this line between two barriers, nothing: what the others have loaded early is thrown away; else make the update atomic (atomicAdd and \
             its kin)"
                .to_owned(),
        ),
        // A barrier orders one line of code against another, and not the threads that all come to the same one.
        None if in_block && is_update(conflict) => (
            reason,
            "warps update the same element on one line, which no barrier orders: make the update atomic (atomicAdd and its kin), or let each element have \
             one thread that updates it; where threads have agreed before who may write, see whether two of them can have the same element"
                .to_owned(),
        ),
        // Elements that are computed from others as they were, in place.
        None if conflict.space == "global" && is_read(conflict) => (
            reason,
            format!(
                "where threads are to read what was there before, as in a relaxation or a stencil, write to another array than the kernel reads; where \
                 they are to read what others have written, {}; where either will do, as for a flag that only rises, say so in the code",
                if in_block { "put __syncthreads() between the two" } else { "split the kernel there" },
            ),
        ),
        // Two stores of different places: one of them is meant to be the last.
        None if of_two_stores(conflict) => (
            reason,
            if in_block && conflict.space != "global" {
                "put __syncthreads() between the two"
            } else if in_block {
                "where all threads of the block come to both, put __syncthreads() between the two; where threads of other blocks can come to the same elements, split the kernel there; where the \
                 smallest or largest value is meant, as in a relaxation, take atomicMin or atomicMax"
            } else {
                "where one is to come after the other, split the kernel there; else give each block its own part"
            }
            .to_owned(),
        ),
        None if is_with_atomic(conflict, "store") => (
            reason,
            format!(
                "make the store atomic, too, or {}; where what the atomic operation brings to these elements changes nothing, as an `or` of 0, either order is \
                 right",
                if in_block { "put __syncthreads() between the two" } else { "give each block its own part, or split the kernel" },
            ),
        ),
        None if in_block => (
            reason,
            "put __syncthreads() between them, or make the update atomic; where each thread is meant to have elements of its own there, its index leads to others' \
             as well"
                .to_owned(),
        ),
        None => (reason, "make the update atomic, give each block its own part, or split the kernel".to_owned()),
    };
    let frame = conflict.accesses.first().map(|party| &party.frame);
    let draft = Draft::new(reason, cure).at_frame(frame).score(1.0).severity(Severity::Warning);
    let draft = Draft { kernel: Some(conflict.kernel), allocation: conflict.allocation, ..draft };
    draft.object(conflict.variable.clone()).evidence("times", conflict.count as f64)
}

/// Whether the compiler merged or moved the access, so that its line is the nearest known one.
fn is_near(facts: &Facts<'_>, conflict: &Conflict, party: &ConflictParty) -> bool {
    let there = |access: &&Access<'_>| {
        (access.file, access.line, access.column, access.op)
            == (&party.frame.file[..], party.frame.line, party.frame.column, &party.op[..])
    };
    facts.accesses_of(conflict.kernel, &conflict.space).find(there).is_some_and(|access| access.is_near)
}

/// In Triton, whose source has neither warps nor a word for most of what orders them.
fn in_triton(reason: String, conflict: &Conflict, in_block: bool) -> (String, String) {
    if !in_block {
        let cure = "update with tl.atomic_add and its kin, give each program its own part, or split the kernel";
        return (reason, cure.to_owned());
    }
    let loads = conflict.accesses.iter().any(|party| party.op == "load");
    // Seen with kernels that work in place: `llama4_rope` of Liger-Kernel and others.
    let doubled = "; where a tile has fewer elements than the program has threads, Triton lets several warps load the same ones and one \
                   store them, and a result that only the storing warp has used does not change";
    (
        if loads { reason + doubled } else { reason },
        "write to another tensor than the kernel reads, or give tiles at least as many elements as there are threads (32 for each of \
         num_warps); where both must stay, put tl.debug_barrier() between the load and the store"
            .to_owned(),
    )
}

/// Whether an access of this kind meets an atomic operation.
fn is_with_atomic(conflict: &Conflict, op: &str) -> bool {
    let has = |op: &str| conflict.accesses.iter().any(|party| party.op == op);
    has("atomic") && has(op)
}

/// Whether both sides store, on different lines.
fn of_two_stores(conflict: &Conflict) -> bool {
    let [one, other] = &conflict.accesses;
    let place = |party: &ConflictParty| (party.frame.file.clone(), party.frame.line);
    one.op == "store" && other.op == "store" && place(one) != place(other)
}

/// Whether one side reads on another line than the other one writes.
fn is_read(conflict: &Conflict) -> bool {
    !is_update(conflict) && conflict.accesses.iter().any(|party| party.op == "load")
}

/// Whether both sides are of one statement whose load the compiler has moved before the condition of the store: far more lanes load there than
/// store. What each lane loads and stores is an update, wherever the load stands.
fn is_early(facts: &Facts<'_>, conflict: &Conflict) -> bool {
    let moved = |party: &ConflictParty| party.op == "load" && is_near(facts, conflict, party);
    let Some(party) = conflict.accesses.iter().find(|party| moved(party)).filter(|_| is_update(conflict)) else {
        return false;
    };
    let lanes = |op: &str| {
        let there = |access: &&Access<'_>| {
            (access.file, access.line, access.op) == (&party.frame.file[..], party.frame.line, op)
        };
        let of_kernel = facts.accesses_of(conflict.kernel, &conflict.space).filter(there);
        of_kernel.map(|access| access.sums.lanes).fold(0, u64::saturating_add)
    };
    lanes("load") > lanes("store").saturating_mul(FAR_MORE)
}

/// Whether both sides are the load and the store of one statement.
fn is_update(conflict: &Conflict) -> bool {
    let places: Vec<(&str, u32)> =
        conflict.accesses.iter().map(|party| (&party.frame.file[..], party.frame.line)).collect();
    let ops: Vec<&str> = conflict.accesses.iter().map(|party| &party.op[..]).collect();
    places.windows(2).all(|pair| pair[0] == pair[1]) && ops.contains(&"load") && ops.contains(&"store")
}

/// A dimension of the block that moves neither address, though another does: its threads do the same work.
fn doubled(facts: &Facts<'_>, conflict: &Conflict, kernel: &Kernel) -> Option<(usize, [u32; 3])> {
    let block = block_of(kernel)?;
    let of_party = |party: &ConflictParty| -> Vec<&Access<'_>> {
        let there = |access: &&Access<'_>| {
            (access.file, access.line, access.op) == (&party.frame.file[..], party.frame.line, &party.op[..])
                && access.sums.requests != 0
                && (conflict.allocation.is_none() || access.allocation == conflict.allocation)
        };
        facts.accesses_of(kernel.id, &conflict.space).filter(there).collect()
    };
    let parties: Vec<Vec<&Access<'_>>> = conflict.accesses.iter().map(of_party).collect();
    let unmoved = |axis: usize| {
        parties.iter().all(|accesses| {
            let still = |access: &&Access<'_>| {
                access.operand.is_some_and(|operand| {
                    let steps = &operand.thread_steps;
                    steps[axis] == ThreadStep::None && steps.iter().any(|step| *step != ThreadStep::None)
                })
            };
            !accesses.is_empty() && accesses.iter().all(still)
        })
    };
    (1..3).find(|&axis| block[axis] > 1 && unmoved(axis)).map(|axis| (axis, block))
}
