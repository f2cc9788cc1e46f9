//! The text report, whole, as it is shown.

use crate::support::demo_profile::{demo_profile, facts, profile, profile_with_a_finding};
use crate::support::{TraceBuilder, demo};
use std::io::Read as _;
use warpline::profile::model::Frame;
use warpline::profile::{Profile, RunFacts};
use warpline::report::views::markdown;
use warpline::report::{
    Filter, Named, Shown, TextOptions, allocations_named, answers, answers_text, apply, callgrind, csv, html, json,
    pprof, sarif, text, unmatched,
};
use warpline_format::event::Event;

const PLAIN: TextOptions =
    TextOptions { color: false, top: 10, all: true, width: 100, shown: warpline::report::Shown::Summary };

#[test]
fn the_demo_s_report() {
    insta::assert_snapshot!(text(&demo_profile(), &PLAIN));
}

#[test]
fn the_short_report() {
    for (name, width) in [("wide", 120), ("narrow", 80)] {
        let shown = text(&demo_profile(), &TextOptions { all: false, width, ..PLAIN });
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{width} columns:\n{shown}");
        assert!(shown.lines().count() <= 40, "{shown}");
        insta::assert_snapshot!(format!("the_short_report_{name}"), shown);
    }
}

/// Findings with long texts, and kernels with long names: still a screen, and five findings by their place at least.
#[test]
fn a_short_report_is_a_screen() {
    let mut profile = demo_profile();
    let long = "one word of many in the reason ".repeat(14);
    let file = "/a/columns.cu";
    profile.findings = (1..=8)
        .map(|rank| warpline::profile::model::Finding {
            id: "strided-access".to_owned(),
            rank,
            severity: warpline::profile::model::Severity::Warning,
            kernel: Some(0),
            file: file.to_owned(),
            line: 100 + rank,
            reason: long.clone(),
            cure: format!("{long} {rank}"),
            ..Default::default()
        })
        .collect();
    let mut kernel = profile.kernels[0].clone();
    kernel.name = format!("void columns<{}>(float*)", "std::integral_constant<int, 4>, ".repeat(6));
    profile.kernels = (0..3).map(|id| warpline::profile::model::Kernel { id, ..kernel.clone() }).collect();
    for width in [80, 120] {
        let shown = text(&profile, &TextOptions { all: false, width, ..PLAIN });
        assert!(shown.lines().count() <= 40, "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{width} columns:\n{shown}");
        for line in 101..=105 {
            assert!(shown.contains(&format!(":{line} in ")), "{shown}");
        }
        assert!(shown.contains("and 3 more"), "{shown}");
    }
}

#[test]
fn annotated_source() {
    let profile = demo_profile();
    let shown = text(&profile, &TextOptions { all: false, shown: Shown::Source, ..PLAIN });
    let folder = profile.sites[0].file.trim_end_matches("/columns.cu");
    insta::assert_snapshot!(shown.replace(folder, "/folder"));
}

#[test]
fn everything_of_an_allocation() {
    let profile = demo_profile();
    assert_eq!(allocations_named(&profile, "d_matrix").device, allocations_named(&profile, "matri").device);
    assert!(allocations_named(&profile, "nothing") == Named::default());
    let filter = Filter { allocation: Some("d_matrix".to_owned()), ..Filter::default() };
    let views = answers(&profile, &filter);
    insta::assert_snapshot!(answers_text(&profile, &views, &TextOptions { all: false, ..PLAIN }));
}

