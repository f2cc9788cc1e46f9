//! Compares a profile's figures with the counters of Nsight Compute, kernel by kernel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::counters::KernelCounters;
use warpline_profile::model::{Kernel, LevelMetrics, Metrics, Profile, Site};

/// A figure and the corresponding counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Name of the figure; see [`compare`].
    pub metric: String,
    /// Warpline's value.
    pub ours: f64,
    /// Value of the counters.
    pub counted: f64,
    /// Error in per cent of the counted value; for rates, in percentage points.
    pub error: f64,
    /// Whether the error is in percentage points.
    pub points: bool,
}

/// The comparison of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedKernel {
    /// Demangled name.
    pub kernel: String,
    /// Number of launches; the counters include all of them.
    pub launches: u64,
    /// Its figures, except those that are zero on both sides.
    pub figures: Vec<Compared>,
}

/// The comparison of all kernels of a profile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Results by kernel.
    pub kernels: Vec<ComparedKernel>,
    /// Notes on figures that could not be compared.
    pub notes: Vec<String>,
}

/// A figure of a kernel as a fraction.
enum Value {
    Count(f64),
    /// Numerator and denominator of a rate in per cent.
    Share(f64, f64),
    /// Numerator and denominator of a mean.
    Mean(f64, f64),
}

impl Value {
    fn number(&self) -> Option<f64> {
        match *self {
            Value::Count(count) => Some(count),
            Value::Share(part, whole) => (whole > 0.0).then(|| 100.0 * part / whole),
            Value::Mean(sum, count) => (count > 0.0).then(|| sum / count),
        }
    }
}

/// A kernel in the profile.
struct View<'a> {
    kernel: &'a Kernel,
    sites: Vec<&'a Site>,
    divergent: u64,
    branches: u64,
}

impl View<'_> {
    fn sum(&self, space: &str, op: Option<&str>, of: impl Fn(&Metrics) -> u64) -> f64 {
        let sites = self.sites.iter().filter(|site| site.space == space && op.is_none_or(|op| site.op == op));
        sites.map(|site| of(&site.metrics)).sum::<u64>() as f64
    }

    /// Returns a sum over global and local memory.
    fn level(&self, of: impl Fn(&Metrics) -> Option<u64>) -> f64 {
        let spaces = self.kernel.metrics.iter().filter(|(space, _)| *space == "global" || *space == "local");
        spaces.filter_map(|(_, metrics)| of(metrics)).sum::<u64>() as f64
    }

    fn instructions(&self, lanes: bool) -> f64 {
        let counts = self.kernel.instructions.values();
        counts.map(|count| if lanes { count.lanes } else { count.warps }).sum::<u64>() as f64
    }
}

fn l1(metrics: &Metrics, of: impl Fn(&LevelMetrics) -> u64) -> u64 {
    metrics.l1.as_ref().map_or(0, of)
}

fn l2(metrics: &Metrics, of: impl Fn(&LevelMetrics) -> u64) -> Option<u64> {
    metrics.l2.as_ref().map(of)
}

/// A figure that can be compared only if little of the written data is still in L2 at the end.
const DRAM_WRITES: &str = "sectors written to DRAM";
const STAYING: f64 = 4.0;
const SECTOR_BYTES: u32 = 32;

type Counter<'a> = &'a dyn Fn(&str) -> Option<f64>;

