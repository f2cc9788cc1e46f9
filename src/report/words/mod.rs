//! Formats figures, names and source positions, equally in every report.

pub(super) mod estimates;
pub(super) mod figures;
pub(super) mod names;
pub(super) mod places;
pub(super) mod style;
pub(super) mod values;
pub(super) mod wrap;

pub(super) use figures::{add, bytes, count, hit_rate, memory, percent, ratio, seconds};
pub(crate) use names::plain_name;
pub(super) use names::{label, short};
pub(super) use places::{at, frame, host_path, short as short_path, sizes};
pub(super) use style::{Style, bar};
pub(super) use wrap::{cut, paragraph};
