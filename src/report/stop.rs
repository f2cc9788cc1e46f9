//! Describes a program that is stopped at an access.

use std::collections::BTreeSet;

use warpline_format::access::{Item, Items, Space, push_access};
use warpline_format::event::FaultKind;
use warpline_format::site_table::Op;
use warpline_format::stop::{CodePlace, Stopped, StoppedLane, Target};
use warpline_format::visible::make_name;

use super::views::{Block, Cell, Column, Fact, Row, Source, SourceLine, Table, View};
use crate::words::{at, bytes, frame, host_path, plain_name, sizes};
use warpline_profile::model::Frame;
use warpline_simulator::geometry::{BankRules, Banks, SECTOR_BYTES, Width};
use warpline_simulator::metrics::{WavefrontMemo, wavefronts};

/// Number of lanes of a warp.
const LANES: u32 = 32;
/// Number of source lines shown before and after the access.
const AROUND: u32 = 2;
/// Bytes of a cache line. Requests are reported in lines and in sectors.
const LINE_BYTES: u64 = 128;

/// Returns a view of a stop: position, threads, call paths, and each lane. `number` counts stops from 1, and `host` is
/// the launch's call path with the outermost frame first. `banks` are the banks of the model's shared memory, and
/// `source` reads a file.
pub fn stop_view(
    mut stopped: Stopped,
    number: u64,
    host: &[Frame],
    banks: Banks,
    source: impl Fn(&str) -> Option<String>,
) -> View {
    make_visible(&mut stopped);
    let stopped = &stopped;
    let place = user_place(&stopped.code);
    let shown_place = place.map_or_else(|| "an unknown line".to_owned(), |place| at(&place.file, place.line));
    let title = format!("STOP {number} at {shown_place}: {}", access(stopped));
    let mut blocks = vec![Block::Facts(facts(stopped, host, banks))];
    if let Some(place) = place
        && let Some(text) = source(&place.file)
    {
        blocks.push(Block::Source(lines_near(place, &text)));
    }
    blocks.push(Block::Table(lanes(stopped, banks)));
    View { title, place: place.map(|place| (place.file.clone(), place.line)), blocks }
}

/// Escapes names, which the program defines and which are printed to a terminal.
fn make_visible(stopped: &mut Stopped) {
    make_name(&mut stopped.kernel);
    make_name(&mut stopped.object);
    make_name(&mut stopped.structure);
    for place in stopped.calls.iter_mut().flatten().chain(&mut stopped.code) {
        make_name(&mut place.function);
        make_name(&mut place.file);
    }
    for lane in &mut stopped.lanes {
        match &mut lane.target {
            Target::Allocation { name, .. }
            | Target::Freed { name, .. }
            | Target::Outside { name, .. }
            | Target::SharedVariable { name, .. } => make_name(name),
            _ => {}
        }
    }
}

/// Returns the innermost position in the user's code.
fn user_place(code: &[CodePlace]) -> Option<&CodePlace> {
    code.iter().find(|place| !place.system && place.line > 0).or_else(|| code.iter().find(|place| place.line > 0))
}

fn access(stopped: &Stopped) -> String {
    let op = match stopped.op {
        Some(Op::Load) => "load",
        Some(Op::Store) => "store",
        Some(Op::Atomic) => "atomic operation",
        None => "access",
    };
    let space = match stopped.space {
        Space::Global => "global ",
        Space::Shared => "shared ",
        Space::Local => "local ",
        Space::Constant => "constant ",
        Space::Generic => "",
    };
    let object = if stopped.object.is_empty() { String::new() } else { format!(", {}", stopped.object) };
    let fault = stopped.fault.map_or(String::new(), |fault| format!(": {}", fault_name(fault)));
    format!("{space}{op} of {}{object}{fault}", bytes(u64::from(stopped.bytes)))
}

fn fault_name(fault: FaultKind) -> &'static str {
    match fault {
        FaultKind::Misaligned => "MISALIGNED",
        FaultKind::Freed => "IN FREED MEMORY",
        _ => "OUT OF BOUNDS",
    }
}

