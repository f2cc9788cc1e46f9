//! Writes snapshots while an analysis runs.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use warpline_format::access::Space;

use super::place::{file, made};
use super::snapshot::{KernelRow, MOST_KERNELS, Memory, SCHEMA, Snapshot};
use crate::model::LevelMetrics;
use warpline_analyzer::analysis::{Analysis, Progress, Status};
use warpline_simulator::hierarchy::LevelCounts;

/// Time between two snapshots.
const EVERY: Duration = Duration::from_millis(500);
/// Slow snapshots are written less often, so that they take at most one part in `SHARE` of the time.
const SHARE: u32 = 100;
/// Number of chunks between two reads of the clock.
const SKIP: u32 = 8;

/// Inputs of the publisher.
pub struct Source<'a> {
    /// Process of the program.
    pub program_pid: u32,
    /// Program and its arguments.
    pub program: Vec<String>,
    /// Path of the profile to be written.
    pub output: String,
    /// Returns the waiting bytes in the ring, and its capacity.
    pub ring: Box<dyn Fn() -> (u64, u64) + 'a>,
}

/// Writes snapshots, and forwards progress to another receiver.
pub struct Publisher<'a, P> {
    next: &'a mut P,
    source: Source<'a>,
    /// Paths of the temporary file and the snapshot; `None` if no folder is private or writing has failed.
    files: Option<(PathBuf, PathBuf)>,
    started: Instant,
    due: Instant,
    skipped: u32,
}

impl<'a, P: Progress> Publisher<'a, P> {
    /// Creates a publisher. If no folder is accessible to the user only, it writes nothing.
    pub fn new(source: Source<'a>, next: &'a mut P) -> Self {
        let pid = std::process::id();
        let files = made().ok().map(|folder| (file(&folder, pid), folder.join(format!(".{pid}.new"))));
        let now = Instant::now();
        let mut publisher = Publisher { next, source, files, started: now, due: now + EVERY, skipped: 0 };
        let first = publisher.snapshot(&Status::default(), None);
        publisher.leave(&first);
        publisher
    }

    fn snapshot(&self, status: &Status, kernel: Option<&str>) -> Snapshot {
        let (waiting_bytes, ring_bytes) = (self.source.ring)();
        Snapshot {
            schema: SCHEMA.to_owned(),
            version: 1,
            pid: std::process::id(),
            program_pid: self.source.program_pid,
            program: self.source.program.clone(),
            output: self.source.output.clone(),
            seconds: (self.started.elapsed().as_secs_f64() * 1e3).round() / 1e3,
            launches: status.launches,
            requests: status.requests,
            trace_bytes: status.bytes,
            waiting_bytes,
            ring_bytes,
            memory: Memory {
                analysis_bytes: resident("self"),
                program_bytes: resident(&self.source.program_pid.to_string()),
            },
            current_kernel: kernel.map(str::to_owned),
            kernels: Vec::new(),
            kernel_count: 0,
        }
    }

    /// Writes a snapshot under a temporary name and renames it, so that no process reads an incomplete one.
    fn leave(&mut self, snapshot: &Snapshot) {
        let Some((path, new)) = &self.files else { return };
        let write = || -> std::io::Result<()> {
            // An existing file can only belong to a killed process with the same number.
            _ = fs::remove_file(new);
            let mut file: File =
                File::options().write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(new)?;
            file.write_all(&serde_json::to_vec(snapshot)?)?;
            fs::rename(new, path)
        };
        // Another run that ended may have removed the folder.
        if write().or_else(|error| made().map_err(|_| error).and_then(|_| write())).is_err() {
            // Failures are ignored, because the run is more important. The previous snapshot is removed, because it
            // would be outdated.
            self.remove();
            self.files = None;
        }
    }
}

