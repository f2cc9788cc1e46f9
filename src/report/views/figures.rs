//! Columns for the figures of memory requests, which several tables share.

use super::model::{Cell, Column};
use crate::words::{add, memory, ratio};
use warpline_profile::model::{HitRate, Metrics, Spaces};
use warpline_simulator::geometry::SECTOR_BYTES;

/// The columns of [`cells`].
pub(super) const COLUMNS: [Column; 10] = [
    figure("traffic", 0, "Bytes of the 32-byte sectors that requests touch, before any cache"),
    figure("share", 0, "Of the traffic of all kernels"),
    figure("requests", 3, "Executions of a memory instruction by a warp"),
    figure("lanes", 4, "Active lanes of a request, of 32"),
    figure("sectors", 5, "Distinct 32-byte sectors of a request"),
    figure("coalesced", 1, "Sectors that the bytes would fill, over the sectors touched"),
    figure("L1 hit", 1, "Hits over lookups of loads in the L1 cache, modelled"),
    figure("L2 hit", 2, "Hits over lookups of loads, stores and atomics in the L2 cache, modelled"),
    figure("DRAM", 2, "Bytes read from and written to device memory, modelled"),
    figure("passes", 2, "Passes of a shared-memory request; more than one: bank conflicts, or wide accesses"),
];

/// Sums of requests to memory outside of the SM, and to shared memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) memory: Metrics,
    pub(super) shared: Metrics,
}

impl Figures {
    pub(super) fn from_spaces(spaces: &Spaces) -> Figures {
        Figures { memory: memory(spaces), shared: spaces.get("shared").cloned().unwrap_or_default() }
    }

    /// Creates a `Figures` for one space.
    pub(super) fn of_space(space: &str, metrics: &Metrics) -> Figures {
        if space == "shared" {
            Figures { shared: metrics.clone(), ..Figures::default() }
        } else {
            Figures { memory: metrics.clone(), ..Figures::default() }
        }
    }

    pub(super) fn add(&mut self, more: &Figures) {
        add(&mut self.memory, &more.memory);
        add(&mut self.shared, &more.shared);
    }

    pub(super) fn requests(&self) -> u64 {
        self.memory.requests.saturating_add(self.shared.requests)
    }
}

/// Returns one row; `all` is the total number of sectors for shares.
pub(super) fn cells(figures: &Figures, all: u64) -> Vec<Cell> {
    let Figures { memory, shared } = figures;
    let known = |known: bool, cell: Cell| if known { cell } else { Cell::Nothing };
    let hits = |rate: HitRate| rate.share().map_or(Cell::Nothing, Cell::Quality);
    let lanes = memory.lanes.saturating_add(shared.lanes);
    let passes = shared.shared.as_ref().filter(|_| shared.requests > 0);
    vec![
        known(memory.sectors > 0, Cell::Bytes(memory.sectors.saturating_mul(SECTOR_BYTES))),
        known(memory.sectors > 0, Cell::Share(ratio(memory.sectors, all))),
        Cell::Count(figures.requests()),
        known(figures.requests() > 0, Cell::Mean(ratio(lanes, figures.requests()))),
        known(memory.sectors > 0, Cell::Mean(ratio(memory.sectors, memory.requests))),
        known(memory.sectors > 0, Cell::Quality(ratio(memory.ideal_sectors, memory.sectors))),
        hits(memory.l1_hit_rate()),
        hits(memory.l2_hit_rate()),
        memory.dram.map_or(Cell::Nothing, |dram| {
            Cell::Bytes(dram.read_sectors.saturating_add(dram.write_sectors).saturating_mul(SECTOR_BYTES))
        }),
        passes.map_or(Cell::Nothing, |passes| Cell::Mean(ratio(passes.wavefronts, shared.requests))),
    ]
}

/// Returns the columns of [`cells`] followed by further ones.
pub(super) fn columns(more: &[Column]) -> Vec<Column> {
    COLUMNS.iter().chain(more).copied().collect()
}

/// Returns a column of figures; see [`Column::dispensable`].
pub(super) const fn figure(name: &'static str, dispensable: u8, meaning: &'static str) -> Column {
    Column { name, dispensable, meaning }
}

/// Returns a column of words.
pub(super) const fn words(name: &'static str) -> Column {
    Column { name, dispensable: 0, meaning: "" }
}
