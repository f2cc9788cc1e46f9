//! Figures of source lines in one launch.

use std::collections::BTreeMap;

use warpline_format::access::Space;

use crate::attribution::Module;
use crate::requests::CellKey;
use warpline_simulator::metrics::Counters;

/// The figures of lines that are estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LineCount {
    /// Requests.
    Requests,
    /// Sectors of global and local memory.
    Sectors,
    /// Passes of shared and constant memory.
    Wavefronts,
}

impl LineCount {
    /// Returns the name in the profile.
    pub fn name(self) -> &'static str {
        match self {
            LineCount::Requests => "requests",
            LineCount::Sectors => "sectors",
            LineCount::Wavefronts => "wavefronts",
        }
    }
}

/// A figure of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineFigure {
    /// Number of the kernel.
    pub kernel: u32,
    /// Number of the file in the kernel's module; `None` if the source position is unknown.
    pub file: Option<u32>,
    /// Line number.
    pub line: u32,
    /// Space.
    pub space: Space,
    /// The kind of count.
    pub count: LineCount,
}

/// Counts of a launch by line.
#[derive(Clone, Debug, Default)]
pub struct LineCounts(BTreeMap<LineFigure, u64>);

impl LineCounts {
    /// Adds the counts of a site.
    pub fn add(&mut self, kernel: u32, module: &Module, key: CellKey, counters: &Counters) {
        let Some(site) = module.table.sites.get(key.site as usize) else { return };
        let frame = module.user_frame(&site.chain).map(|user| &module.table.frames[site.chain[user] as usize]);
        let (file, line) = frame.map_or((None, 0), |frame| (Some(frame.file), frame.line));
        let counts = [
            (LineCount::Requests, counters.requests),
            (LineCount::Sectors, counters.sectors),
            (LineCount::Wavefronts, counters.wavefronts),
        ];
        for (count, value) in counts.into_iter().filter(|(_, value)| *value != 0) {
            let sum = self.0.entry(LineFigure { kernel, file, line, space: key.space, count }).or_default();
            *sum = sum.saturating_add(value);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (LineFigure, u64)> {
        self.0.iter().map(|(figure, value)| (*figure, *value))
    }
}

#[cfg(test)]
impl FromIterator<(LineFigure, u64)> for LineCounts {
    fn from_iter<I: IntoIterator<Item = (LineFigure, u64)>>(counts: I) -> LineCounts {
        LineCounts(counts.into_iter().collect())
    }
}
