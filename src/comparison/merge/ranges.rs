//! Sets of ranks as ranges.

use warpline_profile::model::Ranges;

/// Normalises the ranges of a document: ascending, not adjacent, and without reversed ranges.
pub(super) fn sound(ranges: &Ranges) -> Ranges {
    let mut ranges: Ranges = ranges.iter().copied().filter(|[first, last]| first <= last).collect();
    ranges.sort_unstable();
    let mut sound: Ranges = Vec::with_capacity(ranges.len());
    for [first, last] in ranges {
        match sound.last_mut() {
            Some(before) if first <= before[1].saturating_add(1) => before[1] = before[1].max(last),
            _ => sound.push([first, last]),
        }
    }
    sound
}

/// Adds the ranks of another set.
pub(super) fn add(to: &mut Ranges, more: &Ranges) {
    // The added ranks usually follow the existing ones.
    if let ([.., last], [one]) = (&mut to[..], &more[..])
        && one[0] <= one[1]
        && one[0] == last[1].saturating_add(1)
    {
        last[1] = one[1];
        return;
    }
    to.extend(more);
    *to = sound(to);
}

/// Returns the ranks in both sets.
pub(super) fn common(one: &Ranges, other: &Ranges) -> Ranges {
    let (mut found, mut from) = (Vec::new(), 0);
    for [first, last] in one {
        while other.get(from).is_some_and(|[_, end]| end < first) {
            from += 1;
        }
        for [begin, end] in other[from..].iter().take_while(|[begin, _]| begin <= last) {
            found.push([*begin.max(first), *end.min(last)]);
        }
    }
    found
}

/// Returns the ranks below `count` that are not in a set.
pub(super) fn absent(present: &Ranges, count: u32) -> Ranges {
    let (mut absent, mut next) = (Vec::new(), 0);
    for [first, last] in present {
        if *first > next && next < count {
            absent.push([next, (first - 1).min(count - 1)]);
        }
        next = next.max(last.saturating_add(1));
    }
    if next < count {
        absent.push([next, count - 1]);
    }
    absent
}

/// Returns the number of ranks in a set.
pub(super) fn size(ranges: &Ranges) -> u64 {
    ranges.iter().map(|[first, last]| u64::from(last - first) + 1).sum()
}

/// Returns a text such as `rank 3` or `ranks 3, 5, 7-9 and 12`; long lists are truncated.
pub(super) fn named(ranges: &Ranges) -> String {
    const SHOWN: usize = 12;
    let one = |[first, last]: &[u32; 2]| match last - first {
        0 => first.to_string(),
        1 => format!("{first}, {last}"),
        _ => format!("{first}-{last}"),
    };
    let mut parts: Vec<String> = ranges.iter().take(SHOWN).map(one).collect();
    if ranges.len() > SHOWN {
        let rest = size(&ranges[SHOWN..].to_vec());
        return format!("ranks {} and {rest} more", parts.join(", "));
    }
    let noun = if size(ranges) == 1 { "rank" } else { "ranks" };
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("{noun} {} and {last}", parts.join(", ")),
        last => format!("{noun} {}", last.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn ranges(ranks: &BTreeSet<u32>) -> Ranges {
        let mut all = Vec::new();
        ranks.iter().for_each(|rank| add(&mut all, &vec![[*rank, *rank]]));
        all
    }

    fn ranks(ranges: &Ranges) -> BTreeSet<u32> {
        ranges.iter().flat_map(|[first, last]| *first..=*last).collect()
    }

    proptest! {
        #[test]
        fn sets_of_ranks_are_sets(one in prop::collection::btree_set(0u32..40, 0..20), other in prop::collection::btree_set(0u32..40, 0..20)) {
            let (a, b) = (ranges(&one), ranges(&other));
            prop_assert_eq!(ranks(&a), one.clone());
            let mut both = a.clone();
            add(&mut both, &b);
            prop_assert_eq!(ranks(&both), one.union(&other).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(&sound(&both), &both);
            prop_assert_eq!(ranks(&common(&a, &b)), one.intersection(&other).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(ranks(&absent(&a, 40)), (0..40).filter(|rank| !one.contains(rank)).collect::<BTreeSet<_>>());
            prop_assert_eq!(size(&a), one.len() as u64);
        }
    }

    #[test]
    fn ranks_are_named_by_number() {
        assert_eq!(named(&vec![[3, 3]]), "rank 3");
        assert_eq!(named(&vec![[3, 4]]), "ranks 3, 4");
        assert_eq!(named(&vec![[3, 3], [5, 6], [8, 12]]), "ranks 3, 5, 6 and 8-12");
        let many: Ranges = (0..20).map(|rank| [2 * rank, 2 * rank]).collect();
        assert!(named(&many).ends_with(", 22 and 8 more"), "{}", named(&many));
        // The document is untrusted.
        assert_eq!(sound(&vec![[9, 2], [4, u32::MAX], [0, 5], [u32::MAX, u32::MAX]]), vec![[0, u32::MAX]]);
        assert_eq!(absent(&vec![[0, u32::MAX]], 5), Ranges::new());
    }
}