fn facts(stopped: &Stopped, host: &[Frame], banks: Banks) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |label, text: String| facts.push(Fact { label, text, target: None });
    let kernel = plain_name(&stopped.kernel);
    let shape = format!("{kernel}<<<{}, {}>>>", sizes(stopped.grid), sizes(stopped.block_size));
    fact("launch", format!("#{}, {shape}", stopped.launch));
    let [x, y, z] = stopped.block;
    let active = stopped.lanes.len();
    let live = stopped.live.count_ones();
    fact("block", format!("({x},{y},{z}), warp {}, {active} of {live} lanes active", stopped.warp));
    let path = host_path(host);
    if !path.is_empty() {
        fact("host", path.join(" > "));
    }
    fact("device", device_path(stopped).join(" > "));
    if let Some(text) = touched(stopped) {
        fact("touches", text);
    }
    if let Some(text) = passes(stopped, banks) {
        fact("banks", text);
    }
    facts
}

/// Returns the path from the kernel to the access. Inlined calls and other calls look alike.
fn device_path(stopped: &Stopped) -> Vec<String> {
    let chains = stopped.calls.iter().chain([&stopped.code]);
    let places = chains.flat_map(|chain| chain.iter().rev());
    let mut path: Vec<String> = Vec::new();
    for place in places.filter(|place| !place.system && place.line > 0) {
        let of = |place: &CodePlace| Frame {
            function: place.function.clone(),
            file: place.file.clone(),
            line: place.line,
            column: place.column,
        };
        path.push(frame(&of(place)));
    }
    if path.is_empty() {
        path.push(plain_name(&stopped.kernel).to_owned());
    }
    path
}

/// Describes the sectors and lines of the request, and the distance between its lanes.
fn touched(stopped: &Stopped) -> Option<String> {
    let outside = |lane: &&StoppedLane| {
        matches!(
            lane.target,
            Target::Allocation { .. } | Target::Freed { .. } | Target::Outside { .. } | Target::Unknown
        )
    };
    let lanes: Vec<&StoppedLane> = stopped.lanes.iter().filter(outside).collect();
    let step = step(&stopped.lanes);
    if lanes.is_empty() {
        return step;
    }
    let last = u64::from(stopped.bytes.max(1)) - 1;
    let pieces = |size: u64| {
        let all = lanes.iter().flat_map(|lane| lane.counted / size..=lane.counted.saturating_add(last) / size);
        all.collect::<BTreeSet<u64>>().len()
    };
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (sectors, lines) = (pieces(SECTOR_BYTES), pieces(LINE_BYTES));
    let step = step.map_or(String::new(), |step| format!("; {step}"));
    Some(format!(
        "{} of {SECTOR_BYTES} bytes, {} of {LINE_BYTES}{step}",
        counted(sectors, "sector"),
        counted(lines, "line")
    ))
}

/// Returns whether all lanes access shared memory.
fn is_shared(stopped: &Stopped) -> bool {
    let shared = |lane: &StoppedLane| matches!(lane.target, Target::Shared(..) | Target::SharedVariable { .. });
    !stopped.lanes.is_empty() && stopped.lanes.iter().all(shared)
}

/// Describes the number of passes through shared memory that the request needs.
fn passes(stopped: &Stopped, banks: Banks) -> Option<String> {
    let in_order = stopped.lanes.is_sorted_by(|one, next| one.lane < next.lane);
    if !is_shared(stopped) || stopped.bytes == 0 || !in_order || stopped.lanes.last()?.lane >= LANES {
        return None;
    }
    let mask = stopped.lanes.iter().fold(0, |mask: u32, lane| mask | 1 << lane.lane);
    let addresses: Vec<u64> = stopped.lanes.iter().map(|lane| lane.address).collect();
    let mut items = Vec::new();
    push_access(&mut items, Space::Shared, 0, mask, &addresses);
    let Some(Ok(Item::Access(access))) = Items::new(&items).next() else { return None };
    let rules = BankRules { shared: banks, data: None };
    let width = Width::solid(stopped.bytes);
    let op = stopped.op.unwrap_or(Op::Atomic);
    let counted = wavefronts(&access, width, op, &rules, &mut WavefrontMemo::default(), &mut Vec::new(), None);
    let passes = |count: u32| format!("{count} pass{}", if count == 1 { "" } else { "es" });
    let conflict = if counted.passes > counted.ideal {
        format!(" where {} would do: lanes meet in banks", counted.ideal)
    } else {
        String::new()
    };
    Some(format!("{}{conflict}", passes(counted.passes)))
}

