//! Copies: what is at their ends, in which order they come, and what is known of their contents.

use std::collections::BTreeSet;

use super::super::thresholds::transfers::{LEAST_COPIED_BYTES, PAGE_BYTES, SAME_MEMORY};
use super::access::share;
use super::profile::{Copies, Facts, innermost};
use warpline_profile::library_function;
use warpline_profile::model::{Allocation, HostAllocation};

/// Device memory that the copied bytes were in before.
pub(in super::super) struct Origin<'a> {
    pub allocation: &'a Allocation,
    /// The line that copies it to the host, where there is one.
    pub line: Option<u32>,
}

impl<'a> Copies<'a> {
    /// Mean bytes of a copy.
    pub(in super::super) fn bytes_each(&self) -> u64 {
        self.bytes / self.count.max(1)
    }

    pub(in super::super) fn unchanged_share(&self) -> f64 {
        share(self.unchanged, self.count)
    }

    /// The source line's number.
    pub(in super::super) fn line(&self) -> Option<u32> {
        innermost(self.path).map(|frame| frame.line)
    }

    /// The user's function that makes them.
    pub(in super::super) fn function(&self) -> &'a str {
        innermost(self.path).map_or("", |frame| &frame.function)
    }

    /// The algorithm of Thrust that makes them, of memory that the user does not know.
    pub(in super::super) fn library_algorithm(&self) -> Option<String> {
        let is_unnamed = self.allocation().is_some_and(|allocation| allocation.name.is_none());
        library_function(self.path).filter(|function| is_unnamed && function.starts_with("thrust::"))
    }

    /// Returns whether launches come between the first and the last of them.
    pub(in super::super) fn span_launches(&self) -> bool {
        self.launches.is_some_and(|(first, last)| first < last)
    }

    /// Returns whether each is of a part of the memory.
    pub(in super::super) fn is_part(&self) -> bool {
        self.allocation().is_some_and(|one| one.bytes.saturating_mul(self.count) > self.bytes)
    }

    /// Returns whether they are large, most bring something new, and each follows another launch.
    pub(in super::super) fn are_large_and_new(&self) -> bool {
        let launches = self.launches.map_or(0, |(first, last)| last.saturating_sub(first));
        self.count > 0
            && self.bytes_each() >= LEAST_COPIED_BYTES
            && self.unchanged < self.count.div_ceil(2)
            && launches.saturating_add(1) >= self.count
    }

    /// Returns whether these copies to the device come after `back`, copies to the host. The first input may come from the same line.
    pub(in super::super) fn comes_after(&self, back: &Copies<'_>) -> bool {
        back.launches.zip(self.launches).is_some_and(|(back_at, forth_at)| {
            forth_at.1 >= back_at.1 && (forth_at.0 >= back_at.0 || self.count > back.count)
        })
    }

    /// Returns whether both are of some of the same device memory.
    pub(in super::super) fn shares_device_memory(&self, other: &Copies<'_>) -> bool {
        self.memory().any(|one| other.memory().any(|another| one.id == another.id))
    }

    /// Returns whether both are of the same device memory.
    pub(in super::super) fn has_device_memory_of(&self, other: &Copies<'_>) -> bool {
        let ids = |copies: &Copies<'_>| copies.memory().map(|one| one.id).collect::<Vec<u64>>();
        ids(self) == ids(other)
    }

    /// Returns whether both are of some of the same host memory.
    pub(in super::super) fn shares_host_memory(&self, other: &Copies<'_>) -> bool {
        self.hosts.intersection(&other.hosts).any(Option::is_some)
    }

    /// Returns whether each copy overwrites the one before on the host.
    pub(in super::super) fn overwrites_host(&self, facts: &Facts<'_>) -> bool {
        self.fills_host_memory(facts) && share(self.hosts.len() as u64, self.count) < 0.5
    }

    /// Returns whether the memory of the host is as large as one copy.
    pub(in super::super) fn fills_host_memory(&self, facts: &Facts<'_>) -> bool {
        let each = share(self.bytes, self.count);
        let size = |id| facts.host_allocation(id).map(|host| share(host.bytes, host.count));
        self.hosts.iter().all(|host| host.and_then(size).is_some_and(|bytes| bytes <= SAME_MEMORY * each))
    }

    /// Returns whether the host's side is known, and known not to be pinned.
    pub(in super::super) fn is_pageable(&self, facts: &Facts<'_>) -> bool {
        !self.hosts.is_empty()
            && self.hosts.iter().all(|id| {
                let host = id.and_then(|id| facts.host_allocation(id));
                host.is_some_and(|host| !host.kind.starts_with("cu") && !is_registered(facts, host))
            })
    }

    /// Name of the host's side, where it has one.
    pub(in super::super) fn host_name(&self, facts: &Facts<'a>) -> Option<&'a str> {
        facts.host_allocation(*self.hosts.iter().flatten().next()?)?.name.as_deref()
    }

    /// The asynchronous function of CUDA's that the source calls there.
    pub(in super::super) fn asynchronous_call(&self, facts: &Facts<'a>) -> Option<&'a str> {
        let frame = innermost(self.path)?;
        let text = facts.profile.sources.get(&frame.file)?.get(&frame.line)?;
        let mut words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        words.find(|word| word.contains("Async"))
    }

    /// Other device memory that about as many copies bring to the same host memory.
    pub(in super::super) fn origin(&self, facts: &Facts<'a>) -> Option<Origin<'a>> {
        let to = self.allocation()?;
        let back = |one: &'a Allocation| {
            one.copies.iter().filter(|copy| {
                copy.direction == "device_to_host" && copy.host.is_some() && self.hosts.contains(&copy.host)
            })
        };
        let count = |one| back(one).map(|copy| copy.count).fold(0, u64::saturating_add);
        let is_itself = back(to).next().is_some();
        let mut others = facts.profile.allocations.iter().filter(|one| one.id != to.id && count(one) > 0);
        let allocation =
            others.find(|one| count(one).saturating_mul(2) >= self.count).filter(|_| self.to_device() && !is_itself)?;
        let lines: BTreeSet<u32> =
            back(allocation).filter_map(|copy| innermost(&copy.path)).map(|frame| frame.line).collect();
        Some(Origin { allocation, line: lines.first().copied().filter(|_| lines.len() == 1) })
    }

    /// Returns whether about as many copies come back from the same memory, which kernels write.
    pub(in super::super) fn returns_results(&self, facts: &Facts<'_>) -> bool {
        let count = |direction: &str| {
            let rows = self.allocation().into_iter().flat_map(|allocation| &allocation.copies);
            rows.filter(|copy| copy.direction == direction).map(|copy| copy.count).fold(0, u64::saturating_add)
        };
        facts.is_written(self) && count("device_to_host").saturating_mul(2) >= count("host_to_device")
    }
}

impl<'a> Facts<'a> {
    pub(in super::super) fn host_allocation(&self, id: u64) -> Option<&'a HostAllocation> {
        self.profile.host_allocations.iter().find(|host| host.id == id)
    }
}

/// Returns whether host memory is registered. A container registers it under another name; then its size decides.
fn is_registered(facts: &Facts<'_>, host: &HostAllocation) -> bool {
    let mut rows = facts.profile.allocations.iter().filter(|row| row.kind == "cudaHostRegister");
    let each = |bytes: u64, count: u64| bytes / count.max(1);
    let is_of_host = |name: Option<&str>| {
        name.is_some() && facts.profile.host_allocations.iter().any(|host| host.name.as_deref() == name)
    };
    rows.any(|row| {
        let is_as_large = each(row.bytes, row.count).abs_diff(each(host.bytes, host.count)) < PAGE_BYTES;
        is_as_large && (row.name == host.name || !is_of_host(row.name.as_deref()))
    })
}
