//! The document of `warpline validate`.

use serde::{Deserialize, Serialize};

use super::chase::Chase;
use super::figures::FigureRow;
use warpline_simulator::models::Curve;

/// The result of a validation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// `cpu` or `gpu`: the device that ran the chases.
    pub device: String,
    /// Name of the model.
    pub model: String,
    /// Chases with closed forms.
    pub cases: Vec<CaseRow>,
    /// Measured figures (from `curves`) and those of the model.
    pub figures: Vec<FigureRow>,
    /// Curves measured on this GPU; otherwise, those of the model file.
    pub curves: Vec<Curve>,
    /// Whether this run measured the curves.
    pub measured: bool,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Validation {
    /// Returns the number of cases whose simulation differs from the closed form.
    pub fn wrong(&self) -> usize {
        self.cases.iter().filter(|case| case.l1.is_wrong() || case.l2.is_wrong()).count()
    }
}

/// A chase with a closed form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRow {
    /// Description of the tested property.
    pub what: String,
    /// The chase.
    pub chase: Chase,
    /// Misses of L1.
    pub l1: Level,
    /// Misses of L2.
    pub l2: Level,
}

/// Misses of a level in a chase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Value of the closed form, if there is one.
    pub closed_form: Option<u64>,
    /// Value of the simulation of the program.
    pub simulated: u64,
    /// Value of the GPU's counters, if they were read.
    pub counted: Option<f64>,
}

impl Level {
    fn is_wrong(&self) -> bool {
        self.closed_form.is_some_and(|misses| misses != self.simulated)
    }
}
