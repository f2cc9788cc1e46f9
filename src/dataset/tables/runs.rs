//! What was run.

use crate::row::table;

table! {
    /// A run is a profile on one of its GPU models. A profile with several models has one run per model. Each of these
    /// runs contains the counted figures, as if the profile had been recorded for that model alone.
    struct RunRow<'a> = "runs" {
        run: &'a str, "", "name of the run, the same in all tables: what the profile holds, and the model";
        profile: &'a str, "", "name of the profile: what it holds";
        first_model: bool, "", "the profile's first model, whose order of blocks and warps it follows";
        executable: Option<&'a str>, "", "executable of the program";
        arguments: &'a str, "", "its arguments, as a JSON list";
        device: &'a str, "", "`cpu` or `gpu`";
        mode: &'a str, "", "`trace`, or `counters` where a GPU counted requests by instruction";
        complete: bool, "", "the program was seen to its end";
        sampled: bool, "", "only a share of the launches or blocks was recorded";
        dropped_records: u64, "records", "records that the user allowed to drop";
        exit_code: Option<i64>, "", "exit code of the program";
        architectures: &'a str, "", "architectures that the code was built for, as `75 86`";
        rank_count: Option<u64>, "ranks", "ranks of the program that it was one of";
        node: Option<&'a str>, "", "machine, by the launcher's name or its own";
        launcher: Option<&'a str>, "", "what started the ranks";
        labels: &'a str, "", "labels, as a JSON object";
        assumptions: &'a str, "", "what the figures are based on, as a JSON object";
        versions: &'a str, "", "releases of the tools, as a JSON object";
        command: &'a str, "", "command line, as a JSON list";
        notes: &'a str, "", "what a reader should know, as a JSON list";
        date: Option<&'a str>, "", "start, as `2026-11-20T19:00:00Z`";
        program_seconds: Option<f64>, "seconds", "wall-clock time of the program";
        analysis_seconds: Option<f64>, "seconds", "wall-clock time of the analysis";
    }
}
