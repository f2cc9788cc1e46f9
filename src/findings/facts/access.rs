//! Accesses as the source has them: the sites of one place in a kernel, which unrolling and inlining made several, in one.

use std::collections::{BTreeMap, BTreeSet};

use super::super::texture;
use super::profile::lane_axis;
use super::terms::without_numbers;
use warpline_format::condition::AtomicKind;
use warpline_profile::model::{Kernel, Metrics, Operand, Pattern, Site, StageMetrics, ThreadStep};
use warpline_profile::{Profile, is_system};

/// Sums over an access's sites.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct Sums {
    pub requests: u64,
    pub lanes: u64,
    pub bytes: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
    /// Passes over banks, or of constant memory.
    pub passes: u64,
    pub ideal_passes: u64,
    pub stages: StageMetrics,
    pub l1_lookups: u64,
    pub l1_load_lookups: u64,
    pub l1_load_hits: u64,
    pub l2_lookups: u64,
    pub l2_load_lookups: u64,
    pub dram_reads: u64,
    pub dram_writes: u64,
}

impl Sums {
    pub(in super::super) fn add(&mut self, metrics: &Metrics) {
        let plus = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        plus(&mut self.requests, metrics.requests);
        plus(&mut self.lanes, metrics.lanes);
        plus(&mut self.bytes, metrics.bytes);
        plus(&mut self.sectors, metrics.sectors);
        plus(&mut self.ideal_sectors, metrics.ideal_sectors);
        if let Some(passes) = metrics.shared.as_ref().or(metrics.constant.as_ref()) {
            plus(&mut self.passes, passes.wavefronts);
            plus(&mut self.ideal_passes, passes.ideal_wavefronts);
        }
        if let Some(stages) = &metrics.l1_wavefronts {
            plus(&mut self.stages.data, stages.data);
            plus(&mut self.stages.ideal_data, stages.ideal_data);
            plus(&mut self.stages.tag, stages.tag);
            plus(&mut self.stages.words, stages.words);
        }
        if let Some(l1) = &metrics.l1 {
            plus(&mut self.l1_lookups, l1.lookups);
            plus(&mut self.l1_load_lookups, l1.load_lookups);
            plus(&mut self.l1_load_hits, l1.load_hits);
        }
        if let Some(l2) = &metrics.l2 {
            plus(&mut self.l2_lookups, l2.lookups);
            plus(&mut self.l2_load_lookups, l2.load_lookups);
        }
        if let Some(dram) = &metrics.dram {
            plus(&mut self.dram_reads, dram.read_sectors);
            plus(&mut self.dram_writes, dram.write_sectors);
        }
    }

    /// Sectors that its bytes do not need.
    pub(in super::super) fn excess(&self) -> u64 {
        self.sectors.saturating_sub(self.ideal_sectors)
    }

    pub(in super::super) fn excess_share(&self) -> f64 {
        share(self.excess(), self.sectors)
    }
}

/// A part of a whole; 0 of nothing.
pub(in super::super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// One access of the source.
#[derive(Clone, Debug)]
pub(in super::super) struct Access<'a> {
    pub kernel: &'a Kernel,
    pub file: &'a str,
    pub line: u32,
    pub column: u32,
    pub op: &'a str,
    pub space: &'a str,
    /// Bytes per lane.
    pub bytes: u32,
    /// Of the site with most sectors.
    pub operand: Option<&'a Operand>,
    /// Neighbouring lanes are so far apart here and otherwise there, as in the steps of an unrolled loop.
    pub steps_differ: bool,
    /// Different distances between neighbouring lanes among its sites, as of the steps of an unrolled loop.
    pub strides: usize,
    /// Members of structures that its sites take, with their bytes: a structure that is copied at once is several.
    pub members: BTreeMap<&'a str, u32>,
    pub sums: Sums,
    /// Requests of the site that has most: what one execution of the line makes several of, unrolled, counts once.
    pub most_requests: u64,
    pub pattern: Pattern,
    /// One of its sites, as of an unrolled loop over neighbours, has most of its contiguous requests aligned.
    pub has_aligned: bool,
    /// Begins of its sites' requests within a sector, of those whose misaligned ones agree.
    pub sector_offsets: BTreeSet<u64>,
    /// Of an atomic operation: the code uses what it returns.
    pub result_used: bool,
    /// What an atomic operation does with what is there, by its heaviest site.
    pub atomic: Option<AtomicKind>,
    /// Number of its heaviest site.
    pub site: Option<u32>,
    /// Bytes of a thread over its sites, where all are executed equally often.
    pub bytes_together: Option<u64>,
    /// Innermost function that the heaviest site is in, which may be a library's.
    pub innermost: &'a str,
    /// In a function of a library, as libdevice, or to a table that a library's header defines.
    pub in_library: bool,
    /// A library's function makes it, which the compiler took into the user's line.
    pub by_library: bool,
    /// By their cache operators, as of volatile variables, its loads go past L1.
    pub past_l1: bool,
    /// The compiler merged or moved it, so that its line is the nearest known one.
    pub is_near: bool,
    /// The allocation that most of its sectors lie in.
    pub allocation: Option<u64>,
    /// That is an array of textures, whose order in memory is the GPU's own.
    pub is_opaque: bool,
    /// A fetch through a texture, whose coordinates are no address in the code.
    pub by_texture: bool,
}

