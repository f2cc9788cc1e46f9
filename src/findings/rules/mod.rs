//! One file per finding: its rule, its evidence and where its reasoning comes from.

pub(super) mod allocation_churn;
pub(super) mod api_error;
pub(super) mod atomic_contention;
pub(super) mod bank_conflict;
pub(super) mod block_shape;
pub(super) mod cache_sweep;
pub(super) mod cache_thrash;
pub(super) mod constant_serialised;
pub(super) mod divergent_branch;
pub(super) mod double_precision;
pub(super) mod fault;
pub(super) mod host_memory;
pub(super) mod host_round_trip;
pub(super) mod launch_tail;
pub(super) mod local_array;
pub(super) mod memory_accumulator;
pub(super) mod misaligned_access;
pub(super) mod narrow_access;
pub(super) mod pageable_copy;
pub(super) mod partial_warps;
pub(super) mod partial_write;
pub(super) mod race;
pub(super) mod random_gather;
pub(super) mod rank_imbalance;
pub(super) mod redundant_copy;
pub(super) mod repeated_load;
pub(super) mod small_copies;
pub(super) mod small_launch;
pub(super) mod spill;
pub(super) mod strided_access;
pub(super) mod struct_fields;
pub(super) mod uniform_load;
pub(super) mod untouched_copy;
pub(super) mod unused_allocation;

pub(super) use block_shape::Better;
