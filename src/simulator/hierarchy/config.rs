//! Configuration of a GPU's memory hierarchy, as model files describe it.

use super::array::{Index, Replacement};
use super::coalesce::Groups;
use crate::geometry::{BankRules, Banks};
use serde::{Deserialize, Serialize};
use warpline_format::budget::mix;
use warpline_format::carveout::CarveoutPreference;

/// How stores affect an L1 cache. All policies write through to L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorePolicy {
    /// A store invalidates the sector and allocates nothing; it never hits.
    Evict,
    /// A store updates a valid sector and allocates nothing.
    Update,
    /// A store allocates the line, and the whole stored sector becomes valid (the profiler paper's model).
    Allocate,
    /// A store allocates the line; a sector becomes valid when all its bytes have been stored. If the line is present,
    /// the store hits with all its sectors, even if they are not valid. This matches the counters of a GV100
    /// (AccelWattch's `hw_perf.csv`).
    AllocateBytes,
}

/// How L1 handles atomic operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atomics {
    /// They bypass L1 and are not counted as lookups.
    #[default]
    Bypass,
    /// They are lookups that miss in both levels and change neither (the profiler paper's model).
    Miss,
}

/// The L1 cache of one SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1Config {
    /// Bytes of the array that cache and shared memory share; the size of the cache alone if `shared_options` is empty.
    pub bytes: u64,
    /// Bytes of the array that never hold lines, measured or fitted.
    #[serde(default)]
    pub reserved_bytes: u64,
    /// Possible sizes of shared memory in the array; empty if shared memory is separate.
    #[serde(default)]
    pub shared_options: Vec<u64>,
    /// Bytes of shared memory in the array if the program states no preference and needs no more. If absent, the
    /// smallest option that fits the resident blocks' shared memory applies.
    #[serde(default)]
    pub default_shared: Option<u64>,
    /// Bytes of a line, which has one tag.
    pub line_bytes: u32,
    /// Bytes of a sector; equal to the line if the cache has no sectors.
    pub sector_bytes: u32,
    /// Number of sets. The number of ways follows from the capacity in a launch.
    pub sets: u32,
    /// How a set is selected.
    pub index: Index,
    /// How a victim is selected.
    pub replacement: Replacement,
    /// Tags per data line, if tags and data are separate. The replacement policy is then LRU.
    #[serde(default)]
    pub tags_per_line: Option<u32>,
    /// How stores to global memory are handled.
    pub store: StorePolicy,
    /// Whether plain global loads are cached.
    pub caches_global_loads: bool,
    /// Whether global loads are cached if the program was compiled with `-Xptxas -dlcm=ca`.
    #[serde(default)]
    pub opt_in_global_loads: bool,
    /// Whether loads of the read-only path (`__ldg`) are cached.
    pub caches_read_only_loads: bool,
    /// Bytes of a separate cache for the read-only path.
    #[serde(default)]
    pub read_only_bytes: Option<u64>,
    /// How atomic operations are handled.
    #[serde(default)]
    pub atomics: Atomics,
}

impl L1Config {
    /// Returns the bytes of the array that shared memory never uses.
    pub fn bytes_by_default(&self) -> u64 {
        self.bytes.saturating_sub(self.default_shared.unwrap_or(0))
    }

    /// Returns the number of lines for a program without a preference; see [`L1Config::lines_preferred`].
    pub fn lines(&self, shared: u64) -> u32 {
        self.lines_preferred(shared, CarveoutPreference::Default)
    }

    /// Returns the number of lines if the resident blocks of a launch need `shared` bytes of shared memory in total.
    /// Shared memory gets the preferred option, or the smallest sufficient option if that is larger (CUDA C++
    /// Programming Guide, "Compute Capability 3.x" and "7.x", Shared Memory). If no option splits the array evenly,
    /// `Equal` has no effect.
    pub fn lines_preferred(&self, shared: u64, preference: CarveoutPreference) -> u32 {
        let mut options = self.shared_options.clone();
        options.sort_unstable();
        let largest = options.last().copied().unwrap_or(0);
        let fitting = |bytes: u64| options.iter().find(|&&option| option >= bytes).copied().unwrap_or(largest);
        let by_default = self.default_shared.unwrap_or(0);
        let preferred = match preference {
            CarveoutPreference::Default => by_default,
            CarveoutPreference::Shared => largest,
            CarveoutPreference::L1 => 0,
            CarveoutPreference::Equal if options.contains(&(self.bytes / 2)) => self.bytes / 2,
            CarveoutPreference::Equal => by_default,
            CarveoutPreference::Percent(percent) => fitting((largest * u64::from(percent)).div_ceil(100)),
        };
        let carved = fitting(preferred.max(shared));
        let bytes = self.bytes.saturating_sub(carved).saturating_sub(self.reserved_bytes);
        ((bytes / u64::from(self.line_bytes)) as u32).max(self.sets)
    }
}

