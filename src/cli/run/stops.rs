//! Stops at accesses: shows the program's position to the user, and sends the user's commands to the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use warpline_format::event::InterpretedFrame;
use warpline_format::stop::{HostPath, Reply, StopAt, Stopped, receive, send};

use super::inherited::inherit;
use crate::cli::args::{DeviceChoice, RunArguments, StopArguments, StopOn};
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_analyzer::attribution::Symbolizer;
use warpline_profile::Profile;
use warpline_profile::model::Frame;
use warpline_report::{self as report, LinePlace};
use warpline_simulator::geometry::Banks;

/// Number of stops that are shown if there is no terminal for a prompt.
const SHOWN_UNASKED: u64 = 1;
/// Width of a stop in columns if the terminal's width is unknown.
const WIDTH: usize = 100;
/// Number of rows, which shows all lanes.
const ROWS: usize = 32;

/// Returns the requested stops; `None` if there are none.
pub(super) fn wanted(arguments: &RunArguments) -> Result<Option<StopAt>, Failure> {
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let StopArguments { stop_at, stop_at_allocation, stop_on, stop_count } = &arguments.stops;
    if stop_at.is_empty() && stop_at_allocation.is_empty() && stop_on.is_none() {
        return match stop_count {
            Some(_) => Err(usage("--stop-count needs --stop-at, --stop-at-allocation or --stop-on".to_owned())),
            None => Ok(None),
        };
    }
    if arguments.device() != DeviceChoice::Cpu {
        return Err(usage("programs stop at accesses on the CPU device: leave --device out".to_owned()));
    }
    if arguments.children {
        return Err(usage("one process stops at a time: leave --children out".to_owned()));
    }
    Ok(Some(StopAt {
        descriptor: -1,
        lines: lines("--stop-at", stop_at)?,
        allocations: stop_at_allocation.clone(),
        faults: *stop_on == Some(StopOn::Fault),
    }))
}

/// Parses the FILE:LINE values of an option.
pub(super) fn lines(option: &str, values: &[String]) -> Result<Vec<(String, u32)>, Failure> {
    let line = |text: &String| {
        let failed = |error| Failure::new(exit_code::USAGE, format!("{option} {error}"));
        let place: LinePlace = text.parse().map_err(failed)?;
        Ok((place.file, place.line))
    };
    values.iter().map(line).collect()
}

/// Both ends of the socket, before the program runs.
pub(super) struct Stops {
    ours: UnixStream,
    theirs: UnixStream,
    count: Option<u64>,
    banks: Banks,
}

impl Stops {
    /// Creates a socket whose other end the program inherits. `banks` are those of the model's shared memory.
    pub(super) fn new(count: Option<u64>, banks: Banks) -> Result<Stops, Failure> {
        let failed = |error: io::Error| Failure::new(exit_code::RUN_NOT_PROFILED, format!("no socket: {error}"));
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        inherit(theirs.as_raw_fd()).map_err(failed)?;
        Ok(Stops { ours, theirs, count, banks })
    }

    /// Returns the descriptor of the program's end.
    pub(super) fn descriptor(&self) -> RawFd {
        self.theirs.as_raw_fd()
    }

    /// Starts a thread that answers the program until it ends. The program must be running.
    pub(super) fn serve(self) -> Result<Serving, Failure> {
        let failed = |error: io::Error| Failure::new(exit_code::RUN_NOT_PROFILED, format!("no socket: {error}"));
        let ours = self.ours.try_clone().map_err(failed)?;
        let (count, banks) = (self.count, self.banks);
        // After this, only the program has its end open.
        drop(self.theirs);
        let socket = self.ours;
        Ok(Serving { ours, thread: std::thread::spawn(move || answer_all(&socket, count, banks)) })
    }
}

/// The thread that answers the program.
pub(super) struct Serving {
    ours: UnixStream,
    thread: JoinHandle<u64>,
}

impl Serving {
    /// Stops the thread after the program has ended; returns the number of stops.
    pub(super) fn finish(self) -> u64 {
        // Another process that outlives the program may also have its end open.
        _ = self.ours.shutdown(Shutdown::Both);
        self.thread.join().unwrap_or(0)
    }
}

fn answer_all(socket: &UnixStream, count: Option<u64>, banks: Banks) -> u64 {
    let mut terminal = if count.is_none() && io::stderr().is_terminal() { Terminal::open() } else { None };
    let unasked = count.unwrap_or(SHOWN_UNASKED);
    let mut stops = 0;
    while let Ok(stopped) = receive::<Stopped>(socket) {
        stops += 1;
        show(stopped, stops, banks);
        let reply = match &mut terminal {
            Some(terminal) => terminal.prompt(),
            None if stops >= unasked => Reply::Continue,
            None => Reply::Next(0),
        };
        if send(socket, &reply).is_err() {
            break;
        }
    }
    stops
}

