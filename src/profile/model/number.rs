//! Numbers in the form of the document.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An exact sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wide(pub u128);

impl Wide {
    /// Returns the saturating sum.
    #[must_use]
    pub fn plus(self, other: Wide) -> Wide {
        Wide(self.0.saturating_add(other.0))
    }
}

impl Serialize for Wide {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(self.0) {
            Ok(number) => serializer.serialize_u64(number),
            Err(_) => serializer.collect_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Wide {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Wide, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Wide;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a whole number, or its digits in a string")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Wide, E> {
                Ok(Wide(number.into()))
            }

            fn visit_str<E: Error>(self, digits: &str) -> Result<Wide, E> {
                digits.parse().map(Wide).map_err(|_| E::custom("a sum has other characters than digits, or too many"))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Rounds a number to nine digits. More digits would suggest a precision that the figures do not have, and nine digits
/// are read back exactly.
pub fn nine_digits(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

pub(super) fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde requires")]
pub(super) fn is_one(count: &u64) -> bool {
    *count == 1
}

/// Returns whether a figure is omitted from the document.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde requires")]
pub(super) fn is_nothing(bytes: &u32) -> bool {
    *bytes == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde requires")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_all_their_digits() {
        for number in [0, 7, u128::from(u64::MAX), u128::from(u64::MAX) + 1, u128::MAX] {
            let text = serde_json::to_string(&Wide(number)).unwrap();
            assert_eq!(text.starts_with('"'), number > u64::MAX.into(), "{text}");
            assert_eq!(serde_json::from_str::<Wide>(&text).unwrap(), Wide(number));
            // The text is parsed like a document with hidden characters.
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::from_value::<Wide>(value).unwrap(), Wide(number));
        }
        for wrong in ["-1", "1.5", "\"x\"", "\"\"", "\"999999999999999999999999999999999999999999\""] {
            assert!(serde_json::from_str::<Wide>(wrong).is_err(), "{wrong}");
        }
    }
}
