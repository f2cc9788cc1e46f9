//! Writes events and access batches as chunks to the sink.

use super::sink::{Sink, SinkError};
use warpline_format::chunk::{ChunkHead, ChunkKind, header};
use warpline_format::event::{Event, LaunchId};
use warpline_format::options::Output;

/// A payload up to this number of bytes is copied after its head, which is cheaper than another system call.
const SHORT: usize = 16 << 10;

/// The state of the writer.
#[derive(Debug)]
enum State {
    /// No event has required the sink yet; the events so far wait here.
    Waiting(Vec<Event>),
    /// The sink is open.
    Open(Sink),
    /// The writer has finished or failed, the trace is not wanted, or this is a forked child that launched something.
    Off,
}

/// The producer of the trace stream.
#[derive(Debug)]
pub struct Writer {
    state: State,
    output: Output,
    program: String,
    sequence: u64,
    owner: u32,
}

impl Writer {
    /// Creates a writer that opens its sink at the first event which shows device activity. In this way, a launcher
    /// that only starts other programs leaves the ring to them.
    pub fn new(output: Output, program: String) -> Writer {
        Writer { state: State::Waiting(Vec::new()), output, program, sequence: 0, owner: std::process::id() }
    }

    /// Returns a writer that writes nothing.
    pub fn off() -> Writer {
        let mut writer = Writer::new(Output::Nowhere, String::new());
        writer.state = State::Off;
        writer
    }

    /// Returns whether events are written.
    pub fn is_on(&self) -> bool {
        !matches!(self.state, State::Off)
    }

    /// Writes one event.
    pub fn event(&mut self, event: Event) {
        if self.forked() && matches!(event, Event::Launch(_)) {
            let process = std::process::id();
            crate::output::message::note(&format!(
                "process {process} was forked from the one that is profiled; what it launches is not in the trace"
            ));
            if let State::Open(sink) = &self.state {
                sink.count_refused();
            }
            self.state = State::Off;
        }
        match &mut self.state {
            State::Off => (),
            State::Waiting(events) => {
                let quiet = matches!(
                    event,
                    Event::Program { .. }
                        | Event::OnGpu
                        | Event::WarpOrder(_)
                        | Event::Object { .. }
                        | Event::InterpretedFrame { .. }
                        | Event::Path { .. }
                        | Event::Module { .. }
                        | Event::Spills { .. }
                        | Event::Assembled { .. }
                ) || matches!(&event, Event::Allocation(allocation) if allocation.global.is_some());
                events.push(event);
                if !quiet {
                    self.open();
                }
            }
            State::Open(_) => self.chunk(ChunkKind::Event, &[&event.to_bytes()]),
        }
    }

    /// Writes a batch of items of a launch.
    pub fn batch(&mut self, launch: LaunchId, items: &[u8]) {
        self.chunk(ChunkKind::Access, &[&launch.to_le_bytes(), items]);
    }

    /// Writes the end record and closes the sink.
    pub fn finish(&mut self, launches: u64) {
        // A forked child that never used the device also leaves the sink to other processes.
        if std::process::id() != self.owner {
            return;
        }
        self.event(Event::End { launches });
        if let State::Open(sink) = &mut self.state {
            sink.close();
        }
        self.state = State::Off;
    }

    fn open(&mut self) {
        let State::Waiting(events) = std::mem::replace(&mut self.state, State::Off) else { return };
        // A child that was forked before any use of the device has its own trace.
        self.owner = std::process::id();
        match Sink::open(&self.output, &self.program) {
            Ok(mut sink) => match sink.write(&header()) {
                Ok(()) => self.state = State::Open(sink),
                Err(error) => return fail(&error),
            },
            Err(error) => return fail(&error),
        }
        for event in events {
            self.chunk(ChunkKind::Event, &[&event.to_bytes()]);
        }
    }

    /// Returns whether this process is a forked child. It shares the open sink with its parent and must not write to
    /// it.
    fn forked(&self) -> bool {
        matches!(self.state, State::Open(_)) && std::process::id() != self.owner
    }

    fn chunk(&mut self, kind: ChunkKind, parts: &[&[u8]]) {
        if self.forked() {
            return;
        }
        let State::Open(sink) = &mut self.state else { return };
        let head = ChunkHead::new(kind, self.sequence, parts).to_bytes();
        self.sequence += 1;
        // All parts except the last and longest are written in one call, and a short chunk is written completely in one
        // call.
        let mut front = head.to_vec();
        let Some((last, first)) = parts.split_last() else { return };
        first.iter().for_each(|part| front.extend_from_slice(part));
        let written = if last.len() <= SHORT {
            front.extend_from_slice(last);
            sink.write(&front)
        } else {
            sink.write(&front).and_then(|()| sink.write(last))
        };
        if let Err(error) = written {
            fail(&error);
            self.state = State::Off;
        }
    }
}

/// Reports once why the trace ends here; the program continues.
fn fail(error: &SinkError) {
    crate::output::message::note(&error.to_string());
}

#[cfg(test)]
mod tests {
    use warpline_format::event::Launch;

    use super::*;

    fn launch(id: u64) -> Event {
        Event::Launch(Launch::with_defaults(id, 1, 32))
    }

    #[test]
    fn a_child_forked_before_the_first_use_has_a_trace_and_one_forked_later_leaves_its_parent_s_alone() {
        let path = std::env::temp_dir().join(format!("warpline-writer-{}.wltrace", std::process::id()));
        let length = || std::fs::metadata(&path).map_or(0, |data| data.len());
        let mut writer = Writer::new(Output::File(path.to_string_lossy().into_owned()), "/a".to_owned());
        let parent = std::process::id() + 1;
        // The state is the same as if another process had created the writer and then forked this one.
        writer.owner = parent;
        writer.finish(0);
        assert_eq!(length(), 0, "it did nothing with the device");
        writer.event(launch(0));
        let first = length();
        assert!(first > 0 && writer.is_on());
        // The state is the same as if this process was forked from the process that opened the file.
        writer.owner = parent;
        writer.batch(0, &[0; 16]);
        writer.finish(1);
        assert!(length() == first && writer.is_on());
        writer.event(launch(1));
        assert!(length() == first && !writer.is_on());
        std::fs::remove_file(&path).unwrap();
    }
}
