//! Constant memory that lanes read at different addresses: it serves one address per pass (CUDA C++ Best Practices Guide,
//! "Constant Memory").

use std::collections::BTreeMap;

use super::super::draft::{About, Draft, Saved};
use super::super::facts::Facts;
use super::super::facts::access::{Access, Sums, share};
use super::super::gain::Saving;
use super::super::words;

/// Passes per request, at least.
const PASSES: f64 = 1.5;
/// Least share of the kernel's requests.
const LEAST_OF_KERNEL: f64 = 0.02;

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let serial = |access: &&Access<'_>| {
        access.space == "constant" && access.sums.passes as f64 >= PASSES * access.sums.ideal_passes.max(1) as f64
    };
    // A statement may look up several elements of a table, as those of a round of a cipher.
    type Key<'a> = (u32, &'a str, u32, Option<u64>, Option<&'a str>);
    let mut statements: BTreeMap<Key<'_>, Vec<&Access<'_>>> = BTreeMap::new();
    for access in facts.accesses.iter().filter(serial) {
        let key = (access.kernel.id, access.file, access.line, access.allocation, access.variable());
        statements.entry(key).or_default().push(access);
    }
    statements.into_values().filter_map(|accesses| draft(facts, &accesses)).collect()
}

fn draft(facts: &Facts<'_>, accesses: &[&Access<'_>]) -> Option<Draft> {
    let access = *accesses.iter().max_by_key(|access| (access.sums.passes, std::cmp::Reverse(access.column)))?;
    let sum = |value: fn(&Sums) -> u64| accesses.iter().map(|access| value(&access.sums)).fold(0, u64::saturating_add);
    let (requests, passes) = (sum(|sums| sums.requests), sum(|sums| sums.passes));
    let of_kernel = share(requests, facts.requests(access.kernel));
    if of_kernel < LEAST_OF_KERNEL {
        return None;
    }
    let excess = passes.saturating_sub(sum(|sums| sums.ideal_passes));
    let name = facts.target(access);
    let reason = format!(
        "the lanes of a warp read {name} in constant memory at {} different addresses a request; constant memory serves one address per \
         pass, so that {} take {} passes",
        words::ratio(passes, requests),
        words::several(requests, "request", "requests"),
        words::count(passes),
    );
    let cure = format!(
        "read {} through global memory (const __restrict__, where neighbouring lanes are one request) or shared memory, or make its index \
         the same for all lanes of a warp",
        access.variable().map_or_else(|| "it".to_owned(), |name| format!("`{name}`")),
    );
    let all: u64 =
        facts.accesses_of(access.kernel.id, "constant").map(|access| access.sums.passes).fold(0, u64::saturating_add);
    let saved = Saved {
        saving: Saving::of("constant", excess as f64),
        otherwise: share(excess, all),
        assumption: "one address per clock, and requests at one address take no time",
        ..Saved::default()
    };
    Some(
        Draft::new(reason, cure)
            .at_access(access)
            .evidence("requests", requests as f64)
            .evidence("passes", passes as f64)
            // Tables that a kernel looks up in the same way have one place to go to.
            .one_cause(Some("lanes at different addresses".to_owned()))
            .about(About::Lanes)
            .saves(facts, saved),
    )
}
