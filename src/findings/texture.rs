//! Texture fetches: the code contains coordinates instead of an address, and texture units have no wide accesses.

use super::facts::access::Access;
use warpline_profile::is_system;
use warpline_profile::model::Site;

/// Maximum number of texels between lanes for an image that is fetched at a smaller scale. The texels in between are
/// used by the filter or by a neighbouring row.
const MOST_APART: u64 = 4;

/// Returns whether a function of a texture header performs the access.
pub(super) fn is_fetch(site: &Site) -> bool {
    let file = site.leaf.file.rsplit('/').next().unwrap_or_default();
    site.op == "load" && is_system(&site.leaf.file) && file.contains("texture")
}

/// Returns whether neighbouring lanes fetch about every second texel, so that they cannot access neighbouring texels.
pub(super) fn is_scaled(access: &Access<'_>) -> bool {
    let stride = access.pattern.stride_bytes.map(i64::unsigned_abs);
    access.by_texture && stride.is_some_and(|stride| stride <= MOST_APART * u64::from(access.bytes))
}
