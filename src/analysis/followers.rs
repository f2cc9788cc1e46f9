//! The analyses that follow requests, in one list.

use std::collections::BTreeMap;

use warpline_format::access::Space;

use super::KernelData;
use super::request::Follower;
use crate::attribution::AllocationMap;
use crate::patterns::{Patterns, SitePattern, Touched};
use crate::simulation::{PageCounts, Settings, SharedStage, Simulation};

/// Each worker has one of each.
pub(super) type Followers = (Option<Simulation>, Option<Patterns>);
/// What they hand on at a launch's end.
pub(super) type Followed = <Followers as Follower>::Result;

/// Those of worker number `worker`; nothing follows where only requests are counted.
pub(super) fn new(simulated: Option<(&Settings, &SharedStage)>, worker: u32) -> Followers {
    let Some((settings, stage)) = simulated else { return (None, None) };
    (Some(Simulation::new(settings, worker, stage.clone())), Some(Patterns::default()))
}

/// What the workers' followers found in one launch.
#[derive(Default)]
pub(super) struct LaunchFollowed {
    pages: Option<PageCounts>,
    sites: BTreeMap<(u32, Space), SitePattern>,
    touched: Vec<Touched>,
}

impl LaunchFollowed {
    /// Adds what one worker's found.
    pub(super) fn add(&mut self, (pages, patterns): Followed) {
        if let Some(pages) = pages.flatten() {
            self.pages.get_or_insert_default().add(&pages);
        }
        let Some(patterns) = patterns else { return };
        for (key, pattern) in patterns.sites {
            self.sites.entry(key).or_default().add(&pattern);
        }
        self.touched.push(patterns.touched);
    }

    /// Adds it all to the kernel's figures and to the memory that is touched, while the allocations are the launch's.
    pub(super) fn keep(self, kernel: &mut KernelData, touched: &mut Touched, map: &AllocationMap) {
        if let Some(pages) = self.pages {
            kernel.pages.get_or_insert_default().add(&pages);
        }
        for ((site, space), mut pattern) in self.sites {
            pattern.collisions.settle(|address| {
                // Where a block's shared memory lies depends on what else is resident.
                let row = map.find(address).allocation.filter(|_| space == Space::Global)?;
                Some((row, address - map.start(address)?))
            });
            kernel.patterns.entry((site, space)).or_default().add(&pattern);
        }
        self.touched.iter().for_each(|more| touched.add(more));
    }
}
