//! What rules look at.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::super::words;
use super::access::{Access, accesses, share};
use super::shapes::Better;
use warpline_profile::model::{Allocation, CopyRow, Estimate, Frame, Kernel, user_frame};
use warpline_profile::{Profile, bus_seconds, constructed_class, is_system, over_bus};
use warpline_simulator::models::Rates;

/// Direction of copies that do not cross the bus.
const WITHIN_DEVICE: &str = "device_to_device";

/// Allocations that copies of one place are told of, at most.
const MOST_NAMED: usize = 64;

/// A profile, seen by access.
pub(in super::super) struct Facts<'a> {
    pub profile: &'a Profile,
    /// Of the first model, where it is known.
    pub rates: Option<&'a Rates>,
    /// All accesses.
    pub accesses: Vec<Access<'a>>,
    /// Estimated seconds of all kernels.
    pub kernel_seconds: f64,
    /// Seconds of all copies between host and device, as assumed.
    pub copy_seconds: f64,
    /// Better shapes of blocks, of the kernels for which somebody has asked: predictions take their time.
    pub shapes: RefCell<BTreeMap<u32, Option<Better>>>,
}

/// Copies between host and device from one place of the program.
pub(in super::super) struct Copies<'a> {
    pub direction: &'a str,
    pub path: &'a [Frame],
    /// Device memory at their other end, with the bytes of each: the first ones.
    allocations: Vec<(&'a Allocation, u64)>,
    /// Host memory at their other end.
    pub hosts: BTreeSet<Option<u64>>,
    pub bytes: u64,
    pub count: u64,
    /// Copies that brought nothing new.
    pub unchanged: u64,
    /// Numbers of the launches that follow the first and the last of them, where they are known.
    pub launches: Option<(u64, u64)>,
}

impl<'a> Copies<'a> {
    pub(in super::super) fn to_device(&self) -> bool {
        self.direction == "host_to_device"
    }

    /// Adds what came another way.
    fn add(&mut self, other: Copies<'a>) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.count = self.count.saturating_add(other.count);
        self.unchanged = self.unchanged.saturating_add(other.unchanged);
        self.hosts.extend(other.hosts);
        self.launches = span(self.launches, other.launches);
        self.allocations.extend(other.allocations);
        self.allocations.truncate(MOST_NAMED);
    }

    /// The allocation that most of the bytes concern.
    pub(in super::super) fn allocation(&self) -> Option<&'a Allocation> {
        let largest =
            self.allocations.iter().max_by_key(|(allocation, bytes)| (*bytes, std::cmp::Reverse(allocation.id)));
        largest.map(|(allocation, _)| *allocation)
    }

    /// Device memory at their other end: the first ones.
    pub(in super::super) fn memory(&self) -> impl Iterator<Item = &'a Allocation> {
        self.allocations.iter().map(|(allocation, _)| *allocation)
    }

    /// The device memory in words, and whether it is several.
    pub(in super::super) fn describe(&self) -> (String, bool) {
        let names: BTreeSet<Option<&str>> =
            self.allocations.iter().map(|(allocation, _)| allocation.name.as_deref()).collect();
        match (self.allocation(), &names.iter().copied().collect::<Option<Vec<&str>>>()) {
            (Some(one), _) if self.allocations.len() == 1 => (describe(one), false),
            (_, Some(names)) if names.len() > 1 && names.len() <= 4 => {
                let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
                (words::list(&names), true)
            }
            (Some(one), Some(names)) if matches!(names[..], [_]) => (describe(one), false),
            (Some(one), _) => (format!("{} and other allocations", describe(one)), true),
            (None, _) => ("device memory".to_owned(), false),
        }
    }
}

