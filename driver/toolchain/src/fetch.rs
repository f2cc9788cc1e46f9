//! Fetches the pinned wheels with the CUDA toolkit parts into the cache, by pip or uv.

use crate::programs::{find, output};
use crate::{ToolchainError, cache, cuda, installation, interrupt, packages, pins};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// If set, `warpline-cc` fetches nothing.
pub const OFFLINE: &str = "WARPLINE_OFFLINE";

/// The size of the wheels, for messages.
pub const SIZE: &str = "220 MB";

const REQUIREMENTS: &str = include_str!("../../../scripts/cuda-wheels.txt");

/// The pauses in seconds before the attempts, because registries and networks may fail for a short time.
const PAUSES: [u64; 3] = [0, 5, 20];

/// A program that installs wheels into a folder.
struct Installer {
    program: PathBuf,
    arguments: Vec<String>,
    /// `PYTHONPATH`, for the copy of pip in Warpline's installation.
    path: Option<PathBuf>,
}

impl Installer {
    /// Finds the system's pip, the installation's pip, or uv.
    fn find() -> Result<Installer, ToolchainError> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(python) = find("python3") {
            let own = match output(&python, &["-m", "pip", "--version"]) {
                Some(_) => Some(None),
                None => installation::pip().map(Some),
            };
            if let Some(path) = own {
                let arguments = words(&["-m", "pip", "install", "--disable-pip-version-check"]);
                return Ok(Installer { program: python, arguments, path });
            }
        }
        let uv = find("uv").map(|program| Installer { program, arguments: words(&["pip", "install"]), path: None });
        uv.ok_or_else(|| ToolchainError::Missing {
            what: "the CUDA toolkit parts, and Python with pip or uv to fetch them, were".into(),
            looked_at: "CUDA_PATH, CUDA_HOME, /usr/local/cuda*; python3 and uv on PATH".into(),
            cure: format!(
                "{}, or install a CUDA 12 or 13 toolkit and set CUDA_PATH",
                // A release contains pip.
                packages::install(&[if installation::pip().is_some() { "python" } else { "pip" }])
            ),
        })
    }

    fn command(&self, target: &Path, requirements: &Path, wheels: Option<&Path>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(["--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:"]);
        command.arg("--target").arg(target).arg("-r").arg(requirements).env("PIP_ROOT_USER_ACTION", "ignore");
        if let Some(path) = &self.path {
            command.env("PYTHONPATH", path);
        }
        if let Some(folder) = wheels {
            command.arg("--no-index").arg("--find-links").arg(folder);
        }
        // Another program may read the standard output of the compiler.
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

/// Returns whether [`find_or_fetch`] may fetch, and has a program for it.
pub fn possible() -> bool {
    !offline_is_set() && Installer::find().is_ok()
}

fn offline_is_set() -> bool {
    std::env::var_os(OFFLINE).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Finds the toolkit parts as [`cuda::find`] does, and fetches them if there are none.
pub fn find_or_fetch(named: Option<&Path>, report: impl FnMut(&str)) -> Result<cuda::Cuda, ToolchainError> {
    let missing = match cuda::find(named) {
        Err(error @ ToolchainError::Missing { .. }) => error,
        result => return result,
    };
    if offline_is_set() {
        return Err(missing);
    }
    fetch(None, report)?;
    cuda::find(named)
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
    if wheels.is_none() && offline_is_set() {
        return Err(broken(&folder, &format!("{OFFLINE} forbids fetching")));
    }
    if let Some(wheels) = wheels.filter(|wheels| !wheels.is_dir()) {
        return Err(broken(wheels, "there is no such folder"));
    }
    if !cfg!(target_arch = "x86_64") {
        return Err(broken(&folder, "the pinned wheels are for x86-64 only"));
    }
    let installer = Installer::find()?;
    let target = folder.join(pins::CUDA_WHEEL_FOLDER);
    report(&announcement(wheels, &target));
    let prefix = format!("{}.partial.", pins::CUDA_WHEEL_FOLDER);
    let partial = tempfile::Builder::new().prefix(&prefix).tempdir_in(&folder).map_err(failed(&folder))?;
    let _removal = interrupt::removes(partial.path());
    let requirements = partial.path().join("requirements.txt");
    std::fs::write(&requirements, REQUIREMENTS).map_err(failed(&requirements))?;
    let parts = partial.path().join("parts");
    let pauses = if wheels.is_some() { &PAUSES[..1] } else { &PAUSES[..] };
    let done = pauses.iter().any(|pause| {
        std::thread::sleep(Duration::from_secs(*pause));
        let mut command = installer.command(&parts, &requirements, wheels);
        interrupt::ends_with_us(&mut command);
        command.status().is_ok_and(|status| status.success())
    });
    let unpacked = parts.join("nvidia/cu13");
    let source = wheels.unwrap_or(&folder);
    match (done, cuda::lacks(&unpacked)) {
        (false, _) => {
            return Err(broken(source, &format!("{} could not install the wheels", installer.program.display())));
        }
        (true, Some(file)) => return Err(broken(source, &format!("the fetched wheels have no {file}"))),
        (true, None) => {}
    }
    // The folder is renamed last, so that an interrupted fetch is never treated as complete.
    _ = std::fs::remove_dir_all(&target);
    std::fs::rename(&parts, &target).map_err(failed(&target))?;
    Ok(root)
}

fn announcement(wheels: Option<&Path>, target: &Path) -> String {
    let target = target.display();
    match wheels {
        Some(folder) => format!("unpacking NVIDIA's wheels in {} to {target}", folder.display()),
        None => format!(
            "no CUDA toolkit found: fetching NVIDIA's headers, libdevice and ptxas ({SIZE}, once) to {target}. They are under NVIDIA's \
             licence (CUDA EULA). To use an installed toolkit, set CUDA_PATH; to fetch nothing, set {OFFLINE}=1"
        ),
    }
}

fn broken(folder: &Path, cause: &str) -> ToolchainError {
    ToolchainError::Broken {
        path: folder.to_owned(),
        cause: cause.to_owned(),
        cure: format!(
            "Check the network and repeat, or install a CUDA 12 or 13 toolkit and set CUDA_PATH. Without a network: {}",
            offline()
        ),
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
