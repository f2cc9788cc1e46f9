//! Compares what is copied to the host with the same copies of an earlier run (`--what-if-results`).

use crate::memory::rows::Rows;
use crate::output::message;
use crate::state::runtime::Runtime;
use std::fs::File;
use std::io::{self, Read, Write};
use warpline_format::event::{Event, PathId};
use warpline_format::rounding::{ComparedCopy, Differences, Results};
use warpline_format::values::{Element, ElementKind};

/// The element that is compared if accesses show no type.
const BYTE: Element = Element { kind: ElementKind::Integer, bytes: 1 };

/// The copies to the host, in order: for each, the number of bytes, then the bytes.
#[derive(Debug)]
pub struct KeptResults {
    file: File,
    /// Whether this run writes them.
    writes: bool,
}

impl KeptResults {
    /// Opens the file that the options name, if there is one.
    pub fn open(results: &Results) -> Option<KeptResults> {
        let (opened, path, writes) = match results {
            Results::Ignored => return None,
            Results::Kept(path) => (File::options().append(true).open(path), path, true),
            Results::Compared(path) => (File::open(path), path, false),
        };
        let noted = |error: &io::Error| message::note(&format!("{path}: {error}; results are not compared"));
        opened.inspect_err(noted).ok().map(|file| KeptResults { file, writes })
    }

    /// Writes the bytes of a copy, or returns those of the same copy of the other run.
    fn exchange(&mut self, bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
        if self.writes {
            self.file.write_all(&(bytes.len() as u64).to_le_bytes())?;
            self.file.write_all(bytes)?;
            return Ok(None);
        }
        let mut length = [0; 8];
        self.file.read_exact(&mut length)?;
        if u64::from_le_bytes(length) != bytes.len() as u64 {
            return Err(io::Error::other("it copies other numbers of bytes"));
        }
        let mut before = vec![0; bytes.len()];
        self.file.read_exact(&mut before)?;
        Ok(Some(before))
    }
}

impl Runtime {
    /// Keeps or compares the bytes of a copy to the host.
    ///
    /// # Safety
    /// The rows at `to` are valid for reads.
    pub(super) unsafe fn compare_result(&mut self, to: Rows, from: Rows, width: u64, height: u64, path: PathId) {
        let Some(results) = self.results.as_mut() else { return };
        let mut bytes = Vec::with_capacity((width * height) as usize);
        for row in 0..height {
            let at = (to.start + row * to.pitch) as *const u8;
            // SAFETY: by the contract.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(at, width as usize) });
        }
        let before = match results.exchange(&bytes) {
            Ok(Some(before)) => before,
            Ok(None) => return,
            Err(error) => {
                self.results = None;
                message::note(&format!(
                    "--what-if-results: from this copy on, results are not compared, because the run without rounding differs: {error}"
                ));
                return;
            }
        };
        let Some(live) = self.memory.registry.find(from.start) else { return };
        let offset = from.start - live.start();
        let known = self.roundings.as_ref().and_then(|roundings| roundings.element(live.id));
        let fits = |element: &Element| {
            [offset, width, from.pitch * (height - 1)].iter().all(|n| n.is_multiple_of(element.bytes.into()))
        };
        let element = known.filter(fits).unwrap_or(BYTE);
        let size = element.bytes as usize;
        let mut differences = Differences::default();
        for (index, (before, now)) in (0u64..).zip(before.chunks_exact(size).zip(bytes.chunks_exact(size))) {
            let at = index * u64::from(element.bytes);
            let position = (offset + at / width * from.pitch + at % width) / u64::from(element.bytes);
            let [before, now] = [before, now].map(|bytes| element.number(bits(bytes)).unwrap_or_default());
            differences.compare(before, now, position);
        }
        let compared = ComparedCopy { allocation: live.id, path, element, differences };
        self.trace.event(Event::ComparedCopy(compared));
    }
}

/// Returns up to 8 bytes as a number.
fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}
