//! Kernels and what they execute.

use super::Figures;
use crate::row::table;

table! {
    /// A kernel of a run.
    struct KernelRow<'a> = "kernels" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "number, in order of first launch";
        kernel_name: &'a str, "", "demangled name";
        mangled: &'a str, "", "mangled name";
        module: &'a str, "", "main source file of its module";
        file: &'a str, "", "where it is defined";
        line: u32, "", "where it is defined";
        launches: u64, "launches", "all launches";
        recorded_launches: u64, "launches", "those that the figures are of";
        instruction_warps: u64, "instructions", "executions of an instruction by a warp";
        instruction_lanes: u64, "instructions", "executions of an instruction by a lane";
        lane_slots_issued: u64, "lanes", "32 times the issued warp instructions";
        lane_slots_active: u64, "lanes", "of these, with an active lane";
        lane_slots_lost: u64, "lanes", "idle ones in blocks that a part of a warp's live lanes run: what divergence costs at most";
        spill_bytes: u32, "bytes", "spilled to local memory by the assembler, per thread";
        estimated_seconds: Option<f64>, "seconds", "what the model estimates for all launches";
        limiter: Option<&'a str>, "", "the part of the GPU that limits it, by the estimate";
        estimated_dram_bytes: Option<u64>, "bytes", "moved to and from device memory, in the estimate";
        ideal_seconds: Option<f64>, "seconds", "the estimate without a sector too many and without bank conflicts";
    }
}

table! {
    /// A memory space that a kernel uses.
    struct KernelMetricsRow<'a> = "kernel_metrics" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        space: &'a str, "", "`global`, `shared`, `local` or `constant`";
    }
    ..figures: Figures
}

table! {
    /// A class of instructions that a source line executes in a kernel.
    struct InstructionRow<'a> = "instructions" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        class: &'a str, "", "`fp32`, `int`, `memory`, ...";
        warps: u64, "instructions", "executions by a warp";
        lanes: u64, "instructions", "executions by a lane";
    }
}
