//! Elements that are rounded to a smaller type (`--what-if-type`), against errors that follow from the program.

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

const N: usize = 1000;

fn program(folder: &Path) -> PathBuf {
    build(&[root().join("tests/programs/rounded_values.cu")], &["-O2".to_owned()], folder)
}

fn start(folder: &Path, program: &Path, types: &[&str], name: &str) -> Outcome {
    start_with(folder, program, &[], types, name)
}

fn start_with(folder: &Path, program: &Path, options: &[&str], types: &[&str], name: &str) -> Outcome {
    let mut command = Command::new(warpline());
    command.args(["run", "--l2-copies", "cold"]).args(options);
    types.iter().for_each(|ty| _ = command.args(["--what-if-type", ty]));
    let outcome = run(command.args(["-o", name, "--"]).arg(program), folder, "run");
    assert!(outcome.status.success() && outcome.stdout.contains("PASS"), "{}", outcome.describe());
    outcome
}

fn profile(folder: &Path, name: &str) -> Value {
    let json = run(Command::new(warpline()).args(["report", "--format", "json", name]), folder, "report");
    serde_json::from_str(&json.stdout).expect("JSON")
}

/// The row of an allocation.
fn rounded<'a>(profile: &'a Value, name: &str) -> &'a Value {
    let allocations = profile["allocations"].as_array().expect("allocations");
    let id = &allocations.iter().find(|row| row["name"] == name).expect("the allocation")["id"];
    let rows = profile["rounded_allocations"].as_array().expect("rounded allocations");
    rows.iter().find(|row| row["allocation"] == *id).unwrap_or_else(|| panic!("no {name}: {rows:#?}"))
}

/// The errors of one writer: `copy`, `fill`, or the comment of a store.
fn writes<'a>(row: &'a Value, what: &str) -> &'a Value {
    let source = std::fs::read_to_string(root().join("tests/programs/rounded_values.cu")).expect("the program");
    let line = source.lines().position(|text| text.ends_with(&format!("// {what}"))).map(|line| line + 1);
    let rows = row["writes"].as_array().expect("writes");
    let is_meant = |row: &&Value| match line {
        Some(line) => row["writer"] == "store" && row["frame"]["line"] == line,
        None => row["writer"] == what,
    };
    &rows.iter().find(is_meant).unwrap_or_else(|| panic!("no {what}: {rows:#?}"))["errors"]
}

/// Rounds to binary16 by comparing with all its positive numbers; values beyond them are infinite.
fn half(value: f64) -> f64 {
    let number = |bits: u32| match bits >> 10 {
        0 => f64::from(bits) * 2f64.powi(-24),
        exponent => f64::from(1024 + (bits & 1023)) * 2f64.powi(exponent as i32 - 25),
    };
    if value >= 65520.0 {
        return f64::INFINITY;
    }
    let above = (0..0x7bff).find(|&bits| number(bits) >= value).unwrap_or(0x7bff);
    let below = above.saturating_sub(1);
    let (up, down) = (number(above) - value, value - number(below));
    if up < down || up == down && above % 2 == 0 { number(above) } else { number(below) }
}

/// Elements, inexact ones, overflows, zeros and subnormal ones; largest and mean error.
fn expected(values: &[f64], round: impl Fn(f64) -> f64) -> ([usize; 5], [f64; 2]) {
    let pairs: Vec<(f64, f64)> = values.iter().map(|&value| (value, round(value))).collect();
    let count = |is_meant: &dyn Fn(f64, f64) -> bool| pairs.iter().filter(|(value, to)| is_meant(*value, *to)).count();
    let finite = || pairs.iter().filter(|(value, to)| to.is_finite() && *value != 0.0);
    let errors: Vec<f64> = finite().map(|(value, to)| ((to - value) / value).abs()).collect();
    let overflows = count(&|_, to| to.is_infinite());
    (
        [
            values.len(),
            count(&|value, to| value != to),
            overflows,
            count(&|value, to| value != 0.0 && to == 0.0),
            count(&|_, to| to != 0.0 && to < 2f64.powi(-14)),
        ],
        [errors.iter().copied().fold(0.0, f64::max), errors.iter().sum::<f64>() / (values.len() - overflows) as f64],
    )
}

fn check(errors: &Value, (counts, relative): ([usize; 5], [f64; 2])) {
    let names = ["elements", "inexact", "overflows", "zeros", "subnormals"];
    assert_eq!(names.map(|name| errors[name].as_u64().expect("a count") as usize), counts, "{errors:#}");
    for (name, wanted) in ["largest_error", "mean_error"].into_iter().zip(relative) {
        let found = errors[name].as_f64().expect("an error");
        assert!((found - wanted).abs() <= 1e-12 * wanted, "{name}: {found} instead of {wanted}");
    }
}

