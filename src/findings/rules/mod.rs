//! One file per finding: its rule, its causes and remedies, and where its reasoning comes from.

use super::list::{About, Rule};

/// Declares the modules and the list of rules. A line has the module, the finding's id, which is the name of its page in
/// `docs/findings/` too, and what it is about.
macro_rules! rules {
    ($($module:ident $id:literal [$($about:ident)*]),* $(,)?) => {
        $(mod $module;)*

        pub(super) const RULES: &[Rule] = &[$(Rule {
            id: $id,
            about: &[$(About::$about),*],
            page: include_str!(concat!("../../../docs/findings/", $id, ".md")),
            find: $module::find,
            #[cfg(test)]
            causes: <$module::Cause as super::diagnosis::Described>::TABLE,
            #[cfg(test)]
            remedies: <$module::Remedy as super::diagnosis::Described>::TABLE,
        }),*];
    };
}

rules! {
    fault "fault" [],
    api_error "api-error" [],
    race "race" [Order],
    float_exception "float-exception" [],
    uninitialised_read "uninitialised-read" [],
    strided_access "strided-access" [KernelTime],
    struct_fields "struct-fields" [KernelTime],
    random_gather "random-gather" [KernelTime],
    misaligned_access "misaligned-access" [KernelTime],
    partial_warps "partial-warps" [KernelTime Code Launch],
    partial_write "partial-write" [KernelTime Code],
    bank_conflict "bank-conflict" [KernelTime Code Limit],
    atomic_contention "atomic-contention" [KernelTime Code Limit],
    constant_serialised "constant-serialised" [KernelTime Code],
    uniform_load "uniform-load" [KernelTime Code],
    repeated_load "repeated-load" [KernelTime Code],
    memory_accumulator "memory-accumulator" [KernelTime],
    cache_sweep "cache-sweep" [KernelTime],
    cache_thrash "cache-thrash" [KernelTime],
    local_array "local-array" [KernelTime Code],
    narrow_access "narrow-access" [KernelTime],
    spill "spill" [Code],
    divergent_branch "divergent-branch" [KernelTime Inner],
    double_precision "double-precision" [],
    small_launch "small-launch" [KernelTime Code Launch Calls],
    launch_overhead "launch-overhead" [Code Calls],
    launch_tail "launch-tail" [KernelTime Code Launch],
    block_shape "block-shape" [],
    low_occupancy "low-occupancy" [Code Launch],
    redundant_copy "redundant-copy" [],
    host_round_trip "host-round-trip" [],
    untouched_copy "untouched-copy" [],
    small_copies "small-copies" [],
    pageable_copy "pageable-copy" [],
    unused_allocation "unused-allocation" [],
    memory_leak "memory-leak" [],
    redundant_fill "redundant-fill" [],
    allocation_churn "allocation-churn" [],
    host_memory "host-memory" [],
    rank_imbalance "rank-imbalance" [],
}
