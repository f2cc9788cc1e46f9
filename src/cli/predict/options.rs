//! What of the recorded launch is to be another.

use super::super::Failure;
use super::super::args::PredictArguments;
use crate::exit_code;
use crate::prediction::configurations::{GridRule, all_blocks, followed, grid_for, is_block, sizes};
use crate::prediction::launch::Launch;
use crate::prediction::subject::Subject;

/// What is asked for.
pub(super) struct Wishes {
    blocks: Vec<[u32; 3]>,
    grid: Option<[u32; 3]>,
    /// The recorded launch with its arguments changed.
    base: Launch,
    changed: bool,
}

impl Wishes {
    pub(super) fn new(arguments: &PredictArguments, subject: &Subject<'_>) -> Result<Wishes, Failure> {
        let usage = |message: String| Failure::new(exit_code::USAGE, message);
        let mut base = subject.launch.clone();
        for setting in &arguments.set {
            let (name, value) =
                setting.split_once('=').ok_or_else(|| usage(format!("--set takes NAME=VALUE, not `{setting}`")))?;
            let parameter = subject.parameter(name).ok_or_else(|| {
                let known =
                    subject.addresses.parameters.iter().filter(|one| is_number(subject, one.number, one.offset));
                let known: Vec<_> = known.filter_map(|one| one.name.as_deref()).collect();
                usage(format!(
                    "--set {name}: no address depends on such a parameter; these can be set: {}",
                    known.join(", ")
                ))
            })?;
            if !is_number(subject, parameter.number, parameter.offset) {
                return Err(usage(format!("--set {name}: a pointer has no value that could be set")));
            }
            let value: i64 =
                value.trim().parse().map_err(|_| usage(format!("--set {name}: `{value}` is no whole number")))?;
            let bits = 8 * parameter.bytes.min(8);
            let fits = bits >= 64 || (-(1i64 << (bits - 1))..1i64 << bits).contains(&value);
            if !fits {
                return Err(usage(format!("--set {name}: {value} does not fit {bits} bits")));
            }
            let kept = if bits >= 64 { value as u64 } else { value as u64 & ((1 << bits) - 1) };
            base.arguments.insert((parameter.number, parameter.offset), kept);
        }
        let grid = match &arguments.grid {
            None => None,
            Some(text) => {
                Some(sizes(text).ok_or_else(|| usage(format!("--grid takes sizes as 128x64x1, not `{text}`")))?)
            }
        };
        let mut blocks = Vec::new();
        for text in arguments.block.split(',') {
            if text.trim() == "all" {
                blocks.extend(all_blocks(&subject.launch));
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
        let changed = base != subject.launch;
        Ok(Wishes { blocks: distinct, grid, base, changed })
    }

    /// Whether arguments are other ones.
    pub(super) fn changes(&self) -> bool {
        self.changed
    }

    /// All launches, with how their grids came to be.
    pub(super) fn launches(&self, subject: &Subject<'_>) -> Vec<(Launch, Vec<GridRule>)> {
        let followed = followed(subject);
        let each = self.blocks.iter().map(|&block| {
            let (grid, rules) = match self.grid {
                Some(grid) => (grid, vec![GridRule::Given]),
                None => grid_for(subject, &self.base, block, &followed),
            };
            (Launch { block, grid, arguments: self.base.arguments.clone() }, rules)
        });
        each.collect()
    }
}

/// Whether a parameter is no pointer into an allocation.
fn is_number(subject: &Subject<'_>, parameter: u32, offset: u32) -> bool {
    let found = subject.recorded.arguments.iter().find(|one| (one.parameter, one.offset) == (parameter, offset));
    found.is_none_or(|one| one.allocation.is_none())
}