impl<'a> Facts<'a> {
    pub(in super::super) fn new(profile: &'a Profile, rates: Option<&'a Rates>) -> Facts<'a> {
        let seconds = |kernel: &Kernel| kernel.estimates.first().map_or(0.0, |estimate| estimate.seconds);
        Facts {
            profile,
            rates,
            accesses: accesses(profile),
            kernel_seconds: profile.kernels.iter().map(seconds).sum(),
            copy_seconds: bus_seconds(profile),
            shapes: RefCell::default(),
        }
    }

    /// The estimate for the first model.
    pub(in super::super) fn estimate(&self, kernel: &'a Kernel) -> Option<&'a Estimate> {
        kernel.estimates.first()
    }

    /// Where an allocation was made: the innermost of the user's lines, or a caller's that has its name, where a helper makes
    /// the memory of others.
    pub(in super::super) fn named_at(&self, allocation: &'a Allocation) -> Option<&'a Frame> {
        let innermost = innermost(&allocation.path)?;
        let word = last_word(allocation.name.as_deref().unwrap_or_default());
        let named = |frame: &&Frame| {
            let text = self.profile.sources.get(&frame.file).and_then(|lines| lines.get(&frame.line));
            text.is_some_and(|text| has_word(text, word))
        };
        if named(&innermost) {
            return Some(innermost);
        }
        let users = allocation.path.iter().rev().filter(|frame| frame.line != 0 && !is_system(&frame.file));
        users.into_iter().find(named).or(Some(innermost))
    }

    /// The same; where it is the constructor of a class whose objects all allocate there, the line that makes the object.
    pub(in super::super) fn object_made_at(&self, allocation: &'a Allocation) -> Option<&'a Frame> {
        let named = self.named_at(allocation)?;
        let mut users = allocation.path.iter().rev().filter(|frame| frame.line != 0 && !is_system(&frame.file));
        let innermost = users.next()?;
        let Some(class) = constructed_class(&innermost.function).filter(|_| innermost == named) else {
            return Some(named);
        };
        // A member's constructor is called by that of what it is a member of.
        users.find(|frame| constructed_class(&frame.function) != Some(class)).or(Some(named))
    }

    /// Copies between host and device by their place, each group in the order of its largest.
    pub(in super::super) fn bus_copies(&self) -> Vec<Copies<'a>> {
        self.copies(over_bus)
    }

    /// Copies within the device, by their place and where they go to.
    pub(in super::super) fn device_copies(&self) -> Vec<Copies<'a>> {
        self.copies(|copy| copy.direction == WITHIN_DEVICE && copy.count > copy.source_count)
    }

    /// Such copies by their place.
    fn copies(&self, are_meant: impl Fn(&CopyRow) -> bool) -> Vec<Copies<'a>> {
        let mut groups: BTreeMap<(&str, &[Frame]), Copies<'a>> = BTreeMap::new();
        for allocation in &self.profile.allocations {
            for copy in allocation.copies.iter().filter(|copy| are_meant(copy)) {
                let group = groups.entry((&copy.direction, &copy.path)).or_insert_with(|| Copies {
                    direction: &copy.direction,
                    path: &copy.path,
                    allocations: Vec::new(),
                    hosts: BTreeSet::new(),
                    bytes: 0,
                    count: 0,
                    unchanged: 0,
                    launches: None,
                });
                group.bytes = group.bytes.saturating_add(copy.bytes - copy.source_bytes.min(copy.bytes));
                group.count = group.count.saturating_add(copy.count - copy.source_count.min(copy.count));
                group.unchanged = group.unchanged.saturating_add(copy.unchanged_count);
                group.hosts.insert(copy.host);
                group.launches = span(group.launches, copy.first_launch.zip(copy.last_launch));
                match group.allocations.iter_mut().find(|(known, _)| known.id == allocation.id) {
                    Some((_, bytes)) => *bytes = bytes.saturating_add(copy.bytes),
                    None => group.allocations.push((allocation, copy.bytes)),
                }
                group.allocations.truncate(MOST_NAMED);
            }
        }
        // Ways to one line that bring the same variable's memory are one place.
        type Place<'a> = (&'a str, &'a str, u32, u32, Vec<&'a str>);
        let mut places: BTreeMap<Place<'_>, Copies<'a>> = BTreeMap::new();
        let mut others = Vec::new();
        for group in groups.into_values() {
            let names: Option<Vec<&str>> = group.allocations.iter().map(|(one, _)| one.name.as_deref()).collect();
            let (Some(frame), Some(names)) = (innermost(group.path), names) else {
                others.push(group);
                continue;
            };
            // Between arrays that take turns the same line goes from each to the other.
            let names = if group.direction == WITHIN_DEVICE { Vec::new() } else { names };
            match places.entry((group.direction, &frame.file, frame.line, frame.column, names)) {
                Entry::Vacant(place) => _ = place.insert(group),
                Entry::Occupied(mut place) => place.get_mut().add(group),
            }
        }
        places.into_values().chain(others).collect()
    }

    /// Whether kernels write memory that copies come from or go to.
    pub(in super::super) fn is_written(&self, copies: &Copies<'_>) -> bool {
        let written = |id: u64| self.accesses.iter().any(|access| access.op != "load" && access.allocation == Some(id));
        copies.memory().any(|allocation| written(allocation.id))
    }

    /// Returns whether all that kernels and copies do is in the profile, so that what is absent did not happen. Where nothing was
    /// launched, as after a usage message, nothing can have used the memory.
    pub(in super::super) fn is_whole_run(&self) -> bool {
        let run = &self.profile.run;
        !run.sampled
            && run.complete
            && run.mode == "trace"
            && !run.lookup_bytes.is_empty()
            && !self.profile.kernels.is_empty()
    }

    /// Share of a kernel in the estimated time of all; by requests where nothing is estimated.
    pub(in super::super) fn kernel_share(&self, kernel: &Kernel) -> f64 {
        if self.kernel_seconds > 0.0 {
            return kernel.estimates.first().map_or(0.0, |estimate| estimate.seconds) / self.kernel_seconds;
        }
        let requests =
            |kernel: &Kernel| kernel.metrics.values().map(|metrics| metrics.requests).fold(0, u64::saturating_add);
        share(requests(kernel), self.profile.kernels.iter().map(requests).fold(0, u64::saturating_add))
    }

    /// Part of the program's time, as far as it is modelled, that so many seconds outside of kernels are.
    pub(in super::super) fn program_share(&self, seconds: f64) -> f64 {
        let all = self.kernel_seconds + self.copy_seconds;
        if all > 0.0 { (seconds / all).min(1.0) } else { 0.0 }
    }

    /// The accesses of a kernel to a space.
    pub(in super::super) fn accesses_of<'b>(
        &'b self,
        kernel: u32,
        space: &'b str,
    ) -> impl Iterator<Item = &'b Access<'a>> {
        self.accesses.iter().filter(move |access| access.kernel.id == kernel && access.space == space)
    }

    /// Requests of a kernel to memory.
    pub(in super::super) fn requests(&self, kernel: &Kernel) -> u64 {
        kernel.metrics.values().map(|metrics| metrics.requests).fold(0, u64::saturating_add)
    }

    /// How a text names an allocation: "`matrix` (16.0 MiB)".
    pub(in super::super) fn allocation_name(&self, id: Option<u64>) -> Option<String> {
        self.profile.allocation(id?).map(describe)
    }

    /// How a text names what an access touches: the source's expression, and the allocation where that has another name.
    pub(in super::super) fn target(&self, access: &Access<'_>) -> String {
        let allocation = access.allocation.and_then(|id| self.profile.allocation(id));
        let variable = access.variable();
        match (variable, allocation) {
            (Some(variable), Some(allocation)) if allocation.name.as_deref() != Some(variable) => {
                format!("`{variable}` ({})", whereabouts(allocation))
            }
            (_, Some(allocation)) => describe(allocation),
            (Some(variable), None) => format!("`{variable}`"),
            (None, None) => format!("{} memory", access.space),
        }
    }
}

