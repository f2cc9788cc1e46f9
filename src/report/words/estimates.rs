//! Formats estimates with their bounds.

use super::figures::{bytes, count, percent};
use warpline_profile::model::Estimated;

/// Formats a sum, in units of `scale` bytes if that is more than 1: `1.07 M ±22.0 %`.
pub(crate) fn sum(estimated: &Estimated, scale: u64) -> String {
    let amount = (estimated.estimate * scale as f64).round().max(0.0) as u64;
    let amount = if scale == 1 { count(amount) } else { bytes(amount) };
    match estimated.bound {
        Some(bound) if estimated.estimate > 0.0 => format!("{amount} ±{}", percent(bound / estimated.estimate)),
        Some(_) => amount,
        None => format!("{amount} ±?"),
    }
}

/// Formats a ratio with its bound in percentage points: `87.5 % ±0.4`.
pub(crate) fn share(ratio: &Estimated) -> String {
    match ratio.bound {
        Some(bound) => format!("{} ±{:.1}", percent(ratio.estimate), bound * 100.0),
        None => format!("{} ±?", percent(ratio.estimate)),
    }
}

/// Adds several sums of one sample; their bounds are added as worst cases.
pub(crate) fn together(parts: impl IntoIterator<Item = Estimated>) -> Option<Estimated> {
    parts.into_iter().reduce(|one, other| Estimated {
        estimate: one.estimate + other.estimate,
        bound: one.bound.zip(other.bound).map(|(one, other)| one + other),
    })
}
