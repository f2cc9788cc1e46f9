//! What a site's address is made of in the source.

use serde::{Deserialize, Serialize};

/// What a site accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// Variable that the address comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Member that is accessed, as `.velocity.x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Structure that it is a member of, or that is accessed as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structure: Option<String>,
    /// Its size.
    #[serde(default, skip_serializing_if = "super::number::is_nothing")]
    pub structure_bytes: u32,
    /// How the address changes with `threadIdx.x`, `.y` and `.z`; absent where it does not.
    #[serde(default, skip_serializing_if = "no_steps")]
    pub thread_steps: [ThreadStep; 3],
    /// An index was loaded from memory.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loaded_index: bool,
}

/// How an address changes when a thread index grows by one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadStep {
    /// Does not change.
    #[default]
    None,
    /// Changes by this many bytes.
    Bytes(i64),
    /// Changes by a multiple of a value that is the same for all threads, with this name; empty if it has none.
    Times(String),
    /// Changes in another way.
    Other,
}

fn no_steps(steps: &[ThreadStep; 3]) -> bool {
    steps.iter().all(|step| *step == ThreadStep::None)
}
