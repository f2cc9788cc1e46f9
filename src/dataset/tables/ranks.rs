//! How figures differ from rank to rank.

use crate::row::table;

table! {
    /// A figure of a place over the ranks that have the place, in profiles merged from several ranks.
    struct RankStatisticRow<'a> = "rank_statistics" {
        run: &'a str, "", "see `runs`";
        place: &'a str, "", "what it is of: `kernel`, `path` (launches of a kernel from a host call path), `line`, `site` or `allocation` (all of a name)";
        kernel: Option<u32>, "", "see `kernels`; missing for allocations";
        kernel_name: Option<&'a str>, "", "demangled name";
        file: Option<&'a str>, "", "source file of a line or site";
        line: Option<u32>, "", "source line of a line or site";
        site: Option<u32>, "", "see `sites`";
        path: Option<u64>, "", "see `paths`: the host call path";
        allocation_name: Option<&'a str>, "", "name of the variable of allocations";
        space: Option<&'a str>, "", "`global`, `shared`, `local` or `constant`; missing for figures of none";
        figure: &'a str, "", "`sectors`, `l1.hits`, `launches`, `estimate.picoseconds`, `size`, ...";
        ranks: u64, "ranks", "those that have the place";
        sum: Option<u64>, "", "over them; missing where it is larger than 64 bits hold";
        least: u64, "", "least";
        least_rank: u32, "", "lowest rank that has it";
        mean: f64, "", "mean over them";
        most: u64, "", "greatest";
        most_rank: u32, "", "lowest rank that has it";
        stddev: f64, "", "standard deviation of the population";
    }
}
