//! Copies: their source and destination memory, their order, and whether they transfer new data.

use std::collections::{BTreeMap, BTreeSet};

use super::super::phrase::{Phrase, Unnamed};
use super::super::prelude::*;
use super::super::thresholds::transfers::*;
use super::super::words;
use warpline_profile::model::HostAllocation;
use warpline_profile::{library_function, over_bus};

/// Direction of copies that do not use the bus.
const WITHIN_DEVICE: &str = "device_to_device";
/// Maximum number of allocations that are stored per source position of copies.
const MOST_MEMORY: usize = 64;
/// Maximum number of names that are listed.
const MOST_NAMES: usize = 4;

/// Copies from one source position of the program.
pub struct Copies<'a> {
    pub direction: &'a str,
    pub path: &'a [Frame],
    /// The first device allocations that the copies read or write, with the bytes of each.
    memory: Vec<(&'a Allocation, u64)>,
    /// Host memory that the copies read or write.
    pub hosts: BTreeSet<Option<u64>>,
    pub bytes: u64,
    pub count: u64,
    /// Number of copies that transferred no new data.
    pub unchanged: u64,
    /// Indices of the launches that follow the first and the last of the copies, if they are known.
    pub launches: Option<(u64, u64)>,
}

/// Device memory that contained the copied bytes earlier.
pub struct Origin<'a> {
    pub allocation: &'a Allocation,
    /// Line that copies this memory to the host, if such a line exists.
    pub line: Option<u32>,
}

impl<'a> Facts<'a> {
    /// Returns the copies between host and device, by source position.
    pub fn bus_copies(&self) -> Vec<Copies<'a>> {
        self.copies(over_bus)
    }

    /// Returns the copies within the device, by source position and destination.
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
        // Several call paths to one line that copy the memory of the same variables count as one source position.
        let mut places: BTreeMap<_, Copies<'a>> = BTreeMap::new();
        for copies in paths.into_values() {
            let names = copies.memory().map(|one| one.name.as_deref()).collect::<Option<Vec<&str>>>();
            // If two arrays alternate, the same line copies in both directions.
            let names = if copies.direction == WITHIN_DEVICE { names.map(|_| Vec::new()) } else { names };
            let line = innermost(copies.path).map(|frame| (&frame.file[..], frame.line, frame.column));
            let alone = (line.is_none() || names.is_none()).then_some(copies.path);
            merge(&mut places, (copies.direction, line, names, alone), copies);
        }
        places.into_values().collect()
    }

    /// Returns whether kernels write memory that the copies read or write.
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

/// Returns the smallest range that contains both ranges of launches.
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

    /// Returns the first device allocations that the copies read or write.
    pub fn memory(&self) -> impl Iterator<Item = &'a Allocation> {
        self.memory.iter().map(|(allocation, _)| *allocation)
    }

    /// Returns the allocation with most of the copied bytes.
    pub fn allocation(&self) -> Option<&'a Allocation> {
        self.memory.iter().max_by_key(|(one, bytes)| (*bytes, std::cmp::Reverse(one.id))).map(|(one, _)| *one)
    }

    /// Returns a description of the device memory.
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

    /// Returns the mean number of bytes per copy.
    pub fn bytes_each(&self) -> u64 {
        self.bytes / self.count.max(1)
    }

    pub fn unchanged_share(&self) -> f64 {
        share(self.unchanged, self.count)
    }

    /// Returns the number of the source line.
    pub fn line(&self) -> Option<u32> {
        innermost(self.path).map(|frame| frame.line)
    }

    /// Returns the Thrust algorithm that makes the copies, if it made the memory itself and the user does not know it.
    pub fn library_algorithm(&self) -> Option<String> {
        let is_unnamed = self.allocation().is_some_and(|allocation| allocation.name.is_none());
        library_function(self.path).filter(|function| is_unnamed && function.starts_with("thrust::"))
    }

    /// Returns whether a launch occurs between the first and the last copy.
    pub fn span_launches(&self) -> bool {
        self.launches.is_some_and(|(first, last)| first < last)
    }

    /// Returns whether each copy transfers only a part of the memory.
    pub fn is_part(&self) -> bool {
        self.allocation().is_some_and(|one| one.bytes.saturating_mul(self.count) > self.bytes)
    }

    /// Returns whether the copies are large, most of them transfer new data, and each of them follows another launch.
    pub fn are_large_and_new(&self) -> bool {
        let launches = self.launches.map_or(0, |(first, last)| last.saturating_sub(first));
        self.count > 0
            && self.bytes_each() >= LEAST_COPIED_BYTES
            && self.unchanged < self.count.div_ceil(2)
            && launches.saturating_add(1) >= self.count
    }

    /// Returns whether these copies to the device come after `back`, copies to the host. The first input may be copied
    /// by the same line.
    pub fn comes_after(&self, back: &Copies<'_>) -> bool {
        back.launches.zip(self.launches).is_some_and(|(back_at, forth_at)| {
            forth_at.1 >= back_at.1 && (forth_at.0 >= back_at.0 || self.count > back.count)
        })
    }

    /// Returns whether both groups of copies share device memory.
    pub fn shares_device_memory(&self, other: &Copies<'_>) -> bool {
        self.memory().any(|one| other.memory().any(|another| one.id == another.id))
    }

    /// Returns whether both groups of copies share host memory.
    pub fn shares_host_memory(&self, other: &Copies<'_>) -> bool {
        self.hosts.intersection(&other.hosts).any(Option::is_some)
    }

    /// Returns whether each copy overwrites the data of the previous copy on the host.
    pub fn overwrites_host(&self, facts: &Facts<'_>) -> bool {
        self.fills_host_memory(facts) && share(self.hosts.len() as u64, self.count) < 0.5
    }

    /// Returns whether the host memory has the size of one copy.
    pub fn fills_host_memory(&self, facts: &Facts<'_>) -> bool {
        let each = share(self.bytes, self.count);
        let size = |id| facts.host_allocation(id).map(|host| share(host.bytes, host.count));
        self.hosts.iter().all(|host| host.and_then(size).is_some_and(|bytes| bytes <= SAME_MEMORY * each))
    }

    /// Returns whether the host memory is known and is not pinned.
    pub fn is_pageable(&self, facts: &Facts<'_>) -> bool {
        let is_pageable = |host: &HostAllocation| !host.kind.starts_with("cu") && !is_registered(facts, host);
        let mut hosts = self.hosts.iter().map(|id| id.and_then(|id| facts.host_allocation(id)));
        !self.hosts.is_empty() && hosts.all(|host| host.is_some_and(is_pageable))
    }

    /// Returns the name of the host memory, if it has a name.
    pub fn host_name(&self, facts: &Facts<'a>) -> Option<&'a str> {
        facts.host_allocation(*self.hosts.iter().flatten().next()?)?.name.as_deref()
    }

    /// Returns the asynchronous CUDA function that the source calls on this line.
    pub fn asynchronous_call(&self, facts: &Facts<'a>) -> Option<&'a str> {
        let frame = innermost(self.path)?;
        let text = facts.profile.sources.get(&frame.file)?.get(&frame.line)?;
        let mut words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        words.find(|word| word.contains("Async"))
    }

    /// Returns other device memory from which a similar number of copies transfer to the same host memory.
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

/// Returns whether the host memory is registered. A container registers it under a different name; in that case the
/// size identifies it.
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
