//! `warpline top`: the snapshot of a running program.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support_programs::{Outcome, build, root, run, warpline, work_folder};
use serde_json::Value;

fn top(folder: &Path, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(warpline());
    command.arg("top").args(arguments).env("XDG_RUNTIME_DIR", folder.join("runtime"));
    run(&mut command, folder, "top")
}

fn private_folder(folder: &Path) {
    std::fs::create_dir_all(folder.join("runtime")).unwrap();
}

/// A run that goes on until it is killed.
struct Running(Child);

impl Running {
    fn start(folder: &Path, steps: &str) -> Running {
        let program = build(&[root().join("tests/long_runs/many_launches.cu")], &["-O2".to_owned()], folder);
        let mut command = Command::new(warpline());
        command.args(["run", "-o", "p.wlprof", "--"]).arg(program).args([steps, "30"]);
        command.env("XDG_RUNTIME_DIR", folder.join("runtime")).current_dir(folder);
        // The program goes on where its reader was killed, and has to be ended with it.
        command.process_group(0);
        Running(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // SAFETY: the group is that of our own child.
        unsafe { libc::kill(-(self.0.id() as i32), libc::SIGKILL) };
        _ = self.0.wait();
    }
}

/// Polls until a snapshot has launches.
fn snapshot(folder: &Path, arguments: &[&str]) -> Value {
    let begun = Instant::now();
    loop {
        let outcome = top(folder, &[arguments, &["--format", "json"]].concat());
        if outcome.status.success() {
            let snapshot: Value = serde_json::from_str(&outcome.stdout).unwrap();
            if snapshot["launches"].as_u64().unwrap() > 10 && !snapshot["kernels"].as_array().unwrap().is_empty() {
                return snapshot;
            }
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "{}", outcome.describe());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Runs what it is given on a terminal of 30 lines, presses `q` once a kernel is shown, and prints what the terminal
/// got.
const ON_A_TERMINAL: &str = r#"
import fcntl, os, pty, select, struct, subprocess, sys, termios, time
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
before = termios.tcgetattr(theirs)
process = subprocess.Popen(sys.argv[1:], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
seen, left, begun = b"", False, time.time()
while process.poll() is None and time.time() - begun < 120:
    if select.select([ours], [], [], 0.2)[0]:
        seen += os.read(ours, 65536)
    if b"gather" in seen and not left:
        left = True
        os.write(ours, b"q")
process.kill()
while select.select([ours], [], [], 0.2)[0]:
    seen += os.read(ours, 65536)
sys.stdout.buffer.write(seen)
print("\nmodes kept" if termios.tcgetattr(theirs) == before else "\nmodes lost")
sys.exit(process.wait())
"#;

#[test]
fn a_program_that_runs_is_shown() {
    let folder = work_folder("top");
    private_folder(&folder);
    let outcome = top(&folder, &[]);
    assert_eq!(outcome.status.code(), Some(4), "{}", outcome.describe());
    assert!(outcome.stderr.contains("no program runs under `warpline run`"), "{}", outcome.describe());
    let mut running = Running::start(&folder, "100000");
    let first = snapshot(&folder, &[]);
    let pid = running.0.id().to_string();
    assert_eq!((first["schema"].as_str(), first["pid"].to_string()), (Some("warpline.live"), pid.clone()));
    assert!(first["program"][0].as_str().unwrap().ends_with("/program"));
    let kernels: Vec<&str> =
        first["kernels"].as_array().unwrap().iter().map(|kernel| kernel["name"].as_str().unwrap()).collect();
    assert!(kernels.len() == 2 && kernels.iter().any(|name| name.starts_with("sweep(")), "{kernels:?}");
    for kernel in first["kernels"].as_array().unwrap() {
        assert!(kernel["requests"].as_u64().unwrap() > 0 && kernel["sectors"].as_u64().unwrap() > 0);
        assert!((0.0..=1.0).contains(&kernel["l1_hit_rate"].as_f64().unwrap()));
    }
    assert!(first["memory"]["analysis_bytes"].as_u64().unwrap() > 1 << 20);
    assert!(first["ring_bytes"].as_u64().unwrap() >= first["waiting_bytes"].as_u64().unwrap());
    // By either process; it goes on.
    let later = snapshot(&folder, &[&first["program_pid"].to_string()]);
    assert!(later["requests"].as_u64() >= first["requests"].as_u64());
    let text = top(&folder, &[&pid, "--once"]);
    assert!(text.status.success(), "{}", text.describe());
    for part in ["WARPLINE ", "launches", "  gather", "  sweep", "of the ring", "memory: analysis"] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
    // On a terminal, which is as before when `q` was pressed, while the program goes on.
    let mut command = Command::new("python3");
    command.args(["-c", ON_A_TERMINAL]).arg(warpline()).args(["top", &pid]);
    command.env("XDG_RUNTIME_DIR", folder.join("runtime")).env("TERM", "xterm");
    let drawn = run(&mut command, &folder, "terminal");
    assert!(drawn.status.success(), "{}", drawn.describe());
    // Words are placed one by one.
    for part in ["\x1b[?1049h", "WARPLINE", "gather", "closes", "\x1b[?1049l", "modes kept"] {
        assert!(drawn.stdout.contains(part), "{part:?}: {}", drawn.stdout);
    }
    assert!(running.0.try_wait().unwrap().is_none());
    // A file by its name, which a link is not.
    let file = folder.join("runtime/warpline").join(format!("{pid}.json"));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(top(&folder, &[file.to_str().unwrap(), "--once"]).status.success());
    symlink(&file, folder.join("link")).unwrap();
    assert_eq!(top(&folder, &["link", "--once"]).status.code(), Some(3));
    let unknown = top(&folder, &["1"]);
    assert_eq!(unknown.status.code(), Some(4), "{}", unknown.describe());
    assert!(unknown.stderr.contains(&pid), "{}", unknown.describe());
    // An analysis that is killed leaves nothing that would be mistaken for a running one.
    running.0.kill().unwrap();
    running.0.wait().unwrap();
    assert_eq!(top(&folder, &[]).status.code(), Some(4));
    assert!(!file.exists());
}

#[test]
fn nothing_is_left_behind_and_strangers_folders_are_not_used() {
    let folder = work_folder("top_private");
    private_folder(&folder);
    let mut running = Running::start(&folder, "5");
    assert!(running.0.wait().unwrap().success());
    let left: Vec<_> = std::fs::read_dir(folder.join("runtime")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    // A folder that others can write to, or a link: the run goes on without.
    let private = folder.join("runtime/warpline");
    std::fs::create_dir(&private).unwrap();
    std::fs::set_permissions(&private, PermissionsExt::from_mode(0o777)).unwrap();
    let outcome = top(&folder, &[]);
    assert_eq!(outcome.status.code(), Some(1), "{}", outcome.describe());
    assert!(outcome.stderr.contains("mode 700"), "{}", outcome.describe());
    std::fs::remove_dir(&private).unwrap();
    std::fs::create_dir(folder.join("elsewhere")).unwrap();
    symlink(folder.join("elsewhere"), &private).unwrap();
    let mut running = Running::start(&folder, "5");
    assert!(running.0.wait().unwrap().success());
    assert!(std::fs::read_dir(folder.join("elsewhere")).unwrap().next().is_none());
    std::fs::write(folder.join("snapshot.json"), "{}").unwrap();
    let outcome = top(&folder, &["snapshot.json", "--once"]);
    assert_eq!(outcome.status.code(), Some(3), "{}", outcome.describe());
}
