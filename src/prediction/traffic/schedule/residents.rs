//! The resident blocks of an SM during its rotations.

use super::rotations::Rotations;

/// Bits of a slot number.
const SLOT_BITS: u32 = 16;
/// Due time of a slot without a block.
const NEVER: u64 = u64::MAX;

/// Blocks whose warps have equal numbers of issue slots and that start at the same warp.
pub(super) struct Kind {
    of_warps: Box<[u32]>,
    /// Number of warps whose first issue slot comes one rotation later. They precede the warp at which the slot's
    /// previous block ended.
    late: u32,
    /// Ranges of the block's rotations in which the same warps issue; the last range ends with the block.
    ranges: Vec<RotationRange>,
    rotations: u32,
    /// All warps issue in each rotation.
    even: bool,
    /// Number of warps up to the last one that issues in the last rotation.
    end: u32,
}

/// Consecutive rotations of a block in which the same warps issue.
struct RotationRange {
    /// The first rotation after them.
    end: u32,
    /// Number of warps that issue.
    live: u32,
    /// Indexed by warp: the number of preceding warps that issue.
    before: Box<[u32]>,
}

impl Kind {
    pub(super) fn new(of_warps: &[u32], late: u32) -> Kind {
        // The first rotation of each warp, and the rotation after its last one.
        let ends = (0..).zip(of_warps).map(|(warp, &turns)| {
            let late = u32::from(warp < late);
            (late, turns + late)
        });
        let ends: Vec<(u32, u32)> = ends.collect();
        let mut borders: Vec<u32> = ends.iter().flat_map(|&(first, end)| [first, end]).filter(|&at| at > 0).collect();
        borders.sort_unstable();
        borders.dedup();
        let mut first = 0;
        let range = |end: u32| {
            let mut live = 0;
            let before = ends.iter().map(|&(begin, end)| {
                let before = live;
                live += u32::from(begin <= first && first < end);
                before
            });
            let before = before.collect();
            first = end;
            RotationRange { end, live, before }
        };
        let ranges: Vec<RotationRange> = borders.into_iter().map(range).collect();
        let rotations = ranges.last().map_or(1, |last| last.end);
        let end = ends.iter().rposition(|end| end.1 == rotations).map_or(0, |warp| warp as u32 + 1);
        let even = ranges.iter().all(|range| range.live as usize == of_warps.len());
        Kind { of_warps: of_warps.into(), late, ranges, rotations, even, end }
    }

    /// Returns the range that contains a rotation.
    #[inline(always)]
    fn range_at(&self, rotation: u32) -> Option<&RotationRange> {
        self.ranges.iter().find(|range| rotation < range.end)
    }

    /// Returns the number of issue slots that the block uses in a rotation.
    #[inline(always)]
    fn live(&self, rotation: u32) -> u32 {
        self.range_at(rotation).map_or(0, |range| range.live)
    }

    /// Returns the first later rotation in which the number of issue slots changes; `None` if there is none.
    #[inline(always)]
    fn change(&self, rotation: u32) -> Option<u32> {
        self.range_at(rotation).map(|range| range.end).filter(|end| *end < self.rotations)
    }

    /// Returns the rotation in which a warp has a given issue slot of the code, and the number of preceding warps that
    /// issue in that rotation. `turns` is the total number of issue slots of the code.
    #[inline(always)]
    pub(super) fn turn(&self, warp: u32, turn: u32, turns: u32) -> (u32, u32) {
        if self.even && self.rotations >= turns {
            return (turn, warp);
        }
        // Warps that do not execute all of the code use fewer issue slots.
        let own = self.of_warps[warp as usize];
        let turn = if own < turns { (u64::from(turn) * u64::from(own) / u64::from(turns)) as u32 } else { turn };
        let rotation = turn + u32::from(warp < self.late);
        (rotation, self.range_at(rotation).map_or(0, |range| range.before[warp as usize]))
    }
}

/// A block on an SM.
#[derive(Clone, Copy)]
pub(super) struct Resident {
    /// Number of the block's kind.
    pub(super) kind: u16,
}

/// The start of a block.
#[derive(Clone, Copy, Default)]
pub(super) struct Begin {
    /// The SM's rotation in which the block starts; negative if the block was already running at the first rotation.
    pub(super) rotation: i32,
    /// Number of a stretch that contains these rotations or precedes them.
    pub(super) stretch: u32,
    pub(super) slot: u16,
    /// Issue slots of the slot's previous block in the same rotation.
    pub(super) after: u16,
}

/// The end of a block.
#[derive(Clone, Copy)]
struct Ended {
    rotation: u32,
    slot: usize,
    /// Number of warps up to the last one that issues in the last rotation.
    warps: u32,
}

/// A slot for a block.
#[derive(Clone, Copy)]
struct BlockSlot {
    block: Option<Resident>,
    /// Number of the SM's rotation that is the block's first one.
    first: i32,
    /// The next event of the slot is the end of its block.
    ends: bool,
    /// Issue slots that the block slot uses in a rotation.
    live: u32,
}

