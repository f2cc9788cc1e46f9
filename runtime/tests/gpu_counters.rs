//! Compares counters mode with a reference that inspects every byte of every lane. The device's own counting
//! (`runtime/device/count.h`) is compiled for the host.

mod gpu_producer;

use gpu_producer::producer;
use proptest::prelude::*;
use std::collections::BTreeSet;
use warpline_format::access::Space;
use warpline_format::event::SiteCount;
use warpline_format::gpu::CountLayout;
use warpline_format::site_table::{CacheOp, Op, Site, SiteTable};

/// The mask and the addresses of a request.
type Request = (u32, [u64; 32]);

fn table(space: Space, bytes: u32, byte_mask: Option<u64>) -> SiteTable {
    let site = Site {
        function: 0,
        op: Op::Load,
        space,
        bytes,
        byte_mask,
        align: bytes,
        cache: CacheOp::Default,
        chain: vec![0],
        approximate: false,
        in_library: false,
    };
    SiteTable { sites: vec![site], ..SiteTable::default() }
}

/// Returns the counts of the device.
fn counted(table: &SiteTable, requests: &[Request]) -> Option<SiteCount> {
    let layout = CountLayout::new(table);
    let site = &table.sites[0];
    let mut cells = vec![0u64; layout.all_cells() as usize];
    let useful = site.byte_mask.map_or(site.bytes, u64::count_ones);
    for (mask, addresses) in requests {
        let first = layout.site(0).expect("a site that is counted") as usize;
        // SAFETY: a site's cells; 32 addresses.
        unsafe { (producer().count)(&raw mut cells[first], site.space as u32, *mask, useful, addresses.as_ptr()) };
    }
    layout.site_counts(&cells).pop()
}

/// Computes the same counts from the addresses of all bytes.
fn reference(table: &SiteTable, requests: &[Request]) -> SiteCount {
    let site = &table.sites[0];
    let mut sum = SiteCount {
        site: 0,
        space: site.space,
        lanes: 0,
        ideal_sectors: 0,
        by_sectors: Vec::new(),
        by_lines: Vec::new(),
    };
    for (mask, addresses) in requests {
        let mut places = BTreeSet::new();
        for lane in (0..32).filter(|lane| mask >> lane & 1 != 0) {
            for byte in
                (0..u64::from(site.bytes)).filter(|byte| site.byte_mask.is_none_or(|mask| mask >> byte & 1 != 0))
            {
                let at = addresses[lane as usize] + byte;
                // The same word of neighbouring lanes' stacks is contiguous.
                places.insert(if site.space == Space::Local { at / 4 * 128 + 4 * lane + at % 4 } else { at });
            }
        }
        let distinct = |size: u64| places.iter().map(|place| place / size).collect::<BTreeSet<_>>().len() as u32;
        sum.lanes += u64::from(mask.count_ones());
        sum.ideal_sectors += (places.len() as u64).div_ceil(32);
        for (list, pieces) in [(&mut sum.by_sectors, distinct(32)), (&mut sum.by_lines, distinct(128))] {
            match list.iter_mut().find(|entry| entry.0 == pieces) {
                Some(entry) => entry.1 += 1,
                None => list.push((pieces, 1)),
            }
        }
    }
    sum.by_sectors.sort_unstable();
    sum.by_lines.sort_unstable();
    sum
}

#[test]
fn strides_of_floats_give_their_closed_form() {
    for stride in 1..40u64 {
        let table = table(Space::Global, 4, None);
        let request = (u32::MAX, std::array::from_fn(|lane| 4096 + 4 * stride * lane as u64));
        let count = counted(&table, &[request]).expect("a count");
        assert_eq!(count.by_sectors, [((4 * stride).min(32) as u32, 1)]);
        assert_eq!((count.lanes, count.ideal_sectors), (32, 4));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]
    #[test]
    fn counts_are_those_of_every_byte(
        space in prop_oneof![Just(Space::Global), Just(Space::Shared), Just(Space::Local), Just(Space::Constant)],
        log in 0u32..6,
        holes in prop::option::of(1u64..),
        requests in prop::collection::vec((
            prop_oneof![Just(u32::MAX), 1u32.., (0u32..32).prop_map(|lane| 1 << lane)],
            0u64..1 << 40, -64i64..64, prop::collection::vec(0u64..4096, 32), 0..4,
        ), 1..8),
    ) {
        let bytes = 1u32 << log;
        // The vectoriser masks complete elements; there are no masked accesses to the lanes' stacks.
        let byte_mask = holes.map(|mask| mask & (u64::MAX >> (64 - bytes))).filter(|mask| *mask != 0);
        let byte_mask = byte_mask.filter(|_| space != Space::Local);
        let table = table(space, bytes, byte_mask);
        let requests: Vec<Request> = requests.into_iter().map(|(mask, base, stride, noise, form)| {
            let base = (1 << 41) + base;
            let step = |lane: usize| match form {
                0 => 0,
                1 => stride * lane as i64,
                2 => noise[lane] as i64,
                _ => (noise[lane] << 24) as i64,
            };
            let address = |lane| base.wrapping_add_signed(step(lane) * i64::from(bytes)) / u64::from(bytes) * u64::from(bytes);
            (mask, std::array::from_fn(address))
        }).collect();
        prop_assert_eq!(counted(&table, &requests), Some(reference(&table, &requests)));
    }
}
