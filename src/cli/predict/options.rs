//! The requested changes of the recorded launch.

use std::collections::BTreeSet;

use crate::cli::Failure;
use crate::cli::args::PredictArguments;
use crate::exit_code;
use warpline_prediction::configurations::{GridRule, Grids, all_blocks, is_block, is_grid, sizes};
use warpline_prediction::launch::Launch;
use warpline_prediction::subject::Subject;
use warpline_prediction::tiling::Tiling;
use warpline_profile::model::Parameter;

/// The requested changes.
pub(super) struct RequestedChanges<'a> {
    /// Points that a thread processes along each axis.
    fold: [u32; 3],
    /// Relation between grids and block shapes.
    grids: Grids<'a>,
    /// Name and values of the parameter of `--over`.
    over: Option<(String, Vec<i64>)>,
    blocks: Vec<[u32; 3]>,
    /// Whether all shapes were requested of a kernel that is correct for only one.
    recorded_shape_only: bool,
    grid: Option<[u32; 3]>,
    /// The recorded launch with the changed arguments.
    base: Launch,
    changed: bool,
}

/// The reference launch, whose work all shapes should do.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// The recorded launch.
    Recorded,
    /// A launch of the recorded shape with the other requested changes.
    Of(Launch),
    /// The predicted launch with the most work.
    Most,
}

impl<'a> RequestedChanges<'a> {
    pub(super) fn new(
        arguments: &PredictArguments,
        subject: &Subject<'a>,
        fold: [u32; 3],
    ) -> Result<RequestedChanges<'a>, Failure> {
        let usage = |message: String| Failure::new(exit_code::USAGE, message);
        let mut base = subject.launch.clone();
        let mut set = BTreeSet::new();
        for setting in &arguments.set {
            let (name, value) =
                setting.split_once('=').ok_or_else(|| usage(format!("--set takes NAME=VALUE, not `{setting}`")))?;
            let parameter = settable(subject, "--set", name)?;
            let kept = number("--set", name, value, parameter.bytes)?;
            let kept = self::kept(kept, parameter.bytes);
            if !set.insert(name.to_owned()) {
                return Err(usage(format!("--set {name}: it was given before")));
            }
            base.arguments.insert((parameter.number, parameter.offset), kept);
        }
        let grid = match &arguments.grid {
            None => None,
            Some(text) => Some(sizes(text).filter(|grid| is_grid(*grid)).ok_or_else(|| {
                usage(format!(
                    "--grid takes sizes as 128x64x1 (2147483647 along x, 65535 along y and z at most), not `{text}`"
                ))
            })?),
        };
        let grids = Grids::new(subject, fold);
        let mut blocks = Vec::new();
        let mut recorded_shape_only = false;
        for text in arguments.block.split(',') {
            if text.trim() == "all" {
                // If the shape is a constant in the code, the code is correct only for that shape.
                recorded_shape_only = !grids.tiling.is_free();
                match recorded_shape_only {
                    true => blocks.push(subject.launch.block),
                    false => blocks.extend(all_blocks(&subject.launch, &grids.tiling)),
                }
                continue;
            }
            let block = sizes(text).filter(|block| is_block(*block));
            blocks.push(block.ok_or_else(|| {
                usage(format!(
                    "--block takes sizes as 32x8 (1024 threads and 64 along z at most) or `all`, not `{text}`"
                ))
            })?);
        }
        let mut distinct = Vec::new();
        for block in blocks {
            if !distinct.contains(&block) {
                distinct.push(block);
            }
        }
        let over = arguments.over.as_deref().map(|text| over(text, subject)).transpose()?;
        for (name, value) in over.iter().flat_map(|(name, values)| values.iter().map(move |value| (name, *value))) {
            let Some(parameter) = subject.parameter(name) else { continue };
            let mut of_size = base.clone();
            of_size.arguments.insert((parameter.number, parameter.offset), kept(value, parameter.bytes));
            if grid.is_none()
                && let Some((name, value)) = grids.empty_by(subject, &of_size)
            {
                return Err(usage(empty("--over", &name, value)));
            }
        }
        if let Some((name, value)) = grids.empty_by(subject, &base).filter(|_| grid.is_none()) {
            return Err(usage(empty("--set", &name, value)));
        }
        let changed =
            base != subject.launch || fold != [1; 3] || !arguments.pad.is_empty() || !arguments.layout.is_empty();
        Ok(RequestedChanges { fold, grids, over, blocks: distinct, recorded_shape_only, grid, base, changed })
    }

    /// Returns whether arguments are changed.
    pub(super) fn changes(&self) -> bool {
        self.changed
    }

    /// Returns the reference launch.
    pub(super) fn work(&self, subject: &Subject<'_>) -> Work {
        let was_run = !subject.recorded.metrics.is_empty();
        match (was_run, self.changed, self.grid) {
            (true, false, _) => Work::Recorded,
            (true, true, None) => Work::Of(self.launch(subject, subject.launch.block, &self.base).0),
            _ => Work::Most,
        }
    }

    /// Returns the axes along which grids do not follow `--set` and `--over`.
    pub(super) fn fixed_axes(&self, subject: &Subject<'_>) -> Vec<&'static str> {
        let has_sizes = self.over.is_some() || self.base.arguments != subject.launch.arguments;
        let fixed = self.grids.fixed(subject).map(|fixed| fixed && has_sizes && self.grid.is_none());
        ["x", "y", "z"].into_iter().zip(fixed).filter_map(|(name, fixed)| fixed.then_some(name)).collect()
    }

    /// Returns whether all shapes were requested of a kernel that is correct for only one.
    pub(super) fn recorded_shape_only(&self) -> bool {
        self.recorded_shape_only
    }

    /// Returns the block sizes that may change.
    pub(super) fn tiling(&self) -> &Tiling {
        &self.grids.tiling
    }

    /// Returns all launches, with the rules for their grids.
    pub(super) fn launches(&self, subject: &Subject<'_>) -> Vec<(Launch, Vec<GridRule>)> {
        let each = self.blocks.iter().map(|&block| self.launch(subject, block, &self.base));
        each.collect()
    }

    /// Returns the launch of a shape and grid.
    pub(super) fn launch_with(&self, block: [u32; 3], grid: [u32; 3]) -> Launch {
        Launch::new(block, grid, self.base.arguments.clone())
    }

    fn launch(&self, subject: &Subject<'_>, block: [u32; 3], base: &Launch) -> (Launch, Vec<GridRule>) {
        let (grid, rules) = match self.grid {
            Some(grid) => (grid, vec![GridRule::Given]),
            None => {
                let points = std::array::from_fn(|axis| block[axis].saturating_mul(self.fold[axis]));
                self.grids.grid_for(subject, base, points)
            }
        };
        (Launch::new(block, grid, base.arguments.clone()), rules)
    }

    /// Returns the parameter, and launches of a shape for each of its values.
    pub(super) fn sizes(&self, subject: &Subject<'_>, block: [u32; 3]) -> Option<(&str, Vec<(i64, Launch)>)> {
        let (name, values) = self.over.as_ref()?;
        let parameter = subject.parameter(name)?;
        let each = values.iter().map(|&value| {
            let mut base = self.base.clone();
            base.arguments.insert((parameter.number, parameter.offset), kept(value, parameter.bytes));
            (value, self.launch(subject, block, &base).0)
        });
        Some((name, each.collect()))
    }
}

