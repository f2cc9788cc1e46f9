//! How a figure is obtained.

use serde::{Deserialize, Serialize};

/// How a figure is obtained, from the most to the least certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Counted in the executed code.
    Counted,
    /// Computed from counts with the rules of a GPU model: caches, bank passes, occupancy.
    Modelled,
    /// Computed with assumed rates, or extrapolated from a sample: times, gains, shares of a run.
    Estimated,
}

impl Basis {
    /// Returns the name in reports and documents.
    pub fn name(self) -> &'static str {
        match self {
            Basis::Counted => "counted",
            Basis::Modelled => "modelled",
            Basis::Estimated => "estimated",
        }
    }
}
