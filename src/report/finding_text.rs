//! Formats the parts of a finding, equally for every output format.

use crate::words::{bytes, label, seconds};
use warpline_profile::Profile;
use warpline_profile::model::{Finding, Frame, Gain};

/// Returns a position such as `transpose.cu:20`; `?` if unknown.
pub(super) fn place(finding: &Finding) -> String {
    let name = finding.file.rsplit('/').next().unwrap_or_default();
    match (name.is_empty(), finding.line) {
        (true, _) => "?".to_owned(),
        (false, 0) => name.to_owned(),
        (false, line) => format!("{name}:{line}"),
    }
}

/// Returns the name of the finding's kernel, if it has one. If the line calls a library, returns the name of the
/// library's function.
pub(super) fn kernel(profile: &Profile, finding: &Finding) -> Option<String> {
    if let Some(library) = &finding.inside_library {
        return Some(library.function.clone());
    }
    let id = finding.kernel?;
    profile.kernels.iter().find(|kernel| kernel.id == id).map(|kernel| label(profile, kernel))
}

/// Returns a text such as `inside the library: assign_value.h:56`, if the line calls a library.
pub(super) fn library(finding: &Finding) -> Option<String> {
    let frame = finding.inside_library.as_ref()?;
    let file = frame.file.rsplit('/').next().unwrap_or_default();
    Some(format!("inside the library: {file}:{}", frame.line))
}

/// Returns the name of the finding's subject: the name in the source, or that of the allocation.
pub(super) fn object(profile: &Profile, finding: &Finding) -> Option<String> {
    finding.object.clone().or_else(|| {
        let allocation = profile.allocation(finding.allocation?)?;
        Some(allocation.name.clone().unwrap_or_else(|| format!("{} of {}", allocation.kind, bytes(allocation.bytes))))
    })
}

/// Returns a text such as `3.2 x faster, saves 410 us (modelled: no bank conflicts in this access)`, for a kernel or
/// for work outside of kernels.
pub(super) fn gain(finding: &Finding, gain: &Gain) -> String {
    let what = if finding.kernel.is_some() { "the kernel" } else { "the program" };
    let factor = if gain.factor >= 1.1 {
        format!("{what} {:.1} x faster", gain.factor)
    } else {
        format!("{what} {:.1} % faster", 100.0 * (gain.factor - 1.0))
    };
    format!("{factor}, {} saved (modelled: {})", seconds(gain.seconds), gain.assumption)
}

/// Returns the source line, if the profile has it.
pub(super) fn source<'a>(profile: &'a Profile, finding: &Finding) -> Option<&'a str> {
    Some(profile.sources.get(&finding.file)?.get(&finding.line)?.trim())
}

/// Returns its position as a frame whose function is the kernel.
pub(super) fn frame(profile: &Profile, finding: &Finding) -> Frame {
    Frame {
        function: kernel(profile, finding).unwrap_or_default(),
        file: finding.file.clone(),
        line: finding.line,
        column: finding.column,
    }
}
