//! Compares and merges arbitrary profiles, and reads arbitrary limits.

use std::path::Path;
use std::sync::Mutex;

use warpline::comparison::{self, Options, limits};
use warpline::merge;
use warpline::profile::Profile;
use warpline::profile::file::{from_bytes, to_bytes};
use warpline::report;

/// The profile that was read last; it is compared with the next one.
static LAST: Mutex<Option<Profile>> = Mutex::new(None);

/// Compares and merges the input if it can be read as a profile; also reads it as limits.
pub fn run(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        _ = limits::parse(text, Path::new("x.toml"));
    }
    let read = |bytes: &[u8]| from_bytes(bytes, Path::new("x"));
    let document = || read(&to_bytes(&serde_json::from_slice::<Profile>(data).ok()?)).ok();
    let Some(profile) = read(data).ok().or_else(document) else { return };
    let mut last = LAST.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let other = last.take().unwrap_or_else(|| profile.clone());
    compare(&profile, &other);
    compare(&other, &profile);
    for profiles in [vec![profile.clone(), other.clone()], vec![profile.clone(), profile.clone(), other]] {
        if let Ok(merged) = merge::merge(profiles) {
            compare(&profile, &merged);
            _ = report::json(&merged);
        }
    }
    *last = Some(profile);
}

/// Compares two profiles, and formats the result in every form.
fn compare(before: &Profile, after: &Profile) {
    let text = "[program]\n\"global.sectors\" = { soft = 0 }\n[kernels.\"\"]\n\"estimate.seconds\" = { soft = 1, hard = 1 }\n\
                [lines.\"\"]\n\"global.sectors\" = { soft = 0 }\n[allocations.\"\"]\nsize = { hard = 0 }\n[findings]\nnote = { new = 0 }\n";
    let limits = limits::parse(text, Path::new("x.toml")).expect("good limits");
    let diff = comparison::compare(before, after, &Options::default(), Some(&limits));
    let options = report::DiffOptions { color: false, top: 5, all: true, width: 80 };
    for text in [
        report::diff_text(&diff, before, after, &options),
        report::diff_markdown(&diff, before, after, &options),
        report::diff_json(&diff),
    ] {
        let hidden = text.chars().find(|c| warpline_format::visible::is_hidden(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(hidden, None, "{text}");
    }
}
