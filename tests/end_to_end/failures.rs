//! Work that is missing is marked, whatever the cause: programs that fail in several ways, and the same programs when
//! they do not.

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Runs the program under `warpline run`; what it printed, the JSON document and the text report.
fn profiled(folder: &Path, executable: &Path, options: &[&str], arguments: &[&str]) -> (Outcome, Value, String) {
    let profile = folder.join("profile.wlprof");
    _ = std::fs::remove_file(&profile);
    let mut command = Command::new(warpline());
    command.arg("run").args(options).arg("-o").arg(&profile).arg("--").arg(executable).args(arguments);
    let outcome = run(&mut command, folder, "run");
    let json = run(Command::new(warpline()).args(["report", "--format", "json"]).arg(&profile), folder, "json");
    let text = run(Command::new(warpline()).arg("report").arg(&profile), folder, "text");
    let document = serde_json::from_str(&json.stdout).unwrap_or_else(|error| panic!("{error}: {}", outcome.describe()));
    (outcome, document, text.stdout)
}

/// The launches that are missing for a reason.
fn missing(document: &Value, what: &str) -> u64 {
    let rows = document["run"]["missing"].as_array().into_iter().flatten();
    rows.filter(|row| row["what"] == what).map(|row| row["launches"].as_u64().unwrap_or(0)).sum()
}

#[test]
fn a_kernel_that_ends_early_makes_the_profile_incomplete() {
    let folder = work_folder("ends_early");
    let executable = build(&[root().join("tests/failures/ends_early.cu")], &[], &folder);
    for (failure, reason) in [
        ("trap", "a trap in block 1 (CUDA error 719)"),
        ("assert", "a failed assert in block 1 (CUDA error 710)"),
        ("recursion", "a stack overflow in block 1 (CUDA error 700)"),
        ("stray", "an invalid memory access in block 1 (CUDA error 700)"),
    ] {
        // By the checks in hooked code, and by the processor's where the kernel is outside the filters.
        for options in [&[][..], &["--kernels", "fill"][..]] {
            let (outcome, document, text) = profiled(&folder, &executable, options, &[failure]);
            let described = outcome.describe();
            assert_eq!(outcome.status.code(), Some(0), "the program's own code: {described}");
            assert!(outcome.stdout.contains("done"), "{described}");
            assert_eq!(document["run"]["complete"], false, "{failure}: {described}");
            assert_eq!(missing(&document, "ended_early"), 1, "{failure}: {described}");
            assert_eq!(missing(&document, "after_stop"), 7, "{failure}: {described}");
            // Its work until then is no measure of its time.
            let estimated = |name: &str| {
                let rows = document["kernels"].as_array().into_iter().flatten();
                let mut rows = rows.filter(|row| row["name"].as_str().is_some_and(|full| full.starts_with(name)));
                rows.any(|row| row["estimates"].as_array().is_some_and(|estimates| !estimates.is_empty()))
            };
            assert!(estimated("fill(") && !estimated("fails("), "{failure}: {described}");
            assert!(outcome.stderr.contains(&format!("launch 1 of fails ended early: {reason}")), "{described}");
            assert!(outcome.stderr.contains("7 launches after launch 1 were refused"), "{described}");
            // The first paragraph reports it.
            let head: Vec<&str> = text.lines().take_while(|line| !line.starts_with("VERDICT")).collect();
            let head = head.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
            for part in
                ["INCOMPLETE", "1 launch ended early", "7 launches after that were refused", "not exact for fails"]
            {
                assert!(head.contains(part), "{part}: {text}");
            }
        }
        let by_hand = run(Command::new(&executable).env("WARPLINE", "0").arg(failure), &folder, "by-hand");
        let described = by_hand.describe();
        assert!(by_hand.stderr.contains("1 launch ended early, 7 launches after that were refused"), "{described}");
    }
    let (outcome, document, text) = profiled(&folder, &executable, &[], &["reset"]);
    assert_eq!(missing(&document, "ended_early"), 2, "{}", outcome.describe());
    assert_eq!(missing(&document, "after_stop"), 14, "{}", outcome.describe());
    assert!(text.contains("2 launches ended early"), "{text}");

    let (outcome, document, text) = profiled(&folder, &executable, &[], &["none"]);
    assert_eq!(document["run"]["complete"], true, "{}", outcome.describe());
    assert!(document["run"]["missing"].is_null() && !text.contains("ended early"), "{text}");
}

/// Numbers of the lines that end with this comment.
fn lines_with(source: &Path, comment: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(source).expect("the test's own source");
    (1u64..).zip(text.lines()).filter(|(_, line)| line.ends_with(comment)).map(|(number, _)| number).collect()
}

