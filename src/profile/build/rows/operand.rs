//! Converts the operand of a site to the profile's form, with names from the source.

use warpline_format::site_table::{self, SiteTable, Step};

use crate::model::{Operand, ThreadStep};

/// Returns the operand of a site as the site table describes it.
pub(in crate::build) fn operand(table: &SiteTable, site: u32) -> Option<Operand> {
    let found = table.operand(site)?;
    let name = |name: Option<u32>| Some(table.names.get(name? as usize)?.clone());
    let &site_table::Operand { variable, member, structure, structure_bytes, steps, loaded, .. } = found;
    Some(Operand {
        variable: name(variable),
        member: name(member),
        structure: name(structure),
        structure_bytes,
        thread_steps: steps.map(|step| match step {
            Step::None => ThreadStep::None,
            Step::Bytes(bytes) => ThreadStep::Bytes(bytes),
            Step::Times(factor) => ThreadStep::Times(name(factor).unwrap_or_default()),
            Step::Other => ThreadStep::Other,
        }),
        loaded_index: loaded,
    })
}
