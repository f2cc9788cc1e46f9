//! An order of boxes in which those that agree from a stride on lie beside each other, whatever the stride.

/// First and last of a range.
type Range = (i64, i64);

/// Sorts boxes; its memory is kept.
#[derive(Debug, Default)]
pub(super) struct BoxOrder {
    /// Numbers of boxes in that order.
    pub(super) numbers: Vec<u32>,
    words: Vec<u64>,
    double_words: Vec<u128>,
}

impl BoxOrder {
    /// Orders boxes by their bytes, then by their multiples of the smallest stride, and so on. Each has multiples of `levels` strides,
    /// the largest first.
    pub(super) fn sort(&mut self, bytes: &[Range], multiples: &[Range], levels: usize) {
        let BoxOrder { numbers, words, double_words } = self;
        numbers.clear();
        let count = bytes.len();
        let key = |cell: usize| key(bytes, multiples, levels, cell);
        let layout = Layout::new(count, key, 2 * (levels + 1));
        match layout.as_ref().map(|layout| (layout, layout.all_bits)) {
            Some((layout, ..=u64::BITS)) => {
                words.clear();
                words.extend((0..count).map(|cell| {
                    let packed = layout.offsets(key(cell)).fold(0, |packed, (offset, bits)| packed << bits | offset);
                    packed << layout.number_bits | cell as u64
                }));
                words.sort_unstable();
                let mask = (1 << layout.number_bits) - 1;
                numbers.extend(words.iter().map(|word| (word & mask) as u32));
            }
            Some((layout, ..=u128::BITS)) => {
                double_words.clear();
                double_words.extend((0..count).map(|cell| {
                    let offsets = layout.offsets(key(cell));
                    let packed = offsets.fold(0, |packed, (offset, bits)| packed << bits | u128::from(offset));
                    packed << layout.number_bits | cell as u128
                }));
                double_words.sort_unstable();
                let mask = (1 << layout.number_bits) - 1;
                numbers.extend(double_words.iter().map(|word| (word & mask) as u32));
            }
            _ => {
                numbers.extend(0..count as u32);
                numbers.sort_by(|&one, &other| key(one as usize).cmp(key(other as usize)));
            }
        }
    }
}

/// The numbers that a box is ordered by, the first one first: where a range begins, and how long it is.
#[inline(always)]
fn key<'a>(
    bytes: &'a [Range],
    multiples: &'a [Range],
    levels: usize,
    cell: usize,
) -> impl Iterator<Item = i64> + use<'a> {
    let own = multiples[cell * levels..(cell + 1) * levels].iter().rev();
    std::iter::once(&bytes[cell]).chain(own).flat_map(|&(first, last)| [first, last.wrapping_sub(first)])
}

/// Most numbers of a key in one word.
const MOST: usize = 10;

/// How keys and numbers of boxes fit one word, which is quicker to compare.
struct Layout {
    least: [i64; MOST],
    /// Of each number of a key.
    bits: [u32; MOST],
    number_bits: u32,
    /// Of a word.
    all_bits: u32,
}

impl Layout {
    /// Of so many keys of `length` numbers.
    #[inline(always)]
    fn new<K: Iterator<Item = i64>>(count: usize, key: impl Fn(usize) -> K, length: usize) -> Option<Layout> {
        if length > MOST {
            return None;
        }
        let (mut least, mut most) = ([i64::MAX; MOST], [i64::MIN; MOST]);
        for cell in 0..count {
            for (number, (least, most)) in key(cell).zip(least.iter_mut().zip(&mut most)) {
                *least = number.min(*least);
                *most = number.max(*most);
            }
        }
        let mut bits = [0; MOST];
        for at in 0..length {
            bits[at] = u64::BITS - most[at].checked_sub(least[at])?.leading_zeros();
        }
        let number_bits = usize::BITS - count.leading_zeros();
        Some(Layout { least, bits, number_bits, all_bits: bits.iter().sum::<u32>() + number_bits })
    }

    /// The numbers of a key less the least of all keys, and their bits.
    #[inline(always)]
    fn offsets(&self, key: impl Iterator<Item = i64>) -> impl Iterator<Item = (u64, u32)> {
        key.zip(self.least.iter().zip(&self.bits)).map(|(number, (least, bits))| ((number - least) as u64, *bits))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_keys_order_as_numbers_do(levels in 0usize..5, shift in prop::sample::select(vec![0, 20, 58]),
                numbers in prop::collection::vec((-9i64..9, -9i64..9), 0..60)) {
            let scale = 1i64 << shift;
            let count = numbers.len() / (levels + 1);
            let scaled: Vec<Range> = numbers.iter().map(|(one, two)| (one * scale, two * scale)).collect();
            let (bytes, rest) = scaled.split_at(count);
            let multiples = &rest[..count * levels];
            let mut want: Vec<u32> = (0..count as u32).collect();
            want.sort_by_key(|&cell| key(bytes, multiples, levels, cell as usize).collect::<Vec<_>>());
            let mut order = BoxOrder::default();
            order.sort(bytes, multiples, levels);
            prop_assert_eq!(order.numbers, want);
        }
    }
}
