//! Fetches through textures: the code has coordinates there and no address, and a texture's path has no wide accesses.

use super::facts::access::Access;
use warpline_profile::is_system;
use warpline_profile::model::Site;

/// Texels from lane to lane, at most, that are an image fetched at a smaller scale: its filter or a neighbouring row
/// takes what lies between.
const MOST_APART: u64 = 4;

/// Returns whether the function of a texture's header makes the access.
pub(super) fn is_fetch(site: &Site) -> bool {
    let file = site.leaf.file.rsplit('/').next().unwrap_or_default();
    site.op == "load" && is_system(&site.leaf.file) && file.contains("texture")
}

/// Returns whether neighbouring lanes fetch every second texel or so, which cannot become neighbours.
pub(super) fn is_scaled(access: &Access<'_>) -> bool {
    let stride = access.pattern.stride_bytes.map(i64::unsigned_abs);
    access.by_texture && stride.is_some_and(|stride| stride <= MOST_APART * u64::from(access.bytes))
}
