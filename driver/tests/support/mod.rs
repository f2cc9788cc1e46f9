//! Runs the built `warpline-cc` in tests.
#![allow(dead_code, reason = "each test file uses its part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program under test, in a folder with links to it that have the names `warpline-nvcc` and `warpline-clang++`.
pub struct Driver {
    /// The temporary folder, which is also the working folder.
    pub folder: tempfile::TempDir,
}

/// The output of a program, and its exit status.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn from(output: Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Fails the test unless the program succeeded.
    #[track_caller]
    pub fn succeeded(self) -> Ran {
        assert_eq!(self.code, 0, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

impl Driver {
    pub fn new() -> Driver {
        let folder = tempfile::tempdir().unwrap();
        for name in ["warpline-cc", "warpline-nvcc", "warpline-clang++"] {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_warpline-cc"), folder.path().join(name)).unwrap();
        }
        Driver { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Returns a command in the temporary folder, without environment variables that change the driver's behaviour.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.folder.path()).env("LC_ALL", "C");
        for variable in
            ["WARPLINE_CC_DISABLE", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "MAKEFLAGS", "MFLAGS", "CXX", "CC"]
        {
            command.env_remove(variable);
        }
        // A test under `nohup`, or in the background of a shell, inherits ignored signals. SAFETY: `signal` may be
        // called between fork and exec.
        unsafe {
            std::os::unix::process::CommandExt::pre_exec(&mut command, || {
                for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM, libc::SIGXCPU] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            });
        }
        command
    }

    /// Runs one of the links with a command line.
    pub fn run(&self, program: &str, line: &str) -> Ran {
        let mut command = self.command(self.path(program));
        Ran::from(command.args(line.split_whitespace()).output().unwrap())
    }

    /// Runs a command.
    pub fn output(&self, command: &mut Command) -> Ran {
        Ran::from(command.output().unwrap())
    }

    /// Runs a program that was built in the test; it writes no trace.
    pub fn program(&self, name: &str) -> Ran {
        Ran::from(self.command(self.path(name)).env("WARPLINE", "0").output().unwrap())
    }
}

/// Returns the clang that the driver uses.
pub fn clang() -> PathBuf {
    warpline_toolchain::clang::clang().unwrap().path
}

/// Returns the toolkit that the driver uses.
pub fn cuda() -> PathBuf {
    warpline_toolchain::cuda::find(None).unwrap().root
}
