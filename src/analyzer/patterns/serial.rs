//! Counts the atomic operations of a launch that run one after the other.

use warpline_format::access::Space;

use super::SitePattern;
use super::hottest::Addresses;

/// Atomic operations of one or more launches that must run one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SerialAtomics {
    /// Upper bound of the operations on the most frequent address of global memory in the launch, over all sites.
    pub hottest: u64,
    /// Operations on shared memory: the lanes on each request's most frequent address, summed over requests.
    pub shared: u64,
}

impl SerialAtomics {
    /// Creates a `SerialAtomics` for one launch's sites, before their addresses are settled.
    pub fn from_sites<'a>(sites: impl Iterator<Item = (Space, &'a SitePattern)>) -> SerialAtomics {
        let (mut addresses, mut shared) = (Addresses::default(), 0u64);
        for (space, pattern) in sites {
            match space {
                Space::Global => addresses.merge(pattern.collisions.addresses()),
                Space::Shared => shared = shared.saturating_add(pattern.collisions.deepest),
                Space::Local | Space::Constant | Space::Generic => {}
            }
        }
        SerialAtomics { hottest: addresses.hottest(1).first().map_or(0, |hot| hot.lanes), shared }
    }

    /// Adds another launch. Launches run one after the other.
    pub fn add(&mut self, other: &SerialAtomics) {
        self.hottest = self.hottest.saturating_add(other.hottest);
        self.shared = self.shared.saturating_add(other.shared);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use warpline_format::access::{Access, Addresses as Lanes};

    use super::super::atomics::Meetings;
    use super::*;

    proptest! {
        /// Compares the result with exact counts per address over all sites, and per request.
        #[test]
        fn serial_operations_are_those_of_an_exact_count(
            requests in prop::collection::vec((0u32..3, any::<bool>(), prop::collection::vec(0u64..12, 32)), 0..60),
        ) {
            let mut meetings = Meetings::default();
            let mut sites: BTreeMap<(u32, Space), SitePattern> = BTreeMap::new();
            let (mut counts, mut shared): (BTreeMap<u64, u64>, u64) = Default::default();
            for (site, global, lanes) in &requests {
                let space = if *global { Space::Global } else { Space::Shared };
                let bytes: Vec<u8> = lanes.iter().flat_map(|lane| (0x7000_0000 + lane * 4).to_le_bytes()).collect();
                let access = Access { site: *site, space, mask: !0, addresses: Lanes::Full(&bytes) };
                sites.entry((*site, space)).or_default().collisions.request(&access, &mut meetings, *global);
                if *global {
                    lanes.iter().for_each(|lane| *counts.entry(*lane).or_default() += 1);
                } else {
                    let of = |lane: &u64| lanes.iter().filter(|other| *other == lane).count() as u64;
                    shared += lanes.iter().map(of).max().unwrap_or(0);
                }
            }
            let got = SerialAtomics::from_sites(sites.iter().map(|(&(_, space), pattern)| (space, pattern)));
            prop_assert_eq!(got, SerialAtomics { hottest: counts.values().copied().max().unwrap_or(0), shared });
        }
    }
}
