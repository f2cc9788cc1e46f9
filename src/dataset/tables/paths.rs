//! Call paths.

use crate::row::table;

table! {
    /// A node of the tree of call paths: a frame, and the node that called it.
    struct PathRow<'a> = "paths" {
        run: &'a str, "", "see `runs`";
        path: u64, "", "number of the node";
        parent: Option<u64>, "", "the caller's node; missing for outermost frames";
        depth: u64, "", "callers above it";
        function: &'a str, "", "demangled name";
        file: &'a str, "", "source file";
        line: u32, "", "source line";
        column: u32, "", "column in the line";
        text: &'a str, "", "the whole path, as `main a.cu:3 > f b.cu:7`; without its outer end where it is very long";
    }
}
