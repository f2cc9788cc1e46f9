//! Reads counters of Nsight Compute from the output of `ncu --csv`.

use std::collections::BTreeMap;

/// Metrics for `ncu --metrics`.
pub const METRICS: &[&str] = &[
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "lts__t_sectors_srcunit_tex.sum",
    "lts__t_sectors_srcunit_tex_lookup_hit.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum",
    "dram__sectors_read.sum",
    "dram__sectors_write.sum",
    "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__sass_branch_targets.sum",
    "smsp__sass_branch_targets_threads_divergent.sum",
    "gpu__time_duration.sum",
    "launch__registers_per_thread",
];

/// The counters of one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelCounters {
    /// Name of the kernel as printed.
    pub kernel: String,
    /// Values in base units, by metric.
    pub values: BTreeMap<String, f64>,
}

/// Reasons why a file is not a valid list of counters.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// It contains no table.
    #[error("no line begins with \"ID\": this is not what `ncu --csv --metrics …` prints")]
    NoTable,
    /// The table lacks a column.
    #[error("the table has no column \"{0}\"")]
    NoColumn(&'static str),
    /// A line is invalid.
    #[error("{0}")]
    Csv(#[from] csv::Error),
}

/// Columns before the metrics.
const KERNEL: &str = "Kernel Name";
const METRIC: &str = "Metric Name";
const UNIT: &str = "Metric Unit";
const VALUE: &str = "Metric Value";

/// Reads the output of `ncu --csv` in the order of launches: one line per launch and metric, or with `--page raw` one
/// line per launch. Lines before the table and lines of the profiler (`==PROF==`) are ignored.
///
/// # Errors
/// Returns a [`CountersError`].
pub fn read(text: &str) -> Result<Vec<KernelCounters>, CountersError> {
    let lines: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("\"ID\"")).filter(|line| line.starts_with('"')).collect();
    if lines.is_empty() {
        return Err(CountersError::NoTable);
    }
    let table = lines.join("\n");
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    let header: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let column =
        |name: &'static str| header.iter().position(|column| column == name).ok_or(CountersError::NoColumn(name));
    let kernel = column(KERNEL)?;
    let mut launches: BTreeMap<u64, KernelCounters> = BTreeMap::new();
    let by_line = match (column(METRIC), column(UNIT), column(VALUE)) {
        (Ok(metric), Ok(unit), Ok(value)) => Some((metric, unit, value)),
        _ => None,
    };
    let mut units: Vec<String> = Vec::new();
    for record in reader.records() {
        let record = record?;
        let field = |index: usize| record.get(index).unwrap_or_default();
        let Ok(id) = field(0).parse::<u64>() else {
            // With `--page raw`, the line after the header contains units.
            units = record.iter().map(str::to_owned).collect();
            continue;
        };
        let launch = launches.entry(id).or_default();
        field(kernel).clone_into(&mut launch.kernel);
        if let Some((metric, unit, value)) = by_line {
            if let Some(value) = number(field(value), field(unit)) {
                launch.values.insert(field(metric).to_owned(), value);
            }
        } else {
            for (index, name) in header.iter().enumerate().filter(|(_, name)| name.contains("__")) {
                let unit = units.get(index).map_or("", String::as_str);
                if let Some(value) = number(field(index), unit) {
                    launch.values.insert(name.clone(), value);
                }
            }
        }
    }
    Ok(launches.into_values().collect())
}

/// Parses a number with thousands separators and converts it to the base unit: `Ksector` and `Mbyte` are a thousand and
/// a million.
fn number(text: &str, unit: &str) -> Option<f64> {
    let value: f64 = text.replace(',', "").parse().ok()?;
    let mut letters = unit.chars();
    let scale = match (letters.next(), letters.next()) {
        (Some('K'), Some(next)) if next.is_lowercase() => 1e3,
        (Some('M'), Some(next)) if next.is_lowercase() => 1e6,
        (Some('G'), Some(next)) if next.is_lowercase() => 1e9,
        _ => 1.0,
    };
    value.is_finite().then_some(value * scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BY_LINE: &str = r#"the program's own output
==PROF== Connected to process 1
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","1","app","h","saxpy(int, float, const float *, float *)","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","Command line profiler metrics","dram__sectors_read.sum","sector","1,234"
"0","1","app","h","saxpy(int, float, const float *, float *)","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","Command line profiler metrics","dram__sectors_write.sum","Ksector","2.5"
"1","1","app","h","void sum<float>(T1 *)","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","Command line profiler metrics","dram__sectors_read.sum","sector","n/a"
==PROF== Disconnected
"#;
    const RAW: &str = r#""ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","dram__sectors_read.sum","dram__sectors_write.sum"
"","","","","","","","","","","","sector","Ksector"
"0","1","app","h","saxpy(int, float, const float *, float *)","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","1,234","2.5"
"1","1","app","h","void sum<float>(T1 *)","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","n/a",""
"#;

    #[test]
    fn both_forms_say_the_same() {
        let read_by_line = read(BY_LINE).unwrap();
        assert_eq!(read_by_line, read(RAW).unwrap());
        assert_eq!(read_by_line.len(), 2);
        assert_eq!(read_by_line[0].kernel, "saxpy(int, float, const float *, float *)");
        assert_eq!(read_by_line[0].values["dram__sectors_read.sum"], 1234.0);
        assert_eq!(read_by_line[0].values["dram__sectors_write.sum"], 2500.0);
        assert!(read_by_line[1].values.is_empty());
    }

    #[test]
    fn what_is_no_table_is_refused() {
        assert!(matches!(read(""), Err(CountersError::NoTable)));
        assert!(matches!(read("==ERROR== ERR_NVGPUCTRPERM\n"), Err(CountersError::NoTable)));
        assert!(matches!(read("\"ID\",\"x\"\n\"1\",\"2\"\n"), Err(CountersError::NoColumn(KERNEL))));
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "(\"ID\",\"Kernel Name\"(,\"[a-z_]{0,9}\"){0,3}\n)?(\"?[0-9a-z,\"]{0,12}\"?\n){0,8}") {
            _ = read(&text);
        }
    }
}
