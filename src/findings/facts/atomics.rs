//! Atomic operations on one address: the number of colliding lanes and blocks, and the purpose of the operations.

use super::super::prelude::*;
use super::super::thresholds::atomics::*;
use super::source::has_word;
use warpline_format::condition::AtomicKind;
use warpline_profile::model::{Atomics, HotPlace};

/// Atomic operations of an access that update one address so often that they are serialised.
#[derive(Clone, Copy)]
pub struct Contention<'f, 'a> {
    pub facts: &'f Facts<'a>,
    pub access: &'f Access<'a>,
    pub atomics: &'f Atomics,
}

impl<'f, 'a> Contention<'f, 'a> {
    /// Returns the contention of an access; `None` if its operations do not collide, or if they are barrier arrivals.
    pub fn for_access(facts: &'f Facts<'a>, access: &'f Access<'a>) -> Option<Contention<'f, 'a>> {
        let atomics = access.pattern.atomics.as_ref().filter(|_| !is_barrier_arrival(facts, access))?;
        let found = Contention { facts, access, atomics };
        let is_crowded = atomics.hottest.first().is_some_and(|hot| {
            hot.lanes > LANES_PER_BLOCK.saturating_mul(found.blocks_at(hot).max(1))
                && share(hot.lanes, atomics.lanes) >= LEAST_HOTTEST_SHARE
        });
        (is_crowded || collides(access)).then_some(found)
    }

    /// Returns the mean number of lanes per request at the most frequent address of the request.
    pub fn depth(&self) -> f64 {
        depth(self.atomics)
    }

    /// Returns whether lanes of the same warp collide, in addition to lanes of different warps.
    pub fn is_deep(&self) -> bool {
        self.depth() >= DEEP
    }

    /// Returns whether nearly every request updates a single address.
    pub fn has_one_address(&self) -> bool {
        (self.atomics.addresses as f64) < ONE_ADDRESS * self.atomics.requests.max(1) as f64
    }

    pub fn is_shared(&self) -> bool {
        self.access.space == "shared"
    }

    pub fn kind(&self) -> AtomicKind {
        self.access.atomic.unwrap_or_default()
    }

    /// Returns whether the operations only return the stored value and do not change it, as `atomicAdd(&flag, 0)`.
    pub fn only_reads(&self) -> bool {
        let lines = self.facts.profile.sources.get(self.access.file);
        let text = lines.and_then(|lines| lines.get(&self.access.line));
        self.access.result_used && text.is_some_and(|text| changes_nothing(text))
    }

    /// Returns the number of bytes of the updated allocation that the program touches.
    pub fn touched_bytes(&self) -> Option<u64> {
        let id = self.access.allocation.or(self.atomics.hottest.first().map(|hot| hot.allocation))?;
        self.facts.profile.allocation(id).map(|allocation| allocation.touched_bytes)
    }

    /// Returns whether the array is too large for a copy in each block's shared memory.
    pub fn exceeds_shared_memory(&self) -> bool {
        self.touched_bytes().is_some_and(|bytes| bytes > MOST_SHARED_BYTES)
    }

    /// Returns the number of blocks that update a hot address. Different launches may update different allocations.
    pub fn blocks_at(&self, hot: &HotPlace) -> u64 {
        let access = self.access;
        let all = blocks(access.kernel);
        let is_own = |site: &&Site| {
            (site.kernel, site.line, site.column, &site.op[..])
                == (access.kernel.id, access.line, access.column, access.op)
                && site.file == access.file
        };
        let rows = || self.facts.profile.sites.iter().filter(is_own).flat_map(|site| &site.by_allocation);
        // All blocks make the same number of requests, but the number of active lanes can differ.
        let requests = |only: Option<u64>| {
            let there = rows().filter(|row| only.is_none() || row.allocation == only);
            there.map(|row| row.metrics.requests).total()
        };
        match requests(None) {
            0 => all,
            sum => (all as f64 * share(requests(Some(hot.allocation)), sum)).ceil() as u64,
        }
    }
}

fn depth(atomics: &Atomics) -> f64 {
    atomics.deepest as f64 / atomics.requests.max(1) as f64
}

/// Returns whether lanes of a warp collide at an address in more operations than each block needs.
pub fn collides(access: &Access<'_>) -> bool {
    let least = LANES_PER_BLOCK.saturating_mul(blocks(access.kernel).max(1));
    access.pattern.atomics.as_ref().is_some_and(|atomics| depth(atomics) >= DEEP && atomics.lanes > least)
}

/// Returns whether the access is an arrival at a barrier object (`mbarrier`), which updates no program data. Such an
/// access is an operation of unknown kind on eight bytes of shared memory, on a line without an atomic PTX instruction.
fn is_barrier_arrival(facts: &Facts<'_>, access: &Access<'_>) -> bool {
    let text = facts.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
    let is_instruction = |text: &String| has_word(text, "atom") || has_word(text, "red");
    access.atomic.is_none()
        && access.space == "shared"
        && access.bytes == MBARRIER_BYTES
        && !text.is_some_and(is_instruction)
}

/// Returns whether the only atomic operation of the line adds 0, or replaces 0 with 0.
fn changes_nothing(text: &str) -> bool {
    let code: String = text.split("//").next().unwrap_or_default().split_whitespace().collect();
    let zero = |before: &str| [")", "u)", "ull)"].iter().any(|end| code.contains(&format!("{before}{end}")));
    let is_neutral = match code.contains("atomicCAS(") {
        true => zero(",0,0"),
        false => {
            ["atomicAdd", "atomicSub", "atomicOr", "atomicXor"].iter().any(|name| code.contains(name)) && zero(",0")
        }
    };
    is_neutral && code.matches("atomic").count() == 1
}

#[cfg(test)]
mod tests {
    use super::changes_nothing;

    #[test]
    fn operations_with_neutral_operands_only_read() {
        for text in [
            "while (atomicAdd(&flags[of(my)], 0) == 0) { }",
            "x = atomicOr_system( p, 0u );",
            "while (!atomicCAS(f + b, 0, 0));",
        ] {
            assert!(changes_nothing(text), "{text}");
        }
        for text in [
            "atomicAdd(&sum, 1);",
            "atomicCAS(&lock, 0, 1)",
            "old = atomicExch(&flag, 0);",
            "n = 0; // atomicAdd(&n, 0)",
            "a = atomicAdd(&flag, 0) + atomicAdd(&count, 1);",
        ] {
            assert!(!changes_nothing(text), "{text}");
        }
    }
}
