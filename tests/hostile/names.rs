//! Names and source lines that would steer a terminal or break a table: none of them leaves Warpline as it is.

use std::path::Path;
use std::process::Command;

use crate::support::{TraceBuilder, demo};
use serde_json::Value;
use warpline::profile::Profile;
use warpline::profile::file::to_bytes;
use warpline_format::device::Device;
use warpline_format::event::{Allocation, AllocationKind, Event};
use warpline_format::site_table::SiteTable;
use warpline_format::visible::is_hidden;

/// Clears the screen, sets a title, rings, goes back, turns text around, ends lines in several ways, and is a formula's
/// begin.
const BAD: &str = "\x1b[2J\x1b]0;owned\x07\u{9b}31m\x08\r\n\t\0\x7f\u{202e}\u{2028}fn=x";

/// Those that are text.
const FORMATS: [&str; 13] = [
    "text",
    "brief",
    "brief-json",
    "json",
    "markdown",
    "csv",
    "html",
    "callgrind",
    "sarif",
    "hatchet",
    "folded",
    "speedscope",
    "tables",
];

fn warpline(folder: &Path, arguments: &[&str]) -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    // 7: the run had a fault.
    assert!(matches!(output.status.code(), Some(0 | 7)), "{arguments:?}: {output:?}");
    (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn assert_clean(what: &str, text: &str, tabs: bool) {
    let bad = |character: &char| is_hidden(*character) && *character != '\n' && !(tabs && *character == '\t');
    let found = text.char_indices().find(|(_, character)| bad(character));
    if let Some((at, character)) = found {
        let around: String = text[..at].chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("{what}: {character:?} behind {around:?}");
    }
}

/// Every form of report, without a hidden character, and with as many lines as it has `without` hostile names.
fn assert_reports_clean(folder: &Path, file: &str) {
    for format in FORMATS {
        let (report, printed) = warpline(folder, &["report", "--format", format, file]);
        // Source lines are indented by tabs.
        assert_clean(format, &report, matches!(format, "text" | "html"));
        assert_clean(format, &printed, false);
        if format == "csv" {
            let rows = csv::Reader::from_reader(report.as_bytes()).records().count();
            assert_eq!(report.lines().count(), rows + 1, "a name breaks a row:\n{report}");
        }
        if format == "callgrind" {
            assert!(!report.lines().any(|line| line.starts_with("fn=x")), "a name became a line:\n{report}");
        }
    }
    for chosen in [&["--all"][..], &["--kernel", "."], &["--top", "50"]] {
        let (report, printed) = warpline(folder, &[&["report", file], chosen].concat());
        assert_clean("a part of the report", &report, true);
        assert_clean("a part of the report", &printed, false);
    }
    for format in ["text", "json", "csv", "html"] {
        // A prediction may be refused: for example of a kernel that was stopped.
        let arguments = ["predict", file, "--kernel", ".", "--block", "64", "--format", format];
        let output = Command::new(env!("CARGO_BIN_EXE_warpline")).current_dir(folder).args(arguments).output().unwrap();
        assert_clean("predict", &String::from_utf8(output.stdout).unwrap(), false);
        assert_clean("predict", &String::from_utf8(output.stderr).unwrap(), false);
    }
    assert_recordings_clean(folder, file);
    let mut empty = warpline::profile::read(&folder.join(file)).unwrap();
    (empty.kernels, empty.lines, empty.allocations) = Default::default();
    warpline::profile::write(&empty, &folder.join("empty.wlprof")).unwrap();
    for format in ["text", "json", "markdown", "html"] {
        let (diff, printed) = warpline(folder, &["diff", "--all", "--format", format, file, "empty.wlprof"]);
        assert_clean(format, &diff, format != "json");
        assert_clean(format, &printed, false);
    }
}

/// The profile in a store, by the name of its program, its branch and label: its history, and a gate's result for
/// another.
fn assert_recordings_clean(folder: &Path, file: &str) {
    let store = folder.join(format!("{file}.store"));
    let requested = |arguments: &[&str], codes: &[i32]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
        command.current_dir(folder).args(arguments).arg("--store").arg(&store);
        let output = command.output().unwrap();
        assert!(output.status.code().is_some_and(|code| codes.contains(&code)), "{arguments:?}: {output:?}");
        assert_clean(arguments[0], &String::from_utf8(output.stdout).unwrap(), true);
        assert_clean(arguments[0], &String::from_utf8(output.stderr).unwrap(), true);
    };
    let branch = BAD.replace(['\0', '\n'], "");
    requested(
        &["record", file, "--commit", "1a2b3c", "--branch", &branch, "--name", "app", "--compiler", &branch],
        &[0],
    );
    for format in ["text", "json", "markdown", "html", "csv"] {
        requested(&["history", "--name", "app", "--format", format], &[0, 2]);
    }
    for format in ["text", "json", "markdown", "sarif"] {
        let gate = ["gate", file, "--baseline", &branch, "--name", "app", "--branch", &branch, "--format", format];
        requested(&gate, &[0, 2, 4, 5]);
    }
}

