//! Writes one row per memory instruction, kernel and space, for spreadsheets and data frames.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use warpline_profile::Profile;
use warpline_profile::model::{Distances, Site};

/// Version, increased when a column changes its meaning or is removed. New columns are appended.
const SCHEMA_VERSION: u32 = 1;

/// Returns the table. The first line names the columns, and counts are exact. Columns are empty if their data is
/// absent: `l1_*`, `l2_*` and `dram_*` without a cache simulation, `l1_wavefronts_*` and `l1_words` without L1 stages
/// in the model, `reuse_*` without reuse distances (means also without any reuse), and `over_ranks*` without several
/// ranks. `allocations` contains the names of the touched allocations, separated by `;`, in descending order of
/// traffic.
pub fn csv(profile: &Profile) -> String {
    let mut out = String::from(
        "schema_version,kernel,module,file,line,column,function,op,space,bytes_per_lane,requests,lanes,bytes,sectors,\
         ideal_sectors,wavefronts,ideal_wavefronts,l1_lookups,l1_hits,l2_lookups,l2_hits,dram_read_sectors,\
         dram_write_sectors,approximate,library,allocations,l1_load_lookups,l1_load_hits,l1_wavefronts_data,\
         l1_wavefronts_ideal_data,l1_wavefronts_tag,l1_words,reuse_element_mean,reuse_element_first,\
         reuse_element_used_once,reuse_sector_mean,reuse_sector_first,reuse_line_mean,reuse_line_first,over_ranks_figure,\
         over_ranks,over_ranks_min,over_ranks_min_rank,over_ranks_mean,over_ranks_max,over_ranks_max_rank,\
         over_ranks_stddev\n",
    );
    let known: BTreeMap<u64, Option<&String>> =
        profile.allocations.iter().map(|allocation| (allocation.id, allocation.name.as_ref())).collect();
    for site in &profile.sites {
        let kernel = profile.kernels.iter().find(|kernel| kernel.id == site.kernel);
        let metrics = &site.metrics;
        let mut touched: Vec<_> = site.by_allocation.iter().collect();
        touched.sort_by_key(|row| (std::cmp::Reverse(row.metrics.sectors), row.allocation));
        let names: Vec<String> = touched
            .into_iter()
            .map(|row| match row.allocation {
                Some(id) => known.get(&id).copied().flatten().cloned().unwrap_or_else(|| format!("#{id}")),
                None => "?".to_owned(),
            })
            .collect();
        let optional = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let mean = |distances: Option<&Distances>| {
            distances.and_then(|distances| distances.mean).map(|mean| mean.to_string()).unwrap_or_default()
        };
        let first = |distances: Option<&Distances>| optional(distances.map(|distances| distances.infinite));
        let (stages, reuse) = (metrics.l1_wavefronts, metrics.reuse.as_ref());
        let (element, sector, line) =
            (reuse.map(|reuse| &reuse.element), reuse.map(|reuse| &reuse.sector), reuse.map(|reuse| &reuse.line));
        let Site { library: in_library, .. } = site;
        let passes = metrics.shared.as_ref().or(metrics.constant.as_ref());
        let fields = [
            SCHEMA_VERSION.to_string(),
            quoted(kernel.map_or("", |kernel| &kernel.name)),
            quoted(kernel.map_or("", |kernel| &kernel.module)),
            quoted(&site.file),
            site.line.to_string(),
            site.column.to_string(),
            quoted(&site.function),
            site.op.clone(),
            site.space.clone(),
            site.bytes.to_string(),
            metrics.requests.to_string(),
            metrics.lanes.to_string(),
            metrics.bytes.to_string(),
            metrics.sectors.to_string(),
            metrics.ideal_sectors.to_string(),
            optional(passes.map(|passes| passes.wavefronts)),
            optional(passes.map(|passes| passes.ideal_wavefronts)),
            optional(metrics.l1.map(|level| level.lookups)),
            optional(metrics.l1.map(|level| level.hits)),
            optional(metrics.l2.map(|level| level.lookups)),
            optional(metrics.l2.map(|level| level.hits)),
            optional(metrics.dram.map(|dram| dram.read_sectors)),
            optional(metrics.dram.map(|dram| dram.write_sectors)),
            site.approximate.to_string(),
            in_library.to_string(),
            quoted(&names.join(";")),
            optional(metrics.l1.map(|level| level.load_lookups)),
            optional(metrics.l1.map(|level| level.load_hits)),
            optional(stages.map(|stages| stages.data)),
            optional(stages.map(|stages| stages.ideal_data)),
            optional(stages.map(|stages| stages.tag)),
            optional(stages.map(|stages| stages.words)),
            mean(element),
            first(element),
            optional(reuse.map(|reuse| reuse.streaming)),
            mean(sector),
            first(sector),
            mean(line),
            first(line),
        ];
        let fields = fields.into_iter().chain(over_ranks(site)).collect::<Vec<_>>();
        _ = writeln!(out, "{}", fields.join(","));
    }
    out
}

/// Returns the spread over ranks of a row's sectors, or of its passes for shared and constant memory; empty in profiles
/// without ranks.
fn over_ranks(site: &Site) -> [String; 8] {
    let figure = if matches!(&site.space[..], "shared" | "constant") { "wavefronts" } else { "sectors" };
    let Some(over) = site.over_ranks.get(figure) else { return Default::default() };
    [
        figure.to_owned(),
        over.ranks.to_string(),
        over.min.to_string(),
        over.min_rank.to_string(),
        over.mean.to_string(),
        over.max.to_string(),
        over.max_rank.to_string(),
        over.stddev.to_string(),
    ]
}

/// Returns a field quoted according to RFC 4180.
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r', '\t']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn fields_are_quoted_where_they_have_to() {
        assert_eq!(quoted("a"), "a");
        assert_eq!(quoted("f(int, \"x\")"), "\"f(int, \"\"x\"\")\"");
    }
}
