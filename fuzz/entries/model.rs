//! Reads an arbitrary GPU model: each model that can be read must be usable in a simulation.

use warpline::models;
use warpline::simulation::Settings;

/// Reads the model, and prepares a simulation.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(model) = models::parse(text, std::path::Path::new("x.toml")) else { return };
    _ = model.run_device();
    _ = model.rates();
    if let Ok(hierarchy) = model.hierarchy() {
        let settings = Settings::new(hierarchy);
        _ = warpline::hierarchy::FirstLevel::new(&settings.hierarchy);
        _ = warpline::simulation::SharedStage::new(&settings, 2);
    }
}
