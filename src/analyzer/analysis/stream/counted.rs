//! Requests that the GPU counted instead of recording.

use warpline_format::access::Space;
use warpline_format::event::SiteCount;

use crate::attribution::{Module, ROOT};
use crate::requests::{CellKey, Owner};
use warpline_simulator::metrics::Counters;

/// Maximum number of sectors or lines of a counted request: 32 lanes with eight scattered words each.
const MOST_PIECES: u32 = 32 * 8;
/// Maximum number of requests of a site in a launch. A GPU would take years for more.
const MOST_REQUESTS: u64 = 1 << 48;

/// Counts that are impossible for a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("counts of site {site}: {wrong}")]
pub struct CountsError {
    site: u32,
    wrong: WrongCounts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum WrongCounts {
    #[error("there is no such site")]
    NoSite,
    #[error("no space")]
    NoSpace,
    #[error("impossible pieces")]
    Pieces,
    #[error("they do not agree")]
    Disagree,
}

/// Returns the counters of a site and the key of their cell. The accessed allocations and the device call paths are
/// unknown.
///
/// # Errors
/// Returns the reason if the counts are impossible.
pub(super) fn counters(module: &Module, count: &SiteCount) -> Result<(CellKey, Counters), CountsError> {
    let wrong = |wrong: WrongCounts| Err(CountsError { site: count.site, wrong });
    let Some(width) = module.widths.get(count.site as usize) else { return wrong(WrongCounts::NoSite) };
    if count.space == Space::Generic {
        return wrong(WrongCounts::NoSpace);
    }
    let sum = |pieces: &[(u32, u64)]| {
        let fits = pieces.iter().all(|(pieces, _)| (1..=MOST_PIECES).contains(pieces));
        let requests = pieces.iter().try_fold(0u64, |sum, (_, count)| sum.checked_add(*count));
        requests.filter(|&requests| fits && requests <= MOST_REQUESTS)
    };
    let (Some(requests), Some(by_lines)) = (sum(&count.by_sectors), sum(&count.by_lines)) else {
        return wrong(WrongCounts::Pieces);
    };
    if requests != by_lines || count.lanes > 32 * requests || count.ideal_sectors > 32 * requests {
        return wrong(WrongCounts::Disagree);
    }
    let mut counters = Counters {
        requests,
        lanes: count.lanes,
        bytes: count.lanes * u64::from(width.useful()),
        sectors: count.by_sectors.iter().map(|(pieces, count)| u64::from(*pieces) * count).sum(),
        ideal_sectors: count.ideal_sectors,
        ..Counters::default()
    };
    count.by_sectors.iter().for_each(|&(pieces, count)| counters.by_sectors.count(pieces, count));
    count.by_lines.iter().for_each(|&(pieces, count)| counters.by_lines.count(pieces, count));
    let owner = match count.space {
        Space::Shared | Space::Local => Owner::Space,
        _ => Owner::NotTold,
    };
    Ok((CellKey { site: count.site, space: count.space, context: ROOT, owner }, counters))
}
