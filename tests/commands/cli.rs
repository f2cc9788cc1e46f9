//! The command line, with a stand-in for an instrumented program: this test executable itself.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;

use crate::support::demo;
use assert_cmd::assert::OutputAssertExt as _;
use warpline_format::event::{CallPathFrame, Event};
use warpline_format::options::{Options, Output, VARIABLE};
use warpline_format::ring::Ring;

fn warpline() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
    command.env_remove("WARPLINE_RUN").env_remove("NO_COLOR");
    default_signals(&mut command);
    command
}

/// Resets the handling of signals: a test under `nohup`, or in the background of a shell, inherits ignored ones.
fn default_signals(command: &mut Command) {
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, || {
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM, libc::SIGXCPU] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
}

/// What the stand-in does, by the variable that chooses it.
const ROLE: &str = "WARPLINE_TEST_ROLE";

/// Not a test: what `warpline run` starts. Writes the demo's trace into the ring and ends as its role requires.
#[test]
#[ignore = "started by the other tests"]
fn stand_in() {
    let Ok(role) = std::env::var(ROLE) else { return };
    if role == "deaf" {
        return;
    }
    let options = Options::decode(&std::env::var(VARIABLE).unwrap()).unwrap();
    let Output::Ring { descriptor, .. } = options.output else { panic!("no ring") };
    // SAFETY: the descriptor is the inherited ring; the mapping lives until the process ends.
    let ring = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        assert_eq!(libc::fstat(descriptor, &mut status), 0);
        let bytes = status.st_size as usize;
        let (read, write) = (libc::PROT_READ, libc::PROT_WRITE);
        let memory = libc::mmap(std::ptr::null_mut(), bytes, read | write, libc::MAP_SHARED, descriptor, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        Ring::new(memory.cast(), bytes)
    };
    ring.control().owner.store(std::process::id(), Ordering::Release);
    let trace = match role.as_str() {
        "garbage" => vec![0xa5; 5000],
        "fails early" => {
            let mut trace = crate::support::TraceBuilder::default();
            trace.event(Event::End { launches: 0 });
            trace.finish()
        }
        "large" => {
            let mut trace = crate::support::TraceBuilder::default();
            demo::begin(&mut trace, "/nowhere/columns.cu");
            let frame = |number| CallPathFrame { object: 0, offset: u64::MAX - number };
            trace.event(Event::Path { id: 1, frames: (0..2_500_000).map(frame).collect() });
            trace.event(Event::Launch(demo::launch(0))).batch(0, &demo::batch()).event(demo::end(0, 0));
            trace.event(Event::End { launches: 1 });
            trace.finish()
        }
        _ => demo::trace("/nowhere/columns.cu"),
    };
    let end = match role.as_str() {
        "killed" | "terminated" => trace.len() * 2 / 3,
        _ => trace.len(),
    };
    ring.write_all(&trace[..end], std::thread::yield_now);
    match role.as_str() {
        "killed" => std::process::abort(),
        "terminated" => {
            // Waits for the signal that `warpline run` gets.
            std::fs::write(std::env::var("WARPLINE_TEST_READY").unwrap(), "").unwrap();
            std::thread::sleep(std::time::Duration::from_secs(60));
        }
        _ => {}
    }
    ring.control().closed.store(1, Ordering::Release);
    std::process::exit(if role.starts_with("fails") { 3 } else { 0 });
}

fn run(role: &str, folder: &Path, options: &[&str]) -> Command {
    let mut command = warpline();
    command.current_dir(folder).env(ROLE, role).arg("run").args(["-o", "out.wlprof"]).args(options).arg("--");
    command.arg(std::env::current_exe().unwrap()).args(["--exact", "cli::stand_in", "--ignored"]);
    command
}