fn show(stopped: Stopped, number: u64, banks: Banks) {
    let HostPath { frames, objects, interpreted } = &stopped.path;
    let objects = objects.iter().map(|(id, path, build_id)| (*id, &path[..], &build_id[..]));
    let interpreted: BTreeMap<u64, InterpretedFrame> = interpreted.iter().cloned().collect();
    let path = Symbolizer::new(objects, &interpreted).path(frames);
    let frame = |frame: warpline_analyzer::attribution::HostFrame| Frame {
        function: frame.function,
        file: frame.file,
        line: frame.line,
        column: frame.column,
    };
    let path: Vec<Frame> = path.into_iter().map(frame).collect();
    let view = report::stop_view(stopped, number, &path, banks, |file| std::fs::read_to_string(file).ok());
    let size = terminal_size::terminal_size_of(io::stderr());
    let width = size.map_or(WIDTH, |(columns, _)| usize::from(columns.0));
    let color = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    // Erases the progress line.
    let clear = if io::stderr().is_terminal() { "\r\x1b[K" } else { "" };
    let text = report::views::text(&view, ROWS, width, color);
    _ = io::stderr().write_all(format!("{clear}{text}\n").as_bytes());
}

/// The user's terminal, because the program may use standard input.
struct Terminal {
    lines: BufReader<File>,
    last: Reply,
}

impl Terminal {
    fn open() -> Option<Terminal> {
        let file = File::open("/dev/tty").ok()?;
        Some(Terminal { lines: BufReader::new(file), last: Reply::Next(0) })
    }

    fn prompt(&mut self) -> Reply {
        loop {
            eprint!(
                "warpline: n next request, n 10 the tenth from here, c go on without stopping, q end the program: "
            );
            let mut line = String::new();
            match self.lines.read_line(&mut line) {
                Ok(0) | Err(_) => {
                    eprintln!();
                    return Reply::Continue;
                }
                Ok(_) => {}
            }
            match answer(line.trim(), self.last) {
                Some(reply) => {
                    self.last = reply;
                    return reply;
                }
                None => eprintln!("warpline: `{}` is no answer", warpline_format::visible::name(line.trim())),
            }
        }
    }
}

/// Parses a typed line. An empty line repeats the previous answer.
fn answer(line: &str, before: Reply) -> Option<Reply> {
    let mut words = line.split_whitespace();
    let (word, number) = (words.next(), words.next());
    match (word, number, words.next()) {
        (None, ..) => Some(before),
        (Some("n" | "next"), None, None) => Some(Reply::Next(0)),
        (Some("n" | "next"), Some(number), None) => {
            number.parse::<u64>().ok().filter(|number| *number > 0).map(|number| Reply::Next(number - 1))
        }
        (Some("c" | "continue"), None, None) => Some(Reply::Continue),
        (Some("q" | "quit"), None, None) => Some(Reply::End),
        _ => None,
    }
}

/// Explains why a program never stopped, from its profile.
pub(super) fn report_if_never(wanted: &StopAt, stops: u64, profile: Option<&Profile>) {
    if stops > 0 {
        return;
    }
    for (file, line) in &wanted.lines {
        let known = profile.map_or_else(BTreeSet::new, |profile| {
            let sites = profile.sites.iter().filter(|site| warpline_findings::ends_with(&site.file, file));
            sites.map(|site| site.line).collect::<BTreeSet<u32>>()
        });
        let lines: Vec<String> = known.iter().map(u32::to_string).collect();
        let hint = match &lines[..] {
            [] => format!("; no recorded access stands in a file of that name ({file})"),
            lines => format!("; recorded accesses of {file} stand at lines {}", lines.join(", ")),
        };
        output::say(format_args!("note: --stop-at {file}:{line}: no recorded request came there{hint}"));
    }
    for name in &wanted.allocations {
        let known = profile.map_or_else(BTreeSet::new, |profile| {
            let names = profile.allocations.iter().filter_map(|row| row.name.as_deref());
            names.collect::<BTreeSet<&str>>()
        });
        let names: Vec<&str> = known.into_iter().collect();
        let hint = if names.is_empty() { String::new() } else { format!("; there are {}", names.join(", ")) };
        output::say(format_args!("note: --stop-at-allocation {name}: no recorded request came to it{hint}"));
    }
    if wanted.faults {
        output::say("note: --stop-on fault: no bad access was found");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_typed() {
        let read = |line| answer(line, Reply::Next(4));
        assert_eq!(read(""), Some(Reply::Next(4)));
        assert_eq!(read("n"), Some(Reply::Next(0)));
        assert_eq!(read(" n  10 "), Some(Reply::Next(9)));
        assert_eq!((read("c"), read("quit")), (Some(Reply::Continue), Some(Reply::End)));
        for wrong in ["n 0", "n x", "n 1 2", "c 1", "help", "n -1"] {
            assert_eq!(read(wrong.trim()), None, "{wrong}");
        }
    }
}
