//! Configuration of a GPU's memory hierarchy, as in the model files.

use super::array::{Index, Replacement};
use super::coalesce::Groups;
use crate::geometry::{BankRules, Banks};
use serde::{Deserialize, Serialize};
use warpline_format::budget::mix;
use warpline_format::carveout::CarveoutPreference;

/// How stores treat a L1 cache. All of them write through to L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorePolicy {
    /// A stored sector leaves the cache, nothing is allocated; a store never hits.
    Evict,
    /// A sector that is present is updated, nothing is allocated.
    Update,
    /// The line is allocated and the whole stored sector counts as present (profiner's model).
    Allocate,
    /// The line is allocated; a sector can be read once all its bytes have been stored. A store hits with all its
    /// sectors where the line is present, whatever of it is known: so count the counters of a GV100 (AccelWattch's
    /// `hw_perf.csv`).
    AllocateBytes,
}

/// What becomes of atomics at L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Atomics {
    /// They go past it and are not lookups of it.
    #[default]
    Bypass,
    /// They are lookups that miss, at both levels, and change neither (profiner's model).
    Miss,
}

/// A L1 cache of one SM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1Config {
    /// Bytes of the array that cache and shared memory divide; the cache's own size where
    /// `shared_options` is empty.
    pub bytes: u64,
    /// Bytes of it that never hold lines, as measured or tuned.
    #[serde(default)]
    pub reserved_bytes: u64,
    /// Sizes that shared memory can take of the array; empty where it has memory of its own.
    #[serde(default)]
    pub shared_options: Vec<u64>,
    /// Bytes that shared memory takes of the array if the program states no preference and needs no more. Absent: the
    /// smallest option that holds the resident blocks' shared memory.
    #[serde(default)]
    pub default_shared: Option<u64>,
    /// Bytes of a line (of a tag).
    pub line_bytes: u32,
    /// Bytes of a sector; equal to the line where the cache has none.
    pub sector_bytes: u32,
    /// Sets; the ways follow from the capacity of the launch.
    pub sets: u32,
    /// Choice of the set.
    pub index: Index,
    /// Choice of the line that leaves.
    pub replacement: Replacement,
    /// For a cache that keeps tags apart from data: tags per data line. The replacement is LRU.
    #[serde(default)]
    pub tags_per_line: Option<u32>,
    /// Stores to global memory.
    pub store: StorePolicy,
    /// Plain global loads are cached.
    pub caches_global_loads: bool,
    /// Global loads are cached where the program was compiled with `-Xptxas -dlcm=ca`.
    #[serde(default)]
    pub opt_in_global_loads: bool,
    /// Loads of the read-only path (`__ldg`) are cached.
    pub caches_read_only_loads: bool,
    /// Bytes of a cache of its own for the read-only path.
    #[serde(default)]
    pub read_only_bytes: Option<u64>,
    /// Atomics.
    #[serde(default)]
    pub atomics: Atomics,
}

impl L1Config {
    /// Returns the bytes of the array that are not shared memory's whatever a program does.
    pub fn bytes_by_default(&self) -> u64 {
        self.bytes.saturating_sub(self.default_shared.unwrap_or(0))
    }

    /// Returns the lines of the cache for a program without a preference, see [`L1Config::lines_preferred`].
    pub fn lines(&self, shared: u64) -> u32 {
        self.lines_preferred(shared, CarveoutPreference::Default)
    }

    /// Returns the lines of the cache when the resident blocks of a launch need `shared` bytes of shared memory in all.
    /// Shared memory takes the preferred option, or the smallest one that holds them where that is larger (CUDA C++
    /// Programming Guide, "Compute Capability 3.x" and "7.x", Shared Memory). Where no option splits the array evenly,
    /// `Equal` is not a preference.
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

/// How a L2 store miss is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreFill {
    /// Bytes are kept with a mask; a sector that is read or evicted before all its bytes are known is
    /// completed from DRAM then (lazy fetch-on-read).
    #[default]
    Bytes,
    /// The store counts as filling all that a miss fills (profiner's model).
    Whole,
}

/// What a miss of L2 is, where one fetches more than a lookup reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum L2Misses {
    /// A fetch: further sectors of the same request that it brings are hits.
    #[default]
    Fetch,
    /// Each lookup that found its data missing when the request came, as NVIDIA's counters count it. Other sectors
    /// of a fetch are hits of later requests.
    Lookup,
}

