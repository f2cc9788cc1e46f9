//! All rules.

#[cfg(test)]
use super::diagnosis::{Described, Row};
use super::draft::Draft;
use super::facts::Facts;
use super::rules;

/// A rule and its page.
pub(super) struct Rule {
    pub id: &'static str,
    pub page: &'static str,
    pub find: fn(&Facts<'_>) -> Vec<Draft>,
    /// Ids of its causes and remedies, with the names of their figures: a test compares them with the page.
    #[cfg(test)]
    pub causes: &'static [Row],
    #[cfg(test)]
    pub remedies: &'static [Row],
}

/// One line per rule: the module in `rules/`, the id, which is the page's name in `docs/findings/` too, and the enums of causes
/// and remedies.
macro_rules! rules {
    (@table $module:ident) => { &[] };
    (@table $module:ident $type:ident) => { <rules::$module::$type as Described>::TABLE };
    ($($module:ident $id:literal $(($cause:ident, $remedy:ident))?),* $(,)?) => {
        pub(super) const RULES: &[Rule] = &[$(Rule {
            id: $id,
            page: include_str!(concat!("../../docs/findings/", $id, ".md")),
            find: rules::$module::find,
            #[cfg(test)]
            causes: rules!(@table $module $($cause)?),
            #[cfg(test)]
            remedies: rules!(@table $module $($remedy)?),
        }),*];
    };
}

rules! {
    fault "fault" (Cause, Remedy),
    api_error "api-error" (Cause, Remedy),
    race "race" (Cause, Remedy),
    strided_access "strided-access",
    struct_fields "struct-fields",
    random_gather "random-gather",
    misaligned_access "misaligned-access",
    partial_warps "partial-warps" (Cause, Remedy),
    partial_write "partial-write",
    bank_conflict "bank-conflict",
    atomic_contention "atomic-contention",
    constant_serialised "constant-serialised",
    uniform_load "uniform-load",
    repeated_load "repeated-load",
    memory_accumulator "memory-accumulator",
    cache_sweep "cache-sweep",
    cache_thrash "cache-thrash",
    local_array "local-array",
    narrow_access "narrow-access" (Cause, Remedy),
    spill "spill",
    divergent_branch "divergent-branch",
    double_precision "double-precision",
    small_launch "small-launch" (Cause, Remedy),
    launch_overhead "launch-overhead" (Cause, Remedy),
    launch_tail "launch-tail" (Cause, Remedy),
    block_shape "block-shape" (Cause, Remedy),
    low_occupancy "low-occupancy" (Cause, Remedy),
    redundant_copy "redundant-copy" (Cause, Remedy),
    host_round_trip "host-round-trip" (Cause, Remedy),
    untouched_copy "untouched-copy" (Cause, Remedy),
    small_copies "small-copies" (Cause, Remedy),
    pageable_copy "pageable-copy" (Cause, Remedy),
    unused_allocation "unused-allocation" (Cause, Remedy),
    memory_leak "memory-leak" (Cause, Remedy),
    redundant_fill "redundant-fill" (Cause, Remedy),
    allocation_churn "allocation-churn" (Cause, Remedy),
    host_memory "host-memory" (Cause, Remedy),
    rank_imbalance "rank-imbalance" (Cause, Remedy),
}

/// The page of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Id of the rule.
    pub id: &'static str,
    /// The page, Markdown.
    pub text: &'static str,
}

impl Page {
    /// Its first sentence: what the rule finds.
    pub fn summary(&self) -> &'static str {
        let mut lines = self.text.lines().skip_while(|line| line.starts_with('#') || line.trim().is_empty());
        lines.next().unwrap_or_default()
    }
}

/// All pages, in the order of the rules.
pub fn pages() -> impl Iterator<Item = Page> {
    RULES.iter().map(|rule| Page { id: rule.id, text: rule.page })
}

/// Returns the message for an id that no finding has.
pub(crate) fn unknown(id: &str) -> String {
    let alike = crate::nearest::nearest(id, RULES.iter().map(|rule| rule.id));
    match alike.is_empty() {
        true => format!("`{id}` is no finding; `warpline explain` lists them"),
        false => format!("`{id}` is no finding; did you mean {}?", crate::nearest::listed(alike)),
    }
}
