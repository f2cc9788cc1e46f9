//! What to do about operations that meet on an address.

use super::super::super::facts::access::Access;
use super::super::super::facts::{Facts, blocks, warps};
use super::saving::{Left, touched_bytes};
use super::{DEEP, depth};
use crate::profile::model::Atomics;
use warpline_format::condition::AtomicKind;

/// Addresses of a request, on average, up to which its lanes combine their values one address after the other.
const FEW_ADDRESSES: f64 = 4.0;
/// Bytes of shared memory that a block may have without asking for more.
const MOST_OF_BLOCK: u64 = 48 << 10;
/// Operations of each block, at least, where it comes again and again for its share of the work.
const TURNS: u64 = 4;

/// Operations that change nothing if they bring a 0, or swap a 0 for a 0.
const BRING: [&str; 5] = ["atomicAdd", "atomicSub", "atomicOr", "atomicXor", "atomicCAS"];

/// Whether the line's operations bring nothing, as `atomicAdd(&flag, 0)`, which reads what others have stored.
pub(super) fn only_reads(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let text = facts.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
    text.is_some_and(|text| brings_nothing(text))
}

/// Whether each operation of a line does so.
fn brings_nothing(text: &str) -> bool {
    let code: String = text.split("//").next().unwrap_or_default().split_whitespace().collect();
    let is_zero = |value: &str| matches!(value.trim_end_matches(['u', 'U', 'l', 'L']), "0");
    let mut calls = code.match_indices("atomic").map(|(at, _)| {
        let Some((name, rest)) = code[at..].split_once('(') else { return false };
        let name = name.trim_end_matches("_system").trim_end_matches("_block");
        let values = arguments(rest);
        let count = if name == "atomicCAS" { 3 } else { 2 };
        BRING.contains(&name) && values.len() == count && values[1..].iter().all(|value| is_zero(value))
    });
    calls.next().is_some_and(|first| first && calls.all(|one| one))
}

