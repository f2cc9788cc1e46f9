//! What host memory holds that came from the device: copied to the device again as it is, it brings nothing that is not
//! there.

use crate::memory::rows::Rows;
use std::collections::HashMap;

/// Least bytes of a copy: an unchanged single value is not evidence.
const LEAST_BYTES: u64 = 4096;
/// Places that are remembered, at most.
const MOST: usize = 4096;

/// A copy from the device: where on the device, and what shape it has on the host.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    device: Rows,
    pitch: u64,
    width: u64,
    height: u64,
}

/// The last copies from the device, by the host address that they went to.
#[derive(Debug, Default)]
pub struct Fetched(HashMap<u64, Fetch>);

impl Fetched {
    /// `height` rows of `width` bytes have come from the device.
    pub(super) fn note(&mut self, to: Rows, from: Rows, width: u64, height: u64) {
        let known = self.0.contains_key(&to.start);
        if width.saturating_mul(height) >= LEAST_BYTES && (known || self.0.len() < MOST) {
            self.0.insert(to.start, Fetch { device: from, pitch: to.pitch, width, height });
        }
    }

    /// Where on the device this host memory came from, if the same rows did.
    pub(super) fn origin(&self, host: Rows, width: u64, height: u64) -> Option<Rows> {
        let fetch = self.0.get(&host.start)?;
        let same = (fetch.width, fetch.height) == (width, height) && (height == 1 || fetch.pitch == host.pitch);
        same.then_some(fetch.device)
    }
}
