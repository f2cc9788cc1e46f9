//! Many profiles and traces through Dask: `tests/cluster/` holds the tests in Python, which run here with the Dask that
//! `scripts/setup.sh --tests` fetches.

mod support_programs;

use std::path::PathBuf;
use std::process::Command;
use support_programs::{root, warpline, warpline_cc};

/// The version that is tested; `scripts/` pins it by content.
const DASK: &str = "2026.8.0";

/// Where `scripts/setup.sh` puts it.
fn wheels() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let home = || PathBuf::from(std::env::var_os("HOME").expect("HOME is set")).join(".cache");
    let folder = cache.unwrap_or_else(home).join("warpline").join(format!("cluster-{DASK}"));
    assert!(folder.is_dir(), "{} is missing: run scripts/setup.sh --tests", folder.display());
    folder
}

/// Runs a module of tests; `kills` of each kind.
fn python(module: &str, kills: u32) {
    let binaries = warpline_cc().parent().expect("a binary lies in a folder");
    assert_eq!(warpline().parent(), Some(binaries), "warpline and warpline-cc lie in one folder");
    let search = std::env::join_paths([root().join("python"), wheels()]).expect("paths without colons");
    let output = Command::new("python3")
        .args(["-W", "ignore", "-m", "unittest", module])
        .current_dir(root().join("tests/cluster"))
        .env("PYTHONPATH", search)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("WARPLINE_BIN", binaries)
        .env("WARPLINE_CLUSTER_KILLS", kills.to_string())
        // Processes start slowly where many tests run.
        .env("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "180s")
        .output()
        .expect("python3 starts");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{module}:\n{printed}\n{}", String::from_utf8_lossy(&output.stdout));
    assert!(printed.contains("\nOK"), "no tests ran: {printed}");
    eprintln!("{printed}");
}

#[test]
fn results_are_those_of_one_process_and_are_kept() {
    python("test_results", 0);
}

#[test]
fn nothing_finished_is_lost_when_somebody_is_killed() {
    python("test_kills", 1);
}

/// Workers, the scheduler and the client, at twenty moments each.
#[test]
#[ignore = "test-all"]
fn nothing_finished_is_lost_at_twenty_moments() {
    python("test_kills", 20);
}
