use super::super::reference;
use super::*;
use proptest::prelude::*;
use warpline_format::access::{Item, Items, push_access};

/// Kepler's two bank modes.
const KEPLER_4: Banks = Banks { banks: 32, bank_bytes: 8, word_bytes: 4, merges_pairs: false };
const KEPLER_8: Banks = Banks { banks: 32, bank_bytes: 8, word_bytes: 8, merges_pairs: false };

/// Shared memory since Maxwell.
const MERGING: Banks = Banks { merges_pairs: true, ..Banks::USUAL };

fn passes_in(space: Space, rules: BankRules, mask: u32, addresses: &[u64], width: Width) -> Wavefronts {
    let mut items = Vec::new();
    push_access(&mut items, space, 0, mask, addresses);
    let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!() };
    let scattered = Scattered::from_access(&access, width);
    let banks = if space == Space::Shared { rules.shared } else { rules.data.unwrap_or(Banks::USUAL) };
    let [store, load] = [Op::Store, Op::Load].map(|op| {
        let mut memo = WavefrontMemo::default();
        let got = wavefronts(&access, width, op, &rules, &mut memo, &mut Vec::new(), None);
        assert_eq!(wavefronts(&access, width, op, &rules, &mut memo, &mut Vec::new(), scattered.as_ref()), got);
        let merges = op == Op::Load && space == Space::Shared && rules.shared.merges_pairs;
        assert_eq!((got.passes, got.ideal), reference::wavefronts(&access, width, banks, merges));
        got
    });
    assert!(load.passes <= store.passes && load.ideal <= store.ideal);
    load
}

fn shared(banks: Banks, stride: u64, bytes: u32) -> Wavefronts {
    let addresses: Vec<u64> = (0..32).map(|lane| stride * lane).collect();
    let rules = BankRules { shared: banks, data: None };
    passes_in(Space::Shared, rules, u32::MAX, &addresses, Width::solid(bytes))
}

#[test]
fn strides_conflict_as_the_guide_says() {
    for (stride, want) in [(1u64, 1), (2, 2), (3, 1), (32, 32), (33, 1), (16, 16)] {
        assert_eq!(shared(Banks::USUAL, 4 * stride, 4), Wavefronts { passes: want, ideal: 1 }, "stride {stride}");
    }
    assert_eq!(shared(Banks::USUAL, 8, 8), Wavefronts { passes: 2, ideal: 2 });
    assert_eq!(shared(Banks::USUAL, 16, 16), Wavefronts { passes: 4, ideal: 4 });
}

#[test]
fn loads_of_lanes_that_share_addresses_in_pairs_take_half_the_passes() {
    let rules = BankRules { shared: MERGING, data: None };
    let passes = |bytes: u32, mask: u32, index: fn(u64) -> u64| {
        let lanes = (0..32u64).filter(|lane| mask >> lane & 1 == 1);
        let addresses: Vec<u64> = lanes.map(|lane| u64::from(bytes) * index(lane)).collect();
        passes_in(Space::Shared, rules, mask, &addresses, Width::solid(bytes)).passes
    };
    // The values are from the NVIDIA developer forum, thread 77228.
    let all = u32::MAX;
    for (index, wide, double) in [
        ((|_| 3) as fn(u64) -> u64, 2, 1),
        (|lane| lane / 2, 2, 1),
        (|lane| lane % 2 + lane / 4 * 2, 2, 1),
        (|lane| lane / 8, 2, 1),
        (|lane| lane, 4, 2),
        // Lanes that share addresses in another way are not pairs.
        (|lane| lane % 4 + lane / 8 * 4, 4, 2),
        (|lane| lane % 8, 4, 2),
        (|lane| lane % 16, 4, 2),
        // Lane 3 differs from both possible partners.
        (|lane| if lane == 3 { 17 } else { 1 }, 5, 3),
    ] {
        assert_eq!((passes(16, all, index), passes(8, all, index)), (wide, double));
    }
    // Thread 373160: each half warp accesses one address. Lanes n and n + 16 share addresses and have two-way
    // conflicts.
    assert_eq!(passes(16, all, |lane| lane / 16 * 2), 2);
    assert_eq!(passes(16, all, |lane| lane % 16 * 2), 8);
    // Inactive lanes match any partner; narrow loads are not affected.
    assert_eq!(passes(16, 0x5555_5555, |lane| lane / 2), 2);
    assert_eq!(passes(4, all, |lane| lane / 2), 1);
}

