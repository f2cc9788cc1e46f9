//! Arrays of a thread that lie in local memory, mostly since their index is computed: registers have no addresses.

mod handed;
mod source;

use std::collections::BTreeMap;

use handed::Handed;
use source::{
    declared_bytes, has_variable_index, is_array, is_launch, is_reached_elsewhere, is_table, may_be_table,
    running_members,
};

use super::super::draft::{About, Draft, Saved};
use super::super::facts::access::{Access, share};
use super::super::facts::{Facts, block_of};
use super::super::gain::Saving;
use super::super::words;

use crate::profile::model::{Kernel, ThreadStep};

/// Least share of the kernel's requests.
const LEAST_OF_KERNEL: f64 = 0.05;
/// Bytes of a thread, at most, that registers, or columns in shared memory for a usual block, can hold.
const MOST_OF_THREAD: u64 = 512;

/// Bytes of shared memory that a block may have without asking for more.
const MOST_OF_BLOCK: u64 = 48 << 10;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<(u32, &str), Vec<&Access<'_>>> = BTreeMap::new();
    for access in facts
        .accesses
        .iter()
        .filter(|access| access.space == "local" && !access.in_library && !is_launch(facts, access))
    {
        if let Some(name) = access.variable() {
            groups.entry((access.kernel.id, name)).or_default().push(access);
        }
    }
    let all: Vec<_> = groups
        .into_iter()
        .map(|((kernel, name), accesses)| (kernel, name, handed::to(facts, name, &accesses), accesses))
        .collect();
    let only_function = |kernel: u32| {
        let mut functions = all.iter().filter(|(of, ..)| *of == kernel).filter_map(|(_, _, handed, _)| handed.as_ref());
        let first = &functions.next()?.function;
        functions.all(|one| one.function == *first).then(|| first.clone())
    };
    let found = all.iter().filter_map(|(kernel, name, handed, accesses)| {
        // What has constant indices lies in memory as somebody has its address, under a name of his own.
        let escapes = || Some(Handed { function: only_function(*kernel)?, only_there: false });
        let known = handed.clone().or_else(escapes);
        // Every function that reaches anything of the kernel's is a part of it.
        let is_inlined = !all.iter().any(|(of, _, handed, _)| of == kernel && handed.is_some());
        let (draft, asks_inlining) = draft(facts, name, accesses, known.as_ref(), is_inlined)?;
        let is_handed = handed.as_ref().is_some_and(|handed| handed.only_there);
        Some(Found { kernel: *kernel, name: (*name).to_owned(), is_handed, asks_inlining, draft })
    });
    handed::joined(facts, found.collect())
}

/// What is found of a variable.
struct Found {
    kernel: u32,
    name: String,
    /// It is what a function that is not inlined calls something of its caller's.
    is_handed: bool,
    /// What it is a part of stays in registers once functions are inlined.
    asks_inlining: bool,
    draft: Draft,
}

fn is_computed(access: &Access<'_>) -> bool {
    access.operand.is_some_and(|operand| {
        operand.loaded_index || operand.thread_steps.iter().any(|step| *step != ThreadStep::None)
    })
}

