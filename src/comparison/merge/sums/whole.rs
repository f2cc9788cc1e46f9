//! Adds estimates of runs that recorded only some of their launches.

use warpline_profile::model::WholeRun;

/// Adds a profile's estimates. If one profile has none, the result has none.
pub(in crate::merge) fn add(sum: &mut Option<WholeRun>, more: Option<&WholeRun>, is_first: bool) {
    *sum = match (sum.take(), more) {
        (None, Some(more)) if is_first => Some(more.clone()),
        (Some(mut sum), Some(more)) => {
            sum.add(more);
            Some(sum)
        }
        _ => None,
    };
}