fn json(folder: &Path, file: &str) -> serde_json::Value {
    let output = warpline().current_dir(folder).args(["report", "--format", "json", file]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_run_is_profiled_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("good", folder.path(), &["--trace", "kept.wltrace", "--threads", "2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let profile = json(folder.path(), "out.wlprof");
    assert_eq!(profile["run"]["complete"], true);
    assert_eq!(profile["run"]["exit_code"], 0);
    assert_eq!(profile["kernels"][0]["launches"].as_array().unwrap().len(), 2);
    let kept = std::fs::read(folder.path().join("kept.wltrace")).unwrap();
    assert_eq!(kept, demo::trace("/nowhere/columns.cu"));
    // Nothing but the profile and the trace is left behind.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Pages and binary data are written to a terminal only with `-o -`.
#[test]
fn pages_are_not_written_to_terminals() {
    const ON_A_TERMINAL: &str = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let folder = tempfile::tempdir().unwrap();
    run("good", folder.path(), &[]).assert().success();
    let on_terminal = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.args(["-c", ON_A_TERMINAL, env!("CARGO_BIN_EXE_warpline"), "report", "out.wlprof"]).args(arguments);
        let output = command.current_dir(folder.path()).stdin(std::process::Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for (format, name) in [("html", "-o out.html"), ("pprof", "-o out.pb.gz"), ("perfetto", "-o out.pftrace")] {
        let (code, printed) = on_terminal(&["--format", format]);
        assert_eq!(code, Some(2), "{printed}");
        assert!(printed.contains(name) && printed.len() < 1000, "{printed}");
    }
    let (code, page) = on_terminal(&["--format", "html", "-o", "-"]);
    assert!(code == Some(0) && page.contains("</html>"), "{code:?}");
    assert_eq!(on_terminal(&["--format", "json"]).0, Some(0));
}

#[test]
fn ids_of_findings_are_suggested() {
    let output = warpline().args(["explain", "strided"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(printed.contains("`strided` is no finding; did you mean `strided-access`?"), "{printed}");
    let output = warpline().args(["explain", "xyz"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("`warpline explain` lists them"));
}

#[test]
fn reuse_distances_are_taken_as_requested() {
    let folder = tempfile::tempdir().unwrap();
    let printed = |options: &[&str]| {
        run("good", folder.path(), options).assert().success();
        let text = warpline().current_dir(folder.path()).args(["report", "--all", "out.wlprof"]).output().unwrap();
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        let heading = text.lines().find(|line| line.contains("REUSE")).map(str::to_owned);
        (json(folder.path(), "out.wlprof")["kernels"][0]["metrics"]["global"]["reuse"].clone(), heading)
    };
    let (exact, heading) = printed(&[]);
    assert!(exact["line"]["beyond"]["l1"].is_u64() && exact["element"]["beyond"].is_null(), "{exact}");
    assert_eq!(
        heading.unwrap(),
        "REUSE of loaded sectors within a thread block (a store begins anew; used once: of elements)"
    );
    let (of_sm, heading) = printed(&["--reuse-scope", "sm", "--restart", "off"]);
    assert!(of_sm["line"]["buckets"].is_array());
    assert_eq!(heading.unwrap(), "REUSE of loaded sectors within an SM (stores are uses; used once: of elements)");
    assert_eq!(printed(&["--reuse", "off"]), (serde_json::Value::Null, None));
}

#[test]
fn labels_are_kept_with_the_profile() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--trace", "kept.wltrace", "--label", "commit=1a2b3c", "--label", "branch=topic/a=b"];
    run("good", folder.path(), &options).assert().success();
    let labels = serde_json::json!({"commit": "1a2b3c", "branch": "topic/a=b"});
    assert_eq!(json(folder.path(), "out.wlprof")["run"]["environment"]["labels"], labels);
    let sim = ["sim", "kept.wltrace", "-o", "sim.wlprof", "--label", "commit=4d5e6f"];
    warpline().current_dir(folder.path()).args(sim).assert().success();
    let labels = serde_json::json!({"commit": "4d5e6f"});
    assert_eq!(json(folder.path(), "sim.wlprof")["run"]["environment"]["labels"], labels);
    let output = run("good", folder.path(), &["--label", "commit"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("NAME=VALUE"), "{}", stderr(&output));
}

#[test]
fn names_of_files_tell_processes_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = run("good", folder.path(), &["--trace", "rank%q{RANK}.wltrace"]);
    command.env("RANK", "3").assert().success();
    assert!(folder.path().join("rank3.wltrace").exists());
    let output = run("good", folder.path(), &["--trace", "%q{NO_SUCH_VARIABLE}"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("NO_SUCH_VARIABLE"), "{}", stderr(&output));
}

#[test]
fn threads_change_only_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let mut profiles = ["1", "2", "5"].map(|threads| {
        run("good", folder.path(), &["--threads", threads]).assert().success();
        json(folder.path(), "out.wlprof")
    });
    for profile in &mut profiles {
        profile["run"]["environment"] = serde_json::Value::Null;
    }
    assert_eq!(profiles[0], profiles[1]);
    assert_eq!(profiles[0], profiles[2]);
}

#[test]
fn the_program_s_exit_code_comes_through() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("fails", folder.path(), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let profile = json(folder.path(), "out.wlprof");
    assert_eq!((&profile["run"]["complete"], &profile["run"]["exit_code"]), (&true.into(), &3.into()));
}

#[test]
fn what_a_crashing_program_sent_is_kept_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("killed", folder.path(), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(128 + libc::SIGABRT), "{}", stderr(&output));
    assert!(stderr(&output).contains("SIGABRT"), "{}", stderr(&output));
    let profile = json(folder.path(), "out.wlprof");
    assert_eq!(profile["run"]["complete"], false);
    let requests = profile["kernels"][0]["metrics"]["global"]["requests"].as_u64().unwrap();
    assert!(requests > 0);
}

#[test]
fn a_signal_goes_on_to_the_program_and_the_profile_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let mut child = run("terminated", folder.path(), &[]).env("WARPLINE_TEST_READY", &ready).spawn().unwrap();
    while !ready.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // SAFETY: plain system call on a child that is not waited for yet.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    assert_eq!(child.wait().unwrap().code(), Some(128 + libc::SIGTERM));
    assert_eq!(json(folder.path(), "out.wlprof")["run"]["complete"], false);
}

#[test]
fn signals_leave_no_temporary_files() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let left = || std::fs::read_dir(&temporary).unwrap().count();
    let ready = folder.path().join("ready");
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGXCPU] {
        _ = std::fs::remove_file(&ready);
        let mut command = run("terminated", folder.path(), &["--gpu", "t4,v100"]);
        command.env("WARPLINE_TEST_READY", &ready).env("TMPDIR", &temporary).env_remove("XDG_RUNTIME_DIR");
        let mut child = command.spawn().unwrap();
        while !ready.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_ne!(left(), 0, "the trace for the second model, and a snapshot");
        // SAFETY: plain system call on a child that is not waited for yet.
        unsafe { libc::kill(child.id() as i32, signal) };
        assert_eq!(child.wait().unwrap().code(), Some(128 + signal));
        assert_eq!(left(), 0, "signal {signal}");
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGXCPU] {
        let mut command = warpline();
        command.args(["sim", "-"]).env("TMPDIR", &temporary).stdin(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Not all of it, so that it waits for the rest.
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), &demo::trace("/nowhere/columns.cu")).unwrap();
        while left() == 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // The file is made a moment before the signal is expected.
        std::thread::sleep(std::time::Duration::from_millis(50));
        // SAFETY: as above.
        unsafe { libc::kill(child.id() as i32, signal) };
        let status = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(signal), "{status}");
        assert_eq!(left(), 0, "signal {signal}");
    }
}

#[test]
fn a_program_that_writes_garbage_gives_a_marked_profile() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("garbage", folder.path(), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("not a Warpline trace"), "{}", stderr(&output));
    assert_eq!(json(folder.path(), "out.wlprof")["run"]["complete"], false);
}

