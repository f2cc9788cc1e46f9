//! What a site accesses, in the words of the source.

use serde::{Deserialize, Serialize};
use warpline_format::site_table::{self, SiteTable, Step};

/// What a site accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// Variable that the address comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Member that is accessed, as `.velocity.x`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Structure that it is a member of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structure: Option<String>,
    /// Its size.
    #[serde(default, skip_serializing_if = "super::names::is_nothing")]
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
    /// Not at all.
    #[default]
    None,
    /// By so many bytes.
    Bytes(i64),
    /// By a multiple of a value that is the same for all threads, of this name; empty where it has none.
    Times(String),
    /// In another way.
    Other,
}

fn no_steps(steps: &[ThreadStep; 3]) -> bool {
    steps.iter().all(|step| *step == ThreadStep::None)
}

/// As the site table has it.
pub(super) fn operand(table: &SiteTable, site: u32) -> Option<Operand> {
    let found = table.operand(site)?;
    let name = |name: Option<u32>| Some(table.names.get(name? as usize)?.clone());
    let &site_table::Operand { variable, member, structure, structure_bytes, steps, loaded, .. } = found;
    Some(Operand {
        variable: name(variable),
        member: name(member),
        structure: name(structure),
        structure_bytes,
        thread_steps: steps.map(|step| match step {
            Step::None => ThreadStep::None,
            Step::Bytes(bytes) => ThreadStep::Bytes(bytes),
            Step::Times(factor) => ThreadStep::Times(name(factor).unwrap_or_default()),
            Step::Other => ThreadStep::Other,
        }),
        loaded_index: loaded,
    })
}