fn whereabouts(allocation: &Allocation) -> String {
    match &allocation.name {
        Some(name) => format!("allocation `{name}`, {}", size(allocation)),
        None if allocation.count > 1 => format!("{} of {}", size(allocation), allocation.kind),
        None => format!("{} of {}", allocation.kind, size(allocation)),
    }
}

/// "16.0 MiB", or "12 allocations, 192 KiB in all" where several share the row.
fn size(allocation: &Allocation) -> String {
    let bytes = words::bytes(allocation.bytes);
    match allocation.count {
        0 | 1 => bytes,
        several => format!("{} allocations, {bytes} in all", words::count(several)),
    }
}

/// "`matrix` (16.0 MiB)", or kind and size where it has no name.
pub(in super::super) fn describe(allocation: &Allocation) -> String {
    match &allocation.name {
        Some(name) => format!("`{name}` ({})", size(allocation)),
        None if allocation.count > 1 => format!("memory of {} ({})", allocation.kind, size(allocation)),
        None => format!("the unnamed {} of {}", allocation.kind, size(allocation)),
    }
}

/// A name's last part, as a word of the source: `weights` of `net.layers[].weights`.
fn last_word(name: &str) -> &str {
    let name = name.trim_end_matches("[]");
    let end = name.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    name.get(end..).unwrap_or(name)
}

