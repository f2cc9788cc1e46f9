//! Random changes of good inputs: nothing that reads what others wrote panics, hangs, or takes all memory. The same entries
//! are targets of cargo-fuzz, in `fuzz/`.

#[path = "../../fuzz/entries/comparison.rs"]
mod comparison;
#[path = "../../fuzz/documents.rs"]
mod documents;
#[path = "../../fuzz/harness.rs"]
mod harness;
#[path = "../../fuzz/entries/mcp.rs"]
mod mcp;
#[path = "../../fuzz/entries/model.rs"]
mod model;
#[path = "../../fuzz/entries/profile.rs"]
mod profile;
#[path = "../../fuzz/entries/site_table.rs"]
mod site_table;
#[path = "../../fuzz/entries/trace.rs"]
mod trace;

use std::path::Path;

use crate::support::{Batch, TraceBuilder, demo};
use warpline::analysis::{NoProgress, analyze_with};
use warpline::models;
use warpline::simulation::Settings;
use warpline::trace::TraceReader;
use warpline_format::access::Space;
use warpline_format::event::{CallPathFrame, Event, Launch, SiteCount};
use warpline_format::site_table::{Bundle, Member};

/// Traces that hold every kind of record and item.
fn traces() -> Vec<Vec<u8>> {
    let short = |id: u64| {
        let mut batch = Batch::default();
        for block in 0..demo::BLOCKS {
            let first = block as u32 * 8 * demo::WARPS;
            batch.block(first, demo::WARPS, block).turn(first);
            batch.access(Space::Global, demo::site::MATRIX, u32::MAX, |lane| demo::MATRIX + 4 * lane);
            batch.access(Space::Global, demo::site::MATRIX, 0xffff, |lane| demo::MATRIX + (lane * lane * 977) % 49000);
            batch.access(Space::Local, demo::site::MATRIX, 7, |lane| 8 * lane).barrier();
            batch.turn(first + 1).access(Space::Shared, demo::site::TILE, u32::MAX, |lane| 128 * lane).barrier();
            batch.turn(first).call(0).access(Space::Constant, demo::site::SCALE, 3, |_| demo::SCALE).ret();
        }
        (demo::launch(id), batch)
    };
    let mut one = TraceBuilder::default();
    demo::begin(&mut one, "/nowhere/columns.cu");
    one.event(Event::Object { id: 0, path: "/nowhere/columns".into(), build_id: vec![1, 2, 3] });
    one.event(Event::Path { id: 1, frames: vec![CallPathFrame { object: 0, offset: 0x1234 }] });
    one.event(Event::Spills { module: 0, kernels: vec![(0, 24)] });
    for id in 0..3 {
        let (launch, batch) = short(id);
        one.event(Event::Launch(Launch { path: 1, ..launch })).batch(id, &batch).event(demo::warp_blocks(id));
        one.event(demo::fault(id)).event(demo::end(id, if id == 2 { 700 } else { 0 }));
    }
    one.event(Event::Dropped { records: 3 }).event(Event::Free { id: 2, path: 1 }).event(Event::End { launches: 3 });

    // Counted on a GPU, with bundles in the table.
    let mut two = TraceBuilder::default();
    let mut table = demo::table("/nowhere/other.cu");
    let member = |site, offset| Member { site, offset };
    table.bundles = vec![Bundle { members: vec![member(0, 0), member(0, 4), member(2, 128)] }];
    demo::begin(&mut two, "/nowhere/columns.cu");
    two.event(Event::OnGpu).event(Event::Module { id: 1, site_table: table.to_bytes() });
    let counts = SiteCount {
        site: 0,
        space: Space::Global,
        lanes: 64,
        ideal_sectors: 8,
        by_sectors: vec![(4, 1), (32, 1)],
        by_lines: vec![(1, 1), (32, 1)],
    };
    two.event(Event::Launch(Launch { module: 1, ..demo::launch(0) }));
    two.event(Event::SiteCounts { launch: 0, sites: vec![counts] }).event(demo::end(0, 0));
    let mut bundled = Batch::default();
    bundled.block(0, demo::WARPS, 0).turn(1);
    let field = warpline_format::access::bundle_field(0, 3);
    bundled.access(Space::Global, field, u32::MAX, |lane| demo::MATRIX + 4 * lane);
    two.event(Event::Launch(Launch { module: 1, ..demo::launch(1) })).batch(1, &bundled).event(demo::end(1, 0));
    two.event(Event::End { launches: 2 });
    vec![one.finish(), two.finish(), demo::trace("/nowhere/columns.cu")]
}