/// Describes the distance between the addresses of adjacent lanes, if it is constant.
fn step(lanes: &[StoppedLane]) -> Option<String> {
    let mut steps = lanes.windows(2).map(|pair| {
        let lanes = i64::from(pair[1].lane) - i64::from(pair[0].lane);
        (pair[1].address.wrapping_sub(pair[0].address) as i64, lanes)
    });
    let (first, lanes) = steps.next()?;
    if first % lanes != 0 || !steps.all(|(bytes, apart)| bytes * lanes == first * apart) {
        return Some("no constant step from lane to lane".to_owned());
    }
    match first / lanes {
        0 => Some("all lanes at one address".to_owned()),
        step => Some(format!("{step} bytes from lane to lane")),
    }
}

fn lines_near(place: &CodePlace, text: &str) -> Source {
    let near = place.line.saturating_sub(AROUND)..=place.line + AROUND;
    let lines = (1..).zip(text.lines()).filter(|(number, _)| near.contains(number));
    let lines = lines.map(|(number, text)| SourceLine {
        number,
        text: warpline_format::visible::source_line(text).replace('\t', "    "),
        heat: 0.0,
        marked: number == place.line,
    });
    Source { file: place.file.clone(), lines: lines.collect() }
}

fn lanes(stopped: &Stopped, banks: Banks) -> Table {
    let words = |name| Column { name, dispensable: 0, meaning: "" };
    let mut columns = ["lane", "thread", "address", "byte", "element", "of"].map(words).to_vec();
    let shared = is_shared(stopped);
    if shared {
        columns.insert(5, words("bank"));
    }
    let elements = Elements::for_stop(stopped);
    let rows = (0..LANES).map(|lane| {
        let found = stopped.lanes.iter().find(|row| row.lane == lane);
        let number = Cell::Count(u64::from(lane));
        let cells = match found {
            None => {
                let state = if stopped.live >> lane & 1 == 0 { "(no thread)" } else { "(inactive)" };
                let mut cells = vec![Cell::Nothing; columns.len()];
                cells[0] = number;
                cells[columns.len() - 1] = Cell::Text(state.to_owned());
                cells
            }
            Some(row) => {
                let [x, y, z] = row.thread;
                let (offset, of) = target(&row.target);
                let mut cells = vec![
                    number,
                    Cell::Text(format!("({x},{y},{z})")),
                    Cell::Text(format!("{:#x}", row.address)),
                    offset.map_or(Cell::Nothing, |offset| Cell::Text(offset.to_string())),
                    offset.map_or(Cell::Nothing, |offset| Cell::Text(elements.name(offset))),
                    Cell::Text(of),
                ];
                if shared {
                    let bank = row.address / u64::from(banks.word_bytes.max(1)) % u64::from(banks.banks.max(1));
                    cells.insert(5, Cell::Count(bank));
                }
                cells
            }
        };
        Row { cells, target: None }
    });
    let rows: Vec<Row> = rows.collect();
    Table { heading: format!("LANES; elements of {}", elements.meaning()), columns, rows, sorted: None }
}

/// Units in which the position of a lane is reported.
enum Elements<'a> {
    /// Elements of the size of the access.
    Plain(u32),
    /// Structures; all lanes access the same member.
    Structures { name: &'a str, bytes: u32, member: &'a str },
}

