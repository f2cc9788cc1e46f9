//! Profile files and the JSON document: round trips, damage, and the schema.

use std::path::Path;

use crate::support::schema::check;
use crate::support::{TraceBuilder, demo};
use proptest::prelude::*;
use serde_json::Value;
use warpline::advice::{Advice, Choice, Equation};
use warpline::analyses::pages::PageSettings;
use warpline::analysis::{NoProgress, analyze_with};
use warpline::hierarchy::Traffic;
use warpline::models;
use warpline::profile::file::{from_bytes, to_bytes};
use warpline::profile::model::{PathSpread, Rank, RatioSpread, Spread};
use warpline::profile::{BuildInput, Profile, RunFacts, build};
use warpline::report::{TextOptions, text};
use warpline::simulation::Settings;
use warpline::trace::TraceReader;
use warpline_format::event::Event;

/// The demo with a fault in its second launch, so that every kind of row occurs.
fn profile() -> Profile {
    let mut trace = TraceBuilder::default();
    demo::begin(&mut trace, "/nowhere/columns.cu");
    trace.event(Event::Spills { module: 0, kernels: vec![(demo::launch(0).function, 24)] });
    for id in 0..2 {
        trace.event(Event::Launch(demo::launch(id)));
        trace.batch(id, &demo::batch());
        if id == 1 {
            trace.event(demo::fault(id));
        }
        trace.event(demo::end(id, if id == 1 { 700 } else { 0 }));
    }
    trace.event(Event::End { launches: 2 });
    let hierarchy = models::find("a100").unwrap().hierarchy().unwrap();
    let mut settings = Settings::new(hierarchy);
    settings.pages = Some(PageSettings { page_bytes: 4096, window: 7, reach_bytes: Some(8192) });
    let bytes = trace.finish();
    let reader = TraceReader::new(&bytes[..]).unwrap();
    let analysis = analyze_with(reader, 1, Some(&settings), &mut NoProgress).unwrap();
    let facts = RunFacts {
        device: "cpu".into(),
        models: vec!["a100".into()],
        rates: vec![models::find("a100").unwrap().rates()],
        pages: settings.pages,
        bypass: [(0, advice())].into(),
        ended_by_itself: true,
        exit_code: Some(1),
        ..RunFacts::default()
    };
    build(BuildInput { analysis: &analysis, facts })
}

/// The same, of a rank of a job.
fn of_rank() -> Profile {
    let mut profile = profile();
    profile.run.environment.rank = Some(Rank { index: 3, count: Some(8), ..Rank::default() });
    profile
}

fn advice() -> Advice {
    let traffic = Traffic { dram_reads: 3, ..Traffic::default() };
    Advice {
        without_reuse: false,
        equation: Some(Equation {
            reuse_distance: 1.0 / 3.0,
            divergence_degree: 2.5,
            line_bytes: 32,
            l1_bytes: 65536,
            blocks_per_sm: 4,
            warps_per_block: 2,
            warps: 1,
        }),
        warps: vec![Choice { what: 1, traffic }, Choice { what: 2, traffic }],
        sites: vec![Choice { what: vec![], traffic }, Choice { what: vec![0], traffic }],
    }
}

#[test]
fn spills_are_reported() {
    let profile = profile();
    assert_eq!(profile.kernels[0].spill_bytes, 24);
    let described = text(
        &profile,
        &TextOptions { color: false, top: 10, all: true, width: 100, shown: warpline::report::Shown::Summary },
    );
    assert!(described.contains("ptxas spills 24 bytes per thread"), "{described}");
}

#[test]
fn a_profile_survives_its_file() {
    let profile = profile();
    assert_eq!(from_bytes(&to_bytes(&profile), Path::new("x")).unwrap(), profile);
    assert_eq!(from_bytes(&to_bytes(&of_rank()), Path::new("x")).unwrap(), of_rank());
}