/// Arguments of a call, from behind its bracket on.
fn arguments(text: &str) -> Vec<&str> {
    let (mut open, mut begin, mut found) = (0i32, 0, Vec::new());
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => open += 1,
            ')' if open == 0 => {
                found.push(&text[begin..at]);
                return found;
            }
            ')' | ']' | '}' => open -= 1,
            ',' if open == 0 => {
                found.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    Vec::new()
}

/// What to do, and what is left then.
pub(super) fn cure(facts: &Facts<'_>, access: &Access<'_>, atomics: &Atomics) -> (&'static str, Left) {
    let depth = depth(atomics);
    let distinct_per_request = atomics.addresses as f64 / atomics.requests.max(1) as f64;
    let one_address = distinct_per_request < 1.5;
    match access.atomic.unwrap_or_default() {
        _ if access.result_used && only_reads(facts, access) => (
            "the operation changes nothing, so that it only reads: let a load do that which is no atomic operation, a volatile one or, where what others have stored before is read next, an \
             acquire load (cuda::atomic_ref); where threads wait here, let one of a block do it for all",
            Left::Block,
        ),
        AtomicKind::Attempt if !access.result_used => (
            "nobody uses what it returns, so that nobody tries again: of the lanes that meet one at most can find the value that it compares with; look at it \
             with a plain load first, and let only lanes whose comparison can succeed make the operation",
            Left::Warp,
        ),
        AtomicKind::Attempt => (
            "lanes that meet try again until each of them was first: use the operation itself where the GPU has it (atomicAdd of doubles, \
             atomicMin and atomicMax of 64 bits), else combine the values within the warp and the block first, where they can be, and let one \
             lane try",
            Left::Warp,
        ),
        AtomicKind::Exchange if !access.result_used => (
            "nobody uses what it returns, so that an exchange is a store, whichever comes last: where all threads store the same value, as a flag, let a plain store or \
             one lane do it (`if (__any_sync(..))`), before a barrier; what counts up to a limit (atomicInc, atomicDec) is no sum: spread it over several addresses, or \
             count with atomicAdd and take the remainder afterwards",
            Left::Warp,
        ),
        AtomicKind::Exchange | AtomicKind::Lock => (
            "such operations cannot be combined: let one lane of a warp or block make them for the others, spread them over several addresses (a \
             lock or slot per block), or see whether an atomicAdd whose result is used does the same",
            Left::Warp,
        ),
        AtomicKind::Subtract if access.result_used && depth >= DEEP && one_address => (
            "give back places for a whole warp at once: with m = __activemask(), let the lowest active lane (__ffs(m) - 1) subtract __popc(m), hand \
             what it gets to the others with __shfl_sync, and let each lane subtract the number of active lanes below it (__popc(m & ((1u << lane) \
             - 1)))",
            Left::Warp,
        ),
        _ if access.result_used && depth >= DEEP && one_address => (
            "take places for a whole warp at once: with m = __activemask(), let the lowest active lane (__ffs(m) - 1) add __popc(m), hand what it \
             gets to the others with __shfl_sync, and let each lane add the number of active lanes below it (__popc(m & ((1u << lane) - 1)))",
            Left::Warp,
        ),
        // A ticket that each block draws once is no share of the work.
        _ if access.result_used
            && one_address
            && atomics.lanes <= atomics.requests
            && atomics.requests >= TURNS * blocks(access.kernel) =>
        {
            (
                "what it returns is used, and one lane takes what the others need already: let it take more at a time (what several turns need), or give each block a fixed share, so that fewer operations meet",
                Left::Block,
            )
        }
        _ if access.result_used && one_address => (
            "what it returns is used, as a place in a list or the number of a ticket: take several at a time (one thread of a block adds as many as \
             its warps need, and hands them out), so that fewer operations meet",
            Left::Block,
        ),
        _ if access.space == "shared" && access.result_used => (
            "what it returns is used, as a place in one of several lists, which copies of the array would give twice: let the lanes of a warp that go to one address take theirs at once (with m = \
             __match_any_sync(__activemask(), index), the lowest lane of m adds __popc(m) and hands what it gets to the others with __shfl_sync(m, ..), and each lane adds the \
             number of lanes of m below it), or leave it where few lanes meet",
            Left::Warp,
        ),
        _ if access.space == "shared" => (
            "let the lanes of a warp combine what goes to one address first (shuffles; __reduce_add_sync and its kin for integers; __match_any_sync tells \
             which lanes share an address), or keep several copies of the array, of which neighbouring lanes take different ones (copy threadIdx.x % 4), \
             and combine these at the end",
            Left::Warp,
        ),
        _ if access.result_used => (
            "what it returns is used, as a place in one of several lists: let each block count in shared memory how many places it needs of each list (what that returns is the place within \
             the block's), take them with one atomic operation for each block and list, and add the two",
            Left::Block,
        ),
        _ if one_address && depth < DEEP => (
            "combine the values of the block's warps in shared memory or by a block-wide reduction, and let one thread of a block make the \
             atomic operation",
            Left::Block,
        ),
        _ if one_address => (
            "combine the values within the warp (shuffles; for integers __reduce_add_sync and its kin, or __popc(__ballot_sync(..))) and the block first, and \
             let one thread of a block make the atomic operation",
            Left::Block,
        ),
        // One update of each thread: what a copy of the array saves is what lanes and warps have in common.
        _ if depth >= DEEP && distinct_per_request <= FEW_ADDRESSES && atomics.requests <= warps(access.kernel) => (
            "each thread does this once: let the lanes of a warp that go to one address combine their values first (shuffles; __match_any_sync tells which share \
             one), and where the warps of a block go to the same few addresses, keep a copy of the array in shared memory per block, so that one operation for \
             each block and address is left",
            Left::Block,
        ),
        _ if touched_bytes(facts, access).is_some_and(|bytes| bytes > MOST_OF_BLOCK) => (
            "the array is too large for a copy of it in each block's shared memory: let the lanes of a warp that go to one address combine their values first (__match_any_sync tells \
             which share one), or order the updates by address, so that a block has a part of the array to itself, or the sum of each address is made before it is stored",
            Left::Warp,
        ),
        _ => (
            "privatise: keep a copy of the array in shared memory per block, update that, and combine it with the one in global memory once at the end",
            Left::BlockAfterShared,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::brings_nothing;

    #[test]
    fn operations_that_bring_nothing_read() {
        for text in [
            "while (atomicAdd(&flags[of(my)], 0) == 0) { }",
            "x = atomicOr_system( p, 0u );",
            "while (!atomicCAS(f + (a, b), 0, 0));",
        ] {
            assert!(brings_nothing(text), "{text}");
        }
        for text in [
            "atomicAdd(&sum, 1);",
            "atomicCAS(&lock, 0, 1)",
            "old = atomicExch(&flag, 0);",
            "n = 0; // atomicAdd(&n, 0)",
        ] {
            assert!(!brings_nothing(text), "{text}");
        }
        assert!(!brings_nothing("a = atomicAdd(&flag, 0) + atomicAdd(&count, 1);"));
    }
}
