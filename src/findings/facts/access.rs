//! Accesses of the source. Unrolling and inlining create several sites from one source position; an access combines
//! them.

use super::super::prelude::*;
use super::super::texture;
use super::address::terms_and_offset_at;
use std::collections::{BTreeMap, BTreeSet};
use warpline_format::condition::AtomicKind;
use warpline_profile::Profile;
use warpline_profile::model::{Metrics, Operand, Pattern, StageMetrics};

/// Sums over the sites of an access.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub requests: u64,
    pub lanes: u64,
    pub bytes: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
    /// Passes over the banks of shared memory, or of constant memory.
    pub passes: u64,
    pub ideal_passes: u64,
    pub stages: StageMetrics,
    pub l1_load_lookups: u64,
    pub l1_load_hits: u64,
    pub l2_lookups: u64,
    pub l2_load_lookups: u64,
    pub dram_reads: u64,
    pub dram_writes: u64,
}

impl Sums {
    pub fn add(&mut self, metrics: &Metrics) {
        let passes = metrics.shared.as_ref().or(metrics.constant.as_ref());
        let (stages, l1) = (metrics.l1_wavefronts.as_ref(), metrics.l1.as_ref());
        let (l2, dram) = (metrics.l2.as_ref(), metrics.dram.as_ref());
        for (sum, more) in [
            (&mut self.requests, Some(metrics.requests)),
            (&mut self.lanes, Some(metrics.lanes)),
            (&mut self.bytes, Some(metrics.bytes)),
            (&mut self.sectors, Some(metrics.sectors)),
            (&mut self.ideal_sectors, Some(metrics.ideal_sectors)),
            (&mut self.passes, passes.map(|passes| passes.wavefronts)),
            (&mut self.ideal_passes, passes.map(|passes| passes.ideal_wavefronts)),
            (&mut self.stages.data, stages.map(|stages| stages.data)),
            (&mut self.stages.ideal_data, stages.map(|stages| stages.ideal_data)),
            (&mut self.stages.tag, stages.map(|stages| stages.tag)),
            (&mut self.stages.words, stages.map(|stages| stages.words)),
            (&mut self.l1_load_lookups, l1.map(|l1| l1.load_lookups)),
            (&mut self.l1_load_hits, l1.map(|l1| l1.load_hits)),
            (&mut self.l2_lookups, l2.map(|l2| l2.lookups)),
            (&mut self.l2_load_lookups, l2.map(|l2| l2.load_lookups)),
            (&mut self.dram_reads, dram.map(|dram| dram.read_sectors)),
            (&mut self.dram_writes, dram.map(|dram| dram.write_sectors)),
        ] {
            *sum = sum.saturating_add(more.unwrap_or(0));
        }
    }

    /// Returns the number of sectors that the accessed bytes do not need.
    pub fn excess(&self) -> u64 {
        self.sectors.saturating_sub(self.ideal_sectors)
    }

    pub fn excess_share(&self) -> f64 {
        share(self.excess(), self.sectors)
    }

    /// Returns the number of sectors that are read from and written to DRAM.
    pub fn dram(&self) -> u64 {
        self.dram_reads.saturating_add(self.dram_writes)
    }
}

/// Sums that saturate instead of overflowing.
pub trait Total: Iterator<Item = u64> + Sized {
    fn total(self) -> u64 {
        self.fold(0, u64::saturating_add)
    }
}

impl<I: Iterator<Item = u64>> Total for I {}

/// Returns the access with the highest cost. Of equally expensive accesses, returns the first in the source.
pub fn worst<'f, 'a: 'f>(
    accesses: impl IntoIterator<Item = &'f Access<'a>>,
    cost: impl Fn(&Access<'_>) -> u64,
) -> Option<&'f Access<'a>> {
    accesses.into_iter().max_by_key(|one| (cost(one), std::cmp::Reverse((one.line, one.column, one.site))))
}

