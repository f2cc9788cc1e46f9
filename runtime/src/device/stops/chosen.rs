//! The sites of a module that the user has chosen.

use warpline_format::access::Space;
use warpline_format::site_table::SiteTable;

/// The sites of a module at which the program stops.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// These sites, and the sites that begin a bundle with one of them: lowered code checks only the first site of a
    /// bundle.
    pub(super) open: Vec<u32>,
    /// For each site, whether the program stops there.
    stops: Vec<bool>,
    /// Whether one of these sites may access shared memory.
    pub(super) shared: bool,
    /// Lines whose accesses are all to local memory, which lowered code checks without calling the runtime.
    pub(super) only_local: Vec<(String, u32)>,
}

impl Chosen {
    /// Finds the sites whose access is on one of the lines, or is inlined there.
    pub(super) fn new(table: &SiteTable, lines: &[(String, u32)]) -> Chosen {
        let mut chosen = Chosen { stops: vec![false; table.sites.len()], ..Chosen::default() };
        for (file, line) in lines {
            let mut spaces = Vec::new();
            for (number, site) in
                table.sites.iter().enumerate().filter(|(_, site)| table.is_at_line(&site.chain, file, *line))
            {
                spaces.push(site.space);
                chosen.stops[number] = site.space != Space::Local;
                chosen.shared |= matches!(site.space, Space::Shared | Space::Generic);
            }
            if !spaces.is_empty() && spaces.iter().all(|space| *space == Space::Local) {
                chosen.only_local.push((file.clone(), *line));
            }
        }
        let sites = (0..).zip(&chosen.stops).filter(|(_, stops)| **stops).map(|(number, _)| number);
        let mut open: Vec<u32> = sites.collect();
        for bundle in &table.bundles {
            let has = bundle.members.iter().any(|member| chosen.stops_at(member.site));
            open.extend(bundle.members.first().filter(|_| has).map(|first| first.site));
        }
        open.sort_unstable();
        open.dedup();
        chosen.open = open;
        chosen
    }

    /// Returns whether the program stops at a site.
    pub(super) fn stops_at(&self, site: u32) -> bool {
        self.stops.get(site as usize).copied().unwrap_or(false)
    }

    /// Returns whether the range of a site stays empty.
    pub(super) fn is_open(&self, site: u32) -> bool {
        self.open.binary_search(&site).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_format::site_table::{Bundle, CacheOp, File, Frame, Member, Op, Site};

    fn table() -> SiteTable {
        let frame = |file, line| Frame { function: "f".into(), file, line, column: 1 };
        let site = |space, chain: &[u32]| Site {
            function: 0,
            op: Op::Load,
            space,
            bytes: 4,
            byte_mask: None,
            align: 4,
            cache: CacheOp::Default,
            chain: chain.to_vec(),
            approximate: false,
            in_library: false,
        };
        let file = |path: &str| File { path: path.into(), system: false };
        SiteTable {
            files: vec![file("/src/a.cu"), file("/src/ba.cu")],
            frames: vec![frame(0, 7), frame(1, 7), frame(0, 9), frame(0, 20)],
            sites: vec![
                site(Space::Global, &[0]),
                site(Space::Global, &[1]),
                // The access is inlined at line 9.
                site(Space::Shared, &[1, 2]),
                site(Space::Local, &[3]),
                site(Space::Global, &[2]),
            ],
            bundles: vec![Bundle { members: vec![Member { site: 1, offset: 0 }, Member { site: 4, offset: 4 }] }],
            ..SiteTable::default()
        }
    }

    #[test]
    fn lines_are_those_of_the_whole_chain_and_bundles_are_asked_at_their_first_access() {
        let chosen = Chosen::new(&table(), &[("a.cu".into(), 9)]);
        assert_eq!((0..5).map(|site| chosen.stops_at(site)).collect::<Vec<_>>(), [false, false, true, false, true]);
        assert_eq!(chosen.open, [1, 2, 4]);
        assert!(chosen.is_open(1) && !chosen.stops_at(1) && chosen.shared);
        // Paths are compared by components, so `a.cu` does not match the end of `ba.cu`.
        let chosen = Chosen::new(&table(), &[("a.cu".into(), 7)]);
        assert_eq!(chosen.open, [0]);
        assert!(!chosen.stops_at(99));
    }

    #[test]
    fn lines_of_local_memory_are_reported() {
        let chosen = Chosen::new(&table(), &[("src/a.cu".into(), 20), ("a.cu".into(), 1)]);
        assert_eq!(chosen.only_local, [("src/a.cu".to_owned(), 20)]);
        assert!(chosen.open.is_empty());
    }
}
