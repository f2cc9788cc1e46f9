//! The source names of a site's address.

use serde::{Deserialize, Serialize};

/// What a site accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// Variable that the address is derived from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Accessed member, for example `.velocity.x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Structure that contains the member, or that is accessed as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structure: Option<String>,
    /// Size of the structure in bytes.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub structure_bytes: u32,
    /// Change of the address with `threadIdx.x`, `.y` and `.z`; absent if it does not change.
    #[serde(default, skip_serializing_if = "no_steps")]
    pub thread_steps: [ThreadStep; 3],
    /// Whether an index was loaded from memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loaded_index: bool,
}

/// Change of an address when a thread index increases by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadStep {
    /// The address does not change.
    #[default]
    None,
    /// The address changes by this many bytes.
    Bytes(i64),
    /// The address changes by a multiple of a value that is equal for all threads. Contains the name of the value, or
    /// is empty if it has none.
    Times(String),
    /// The address changes in another way.
    Other,
}

fn no_steps(steps: &[ThreadStep; 3]) -> bool {
    steps.iter().all(|step| *step == ThreadStep::None)
}