/// Whether the variable is a structure rather than an array: then nothing indexes it.
fn is_object(accesses: &[&Access<'_>]) -> bool {
    accesses.iter().all(|access| access.operand.is_some_and(|operand| operand.structure.is_some()))
}

/// What to say of shared memory, where the columns of a block's threads fit; of an array of unknown size they may.
fn column(kernel: &Kernel, size: Option<u64>) -> String {
    let threads = block_of(kernel).map_or(1, |block| block.iter().map(|&size| u64::from(size)).product::<u64>());
    let most = MOST_OF_BLOCK / threads.max(1);
    match size {
        Some(bytes) if bytes > most => String::new(),
        Some(_) => "; or keep it in shared memory, a column per thread (`[i][threadIdx.x]`)".to_owned(),
        None => format!(
            "; or keep it in shared memory, a column per thread (`[i][threadIdx.x]`; there is room for {} bytes of each of a block's {threads} threads)",
            most.min(MOST_OF_THREAD),
        ),
    }
}

/// What is found of a variable, and whether its cure is that functions are inlined.
fn draft(
    facts: &Facts<'_>,
    name: &str,
    accesses: &[&Access<'_>],
    handed: Option<&Handed>,
    is_inlined: bool,
) -> Option<(Draft, bool)> {
    let requests: u64 = accesses.iter().map(|access| access.sums.requests).fold(0, u64::saturating_add);
    let bytes: u64 = accesses.iter().map(|access| access.sums.bytes).fold(0, u64::saturating_add);
    let kernel = accesses.first()?.kernel;
    let of_kernel = share(requests, facts.requests(kernel));
    if of_kernel < LEAST_OF_KERNEL {
        return None;
    }
    // The line to change is one with a computed index; initialisation is done many times over, too.
    let key = |access: &&&Access<'_>| {
        let place = std::cmp::Reverse((access.line, access.column));
        (is_computed(access), has_variable_index(facts, name, access), access.sums.requests, place)
    };
    let worst = *accesses.iter().max_by_key(key)?;
    let computed = accesses.iter().any(|access| is_computed(access));
    let handed = handed.filter(|_| !computed && handed::are_unrolled(facts, name, accesses));
    let is_object = !computed && (is_object(accesses) || !is_array(facts, name, accesses));
    let members = if is_object { running_members(facts, accesses) } else { Vec::new() };
    let members = words::list(&members.into_iter().map(str::to_owned).collect::<Vec<String>>());
    let member = Some(&members[..]).filter(|members| !members.is_empty());
    let its_arrays = if members.contains(" and ") { "its arrays" } else { "its array" };
    let mut why = if let Some(Handed { function, .. }) = handed {
        let how = if is_object { "takes it by reference" } else { "is handed it" };
        format!("its address is taken: `{function}`, which is not inlined, {how}")
    } else if is_inlined && let Some(members) = member {
        format!(
            "the index into {its_arrays} {members} is computed while the kernel runs, and registers have no addresses"
        )
    } else if is_object {
        "its address is taken, as where it is handed to a function by reference, or it is volatile, as what a template makes of a volatile argument".to_owned()
    } else if computed {
        "its index is computed while the kernel runs, and registers have no addresses".to_owned()
    } else if is_inlined && accesses.iter().any(|access| has_variable_index(facts, name, access)) {
        "its index is no constant".to_owned()
    } else {
        "its address is taken or its index is no constant".to_owned()
    };
    if let Some(members) = member.filter(|_| !is_inlined || handed.is_some()) {
        why.push_str(&format!("; the index into {its_arrays} {members} is no constant either"));
    }
    let called =
        if name == "this" { "the object that it is called for (`this`)".to_owned() } else { format!("`{name}`") };
    let reason = format!(
        "{called} lies in local memory, as {why}: {} of the kernel's requests ({}) move {} to and from it",
        words::percent(of_kernel),
        words::several(requests, "request", "requests"),
        words::bytes(bytes),
    );
    let size = declared_bytes(facts, name, accesses);
    let column = column(kernel, size);
    let is_special = is_table(facts, name, accesses) || may_be_table(facts, name, accesses);
    let cure = if let (Some(Handed { function, .. }), None) = (handed, member) {
        if is_object && name == "this" {
            format!(
                "let `{function}` be inlined (__forceinline__), so that the object that it is called for can stay in registers"
            )
        } else if is_object {
            format!(
                "let `{function}` be inlined (__forceinline__), or hand `{name}` to it by value, so that it can stay in registers"
            )
        } else {
            format!(
                "let `{function}` be inlined (__forceinline__), and unroll what loops it has over what it is handed, so that this can stay in its caller's registers"
            )
        }
    } else if let Some(members) = member.filter(|_| is_inlined && handed.is_none()) {
        format!(
            "choose the elements of {members} with constant indices, so that `{name}` can stay in registers: unroll the loops over them completely (#pragma unroll, with bounds that are constants), and take \
             comparisons where the data decides over the element{column}"
        )
    } else if let Some(members) = member {
        format!(
            "let the functions that take the address of `{name}` be inlined (__forceinline__), so that its other members can stay in registers; choose the elements of {members} with constant indices, \
             too (unrolled loops, several elements at a time){column}"
        )
    } else if is_object {
        format!(
            "let the functions that take the address of `{name}` be inlined (__forceinline__), or hand it to them by value, and give it a type without \
             `volatile`, so that it can stay in registers"
        )
    } else if is_special && is_table(facts, name, accesses) {
        format!(
            "every thread writes the same values into `{name}`: make it a table that the program holds once (`static const` or `__constant__`, or \
             in shared memory, filled once per block, where the lanes of a warp read different elements)"
        )
    } else if is_special {
        format!(
            "where all threads write the same numbers into `{name}`, make it a table that the program holds once (`static const` or `__constant__`, or in shared memory, filled once per block, where the \
             lanes of a warp read different elements); else choose its elements with constant indices, so that it fits into registers"
        )
    } else if let Some(bytes) = size.filter(|&bytes| bytes > MOST_OF_THREAD) {
        format!(
            "`{name}` has {} for each thread, too much for registers, and for a column per thread in shared memory: let the threads of a warp or block work on \
             one such array together, in shared memory, or keep the part alone that is still needed (the last row, a band, a window); where each thread needs \
             all of it, leave it: elements of the same index lie side by side for the threads of a warp",
            words::bytes(bytes),
        )
    } else if !computed && is_reached_elsewhere(facts, name, accesses) {
        format!(
            "let the functions that `{name}` is handed to be inlined (__forceinline__), and unroll what loops they have over it, so that its indices are constants{column}"
        )
    } else if size.is_none() {
        format!(
            "where `{name}` has no more than {MOST_OF_THREAD} bytes for each thread, choose its elements with constant indices (unrolled loops, comparisons or a switch), so that it fits into \
             registers{column}; where it has more, compute what is read of it when it is read, let the threads of a warp or block work on one such array together, or leave it: elements of the \
             same index lie side by side for the threads of a warp"
        )
    } else {
        format!(
            "choose the elements of `{name}` with constant indices, so that it fits into registers: unroll the loops over it (#pragma unroll), take comparisons, min and max or a switch where the \
             data decides over the element, and pass it by value{column}"
        )
    };
    // Its functions have to become a part of their callers first.
    let asks_inlining = match (handed, member) {
        (Some(_), None) => true,
        (None, Some(_)) if is_inlined => false,
        (_, Some(_)) => true,
        (None, None) => {
            let is_known = is_special || size.is_some_and(|bytes| bytes > MOST_OF_THREAD);
            is_object || !is_known && !computed && is_reached_elsewhere(facts, name, accesses)
        }
    };
    let saving = accesses.iter().fold(Saving::default(), |sum, access| {
        let sums = &access.sums;
        sum.and(Saving::of("l1_tag", sums.stages.tag as f64))
            .and(Saving::of("l1_data", sums.stages.data as f64))
            .and(Saving::of("l1_lanes", (sums.stages.words * 32) as f64))
            .and(Saving::of("l2", (sums.l2_lookups * 32) as f64))
            .and(Saving::of("dram", ((sums.dram_reads + sums.dram_writes) * 32) as f64))
    });
    let draft = Draft::new(reason, cure)
        .at_access(worst)
        .object(Some(name))
        .about(About::Object)
        .evidence("requests", requests as f64)
        .evidence("bytes", bytes as f64)
        .evidence("share_of_requests", of_kernel)
        .one_cause(match handed {
            Some(handed) => Some(format!("handed to {}", handed.function)),
            // Arrays of a loop, an element of each in each iteration.
            None if !is_object && !is_special => Some(format!("{requests} requests, {bytes} bytes of {size:?}")),
            None => None,
        })
        .saves(
            facts,
            Saved {
                saving,
                otherwise: of_kernel,
                assumption: "no traffic for this array, and nothing else slower",
                ..Saved::default()
            },
        );
    Some((draft, asks_inlining))
}
