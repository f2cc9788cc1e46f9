//! The way of a record from a GPU to the host, without a GPU: the very source that runs on the device, compiled for
//! the host over another policy (`tests/gpu/warp_host.h`), sends from many threads to the reader of this crate.

mod gpu_producer;

use gpu_producer::{Target, producer};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use warpline_format::access::MOST_ROWS;
use warpline_format::gpu::{AddressKind, BLOCK_CELLS, BRANCH_CELLS, OPERATION_WORDS, OperationShape, SITE_CELLS};
use warpline_format::operation::{ValueType, ValueTypes};
use warpline_runtime::gpu::drain::wire::{
    FLAG_CAPACITY_SHIFT, FLAG_COUNTS_SHIFT, FLAG_DROP, Kind, MARK, Next, RECORD_UNIT, Reader, Record, RingControl,
    SLOT_BITS, SLOTS, Ticket,
};

/// Checks that the hook that was just called left its lanes converged.
fn together(mask: u32) {
    // SAFETY: no arguments.
    assert_eq!(unsafe { (producer().together)() }, mask, "lanes go on apart behind a hook");
}

/// Rings in ordinary memory.
struct Rings {
    target: Target,
    _control: Vec<RingControl>,
    _data: Vec<u64>,
    tails: Vec<AtomicU64>,
}

// SAFETY: all shared words are used atomically, by both sides.
unsafe impl Sync for Rings {}

impl Rings {
    fn new(sms: usize, log2: u32, flags: u64) -> Rings {
        let tails: Vec<AtomicU64> = (0..sms).map(|_| AtomicU64::new(0)).collect();
        let mut control: Vec<RingControl> = tails
            .iter()
            .map(|tail| RingControl { head: 0, limit: 1 << log2, dropped: 0, tail: std::ptr::from_ref(tail) as u64 })
            .collect();
        let mut data = vec![0u64; sms << (log2 - 3)];
        let flags = flags | u64::from(log2) << FLAG_CAPACITY_SHIFT;
        let target =
            Target { rings: control.as_mut_ptr(), data: data.as_mut_ptr().cast(), counts: std::ptr::null_mut(), flags };
        Rings { target, _control: control, _data: data, tails }
    }

    fn capacity(&self) -> u64 {
        1 << (self.target.flags >> FLAG_CAPACITY_SHIFT & 31)
    }

    fn reader(&self, sm: usize) -> Reader {
        let capacity = self.capacity();
        // SAFETY: the memory lives in `self`, which outlives the reader in these tests.
        unsafe { Reader::new(self.target.data.add(sm * capacity as usize), capacity, &raw const self.tails[sm]) }
    }

    fn control(&self, sm: usize) -> RingControl {
        // SAFETY: in bounds; read when the producers are through.
        unsafe { self.target.rings.add(sm).read() }
    }

    fn access(&self, sm: u32, who: u64, site: u32, mask: u32, addresses: &[u64; 32]) {
        // SAFETY: as `wire.h` requires; 1 is global memory.
        unsafe { (producer().access)(&raw const self.target, sm, who, 1 << 24 | site, mask, addresses.as_ptr()) };
        together(mask);
    }
}

fn who(block: u64, warp: u64, slot: u64) -> u64 {
    MARK | block << (SLOT_BITS + 5) | warp << SLOT_BITS | slot
}

