//! Records which host memory contains copies of device memory. If the program copies it to the device again unchanged,
//! the copy transfers nothing new.

use crate::memory::rows::Rows;
use std::collections::HashMap;

/// The minimum size of a copy in bytes; a single unchanged value is not evidence.
const LEAST_BYTES: u64 = 4096;
/// The maximum number of host ranges that are recorded.
const MOST: usize = 4096;

/// A copy from the device: its device address, and its shape on the host.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    device: Rows,
    pitch: u64,
    width: u64,
    height: u64,
}

/// The last copies from the device, keyed by the destination's host address.
#[derive(Debug, Default)]
pub struct Fetched(HashMap<u64, Fetch>);

impl Fetched {
    /// Records that `height` rows of `width` bytes have been copied from the device.
    pub(super) fn note(&mut self, to: Rows, from: Rows, width: u64, height: u64) {
        let known = self.0.contains_key(&to.start);
        if width.saturating_mul(height) >= LEAST_BYTES && (known || self.0.len() < MOST) {
            self.0.insert(to.start, Fetch { device: from, pitch: to.pitch, width, height });
        }
    }

    /// Returns the device address from which this host memory was copied, if the rows are the same.
    pub(super) fn origin(&self, host: Rows, width: u64, height: u64) -> Option<Rows> {
        let fetch = self.0.get(&host.start)?;
        let same = (fetch.width, fetch.height) == (width, height) && (height == 1 || fetch.pitch == host.pitch);
        same.then_some(fetch.device)
    }
}
