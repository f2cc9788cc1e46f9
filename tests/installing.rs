//! What installs Warpline: scripts that print commands of distributions, release notes, versions, and the files of
//! services and containers, which are read here without the services.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use yaml_rust2::{Yaml, YamlLoader};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text_of(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with the tools that scripts use, as the whole search path: no compiler is found there.
fn bare_path(folder: &Path) -> PathBuf {
    let bin = folder.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let search = std::env::var_os("PATH").unwrap();
    for name in ["sh", "awk", "sed", "cat", "tr", "dirname", "id", "mkdir", "mktemp", "rm", "tail", "uname", "sleep"] {
        let mut candidates = std::env::split_paths(&search).map(|folder| folder.join(name));
        let found = candidates.find(|path| path.is_file()).expect(name);
        std::os::unix::fs::symlink(found, bin.join(name)).unwrap();
    }
    bin
}

/// What `setup.sh --print-packages` prints on a system with this `os-release` and nothing else.
fn setup(system: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("etc")).unwrap();
    std::fs::write(folder.path().join("etc/os-release"), system).unwrap();
    let mut command = Command::new(root().join("scripts/setup.sh"));
    command.arg("--print-packages").env_clear().env("PATH", bare_path(folder.path())).env("HOME", folder.path());
    command.env("WARPLINE_SYSTEM_ROOT", folder.path()).output().unwrap()
}

#[test]
fn setup_reports_a_broken_cargo() {
    let folder = tempfile::tempdir().unwrap();
    let bin = bare_path(folder.path());
    let run = |cargo: &str| {
        script(&bin, "cargo", cargo);
        let mut command = Command::new(root().join("scripts/setup.sh"));
        let output = command.env_clear().env("PATH", &bin).env("HOME", folder.path()).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    // A shim of rustup without a toolchain.
    let (code, printed) = run("echo 'error: rustup could not choose a version of cargo to run' >&2; exit 1");
    assert_eq!(code, Some(6), "{printed}");
    assert!(printed.contains("cargo --version failed") && printed.contains("rustup default stable"), "{printed}");
    let (code, printed) = run("echo cargo 1.63.0");
    assert_eq!(code, Some(6), "{printed}");
    assert!(printed.contains("cargo 1.63.0 is too old") && printed.contains("rustup update"), "{printed}");
}

/// A program of a test in a folder.
fn script(folder: &Path, name: &str, text: &str) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name), format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(folder.join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

/// What `warpline doctor` prints with a folder as the whole search path and an empty cache.
fn doctor(folder: &Path, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpline"));
    command
        .arg("doctor")
        .env_clear()
        .env("PATH", folder.join("path"))
        .env("HOME", folder)
        .envs(variables.iter().copied());
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn doctor_advises_what_is_possible() {
    let folder = tempfile::tempdir().unwrap();
    let without = doctor(folder.path(), &[]);
    if without.contains("ok       CUDA headers") {
        // A toolkit is installed.
        return;
    }
    let cure = "python3-pip, with which `warpline setup` fetches them";
    if text_of("/etc/os-release").contains("debian") {
        assert!(without.contains(cure), "{without}");
    }
    script(&folder.path().join("path"), "python3", "exit 0");
    let with = doctor(folder.path(), &[]);
    assert!(with.contains("to fetch") && with.contains("`warpline setup` fetches them now"), "{with}");
    let offline = doctor(folder.path(), &[("WARPLINE_OFFLINE", "1")]);
    assert!(offline.contains("unset WARPLINE_OFFLINE") && offline.contains("warpline setup --wheels"), "{offline}");
    std::fs::create_dir_all(folder.path().join("cuda/include")).unwrap();
    let toolkit = folder.path().join("cuda").display().to_string();
    let incomplete = doctor(folder.path(), &[("CUDA_HOME", &toolkit)]);
    let reason = format!("CUDA_HOME names {toolkit}, which has no include/cuda_runtime.h");
    assert!(incomplete.contains(&reason), "{incomplete}");
}

#[test]
fn doctor_shows_the_linker_where_triton_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("path");
    script(&path, "python3", "case \"$2\" in *triton*) exit 1 ;; esac");
    assert!(!doctor(folder.path(), &[]).contains("Triton"));
    script(&path, "python3", "exit 0");
    let without = doctor(folder.path(), &[]);
    assert!(without.contains("without  linker for Triton") && without.contains("binutils"), "{without}");
    script(&path, "ld", "exit 0");
    let with = doctor(folder.path(), &[]);
    assert!(with.contains("ok       linker for Triton") && with.contains("path/ld"), "{with}");
}

#[test]
fn setup_prints_the_command_of_each_distribution() {
    for (system, command) in [
        ("ID=debian\n", "sudo apt-get install -y --no-install-recommends clang-22 llvm-22-dev g++ make"),
        (
            "ID=ubuntu\nID_LIKE=debian\n",
            "sudo apt-get install -y --no-install-recommends clang-22 llvm-22-dev g++ make",
        ),
        ("ID=fedora\n", "sudo dnf install -y clang22 llvm22-devel gcc-c++ make"),
        ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "sudo dnf install -y clang22 llvm22-devel gcc-c++ make"),
        (
            "ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"\n",
            "sudo zypper install -y clang22 llvm22-devel gcc-c++ make",
        ),
        ("ID=arch\n", "sudo pacman -S --needed clang llvm gcc make"),
        ("ID=endeavouros\nID_LIKE=arch\n", "sudo pacman -S --needed clang llvm gcc make"),
    ] {
        let output = setup(system);
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(6), "{system}: {printed}");
        assert!(printed.contains(command), "{system}: {printed}");
        // Where LLVM comes from.
        assert!(printed.lines().nth(1).is_some_and(|line| line.starts_with("setup: (")), "{system}: {printed}");
    }
    assert!(stderr(&setup("ID=ubuntu\nID_LIKE=debian\n")).contains("llvm.sh 22"));
    let unknown = stderr(&setup("ID=plan9\n"));
    assert!(["apt-get", "dnf", "zypper", "pacman"].iter().all(|name| unknown.contains(name)), "{unknown}");
}

