//! Writes the format of pprof (`proto/profile.proto` of google/pprof): flame graphs and source views of memory traffic,
//! from `main` through the launch to the line, with one value per kind of cost.

mod message;

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message as _;

use super::stacks::{costs, host_path};
use message::{Function, Label, Line, Location, Mapping, Sample, ValueType};
use warpline_profile::Profile;
use warpline_profile::model::{Frame, Metrics};

/// Types and units of a sample's values.
const VALUES: [(&str, &str); 6] = [
    ("sectors", "count"),
    ("avoidable_sectors", "count"),
    ("requests", "count"),
    ("lanes", "count"),
    ("bytes", "bytes"),
    ("shared_passes", "count"),
];

/// Returns the profile as a gzip file, as pprof requires it.
pub fn pprof(profile: &Profile) -> Vec<u8> {
    let mut file = GzEncoder::new(Vec::new(), Compression::default());
    let written = file.write_all(&encode(profile).encode_to_vec()).and_then(|()| file.finish());
    written.expect("memory takes what is written")
}

fn encode(profile: &Profile) -> message::Profile {
    let mut out = message::Profile::default();
    let mut tables = Tables::default();
    for (name, unit) in VALUES {
        out.sample_type.push(ValueType { r#type: tables.text(name), unit: tables.text(unit) });
    }
    for site in &profile.sites {
        let Some(kernel) = profile.kernels.iter().find(|kernel| kernel.id == site.kernel) else { continue };
        let own =
            Frame { function: site.function.clone(), file: site.file.clone(), line: site.line, column: site.column };
        let inlined: Vec<Frame> = site.inlined_at.iter().rev().cloned().chain([own]).collect();
        let mut sample = |calls: &[Frame], metrics: &Metrics| {
            let outer = host_path(kernel);
            let mut device: Vec<Frame> = calls.iter().chain(&inlined).cloned().collect();
            // The function of the first frame is the kernel, regardless of its name in the debug information.
            if let Some(first) = device.first_mut() {
                first.function.clone_from(&kernel.name);
            }
            // The leaf comes first.
            let location_id = outer.iter().chain(&device).rev().map(|frame| tables.location(frame)).collect();
            let labels = [("kernel", kernel.name.as_str()), ("space", site.space.as_str()), ("op", site.op.as_str())];
            let label = labels.map(|(key, text)| Label { key: tables.text(key), str: tables.text(text) }).to_vec();
            out.sample.push(Sample { location_id, value: values(metrics, &site.space).to_vec(), label });
        };
        if site.contexts.is_empty() {
            sample(&[], &site.metrics);
        }
        for context in &site.contexts {
            sample(&context.calls, &context.metrics);
        }
    }
    let program = profile.run.program.first().map_or("", String::as_str);
    out.mapping.push(Mapping {
        id: 1,
        filename: tables.text(program),
        has_functions: true,
        has_filenames: true,
        has_line_numbers: true,
        has_inline_frames: true,
    });
    for (&(function_id, line, column), &id) in &tables.locations {
        let line = Line { function_id, line: line.into(), column: column.into() };
        out.location.push(Location { id, mapping_id: 1, address: id, line: vec![line] });
    }
    for (&(name, filename), &id) in &tables.functions {
        out.function.push(Function { id, name, system_name: name, filename });
    }
    out.default_sample_type = tables.text(VALUES[0].0);
    out.string_table = tables.order;
    out
}

fn values(metrics: &Metrics, space: &str) -> [i64; VALUES.len()] {
    costs(metrics, space).map(|value| i64::try_from(value).unwrap_or(i64::MAX))
}

/// Numbers of the parts of a profile. Text number 0 is the empty text; other numbers start at 1.
struct Tables {
    texts: BTreeMap<String, i64>,
    order: Vec<String>,
    /// Functions by texts of name and file.
    functions: BTreeMap<(i64, i64), u64>,
    /// Locations by function, line and column.
    locations: BTreeMap<(u64, u32, u32), u64>,
}

impl Default for Tables {
    fn default() -> Self {
        let (texts, order) = ([(String::new(), 0)].into(), vec![String::new()]);
        Tables { texts, order, functions: BTreeMap::new(), locations: BTreeMap::new() }
    }
}

impl Tables {
    fn text(&mut self, text: &str) -> i64 {
        if let Some(&index) = self.texts.get(text) {
            return index;
        }
        let index = self.order.len() as i64;
        self.texts.insert(text.to_owned(), index);
        self.order.push(text.to_owned());
        index
    }

    fn location(&mut self, frame: &Frame) -> u64 {
        let names = (self.text(&frame.function), self.text(&frame.file));
        let next = self.functions.len() as u64 + 1;
        let function = *self.functions.entry(names).or_insert(next);
        let next = self.locations.len() as u64 + 1;
        *self.locations.entry((function, frame.line, frame.column)).or_insert(next)
    }
}
