//! The blocks of an SM, as its rotations go by.

use super::rotations::Rotations;

/// Bits of a slot number.
const SLOT_BITS: u32 = 16;
/// The due time of a slot without a block.
const NEVER: u64 = u64::MAX;

/// Blocks whose warps take as many turns, and that begin at the same one of their warps.
pub(super) struct Kind {
    of_warps: Box<[u32]>,
    /// Warps that have their first turn a rotation after the others: those before the one at which the block before in the slot ended.
    late: u32,
    /// Ranges of its rotations in which the same warps have turns, the last one up to its end.
    ranges: Vec<RotationRange>,
    rotations: u32,
    /// All warps have a turn in each rotation.
    even: bool,
    /// Warps up to the last one of the last rotation.
    end: u32,
}

/// Consecutive rotations of a block in which the same warps have turns.
struct RotationRange {
    /// The first rotation after them.
    end: u32,
    /// Warps that have a turn.
    live: u32,
    /// Indexed by warp: those before it that have one.
    before: Box<[u32]>,
}

impl Kind {
    pub(super) fn new(of_warps: &[u32], late: u32) -> Kind {
        // First rotation and the one after the last, by warp.
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

    /// Returns the part of its rotations in which one lies.
    #[inline(always)]
    fn range_at(&self, rotation: u32) -> Option<&RotationRange> {
        self.ranges.iter().find(|range| rotation < range.end)
    }

    /// Returns the turns of the block in one of its rotations.
    #[inline(always)]
    fn live(&self, rotation: u32) -> u32 {
        self.range_at(rotation).map_or(0, |range| range.live)
    }

    /// Returns the first rotation after this one in which it takes another number of turns; `None` if there is none.
    #[inline(always)]
    fn change(&self, rotation: u32) -> Option<u32> {
        self.range_at(rotation).map(|range| range.end).filter(|end| *end < self.rotations)
    }

    /// In which of its rotations a warp has one of so many turns of the code, and how many warps have one before it in that.
    #[inline(always)]
    pub(super) fn turn(&self, warp: u32, turn: u32, turns: u32) -> (u32, u32) {
        if self.even && self.rotations >= turns {
            return (turn, warp);
        }
        // Warps that do not reach all of the code take fewer turns.
        let own = self.of_warps[warp as usize];
        let turn = if own < turns { (u64::from(turn) * u64::from(own) / u64::from(turns)) as u32 } else { turn };
        let rotation = turn + u32::from(warp < self.late);
        (rotation, self.range_at(rotation).map_or(0, |range| range.before[warp as usize]))
    }
}

/// A block on an SM.
#[derive(Clone, Copy)]
pub(super) struct Resident {
    /// Number of its kind.
    pub(super) kind: u16,
}

/// When a block begins.
#[derive(Clone, Copy, Default)]
pub(super) struct Begin {
    /// Its SM's rotation, before the first one where it was under way then.
    pub(super) rotation: i32,
    /// A stretch of these rotations, not after the block's first one.
    pub(super) stretch: u32,
    pub(super) slot: u16,
    /// Turns that the block before it in the slot has in the same rotation.
    pub(super) after: u16,
}

/// Where a block ended.
#[derive(Clone, Copy)]
struct Ended {
    rotation: u32,
    slot: usize,
    /// Warps up to the last one of its last rotation.
    warps: u32,
}

/// A slot for a block.
#[derive(Clone, Copy)]
struct BlockSlot {
    block: Option<Resident>,
    /// The SM's rotation that is the block's first one.
    first: i32,
    /// What happens next is its end.
    ends: bool,
    /// Turns that it gives in a rotation.
    live: u32,
}

/// The blocks that an SM runs at a time.
pub(super) struct Residents {
    slots: Vec<BlockSlot>,
    /// Indexed by slot: the rotation of its next change, and its number.
    due: Vec<u64>,
    rotations: Rotations,
    ended: Option<Ended>,
}

impl Residents {
    /// Places without blocks.
    pub(super) fn new(slots: usize) -> Residents {
        let empty = BlockSlot { block: None, first: 0, ends: false, live: 0 };
        Residents { slots: vec![empty; slots], due: vec![NEVER; slots], rotations: Rotations::new(slots), ended: None }
    }

    /// Places a block at the start of the SM's time, with the share `had` of its rotations already done.
    pub(super) fn begin(&mut self, slot: usize, block: Resident, kind: &Kind, had: f64) -> Begin {
        let all = kind.rotations;
        let own = ((had * f64::from(all)) as u32).min(all - 1);
        let first = -(own as i32);
        self.slots[slot] = BlockSlot { block: Some(block), first, ends: false, live: 0 };
        self.due[slot] = due(0, slot);
        Begin { rotation: first, stretch: 0, slot: slot as u16, after: 0 }
    }

    /// Returns the warp at which the slot that a block left continues: where that is not the first one, what comes has its turn in the same rotation.
    pub(super) fn late(&self, warps: u32) -> u32 {
        self.ended.map_or(0, |ended| if ended.warps < warps { ended.warps } else { 0 })
    }

    /// Returns a block, or none, has the slot of that which ended.
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
            // What the one before had has ended then.
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

    /// Sees what a slot does next after one of its block's rotations.
    #[inline(always)]
    fn wait(&mut self, number: usize, of_sm: u32, kind: &Kind) {
        let slot = &mut self.slots[number];
        let next = kind.change(of_sm);
        slot.ends = next.is_none();
        let next = next.unwrap_or(kind.rotations - 1);
        self.due[number] = due((slot.first + next as i32) as u32, number);
    }

    /// Gives turns until a block has had its last one; when it had. `None` where no block is left.
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

    /// When its rotations began.
    pub(super) fn over(self) -> Rotations {
        self.rotations
    }
}

#[inline(always)]
fn due(rotation: u32, slot: usize) -> u64 {
    u64::from(rotation) << SLOT_BITS | slot as u64
}
