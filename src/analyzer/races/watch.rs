//! Tracks the blocks of launches and collects their conflicts.

use std::collections::BTreeMap;
use std::ops::Range;

use rustc_hash::FxHashMap;
use warpline_format::access::{Access, Addresses, Item, LANES, Space, bundle_of};
use warpline_format::event::{
    AllocationId, Copy, CopyHostSide, Fault, HostAccess, LaunchId, PathId, SharedVariable, WorkOrder,
};
use warpline_format::rendezvous::Rendezvous;
use warpline_format::site_table::{CacheOp, Op};

use super::RaceCheck;
use super::bounds::{Position, SharedBounds, SiteBounds};
use super::members::{MemberBounds, MemberFault};
use super::sample::{self, Sample};
use super::shadow::{GlobalShadow, Mark, WORD, Word, flags};
use super::streams::{StreamConflict, StreamWatch};
use super::verdict::{Scope, Verdict, judge, lanes_conflict};
use crate::analysis::LaunchArgument;
use crate::attribution::{AllocationMap, Segment};
use crate::requests::{LaunchShape, decode};
use warpline_simulator::geometry::Width;

/// Maximum bytes of shared memory of a block. Larger offsets occur only in damaged traces.
pub(super) const MOST_SHARED: u64 = 1 << 20;

/// One side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Party {
    /// Number of the site.
    pub site: u32,
    /// Linear index of the block.
    pub block: u64,
    /// Number of the warp in the block.
    pub warp: u32,
}

/// Two sites whose accesses by different warps touched the same bytes; at least one of them writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// Number of the kernel in the analysis.
    pub kernel: u32,
    /// Launch of the example.
    pub launch: LaunchId,
    /// Shared or global memory.
    pub space: Space,
    /// Relation of the threads.
    pub scope: Scope,
    /// Severity.
    pub verdict: Verdict,
    /// The example: first the access that writes, then the other access.
    pub parties: [Party; 2],
    /// Host call path of the launch.
    pub path: PathId,
    /// Location of the example: the offset in bytes from the start of its allocation or of the block's shared memory;
    /// otherwise, an address.
    pub offset: u64,
    /// The allocation of the example.
    pub allocation: Option<AllocationId>,
    /// Number of conflicting 4-byte words, counted at each conflict.
    pub count: u64,
}

type Key = (u32, Space, u32, u32, Scope, Verdict, Option<AllocationId>);

/// A block that is checked.
struct Watched {
    block: u32,
    /// Number of passed barriers, per warp.
    intervals: Vec<u32>,
    /// Per warp: the last interval, counted from 1, in which it read a value that may order accesses.
    knows: Vec<u32>,
    /// Whether a warp of the block read such a value in this launch.
    knows_blocks: bool,
    /// The newest interval, and whether it is checked.
    newest: Option<u32>,
    on: bool,
    /// First site of the interval, and the number of its checked requests.
    first_site: u32,
    requests: u64,
    shared: Vec<Word>,
}

#[derive(Default)]
struct Running {
    blocks: FxHashMap<u32, Watched>,
    global: GlobalShadow,
}

/// Tracks all launches of a stream.
#[derive(Default)]
pub struct Watch {
    check: RaceCheck,
    sample: Sample,
    launches: FxHashMap<LaunchId, Running>,
    /// Memory of an ended launch, for reuse.
    spare: Option<GlobalShadow>,
    found: BTreeMap<Key, Conflict>,
    streams: StreamWatch,
    bounds: SharedBounds,
    members: MemberBounds,
}

impl Watch {
    /// Creates a check of the extent `check`.
    pub fn new(check: RaceCheck) -> Watch {
        Watch { check, ..Watch::default() }
    }

    /// Processes a validated batch of a launch with its host call path.
    pub fn batch(&mut self, shape: &LaunchShape, path: PathId, items: &[u8], map: &AllocationMap) {
        self.streams.batch(shape, path, items);
        self.sample.saw(items.len() as u64);
        let running = self.launches.remove(&shape.id);
        let mut running =
            running.unwrap_or_else(|| Running { global: self.spare.take().unwrap_or_default(), ..Running::default() });
        let bounds = self.bounds.of_kernel(shape.kernel);
        let warps = shape.warps.max(1);
        let mut at = 0;
        while at < items.len() {
            if let Some((slot, bytes)) = decode::turn(&items[at..]) {
                let end = (at + decode::TURN_BYTES + bytes as usize).min(items.len());
                if let Some(block) = running.blocks.get_mut(&(slot / warps)) {
                    let (global, bounds, warp) = (&mut running.global, bounds.as_deref(), slot % warps);
                    let segment = Segment::EMPTY;
                    let mut turn = Turn { watch: self, shape, path, map, block, global, bounds, warp, segment };
                    turn.items(&items[at + decode::TURN_BYTES..end]);
                }
                at = end;
                continue;
            }
            let Some((Ok(item), length)) = decode::item(&items[at..]) else { break };
            at += length;
            if let Item::BlockStart { slot, block, .. } = item {
                self.starts(&mut running, shape, slot / warps, block);
            }
        }
        self.launches.insert(shape.id, running);
    }

