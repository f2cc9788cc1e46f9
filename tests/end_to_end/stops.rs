//! `run --stop-at` and its kin: the program stops at each request of the user's choice, shows the right lanes and
//! paths, and gives the same results and the same profile as without.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;

fn source() -> PathBuf {
    root().join("tests/stops/accesses.cu")
}

/// Lines of the program by their marks.
fn marks() -> BTreeMap<String, u32> {
    let text = std::fs::read_to_string(source()).unwrap();
    let marked = (1..).zip(text.lines()).filter_map(|(number, line)| Some((line.split_once("MARK: ")?.1, number)));
    marked.map(|(mark, number)| (mark.to_owned(), number)).collect()
}

fn built(test: &str) -> (PathBuf, PathBuf) {
    let folder = work_folder(test);
    let executable = build(&[source()], &["-O2".to_owned(), "-g".to_owned()], &folder);
    (folder, executable)
}

fn profiled(folder: &Path, name: &str, executable: &Path, options: &[&str], arguments: &[&str]) -> (Outcome, Value) {
    let profile = folder.join(format!("{name}.wlprof"));
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("-o").arg(&profile).arg("--").arg(executable).args(arguments);
    let outcome = run(&mut command, folder, name);
    let mut command = Command::new(warpline());
    let report = run(command.arg("report").arg(&profile).args(["--format", "json"]), folder, "report");
    let mut document: Value = serde_json::from_str(&report.stdout).unwrap_or_else(|_| panic!("{}", outcome.describe()));
    document["run"]["environment"] = Value::Null;
    (outcome, document)
}

/// The stops that a run showed: their first lines and what follows.
fn stops(outcome: &Outcome) -> Vec<&str> {
    outcome.stderr.split("STOP ").skip(1).collect()
}

/// Rows of lanes: words of each.
fn lanes(stop: &str) -> Vec<Vec<&str>> {
    let table = stop.lines().skip_while(|line| !line.trim_start().starts_with("lane ")).skip(1);
    table.take_while(|line| !line.trim().is_empty()).map(|line| line.split_whitespace().collect()).collect()
}

fn fact<'a>(stop: &'a str, label: &str) -> &'a str {
    let line = stop.lines().find_map(|line| line.trim_start().strip_prefix(label));
    line.unwrap_or_else(|| panic!("no {label} in {stop}")).trim()
}

/// Requests of a line that the profile counts.
fn requests(document: &Value, line: u32) -> u64 {
    let sites = document["sites"].as_array().unwrap();
    let here = sites.iter().filter(|site| site["line"] == line);
    here.map(|site| site["metrics"]["requests"].as_u64().unwrap()).sum()
}