/// Kind and line of each bad access or barrier in the document.
fn faults(document: &Value) -> Vec<(String, u64)> {
    let rows = document["faults"].as_array().into_iter().flatten();
    rows.map(|row| (row["kind"].as_str().unwrap_or_default().to_owned(), row["frame"]["line"].as_u64().unwrap_or(0)))
        .collect()
}

#[test]
fn strays_in_local_and_shared_memory_and_divergent_barriers_are_reported() {
    let source = root().join("tests/failures/strays.cu");
    let text = std::fs::read_to_string(&source).expect("the test's own source");
    let bad = lines_with(&source, "// bad");
    let line_of = |kernel: &str| {
        let name = if kernel == "passed" { "void set(" } else { &format!("void {kernel}(") };
        let start = text.lines().position(|line| line.contains(name)).expect("a kernel of the program") as u64 + 1;
        *bad.iter().find(|line| **line > start).expect("a bad line")
    };
    for flags in [&[][..], &["-G".to_owned()][..]] {
        let folder = work_folder(if flags.is_empty() { "strays" } else { "strays_debug" });
        let executable = build(std::slice::from_ref(&source), flags, &folder);
        for (kernel, kind, described) in [
            ("constant", "local_out_of_bounds", "\n    offset 16 of "),
            ("behind", "local_out_of_bounds", "\n    offset 16 of "),
            ("below", "local_out_of_bounds", "12 bytes before the start of "),
            ("far", "local_out_of_bounds", "offset 16000000 of "),
            ("passed", "local_out_of_bounds", "is outside the stacks of all threads"),
            ("member", "local_out_of_bounds", "offset 40 of "),
            (
                "shared_below",
                "shared_out_of_bounds",
                "4 bytes before the start of the block's 256 bytes of shared memory",
            ),
            ("half_barrier", "divergent_barrier", "16 lanes of a warp reached it while 16 did not"),
            ("two_barriers", "divergent_barrier", "16 lanes of a warp reached it while 16 did not"),
            ("loop_barrier", "divergent_barrier", "4 lanes of a warp reached it while 28 did not"),
            ("skipping_warp", "different_barriers", "Warps of a block wait at different __syncthreads"),
            ("meeting_warps", "different_barriers", "Warps of a block wait at different __syncthreads"),
            ("skipped_round", "different_barriers", "Warps of a block wait at different __syncthreads"),
        ] {
            let stops = !kind.contains("barrier");
            let (outcome, document, text) = profiled(&folder, &executable, &[], &[kernel]);
            let all = format!("{kernel} {flags:?}: {}", outcome.describe());
            let found = faults(&document);
            assert!(found.contains(&(kind.to_owned(), line_of(kernel))), "{found:?} {all}");
            assert!(outcome.stderr.contains(described), "{all}");
            assert!(!outcome.stderr.contains("filters"), "{all}");
            assert!(text.contains(&format!("strays.cu:{}", line_of(kernel))), "{text}");
            assert_eq!(outcome.stdout.contains("cudaSuccess"), !stops, "{all}");
            assert_eq!(document["run"]["complete"], !stops, "{all}");
        }
        let (outcome, document, _) = profiled(&folder, &executable, &["--check", "report"], &["behind"]);
        assert!(
            outcome.stdout.contains("cudaSuccess") && document["run"]["complete"] == true,
            "{}",
            outcome.describe()
        );
        assert_eq!(faults(&document).len(), 1, "{}", outcome.describe());

        let (outcome, document, _) = profiled(&folder, &executable, &[], &["good"]);
        assert!(outcome.stdout.contains("cudaSuccess"), "{flags:?}: {}", outcome.describe());
        assert_eq!(faults(&document), [], "{flags:?}: {}", outcome.describe());
        // What the toolkit's headers do for a line is that line's, without optimisation, too.
        let sites = document["sites"].as_array().into_iter().flatten();
        let global: Vec<_> = sites.filter(|site| site["space"] == "global").collect();
        assert!(
            global.iter().all(|site| site["file"].as_str().is_some_and(|file| file.ends_with("strays.cu"))),
            "{flags:?}"
        );
        let atomics: Vec<_> = global.iter().filter(|site| site["op"] == "atomic").map(|site| &site["line"]).collect();
        assert_eq!(atomics, lines_with(&source, "// atomic"), "{flags:?}");
    }
}

