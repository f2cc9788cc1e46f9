//! Sums over requests.

use super::{Footprint, Wavefronts};
use crate::hierarchy::Traffic;
use crate::locality::ReuseCounters;
use std::collections::BTreeMap;

/// Length of the inline array. Requests with more pieces are rare and are counted in a map.
const DENSE: usize = 33;

/// Number of requests that touched 0, 1, 2, … pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    dense: [u64; DENSE],
    sparse: BTreeMap<u32, u64>,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { dense: [0; DENSE], sparse: BTreeMap::new() }
    }
}

impl Histogram {
    /// Counts `times` requests that touch `pieces` pieces each.
    #[inline]
    pub fn count(&mut self, pieces: u32, times: u64) {
        match self.dense.get_mut(pieces as usize) {
            Some(count) => *count += times,
            None => *self.sparse.entry(pieces).or_default() += times,
        }
    }

    /// Adds another histogram.
    pub fn add(&mut self, other: &Histogram) {
        for (sum, count) in self.dense.iter_mut().zip(&other.dense) {
            *sum = sum.saturating_add(*count);
        }
        for (pieces, count) in &other.sparse {
            let sum = self.sparse.entry(*pieces).or_default();
            *sum = sum.saturating_add(*count);
        }
    }

    /// Returns each number of pieces that occurs, with the number of requests.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> {
        let sparse = self.sparse.iter().map(|(&pieces, &count)| (pieces, count));
        (0..).zip(self.dense).filter(|(_, count)| *count != 0).chain(sparse)
    }

    /// Returns the counts by number of pieces, up to the largest that occurs.
    pub fn to_vec(&self) -> Vec<u64> {
        let mut counts = self.dense.to_vec();
        for (&pieces, &count) in &self.sparse {
            counts.resize(pieces as usize + 1, 0);
            counts[pieces as usize] = count;
        }
        while counts.last() == Some(&0) {
            counts.pop();
        }
        counts
    }
}

/// All counts of a set of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Executions by warps with at least one active lane.
    pub requests: u64,
    /// Active lanes.
    pub lanes: u64,
    /// Useful bytes of the active lanes.
    pub bytes: u64,
    /// Distinct sectors per request, summed.
    pub sectors: u64,
    /// Ideal sectors per request, summed.
    pub ideal_sectors: u64,
    /// Requests by number of sectors.
    pub by_sectors: Histogram,
    /// Requests by number of lines.
    pub by_lines: Histogram,
    /// For shared and constant memory: passes.
    pub wavefronts: u64,
    /// For shared memory: passes without bank conflicts. For constant memory: passes if all lanes read one address.
    pub ideal_wavefronts: u64,
    /// Traffic of the requests at each level, one entry per simulated GPU model.
    pub traffic: Vec<Traffic>,
    /// Reuse distances within thread blocks, if they were computed.
    pub reuse: Option<Box<ReuseCounters>>,
}

impl Counters {
    /// Counts one request of `lanes` active lanes with `useful` bytes each.
    #[inline]
    pub fn count(&mut self, lanes: u32, useful: u32, footprint: Footprint, wavefronts: Wavefronts) {
        self.count_alike(1, lanes, useful, footprint, wavefronts);
    }

    /// Counts `times` equal requests.
    #[inline]
    pub fn count_alike(&mut self, times: u64, lanes: u32, useful: u32, footprint: Footprint, wavefronts: Wavefronts) {
        self.requests += times;
        self.lanes += times * u64::from(lanes);
        self.bytes += times * u64::from(lanes) * u64::from(useful);
        self.sectors += times * u64::from(footprint.sectors);
        self.ideal_sectors += times * u64::from(footprint.ideal_sectors());
        self.by_sectors.count(footprint.sectors, times);
        self.by_lines.count(footprint.lines, times);
        self.wavefronts += times * u64::from(wavefronts.passes);
        self.ideal_wavefronts += times * u64::from(wavefronts.ideal);
    }

    /// Counts one owner's part of a request: `lanes` of its lanes touch `useful` bytes of the owner's memory.
    pub fn count_part(&mut self, lanes: u32, useful: u64, footprint: Footprint) {
        self.count(lanes, 0, footprint, Wavefronts::default());
        self.bytes += useful;
    }

    /// Adds the simulated traffic of the first model.
    pub fn add_traffic(&mut self, traffic: &Traffic) {
        match self.traffic.first_mut() {
            Some(sum) => sum.add(traffic),
            None => self.traffic.push(*traffic),
        }
    }

    /// Adds reuse distances. Cells without uses are not changed, because whether a worker has such cells depends on the
    /// other requests that it processed.
    pub fn add_reuse(&mut self, reuse: &ReuseCounters) {
        if *reuse != ReuseCounters::default() {
            self.reuse.get_or_insert_default().add(reuse);
        }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Counters) {
        if self.traffic.len() < other.traffic.len() {
            self.traffic.resize(other.traffic.len(), Traffic::default());
        }
        for (sum, traffic) in self.traffic.iter_mut().zip(&other.traffic) {
            sum.add(traffic);
        }
        if let Some(reuse) = &other.reuse {
            self.add_reuse(reuse);
        }
        for (sum, more) in [
            (&mut self.requests, other.requests),
            (&mut self.lanes, other.lanes),
            (&mut self.bytes, other.bytes),
            (&mut self.sectors, other.sectors),
            (&mut self.ideal_sectors, other.ideal_sectors),
            (&mut self.wavefronts, other.wavefronts),
            (&mut self.ideal_wavefronts, other.ideal_wavefronts),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.by_sectors.add(&other.by_sectors);
        self.by_lines.add(&other.by_lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_use_leaves_no_reuse() {
        let mut counters = Counters::default();
        counters.add_reuse(&ReuseCounters::default());
        assert_eq!(counters.reuse, None);
        counters.add_reuse(&ReuseCounters { streaming: 1, ..ReuseCounters::default() });
        assert!(counters.reuse.is_some());
    }
}
