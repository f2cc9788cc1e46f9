//! Constant memory that lanes read at different addresses, although it serves one address per pass (CUDA C++ Best
//! Practices Guide, "Constant Memory").

use super::super::gain::total;
use super::super::prelude::*;
use super::super::thresholds::banks::*;
use std::collections::BTreeMap;

described! {
    enum Cause {
        DivergentAddresses { addresses: Ratio, requests: Count, passes: Count } => "divergent-constant-addresses",
    }
    enum Remedy {
        MoveTable => "move-table-to-global-or-shared-memory",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let serial = |access: &&Access<'_>| {
        let least = LEAST_CONSTANT_PASSES * access.sums.ideal_passes.max(1) as f64;
        access.space == "constant" && access.sums.passes as f64 >= least
    };
    // A statement may read several elements of a table, as a round of a cipher does.
    type Key<'a> = (u32, &'a str, u32, Option<u64>, Option<&'a str>);
    let mut statements: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    for access in facts.accesses.iter().filter(serial) {
        let key = (access.kernel.id, access.file, access.line, access.allocation, access.variable());
        statements.entry(key).or_default().push(access);
    }
    statements.into_values().filter_map(|accesses| draft(facts, &accesses)).collect()
}

fn draft(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> Option<Draft> {
    let access = worst(accesses.iter().copied(), |access| access.sums.passes)?;
    let sum = |value| total(accesses, value);
    let (requests, passes) = (sum(|sums| sums.requests), sum(|sums| sums.passes));
    if share(requests, facts.requests(access.kernel)) < LEAST_CONSTANT_SHARE {
        return None;
    }
    let excess = passes.saturating_sub(sum(|sums| sums.ideal_passes));
    let of_kernel = facts.accesses_of(access.kernel.id, "constant").map(|access| access.sums.passes);
    let saved = Saved::new(Saving::new("constant", excess as f64), share(excess, of_kernel.total()));
    let cause = Cause::DivergentAddresses {
        addresses: Ratio(share(passes, requests)),
        requests: Count(requests),
        passes: Count(passes),
    };
    let draft = Draft::for_access(facts, Diagnosis::new(&cause, &Remedy::MoveTable), access)
        .evidence("requests", requests as f64)
        .evidence("passes", passes as f64)
        // Tables that a kernel reads with the same pattern are moved together.
        .one_cause(Some("divergent-constant-addresses".to_owned()))
        .saves(facts, saved);
    Some(draft)
}