#[test]
fn kepler_s_rows_are_twice_as_wide() {
    // With 8 bytes per lane, both modes need one pass for the whole warp.
    assert_eq!(shared(KEPLER_8, 8, 8), Wavefronts { passes: 1, ideal: 1 });
    assert_eq!(shared(KEPLER_4, 8, 8), Wavefronts { passes: 1, ideal: 1 });
    // The lanes access every second 4-byte word. Words i and i + 32 of a segment share a row, so there is no conflict.
    assert_eq!(shared(KEPLER_4, 8, 4).passes, 1);
    assert_eq!(shared(KEPLER_8, 8, 4).passes, 1);
    // The lanes access a column of a 32 x 32 matrix of 4 bytes. In 32-bit mode, two matrix rows share one row of the
    // bank; in 64-bit mode, the matrix rows alternate between two banks.
    assert_eq!(shared(KEPLER_4, 128, 4).passes, 16);
    assert_eq!(shared(KEPLER_8, 128, 4).passes, 16);
    assert_eq!(shared(KEPLER_4, 256, 4).passes, 32);
    // The lanes are three words apart. In 64-bit mode, lanes 1 (8-byte word 1) and 22 (word 33) conflict in bank 1. In
    // 32-bit mode, all lanes have different banks.
    assert_eq!(shared(KEPLER_4, 12, 4).passes, 1);
    assert_eq!(shared(KEPLER_8, 12, 4).passes, 2);
}

#[test]
fn constant_memory_serves_one_address_after_another() {
    let constant = |address: fn(u64) -> u64| {
        let mut items = Vec::new();
        push_access(&mut items, Space::Constant, 0, u32::MAX, &(0..32).map(address).collect::<Vec<_>>());
        let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!() };
        let rules = BankRules::default();
        let (mut memo, mut words) = (WavefrontMemo::default(), Vec::new());
        wavefronts(
            &access,
            Width::solid(4),
            Op::Load,
            &rules,
            &mut memo,
            &mut words,
            Scattered::from_access(&access, Width::solid(4)).as_ref(),
        )
    };
    assert_eq!(constant(|_| 64), Wavefronts { passes: 1, ideal: 1 });
    assert_eq!(constant(|lane| 64 + 4 * (lane % 2)), Wavefronts { passes: 2, ideal: 1 });
    assert_eq!(constant(|lane| 64 + 4 * lane), Wavefronts { passes: 32, ideal: 1 });
    assert_eq!(constant(|lane| 64 + 4 * (lane * lane % 7)), Wavefronts { passes: 4, ideal: 1 });
}

#[test]
fn stacks_have_no_conflicts() {
    let mut items = Vec::new();
    push_access(&mut items, Space::Local, 0, 7, &[0, 400, 16]);
    let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!() };
    let rules = BankRules { data: Some(Banks::USUAL), ..BankRules::default() };
    let mut memo = WavefrontMemo::default();
    let got = wavefronts(
        &access,
        Width::solid(8),
        Op::Load,
        &rules,
        &mut memo,
        &mut Vec::new(),
        Scattered::from_access(&access, Width::solid(8)).as_ref(),
    );
    assert_eq!(got, Wavefronts { passes: 2, ideal: 2 });
    let none = wavefronts(&access, Width::solid(8), Op::Load, &BankRules::default(), &mut memo, &mut Vec::new(), None);
    assert_eq!(none, Wavefronts::default());
}

fn any_banks() -> impl Strategy<Value = Banks> {
    (0u32..7, 2u32..4).prop_flat_map(|(banks, row)| {
        (2..row + 1, any::<bool>()).prop_map(move |(word, merges_pairs)| Banks {
            banks: 1 << banks,
            bank_bytes: 1 << row,
            word_bytes: 1 << word,
            merges_pairs,
        })
    })
}

