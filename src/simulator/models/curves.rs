//! Measured latencies in a model file.

use serde::{Deserialize, Serialize};

/// Reasons why a curve is invalid.
#[derive(Debug, thiserror::Error)]
pub enum CurveError {
    /// The numbers of sizes and latencies differ.
    #[error("{sizes} sizes and {latencies} latencies")]
    Lengths {
        /// Number of sizes.
        sizes: usize,
        /// Number of latencies.
        latencies: usize,
    },
    /// A size is smaller than the previous one.
    #[error("sizes do not ascend")]
    Order,
    /// A latency is implausible.
    #[error("{0} is not a valid latency")]
    Latency(f64),
}

/// The path of the loads through the caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Path {
    /// Plain loads.
    #[serde(rename = "through_level_1")]
    ThroughLevel1,
    /// `ld.global.cg`.
    #[serde(rename = "past_level_1")]
    PastLevel1,
}

/// `[[curves]]`: average latency of a chain of dependent loads, by the size of the array that the chain traverses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The path of the loads.
    pub path: Path,
    /// Bytes between consecutive elements of the chain.
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
    /// Returns the reason if the curve is invalid.
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
