//! All touches of sampled lines by a launch, in time order.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::access_group::AccessGroup;
use super::sample::{Line, Sample};
use super::simulated_blocks::SimulatedBlocks;
use super::solutions::Solutions;
use super::touches::{Finder, between};
use crate::form::Bounds;
use crate::traffic::access::{LINE, MemoryAccess};
use crate::traffic::flow::Flow;
use crate::traffic::lane_addresses::{LaneAddresses, LaneRequest};

/// Maximum extent of an array in bytes; each run of lines in the extent is inspected.
const MOST_BYTES: i64 = 1 << 36;

/// One touch: a warp's access to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Touch {
    /// Time, SM and access, packed into the sort key of the launch's order.
    order: u64,
    /// Number of the line in the sample.
    pub(super) line: u32,
    /// Number of the touched-bytes mask. The highest bit is set for touches of counted blocks.
    mask: u32,
}

/// The highest bit of a mask's number: the touch belongs to a counted block.
const COUNTED: u32 = 1 << 31;

/// Touches in time order.
pub(super) struct Gathered {
    pub(super) lines: Vec<Line>,
    pub(super) touches: Vec<Touch>,
    masks: Vec<u128>,
}

impl Touch {
    fn new(time: u32, sm: u16, access: u16, line: u32, mask: u32) -> Touch {
        Touch { order: u64::from(time) << 32 | u64::from(sm) << 16 | u64::from(access), line, mask }
    }

    /// Returns the time in issue slots that the SM has given before.
    #[inline(always)]
    pub(super) fn time(&self) -> u32 {
        (self.order >> 32) as u32
    }

    /// Returns the number of the SM.
    #[inline(always)]
    pub(super) fn sm(&self) -> usize {
        usize::from((self.order >> 16) as u16)
    }

    /// Returns whether the traffic of the touch is counted.
    #[inline(always)]
    pub(super) fn is_counted(&self) -> bool {
        self.mask & COUNTED != 0
    }

    /// Returns the number of the access.
    #[inline(always)]
    pub(super) fn access(&self) -> usize {
        usize::from(self.order as u16)
    }
}

/// Accesses of an allocation with affine addresses, and the range of addresses that they may touch.
pub(super) struct Array<'a> {
    finders: Vec<AccessGroup<'a>>,
    bytes: Range<i64>,
}

impl Array<'_> {
    /// Returns whether the condition of some access is evaluated lane by lane.
    pub(super) fn is_slow(&self) -> bool {
        self.finders.iter().flat_map(AccessGroup::members).any(Finder::is_slow)
    }
}

/// Returns the arrays that threads in the given ranges of indices touch; `None` if an address cannot be solved, or if
/// an array is too large.
pub(super) fn arrays<'a>(flow: &Flow<'a>, bounds: &'a Bounds) -> Option<Vec<Array<'a>>> {
    let affine = || flow.all.0.iter().enumerate().filter(|(_, access)| access.is_affine());
    let mut allocations: Vec<usize> = affine().map(|(_, access)| access.allocation).collect();
    allocations.sort_unstable();
    allocations.dedup();
    let array = |allocation: usize| {
        let own = || affine().filter(|(_, access)| access.allocation == allocation);
        let ends = own().map(|(_, access)| ends(access, bounds));
        let bytes = ends.reduce(|one, two| one.start.min(two.start)..one.end.max(two.end))?;
        if bytes.end - bytes.start > MOST_BYTES {
            return None;
        }
        let finder = |(number, access)| Some((number, Finder::new(access, bounds, flow.launch)?));
        let finders: Vec<_> = own().map(finder).collect::<Option<_>>()?;
        Some(Array { finders: AccessGroup::group_finders(finders.into_iter()), bytes })
    };
    allocations.into_iter().map(array).collect()
}

