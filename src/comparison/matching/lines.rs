//! Pairs the lines of each pair of kernels, and the lines of host code.

use std::collections::{BTreeMap, BTreeSet};

use super::align::{Budget, Item, align};
use super::kernels::file_name;
use super::pairs::Pairs;
use super::text::Text;
use warpline_profile::Profile;
use warpline_profile::model::Frame;

/// File and line.
pub type SourceLine<'a> = (&'a str, u32);

/// The lines that a profile's rows refer to, by kernel.
pub struct Code<'a> {
    pub profile: &'a Profile,
    texts: BTreeMap<&'a str, BTreeMap<u32, Text>>,
    unknown: Text,
    /// Lines by index of the kernel.
    of_kernels: Vec<BTreeSet<SourceLine<'a>>>,
    /// Lines of host code.
    host: BTreeSet<SourceLine<'a>>,
    by_id: BTreeMap<u32, usize>,
}

impl<'a> Code<'a> {
    pub fn new(profile: &'a Profile) -> Code<'a> {
        let mut by_id = BTreeMap::new();
        for (index, kernel) in profile.kernels.iter().enumerate() {
            by_id.entry(kernel.id).or_insert(index);
        }
        let mut of_kernels = vec![BTreeSet::new(); profile.kernels.len()];
        let mut host = BTreeSet::new();
        let mut of = |kernel: Option<u32>, file: &'a str, line: u32| {
            let kernel = kernel.and_then(|id| of_kernels.get_mut(*by_id.get(&id)?));
            if line != 0 {
                kernel.unwrap_or(&mut host).insert((file, line));
            }
        };
        for kernel in &profile.kernels {
            of(Some(kernel.id), &kernel.file, kernel.line);
        }
        for row in &profile.lines {
            of(Some(row.kernel), &row.file, row.line);
        }
        for row in &profile.sites {
            of(Some(row.kernel), &row.file, row.line);
        }
        for row in &profile.branches {
            of(Some(row.kernel), &row.file, row.line);
        }
        for finding in &profile.findings {
            of(finding.kernel, &finding.file, finding.line);
        }
        for allocation in &profile.allocations {
            let copies = allocation.copies.iter().flat_map(|copy| &copy.path);
            for frame in allocation.path.iter().chain(copies) {
                of(None, &frame.file, frame.line);
            }
        }
        let texts = profile.sources.iter().map(|(file, lines)| {
            let lines = lines.iter().map(|(line, text)| (*line, Text::new(text)));
            (file.as_str(), lines.collect())
        });
        Code { profile, texts: texts.collect(), unknown: Text::default(), of_kernels, host, by_id }
    }

    /// Returns the index of the kernel with a number.
    pub fn kernel(&self, id: u32) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// Returns the lines of a kernel, given by its index.
    pub(super) fn lines_of(&self, kernel: usize) -> &BTreeSet<SourceLine<'a>> {
        &self.of_kernels[kernel]
    }

    pub(super) fn text(&self, place: &SourceLine<'_>) -> &Text {
        self.texts.get(place.0).and_then(|lines| lines.get(&place.1)).unwrap_or(&self.unknown)
    }

    fn items(&'a self, places: &[SourceLine<'a>]) -> Vec<Item<'a>> {
        let item = |place: &SourceLine<'a>| Item { text: self.text(place), file: file_name(place.0), line: place.1 };
        places.iter().map(item).collect()
    }

    /// Returns the identity of a frame across versions: function and text, or the line if the text is unknown.
    pub(super) fn signature(&self, frame: &'a Frame) -> (&'a str, String) {
        let text = self.text(&(&frame.file, frame.line));
        let text = if text.is_known() { text.key().to_owned() } else { format!("{}:{}", frame.file, frame.line) };
        (&frame.function, text)
    }
}

/// Lines of the profile after, by file and line of the profile before.
type Map<'a> = BTreeMap<&'a str, BTreeMap<u32, SourceLine<'a>>>;

/// The pairs of lines.
pub struct Lines<'a> {
    /// Pairs by index of the kernel before.
    kernels: BTreeMap<usize, Map<'a>>,
    host: Map<'a>,
}

impl<'a> Lines<'a> {
    pub fn new(before: &'a Code<'a>, after: &'a Code<'a>, kernels: &Pairs) -> Lines<'a> {
        let mut budget = Budget::default();
        let mut paired = |one: &BTreeSet<SourceLine<'a>>, other: &BTreeSet<SourceLine<'a>>| {
            let one: Vec<SourceLine<'a>> = one.iter().copied().collect();
            let other: Vec<SourceLine<'a>> = other.iter().copied().collect();
            let mut map = Map::new();
            for (at, to) in align(&before.items(&one), &after.items(&other), &mut budget) {
                let (file, line) = one[at];
                map.entry(file).or_default().insert(line, other[to]);
            }
            map
        };
        let kernels = kernels.iter().map(|(at, to)| (at, paired(before.lines_of(at), after.lines_of(to)))).collect();
        Lines { kernels, host: paired(&before.host, &after.host) }
    }

    /// Returns the line in the profile after that is paired with a line in the profile before, in a kernel (given by
    /// its index before) or in host code.
    pub fn after(&self, kernel: Option<usize>, place: SourceLine<'_>) -> Option<SourceLine<'a>> {
        let map = match kernel {
            Some(kernel) => self.kernels.get(&kernel)?,
            None => &self.host,
        };
        map.get(place.0)?.get(&place.1).copied()
    }

    /// Returns whether a line of the profile after existed before, in a kernel (given by its index before) or in host
    /// code.
    pub fn was_there(&self, kernel: Option<usize>, place: SourceLine<'_>) -> bool {
        let map = match kernel {
            Some(kernel) => self.kernels.get(&kernel),
            None => Some(&self.host),
        };
        map.is_some_and(|map| map.values().flat_map(BTreeMap::values).any(|after| *after == place))
    }
}
