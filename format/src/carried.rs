//! Embeds code for the CPU device in PTX, as comments after the PTX text. `warpline-cc -ptx` writes it, and the runtime
//! loads it, because the CPU device does not execute PTX.

use crate::visible;

/// Start of the line before the code; the number of bytes and the checksum of text and code follow.
const BEGINNING: &str = "// warpline: code for the CPU device: ";
/// Start of the line with the reason why there is no code.
const NONE: &str = "// warpline: no code for the CPU device: ";
/// Start of each line of code.
const LINE: &str = "//=";
/// Number of code bytes per line.
const BYTES: usize = 60;

/// Reasons why the code cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum CarriedError {
    /// The text or the code was changed.
    #[error(
        "a module is PTX whose text or whose code for the CPU device was changed after warpline-cc had written it, and PTX itself \
         cannot be run: compile it again"
    )]
    Changed,
    /// The source could not be compiled for the CPU device.
    #[error(
        "a module is PTX that warpline-cc wrote without code for the CPU device, and PTX itself cannot be run: {0}"
    )]
    Without(String),
}

fn checksum(text: &str, code: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(text.as_bytes());
    hasher.update(code);
    hasher.finalize()
}

/// Returns PTX with the code appended.
pub fn carrying(ptx: &str, code: &[u8]) -> String {
    let mut text = format!("{}\n", ptx.trim_end());
    let head = format!("{BEGINNING}{} {:08x}\n", code.len(), checksum(&text, code));
    text.push_str(&head);
    for line in code.chunks(BYTES) {
        text.push_str(LINE);
        for byte in line {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
            }
        }
        text.push('\n');
    }
    text
}

/// Returns PTX without code, with the first line of the reason.
pub fn without(ptx: &str, reason: &str) -> String {
    let reason = visible::name(reason.lines().next().unwrap_or_default());
    format!("{}\n{NONE}{reason}\n", ptx.trim_end())
}

/// Returns the code embedded in PTX; `None` if `warpline-cc` did not write the PTX.
pub fn find(text: &str) -> Option<Result<Vec<u8>, CarriedError>> {
    let Some(at) = text.rfind(BEGINNING) else {
        let reason = text[text.rfind(NONE)? + NONE.len()..].lines().next().unwrap_or_default();
        return Some(Err(CarriedError::Without(visible::name(reason).into_owned())));
    };
    Some(read(&text[..at], &text[at + BEGINNING.len()..]).ok_or(CarriedError::Changed))
}

fn read(ptx: &str, rest: &str) -> Option<Vec<u8>> {
    let (head, lines) = rest.split_once('\n')?;
    let (length, sum) = head.trim_end().split_once(' ')?;
    let mut code = Vec::new();
    for line in lines.lines().filter_map(|line| line.strip_prefix(LINE)) {
        let digits: Vec<u8> =
            line.trim_end().chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
        code.extend(digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)));
    }
    let whole = length.parse() == Ok(code.len()) && u32::from_str_radix(sum, 16) == Ok(checksum(ptx, &code));
    whole.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comes_back_and_changes_are_found() {
        let code: Vec<u8> = (0..=255).chain([7; 33]).collect();
        let text = carrying(".version 8.0\n.target sm_75\n\n", &code);
        assert_eq!(find(&text), Some(Ok(code)));
        let refused = without(".version 8.0\n.target sm_75\n\n", "a.cu:2: \x1b[31mno\nmore");
        assert_eq!(refused.lines().nth(2), Some("// warpline: no code for the CPU device: a.cu:2: \\x1b[31mno"));
        assert_eq!(find(&refused), Some(Err(CarriedError::Without("a.cu:2: \\x1b[31mno".into()))));
        assert!(text.starts_with(".version 8.0\n.target sm_75\n// warpline"));
        assert_eq!(find(".version 8.0\n"), None);
        assert_eq!(find(&text.replace("sm_75", "sm_80")), Some(Err(CarriedError::Changed)));
        for (at, _) in text.char_indices().skip(27) {
            let cut = &text[..at];
            assert!(find(cut).is_none_or(|found| found.is_err()) || at >= text.len() - 1, "{at}");
        }
    }
}
