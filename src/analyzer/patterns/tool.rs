//! Collects the access patterns of requests by site.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use warpline_format::access::Space;
use warpline_format::event::LaunchId;
use warpline_format::site_table::Op;

use super::atomics::Meetings;
use super::{BankExample, Collisions, Strides, Touched};
use crate::requests::{AnalysisTool, Cells, Event, LaunchShape};

/// The access patterns of a site's requests.
#[derive(Clone, Debug, Default)]
pub struct SitePattern {
    /// Strides between lanes, for global memory.
    pub strides: Strides,
    /// Address collisions of atomic operations.
    pub collisions: Collisions,
    /// The worst bank conflict, for shared memory.
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
    /// Patterns by site and space.
    pub sites: BTreeMap<(u32, Space), SitePattern>,
    /// Touched sectors of global memory.
    pub touched: Touched,
}

/// Patterns of a launch that is running.
#[derive(Default)]
struct Running {
    /// Patterns, and the index of each site's pattern for global and for shared memory. All sites belong to one module.
    patterns: Vec<SitePattern>,
    places: [Vec<Option<u32>>; 2],
    touched: Touched,
}

impl Running {
    #[inline]
    fn pattern(&mut self, site: u32, shared: bool) -> &mut SitePattern {
        let places = &mut self.places[usize::from(shared)];
        if places.len() <= site as usize {
            places.resize(site as usize + 1, None);
        }
        let place = *places[site as usize].get_or_insert_with(|| {
            self.patterns.push(SitePattern::default());
            self.patterns.len() as u32 - 1
        });
        &mut self.patterns[place as usize]
    }
}

/// Collects the patterns of one worker's SMs.
#[derive(Default)]
pub struct Patterns {
    launches: FxHashMap<LaunchId, Running>,
    current: Option<(LaunchId, Running)>,
    meetings: Meetings,
}

impl AnalysisTool for Patterns {
    type Result = PatternSums;

    fn needs_shared(&self) -> bool {
        false
    }

    fn start(&mut self, launch: &LaunchShape) {
        self.launches.insert(launch.id, Running::default());
    }

    fn batch(&mut self, launch: LaunchId) {
        self.current = self.launches.remove_entry(&launch);
    }

    #[inline]
    fn event(&mut self, event: Event<'_>) {
        let Event::Request(request) = event else { return };
        let Some((_, running)) = &mut self.current else { return };
        let access = request.access;
        let atomic = request.site.op == Op::Atomic;
        match access.space {
            Space::Global => {
                running.touched.request(access, request.width, request.pieces);
                let pattern = running.pattern(access.site, false);
                pattern.strides.request(access, request.width);
                if atomic {
                    pattern.collisions.request(access, &mut self.meetings, true);
                }
            }
            Space::Shared if atomic || request.passes.passes > request.passes.ideal => {
                let pattern = running.pattern(access.site, true);
                pattern.banks.request(access, request.width, request.passes);
                if atomic {
                    pattern.collisions.request(access, &mut self.meetings, false);
                }
            }
            Space::Shared | Space::Local | Space::Constant | Space::Generic => {}
        }
    }

    fn batch_end(&mut self) {
        if let Some((launch, running)) = self.current.take() {
            self.launches.insert(launch, running);
        }
    }

    fn end(&mut self, launch: &LaunchShape, _cells: &mut Cells) -> PatternSums {
        let running = self.launches.remove(&launch.id).unwrap_or_default();
        let mut sites = BTreeMap::new();
        for (places, space) in running.places.iter().zip([Space::Global, Space::Shared]) {
            for (site, place) in (0..).zip(places) {
                if let Some(place) = place {
                    sites.insert((site, space), running.patterns[*place as usize].clone());
                }
            }
        }
        PatternSums { sites, touched: running.touched }
    }
}