/// Somebody else may have put a link where a temporary file's name can be foretold, in a folder that all can write to.
#[test]
fn links_in_the_place_of_temporary_files_lead_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let (path, victim) = (folder.path().join("out.wlprof"), folder.path().join("victim"));
    std::fs::write(&victim, "theirs").unwrap();
    let foretold = [format!("out.wlprof.{}.tmp", std::process::id()), format!(".warpline.{}.tmp", std::process::id())];
    for name in &foretold {
        std::os::unix::fs::symlink(&victim, folder.path().join(name)).unwrap();
    }
    warpline::profile::write(&profile(), &path).unwrap();
    assert_eq!(warpline::profile::read(&path).unwrap(), profile());
    assert_eq!(std::fs::read(&victim).unwrap(), b"theirs");
    // Ordinary permissions, and nothing left behind.
    let mode = |path: &Path| std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
    assert_eq!(mode(&path), mode(&victim));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2 + foretold.len());
}

#[test]
fn every_flipped_bit_of_a_profile_is_found() {
    let good = to_bytes(&profile());
    for bit in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(from_bytes(&bytes, Path::new("x")).is_err(), "bit {bit}");
    }
    // A rank's has a longer head, and a section behind the document: of these, every bit of a byte in turn.
    let good = to_bytes(&of_rank());
    assert_eq!(good[8], 2);
    for byte in 0..good.len() {
        for bit in if byte < 48 { 0..8 } else { byte % 8..byte % 8 + 1 } {
            let mut bytes = good.clone();
            bytes[byte] ^= 1 << bit;
            assert!(from_bytes(&bytes, Path::new("x")).is_err(), "bit {bit} of byte {byte}");
        }
    }
}

#[test]
fn every_prefix_of_a_profile_is_refused() {
    for good in [to_bytes(&profile()), to_bytes(&of_rank())] {
        for length in 0..good.len() {
            assert!(from_bytes(&good[..length], Path::new("x")).is_err(), "{length} bytes");
        }
        let longer = [&good[..], b"x"].concat();
        assert!(from_bytes(&longer, Path::new("x")).is_err());
    }
}

proptest! {
    #[test]
    fn garbage_is_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), head in any::<bool>()) {
        let mut file = if head { to_bytes(&profile())[..32].to_vec() } else { Vec::new() };
        file.extend(bytes);
        prop_assert!(from_bytes(&file, Path::new("x")).is_err());
    }
}

#[test]
fn the_document_is_what_the_schema_says() {
    let schema: Value = serde_json::from_str(include_str!("../../docs/profile-v1.schema.json")).unwrap();
    let document: Value = serde_json::from_str(&warpline::report::json(&profile())).unwrap();
    for table in
        ["kernels", "lines", "sites", "allocations", "host_allocations", "branches", "blocks", "faults", "not_seen"]
    {
        assert!(!document[table].as_array().unwrap().is_empty(), "the demo has no {table}");
    }
    check(&schema, &schema, &document, "profile");
}

#[test]
fn the_text_shows_every_analysis_within_a_terminal() {
    let mut profile = profile();
    let launch = profile.kernels[0].launches[0].clone();
    let spread = |least: u32, most: u32| Spread {
        mean: f64::from(least + most) / 2.0,
        min: least.into(),
        max: most.into(),
        stddev: 1.0,
    };
    profile.kernels[0].over_paths.push(PathSpread {
        path: launch.path,
        launches: vec![0, 1],
        count: 2,
        counts: [("global.sectors".to_owned(), spread(1000, 3000))].into(),
        ratios: [("global.l1.load_hit_rate".to_owned(), RatioSpread { mean: 0.5, min: 0.25, max: 0.75, stddev: 0.25 })]
            .into(),
        exact: Default::default(),
    });
    let shown = text(
        &profile,
        &TextOptions { color: false, top: 10, all: true, width: 100, shown: warpline::report::Shown::Summary },
    );
    for heading in ["CACHES", "ESTIMATE", "BYPASSING", "PAGES", "LAUNCHES"] {
        assert!(shown.lines().any(|line| line.starts_with(heading)), "no {heading} in:\n{shown}");
    }
    for line in shown.lines() {
        assert!(line.chars().count() <= 120, "{line}");
    }
    assert!(shown.contains("CUDAAdvisor's equation 1 gives 1 of 2 warps; simulated: "), "{shown}");
    assert!(shown.contains("50.0 % (25.0 % to 75.0 %; 25.0 %)"), "{shown}");
}
