//! Fetches the pinned wheels with the CUDA toolkit parts into the cache, by pip or uv.

use crate::installer::{Failure, Installer, Job};
use crate::{ToolchainError, cache, cuda, installation, interrupt, packages, pins};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// If set, `warpline-cc` fetches nothing.
pub const OFFLINE: &str = "WARPLINE_OFFLINE";

/// The size of the wheels, for messages.
pub const SIZE: &str = "220 MB";

const REQUIREMENTS: &str = include_str!("../../../scripts/cuda-wheels.txt");

/// The pauses in seconds before the attempts, because registries and networks may fail for a short time.
const PAUSES: [u64; 4] = [0, 2, 5, 20];

/// If no server can be reached, no attempt starts later than this after the first one: the machine probably has no network.
const UNREACHABLE_LIMIT: Duration = Duration::from_secs(9);

/// Instructions for using a toolkit that is not in a searched folder.
const TOOLKIT: &str =
    "install a CUDA 12 or 13 toolkit and name its folder in CUDA_PATH (with --cuda-path=DIR for one compilation)";

/// Returns whether [`find_or_fetch`] may fetch, and has a program for it.
pub fn possible() -> bool {
    !offline_is_set() && Installer::find().is_ok()
}

fn offline_is_set() -> bool {
    std::env::var_os(OFFLINE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns instructions for getting the toolkit parts on this machine, as far as it can fetch them.
pub fn cure() -> String {
    if offline_is_set() {
        return format!("unset {OFFLINE}, which forbids fetching them, or {TOOLKIT}. Without a network: {}", offline());
    }
    match Installer::find() {
        Ok(_) => format!("`warpline setup` fetches them; or {TOOLKIT}"),
        Err(_) => cure_without_python(),
    }
}

/// Returns the instructions for a machine without pip and uv.
pub(crate) fn cure_without_python() -> String {
    // A release contains pip.
    let install = packages::install(&[if installation::pip().is_some() { "python" } else { "pip" }]);
    format!("{install}, with which `warpline setup` fetches them; or {TOOLKIT}")
}

/// Finds the toolkit parts as [`cuda::find`] does, and fetches them if there are none. `ready` checks first whether a
/// compilation is possible with them.
pub fn find_or_fetch<E: From<ToolchainError>>(
    named: Option<&Path>,
    ready: impl FnOnce() -> Result<(), E>,
    report: impl FnMut(&str),
) -> Result<cuda::Cuda, E> {
    if let Some(cuda) = cuda::search(named)? {
        return Ok(cuda);
    }
    ready()?;
    if !offline_is_set() {
        fetch(None, report)?;
    }
    Ok(cuda::find(named)?)
}

/// Puts the wheels into the cache, unless they are already there. `wheels` is a folder that contains them, for machines
/// without a network.
pub fn fetch(wheels: Option<&Path>, mut report: impl FnMut(&str)) -> Result<PathBuf, ToolchainError> {
    let root = cuda::wheel_root()?;
    let folder = cache::folder()?;
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| ToolchainError::Cache { path, cause }
    };
    std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
    // Parallel builds start many compilers at once: one of them fetches the wheels, and the others wait for it.
    let lock = folder.join("cuda.lock");
    let file = std::fs::File::create(&lock).map_err(failed(&lock))?;
    file.lock().map_err(failed(&lock))?;
    if cuda::lacks(&root).is_none() {
        return Ok(root);
    }
    check_possible(wheels)?;
    let installer = Installer::find()?;
    let target = folder.join(pins::CUDA_WHEEL_FOLDER);
    report(&announcement(wheels, &target));
    let prefix = format!("{}.partial.", pins::CUDA_WHEEL_FOLDER);
    let partial = tempfile::Builder::new().prefix(&prefix).tempdir_in(&folder).map_err(failed(&folder))?;
    let _removal = interrupt::removes(partial.path());
    let requirements = partial.path().join("requirements.txt");
    std::fs::write(&requirements, REQUIREMENTS).map_err(failed(&requirements))?;
    let (parts, log) = (partial.path().join("parts"), partial.path().join("log"));
    let job = Job { target: &parts, requirements: &requirements, log: &log, wheels };
    if let Err(failure) = attempts(&installer, &job, &mut report) {
        return Err(not_installed(&installer, wheels, failure, report));
    }
    if let Some(file) = cuda::lacks(&parts.join("nvidia/cu13")) {
        return Err(not_fetched(wheels, format!("the wheels that {} installed have no {file}", installer.name())));
    }
    // The folder is renamed last, so that an interrupted fetch is never treated as complete.
    _ = std::fs::remove_dir_all(&target);
    std::fs::rename(&parts, &target).map_err(failed(&target))?;
    Ok(root)
}

fn check_possible(wheels: Option<&Path>) -> Result<(), ToolchainError> {
    if wheels.is_none() && offline_is_set() {
        let cure = format!("Unset it, or {TOOLKIT}. Without a network: {}", offline());
        return Err(ToolchainError::NotFetched { cause: format!("{OFFLINE} forbids fetching them"), cure });
    }
    if let Some(wheels) = wheels.filter(|wheels| !wheels.is_dir()) {
        return Err(not_fetched(Some(wheels), "there is no such folder".into()));
    }
    if !cfg!(target_arch = "x86_64") {
        let cure = format!("To get them otherwise, {TOOLKIT}");
        return Err(ToolchainError::NotFetched { cause: "the pinned wheels are for x86-64 only".into(), cure });
    }
    Ok(())
}

/// Installs the wheels, repeatedly if that fails and they come from a network.
fn attempts(installer: &Installer, job: &Job<'_>, report: &mut impl FnMut(&str)) -> Result<(), Failure> {
    let started = Instant::now();
    let mut last = installer.attempt(job, job.wheels.is_none());
    for pause in PAUSES.into_iter().skip(1).map(Duration::from_secs) {
        let Err(failure) = &last else { return Ok(()) };
        let unreachable = failure.unreachable.is_some();
        if job.wheels.is_some() || unreachable && started.elapsed() + pause > UNREACHABLE_LIMIT {
            return last;
        }
        if !unreachable {
            report(&format!("{} failed; the next attempt is in {} s", installer.name(), pause.as_secs()));
        }
        std::thread::sleep(pause);
        // A failed attempt may leave a part of the wheels behind.
        _ = std::fs::remove_dir_all(job.target);
        last = installer.attempt(job, unreachable);
    }
    last
}

/// Prints the program's last messages, unless the error states the reason, and returns the error.
fn not_installed(
    installer: &Installer,
    wheels: Option<&Path>,
    failure: Failure,
    mut report: impl FnMut(&str),
) -> ToolchainError {
    if let Some(reason) = failure.unreachable {
        return not_fetched(wheels, reason);
    }
    failure.lines.iter().for_each(|line| report(line));
    not_fetched(wheels, format!("{} failed, see its messages above", installer.name()))
}

fn announcement(wheels: Option<&Path>, target: &Path) -> String {
    let target = target.display();
    match wheels {
        Some(folder) => format!("unpacking NVIDIA's wheels in {} to {target}", folder.display()),
        None => format!(
            "{}: fetching NVIDIA's headers, libdevice and ptxas ({SIZE}, once) to {target}. They are under NVIDIA's \
             licence (CUDA EULA). To use an installed toolkit, set CUDA_PATH; to fetch nothing, set {OFFLINE}=1",
            reason()
        ),
    }
}

/// Returns why the wheels are fetched.
fn reason() -> String {
    let skipped: Vec<String> = cuda::skipped().iter().map(ToString::to_string).collect();
    match skipped.is_empty() {
        true => "no CUDA toolkit found".to_owned(),
        false => format!("no CUDA toolkit found ({})", skipped.join("; ")),
    }
}

fn not_fetched(wheels: Option<&Path>, cause: String) -> ToolchainError {
    match wheels {
        Some(folder) => ToolchainError::NotFetched {
            cause: format!("--wheels {}: {cause}", folder.display()),
            cure: format!("To fill the folder: {}", offline()),
        },
        None => ToolchainError::NotFetched {
            cause,
            cure: format!(
                "Check the network and the proxy, and repeat; or {TOOLKIT}. Without a network: {}",
                offline()
            ),
        },
    }
}

/// Returns instructions for a machine without a network.
pub fn offline() -> String {
    let wheels: Vec<String> = pins::cuda_wheels().map(|(name, version)| format!("{name}=={version}")).collect();
    format!(
        "on another machine run `python3 -m pip download --no-deps -d wheels {}`, copy the folder, then run `warpline setup --wheels \
         wheels`",
        wheels.join(" ")
    )
}