#[test]
fn errors_are_those_computed_by_hand() {
    let folder = work_folder("rounding-by-hand");
    let types = ["x=half", "y=half", "total=half", "fine=float", "wid*=half"];
    let outcome = start(&folder, &program(&folder), &types, "rounded.wlprof");
    // Elements 1 and 3 of x become 1 and 1 + 4/4096; their products have 8/4096 between neighbours. 2049 is 2048.
    assert!(outcome.stdout.contains("y[1] = 3, y[3] = 3.00390625, total = 2048"), "{}", outcome.stdout);
    let profile = profile(&folder, "rounded.wlprof");
    assert_eq!(profile["run"]["assumptions"]["rounded_elements"], types.join(", "));

    let x: Vec<f64> = (0..N).map(|i| 1.0 + i as f64 / 4096.0).collect();
    let row = rounded(&profile, "x");
    assert_eq!((&row["from"], &row["to"]), (&"float".into(), &"half".into()));
    check(writes(row, "copy"), expected(&x, half));
    check(&row["errors"], expected(&x, half));
    // A tie has the largest absolute error, and the first one the smallest value.
    assert_eq!(row["errors"]["worst"], serde_json::json!({ "element": 2, "value": 1.0 + 2.0 / 4096.0 }));

    let y: Vec<f64> = x.iter().map(|&x| 3.0 * half(x)).collect();
    check(writes(rounded(&profile, "y"), "scale"), expected(&y, half));
    check(writes(rounded(&profile, "total"), "count"), expected(&[2049.0; 100], half));
    check(writes(rounded(&profile, "total"), "copy"), expected(&[2048.0], half));

    let fine: Vec<f64> = (0..N).map(|i| i as f64 / 3.0).collect();
    check(writes(rounded(&profile, "fine"), "divide"), expected(&fine, |value| f64::from(value as f32)));
    assert_eq!(writes(rounded(&profile, "fine"), "copy")["inexact"], 0);

    let wide: Vec<f64> = (0..N).map(|i| if i < 500 { 200.0 * i as f64 } else { 2f64.powi(-(i as i32 % 32)) }).collect();
    let grown = writes(rounded(&profile, "wide"), "grow");
    check(grown, expected(&wide, half));
    // 200 * 328 is 65600. Element 527 has 2^-15, which is subnormal.
    assert_eq!(grown["first_overflow"], serde_json::json!({ "element": 328, "value": 65600.0, "launch": 3 }));
    assert_eq!(writes(rounded(&profile, "wide"), "fill")["elements"], N);
}

#[test]
fn the_model_counts_the_traffic_of_smaller_elements() {
    let folder = work_folder("rounding-traffic");
    start(&folder, &program(&folder), &["x=half", "fine=half"], "rounded.wlprof");
    let profile = profile(&folder, "rounded.wlprof");
    let smaller = profile["run"]["models"][1].as_str().expect("a second model");
    assert!(smaller.ends_with(" with smaller elements"), "{smaller}");
    let sectors = |name: &str| {
        let allocations = profile["allocations"].as_array().expect("allocations");
        let metrics = &allocations.iter().find(|row| row["name"] == name).expect("the allocation")["metrics"];
        [metrics, &metrics["other_models"][smaller]]
            .map(|metrics| metrics["l2"]["load_lookups"].as_u64().expect("lookups"))
    };
    // 1000 elements of 4 and 2 bytes, and of 8 and 2 bytes, in sectors of 32; y stays.
    assert_eq!((sectors("x"), sectors("fine"), sectors("y")), ([125, 63], [250, 63], [0, 0]));
}

#[test]
fn results_are_compared_with_a_run_without_rounding() {
    let folder = work_folder("rounding-results");
    let types = ["x=half", "y=half", "total=half"];
    let outcome = start_with(&folder, &program(&folder), &["--what-if-results"], &types, "rounded.wlprof");
    assert_eq!(outcome.stdout.matches("PASS").count(), 1, "the first run prints nothing: {}", outcome.stdout);
    let profile = profile(&folder, "rounded.wlprof");
    let rows = profile["compared_results"].as_array().expect("compared results");
    let of = |name: &str| {
        let allocations = profile["allocations"].as_array().expect("allocations");
        let id = &allocations.iter().find(|row| row["name"] == name).expect("the allocation")["id"];
        rows.iter().filter(|row| row["allocation"] == *id).collect::<Vec<_>>()
    };
    let [y] = of("y")[..] else { panic!("{rows:#?}") };
    let pairs = (0..N).map(|i| 1.0 + i as f64 / 4096.0).map(|x| (3.0 * x, half(3.0 * half(x))));
    let differences: Vec<f64> = pairs.map(|(before, now)| ((now - before) / before).abs()).collect();
    assert_eq!((&y["element"], &y["elements"]), (&"float".into(), &N.into()));
    assert_eq!(y["different"], differences.iter().filter(|difference| **difference > 0.0).count());
    let wanted = [differences.iter().copied().fold(0.0, f64::max), differences.iter().sum::<f64>() / N as f64];
    for (name, wanted) in ["largest_difference", "mean_difference"].into_iter().zip(wanted) {
        let found = y[name].as_f64().expect("a difference");
        assert!((found - wanted).abs() <= 1e-12 * wanted, "{name}: {found} instead of {wanted}");
    }
    let [total] = of("total")[..] else { panic!("{rows:#?}") };
    assert_eq!((&total["different"], &total["largest_difference"]), (&1.into(), &(100.0 / 2148.0).into()));
    // Two copies on two lines; nothing of them is rounded.
    assert_eq!(of("pairs").iter().map(|row| row["different"].as_u64()).collect::<Vec<_>>(), [Some(0); 2]);
    let text = run(Command::new(warpline()).args(["report", "rounded.wlprof"]), &folder, "report").stdout;
    assert!(text.contains("RESULTS copied to the host") && text.contains("of total (float)"), "{text}");
}

