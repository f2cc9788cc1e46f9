//! A figure with its source.

use serde::Deserialize;

/// A figure and its source.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table like { value = 68, source = \"key of [sources]\" }")]
pub struct Figure<T> {
    /// The figure.
    pub value: T,
    /// Key in the model's `sources`.
    pub source: String,
}
