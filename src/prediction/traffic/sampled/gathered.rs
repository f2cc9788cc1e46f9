//! Everything that a launch does to the lines of a sample, in order.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::sample::{Line, Sample};
use super::section::Section;
use super::solutions::{Solutions, Together};
use super::touches::Finder;
use crate::form::Bounds;
use crate::traffic::flow::Flow;
use crate::traffic::replay::Timeline;
use crate::traffic::volumes::Affine;

/// Bytes from one end of an array to the other, at most: each run of lines between them is looked at.
const MOST_BYTES: i64 = 1 << 36;

/// What a warp does to a line at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touch {
    /// Time, SM and access: the order of a launch.
    order: u64,
    /// Number of the line in the sample.
    pub(super) line: u32,
    /// Number of the mask of its bytes; the highest bit is of blocks that are counted.
    mask: u32,
}

/// The highest bit of a mask's number.
const COUNTED: u32 = 1 << 31;

/// Touches in their order.
pub(super) struct Gathered {
    pub(super) lines: Vec<Line>,
    pub(super) touches: Vec<Touch>,
    masks: Vec<u128>,
}

impl Touch {
    fn new(time: u32, sm: u16, access: u16, line: u32, mask: u32) -> Touch {
        Touch { order: u64::from(time) << 32 | u64::from(sm) << 16 | u64::from(access), line, mask }
    }

    /// When, in turns that an SM has given before.
    #[inline(always)]
    pub(super) fn time(&self) -> u32 {
        (self.order >> 32) as u32
    }

    /// Number of the SM.
    #[inline(always)]
    pub(super) fn sm(&self) -> usize {
        usize::from((self.order >> 16) as u16)
    }

    /// Whether it is counted what it moves.
    #[inline(always)]
    pub(super) fn is_counted(&self) -> bool {
        self.mask & COUNTED != 0
    }

    /// Number of the access.
    #[inline(always)]
    pub(super) fn access(&self) -> usize {
        usize::from(self.order as u16)
    }
}

/// Accesses of an allocation, and the addresses that they may touch.
pub(super) struct Array<'a> {
    /// Number of the allocation.
    pub(super) allocation: usize,
    finders: Vec<Together<'a>>,
    bytes: Range<i64>,
}

impl Array<'_> {
    /// Whether some access has a condition that is looked at lane by lane.
    pub(super) fn is_slow(&self) -> bool {
        self.finders.iter().flat_map(Together::members).any(Finder::is_slow)
    }
}

/// The arrays of a launch, as far as threads of some ranges of indices touch them; `None` where an address cannot be solved, or one is too large.
pub(super) fn arrays<'a>(flow: &Flow<'a>, bounds: &'a Bounds) -> Option<Vec<Array<'a>>> {
    let mut allocations: Vec<usize> = flow.all.0.iter().map(|access| access.allocation).collect();
    allocations.sort_unstable();
    allocations.dedup();
    let array = |allocation: usize| {
        let own = || flow.all.0.iter().enumerate().filter(|(_, access)| access.allocation == allocation);
        let ends = own().map(|(_, access)| ends(access, bounds));
        let bytes = ends.reduce(|one, two| one.start.min(two.start)..one.end.max(two.end))?;
        if bytes.end - bytes.start > MOST_BYTES {
            return None;
        }
        let finder = |(number, access)| Some((number, Finder::new(access, bounds, flow.launch)?));
        let finders: Vec<_> = own().map(finder).collect::<Option<_>>()?;
        Some(Array { allocation, finders: Together::of(finders.into_iter()), bytes })
    };
    allocations.into_iter().map(array).collect()
}

impl Gathered {
    /// Of a section's accesses in such turns of a warp, so many about. `None` where these are too many to be told apart.
    pub(super) fn new(
        arrays: &[Array<'_>],
        (sample, section): (&Sample, &Section<'_>),
        (turns, timeline): (&[Vec<u32>], &Timeline),
        expected: f64,
    ) -> Option<Gathered> {
        let mut found = Gathered { lines: Vec::new(), touches: Vec::new(), masks: Vec::new() };
        found.touches.reserve(expected as usize);
        let mut numbers: FxHashMap<u128, u32> = FxHashMap::default();
        let (mut last, mut at, mut solutions) = ((0, 0), section.bounds.firsts(), Solutions::default());
        u16::try_from(turns.len()).ok()?;
        for array in arrays {
            for line in sample.lines(array.bytes.clone()) {
                let (place, before) = (found.lines.len() as u32, found.touches.len());
                for together in &array.finders {
                    together.of_line(line.start, (&mut at, &mut solutions), &mut |access, lanes| {
                        if !section.blocks.contains(&lanes.block) {
                            return;
                        }
                        let turn = turns[access].get(lanes.lap as usize).copied().unwrap_or(0);
                        let (time, sm) = timeline.at(lanes.block, lanes.warp, turn as usize);
                        if last.0 != lanes.bytes {
                            let number = *numbers.entry(lanes.bytes).or_insert_with(|| {
                                found.masks.push(lanes.bytes);
                                found.masks.len() as u32 - 1
                            });
                            last = (lanes.bytes, number);
                        }
                        let counted = if section.counted.contains(&lanes.block) { COUNTED } else { 0 };
                        found.touches.push(Touch::new(time, sm, access as u16, place, last.1 | counted));
                    });
                }
                // The bytes from one end of a section to the other are more than it touches.
                if found.touches.len() > before {
                    found.lines.push(line);
                }
            }
        }
        found.sort();
        Some(found)
    }

    /// Puts touches into their order: by time at once, as there are few at each time, then those of a time.
    fn sort(&mut self) {
        let most = self.touches.iter().map(Touch::time).max().unwrap_or(0) as usize;
        let mut ends = vec![0u32; most + 2];
        self.touches.iter().for_each(|touch| ends[touch.time() as usize + 1] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let Some(&any) = self.touches.first() else { return };
        let mut sorted = vec![any; self.touches.len()];
        for touch in &self.touches {
            let place = &mut ends[touch.time() as usize];
            sorted[*place as usize] = *touch;
            *place += 1;
        }
        sorted.chunk_by_mut(|one, two| one.time() == two.time()).for_each(<[Touch]>::sort_unstable);
        self.touches = sorted;
    }

    /// Bytes that a touch is of, a bit each.
    #[inline(always)]
    pub(super) fn bytes(&self, touch: &Touch) -> u128 {
        self.masks[(touch.mask & !COUNTED) as usize]
    }
}

/// First byte that an access may touch, and the one behind the last.
fn ends(access: &Affine, bounds: &Bounds) -> Range<i64> {
    let (low, high) = access.form.range(bounds);
    let fits = |value: i128| value.clamp(0, i128::from(i64::MAX >> 1)) as i64;
    fits(low)..fits(high + i128::from(access.bytes))
}

/// Sectors of a line of which some byte is touched.
#[inline(always)]
pub(super) fn sectors_of(bytes: u128) -> u8 {
    (0..4).fold(0, |all, at| all | u8::from((bytes >> (32 * at)) as u32 != 0) << at)
}

/// Sectors of which all bytes are.
pub(super) fn whole_sectors_of(bytes: u128) -> u8 {
    (0..4).fold(0, |all, at| all | u8::from((bytes >> (32 * at)) as u32 == u32::MAX) << at)
}