#[test]
fn a_failure_before_the_first_kernel_offers_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("fails early", folder.path(), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("exit code 3 before its first kernel"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("next: "), "{}", stderr(&output));
    let output = run("fails", folder.path(), &[]).output().unwrap();
    assert!(stderr(&output).contains("next: warpline report out.wlprof"), "{}", stderr(&output));
}

#[test]
fn programs_that_cannot_be_profiled_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("deaf", folder.path(), &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
    assert!(stderr(&output).contains("warpline cc"), "{}", stderr(&output));
    assert!(!folder.path().join("out.wlprof").exists());
    for (arguments, code, message) in [
        (vec!["run", "--", "./no-such-program"], 127, "no such program"),
        (vec!["run", "--", "/"], 126, "cannot be executed"),
        (vec!["run", "-o", "/no/such/folder/x.wlprof", "--", "true"], 125, "Name another file with -o FILE"),
        (vec!["run", "-o", "/bin/true", "--", "true"], 2, "would be written over"),
        (vec!["run", "--trace", "/bin/true", "--", "/bin/true"], 2, "would be written over"),
        (vec!["run", "--trace", "/no/such/folder/x", "--", "true"], 125, "cannot write"),
        (vec!["run", "--device", "gpu", "--", "true"], 125, "warpline cc"),
        (vec!["run", "--gpu", "nonesuch", "--", "true"], 2, "unknown GPU model"),
        (vec!["run", "--blocks", "3", "--", "true"], 2, "1/16"),
        (vec!["run", "--mode", "counters", "--", "true"], 2, "--device gpu"),
        (vec!["run", "--device", "gpu", "--mode", "counters", "--blocks", "1/2", "--", "true"], 2, "--blocks"),
        (vec!["run", "--device", "gpu", "--mode", "counters", "--trace-values", "--", "true"], 2, "--trace-values"),
        (vec!["run", "--launches", "a", "--", "true"], 2, "0,3-5"),
        (vec!["run", "--kernels", "(", "--", "true"], 2, "regular expression"),
        (vec!["run"], 2, "PROGRAM"),
        (vec!["report", "x", "--format", "yaml"], 2, "invalid value 'yaml'"),
        (vec!["profile"], 2, "which sources"),
        (vec!["profile", "-c", "x.cu"], 2, "cannot be used here"),
        (vec!["frobnicate"], 2, "unrecognized subcommand"),
        (vec!["gpus", "nonesuch"], 2, "unknown GPU model"),
    ] {
        let output = warpline().current_dir(folder.path()).args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn unreadable_profiles_are_refused_with_their_name() {
    let folder = tempfile::tempdir().unwrap();
    run("good", folder.path(), &[]).assert().success();
    let good = std::fs::read(folder.path().join("out.wlprof")).unwrap();
    let mut newer = good.clone();
    newer[8] = 9;
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 4;
    for (name, bytes, message) in [
        ("empty", &b""[..], "it is empty"),
        ("trace", &demo::trace("/x")[..], "but a trace"),
        ("cut", &good[..good.len() / 2], "damaged profile"),
        ("newer", &newer[..], "newer"),
        ("flipped", &flipped[..], "checksum"),
    ] {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let output = warpline().current_dir(folder.path()).args(["report", name]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{name}");
        let text = stderr(&output);
        assert!(text.contains(message) && text.contains(name), "{name}: {text}");
    }
    let output = warpline().args(["report", "/no/such/file"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let output = warpline()
        .current_dir(folder.path())
        .args(["report", "out.wlprof", "--kernel", "nothing-like-it"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn full_disks_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let output = run("good", folder.path(), &["--trace", "/dev/full"]).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
    assert!(stderr(&output).contains("cut short"), "{}", stderr(&output));
    assert_eq!(json(folder.path(), "out.wlprof")["run"]["complete"], true);
    // What was measured goes to the folder for temporary files.
    let spare = tempfile::tempdir().unwrap();
    let mut command = warpline();
    command.env(ROLE, "good").env("TMPDIR", spare.path());
    command.args(["run", "-o", "/dev/full", "--"]).arg(std::env::current_exe().unwrap());
    let output = command.args(["--exact", "cli::stand_in", "--ignored"]).output().unwrap();
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
    assert!(stderr(&output).contains("/dev/full: cannot write"), "{}", stderr(&output));
    let kept = std::fs::read_dir(spare.path()).unwrap().next().unwrap().unwrap().path();
    assert!(stderr(&output).contains(&format!("the profile is in {} instead", kept.display())), "{}", stderr(&output));
    assert!(!warpline::profile::read(&kept).unwrap().kernels.is_empty());
}

#[test]
fn limits_on_file_sizes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    run("good", folder.path(), &[]).assert().success();
    let limited = |command: &str| {
        let script = format!("ulimit -f 1; {} {command}", env!("CARGO_BIN_EXE_warpline"));
        Command::new("bash").current_dir(folder.path()).args(["-c", &script]).output().unwrap()
    };
    let output = limited("run -o small.wlprof -- true");
    assert_eq!(output.status.code(), Some(125), "{}", stderr(&output));
    assert!(stderr(&output).contains("ulimit -f"), "{}", stderr(&output));
    let output = limited("report out.wlprof --format json -o out.json");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("out.json: cannot write"), "{}", stderr(&output));
}

#[test]
fn a_trace_that_cannot_be_compacted_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    run("good", folder.path(), &["--trace", "trace.wltrace"]).assert().success();
    let names = || {
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        files.collect::<std::collections::BTreeSet<_>>()
    };
    for name in ["again.wltrace", "again.zst"] {
        std::fs::write(folder.path().join(name), b"an earlier one").unwrap();
        let before = names();
        let script = format!("ulimit -f 0; {} compact trace.wltrace -o {name}", env!("CARGO_BIN_EXE_warpline"));
        let output = Command::new("bash").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(&format!("{name}: cannot write")), "{}", stderr(&output));
        assert_eq!(std::fs::read(folder.path().join(name)).unwrap(), b"an earlier one");
        assert_eq!(names(), before);
        let mut command = warpline();
        command.current_dir(folder.path()).args(["compact", "trace.wltrace", "-o", name]).assert().success();
        assert_eq!(names(), before);
        assert_ne!(std::fs::read(folder.path().join(name)).unwrap(), b"an earlier one");
    }
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for option in ["--help", "--version"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_warpline")).arg(option).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("cannot write to standard output"), "{}", stderr(&output));
    }
}

#[test]
fn a_further_model_without_room_for_the_trace_is_missing_for_the_true_reason() {
    let folder = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let run = |limit: &str, role: &str, more: &str| {
        let script = format!(
            "{limit} exec {} run --gpu rtx2080ti,a100,v100 {more} -o out.wlprof -- {} --exact cli::stand_in --ignored",
            env!("CARGO_BIN_EXE_warpline"),
            program.display()
        );
        let mut command = Command::new("bash");
        command.env(ROLE, role).env("TMPDIR", folder.path()).current_dir(folder.path()).args(["-c", &script]);
        command.output().unwrap()
    };
    let output = run("", "good", "");
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let place = format!("the trace is kept in {}, where ", folder.path().display());
    assert!(printed.contains(&place) && printed.contains("are free"), "{printed}");
    let profile = json(folder.path(), "out.wlprof");
    assert_eq!(profile["run"]["models"], serde_json::json!(["rtx2080ti", "a100", "v100"]));
    assert_eq!(profile["run"]["complete"], true);

    for (more, cure) in [("", "TMPDIR"), ("--trace kept.wltrace", "by --trace")] {
        let output = run("ulimit -f 20000;", "large", more);
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(125), "{printed}");
        let profile = json(folder.path(), "out.wlprof");
        assert_eq!(profile["run"]["models"], serde_json::json!(["rtx2080ti"]));
        assert_eq!(profile["run"]["complete"], false);
        let notes = profile["run"]["notes"].to_string();
        assert!(
            notes.contains("no figures for a100, v100: ") && notes.contains("cut short: File too large"),
            "{notes}"
        );
        assert!(notes.contains(cure) && printed.contains(cure), "{printed}");
    }
    // Nothing stays in the folder for temporary files.
    let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut left: Vec<String> = left.collect();
    left.sort();
    assert_eq!(left, ["kept.wltrace", "out.wlprof"]);
}

#[test]
fn two_processes_do_not_write_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wltrace");
    std::fs::write(&path, "of another").unwrap();
    let other = std::fs::File::open(&path).unwrap();
    other.try_lock().unwrap();
    let output = run("good", folder.path(), &["--trace", "a.wltrace"]).output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    assert!(stderr(&output).contains("another process is writing or reading it"), "{}", stderr(&output));
    assert_eq!(std::fs::read(&path).unwrap(), b"of another");
    drop(other);
    run("good", folder.path(), &["--trace", "a.wltrace"]).assert().success();
    let writer = std::fs::File::open(&path).unwrap();
    writer.try_lock().unwrap();
    let output = warpline().current_dir(folder.path()).args(["sim", "a.wltrace", "-o", "b.wlprof"]).output().unwrap();
    assert!(output.status.success() && stderr(&output).contains("still writing"), "{}", stderr(&output));
}

#[test]
fn a_trace_may_come_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let trace = demo::trace("/nowhere/columns.cu");
    std::fs::write(folder.path().join("a.wltrace"), &trace).unwrap();
    let shell = |script: &str| {
        let script = script.replace("warpline", env!("CARGO_BIN_EXE_warpline"));
        let output = Command::new("bash").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
        (output.status.code().unwrap(), stderr(&output))
    };
    assert_eq!(shell("warpline sim a.wltrace --gpu a100,v100 -o file.out").0, 0);
    let wanted = json(folder.path(), "file.out")["kernels"].clone();
    for (number, script) in [
        "cat a.wltrace | warpline sim - --gpu a100,v100 -o",
        "cat a.wltrace | warpline sim /dev/stdin --gpu a100,v100 -o",
        "warpline sim <(cat a.wltrace) --gpu a100,v100 -o",
        "mkfifo p; (cat a.wltrace > p &); warpline sim p --gpu a100,v100 -o",
    ]
    .iter()
    .enumerate()
    {
        let name = format!("{number}.out");
        let (code, printed) = shell(&format!("{script} {name}"));
        assert_eq!(code, 0, "{script}: {printed}");
        assert_eq!(json(folder.path(), &name)["kernels"], wanted, "{script}");
    }
    let (code, printed) = shell(&format!("head -c {} a.wltrace | warpline sim - -o cut.out", trace.len() / 2));
    assert_eq!(code, 7, "{printed}");
    let (code, printed) = shell("cat a.wltrace /dev/zero | timeout 20 warpline sim - -o zeros.out");
    assert!(matches!(code, 0 | 7), "{code} {printed}");
    let (code, printed) = shell("(head -c 200 a.wltrace; yes) | timeout 20 warpline sim - -o yes.out");
    assert_eq!(code, 7, "{printed}");
    for (script, what) in [
        ("warpline sim /dev/zero", "not a Warpline trace"),
        ("true | warpline sim -", "empty or shorter"),
        ("cat a.wltrace | TMPDIR=/no/such/folder warpline sim -", "TMPDIR"),
    ] {
        let (code, printed) = shell(script);
        assert!(matches!(code, 1 | 3) && printed.contains(what), "{script}: {code} {printed}");
    }
}

