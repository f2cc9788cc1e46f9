//! Measured latencies in a model file.

use serde::{Deserialize, Serialize};

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
    /// Looks for what cannot be.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        if self.bytes.len() != self.cycles.len() {
            return Err(format!("{} sizes and {} latencies", self.bytes.len(), self.cycles.len()));
        }
        if !self.bytes.is_sorted() {
            return Err("sizes do not ascend".to_owned());
        }
        let bad = self.cycles.iter().find(|cycles| !cycles.is_finite() || **cycles <= 0.0);
        bad.map_or(Ok(()), |cycles| Err(format!("{cycles} is no latency")))
    }
}
