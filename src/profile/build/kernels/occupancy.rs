//! The profile's occupancy, and properties of a kernel that depend on the architecture it is assembled for.

use std::collections::{BTreeMap, BTreeSet};

use warpline_format::occupancy::{Resources, architecture, nearest};

use warpline_analyzer::analysis::{Analysis, KernelData};

/// Returns ptxas's figures of a kernel for the modelled GPU.
fn resources<'a>(analysis: &'a Analysis, kernel: &KernelData) -> Option<&'a Resources> {
    let capability = analysis.program.as_ref()?.device.compute_capability;
    nearest(analysis.resources.get(&(kernel.module, kernel.function))?, capability)
}

/// Returns the bytes per thread that a kernel spills to local memory.
pub(in crate::build) fn spill_bytes(analysis: &Analysis, kernel: &KernelData) -> u32 {
    // Old traces contain only the spills, not the registers by architecture.
    let spills = || analysis.spills.get(&(kernel.module, kernel.function)).copied();
    resources(analysis, kernel).map(|found| found.spill_bytes).or_else(spills).unwrap_or(0)
}

/// Returns the assumptions about occupancy; `known` contains those that the user stated.
pub(in crate::build) fn assumptions(analysis: &Analysis, known: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let stated = ["registers", "blocks_per_sm"].iter().any(|key| known.contains_key(*key));
    let mut launches = analysis.kernels.iter().flat_map(KernelData::all);
    let occupancy = match launches.any(|launch| launch.event.registers_assumed) {
        _ if stated => "stated",
        true => "assumed",
        false => "ptxas",
    };
    let mut all = BTreeMap::from([("occupancy".to_owned(), occupancy.to_owned())]);
    let found: BTreeSet<u32> =
        analysis.kernels.iter().filter_map(|kernel| Some(resources(analysis, kernel)?.architecture)).collect();
    let wanted = analysis.program.as_ref().map_or(0, |program| architecture(program.device.compute_capability));
    if !found.is_empty() && !stated {
        let names: Vec<String> = found.iter().map(|number| format!("sm_{number}")).collect();
        let mut text = format!("as built for {}", names.join(" and "));
        if found.iter().any(|&number| number != wanted) {
            text.push_str(&format!(", the nearest to sm_{wanted} whose registers are known"));
        }
        all.insert("registers".to_owned(), text);
    }
    all
}
