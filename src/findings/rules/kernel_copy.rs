//! Kernels that only copy one array to another between the steps of an iteration, where the two pointers could be exchanged.

use super::super::prelude::*;
use super::super::thresholds::reuse::WHOLE_ARRAY;

described! {
    enum Cause {
        OneToAnother { from: Shown, to: Shown, launches: Count } => "array-to-array",
    }
    enum Remedy {
        ExchangePointers => "exchange-pointers",
    }
}

/// A load and the store of its value.
struct Pair<'f, 'a> {
    load: &'f Access<'a>,
    store: &'f Access<'a>,
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let user = facts.profile.kernels.iter().filter(|kernel| !is_system(&kernel.file) && !kernel.is_triton());
    user.filter(|kernel| kernel.launch_count() > 1 && computes_nothing(kernel))
        .filter_map(|kernel| draft(facts, kernel, &pairs(facts, kernel)?))
        .collect()
}

/// Returns whether the kernel executes only arithmetic for addresses.
fn computes_nothing(kernel: &Kernel) -> bool {
    ["fp16", "fp32", "fp64", "special", "tensor"].iter().all(|class| !kernel.instructions.contains_key(*class))
}

/// Returns the copies of a kernel, if the kernel only copies.
fn pairs<'f, 'a>(facts: &'f Facts<'a>, kernel: &Kernel) -> Option<Vec<Pair<'f, 'a>>> {
    let mut pairs = Vec::new();
    let accesses: Vec<&Access<'_>> = facts.accesses.iter().filter(|access| access.kernel.id == kernel.id).collect();
    for &store in accesses.iter().filter(|access| access.op == "store") {
        let load = accesses.iter().find(|load| load.is_load() && is_copied(facts, load, store))?;
        pairs.push(Pair { load, store });
    }
    (!pairs.is_empty() && accesses.len() == 2 * pairs.len()).then_some(pairs)
}

/// Returns whether one statement copies all of an array to another array without reordering elements. Other kernels
/// must write the first array and read the second one.
fn is_copied(facts: &Facts<'_>, load: &Access<'_>, store: &Access<'_>) -> bool {
    let is_one_statement = (load.file, load.line, load.bytes) == (store.file, store.line, store.bytes)
        && load.sums.lanes == store.sums.lanes
        && load.space == "global"
        && store.space == "global"
        && is_contiguous(load)
        && is_contiguous(store);
    let (Some(from), Some(to)) = (facts.memory(load), facts.memory(store)) else { return false };
    let is_whole = |access: &Access<'_>, one: &Allocation| {
        let each = access.sums.bytes as f64 / access.kernel.launch_count().max(1) as f64;
        each >= WHOLE_ARRAY * one.touched_bytes as f64
    };
    let by_others = |allocation: u64, loads: bool| {
        facts
            .accesses
            .iter()
            .any(|one| one.kernel.id != load.kernel.id && one.allocation == Some(allocation) && one.is_load() == loads)
    };
    is_one_statement
        && from.id != to.id
        && from.bytes == to.bytes
        && is_whole(load, from)
        && is_whole(store, to)
        && by_others(from.id, false)
        && by_others(to.id, true)
}

fn draft(facts: &Facts<'_>, kernel: &Kernel, pairs: &[Pair<'_, '_>]) -> Option<Draft> {
    let worst = pairs.iter().max_by_key(|pair| (pair.load.sums.bytes, std::cmp::Reverse(pair.load.line)))?;
    let (from, to) = (facts.memory(worst.load)?, facts.memory(worst.store)?);
    let launches = Count(kernel.launch_count());
    let cause = Cause::OneToAnother { from: describe(from), to: describe(to), launches };
    let seconds = facts.estimate(kernel).map_or(0.0, |estimate| estimate.seconds);
    let others = pairs.iter().filter(|pair| pair.load.line != worst.load.line);
    let lines = others.map(|pair| FindingLine { line: pair.load.line, column: pair.load.column }).collect();
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &Remedy::ExchangePointers), worst.store)
        .evidence("launches", kernel.launch_count() as f64)
        .evidence("bytes", pairs.iter().map(|pair| pair.load.sums.bytes as f64).sum())
        .gain(facts.program_gain(seconds))
        .score(facts.kernel_share(kernel));
    Some(draft.with_lines(lines))
}
