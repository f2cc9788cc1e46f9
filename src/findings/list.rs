//! All rules.

#[cfg(test)]
use super::diagnosis::{Described, Row};
use super::draft::Draft;
use super::facts::Facts;
use super::rules;

/// What a finding is about, which decides how it is rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// Its score is a share of the estimated time of kernels.
    KernelTime,
    /// How a kernel is written: of a library's kernel it is a note, as the user cannot change that.
    Code,
    /// A limit of the GPU: of a library's kernel it is reported only where the kernel waits for that.
    Limit,
    /// How a kernel is launched: it stands at the line of the launch.
    Launch,
    /// Launches that could be fewer: of a library's kernels the user can merge the calls.
    Calls,
}

/// A rule and its page.
pub(super) struct Rule {
    pub id: &'static str,
    pub about: &'static [About],
    pub page: &'static str,
    pub find: fn(&Facts<'_>) -> Vec<Draft>,
    /// Ids of its causes and remedies, with the names of their figures: a test compares them with the page.
    #[cfg(test)]
    pub causes: &'static [Row],
    #[cfg(test)]
    pub remedies: &'static [Row],
}

/// One line per rule: the module in `rules/`, the id, which is the page's name in `docs/findings/` too, the enums of causes and
/// remedies, and what it is about.
macro_rules! rules {
    (@table $module:ident) => { &[] };
    (@table $module:ident $type:ident) => { <rules::$module::$type as Described>::TABLE };
    ($($module:ident $id:literal $(($cause:ident, $remedy:ident))? [$($about:ident)*]),* $(,)?) => {
        pub(super) const RULES: &[Rule] = &[$(Rule {
            id: $id,
            about: &[$(About::$about),*],
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
    fault "fault" (Cause, Remedy) [],
    api_error "api-error" (Cause, Remedy) [],
    race "race" (Cause, Remedy) [],
    strided_access "strided-access" (Cause, Remedy) [KernelTime],
    struct_fields "struct-fields" (Cause, Remedy) [KernelTime],
    random_gather "random-gather" (Cause, Remedy) [KernelTime],
    misaligned_access "misaligned-access" (Cause, Remedy) [KernelTime],
    partial_warps "partial-warps" (Cause, Remedy) [KernelTime Code Launch],
    partial_write "partial-write" (Cause, Remedy) [KernelTime Code],
    bank_conflict "bank-conflict" (Cause, Remedy) [KernelTime Code Limit],
    atomic_contention "atomic-contention" (Cause, Remedy) [KernelTime Code Limit],
    constant_serialised "constant-serialised" (Cause, Remedy) [KernelTime Code],
    uniform_load "uniform-load" (Cause, Remedy) [KernelTime Code],
    repeated_load "repeated-load" (Cause, Remedy) [KernelTime Code],
    memory_accumulator "memory-accumulator" (Cause, Remedy) [KernelTime],
    cache_sweep "cache-sweep" (Cause, Remedy) [KernelTime],
    cache_thrash "cache-thrash" (Cause, Remedy) [KernelTime],
    local_array "local-array" (Cause, Remedy) [KernelTime Code],
    narrow_access "narrow-access" (Cause, Remedy) [KernelTime],
    spill "spill" (Cause, Remedy) [Code],
    divergent_branch "divergent-branch" (Cause, Remedy) [KernelTime],
    double_precision "double-precision" (Cause, Remedy) [],
    small_launch "small-launch" (Cause, Remedy) [KernelTime Code Launch Calls],
    launch_overhead "launch-overhead" (Cause, Remedy) [Code Calls],
    launch_tail "launch-tail" (Cause, Remedy) [KernelTime Code Launch],
    block_shape "block-shape" (Cause, Remedy) [],
    low_occupancy "low-occupancy" (Cause, Remedy) [Code Launch],
    redundant_copy "redundant-copy" (Cause, Remedy) [],
    host_round_trip "host-round-trip" (Cause, Remedy) [],
    untouched_copy "untouched-copy" (Cause, Remedy) [],
    small_copies "small-copies" (Cause, Remedy) [],
    pageable_copy "pageable-copy" (Cause, Remedy) [],
    unused_allocation "unused-allocation" (Cause, Remedy) [],
    memory_leak "memory-leak" (Cause, Remedy) [],
    redundant_fill "redundant-fill" (Cause, Remedy) [],
    allocation_churn "allocation-churn" (Cause, Remedy) [],
    host_memory "host-memory" (Cause, Remedy) [],
    rank_imbalance "rank-imbalance" (Cause, Remedy) [],
}

/// Whether the findings of a rule are about something.
pub(super) fn is_about(id: &str, about: About) -> bool {
    RULES.iter().any(|rule| rule.id == id && rule.about.contains(&about))
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
pub fn unknown(id: &str) -> String {
    let alike = crate::nearest::nearest(id, RULES.iter().map(|rule| rule.id));
    match alike.is_empty() {
        true => format!("`{id}` is no finding; `warpline explain` lists them"),
        false => format!("`{id}` is no finding; did you mean {}?", crate::nearest::listed(alike)),
    }
}
