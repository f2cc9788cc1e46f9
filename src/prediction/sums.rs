//! Sums over a kernel's sites: requests, and measured figures of sites that cannot be predicted.

use super::model::Model;
use super::request::Requests;
use super::traffic::moved::Requested;
use warpline_profile::model::Site;

/// Sums over a kernel's sites.
#[derive(Default)]
pub struct Sums {
    /// Requests to global memory.
    pub global: Requests,
    /// Requests to shared memory.
    pub shared: Requests,
    /// Sums over requests that the cache models need.
    pub known: Requested,
    /// Requested sectors whose addresses are affine.
    pub affine: f64,
    /// Requested sectors whose addresses are computed lane by lane.
    pub computed: f64,
    /// Requested sectors that are known only from the run.
    pub recorded: f64,
    /// Measured traffic of sites whose addresses are unknown before a run.
    pub measured: MeasuredTraffic,
}

/// Bytes that were moved in a run, scaled to the number of threads that reach the code in this launch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeasuredTraffic {
    /// Bytes loaded from L2.
    pub l2_loads: f64,
    /// Bytes stored to L2.
    pub l2_stores: f64,
    /// Bytes read from DRAM.
    pub dram_loads: f64,
    /// Bytes written to DRAM.
    pub dram_stores: f64,
}

impl Sums {
    /// Returns a part of the requested sectors as a share of all.
    pub fn share(&self, part: f64) -> f64 {
        let all = self.affine + self.computed + self.recorded;
        if all == 0.0 { 1.0 } else { part / all }
    }

    /// Adds the measured figures of a site, scaled by `share`, except for its DRAM traffic.
    pub fn add_recorded(&mut self, row: &Site, share: f64, model: &Model<'_>) {
        let metrics = &row.metrics;
        let passes = metrics.l1_wavefronts.unwrap_or_default();
        let shared = metrics.shared.clone().unwrap_or_default();
        let requests = Requests {
            requests: metrics.requests as f64,
            lanes: metrics.lanes as f64,
            sectors: metrics.sectors as f64,
            lines: 0.0,
            ideal_sectors: metrics.ideal_sectors as f64,
            wavefronts: (passes.data + shared.wavefronts) as f64,
            ideal_wavefronts: (passes.ideal_data + shared.ideal_wavefronts) as f64,
            tags: passes.tag as f64,
            words: passes.words as f64,
        };
        match row.space.as_str() {
            "shared" => self.shared.add(&requests, share),
            "constant" => {}
            _ => {
                self.global.add(&requests, share);
                self.recorded += requests.sectors * share;
                self.measured.add(row, share, model);
            }
        }
    }
}

impl MeasuredTraffic {
    fn add(&mut self, row: &Site, share: f64, model: &Model<'_>) {
        let other = row.metrics.other_models.get(model.key);
        let l2 = other.map(|other| other.l2).or(row.metrics.l2).unwrap_or_default();
        let lookup = model.rates.lookup_bytes.1 as f64;
        self.l2_loads += share * lookup * l2.load_lookups as f64;
        self.l2_stores += share * lookup * l2.lookups.saturating_sub(l2.load_lookups) as f64;
    }
}

/// Returns the bytes that a site read from DRAM and wrote to DRAM in the run.
pub fn dram_bytes(row: &Site, model: &Model<'_>) -> [f64; 2] {
    let other = row.metrics.other_models.get(model.key);
    let dram = other.map(|other| other.dram).or(row.metrics.dram).unwrap_or_default();
    [32.0 * dram.read_sectors as f64, 32.0 * dram.write_sectors as f64]
}
