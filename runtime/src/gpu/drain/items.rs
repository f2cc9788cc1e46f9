//! Turns records into the items of the trace: warp slots, turns, block starts, and addresses of the trace.

use super::addresses::Translator;
use super::residents::Places;
use super::wire::{Kind, Record};
use warpline_format::access::{self, Space, as_even, head, operation_head, push_access};
use warpline_format::gpu::{AddressKind, OperationShape};

/// The properties of a launch that are needed to write its items.
#[derive(Clone, Debug)]
pub struct LaunchShape {
    /// The launch's number in the trace.
    pub id: u64,
    /// The number of threads per block.
    pub threads: u32,
    /// The number of blocks that share an SM.
    pub resident: u32,
    /// The number of SMs of the device.
    pub sms: u32,
    /// The number of bytes that the system reserves at the start of each block's shared memory.
    pub shared_reserved: u32,
    /// The bits of a shared address that contain the offset in the block's shared memory.
    pub shared_bits: u64,
    /// Of every `n` blocks, the first is traced.
    pub block_share: u64,
}

impl LaunchShape {
    /// Returns the number of warps per block.
    pub fn warps(&self) -> u32 {
        self.threads.div_ceil(32)
    }
}

/// The maximum number of records of an SM that wait for a block slot (1.3 MB). If a block has no slot by then, it
/// evicts another block.
const MOST_HELD: usize = 4096;

/// Writes the items of one launch.
#[derive(Debug)]
pub struct ItemWriter {
    shape: LaunchShape,
    places: Vec<Places>,
    /// For each SM, the records of blocks that wait for a block slot, in their order.
    held: Vec<Vec<(Record, Vec<u64>)>>,
    items: Vec<u8>,
    /// The slot whose turn is open, and the position of the turn's head.
    turn: Option<(u32, usize)>,
    addresses: Vec<u64>,
}

impl ItemWriter {
    /// Creates a writer for a launch that has just begun.
    pub fn new(shape: LaunchShape) -> ItemWriter {
        let places = vec![Places::new(shape.resident, shape.threads); shape.sms as usize];
        let held = vec![Vec::new(); shape.sms as usize];
        ItemWriter { shape, places, held, items: Vec::new(), turn: None, addresses: Vec::with_capacity(32) }
    }

    /// Returns the launch's number in the trace.
    pub fn launch(&self) -> u64 {
        self.shape.id
    }

    /// Returns the number of blocks that were evicted before their threads ended.
    pub fn evicted(&self) -> u64 {
        self.places.iter().map(|places| places.evicted).sum()
    }

    /// Returns the number of waiting bytes.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether no bytes wait.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the waiting bytes as one batch.
    pub fn take(&mut self) -> Vec<u8> {
        self.end_turn();
        std::mem::take(&mut self.items)
    }

    fn end_turn(&mut self) {
        if let Some((_, at)) = self.turn.take() {
            let bytes = (self.items.len() - at - 8) as u32;
            self.items[at + 4..at + 8].copy_from_slice(&bytes.to_le_bytes());
        }
    }

    fn word(&mut self, first: u32, second: u32) {
        self.items.extend_from_slice(&first.to_le_bytes());
        self.items.extend_from_slice(&second.to_le_bytes());
    }

    /// Writes a record from the ring of `sm`; `lanes` are those of the reader.
    pub fn record(&mut self, sm: usize, record: &Record, lanes: &[u64], translator: &mut Translator<'_>) {
        if !record.block.is_multiple_of(self.shape.block_share) {
            return;
        }
        let Some(places) = self.places.get_mut(sm) else { return };
        let Some((place, new)) = places.place(record.block) else {
            self.held[sm].push((*record, lanes.to_vec()));
            if self.held[sm].len() > MOST_HELD {
                self.places[sm].evict();
                self.release(sm, translator);
            }
            return;
        };
        let warps = self.shape.warps();
        let first = (sm as u32 * self.shape.resident + place) * warps;
        if new {
            self.end_turn();
            self.word(head_of(access::Kind::BlockStart, first), warps);
            self.items.extend_from_slice(&record.block.to_le_bytes());
        }
        if record.kind == Kind::Exit {
            if self.places[sm].leave(place, record.mask.count_ones()) && !self.held[sm].is_empty() {
                self.release(sm, translator);
            }
            return;
        }
        let slot = first + record.warp.min(warps - 1);
        if self.turn.is_none_or(|(open, _)| open != slot) {
            self.end_turn();
            self.turn = Some((slot, self.items.len()));
            self.word(head_of(access::Kind::Turn, slot), 0);
        }
        match record.kind {
            Kind::Barrier => self.word(head_of(access::Kind::Barrier, 0), 0),
            Kind::Call => self.word(head_of(access::Kind::Call, record.site), record.mask),
            Kind::Return => self.word(head_of(access::Kind::Return, 0), 0),
            Kind::Operation => self.operation(record, lanes, translator),
            _ => self.access(record, lanes, translator),
        }
    }