#[test]
fn devices_without_end_are_no_profiles() {
    let output = warpline().args(["report", "/dev/zero"]).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("not a Warpline profile"), "{}", stderr(&output));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    run("good", folder.path(), &[]).assert().success();
    let script = format!("{} report out.wlprof | true; exit ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_warpline"));
    Command::new("bash").current_dir(folder.path()).args(["-c", &script]).assert().success();
}

#[test]
fn exit_codes_hold_where_nothing_can_be_said() {
    let folder = tempfile::tempdir().unwrap();
    run("good", folder.path(), &[]).assert().success();
    for (line, code) in
        [("report none.wlprof", 3), ("report out.wlprof --ignore small-launch -o out.txt", 0), ("nonsense", 2)]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = warpline().current_dir(folder.path()).args(line.split(' ')).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(code), "{line}");
    }
}

#[test]
fn models_are_listed_and_shown() {
    warpline().arg("gpus").assert().success();
    let output = warpline().args(["gpus", "A100"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("108"));
    // The hierarchy, with its sources.
    assert!(text.contains("replacement") && text.contains("lru  [gpubench-latency]"), "{text}");
}

/// Counters as `ncu --csv` prints them for the demo's kernel.
fn counters(kernel: &str, launches: usize, loads: u64) -> String {
    let mut text = String::from("output of the program\n==PROF== Connected\n");
    text += "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";
    for launch in 0..launches {
        let name = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
        text += &format!("\"{launch}\",\"{kernel}\",\"{name}\",\"request\",\"{loads}\"\n");
    }
    text
}

#[test]
fn profiles_are_compared_with_counters() {
    let folder = tempfile::tempdir().unwrap();
    run("good", folder.path(), &[]).assert().success();
    let profile = json(folder.path(), "out.wlprof");
    let kernel = &profile["kernels"][0];
    let launches = kernel["launches"].as_array().unwrap().len();
    let sites = profile["sites"].as_array().unwrap().iter();
    let of_loads = sites.filter(|site| site["op"] == "load" && site["space"] == "global" && site["kernel"] == 0);
    let requests: u64 = of_loads.filter_map(|site| site["metrics"]["requests"].as_u64()).sum();
    let name = kernel["name"].as_str().unwrap();
    let validate = |text: &str| {
        std::fs::write(folder.path().join("counters.csv"), text).unwrap();
        let arguments = ["validate", "out.wlprof", "--counters", "counters.csv", "--format", "json"];
        warpline().current_dir(folder.path()).args(arguments).output().unwrap()
    };
    // Half as many as there were.
    let output = validate(&counters(name, launches, requests / launches as u64 / 2));
    assert!(output.status.success(), "{}", stderr(&output));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let figure = &document["programs"][0]["kernels"][0]["figures"][0];
    assert_eq!((figure["ours"].as_f64(), figure["error"].as_f64()), (Some(requests as f64), Some(100.0)));
    assert_eq!(document["summary"][0]["worst_kernel"], name);

    let output = validate(&counters(name, launches + 1, 1));
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("launches in the profile"), "{}", stderr(&output));
    let output = validate("==ERROR== ERR_NVGPUCTRPERM\n");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("counters.csv: no line begins with"), "{}", stderr(&output));
}

