//! The first lines of a feature program: `// flags: …` for the compiler, `// needs: hooks` where kernels
//! without hooks (and so without access checks) behave otherwise, and `// expect: …` for what the program
//! does. Without an expectation it must print `PASS` and return 0.

use super::Outcome;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;

/// How the program must end.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Exit(i32),
    Signal(i32),
}

/// Directives in the comments at the top of a program.
#[derive(Debug)]
pub struct Directives {
    /// Compiler options.
    pub flags: Vec<String>,
    /// Not to be run with the original kernels.
    pub needs_hooks: bool,
    end: End,
    /// Must print `PASS`: there is no expectation of another end.
    passes: bool,
    stdout: Vec<String>,
    stderr: Vec<String>,
}

impl Directives {
    /// Reads the leading comment lines of `path`.
    pub fn read(path: &Path) -> Directives {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut found = Directives {
            flags: Vec::new(),
            needs_hooks: false,
            end: End::Exit(0),
            passes: true,
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        for line in text.lines().map_while(|line| line.strip_prefix("// ")) {
            if let Some(flags) = line.strip_prefix("flags: ") {
                found.flags.extend(flags.split_whitespace().map(str::to_owned));
            } else if line == "needs: hooks" {
                found.needs_hooks = true;
            } else if let Some(expectation) = line.strip_prefix("expect: ") {
                found.expect(expectation).unwrap_or_else(|| panic!("{}: cannot read '{line}'", path.display()));
            }
        }
        found
    }

    /// `exit N`, `signal N`, `stdout "…"` or `stderr "…"`, several joined by commas. A quoted text goes up to
    /// the last quotation mark of the line.
    fn expect(&mut self, expectation: &str) -> Option<()> {
        let (kind, rest) = expectation.trim_start().split_once(' ')?;
        if kind == "stdout" || kind == "stderr" {
            let text = rest.strip_prefix('"')?.strip_suffix('"')?.to_owned();
            if kind == "stdout" {
                self.stdout.push(text)
            } else {
                self.stderr.push(text)
            }
            return Some(());
        }
        let (number, more) = rest.split_once(',').map_or((rest, None), |(number, more)| (number, Some(more)));
        let number = number.trim().parse().ok()?;
        self.passes = false;
        self.end = match kind {
            "exit" => End::Exit(number),
            "signal" => End::Signal(number),
            _ => return None,
        };
        more.map_or(Some(()), |more| self.expect(more))
    }

    /// Returns an error that describes a wrong outcome. With `wrapped`, it is that of `warpline run`, which returns
    /// 128 + n for a signal.
    pub fn judge(&self, outcome: &Outcome, wrapped: bool) -> Result<(), String> {
        let right_end = match self.end {
            End::Exit(code) => outcome.status.code() == Some(code),
            End::Signal(signal) if wrapped => outcome.status.code() == Some(128 + signal),
            End::Signal(signal) => outcome.status.signal() == Some(signal),
        };
        if !right_end {
            return Err(format!("ended otherwise than by {:?}: {}", self.end, outcome.describe()));
        }
        if self.passes && !outcome.stdout.lines().any(|line| line.starts_with("PASS ")) {
            return Err(format!("did not pass: {}", outcome.describe()));
        }
        for (name, wanted, got) in
            [("standard output", &self.stdout, &outcome.stdout), ("standard error", &self.stderr, &outcome.stderr)]
        {
            if let Some(missing) = wanted.iter().find(|text| !got.contains(text.as_str())) {
                return Err(format!("'{missing}' is not in {name}: {}", outcome.describe()));
            }
        }
        Ok(())
    }
}