/// Half of the loads hit L1 and no store does: whatever shows a hit rate shows that of loads.
#[test]
fn every_report_has_the_same_hit_rate() {
    use warpline::profile::model::{LevelMetrics, Metrics};
    let mut profile = demo_profile();
    let set = |metrics: &mut Metrics| {
        metrics.l1 = Some(LevelMetrics { lookups: 24, hits: 4, load_lookups: 8, load_hits: 4, ..Default::default() });
        metrics.l2 = Some(LevelMetrics::default());
        metrics.dram = Some(Default::default());
    };
    let spaces = |spaces: &mut warpline::profile::model::Spaces| spaces.get_mut("global").into_iter().for_each(set);
    profile.kernels.iter_mut().for_each(|kernel| spaces(&mut kernel.metrics));
    profile.lines.iter_mut().for_each(|line| spaces(&mut line.metrics));
    profile.sites.iter_mut().filter(|site| site.space == "global").for_each(|site| set(&mut site.metrics));
    let line = profile.lines.iter().find(|row| row.metrics.contains_key("global")).unwrap();
    let place = format!("{}:{}", line.file, line.line).parse().unwrap();
    let kernel = warpline::report::views::kernel(&profile, 0).unwrap();
    let mut without = profile.clone();
    without.kernels[0].metrics.get_mut("global").unwrap().l1.as_mut().unwrap().load_hits = 1;
    let options = warpline::comparison::Options::default();
    let diff = warpline::comparison::compare(&profile, &without, &options, None);
    let shown = warpline::report::DiffOptions { color: false, top: 100, all: true, width: 100 };
    for (what, text) in [
        ("summary", text(&profile, &TextOptions { all: false, ..PLAIN })),
        ("all", text(&profile, &PLAIN)),
        ("markdown", warpline::report::markdown(&profile, 10)),
        ("kernel", warpline::report::views::text(&kernel, 10, 200, false)),
        ("line", answered(&profile, &Filter { line: Some(place), ..Filter::default() }, 200)),
        ("diff", warpline::report::diff_text(&diff, &profile, &without, &shown)),
    ] {
        let table: Vec<&str> = text.lines().filter(|line| line.contains("50.0 %")).collect();
        assert!(!table.is_empty() && !text.contains("16.7 %"), "{what}:\n{text}");
    }
    let source = text(&profile, &TextOptions { all: false, shown: Shown::Source, ..PLAIN });
    assert!(source.contains("50 %") && !source.contains("17 %"), "{source}");
    let tables: serde_json::Value = serde_json::from_str(&warpline::report::tables(&profile)).unwrap();
    assert_eq!(tables["tables"]["kernels"]["global_l1_hit_rate"][0], 0.5);
    assert_eq!(tables["tables"]["kernels"]["global_l1_store_hit_rate"][0], 0.0);
    let figures = &warpline::comparison::measure(&profile).kernels[0].1;
    let figure = |name: &str| figures.get(name).map(|value| value.number());
    assert_eq!(figure("global.l1.load_hit_rate"), Some(0.5));
    assert_eq!(figure("global.l1.hit_rate"), Some(0.5), "the former name is the same figure");
    assert_eq!(figure("global.l1.store_hit_rate"), Some(0.0));
}

/// A filter that matches nothing is named, with what the profile has instead.
#[test]
fn filters_that_match_nothing_are_named() {
    let mut profile = profile_with_a_finding();
    profile.host_allocations = vec![warpline::profile::model::HostAllocation {
        id: 1,
        name: Some("h_matrix".to_owned()),
        kind: "malloc".to_owned(),
        bytes: 4096,
        path: Vec::new(),
        count: 1,
    }];
    let printed = |change: &dyn Fn(&mut Filter)| {
        let mut filter = Filter::default();
        change(&mut filter);
        assert!(apply(&profile, &filter).is_none());
        unmatched(&profile, &filter)
    };
    let kernel = printed(&|filter| filter.kernel = Some(regex::Regex::new("colums").unwrap()));
    assert!(kernel.contains("--kernel 'colums' matches no kernel") && kernel.contains("columns"), "{kernel}");
    let allocation = printed(&|filter| filter.allocation = Some("h_matrx".to_owned()));
    assert!(
        allocation.contains("--allocation h_matrx") && allocation.contains("did you mean `h_matrix`"),
        "{allocation}"
    );
    let line = printed(&|filter| filter.line = Some("columns.cu:4000".parse().unwrap()));
    assert!(line.contains("--line columns.cu:4000") && line.contains("the nearest with some: "), "{line}");
    let line = printed(&|filter| filter.line = Some("rows.cu:4".parse().unwrap()));
    assert!(line.contains("no such file") && line.contains("columns.cu"), "{line}");
    let finding = printed(&|filter| filter.finding = Some("9".parse().unwrap()));
    assert!(finding.contains("--finding 9") && finding.contains("strided-access"), "{finding}");
    let source = printed(&|filter| filter.source = Some("rows".to_owned()));
    assert!(source.contains("--source rows") && source.contains("columns.cu"), "{source}");
    // Host allocations have names, too.
    let filter = Filter { allocation: Some("h_matrix".to_owned()), ..Filter::default() };
    assert_eq!(apply(&profile, &filter).expect("the host's").host_allocations.len(), 1);
    assert!(answered(&profile, &filter, 100).contains("HOST ALLOCATION h_matrix: 4.00 KiB, malloc"));
}