proptest! {
    #[test]
    fn agrees_with_the_reference(mask in 1u32.., places in prop::collection::vec(0u64..3000, 32), bytes in 1u32..20,
                                 banks in any_banks(), in_shared in any::<bool>(), holes in prop::option::of(1u64..)) {
        let addresses: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane: usize| places[lane]).collect();
        let space = if in_shared { Space::Shared } else { Space::Global };
        let rules = BankRules { shared: banks, data: Some(banks) };
        let holes = holes.map(|holes| holes & (u64::MAX >> (64 - bytes))).filter(|holes| *holes != 0);
        passes_in(space, rules, mask, &addresses, Width { bytes, holes });
    }

    /// Tests the most frequent form of scattered requests.
    #[test]
    fn aligned_elements_agree_with_the_reference(mask in prop_oneof![Just(u32::MAX), 1u32..], log in 0u32..5, spread in 2u64..5000,
                                                 places in prop::collection::vec(any::<u64>(), 32), in_shared in any::<bool>()) {
        let addresses: Vec<u64> =
            (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane: usize| 4096 + ((places[lane] % spread) << log)).collect();
        let space = if in_shared { Space::Shared } else { Space::Global };
        let rules = BankRules { shared: MERGING, data: Some(Banks::USUAL) };
        passes_in(space, rules, mask, &addresses, Width::solid(1 << log));
    }

    /// Tests lanes of which all or nearly all share addresses in pairs.
    #[test]
    fn loads_of_pairs_agree_with_the_reference(mask in prop_oneof![Just(u32::MAX), 1u32..], log in 2u32..5, spread in 1u64..40,
                                               places in prop::collection::vec(any::<u64>(), 32), distance in prop::sample::select(vec![1usize, 2, 4, 16]),
                                               stray in prop::option::of((0usize..32, 0u64..40))) {
        let place = |lane: usize| match stray {
            Some((other, place)) if other == lane => place,
            _ => places[lane & !distance] % spread,
        };
        let addresses: Vec<u64> =
            (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane: usize| 4096 + (place(lane) << log)).collect();
        passes_in(Space::Shared, BankRules { shared: MERGING, data: None }, mask, &addresses, Width::solid(1 << log));
    }

    #[test]
    fn constant_passes_are_the_distinct_addresses(mask in 1u32.., places in prop::collection::vec(0u64..40, 32), bytes in 1u32..17,
                                                  step in 1u64..9, form in 0u32..3) {
        // Addresses are scattered, contiguous, or all equal.
        let address = |lane: usize| match form {
            0 => 4096 + step * places[lane],
            1 => 4096 + step * lane as u64,
            _ => 4096,
        };
        let addresses: Vec<u64> = (0..32).filter(|lane| mask >> lane & 1 == 1).map(address).collect();
        let mut items = Vec::new();
        push_access(&mut items, Space::Constant, 0, mask, &addresses);
        let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!() };
        let distinct: std::collections::BTreeSet<u64> = addresses.into_iter().collect();
        let (mut memo, mut words) = (WavefrontMemo::default(), Vec::new());
        for scattered in [None, Scattered::from_access(&access, Width::solid(bytes))] {
            let got = wavefronts(&access, Width::solid(bytes), Op::Load, &BankRules::default(), &mut memo, &mut words, scattered.as_ref());
            prop_assert_eq!(got, Wavefronts { passes: distinct.len() as u32, ideal: 1 });
        }
    }

    #[test]
    fn what_a_site_remembers_holds_for_shifted_requests(starts in prop::collection::vec(0u64..600, 2..8), stride in 0u64..300, bytes in 1u32..17,
                                                        banks in any_banks()) {
        let rules = BankRules { shared: banks, data: None };
        let (mut memo, mut words) = (WavefrontMemo::default(), Vec::new());
        for start in starts {
            let mut items = Vec::new();
            push_access(&mut items, Space::Shared, 0, u32::MAX, &(0..32).map(|lane| start + stride * lane).collect::<Vec<_>>());
            let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!() };
            let scattered = Scattered::from_access(&access, Width::solid(bytes));
            let got = wavefronts(&access, Width::solid(bytes), Op::Load, &rules, &mut memo, &mut words, scattered.as_ref());
            prop_assert_eq!((got.passes, got.ideal), reference::wavefronts(&access, Width::solid(bytes), banks, banks.merges_pairs));
        }
    }

    #[test]
    fn memories_of_two_spaces_do_not_mix(start in 0u64..1000, stride in 0u64..300) {
        // A single site with generic addresses: the cache must distinguish spaces if their banks differ.
        let rules = BankRules { shared: KEPLER_4, data: Some(Banks::USUAL) };
        let (mut memo, mut words) = (WavefrontMemo::default(), Vec::new());
        for space in [Space::Shared, Space::Global, Space::Shared] {
            let mut items = Vec::new();
            push_access(&mut items, space, 0, u32::MAX, &(0..32).map(|lane| start + stride * lane).collect::<Vec<_>>());
            let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { panic!() };
            let got = wavefronts(&access, Width::solid(4), Op::Load, &rules, &mut memo, &mut words, Scattered::from_access(&access, Width::solid(4)).as_ref());
            let banks = if space == Space::Shared { KEPLER_4 } else { Banks::USUAL };
            prop_assert_eq!((got.passes, got.ideal), reference::wavefronts(&access, Width::solid(4), banks, false));
        }
    }
}
