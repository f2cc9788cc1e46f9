//! Writes a trace for [Perfetto](https://ui.perfetto.dev): launches by stream, copies, allocations and the allocated
//! bytes. A profile contains the order of launches but not their times; each launch therefore takes one microsecond,
//! and the name of the process states this. Concatenated traces of several ranks form one trace with several processes.

mod message;

use std::collections::{BTreeMap, BTreeSet};

use prost::Message as _;

use super::stacks::frame_name;
use crate::words::plain_name;
use message::{Annotation, BEGIN, COUNTER, Counter, END, Event, Packet, Process, Trace, Track, UNIT_BYTES};
use warpline_profile::Profile;
use warpline_profile::model::{Allocation, CopyRow, Frame, Spaces};

/// Nanoseconds of a launch including the preceding copies.
const SLOT: u64 = 1000;
/// Nanoseconds of these for the preceding copies.
const BEFORE: u64 = 200;
/// Maximum number of a launch, because times have 64 bits.
const MOST_LAUNCHES: u64 = 1 << 50;
/// Maximum number of allocations with a separate track; the largest are chosen.
const MOST_ALLOCATIONS: usize = 1000;

/// Returns the file.
pub fn perfetto(profile: &Profile) -> Vec<u8> {
    let mut trace = Writer::new(profile);
    trace.launches(profile);
    trace.copies(profile);
    trace.allocations(profile);
    trace.finish()
}

/// Returns the start time of the copies that precede a launch.
fn before(launch: u64) -> u64 {
    launch.min(MOST_LAUNCHES) * SLOT
}

struct Writer {
    /// Identifier of the process; identifiers of tracks are counted from it.
    uuid: u64,
    sequence: u32,
    tracks: Vec<Track>,
    /// Events sorted by time; ends precede starts.
    events: Vec<(u64, bool, Event)>,
}

impl Writer {
    fn new(profile: &Profile) -> Writer {
        let environment = &profile.run.environment;
        let rank = environment.rank.as_ref();
        let index = rank.map_or(0, |rank| rank.index);
        let program = profile.run.program.first().map_or("program", |path| path.rsplit('/').next().unwrap_or(path));
        let what = match rank {
            Some(rank) => format!(
                "{program} rank {}{}",
                rank.index,
                rank.node.as_ref().map_or(String::new(), |node| format!(" on {node}"))
            ),
            None => program.to_owned(),
        };
        let process = Process {
            pid: i32::try_from(index).unwrap_or(i32::MAX - 1) + 1,
            cmdline: profile.run.program.clone(),
            process_name: format!("{what} (in launch order: 1 us is a launch, no time)"),
        };
        // Ranks must not share tracks. Each rank has fewer than 2^32 tracks.
        let uuid = (u64::from(index) + 1) << 32;
        let name = process.process_name.clone();
        let own = Track { uuid, name, process: Some(process), ..Track::default() };
        Writer { uuid, sequence: index.wrapping_add(1).max(1), tracks: vec![own], events: Vec::new() }
    }

    fn track(&mut self, name: &str, parent: Option<u64>) -> u64 {
        let uuid = self.uuid + self.tracks.len() as u64;
        let parent_uuid = Some(parent.unwrap_or(self.uuid));
        self.tracks.push(Track { uuid, name: name.to_owned(), parent_uuid, ..Track::default() });
        uuid
    }