/// Returns the message for a size with which the grid has no block.
fn empty(option: &str, name: &str, value: i64) -> String {
    format!(
        "{option} {name}={value}: grids follow {name}, and this leaves no block: take a larger value, or give the grid by --grid"
    )
}

/// Maximum number of values of `--over`.
const MOST_SIZES: usize = 1000;

/// Parses the name and the values of `--over`.
fn over(text: &str, subject: &Subject<'_>) -> Result<(String, Vec<i64>), Failure> {
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let wrong = || usage(format!("--over takes NAME=VALUE,…, as n=512,1024, not `{text}`"));
    let (name, values) = text.split_once('=').ok_or_else(wrong)?;
    let parameter = settable(subject, "--over", name)?;
    let values = values.split(',').map(|value| number("--over", name, value, parameter.bytes));
    let mut values = values.collect::<Result<Vec<i64>, Failure>>()?;
    values.sort_unstable();
    values.dedup();
    if values.len() > MOST_SIZES {
        return Err(usage(format!("--over takes {MOST_SIZES} values at most")));
    }
    Ok((name.to_owned(), values))
}

/// Returns the parameter with a name, if it is not a pointer.
fn settable<'a>(subject: &Subject<'a>, option: &str, name: &str) -> Result<&'a Parameter, Failure> {
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let parameter = subject.parameter(name).ok_or_else(|| {
        let known = subject.addresses.parameters.iter().filter(|one| subject.is_number(one));
        let known: Vec<_> = known.filter_map(|one| one.name.as_deref()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        usage(format!("{option} {name}: no address depends on such a parameter; these can be set: {known}"))
    })?;
    if !subject.is_number(parameter) {
        return Err(usage(format!("{option} {name}: a pointer has no value that could be set")));
    }
    Ok(parameter)
}

/// Parses a number and checks that it fits into the parameter.
fn number(option: &str, name: &str, text: &str, bytes: u32) -> Result<i64, Failure> {
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let value: i64 = text.trim().parse().map_err(|_| usage(format!("{option} {name}: `{text}` is no whole number")))?;
    let bits = 8 * bytes.min(8);
    let fits = bits >= 64 || (-(1i64 << bits.saturating_sub(1))..1i64 << bits).contains(&value);
    if fits { Ok(value) } else { Err(usage(format!("{option} {name}: {value} does not fit {bits} bits"))) }
}

/// Returns the bits of a value in the form in which arguments are stored.
fn kept(value: i64, bytes: u32) -> u64 {
    let bits = 8 * bytes.min(8);
    if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) }
}
