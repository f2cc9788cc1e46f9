//! Keeps an analysis within the memory limit of the user. The memory in use is counted. If it would exceed the limit,
//! results are discarded in a documented order, and the profile reports this.
//!
//! The reading thread counts only data that grows with the stream, so the discarded results do not depend on the number
//! of workers. [`Settings::growth_bytes`] also limits the data of workers.
//!
//! [`Settings::growth_bytes`]: crate::simulation::Settings::growth_bytes

use std::sync::Arc;

use warpline_format::event::LaunchId;

use super::analyzer::Analyzer;
use super::refusal::Refusal;
use crate::analysis::results::{GivenUp, LeftOut};
use warpline_simulator::metrics::Counters;

/// Bytes of a cell in addition to its counters: key, map entry and distributions.
const CELL_BYTES: u64 = 512;
/// Factor for a launch's records during reordering, because a vector grows by doubling.
const COPIES: u64 = 3;

impl Analyzer {
    /// Returns the bytes of the data that grows with the stream.
    fn held(&self) -> u64 {
        let watch = self.watch.as_ref().map_or(0, |watch| watch.bytes());
        let reorder = self.reorder.as_ref().map_or(0, |reorder| reorder.bytes().saturating_mul(COPIES));
        watch.saturating_add(reorder).saturating_add(self.kept)
    }

    /// Updates the size of the data stored for ended launches.
    pub(super) fn count_kept(&mut self) {
        if self.granted.is_some() {
            let cell = size_of::<Counters>() as u64 + CELL_BYTES;
            self.kept = self.analysis.kernels.iter().map(|kernel| kernel.cells.len() as u64 * cell).sum();
        }
    }

    /// Returns whether `more` bytes fit into the limit, after discarding results if necessary.
    fn has_room(&mut self, launch: LaunchId, more: u64) -> bool {
        let Some(granted) = self.granted else { return true };
        if self.held().saturating_add(more) <= granted {
            return true;
        }
        if let Some(watch) = self.watch.take() {
            // The conflicts that were already found are kept.
            let (conflicts, of_streams) = watch.finish(&self.memory.map);
            (self.analysis.conflicts, self.analysis.stream_conflicts) = (Some(conflicts), of_streams);
            self.analysis.given_up.push(GivenUp::Conflicts { launch });
        }
        self.held().saturating_add(more) <= granted
    }

    /// Makes room for a batch of a launch. Returns `false` if the launch is omitted because there is no room.
    ///
    /// # Errors
    /// Returns an error if there is no room and nothing is left to discard.
    pub(super) fn make_room(&mut self, launch: LaunchId, batch: usize) -> Result<bool, Refusal> {
        let more = if self.reorder.is_some() { (batch as u64).saturating_mul(COPIES) } else { 0 };
        if self.has_room(launch, more) {
            return Ok(true);
        }
        let Some(reorder) = &mut self.reorder else { return Err(Refusal::Memory) };
        let held = reorder.discard(launch);
        let Some(open) = self.open.remove(&launch) else { return Err(Refusal::Memory) };
        self.tools.end(launch)?;
        self.left_out.insert(launch);
        let why = Arc::from("its records, which are put into the model's order, take more memory than --memory grants");
        self.analysis.left_out.push(LeftOut { model: 0, launch, kernel: open.shape.kernel, why });
        // If the launch had no data yet, the stored data of earlier launches alone exceeds the limit.
        if held == 0 && !self.has_room(launch, 0) { Err(Refusal::Memory) } else { Ok(false) }
    }
}
