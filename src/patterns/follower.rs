//! Follows requests and keeps their patterns by site.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpline_format::access::Space;
use warpline_format::event::LaunchId;
use warpline_format::site_table::Op;

use super::{BankExample, Collisions, Strides, Touched};
use crate::analysis::{Cells, Follower, LaunchShape, Request};

/// How a site's requests use memory.
#[derive(Clone, Debug, Default)]
pub struct SitePattern {
    /// Strides between lanes; global memory.
    pub strides: Strides,
    /// Of atomic operations.
    pub collisions: Collisions,
    /// The worst bank conflict; shared memory.
    pub banks: BankExample,
}

impl SitePattern {
    /// Adds other requests of the site.
    pub fn add(&mut self, other: &SitePattern) {
        self.strides.add(&other.strides);
        self.collisions.add(&other.collisions);
        self.banks.keep(other.banks.clone());
    }
}

/// Patterns of a launch.
#[derive(Debug, Default)]
pub struct PatternSums {
    /// By site and space.
    pub sites: BTreeMap<(u32, Space), SitePattern>,
    /// Sectors of global memory that were touched.
    pub touched: Touched,
}

/// Patterns of a launch that is running.
#[derive(Default)]
struct Running {
    /// By site, of each space; sites of one module.
    sites: FxHashMap<(u32, Space), SitePattern>,
    touched: Touched,
}

/// Follows the requests of one worker's share of the SMs.
#[derive(Default)]
pub struct Patterns {
    launches: FxHashMap<LaunchId, Running>,
    current: Option<(LaunchId, Running)>,
}

impl Follower for Patterns {
    type Result = PatternSums;

    fn wants_shared(&self) -> bool {
        false
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.launches.insert(launch.id, Running::default());
    }

    fn batch(&mut self, launch: LaunchId) {
        self.current = self.launches.remove_entry(&launch);
    }

    #[inline]
    fn request(&mut self, request: &Request<'_>) {
        let Some((_, running)) = &mut self.current else { return };
        let access = request.access;
        let key = (access.site, access.space);
        match access.space {
            Space::Global => {
                running.touched.request(access, request.width);
                let pattern = running.sites.entry(key).or_default();
                pattern.strides.request(access, request.width);
                if request.site.op == Op::Atomic {
                    pattern.collisions.request(access);
                }
            }
            Space::Shared => {
                let conflicts = request.passes.passes > request.passes.ideal;
                if conflicts || request.site.op == Op::Atomic {
                    let pattern = running.sites.entry(key).or_default();
                    pattern.banks.request(access, request.width, request.passes);
                    if request.site.op == Op::Atomic {
                        pattern.collisions.request(access);
                    }
                }
            }
            Space::Local | Space::Constant | Space::Generic => {}
        }
    }

    fn batch_end(&mut self) {
        if let Some((launch, running)) = self.current.take() {
            self.launches.insert(launch, running);
        }
    }

    fn end(&mut self, launch: &LaunchShape, _cells: &mut Cells) -> PatternSums {
        let running = self.launches.remove(&launch.id).unwrap_or_default();
        PatternSums { sites: running.sites.into_iter().collect(), touched: running.touched }
    }
}
