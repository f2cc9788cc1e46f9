//! Writes the sections in order.

use super::{
    allocations, branches, bypass, caches, conflicts, divergence, estimate, faults, kernels, launches, lines, models,
    ranks, reuse, rounding, tables, values, whole,
};
use crate::words::Style;
use warpline_profile::Profile;

/// Writes all figures, by section.
pub fn write_all(out: &mut String, profile: &Profile, style: Style, top: usize) {
    faults::write(out, profile, style);
    conflicts::write(out, profile, style);
    kernels::write(out, profile, style, top);
    ranks::write(out, profile, style, top);
    whole::write(out, profile, style, top);
    launches::write(out, profile, style, top);
    lines::write(out, profile, style, top);
    divergence::write(out, profile, style);
    caches::write(out, profile, style, top);
    reuse::write(out, profile, style, top);
    estimate::write(out, profile, style, top);
    models::write(out, profile, style, top);
    bypass::write(out, profile, style, top);
    bypass::write_pages(out, profile, style, top);
    allocations::write(out, profile, style, top);
    branches::write(out, profile, style, top);
    branches::write_idle(out, profile, style, top);
    values::write(out, profile, style, top);
    rounding::write(out, profile, style, top);
    tables::write(out, profile, style, top);
}

/// Writes the sections of optional analyses, and of profiles of several ranks.
pub fn write_requested(out: &mut String, profile: &Profile, style: Style, top: usize) {
    ranks::write(out, profile, style, top);
    whole::write(out, profile, style, top);
    models::write(out, profile, style, top);
    bypass::write(out, profile, style, top);
    bypass::write_pages(out, profile, style, top);
    values::write(out, profile, style, top);
    rounding::write(out, profile, style, top);
}
