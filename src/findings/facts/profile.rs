//! The data that rules inspect, and figures that many rules use.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::super::phrase::{Phrase, Unnamed};
use super::super::prelude::*;
use super::access::accesses;
use super::shapes::Better;
use super::source::has_word;
use warpline_profile::model::user_frame;
use warpline_profile::{Profile, bus_seconds, constructed_class};
use warpline_simulator::models::Rates;

/// A profile, prepared for queries by access.
pub struct Facts<'a> {
    pub profile: &'a Profile,
    /// Rates of the first model, if the model is known.
    pub rates: Option<&'a Rates>,
    /// All accesses of the profile.
    pub accesses: Vec<Access<'a>>,
    /// Estimated seconds of all kernels.
    pub kernel_seconds: f64,
    /// Seconds of all copies between host and device, computed from assumed rates.
    pub copy_seconds: f64,
    /// Better block shapes of the kernels for which they were searched. They are stored because predictions are
    /// expensive.
    pub shapes: RefCell<BTreeMap<u32, Option<Better>>>,
}

impl<'a> Facts<'a> {
    pub fn new(profile: &'a Profile, rates: Option<&'a Rates>) -> Facts<'a> {
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

    pub fn kernel(&self, id: Option<u32>) -> Option<&'a Kernel> {
        self.profile.kernels.iter().find(|kernel| Some(kernel.id) == id)
    }

    /// Returns the estimate for the first model.
    pub fn estimate(&self, kernel: &'a Kernel) -> Option<&'a Estimate> {
        kernel.estimates.first()
    }

    /// Returns the allocation that an access touches.
    pub fn memory(&self, access: &Access<'_>) -> Option<&'a Allocation> {
        self.profile.allocation(access.allocation?)
    }

    /// Returns the user's line that made an allocation: the innermost line, or the line of a caller that contains the
    /// allocation's name, if a helper function makes memory for its callers.
    pub fn named_at(&self, allocation: &'a Allocation) -> Option<&'a Frame> {
        let name = allocation.name.as_deref().unwrap_or_default().trim_end_matches("[]");
        let word = name.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or(name);
        let named = |frame: &&Frame| {
            let text = self.profile.sources.get(&frame.file).and_then(|lines| lines.get(&frame.line));
            text.is_some_and(|text| has_word(text, word))
        };
        user_frames(&allocation.path).find(named).or(innermost(&allocation.path))
    }

    /// Returns the user's line that made an allocation. If the line is in a constructor that allocates for every object
    /// of a class, returns the line that creates the object.
    pub fn object_made_at(&self, allocation: &'a Allocation) -> Option<&'a Frame> {
        let named = self.named_at(allocation)?;
        let mut users = user_frames(&allocation.path);
        let innermost = users.next()?;
        let Some(class) = constructed_class(&innermost.function).filter(|_| innermost == named) else {
            return Some(named);
        };
        // The constructor of a class calls the constructors of its members.
        users.find(|frame| constructed_class(&frame.function) != Some(class)).or(Some(named))
    }

    /// Returns whether the profile contains all accesses of kernels and copies, so that an absent access did not
    /// happen. If no kernel was launched, as after a usage message, no kernel can have used the memory.
    pub fn is_whole_run(&self) -> bool {
        let run = &self.profile.run;
        let is_complete = !run.sampled && run.complete && run.mode == "trace";
        is_complete && !run.lookup_bytes.is_empty() && !self.profile.kernels.is_empty()
    }

    /// Returns the share of a kernel in the estimated time of all kernels, or in their requests if no estimate exists.
    pub fn kernel_share(&self, kernel: &Kernel) -> f64 {
        if self.kernel_seconds > 0.0 {
            return kernel.estimates.first().map_or(0.0, |estimate| estimate.seconds) / self.kernel_seconds;
        }
        share(self.requests(kernel), self.profile.kernels.iter().map(|one| self.requests(one)).total())
    }

    /// Returns the share of these seconds, which are outside of kernels, in the modelled part of the program's time.
    pub fn program_share(&self, seconds: f64) -> f64 {
        let all = self.kernel_seconds + self.copy_seconds;
        if all > 0.0 { (seconds / all).min(1.0) } else { 0.0 }
    }

    /// Returns the accesses of a kernel to a memory space.
    pub fn accesses_of<'b>(&'b self, kernel: u32, space: &'b str) -> impl Iterator<Item = &'b Access<'a>> {
        self.accesses.iter().filter(move |access| access.kernel.id == kernel && access.space == space)
    }

    /// Returns the loads of a kernel from global memory.
    pub fn loads_of<'b>(&'b self, kernel: u32) -> impl Iterator<Item = &'b Access<'a>> {
        self.accesses_of(kernel, "global").filter(|access| access.is_load())
    }

    /// Returns the number of memory requests of a kernel.
    pub fn requests(&self, kernel: &Kernel) -> u64 {
        kernel.metrics.values().map(|metrics| metrics.requests).total()
    }

    /// Returns the name of the accessed data: the expression in the source, and the allocation if it has a different
    /// name.
    pub fn target(&self, access: &Access<'_>) -> String {
        let memory = self.memory(access);
        let is_other = |one: &&Allocation| one.name.as_deref() != access.variable();
        match (access.variable(), memory) {
            (Some(variable), None) => format!("`{variable}`"),
            (Some(variable), Some(_)) if memory.filter(is_other).is_some() => {
                let name = memory.and_then(|one| one.name.clone()).map(Name);
                let kind = memory.filter(|one| one.name.is_none()).map(|one| Shown(one.kind.clone()));
                Phrase::Variable { variable: Name(variable.to_owned()), name, kind, size: memory.map(size) }.text()
            }
            (_, Some(one)) => describe(one).0,
            (None, None) => Phrase::OfSpace { space: Shown(access.space.to_owned()) }.text(),
        }
    }
}

/// Formats the size as "16.0 MiB", or as "12 allocations, 192 KiB" if several allocations share the row.
fn size(allocation: &Allocation) -> Shown {
    let count = (allocation.count > 1).then_some(Count(allocation.count));
    Phrase::Size { count, bytes: Bytes(allocation.bytes) }.shown()
}

/// Formats an allocation as "`matrix` (16.0 MiB)", or by its kind and size if it has no name.
pub fn describe(allocation: &Allocation) -> Shown {
    let kind = allocation.name.is_none().then(|| Shown(allocation.kind.clone()));
    Phrase::Memory { name: allocation.name.clone().map(Name), kind, size: size(allocation) }.shown()
}

/// Formats an allocation like [`describe`], also if the allocation is unknown.
pub fn describe_known(allocation: Option<&Allocation>) -> Shown {
    allocation.map_or_else(|| Unnamed::Allocation.shown(), describe)
}

/// Returns the frames of a host path that are in the user's code and have lines, innermost first.
pub fn user_frames(path: &[Frame]) -> impl Iterator<Item = &Frame> {
    path.iter().rev().filter(|frame| frame.line != 0 && !is_system(&frame.file))
}

/// Returns the innermost of these frames.
pub fn innermost(path: &[Frame]) -> Option<&Frame> {
    user_frame(path).filter(|frame| frame.line != 0)
}

/// Returns the threads per block in each dimension, for the first listed launch.
pub fn block_of(kernel: &Kernel) -> Option<[u32; 3]> {
    let group = || kernel.launch_groups.first().and_then(|group| group.block);
    kernel.launches.first().map(|launch| launch.block).or_else(group)
}

/// Returns the number of warps per block, for the first listed launch.
pub fn warps_of_block(kernel: &Kernel) -> u64 {
    block_of(kernel).map_or(1, |block| product(block).div_ceil(32))
}

/// Returns the number of warps of all launches of a kernel.
pub fn warps(kernel: &Kernel) -> u64 {
    let of = |grid: [u32; 3], block: [u32; 3]| product(grid).saturating_mul(product(block).div_ceil(32));
    let alone = kernel.launches.iter().map(|launch| of(launch.grid, launch.block));
    let groups = kernel.launch_groups.iter();
    let grouped = groups.filter_map(|group| Some(of(group.grid?, group.block?).saturating_mul(group.launches)));
    alone.chain(grouped).total()
}

/// Returns the number of blocks of all launches of a kernel.
pub fn blocks(kernel: &Kernel) -> u64 {
    let alone = kernel.launches.iter().map(|launch| product(launch.grid));
    let groups = kernel.launch_groups.iter();
    let grouped =
        groups.map(|group| group.grid.map_or(group.launches, |grid| product(grid).saturating_mul(group.launches)));
    alone.chain(grouped).total()
}

/// Returns the number of threads of a block, or of blocks of a grid.
pub fn product(sizes: [u32; 3]) -> u64 {
    sizes.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul)
}

/// Returns the dimension in which neighbouring lanes differ: the first dimension with more than one thread.
pub fn lane_axis(kernel: &Kernel) -> usize {
    block_of(kernel).unwrap_or([32, 1, 1]).iter().position(|&size| size > 1).unwrap_or(0)
}

/// Returns the name of the thread index, such as `threadIdx.x`.
pub fn thread_index(axis: usize) -> &'static str {
    ["threadIdx.x", "threadIdx.y", "threadIdx.z"][axis.min(2)]
}

/// Returns whether a library made the allocation for its own use, for example as scratch memory.
pub fn is_of_library(allocation: &Allocation) -> bool {
    allocation.name.is_none() && allocation.path.last().is_some_and(|frame| is_system(&frame.file))
}

/// Returns the share of a kernel's sectors that are sectors of this access which its bytes do not need.
pub fn excess_of_kernel(facts: &Facts<'_>, access: &Access<'_>) -> f64 {
    let all = facts.accesses_of(access.kernel.id, access.space).map(|access| access.sums.sectors).total();
    share(access.sums.excess(), all)
}