/// How an L2 store miss is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreFill {
    /// Written bytes are recorded in a mask. If a sector is read or evicted before all its bytes are known, it is
    /// completed from DRAM at that time (lazy fetch-on-read).
    #[default]
    Bytes,
    /// The store makes everything valid that a miss would fetch (the profiler paper's model).
    Whole,
}

/// What counts as an L2 miss if a miss fetches more than one lookup reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum L2Misses {
    /// Each fetch is one miss: further sectors of the same request that the fetch brings are hits.
    #[default]
    Fetch,
    /// Each lookup whose data was missing when the request arrived is a miss, as in NVIDIA's counters. Other sectors of
    /// a fetch are hits only for later requests.
    Lookup,
}

/// The L2 cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2Config {
    /// Bytes of a line, which has one tag.
    pub line_bytes: u32,
    /// Bytes of a lookup.
    pub sector_bytes: u32,
    /// Bytes that a miss fetches.
    pub fill_bytes: u32,
    /// What counts as a miss.
    #[serde(default)]
    pub misses: L2Misses,
    /// Number of slices per partition.
    pub slices: u32,
    /// Number of sets per slice.
    pub sets: u32,
    /// Number of ways per set.
    pub ways: u32,
    /// How slice and set are selected.
    pub index: Index,
    /// How a victim is selected.
    pub replacement: Replacement,
    /// Number of partitions, 1 or 2. Each partition serves half of the SMs and keeps copies of the other partition's
    /// lines.
    #[serde(default = "one")]
    pub partitions: u32,
    /// How store misses are handled.
    #[serde(default)]
    pub store_fill: StoreFill,
    /// What copies from the host leave in L2.
    #[serde(default)]
    pub copies: Copies,
}

fn one() -> u32 {
    1
}

impl L2Config {
    /// Returns the bytes of all lines.
    pub fn bytes(&self) -> u64 {
        u64::from(self.line_bytes)
            * u64::from(self.slices)
            * u64::from(self.sets)
            * u64::from(self.ways)
            * u64::from(self.partitions)
    }

    /// Returns the partition that serves an SM. Vendors do not publish the assignment. A fixed hash selects which SM of
    /// each adjacent pair belongs to which partition. If SMs simply alternated, blocks with even and odd numbers would
    /// stay in different partitions; volumes measured on an A100 (Ernst et al. 2023, section 5.6) and an H100
    /// (docs/fidelity.md) contradict that.
    #[inline(always)]
    pub fn partition_of_sm(&self, sm: u32) -> u32 {
        match self.partitions {
            2 => (mix(u64::from(sm / 2)) as u32 ^ sm) & 1,
            _ => 0,
        }
    }
}

/// What copies leave in L2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Copies {
    /// L2 contains the copied data.
    #[default]
    Warm,
    /// L2 contains nothing of the written memory; earlier lines are invalidated.
    Cold,
}

/// Device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DramConfig {
    /// Bytes of the smallest read.
    pub read_bytes: u32,
    /// Bytes of the smallest write.
    pub write_bytes: u32,
}

/// Stages of L1 that a request occupies: one looks up tags, the other reads data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1Stages {
    /// Banks of the data stage.
    pub data: Banks,
    /// Banks of the tag stage. One pass looks up one line per bank.
    pub tag_banks: u32,
    /// Number of lanes that the load/store units serve per cycle, with 4 bytes each.
    pub lanes: u32,
}

/// Capacity of the TLBs, compared with the distinct pages among `window` requests of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlbConfig {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Bytes of memory that the entries cover.
    pub reach_bytes: u64,
}