impl Gathered {
    /// Gathers the touches of sampled lines in a part of a launch. `expected` is their approximate number. Returns
    /// `None` if there are too many accesses to number.
    pub(super) fn new(
        flow: &Flow<'_>,
        arrays: &[Array<'_>],
        (sample, simulated): (&Sample, &SimulatedBlocks<'_>),
        expected: f64,
    ) -> Option<Gathered> {
        u16::try_from(simulated.turns.len()).ok()?;
        let mut found = Gathering {
            simulated,
            numbers: FxHashMap::default(),
            last: (0, 0),
            all: Gathered { lines: Vec::new(), touches: Vec::new(), masks: Vec::new() },
        };
        found.all.touches.reserve(expected as usize);
        found.add_affine(arrays, sample);
        if !flow.all.0.iter().all(MemoryAccess::is_affine) {
            found.add_computed(flow, sample);
        }
        found.all.sort();
        Some(found.all)
    }

    /// Sorts touches: first by time with a bucket sort, because each time has few touches, then within each time.
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

    /// Returns the touched bytes, one bit each.
    #[inline(always)]
    pub(super) fn bytes(&self, touch: &Touch) -> u128 {
        self.masks[(touch.mask & !COUNTED) as usize]
    }
}

/// State while the touches of a part of a launch are gathered.
struct Gathering<'g, 'a> {
    simulated: &'g SimulatedBlocks<'a>,
    /// Keyed by mask: the mask's number.
    numbers: FxHashMap<u128, u32>,
    /// The last mask and its number.
    last: (u128, u32),
    all: Gathered,
}

impl Gathering<'_, '_> {
    /// Adds a warp's touch of a line in one iteration of an access.
    #[inline(always)]
    fn add(&mut self, access: usize, (block, warp, iteration): (u64, u32, u32), (line, bytes): (u32, u128)) {
        let turn = self.simulated.turns[access].get(iteration as usize).copied().unwrap_or(0);
        let (time, sm) = self.simulated.timeline.at(block, warp, turn as usize);
        if self.last.0 != bytes {
            let masks = &mut self.all.masks;
            let number = *self.numbers.entry(bytes).or_insert_with(|| {
                masks.push(bytes);
                masks.len() as u32 - 1
            });
            self.last = (bytes, number);
        }
        let counted = if self.simulated.counted.contains(&block) { COUNTED } else { 0 };
        self.all.touches.push(Touch::new(time, sm, access as u16, line, self.last.1 | counted));
    }

    /// Adds the touches of accesses with affine addresses, line by line.
    fn add_affine(&mut self, arrays: &[Array<'_>], sample: &Sample) {
        let (mut at, mut solutions) = (self.simulated.bounds.firsts(), Solutions::default());
        for array in arrays {
            for line in sample.lines(array.bytes.clone()) {
                let (number, before) = (self.all.lines.len() as u32, self.all.touches.len());
                for together in &array.finders {
                    together.of_line(line.start, (&mut at, &mut solutions), &mut |access, lanes| {
                        if self.simulated.blocks.contains(&lanes.block) {
                            let warp = (lanes.block, lanes.warp, lanes.iteration);
                            self.add(access, warp, (number, lanes.bytes));
                        }
                    });
                }
                // The range of bytes can be larger than the touched bytes.
                if self.all.touches.len() > before {
                    self.all.lines.push(line);
                }
            }
        }
    }

    /// Adds the touches of accesses whose addresses are computed lane by lane, block by block.
    fn add_computed(&mut self, flow: &Flow<'_>, sample: &Sample) {
        let starts = (0..).zip(&self.all.lines).map(|(number, line)| (line.start, number));
        let mut known: FxHashMap<i64, u32> = starts.collect();
        let mut lanes = LaneAddresses::new(flow.all.0, (flow.addresses, flow.launch), flow.all.1);
        // Touched bytes of a warp, by line.
        let mut touched: Vec<(u32, u128)> = Vec::new();
        for block in self.simulated.blocks.clone() {
            let own = flow.all.0.iter().enumerate().filter(|(_, access)| !access.is_affine());
            for (number, access) in own {
                lanes.each_request(number, flow.launch, block, &mut |LaneRequest { iteration, warp, addresses }| {
                    touched.clear();
                    for &address in addresses {
                        let (first, last) = (address as i64, address as i64 + i64::from(access.bytes.max(1)) - 1);
                        for start in (first.div_euclid(LINE)..=last.div_euclid(LINE)).map(|line| line * LINE) {
                            let Some(line) = sample.line_at(start) else { continue };
                            let lines = &mut self.all.lines;
                            let number = *known.entry(start).or_insert_with(|| {
                                lines.push(line);
                                lines.len() as u32 - 1
                            });
                            let bytes = between(first - start, last - start);
                            match touched.iter_mut().find(|(known, _)| *known == number) {
                                Some((_, all)) => *all |= bytes,
                                None => touched.push((number, bytes)),
                            }
                        }
                    }
                    touched.iter().for_each(|&touch| self.add(number, (block, warp, iteration), touch));
                });
            }
        }
    }
}

/// Returns the first byte that an access may touch, and the byte after the last one.
fn ends(access: &MemoryAccess, bounds: &Bounds) -> Range<i64> {
    let (low, high) = access.form.range(bounds);
    let fits = |value: i128| value.clamp(0, i128::from(i64::MAX >> 1)) as i64;
    fits(low)..fits(high + i128::from(access.bytes))
}

/// Returns the sectors of a line with at least one touched byte.
#[inline(always)]
pub(super) fn sectors_of(bytes: u128) -> u8 {
    (0..4).fold(0, |all, at| all | u8::from((bytes >> (32 * at)) as u32 != 0) << at)
}

/// Returns the sectors of a line in which all bytes are touched.
pub(super) fn whole_sectors_of(bytes: u128) -> u8 {
    (0..4).fold(0, |all, at| all | u8::from((bytes >> (32 * at)) as u32 == u32::MAX) << at)
}