/// The L2 cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2Config {
    /// Bytes of a line (of a tag).
    pub line_bytes: u32,
    /// Bytes of a lookup.
    pub sector_bytes: u32,
    /// Bytes that a miss fetches.
    pub fill_bytes: u32,
    /// What counts as a miss.
    #[serde(default)]
    pub misses: L2Misses,
    /// Slices of a partition.
    pub slices: u32,
    /// Sets of a slice.
    pub sets: u32,
    /// Ways of a set.
    pub ways: u32,
    /// Choice of slice and set.
    pub index: Index,
    /// Choice of the line that leaves.
    pub replacement: Replacement,
    /// Parts that each serve half of the SMs and keep copies of the other's lines; 1 or 2.
    #[serde(default = "one")]
    pub partitions: u32,
    /// Store misses.
    #[serde(default)]
    pub store_fill: StoreFill,
    /// Copies from the host leave their data here.
    #[serde(default)]
    pub copies: Copies,
}

fn one() -> u32 {
    1
}

impl L2Config {
    /// Bytes of all lines.
    pub fn bytes(&self) -> u64 {
        u64::from(self.line_bytes)
            * u64::from(self.slices)
            * u64::from(self.sets)
            * u64::from(self.ways)
            * u64::from(self.partitions)
    }

    /// Returns the partition that serves an SM. Vendors do not publish the assignment. One SM of each pair of
    /// neighbours belongs to either partition, chosen by a fixed hash: if SMs alternated, blocks of even and odd
    /// numbers would stay in different partitions, and the volumes measured on an A100 (Ernst et al. 2023, section 5.6)
    /// and an H100 (docs/fidelity.md) contradict that.
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
    /// The copied data.
    #[default]
    Warm,
    /// Nothing, and what was there of it is gone.
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

/// Stages of L1 that a request occupies: tags are looked up in one, data is read in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L1Stages {
    /// Banks of the data stage.
    pub data: Banks,
    /// Banks of the tag stage: lines of different banks are looked up in one pass.
    pub tag_banks: u32,
    /// Lanes that the load/store units serve per cycle, with 4 bytes each.
    pub lanes: u32,
}

/// Width of the TLBs: distinct pages among `window` requests of an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlbConfig {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Bytes that the entries width.
    pub reach_bytes: u64,
}

/// The whole hierarchy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HierarchyConfig {
    /// How lanes are grouped before tags are looked up.
    pub coalescing: Groups,
    /// Stores leave the SM once per request: the sectors of all its lanes together, whatever the groups.
    #[serde(default)]
    pub whole_stores: bool,
    /// Lanes of a wave: 32, or 64 where two neighbouring warps make one request.
    #[serde(default = "lanes")]
    pub wave_lanes: u32,
    /// L1.
    pub l1: L1Config,
    /// Stages of L1, where they are known.
    #[serde(default)]
    pub stages: Option<L1Stages>,
    /// L2.
    pub l2: L2Config,
    /// Device memory.
    pub dram: DramConfig,
    /// Shared memory, where its banks are known.
    #[serde(default)]
    pub shared: Option<Banks>,
    /// TLB, where it is known.
    #[serde(default)]
    pub tlb: Option<TlbConfig>,
}

fn lanes() -> u32 {
    32
}

impl HierarchyConfig {
    /// Banks that requests are counted for.
    pub fn bank_rules(&self) -> BankRules {
        BankRules { shared: self.shared.unwrap_or(Banks::USUAL), data: self.stages.map(|stages| stages.data) }
    }

    /// Checks that the configuration can be simulated.
    ///
    /// # Errors
    /// The field and what is wrong with it.
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
        // Only Kepler has an even division.
        assert_eq!([kib("gtx480", 0, Equal), kib("k40c", 0, Equal)], [16, 32]);
        // 128 KiB, of which 8 hold no lines; shared memory takes up to 96.
        assert_eq!(
            [Default, L1, Percent(0), Percent(50), Percent(100), Shared].map(|one| kib("v100", 0, one)),
            [120, 120, 120, 56, 24, 24]
        );
        assert_eq!(kib("v100", 40 << 10, Percent(10)), 56);
        // Maxwell and Pascal have L1 and shared memory apart.
        assert_eq!([Default, L1, Shared].map(|one| kib("p100", 0, one)), [24, 24, 24]);
    }

    /// Blocks go to the SMs in turn, so blocks whose numbers differ by a row or a plane of a grid lie a fixed number of
    /// SMs apart.
    #[test]
    fn the_distance_of_two_sms_does_not_decide_whether_they_share_a_partition() {
        for name in ["a100", "h100", "b200"] {
            let model = models::find(name).unwrap();
            let (sms, l2) = (model.run_device().unwrap().device.sms, model.hierarchy().unwrap().l2);
            let served = |sm: u32| l2.partition_of_sm(sm % sms);
            assert_eq!((0..sms).filter(|sm| served(*sm) == 1).count() as u32, sms / 2, "{name}: half of the SMs each");
            // Neighbours differ more often, as one of each pair belongs to either partition.
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
