//! Sorts the numbers of a warp's lanes.
//!
//! The position of each number is the count of smaller numbers. For 32 lanes, this takes 32 by 32 comparisons without a
//! branch, eight at a time if the processor supports it. Callers are compiled for newer processors (see
//! [`super::processor`]), and this code is inlined into them.

/// Sorts non-negative numbers.
#[inline(always)]
pub fn sorted<const COUNT: usize>(numbers: &[i32; COUNT]) -> [i32; COUNT] {
    let mut places = [0i32; COUNT];
    for other in numbers {
        for (place, number) in places.iter_mut().zip(numbers) {
            *place += i32::from(number > other);
        }
    }
    let mut sorted = [0; COUNT];
    for (place, number) in places.iter().zip(numbers) {
        sorted[*place as usize % COUNT] = *number;
    }
    // Equal numbers share one position and leave the following positions free.
    let mut highest = 0;
    for number in &mut sorted {
        highest = highest.max(*number);
        *number = highest;
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::sorted;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts(numbers in prop::array::uniform32(prop_oneof![0..8i32, 0..i32::MAX, Just(i32::MAX)])) {
            let mut wanted = numbers;
            wanted.sort_unstable();
            prop_assert_eq!(sorted(&numbers), wanted);
        }
    }
}