#[test]
fn what_is_typed_is_written_out() {
    for arguments in
        [&["report", "--\u{202e}\u{9b}31m"][..], &["gpus", "a", "b\u{202e}"], &["report", "--top=\u{202e}", "x"]]
    {
        let output = Command::new(env!("CARGO_BIN_EXE_warpline")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_clean("usage", &printed, false);
        assert!(printed.contains("\\u{202e}"), "{printed}");
    }
}

#[test]
fn names_of_files_stay_in_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let bad = "a\nwarpline: done\t\x1b[2Jb";
    std::fs::write(folder.path().join(bad), "no trace, profile or model").unwrap();
    let elsewhere = format!("{bad}/x.wlprof");
    for arguments in [
        &["report", bad][..],
        &["diff", bad, bad],
        &["merge", bad, "-o", "x"],
        &["sim", bad],
        &["compact", bad, "-o", "x.zst"],
        &["gpus", "./a\n.toml"],
        &["run", "-o", &elsewhere, "--", "true"],
        &["run", "--", bad],
        &["run", "--", "./no\nprogram"],
        &["predict", bad, "--kernel", "k"],
        &["report", "--format=a\nb", "x"],
        &["sim", &elsewhere],
    ] {
        let output =
            Command::new(env!("CARGO_BIN_EXE_warpline")).current_dir(&folder).args(arguments).output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{arguments:?}");
        let printed = String::from_utf8(output.stderr).unwrap();
        assert_clean("a message", &printed, false);
        assert!(printed.contains("a\\n") || printed.contains("no\\nprogram"), "{arguments:?}: {printed}");
        assert!(!printed.contains("\nwarpline: done"), "{arguments:?}: {printed}");
    }
}