#[test]
fn a_killed_run_with_a_fault() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Launch(demo::launch(0)));
    trace.batch(0, &demo::batch());
    trace.event(demo::fault(0));
    let facts = RunFacts { exit_code: Some(137), ended_by_itself: false, ..facts() };
    insta::assert_snapshot!(text(&profile(&trace.finish(), facts), &PLAIN));
}

#[test]
fn nothing_is_wider_than_a_terminal() {
    for line in text(&demo_profile(), &PLAIN).lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
}

#[test]
fn colours_add_nothing_but_colours() {
    let profile = demo_profile();
    let colored = text(
        &profile,
        &TextOptions { color: true, top: 10, all: true, width: 100, shown: warpline::report::Shown::Summary },
    );
    let plain = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap().replace_all(&colored, "").into_owned();
    assert_ne!(colored, plain);
    assert_eq!(plain, text(&profile, &PLAIN));
}

/// A report on what a filter names.
fn answered(profile: &Profile, filter: &Filter, width: usize) -> String {
    answers_text(profile, &answers(profile, filter), &TextOptions { all: false, width, ..PLAIN })
}

#[test]
fn a_line_a_finding_and_a_kernel_each_have_a_page() {
    let profile = profile_with_a_finding();
    let top = |filter: Filter| Filter { top: 10, ..filter };
    let line = top(Filter { line: Some("columns.cu:9".parse().unwrap()), ..Filter::default() });
    let finding = top(Filter { finding: Some("1".parse().unwrap()), ..Filter::default() });
    let kernel = top(Filter { kernel: Some(regex::Regex::new("columns").unwrap()), ..Filter::default() });
    for (name, filter) in [("line", &line), ("finding", &finding), ("kernel", &kernel)] {
        insta::assert_snapshot!(format!("page_of_a_{name}"), answered(&profile, filter, 100));
        let markdown: String = answers(&profile, filter).iter().map(|view| markdown(view, 10)).collect();
        insta::assert_snapshot!(format!("page_of_a_{name}_as_markdown"), markdown);
    }
    // Narrow terminals get fewer columns, none of them cut.
    for row in answered(&profile, &line, 80).lines() {
        assert!(row.chars().count() <= 80, "{row}");
    }
}

#[test]
fn questions_leave_the_profile_of_what_they_are_about() {
    let profile = profile_with_a_finding();
    let of = |filter: Filter| apply(&profile, &filter);
    let place = |text: &str| Filter { line: Some(text.parse().unwrap()), ..Filter::default() };
    let chosen = |text: &str| Filter { finding: Some(text.parse().unwrap()), ..Filter::default() };
    let line = profile.lines.iter().find(|row| !row.metrics.is_empty()).unwrap();
    let name = line.file.rsplit('/').next().unwrap();
    let kept = of(place(&format!("{name}:{}", line.line))).unwrap();
    assert!(kept.lines.iter().all(|row| (&row.file, row.line) == (&line.file, line.line)) && !kept.lines.is_empty());
    assert!(kept.sites.iter().all(|row| row.line == line.line) && !kept.sites.is_empty());
    assert_eq!(kept.kernels.len(), 1);
    // A part of a file's name is another file's name.
    assert!(of(place(&format!("{}:{}", &name[1..], line.line))).is_none());
    assert!(of(place("columns.cu:4000")).is_none());
    let finding = &profile.findings[0];
    let kept = of(chosen(&finding.id)).unwrap();
    assert!(kept.findings.iter().all(|row| row.id == finding.id));
    assert_eq!(of(chosen("1")).unwrap().findings.first(), Some(finding));
    assert!(of(chosen("99")).is_none());
}