#[test]
fn what_is_not_rounded_is_named() {
    let folder = work_folder("rounding-notes");
    let program = program(&folder);
    let outcome = start(&folder, &program, &["ids=half", "pairs=half", "y=float"], "rounded.wlprof");
    let wanted = [
        "--what-if-type ids=half: not rounded, because no kernel accesses it as elements of a wider floating-point type",
        "--what-if-type y=float: not rounded",
    ];
    for text in wanted {
        assert!(outcome.stderr.contains(text), "{text}: {}", outcome.stderr);
    }
    assert!(outcome.stdout.contains("pairs[0] = 2048, pairs[999] = 499"), "{}", outcome.stdout);
    let profile = profile(&folder, "rounded.wlprof");
    let pairs = rounded(&profile, "pairs");
    check(writes(pairs, "first"), expected(&[2049.0; N], half));
    let others = pairs["other_accesses"].as_array().expect("other accesses");
    assert_eq!((others.len(), &others[0]["op"], &others[0]["element"]), (1, &"store".into(), &"int32".into()));
    assert_eq!(rounded(&profile, "ids")["to"], "");
    let text = run(Command::new(warpline()).args(["report", "rounded.wlprof"]), &folder, "report").stdout;
    for text_of in ["ROUNDED ELEMENTS", "pairs (float as half)", "ids (not rounded)", "not rounded: store of int32"] {
        assert!(text.contains(text_of), "{text_of}: {text}");
    }

    let wrong =
        Command::new(warpline()).args(["run", "--what-if-type", "x=int", "--", "./app"]).output().expect("runs");
    let message = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert_eq!(wrong.status.code(), Some(2), "{message}");
    assert!(message.contains("half, bfloat16, e4m3, e5m2, float"), "{message}");
}

/// A name that does not exist must not look like an allocation without errors.
#[test]
fn names_that_no_allocation_has_are_failures() {
    let folder = work_folder("rounding-names");
    let program = program(&folder);
    let mut command = Command::new(warpline());
    command.args(["run", "--what-if-type", "d_z=half", "--what-if-type", "x=half", "-o", "named.wlprof", "--"]);
    let outcome = run(command.arg(&program), &folder, "run");
    assert_eq!(outcome.status.code(), Some(125), "{}", outcome.describe());
    for wanted in [
        "note: --what-if-type d_z=half: no allocation matches; the names are fine, ids, pairs, total, wide, x, y",
        "--what-if-type d_z=half: no allocation matches, so named.wlprof lacks its errors",
    ] {
        assert!(outcome.stderr.contains(wanted), "{wanted}: {}", outcome.stderr);
    }
    // The profile is written, with the other allocation.
    let profile = profile(&folder, "named.wlprof");
    assert_eq!(profile["rounded_allocations"].as_array().map(Vec::len), Some(1));
    assert_eq!(rounded(&profile, "x")["to"], "half");

    let source = root().join("tests/programs/rounded_values.cu");
    let mut command = Command::new(warpline());
    command.arg("profile").arg(source).args(["-O2", "--what-if-type", "d_z=half", "-o", "whole.wlprof"]);
    let outcome = run(&mut command, &folder, "profile");
    assert_eq!(outcome.status.code(), Some(4), "{}", outcome.describe());
    assert!(folder.join("whole.wlprof").exists() && outcome.stdout.contains("PASS"), "{}", outcome.describe());
}

/// Nothing is rounded without the option, and two runs are the same. Merged profiles add the counts.
#[test]
fn roundings_are_reproducible_and_add_up() {
    let folder = work_folder("rounding-same");
    let program = program(&folder);
    let outcome = start(&folder, &program, &[], "plain.wlprof");
    assert!(outcome.stdout.contains("y[1] = 3.00073242, y[3] = 3.00219727, total = 2148"), "{}", outcome.stdout);
    assert!(profile(&folder, "plain.wlprof")["rounded_allocations"].is_null());
    let [one, other] = ["one.wlprof", "other.wlprof"].map(|name| {
        start(&folder, &program, &["*=bfloat16"], name);
        profile(&folder, name)
    });
    assert_eq!(one["rounded_allocations"], other["rounded_allocations"]);
    let merge = ["merge", "one.wlprof", "other.wlprof", "-o", "both.wlprof"];
    run(Command::new(warpline()).args(merge), &folder, "merge");
    let both = profile(&folder, "both.wlprof");
    let elements = |profile: &Value| rounded(profile, "x")["errors"]["elements"].as_u64().expect("a count");
    assert_eq!((elements(&one), elements(&both)), (N as u64, 2 * N as u64));
    assert_eq!(rounded(&one, "x")["errors"]["mean_error"], rounded(&both, "x")["errors"]["mean_error"]);
}
