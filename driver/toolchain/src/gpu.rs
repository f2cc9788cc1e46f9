//! GPUs of this machine, as NVIDIA's driver reports them.

use crate::programs::output;
use std::path::Path;

/// The driver's folder, which contains a folder for each GPU.
const GPUS: &str = "/proc/driver/nvidia/gpus";

/// The file with the version of the loaded driver.
const DRIVER: &str = "/proc/driver/nvidia/version";

/// A GPU that the driver can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gpu {
    /// NVIDIA's name, such as "NVIDIA H100 80GB HBM3".
    pub name: String,
    /// The version of the driver.
    pub driver: String,
    /// The compute capability, such as "9.0".
    pub capability: String,
}

/// Queries the driver's own tool, which takes up to a second. The error is the reason why there is no GPU.
pub fn query() -> Result<Vec<Gpu>, String> {
    let arguments = ["--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"];
    match output(Path::new("nvidia-smi"), &arguments) {
        Some(text) => Ok(parse(&text)).and_then(|gpus| match gpus.is_empty() {
            true => Err("nvidia-smi lists none".to_owned()),
            false => Ok(gpus),
        }),
        None => Err(match std::fs::read_to_string(DRIVER).ok().and_then(|text| loaded_driver(&text)) {
            Some(version) => format!("NVIDIA's driver {version} is loaded, but nvidia-smi does not work"),
            None => format!("NVIDIA's driver is not loaded (no nvidia-smi, no {DRIVER})"),
        }),
    }
}

/// Returns the names of the GPUs from the driver's files, which is fast; empty if the driver has no such files.
pub fn names() -> Vec<String> {
    names_in(Path::new(GPUS))
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let texts = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("information")).ok());
    let name =
        |text: String| text.lines().find_map(|line| line.strip_prefix("Model:").map(|name| name.trim().to_owned()));
    let mut names: Vec<String> = texts.filter_map(name).collect();
    names.sort();
    names
}

fn parse(text: &str) -> Vec<Gpu> {
    let gpu = |line: &str| {
        // The name comes first and may contain a comma.
        let mut fields = line.rsplitn(3, ',').map(|field| field.trim().to_owned());
        let (capability, driver, name) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Gpu { name, driver, capability })
    };
    text.lines().filter_map(gpu).collect()
}

/// Reads the version: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue …" means 550.54.15.
fn loaded_driver(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    text.lines().next()?.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drivers_tool_is_read() {
        let gpus = parse("NVIDIA H100 80GB HBM3, 550.54.15, 9.0\nA, B, 535.104.05, 8.0\n\n");
        assert_eq!(gpus.len(), 2);
        assert_eq!((gpus[0].name.as_str(), gpus[0].capability.as_str()), ("NVIDIA H100 80GB HBM3", "9.0"));
        assert_eq!((gpus[1].name.as_str(), gpus[1].driver.as_str()), ("A, B", "535.104.05"));
    }

    #[test]
    fn the_drivers_files_are_read() {
        let text = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version: 12.2\n";
        assert_eq!(loaded_driver(text).as_deref(), Some("550.54.15"));
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("0000:01:00.0")).unwrap();
        std::fs::write(folder.path().join("0000:01:00.0/information"), "Model: \t\t NVIDIA T4\nIRQ: 7\n").unwrap();
        assert_eq!(names_in(folder.path()), ["NVIDIA T4"]);
        assert_eq!(names_in(Path::new("/absent")), Vec::<String>::new());
    }
}