#[test]
fn filters_keep_what_was_requested_or_say_so() {
    let profile = demo_profile();
    let filter = |kernel: Option<&str>, source: Option<&str>| Filter {
        kernel: kernel.map(|pattern| regex::Regex::new(pattern).unwrap()),
        source: source.map(str::to_owned),
        top: 3,
        ..Filter::default()
    };
    assert_eq!(apply(&profile, &filter(Some("^columns"), Some("columns.cu"))).unwrap(), profile);
    assert!(apply(&profile, &filter(Some("^rows"), None)).is_none());
    assert!(apply(&profile, &filter(None, Some("other.cu"))).is_none());
}

#[test]
fn the_json_document_reads_back() {
    let profile = demo_profile();
    let back: Profile = serde_json::from_str(&json(&profile)).unwrap();
    assert_eq!(back, profile);
    let value: serde_json::Value = serde_json::from_str(&json(&profile)).unwrap();
    assert_eq!(value["schema"], "warpline.profile");
    assert_eq!(value["version"], 1);
}

#[test]
fn the_table_for_spreadsheets() {
    insta::assert_snapshot!(csv(&demo_of("/nowhere/columns.cu")));
}

#[test]
fn the_callgrind_file() {
    let file = callgrind(&demo_of("/nowhere/columns.cu"));
    // Own costs, which do not follow a `calls` line, add up to the summary.
    let mut sum = [0u64; 6];
    let mut after_call = false;
    for line in file.lines() {
        if line.starts_with(|first: char| first.is_ascii_digit()) && !after_call {
            for (sum, value) in sum.iter_mut().zip(line.split(' ').skip(1)) {
                *sum += value.parse::<u64>().unwrap();
            }
        }
        after_call = line.starts_with("calls=");
    }
    let summary = file.lines().find_map(|line| line.strip_prefix("summary: ")).unwrap();
    assert_eq!(summary, sum.iter().map(u64::to_string).collect::<Vec<_>>().join(" "));
    insta::assert_snapshot!(file);
}

/// The demo without its source.
fn demo_of(source: &str) -> Profile {
    profile(&demo::trace(source), facts())
}

/// A report of the demo, with the source's folder taken out.
fn anywhere(report: impl Fn(&Profile) -> String) -> String {
    let profile = demo_profile();
    let folder = profile.sites[0].file.trim_end_matches("/columns.cu");
    report(&profile).replace(folder, "/folder")
}

#[test]
fn the_findings_for_editors() {
    let mut document: serde_json::Value = serde_json::from_str(&anywhere(sarif)).unwrap();
    // Each rule has its page; the first one's will do.
    let rules = document["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap();
    assert!(rules.iter().all(|rule| rule["help"]["text"].as_str().unwrap().contains("## Remedies")));
    rules.clear();
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap());
}

#[test]
fn bad_accesses_are_findings() {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Launch(demo::launch(0)));
    trace.event(demo::fault(0));
    let document: serde_json::Value = serde_json::from_str(&sarif(&profile(&trace.finish(), facts()))).unwrap();
    let result = &document["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"fault".into(), &"error".into()));
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "file:///nowhere/columns.cu");
}

#[test]
fn the_page_for_browsers() {
    let profile = demo_profile();
    let page = html(&profile);
    let document = crate::page::data(&page);
    assert_eq!(document["sides"][0]["name"], "profile");
    assert_eq!(document["sides"][0]["kernel_labels"]["0"], "columns");
    assert!(document["comparison"].is_null());
    let shown: Profile = serde_json::from_value(document["sides"][0]["profile"].clone()).unwrap();
    // What fills most of a large profile and is not drawn is not there; all else is.
    assert_eq!((&shown.run, &shown.branches, &shown.findings), (&profile.run, &profile.branches, &profile.findings));
    assert_eq!(shown.kernels[0].metrics, profile.kernels[0].metrics);
    assert_eq!(shown.sites[0].metrics.sectors, profile.sites[0].metrics.sectors);
    // It fetches nothing: the only address is the name of a namespace.
    let own = page_without_data(&page).replace("http://www.w3.org/2000/svg", "");
    for fetch in ["src=", "http://", "https://", "@import", "url(", "{{"] {
        assert!(!own.contains(fetch), "{fetch}");
    }
}

