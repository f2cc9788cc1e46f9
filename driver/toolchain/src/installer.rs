//! The program that installs wheels into a folder: pip or uv. Its messages are kept, so that only those of the last attempt are
//! printed.

use crate::programs::{find, output};
use crate::{ToolchainError, cuda, fetch, installation, interrupt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The seconds after which a brief attempt stops to wait for an answer. pip waits 15 for each address of a server.
const BRIEF_TIMEOUT: &str = "3";

/// Variables by which users set pip's time limit; a brief attempt does not override them.
const TIMEOUT_VARIABLES: [&str; 2] = ["PIP_DEFAULT_TIMEOUT", "PIP_TIMEOUT"];

/// Messages of pip, uv and the system if no server can be reached or trusted, the most exact ones first.
const UNREACHABLE: [&str; 14] = [
    "Name or service not known",
    "Temporary failure in name resolution",
    "No address associated with hostname",
    "Network is unreachable",
    "No route to host",
    "Connection refused",
    "Connection timed out",
    "ConnectTimeoutError",
    "connect timeout",
    "Failed to resolve",
    "dns error",
    "tcp connect error",
    "CERTIFICATE_VERIFY_FAILED",
    "invalid peer certificate",
];

/// The part of pip's log that is there if a server answered.
const ANSWER: &str = "HTTP/1.1\" ";

/// The start of the line of pip's log that names the page that could not be read.
const FAILED_PAGE: &str = "Could not fetch URL ";

/// The files and folders of one installation.
pub(crate) struct Job<'a> {
    /// The folder into which the wheels are unpacked.
    pub target: &'a Path,
    /// The list of wheels with their checksums.
    pub requirements: &'a Path,
    /// The file to which pip writes its log.
    pub log: &'a Path,
    /// The folder that contains the wheels, if they are not fetched.
    pub wheels: Option<&'a Path>,
}

/// A failed attempt.
pub(crate) struct Failure {
    /// If no server could be reached: which one, and the reason.
    pub unreachable: Option<String>,
    /// The last lines that the program printed.
    pub lines: Vec<String>,
}

/// A program that installs wheels into a folder.
pub(crate) struct Installer {
    program: PathBuf,
    arguments: Vec<String>,
    /// `PYTHONPATH`, for the copy of pip in Warpline's installation.
    path: Option<PathBuf>,
    /// Whether the program is pip, which has options that uv does not have.
    is_pip: bool,
}

impl Installer {
    /// Finds the system's pip, the installation's pip, or uv.
    pub fn find() -> Result<Installer, ToolchainError> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(python) = find("python3") {
            let own = match output(&python, &["-m", "pip", "--version"]) {
                Some(_) => Some(None),
                None => installation::pip().map(Some),
            };
            if let Some(path) = own {
                let arguments = words(&["-m", "pip", "install", "--disable-pip-version-check"]);
                return Ok(Installer { program: python, arguments, path, is_pip: true });
            }
        }
        let arguments = words(&["pip", "install"]);
        let uv = find("uv").map(|program| Installer { program, arguments, path: None, is_pip: false });
        let missing = |searched| ToolchainError::Missing {
            what: "the CUDA toolkit parts, and Python with pip or uv to fetch them, were".into(),
            looked_at: format!("{searched}; python3 and uv on PATH"),
            cure: fetch::cure_without_python(),
        };
        uv.map_or_else(|| Err(missing(cuda::searched()?)), Ok)
    }

    /// Returns the name of the program for messages.
    pub fn name(&self) -> String {
        format!("{}{}", self.program.display(), if self.is_pip { " -m pip" } else { "" })
    }

    /// Installs the wheels once. A brief attempt repeats no request and waits only a short time for an answer.
    pub fn attempt(&self, job: &Job<'_>, brief: bool) -> Result<(), Failure> {
        let mut command = self.command(job);
        if brief {
            self.shorten(&mut command);
        }
        interrupt::ends_with_us(&mut command);
        _ = std::fs::remove_file(job.log);
        let ran = command.output();
        let (succeeded, printed) = match &ran {
            Ok(output) => (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => (false, format!("cannot start: {error}")),
        };
        if succeeded {
            return Ok(());
        }
        let log = std::fs::read(job.log).unwrap_or_default();
        let unreachable = unreachable(&printed, &String::from_utf8_lossy(&log)).filter(|_| job.wheels.is_none());
        let lines: Vec<String> = printed.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        Err(Failure { unreachable, lines: lines[lines.len().saturating_sub(8)..].to_vec() })
    }

    fn command(&self, job: &Job<'_>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(["--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:"]);
        command.arg("--target").arg(job.target).arg("-r").arg(job.requirements).env("PIP_ROOT_USER_ACTION", "ignore");
        if self.is_pip {
            command.arg("--log").arg(job.log);
        }
        if let Some(path) = &self.path {
            command.env("PYTHONPATH", path);
        }
        if let Some(folder) = job.wheels {
            command.arg("--no-index").arg("--find-links").arg(folder);
        }
        // The messages are searched for those of the system.
        command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command
    }

    fn shorten(&self, command: &mut Command) {
        if !self.is_pip {
            command.env("UV_HTTP_RETRIES", "0");
            return;
        }
        command.args(["--retries", "0"]);
        if TIMEOUT_VARIABLES.iter().all(|variable| std::env::var_os(variable).is_none()) {
            command.args(["--timeout", BRIEF_TIMEOUT]);
        }
    }
}

