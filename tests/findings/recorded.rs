//! Profiles of the judged and planted programs, recorded once: the rules run on them in seconds. A program without a recording is built and run.
//!
//! `WARPLINE_RECORDINGS=make` builds and runs all programs and keeps their profiles (`make recordings`), `off` builds and runs them
//! and keeps nothing (`make test-all`).

use crate::support_programs::root;
use serde_json::Value;
use std::path::{Path, PathBuf};
use warpline::profile::Profile;
use warpline::{findings, models, profile, report};

const VARIABLE: &str = "WARPLINE_RECORDINGS";
/// Under which version of the environment a recording has the hash of its program's source.
const SOURCE: &str = "source";

/// The profile document of a program, with what the rules find in it now. `run` builds and runs it and returns the profile's path.
pub fn document(name: &str, source: &Path, run: impl FnOnce() -> PathBuf) -> Value {
    let recording = root().join("tests/findings/recordings").join(format!("{name}.wlprof"));
    let is_recorded = recording.is_file();
    let profile = match std::env::var(VARIABLE).as_deref() {
        Ok("make") => keep(&run(), source, &recording),
        Ok("off") => read(&run()),
        Ok(other) => panic!("{VARIABLE} is `make` or `off`, not {other:?}"),
        Err(_) if is_recorded => read(&recording),
        Err(_) => read(&run()),
    };
    if let Some(hash) = profile.run.environment.versions.get(SOURCE) {
        assert_eq!(
            *hash,
            hash_of(source),
            "{name}: the program has changed since it was recorded: run `make recordings`"
        );
    }
    serde_json::from_str(&report::json(&with_findings(profile))).expect("the report is JSON")
}

fn read(path: &Path) -> Profile {
    profile::read(path).unwrap_or_else(|error| panic!("{error}"))
}

fn with_findings(mut profile: Profile) -> Profile {
    let model = profile.run.models.first().and_then(|name| models::find(name).ok());
    let rates = model.map(|model| model.rates());
    profile.findings = findings::find(&profile, rates.as_ref());
    let _ = findings::suppress(&mut profile, &[]);
    profile
}

/// Keeps a profile without what differs between identical runs, such as folders.
fn keep(made: &Path, source: &Path, recording: &Path) -> Profile {
    let mut whole = read(made);
    whole.findings.clear();
    let home = std::env::var("HOME").unwrap_or_default();
    let text = report::json(&whole).replace(&root().display().to_string(), "/warpline");
    let text = if home.len() > 1 { text.replace(&home, "/home/user") } else { text };
    let mut kept: Profile = serde_json::from_str(&text).expect("a profile");
    kept.run.environment = Default::default();
    kept.run.environment.versions.insert(SOURCE.to_owned(), hash_of(source));
    std::fs::create_dir_all(recording.parent().expect("a folder")).expect("room for a folder");
    profile::write(&kept, recording).expect("room for a recording");
    kept
}

/// FNV-1a of a file.
fn hash_of(source: &Path) -> String {
    let text = std::fs::read(source).expect("the program's source");
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.iter().fold(0xcbf2_9ce4_8422_2325, step))
}
