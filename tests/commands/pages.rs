//! The report's page in a real browser: its figures are those of the JSON document, every view can be used by everyone
//! and on every screen, names stay text, and long lists stay short in the page.

#[path = "../pages/browser.rs"]
mod browser;
#[path = "../pages/large.rs"]
mod large;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::support_programs::{build, root, run, warpline, work_folder};
use browser::Browser;
use serde_json::Value;

/// Every view, with one of each that has a number.
const VIEWS: [&str; 15] = [
    "overview",
    "findings",
    "finding/1",
    "kernels",
    "kernel/0",
    "source",
    "source/FILE",
    "accesses",
    "allocations",
    "allocation/1",
    "paths",
    "distributions",
    "launches",
    "divergence",
    "about",
];

/// Folder with `bfs.wlprof` (two models), `before.wlprof`, `after.wlprof` of a problem and its cure, and their pages.
fn examples() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = work_folder("pages");
        let profiled = |source: PathBuf, flags: &[&str], options: &[&str], name: &str| {
            let flags: Vec<String> =
                ["-O3", "-arch=sm_75"].iter().chain(flags).map(|flag| (*flag).to_owned()).collect();
            let executable = build(&[source], &flags, &folder);
            let mut command = Command::new(warpline());
            command.arg("run").args(options).arg("-o").arg(folder.join(name)).arg("--").arg(executable);
            let outcome = run(&mut command, &folder, "run");
            assert!(outcome.status.success(), "{}", outcome.describe());
        };
        profiled(root().join("examples/bfs/bfs.cu"), &[], &["--gpu", "rtx2080ti,a100"], "bfs.wlprof");
        let problem = root().join("tests/findings/planted/swapped_indices.cu");
        profiled(problem.clone(), &[], &[], "before.wlprof");
        profiled(problem, &["-DCURED"], &[], "after.wlprof");
        make_page(&folder, &["report", "bfs.wlprof"], "bfs.html");
        make_page(&folder, &["diff", "before.wlprof", "after.wlprof"], "diff.html");
        folder
    })
}

fn make_page(folder: &Path, arguments: &[&str], name: &str) {
    let mut command = Command::new(warpline());
    command.args(arguments).args(["--format", "html", "-o", name]);
    let outcome = run(&mut command, folder, "page");
    assert!(outcome.status.success(), "{}", outcome.describe());
}

