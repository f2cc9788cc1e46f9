//! Records the pages that requests to global and local memory touch.

use warpline_format::abi::windows;
use warpline_format::access::{Access, Addresses, Space};
use warpline_format::event::LaunchId;

use super::counts::{Counting, PageCounts, PageSettings};
use crate::analyses::shards::ByLaunch;
use crate::requests::{AnalysisTool, Cells, Event, LaunchShape};
use warpline_simulator::geometry::{LINE_BYTES, Width};
use warpline_simulator::hierarchy::LocalLayout;

/// State of a running launch.
struct Running {
    counting: Counting,
    local: LocalLayout,
    slots_per_sm: u32,
}

/// Counts the pages of one worker's SMs.
pub struct Pages {
    settings: PageSettings,
    launches: ByLaunch<Running>,
}

impl Pages {
    /// Creates a `Pages` for one worker.
    pub fn new(settings: PageSettings) -> Pages {
        Pages { settings, launches: ByLaunch::default() }
    }
}

impl AnalysisTool for Pages {
    type Result = PageCounts;

    fn needs_shared(&self) -> bool {
        false
    }

    fn start(&mut self, launch: &LaunchShape) {
        let running = Running {
            counting: Counting::new(self.settings),
            local: LocalLayout { base: windows::LOCAL, bytes_per_lane: u64::from(launch.local_bytes) },
            slots_per_sm: launch.slots_per_sm.max(1),
        };
        self.launches.start(launch.id, running);
    }

    fn batch(&mut self, launch: LaunchId) {
        self.launches.batch(launch);
    }

    #[inline]
    fn event(&mut self, event: Event<'_>) {
        let Event::Request(request) = event else { return };
        let Some(running) = self.launches.current() else { return };
        let window = running.counting.window(request.slot / running.slots_per_sm);
        let page_bytes = self.settings.page_bytes;
        match request.access.space {
            Space::Global => global(request.access, request.width, |address| window.touch(address / page_bytes)),
            Space::Local => {
                let first_line = running.local.first_line(request.slot);
                local(request.access, request.width, first_line, |line| window.touch(line / (page_bytes / LINE_BYTES)));
            }
            _ => return,
        }
        running.counting.end_of_request(request.slot / running.slots_per_sm);
    }

    fn batch_end(&mut self) {
        self.launches.batch_end();
    }

    fn end(&mut self, launch: &LaunchShape, _cells: &mut Cells) -> PageCounts {
        self.launches.end(launch.id).map(|running| running.counting.finish()).unwrap_or_default()
    }
}

/// Visits the first and the last byte of each lane. Pages are larger than any access, so these bytes cover all touched
/// pages.
#[inline]
fn global(access: &Access<'_>, width: Width, mut touch: impl FnMut(u64)) {
    let last = u64::from(width.bytes.saturating_sub(1));
    if let Addresses::Uniform(address) = access.addresses {
        touch(address);
        touch(address.wrapping_add(last));
        return;
    }
    access.for_each_lane(|_, address| {
        touch(address);
        touch(address.wrapping_add(last));
    });
}

/// Visits the lines of the lanes' words. The same word of all lanes fills one line.
#[inline]
fn local(access: &Access<'_>, width: Width, first_line: u64, mut touch: impl FnMut(u64)) {
    let last = u64::from(width.bytes.saturating_sub(1));
    let mut lane = |offset: u64| {
        let words = offset / 4..=offset.wrapping_add(last) / 4;
        words.for_each(|word| touch(first_line.wrapping_add(word) & (u64::MAX / LINE_BYTES)));
    };
    match access.addresses {
        Addresses::Uniform(offset) => lane(offset),
        _ => access.for_each_lane(|_, offset| lane(offset)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use warpline_simulator::hierarchy::{Coalescer, Groups};

    const PAGE_LINES: u64 = 4096 / LINE_BYTES;

    proptest! {
        /// Checks that the coalesced pieces lie exactly in these pages.
        #[test]
        fn pages_are_those_of_the_lines(base in 0u64..1 << 20, far in prop::collection::vec(0u64..20_000, 32), mask in 1u32..,
                                        bytes in 1u32..=64, uniform: bool) {
            let lanes: Vec<u8> = far.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1)
                .flat_map(|(_, far)| (base + far).to_le_bytes()).collect();
            let addresses = if uniform { Addresses::Uniform(base) } else { Addresses::Full(&lanes) };
            let access = Access { site: 0, space: Space::Global, mask, addresses };
            let width = Width::solid(bytes);
            let mut coalescer = Coalescer::default();

            let mut pages = BTreeSet::new();
            global(&access, width, |address| { pages.insert(address / 4096); });
            let lines = coalescer.pieces(&access, width, Groups::WARP, false);
            prop_assert_eq!(pages, lines.iter().map(|piece| piece.line / PAGE_LINES).collect::<BTreeSet<_>>());

            let mut pages = BTreeSet::new();
            local(&access, width, 77, |line| { pages.insert(line / PAGE_LINES); });
            let lines = coalescer.local_pieces(&access, width, 77);
            prop_assert_eq!(pages, lines.iter().map(|piece| piece.line / PAGE_LINES).collect::<BTreeSet<_>>());
        }
    }
}
