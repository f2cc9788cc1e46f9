//! An order of boxes in which those that agree from a stride on lie beside each other, whatever the stride.

/// First and last of a range.
type Range = (i64, i64);

/// Sorts boxes; its memory is kept.
#[derive(Debug, Default)]
pub(super) struct BoxOrder {
    /// Numbers of boxes in that order.
    pub(super) numbers: Vec<u32>,
    packed: Vec<u128>,
}

impl BoxOrder {
    /// Orders boxes by their bytes, then by their multiples of the smallest stride, and so on. Each has multiples of `levels` strides,
    /// the largest first.
    pub(super) fn sort(&mut self, bytes: &[Range], multiples: &[Range], levels: usize) {
        self.numbers.clear();
        match Layout::new(bytes, multiples, levels) {
            Some(layout) => {
                self.packed.clear();
                self.packed.extend((0..bytes.len()).map(|cell| layout.pack(bytes, multiples, levels, cell)));
                self.packed.sort_unstable();
                let mask = (1 << layout.number_bits) - 1;
                self.numbers.extend(self.packed.iter().map(|key| (key & mask) as u32));
            }
            None => {
                self.numbers.extend(0..bytes.len() as u32);
                self.numbers.sort_by(|&one, &other| {
                    key(bytes, multiples, levels, one as usize).cmp(key(bytes, multiples, levels, other as usize))
                });
            }
        }
    }
}

/// The numbers that boxes are ordered by, the first one first.
fn key<'a>(
    bytes: &'a [Range],
    multiples: &'a [Range],
    levels: usize,
    cell: usize,
) -> impl Iterator<Item = i64> + use<'a> {
    let own = multiples[cell * levels..(cell + 1) * levels].iter().rev();
    std::iter::once(&bytes[cell]).chain(own).flat_map(|&(first, last)| [first, last])
}

/// Most numbers of a key in one word.
const MOST: usize = 10;

/// How keys and numbers of boxes fit one word, which is quicker to compare.
struct Layout {
    least: [i64; MOST],
    /// Of each number of a key.
    bits: [u32; MOST],
    number_bits: u32,
}

impl Layout {
    fn new(bytes: &[Range], multiples: &[Range], levels: usize) -> Option<Layout> {
        let length = 2 * (levels + 1);
        if length > MOST {
            return None;
        }
        let (mut least, mut most) = ([i64::MAX; MOST], [i64::MIN; MOST]);
        for cell in 0..bytes.len() {
            for (at, number) in key(bytes, multiples, levels, cell).enumerate() {
                least[at] = least[at].min(number);
                most[at] = most[at].max(number);
            }
        }
        let mut bits = [0; MOST];
        for at in 0..length {
            bits[at] = u64::BITS - most[at].checked_sub(least[at])?.leading_zeros();
        }
        let number_bits = usize::BITS - bytes.len().leading_zeros();
        (bits.iter().sum::<u32>() + number_bits <= u128::BITS).then_some(Layout { least, bits, number_bits })
    }

    fn pack(&self, bytes: &[Range], multiples: &[Range], levels: usize, cell: usize) -> u128 {
        let numbers = key(bytes, multiples, levels, cell).zip(self.least.iter().zip(&self.bits));
        let packed = numbers.fold(0, |packed, (number, (least, bits))| packed << bits | (number - least) as u128);
        packed << self.number_bits | cell as u128
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn packed_keys_order_as_numbers_do(levels in 0usize..5, wide in any::<bool>(),
                numbers in prop::collection::vec((-9i64..9, -9i64..9), 0..60)) {
            let scale = if wide { 1 << 58 } else { 1 };
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
