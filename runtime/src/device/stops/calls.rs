//! Tracks device calls that were not inlined, from the items that warps write to their record buffers.

use std::collections::HashMap;

use warpline_format::access::{Kind, item_bytes, site_of};

/// For each warp, by its address, the calls in which it currently is.
#[derive(Debug, Default)]
pub(super) struct Calls {
    of_warps: HashMap<usize, Vec<u32>>,
    /// The position of the running warp's first item that has not been read.
    begin: usize,
}

impl Calls {
    /// Records that a warp continues; its next item will be at `begin`.
    pub(super) fn resumed(&mut self, begin: *const u8) {
        self.begin = begin as usize;
    }

    /// Reads the items of a warp that has paused, up to `end`.
    ///
    /// # Safety
    /// Complete items lie between the `begin` of [`Self::resumed`] and `end`.
    pub(super) unsafe fn paused(&mut self, warp: usize, end: *const u8, finished: bool) {
        if finished {
            self.of_warps.remove(&warp);
            return;
        }
        // SAFETY: by the contract.
        let calls = unsafe { self.now(warp, end) };
        if calls.is_empty() {
            self.of_warps.remove(&warp);
        } else {
            self.of_warps.insert(warp, calls);
        }
        self.begin = end as usize;
    }

    /// Returns the call sites in which the running warp is, outermost first; its items end at `end`.
    ///
    /// # Safety
    /// The requirements of [`Self::paused`] apply.
    pub(super) unsafe fn now(&self, warp: usize, end: *const u8) -> Vec<u32> {
        let mut calls = self.of_warps.get(&warp).cloned().unwrap_or_default();
        let mut item = self.begin as *const u8;
        while item < end {
            // SAFETY: by the contract; an item has eight bytes or more.
            let first = unsafe { item.cast::<u64>().read() };
            let (head, second) = (first as u32, (first >> 32) as u32);
            match Kind::from_head(head) {
                Some(Kind::Call) => calls.push(site_of(head)),
                Some(Kind::Return) => _ = calls.pop(),
                _ => {}
            }
            let Some(length) = item_bytes(head, second) else { break };
            item = item.wrapping_add(length);
        }
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::access::{Space, head};

    #[test]
    fn calls_are_followed_over_pauses() {
        let item = |kind, site| u64::from(head(kind, Space::Generic, site)) | 0xffff_ffff << 32;
        let words = [item(Kind::Call, 3), item(Kind::Call, 5), item(Kind::Return, 0), item(Kind::Call, 8)];
        let at = |index: usize| words.as_ptr().wrapping_add(index).cast::<u8>();
        let mut calls = Calls::default();
        calls.resumed(at(0));
        // SAFETY: the words are complete items.
        unsafe {
            assert_eq!(calls.now(1, at(2)), [3, 5]);
            calls.paused(1, at(2), false);
            assert_eq!(calls.now(1, at(4)), [3, 8]);
            assert_eq!(calls.now(2, at(2)), [0u32; 0]);
            calls.paused(1, at(4), true);
            calls.resumed(at(4));
            assert_eq!(calls.now(1, at(4)), [0u32; 0]);
        }
    }
}
