//! Runs of a dataset: a profile on one of its models, and where its rows go.

use warpline_profile::Profile;

/// A profile, seen as what one of its models makes of it.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// Name of the run.
    pub name: String,
    /// Name of the profile.
    pub digest: String,
    /// Model; `None` where nothing was simulated.
    pub model: Option<&'a str>,
    /// The profile's first model.
    pub first: bool,
}

/// Hexadecimal digits of a name: too many for two of the same among any number of profiles.
const DIGITS: usize = 20;

/// The runs of a profile, its first model's first.
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

/// Name of what holds these bytes. No secret hangs on it: whoever makes two profiles of one name harms their own
/// dataset.
pub(super) fn digest(bytes: &[u8]) -> String {
    let mut name = format!("{:x}", md5::compute(bytes));
    name.truncate(DIGITS);
    name
}

impl<'a> Run<'a> {
    /// What [`warpline_profile::model::Metrics::other_models`] calls the model; `None` for the first one.
    pub(super) fn other(&self) -> Option<&'a str> {
        self.model.filter(|_| !self.first)
    }

    /// Folders below a table's.
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

/// What rows are kept apart by; `None`: not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition {
    /// File name of the executable.
    pub program: Option<String>,
    /// The label `commit`.
    pub commit: Option<String>,
    /// Rank.
    pub rank: Option<u64>,
    /// GPU model.
    pub model: Option<String>,
}

/// Stands for what is not known. Hive's own word for that would not do: Arrow, and pandas with it, refuses a dataset in
/// which a column of folders has no other value.
const UNKNOWN: &str = "unknown";
/// Bytes of a folder's value, at most: file systems take 255 for a name.
const MOST_BYTES: usize = 200;

impl Partition {
    /// Names and types of the folders, in order; `integer` or `text`.
    pub const COLUMNS: [(&'static str, &'static str, &'static str); 4] = [
        ("program", "text", "file name of the program; `unknown` if the trace does not contain it"),
        ("commit", "text", "the label `commit`; `unknown` where there is none"),
        ("rank", "integer", "rank of the process, from its launcher; 0 where there was none"),
        ("model", "text", "GPU model of caches and estimates; `unknown` where nothing was simulated"),
    ];

    /// Returns the folders, outermost first.
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

/// Returns a value as the name of a folder: whatever is neither letter, digit nor one of `._-+` in percent notation.
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
        // No half of an escape is left.
        let name = long.strip_prefix("program=").unwrap();
        assert_eq!(name.rsplit_once('.').unwrap().0.len() % 3, 0, "{name}");
    }

    #[test]
    fn what_is_not_known_has_a_name_that_every_reader_takes() {
        let folders = Partition { rank: Some(3), ..Partition::default() }.folders();
        assert_eq!(folders[1..3], ["commit=unknown".to_owned(), "rank=3".to_owned()]);
    }
}