/// An `llvm-config` with a clang in its folder.
fn fake_llvm(prefix: &Path, version: &str) {
    let bin = prefix.join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\ncase $1 in --version) echo {version} ;; --bindir) echo {0}/bin ;; --prefix) echo {0} ;; esac\n",
        prefix.display()
    );
    for (name, text) in [("llvm-config", script.as_str()), ("clang", "#!/bin/sh\n")] {
        std::fs::write(bin.join(name), text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join(name), mode).unwrap();
    }
}

#[test]
fn llvm_is_found_wherever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let system = folder.path().join("system");
    let find = |config: Option<&Path>| {
        let mut command = Command::new(root().join("scripts/find-llvm.sh"));
        command.env_clear().env("PATH", folder.path().join("bin")).env("WARPLINE_SYSTEM_ROOT", &system);
        config.iter().for_each(|config| _ = command.env("LLVM_CONFIG", config));
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    bare_path(folder.path());
    assert_eq!(find(None), (Some(1), String::new()));
    let own = folder.path().join("LLVM-22.1.8-Linux-X64");
    fake_llvm(&own, "22.1.8");
    assert_eq!(find(Some(&own.join("bin/llvm-config"))), (Some(0), own.display().to_string()));
    // Another version is none, wherever it is.
    let older = system.join("usr/lib/llvm-22");
    fake_llvm(&older, "21.1.0");
    assert_eq!(find(None).0, Some(1));
    for place in ["usr/lib64/llvm22", "usr/lib/llvm-22"] {
        let prefix = system.join(place);
        fake_llvm(&prefix, "22.1.8");
        assert_eq!(find(None), (Some(0), prefix.display().to_string()));
    }
}

#[test]
fn setup_gives_up_soon_without_a_network() {
    let folder = tempfile::tempdir().unwrap();
    let bin = bare_path(folder.path());
    let llvm = folder.path().join("llvm");
    fake_llvm(&llvm, "22.1.8");
    script(&bin, "cargo", "echo cargo 1.95.0");
    script(&bin, "g++", "");
    script(&bin, "make", "");
    let reason = "WARNING: Retrying after NewConnectionError: [Errno -2] Name or service not known";
    let pip = format!(
        "[ \"$3\" = --version ] && exit 0\necho x >>{}/calls\necho '{reason}' >&2\nexit 1",
        folder.path().display()
    );
    script(&bin, "python3", &pip);
    let mut command = Command::new(root().join("scripts/setup.sh"));
    command.env_clear().env("PATH", &bin).env("HOME", folder.path()).env("WARPLINE_SYSTEM_ROOT", folder.path());
    let output = command.env("LLVM_CONFIG", llvm.join("bin/llvm-config")).env("CUDA_PATH", &llvm).output().unwrap();
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(6), "{printed}");
    assert_eq!(std::fs::read_to_string(folder.path().join("calls")).unwrap(), "x\n", "{printed}");
    assert!(printed.contains(reason) && printed.contains("Check the network"), "{printed}");
    assert!(printed.contains("lacks parts of a CUDA toolkit and is not used"), "{printed}");
}

#[test]
fn release_notes_are_a_section_of_the_changelog() {
    let script = root().join("scripts/release-notes.sh");
    let folder = tempfile::tempdir().unwrap();
    let changelog = folder.path().join("CHANGELOG.md");
    std::fs::write(
        &changelog,
        "# C\n\n## [1.1.0] - 2030-01-01\n\n### Added\n\n- b\n\n## [1.0.0]\n\n## [0.9.0]\n\n- a\n",
    )
    .unwrap();
    let notes = |version: &str| Command::new(&script).arg(version).arg(&changelog).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&notes("v1.1.0").stdout).trim_end(), "### Added\n\n- b");
    assert_eq!(String::from_utf8_lossy(&notes("0.9.0").stdout).trim_end(), "- a");
    for absent in ["1.0.0", "2.0.0", "1.1"] {
        assert_eq!(notes(absent).status.code(), Some(1), "{absent}");
    }
    let own = Command::new(&script).arg(env!("CARGO_PKG_VERSION")).output().unwrap();
    assert!(own.status.success() && own.stdout.starts_with(b"### "), "{}", stderr(&own));
}