    fn slice(&mut self, track_uuid: u64, from: u64, to: u64, name: String, debug_annotations: Vec<Annotation>) {
        let begin = Event { r#type: BEGIN, track_uuid, name: Some(name), debug_annotations, counter_value: None };
        self.events.push((from, true, begin));
        self.events.push((to, false, Event { r#type: END, track_uuid, ..Event::default() }));
    }

    fn launches(&mut self, profile: &Profile) {
        let streams: BTreeSet<u32> =
            profile.kernels.iter().flat_map(|kernel| &kernel.launches).map(|launch| launch.stream).collect();
        let tracks: BTreeMap<u32, u64> =
            streams.into_iter().map(|stream| (stream, self.track(&format!("stream {stream}"), None))).collect();
        for kernel in &profile.kernels {
            for launch in &kernel.launches {
                let mut facts = vec![
                    number("launch", launch.id),
                    text("grid", shape(launch.grid)),
                    text("block", shape(launch.block)),
                    number("registers", launch.registers.into()),
                    number(
                        "shared_bytes",
                        u64::from(launch.dynamic_shared_bytes) + u64::from(launch.static_shared_bytes),
                    ),
                ];
                facts.extend(figures(&launch.metrics));
                facts.extend(path(&launch.path));
                let from = before(launch.id);
                let Some(&track) = tracks.get(&launch.stream) else { continue };
                self.slice(track, from + BEFORE, from + SLOT, plain_name(&kernel.name).to_owned(), facts);
            }
            for group in &kernel.launch_groups {
                let track = self.track("launches that are summed up", None);
                let name = format!("{} x{}", plain_name(&kernel.name), group.launches);
                let mut facts =
                    vec![number("launches", group.launches), number("first", group.first), number("last", group.last)];
                facts.extend(group.grid.map(|grid| text("grid", shape(grid))));
                facts.extend(group.block.map(|block| text("block", shape(block))));
                facts.extend(figures(&group.metrics));
                facts.extend(path(&group.path));
                let last = group.last.max(group.first);
                self.slice(track, before(group.first) + BEFORE, before(last) + SLOT, name, facts);
            }
        }
    }

    fn copies(&mut self, profile: &Profile) {
        let hosts: BTreeMap<u64, Option<&str>> =
            profile.host_allocations.iter().map(|host| (host.id, host.name.as_deref())).collect();
        let mut tracks: BTreeMap<&str, u64> = BTreeMap::new();
        for allocation in &profile.allocations {
            for copy in &allocation.copies {
                let Some(first) = copy.first_launch else { continue };
                let track = match tracks.get(&copy.direction[..]) {
                    Some(&track) => track,
                    None => {
                        let track = self.track(&format!("copies: {}", copy.direction), None);
                        *tracks.entry(&copy.direction).or_insert(track)
                    }
                };
                let host = copy.host.and_then(|host| hosts.get(&host).copied().flatten());
                let name = format!("{} ({} bytes)", name(allocation), copy.bytes);
                let facts = copy_facts(copy, host);
                let last = copy.last_launch.filter(|&last| last > first);
                for (at, which) in [(Some(first), "first of"), (last, "last of")] {
                    let Some(at) = at else { continue };
                    let name =
                        if copy.count > 1 { format!("{which} {} copies: {name}", copy.count) } else { name.clone() };
                    self.slice(track, before(at), before(at) + BEFORE, name, facts.clone());
                }
            }
        }
    }

    fn allocations(&mut self, profile: &Profile) {
        let end = 1 + profile
            .kernels
            .iter()
            .flat_map(|kernel| {
                kernel.launches.iter().map(|one| one.id).chain(kernel.launch_groups.iter().map(|one| one.last))
            })
            .max()
            .unwrap_or_default()
            .min(MOST_LAUNCHES);
        let mut lived: Vec<_> = profile.allocations.iter().filter_map(|one| Some((one, one.lifetime?))).collect();
        lived.sort_by_key(|(one, _)| (std::cmp::Reverse(one.bytes), one.id));
        let mut changes: BTreeMap<u64, i128> = BTreeMap::new();
        let parent = self.track("allocations", None);
        for (number_of, (one, life)) in lived.into_iter().enumerate() {
            // Allocations that share a row may have had different lifetimes, so they are excluded from the sum.
            if one.count == 1 {
                *changes.entry(before(life.first_launch)).or_default() += i128::from(one.bytes);
                if let Some(last) = life.last_launch {
                    *changes.entry(before(last.max(life.first_launch))).or_default() -= i128::from(one.bytes);
                }
            }
            if number_of >= MOST_ALLOCATIONS {
                continue;
            }
            let track = self.track(&name(one), Some(parent));
            let last = life.last_launch.unwrap_or(end).max(life.first_launch);
            let mut facts = vec![
                text("kind", one.kind.clone()),
                number("bytes", one.bytes),
                number("touched_bytes", one.touched_bytes),
            ];
            facts.extend((one.count > 1).then(|| number("allocations", one.count)));
            facts.extend(path(&one.path));
            self.slice(
                track,
                before(life.first_launch),
                before(last).max(before(life.first_launch) + BEFORE),
                name(one),
                facts,
            );
        }
        let uuid = self.track("allocated bytes", None);
        if let Some(track) = self.tracks.last_mut() {
            track.counter = Some(Counter { unit: UNIT_BYTES });
        }
        let mut sum = 0i128;
        for (time, change) in changes {
            sum += change;
            let value = i64::try_from(sum).unwrap_or(i64::MAX);
            let event = Event { r#type: COUNTER, track_uuid: uuid, counter_value: Some(value), ..Event::default() };
            self.events.push((time, true, event));
        }
    }

    fn finish(mut self) -> Vec<u8> {
        // Of the starts at one time, the first one written is the outermost; its end closes all.
        self.events.sort_by_key(|(time, begins, _)| (*time, *begins));
        let trusted_packet_sequence_id = self.sequence;
        let packet = |timestamp, track_event, track_descriptor| Packet {
            timestamp,
            trusted_packet_sequence_id,
            track_event,
            track_descriptor,
        };
        let tracks = self.tracks.into_iter().map(|track| packet(None, None, Some(track)));
        let events = self.events.into_iter().map(|(time, _, event)| packet(Some(time), Some(event), None));
        Trace { packet: tracks.chain(events).collect() }.encode_to_vec()
    }
}

fn name(allocation: &Allocation) -> String {
    allocation.name.clone().unwrap_or_else(|| format!("#{}", allocation.id))
}

fn copy_facts(copy: &CopyRow, host: Option<&str>) -> Vec<Annotation> {
    let mut facts =
        vec![number("bytes", copy.bytes), number("copies", copy.count), number("unchanged", copy.unchanged_count)];
    facts.extend(host.map(|host| text("host", host.to_owned())));
    facts.extend(path(&copy.path));
    facts
}

fn number(name: &str, value: u64) -> Annotation {
    Annotation { name: name.to_owned(), uint_value: Some(value), string_value: None }
}

fn text(name: &str, value: String) -> Annotation {
    Annotation { name: name.to_owned(), uint_value: None, string_value: Some(value) }
}

fn shape([x, y, z]: [u32; 3]) -> String {
    format!("{x} x {y} x {z}")
}

fn path(frames: &[Frame]) -> Option<Annotation> {
    let names: Vec<String> = frames.iter().map(frame_name).collect();
    (!names.is_empty()).then(|| text("path", names.join(" > ")))
}

fn figures(spaces: &Spaces) -> Vec<Annotation> {
    let mut facts = Vec::new();
    for (space, metrics) in spaces {
        facts.push(number(&format!("{space}.requests"), metrics.requests));
        if space == "shared" {
            let passes = metrics.shared.as_ref();
            facts.extend(passes.map(|passes| number("shared.wavefronts", passes.wavefronts)));
        } else {
            facts.push(number(&format!("{space}.sectors"), metrics.sectors));
            facts.push(number(&format!("{space}.ideal_sectors"), metrics.ideal_sectors));
        }
        if let Some(dram) = metrics.dram {
            facts.push(number(&format!("{space}.dram_sectors"), dram.read_sectors.saturating_add(dram.write_sectors)));
        }
    }
    facts
}
