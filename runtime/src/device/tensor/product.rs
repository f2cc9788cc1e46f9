//! Products of tiles, on registers with the layout of `warpline_format::matrix`.
//!
//! Hardware does not define the order of the additions or their intermediate precision. Here each element of D starts
//! with the element of C and adds one product after the other, in the order of k, in single precision (for doubles:
//! with fused operations in double precision). Products of f16, bf16, tf32 and 8-bit floats are exact in single
//! precision unless they exceed its range. Integers are exact, and wrap or saturate once, at the end.

use super::numbers;
use warpline_format::matrix::{Accumulator, Element, Operation};

/// A register: one word for each lane.
pub type Register = [u32; 32];
/// A register of doubles, represented as bits.
pub type WideRegister = [u64; 32];

/// The sums of a tile: rows of 8 columns.
type Sums<T> = [[T; 8]; 16];

/// Computes the product of any operation except those on doubles.
pub fn narrow(operation: Operation, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) {
    use Element::*;
    if !operation.a.is_float() {
        return integers(operation, a, b, c, d);
    }
    let mut sums = read_floats(operation, c);
    match operation.a {
        Half => add_floats::<2>(operation, a, b, &mut sums, halves(numbers::half), halves(numbers::half)),
        Brain => add_floats::<2>(operation, a, b, &mut sums, halves(numbers::brain), halves(numbers::brain)),
        Tensor32 => {
            let whole = |word: u32, _: usize| numbers::tensor32(word);
            add_floats::<1>(operation, a, b, &mut sums, whole, whole);
        }
        _ => add_floats::<4>(operation, a, b, &mut sums, bytes(operation.a), bytes(operation.b)),
    }
    write_floats(operation, &sums, d);
}

/// Reads an element of a word that contains two elements.
fn halves(read: impl Fn(u16) -> f32 + Copy) -> impl Fn(u32, usize) -> f32 + Copy {
    move |word, element| read((word >> (16 * element)) as u16)
}

/// Reads an element of a word that contains four 8-bit floats.
fn bytes(element: Element) -> impl Fn(u32, usize) -> f32 + Copy {
    let read = if element == Element::E4M3 { numbers::e4m3 } else { numbers::e5m2 };
    move |word, element| read((word >> (8 * element)) as u8)
}

fn read_floats(operation: Operation, c: &[Register]) -> Sums<f32> {
    let mut sums = [[0.0; 8]; 16];
    for (row, column, register, half) in places(operation, operation.c) {
        let word = c[register][4 * (row % 8) + column / 2];
        sums[row][column] = match operation.c {
            Accumulator::Half => numbers::half((word >> (16 * half)) as u16),
            _ => f32::from_bits(word),
        };
    }
    sums
}

fn write_floats(operation: Operation, sums: &Sums<f32>, d: &mut [Register]) {
    for (row, column, register, half) in places(operation, operation.d) {
        let (value, word) = (sums[row][column], &mut d[register][4 * (row % 8) + column / 2]);
        match operation.d {
            Accumulator::Half => {
                let bits = u32::from(finite_half(value, operation.saturate));
                *word = if half == 0 { bits } else { *word | bits << 16 };
            }
            _ => *word = value.to_bits(),
        }
    }
}

/// With `.satfinite`, an infinite result becomes the largest number and NaN becomes 0.
fn finite_half(value: f32, saturate: bool) -> u16 {
    match numbers::to_half(value) {
        bits if !saturate || bits & 0x7c00 != 0x7c00 => bits,
        bits if bits & 0x3ff != 0 => 0,
        bits => bits & 0x8000 | 0x7bff,
    }
}

/// Returns the row, column, register and half (if a register contains two) of each element of C or D; even columns come
/// before odd ones.
fn places(operation: Operation, kind: Accumulator) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    (0..operation.rows() as usize).flat_map(move |row| {
        (0..8).map(move |column| match kind {
            Accumulator::Half => (row, column, row / 8, column % 2),
            _ => (row, column, 2 * (row / 8) + column % 2, 0),
        })
    })
}

/// Adds the products of all blocks. `E` is the number of elements in a register.
#[inline(always)]
fn add_floats<const E: usize>(
    operation: Operation,
    a: &[Register],
    b: &[Register],
    sums: &mut Sums<f32>,
    read_a: impl Fn(u32, usize) -> f32 + Copy,
    read_b: impl Fn(u32, usize) -> f32 + Copy,
) {
    let halves = operation.rows() as usize / 8;
    for block in 0..operation.blocks as usize {
        // The elements of B are stored by row, so that a row of D is a vector.
        let mut right = [[0f32; 8]; 16];
        for (lane, &word) in b[block].iter().enumerate() {
            for element in 0..E {
                right[E * (lane % 4) + element][lane / 4] = read_b(word, element);
            }
        }
        for half in 0..halves {
            let words = &a[block * halves + half];
            let mut left = [[0f32; 16]; 8];
            for (lane, &word) in words.iter().enumerate() {
                for element in 0..E {
                    left[lane / 4][E * (lane % 4) + element] = read_a(word, element);
                }
            }
            for (row, sum) in left.iter().zip(&mut sums[8 * half..]) {
                for (factor, values) in row.iter().zip(&right).take(4 * E) {
                    for (sum, value) in sum.iter_mut().zip(values) {
                        *sum += factor * value;
                    }
                }
            }
        }
    }
}

