//! The format of pprof (`proto/profile.proto` of google/pprof): flame graphs and source views of memory traffic, from
//! `main` over the launch to the line, with one value per kind of cost.

use std::collections::BTreeMap;

use crate::profile::Profile;
use crate::profile::model::{Frame, Kernel, Metrics};

/// Types and units of a sample's values.
const VALUES: [(&str, &str); 6] = [
    ("sectors", "count"),
    ("avoidable_sectors", "count"),
    ("requests", "count"),
    ("lanes", "count"),
    ("bytes", "bytes"),
    ("shared_passes", "count"),
];

/// Bytes of a stored block of deflate (RFC 1951, 3.2.4), at most.
const STORED: usize = 65_535;

/// The profile as a gzip file, as pprof wants it.
pub fn pprof(profile: &Profile) -> Vec<u8> {
    gzip(&encode(profile))
}

fn encode(profile: &Profile) -> Vec<u8> {
    let mut out = Message::default();
    let mut tables = Tables::default();
    for (name, unit) in VALUES {
        let mut value = Message::default();
        value.number(1, tables.text(name)).number(2, tables.text(unit));
        out.message(1, &value);
    }
    for site in &profile.sites {
        let Some(kernel) = profile.kernels.iter().find(|kernel| kernel.id == site.kernel) else { continue };
        let own =
            Frame { function: site.function.clone(), file: site.file.clone(), line: site.line, column: site.column };
        let inlined: Vec<Frame> = site.inlined_at.iter().rev().cloned().chain([own]).collect();
        let mut sample = |calls: &[Frame], metrics: &Metrics| {
            let outer = host_path(kernel);
            let start =
                Frame { function: kernel.name.clone(), file: kernel.file.clone(), line: kernel.line, column: 0 };
            let mut device: Vec<Frame> = calls.iter().chain(&inlined).cloned().collect();
            // The first frame's function is the kernel, whatever the debug information calls it.
            if let Some(first) = device.first_mut() {
                first.function = start.function;
            }
            let mut sample = Message::default();
            // Leaf first.
            let stack: Vec<u64> = outer.iter().chain(&device).rev().map(|frame| tables.location(frame)).collect();
            sample.packed(1, &stack).packed(2, &values(metrics, &site.space));
            let labels = [("kernel", kernel.name.as_str()), ("space", site.space.as_str()), ("op", site.op.as_str())];
            for (key, value) in labels {
                let mut label = Message::default();
                label.number(1, tables.text(key)).number(2, tables.text(value));
                sample.message(3, &label);
            }
            out.message(2, &sample);
        };
        if site.contexts.is_empty() {
            sample(&[], &site.metrics);
        }
        for context in &site.contexts {
            sample(&context.calls, &context.metrics);
        }
    }
    let program = profile.run.program.first().map_or("", String::as_str);
    let mut mapping = Message::default();
    // Functions, files, lines and inlined frames are known.
    mapping.number(1, 1).number(5, tables.text(program)).number(7, 1).number(8, 1).number(9, 1).number(10, 1);
    out.message(3, &mapping);
    for (place, id) in &tables.locations {
        let mut line = Message::default();
        line.number(1, place.0).number(2, u64::from(place.1)).number(3, u64::from(place.2));
        let mut location = Message::default();
        location.number(1, *id).number(2, 1).number(3, *id).message(4, &line);
        out.message(4, &location);
    }
    for ((name, file), id) in &tables.functions {
        let mut function = Message::default();
        function.number(1, *id).number(2, *name).number(3, *name).number(4, *file);
        out.message(5, &function);
    }
    let first = tables.text(VALUES[0].0);
    for text in &tables.order {
        out.bytes(6, text.as_bytes());
    }
    out.number(14, first);
    out.0
}

/// The call path of the launches, where all have the same.
fn host_path(kernel: &Kernel) -> &[Frame] {
    let launches = kernel.launches.iter().map(|launch| &launch.path);
    let mut paths = launches.chain(kernel.launch_groups.iter().map(|group| &group.path));
    match paths.next() {
        Some(first) if paths.all(|path| path == first) => first,
        _ => &[],
    }
}

fn values(metrics: &Metrics, space: &str) -> [u64; VALUES.len()] {
    let passes = metrics.shared.as_ref().map_or(0, |shared| shared.wavefronts);
    let (sectors, ideal) = if space == "shared" { (0, 0) } else { (metrics.sectors, metrics.ideal_sectors) };
    [sectors, sectors.saturating_sub(ideal), metrics.requests, metrics.lanes, metrics.bytes, passes]
}

/// What the parts of a profile are numbered by. Number 0 of the texts is the empty one, elsewhere it is nothing.
struct Tables {
    texts: BTreeMap<String, u64>,
    order: Vec<String>,
    /// By texts of name and file.
    functions: BTreeMap<(u64, u64), u64>,
    /// By function, line and column.
    locations: BTreeMap<(u64, u32, u32), u64>,
}

impl Default for Tables {
    fn default() -> Self {
        let (texts, order) = ([(String::new(), 0)].into(), vec![String::new()]);
        Tables { texts, order, functions: BTreeMap::new(), locations: BTreeMap::new() }
    }
}

impl Tables {
    fn text(&mut self, text: &str) -> u64 {
        if let Some(&index) = self.texts.get(text) {
            return index;
        }
        let index = self.order.len() as u64;
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

/// A message of protocol buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) -> &mut Message {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    fn message(&mut self, field: u64, message: &Message) -> &mut Message {
        self.bytes(field, &message.0)
    }

    fn packed(&mut self, field: u64, values: &[u64]) -> &mut Message {
        let mut packed = Message::default();
        values.iter().for_each(|value| packed.varint(*value));
        self.bytes(field, &packed.0)
    }
}

/// A gzip file (RFC 1952) with the bytes as they are: profiles of lines are small, and readers ask for the frame only.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut blocks = bytes.chunks(STORED).peekable();
    if blocks.peek().is_none() {
        out.extend([1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        out.push(u8::from(blocks.peek().is_none()));
        let length = block.len() as u16;
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend(crc32fast::hash(bytes).to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_groups_of_seven_bits() {
        let mut message = Message::default();
        message.number(1, 150).bytes(2, b"ab").packed(3, &[3, 270]);
        assert_eq!(message.0, [0x08, 0x96, 0x01, 0x12, 2, b'a', b'b', 0x1a, 3, 3, 0x8e, 0x02]);
    }

    #[test]
    fn long_profiles_have_several_blocks() {
        let bytes = vec![7; STORED + 3];
        let file = gzip(&bytes);
        assert_eq!(file.len(), 10 + 5 + STORED + 5 + 3 + 8);
        assert_eq!((file[10], file[15 + STORED]), (0, 1));
    }
}
