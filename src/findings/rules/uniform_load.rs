//! Loads from global memory in which all lanes read one address. If such broadcasts are frequent, constant memory,
//! shared memory or a register is faster (CUDA C++ Best Practices Guide, "Constant Memory").

use super::super::facts::broadcast::{NotConstant, bytes_together, is_broadcast, is_iterated, not_constant};
use super::super::facts::index;
use super::super::prelude::*;
use super::super::thresholds::reuse::*;
use std::collections::{BTreeMap, BTreeSet};

described! {
    enum Cause {
        ConstantTable { share: Share, others: Option<Names> } => "constant-table",
        BroadcastLoad { share: Share, others: Option<Names>, why: Choice } => "broadcast-load",
    }
    enum Remedy {
        UseConstantMemory => "use-constant-memory",
        LoadOnce => "load-once",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let is_meant = |access: &&Access<'_>| {
        access.space == "global"
            && access.is_load()
            && !access.in_library
            && is_broadcast(access)
            && is_iterated(access)
    };
    type Key<'a> = (u32, Option<u64>, Option<&'a str>);
    let mut arrays: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    for access in facts.accesses.iter().filter(is_meant) {
        arrays.entry((access.kernel.id, access.allocation, access.variable())).or_default().push(access);
    }
    // Arrays of a kernel that fit in constant memory are one change.
    let mut changes: BTreeMap<(u32, Option<Key<'_>>), Vec<&Access<'_>>> = BTreeMap::new();
    for (key, accesses) in
        arrays.into_iter().filter(|(_, accesses)| of_kernel(facts, accesses) >= LEAST_BROADCAST_SHARE)
    {
        let fits = accesses.iter().all(|access| not_constant(facts, access).is_none());
        changes.entry((key.0, (!fits).then_some(key))).or_default().extend(accesses);
    }
    changes.into_iter().filter_map(|((_, array), accesses)| draft(facts, &accesses, array.is_none())).collect()
}

/// Returns the share of the accesses in the kernel's requests.
fn of_kernel(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> f64 {
    let requests = accesses.iter().map(|access| access.sums.requests).total();
    accesses.first().map_or(0.0, |one| share(requests, facts.requests(one.kernel)))
}

/// Creates the finding for accesses that one change fixes.
fn draft(facts: &Facts<'_>, accesses: &[&Access<'_>], is_small: bool) -> Option<Draft> {
    let worst = *accesses.iter().max_by_key(|one| (one.sums.requests, std::cmp::Reverse((one.line, one.column))))?;
    let of_kernel = of_kernel(facts, accesses);
    let others: BTreeSet<&str> = accesses.iter().filter_map(|access| access.variable()).collect();
    let others = names(others.into_iter().filter(|name| Some(*name) != worst.variable()));
    let share = Share(of_kernel);
    let fits = is_small && bytes_together(facts, accesses) <= CONSTANT_BYTES;
    let (cause, remedy) = match fits {
        true => (Cause::ConstantTable { share, others }, Remedy::UseConstantMemory),
        // If a warp traverses a tree or a list together, the next address depends on the previous load.
        false if index::is_followed(worst) => return None,
        false => {
            let why = accesses.iter().find_map(|access| not_constant(facts, access)).unwrap_or(NotConstant::Large);
            (Cause::BroadcastLoad { share, others, why: Choice(why as u8) }, Remedy::LoadOnce)
        }
    };
    let saving = Saving::without_requests(accesses);
    // If another limit takes far longer, it hides these passes.
    if facts.waste(worst.kernel, &saving, of_kernel) < LEAST_BROADCAST_WASTE {
        return None;
    }
    let gain = facts.gain(worst.kernel, &saving).filter(|_| fits);
    let is_worth = gain.as_ref().is_some_and(|gain| {
        gain.factor >= LEAST_BROADCAST_GAIN && gain.seconds >= WORTH_A_CHANGE * facts.kernel_seconds
    });
    let others = accesses.iter().filter(|access| access.line != worst.line);
    let lines = others.map(|access| FindingLine { line: access.line, column: access.column }).collect();
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &remedy), worst)
        .evidence("requests", accesses.iter().map(|access| access.sums.requests as f64).sum())
        .evidence("share_of_requests", of_kernel)
        .gain(gain)
        .score(of_kernel * facts.kernel_share(worst.kernel));
    let draft = draft.with_lines(lines);
    Some(draft.note_if(!is_worth))
}
