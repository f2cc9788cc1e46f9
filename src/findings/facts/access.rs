//! Accesses as the source has them: the sites of one place in a kernel, which unrolling and inlining made several, in
//! one.

use super::super::prelude::*;
use super::super::texture;
use super::address::terms_and_offset_at;
use std::collections::{BTreeMap, BTreeSet};
use warpline_format::condition::AtomicKind;
use warpline_profile::Profile;
use warpline_profile::model::{Metrics, Operand, Pattern, StageMetrics};

/// Sums over an access's sites.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    pub requests: u64,
    pub lanes: u64,
    pub bytes: u64,
    pub sectors: u64,
    pub ideal_sectors: u64,
    /// Passes over banks, or of constant memory.
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

    /// Sectors that its bytes do not need.
    pub fn excess(&self) -> u64 {
        self.sectors.saturating_sub(self.ideal_sectors)
    }

    pub fn excess_share(&self) -> f64 {
        share(self.excess(), self.sectors)
    }

    /// Sectors that go from and to DRAM.
    pub fn dram(&self) -> u64 {
        self.dram_reads.saturating_add(self.dram_writes)
    }
}

/// Sums that cannot overflow.
pub trait Total: Iterator<Item = u64> + Sized {
    fn total(self) -> u64 {
        self.fold(0, u64::saturating_add)
    }
}

impl<I: Iterator<Item = u64>> Total for I {}

/// Returns the access that costs most; of equals the first of the source.
pub fn worst<'f, 'a: 'f>(
    accesses: impl IntoIterator<Item = &'f Access<'a>>,
    cost: impl Fn(&Access<'_>) -> u64,
) -> Option<&'f Access<'a>> {
    accesses.into_iter().max_by_key(|one| (cost(one), std::cmp::Reverse((one.line, one.column, one.site))))
}

/// Returns a part of a whole; 0 of nothing.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// One access of the source.
#[derive(Clone, Debug)]
pub struct Access<'a> {
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
    /// A fetch through a texture, whose coordinates are not an address in the code.
    pub by_texture: bool,
}

impl Access<'_> {
    /// Name of the variable that the source has there; a library's name for it means nothing to its users.
    pub fn variable(&self) -> Option<&str> {
        if is_system(self.file) {
            return None;
        }
        let name = self.operand?.variable.as_deref()?;
        // The user's function lies somewhere within what a library hands to its kernel.
        Some(if is_system(&self.kernel.file) { name.rsplit('.').next().unwrap_or(name) } else { name })
    }

    pub fn is_load(&self) -> bool {
        self.op == "load"
    }

    /// Loaded data is a part of the index.
    pub fn has_loaded_index(&self) -> bool {
        self.operand.is_some_and(|operand| operand.loaded_index)
    }

    /// How the lanes' index moves the address.
    pub fn step(&self) -> Option<&ThreadStep> {
        self.operand.map(|operand| &operand.thread_steps[lane_axis(self.kernel)])
    }

    /// Mean active lanes of a request.
    pub fn mean_lanes(&self) -> f64 {
        share(self.sums.lanes, self.sums.requests)
    }

    /// The same line and column.
    pub fn is_at(&self, other: &Access<'_>) -> bool {
        (self.file, self.line, self.column) == (other.file, other.line, other.column)
    }
}

/// Returns whether it reads a table of the toolkit's mathematical functions, whose code the compiler took into the user's line.
fn is_of_toolkit(site: &Site) -> bool {
    let variable = site.operand.as_ref().and_then(|operand| operand.variable.as_deref());
    variable.is_some_and(|name| name.starts_with("__cudart"))
}

/// Returns whether it is a variable on the device that a header of the system defines, as the random generators' matrices.
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
    equal.then(|| sites.iter().map(|site| u64::from(site.bytes)).total())
}

/// Returns whether the thread's number moves their addresses by different numbers of bytes.
fn steps_differ(sites: &[&Site], axis: usize) -> bool {
    let steps = sites.iter().filter_map(|site| match site.operand.as_ref()?.thread_steps[axis] {
        ThreadStep::Bytes(bytes) => Some(bytes),
        _ => None,
    });
    steps.collect::<BTreeSet<i64>>().len() > 1
}

/// Returns the allocation that most of their sectors lie in.
fn owner(sites: &[&Site]) -> Option<u64> {
    let mut owners: BTreeMap<u64, u64> = BTreeMap::new();
    for row in sites.iter().flat_map(|site| &site.by_allocation) {
        if let Some(id) = row.allocation {
            *owners.entry(id).or_default() += row.metrics.sectors.max(1);
        }
    }
    owners.into_iter().max_by_key(|(id, sectors)| (*sectors, std::cmp::Reverse(*id))).map(|(id, _)| id)
}

/// Returns the sites of one place by what they access: a macro has all its operands at one place, and a function that several
/// calls have taken in has other data in each. What has another name and lies in other memory is another access.
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

/// Returns the sites of which another one lies a fixed distance apart, as those of an unrolled loop over neighbours; all of
/// them where that is not known. Those of an unrolled loop over rows are far apart, each where its row starts.
fn neighbours<'a>(kernel: &Kernel, sites: &[&'a Site]) -> Vec<&'a Site> {
    let address = |site: &Site| kernel.addresses.as_ref()?.sites.iter().find(|one| one.site == site.id);
    let terms = |site: &&Site| Some(terms_and_offset_at(kernel, address(site)?.address)?.0);
    let Some(all_terms) = sites.iter().map(terms).collect::<Option<Vec<_>>>().filter(|_| sites.len() > 1) else {
        return sites.to_vec();
    };
    let is_shared = |at: &usize| all_terms.iter().filter(|own| **own == all_terms[*at]).count() > 1;
    (0..sites.len()).filter(is_shared).map(|at| sites[at]).collect()
}

/// Returns whether most of the contiguous requests begin on a sector.
fn is_aligned(pattern: &Pattern) -> bool {
    pattern.contiguous > 0 && share(pattern.misaligned, pattern.contiguous) < 0.5
}

/// All accesses of a profile, in order of kernel and place.
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