/// Whether a line of source has this word.
pub(in super::super) fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

/// From the first to the last of two ranges of launches.
fn span(one: Option<(u64, u64)>, other: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (one, other) {
        (Some(one), Some(other)) => Some((one.0.min(other.0), one.1.max(other.1))),
        (one, other) => one.or(other),
    }
}

/// The innermost frame of a host path that is the user's own code and has a line.
pub(in super::super) fn innermost(path: &[Frame]) -> Option<&Frame> {
    user_frame(path).filter(|frame| frame.line != 0)
}

/// Threads of a launch in each dimension: of the launch that is told first.
pub(in super::super) fn block_of(kernel: &Kernel) -> Option<[u32; 3]> {
    let group = || kernel.launch_groups.first().and_then(|group| group.block);
    kernel.launches.first().map(|launch| launch.block).or_else(group)
}

/// Warps of a block, by the launch that is told first.
pub(in super::super) fn warps_of_block(kernel: &Kernel) -> u64 {
    block_of(kernel).map_or(1, |block| threads(block).div_ceil(32))
}

/// Warps of all launches of a kernel.
pub(in super::super) fn warps(kernel: &Kernel) -> u64 {
    let of = |grid: [u32; 3], block: [u32; 3]| threads(grid).saturating_mul(threads(block).div_ceil(32));
    let alone = kernel.launches.iter().map(|launch| of(launch.grid, launch.block));
    let grouped = kernel
        .launch_groups
        .iter()
        .filter_map(|group| Some(of(group.grid?, group.block?).saturating_mul(group.launches)));
    alone.chain(grouped).fold(0, u64::saturating_add)
}

/// Blocks of all launches of a kernel.
pub(in super::super) fn blocks(kernel: &Kernel) -> u64 {
    let alone = kernel.launches.iter().map(|launch| threads(launch.grid));
    let grouped = kernel
        .launch_groups
        .iter()
        .map(|group| group.grid.map_or(group.launches, |grid| threads(grid).saturating_mul(group.launches)));
    alone.chain(grouped).fold(0, u64::saturating_add)
}

/// Threads of a block, or blocks of a grid.
fn threads(sizes: [u32; 3]) -> u64 {
    sizes.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul)
}

/// The dimension in which neighbouring lanes differ: the first that has more than one thread.
pub(in super::super) fn lane_axis(kernel: &Kernel) -> usize {
    let block = block_of(kernel).unwrap_or([32, 1, 1]);
    block.iter().position(|&size| size > 1).unwrap_or(0)
}

/// `threadIdx.x` and so on.
pub(in super::super) fn thread_index(axis: usize) -> &'static str {
    ["threadIdx.x", "threadIdx.y", "threadIdx.z"][axis.min(2)]
}

/// Whether a library made it for itself, as scratch memory.
pub(in super::super) fn is_of_library(allocation: &Allocation) -> bool {
    allocation.name.is_none() && allocation.path.last().is_some_and(|frame| is_system(&frame.file))
}

/// An access's sectors that its bytes do not need, of all sectors of its kernel.
pub(in super::super) fn excess_of_kernel(facts: &Facts<'_>, access: &Access<'_>) -> f64 {
    let all: u64 = facts
        .accesses_of(access.kernel.id, access.space)
        .map(|access| access.sums.sectors)
        .fold(0, u64::saturating_add);
    share(access.sums.excess(), all)
}
