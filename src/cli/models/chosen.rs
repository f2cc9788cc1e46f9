//! Selects the GPU models that a command simulates.

use std::collections::BTreeMap;

use warpline_format::device::Device;
use warpline_format::occupancy::Stated;
use warpline_format::warp_order::Order;

use crate::cli::args::{CopiesChoice, LaunchesChoice, RestartChoice, ReuseChoice, ReuseScopeChoice, StateArguments};
use crate::cli::models::default_model::DefaultModel;
use crate::cli::models::gpus;
use crate::cli::{Failure, quantities};
use crate::exit_code;
use warpline_analyzer::races::RaceCheck;
use warpline_analyzer::simulation::{ReuseScope, ReuseSettings, Settings};
use warpline_simulator::locality::{Distance, Stores};
use warpline_simulator::models::Rates;

/// A model with all data for its simulation.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Chosen {
    /// Name on the command line.
    pub(in crate::cli) key: String,
    /// Parameters of its scheduler.
    pub(in crate::cli) device: Device,
    /// Figures of the device that are assumed because no source gives them.
    pub(in crate::cli) assumed: Vec<&'static str>,
    /// Its caches.
    pub(in crate::cli) simulation: Settings,
    /// Its rates.
    pub(in crate::cli) rates: Rates,
    /// Reason for its selection, if it was not requested.
    pub(in crate::cli) reason: Option<String>,
    /// Note for the user about the selection.
    pub(in crate::cli) note: Option<String>,
    /// Whether the GPU has compute capability 4 or less.
    pub(in crate::cli) kepler: bool,
}

impl Chosen {
    /// Returns the profile's assumptions about the model.
    pub(in crate::cli) fn assumptions(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::from([("model".to_owned(), self.device.name.clone())]);
        all.extend(self.simulation.assumptions());
        if let Order::OldestFirst { .. } = self.device.order {
            all.insert("warp_order".to_owned(), self.device.order.to_string());
        }
        if let Some(reason) = &self.reason {
            all.insert("model_chosen".to_owned(), reason.clone());
        }
        if !self.assumed.is_empty() {
            all.insert("model_figures_assumed".to_owned(), self.assumed.join(", "));
        }
        all
    }
}

/// Limits the memory of the analysis of each model, if requested.
///
/// # Errors
/// Returns an error if the limit is not a size, or is too small for the required data.
pub(in crate::cli) fn bound_memory(
    models: &mut [&mut Chosen],
    text: Option<&str>,
    workers: u32,
) -> Result<(), Failure> {
    let Some(text) = text else { return Ok(()) };
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let granted =
        quantities::size(text).ok_or_else(|| usage(format!("--memory takes a size as 512M or 4G, not `{text}`")))?;
    for model in models {
        let least = model.simulation.least_bytes(workers as usize);
        if granted < least {
            let mib = least.div_ceil(1 << 20);
            return Err(usage(format!(
                "--memory {text} is too little: {} with {workers} threads of the analysis takes {mib} MiB before it has seen anything; \
                 fewer --threads take less",
                model.key
            )));
        }
        model.simulation.bound_memory(granted);
    }
    Ok(())
}

/// Returns the models of `--gpu A,B,…`, or the result of `default` if none is named. There is at least one.
pub(in crate::cli) fn choose(
    names: Option<&str>,
    default: impl FnOnce() -> DefaultModel,
    state: &StateArguments,
) -> Result<Vec<Chosen>, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::new(exit_code::USAGE, error);
    let mut chosen: Vec<Chosen> = Vec::new();
    let (names, reason, note) = match names {
        Some(names) => (names.to_owned(), None, None),
        None => {
            let choice = default();
            (choice.model, Some(choice.reason), choice.note)
        }
    };
    for name in names.split(',') {
        let model = gpus::find(name.trim())?;
        let run = model.run_device().map_err(|error| usage(&error))?;
        let hierarchy = model.hierarchy().map_err(|error| usage(&error))?;
        if chosen.iter().any(|other| other.key == model.key) {
            return Err(usage(&format!("--gpu names {} twice (a file's name is its `key`)", model.key)));
        }
        let kepler = run.device.compute_capability.0 < 5;
        let mut simulation = Settings::new(hierarchy);
        if let Some(choice) = state.l2_copies {
            simulation.warm_copies = choice == CopiesChoice::Warm;
        }
        simulation.stated = Stated { registers: state.registers, blocks: state.occupancy };
        simulation.flush_at_launch = state.l2_launches == LaunchesChoice::Flushed;
        if state.restart == RestartChoice::Off {
            simulation.stores = Stores::Use;
        }
        let scope = match state.reuse_scope {
            ReuseScopeChoice::Block => ReuseScope::Block,
            ReuseScopeChoice::Sm => ReuseScope::Sm,
            ReuseScopeChoice::Launch => ReuseScope::Launch,
        };
        simulation.reuse = match state.reuse {
            ReuseChoice::Exact => Some(ReuseSettings { distance: Distance::Exact, scope }),
            ReuseChoice::Off => None,
        };
        if state.check_race {
            simulation.races = RaceCheck::Full;
        }
        let rates = model.rates();
        chosen.push(Chosen {
            key: model.key,
            device: run.device,
            assumed: run.assumed,
            simulation,
            rates,
            kepler,
            reason: reason.clone(),
            note: note.clone(),
        });
    }
    Ok(chosen)
}
