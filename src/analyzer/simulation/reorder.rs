//! Reorders a recorded trace for another model.
//!
//! The records of a launch are divided into streams, one per warp. The scheduler that orders the records of a run then
//! schedules these streams with the other model's SMs, resident blocks and issue slots. For programs without races
//! between blocks, the result is that of a run on that model. The records of one launch are held in memory during this
//! time.

use std::ops::Range;

use rustc_hash::FxHashMap;
use warpline_format::access::{Item, Items, Kind, Space, head};
use warpline_format::cluster;
use warpline_format::device::Device;
use warpline_format::event::{Launch, LaunchId};
use warpline_format::occupancy::{Kernel, Registers, Resources, Stated};
use warpline_format::schedule::{self, Shape, TurnEnd, WarpStreams};

use crate::requests::decode::{self, Step};
use crate::requests::{BatchError, LaunchShape, check_batch};

/// Bytes of items after which a batch is emitted.
const BATCH_BYTES: usize = 256 << 10;
/// Maximum number of blocks without records that are scheduled in addition to [`EMPTY_PER_BLOCK`] per recorded block.
/// Such blocks use issue slots, too. A larger grid may be wrong, because no records confirm it; then only blocks with
/// records are scheduled.
const MOST_EMPTY: u64 = 1 << 22;
/// Number of blocks without records per recorded block; see [`MOST_EMPTY`].
const EMPTY_PER_BLOCK: u64 = 64;

/// Reasons why a launch cannot be ordered for a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The device does not have enough resources.
    #[error("a block of it does not fit an SM of {0}")]
    NoRoom(String),
}

/// Reasons why a batch cannot be reordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReorderError {
    /// The batch is damaged.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The batch belongs to no running launch.
    #[error("launch {0} is not running")]
    NotRunning(LaunchId),
    /// A warp has requests but no block.
    #[error("warp slot {0} has a turn and no block")]
    NoBlock(u32),
    /// A block of a launch starts twice.
    #[error("block {0} of launch {1} starts twice")]
    Twice(u64, LaunchId),
}

/// Divides launches and emits them in the order of a device.
pub struct Reorder {
    device: Device,
    stated: Stated,
    launches: FxHashMap<LaunchId, DividedLaunch>,
}

/// A launch that is being divided.
struct DividedLaunch {
    /// The recorded launch.
    original: LaunchShape,
    /// The launch on the new device.
    shape: Shape,
    /// Blocks of the grid, and blocks of a cluster.
    grid: [u32; 3],
    cluster: [u32; 3],
    /// Whether only a part of its blocks was recorded.
    sampled: bool,
    /// Whether the run used the new device's order of warps.
    in_order: bool,
    /// Index of each started block, in the order of starts.
    started: FxHashMap<u64, usize>,
    /// Index in `started` of the block at each first slot.
    on_slot: FxHashMap<u32, usize>,
    /// The items of all batches, concatenated.
    bytes: Vec<u8>,
    /// Ranges of `bytes` for each warp, indexed by the block's index · warps + warp.
    streams: Vec<Vec<Range<usize>>>,
    /// Number of ranges.
    pieces: u64,
}

impl DividedLaunch {
    /// Returns the blocks to schedule, in order; `None` means the whole grid.
    fn dealt(&self) -> Option<Vec<u64>> {
        let started = self.started.len() as u64;
        if self.shape.blocks <= MOST_EMPTY + EMPTY_PER_BLOCK * started {
            return None;
        }
        let mut blocks: Vec<u64> = self.started.keys().copied().collect();
        blocks.sort_unstable();
        Some(blocks)
    }
}

impl DividedLaunch {
    /// Returns the blocks that have records, in order.
    fn recorded(&self) -> Vec<u64> {
        let warps = self.shape.warps as usize;
        let has_records =
            |number: usize| self.streams.iter().skip(number * warps).take(warps).any(|stream| !stream.is_empty());
        let found = self.started.iter().filter(|(_, number)| has_records(**number));
        let mut blocks: Vec<u64> = found.map(|(block, _)| *block).collect();
        blocks.sort_unstable();
        blocks
    }
}

