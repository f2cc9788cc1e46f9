//! Findings.

use crate::row::table;

table! {
    /// A finding. Those of a profile of several models are of the first one, and stand with it only.
    struct FindingRow<'a> = "findings" {
        run: &'a str, "", "see `runs`";
        position: u32, "", "from 1, what matters most first";
        finding: &'a str, "", "stable name of the rule";
        severity: &'a str, "", "`error`, `warning` or `note`";
        title: &'a str, "", "headline";
        cause: &'a str, "", "stable name of the cause, as in the finding's page";
        remedy: &'a str, "", "stable name of the suggested change, as in the finding's page";
        verified: bool, "", "the change was applied to the recorded addresses and counted again";
        kernel: Option<u32>, "", "see `kernels`; missing where it concerns the program";
        kernel_name: Option<&'a str>, "", "demangled name";
        file: &'a str, "", "source file; empty when unknown";
        line: u32, "", "source line; 0 unknown";
        column: u32, "", "column in the line; 0 unknown";
        allocation: Option<u64>, "", "see `allocations`";
        object: Option<&'a str>, "", "name of the array, member or allocation concerned";
        reason: &'a str, "", "what happens and why it costs";
        cure: &'a str, "", "what to do";
        evidence: &'a str, "", "the numbers that it is based on, as a JSON object";
        gain_factor: Option<f64>, "", "estimated time before over after, of the kernel or program";
        gain_seconds: Option<f64>, "seconds", "estimated to be saved over all launches";
    }
}