    /// Writes the records that waited for a block slot, as far as slots are free now.
    fn release(&mut self, sm: usize, translator: &mut Translator<'_>) {
        for (record, lanes) in std::mem::take(&mut self.held[sm]) {
            self.record(sm, &record, &lanes, translator);
        }
    }

    /// Writes all waiting records, because no block will leave its slot any more.
    pub fn finish(&mut self, translator: &mut Translator<'_>) {
        for sm in 0..self.held.len() {
            while !self.held[sm].is_empty() {
                self.places[sm].evict();
                self.release(sm, translator);
            }
        }
    }

    /// Writes the values of an operation. Addresses become those of the trace.
    fn operation(&mut self, record: &Record, lanes: &[u64], translator: &mut Translator<'_>) {
        let shape = OperationShape(record.base);
        let rows = shape.types().operands() + 1;
        self.word(operation_head(record.site, rows), record.mask);
        self.word(shape.types().0, shape.part());
        for (row, values) in lanes.chunks(record.mask.count_ones() as usize).take(rows).enumerate() {
            for &value in values {
                let value = match shape.kind(row) {
                    AddressKind::Value => value,
                    AddressKind::Shared => self.shared_offset(value),
                    AddressKind::Global => translator.translate(record.site, value),
                };
                self.items.extend_from_slice(&value.to_le_bytes());
            }
        }
    }

    /// Returns the offset of an address in the shared memory of its block.
    fn shared_offset(&self, address: u64) -> u64 {
        (address & self.shape.shared_bits).saturating_sub(u64::from(self.shape.shared_reserved))
    }

    fn access(&mut self, record: &Record, lanes: &[u64], translator: &mut Translator<'_>) {
        let space = match record.space {
            2 => Space::Shared,
            3 => Space::Local,
            4 => Space::Constant,
            _ => Space::Global,
        };
        let (site, mask) = (record.site, record.mask);
        let (reserved, bits) = (u64::from(self.shape.shared_reserved), self.shape.shared_bits);
        let mut place = |address: u64| match space {
            Space::Shared => (address & bits).saturating_sub(reserved),
            Space::Local => address,
            _ => translator.translate(site, address),
        };
        if record.kind == Kind::Uniform {
            self.items.extend_from_slice(&head(access::Kind::Uniform, space, site).to_le_bytes());
            self.items.extend_from_slice(&mask.to_le_bytes());
            self.items.extend_from_slice(&place(record.base).to_le_bytes());
            return;
        }
        if record.kind == Kind::Affine {
            let low = record.lane(mask.trailing_zeros());
            let high = record.lane(31 - mask.leading_zeros());
            let shift = place(low).wrapping_sub(low);
            // The same shift applies to all lanes if both ends are in one allocation, because then all addresses in
            // between are in it as well. The ends are the extreme addresses only if the halves do not overlap. If they
            // overlap, or if the ends are in different allocations, the lanes are translated one by one.
            if place(high).wrapping_sub(high) == shift
                && let Some((bases, stride)) = halves(record)
            {
                let bases = bases.map(|base| base.wrapping_add(shift));
                if let Some(word) = as_even(mask, bases, stride) {
                    self.items.extend_from_slice(&head(access::Kind::Even, space, site).to_le_bytes());
                    self.items.extend_from_slice(&mask.to_le_bytes());
                    self.items.extend_from_slice(&word.to_le_bytes());
                    return;
                }
                self.items.extend_from_slice(&head(access::Kind::Affine, space, site).to_le_bytes());
                self.items.extend_from_slice(&mask.to_le_bytes());
                self.items.extend_from_slice(&bases[0].to_le_bytes());
                self.items.extend_from_slice(&bases[1].to_le_bytes());
                self.items.extend_from_slice(&stride.to_le_bytes());
                self.items.extend_from_slice(&[0; 4]);
                return;
            }
        }
        self.addresses.clear();
        for (index, lane) in (0..32).filter(|lane| mask >> lane & 1 != 0).enumerate() {
            let address = if record.kind == Kind::Affine { record.lane(lane) } else { lanes[index] };
            self.addresses.push(place(address));
        }
        push_access(&mut self.items, space, site, mask, &self.addresses);
    }
}

