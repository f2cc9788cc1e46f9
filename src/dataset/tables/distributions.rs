//! Distributions: how far requests spread, and how soon memory is used again.

use crate::row::table;

table! {
    /// Requests of a memory instruction that touch so many pieces of memory.
    struct DivergenceRow<'a> = "divergence" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        site: u32, "", "see `sites`";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        op: &'a str, "", "`load`, `store` or `atomic`";
        space: &'a str, "", "`global`, `shared`, `local` or `constant`";
        piece_bytes: u64, "bytes", "size of a piece: 32 (sectors) or 128 (lines)";
        pieces: u64, "", "distinct pieces that a request touches";
        requests: u64, "requests", "requests that touch so many";
    }
}

table! {
    /// Uses of global memory by a memory instruction at distances up to a bound, in distinct elements, sectors or lines. Of the
    /// first model of a profile only.
    struct ReuseRow<'a> = "reuse" {
        run: &'a str, "", "see `runs`";
        kernel: u32, "", "see `kernels`";
        kernel_name: &'a str, "", "demangled name";
        site: u32, "", "see `sites`";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        op: &'a str, "", "`load`, `store` or `atomic`";
        granularity: &'a str, "", "`element`, `sector` or `line`";
        distance: Option<u64>, "", "greatest distance of the row; missing for first uses, whose distance is infinite";
        uses: u64, "uses", "uses at distances above the row before and up to this one";
    }
}
