//! File names that several simultaneous runs can share: `%p`, `%q{NAME}` and `%%` in `--output` and `--trace`.

use std::path::{Path, PathBuf};

use crate::cli::Failure;
use crate::exit_code;

/// Replaces `%p` by the number of this process, `%q{NAME}` by the environment's value, and `%%` by `%`.
pub(super) fn filled_in(path: &Path, variable: impl Fn(&str) -> Option<String>) -> Result<PathBuf, Failure> {
    let Some(text) = path.to_str().filter(|text| text.contains('%')) else { return Ok(path.to_owned()) };
    let usage = |what: &str| Failure::new(exit_code::USAGE, format!("{text}: {what}"));
    let mut name = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        name.push_str(before);
        rest = match after.as_bytes().first() {
            Some(b'p') => {
                name.push_str(&std::process::id().to_string());
                &after[1..]
            }
            Some(b'%') => {
                name.push('%');
                &after[1..]
            }
            Some(b'q') => {
                let quoted = after[1..].strip_prefix('{').and_then(|after| after.split_once('}'));
                let (wanted, after) = quoted.ok_or_else(|| usage("after %q comes a variable's name in braces"))?;
                let value = variable(wanted).ok_or_else(|| usage(&format!("the environment has no {wanted}")))?;
                name.push_str(&value);
                after
            }
            _ => return Err(usage("known are %p (process), %q{NAME} (environment) and %%")),
        };
    }
    name.push_str(rest);
    Ok(PathBuf::from(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, String> {
        let variable = |name: &str| (name == "RANK").then(|| "3".to_owned());
        let done = filled_in(Path::new(text), variable);
        done.map(|path| path.display().to_string()).map_err(|failure| failure.message)
    }

    #[test]
    fn processes_get_files_of_their_own() {
        assert_eq!(filled("plain.wlprof").unwrap(), "plain.wlprof");
        assert_eq!(filled("r%q{RANK}-%%p.wlprof").unwrap(), "r3-%p.wlprof");
        assert_eq!(filled("%p.wlprof").unwrap(), format!("{}.wlprof", std::process::id()));
        for (wrong, what) in [("%q{NONE}", "NONE"), ("%qRANK", "braces"), ("50%", "%p"), ("%x", "%p")] {
            assert!(filled(wrong).unwrap_err().contains(what), "{wrong}");
        }
    }
}