/// Returns which server could not be reached and why, if no server answered. `printed` are the program's messages, `log`
/// is pip's log.
fn unreachable(printed: &str, log: &str) -> Option<String> {
    if log.contains(ANSWER) {
        return None;
    }
    let lines = || log.lines().chain(printed.lines());
    let (line, reason) = UNREACHABLE.into_iter().find_map(|reason| {
        let line = lines().find(|line| line.contains(reason))?;
        Some((line, reason))
    })?;
    let reason = match reason {
        "ConnectTimeoutError" | "connect timeout" => "no answer",
        "Failed to resolve" | "dns error" => "its name cannot be resolved",
        "CERTIFICATE_VERIFY_FAILED" | "invalid peer certificate" => {
            "its certificate is not trusted: name the file with yours in PIP_CERT or SSL_CERT_FILE"
        }
        reason => reason,
    };
    let page = line.split_once(FAILED_PAGE).and_then(|(_, rest)| rest.split_once("://"));
    let server = match page.and_then(|(_, rest)| rest.split(['/', ' ']).next()) {
        _ if line.to_ascii_lowercase().contains("proxy") => "the proxy",
        // An address may contain a password.
        Some(host) => host.rsplit('@').next().unwrap_or(host),
        None => "the package index",
    };
    Some(format!("no connection to {server} ({reason})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreachable_server_is_named_with_the_reason() {
        let log = |text: &str| unreachable("ERROR: No matching distribution found\n", text);
        let named = "1 Could not fetch URL https://me:secret@index.test/simple/x/: connection error: HTTPSConnectionPool(…): Failed to \
                     establish a new connection: [Errno -2] Name or service not known')) - skipping";
        assert_eq!(log(named).as_deref(), Some("no connection to index.test (Name or service not known)"));
        let proxy = "Could not fetch URL https://index.test/x/: connection error: (Caused by ProxyError('Cannot connect to proxy.', \
                     NewConnectionError('[Errno 111] Connection refused'))) - skipping";
        assert_eq!(log(proxy).as_deref(), Some("no connection to the proxy (Connection refused)"));
        let foreign = "Could not fetch URL https://index.test/x/: There was a problem confirming the ssl certificate: (Caused by \
                       SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] …'))) - skipping";
        assert!(log(foreign).is_some_and(|text| text.contains("index.test (its certificate is not trusted")));
        let slow = "Could not fetch URL http://10.0.0.1:80/x/: connection error: (Caused by ConnectTimeoutError(…)) - skipping";
        assert_eq!(log(slow).as_deref(), Some("no connection to 10.0.0.1:80 (no answer)"));
        let uv = "error: Failed to fetch: http://index.test/\n  cause: tcp connect error\n  cause: Connection refused (os error 111)";
        assert_eq!(unreachable(uv, "").as_deref(), Some("no connection to the package index (Connection refused)"));
    }

    #[test]
    fn a_server_that_answered_is_reachable() {
        let log = "http://index.test:80 \"GET /simple/x/ HTTP/1.1\" 503 17\nCould not fetch URL http://index.test/x/: Connection refused";
        assert_eq!(unreachable("", log), None);
        assert_eq!(unreachable("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", ""), None);
    }
}
