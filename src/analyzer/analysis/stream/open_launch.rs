//! A launch that is running.

use std::sync::Arc;

use warpline_format::event::{Launch, Sampled, WarpBlockCount};

use crate::analysis::LaunchArgument;
use crate::analysis::sharing::RowPlace;
use crate::requests::{CellKey, LaunchShape};
use warpline_simulator::metrics::Counters;

/// A launch that is running.
pub(super) struct OpenLaunch {
    pub(super) shape: Arc<LaunchShape>,
    pub(super) event: Launch,
    /// Row in which it is reported.
    pub(super) place: RowPlace,
    /// Its blocks by warp, until they are added to its kernel's.
    pub(super) warp_blocks: Vec<WarpBlockCount>,
    /// Its arguments.
    pub(super) arguments: Vec<LaunchArgument>,
    /// Its requests, where the GPU counted them.
    pub(super) site_counts: Vec<(CellKey, Counters)>,
    /// Its place in a budget's sample.
    pub(super) sampled: Option<Sampled>,
}