#[test]
fn the_version_is_the_same_everywhere() {
    let output = Command::new(root().join("scripts/check-version.sh")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let output = Command::new(root().join("scripts/check-version.sh")).arg("v99.0.0").output().unwrap();
    assert!(!output.status.success() && stderr(&output).contains("the tag has version 99.0.0"), "{}", stderr(&output));
}

fn yaml(path: &str) -> Yaml {
    let mut documents = YamlLoader::load_from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(documents.len(), 1, "{path}");
    documents.remove(0)
}

/// Checks the commands of a workflow: they are ones that run here, too.
fn check_command(command: &str, makefile: &str, place: &str) {
    // What others chose reaches a shell through variables alone.
    assert!(!command.contains("${{"), "{place}: {command}");
    let syntax = Command::new("sh").args(["-n", "-c", command]).output().unwrap();
    assert!(syntax.status.success(), "{place}: {command}: {}", stderr(&syntax));
    let mut words = command.split_whitespace();
    match words.next().unwrap() {
        "make" => {
            let target = words.next().unwrap();
            assert!(makefile.lines().any(|line| line.starts_with(&format!("{target}:"))), "{place}: make {target}");
        }
        script if script.starts_with("scripts/") => assert!(root().join(script).is_file(), "{place}: {script}"),
        other => assert!(["git", "cargo", "rustup", "docker", "mkdir"].contains(&other), "{place}: {command}"),
    }
}

#[test]
fn workflows_run_scripts_that_are_there() {
    let makefile = text("Makefile");
    for path in [".github/workflows/ci.yml", ".github/workflows/release.yml"] {
        let workflow = yaml(path);
        assert_eq!(workflow["permissions"]["contents"].as_str(), Some("read"), "{path}");
        for (name, job) in workflow["jobs"].as_hash().unwrap() {
            for step in job["steps"].as_vec().unwrap() {
                match (step["run"].as_str(), step["uses"].as_str()) {
                    (Some(command), None) => check_command(command, &makefile, &format!("{path}: {name:?}")),
                    (None, Some(uses)) => assert!(uses.contains('@'), "{path}: {uses}"),
                    _ => panic!("{path}: a step runs or uses something: {step:?}"),
                }
            }
        }
    }
    let ci = text(".github/workflows/ci.yml");
    assert!(["make lint", "make deny", "make test"].iter().all(|step| ci.contains(&format!("run: {step}\n"))));
    for path in [".github/dependabot.yml", ".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/feature.yml"] {
        assert!(yaml(path).as_hash().is_some(), "{path}");
    }
    assert_eq!(yaml("CITATION.cff")["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_container_is_made_of_what_is_there() {
    let file = text("Dockerfile").replace("\\\n", " ");
    let lines: Vec<&str> = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let known = ["FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ARG", "ENTRYPOINT", "CMD"];
    for line in &lines {
        let (word, rest) = line.split_once(' ').unwrap();
        assert!(known.contains(&word), "{line}");
        if word == "RUN" {
            let output = Command::new("sh").args(["-n", "-c", rest]).output().unwrap();
            assert!(output.status.success(), "{line}: {}", stderr(&output));
            for script in rest.split_whitespace().filter(|word| word.starts_with("scripts/")) {
                assert!(root().join(script).is_file(), "{script}");
            }
        }
    }
    // Two stages, and the last one runs as a user without rights.
    assert_eq!(lines.iter().filter(|line| line.starts_with("FROM")).count(), 2);
    let user = lines.iter().rposition(|line| line.starts_with("USER ")).unwrap();
    assert!(lines[user] != "USER root" && lines.iter().rposition(|line| line.starts_with("FROM")).unwrap() < user);
    let container: serde_json::Value = serde_json::from_str(&text(".devcontainer/devcontainer.json")).unwrap();
    let setup = container["postCreateCommand"].as_str().unwrap().split(' ').next().unwrap();
    assert!(root().join(setup).is_file(), "{setup}");
}

#[test]
fn scripts_are_plain_shell() {
    for folder in ["scripts", "scripts/dist"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "sh") {
                let output = Command::new("sh").arg("-n").arg(&path).output().unwrap();
                assert!(output.status.success(), "{}: {}", path.display(), stderr(&output));
                assert!(std::fs::read_to_string(&path).unwrap().starts_with("#!/bin/sh\n"), "{}", path.display());
            }
        }
    }
}