/// Returns the ratio of a part to a whole, or 0 if the whole is 0.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// An access of the source.
#[derive(Clone, Debug)]
pub struct Access<'a> {
    pub kernel: &'a Kernel,
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
    pub op: &'a str,
    pub space: &'a str,
    /// Number of bytes per lane.
    pub bytes: u32,
    /// Operand of the site with the most sectors.
    pub operand: Option<&'a Operand>,
    /// Whether the sites have different distances between neighbouring lanes, as the iterations of an unrolled loop
    /// have.
    pub steps_differ: bool,
    /// Number of different distances between neighbouring lanes among the sites, for example in an unrolled loop.
    pub strides: usize,
    /// Structure members that the sites access, with their bytes. A copy of a whole structure accesses several members.
    pub members: BTreeMap<&'a str, u32>,
    pub sums: Sums,
    /// Number of requests of the site with the most requests. An execution of an unrolled line counts once.
    pub most_requests: u64,
    pub pattern: Pattern,
    /// Whether one of the sites, for example of an unrolled loop over neighbours, has mostly aligned contiguous
    /// requests.
    pub has_aligned: bool,
    /// Offsets within a sector at which requests start, for the sites whose misaligned requests agree.
    pub sector_offsets: BTreeSet<u64>,
    /// Whether the code uses the result of the atomic operation.
    pub result_used: bool,
    /// Operation that the atomic instruction performs on the stored value, according to the site with the most sectors.
    pub atomic: Option<AtomicKind>,
    /// Number of the site with the most sectors.
    pub site: Option<u32>,
    /// Number of bytes per thread over all sites, if all sites are executed equally often.
    pub bytes_together: Option<u64>,
    /// Innermost function that contains the site with the most sectors. It can be a library function.
    pub innermost: &'a str,
    /// Whether the access is in a function of a library, such as libdevice, or to a table that a library header
    /// defines.
    pub in_library: bool,
    /// Whether a library function, inlined into the user's line, performs the access.
    pub by_library: bool,
    /// Whether the loads bypass L1 because of their cache operators, as loads of volatile variables do.
    pub past_l1: bool,
    /// Whether the compiler merged or moved the access, so that its line is the nearest known line.
    pub is_near: bool,
    /// Allocation that contains most of the sectors.
    pub allocation: Option<u64>,
    /// Whether the allocation is a texture array, whose memory layout is specific to the GPU.
    pub is_opaque: bool,
    /// Whether the access is a texture fetch, whose coordinates are not an address in the code.
    pub by_texture: bool,
}

impl Access<'_> {
    /// Returns the name of the variable in the source. A library's own name for it is omitted because users do not know
    /// it.
    pub fn variable(&self) -> Option<&str> {
        if is_system(self.file) {
            return None;
        }
        let name = self.operand?.variable.as_deref()?;
        // Library kernels wrap the user's function in their own objects, so only the last component of the name is
        // used.
        Some(if is_system(&self.kernel.file) { name.rsplit('.').next().unwrap_or(name) } else { name })
    }

    pub fn is_load(&self) -> bool {
        self.op == "load"
    }

    /// Returns whether the index contains loaded data.
    pub fn has_loaded_index(&self) -> bool {
        self.operand.is_some_and(|operand| operand.loaded_index)
    }

    /// Returns how the address changes with the index of the lanes.
    pub fn step(&self) -> Option<&ThreadStep> {
        self.operand.map(|operand| &operand.thread_steps[lane_axis(self.kernel)])
    }

    /// Returns the mean number of active lanes per request.
    pub fn mean_lanes(&self) -> f64 {
        share(self.sums.lanes, self.sums.requests)
    }

    /// Returns whether both accesses have the same line and column.
    pub fn is_at(&self, other: &Access<'_>) -> bool {
        (self.file, self.line, self.column) == (other.file, other.line, other.column)
    }
}

/// Returns whether the site reads a table of the toolkit's mathematical functions, whose code was inlined into the
/// user's line.
fn is_of_toolkit(site: &Site) -> bool {
    let variable = site.operand.as_ref().and_then(|operand| operand.variable.as_deref());
    variable.is_some_and(|name| name.starts_with("__cudart"))
}

/// Returns whether a system header defines the device variable, such as the matrices of the random number generators.
fn is_table_of_header(profile: &Profile, allocation: Option<u64>) -> bool {
    let allocation = allocation.and_then(|id| profile.allocation(id));
    allocation.is_some_and(|allocation| {
        matches!(&allocation.kind[..], "device_global" | "constant")
            && allocation.path.last().is_some_and(|frame| is_system(&frame.file))
    })
}

/// Returns the bytes of all sites together, if all sites have the same number of requests.
fn together(sites: &[&Site]) -> Option<u64> {
    let requests = sites.first()?.metrics.requests;
    let equal = sites.iter().all(|site| site.metrics.requests == requests);
    equal.then(|| sites.iter().map(|site| u64::from(site.bytes)).total())
}

/// Returns whether the thread index changes the addresses of the sites by different numbers of bytes.
fn steps_differ(sites: &[&Site], axis: usize) -> bool {
    let steps = sites.iter().filter_map(|site| match site.operand.as_ref()?.thread_steps[axis] {
        ThreadStep::Bytes(bytes) => Some(bytes),
        _ => None,
    });
    steps.collect::<BTreeSet<i64>>().len() > 1
}

/// Returns the allocation that contains most of the sites' sectors.
fn owner(sites: &[&Site]) -> Option<u64> {
    let mut owners: BTreeMap<u64, u64> = BTreeMap::new();
    for row in sites.iter().flat_map(|site| &site.by_allocation) {
        if let Some(id) = row.allocation {
            *owners.entry(id).or_default() += row.metrics.sectors.max(1);
        }
    }
    owners.into_iter().max_by_key(|(id, sectors)| (*sectors, std::cmp::Reverse(*id))).map(|(id, _)| id)
}