#[test]
fn strings_of_models_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let bad = "\\u001b[2J\\n\\u202e";
    let text = std::fs::read_to_string("models/t4.toml").unwrap();
    let changed: String = text
        .lines()
        .map(|line| match line.split_once("= \"") {
            Some((key, rest)) if !line.contains("source") && !line.starts_with("key") => {
                format!("{key}= \"{bad}{rest}\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    std::fs::write(folder.path().join("bad.toml"), changed).unwrap();
    let (shown, printed) = warpline(folder.path(), &["gpus", "./bad.toml"]);
    assert!(shown.contains("\\x1b[2J\\n\\u{202e}"), "{shown}");
    assert_clean("gpus", &shown, false);
    assert_clean("gpus", &printed, false);
}

#[test]
fn names_in_traces_and_lines_of_sources_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("a.cu");
    let text = demo::SOURCE.replace("matrix[i * n + j]", &format!("matrix[i * n + j] /*{}*/", BAD.replace('\n', "")));
    std::fs::write(&source, &text).unwrap();
    let bad = |text: &mut String| text.push_str(BAD);
    for own_file in [true, false] {
        let mut table = demo::table(source.to_str().unwrap());
        table.digests = vec![Some(md5::compute(&text).0), None];
        let SiteTable { module, hash, functions, frames, globals, not_seen, files, .. } = &mut table;
        [module, hash].into_iter().for_each(bad);
        functions.iter_mut().for_each(|function| {
            bad(&mut function.name);
            bad(&mut function.mangled);
        });
        frames.iter_mut().for_each(|frame| bad(&mut frame.function));
        globals.iter_mut().for_each(|global| bad(&mut global.name));
        not_seen.iter_mut().for_each(|entry| bad(&mut entry.what));
        files.iter_mut().skip(usize::from(own_file)).for_each(|file| bad(&mut file.path));

        let mut trace = TraceBuilder::default();
        let device = Device { name: BAD.into(), ..Device::rtx_2080_ti() };
        trace.event(Event::Program { executable: format!("/a{BAD}"), arguments: vec![BAD.into()], device });
        trace.event(Event::Module { id: 0, site_table: table.to_bytes() });
        trace.event(Event::Object { id: 0, path: format!("/nowhere/{BAD}"), build_id: Vec::new() });
        trace.event(Event::Allocation(Allocation {
            id: 1,
            kind: AllocationKind::Malloc,
            address: demo::MATRIX,
            bytes: 1 << 20,
            name: Some(BAD.into()),
            path: 0,
            global: None,
        }));
        trace.event(Event::HostAllocation { id: 1, kind: BAD.into(), bytes: 1, name: Some(BAD.into()), path: 0 });
        trace.event(Event::Launch(demo::launch(0))).batch(0, &demo::batch());
        trace.event(demo::fault(0)).event(demo::end(0, 700)).event(Event::End { launches: 1 });
        std::fs::write(folder.path().join("a.wltrace"), trace.finish()).unwrap();
        let (_, printed) = warpline(folder.path(), &["sim", "a.wltrace", "-o", "out.wlprof"]);
        assert_clean("sim", &printed, false);
        assert!(printed.contains("\\x1b[2J"), "{printed}");
        assert_reports_clean(folder.path(), "out.wlprof");
        let (report, _) = warpline(folder.path(), &["report", "--format", "json", "out.wlprof"]);
        assert_eq!(report.contains("matrix[i * n + j] /*\\\\x1b[2J"), own_file, "{report}");
    }
}

/// Puts the bad name behind every string and key that can be any.
fn spoil(value: &mut Value) {
    match value {
        Value::String(text) if text != "warpline.profile" => text.push_str(BAD),
        Value::Array(items) => items.iter_mut().for_each(spoil),
        Value::Object(fields) => {
            let is_finding = fields.contains_key("cure");
            for (field, value) in fields {
                // These are one of a few words; anything else is no profile.
                let is_word = is_finding && ["severity", "confidence"].contains(&field.as_str())
                    || field == "merged" && value.is_string();
                if !(["thread_steps", "atomic", "decided_by"].contains(&field.as_str()) || is_word) {
                    spoil(value);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn names_in_profiles_are_written_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.wltrace"), demo::trace("/nowhere/columns.cu")).unwrap();
    warpline(folder.path(), &["sim", "a.wltrace", "-o", "out.wlprof"]);
    let (report, _) = warpline(folder.path(), &["report", "--format", "json", "out.wlprof"]);
    let mut document: Value = serde_json::from_str(&report).unwrap();
    let line = serde_json::json!({ "9": "\tsum += matrix[i];" });
    document["sources"] = serde_json::json!({ "/nowhere/columns.cu": line });
    spoil(&mut document);
    // One of three, not a text.
    for finding in document["findings"].as_array_mut().unwrap() {
        finding["severity"] = "warning".into();
    }
    let names = document["sources"].as_object_mut().unwrap();
    let lines = names.remove("/nowhere/columns.cu").unwrap();
    names.insert(format!("/nowhere/columns.cu{BAD}"), lines);
    let profile: Profile = serde_json::from_value(document).unwrap();
    std::fs::write(folder.path().join("bad.wlprof"), to_bytes(&profile)).unwrap();
    assert_reports_clean(folder.path(), "bad.wlprof");
}