impl Reorder {
    /// Creates a `Reorder` for a device, with the occupancy parameters of the user.
    pub fn new(device: Device, stated: Stated) -> Reorder {
        Reorder { device, stated, launches: FxHashMap::default() }
    }

    /// Returns the device that the order is for.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Starts a launch with the registers and resident blocks of the device. `recorded` is the device of the run.
    /// `known` contains the figures of ptxas for its kernel; without them, the registers of the run are used.
    ///
    /// # Errors
    /// Returns the reason if it cannot be ordered for the device.
    pub fn launch(
        &mut self,
        event: &mut Launch,
        original: LaunchShape,
        recorded: &Device,
        known: &[Resources],
    ) -> Result<(), Misfit> {
        let threads = event.block.iter().product();
        let shared = event.static_shared.saturating_add(event.dynamic_shared);
        let wanted = match (self.stated.registers, known) {
            (None, []) => Registers { count: event.registers, assumed: event.registers_assumed },
            _ => self.device.registers(Kernel { known, max_threads: 0, min_blocks: 0 }, self.stated),
        };
        let registers = self.device.fitting(wanted, threads);
        event.registers = registers.count;
        event.registers_assumed = registers.assumed;
        let resident = self.device.blocks_on_sm(threads, registers.count, shared, self.stated);
        if resident == 0 {
            return Err(Misfit::NoRoom(self.device.name.clone()));
        }
        event.resident_blocks = resident;
        let shape = Shape {
            blocks: original.blocks,
            warps: original.warps,
            sms: self.device.sms,
            resident,
            turn: self.device.turn,
            cluster: 1,
            order: self.device.order,
        };
        let taken = DividedLaunch {
            original,
            shape,
            grid: event.grid,
            cluster: [1; 3],
            sampled: event.block_share > 1,
            in_order: (recorded.order, recorded.turn) == (self.device.order, self.device.turn),
            started: FxHashMap::default(),
            on_slot: FxHashMap::default(),
            bytes: Vec::new(),
            streams: Vec::new(),
            pieces: 0,
        };
        self.launches.insert(event.id, taken);
        Ok(())
    }

    /// Sets the shape of the clusters in which the blocks of a launch start. An impossible shape is ignored.
    pub fn clusters(&mut self, launch: LaunchId, shape: [u32; 3]) {
        let Some(taken) = self.launches.get_mut(&launch) else { return };
        let blocks = cluster::blocks(shape);
        let fits = taken.grid.iter().zip(shape).all(|(&size, cluster)| cluster > 0 && size.is_multiple_of(cluster));
        if fits
            && blocks <= u64::from(cluster::MOST_BLOCKS)
            && blocks <= u64::from(taken.shape.resident) * u64::from(taken.shape.sms)
        {
            taken.shape.cluster = blocks as u32;
            taken.cluster = shape;
        }
    }

    /// Returns the bytes of the stored records of running launches.
    pub fn bytes(&self) -> u64 {
        let of = |taken: &DividedLaunch| {
            let streams = taken.streams.len() * size_of::<Vec<Range<usize>>>();
            let started = taken.started.len() * size_of::<(u64, usize)>() * 2;
            taken.bytes.len() as u64 + taken.pieces * size_of::<Range<usize>>() as u64 + (streams + started) as u64
        };
        self.launches.values().map(of).sum()
    }

    /// Discards a running launch and returns the bytes of its records.
    pub fn discard(&mut self, launch: LaunchId) -> u64 {
        self.launches.remove(&launch).map_or(0, |taken| taken.bytes.len() as u64)
    }

