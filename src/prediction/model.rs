//! GPU models, as predictions use them.

use warpline_format::device::Device;
use warpline_format::occupancy::Stated;

use warpline_simulator::hierarchy::HierarchyConfig;
use warpline_simulator::models::Rates;

/// A GPU model.
#[derive(Clone, Debug)]
pub struct Model<'a> {
    /// Name on the command line.
    pub key: &'a str,
    /// Limits for occupancy.
    pub device: &'a Device,
    /// Its caches.
    pub hierarchy: &'a HierarchyConfig,
    /// Its rates.
    pub rates: &'a Rates,
    /// Figures of occupancy that the user states.
    pub stated: Stated,
}
