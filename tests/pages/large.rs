//! Profiles that no program made: large ones, and such with names that mean harm.

use std::path::Path;

use serde_json::{Value, json};
use warpline::profile::Profile;
use warpline::profile::file::to_bytes;

/// Writes a document as a profile file.
pub fn write(place: &Path, document: Value) {
    let profile: Profile = serde_json::from_value(document).expect("a profile");
    std::fs::write(place, to_bytes(&profile)).expect("a file");
}

/// The same program with so many accesses, a line each, and launches.
pub fn program(mut document: Value, sites: usize, launches: usize) -> Value {
    let list = |document: &Value, name: &str| document[name].as_array().expect("rows").clone();
    let file = document["kernels"][0]["file"].as_str().expect("a file").to_owned();
    let (old_sites, old_lines) = (list(&document, "sites"), list(&document, "lines"));
    let mut source = serde_json::Map::new();
    let (mut new_sites, mut new_lines) = (Vec::new(), Vec::new());
    for number in 0..sites {
        let mut site = old_sites[number % old_sites.len()].clone();
        (site["id"], site["line"]) = (json!(number), json!(number + 1));
        site["metrics"]["sectors"] = json!(site["metrics"]["sectors"].as_u64().expect("a count") + number as u64);
        let mut line = old_lines[number % old_lines.len()].clone();
        line["line"] = json!(number + 1);
        source
            .insert((number + 1).to_string(), json!(format!("    value_{number} += array[index[{number}] * stride];")));
        new_sites.push(site);
        new_lines.push(line);
    }
    document["sources"][&file] = Value::Object(source);
    (document["sites"], document["lines"]) = (json!(new_sites), json!(new_lines));
    for kernel in document["kernels"].as_array_mut().expect("kernels") {
        let first = kernel["id"] == 0;
        let old = kernel["launches"].as_array().expect("launches").clone();
        let new = (0..if first { launches } else { 0 }).map(|number| {
            let mut launch = old[number % old.len()].clone();
            launch["id"] = json!(number);
            launch
        });
        kernel["launches"] = new.collect();
        kernel["launch_count"] = json!(if first { launches } else { 0 });
    }
    document
}

/// Puts `nasty` behind every text that can be any.
pub fn spoil(value: &mut Value, nasty: &str) {
    match value {
        Value::String(text) if text != "warpline.profile" => text.push_str(nasty),
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, nasty)),
        Value::Object(fields) => {
            let is_finding = fields.contains_key("cure");
            for (name, field) in fields.iter_mut() {
                // One of a few words; anything else is no profile. Kinds choose what is shown.
                let fixed = [
                    "thread_steps",
                    "space",
                    "op",
                    "models",
                    "mode",
                    "device",
                    "model",
                    "limiter",
                    "addresses",
                    "arguments",
                    "atomic",
                    "confidence",
                    "decided_by",
                ];
                let is_word = is_finding && name == "severity" || name == "merged" && field.is_string();
                if !(fixed.contains(&name.as_str()) || is_word) {
                    spoil(field, nasty);
                }
            }
        }
        _ => {}
    }
}