    fn starts(&self, running: &mut Running, shape: &LaunchShape, resident: u32, block: u64) {
        let is_small = shape.blocks <= sample::SMALL_GRID && self.sample.takes_all();
        let wanted = self.check == RaceCheck::Full
            || is_small
            || block < sample::BLOCKS
            || running.blocks.contains_key(&resident);
        let Ok(block) = u32::try_from(block) else { return };
        if !wanted || block == Mark::NONE.block {
            return;
        }
        let shared = running.blocks.remove(&resident).map(|before| before.shared).unwrap_or_default();
        let warps = shape.warps as usize;
        let watched = Watched {
            block,
            intervals: vec![0; warps],
            knows: vec![0; warps],
            knows_blocks: false,
            newest: None,
            on: false,
            first_site: 0,
            requests: 0,
            shared,
        };
        running.blocks.insert(resident, watched);
    }

    /// Records the end of a launch.
    pub fn end(&mut self, launch: LaunchId) {
        self.members.end(launch);
        let Some(Running { mut global, .. }) = self.launches.remove(&launch) else { return };
        global.clear();
        if self.check == RaceCheck::Sampled {
            self.spare = Some(global);
        }
    }

    /// Returns the bytes of memory in use.
    pub fn bytes(&self) -> u64 {
        let block = |watched: &Watched| watched.shared.len() * size_of::<Word>() + watched.intervals.len() * 8 + 128;
        let running =
            |running: &Running| running.global.bytes() + running.blocks.values().map(block).sum::<usize>() as u64;
        let spare = self.spare.as_ref().map_or(0, GlobalShadow::bytes);
        self.launches.values().map(running).sum::<u64>() + spare + self.streams.bytes()
    }

    /// Sets the position of the following launches and copies in the order of the program's streams.
    pub fn order(&mut self, order: WorkOrder, map: &AllocationMap) {
        self.streams.order(order, map);
    }

    /// Records a copy or fill.
    pub fn copied(&mut self, copy: &Copy) {
        self.streams.copied(copy);
    }

    /// Records the shared variables of a kernel, by module and function.
    pub fn describe_shared(&mut self, kernel: (u32, u32), variables: Vec<SharedVariable>) {
        self.bounds.describe(kernel, variables);
    }

    /// Prepares the checks of a kernel that is launched.
    pub fn launched(&mut self, shape: &LaunchShape, function: u32) {
        self.bounds.launched(shape, function);
        self.members.launched(shape, function, &self.bounds);
    }

    /// Records the arguments of a launch.
    pub fn arguments(&mut self, shape: &LaunchShape, arguments: &[LaunchArgument]) {
        self.members.arguments(shape, arguments);
    }

    /// Returns accesses outside their shared variables, found since the last call.
    pub fn take_faults(&mut self) -> Vec<Fault> {
        self.bounds.take()
    }

    /// Returns accesses outside the members that they index, found since the last call.
    pub fn take_member_faults(&mut self) -> Vec<MemberFault> {
        self.members.take()
    }

    /// Records the address of a variable of a module.
    pub fn variable(&mut self, variable: (u32, u32), address: u64) {
        self.members.allocated(variable, address);
    }

    /// The host's side of the last copy.
    pub fn copied_host_side(&mut self, side: &CopyHostSide) {
        self.streams.copied_host_side(side);
    }

    /// Host code accesses memory while work that it has not waited for may use it.
    pub fn host_access(&mut self, access: HostAccess, map: &AllocationMap) {
        self.streams.host_access(access, map);
    }

    /// Records a new allocation.
    pub fn allocated(&mut self, bytes: Range<u64>) {
        self.streams.allocated(bytes);
    }

    /// Must be called before an allocation ends.
    pub fn before_free(&mut self, map: &AllocationMap) {
        self.streams.settle(map);
    }

    /// Returns the conflicts within launches with the extent of their check, and the conflicts between streams, in an
    /// order that depends only on the trace.
    pub fn finish(self, map: &AllocationMap) -> ((Vec<Conflict>, RaceCheck), Vec<StreamConflict>) {
        ((self.found.into_values().collect(), self.check), self.streams.finish(map))
    }
}

