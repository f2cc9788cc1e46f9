//! Launches.

use super::Figures;
use crate::row::table;

table! {
    /// A launch, or launches of one call path and shape that are summed up.
    struct LaunchRow<'a> = "launches" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        launch: u64, "", "number in the program, the first one's of several";
        launches: u64, "launches", "launches of the row";
        last: u64, "", "number of the last one of them";
        grid_x: Option<u32>, "blocks", "grid; missing where launches of the row differ";
        grid_y: Option<u32>, "blocks", "grid";
        grid_z: Option<u32>, "blocks", "grid";
        block_x: Option<u32>, "threads", "block; missing where launches of the row differ";
        block_y: Option<u32>, "threads", "block";
        block_z: Option<u32>, "threads", "block";
        dynamic_shared_bytes: Option<u32>, "bytes", "dynamic shared memory of a block";
        static_shared_bytes: u32, "bytes", "static shared memory of a block";
        registers: u32, "registers", "of a thread";
        resident_blocks: Option<u32>, "blocks", "blocks that share an SM in the model; missing for launches that are summed up";
        block_share: u64, "", "of every so many blocks one was recorded; 0: none";
        stream: Option<u32>, "", "CUDA stream, 0 the default; missing for launches that are summed up";
        error: Option<i64>, "", "CUDA error code; missing where it is not known or launches are summed up";
        failed: u64, "launches", "launches of the row that ended with an error";
        path: Option<u64>, "", "see `paths`: where it was made";
    }
}

table! {
    /// A memory space that a launch uses.
    struct LaunchMetricsRow<'a> = "launch_metrics" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        launch: u64, "", "see `launches`";
        space: &'a str, "", "`global`, `shared`, `local` or `constant`";
    }
    ..figures: Figures
}