fn mix(value: u64) -> u64 {
    let value = (value ^ value >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (value ^ value >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ value >> 32
}

/// Returns the mask and the addresses of a producer's n-th request, which cover all forms of records and their edge
/// cases.
fn request(producer: u64, number: u64) -> (u32, [u64; 32]) {
    let seed = mix(producer << 32 | number);
    let mask = match seed & 3 {
        0 => u32::MAX,
        1 => (mix(seed) as u32) | 1 << (seed >> 8 & 31),
        2 => u32::MAX << (seed >> 16 & 31),
        _ => 1 << (seed >> 16 & 31),
    };
    let base = 0x7f00_0000_0000 + (mix(seed ^ 1) & 0xff_ffff_fff0);
    let address = |lane: u64| match seed >> 4 & 7 {
        0 => base,
        1 => base + 4 * lane,
        2 => base.wrapping_sub(12 * lane),
        3 => base + 64 * (lane & 15) + (lane >> 4) * 100_000,
        4 => base + (mix(seed ^ lane << 8) & 0xfffff),
        5 => base.wrapping_add(mix(seed ^ lane << 8) & 0xffff_ffff_ffff) & !MARK,
        6 => base + lane * 0x4000_0000,
        _ => base - lane % 3,
    };
    (mask, std::array::from_fn(|lane| address(lane as u64)))
}

/// Returns the lanes and addresses of a record.
fn lanes(record: &Record, listed: &[u64]) -> Vec<(u32, u64)> {
    let active = (0..32).filter(|lane| record.mask >> lane & 1 != 0);
    match record.kind {
        Kind::Uniform | Kind::Affine => active.map(|lane| (lane, record.lane(lane))).collect(),
        _ => active.zip(listed.iter().copied()).collect(),
    }
}

fn expected(mask: u32, addresses: &[u64; 32]) -> Vec<(u32, u64)> {
    (0..32).filter(|lane| mask >> lane & 1 != 0).map(|lane| (lane, addresses[lane as usize])).collect()
}

#[test]
fn both_sides_agree_on_every_number() {
    let mut values = [0u64; 33];
    // SAFETY: the function writes 33 numbers.
    unsafe { (producer().layout)(values.as_mut_ptr()) };
    let here = [
        MARK,
        RECORD_UNIT,
        RECORD_UNIT,
        Kind::Uniform as u64,
        Kind::Affine as u64,
        Kind::Delta as u64,
        Kind::Full as u64,
        Kind::Barrier as u64,
        Kind::Call as u64,
        Kind::Return as u64,
        Kind::Exit as u64,
        Kind::Operation as u64,
        SLOTS as u64 - 1,
        FLAG_DROP,
        u64::from(FLAG_CAPACITY_SHIFT),
        u64::from(FLAG_COUNTS_SHIFT),
        size_of::<RingControl>() as u64,
        align_of::<RingControl>() as u64,
        std::mem::offset_of!(RingControl, head) as u64,
        std::mem::offset_of!(RingControl, limit) as u64,
        std::mem::offset_of!(RingControl, dropped) as u64,
        std::mem::offset_of!(RingControl, tail) as u64,
        size_of::<Ticket>() as u64,
        std::mem::offset_of!(Ticket, done) as u64,
        std::mem::offset_of!(Ticket, sms) as u64,
        BLOCK_CELLS,
        BRANCH_CELLS,
        u64::MAX,
        // The position at which `CountLayout::site_counts` reads.
        0,
        1,
        2,
        34,
        SITE_CELLS,
    ];
    assert_eq!(values, here);
}

#[test]
fn every_form_comes_back_as_it_was_sent() {
    let rings = Rings::new(1, 12, 0);
    let mut reader = rings.reader(0);
    let mut kinds = [0; 16];
    for number in 0..20_000 {
        let (mask, addresses) = request(7, number);
        rings.access(0, who(number, number & 31, number & 63), number as u32, mask, &addresses);
        let Next::Record(record) = reader.read_next() else { panic!("record {number} has not arrived") };
        assert_eq!(lanes(&record, reader.lanes()), expected(mask, &addresses), "record {number}: {record:?}");
        let identity = (record.block, u64::from(record.warp), u64::from(record.slot), record.site, record.space);
        assert_eq!(identity, (number, number & 31, number & 63, number as u32, 1));
        kinds[record.kind as usize] += 1;
        assert_eq!(reader.read_next(), Next::NotYet);
        reader.release();
    }
    for kind in [Kind::Uniform, Kind::Affine, Kind::Delta, Kind::Full] {
        assert!(kinds[kind as usize] > 100, "{kind:?} occurred {} times", kinds[kind as usize]);
    }
}

#[test]
fn a_hint_gives_the_same_lanes_whether_it_is_right_or_not() {
    let rings = Rings::new(1, 12, 0);
    let mut reader = rings.reader(0);
    let mut kinds = [0; 16];
    for number in 0..20_000 {
        let (mask, addresses) = request(9, number);
        let stride = [0u32, 4, 12u32.wrapping_neg(), 64][number as usize % 4];
        let who = who(number, number & 31, number & 63);
        // SAFETY: as `wire.h` requires.
        unsafe { (producer().hinted)(&raw const rings.target, 0, who, 1 << 24 | 9, mask, addresses.as_ptr(), stride) };
        together(mask);
        let Next::Record(record) = reader.read_next() else { panic!("record {number} has not arrived") };
        assert_eq!(lanes(&record, reader.lanes()), expected(mask, &addresses), "{number}, stride {stride}: {record:?}");
        assert_eq!((record.site, record.space), (9, 1));
        kinds[record.kind as usize] += 1;
        reader.release();
    }
    for kind in [Kind::Uniform, Kind::Affine, Kind::Full] {
        assert!(kinds[kind as usize] > 100, "{kind:?} occurred {} times", kinds[kind as usize]);
    }
}

#[test]
fn a_right_hint_and_marks_take_32_bytes() {
    let rings = Rings::new(1, 12, 0);
    let mut reader = rings.reader(0);
    let cases = [(u32::MAX, 4u32), (0xfff0, 12), (1 << 31, 4), (u32::MAX, 0), (0xffff_0100, 0u32.wrapping_sub(8))];
    for (mask, stride) in cases {
        let step = |lane: usize| i64::from(stride as i32) * lane as i64;
        let addresses: [u64; 32] = std::array::from_fn(|lane| 0x7f12_3456_7890u64.wrapping_add(step(lane) as u64));
        // SAFETY: as above.
        unsafe {
            (producer().hinted)(&raw const rings.target, 0, who(5, 3, 1), 1 << 24, mask, addresses.as_ptr(), stride)
        };
        let Next::Record(record) = reader.read_next() else { panic!("not arrived") };
        assert_eq!(lanes(&record, reader.lanes()), expected(mask, &addresses), "mask {mask:#x} stride {stride}");
    }
    for kind in [Kind::Barrier, Kind::Call, Kind::Return, Kind::Exit] {
        // SAFETY: as above.
        unsafe { (producer().mark)(&raw const rings.target, 0, who(5, 3, 1), kind as u32, 77, 0xff) };
        together(0xff);
        let Next::Record(record) = reader.read_next() else { panic!("not arrived") };
        assert_eq!((record.kind, record.site, record.mask), (kind, 77, 0xff));
    }
    assert_eq!(reader.position(), 32 * 9);
}

/// Values of every type, among them zeros, of any lanes, in rings whose end lies within records.
#[test]
fn operations_come_back_with_their_values() {
    let rings = Rings::new(1, 12, 0);
    let mut reader = rings.reader(0);
    for number in 0..20_000u64 {
        let (mask, _) = request(5, number);
        let rows = 1 + number as usize % MOST_ROWS;
        let types: Vec<ValueType> = (0..rows).map(|row| ValueType::ALL[(number as usize + 2 * row) % 9]).collect();
        let kinds = [AddressKind::Value, AddressKind::Shared, AddressKind::Global];
        let shape = OperationShape::new(ValueTypes::new(&types), ((number % 300) as u16, 300), &kinds);
        let value = |row: usize, lane: usize| {
            let bits = mix(number << 8 | (row * 32 + lane) as u64);
            let bits = bits & u64::MAX >> (64 - types[row].bits());
            [0, bits & 0xffff_ffff, bits & !0xffff_ffff, bits][(bits >> 1) as usize % 4]
        };
        let mut words = Vec::new();
        for (row, halves) in shape.words().enumerate() {
            for half in 0..halves {
                words.extend((0..32).map(|lane| (value(row, lane) >> (32 * half)) as u32));
            }
        }
        let count = words.len() as u32 / 32;
        words.resize(32 * OPERATION_WORDS, 0);
        let who = who(number, number & 31, number & 63);
        // SAFETY: as `wire.h` requires; there are as many words as the function reads.
        unsafe {
            (producer().operation)(&raw const rings.target, 0, who, 77, shape.0, mask, count, words.as_ptr());
        }
        together(mask);
        let Next::Record(record) = reader.read_next() else { panic!("record {number} has not arrived") };
        let read = (record.kind, record.site, record.mask, record.base, record.block);
        assert_eq!(read, (Kind::Operation, 77, mask, shape.0, number));
        let active = || (0..32).filter(|lane| mask >> lane & 1 != 0);
        let expected: Vec<u64> = (0..rows)
            .flat_map(|row| active().map(move |lane| (row, lane)))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|(row, lane)| value(row, lane))
            .collect();
        assert_eq!(reader.lanes(), expected, "record {number}: {types:?}");
        assert_eq!(reader.read_next(), Next::NotYet);
        reader.release();
    }
}

#[test]
fn many_producers_lose_nothing_on_small_rings() {
    const PRODUCERS: u64 = 12;
    const REQUESTS: u64 = 30_000;
    let rings = Rings::new(3, 11, 0);
    let over = AtomicBool::new(false);
    let mut next = [0u64; PRODUCERS as usize];
    std::thread::scope(|scope| {
        let (rings, over) = (&rings, &over);
        let senders: Vec<_> = (0..PRODUCERS)
            .map(|producer| {
                scope.spawn(move || {
                    for number in 0..REQUESTS {
                        let (mask, addresses) = request(producer, number);
                        rings.access((producer % 3) as u32, who(producer, 0, 0), number as u32, mask, &addresses);
                    }
                })
            })
            .collect();
        scope.spawn(move || {
            senders.into_iter().for_each(|sender| sender.join().expect("a sender"));
            over.store(true, Ordering::Release);
        });
        let mut readers: Vec<Reader> = (0..3).map(|sm| rings.reader(sm)).collect();
        loop {
            let last = over.load(Ordering::Acquire);
            let mut some = false;
            for reader in &mut readers {
                // The reader stops on its own when it must release space.
                while let Next::Record(record) = reader.read_next() {
                    let producer = record.block as usize;
                    let (mask, addresses) = request(record.block, next[producer]);
                    assert_eq!(u64::from(record.site), next[producer], "order within a warp");
                    assert_eq!(lanes(&record, reader.lanes()), expected(mask, &addresses));
                    next[producer] += 1;
                    some = true;
                }
                reader.release();
            }
            if !some {
                if last {
                    break;
                }
                std::thread::yield_now();
            }
        }
        for (sm, reader) in readers.iter().enumerate() {
            assert_eq!(reader.position(), rings.control(sm).head, "ring {sm} is read to its end");
        }
    });
    assert_eq!(next, [REQUESTS; PRODUCERS as usize]);
}

#[test]
fn dropping_is_counted() {
    let rings = Rings::new(1, 11, FLAG_DROP);
    let mut reader = rings.reader(0);
    let mut arrived = 0;
    for number in 0..1000 {
        let (mask, addresses) = request(3, number);
        rings.access(0, who(0, 0, 0), number as u32, mask, &addresses);
        if number % 100 == 99 {
            // This is done twice, because the reader stops when it must release space.
            for _ in 0..2 {
                while let Next::Record(_) = reader.read_next() {
                    arrived += 1;
                }
                reader.release();
            }
        }
    }
    let control = rings.control(0);
    assert_eq!(arrived + control.dropped, 1000);
    assert!(control.dropped > 400 && arrived > 50, "{arrived} arrived, {} dropped", control.dropped);
}

#[test]
fn what_a_fault_left_is_read_up_to_the_end() {
    let rings = Rings::new(1, 12, 0);
    let addresses: [u64; 32] = std::array::from_fn(|lane| 0x7f00_0000_0000 + 4 * lane as u64);
    for site in 0..6 {
        rings.access(0, who(1, 0, 0), site, u32::MAX, &addresses);
    }
    // Record 2 was reserved and never written; of record 4 only the first half arrived.
    // SAFETY: in bounds of the ring's data.
    unsafe {
        rings.target.data.add(64).write_bytes(0, 32);
        rings.target.data.add(128 + 16).write_bytes(0, 16);
    }
    let mut reader = rings.reader(0);
    let mut sites = Vec::new();
    let end = rings.control(0).head;
    while reader.position() < end {
        match reader.read_next() {
            Next::Record(record) => sites.push(record.site),
            Next::NotYet | Next::Damaged => reader.skip(end),
        }
    }
    assert_eq!(sites, [0, 1, 3, 5]);
}

#[test]
fn garbage_is_no_record() {
    let rings = Rings::new(1, 12, 0);
    let mut reader = rings.reader(0);
    // SAFETY: in bounds of the ring's data.
    unsafe { rings.target.data.write_bytes(0xee, 64) };
    assert_eq!(reader.read_next(), Next::Damaged);
}