/// The configuration of all levels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HierarchyConfig {
    /// Groups of lanes that are coalesced before tags are looked up.
    pub coalescing: Groups,
    /// Whether a store leaves the SM as one request with the sectors of all its lanes, independent of the groups.
    #[serde(default)]
    pub whole_stores: bool,
    /// Lanes of a wave: 32, or 64 if two neighbouring warps make one request.
    #[serde(default = "lanes")]
    pub wave_lanes: u32,
    /// L1.
    pub l1: L1Config,
    /// Stages of L1, if known.
    #[serde(default)]
    pub stages: Option<L1Stages>,
    /// L2.
    pub l2: L2Config,
    /// Device memory.
    pub dram: DramConfig,
    /// Shared memory, if its banks are known.
    #[serde(default)]
    pub shared: Option<Banks>,
    /// TLB, if known.
    #[serde(default)]
    pub tlb: Option<TlbConfig>,
}

fn lanes() -> u32 {
    32
}

impl HierarchyConfig {
    /// Returns the banks for which passes are counted.
    pub fn bank_rules(&self) -> BankRules {
        BankRules { shared: self.shared.unwrap_or(Banks::USUAL), data: self.stages.map(|stages| stages.data) }
    }

    /// Checks that the configuration can be simulated.
    ///
    /// # Errors
    /// Returns the invalid field and the reason.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        let power = |name, value: u32, low: u32, high: u32| {
            let good = value.is_power_of_two() && (low..=high).contains(&value);
            if good { Ok(()) } else { Err((name, format!("{value} is not a power of two from {low} to {high}"))) }
        };
        for (line, sector, names) in [
            (self.l1.line_bytes, self.l1.sector_bytes, ("l1.line_bytes", "l1.sector_bytes")),
            (self.l2.line_bytes, self.l2.sector_bytes, ("l2.line_bytes", "l2.sector_bytes")),
        ] {
            power(names.0, line, 32, 128)?;
            power(names.1, sector, 32, line)?;
        }
        power("l2.fill_bytes", self.l2.fill_bytes, self.l2.sector_bytes, self.l2.line_bytes)?;
        power("dram.read_bytes", self.dram.read_bytes, 32, 128)?;
        power("dram.write_bytes", self.dram.write_bytes, 32, 128)?;
        let range = |name, value: u64, low: u64, high: u64| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err((name, format!("{value} is not from {low} to {high}")))
            }
        };
        range("l1.bytes", self.l1.bytes, u64::from(self.l1.line_bytes), 64 << 20)?;
        range("l1.reserved_bytes", self.l1.reserved_bytes, 0, self.l1.bytes - u64::from(self.l1.line_bytes))?;
        for &option in &self.l1.shared_options {
            range("l1.shared_options", option, 0, self.l1.bytes)?;
        }
        if let Some(bytes) = self.l1.default_shared
            && !self.l1.shared_options.contains(&bytes)
        {
            return Err(("l1.default_shared", format!("{bytes} is not one of l1.shared_options")));
        }
        let kept = self.l1.shared_options.iter().min().unwrap_or(&0) + self.l1.reserved_bytes;
        if kept >= self.l1.bytes {
            let what = format!("with the smallest of l1.shared_options it leaves nothing of {} bytes", self.l1.bytes);
            return Err(("l1.reserved_bytes", what));
        }
        range("l1.sets", u64::from(self.l1.sets), 1, 1 << 16)?;
        let ways = self.l1.bytes / u64::from(self.l1.line_bytes) / u64::from(self.l1.sets);
        range("l1.sets (lines per set)", ways, 1, 1 << 15)?;
        for (name, lines, ways) in [
            ("l1.bytes", ways * u64::from(self.l1.sets) * u64::from(self.l1.tags_per_line.unwrap_or(1)), ways),
            ("l2.ways", self.l2.bytes() / u64::from(self.l2.line_bytes), u64::from(self.l2.ways)),
        ] {
            if ways > u64::from(super::array::MOST_SCANNED) && lines > super::array::MOST_HASHED {
                return Err((
                    name,
                    format!(
                        "{lines} lines in sets of {ways} ways; with more than 32 ways only 65534 lines are possible"
                    ),
                ));
            }
        }
        if let Some(tags) = self.l1.tags_per_line {
            range("l1.tags_per_line", u64::from(tags), 1, 8)?;
        }
        range("l2.slices", u64::from(self.l2.slices), 1, 1 << 12)?;
        range("l2.sets", u64::from(self.l2.sets), 1, 1 << 20)?;
        range("l2.ways", u64::from(self.l2.ways), 1, 1 << 15)?;
        range("l2 size", self.l2.bytes(), 1, 8 << 30)?;
        range("l2.partitions", u64::from(self.l2.partitions), 1, 2)?;
        if self.wave_lanes != 32 && self.wave_lanes != 64 {
            return Err(("wave_lanes", format!("{} is neither 32 nor 64", self.wave_lanes)));
        }
        for (name, replacement) in [("l1.replacement", &self.l1.replacement), ("l2.replacement", &self.l2.replacement)]
        {
            if let Replacement::Weighted(weights) = replacement
                && (weights.is_empty()
                    || weights.iter().all(|weight| *weight == 0)
                    || weights.iter().any(|weight| *weight > 1 << 16))
            {
                return Err((name, "weights have to be from 0 to 65536, not all 0".into()));
            }
        }
        for (name, lanes) in [
            ("coalescing.bytes_4", self.coalescing.bytes_4),
            ("coalescing.bytes_8", self.coalescing.bytes_8),
            ("coalescing.bytes_16", self.coalescing.bytes_16),
        ] {
            power(name, lanes, 1, 32)?;
        }
        if let Some(banks) = self.shared {
            power("shared.banks", banks.banks, 1, 64)?;
            power("shared.bank_bytes", banks.bank_bytes, 4, 8)?;
            power("shared.word_bytes", banks.word_bytes, 4, banks.bank_bytes)?;
        }
        if let Some(stages) = self.stages {
            power("stages.data_banks", stages.data.banks, 1, 64)?;
            power("stages.data_bank_bytes", stages.data.bank_bytes, 4, 8)?;
            power("stages.tag_banks", stages.tag_banks, 1, 64)?;
            power("stages.lanes", stages.lanes, 1, 64)?;
        }
        if let Some(tlb) = self.tlb
            && (!tlb.page_bytes.is_power_of_two() || tlb.page_bytes < 4096)
        {
            return Err(("tlb.page_bytes", format!("{} is not a power of two of at least 4096", tlb.page_bytes)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::models;
    use warpline_format::carveout::CarveoutPreference::{Default, Equal, L1, Percent, Shared};

    #[test]
    fn l1_follows_the_preferred_division() {
        let kib = |name: &str, shared: u64, preference| {
            let l1 = models::find(name).unwrap().hierarchy().unwrap().l1;
            (l1.lines_preferred(shared, preference) * l1.line_bytes) >> 10
        };
        for name in ["gtx480", "gtx560ti", "k40c"] {
            assert_eq!([Default, Shared, L1].map(|one| kib(name, 0, one)), [16, 16, 48], "{name}");
            // Blocks get the shared memory that they need.
            assert_eq!(kib(name, 20 << 10, L1), if name == "k40c" { 32 } else { 16 }, "{name}");
        }
        // Only Kepler has an option that splits the array evenly.
        assert_eq!([kib("gtx480", 0, Equal), kib("k40c", 0, Equal)], [16, 32]);
        // The array has 128 KiB. 8 KiB never hold lines, and shared memory takes up to 96 KiB.
        assert_eq!(
            [Default, L1, Percent(0), Percent(50), Percent(100), Shared].map(|one| kib("v100", 0, one)),
            [120, 120, 120, 56, 24, 24]
        );
        assert_eq!(kib("v100", 40 << 10, Percent(10)), 56);
        // Maxwell and Pascal have separate L1 and shared memory.
        assert_eq!([Default, L1, Shared].map(|one| kib("p100", 0, one)), [24, 24, 24]);
    }

    /// Blocks are assigned to SMs in turn. Blocks whose numbers differ by a row or a plane of a grid are therefore a
    /// fixed number of SMs apart.
    #[test]
    fn the_distance_of_two_sms_does_not_decide_whether_they_share_a_partition() {
        for name in ["a100", "h100", "b200"] {
            let model = models::find(name).unwrap();
            let (sms, l2) = (model.run_device().unwrap().device.sms, model.hierarchy().unwrap().l2);
            let served = |sm: u32| l2.partition_of_sm(sm % sms);
            assert_eq!((0..sms).filter(|sm| served(*sm) == 1).count() as u32, sms / 2, "{name}: half of the SMs each");
            // Adjacent SMs differ more often, because one SM of each pair belongs to each partition.
            for distance in 2..sms - 1 {
                let same = (0..sms).filter(|sm| served(*sm) == served(sm + distance)).count();
                let share = same as f64 / f64::from(sms);
                assert!((0.25..0.75).contains(&share), "{name}: {share} of the SMs {distance} apart");
            }
        }
        let v100 = models::find("v100").unwrap().hierarchy().unwrap().l2;
        assert!((0..80).all(|sm| v100.partition_of_sm(sm) == 0));
    }
}
