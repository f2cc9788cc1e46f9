//! `warpline diff`.

use std::path::Path;

use super::Failure;
use super::args::{DiffArguments, DiffFormat};
use super::output::{self, Color};
use crate::comparison::{self, Diff, Options};
use crate::exit_code;
use crate::profile::{self, Profile};
use crate::report::{self, DiffOptions};

pub(super) fn execute(arguments: &DiffArguments, color: Color) -> Result<u8, Failure> {
    if let Some(output) = &arguments.output {
        for needed in [Some(&arguments.before), Some(&arguments.after), arguments.limits.as_ref()].into_iter().flatten()
        {
            output::refuse_same(needed, output)?;
        }
    }
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let diff = comparison::compare(&before, &after, &Options { tolerance: arguments.tolerance / 100.0 });
    if arguments.strict && !diff.comparable {
        return Err(Failure::new(exit_code::USAGE, refusal(arguments, &diff)));
    }
    let top = if arguments.all { usize::MAX } else { arguments.top.max(1) };
    let shown = DiffOptions {
        color: color.stdout && arguments.output.is_none(),
        top,
        all: arguments.all,
        width: output::columns(),
    };
    let text = match arguments.format {
        DiffFormat::Text => report::diff_text(&diff, &before, &after, &shown),
        DiffFormat::Markdown => report::diff_text(&diff, &before, &after, &shown),
        DiffFormat::Json => report::diff_json(&diff),
    };
    output::write(text.as_bytes(), arguments.output.as_deref())?;
    Ok(exit_code::OK)
}

fn read(path: &Path) -> Result<Profile, Failure> {
    profile::read(path).map_err(|error| Failure::new(exit_code::UNREADABLE, error))
}

/// Why profiles are not compared, and what to do.
fn refusal(arguments: &DiffArguments, diff: &Diff) -> String {
    let each = |difference: &comparison::document::Difference| {
        format!("\n  {}: {} before, {} after", difference.what, difference.before, difference.after)
    };
    let list: String = diff.differences.iter().map(each).collect();
    format!(
        "{} and {} were not made alike, and --strict refuses that:{list}\nprofile both in the same way, or leave --strict away",
        arguments.before.display(),
        arguments.after.display()
    )
}