/// The blocks that an SM runs at the same time.
pub(super) struct Residents {
    slots: Vec<BlockSlot>,
    /// Rotation of each slot's next change, combined with the slot's number.
    due: Vec<u64>,
    rotations: Rotations,
    ended: Option<Ended>,
}

impl Residents {
    /// Creates slots without blocks.
    pub(super) fn new(slots: usize) -> Residents {
        let empty = BlockSlot { block: None, first: 0, ends: false, live: 0 };
        Residents { slots: vec![empty; slots], due: vec![NEVER; slots], rotations: Rotations::new(slots), ended: None }
    }

    /// Places a block in a slot at time 0 with the share `had` of its rotations already completed.
    pub(super) fn begin(&mut self, slot: usize, block: Resident, kind: &Kind, had: f64) -> Begin {
        let all = kind.rotations;
        let own = ((had * f64::from(all)) as u32).min(all - 1);
        let first = -(own as i32);
        self.slots[slot] = BlockSlot { block: Some(block), first, ends: false, live: 0 };
        self.due[slot] = due(0, slot);
        Begin { rotation: first, stretch: 0, slot: slot as u16, after: 0 }
    }

    /// Returns the warp at which the slot of an ended block continues. If that is not the first warp, the next block
    /// issues in the same rotation.
    pub(super) fn late(&self, warps: u32) -> u32 {
        self.ended.map_or(0, |ended| if ended.warps < warps { ended.warps } else { 0 })
    }

    /// Assigns a block, or none, to the slot of the block that ended.
    #[inline(always)]
    pub(super) fn follow(&mut self, block: Option<(Resident, &Kind)>) -> Begin {
        let Some(Ended { rotation, slot: number, .. }) = self.ended.take() else { return Begin::default() };
        let slot = &mut self.slots[number];
        let Some((block, kind)) = block else {
            slot.block = None;
            self.due[number] = due(rotation + 1, number);
            return Begin::default();
        };
        slot.block = Some(block);
        slot.ends = false;
        let at = slot.live;
        if kind.late > 0 {
            let live = kind.live(0);
            slot.first = rotation as i32;
            slot.live += live;
            self.rotations.change(rotation, number, live);
            // The issue slots of the previous block have ended then.
            (slot.ends, self.due[number]) = match kind.rotations - 1 {
                0 => (true, due(rotation, number)),
                _ => (false, due(rotation + 1, number)),
            };
        } else {
            slot.first = rotation as i32 + 1;
            if kind.live(0) == at {
                self.wait(number, 0, kind);
            } else {
                self.due[number] = due(rotation + 1, number);
            }
        }
        let after = if kind.late > 0 { at as u16 } else { 0 };
        let rotation = self.slots[number].first;
        Begin { rotation, stretch: self.rotations.last(), slot: number as u16, after }
    }

    /// Schedules the next event of a slot after one of its block's rotations.
    #[inline(always)]
    fn wait(&mut self, number: usize, of_sm: u32, kind: &Kind) {
        let slot = &mut self.slots[number];
        let next = kind.change(of_sm);
        slot.ends = next.is_none();
        let next = next.unwrap_or(kind.rotations - 1);
        self.due[number] = due((slot.first + next as i32) as u32, number);
    }

    /// Advances until a block has used its last issue slot, and returns that time; `None` if no block is left.
    #[inline(always)]
    pub(super) fn run(&mut self, kinds: &[Kind]) -> Option<u32> {
        loop {
            let next = self.due.iter().fold(NEVER, |least, &due| least.min(due));
            if next == NEVER {
                return None;
            }
            let (rotation, number) = ((next >> SLOT_BITS) as u32, (next & ((1 << SLOT_BITS) - 1)) as usize);
            let slot = &mut self.slots[number];
            let Some(block) = slot.block else {
                self.rotations.change(rotation, number, 0u32.wrapping_sub(slot.live));
                slot.live = 0;
                self.due[number] = NEVER;
                continue;
            };
            let kind = &kinds[usize::from(block.kind)];
            if slot.ends {
                self.due[number] = NEVER;
                self.ended = Some(Ended { rotation, slot: number, warps: kind.end });
                return Some(self.rotations.time(self.rotations.last(), rotation, number) + slot.live);
            }
            let of_sm = (rotation as i32 - slot.first) as u32;
            let live = kind.live(of_sm);
            self.rotations.change(rotation, number, live.wrapping_sub(slot.live));
            slot.live = live;
            self.wait(number, of_sm, kind);
        }
    }

    /// Returns the start times of the rotations.
    pub(super) fn over(self) -> Rotations {
        self.rotations
    }
}

#[inline(always)]
fn due(rotation: u32, slot: usize) -> u64 {
    u64::from(rotation) << SLOT_BITS | slot as u64
}