impl Elements<'_> {
    /// Returns structures if the compiler recorded one and the offset within a structure is equal for all lanes.
    /// Otherwise, the memory is not an array of these structures.
    fn for_stop(stopped: &Stopped) -> Elements<'_> {
        let plain = Elements::Plain(stopped.bytes);
        let size = i64::from(stopped.structure_bytes);
        if size == 0 || stopped.structure.is_empty() {
            return plain;
        }
        let within = |lane: &StoppedLane| target(&lane.target).0.map(|offset| offset.rem_euclid(size));
        let mut places = stopped.lanes.iter().map(within);
        let Some(Some(first)) = places.next() else { return plain };
        if first + i64::from(stopped.bytes) > size || !places.all(|place| place == Some(first)) {
            return plain;
        }
        let member = stopped.object.find('.').map_or("", |dot| &stopped.object[dot..]);
        Elements::Structures { name: &stopped.structure, bytes: stopped.structure_bytes, member }
    }

    /// Returns `17`, `17 + 2 B` if an access starts inside an element, or `17.x`.
    fn name(&self, offset: i64) -> String {
        match *self {
            Elements::Plain(bytes) => {
                let size = i64::from(bytes.max(1));
                match (offset.div_euclid(size), offset.rem_euclid(size)) {
                    (element, 0) => element.to_string(),
                    (element, rest) => format!("{element} + {rest} B"),
                }
            }
            Elements::Structures { bytes, member, .. } => {
                format!("{}{member}", offset.div_euclid(i64::from(bytes.max(1))))
            }
        }
    }

    fn meaning(&self) -> String {
        match *self {
            Elements::Plain(size) => format!("{}, as the access", bytes(u64::from(size))),
            Elements::Structures { name, bytes: size, .. } => format!("{name}, {}", bytes(u64::from(size))),
        }
    }
}

