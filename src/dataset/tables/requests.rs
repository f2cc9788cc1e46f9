//! Requests of a trace, one by one.

use crate::row::table;

table! {
    /// A request: one execution of a memory instruction by a warp. Of kept traces, if `--requests` is given.
    struct RequestRow<'a> = "requests" {
        run: &'a str, "", "see `runs`";
        launch: u64, "", "number in the program; see `launches`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        block: u64, "", "linear number in the grid, x fastest";
        warp: u32, "", "number in the block";
        site: u32, "", "see `sites`";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        op: &'a str, "", "`load`, `store` or `atomic`";
        space: &'a str, "", "`global`, `shared`, `local` or `constant`";
        mask: u32, "", "active lanes, a bit each";
        lanes: u32, "lanes", "how many they are";
        bytes: u64, "bytes", "useful bytes of the active lanes";
        sectors: u32, "sectors", "distinct 32-byte sectors";
        lines_touched: u32, "", "distinct 128-byte lines";
        ideal_sectors: u32, "sectors", "sectors that the distinct bytes would fill";
        allocation: Option<u64>, "", "see `allocations`: that of the first active lane; missing for shared and local memory, and where none is live";
        allocation_name: Option<&'a str>, "", "name of its variable";
        first_address: u64, "", "address of the first active lane: in shared memory from the block's, in local memory from the lane's";
        stride_bytes: Option<i64>, "bytes", "from one lane to the next, if the trace marks it as the same for all; 0 for one address";
    }
}