    /// Stores a batch and returns its number of requests.
    ///
    /// # Errors
    /// Returns the reason if the batch is invalid.
    pub fn batch(&mut self, launch: LaunchId, items: &[u8]) -> Result<u64, ReorderError> {
        let taken = self.launches.get_mut(&launch).ok_or(ReorderError::NotRunning(launch))?;
        let requests = check_batch(items, &taken.original)?;
        let start = taken.bytes.len();
        taken.bytes.extend_from_slice(items);
        let mut at = 0;
        while at < items.len() {
            if let Some((slot, bytes)) = decode::turn(&items[at..]) {
                let from = at + decode::TURN_BYTES;
                at = from + bytes as usize;
                let first = slot / taken.original.warps * taken.original.warps;
                let Some(block) = taken.on_slot.get(&first) else {
                    return Err(ReorderError::NoBlock(slot));
                };
                let index = block * taken.original.warps as usize + (slot - first) as usize;
                if taken.streams.len() <= index {
                    taken.streams.resize(index + 1, Vec::new());
                }
                match taken.streams[index].last_mut() {
                    Some(last) if last.end == start + from => last.end = start + at,
                    _ => {
                        taken.streams[index].push(start + from..start + at);
                        taken.pieces += 1;
                    }
                }
                continue;
            }
            let mut reader = Items::new(&items[at..]);
            match reader.next() {
                Some(Ok(Item::BlockStart { slot, block, .. })) => {
                    at += reader.position();
                    let number = taken.started.len();
                    if taken.started.insert(block, number).is_some() {
                        return Err(ReorderError::Twice(block, launch));
                    }
                    taken.on_slot.insert(slot, number);
                }
                _ => return Err(BatchError::OutsideTurn.into()),
            }
        }
        Ok(requests)
    }

    /// Emits a launch in the new order, batch by batch. Returns whether blocks without records were given the issue
    /// slots of other blocks.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn finish<E>(&mut self, launch: LaunchId, mut out: impl FnMut(&[u8]) -> Result<(), E>) -> Result<bool, E> {
        let Some(taken) = self.launches.remove(&launch) else { return Ok(false) };
        if taken.streams.is_empty() {
            return Ok(false);
        }
        let slots = (taken.shape.slots_per_sm() * taken.shape.sms) as usize;
        if taken.sampled
            && taken.in_order
            && (taken.original.slots_per_sm, taken.original.slots as usize) == (taken.shape.slots_per_sm(), slots)
        {
            // The trace already has this order, including the effect of blocks without records.
            if !taken.bytes.is_empty() {
                out(&taken.bytes)?;
            }
            return Ok(false);
        }
        let dealt = taken.dealt();
        let blocks = dealt.as_ref().map_or(taken.shape.blocks, |blocks| blocks.len() as u64);
        // If only some blocks are scheduled, clusters are incomplete.
        let cluster = if dealt.is_some() { 1 } else { taken.shape.cluster };
        let shape = Shape { blocks, cluster, ..taken.shape };
        let stands = taken.sampled.then(|| taken.recorded());
        let assumed = stands.as_ref().is_some_and(|recorded| (recorded.len() as u64) < blocks);
        let mut dealer =
            Dealer { taken: &taken, dealt, stands, slots: vec![SlotState::default(); slots], batch: Vec::new(), out };
        schedule::run(&shape, &mut dealer)?;
        dealer.hand_on()?;
        Ok(assumed)
    }
}

/// The position of a slot's warp in its stream.
#[derive(Clone, Copy, Default)]
struct SlotState {
    stream: usize,
    piece: usize,
    /// Byte offset within the current range.
    at: usize,
    /// Whether the warp belongs to a block that was not recorded.
    silent: bool,
}

struct Dealer<'a, F> {
    taken: &'a DividedLaunch,
    /// See [`DividedLaunch::dealt`].
    dealt: Option<Vec<u64>>,
    /// For a sampled launch, the recorded blocks in order. Each represents the following blocks up to the next recorded
    /// one. These use as many issue slots and have no records.
    stands: Option<Vec<u64>>,
    slots: Vec<SlotState>,
    batch: Vec<u8>,
    out: F,
}

