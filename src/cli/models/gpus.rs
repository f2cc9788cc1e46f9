//! `warpline gpus`.

use std::fmt::Write as _;

use warpline_format::visible;

use crate::cli::args::GpusArguments;
use crate::cli::{Failure, output};
use crate::exit_code;
use crate::validate::{Point, plateaus};
use warpline_simulator::models::{self, Curve, CurvePath, Figure, Model};

pub(in crate::cli) fn execute(arguments: &GpusArguments) -> Result<u8, Failure> {
    let text = match &arguments.model {
        Some(name) => {
            let sections = models::sections(name).map_err(failure)?;
            show(&find(name)?, &sections)
        }
        None => list()?,
    };
    output::print(text.as_bytes())?;
    Ok(exit_code::OK)
}

pub(in crate::cli) fn find(name: &str) -> Result<Model, Failure> {
    models::find(name).map_err(failure)
}

fn failure(error: models::ModelError) -> Failure {
    let code = match error {
        models::ModelError::Unknown { .. } => exit_code::USAGE,
        _ => exit_code::UNREADABLE,
    };
    Failure::new(code, error)
}

fn list() -> Result<String, Failure> {
    let mut text = format!("{:<11} {:<32} {:<22} {:>4} {:>9}  run\n", "MODEL", "NAME", "ARCHITECTURE", "SMS", "L2");
    for name in models::names() {
        let model = find(name)?;
        let number = |figure: Option<String>| figure.unwrap_or_else(|| "?".to_owned());
        let l2 = model.device.l2_bytes.as_ref().map(|figure| format!("{} KiB", figure.value >> 10));
        let mark = match model.run_device() {
            Ok(_) if name == models::DEFAULT_MODEL => "default",
            Ok(_) => "yes",
            Err(_) => "no",
        };
        let sms = model.device.sms.as_ref().map(|figure| figure.value.to_string());
        _ = writeln!(
            text,
            "{:<11} {:<32} {:<22} {:>4} {:>9}  {mark}",
            model.key,
            model.name,
            model.architecture,
            number(sms),
            number(l2)
        );
    }
    Ok(text)
}

fn show(model: &Model, sections: &[models::Section]) -> String {
    let mut text = format!("{} ({})\n{}, waves of {} lanes\n\n", model.name, model.key, model.architecture, model.warp);
    let figures = &model.device;
    let mut line = |name: &str, value: Option<(String, &str)>| {
        _ = match value {
            Some((value, source)) => writeln!(text, "  {name:<26} {value:>14}  [{}]", visible::name(source)),
            None => writeln!(text, "  {name:<26} {:>14}", "not known"),
        };
    };
    fn plain<T: std::fmt::Display>(figure: &Option<Figure<T>>) -> Option<(String, &str)> {
        figure.as_ref().map(|figure| (figure.value.to_string(), figure.source.as_str()))
    }
    let capability = figures.compute_capability.as_ref();
    line(
        "compute_capability",
        capability.map(|figure| (format!("{}.{}", figure.value.0, figure.value.1), figure.source.as_str())),
    );
    line("sms", plain(&figures.sms));
    line("threads_per_sm", plain(&figures.threads_per_sm));
    line("blocks_per_sm", plain(&figures.blocks_per_sm));
    line("registers_per_sm", plain(&figures.registers_per_sm));
    line("register_unit", plain(&figures.register_unit));
    line("shared_per_sm", plain(&figures.shared_per_sm));
    line("shared_per_block", plain(&figures.shared_per_block));
    line("shared_per_block_optin", plain(&figures.shared_per_block_optin));
    line("shared_reserved_per_block", plain(&figures.shared_reserved_per_block));
    line("shared_unit", plain(&figures.shared_unit));
    line("clock_khz", plain(&figures.clock_khz));
    line("memory_clock_khz", plain(&figures.memory_clock_khz));
    line("memory_bus_bits", plain(&figures.memory_bus_bits));
    line("memory_bytes", plain(&figures.memory_bytes));
    line("l2_bytes", plain(&figures.l2_bytes));
    let source = figures.warp_order.as_ref().map_or("default", |figure| figure.source.as_str());
    line("warp_order", Some((figures.order().to_string(), source)));
    for (section, figures) in sections {
        _ = writeln!(text, "\n  {section}");
        for (figure, value, source) in figures {
            let [figure, value, source] = [figure, value, source].map(|text| visible::name(text));
            _ = writeln!(text, "    {figure:<24} {value:>14}  [{source}]");
        }
    }
    for curve in &model.curves {
        let path = match curve.path {
            CurvePath::ThroughLevel1 => "through L1",
            CurvePath::PastLevel1 => "past L1",
        };
        _ = writeln!(text, "  latency {path}: {}  [{}]", levels(curve), visible::name(&curve.source));
    }
    match model.run_device() {
        Ok(run) if run.assumed.is_empty() => {}
        Ok(run) => _ = writeln!(text, "\nassumed in runs: {}", run.assumed.join(", ")),
        Err(error) => _ = writeln!(text, "\n{error}"),
    }
    _ = writeln!(text, "\nsources");
    for (key, cite) in &model.sources {
        _ = writeln!(text, "  [{}] {}", visible::name(key), visible::name(cite));
    }
    text
}

/// Returns the levels that a measured curve shows.
fn levels(curve: &Curve) -> String {
    let points = curve.bytes.iter().zip(&curve.cycles).map(|(&bytes, &cycles)| Point { bytes, cycles });
    let found = plateaus(&points.collect::<Vec<_>>());
    let shown = found.iter().enumerate().map(|(level, plateau)| {
        let size = plateau.bytes >> 10;
        let last = level + 1 == found.len();
        if last {
            format!("{:.0} beyond", plateau.cycles)
        } else {
            format!("{:.0} cycles up to {size} KiB", plateau.cycles)
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}
