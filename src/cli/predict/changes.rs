//! `--fold`, `--pad` and `--layout`: predictions for changed code.

use crate::cli::Failure;
use crate::cli::args::PredictArguments;
use crate::exit_code;
use warpline_prediction::changes::{ChangeError, Origin, folded, padded, parted};
use warpline_prediction::subject::Subject;
use warpline_prediction::tiling::Tiling;
use warpline_profile::model::Addresses;

/// Maximum number of points of a thread along an axis.
const MOST_POINTS: u32 = 64;
/// Maximum number of padding elements.
const MOST_PADDING: i64 = 1 << 20;

/// The requested changes of the code.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Points of a thread along each axis.
    pub fold: [u32; 3],
    pads: Vec<(String, usize, i64)>,
    layouts: Vec<String>,
}

/// Expressions of the changed code.
#[derive(Debug)]
pub(super) struct Changed {
    /// The expressions.
    pub addresses: Addresses,
    /// Origin of each of its sites.
    pub origins: Vec<Origin>,
    /// Descriptions of the changes.
    pub descriptions: Vec<String>,
}

impl Changes {
    pub(super) fn new(arguments: &PredictArguments) -> Result<Changes, Failure> {
        let usage = |message: String| Failure::new(exit_code::USAGE, message);
        let mut changes = Changes { fold: [1; 3], ..Changes::default() };
        for text in arguments.fold.iter().flat_map(|text| text.split(',')) {
            let wrong =
                || usage(format!("--fold takes AXIS=POINTS, as y=2, of 1 to {MOST_POINTS} points, not `{text}`"));
            let (axis, points) = text.split_once('=').ok_or_else(wrong)?;
            let points =
                points.trim().parse().ok().filter(|points| (1..=MOST_POINTS).contains(points)).ok_or_else(wrong)?;
            let of_axis = &mut changes.fold[axis_of(axis).ok_or_else(wrong)?];
            if *of_axis != 1 {
                return Err(usage(format!("--fold {text}: the points along this axis were given before")));
            }
            *of_axis = points;
        }
        for text in &arguments.pad {
            let wrong = || {
                usage(format!(
                    "--pad takes ARRAY.AXIS=ELEMENTS, as d_in.x=1, of 0 to {MOST_PADDING} elements, not `{text}`"
                ))
            };
            let (place, elements) = text.split_once('=').ok_or_else(wrong)?;
            let (name, axis) = place.rsplit_once('.').ok_or_else(wrong)?;
            let elements: i64 = elements.trim().parse().map_err(|_| wrong())?;
            if !(0..=MOST_PADDING).contains(&elements) {
                return Err(wrong());
            }
            changes.pads.push((name.trim().to_owned(), axis_of(axis).ok_or_else(wrong)?, elements));
        }
        for text in &arguments.layout {
            match text.split_once('=') {
                Some((name, layout)) if layout.trim().eq_ignore_ascii_case("soa") => {
                    changes.layouts.push(name.trim().to_owned());
                }
                _ => return Err(usage(format!("--layout takes ARRAY=soa, not `{text}`"))),
            }
        }
        Ok(changes)
    }

    /// Returns the expressions of the changed code; `None` if no change is requested.
    pub(super) fn apply(&self, subject: &Subject<'_>) -> Result<Option<Changed>, Failure> {
        let failed = |error: ChangeError| Failure::new(exit_code::USAGE, error);
        if self.fold == [1; 3] && self.pads.is_empty() && self.layouts.is_empty() {
            return Ok(None);
        }
        let tiling = Tiling::detect(subject);
        if let Some(axis) = (0..3).find(|&axis| self.fold[axis] > 1 && !tiling.free[axis]) {
            let name = ["x", "y", "z"][axis];
            let message = format!(
                "--fold {name}: no address of this kernel uses blockDim.{name}, so that its threads' share of the work along {name} is written into the code"
            );
            return Err(Failure::new(exit_code::USAGE, message));
        }
        let mut origins = Origin::same(subject.addresses.sites.len());
        let mut descriptions = Vec::new();
        let mut addresses = subject.addresses.clone();
        for name in &self.layouts {
            let one = subject.with(&addresses, &origins);
            let (next, after, bytes) = parted(&one, array(&one, name).map_err(failed)?).map_err(failed)?;
            descriptions.push(format!(
                "{name} as a structure of arrays (its structures have {bytes} bytes, as indices move through it)"
            ));
            origins = Origin::then(&origins, &after);
            addresses = next;
        }
        for (name, axis, by) in &self.pads {
            let one = subject.with(&addresses, &origins);
            let next = padded(&one, array(&one, name).map_err(failed)?, *axis, *by).map_err(failed)?;
            descriptions.push(format!("{name} padded by {by} along {}", ["x", "y", "z"][*axis]));
            addresses = next;
        }
        let (addresses, after) = folded(&addresses, self.fold).map_err(failed)?;
        for (axis, points) in ["x", "y", "z"].iter().zip(self.fold).filter(|(_, points)| *points > 1) {
            descriptions.push(format!(
                "each thread does {points} points along {axis}; what these load in common is loaded once, also where a compiler may keep it apart, as each point has a condition \
                 of its own; registers and instructions per request are those of the code as it is"
            ));
        }
        Ok(Some(Changed { addresses, origins: Origin::then(&origins, &after), descriptions }))
    }
}

fn axis_of(text: &str) -> Option<usize> {
    ["x", "y", "z"].iter().position(|axis| text.trim().eq_ignore_ascii_case(axis))
}

fn array(subject: &Subject<'_>, name: &str) -> Result<usize, ChangeError> {
    subject.array(name).ok_or_else(|| ChangeError::NoArray {
        name: name.to_owned(),
        known: subject.arrays.iter().flat_map(|array| array.names.iter().cloned()).collect(),
    })
}