#[test]
fn accesses_through_null_that_the_compiler_knows_are_reported() {
    let source = root().join("tests/failures/null.cu");
    for flags in ["-O2", "-G"] {
        let folder = work_folder(&format!("null{flags}"));
        let executable = build(std::slice::from_ref(&source), &[flags.to_owned()], &folder);
        for kernel in [
            "plain_write",
            "volatile_write",
            "plain_read",
            "element",
            "returned",
            "member",
            "branch",
            "inlined",
            "atomic",
            "one_lane",
            "shared_or_null",
            "zeroed",
            "cleared",
            "assigned",
            "partly",
            "table",
            "given",
        ] {
            let (outcome, document, _) = profiled(&folder, &executable, &[], &[kernel]);
            let all = format!("{kernel} {flags}: {}", outcome.describe());
            let line = lines_with(&source, &format!("// bad {kernel}"))[0];
            // Where the compiler takes it for a shared address, it is far outside the block's.
            let shared = kernel == "shared_or_null" && flags == "-O2";
            let kind = if shared { "shared_out_of_bounds" } else { "out_of_bounds" };
            assert_eq!(faults(&document), [(kind.to_owned(), line)], "{all}");
            assert!(outcome.stderr.contains("a null pointer") || shared, "{all}");
            assert!(outcome.stdout.contains("cudaErrorIllegalAddress"), "{all}");
        }
    }
}

#[test]
fn a_bad_access_is_reported_once_and_misalignment_only_where_it_is_looked_for() {
    let folder = work_folder("repeated");
    let source = root().join("tests/failures/repeated.cu");
    let executable = build(std::slice::from_ref(&source), &[], &folder);
    let (outcome, document, _) = profiled(&folder, &executable, &["--check", "report"], &["behind"]);
    let described = outcome.describe();
    assert!(outcome.stdout.contains("cudaSuccess"), "{described}");
    assert_eq!(faults(&document), [("out_of_bounds".to_owned(), lines_with(&source, "// bad")[0])], "{described}");
    assert_eq!(outcome.stderr.matches("Invalid write").count(), 1, "{described}");

    let (outcome, document, _) = profiled(&folder, &executable, &["--check", "off"], &["crooked"]);
    let described = outcome.describe();
    assert!(outcome.stdout.contains("cudaSuccess right"), "{described}");
    assert!(faults(&document).is_empty() && !outcome.stderr.contains("isaligned"), "{described}");
    let (outcome, document, _) = profiled(&folder, &executable, &[], &["crooked"]);
    let described = outcome.describe();
    assert!(outcome.stdout.contains("cudaErrorMisalignedAddress"), "{described}");
    assert_eq!(faults(&document).len(), 1, "{described}");
}

#[test]
fn writes_of_guarded_assembly_outside_arrays_are_held_back() {
    let folder = work_folder("guarded");
    let source = root().join("tests/failures/guarded.cu");
    for flags in ["-O2", "-O0"] {
        let executable = build(std::slice::from_ref(&source), &[flags.to_owned()], &folder);
        for (how, written) in [("plain", 0), ("store", 0), ("pair", 0), ("add", 0), ("half", 8)] {
            let (outcome, document, _) = profiled(&folder, &executable, &["--check", "report"], &[how]);
            let described = format!("{how} {flags}: {}", outcome.describe());
            let bad = lines_with(&source, &format!("// bad {how}"))[0];
            assert!(faults(&document).contains(&("out_of_bounds".to_owned(), bad)), "{described}");
            let expected = format!("cudaSuccess, 0 changed behind, {written} written inside");
            assert!(outcome.stdout.contains(&expected), "{described}");
        }
    }
}

