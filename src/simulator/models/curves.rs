//! Measured latencies in a model file.

use serde::{Deserialize, Serialize};

/// Why a curve cannot be.
#[derive(Debug, thiserror::Error)]
pub enum CurveError {
    /// Sizes and latencies do not go together.
    #[error("{sizes} sizes and {latencies} latencies")]
    Lengths {
        /// Number of sizes.
        sizes: usize,
        /// Number of latencies.
        latencies: usize,
    },
    /// A size is smaller than the one before.
    #[error("sizes do not ascend")]
    Order,
    /// Nothing takes so long.
    #[error("{0} is no latency")]
    Latency(f64),
}

/// The way of the loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Path {
    /// Plain loads.
    #[serde(rename = "through_level_1")]
    ThroughLevel1,
    /// `ld.global.cg`.
    #[serde(rename = "past_level_1")]
    PastLevel1,
}

/// `[[curves]]`: average latency of a chain of dependent loads, by the size of the array that it goes through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The way of the loads.
    pub path: Path,
    /// Bytes between the places of the chain.
    pub stride: u32,
    /// Sizes, ascending.
    pub bytes: Vec<u64>,
    /// Cycles per load, one per size.
    pub cycles: Vec<f64>,
    /// Key in the model's `sources`.
    pub source: String,
}

impl Curve {
    /// Checks the curve for impossible values.
    ///
    /// # Errors
    /// Returns what is wrong.
    pub fn check(&self) -> Result<(), CurveError> {
        if self.bytes.len() != self.cycles.len() {
            return Err(CurveError::Lengths { sizes: self.bytes.len(), latencies: self.cycles.len() });
        }
        if !self.bytes.is_sorted() {
            return Err(CurveError::Order);
        }
        let bad = self.cycles.iter().find(|cycles| !cycles.is_finite() || **cycles <= 0.0);
        bad.map_or(Ok(()), |cycles| Err(CurveError::Latency(*cycles)))
    }
}