/// Returns the base addresses of lanes 0 and 16 and the stride, unless the record's sums wrap around or one half has
/// the opposite order of the other.
fn halves(record: &Record) -> Option<([u64; 2], i32)> {
    let mask = record.mask;
    let stride = record.stride as i32;
    let lowest = |half: u32| (half != 0).then(|| half.trailing_zeros());
    let (first, second) = (lowest(mask & 0xffff), lowest(mask & 0xffff_0000));
    let base = |lane: u32| record.lane(lane).wrapping_sub((i64::from(stride) * i64::from(lane & 15)) as u64);
    let bases = [first.map_or(0, base), second.map_or(0, base)];
    // The device computes modulo 2^32. Without the modulo, the last lane of each half must give the same result here.
    let agrees = |half: u32, base: u64| {
        half == 0 || {
            let last = 31 - half.leading_zeros();
            record.lane(last) == base.wrapping_add((i64::from(stride) * i64::from(last & 15)) as u64)
        }
    };
    let ordered = match (first, second) {
        (Some(_), Some(second)) => {
            let end = 31 - (mask & 0xffff).leading_zeros();
            let (before, after) = (record.lane(end), record.lane(second));
            if stride >= 0 { before <= after } else { before >= after }
        }
        _ => true,
    };
    (ordered && agrees(mask & 0xffff, bases[0]) && agrees(mask & 0xffff_0000, bases[1])).then_some((bases, stride))
}

fn head_of(kind: access::Kind, field: u32) -> u32 {
    head(kind, Space::Generic, field)
}

#[cfg(test)]
mod tests {
    use super::super::addresses::{AddressMap, Range};
    use super::*;
    use warpline_format::access::{Item, Items};

    fn shape() -> LaunchShape {
        LaunchShape {
            id: 3,
            threads: 64,
            resident: 2,
            sms: 2,
            shared_reserved: 1024,
            shared_bits: u64::MAX,
            block_share: 1,
        }
    }

    fn record(kind: Kind, block: u64, warp: u32, mask: u32, base: u64) -> Record {
        Record { kind, space: 1, site: 5, mask, block, warp, slot: 0, base, stride: 4, half: 64 }
    }

    fn lanes_of(items: &[u8]) -> Vec<(u32, u64)> {
        let mut lanes = Vec::new();
        for item in Items::new(items) {
            if let Item::Access(access) = item.unwrap() {
                access.for_each_lane(|lane, address| lanes.push((lane, address)));
            }
        }
        lanes
    }

    #[test]
    fn blocks_get_slots_and_warps_turns() {
        let map = AddressMap::default();
        map.insert(Range { device: 0x7000, bytes: 0x1000, synthetic: 0x100 });
        let mut translator = Translator::new(&map);
        let mut writer = ItemWriter::new(shape());
        let none = [0; 32];
        writer.record(1, &record(Kind::Affine, 9, 1, u32::MAX, 0x7000), &none, &mut translator);
        writer.record(1, &record(Kind::Barrier, 9, 1, u32::MAX, 0), &none, &mut translator);
        writer.record(1, &record(Kind::Uniform, 9, 0, 1, 0x7010), &none, &mut translator);
        writer.record(1, &record(Kind::Exit, 9, 0, u32::MAX, 0), &none, &mut translator);
        writer.record(1, &record(Kind::Exit, 9, 1, u32::MAX, 0), &none, &mut translator);
        writer.record(1, &record(Kind::Uniform, 12, 0, 1, 0x7010), &none, &mut translator);
        let items = writer.take();
        let seen: Vec<String> = Items::new(&items)
            .map(|item| match item.unwrap() {
                Item::BlockStart { slot, warps, block } => format!("block {block} at {slot} with {warps}"),
                Item::Turn { slot, bytes } => format!("turn {slot} {bytes}"),
                Item::Access(access) => format!("access {} {:?}", access.site, access.addresses),
                Item::Barrier => "barrier".into(),
                other => format!("{other:?}"),
            })
            .collect();
        let expected = [
            "block 9 at 4 with 2",
            "turn 5 24",
            "access 5 Affine { bases: [256, 320], stride: 4 }",
            "barrier",
            "turn 4 16",
            "access 5 Uniform(272)",
            "block 12 at 4 with 2",
            "turn 4 16",
            "access 5 Uniform(272)",
        ];
        assert_eq!(seen, expected);
        assert!(writer.take().is_empty());
    }

    fn starts_of(items: &[u8]) -> Vec<(u64, u32)> {
        let starts = Items::new(items).filter_map(|item| match item.unwrap() {
            Item::BlockStart { slot, block, .. } => Some((block, slot)),
            _ => None,
        });
        starts.collect()
    }