/// The page's own markup, styles and scripts.
fn page_without_data(page: &str) -> String {
    let (before, rest) = page.split_once(" id=\"data\">").unwrap();
    format!("{before}{}", rest.split_once("</script>").unwrap().1)
}

#[test]
fn the_page_holds_no_markup_of_the_program() {
    let mut profile = demo_profile();
    let nasty = "<script>alert('&\"')</script>";
    profile.run.program = vec![nasty.into()];
    profile.kernels[0].name = nasty.into();
    profile.allocations[0].name = Some(nasty.into());
    for lines in profile.sources.values_mut() {
        lines.values_mut().for_each(|line| *line = nasty.into());
    }
    profile.sources.insert("a</script><!--".into(), [(1, "\u{2028}</script>".into())].into());
    let page = html(&profile);
    assert!(!page.contains("<script>alert"), "only escaped");
    assert_eq!(page.matches("<script").count(), 2, "the page's own");
    assert_eq!(page.matches("</script").count(), 2);
    assert_eq!(page.matches("<!--").count(), 0);
    let document = crate::page::data(&page);
    assert_eq!(document["sides"][0]["profile"]["kernels"][0]["name"], nasty);
}

/// Fields of a message of protocol buffers: number, value of a number, bytes of anything else.
fn fields(mut bytes: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (first, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let value = varint(&mut bytes);
        match key & 7 {
            0 => fields.push((key >> 3, value, Vec::new())),
            2 => {
                let (content, rest) = bytes.split_at(value as usize);
                fields.push((key >> 3, 0, content.to_vec()));
                bytes = rest;
            }
            other => panic!("wire type {other}"),
        }
    }
    fields
}

#[test]
fn the_file_for_pprof_has_all_that_the_profile_has() {
    let mut profile = demo_profile();
    // The path from `main` is shown if all launches have the same.
    let main = Frame { function: "main".into(), file: "/nowhere/columns.cu".into(), line: 20, column: 3 };
    for launch in &mut profile.kernels[0].launches {
        launch.path = vec![main.clone()];
    }
    let file = pprof(&profile);
    let mut message = Vec::new();
    flate2::read::GzDecoder::new(&file[..]).read_to_end(&mut message).expect("gzip");
    let all = fields(&message);
    let of = |number: u64| all.iter().filter(move |field| field.0 == number);
    let texts: Vec<String> = of(6).map(|field| String::from_utf8(field.2.clone()).unwrap()).collect();
    assert_eq!(texts[0], "");
    let mut sums = [0u64; 6];
    let numbers = |bytes: &[u8]| {
        // Packed numbers are those of a message whose keys are left out.
        let mut numbers = vec![0u64];
        let mut shift = 0;
        for byte in bytes {
            *numbers.last_mut().unwrap() |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                numbers.push(0);
                shift = 0;
            }
        }
        numbers.pop();
        numbers
    };
    let locations: Vec<u64> = of(4).map(|field| fields(&field.2)[0].1).collect();
    let mut functions = Vec::new();
    for sample in of(2) {
        let parts = fields(&sample.2);
        let stack = numbers(&parts.iter().find(|part| part.0 == 1).unwrap().2);
        assert!(!stack.is_empty() && stack.iter().all(|id| locations.contains(id)), "{stack:?}");
        let values = numbers(&parts.iter().find(|part| part.0 == 2).unwrap().2);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    for function in of(5) {
        functions.push(texts[fields(&function.2)[1].1 as usize].clone());
    }
    assert!(functions.iter().any(|name| name.starts_with("columns")), "{functions:?}");
    assert!(functions.iter().any(|name| name == "main"), "{functions:?}");
    let wanted: u64 = profile.sites.iter().map(|site| site.metrics.requests).sum();
    assert_eq!(sums[2], wanted);
    assert_eq!(texts[of(14).next().unwrap().1 as usize], "sectors");
}