fn integers(operation: Operation, a: &[Register], b: &[Register], c: &[Register], d: &mut [Register]) {
    let mut sums = [[0i32; 8]; 16];
    let halves = operation.rows() as usize / 8;
    for block in 0..operation.blocks as usize {
        for half in 0..halves {
            let (left, right) = (&a[block * halves + half], &b[block]);
            for row in 0..8 {
                for column in 0..8 {
                    let words = (0..4).map(|thread| (left[4 * row + thread], right[4 * column + thread]));
                    sums[8 * half + row][column] += words.map(|(left, right)| dot(operation, left, right)).sum::<i32>();
                }
            }
        }
    }
    for (row, column, register, _) in places(operation, operation.d) {
        let lane = 4 * (row % 8) + column / 2;
        let (start, sum) = (c[register][lane] as i32, sums[row][column]);
        let whole = if operation.saturate { start.saturating_add(sum) } else { start.wrapping_add(sum) };
        d[register][lane] = whole as u32;
    }
}

/// Returns the sum of the products of the elements of two words, at most 32 products.
#[inline(always)]
fn dot(operation: Operation, left: u32, right: u32) -> i32 {
    let elements = |word: u32, element: Element| {
        let bits = element.bits();
        let signed = matches!(element, Element::Signed8 | Element::Signed4);
        move |index: u32| {
            let high = word << (32 - bits - bits * index);
            if signed { (high as i32) >> (32 - bits) } else { (high >> (32 - bits)) as i32 }
        }
    };
    match operation.a {
        Element::Bit => (if operation.and { left & right } else { left ^ right }).count_ones() as i32,
        _ => {
            let (left, right) = (elements(left, operation.a), elements(right, operation.b));
            (0..operation.a.per_register()).map(|index| left(index) * right(index)).sum()
        }
    }
}