/// An issue slot of a warp.
struct Turn<'a> {
    watch: &'a mut Watch,
    shape: &'a LaunchShape,
    path: PathId,
    map: &'a AllocationMap,
    block: &'a mut Watched,
    global: &'a mut GlobalShadow,
    bounds: Option<&'a SiteBounds>,
    warp: u32,
    /// The memory of the last conflict.
    segment: Segment,
}

impl Turn<'_> {
    fn items(&mut self, items: &[u8]) {
        let mut at = 0;
        while at < items.len() {
            if let Some((access, length)) = decode::request(&items[at..]) {
                at += length;
                self.item(&access);
                continue;
            }
            let Some((Ok(item), length)) = decode::item(&items[at..]) else { return };
            at += length;
            match item {
                Item::Barrier => self.block.intervals[self.warp as usize] += 1,
                Item::Named(meeting) => self.named_barrier(meeting),
                _ => {}
            }
        }
    }

    /// Handles a numbered barrier. If all warps of the block arrive, it separates accesses like a block-wide barrier.
    /// If only some warps arrive, it may order their later accesses after earlier accesses of the others.
    fn named_barrier(&mut self, meeting: Rendezvous) {
        let warp = self.warp as usize;
        if meeting.cluster {
            self.block.knows[warp] = self.block.intervals[warp] + 1;
            self.block.knows_blocks = true;
        } else if meeting.warps == 0 || meeting.warps >= self.shape.warps {
            self.block.intervals[warp] += 1;
        } else {
            self.block.knows[warp] = self.block.intervals[warp] + 1;
        }
    }

    /// Returns whether the warp's current interval is checked.
    fn looks(&mut self, site: u32) -> bool {
        if self.watch.check == RaceCheck::Full {
            return true;
        }
        let interval = self.block.intervals[self.warp as usize];
        if self.block.newest.is_none_or(|newest| newest < interval) {
            (self.block.newest, self.block.first_site, self.block.requests) = (Some(interval), site, 0);
            self.block.on = self.watch.sample.begins(self.shape.kernel, site);
        }
        self.block.on &= self.watch.sample.goes_on(self.block.requests);
        self.block.on
    }

    fn item(&mut self, access: &Access<'_>) {
        if !matches!(access.space, Space::Global | Space::Shared) {
            return;
        }
        let table = &self.shape.module.1.table;
        let Some(index) = bundle_of(access.site) else {
            let on = self.looks(access.site);
            return self.request(access, on);
        };
        let members = &table.bundles[index as usize].members;
        let on = self.looks(members[0].site);
        let mut spare = [0; 8 * LANES];
        for member in members {
            self.request(&access.member(member.site, member.offset, &mut spare), on);
        }
    }

    fn request(&mut self, access: &Access<'_>, on: bool) {
        let module = &self.shape.module.1;
        let site = &module.table.sites[access.site as usize];
        let warp = self.warp as usize;
        let interval = self.block.intervals[warp];
        let volatile = site.cache == CacheOp::Volatile;
        // Accesses that may order others must also be tracked in intervals that are not checked.
        let learns = match site.op {
            Op::Load => volatile,
            Op::Store => false,
            Op::Atomic => module.facts[access.site as usize].may_learn,
        };
        if learns {
            self.block.knows[warp] = interval + 1;
            self.block.knows_blocks |= access.space == Space::Global;
        }
        if !on {
            return;
        }
        self.block.requests += 1;
        if self.watch.check == RaceCheck::Sampled {
            self.watch.sample.spend(self.shape.kernel, self.block.first_site, 1);
        }
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let mark = Mark {
            block: self.block.block,
            interval,
            site: access.site,
            warp: warp as u16,
            bytes: 0,
            flags: flag(volatile || site.op == Op::Atomic, flags::MEETS)
                | flag(volatile, flags::VOLATILE)
                | flag(self.block.knows[warp] == interval + 1, flags::WARP_KNOWS)
                | flag(self.block.knows_blocks, flags::BLOCK_KNOWS)
                | flag(site.op != Op::Load, flags::WRITES),
        };
        if lanes_conflict(module, self.shape.axes, access.site) {
            self.lanes(access, &mark);
        }
        let width = module.widths[access.site as usize];
        self.check_bounds(access, width);
        let mut access = *access;
        if matches!(access.addresses, Addresses::Uniform(_)) {
            // One lane is sufficient, because all lanes belong to one warp.
            access.mask = 1 << access.mask.trailing_zeros();
        }
        access.for_each_lane(|_, address| {
            let mut place = 0;
            while place < width.bytes {
                let from = address.wrapping_add(u64::from(place));
                let count = (WORD - from % WORD).min(u64::from(width.bytes - place)) as u32;
                let held = width.holes.map_or(u64::MAX, |mask| mask >> place) as u32 & ((1 << count) - 1);
                place += count;
                let bytes = (held << (from % WORD)) as u8;
                if bytes != 0 {
                    self.word(access.space, from & !(WORD - 1), Mark { bytes, ..mark });
                }
            }
        });
    }

    /// Compares an access with the shared variable and the member that the code shows.
    fn check_bounds(&mut self, access: &Access<'_>, width: Width) {
        let (launch, kernel) = (self.shape.id, self.shape.kernel);
        let position = Position { launch, kernel, block: self.block.block.into(), warp: self.warp };
        if let Some(bounds) = self.bounds.filter(|_| access.space == Space::Shared) {
            self.watch.bounds.check(bounds, access, width, &position);
            if self.watch.bounds.is_reported(kernel, access.site) {
                return;
            }
        }
        self.watch.members.check(&self.shape.module.1.table, access, width, &position, self.map);
    }

    /// Finds lanes of a store that share an address.
    fn lanes(&mut self, access: &Access<'_>, mark: &Mark) {
        let mut addresses = [0; LANES];
        let mut count = 0;
        access.for_each_lane(|_, address| {
            addresses[count] = address;
            count += 1;
        });
        let addresses = &mut addresses[..count];
        addresses.sort_unstable();
        if let Some(pair) = addresses.windows(2).find(|pair| pair[0] == pair[1]) {
            self.found(access.space, pair[0], [mark; 2], (Scope::Warp, Verdict::Race));
        }
    }

    fn word(&mut self, space: Space, address: u64, mark: Mark) {
        let mut met = [Mark::NONE; Word::MARKS];
        let mut count = 0;
        let meet = |other: &Mark| {
            met[count] = *other;
            count += 1;
        };
        match space {
            Space::Shared => {
                if address >= MOST_SHARED {
                    return;
                }
                let index = (address / WORD) as usize;
                let shared = &mut self.block.shared;
                if shared.len() <= index {
                    shared.resize((index + 1).next_power_of_two(), Word::EMPTY);
                }
                shared[index].touch(mark, meet);
            }
            _ => {
                let most = match self.watch.check {
                    RaceCheck::Full => usize::MAX,
                    RaceCheck::Sampled if self.watch.sample.takes_all() => {
                        sample::UNSAMPLED_LINES[usize::from(mark.writes())]
                    }
                    RaceCheck::Sampled => sample::LINES[usize::from(mark.writes())],
                };
                if let Some(word) = self.global.word(address, most, &mark) {
                    word.touch(mark, meet);
                }
            }
        }
        for other in &met[..count] {
            // The shared memory belonged to another block before.
            if space != Space::Shared || other.block == mark.block {
                self.meeting(space, address, &mark, other);
            }
        }
    }

    #[cold]
    fn meeting(&mut self, space: Space, address: u64, mine: &Mark, other: &Mark) {
        let module = &self.shape.module.1;
        let Some((scope, verdict)) = judge(module, self.shape.axes, mine, other) else { return };
        if verdict == Verdict::MaybeOrdered && self.watch.check != RaceCheck::Full {
            return;
        }
        let address = address + u64::from((mine.bytes & other.bytes).trailing_zeros());
        // The writing access comes first; if both write, the lower site comes first.
        let rank = |mark: &Mark| (!mark.writes(), mark.site, mark.block, mark.warp);
        let parties = if rank(mine) <= rank(other) { [mine, other] } else { [other, mine] };
        self.found(space, address, parties, (scope, verdict));
    }

    fn found(&mut self, space: Space, address: u64, parties: [&Mark; 2], (scope, verdict): (Scope, Verdict)) {
        let [first, second] = parties;
        if space != Space::Shared && !(self.segment.low..=self.segment.high).contains(&address) {
            self.segment = self.map.find(address);
        }
        let allocation = self.segment.allocation.filter(|_| space != Space::Shared);
        let start = || allocation.and_then(|_| self.map.start(address)).unwrap_or(0);
        let key = (self.shape.kernel, space, first.site, second.site, scope, verdict, allocation);
        let party = |mark: &Mark| Party { site: mark.site, block: mark.block.into(), warp: mark.warp.into() };
        let conflict = self.watch.found.entry(key).or_insert_with(|| Conflict {
            kernel: self.shape.kernel,
            launch: self.shape.id,
            space,
            scope,
            verdict,
            parties: parties.map(party),
            path: self.path,
            offset: address - start(),
            allocation,
            count: 0,
        });
        conflict.count += 1;
    }
}
