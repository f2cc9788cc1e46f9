//! Requests that the GPU counted instead of sending.

use warpline_format::access::Space;
use warpline_format::event::SiteCount;

use crate::attribution::{Module, ROOT};
use crate::requests::{CellKey, Owner};
use warpline_simulator::metrics::Counters;

/// Most sectors or lines of a request that is counted: 32 lanes, eight words each in a place of its own.
const MOST_PIECES: u32 = 32 * 8;
/// Most requests of a site in a launch; more would take a GPU years.
const MOST_REQUESTS: u64 = 1 << 48;

/// Counts that no launch gives.
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

/// What a site's counts are, and where they belong. Whose memory was touched and from which device calls is not known.
///
/// # Errors
/// Returns what is impossible about the counts.
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