impl<E, F: FnMut(&[u8]) -> Result<(), E>> Dealer<'_, F> {
    fn hand_on(&mut self) -> Result<(), E> {
        if !self.batch.is_empty() {
            (self.out)(&self.batch)?;
            self.batch.clear();
        }
        Ok(())
    }

    /// As on the CPU device, the budget is checked first, and a warp without items has ended.
    fn take(&mut self, slot: usize, mut requests: u32) -> TurnEnd {
        let SlotState { stream, mut piece, mut at, silent } = self.slots[slot];
        let pieces = self.taken.streams.get(stream).map_or(&[][..], Vec::as_slice);
        let end = loop {
            if requests == 0 {
                break TurnEnd::Budget;
            }
            let Some(range) = pieces.get(piece) else { break TurnEnd::Finished };
            let bytes = &self.taken.bytes[range.start + at..range.end];
            let Some((step, length)) = decode::step(bytes) else {
                piece += 1;
                at = 0;
                continue;
            };
            if !silent {
                self.batch.extend_from_slice(&bytes[..length]);
            }
            at += length;
            match step {
                Step::Barrier => break TurnEnd::Barrier,
                Step::Named(meeting) => break TurnEnd::Named(meeting),
                Step::Requests(more) => requests = requests.saturating_sub(more),
                Step::Other => {}
            }
        };
        self.slots[slot] = SlotState { stream, piece, at, silent };
        end
    }
}