impl<P: Progress> Progress for Publisher<'_, P> {
    fn update(&mut self, status: &Status, kernel: Option<&str>) {
        self.next.update(status, kernel);
    }

    fn needs_results(&mut self) -> bool {
        self.skipped += 1;
        if self.files.is_none() || self.skipped < SKIP {
            return false;
        }
        self.skipped = 0;
        Instant::now() >= self.due
    }

    fn receive(&mut self, status: &Status, kernel: Option<&str>, analysis: &Analysis) {
        let begun = Instant::now();
        let mut snapshot = self.snapshot(status, kernel);
        (snapshot.kernels, snapshot.kernel_count) = rows(analysis);
        self.leave(&snapshot);
        let now = Instant::now();
        self.due = now + EVERY.max((now - begun) * SHARE);
    }
}

impl<P> Publisher<'_, P> {
    fn remove(&self) {
        if let Some((path, new)) = &self.files {
            _ = fs::remove_file(path);
            _ = fs::remove_file(new);
            // The last run removes the folder. If other runs exist, the folder is not empty and stays.
            _ = path.parent().map(fs::remove_dir);
        }
    }
}

impl<P> Drop for Publisher<'_, P> {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Returns the kernels with the most traffic, and the number of all kernels.
fn rows(analysis: &Analysis) -> (Vec<KernelRow>, u64) {
    let mut rows: Vec<KernelRow> = Vec::new();
    for kernel in &analysis.kernels {
        let Some(module) = analysis.modules.get(&kernel.module) else { continue };
        let Some(function) = module.table.functions.get(kernel.function as usize) else { continue };
        let mut row =
            KernelRow { name: function.name.clone(), launches: kernel.launch_count(), ..KernelRow::default() };
        let (mut l1, mut l2) = (LevelCounts::default(), LevelCounts::default());
        let wanted = |space: Space| matches!(space, Space::Global | Space::Generic | Space::Local);
        let cells = kernel.cells.iter().filter(|(key, _)| key.owner.whole() && wanted(key.space));
        for (_, counters) in cells {
            row.requests = row.requests.saturating_add(counters.requests);
            row.sectors = row.sectors.saturating_add(counters.sectors);
            let Some(traffic) = counters.traffic.first() else { continue };
            l1.add(&traffic.l1);
            l2.add(&traffic.l2);
            row.dram_sectors = row.dram_sectors.saturating_add(traffic.dram_reads).saturating_add(traffic.dram_writes);
        }
        row.l1_hit_rate = LevelMetrics::from(&l1).as_l1_rate().share();
        row.l2_hit_rate = LevelMetrics::from(&l2).as_l2_rate().share();
        rows.push(row);
    }
    let all = rows.len() as u64;
    rows.sort_by(|one, other| other.sectors.cmp(&one.sectors).then_with(|| one.name.cmp(&other.name)));
    rows.truncate(MOST_KERNELS);
    (rows, all)
}

/// Returns the resident memory of a process.
fn resident(process: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_that_cannot_be_left_leaves_nothing() {
        struct Nobody;
        impl Progress for Nobody {
            fn update(&mut self, _: &Status, _: Option<&str>) {}
        }
        let folder = tempfile::tempdir().unwrap();
        let (path, new) = (folder.path().join("1.json"), folder.path().join(".1.new"));
        let source = Source { program_pid: 1, program: Vec::new(), output: String::new(), ring: Box::new(|| (0, 0)) };
        let now = Instant::now();
        let files = Some((path.clone(), new.clone()));
        let mut publisher = Publisher { next: &mut Nobody, source, files, started: now, due: now, skipped: 0 };
        let snapshot = publisher.snapshot(&Status::default(), None);
        publisher.leave(&snapshot);
        assert!(path.is_file() && !new.exists());
        // As on a full disk, the snapshot is written partly and not renamed.
        fs::remove_file(&path).unwrap();
        fs::create_dir_all(path.join("in the way")).unwrap();
        publisher.leave(&snapshot);
        assert!(publisher.files.is_none() && !new.exists());
    }
}
