//! Items that nearly every fact and rule uses.

pub(super) use super::diagnosis::{
    Bytes, Choice, Count, Described, Diagnosis, Figures, Name, Names, Ratio, Seconds, Share, Shown, described,
};
pub(super) use super::draft::{Draft, Saved, WORTH_A_CHANGE, names};
pub(super) use super::facts::access::{Access, Sums, Total, share, worst};
pub(super) use super::facts::copies::Copies;
pub(super) use super::facts::pattern::{is_contiguous, is_scattered, is_strided};
pub(super) use super::facts::*;
pub(super) use super::gain::Saving;
pub(super) use warpline_profile::model::{
    Allocation, Branch, ByKernel, CopyRow, Estimate, FindingLine, Frame, Gain, Kernel, Launch, Severity, Site,
    ThreadStep, also_on,
};
pub(super) use warpline_profile::{copy_seconds, is_system, library_call};
pub(super) use warpline_simulator::geometry::SECTOR_BYTES;