#[test]
fn what_validate_cannot_do_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str]| {
        let output = warpline().current_dir(folder.path()).arg("validate").args(arguments).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    assert_eq!(refused(&["a.wlprof"]).0, Some(2));
    assert_eq!(refused(&["a", "b", "--counters", "c"]).0, Some(2));
    let (code, text) = refused(&["--curves", "x.toml"]);
    assert!(code == Some(2) && text.contains("--device gpu"), "{text}");
    let (code, text) = refused(&["--program", "/no/such/program"]);
    assert!(code == Some(127) && text.contains("/no/such/program"), "{text}");
    let output = warpline().args(["validate", "--list-counters"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("dram__sectors_read.sum"));
}

#[test]
fn a_trace_from_a_gpu_is_reported_as_one() {
    let folder = tempfile::tempdir().unwrap();
    for (on_gpu, device) in [(false, "cpu"), (true, "gpu")] {
        let mut trace = crate::support::TraceBuilder::default();
        demo::begin(&mut trace, "/nowhere/columns.cu");
        if on_gpu {
            trace.event(Event::OnGpu);
        }
        trace.event(Event::Launch(demo::launch(0)));
        trace.batch(0, &demo::batch());
        trace.event(demo::end(0, 0)).event(Event::End { launches: 1 });
        std::fs::write(folder.path().join("a.wltrace"), trace.finish()).unwrap();
        warpline().current_dir(folder.path()).args(["sim", "a.wltrace", "-o", "out.wlprof"]).assert().success();
        assert_eq!(json(folder.path(), "out.wlprof")["run"]["device"], device);
    }
}

#[test]
fn completions_and_manual_pages_are_made_from_the_command_line() {
    for shell in ["bash", "zsh", "fish"] {
        let output = warpline().args(["completions", shell]).output().unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8_lossy(&output.stdout).contains("validate"), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    warpline().current_dir(folder.path()).args(["man", "share/man1"]).assert().success();
    let page = std::fs::read_to_string(folder.path().join("share/man1/warpline-run.1")).unwrap();
    assert!(page.contains(r"\-\-kernels"), "{page}");
    assert!(folder.path().join("share/man1/warpline.1").is_file());
}
