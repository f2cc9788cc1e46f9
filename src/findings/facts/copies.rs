//! Copies: what is at their ends, in which order they come, and what is known of their contents.

use std::collections::{BTreeMap, BTreeSet};

use super::super::phrase::{Phrase, Unnamed};
use super::super::prelude::*;
use super::super::thresholds::transfers::*;
use super::super::words;
use warpline_profile::model::HostAllocation;
use warpline_profile::{library_function, over_bus};

/// Direction of copies that do not cross the bus.
const WITHIN_DEVICE: &str = "device_to_device";
/// Allocations of one place's copies that are kept, at most.
const MOST_MEMORY: usize = 64;
/// Names that are listed, at most.
const MOST_NAMES: usize = 4;

/// Copies from one place of the program.
pub struct Copies<'a> {
    pub direction: &'a str,
    pub path: &'a [Frame],
    /// Device memory at their other end, with the bytes of each: the first ones.
    memory: Vec<(&'a Allocation, u64)>,
    /// Host memory at their other end.
    pub hosts: BTreeSet<Option<u64>>,
    pub bytes: u64,
    pub count: u64,
    /// Copies that brought nothing new.
    pub unchanged: u64,
    /// Numbers of the launches that follow the first and the last of them, where they are known.
    pub launches: Option<(u64, u64)>,
}

/// Device memory that the copied bytes were in before.
pub struct Origin<'a> {
    pub allocation: &'a Allocation,
    /// The line that copies it to the host, where there is one.
    pub line: Option<u32>,
}

impl<'a> Facts<'a> {
    /// Copies between host and device by their place.
    pub fn bus_copies(&self) -> Vec<Copies<'a>> {
        self.copies(over_bus)
    }

    /// Copies within the device, by their place and where they go to.
    pub fn device_copies(&self) -> Vec<Copies<'a>> {
        self.copies(|copy| copy.direction == WITHIN_DEVICE && copy.count > copy.source_count)
    }

    fn copies(&self, are_meant: impl Fn(&CopyRow) -> bool) -> Vec<Copies<'a>> {
        let mut paths: BTreeMap<(&str, &[Frame]), Copies<'a>> = BTreeMap::new();
        for allocation in &self.profile.allocations {
            for copy in allocation.copies.iter().filter(|copy| are_meant(copy)) {
                merge(&mut paths, (&copy.direction, &copy.path), Copies::new(allocation, copy));
            }
        }
        // Paths to one line that bring the memory of the same variables are one place.
        let mut places: BTreeMap<_, Copies<'a>> = BTreeMap::new();
        for copies in paths.into_values() {
            let names = copies.memory().map(|one| one.name.as_deref()).collect::<Option<Vec<&str>>>();
            // Between arrays that alternate the same line goes from each to the other.
            let names = if copies.direction == WITHIN_DEVICE { names.map(|_| Vec::new()) } else { names };
            let line = innermost(copies.path).map(|frame| (&frame.file[..], frame.line, frame.column));
            let alone = (line.is_none() || names.is_none()).then_some(copies.path);
            merge(&mut places, (copies.direction, line, names, alone), copies);
        }
        places.into_values().collect()
    }

    /// Kernels write memory that copies come from or go to.
    pub fn is_written(&self, copies: &Copies<'_>) -> bool {
        let written = |id: u64| self.accesses.iter().any(|access| !access.is_load() && access.allocation == Some(id));
        copies.memory().any(|allocation| written(allocation.id))
    }

    fn host_allocation(&self, id: u64) -> Option<&'a HostAllocation> {
        self.profile.host_allocations.iter().find(|host| host.id == id)
    }
}

fn merge<'a, K: Ord>(all: &mut BTreeMap<K, Copies<'a>>, key: K, copies: Copies<'a>) {
    match all.remove(&key) {
        Some(mut sum) => {
            sum.add(copies);
            all.insert(key, sum);
        }
        None => _ = all.insert(key, copies),
    }
}

