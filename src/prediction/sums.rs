//! Sums over a kernel's sites: requests, and what was measured of sites that are not predicted.

use super::predict::Model;
use super::request::Requests;
use super::traffic::caches::Requested;
use warpline_profile::model::Site;

/// Sums over a kernel's sites.
#[derive(Default)]
pub struct Sums {
    /// Requests to global memory.
    pub global: Requests,
    /// Requests to shared memory.
    pub shared: Requests,
    /// Of requests whose footprint is known.
    pub known: Requested,
    /// Requested sectors whose addresses are affine.
    pub affine: f64,
    /// Those whose addresses the indices give in another way.
    pub computed: f64,
    /// Those of which only the run tells.
    pub recorded: f64,
    /// Not from footprints, most of it as measured: loads and stores of L2, reads and writes of DRAM.
    pub other_bytes: [f64; 4],
}

impl Sums {
    /// A part of the requested sectors, of all.
    pub fn share(&self, part: f64) -> f64 {
        let all = self.affine + self.computed + self.recorded;
        if all == 0.0 { 1.0 } else { part / all }
    }

    /// What was measured of a site, but for what DRAM moved for it in global memory, which is returned: reads and writes, in bytes.
    pub fn add_recorded(&mut self, row: &Site, share: f64, model: &Model<'_>) -> [f64; 2] {
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
                let [loads, stores, reads, writes] = recorded_bytes(row, model).map(|bytes| bytes as f64 * share);
                self.other_bytes[0] += loads;
                self.other_bytes[1] += stores;
                return [reads, writes];
            }
        }
        [0.0; 2]
    }
}

/// What was measured of a site: loads and stores of L2, reads and writes of DRAM.
pub fn recorded_bytes(row: &Site, model: &Model<'_>) -> [u64; 4] {
    let other = row.metrics.other_models.get(model.key);
    let l2 = other.map(|other| other.l2).or(row.metrics.l2).unwrap_or_default();
    let dram = other.map(|other| other.dram).or(row.metrics.dram).unwrap_or_default();
    let lookup = model.rates.lookup_bytes.1;
    [
        l2.load_lookups * lookup,
        (l2.lookups - l2.load_lookups.min(l2.lookups)) * lookup,
        dram.read_sectors * 32,
        dram.write_sectors * 32,
    ]
}
