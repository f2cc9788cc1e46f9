//! Sums over a kernel's sites: requests, and what was measured of sites that are not predicted.

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
    /// Sums over requests for the caches.
    pub known: Requested,
    /// Requested sectors whose addresses are affine.
    pub affine: f64,
    /// Those whose addresses the indices give in another way.
    pub computed: f64,
    /// Those of which only the run tells.
    pub recorded: f64,
    /// Traffic of sites whose addresses are unknown before a run, as it was measured.
    pub measured: MeasuredTraffic,
}

/// Bytes that were moved in a run, for as many threads as reach the same code now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MeasuredTraffic {
    /// Loaded from L2.
    pub l2_loads: f64,
    /// Stored to L2.
    pub l2_stores: f64,
    /// Read from DRAM.
    pub dram_loads: f64,
    /// Written to DRAM.
    pub dram_stores: f64,
}

impl Sums {
    /// Returns a part of the requested sectors, of all.
    pub fn share(&self, part: f64) -> f64 {
        let all = self.affine + self.computed + self.recorded;
        if all == 0.0 { 1.0 } else { part / all }
    }

    /// Adds what was measured of a site but for its traffic of DRAM, for `share` as many threads.
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

/// Returns the bytes that a site read from DRAM in the run, and wrote to it.
pub fn dram_bytes(row: &Site, model: &Model<'_>) -> [f64; 2] {
    let other = row.metrics.other_models.get(model.key);
    let dram = other.map(|other| other.dram).or(row.metrics.dram).unwrap_or_default();
    [32.0 * dram.read_sectors as f64, 32.0 * dram.write_sectors as f64]
}
