//! Finds differences in how two profiles were created. Because of them, differences between figures may not be caused
//! by the program.

use std::collections::BTreeSet;

use super::document::Difference;
use warpline_profile::Profile;
use warpline_profile::model::Run;

/// Assumptions that explain another assumption.
const REASONS: [&str; 2] = ["model_chosen", "model_figures_assumed"];

/// Facts that early versions of profiles do not contain.
const KEPT_LATER: [&str; 2] = ["compiler", "compiler_options"];

/// Returns all differences, the most important first.
pub fn find(before: &Profile, after: &Profile) -> Vec<Difference> {
    let (one, other) = (&before.run, &after.run);
    let mut found = Vec::new();
    let mut tell = |what: &str, before: String, after: String, wrong: bool| {
        if wrong || before != after {
            found.push(Difference { what: what.to_owned(), before, after });
        }
    };
    let models = |run: &Run| run.models.join(",");
    tell("model", models(one), models(other), false);
    tell("device", one.device.clone(), other.device.clone(), false);
    let architectures = |run: &Run| {
        let names: Vec<String> = run.architectures.iter().map(|number| format!("sm_{number}")).collect();
        names.join(",")
    };
    // Old profiles do not contain architectures.
    if !one.architectures.is_empty() && !other.architectures.is_empty() {
        tell("architecture", architectures(one), architectures(other), false);
    }
    let versions = |run: &Run| {
        let versions = run.environment.versions.iter();
        versions.map(|(tool, version)| format!("{tool} {version}")).collect::<Vec<_>>().join(", ")
    };
    tell("version", versions(one), versions(other), false);
    tell("mode", one.mode.clone(), other.mode.clone(), false);
    let complete = |run: &Run| if run.complete { "complete" } else { "incomplete" }.to_owned();
    tell("complete", complete(one), complete(other), !one.complete || !other.complete);
    let exit_code = |run: &Run| run.exit_code.map_or("unknown".to_owned(), |code| code.to_string());
    if one.exit_code.is_some() && other.exit_code.is_some() {
        tell("exit_code", exit_code(one), exit_code(other), false);
    }
    tell("sampled", sampling(before), sampling(after), false);
    let dropped = |run: &Run| run.dropped_records.to_string();
    tell("dropped_records", dropped(one), dropped(other), one.dropped_records != 0 || other.dropped_records != 0);
    let races = |run: &Run| run.race_check.clone().unwrap_or_default();
    tell("race_check", races(one), races(other), false);
    let initialisation = |run: &Run| if run.init_check { "yes" } else { "no" }.to_owned();
    tell("init_check", initialisation(one), initialisation(other), false);
    let host = |run: &Run| if run.host_check { "yes" } else { "no" }.to_owned();
    tell("host_check", host(one), host(other), false);
    let floats = |run: &Run| if run.float_check { "yes" } else { "no" }.to_owned();
    tell("float_check", floats(one), floats(other), false);
    let values = |run: &Run| if run.memory_values { "yes" } else { "no" }.to_owned();
    tell("memory_values", values(one), values(other), false);
    let keys: BTreeSet<&String> = one.assumptions.keys().chain(other.assumptions.keys()).collect();
    for key in keys.into_iter().filter(|key| !REASONS.contains(&key.as_str())) {
        // Consequences of a different model are not separate differences.
        if key == "model" && one.models != other.models {
            continue;
        }
        // Profiles from before these facts were recorded do not contain them.
        let both = one.assumptions.contains_key(key) && other.assumptions.contains_key(key);
        if KEPT_LATER.contains(&key.as_str()) && !both {
            continue;
        }
        let assumed = |run: &Run| run.assumptions.get(key).cloned().unwrap_or_default();
        tell(key, assumed(one), assumed(other), false);
    }
    found
}

/// Returns the recorded part of the launches or of their blocks.
fn sampling(profile: &Profile) -> String {
    if !profile.run.sampled {
        return "no".to_owned();
    }
    if let Some(whole) = &profile.run.whole_run {
        return format!("{} of {} launches", whole.recorded_launches, whole.launches);
    }
    let launches = profile.kernels.iter().flat_map(|kernel| {
        let groups = kernel.launch_groups.iter().map(|group| group.block_share);
        kernel.launches.iter().map(|launch| launch.block_share).chain(groups)
    });
    let shares: BTreeSet<u64> = launches.collect();
    let name = |share: &u64| match share {
        0 => "no blocks".to_owned(),
        1 => "all blocks".to_owned(),
        _ => format!("1/{share} of the blocks"),
    };
    let names: Vec<String> = shares.iter().take(8).map(name).collect();
    if names.is_empty() { "yes".to_owned() } else { names.join(", ") }
}