/// Profiles as files, and as documents.
fn profiles() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for bytes in traces() {
        let settings = Settings::new(models::find("t4").unwrap().hierarchy().unwrap());
        let reader = TraceReader::new(&bytes[..]).unwrap();
        let analysis = analyze_with(reader, 1, Some(&settings), &mut NoProgress).unwrap();
        let facts = warpline::profile::RunFacts {
            device: "cpu".into(),
            models: vec!["t4".into()],
            rates: vec![models::find("t4").unwrap().rates()],
            ..Default::default()
        };
        let profile = warpline::profile::build(warpline::profile::BuildInput { analysis: &analysis, facts });
        let file = warpline::profile::file::to_bytes(&profile);
        assert!(warpline::profile::file::from_bytes(&file, Path::new("x")).is_ok());
        all.extend([file, serde_json::to_vec(&profile).unwrap()]);
    }
    all
}

/// Profiles, and a file of limits.
fn compared() -> Vec<Vec<u8>> {
    let mut all = profiles();
    let limits = b"[program]\nestimate.seconds = { soft = 5 }\n[kernels.\"a.*\"]\nglobal.sectors = { hard = 1e6 }\n[findings]\nnote.new = 0\n";
    all.push(limits.to_vec());
    all
}

fn tables() -> Vec<Vec<u8>> {
    vec![demo::table("/nowhere/columns.cu").to_bytes()]
}

fn texts() -> Vec<Vec<u8>> {
    [
        include_str!("../../models/rtx2080ti.toml"),
        include_str!("../../models/b200.toml"),
        include_str!("../../models/vega20.toml"),
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

#[test]
fn changed_traces() {
    harness::run("trace", &traces(), 60, trace::run);
}

#[test]
fn changed_profiles() {
    harness::run("profile", &profiles(), 60, profile::run);
}

#[test]
fn changed_comparisons() {
    harness::run("comparison", &compared(), 300, comparison::run);
}

#[test]
fn changed_site_tables() {
    harness::run("site_table", &tables(), 1000, site_table::run);
}

#[test]
fn changed_models() {
    harness::run("model", &texts(), 40, model::run);
}

#[test]
fn changed_conversations() {
    harness::run("mcp", &mcp::seeds(), 400, mcp::run);
}

#[test]
fn changed_calls_of_tools() {
    harness::run_with(documents::changed, "mcp-calls", &calls(), 400, mcp::run);
}

/// The conversations that are a single document.
fn calls() -> Vec<Vec<u8>> {
    mcp::seeds().into_iter().filter(|seed| serde_json::from_slice::<serde_json::Value>(seed).is_ok()).collect()
}

#[test]
#[ignore = "test-all"]
fn changed_inputs_at_length() {
    harness::at_length("mcp", &mcp::seeds(), mcp::run);
    harness::at_length_with(documents::changed, "mcp-calls", &calls(), mcp::run);
    harness::at_length("trace", &traces(), trace::run);
    harness::at_length("profile", &profiles(), profile::run);
    harness::at_length("comparison", &compared(), comparison::run);
    harness::at_length("site_table", &tables(), site_table::run);
    harness::at_length("model", &texts(), model::run);
}

/// The seeds as files, for `make fuzz`.
#[test]
#[ignore = "writes fuzz/corpus"]
fn write_corpora() {
    for (name, seeds) in [
        ("trace", traces()),
        ("profile", profiles()),
        ("comparison", compared()),
        ("site_table", tables()),
        ("model", texts()),
        ("mcp", mcp::seeds()),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (number, seed) in seeds.iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        }
    }
}
