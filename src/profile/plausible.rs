//! Checks that a profile's numbers are possible for a run. Profiles are untrusted, and readers add up their rows.

use super::Profile;

/// Maximum sum of numbers, also in bits, that rules of findings may add up.
const MOST_ADDED: u128 = 1 << 56;

/// The maximum sum of all numbers of a profile that is read. With a larger sum, sums over rows might not fit into 64
/// bits. The sum of a thousand ranks that each use a GPU at its peak for hours is smaller.
const MOST_READ: u128 = 1 << 63;

/// Fields that contain addresses, constants of the code and arguments. All values are valid there, and they are not
/// added up.
const ANY: [&[u8]; 2] = [b"addresses", b"arguments"];

/// Returns whether rules of findings may add rows up.
pub fn may_be_added(profile: &Profile) -> bool {
    are_below(MOST_ADDED, profile, &serde_json::to_vec(profile).unwrap_or_default())
}

/// Returns whether sums over the rows of a document fit into 64 bits. `document` is the text that it was read from.
pub(super) fn may_be_read(profile: &Profile, document: &[u8]) -> bool {
    are_below(MOST_READ, profile, document)
}

fn are_below(most: u128, profile: &Profile, document: &[u8]) -> bool {
    let size = |sizes: &[u32; 3]| sizes.iter().map(|&size| u128::from(size)).product::<u128>();
    let threads = profile.kernels.iter().flat_map(|kernel| {
        let launches = kernel.launches.iter().map(|launch| (1, &launch.grid, &launch.block));
        let groups = kernel.launch_groups.iter().flat_map(|group| {
            let shapes = group.grid.iter().zip(&group.block);
            shapes.map(|(grid, block)| (u128::from(group.launches), grid, block))
        });
        launches.chain(groups)
    });
    let threads = threads.map(|(times, grid, block)| size(grid).saturating_mul(size(block)).saturating_mul(times));
    threads.fold(sum_of_numbers(document), u128::saturating_add) < most
}

/// Returns the sum of all numbers of a document, without texts and the fields in [`ANY`].
fn sum_of_numbers(document: &[u8]) -> u128 {
    let (mut sum, mut number) = (0u128, 0u128);
    let mut in_fraction = false;
    // The last text, which is a key if a colon follows; and the depth below which numbers are ignored.
    let (mut text, mut depth, mut left_out) = (&document[..0], 0u64, None);
    let mut at = 0;
    while let Some(&byte) = document.get(at) {
        at += 1;
        match byte {
            b'"' => {
                let start = at;
                while document.get(at).is_some_and(|&byte| byte != b'"') {
                    at += if document[at] == b'\\' { 2 } else { 1 };
                }
                text = document.get(start..at).unwrap_or_default();
                at += 1;
            }
            b':' if left_out.is_none() && ANY.contains(&text) && matches!(document.get(at), Some(b'{' | b'[')) => {
                left_out = Some(depth);
            }
            // Digits after a decimal point and exponents are ignored.
            b'.' => (in_fraction, number) = (true, 0),
            b'0'..=b'9' if !in_fraction => {
                number = number.saturating_mul(10).saturating_add(u128::from(byte - b'0'));
            }
            b'{' | b'[' => depth += 1,
            b',' | b']' | b'}' => {
                if left_out.is_none() {
                    sum = sum.saturating_add(number);
                }
                (in_fraction, number) = (false, 0);
                depth = depth.saturating_sub(u64::from(byte != b','));
                left_out = left_out.filter(|&outside| depth > outside);
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
        assert_eq!(sum(r#"["1\\",2,"\"3",4,"5"#), 6);
    }

    #[test]
    fn addresses_and_arguments_may_be_any() {
        let sum = |text: &str| sum_of_numbers(text.as_bytes());
        assert_eq!(sum(r#"{"a":1,"arguments":[{"value":9,"b":[9]},9],"c":2}"#), 3);
        assert_eq!(sum(r#"{"addresses":{"c":[9,{"arguments":[9]},9]},"d":4}"#), 4);
        // Here, a number has the name of an excluded field.
        assert_eq!(sum(r#"{"addresses":7,"arguments":"x","d":4}"#), 11);
    }
}
