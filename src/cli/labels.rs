//! `--label KEY=VALUE`: facts about a run that only the user knows, such as the commit that was built.

use std::collections::BTreeMap;

use crate::cli::Failure;
use crate::exit_code;

/// Maximum number of labels of a profile.
const MAX_LABELS: usize = 64;
/// Maximum number of letters of a label's name.
const MAX_NAME: usize = 64;
/// Maximum bytes of a label's value.
const MAX_VALUE: usize = 1024;

/// Parses and checks the labels.
pub(super) fn parse(given: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    if given.len() > MAX_LABELS {
        return Err(usage(format!("--label: {} were given, and a profile has at most {MAX_LABELS}", given.len())));
    }
    let mut labels = BTreeMap::new();
    for text in given {
        let Some((name, value)) = text.split_once('=') else {
            return Err(usage(format!("--label takes NAME=VALUE, as commit=1a2b3c, not `{text}`")));
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(plain) {
            let rule = format!("a name has 1 to {MAX_NAME} letters, digits and `.`, `_`, `-`, `/`");
            return Err(usage(format!("--label: `{name}` is no name; {rule}")));
        }
        if value.len() > MAX_VALUE {
            return Err(usage(format!("--label: the value of `{name}` is longer than {MAX_VALUE} bytes")));
        }
        let value = warpline_format::visible::name(value).into_owned();
        if labels.insert(name.to_owned(), value).is_some() {
            return Err(usage(format!("--label gives `{name}` twice")));
        }
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(given: &[&str]) -> Result<BTreeMap<String, String>, String> {
        let given: Vec<String> = given.iter().map(|&text| text.to_owned()).collect();
        parse(&given).map_err(|failure| failure.message)
    }

    #[test]
    fn labels_are_read_and_bounded() {
        let labels = parsed(&["commit=1a2b", "branch=topic/x=y", "note=a\x1b[2J"]).unwrap();
        assert_eq!(labels["branch"], "topic/x=y");
        assert_eq!(labels["note"], "a\\x1b[2J");
        for (given, wanted) in [
            (vec!["commit"], "takes NAME=VALUE"),
            (vec!["=x"], "is no name"),
            (vec!["a b=x"], "is no name"),
            (vec!["a=1", "a=2"], "twice"),
        ] {
            assert!(parsed(&given).unwrap_err().contains(wanted), "{given:?}");
        }
        let long = format!("a={}", "x".repeat(MAX_VALUE + 1));
        assert!(parsed(&[&long]).unwrap_err().contains("longer than"));
        let many: Vec<String> = (0..=MAX_LABELS).map(|number| format!("a{number}=x")).collect();
        assert!(parse(&many).unwrap_err().message.contains("at most"));
    }
}
