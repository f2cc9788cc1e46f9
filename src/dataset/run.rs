//! Runs of a dataset: a profile on one of its models, and the partition of its rows.

use warpline_profile::Profile;

/// A profile on one of its models.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Name of the run.
    pub name: String,
    /// Name of the profile, derived from its contents.
    pub digest: String,
    /// Name of the model; `None` if nothing was simulated.
    pub model: Option<&'a str>,
    /// Whether it is the profile's first model.
    pub first: bool,
}

/// Number of hexadecimal digits of a name, enough to avoid collisions.
const DIGITS: usize = 20;

/// Returns the runs of a profile, the first model's first.
pub fn runs_of(profile: &Profile) -> Vec<Run<'_>> {
    let digest = digest(&serde_json::to_vec(profile).unwrap_or_default());
    let run = |model: Option<&'_ str>| {
        let of = [digest.as_bytes(), b" ", model.unwrap_or_default().as_bytes()].concat();
        self::digest(&of)
    };
    let mut models = profile.run.models.iter().map(|model| Some(model.as_str())).collect::<Vec<_>>();
    if models.is_empty() {
        models.push(None);
    }
    models
        .into_iter()
        .enumerate()
        .map(|(number, model)| Run { profile, name: run(model), digest: digest.clone(), model, first: number == 0 })
        .collect()
}

/// Returns the name for some contents. It needs no cryptographic strength: a user who creates two profiles with the
/// same name harms only their own dataset.
pub(super) fn digest(bytes: &[u8]) -> String {
    let mut name = format!("{:x}", md5::compute(bytes));
    name.truncate(DIGITS);
    name
}

impl<'a> Run<'a> {
    /// Returns the model's key in [`warpline_profile::model::Metrics::other_models`]; `None` for the first model.
    pub(super) fn other(&self) -> Option<&'a str> {
        self.model.filter(|_| !self.first)
    }

    /// Returns the folders below a table's folder.
    pub fn partition(&self) -> Partition {
        let environment = &self.profile.run.environment;
        let program = self.profile.run.program.first().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
        Partition {
            program: program.filter(|name| !name.is_empty()),
            commit: environment.labels.get("commit").cloned(),
            rank: environment.rank.as_ref().map(|rank| u64::from(rank.index)),
            model: self.model.map(str::to_owned),
        }
    }
}

/// Values by which rows are partitioned; `None` if unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// File name of the executable.
    pub program: Option<String>,
    /// Value of the label `commit`.
    pub commit: Option<String>,
    /// Rank.
    pub rank: Option<u64>,
    /// GPU model.
    pub model: Option<String>,
}

/// Placeholder for unknown values. Hive's own placeholder is not used: Arrow and pandas reject a dataset in which a
/// partition column has no other value.
const UNKNOWN: &str = "unknown";
/// Maximum bytes of a folder's value; file systems allow 255 for a name.
const MOST_BYTES: usize = 200;

impl Partition {
    /// Names and types (`integer` or `text`) of the folders, in order.
    pub const COLUMNS: [(&'static str, &'static str, &'static str); 4] = [
        ("program", "text", "file name of the program; `unknown` if the trace does not contain it"),
        ("commit", "text", "the label `commit`; `unknown` where there is none"),
        ("rank", "integer", "rank of the process, from its launcher; 0 where there was none"),
        ("model", "text", "GPU model of caches and estimates; `unknown` where nothing was simulated"),
    ];

    /// Returns the names of the folders, outermost first.
    pub fn folders(&self) -> [String; 4] {
        let text = |value: &Option<String>| escaped(value.as_deref().unwrap_or_default());
        [
            format!("program={}", text(&self.program)),
            format!("commit={}", text(&self.commit)),
            format!("rank={}", self.rank.unwrap_or_default()),
            format!("model={}", text(&self.model)),
        ]
    }
}

/// Returns a value as a folder name. Characters other than letters, digits and `._-+` are percent-encoded.
fn escaped(value: &str) -> String {
    if value.is_empty() {
        return UNKNOWN.to_owned();
    }
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'+' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    if out.len() > MOST_BYTES {
        let cut = out[..MOST_BYTES - DIGITS - 1].rfind('%').filter(|at| at + 3 > MOST_BYTES - DIGITS - 1);
        out.truncate(cut.unwrap_or(MOST_BYTES - DIGITS - 1));
        out.push('.');
        out.push_str(&digest(value.as_bytes()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_below_their_table() {
        let partition = |program: &str| {
            Partition { program: Some(program.to_owned()), ..Partition::default() }.folders()[0].clone()
        };
        assert_eq!(partition("bicg"), "program=bicg");
        assert_eq!(partition("../../etc"), "program=..%2F..%2Fetc");
        assert_eq!(partition("a=b%c\n"), "program=a%3Db%25c%0A");
        assert_eq!(partition(""), "program=unknown");
        let long = partition(&"ü".repeat(1000));
        assert!(long.len() < 255 && long.is_ascii(), "{long}");
        assert_ne!(long, partition(&"ü".repeat(1001)));
        // Truncation must not split an escape sequence.
        let name = long.strip_prefix("program=").unwrap();
        assert_eq!(name.rsplit_once('.').unwrap().0.len() % 3, 0, "{name}");
    }

    #[test]
    fn what_is_not_known_has_a_name_that_every_reader_takes() {
        let folders = Partition { rank: Some(3), ..Partition::default() }.folders();
        assert_eq!(folders[1..3], ["commit=unknown".to_owned(), "rank=3".to_owned()]);
    }
}
