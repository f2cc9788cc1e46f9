//! Allocations and copies.

use super::Figures;
use crate::row::table;

table! {
    /// A device allocation, or several that share a row as they have name, kind, path and size in common.
    struct AllocationRow<'a> = "allocations" {
        run: &'a str, "", "see `runs`";
        allocation: u64, "", "number";
        allocation_name: Option<&'a str>, "", "name of its variable";
        kind: &'a str, "", "`cudaMalloc`, ..., `device_global`, `constant`, `compiler`";
        size_bytes: u64, "bytes", "size, of all that share the row";
        count: u64, "allocations", "allocations that share the row";
        freed: bool, "", "freed before the end, all of them";
        live_at_once: u64, "allocations", "most from its call path that were live at a time; 0 where the path is not known";
        touched_bytes: u64, "bytes", "bytes of the sectors that kernels touched, each once";
        first_launch: Option<u64>, "", "number of the launch that follows its start";
        last_launch: Option<u64>, "", "number of the launch that follows its end";
        path: Option<u64>, "", "see `paths`: where it was made";
    }
    ..figures: Figures
}

table! {
    /// Copies or fills of an allocation from one place, of one direction.
    struct CopyRow<'a> = "copies" {
        run: &'a str, "", "see `runs`";
        allocation: u64, "", "see `allocations`";
        allocation_name: Option<&'a str>, "", "name of its variable";
        direction: &'a str, "", "`host_to_device`, `device_to_host`, `device_to_device`, `host_to_host` or `set`";
        copied_bytes: u64, "bytes", "all of them";
        copies: u64, "copies", "how many";
        unchanged_copies: u64, "copies", "of these, that brought nothing new";
        source_copies: u64, "copies", "of these, of which this is the source and other device memory the destination, which has them in a row of its own";
        first_launch: Option<u64>, "", "number of the launch that follows the first of them";
        last_launch: Option<u64>, "", "number of the launch that follows the last of them";
        host_name: Option<&'a str>, "", "name of the host allocation on the other side";
        path: Option<u64>, "", "see `paths`: where";
    }
}