/// Returns the offset within the target at an address, and a description of the target.
fn target(target: &Target) -> (Option<i64>, String) {
    let sized = |name: &str, size: u64| format!("{name} ({})", bytes(size));
    match target {
        Target::Allocation { name, bytes: size, offset } => (Some(*offset as i64), sized(name, *size)),
        Target::Freed { name, bytes: size, offset } => {
            (Some(*offset as i64), format!("{}, which was FREED", sized(name, *size)))
        }
        Target::Outside { name, bytes: size, distance } if *distance < 0 => {
            (Some(*distance), format!("{} bytes BEFORE {}", distance.unsigned_abs(), sized(name, *size)))
        }
        Target::Outside { name, bytes: size, distance } => {
            (Some((*size as i64).wrapping_add(*distance)), format!("{distance} bytes PAST {}", sized(name, *size)))
        }
        Target::SharedVariable { name, bytes: size, offset } => (Some(*offset as i64), sized(name, *size)),
        Target::Shared(offset, size) if (0..*size as i64).contains(offset) => {
            (Some(*offset), sized("the block's shared memory", *size))
        }
        Target::Shared(offset, size) => {
            (Some(*offset), format!("OUTSIDE {}", sized("the block's shared memory", *size)))
        }
        Target::Local(offset) => (Some(*offset as i64), "the thread's local memory".to_owned()),
        Target::Parameters => (None, "the kernel's parameters".to_owned()),
        Target::Unknown => (None, "NO memory of the device".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stopped(step: u64, mask: u32) -> Stopped {
        let lane = |lane: u32| StoppedLane {
            lane,
            thread: [lane, 0, 0],
            // The host memory starts within a sector.
            address: 0x1010 + u64::from(lane) * step,
            counted: 0x1000 + u64::from(lane) * step,
            target: Target::Allocation { name: "d_a".into(), bytes: 4096, offset: u64::from(lane) * step },
        };
        let place = |function: &str, line, system| CodePlace {
            function: function.into(),
            file: if system { "/usr/include/x.h".into() } else { "/src/a.cu".into() },
            line,
            column: 3,
            system,
        };
        Stopped {
            launch: 4,
            kernel: "void f<int>(int*)".into(),
            grid: [4, 2, 1],
            block_size: [20, 1, 1],
            block: [3, 1, 0],
            warp: 0,
            live: 0xf_ffff,
            op: Some(Op::Atomic),
            space: Space::Global,
            bytes: 4,
            object: "a.x".into(),
            structure: String::new(),
            structure_bytes: 0,
            fault: None,
            lanes: (0..32).filter(|bit| mask >> bit & 1 != 0).map(lane).collect(),
            code: vec![place("atomicAdd(int*, int)", 90, true), place("g(int*)", 3, false), place("f(int*)", 9, false)],
            calls: vec![vec![place("outer(int*)", 20, false)]],
            path: warpline_format::stop::HostPath::default(),
        }
    }

    #[test]
    fn a_stop_says_who_where_and_what_each_lane_hits() {
        let host = [Frame { function: "main".into(), file: "/src/a.cu".into(), line: 40, column: 1 }];
        let source = |_: &str| Some("one\ntwo\n\tthree();\nfour\nfive\nsix\n".to_owned());
        let view = stop_view(stopped(128, 0b1011), 2, &host, Banks::USUAL, source);
        insta::assert_snapshot!(super::super::views::text(&view, 40, 100, false));
    }

    #[test]
    fn steps_are_reported_where_there_are_any() {
        let of = |step, mask| super::step(&stopped(step, mask).lanes);
        assert_eq!(of(4, u32::MAX).unwrap(), "4 bytes from lane to lane");
        assert_eq!(of(4, 0b1001).unwrap(), "4 bytes from lane to lane");
        assert_eq!(of(0, u32::MAX).unwrap(), "all lanes at one address");
        assert_eq!(of(4, 1), None);
        let whole = super::touched(&stopped(4, u32::MAX)).unwrap();
        assert_eq!(whole, "4 sectors of 32 bytes, 1 line of 128; 4 bytes from lane to lane");
        let mut crooked = stopped(4, 0b111);
        crooked.lanes[2].address += 4;
        assert_eq!(super::step(&crooked.lanes).unwrap(), "no constant step from lane to lane");
    }

    #[test]
    fn elements_are_counted_from_the_start() {
        let element = |offset| Elements::Plain(4).name(offset);
        assert_eq!((element(12), element(14), element(-4)), ("3".into(), "3 + 2 B".into(), "-1".into()));
        let past = Target::Outside { name: "a".into(), bytes: 64, distance: 8 };
        assert_eq!(target(&past), (Some(72), "8 bytes PAST a (64 B)".to_owned()));
    }

    #[test]
    fn members_are_reported_by_the_structure_s_number() {
        let mut body = stopped(16, u32::MAX);
        (body.structure, body.structure_bytes) = ("Body".into(), 16);
        let names = |stopped: &Stopped| [0, 16, 32, -16].map(|offset| Elements::for_stop(stopped).name(offset + 4));
        assert_eq!(names(&body), ["0.x", "1.x", "2.x", "-1.x"]);
        assert_eq!(Elements::for_stop(&body).meaning(), "Body, 16 B");
        // The offset within a structure differs between lanes, so the memory is not an array of them.
        body.structure_bytes = 24;
        assert_eq!(names(&body), ["1", "5", "9", "-3"]);
    }

    #[test]
    fn lanes_that_meet_in_a_bank_of_shared_memory_are_reported() {
        let shared = |step: u64| {
            let mut tile = stopped(step, u32::MAX);
            for lane in &mut tile.lanes {
                let offset = u64::from(lane.lane) * step;
                lane.target = Target::SharedVariable { name: "tile".into(), bytes: 4096, offset };
            }
            tile
        };
        assert_eq!(passes(&shared(4), Banks::USUAL).unwrap(), "1 pass");
        assert_eq!(passes(&shared(8), Banks::USUAL).unwrap(), "2 passes where 1 would do: lanes meet in banks");
        assert_eq!(passes(&shared(128), Banks::USUAL).unwrap(), "32 passes where 1 would do: lanes meet in banks");
        assert_eq!(passes(&stopped(4, u32::MAX), Banks::USUAL), None, "global memory");
        let mut every_other = shared(64);
        every_other.lanes.retain(|lane| lane.lane % 2 == 1);
        assert_eq!(passes(&every_other, Banks::USUAL).unwrap(), "16 passes where 1 would do: lanes meet in banks");
        let view = stop_view(shared(8), 1, &[], Banks::USUAL, |_| None);
        let text = super::super::views::text(&view, 40, 100, false);
        let lane_17 = text.lines().find(|line| line.trim_start().starts_with("17 ")).unwrap();
        let words: Vec<&str> = lane_17.split_whitespace().collect();
        assert_eq!(words[3..], ["136", "34", "6", "tile", "(4.00", "KiB)"]);
    }
}