/// Groups the sites of one source position by the data that they access. All operands of a macro have one position, and
/// a function that is inlined several times can access different data each time. Sites with different names and
/// different allocations are different accesses.
fn by_data<'a>(sites: &[&'a Site]) -> Vec<Vec<&'a Site>> {
    let name = |site: &Site| site.operand.as_ref().and_then(|operand| operand.variable.clone());
    let mut names: BTreeMap<Option<String>, Vec<&Site>> = BTreeMap::new();
    for site in sites {
        names.entry(name(site)).or_default().push(site);
    }
    let mut parts: Vec<(Option<u64>, Vec<&Site>)> = Vec::new();
    for sites in names.into_values() {
        let owner = owner(&sites);
        match parts.iter_mut().find(|(known, _)| owner.is_some() && *known == owner) {
            Some((_, part)) => part.extend(sites),
            None => parts.push((owner, sites)),
        }
    }
    parts.into_iter().map(|(_, sites)| sites).collect()
}

/// Returns the sites that are a fixed distance from another site, as in an unrolled loop over neighbours. If the
/// distances are unknown, returns all sites. The sites of an unrolled loop over rows are far apart, at the starts of
/// their rows.
fn neighbours<'a>(kernel: &Kernel, sites: &[&'a Site]) -> Vec<&'a Site> {
    let address = |site: &Site| kernel.addresses.as_ref()?.sites.iter().find(|one| one.site == site.id);
    let terms = |site: &&Site| Some(terms_and_offset_at(kernel, address(site)?.address)?.0);
    let Some(all_terms) = sites.iter().map(terms).collect::<Option<Vec<_>>>().filter(|_| sites.len() > 1) else {
        return sites.to_vec();
    };
    let is_shared = |at: &usize| all_terms.iter().filter(|own| **own == all_terms[*at]).count() > 1;
    (0..sites.len()).filter(is_shared).map(|at| sites[at]).collect()
}

/// Returns whether most of the contiguous requests start at a sector boundary.
fn is_aligned(pattern: &Pattern) -> bool {
    pattern.contiguous > 0 && share(pattern.misaligned, pattern.contiguous) < 0.5
}

/// Returns all accesses of a profile, in the order of kernels and source positions.
pub fn accesses(profile: &Profile) -> Vec<Access<'_>> {
    type Key<'a> = (u32, &'a str, u32, u32, &'a str, &'a str);
    let kernels: BTreeMap<u32, &Kernel> = profile.kernels.iter().map(|kernel| (kernel.id, kernel)).collect();
    let mut groups: BTreeMap<Key<'_>, Vec<&Site>> = BTreeMap::new();
    for site in profile.sites.iter() {
        let key = (site.kernel, &site.file[..], site.line, site.column, &site.space[..], &site.op[..]);
        groups.entry(key).or_default().push(site);
    }
    let mut all = Vec::new();
    let by_data =
        groups.into_iter().flat_map(|(place, sites)| by_data(&sites).into_iter().map(move |sites| (place, sites)));
    for ((kernel, file, line, column, space, op), sites) in by_data {
        let Some(&kernel) = kernels.get(&kernel) else { continue };
        let mut sums = Sums::default();
        let mut pattern = Pattern::default();
        let mut members: BTreeMap<&str, u32> = BTreeMap::new();
        for site in &sites {
            if let Some(member) = site.operand.as_ref().and_then(|operand| operand.member.as_deref()) {
                let bytes = members.entry(member).or_default();
                *bytes = (*bytes).max(site.bytes);
            }
            sums.add(&site.metrics);
            if let Some(more) = &site.pattern {
                pattern.add(more);
            }
        }
        let allocation = owner(&sites);
        let neighbours = neighbours(kernel, &sites);
        let patterns = || sites.iter().filter_map(|site| site.pattern.as_ref());
        let heaviest = sites.iter().max_by_key(|site| site.metrics.sectors).copied();
        all.push(Access {
            kernel,
            file,
            line,
            column,
            op,
            space,
            bytes: heaviest.map_or(0, |site| site.bytes),
            has_aligned: neighbours.iter().filter_map(|site| site.pattern.as_ref()).any(is_aligned),
            sector_offsets: neighbours.iter().filter_map(|site| site.pattern.as_ref()?.sector_offset_bytes).collect(),
            operand: heaviest.and_then(|site| site.operand.as_ref()),
            strides: patterns().filter_map(|pattern| pattern.stride_bytes).collect::<BTreeSet<i64>>().len(),
            steps_differ: steps_differ(&sites, lane_axis(kernel)),
            members,
            bytes_together: together(&sites),
            innermost: heaviest.map_or("", |site| &site.leaf.function),
            most_requests: sites.iter().map(|site| site.metrics.requests).max().unwrap_or(0),
            sums,
            pattern,
            result_used: sites.iter().any(|site| site.result_used),
            site: heaviest.map(|site| site.id),
            atomic: heaviest.and_then(|site| site.atomic),
            in_library: sites.iter().all(|site| site.library || is_of_toolkit(site))
                || is_table_of_header(profile, allocation),
            by_library: !is_system(file) && heaviest.is_some_and(|site| is_system(&site.leaf.file)),
            past_l1: op == "load" && sites.iter().all(|site| site.past_l1),
            is_near: sites.iter().all(|site| site.approximate),
            is_opaque: allocation
                .and_then(|id| profile.allocation(id))
                .is_some_and(|allocation| allocation.kind == "cudaMallocArray"),
            by_texture: sites.iter().all(|site| texture::is_fetch(site)),
            allocation,
        });
    }
    all
}
