//! Finds the processes of a run: its process group and all descendants.

use std::collections::{BTreeMap, BTreeSet};

/// A process, as `/proc/PID/stat` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    group: u32,
    resident_pages: u64,
}

/// A snapshot of a run's processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    all: BTreeMap<u32, Process>,
}

impl Members {
    /// Finds the processes of the group that `leader` leads, and their descendants.
    pub(crate) fn find(leader: u32) -> Members {
        let processes = processes();
        let mut members: BTreeSet<u32> =
            processes.iter().filter(|(_, process)| process.group == leader).map(|(id, _)| *id).collect();
        members.insert(leader);
        loop {
            let children =
                processes.iter().filter(|(id, process)| members.contains(&process.parent) && !members.contains(id));
            let children: Vec<u32> = children.map(|(id, _)| *id).collect();
            if children.is_empty() {
                break;
            }
            members.extend(children);
        }
        Members { all: processes.into_iter().filter(|(id, _)| members.contains(id)).collect() }
    }

    /// Returns their total resident memory in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let pages: u64 = self.all.values().map(|process| process.resident_pages).fold(0, u64::saturating_add);
        pages.saturating_mul(page_bytes())
    }

    /// Sends a signal to each process.
    pub(crate) fn signal(&self, signal: i32) {
        for id in self.all.keys() {
            let Ok(id) = i32::try_from(*id) else { continue };
            // SAFETY: the call sends a signal to a process that this server started, or to its descendant, and does not
            // access memory.
            unsafe { libc::kill(id, signal) };
        }
    }

    /// Returns whether no process is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

fn processes() -> BTreeMap<u32, Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| Some((id, parsed(&std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?)?))).collect()
}

/// Parses the fields after the name, which may contain blanks and parentheses.
fn parsed(stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    // A zombie process has ended.
    if fields.first() == Some(&"Z") {
        return None;
    }
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Process {
        parent: number(1)?.try_into().ok()?,
        group: number(2)?.try_into().ok()?,
        resident_pages: number(21)?,
    })
}

fn page_bytes() -> u64 {
    // SAFETY: the call reads a constant of the system.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn names_with_parentheses_are_read() {
        let stat = "12 (a) b (c)) S 7 12 12 0 -1 4194560 100 0 0 0 1 2 0 0 20 0 1 0 100 1000 25 18446744073709551615";
        assert_eq!(parsed(stat), Some(Process { parent: 7, group: 12, resident_pages: 25 }));
        assert_eq!(parsed("12 (a) Z 7 12 12"), None);
        assert_eq!(parsed("nonsense"), None);
    }

    #[test]
    fn a_group_is_found_and_ended() {
        let mut child = Command::new("sleep").arg("60").process_group(0).spawn().expect("sleep");
        // While the program is loaded, the process has no resident memory.
        let is_loaded = || Members::find(child.id()).resident_bytes() > 0;
        let start = Instant::now();
        while !is_loaded() && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let members = Members::find(child.id());
        assert!(!members.is_empty() && members.resident_bytes() > 0);
        members.signal(libc::SIGKILL);
        child.wait().expect("an end");
        assert!(Members::find(child.id()).is_empty());
    }
}
