//! Invalid accesses: the user's line that leads to them, and races that may cause them.

use super::super::prelude::*;
use warpline_profile::model::Fault;

/// Returns the user's line that calls the library function which contains the fault, if the kernel reaches the
/// library's file from a single line.
pub fn called_at(facts: &Facts<'_>, fault: &Fault) -> Option<Frame> {
    let kernel = facts.profile.kernels.iter().find(|kernel| Some(kernel.id) == fault.kernel)?;
    if !is_system(&fault.frame.file) || is_system(&kernel.file) {
        return None;
    }
    let is_inside = |site: &&Site| {
        Some(site.kernel) == fault.kernel
            && !is_system(&site.file)
            && (site.leaf.file == fault.frame.file || site.inlined_at.iter().any(|one| one.file == fault.frame.file))
    };
    let mut sites = facts.profile.sites.iter().filter(is_inside);
    let first = sites.next()?;
    let is_same = |site: &Site| (&site.file, site.line) == (&first.file, first.line);
    let (function, file) = (String::new(), first.file.clone());
    sites.all(is_same).then_some(Frame { function, file, line: first.line, column: first.column })
}

/// Returns the position of a reported race in the fault's kernel, if the fault's address depends on loaded data. A race
/// makes data undefined, and an index that is loaded from this data as well.
pub fn race_of<'a>(facts: &Facts<'a>, fault: &Fault) -> Option<&'a Frame> {
    let is_faulty = |access: &&Access<'_>| {
        (access.file, access.line, access.op) == (&fault.frame.file[..], fault.frame.line, &fault.op[..])
    };
    let mut faulty = facts.accesses_of(fault.kernel?, "global").filter(is_faulty).peekable();
    if faulty.peek().is_some() && !faulty.any(Access::has_loaded_index) {
        return None;
    }
    let mut races = facts.profile.conflicts.iter().filter(|conflict| conflict.severity == "warning");
    let race = races.find(|conflict| fault.kernel == Some(conflict.kernel))?;
    race.accesses.first().map(|party| &party.frame)
}