/// Computes the product of doubles.
pub fn wide(operation: Operation, a: &[WideRegister], b: &[WideRegister], c: &[WideRegister], d: &mut [WideRegister]) {
    let halves = operation.rows() as usize / 8;
    for (row, column, register, _) in places(operation, Accumulator::Double) {
        let lane = 4 * (row % 8) + column / 2;
        let mut sum = f64::from_bits(c[register][lane]);
        for block in 0..operation.blocks as usize {
            let (left, right) = (&a[block * halves + row / 8], &b[block]);
            for thread in 0..4 {
                let factor = f64::from_bits(left[4 * (row % 8) + thread]);
                sum = factor.mul_add(f64::from_bits(right[4 * column + thread]), sum);
            }
        }
        d[register][lane] = sum.to_bits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns an element of A or B at a row of A or a column of B and a position along k, as in the figures of the PTX
    /// ISA.
    fn factor(registers: &[Register], element: Element, halves: usize, outer: usize, k: usize) -> u32 {
        let (bits, per) = (element.bits() as usize, element.per_register() as usize);
        let (block, rest) = (k / (4 * per), k % (4 * per));
        let word = registers[block * halves + outer / 8][4 * (outer % 8) + rest / per];
        if bits == 32 { word } else { word >> (bits * (rest % per)) & ((1 << bits) - 1) }
    }

    fn value(element: Element, bits: u32) -> f64 {
        match element {
            Element::Half => f64::from(numbers::half(bits as u16)),
            Element::Brain => f64::from(numbers::brain(bits as u16)),
            Element::Tensor32 => f64::from(numbers::tensor32(bits)),
            Element::E4M3 => f64::from(numbers::e4m3(bits as u8)),
            Element::E5M2 => f64::from(numbers::e5m2(bits as u8)),
            Element::Signed8 => f64::from(bits as u8 as i8),
            Element::Signed4 => f64::from((bits as i32) << 28 >> 28),
            _ => f64::from(bits),
        }
    }

    fn operation(a: Element, d: Accumulator, tall: bool, blocks: u32, saturate: bool) -> Operation {
        Operation { a, b: a, c: d, d, tall, blocks, saturate, and: tall }
    }

    /// Creates registers whose elements are small numbers with few bits, so that every sum is exact in any order.
    fn small(element: Element, seeds: &[u32], count: usize) -> Vec<Register> {
        let pattern = |seed: u32| match element {
            Element::Half => [0x3c00, 0x4000, 0xc000, 0x3800, 0, 0xbc00, 0x4200, 0x8000][seed as usize % 8],
            Element::Brain => [0x3f80, 0x4000, 0xc000, 0x3f00, 0, 0xbf80, 0x4040, 0x8000][seed as usize % 8],
            Element::Tensor32 => [1f32, 2.0, -2.0, 0.5, 0.0, -1.0, 3.0, -0.0][seed as usize % 8].to_bits(),
            Element::E4M3 => [0x38, 0x40, 0xc0, 0x30, 0, 0xb8, 0x44, 0x80][seed as usize % 8],
            Element::E5M2 => [0x3c, 0x40, 0xc0, 0x38, 0, 0xbc, 0x42, 0x80][seed as usize % 8],
            _ => seed & ((1 << element.bits()) - 1),
        };
        let mut next =
            seeds.iter().cycle().enumerate().map(|(at, seed)| pattern(seed.wrapping_mul(2 * at as u32 + 1) >> 7));
        let per = element.per_register();
        (0..count)
            .map(|_| {
                std::array::from_fn(|_| {
                    (0..per).fold(0, |word, index| word | next.next().unwrap_or(0) << (element.bits() * index))
                })
            })
            .collect()
    }

    proptest! {
        #[test]
        fn products_are_sums_over_k(seeds in proptest::collection::vec(any::<u32>(), 8..40), which in 0usize..10, tall: bool, blocks in 1u32..3, half: bool) {
            use Element::*;
            let a = [Half, Brain, Tensor32, E4M3, E5M2, Signed8, Unsigned8, Signed4, Unsigned4, Bit][which];
            let d = match a {
                Half if half => Accumulator::Half,
                _ if a.is_float() => Accumulator::Single,
                _ => Accumulator::Integer,
            };
            let operation = operation(a, d, tall, blocks, false);
            let counts = operation.registers().map(|count| count as usize);
            let (left, right) = (small(a, &seeds, counts[0]), small(a, &seeds[3..], counts[1]));
            let start = match d {
                Accumulator::Half => small(Half, &seeds, counts[2]),
                Accumulator::Single => small(Tensor32, &seeds, counts[2]),
                _ => small(Signed8, &seeds, counts[2]),
            };
            let mut result = vec![[0u32; 32]; counts[3]];
            narrow(operation, &left, &right, &start, &mut result);
            let halves = counts[0] / blocks as usize;
            for (row, column, register, part) in places(operation, d) {
                let lane = 4 * (row % 8) + column / 2;
                let read = |registers: &[Register]| {
                    let word = registers[register][lane];
                    match d {
                        Accumulator::Half => f64::from(numbers::half((word >> (16 * part)) as u16)),
                        Accumulator::Single => f64::from(f32::from_bits(word)),
                        _ => f64::from(word as i32),
                    }
                };
                let sum: f64 = (0..operation.depth() as usize).map(|k| {
                    let (x, y) = (factor(&left, a, halves, row, k), factor(&right, a, 1, column, k));
                    match a {
                        Bit => f64::from(if operation.and { x & y } else { x ^ y }),
                        _ => value(a, x) * value(a, y),
                    }
                }).sum();
                let wanted = read(&start) + sum;
                // Integers wrap around.
                let wanted = if d == Accumulator::Integer { f64::from(wanted as i64 as i32) } else { wanted };
                prop_assert_eq!(read(&result), wanted);
            }
        }
    }

    #[test]
    fn integers_wrap_or_saturate() {
        for (saturate, wanted) in [(false, i32::MIN), (true, i32::MAX)] {
            let operation = operation(Element::Unsigned8, Accumulator::Integer, false, 1, saturate);
            let mut one = [[0u32; 32]; 1];
            one[0].iter_mut().step_by(4).for_each(|word| *word = 1);
            let mut d = [[0u32; 32]; 2];
            narrow(operation, &one, &one, &[[i32::MAX as u32; 32]; 2], &mut d);
            assert!(d.iter().flatten().all(|&word| word as i32 == wanted));
        }
    }

    #[test]
    fn halves_saturate_where_asked() {
        assert_eq!(finite_half(1e6, false), 0x7c00);
        assert_eq!(finite_half(-1e6, true), 0xfbff);
        assert_eq!(finite_half(f32::NAN, true), 0);
    }

    #[test]
    fn doubles_are_multiplied() {
        let operation = operation(Element::Double, Accumulator::Double, true, 2, false);
        let counts = operation.registers().map(|count| count as usize);
        let make = |count: usize, add: usize| -> Vec<WideRegister> {
            (0..count)
                .map(|r| std::array::from_fn(|l| (((r * 37 + l * 11 + add) % 19) as f64 - 9.0).to_bits()))
                .collect()
        };
        let (a, b, c) = (make(counts[0], 0), make(counts[1], 5), make(counts[2], 8));
        let mut d = vec![[0u64; 32]; counts[3]];
        wide(operation, &a, &b, &c, &mut d);
        let number = |bits: u64| f64::from_bits(bits);
        for row in 0..16 {
            for column in 0..8 {
                let (register, lane) = (2 * (row / 8) + column % 2, 4 * (row % 8) + column / 2);
                let sum: f64 = (0..8)
                    .map(|k| {
                        number(a[k / 4 * 2 + row / 8][4 * (row % 8) + k % 4]) * number(b[k / 4][4 * column + k % 4])
                    })
                    .sum();
                assert_eq!(number(d[register][lane]), number(c[register][lane]) + sum);
            }
        }
    }
}
