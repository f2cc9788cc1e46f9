//! The bad accesses that have been reported.

use std::collections::HashSet;
use warpline_format::site_table::{FrameId, Op, SiteTable};

/// The bad accesses of a module, each of which is reported once in a program that continues after it. For the user,
/// copies of an access that loop unrolling created are the same access.
#[derive(Debug, Default)]
pub struct ReportedFaults {
    sites: HashSet<u32>,
    places: HashSet<(u32, Op, Vec<FrameId>)>,
}

impl ReportedFaults {
    /// Returns whether this is the first report for a site's source position.
    pub fn is_first(&mut self, site: u32, table: &SiteTable) -> bool {
        if !self.sites.insert(site) {
            return false;
        }
        let Some(row) = table.sites.get(site as usize) else { return true };
        self.places.insert((row.function, row.op, row.chain.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::access::Space;
    use warpline_format::site_table::{CacheOp, Site};

    #[test]
    fn a_place_comes_up_once() {
        let site = |op, column| Site {
            function: 0,
            op,
            space: Space::Global,
            bytes: 4,
            byte_mask: None,
            align: 4,
            cache: CacheOp::Default,
            chain: vec![column],
            approximate: false,
            in_library: false,
        };
        let sites = vec![site(Op::Load, 1), site(Op::Load, 1), site(Op::Store, 1), site(Op::Load, 2)];
        let table = SiteTable { sites, ..SiteTable::default() };
        let mut reported = ReportedFaults::default();
        let first: Vec<bool> = [0, 1, 2, 0, 3, 3, 99, 99].map(|site| reported.is_first(site, &table)).to_vec();
        assert_eq!(first, [true, false, true, false, true, false, true, false]);
    }
}