/// Returns the smallest range that contains two ranges of launches.
fn span(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

impl<'a> Copies<'a> {
    fn new(allocation: &'a Allocation, copy: &'a CopyRow) -> Copies<'a> {
        Copies {
            direction: &copy.direction,
            path: &copy.path,
            memory: vec![(allocation, copy.bytes)],
            hosts: BTreeSet::from([copy.host]),
            bytes: copy.bytes.saturating_sub(copy.source_bytes),
            count: copy.count.saturating_sub(copy.source_count),
            unchanged: copy.unchanged_count,
            launches: copy.first_launch.zip(copy.last_launch),
        }
    }

    fn add(&mut self, other: Copies<'a>) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.count = self.count.saturating_add(other.count);
        self.unchanged = self.unchanged.saturating_add(other.unchanged);
        self.hosts.extend(other.hosts);
        self.launches = span(self.launches, other.launches);
        for (allocation, bytes) in other.memory {
            match self.memory.iter_mut().find(|(known, _)| known.id == allocation.id) {
                Some((_, sum)) => *sum = sum.saturating_add(bytes),
                None => self.memory.push((allocation, bytes)),
            }
        }
        self.memory.truncate(MOST_MEMORY);
    }

    pub fn to_device(&self) -> bool {
        self.direction == "host_to_device"
    }

    /// Device memory at their other end: the first ones.
    pub fn memory(&self) -> impl Iterator<Item = &'a Allocation> {
        self.memory.iter().map(|(allocation, _)| *allocation)
    }

    /// Returns the allocation that most of the bytes concern.
    pub fn allocation(&self) -> Option<&'a Allocation> {
        self.memory.iter().max_by_key(|(one, bytes)| (*bytes, std::cmp::Reverse(one.id))).map(|(one, _)| *one)
    }

    /// Name of the device memory.
    pub fn describe(&self) -> Shown {
        let Some(largest) = self.allocation() else { return Unnamed::DeviceMemory.shown() };
        let names: BTreeSet<Option<&str>> = self.memory().map(|one| one.name.as_deref()).collect();
        let known: Option<Vec<String>> = names.iter().map(|name| name.map(str::to_owned)).collect();
        match known {
            Some(names) if (2..=MOST_NAMES).contains(&names.len()) => Shown(words::list(&names)),
            Some(names) if names.len() == 1 => describe(largest),
            _ if self.memory.len() == 1 => describe(largest),
            _ => Phrase::AndOthers { memory: describe(largest) }.shown(),
        }
    }

    /// Mean bytes of a copy.
    pub fn bytes_each(&self) -> u64 {
        self.bytes / self.count.max(1)
    }

    pub fn unchanged_share(&self) -> f64 {
        share(self.unchanged, self.count)
    }

    /// Returns the source line's number.
    pub fn line(&self) -> Option<u32> {
        innermost(self.path).map(|frame| frame.line)
    }

    /// Returns the algorithm of Thrust that makes them, of memory that the user does not know.
    pub fn library_algorithm(&self) -> Option<String> {
        let is_unnamed = self.allocation().is_some_and(|allocation| allocation.name.is_none());
        library_function(self.path).filter(|function| is_unnamed && function.starts_with("thrust::"))
    }

    /// Launches come between the first and the last of them.
    pub fn span_launches(&self) -> bool {
        self.launches.is_some_and(|(first, last)| first < last)
    }

    /// Each is of a part of the memory.
    pub fn is_part(&self) -> bool {
        self.allocation().is_some_and(|one| one.bytes.saturating_mul(self.count) > self.bytes)
    }

    /// They are large, most bring something new, and each follows another launch.
    pub fn are_large_and_new(&self) -> bool {
        let launches = self.launches.map_or(0, |(first, last)| last.saturating_sub(first));
        self.count > 0
            && self.bytes_each() >= LEAST_COPIED_BYTES
            && self.unchanged < self.count.div_ceil(2)
            && launches.saturating_add(1) >= self.count
    }

    /// These copies to the device come after `back`, copies to the host. The first input may come from the same line.
    pub fn comes_after(&self, back: &Copies<'_>) -> bool {
        back.launches.zip(self.launches).is_some_and(|(back_at, forth_at)| {
            forth_at.1 >= back_at.1 && (forth_at.0 >= back_at.0 || self.count > back.count)
        })
    }

    /// Both are of some of the same device memory.
    pub fn shares_device_memory(&self, other: &Copies<'_>) -> bool {
        self.memory().any(|one| other.memory().any(|another| one.id == another.id))
    }

    /// Both are of some of the same host memory.
    pub fn shares_host_memory(&self, other: &Copies<'_>) -> bool {
        self.hosts.intersection(&other.hosts).any(Option::is_some)
    }

    /// Each copy overwrites the one before on the host.
    pub fn overwrites_host(&self, facts: &Facts<'_>) -> bool {
        self.fills_host_memory(facts) && share(self.hosts.len() as u64, self.count) < 0.5
    }

    /// The memory of the host is as large as one copy.
    pub fn fills_host_memory(&self, facts: &Facts<'_>) -> bool {
        let each = share(self.bytes, self.count);
        let size = |id| facts.host_allocation(id).map(|host| share(host.bytes, host.count));
        self.hosts.iter().all(|host| host.and_then(size).is_some_and(|bytes| bytes <= SAME_MEMORY * each))
    }

    /// The host's side is known, and known not to be pinned.
    pub fn is_pageable(&self, facts: &Facts<'_>) -> bool {
        let is_pageable = |host: &HostAllocation| !host.kind.starts_with("cu") && !is_registered(facts, host);
        let mut hosts = self.hosts.iter().map(|id| id.and_then(|id| facts.host_allocation(id)));
        !self.hosts.is_empty() && hosts.all(|host| host.is_some_and(is_pageable))
    }

    /// Name of the host's side, where it has one.
    pub fn host_name(&self, facts: &Facts<'a>) -> Option<&'a str> {
        facts.host_allocation(*self.hosts.iter().flatten().next()?)?.name.as_deref()
    }

    /// Returns the asynchronous function of CUDA's that the source calls there.
    pub fn asynchronous_call(&self, facts: &Facts<'a>) -> Option<&'a str> {
        let frame = innermost(self.path)?;
        let text = facts.profile.sources.get(&frame.file)?.get(&frame.line)?;
        let mut words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        words.find(|word| word.contains("Async"))
    }

    /// Other device memory that about as many copies bring to the same host memory.
    pub fn origin(&self, facts: &Facts<'a>) -> Option<Origin<'a>> {
        let to = self.allocation().filter(|_| self.to_device())?;
        let is_back = |copy: &&CopyRow| {
            copy.direction == "device_to_host" && copy.host.is_some() && self.hosts.contains(&copy.host)
        };
        let back = |one: &'a Allocation| one.copies.iter().filter(is_back);
        let count = |one| back(one).map(|copy| copy.count).total();
        let mut others = facts.profile.allocations.iter().filter(|one| one.id != to.id && count(one) > 0);
        let is_itself = back(to).next().is_some();
        let allocation = others.find(|one| count(one).saturating_mul(2) >= self.count).filter(|_| !is_itself)?;
        let lines = back(allocation).filter_map(|copy| innermost(&copy.path)).map(|frame| frame.line);
        let lines: BTreeSet<u32> = lines.collect();
        Some(Origin { allocation, line: lines.first().copied().filter(|_| lines.len() == 1) })
    }
}

/// Host memory is registered. A container registers it under another name; then its size decides.
fn is_registered(facts: &Facts<'_>, host: &HostAllocation) -> bool {
    let each = |bytes: u64, count: u64| bytes / count.max(1);
    let is_of_host =
        |name: &Option<String>| name.is_some() && facts.profile.host_allocations.iter().any(|one| one.name == *name);
    let mut rows = facts.profile.allocations.iter().filter(|row| row.kind == "cudaHostRegister");
    rows.any(|row| {
        let is_as_large = each(row.bytes, row.count).abs_diff(each(host.bytes, host.count)) < PAGE_BYTES;
        is_as_large && (row.name == host.name || !is_of_host(&row.name))
    })
}
