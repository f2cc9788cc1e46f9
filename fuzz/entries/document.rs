//! Passes an arbitrary profile to all commands except `report`: predictions, datasets, formats of other tools,
//! sessions.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use warpline::dataset::{runs_of, tables_of};
use warpline::explore::{Profiles, Session, draw};
use warpline::models;
use warpline::prediction::changes::{folded, padded, parted};
use warpline::prediction::configurations::{Grids, all_blocks};
use warpline::prediction::launch::Launch;
use warpline::prediction::model::Model;
use warpline::prediction::predict::predict;
use warpline::prediction::subject::Subject;
use warpline::prediction::tiling::tiled_axes;
use warpline::profile::Profile;
use warpline::profile::file::{from_bytes, to_bytes};
use warpline::report;
use warpline_format::device::Device;

/// The number of block shapes for which a kernel is predicted, in addition to the recorded shape.
const BLOCKS: usize = 2;

/// Reads a document and passes it to every command.
pub fn run(data: &[u8]) {
    let Ok(document) = serde_json::from_slice::<Profile>(data) else { return };
    let Ok(profile) = from_bytes(&to_bytes(&document), std::path::Path::new("x")) else { return };
    super::profile::report(&profile);
    export(&profile);
    explore(&profile);
    predictions(&profile);
}

/// Formats of other tools, and tables.
fn export(profile: &Profile) {
    for (cost, _) in report::COSTS.iter().enumerate() {
        _ = report::folded(profile, cost);
    }
    _ = report::speedscope(profile, 0);
    _ = report::hatchet(profile);
    _ = report::perfetto(profile);
    for run in runs_of(profile) {
        _ = tables_of(&run);
    }
}

/// Visits the tabs and opens their entries.
fn explore(profile: &Profile) {
    let mut session = Session::new(Profiles { profile: profile.clone(), before: Some(profile.clone()) });
    let mut terminal = Terminal::new(TestBackend::new(70, 20)).expect("a made-up terminal");
    let open = [KeyCode::Enter, KeyCode::Down, KeyCode::Enter, KeyCode::End, KeyCode::Enter, KeyCode::Esc];
    for _ in 0..6 {
        for code in open.into_iter().chain([KeyCode::Esc, KeyCode::Esc, KeyCode::Tab]) {
            session.key(KeyEvent::new(code, KeyModifiers::NONE));
            terminal.draw(|frame| draw(&mut session, frame, false)).expect("a made-up terminal");
        }
    }
    let cells = &terminal.backend().buffer().content;
    let hidden = cells.iter().flat_map(|cell| cell.symbol().chars()).find(|c| warpline_format::visible::is_hidden(*c));
    assert_eq!(hidden, None);
}

fn predictions(profile: &Profile) {
    let model = models::find("a100").expect("a built-in model");
    let (hierarchy, rates) = (model.hierarchy().expect("a built-in model"), model.rates());
    let device = Device::rtx_2080_ti();
    let model =
        Model { key: "a100", device: &device, hierarchy: &hierarchy, rates: &rates, stated: Default::default() };
    for kernel in profile.kernels.iter().take(4) {
        let Ok(subject) = Subject::new(profile, kernel) else { continue };
        _ = tiled_axes(&subject);
        let grids = Grids::new(&subject, [1; 3]);
        let blocks = all_blocks(&subject.launch, &grids.tiling);
        for &block in blocks.iter().rev().take(BLOCKS).chain([&[64, 1, 1]]) {
            let (grid, _) = grids.grid_for(&subject, &subject.launch, block);
            let launch = Launch::new(block, grid, subject.launch.arguments.clone());
            _ = predict(&subject, &launch, &model);
        }
        _ = folded(subject.addresses, [1, 2, 1]);
        for array in 0..subject.arrays.len().min(3) {
            _ = padded(&subject, array, 0, 1);
            _ = parted(&subject, array);
        }
    }
}
