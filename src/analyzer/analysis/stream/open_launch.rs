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
    /// The row in which the launch is reported.
    pub(super) place: RowPlace,
    /// Block counts by warp, until they are added to the kernel.
    pub(super) warp_blocks: Vec<WarpBlockCount>,
    /// Arguments of the launch.
    pub(super) arguments: Vec<LaunchArgument>,
    /// Requests that the GPU counted.
    pub(super) site_counts: Vec<(CellKey, Counters)>,
    /// Position in a budget's sample.
    pub(super) sampled: Option<Sampled>,
}
