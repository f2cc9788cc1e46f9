//! Fetches through textures: the code has coordinates there and no address, and a texture's path has no wide accesses.

use super::facts::access::Access;
use crate::profile::is_system;
use crate::profile::model::Site;

/// Texels from lane to lane, at most, that are an image fetched at a smaller scale: its filter or a neighbouring row takes what lies between.
const MOST_APART: u64 = 4;

/// Whether the function of a texture's header makes the access.
pub(super) fn is_fetch(site: &Site) -> bool {
    let file = site.leaf.file.rsplit('/').next().unwrap_or_default();
    site.op == "load" && is_system(&site.leaf.file) && file.contains("texture")
}

/// Whether neighbouring lanes fetch every second texel or so, of which nobody can make neighbours.
pub(super) fn is_scaled(access: &Access<'_>) -> bool {
    let stride = access.pattern.stride_bytes.map(i64::unsigned_abs);
    access.by_texture && stride.is_some_and(|stride| stride <= MOST_APART * u64::from(access.bytes))
}

/// What to do where lanes fetch texels that lie anywhere.
pub(super) fn cure_of_gather(name: &str) -> String {
    format!(
        "the lanes fetch through a texture here, at coordinates that the code computes: where each thread goes along a part of {name} of its own, as in a search or \
         a merge, bring what a block needs into shared memory first, neighbouring threads at neighbouring texels, and go on there; where it is an image, let \
         neighbouring threads fetch texels near each other, and keep it in a CUDA array, whose order brings neighbours of both directions together"
    )
}

/// What to do where lanes fetch texels that lie apart.
pub(super) fn cure_of_stride(name: &str) -> String {
    format!(
        "let neighbouring threads fetch neighbouring texels of {name} (the thread's number in the first coordinate), or keep it in a CUDA array, whose order brings \
         neighbours of both directions together; where it is no image, bring what a block needs into shared memory first"
    )
}
