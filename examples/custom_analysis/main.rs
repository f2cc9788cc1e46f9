//! Runs an analysis that is not part of Warpline over a kept trace:
//!
//! ```sh
//! warpline run --trace app.wltrace -- ./app
//! custom-analysis app.wltrace
//! ```

mod repeated;

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::process::ExitCode;

use repeated::{RepeatedLoads, RepeatedLoadsTool};
use warpline_analyzer::analyses::Tools;
use warpline_analyzer::analysis::{Analysis, Finish, KernelData, NoProgress, analyze_with_tools};
use warpline_analyzer::trace::TraceReader;

/// Worker threads, each with a shard of the tool. The result does not depend on their number.
const THREADS: usize = 2;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: custom-analysis TRACE");
        return ExitCode::from(2);
    };
    match analyzed(&path) {
        Ok(analysis) => {
            analysis.kernels.iter().for_each(|kernel| print(&analysis, kernel));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: cannot analyze '{path}': {error}");
            ExitCode::FAILURE
        }
    }
}

fn analyzed(path: &str) -> Result<Analysis, Box<dyn Error>> {
    let reader = TraceReader::new(BufReader::new(File::open(path)?))?;
    let tools = Tools::default().with(|_worker| RepeatedLoadsTool::default());
    let analysis = analyze_with_tools(reader, THREADS, None, &tools, &mut NoProgress)?;
    match analysis.finish {
        Finish::Complete => Ok(analysis),
        ref other => Err(format!("the trace is incomplete: {other:?}").into()),
    }
}

/// Prints a row for each load instruction that a warp repeats: kernel, file, line, loads, repeated loads.
fn print(analysis: &Analysis, kernel: &KernelData) {
    let Some(found) = kernel.sums.get::<RepeatedLoads>() else { return };
    let Some(module) = analysis.modules.get(&kernel.module) else { return };
    let table = &module.table;
    let name = &table.functions[kernel.function as usize].name;
    for (site, (loads, repeated)) in found.0.iter().filter(|(_, (_, repeated))| *repeated > 0) {
        let frame = &table.frames[table.sites[*site as usize].chain[0] as usize];
        println!("{name}\tline {}\t{loads} loads\t{repeated} repeated", frame.line);
    }
}
