//! GPU models in the form that predictions use.

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
    /// Rates of its units.
    pub rates: &'a Rates,
    /// Occupancy parameters that the user specified.
    pub stated: Stated,
}