impl Access<'_> {
    /// Name of the variable that the source has there; what a library calls it, or the way to it, tells its users nothing.
    pub(in super::super) fn variable(&self) -> Option<&str> {
        if is_system(self.file) {
            return None;
        }
        let name = self.operand?.variable.as_deref()?;
        // The user's function lies somewhere within what a library hands to its kernel.
        Some(if is_system(&self.kernel.file) { name.rsplit('.').next().unwrap_or(name) } else { name })
    }
}

/// Whether it reads a table of the toolkit's mathematical functions, whose code the compiler took into the user's line.
fn is_of_toolkit(site: &Site) -> bool {
    let variable = site.operand.as_ref().and_then(|operand| operand.variable.as_deref());
    variable.is_some_and(|name| name.starts_with("__cudart"))
}

/// Whether it is a variable on the device that a header of the system defines, as the random generators' matrices.
fn is_table_of_header(profile: &Profile, allocation: Option<u64>) -> bool {
    let allocation = allocation.and_then(|id| profile.allocation(id));
    allocation.is_some_and(|allocation| {
        matches!(&allocation.kind[..], "device_global" | "constant")
            && allocation.path.last().is_some_and(|frame| is_system(&frame.file))
    })
}

/// Bytes of all sites, if there are as many requests of each.
fn together(sites: &[&Site]) -> Option<u64> {
    let requests = sites.first()?.metrics.requests;
    let equal = sites.iter().all(|site| site.metrics.requests == requests);
    equal.then(|| sites.iter().map(|site| u64::from(site.bytes)).fold(0, u64::saturating_add))
}

/// Whether the thread's number moves their addresses by different numbers of bytes.
fn steps_differ(sites: &[&Site], axis: usize) -> bool {
    let steps = sites.iter().filter_map(|site| match site.operand.as_ref()?.thread_steps[axis] {
        ThreadStep::Bytes(bytes) => Some(bytes),
        _ => None,
    });
    steps.collect::<BTreeSet<i64>>().len() > 1
}

/// The allocation that most of their sectors lie in.
fn owner(sites: &[&Site]) -> Option<u64> {
    let mut owners: BTreeMap<u64, u64> = BTreeMap::new();
    for row in sites.iter().flat_map(|site| &site.by_allocation) {
        if let Some(id) = row.allocation {
            *owners.entry(id).or_default() += row.metrics.sectors.max(1);
        }
    }
    owners.into_iter().max_by_key(|(id, sectors)| (*sectors, std::cmp::Reverse(*id))).map(|(id, _)| id)
}

/// The sites of one place by what they access: a macro has all its operands at one place, and a function that several calls have taken in
/// has other data in each. What has another name and lies in other memory is another access.
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

/// The sites beside each other in memory, as those of an unrolled loop over neighbours, of which some other one lies a fixed distance apart; all of
/// them where that is not known, or where there is one. Those of an unrolled loop over rows are far apart, each where its row begins.
fn neighbours<'a>(kernel: &Kernel, sites: &[&'a Site]) -> Vec<&'a Site> {
    let Some(addresses) = &kernel.addresses else { return sites.to_vec() };
    let place = |site: &Site| {
        let address = addresses.sites.iter().find(|one| one.site == site.id)?;
        Some(without_numbers(&addresses.expressions, address.address))
    };
    let places: Vec<_> = sites.iter().map(|site| place(site)).collect();
    if sites.len() < 2 || places.iter().any(Option::is_none) {
        return sites.to_vec();
    }
    let is_shared = |at: &usize| places.iter().filter(|place| **place == places[*at]).count() > 1;
    (0..sites.len()).filter(is_shared).map(|at| sites[at]).collect()
}

/// Whether most of the contiguous requests begin on a sector.
fn is_aligned(pattern: &Pattern) -> bool {
    pattern.contiguous > 0 && share(pattern.misaligned, pattern.contiguous) < 0.5
}

/// All accesses of a profile, in order of kernel and place.
pub(in super::super) fn accesses(profile: &Profile) -> Vec<Access<'_>> {
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
