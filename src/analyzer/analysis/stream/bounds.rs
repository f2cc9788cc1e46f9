//! Keeps an analysis within the memory limit of the user. The memory in use is counted; if it would exceed the limit,
//! results are discarded in a documented order, and the profile reports it.
//!
//! Only what the stream itself makes grow is counted, in the thread that reads it, so that the same things are given up
//! whatever the number of workers. What workers hold besides is bounded by [`Settings::growth_bytes`], too.
//!
//! [`Settings::growth_bytes`]: crate::simulation::Settings::growth_bytes

use std::sync::Arc;

use warpline_format::event::LaunchId;

use super::analyzer::Analyzer;
use super::refusal::Refusal;
use crate::analysis::results::{GivenUp, LeftOut};
use warpline_simulator::metrics::Counters;

/// Bytes of a cell in addition to its counters: its key, its place in the map, its distributions.
const CELL_BYTES: u64 = 512;
/// Copies of a launch's records while they are put into another order: a vector grows by doubling.
const COPIES: u64 = 3;

impl Analyzer {
    /// What the stream has made grow so far, in bytes.
    fn held(&self) -> u64 {
        let watch = self.watch.as_ref().map_or(0, |watch| watch.bytes());
        let reorder = self.reorder.as_ref().map_or(0, |reorder| reorder.bytes().saturating_mul(COPIES));
        watch.saturating_add(reorder).saturating_add(self.kept)
    }

    /// Counts what is kept of launches that have ended; it changes with each that ends.
    pub(super) fn count_kept(&mut self) {
        if self.granted.is_some() {
            let cell = size_of::<Counters>() as u64 + CELL_BYTES;
            self.kept = self.analysis.kernels.iter().map(|kernel| kernel.cells.len() as u64 * cell).sum();
        }
    }

    /// Returns whether there is room for `more` bytes, after giving up what can be.
    fn has_room(&mut self, launch: LaunchId, more: u64) -> bool {
        let Some(granted) = self.granted else { return true };
        if self.held().saturating_add(more) <= granted {
            return true;
        }
        if let Some(watch) = self.watch.take() {
            // What was found stays.
            let (conflicts, of_streams) = watch.finish(&self.memory.map);
            (self.analysis.conflicts, self.analysis.stream_conflicts) = (Some(conflicts), of_streams);
            self.analysis.given_up.push(GivenUp::Conflicts { launch });
        }
        self.held().saturating_add(more) <= granted
    }

    /// Makes room for a batch of a launch. `false` where the launch is left out because there is none.
    ///
    /// # Errors
    /// There is none, and nothing is left to give up.
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
        // Where that was nothing, what is kept of the launches before alone is too much.
        if held == 0 && !self.has_room(launch, 0) { Err(Refusal::Memory) } else { Ok(false) }
    }
}