impl<E, F: FnMut(&[u8]) -> Result<(), E>> WarpStreams for Dealer<'_, F> {
    type Error = E;

    fn start_block(&mut self, block: u64, first_slot: u32) -> Result<(), E> {
        let warps = self.taken.shape.warps;
        let at = |sequence| cluster::block_at(self.taken.grid, self.taken.cluster, sequence);
        let block = self.dealt.as_ref().map_or_else(|| at(block), |blocks| blocks[block as usize]);
        let stand = self.stands.as_ref().and_then(|stands| {
            let after = stands.partition_point(|&one| one <= block);
            stands.get(after.saturating_sub(1)).copied()
        });
        let silent = stand.is_some_and(|stand| stand != block);
        let number = self.taken.started.get(&stand.unwrap_or(block));
        for warp in 0..warps {
            // A block without records has no items.
            let stream = number.map_or(usize::MAX, |number| number * warps as usize + warp as usize);
            self.slots[(first_slot + warp) as usize] = SlotState { stream, silent, ..SlotState::default() };
        }
        self.batch.extend_from_slice(&head(Kind::BlockStart, Space::Generic, first_slot).to_le_bytes());
        self.batch.extend_from_slice(&warps.to_le_bytes());
        self.batch.extend_from_slice(&block.to_le_bytes());
        Ok(())
    }

    fn turn(&mut self, slot: u32, requests: u32) -> Result<TurnEnd, E> {
        let start = self.batch.len();
        self.batch.extend_from_slice(&head(Kind::Turn, Space::Generic, slot).to_le_bytes());
        self.batch.extend_from_slice(&[0; 4]);
        let end = self.take(slot as usize, requests);
        let bytes = (self.batch.len() - start - 8) as u32;
        if bytes == 0 {
            self.batch.truncate(start);
        } else {
            self.batch[start + 4..start + 8].copy_from_slice(&bytes.to_le_bytes());
        }
        if self.batch.len() >= BATCH_BYTES {
            self.hand_on()?;
        }
        Ok(end)
    }

    fn end_block(&mut self, _block: u64, _first_slot: u32) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use proptest::prelude::*;
    use warpline_format::access::push_access;
    use warpline_format::site_table::{CacheOp, File, Frame, Function, Op, Site, SiteTable};
    use warpline_format::warp_order::Order;

    use super::*;
    use crate::attribution::Module;

    /// A step of a warp.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Load(u64),
        Barrier,
        Call,
    }

    /// Produces a trace like the CPU device: a budget, then a barrier or the end.
    struct Producer<'a> {
        programs: &'a [Vec<Step>],
        warps: u32,
        slots: Vec<(usize, usize)>,
        share: u64,
        recorded: Vec<bool>,
        trace: Vec<u8>,
    }

    impl WarpStreams for Producer<'_> {
        type Error = Infallible;

        fn start_block(&mut self, block: u64, first_slot: u32) -> Result<(), Infallible> {
            for warp in 0..self.warps {
                // Blocks have different lengths; the warps of a block arrive at the same barriers.
                let program = (block as usize * 7) % self.programs.len();
                self.slots[(first_slot + warp) as usize] = (program, 0);
                self.recorded[(first_slot + warp) as usize] = block.is_multiple_of(self.share);
            }
            self.trace.extend(head(Kind::BlockStart, Space::Generic, first_slot).to_le_bytes());
            self.trace.extend(self.warps.to_le_bytes());
            self.trace.extend(block.to_le_bytes());
            Ok(())
        }

        fn turn(&mut self, slot: u32, mut requests: u32) -> Result<TurnEnd, Infallible> {
            let start = self.trace.len();
            self.trace.extend(head(Kind::Turn, Space::Generic, slot).to_le_bytes());
            self.trace.extend([0; 4]);
            let (program, mut at) = self.slots[slot as usize];
            let end = loop {
                if requests == 0 {
                    break TurnEnd::Budget;
                }
                let Some(step) = self.programs[program].get(at) else { break TurnEnd::Finished };
                at += 1;
                match step {
                    Step::Load(address) => {
                        push_access(&mut self.trace, Space::Global, 0, 3, &[*address, *address + 4]);
                        requests -= 1;
                    }
                    Step::Barrier => {
                        self.trace.extend(head(Kind::Barrier, Space::Generic, 0).to_le_bytes());
                        self.trace.extend([0; 4]);
                        break TurnEnd::Barrier;
                    }
                    Step::Call => {
                        self.trace.extend(head(Kind::Return, Space::Generic, 0).to_le_bytes());
                        self.trace.extend([0; 4]);
                    }
                }
            };
            self.slots[slot as usize] = (program, at);
            let bytes = (self.trace.len() - start - 8) as u32;
            if bytes == 0 || !self.recorded[slot as usize] {
                self.trace.truncate(start);
            } else {
                self.trace[start + 4..start + 8].copy_from_slice(&bytes.to_le_bytes());
            }
            Ok(end)
        }

        fn end_block(&mut self, _block: u64, _first_slot: u32) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn produce(programs: &[Vec<Step>], device: &Device, launch: &Launch) -> Vec<u8> {
        produce_share(programs, device, launch, 1)
    }

    /// Returns the records of every `share`-th block. The other blocks use their issue slots without records.
    fn produce_share(programs: &[Vec<Step>], device: &Device, launch: &Launch, share: u64) -> Vec<u8> {
        let warps = launch.block[0].div_ceil(32);
        let shape = Shape {
            blocks: u64::from(launch.grid[0]),
            warps,
            sms: device.sms,
            resident: launch.resident_blocks,
            turn: device.turn,
            cluster: 1,
            order: device.order,
        };
        let slots = vec![(0, 0); (shape.slots_per_sm() * shape.sms) as usize];
        let recorded = vec![false; slots.len()];
        let mut producer = Producer { programs, warps, slots, share, recorded, trace: Vec::new() };
        let Ok(()) = schedule::run(&shape, &mut producer);
        producer.trace
    }

    fn module() -> Arc<Module> {
        let table = SiteTable {
            files: vec![File::default()],
            frames: vec![Frame::default()],
            functions: vec![Function { kernel: true, ..Function::default() }],
            sites: vec![Site {
                function: 0,
                op: Op::Load,
                space: Space::Global,
                bytes: 4,
                byte_mask: None,
                align: 4,
                cache: CacheOp::Default,
                chain: vec![0],
                approximate: false,
                in_library: false,
            }],
            ..SiteTable::default()
        };
        Arc::new(Module::new(&table.to_bytes()).expect("a good table"))
    }

    fn launch(device: &Device, blocks: u32, threads: u32) -> Launch {
        Launch { resident_blocks: device.resident_blocks(threads, 32, 0), ..Launch::with_defaults(0, blocks, threads) }
    }

    /// Reorders a partly recorded launch for a device.
    fn reordered(from: &Device, to: Device, recorded: &Launch, trace: &[u8]) -> (Vec<u8>, bool) {
        let mut reorder = Reorder::new(to, Stated::default());
        let original = LaunchShape::new(recorded, module(), 0, from).unwrap();
        reorder.launch(&mut recorded.clone(), original, from, &[]).unwrap();
        reorder.batch(0, trace).unwrap();
        let mut got = Vec::new();
        let Ok(assumed) = reorder.finish(0, |items| {
            got.extend_from_slice(items);
            Ok::<(), Infallible>(())
        });
        (got, assumed)
    }

    #[test]
    fn blocks_that_were_not_recorded_take_the_turns_of_those_that_were() {
        // There are more than ten waves, and every fourth block was recorded.
        let device = |sms| Device { sms, turn: 2, threads_per_sm: 256, ..Device::rtx_2080_ti() };
        let (from, to) = (device(2), device(3));
        let programs = [vec![Step::Load(4096), Step::Load(8192), Step::Barrier, Step::Load(4096), Step::Call]];
        let recorded = Launch { block_share: 4, ..launch(&from, 99, 64) };
        let trace = produce_share(&programs, &from, &recorded, 4);
        let want = produce_share(&programs, &to, &launch(&to, 99, 64), 4);
        assert_eq!(reordered(&from, to, &recorded, &trace), (want, true));
    }

    #[test]
    fn a_share_for_the_device_of_the_run_stays_as_it_was_recorded() {
        // The blocks differ, so those without records cannot be predicted exactly.
        let device = Device { sms: 2, turn: 2, threads_per_sm: 256, ..Device::rtx_2080_ti() };
        let programs = [vec![Step::Load(4096)], vec![Step::Load(8192), Step::Barrier, Step::Load(4096), Step::Load(0)]];
        let recorded = Launch { block_share: 3, ..launch(&device, 50, 64) };
        let trace = produce_share(&programs, &device, &recorded, 3);
        assert_eq!(reordered(&device, device.clone(), &recorded, &trace), (trace.clone(), false));
    }

    #[test]
    fn a_share_for_another_order_of_warps_is_dealt_out_again() {
        let from = Device { sms: 2, turn: 2, threads_per_sm: 256, ..Device::rtx_2080_ti() };
        let to = Device { order: Order::OldestFirst { wait: 1 }, ..from.clone() };
        let programs = [vec![Step::Load(4096), Step::Load(8192), Step::Barrier, Step::Load(4096), Step::Load(0)]];
        let recorded = Launch { block_share: 4, ..launch(&from, 99, 64) };
        let trace = produce_share(&programs, &from, &recorded, 4);
        let want = produce_share(&programs, &to, &launch(&to, 99, 64), 4);
        assert_eq!(reordered(&from, to, &recorded, &trace), (want, true));
    }

    fn order() -> impl Strategy<Value = Order> {
        prop_oneof![
            1 => Just(Order::IN_STEP),
            1 => (1u32..100).prop_map(|drift| Order::LooseRoundRobin { drift }),
            2 => (0u32..40).prop_map(|wait| Order::OldestFirst { wait }),
        ]
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![6 => (0u64..1000).prop_map(|at| Step::Load(4096 + 8 * at)), 1 => Just(Step::Barrier), 1 => Just(Step::Call)]
    }

    proptest! {
        #[test]
        fn a_trace_put_in_order_is_the_trace_of_that_run(
            programs in prop::collection::vec(prop::collection::vec(step(), 0..40), 1..5),
            blocks in 1u32..40, threads in 1u32..130, sms in (1u32..6, 1u32..6), turns in (1u32..6, 1u32..6),
            orders in (order(), order())) {
            let device = |sms, turn, order| Device { sms, turn, order, threads_per_sm: 512, ..Device::rtx_2080_ti() };
            let (from, to) = (device(sms.0, turns.0, orders.0), device(sms.1, turns.1, orders.1));
            let recorded = launch(&from, blocks, threads);
            let trace = produce(&programs, &from, &recorded);
            let want = produce(&programs, &to, &launch(&to, blocks, threads));

            let mut reorder = Reorder::new(to, Stated::default());
            let mut event = recorded.clone();
            let original = LaunchShape::new(&recorded, module(), 0, &from).unwrap();
            reorder.launch(&mut event, original, &from, &[]).unwrap();
            reorder.batch(0, &trace).unwrap();
            let mut got = Vec::new();
            let Ok(_) = reorder.finish(0, |items| { got.extend_from_slice(items); Ok::<(), Infallible>(()) });
            // A launch without requests has nothing to schedule.
            if Items::new(&trace).any(|item| matches!(item, Ok(Item::Turn { .. }))) {
                prop_assert_eq!(got, want);
            }
        }
    }
}
