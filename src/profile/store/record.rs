//! A recording: the profile, its commit, and how it was created.

use serde::{Deserialize, Serialize};

use super::{Digest, StoreError};
use crate::Profile;
use crate::model::Environment;

/// Value of [`Record::schema`].
const SCHEMA: &str = "warpline.record";
/// Value of [`Record::version`] that this release writes.
const VERSION: u64 = 1;
/// Maximum bytes of a recording's name.
pub const MAX_NAME: usize = 256;
/// Maximum number of parents of a commit that are stored.
const MAX_PARENTS: usize = 16;
/// Maximum number of letters of a commit.
const MAX_COMMIT: usize = 64;

/// One recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// `warpline.record`.
    pub schema: String,
    /// Version of this document.
    pub version: u64,
    /// Name of the history that it belongs to; by default, the program's name.
    pub name: String,
    /// SHA-256 of the profile.
    pub object: String,
    /// The commit that was built; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Parents of the commit, if a repository was available.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// Time of the commit, for example `2026-11-20T19:00:00Z`, if a repository was available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_date: Option<String>,
    /// The branch from which the program was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// GPU models.
    pub models: Vec<String>,
    /// Architectures for which the code was built, for example 75 for `sm_75`.
    #[serde(default)]
    pub architectures: Vec<u32>,
    /// Compiler and options, as stated by the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// Whether the profile is complete.
    pub complete: bool,
    /// Data that differs between identical runs, which the profile's object does not contain.
    pub environment: Environment,
}

impl Record {
    /// Creates a recording of a profile whose object is `object`. Commit, branch and compiler are set later.
    pub fn new(name: &str, profile: &Profile, object: Digest) -> Record {
        Record {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            name: name.to_owned(),
            object: object.to_string(),
            commit: None,
            parents: Vec::new(),
            commit_date: None,
            branch: None,
            models: profile.run.models.clone(),
            architectures: profile.run.architectures.clone(),
            compiler: None,
            complete: profile.run.complete,
            environment: profile.run.environment.clone(),
        }
    }

    /// Returns the time of the commit if known; otherwise, that of the run.
    pub fn date(&self) -> &str {
        let date = self.commit_date.as_deref().or(self.environment.date.as_deref()).unwrap_or_default();
        if is_date(date) { date } else { "" }
    }

    /// Returns the abbreviated commit; without a commit, the profile's digest.
    pub fn short(&self) -> &str {
        let text = self.commit.as_deref().unwrap_or(&self.object);
        text.get(..10).unwrap_or(text)
    }

    /// Checks whether the record is valid.
    ///
    /// # Errors
    /// Returns an error that describes an invalid field.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let unfit = |message: String| Err(StoreError::Unfit(message));
        if self.name.is_empty() || self.name.len() > MAX_NAME {
            return unfit(format!("the name of a recording has 1 to {MAX_NAME} bytes: `{}`", self.name));
        }
        let commits = self.commit.iter().chain(&self.parents);
        if let Some(wrong) = commits.clone().find(|commit| !is_commit(commit)) {
            return unfit(format!(
                "`{wrong}` is no commit: it has 1 to {MAX_COMMIT} letters, digits, `.`, `_` and `-`"
            ));
        }
        if self.parents.len() > MAX_PARENTS {
            return unfit(format!("a commit of {} parents; at most {MAX_PARENTS} are kept", self.parents.len()));
        }
        for text in self.branch.iter().chain(&self.compiler) {
            if text.is_empty() || text.len() > 1024 {
                return unfit(format!("a branch or compiler has 1 to 1024 bytes: `{text}`"));
            }
        }
        if Digest::parse(&self.object).is_none() {
            return unfit(format!("`{}` is no SHA-256", self.object));
        }
        Ok(())
    }

    /// Returns the document; hidden characters in names are escaped.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a record has string keys and finite numbers")
    }

    /// Decodes the output of [`Record::to_bytes`].
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Record, String> {
        let mut record: Record = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if record.schema != SCHEMA {
            return Err("it is no record".to_owned());
        }
        if record.version > VERSION {
            return Err(format!("version {} is newer than this warpline reads ({VERSION})", record.version));
        }
        record.make_visible();
        record.check().map_err(|error| error.to_string())?;
        Ok(record)
    }

    /// Escapes characters that would control a terminal or break a table.
    pub(super) fn make_visible(&mut self) {
        let environment = &mut self.environment;
        let texts = [&mut self.name].into_iter().chain(&mut self.branch).chain(&mut self.compiler);
        let texts = texts.chain(&mut self.models).chain(&mut environment.command).chain(&mut environment.host);
        let texts = texts.chain(environment.versions.values_mut()).chain(environment.labels.values_mut());
        texts.for_each(warpline_format::visible::make_name);
    }
}

/// Returns whether a text can be the name of a commit in any version control system.
pub fn is_commit(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    // A name that starts with a dash could be interpreted as an option of another program.
    (1..=MAX_COMMIT).contains(&text.len()) && text.bytes().all(plain) && !text.starts_with('-')
}

/// Returns whether a date has the form `2026-11-20T19:00:00Z`, so that dates can be sorted as texts.
fn is_date(text: &str) -> bool {
    let form = b"0000-00-00T00:00:00Z";
    let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    text.len() == form.len() && text.as_bytes().iter().zip(form).all(fits)
}
