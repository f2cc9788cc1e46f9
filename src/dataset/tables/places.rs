//! Source lines, instructions and what they touch.

use super::Figures;
use crate::row::table;

table! {
    /// A source line in a kernel and memory space.
    struct LineRow<'a> = "lines" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        source: Option<&'a str>, "", "text of the line, where the profile has it";
        space: &'a str, "", "`global`, `shared`, `local` or `constant`";
    }
    ..figures: Figures
}

table! {
    /// A memory instruction in a kernel and memory space.
    struct SiteRow<'a> = "sites" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        site: u32, "", "number in its module; may repeat with another kernel or space";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        column: u32, "", "column in the line";
        function: &'a str, "", "function that it stands in";
        op: &'a str, "", "`load`, `store` or `atomic`";
        space: &'a str, "", "`global`, `shared`, `local` or `constant`";
        width_bytes: u32, "bytes", "accessed by a lane";
        library: bool, "", "inside libdevice or another library";
        approximate: bool, "", "the position is the nearest known one";
        variable: Option<&'a str>, "", "variable that the address comes from";
        member: Option<&'a str>, "", "member that is accessed, as `.velocity.x`";
        stride_bytes: Option<i64>, "bytes", "from one lane to the next in most of the strided requests";
    }
    ..figures: Figures
}

table! {
    /// An allocation that a memory instruction touches. A request that spans several allocations counts for each of
    /// them.
    struct AccessRow<'a> = "accesses" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        site: u32, "", "see `sites`";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        column: u32, "", "column in the line";
        op: &'a str, "", "`load`, `store` or `atomic`";
        space: &'a str, "", "`global` or `constant`";
        allocation: Option<u64>, "", "see `allocations`; missing where no live allocation was touched";
        allocation_name: Option<&'a str>, "", "name of its variable";
    }
    ..figures: Figures
}

table! {
    /// A call path to a memory instruction, from the kernel down.
    struct ContextRow<'a> = "contexts" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        site: u32, "", "see `sites`";
        op: &'a str, "", "`load`, `store` or `atomic`";
        space: &'a str, "", "`global`, `shared`, `local` or `constant`";
        path: u64, "", "see `paths`: device calls and inlined functions, the kernel first";
    }
    ..figures: Figures
}

table! {
    /// Conditional branch or switch.
    struct BranchRow<'a> = "branches" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        column: u32, "", "column in the line";
        executions: u64, "executions", "times a warp reached it";
        divergent: u64, "executions", "of these, with lanes that left by two or more sides";
        sides: u64, "", "ways out";
        lanes: u64, "lanes", "lanes that reached it, summed";
        first_side_lanes: u64, "lanes", "of these, that left where the condition holds, or by a switch's default";
        idle_lane_slots: u64, "lanes", "lane slots that stay idle because of it, at most";
    }
}

table! {
    /// Basic block. The branches that decide over it stand in `branches`.
    struct BlockRow<'a> = "blocks" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        file: &'a str, "", "source file";
        line: u32, "", "source line that it begins on";
        kernel_line: Option<u32>, "", "line of the kernel itself that it stands on, or that calls what it stands in; missing where unknown";
        executions: u64, "executions", "times a warp ran it";
        partial: u64, "executions", "of these, with fewer lanes than the warp had live";
        lanes: u64, "lanes", "lanes that ran it, summed";
        lanes_lost: u64, "lanes", "of the 32 of each execution those that did not run it, summed";
        instructions: u64, "instructions", "of one execution";
        warps: Option<u64>, "warps", "warps that ran it; missing if the device does not report them";
        divergent_warps: Option<u64>, "warps", "of these, whose lanes, summed over all executions, are no multiple of 32";
        partial_warps: Option<u64>, "warps", "of these, with an execution by fewer lanes than the warp had live";
    }
}