    /// An H100 behaves in this way: a third block begins in the registers of warps that have ended, before the first
    /// block's last warp has ended.
    #[test]
    fn a_block_that_begins_before_anothers_last_warp_ends_waits_for_its_place() {
        let map = AddressMap::default();
        let mut translator = Translator::new(&map);
        let mut writer = ItemWriter::new(shape());
        let mut send = |kind: Kind, block: u64, warp: u32| {
            writer.record(0, &record(kind, block, warp, u32::MAX, 0x7000 + block), &[0; 32], &mut translator);
        };
        for (block, warp) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
            send(Kind::Uniform, block, warp);
        }
        send(Kind::Exit, 1, 0);
        send(Kind::Exit, 2, 0);
        send(Kind::Uniform, 3, 0);
        send(Kind::Uniform, 1, 1);
        send(Kind::Uniform, 3, 1);
        send(Kind::Exit, 3, 0);
        send(Kind::Exit, 1, 1);
        send(Kind::Uniform, 3, 1);
        send(Kind::Exit, 3, 1);
        send(Kind::Uniform, 4, 0);
        let items = writer.take();
        assert_eq!(starts_of(&items), [(1, 0), (2, 2), (3, 0), (4, 0)]);
        assert_eq!(lanes_of(&items).len(), 32 * 9);
        assert_eq!(writer.evicted(), 0);
    }

    #[test]
    fn what_waits_for_a_place_that_no_one_leaves_is_written_at_the_end() {
        let map = AddressMap::default();
        let mut translator = Translator::new(&map);
        let mut writer = ItemWriter::new(shape());
        for block in 0..5 {
            writer.record(0, &record(Kind::Uniform, block, 0, 1, 0), &[0; 32], &mut translator);
        }
        assert_eq!(starts_of(&writer.take()).len(), 2);
        writer.finish(&mut translator);
        let items = writer.take();
        assert_eq!(starts_of(&items).iter().map(|start| start.0).collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(writer.evicted(), 3);
        // However long the block waits, it needs little memory.
        for turn in 0..3 * MOST_HELD as u64 {
            writer.record(0, &record(Kind::Uniform, 9, 0, 1, turn), &[0; 32], &mut translator);
        }
        assert!(lanes_of(&writer.take()).len() > MOST_HELD);
    }

    #[test]
    fn an_access_across_allocations_keeps_every_lane() {
        let map = AddressMap::default();
        map.insert(Range { device: 0x7000, bytes: 0x40, synthetic: 0x1_0000 });
        map.insert(Range { device: 0x7040, bytes: 0x40, synthetic: 0x2_0000 });
        let mut translator = Translator::new(&map);
        let mut writer = ItemWriter::new(shape());
        writer.record(0, &record(Kind::Affine, 0, 0, u32::MAX, 0x7000), &[0; 32], &mut translator);
        let lanes = lanes_of(&writer.take());
        let expected = |lane: u64| if lane < 16 { 0x1_0000 + 4 * lane } else { 0x2_0000 + 4 * (lane - 16) };
        assert_eq!(lanes, (0..32).map(|lane| (lane as u32, expected(lane))).collect::<Vec<_>>());
    }

    #[test]
    fn halves_that_overlap_go_lane_by_lane() {
        let map = AddressMap::default();
        let mut translator = Translator::new(&map);
        let mut writer = ItemWriter::new(shape());
        // Both halves start together, so the last lane does not have the highest address.
        let overlapping = Record { half: 8, ..record(Kind::Affine, 0, 0, u32::MAX, 0x7000) };
        writer.record(0, &overlapping, &[0; 32], &mut translator);
        let expected: Vec<_> = (0..32).map(|lane| (lane, overlapping.lane(lane))).collect();
        assert_eq!(lanes_of(&writer.take()), expected);
    }

    #[test]
    fn shared_offsets_start_at_the_blocks_own() {
        let map = AddressMap::default();
        let mut translator = Translator::new(&map);
        let mut writer = ItemWriter::new(shape());
        let shared = Record { space: 2, ..record(Kind::Affine, 0, 0, 0xff, 1024 + 16) };
        writer.record(0, &shared, &[0; 32], &mut translator);
        assert_eq!(lanes_of(&writer.take())[..2], [(0, 16), (1, 20)]);
    }

    #[test]
    fn only_the_share_of_blocks_is_written() {
        let map = AddressMap::default();
        let mut translator = Translator::new(&map);
        let mut writer = ItemWriter::new(LaunchShape { block_share: 4, ..shape() });
        for block in 0..8 {
            writer.record(0, &record(Kind::Uniform, block, 0, 1, 0), &[0; 32], &mut translator);
        }
        assert_eq!(lanes_of(&writer.take()).len(), 2);
    }
}
