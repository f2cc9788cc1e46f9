//! Whether a profile's numbers are some that a run can have.

use crate::profile::Profile;

/// Sums of parts of a profile stay below this, also in bytes.
const MOST: u128 = 1 << 56;

/// Whether no sum over rows overflows. Profiles are anybody's; what rules of findings add up has to be checked before.
pub(super) fn is_plausible(profile: &Profile) -> bool {
    let size = |sizes: &[u32; 3]| sizes.iter().map(|&size| u128::from(size)).product::<u128>();
    let shapes = profile.kernels.iter().flat_map(|kernel| {
        let groups = kernel.launch_groups.iter().flat_map(|group| group.grid.iter().chain(&group.block));
        kernel.launches.iter().flat_map(|launch| [&launch.grid, &launch.block]).chain(groups)
    });
    let shapes = shapes.fold(0u128, |sum, sizes| sum.saturating_add(size(sizes)));
    let document = serde_json::to_vec(profile).unwrap_or_default();
    shapes < MOST && sum_of_numbers(&document) < MOST
}

/// All numbers of a document together, its texts left out.
fn sum_of_numbers(document: &[u8]) -> u128 {
    let (mut sum, mut number) = (0u128, 0u128);
    let (mut in_text, mut escaped, mut in_fraction) = (false, false, false);
    for &byte in document {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            // What stands behind a point, and its power, is of no count.
            b'.' => (in_fraction, number) = (true, 0),
            b'0'..=b'9' if !in_fraction => {
                number = number.saturating_mul(10).saturating_add(u128::from(byte - b'0'));
            }
            b',' | b']' | b'}' => {
                sum = sum.saturating_add(number);
                (in_fraction, number) = (false, 0);
            }
            _ => {}
        }
    }
    sum.saturating_add(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_numbers() {
        let sum = |text: &str| sum_of_numbers(text.as_bytes());
        assert_eq!(sum(r#"{"a12":[1,20,-3],"b":"7\"8\\","c":{"d":4}}"#), 28);
        assert_eq!(sum(r#"[18446744073709551615,1]"#), u128::from(u64::MAX) + 1);
        assert_eq!(sum("5"), 5);
        assert_eq!(sum("[7,1.25,3.5e-7,0.123456789,2]"), 9);
    }
}