/// A program that checks no errors goes on after them; its profile names each, and answers of queries are none.
#[test]
fn failed_calls_are_errors_at_their_lines() {
    let folder = work_folder("failed_calls");
    let source = root().join("tests/failures/failed_calls.cu");
    let executable = build(std::slice::from_ref(&source), &[], &folder);
    let (outcome, document, text) = profiled(&folder, &executable, &[], &[]);
    assert_eq!(outcome.stdout, "1\n", "{}", outcome.describe());
    let found: Vec<_> = (document["findings"].as_array().expect("findings").iter())
        .filter(|finding| finding["severity"] == "error")
        .map(|finding| (finding["id"].as_str(), finding["object"].as_str(), finding["line"].as_u64()))
        .collect();
    let line = |comment: &str| Some(lines_with(&source, comment)[0]);
    let wanted = [
        (Some("api-error"), Some("cudaLaunchKernel"), line("// refused")),
        (Some("api-error"), Some("cudaFree"), line("// freed twice")),
    ];
    assert_eq!(found, wanted, "{:#}", document["findings"]);
    let first = &document["findings"][0];
    assert_eq!((&first["cause"], &first["evidence"]["calls"]), (&"launch-refused".into(), &3.0.into()), "{first:#}");
    assert_eq!(document["failed_calls"].as_array().map(Vec::len), Some(2), "{:#}", document["failed_calls"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["3 launches were refused", "4 calls of CUDA's API failed", "2 errors"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let mut command = Command::new(warpline());
    command.args(["report", "--fail-on", "error"]).arg(folder.join("profile.wlprof"));
    let judged = run(&mut command, &folder, "judged");
    assert_eq!(judged.status.code(), Some(5), "{}", judged.describe());
}

#[test]
fn reads_just_outside_allocations_pass_where_a_gpu_lets_them_pass() {
    let folder = work_folder("slack");
    let source = root().join("tests/failures/slack.cu");
    let executable = build(std::slice::from_ref(&source), &[], &folder);
    let by_hand = |enabled: &str, off: &str| {
        let mut command = Command::new(&executable);
        if enabled == "1" {
            command.env("WARPLINE_TRACE", folder.join("slack.wltrace"));
        }
        run(command.arg(off), &folder, &format!("by_hand_{enabled}_{off}"))
    };
    for off in ["0", "64"] {
        for enabled in ["0", "1"] {
            let outcome = by_hand(enabled, off);
            assert!(outcome.stdout.contains("RIGHT"), "{enabled} {off}: {}", outcome.describe());
            let described =
                outcome.stderr.contains("A GPU would hardly notice") && outcome.stderr.contains("The read was done");
            assert_eq!(described, enabled == "1" && off == "64", "{}", outcome.describe());
        }
        for check in ["off", "report"] {
            let (outcome, document, _) = profiled(&folder, &executable, &["--check", check], &[off]);
            assert!(outcome.stdout.contains("RIGHT"), "{check} {off}: {}", outcome.describe());
            assert_eq!(document["run"]["complete"], true, "{}", outcome.describe());
        }
    }
    let (outcome, document, _) = profiled(&folder, &executable, &[], &["64"]);
    assert!(outcome.stdout.contains("cudaErrorIllegalAddress"), "{}", outcome.describe());
    assert!(outcome.stderr.contains("A GPU would hardly notice"), "{}", outcome.describe());
    assert_eq!(faults(&document), [("out_of_bounds".to_owned(), lines_with(&source, "// bad")[0])]);
    // What a GPU notices is noticed by all.
    for outcome in [by_hand("0", "100000000"), by_hand("1", "100000000")] {
        assert!(outcome.stdout.contains("cudaErrorIllegalAddress"), "{}", outcome.describe());
    }
    let (outcome, ..) = profiled(&folder, &executable, &["--check", "off"], &["100000000"]);
    assert!(outcome.stdout.contains("cudaErrorIllegalAddress"), "{}", outcome.describe());
}

#[test]
fn device_output_is_bounded_as_on_a_gpu_and_that_of_a_stopped_kernel_appears() {
    let folder = work_folder("prints");
    let executable = build(&[root().join("tests/failures/prints.cu")], &[], &folder);
    let printed = |how: &str| {
        let outcome = run(Command::new(&executable).env("WARPLINE", "0").arg(how), &folder, "prints");
        let lines = outcome.stdout.lines().count();
        (outcome, lines)
    };
    let (outcome, lines) = printed("");
    assert!((20_000..90_000).contains(&lines), "{lines} lines of 100000: {}", outcome.stderr);
    assert!(
        outcome.stdout.ends_with("line 99999 of many\n") && !outcome.stdout.contains("line 0 of"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains(&format!("{} calls of printf", 100_000 - lines)), "{}", outcome.stderr);
    for how in ["larger", "launches"] {
        let (outcome, lines) = printed(how);
        assert_eq!((lines, outcome.stderr.as_str()), (100_000, ""), "{how}");
    }
    let (outcome, _) = printed("stop");
    assert!(outcome.stdout.contains("printed before the end"), "{}", outcome.describe());
}

#[test]
fn processes_whose_work_is_not_in_the_profile_are_counted() {
    let folder = work_folder("other_processes");
    let executable = build(&[root().join("tests/programs/fork.cu")], &[], &folder);
    let (outcome, document, text) = profiled(&folder, &executable, &[], &[]);
    assert!(outcome.status.success(), "{}", outcome.describe());
    assert_eq!(document["run"]["complete"], false, "{}", outcome.describe());
    let note = "1 other process of this run used the device";
    assert!(outcome.stderr.contains(note) && text.contains(note), "{}", outcome.describe());
}

/// Launches and global requests of kernels, by the beginnings of their names.
fn work_of(document: &Value) -> Vec<(String, u64, u64)> {
    let rows = document["kernels"].as_array().into_iter().flatten();
    let mut found: Vec<_> = rows
        .map(|row| {
            let name = row["name"].as_str().unwrap_or_default().split('(').next().unwrap_or_default().to_owned();
            let requests = row["metrics"]["global"]["requests"].as_u64().unwrap_or(0);
            (name, row["launch_count"].as_u64().unwrap_or(0), requests)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn with_children_the_work_of_all_processes_is_in_the_profile() {
    let folder = work_folder("tree");
    let executable = build(&[root().join("tests/failures/tree.cu")], &[], &folder);
    let other = work_folder("tree_other");
    let other = build(&[root().join("tests/failures/tree_other.cu")], &[], &other).display().to_string();
    let profiled = |arguments: &[&str]| profiled(&folder, &executable, &["--children"], arguments);
    let add = |launches, blocks: u64| ("add".to_owned(), launches, 2 * blocks);

    // The same, whichever process comes first.
    let mut documents = Vec::new();
    for _ in 0..3 {
        let (outcome, mut document, text) = profiled(&["fork"]);
        let described = outcome.describe();
        assert!(outcome.status.success() && outcome.stdout.contains("PASS"), "{described}");
        assert_eq!(document["run"]["complete"], true, "{described}");
        assert_eq!(work_of(&document), [add(5, 1 + 2 + 3 + 4 + 10)], "{described}");
        let note = "the work of 5 processes is put together";
        assert!(text.contains(note) && outcome.stderr.contains(note), "{described} {text}");
        assert!(!outcome.stderr.contains("without a trace"), "{described}");
        document["run"]["environment"] = Value::Null;
        documents.push(document);
    }
    assert!(documents[0] == documents[1] && documents[1] == documents[2]);

    let own = executable.display().to_string();
    let (outcome, document, _) = profiled(&["start", &format!("{own} 7"), &other, &format!("{own} 3 && true"), "true"]);
    let described = outcome.describe();
    assert_eq!(document["run"]["complete"], true, "{described}");
    assert_eq!(work_of(&document), [add(3, 1 + 7 + 3), ("twice".to_owned(), 1, 4)], "{described}");
    let program = document["run"]["program"].as_array().expect("the program");
    assert!(
        program[0].as_str().is_some_and(|path| path.ends_with("/tree/program")) && program[1] == "start",
        "{program:?}"
    );

    // What a process did before it crashed is there; the profile states that more may be missing.
    let (outcome, document, _) = profiled(&["crash"]);
    let described = outcome.describe();
    assert!(outcome.status.success(), "{described}");
    assert_eq!(document["run"]["complete"], false, "{described}");
    assert_eq!(work_of(&document), [add(2, 4)], "{described}");

    let (outcome, document, _) = profiled(&["late"]);
    let described = outcome.describe();
    assert_eq!(document["run"]["complete"], false, "{described}");
    assert_eq!(work_of(&document), [add(1, 1)], "{described}");
    assert!(outcome.stderr.contains("1 process was forked from one that used the device already"), "{described}");

    // A single process has the profile that it has without the option.
    let (outcome, document, text) = profiled(&["6"]);
    assert_eq!(work_of(&document), [add(1, 6)], "{}", outcome.describe());
    assert!(!text.contains("put together"), "{text}");

    let mut command = Command::new(warpline());
    command.args(["run", "--children", "--trace", "one.wltrace", "--"]).arg(&executable);
    let refused = run(&mut command, &folder, "refused");
    assert!(refused.status.code() == Some(2) && refused.stderr.contains("--trace writes the trace of one process"));

    // A process that outlives the program: what it did until then is there.
    let (outcome, document, _) = profiled(&["outlive"]);
    let described = outcome.describe();
    assert_eq!(document["run"]["complete"], false, "{described}");
    assert_eq!(work_of(&document), [add(2, 3)], "{described}");
    assert!(outcome.stderr.contains("a further process still ran when the program was over"), "{described}");
}

#[test]
fn a_trace_that_outgrows_the_limit_on_file_sizes_does_not_end_the_program() {
    let folder = work_folder("outgrown_trace");
    let executable = build(&[root().join("tests/failures/ends_early.cu")], &[], &folder);
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 4; exec \"$0\" none"]).arg(&executable).current_dir(&folder);
    let outcome = run(command.env("WARPLINE_TRACE", "."), &folder, "by-hand");
    let described = outcome.describe();
    assert_eq!(outcome.status.code(), Some(0), "{described}");
    assert!(outcome.stdout.contains("done"), "{described}");
    assert!(
        outcome.stderr.contains("cannot write the trace") && outcome.stderr.contains("File too large"),
        "{described}"
    );
}
