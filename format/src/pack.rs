//! Encodes requests as items.

use crate::access::{ALIGN, Kind, MAX_ITEM_BYTES, Space, even_word, head};

/// Appends a request in the shortest possible form. `addresses` are those of the active lanes, in lane order. An empty
/// mask appends nothing.
pub fn push_access(out: &mut Vec<u8>, space: Space, site: u32, mask: u32, addresses: &[u64]) {
    debug_assert_eq!(addresses.len(), mask.count_ones() as usize);
    let Some((low, high)) = extremes(addresses) else { return };
    let first_word = |kind| u64::from(head(kind, space, site)) | u64::from(mask) << 32;
    // The item is assembled here and appended at once.
    let mut item = [0u8; MAX_ITEM_BYTES];
    let mut words = item.as_chunks_mut::<8>().0.iter_mut();
    let mut put = |value: u64| {
        if let Some(word) = words.next() {
            *word = value.to_le_bytes();
        }
    };
    let length = if low == high {
        put(first_word(Kind::Uniform));
        put(low);
        Kind::Uniform.most_bytes()
    } else if let Some((bases, stride)) = as_affine(mask, addresses) {
        if let Some(word) = as_even(mask, bases, stride) {
            out.extend_from_slice(&first_word(Kind::Even).to_le_bytes());
            out.extend_from_slice(&word.to_le_bytes());
            return;
        }
        put(first_word(Kind::Affine));
        put(bases[0]);
        put(bases[1]);
        put(u64::from(stride as u32));
        Kind::Affine.most_bytes()
    } else if high - low <= u64::from(u32::MAX) {
        put(first_word(Kind::Delta));
        put(low);
        for (place, address) in item[16..].as_chunks_mut::<4>().0.iter_mut().zip(addresses) {
            *place = ((address - low) as u32).to_le_bytes();
        }
        16 + (4 * addresses.len()).next_multiple_of(ALIGN)
    } else {
        put(first_word(Kind::Full));
        for (place, address) in item[8..].as_chunks_mut::<8>().0.iter_mut().zip(addresses) {
            *place = address.to_le_bytes();
        }
        8 + 8 * addresses.len()
    };
    out.extend_from_slice(&item[..length]);
}

/// Returns the smallest and the largest address, computed with four independent comparisons at a time.
fn extremes(addresses: &[u64]) -> Option<(u64, u64)> {
    let first = *addresses.first()?;
    let (mut low, mut high) = ([first; 4], [first; 4]);
    let (fours, rest) = addresses.as_chunks::<4>();
    for four in fours {
        for lane in 0..4 {
            low[lane] = low[lane].min(four[lane]);
            high[lane] = high[lane].max(four[lane]);
        }
    }
    let low = low.into_iter().chain(rest.iter().copied()).min()?;
    let high = high.into_iter().chain(rest.iter().copied()).max()?;
    Some((low, high))
}

/// Returns the affine form of the addresses, if one stride fits both halves of the warp.
fn as_affine(mask: u32, addresses: &[u64]) -> Option<([u64; 2], i32)> {
    // The stride follows from the first two active lanes in the same half.
    let mut bases = [None, None];
    let mut stride: Option<i64> = None;
    let mut previous: Option<(u32, u64)> = None;
    let mut rest = mask;
    for &address in addresses {
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        if let (None, Some((before, at))) = (stride, previous)
            && before >> 4 == lane >> 4
        {
            let difference = address.wrapping_sub(at) as i64;
            let lanes = i64::from(lane - before);
            if difference % lanes != 0 {
                return None;
            }
            stride = Some(difference / lanes);
        }
        previous = Some((lane, address));
    }
    let stride = stride.unwrap_or(0);
    let narrow = i32::try_from(stride).ok()?;
    rest = mask;
    for &address in addresses {
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        let base = address.wrapping_sub((stride * i64::from(lane & 15)) as u64);
        let half = &mut bases[(lane >> 4) as usize];
        if *half.get_or_insert(base) != base {
            return None;
        }
    }
    Some(([bases[0].unwrap_or(0), bases[1].unwrap_or(0)], narrow))
}

/// Returns the word of an even item, if all lanes fit one base address. The base of a half without active lanes is
/// arbitrary.
#[inline]
pub fn as_even(mask: u32, bases: [u64; 2], stride: i32) -> Option<u64> {
    let step = (16 * i64::from(stride)) as u64;
    let base = if mask & 0xffff == 0 { bases[1].wrapping_sub(step) } else { bases[0] };
    if mask >> 16 != 0 && bases[1] != base.wrapping_add(step) {
        return None;
    }
    even_word(base, stride)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Access, Addresses, Item, Items, even};
    use proptest::prelude::*;

    fn lanes_of(bytes: &[u8]) -> Vec<(u32, u64)> {
        let mut seen = Vec::new();
        for item in Items::new(bytes) {
            let Ok(Item::Access(access)) = item else { panic!("not an access: {item:?}") };
            access.for_each_lane(|lane, address| seen.push((lane, address)));
        }
        seen
    }

    fn expected(mask: u32, address: impl Fn(u32) -> u64) -> Vec<(u32, u64)> {
        (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| (lane, address(lane))).collect()
    }

    proptest! {
        #[test]
        fn what_is_pushed_is_read_back(mask in 1u32.., base in 0u64..1 << 46, stride in -5000i64..5000, jump in 0u64..1 << 40,
                                       noise in prop::collection::vec(0u64..1 << 34, 32), form in 0..4) {
            let address = |lane: u32| match form {
                0 => base,
                1 => base.wrapping_add((stride * i64::from(lane)) as u64),
                2 => base.wrapping_add((stride * i64::from(lane & 15)) as u64).wrapping_add(if lane > 15 { jump } else { 0 }),
                _ => base + noise[lane as usize],
            };
            let want = expected(mask, address);
            let addresses: Vec<u64> = want.iter().map(|(_, address)| *address).collect();
            let mut bytes = Vec::new();
            push_access(&mut bytes, Space::Global, 7, mask, &addresses);
            prop_assert_eq!(bytes.len() % ALIGN, 0);
            let most = [16, 16, 32, MAX_ITEM_BYTES][form as usize];
            prop_assert!(bytes.len() <= most, "{} bytes for form {}", bytes.len(), form);
            prop_assert_eq!(lanes_of(&bytes), want);
        }

        #[test]
        fn the_short_form_says_the_same(mask in 1u32.., base in 0u64..1 << 49, stride in -40_000i32..40_000) {
            let step = (16 * i64::from(stride)) as u64;
            let long = Access {
                site: 1, space: Space::Global, mask,
                addresses: Addresses::Affine { bases: [base, base.wrapping_add(step)], stride },
            };
            if let Some(word) = as_even(mask, [base, base.wrapping_add(step)], stride) {
                let short = Access { addresses: even(word), ..long };
                let lanes = |access: Access<'_>| {
                    let mut lanes = Vec::new();
                    access.for_each_lane(|lane, address| lanes.push((lane, address)));
                    lanes
                };
                prop_assert_eq!(lanes(short), lanes(long));
            } else {
                prop_assert!(base >> 47 != 0 || i32::from(stride as i16) != stride || mask & 0xffff == 0);
            }
        }
    }
}