#[test]
fn each_request_of_a_line_stops_once_and_nothing_else_changes() {
    let (folder, executable) = built("stops_lines");
    let (plain, whole) = profiled(&folder, "plain", &executable, &[], &[]);
    for (mark, line) in marks() {
        if matches!(&mark[..], "calls" | "launch" | "stray") {
            continue;
        }
        let place = format!("accesses.cu:{line}");
        let options = ["--stop-at", &place, "--stop-count", "100000"];
        let (outcome, document) = profiled(&folder, &mark, &executable, &options, &[]);
        assert_eq!(stops(&outcome).len() as u64, requests(&whole, line), "{mark}: {}", outcome.describe());
        assert!(stops(&outcome).iter().all(|stop| stop.contains(&place)), "{mark}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, plain.stdout, "{mark}");
        assert_eq!(document, whole, "{mark}");
    }
}

#[test]
fn a_stop_shows_lanes_elements_and_paths() {
    let (folder, executable) = built("stops_shown");
    let marks = marks();
    let shown = |mark: &str| {
        let place = format!("accesses.cu:{}", marks[mark]);
        let (outcome, _) = profiled(&folder, mark, &executable, &["--stop-at", &place], &[]);
        // Without a terminal one stop is shown.
        assert_eq!(stops(&outcome).len(), 1, "{}", outcome.describe());
        stops(&outcome)[0].to_owned()
    };
    let fetch = shown("fetch");
    assert_eq!(fact(&fetch, "launch"), "#0, kinds<<<3, 64>>>");
    assert_eq!(fact(&fetch, "host"), format!("main (accesses.cu:{})", marks["launch"]));
    let (output, calls) = (marks["output"], marks["calls"]);
    let path =
        format!("kinds (accesses.cu:{output}) > twice (accesses.cu:{calls}) > fetch (accesses.cu:{})", marks["fetch"]);
    assert_eq!(fact(&fetch, "device"), path);
    assert!(fetch.contains("return from[index];"), "{fetch}");

    let unrolled = shown("unrolled");
    assert_eq!(fact(&unrolled, "touches"), "16 sectors of 32 bytes, 4 lines of 128; 16 bytes from lane to lane");
    for (lane, row) in lanes(&unrolled).iter().enumerate() {
        let byte = 16 * lane;
        assert_eq!(row[0], lane.to_string());
        assert_eq!(row[1], format!("({lane},0,0)"));
        assert_eq!(row[3..6], [byte.to_string(), (byte / 4).to_string(), "d_input".to_owned()]);
    }
    assert_eq!(lanes(&unrolled).len(), 32);

    let member = shown("member");
    assert!(member.contains("16 of 32 lanes active"), "{member}");
    let rows = lanes(&member);
    assert!(rows.iter().step_by(2).all(|row| row.last() == Some(&"(inactive)")), "{member}");
    // The line's first access is the one to shared memory.
    assert!(member.contains("shared load of 4 B, tile"), "{member}");
    assert_eq!(fact(&member, "banks"), "1 pass");
    assert_eq!(rows[7][3..7], ["28", "7", "7", "tile"]);
    let options = ["--stop-at-allocation", "d_bodies"];
    let (outcome, _) = profiled(&folder, "bodies", &executable, &options, &[]);
    let bodies = stops(&outcome)[0];
    assert!(bodies.contains("elements of Body, 8 B"), "{bodies}");
    assert_eq!(lanes(bodies)[7][3..6], ["60", "7.y", "d_bodies"]);

    let wide = shown("wide");
    assert!(wide.contains("store of 16 B, wide") && wide.contains("elements of float4, 16 B"), "{wide}");
    let atomic = shown("atomic");
    assert!(atomic.contains("atomic operation of 4 B, total"), "{atomic}");
    assert_eq!(lanes(&atomic)[5][5..], ["total", "(4", "B)"]);
}

#[test]
fn an_allocation_stops_at_all_its_lines_and_at_no_other() {
    let (folder, executable) = built("stops_allocation");
    let (plain, whole) = profiled(&folder, "plain", &executable, &[], &[]);
    for name in ["d_bodies", "d_input", "total"] {
        let options = ["--stop-at-allocation", name, "--stop-count", "100000"];
        let (outcome, document) = profiled(&folder, name, &executable, &options, &[]);
        let row = document["allocations"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
        let stops = stops(&outcome);
        assert_eq!(stops.len() as u64, row["metrics"]["requests"].as_u64().unwrap(), "{}", outcome.describe());
        assert!(stops.iter().all(|stop| stop.contains(&format!(" {name} ("))), "{}", outcome.stderr);
        assert_eq!((&outcome.stdout, &document), (&plain.stdout, &whole));
    }
}

#[test]
fn a_bad_access_stops_and_says_how_far_out_it_is() {
    let (folder, executable) = built("stops_fault");
    let stray = marks()["stray"];
    for check in ["stop", "report"] {
        let options = ["--stop-on", "fault", "--check", check, "--stop-count", "9"];
        let (outcome, _) = profiled(&folder, check, &executable, &options, &["176"]);
        let stops = stops(&outcome);
        assert_eq!(stops.len(), 1, "{}", outcome.describe());
        let stop = stops[0];
        assert!(stop.contains(&format!("accesses.cu:{stray}: global store of 4 B")), "{stop}");
        assert!(stop.contains("OUT OF BOUNDS") && stop.contains("strays<<<1, 32>>>"), "{stop}");
        // 192 elements, of which lanes 16 and up miss the end.
        let rows = lanes(stop);
        assert_eq!(rows[15][3..6], ["764", "191", "d_output"]);
        assert_eq!(rows[16][3..], ["768", "192", "0", "bytes", "PAST", "d_output", "(768", "B)"]);
        let error = if check == "stop" { "cudaErrorIllegalAddress" } else { "cudaSuccess" };
        assert!(outcome.stdout.contains(error), "{}", outcome.describe());
    }
    let (outcome, _) = profiled(&folder, "none", &executable, &["--stop-on", "fault"], &[]);
    assert!(outcome.stderr.contains("--stop-on fault: no bad access was found"), "{}", outcome.describe());
}

#[test]
fn what_never_comes_is_reported_with_what_there_is() {
    let (folder, executable) = built("stops_never");
    let options = ["--stop-at", "accesses.cu:1", "--stop-at", "other.cu:7", "--stop-at-allocation", "d_nothing"];
    let (outcome, _) = profiled(&folder, "never", &executable, &options, &[]);
    let stderr = &outcome.stderr;
    assert!(stops(&outcome).is_empty(), "{}", outcome.describe());
    assert!(
        stderr.contains("accesses.cu:1: no recorded request came there; recorded accesses of accesses.cu stand at")
    );
    assert!(stderr.contains("no recorded access stands in a file of that name (other.cu)"), "{stderr}");
    assert!(stderr.contains("d_nothing: no recorded request came to it; there are d_bodies, d_input"), "{stderr}");
    for (wrong, message) in [
        (&["--stop-at", "nonsense"][..], "`nonsense` is not a source position"),
        (&["--stop-count", "3"], "--stop-count needs --stop-at"),
        (&["--stop-on", "fault", "--device", "gpu-emulated"], "on the CPU device"),
        (&["--stop-on", "fault", "--children"], "leave --children out"),
    ] {
        let mut command = Command::new(warpline());
        let outcome = run(command.arg("run").args(wrong).arg("--").arg(&executable), &folder, "wrong");
        assert_eq!(outcome.status.code(), Some(2), "{}", outcome.describe());
        assert!(outcome.stderr.contains(message), "{}", outcome.describe());
    }
}

/// What `warpline run` shows in a terminal where these keys are typed.
fn in_a_terminal(folder: &Path, executable: &Path, keys: &str) -> (Option<i32>, String) {
    let place = format!("accesses.cu:{}", marks()["wide"]);
    let profile = folder.join("terminal.wlprof");
    let command =
        format!("{} run --stop-at {place} -o {} -- {}", warpline().display(), profile.display(), executable.display());
    let mut child = Command::new("script")
        .args(["-qfec", &command, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut typed = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut typed, keys.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn on_a_terminal_the_user_says_how_to_go_on() {
    let (folder, executable) = built("stops_terminal");
    // 12 requests: 2 launches of 3 blocks of 2 warps.
    let (code, text) = in_a_terminal(&folder, &executable, "n\nwhat\nn 3\n\nc\n");
    let numbers: Vec<&str> = text.split("STOP ").skip(1).map(|stop| stop.split(' ').next().unwrap()).collect();
    assert_eq!((code, numbers), (Some(0), vec!["1", "2", "3", "4"]), "{text}");
    assert!(text.contains("`what` is no answer") && text.contains("cudaSuccess"), "{text}");
    let blocks: Vec<&str> = text.lines().filter_map(|line| line.trim().strip_prefix("block ")).collect();
    assert_eq!(blocks.len(), 4, "{text}");
    // Ended by hand: as by a signal, and the profile reports it.
    let (code, text) = in_a_terminal(&folder, &executable, "q\n");
    assert_eq!(code, Some(128 + 15), "{text}");
    assert!(!text.contains("cudaSuccess") && text.contains("INCOMPLETE"), "{text}");
}
