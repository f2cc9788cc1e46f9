//! Sorting what the lanes of a warp hold.
//!
//! The place of each number is how many others are lower: for 32 lanes 32 by 32 comparisons without a branch, eight at a time
//! where the processor can. Callers are compiled for newer processors (see [`super::processor`]), and this with them.

/// Sorts numbers that are not negative.
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
    // Equal ones have one place between them and leave as many free after it.
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