/// Name, Warpline's value, and counted value.
type Row = (&'static str, fn(&View) -> Value, fn(Counter) -> Option<Value>);

const ROWS: &[Row] = &[
    (
        "requests of global loads",
        |view| Value::Count(view.sum("global", Some("load"), |m| m.requests)),
        |counter| Some(Value::Count(counter("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")?)),
    ),
    (
        "sectors of global loads",
        |view| Value::Count(view.sum("global", Some("load"), |m| m.sectors)),
        |counter| Some(Value::Count(counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")?)),
    ),
    (
        "requests of global stores",
        |view| Value::Count(view.sum("global", Some("store"), |m| m.requests)),
        |counter| Some(Value::Count(counter("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum")?)),
    ),
    (
        "sectors of global stores",
        |view| Value::Count(view.sum("global", Some("store"), |m| m.sectors)),
        |counter| Some(Value::Count(counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")?)),
    ),
    (
        "L1 hit rate of global loads",
        |view| {
            let of = |what: fn(&LevelMetrics) -> u64| view.sum("global", Some("load"), |m| l1(m, what));
            Value::Share(of(|level| level.load_hits), of(|level| level.load_lookups))
        },
        |counter| {
            let hits = counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum")?;
            Some(Value::Share(hits, counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")?))
        },
    ),
    (
        "L1 hit rate of global stores",
        |view| {
            let of = |what: fn(&LevelMetrics) -> u64| view.sum("global", Some("store"), |m| l1(m, what));
            Value::Share(of(|level| level.hits), of(|level| level.lookups))
        },
        |counter| {
            let hits = counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum")?;
            Some(Value::Share(hits, counter("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")?))
        },
    ),
    (
        "sectors of local loads",
        |view| Value::Count(view.sum("local", Some("load"), |m| m.sectors)),
        |counter| Some(Value::Count(counter("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum")?)),
    ),
    (
        "sectors of local stores",
        |view| Value::Count(view.sum("local", Some("store"), |m| m.sectors)),
        |counter| Some(Value::Count(counter("l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum")?)),
    ),
    (
        "wavefronts of shared memory",
        |view| Value::Count(view.sum("shared", None, |m| m.shared.as_ref().map_or(0, |passes| passes.wavefronts))),
        |counter| Some(Value::Count(counter("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")?)),
    ),
    (
        "bank conflicts of shared memory",
        |view| {
            let extra = |m: &Metrics| m.shared.as_ref().map_or(0, |passes| passes.wavefronts - passes.ideal_wavefronts);
            Value::Count(view.sum("shared", None, extra))
        },
        |counter| Some(Value::Count(counter("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")?)),
    ),
    (
        "sectors from L1 to L2",
        |view| Value::Count(view.level(|m| l2(m, |level| level.lookups))),
        |counter| Some(Value::Count(counter("lts__t_sectors_srcunit_tex.sum")?)),
    ),
    (
        "L2 hit rate",
        |view| {
            // The counters count a store that allocates as a hit.
            let hits = view.level(|m| l2(m, |level| level.hits + level.store_allocations));
            Value::Share(hits, view.level(|m| l2(m, |level| level.lookups)))
        },
        |counter| {
            let hits = counter("lts__t_sectors_srcunit_tex_lookup_hit.sum")?;
            Some(Value::Share(hits, counter("lts__t_sectors_srcunit_tex.sum")?))
        },
    ),
    (
        "L2 hit rate of loads",
        |view| {
            let hits = view.level(|m| l2(m, |level| level.load_hits));
            Value::Share(hits, view.level(|m| l2(m, |level| level.load_lookups)))
        },
        |counter| {
            let hits = counter("lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum")?;
            Some(Value::Share(hits, counter("lts__t_sectors_srcunit_tex_op_read.sum")?))
        },
    ),
    (
        "sectors read from DRAM",
        |view| Value::Count(view.level(|m| m.dram.map(|dram| dram.read_sectors))),
        |counter| Some(Value::Count(counter("dram__sectors_read.sum")?)),
    ),
    (
        DRAM_WRITES,
        |view| Value::Count(view.level(|m| m.dram.map(|dram| dram.write_sectors))),
        |counter| Some(Value::Count(counter("dram__sectors_write.sum")?)),
    ),
    (
        "active threads per instruction",
        |view| Value::Mean(view.instructions(true), view.instructions(false)),
        |counter| Some(Value::Mean(counter("smsp__thread_inst_executed.sum")?, counter("smsp__inst_executed.sum")?)),
    ),
    (
        // The sets of branches differ: ptxas converts short branches to predicates, and the counters include
        // unconditional branches.
        "divergent share of branches",
        |view| Value::Share(view.divergent as f64, view.branches as f64),
        |counter| {
            let divergent = counter("smsp__sass_branch_targets_threads_divergent.sum")?;
            Some(Value::Share(divergent, counter("smsp__sass_branch_targets.sum")?))
        },
    ),
];

/// Compares the kernels of a profile with counters of the same program without hooks. Launches of a kernel name are
/// matched in order, so all of them must be present.
pub fn compare(profile: &Profile, counters: &[KernelCounters]) -> Comparison {
    let mut notes = Vec::new();
    let mut counted: BTreeMap<&str, Vec<&KernelCounters>> = BTreeMap::new();
    for launch in counters {
        counted.entry(base_name(&launch.kernel)).or_default().push(launch);
    }
    // Kernels of the launches in order, by name. Instances of a template share a name.
    let mut launches: BTreeMap<&str, Vec<(u64, usize)>> = BTreeMap::new();
    for (index, kernel) in profile.kernels.iter().enumerate() {
        let of = launches.entry(base_name(&kernel.name)).or_default();
        of.extend(kernel.launches.iter().filter(|launch| launch.error == Some(0)).map(|launch| (launch.id, index)));
    }
    let mut of_kernel: BTreeMap<usize, Vec<&KernelCounters>> = BTreeMap::new();
    for (name, mut launches) in launches {
        launches.sort_unstable();
        let rows = counted.remove(name).unwrap_or_default();
        let of_name = || profile.kernels.iter().enumerate().filter(|(_, kernel)| base_name(&kernel.name) == name);
        if of_name().any(|(_, kernel)| !kernel.launch_groups.is_empty()) {
            // Not all launches are listed. Their order identifies the kernel only if the name belongs to one kernel.
            let all: u64 = of_name().map(|(_, kernel)| kernel.launch_count()).sum();
            match of_name().map(|(index, _)| index).collect::<Vec<_>>()[..] {
                [kernel] if rows.len() as u64 == all => of_kernel.entry(kernel).or_default().extend(rows),
                [_] => notes.push(format!("{name}: {all} launches in the profile, {} in the counters", rows.len())),
                _ => notes.push(format!("{name}: {all} launches of several kernels of that name, too many to match")),
            }
            continue;
        }
        if rows.len() != launches.len() {
            notes.push(format!("{name}: {} launches in the profile, {} in the counters", launches.len(), rows.len()));
            continue;
        }
        for ((_, kernel), row) in launches.into_iter().zip(rows) {
            of_kernel.entry(kernel).or_default().push(row);
        }
    }
    notes.extend(counted.keys().map(|name| format!("{name}: counted, but not in the profile")));
    if profile.run.sampled || !profile.run.complete {
        notes.push("the profile is not complete: it was filtered, sampled, or ended early".to_owned());
    }
    let kernels = of_kernel.into_iter().map(|(index, rows)| compare_kernel(profile, &profile.kernels[index], &rows));
    let mut kernels: Vec<ComparedKernel> = kernels.collect();
    let model =
        profile.run.models.first().and_then(|name| warpline_simulator::models::find(name).ok()?.hierarchy().ok());
    let most = model.map_or(0.0, |model| model.l2.bytes() as f64 / f64::from(SECTOR_BYTES));
    let mut stay = false;
    for kernel in &mut kernels {
        let launches = kernel.launches as f64;
        let stays = |figure: &Compared| figure.metric == DRAM_WRITES && figure.ours < STAYING * most * launches;
        stay |= kernel.figures.iter().any(&stays);
        kernel.figures.retain(|figure| !stays(figure));
    }
    if stay {
        notes.push(format!(
            "{DRAM_WRITES} are not compared for kernels that write less than {STAYING} times what L2 holds: hardware counts \
             what leaves L2 before the kernel ends, Warpline what will"
        ));
    }
    Comparison { kernels, notes }
}

fn compare_kernel(profile: &Profile, kernel: &Kernel, rows: &[&KernelCounters]) -> ComparedKernel {
    let branches = profile.branches.iter().filter(|branch| branch.kernel == kernel.id);
    let (executions, divergent) = branches.fold((0, 0), |(all, some), b| (all + b.executions, some + b.divergent));
    let view = View {
        kernel,
        sites: profile.sites.iter().filter(|site| site.kernel == kernel.id).collect(),
        divergent,
        branches: executions,
    };
    let counter = |name: &str| rows.iter().map(|row| row.values.get(name)).sum::<Option<f64>>();
    let figures = ROWS.iter().filter_map(|(metric, ours, counted)| {
        let (ours, counted) = (ours(&view), counted(&counter)?);
        let points = matches!(ours, Value::Share(..));
        let (ours, counted) = (ours.number()?, counted.number()?);
        let error = match (points, counted) {
            (true, _) => ours - counted,
            // A value that is zero on both sides is no evidence.
            (false, 0.0) if ours == 0.0 => return None,
            (false, 0.0) => 100.0,
            (false, _) => 100.0 * (ours - counted) / counted,
        };
        Some(Compared { metric: (*metric).to_owned(), ours, counted, error, points })
    });
    ComparedKernel { kernel: kernel.name.clone(), launches: rows.len() as u64, figures: figures.collect() }
}

/// Returns a kernel's name without result, namespaces, template arguments and parameters, which demanglers write
/// differently, and without the constants of a Triton kernel, which the counters do not contain.
fn base_name(name: &str) -> &str {
    const UNNAMED: [&str; 2] = ["(anonymous namespace)::", "<unnamed>::"];
    let behind = UNNAMED.iter().filter_map(|unnamed| Some(name.rfind(unnamed)? + unnamed.len())).max().unwrap_or(0);
    let plain = &name[behind..];
    let plain = plain.split(['<', '(', '[']).next().unwrap_or(plain).trim();
    let plain = plain.rsplit("::").next().unwrap_or(plain);
    plain.rsplit(' ').next().unwrap_or(plain)
}

/// The errors of a metric over all kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the metric.
    pub metric: String,
    /// Number of kernels with the metric.
    pub kernels: u64,
    /// Mean of the absolute errors.
    pub mean: f64,
    /// Median of the absolute errors.
    pub median: f64,
    /// Largest absolute error.
    pub worst: f64,
    /// Name of the kernel with the largest error.
    pub worst_kernel: String,
    /// Whether errors are in percentage points instead of per cent.
    pub points: bool,
}

/// Returns the errors of each metric over all kernels, in the order of the kernels' figures.
pub fn summarize(comparisons: &[Comparison]) -> Vec<Summary> {
    let kernels: Vec<&ComparedKernel> = comparisons.iter().flat_map(|comparison| &comparison.kernels).collect();
    let rows = ROWS.iter().filter_map(|(metric, ..)| {
        let mut errors: Vec<(f64, &str, bool)> = kernels
            .iter()
            .flat_map(|kernel| kernel.figures.iter().map(move |figure| (kernel, figure)))
            .filter(|(_, figure)| figure.metric == *metric)
            .map(|(kernel, figure)| (figure.error.abs(), kernel.kernel.as_str(), figure.points))
            .collect();
        errors.sort_by(|a, b| a.0.total_cmp(&b.0));
        let &(worst, worst_kernel, points) = errors.last()?;
        Some(Summary {
            metric: (*metric).to_owned(),
            kernels: errors.len() as u64,
            mean: errors.iter().map(|(error, ..)| error).sum::<f64>() / errors.len() as f64,
            median: (errors[(errors.len() - 1) / 2].0 + errors[errors.len() / 2].0) / 2.0,
            worst,
            worst_kernel: worst_kernel.to_owned(),
            points,
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_go_by_what_all_demanglers_agree_on() {
        for (name, base) in [
            ("void ns::copy<float, 4>(float const*, float*)", "copy"),
            ("(anonymous namespace)::copy(int)", "copy"),
            ("<unnamed>::copy", "copy"),
            ("add_tail[BLOCK=1024]", "add_tail"),
            ("product[BM=32, BN=32, num_warps=2]", "product"),
        ] {
            assert_eq!(base_name(name), base, "{name}");
        }
    }
}
