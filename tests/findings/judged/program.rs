//! A program of judged cases, built and profiled once for all tests: its findings by the words that mark their lines.

use crate::recorded;
use crate::support_programs::{build, root, run, warpline, work_folder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, OnceLock};

pub struct Judged {
    name: &'static str,
    /// Options of the run.
    model: &'static [&'static str],
    built: OnceLock<PathBuf>,
    document: OnceLock<Value>,
    /// Of runs that record one kernel, by its name.
    alone: Mutex<BTreeMap<String, &'static Value>>,
}

impl Judged {
    /// Of the file of this name, without its extension.
    pub const fn new(name: &'static str) -> Judged {
        Judged {
            name,
            model: &[],
            built: OnceLock::new(),
            document: OnceLock::new(),
            alone: Mutex::new(BTreeMap::new()),
        }
    }

    /// The same, profiled for the A100 instead of the model of the architecture that it is built for.
    pub const fn on_a100(name: &'static str) -> Judged {
        Judged {
            name,
            model: &["--gpu", "a100"],
            built: OnceLock::new(),
            document: OnceLock::new(),
            alone: Mutex::new(BTreeMap::new()),
        }
    }

    fn source(&self) -> PathBuf {
        root().join("tests/findings/judged").join(self.name).with_extension("cu")
    }

    fn folder(&self) -> String {
        format!("findings-{}", self.name)
    }

    fn executable(&self) -> &PathBuf {
        self.built.get_or_init(|| {
            let flags = ["-O3", "-g", "-arch=sm_75"].map(str::to_owned);
            build(&[self.source()], &flags, &work_folder(&self.folder()))
        })
    }

    /// The profile of a run with these arguments.
    pub fn profiled(&self, name: &str, arguments: &[&str]) -> Value {
        self.recorded(name, arguments, &[])
    }

    /// The same of a run with these options.
    fn recorded(&self, name: &str, arguments: &[&str], options: &[&str]) -> Value {
        recorded::document(&format!("{}-{name}", self.name), &self.source(), || self.run(name, arguments, options))
    }

    /// Builds and runs the program; returns the profile's file.
    fn run(&self, name: &str, arguments: &[&str], options: &[&str]) -> PathBuf {
        let executable = self.executable();
        let folder = work_folder(&format!("{}-{name}", self.folder()));
        let profile = folder.join("profile.wlprof");
        let mut command = Command::new(warpline());
        command
            .arg("run")
            .args(self.model)
            .args(options)
            .arg("-o")
            .arg(&profile)
            .arg("--")
            .arg(executable)
            .args(arguments);
        let outcome = run(&mut command, &folder, "run");
        assert!(outcome.status.success(), "{}", outcome.describe());
        profile
    }

    /// The profile of the program as it is, made once.
    pub fn document(&self) -> &Value {
        self.document.get_or_init(|| self.profiled("run", &[]))
    }

    /// The findings of this id on the lines with these words.
    pub fn all(&self, id: &str, words: &str) -> Vec<&Value> {
        self.findings_at(self.document(), id, words)
    }

    /// The same of a run with this argument, which runs a case alone: among others it may be too small for a finding.
    pub fn alone(&self, case: &str, id: &str, words: &str) -> Vec<Value> {
        self.findings_at(&self.profiled(case, &[case]), id, words).into_iter().cloned().collect()
    }

    /// The lines that these words mark.
    fn lines(&self, words: &str) -> Vec<u64> {
        let text = std::fs::read_to_string(self.source()).expect("the program's source");
        let marked = format!("// {words}");
        let lines: Vec<u64> =
            (1..).zip(text.lines()).filter(|(_, line)| line.ends_with(&marked)).map(|(number, _)| number).collect();
        assert!(!lines.is_empty(), "no line is marked {words}");
        lines
    }

    fn findings_at<'a>(&self, document: &'a Value, id: &str, words: &str) -> Vec<&'a Value> {
        let lines = self.lines(words);
        let findings = document["findings"].as_array().expect("findings");
        let there = |finding: &&Value| finding["line"].as_u64().is_some_and(|line| lines.contains(&line));
        findings.iter().filter(|finding| finding["id"] == id).filter(there).collect()
    }

    /// The findings of this id of which these lines are, first or further ones.
    pub fn about(&self, id: &str, words: &str) -> Vec<&Value> {
        let lines = self.lines(words);
        let has = |place: &Value| place["line"].as_u64().is_some_and(|line| lines.contains(&line));
        let findings = self.document()["findings"].as_array().expect("findings");
        let is_there = |finding: &&Value| has(finding) || finding["lines"].as_array().into_iter().flatten().any(has);
        findings.iter().filter(|finding| finding["id"] == id).filter(is_there).collect()
    }

    /// The same where there is one; else those of a run that records the kernel of these lines alone, so that no other
    /// kernel makes it too small for a finding.
    fn seen(&self, id: &str, words: &str) -> Vec<&Value> {
        let found = self.all(id, words);
        if !found.is_empty() {
            return found;
        }
        let document = self.document();
        let lines = self.lines(words);
        let is_there = |row: &&Value| row["line"].as_u64().is_some_and(|line| lines.contains(&line));
        let rows = |table: &str| document[table].as_array().into_iter().flatten().filter(is_there);
        let Some(row) = rows("sites").chain(rows("branches")).next() else { return found };
        let kernels = document["kernels"].as_array().expect("kernels");
        let name =
            kernels.iter().find(|kernel| kernel["id"] == row["kernel"]).and_then(|kernel| kernel["name"].as_str());
        let plain = name.expect("a name").split(['(', '<']).next().unwrap_or_default();
        let plain = plain.rsplit(' ').next().unwrap_or_default();
        let mut alone = self.alone.lock().expect("no other test panicked");
        let document = *alone
            .entry(plain.to_owned())
            .or_insert_with(|| Box::leak(Box::new(self.recorded(plain, &[], &["--kernels", plain]))));
        drop(alone);
        self.findings_at(document, id, words)
    }

    /// The first finding of this id there: with its reason and its cure.
    pub fn first(&self, id: &str, words: &str) -> (&Value, &str, &str) {
        let found = self.seen(id, words);
        let finding = found.first().unwrap_or_else(|| panic!("{words}: no {id} in {:#}", self.document()["findings"]));
        (finding, finding["reason"].as_str().expect("a reason"), finding["cure"].as_str().expect("a cure"))
    }

    /// As [`Judged::first`], where there is no other one.
    pub fn only(&self, id: &str, words: &str) -> (&Value, &str, &str) {
        assert_eq!(self.seen(id, words).len(), 1, "{words}: {:#}", self.document()["findings"]);
        self.first(id, words)
    }
}

/// What is wrong and what to do, by their ids.
pub fn diagnosis(finding: &Value) -> (&str, &str) {
    (finding["cause"].as_str().unwrap_or_default(), finding["remedy"].as_str().unwrap_or_default())
}

/// The assumption of a finding's gain.
pub fn assumption(finding: &Value) -> &str {
    finding["gain"]["assumption"].as_str().unwrap_or_else(|| panic!("no gain: {finding:#}"))
}

/// Stable id of a finding's cause.
pub fn cause(finding: &Value) -> &str {
    finding["cause"].as_str().unwrap_or_else(|| panic!("no cause: {finding:#}"))
}

/// Stable id of a finding's remedy.
pub fn remedy(finding: &Value) -> &str {
    finding["remedy"].as_str().unwrap_or_else(|| panic!("no remedy: {finding:#}"))
}
