//! One file per finding, with its rule, causes and remedies, and the source of its reasoning.

use super::list::{About, Rule};

/// Declares the modules and the list of rules. Each line contains the module, the finding's id, which is also the name
/// of its page in `docs/findings/`, and the subject of the finding.
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
    host_access "host-access" [],
    race "race" [Order],
    stream_race "stream-race" [],
    float_exception "float-exception" [],
    uninitialised_read "uninitialised-read" [],
    strided_access "strided-access" [KernelTime],
    struct_fields "struct-fields" [KernelTime],
    random_gather "random-gather" [KernelTime],
    misaligned_access "misaligned-access" [KernelTime],
    partial_warps "partial-warps" [KernelTime Code Launch],
    partial_write "partial-write" [KernelTime Code],
    bank_conflict "bank-conflict" [KernelTime Code Limit Modelled],
    atomic_contention "atomic-contention" [KernelTime Code Limit Modelled],
    constant_serialised "constant-serialised" [KernelTime Code Modelled],
    uniform_load "uniform-load" [KernelTime Code],
    repeated_load "repeated-load" [KernelTime Code Modelled],
    memory_accumulator "memory-accumulator" [KernelTime],
    silent_store "silent-store" [KernelTime],
    redundant_values "redundant-values" [KernelTime],
    unread_result "unread-result" [KernelTime],
    cache_sweep "cache-sweep" [KernelTime Modelled],
    kernel_copy "kernel-copy" [KernelTime],
    cache_thrash "cache-thrash" [KernelTime Modelled],
    local_array "local-array" [KernelTime Code],
    narrow_access "narrow-access" [KernelTime],
    spill "spill" [Code],
    divergent_branch "divergent-branch" [KernelTime Inner],
    double_precision "double-precision" [],
    small_launch "small-launch" [KernelTime Code Launch Calls Modelled],
    launch_overhead "launch-overhead" [Code Calls Estimated],
    launch_tail "launch-tail" [KernelTime Code Launch Modelled],
    block_shape "block-shape" [Modelled],
    low_occupancy "low-occupancy" [Code Launch Modelled],
    redundant_copy "redundant-copy" [],
    host_round_trip "host-round-trip" [],
    untouched_copy "untouched-copy" [],
    small_copies "small-copies" [],
    pageable_copy "pageable-copy" [],
    unused_allocation "unused-allocation" [],
    memory_leak "memory-leak" [],
    redundant_fill "redundant-fill" [],
    allocation_churn "allocation-churn" [],
    host_memory "host-memory" [Modelled],
    rank_imbalance "rank-imbalance" [Estimated],
}