fn document(arguments: &[&str]) -> Value {
    let mut command = Command::new(warpline());
    command.args(arguments).args(["--format", "json"]);
    serde_json::from_str(&run(&mut command, examples(), "document").stdout).expect("JSON")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The figures of a name on the page.
fn shown(figures: &[(String, String)], name: &str) -> Vec<f64> {
    let values = figures.iter().filter(|(one, value)| one == name && !value.is_empty());
    values.map(|(_, value)| value.parse().unwrap_or_else(|_| panic!("{name} is {value}"))).collect()
}

fn assert_shown(figures: &[(String, String)], name: &str, expected: f64) {
    let values = shown(figures, name);
    assert!(
        values.iter().any(|value| (value - expected).abs() <= expected.abs() * 1e-12),
        "{name}: {values:?}, not {expected}"
    );
}

/// Sum over spaces of one field of the metrics, as `/l1/hits`.
fn over_spaces(spaces: &Value, field: &str) -> f64 {
    spaces
        .as_object()
        .expect("spaces")
        .iter()
        .filter(|(space, _)| *space != "shared")
        .map(|(_, metrics)| metrics.pointer(field).map_or(0.0, number))
        .sum()
}

fn no_complaints(browser: &Browser) {
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn figures_are_those_of_the_document() {
    let document = document(&["report", "bfs.wlprof"]);
    let mut browser = Browser::start();
    browser.look(1600, 1000, "light");
    browser.open(&examples().join("bfs.html"));
    let kernels = document["kernels"].as_array().expect("kernels");

    let figures = browser.figures();
    let sectors: f64 = kernels.iter().map(|kernel| over_spaces(&kernel["metrics"], "/sectors")).sum();
    assert_shown(&figures, "program.traffic", sectors * 32.0);
    let ideal: f64 = kernels.iter().map(|kernel| over_spaces(&kernel["metrics"], "/ideal_sectors")).sum();
    assert_shown(&figures, "program.efficiency", ideal / sectors);
    let time: f64 = kernels.iter().map(|kernel| number(&kernel["estimates"][0]["seconds"])).sum();
    assert_shown(&figures, "program.seconds", time);
    for limit in kernels[0]["estimates"][0]["limits"].as_array().expect("limits").iter().take(4) {
        assert_shown(
            &figures,
            &format!("limit.{}", limit["name"].as_str().expect("a name")),
            number(&limit["seconds"]),
        );
    }
    // The cards have the findings' text.
    let text = browser.text("document.querySelector('main').textContent");
    for finding in
        document["findings"].as_array().expect("findings").iter().filter(|finding| finding["severity"] != "note")
    {
        for part in ["reason", "cure"] {
            let wanted = finding[part].as_str().expect("a text").replace('`', "");
            assert!(text.contains(&wanted), "{wanted}");
        }
        assert_shown(&figures, "gain", number(&finding["gain"]["factor"]));
    }

    // The other model's figures, for the first kernel.
    let metrics = &kernels[0]["metrics"];
    for (model, prefix, estimate) in [("rtx2080ti", "", 0), ("a100", "/other_models/a100", 1)] {
        browser.go("kernel/0");
        let figures = browser.figures();
        assert_eq!(browser.text("document.querySelector('#bar select').value"), model);
        let rate = |level: &str, hits: &str, lookups: &str| {
            over_spaces(metrics, &format!("{prefix}/{level}/{hits}"))
                / over_spaces(metrics, &format!("{prefix}/{level}/{lookups}"))
        };
        assert_shown(&figures, "kernel.l1_rate", rate("l1", "load_hits", "load_lookups"));
        assert_shown(&figures, "kernel.l2_rate", rate("l2", "hits", "lookups"));
        assert_shown(&figures, "kernel.seconds", number(&kernels[0]["estimates"][estimate]["seconds"]));
        assert_shown(&figures, "kernel.requests", over_spaces(metrics, "/requests"));
        for (class, row) in kernels[0]["instructions"].as_object().expect("classes") {
            assert_shown(&figures, &format!("instructions.{class}"), number(&row["warps"]));
        }
        // Each bar of the histograms is one of the document's counts.
        let reuse = &metrics["global"]["reuse"]["sector"];
        let mut wanted: Vec<f64> =
            reuse["buckets"].as_array().expect("buckets").iter().map(|row| number(&row["count"])).collect();
        wanted.push(number(&reuse["infinite"]));
        let bars = shown_bars(&mut browser, "Reuse distances");
        assert!(
            wanted.iter().filter(|count| **count > 0.0).eq(bars.iter().filter(|count| **count > 0.0)),
            "{bars:?}, not {wanted:?}"
        );
        let wanted = metrics["global"]["lines_touched"]["32"].as_array().expect("a distribution");
        let bars = shown_bars(&mut browser, "Requests by sectors");
        assert!(
            wanted.iter().map(number).filter(|count| *count > 0.0).eq(bars.into_iter().filter(|count| *count > 0.0))
        );
        browser.press("m");
    }

    // The heat of a line is its traffic in all kernels.
    browser.go("source");
    let heat = browser.value("Object.fromEntries([...document.querySelectorAll('tr[data-line] [data-figure=\"line.sectors\"]')].map((cell) => [cell.closest('tr').dataset.line, Number(cell.dataset.value)]))");
    let heat: BTreeMap<u64, f64> = heat
        .as_object()
        .expect("lines")
        .iter()
        .map(|(line, value)| (line.parse().expect("a line"), number(value)))
        .collect();
    let mut lines: BTreeMap<u64, f64> = BTreeMap::new();
    for row in document["lines"].as_array().expect("lines").iter().filter(|row| row["file"] == kernels[0]["file"]) {
        *lines.entry(row["line"].as_u64().expect("a line")).or_default() +=
            over_spaces(&row["metrics"], "/sectors") * 32.0;
    }
    lines.retain(|_, traffic| *traffic > 0.0);
    assert!(lines.len() > 5);
    for (line, traffic) in &lines {
        assert_eq!(heat.get(line), Some(traffic), "line {line}");
    }

    // Each allocation's three measures, map and copies.
    let allocations = document["allocations"].as_array().expect("allocations");
    let all: f64 = allocations.iter().map(|row| number(&row["metrics"]["sectors"])).sum();
    for row in allocations {
        browser.go(&format!("allocation/{}", row["id"]));
        let figures = browser.figures();
        let metrics = &row["metrics"];
        assert_shown(&figures, "allocation.traffic_share", number(&metrics["sectors"]) / all);
        assert_shown(
            &figures,
            "allocation.efficiency",
            number(&metrics["ideal_sectors"]) / number(&metrics["sectors"]),
        );
        let l1 = &metrics["l1"];
        if number(&l1["load_lookups"]) > 0.0 {
            assert_shown(&figures, "allocation.l1_rate", number(&l1["load_hits"]) / number(&l1["load_lookups"]));
        }
        assert_shown(&figures, "allocation.touched_bytes", number(&row["touched_bytes"]));
        let map: Vec<f64> = row["touched_map"]["touched"].as_array().expect("a map").iter().map(number).collect();
        assert_eq!(shown(&figures, "touched.part"), map);
        assert_eq!(map.iter().sum::<f64>(), number(&row["touched_bytes"]));
        for copy in row["copies"].as_array().expect("copies") {
            assert_shown(&figures, "bytes", number(&copy["bytes"]));
        }
    }
    no_complaints(&browser);
}

/// Values of the bars of the first histogram whose name begins so.
fn shown_bars(browser: &mut Browser, name: &str) -> Vec<f64> {
    let bars = browser.value(&format!("[...document.querySelectorAll('svg.histogram')].find((one) => one.getAttribute('aria-label').startsWith('{name}')).querySelectorAll('[data-figure^=\"bar.\"]').values().map((bar) => Number(bar.dataset.value)).toArray()"));
    bars.as_array().expect("bars").iter().map(number).collect()
}

#[test]
fn a_comparison_shows_the_document_s_figures_and_both_sides() {
    let document = document(&["diff", "before.wlprof", "after.wlprof"]);
    let mut browser = Browser::start();
    browser.look(1600, 1000, "light");
    browser.open(&examples().join("diff.html"));
    let figures = browser.figures();
    let [before, after] = [0, 1].map(|side| number(&document["program"]["estimate.seconds"][side]));
    assert_shown(&figures, "estimate.seconds.before", before);
    assert_shown(&figures, "estimate.seconds.after", after);
    let kernel = &document["kernels"][0]["metrics"]["global.sectors"];
    assert_shown(&figures, "global.sectors.before", number(&kernel[0]));
    assert_shown(&figures, "global.sectors.after", number(&kernel[1]));
    let gone = document["findings"]["gone"].as_array().expect("findings");
    assert!(!gone.is_empty());
    assert_eq!(browser.value("document.querySelectorAll('.finding-change > .tag.gone').length"), gone.len());
    assert!(browser.text("document.querySelector('.verdict').textContent").contains("faster"));
    // Both profiles are there whole.
    browser.go("overview");
    let seconds = |browser: &mut Browser| shown(&browser.figures(), "program.seconds")[0];
    assert!((seconds(&mut browser) - after).abs() < 1e-12);
    browser.value("{ const side = document.querySelector('[aria-label=\"Profile\"]'); side.value = '0'; side.dispatchEvent(new Event('change')); }");
    assert!((seconds(&mut browser) - before).abs() < 1e-12);
    no_complaints(&browser);
}

/// Two ranks, one with the problem and one with its cure: text, Markdown and the page show the same of them, which is
/// the document's.
#[test]
fn ranks_are_reported_alike_by_all_formats() {
    let folder = work_folder("ranks-shown");
    for (rank, flags) in [("0", &["-O3", "-arch=sm_75"][..]), ("1", &["-O3", "-arch=sm_75", "-DCURED"][..])] {
        let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        let executable = build(&[root().join("tests/findings/planted/swapped_indices.cu")], &flags, &folder);
        let mut command = Command::new(warpline());
        command.env("OMPI_COMM_WORLD_RANK", rank).env("OMPI_COMM_WORLD_SIZE", "2");
        command.args(["run", "-o", "ranks/", "--"]).arg(executable);
        let outcome = run(&mut command, &folder, "run");
        assert!(outcome.status.success(), "{}", outcome.describe());
    }
    let described = |arguments: &[&str]| {
        let outcome = run(Command::new(warpline()).args(arguments), &folder, "described");
        assert!(outcome.status.success(), "{}", outcome.describe());
        outcome.stdout
    };
    described(&["merge", "ranks", "-o", "whole.wlprof"]);
    make_page(&folder, &["report", "whole.wlprof"], "whole.html");
    let document: Value =
        serde_json::from_str(&described(&["report", "whole.wlprof", "--format", "json"])).expect("JSON");
    let sectors =
        |line: &&Value| line["over_ranks"].get("global.sectors").is_some_and(|over| over["min"] != over["max"]);
    let lines: Vec<&Value> = document["lines"].as_array().expect("lines").iter().filter(sectors).collect();
    assert!(!lines.is_empty());

    // Each row of Markdown's tables is a row of the text.
    let (text, markdown) =
        (described(&["report", "whole.wlprof"]), described(&["report", "whole.wlprof", "--format", "markdown"]));
    let section = markdown.split("### Ranks").nth(1).expect("a section");
    let rows: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    assert!(rows.len() >= 2, "{markdown}");
    for row in &rows {
        let name = row[0].trim_matches('`');
        let (least, rank) = row[3].trim_end_matches(')').split_once(" (").expect("a rank");
        let (most, other) = row[5].trim_end_matches(')').split_once(" (").expect("a rank");
        let wanted = [row[1], least, rank, row[4], most, other, row[6], row[7]].join(" ");
        let squeezed = |line: &str| {
            line.split_whitespace().collect::<Vec<_>>().join(" ").replace(" all ", " ").replace("2 of 2 ", "")
        };
        let is_told = text.lines().zip(text.lines().skip(1)).any(|(one, next)| {
            one.trim() == name
                && squeezed(next).replace(" 1 of 2 ", " ") == wanted.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        assert!(is_told, "{name}: {wanted}\n{text}");
    }

    let mut browser = Browser::start();
    browser.look(1600, 1000, "light");
    browser.open(&folder.join("whole.html"));
    browser.go("ranks");
    let figures = browser.figures();
    for line in lines {
        let over = &line["over_ranks"]["global.sectors"];
        assert_shown(&figures, "ranks.min", number(&over["min"]));
        assert_shown(&figures, "ranks.mean", number(&over["mean"]));
        assert_shown(&figures, "ranks.max", number(&over["max"]));
        assert_shown(&figures, "ranks.stddev", number(&over["stddev"]));
    }
    let time = &document["kernels"][0]["over_ranks"]["estimate.picoseconds"];
    assert_shown(&figures, "ranks.max", number(&time["max"]) * 1e-12);
    browser.value(&format!("{}; 0", axe()));
    let found = barriers(&mut browser);
    assert!(found.is_empty(), "{found:#?}");
    no_complaints(&browser);
}

#[test]
fn rounded_elements_have_the_figures_of_the_document() {
    let folder = work_folder("pages-rounding");
    let executable = build(&[root().join("tests/programs/rounded_values.cu")], &["-O2".to_owned()], &folder);
    let mut command = Command::new(warpline());
    let types = ["x=half", "y=half", "total=half"].into_iter().flat_map(|ty| ["--what-if-type", ty]);
    command.args(["run", "--what-if-results"]).args(types);
    let outcome = run(command.args(["-o", "rounded.wlprof", "--"]).arg(executable), &folder, "run");
    assert!(outcome.status.success(), "{}", outcome.describe());
    let json = run(Command::new(warpline()).args(["report", "--format", "json", "rounded.wlprof"]), &folder, "json");
    let document: Value = serde_json::from_str(&json.stdout).expect("JSON");
    make_page(&folder, &["report", "rounded.wlprof"], "rounded.html");

    let mut browser = Browser::start();
    browser.look(1600, 1000, "light");
    browser.open(&folder.join("rounded.html"));
    browser.go("rounding");
    let figures = browser.figures();
    let counts = ["elements", "inexact", "largest_error", "mean_error", "overflows"];
    let rows = document["rounded_allocations"].as_array().expect("rounded allocations");
    assert_eq!(rows.len(), 3);
    let writes: Vec<&Value> = rows.iter().flat_map(|row| row["writes"].as_array().expect("writes")).collect();
    assert!(writes.len() > 3);
    for name in counts {
        for row in rows {
            assert_shown(&figures, &format!("rounded.{name}"), number(&row["errors"][name]));
        }
        assert_eq!(shown(&figures, &format!("rounded-writers.{name}")).len(), writes.len());
    }
    for writes in &writes {
        assert_shown(&figures, "rounded-writers.elements", number(&writes["errors"]["elements"]));
        assert_shown(&figures, "rounded-writers.mean_error", number(&writes["errors"]["mean_error"]));
    }
    let results = document["compared_results"].as_array().expect("compared results");
    assert!(!results.is_empty());
    for row in results {
        assert_shown(&figures, "results.different", number(&row["different"]));
        assert_shown(&figures, "results.largest_difference", number(&row["largest_difference"]));
    }
    let text = browser.text("document.querySelector('main').textContent");
    for wanted in ["float as half", "largest error", "element 2 with value"] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    browser.value(&format!("{}; 0", axe()));
    let found = barriers(&mut browser);
    assert!(found.is_empty(), "{found:#?}");
    no_complaints(&browser);
    // Profiles without rounded elements have no such view.
    browser.open(&examples().join("bfs.html"));
    let views = browser.text("document.querySelector('#views').textContent");
    assert!(!views.contains("Rounding"), "{views}");
}

/// What axe finds, in lines.
fn barriers(browser: &mut Browser) -> Vec<String> {
    let found = browser.value(
        "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`)))",
    );
    serde_json::from_value(found).expect("a list of texts")
}

/// The script of axe-core, which `scripts/setup.sh --tests` puts into the cache.
fn axe() -> String {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").unwrap_or_else(|| set("HOME").expect("a home").join(".cache"));
    let place = cache.join("warpline/tests/axe_playwright_python/axe.min.js");
    std::fs::read_to_string(&place)
        .unwrap_or_else(|error| panic!("{}: {error}; run scripts/setup.sh --tests", place.display()))
}

/// No view is wider than the screen, and none keeps people out; pictures of all are kept for inspection.
fn look_at(page: &str, views: &[&str]) {
    let mut browser = Browser::start();
    let axe = axe();
    let pictures = examples().join("pictures");
    std::fs::create_dir_all(&pictures).expect("a folder");
    for (width, colors, checked) in [
        (400, "dark", true),
        (400, "light", false),
        (1000, "dark", false),
        (1600, "light", true),
        (1600, "dark", false),
    ] {
        browser.look(width, 900, colors);
        browser.open(&examples().join(format!("{page}.html")));
        browser.value(&format!("{axe}; 0"));
        for view in views {
            browser.go(view);
            let wide = "document.documentElement.scrollWidth - innerWidth";
            assert_eq!(browser.value(wide), 0, "{page} {view} at {width}");
            assert_eq!(browser.value("document.querySelectorAll('h1').length"), 1, "{page} {view}");
            // What axe checks depends on the width and the colours, not on both together.
            let found = if checked { barriers(&mut browser) } else { Vec::new() };
            assert!(found.is_empty(), "{page} {view} at {width}, {colors}: {found:#?}");
            let picture = browser.call("Page.captureScreenshot", serde_json::json!({ "format": "png" }));
            let name = format!("{page}-{}-{width}-{colors}.png", view.replace(['/', ':'], "-"));
            std::fs::write(pictures.join(name), crate::page::base64(picture["data"].as_str().expect("a picture")))
                .expect("a file");
        }
    }
    no_complaints(&browser);
}

/// All views, at all sizes of screens; the next test has those of a comparison.
#[test]
#[ignore = "test-all"]
fn every_view_fits_every_screen_and_keeps_no_one_out() {
    look_at("bfs", &VIEWS.map(|view| if view == "source/FILE" { "source/bfs.cu:33" } else { view }));
}

#[test]
fn views_of_a_comparison_fit_every_screen_and_keep_no_one_out() {
    look_at("diff", &["comparison", "overview", "kernel/0"]);
}

/// Each kernel with arithmetic has a point for each memory, with results of active lanes over bytes.
#[test]
fn rooflines_have_the_figures_of_kernels() {
    make_page(examples(), &["report", "before.wlprof"], "before.html");
    let document = document(&["report", "before.wlprof"]);
    let mut browser = Browser::start();
    browser.look(1600, 1000, "light");
    browser.open(&examples().join("before.html"));
    browser.go("kernels");
    let figures = browser.figures();
    let mut points = 0;
    for kernel in document["kernels"].as_array().expect("kernels") {
        let classes = ["fp16", "fp32", "fp64", "special"].map(|class| &kernel["instructions"][class]["lanes"]);
        let results: f64 = classes.into_iter().filter_map(Value::as_f64).sum();
        for memory in ["dram", "l2"] {
            let bytes = number(&kernel["estimates"][0]["bytes"][memory]);
            if results > 0.0 && bytes > 0.0 {
                assert_shown(&figures, &format!("roofline.{memory}.{}", kernel["id"]), results / bytes);
                points += 1;
            }
        }
    }
    assert!(points > 0, "the program has arithmetic");
    intensities_are_those_of_the_document(&mut browser, &document);
    drop(browser);
    look_at("before", &["kernels", "kernel/0"]);
}

/// The results of each kernel per byte of each allocation.
fn intensities_are_those_of_the_document(browser: &mut Browser, document: &Value) {
    let rows = document["arithmetic_intensity"].as_array().expect("intensities");
    assert!(!rows.is_empty());
    for row in rows {
        let allocations = document["allocations"].as_array().expect("allocations");
        let allocation = allocations.iter().find(|one| one["id"] == row["allocation"]).expect("an allocation");
        let metrics: f64 = allocation["by_kernel"]
            .as_array()
            .expect("kernels")
            .iter()
            .filter(|part| row["kernel"].is_null() || part["kernel"] == row["kernel"])
            .map(|part| number(&part["metrics"]["sectors"]) * 32.0)
            .sum();
        assert_eq!(number(&row["requested_bytes"]), metrics, "{row:#}");
        browser.go(&format!("allocation/{}", row["allocation"]));
        let figures = browser.figures();
        assert_shown(&figures, "intensity.results", number(&row["results"]));
        assert_shown(&figures, "intensity.per_byte", number(&row["results"]) / metrics);
    }
}

/// The page of predictions: a cell of each map and a point of each line has the document's figure, and everyone can use
/// it.
#[test]
fn predictions_are_drawn() {
    let requested = ["predict", "before.wlprof", "--over", "width=512,1024,8192,65536", "--gpu", "a100,h100"];
    make_page(examples(), &requested, "prediction.html");
    let document = document(&requested);
    let mut browser = Browser::start();
    browser.open(&examples().join("prediction.html"));
    let shown = |browser: &mut Browser, what: &str, attribute: &str| -> Vec<(String, f64)> {
        let list = browser.value(&format!(
            "[...document.querySelector('section').querySelectorAll('{what}')].map((one) => [one.dataset.{attribute}, Number(one.dataset.value)])"
        ));
        serde_json::from_value(list).expect("pairs")
    };
    let configurations = document["configurations"].as_array().expect("configurations");
    let cells = shown(&mut browser, "[data-map=dram-bytes] td[data-block]", "block");
    assert_eq!(cells.len(), configurations.len());
    for one in configurations {
        let block: Vec<String> = one["block"].as_array().expect("sizes").iter().map(Value::to_string).collect();
        let expected = number(&one["dram_load_bytes"]) + number(&one["dram_store_bytes"]);
        assert!(cells.contains(&(block.join("x"), expected)), "{block:?} {expected}: {cells:?}");
    }
    let points = document["sizes"][0]["points"].as_array().expect("points");
    let expected: Vec<(String, f64)> =
        points.iter().map(|one| (one["value"].to_string(), number(&one["dram_bytes_per_thread"]))).collect();
    assert_eq!(shown(&mut browser, "circle", "size"), expected);
    assert_eq!(browser.value("document.querySelectorAll('section').length"), 2);
    drop(browser);
    look_at("prediction", &["overview"]);
}

#[test]
fn incomplete_profiles_without_sources_say_so() {
    let mut document = document(&["report", "bfs.wlprof"]);
    document["sources"] = serde_json::json!({});
    document["run"]["complete"] = false.into();
    document["run"]["notes"] = serde_json::json!(["the program was killed by signal 9"]);
    for list in ["findings", "branches", "allocations"] {
        document[list] = serde_json::json!([]);
    }
    large::write(&examples().join("torn.wlprof"), document);
    make_page(examples(), &["report", "torn.wlprof"], "torn.html");
    let mut browser = Browser::start();
    browser.look(1000, 900, "light");
    browser.open(&examples().join("torn.html"));
    for (view, printed) in [
        ("overview", "Incomplete."),
        ("overview", "killed by signal 9"),
        ("source/bfs.cu:33", "not in the profile"),
        ("allocations", "no device allocation"),
        ("divergence", "No conditional branch"),
        ("allocation/7", "No such allocation"),
        ("kernel/99", "No such kernel"),
        ("source/nothing.cu", "nothing of that file"),
        ("findings", "The profile is incomplete"),
    ] {
        browser.go(view);
        let text = browser.text("document.querySelector('main').textContent");
        assert!(text.contains(printed), "{view} lacks {printed:?}: {text}");
    }
    for view in VIEWS {
        browser.go(view);
        assert!(!browser.text("document.querySelector('h1').textContent").contains("cannot be drawn"), "{view}");
    }
    no_complaints(&browser);
}

#[test]
fn names_stay_text() {
    let nasty = "<img src=x onerror=\"hacked=1\"></script><script>hacked=1</script>'\"`&lt;\u{202e}";
    let mut document = document(&["report", "bfs.wlprof"]);
    large::spoil(&mut document, nasty);
    large::write(&examples().join("nasty.wlprof"), document);
    make_page(examples(), &["report", "nasty.wlprof"], "nasty.html");
    make_page(examples(), &["diff", "nasty.wlprof", "bfs.wlprof"], "nasty-diff.html");
    let mut browser = Browser::start();
    browser.look(1000, 900, "light");
    for name in ["nasty", "nasty-diff"] {
        browser.open(&examples().join(format!("{name}.html")));
        for view in VIEWS.iter().chain(&["comparison"]) {
            browser.go(view);
            browser.value("document.querySelectorAll('main [data-hint]').forEach((one) => one.dispatchEvent(new MouseEvent('mouseover', { bubbles: true })))");
            assert_eq!(browser.value("typeof hacked"), "undefined", "{name} {view}");
            assert_eq!(
                browser.value("document.querySelectorAll('img').length + document.scripts.length"),
                2,
                "{name} {view}"
            );
            let text = browser.text("document.body.innerText");
            assert!(!text.contains('\u{202e}'), "{name} {view}");
            assert_eq!(browser.value("document.documentElement.scrollWidth - innerWidth"), 0, "{name} {view}");
            assert!(
                !browser.text("document.querySelector('h1').textContent").contains("cannot be drawn"),
                "{name} {view}"
            );
        }
        browser.press("/");
        assert_eq!(browser.value("document.querySelectorAll('img').length"), 0);
        browser.press("Escape");
    }
    no_complaints(&browser);
}

#[test]
fn two_thousand_accesses_and_five_thousand_launches() {
    many_rows(2_000, 5_000, "some");
}

#[test]
#[ignore = "test-all"]
fn ten_thousand_accesses_and_a_hundred_thousand_launches() {
    many_rows(10_000, 100_000, "many");
}

/// Opens each view of a page with so many rows: the page has no more elements than fit a screen a few times over.
fn many_rows(sites: usize, launches: usize, name: &str) {
    let document = large::program(document(&["report", "bfs.wlprof"]), sites, launches);
    let (file, page) = (format!("{name}.wlprof"), format!("{name}.html"));
    large::write(&examples().join(&file), document);
    make_page(examples(), &["report", &file], &page);
    let mut browser = Browser::start();
    browser.look(1600, 1000, "light");
    browser.open(&examples().join(&page));
    eprintln!("opened in {:.0} ms", number(&browser.value("performance.now()")));
    for view in [
        "kernels",
        "kernel/0",
        "source",
        "source/bfs.cu:1000",
        "accesses",
        "allocations",
        "paths",
        "distributions",
        "launches",
        "divergence",
        "overview",
    ] {
        let hash = serde_json::json!(format!("#/{view}"));
        let time = browser.value(&format!(
            "new Promise((done) => {{ const begin = performance.now(); location.hash = {hash}; addEventListener('hashchange', () => requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin), 0)), {{ once: true }}); }})"
        ));
        eprintln!("{view:20} {:6.0} ms", number(&time));
        let elements = number(&browser.value("document.querySelectorAll('main *').length"));
        assert!(elements < 12_000.0, "{view} has {elements} elements");
    }
    browser.go("accesses");
    assert_eq!(
        browser.text("document.querySelector('.table .tally').textContent").replace('\u{202f}', ""),
        format!("{sites} rows")
    );
    // The end of the list is there once it is scrolled to, and filters find one row among all.
    browser.value("{ const box = document.querySelector('.scroller'); box.scrollTop = box.scrollHeight; new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))) }");
    assert_eq!(browser.value("Math.max(...[...document.querySelectorAll('tr[aria-rowindex]')].map((row) => Number(row.getAttribute('aria-rowindex'))))"), sites + 1);
    browser.value("{ const input = document.querySelector('main input[type=search]'); input.value = 'value_1777 '; input.dispatchEvent(new Event('input')); }");
    assert_eq!(browser.value("document.querySelectorAll('tbody tr[aria-rowindex]').length"), 1);
    browser.go("launches");
    assert_eq!(
        browser.text("document.querySelector('.table .tally').textContent").replace('\u{202f}', ""),
        format!("{launches} rows")
    );
    no_complaints(&browser);
}

#[test]
fn everything_can_be_reached_by_keys() {
    let mut browser = Browser::start();
    browser.look(1600, 1000, "light");
    browser.open(&examples().join("bfs.html"));
    let hash = |browser: &mut Browser| browser.text("location.hash");
    browser.press("?");
    assert_eq!(browser.value("document.getElementById('keys').open"), true);
    browser.press("Escape");
    assert_eq!(browser.value("document.getElementById('keys').open"), false);
    for (key, view) in [("k", "kernels"), ("s", "source"), ("m", "allocations"), ("l", "launches"), ("o", "overview")] {
        browser.press("g");
        browser.press(key);
        assert_eq!(hash(&mut browser), format!("#/{view}"));
    }
    browser.press("n");
    assert_eq!(hash(&mut browser), "#/finding/1");
    browser.press("/");
    for letter in "d_visited".chars() {
        browser.press(&letter.to_string());
    }
    browser.press("Enter");
    let heading = browser.text("document.querySelector('h1').textContent");
    assert!(heading == "d_visited" || hash(&mut browser).starts_with("#/finding/"), "{heading}");
    browser.press("t");
    assert_eq!(browser.text("document.documentElement.dataset.theme"), "light");
    // A row of a table by arrows and Enter.
    browser.go("kernels");
    browser.value("document.querySelector('.scroller').focus()");
    browser.press("ArrowDown");
    browser.press("Enter");
    assert!(hash(&mut browser).starts_with("#/kernel/"), "{}", hash(&mut browser));
    // A word is explained where it has the focus.
    browser.value("document.querySelector('main .term').focus()");
    assert_eq!(browser.value("document.getElementById('hint').hidden"), false);
    browser.press("Escape");
    assert_eq!(browser.value("document.getElementById('hint').hidden"), true);
    no_complaints(&browser);
}

#[test]
fn print_leaves_the_frame_away_and_shows_rows() {
    let mut browser = Browser::start();
    browser.look(1000, 900, "dark");
    browser.open(&examples().join("bfs.html"));
    browser.go("accesses");
    browser.call("Emulation.setEmulatedMedia", serde_json::json!({ "media": "print" }));
    for part in ["#bar", "#views", ".tools"] {
        assert_eq!(
            browser.text(&format!("getComputedStyle(document.querySelector('{part}')).display")),
            "none",
            "{part}"
        );
    }
    let paper = browser.call("Page.printToPDF", serde_json::json!({ "printBackground": true }));
    let paper = crate::page::base64(paper["data"].as_str().expect("a document"));
    assert!(paper.starts_with(b"%PDF") && paper.len() > 10_000, "{} bytes", paper.len());
    std::fs::write(examples().join("accesses.pdf"), paper).expect("a file");
    no_complaints(&browser);
}
