//! Writes the format of [speedscope](https://www.speedscope.app): stacks with their costs, one profile per kind of
//! cost.

use std::collections::BTreeMap;

use serde::Serialize;

use super::stacks::{COSTS, stacks};
use warpline_profile::Profile;
use warpline_profile::model::Frame;

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: String,
    exporter: String,
    #[serde(rename = "activeProfileIndex")]
    active: usize,
    shared: Shared<'a>,
    profiles: Vec<Sampled>,
}

#[derive(Serialize)]
struct Shared<'a> {
    frames: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    file: &'a str,
    #[serde(skip_serializing_if = "unknown")]
    line: u32,
    #[serde(skip_serializing_if = "unknown")]
    col: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde requires")]
fn unknown(place: &u32) -> bool {
    *place == 0
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled {
    r#type: &'static str,
    name: String,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    samples: Vec<Vec<usize>>,
    weights: Vec<u64>,
}

/// Returns the file. The profile of cost `active`, an index into [`COSTS`], is shown first.
pub fn speedscope(profile: &Profile, active: usize) -> String {
    let stacks = stacks(profile);
    let mut numbers: BTreeMap<&Frame, usize> = BTreeMap::new();
    let mut frames = Vec::new();
    let samples: Vec<Vec<usize>> = stacks
        .keys()
        .map(|stack| {
            let number = |frame| {
                *numbers.entry(frame).or_insert_with(|| {
                    frames.push(Entry {
                        name: &frame.function,
                        file: &frame.file,
                        line: frame.line,
                        col: frame.column,
                    });
                    frames.len() - 1
                })
            };
            stack.iter().map(number).collect()
        })
        .collect();
    let profiles = (0..).zip(COSTS).map(|(kind, (name, unit)): (usize, _)| {
        let costs = samples.iter().zip(stacks.values()).map(|(sample, costs)| (sample, costs[kind]));
        let (samples, weights): (Vec<_>, Vec<_>) =
            costs.filter(|(_, cost)| *cost > 0).map(|(sample, cost)| (sample.clone(), cost)).unzip();
        let end_value = weights.iter().fold(0u64, |sum, weight| sum.saturating_add(*weight));
        let name = format!("{name}: not time, but what memory requests cost");
        Sampled { r#type: "sampled", name, unit, start_value: 0, end_value, samples, weights }
    });
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        name: profile.run.program.first().map_or_else(|| "warpline".to_owned(), Clone::clone),
        exporter: format!("warpline@{}", env!("CARGO_PKG_VERSION")),
        active: active.min(COSTS.len() - 1),
        profiles: profiles.collect(),
        shared: Shared { frames },
    };
    let mut text = serde_json::to_string(&file).expect("texts and numbers");
    text.push('\n');
    text
}
