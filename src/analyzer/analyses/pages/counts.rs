//! Windows of requests, and the distinct pages in them.

use rustc_hash::FxHashSet;

use crate::analyses::{Sum, Table};

/// Settings of the page analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSettings {
    /// Bytes of a page; a power of two that is at least 4096.
    pub page_bytes: u64,
    /// Number of requests to global and local memory of one SM per window.
    pub window: u32,
    /// Bytes that the TLB's entries cover, if known.
    pub reach_bytes: Option<u64>,
}

/// Default number of requests per window.
pub const DEFAULT_WINDOW: u32 = 4096;

/// Pages touched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Number of windows. The last window of an SM in a launch may be shorter.
    pub windows: u64,
    /// Distinct pages per window, summed.
    pub pages: u64,
    /// Largest number of distinct pages in a window.
    pub most: u64,
    /// Number of windows with more pages than the TLB covers.
    pub beyond: u64,
    /// All touched pages.
    pub all: FxHashSet<u64>,
}

impl Sum for PageCounts {
    fn add(&mut self, other: &PageCounts) {
        self.windows += other.windows;
        self.pages += other.pages;
        self.most = self.most.max(other.most);
        self.beyond += other.beyond;
        self.all.extend(&other.all);
    }

    /// The profile has these counts in `kernels[].pages`.
    fn table(&self) -> Option<Table> {
        None
    }
}

/// The current window of one SM.
#[derive(Clone, Debug, Default)]
pub struct Window {
    requests: u32,
    last: Option<u64>,
    seen: FxHashSet<u64>,
}

impl Window {
    /// Records a page that a request touches.
    #[inline]
    pub fn touch(&mut self, page: u64) {
        if self.last != Some(page) {
            self.last = Some(page);
            self.seen.insert(page);
        }
    }
}

/// Counts over the SMs of a launch.
#[derive(Clone, Debug)]
pub struct Counting {
    settings: PageSettings,
    windows: Vec<Window>,
    counts: PageCounts,
}

impl Counting {
    /// Creates the state at the start of a launch.
    pub fn new(settings: PageSettings) -> Counting {
        Counting { settings, windows: Vec::new(), counts: PageCounts::default() }
    }

    /// Returns the window that an SM's next request belongs to.
    #[inline]
    pub fn window(&mut self, sm: u32) -> &mut Window {
        if self.windows.len() <= sm as usize {
            self.windows.resize_with(sm as usize + 1, Window::default);
        }
        &mut self.windows[sm as usize]
    }

    /// Records the end of a request of an SM.
    #[inline]
    pub fn end_of_request(&mut self, sm: u32) {
        let Some(window) = self.windows.get_mut(sm as usize) else { return };
        window.requests += 1;
        if window.requests >= self.settings.window {
            close(window, &self.settings, &mut self.counts);
        }
    }

    /// Returns the counts at the end of the launch.
    pub fn finish(mut self) -> PageCounts {
        for window in self.windows.iter_mut().filter(|window| window.requests > 0) {
            close(window, &self.settings, &mut self.counts);
        }
        self.counts
    }
}

fn close(window: &mut Window, settings: &PageSettings, counts: &mut PageCounts) {
    let pages = window.seen.len() as u64;
    counts.windows += 1;
    counts.pages += pages;
    counts.most = counts.most.max(pages);
    counts.beyond +=
        u64::from(settings.reach_bytes.is_some_and(|reach| pages.saturating_mul(settings.page_bytes) > reach));
    counts.all.extend(window.seen.drain());
    *window = Window::default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn request(pages: &mut Counting, sm: u32, lines: &[u64]) {
        let page_bytes = pages.settings.page_bytes;
        let window = pages.window(sm);
        lines.iter().for_each(|line| window.touch(line * 128 / page_bytes));
        pages.end_of_request(sm);
    }

    #[test]
    fn a_walk_touches_a_page_after_another() {
        // The 64 requests touch one line each, and a page of 4 KiB has 32 lines: 2 pages in total, one in each window
        // of 16 requests.
        let settings = PageSettings { page_bytes: 4096, window: 16, reach_bytes: Some(4096) };
        let mut pages = Counting::new(settings);
        (0..64).for_each(|line| request(&mut pages, 0, &[line]));
        let counts = pages.finish();
        assert_eq!((counts.windows, counts.pages, counts.most, counts.beyond, counts.all.len()), (4, 4, 1, 0, 2));
        // The requests are one page apart. Every window has 16 pages, which exceeds the one page that the TLB covers.
        let mut pages = Counting::new(settings);
        (0..40).for_each(|page| request(&mut pages, 3, &[32 * page]));
        let counts = pages.finish();
        assert_eq!((counts.windows, counts.pages, counts.most, counts.beyond, counts.all.len()), (3, 40, 16, 3, 40));
    }

    proptest! {
        #[test]
        fn agrees_with_sets(window in 1u32..10, log in 12u32..16,
                            requests in prop::collection::vec((0u32..3, prop::collection::vec(0u64..4000, 1..5)), 0..100)) {
            let settings = PageSettings { page_bytes: 1 << log, window, reach_bytes: Some(3 << log) };
            let mut pages = Counting::new(settings);
            let mut want = PageCounts::default();
            for sm in 0..3 {
                let of_sm: Vec<_> = requests.iter().filter(|(other, _)| *other == sm).map(|(_, lines)| lines).collect();
                for part in of_sm.chunks(window as usize) {
                    let set: BTreeSet<u64> = part.iter().flat_map(|lines| lines.iter().map(|line| (line * 128) >> log)).collect();
                    want.windows += 1;
                    want.pages += set.len() as u64;
                    want.most = want.most.max(set.len() as u64);
                    want.beyond += u64::from(set.len() > 3);
                    want.all.extend(set);
                }
            }
            for (sm, lines) in &requests {
                request(&mut pages, *sm, lines);
            }
            prop_assert_eq!(pages.finish(), want);
        }
    }
}
