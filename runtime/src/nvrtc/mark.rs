//! The mark in PTX from NVRTC. It names the code for the CPU device that was compiled from the same source. The PTX
//! itself is not run.

use crate::compiler::{self, VARIABLE};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// The beginning of the last line of such PTX; the build's name and the checksum of the text before it follow.
const BEGINNING: &str = "// warpline: compiled as ";

/// The folder of builds within the cache.
pub const FOLDER: &str = "nvrtc";
/// The name of the shared object in a build's folder.
pub const IMAGE: &str = "image.so";

/// The reason why marked PTX cannot be loaded.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MarkError {
    /// The PTX was edited.
    #[error(
        "a module is PTX of NVRTC's that was changed afterwards, and PTX itself cannot be run: hand it over as \
         nvrtcGetPTX gave it"
    )]
    Changed,
    /// The cache was emptied.
    #[error(
        "a module is PTX of NVRTC's whose code for the CPU device is not there any more ({}): compile it again, or keep \
         what nvrtcGetCUBIN gives ({VARIABLE} and XDG_CACHE_HOME must be those of its compilation)", .0.display()
    )]
    Gone(PathBuf),
}

fn checksum(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Returns PTX with the mark of a build.
pub fn marked(ptx: &str, build: &str) -> String {
    let text = format!("{}\n", ptx.trim_end());
    let sum = checksum(&text);
    format!("{text}{BEGINNING}{build} {sum:016x}\n")
}

/// Returns the code for the CPU device to which marked PTX refers, or `None` for other PTX.
pub fn find(text: &str) -> Option<Result<PathBuf, MarkError>> {
    let at = text.rfind(BEGINNING)?;
    let (build, sum) = text[at + BEGINNING.len()..].trim_end().split_once(' ')?;
    let whole = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !whole(build) || u64::from_str_radix(sum, 16) != Ok(checksum(&text[..at])) {
        return Some(Err(MarkError::Changed));
    }
    let path = compiler::folder(FOLDER).unwrap_or_default().join(build).join(IMAGE);
    Some(if path.is_file() { Ok(path) } else { Err(MarkError::Gone(path)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_and_hold_for_their_text_only() {
        let text = marked(".version 8.0\n.target sm_80\n", "0123456789abcdef");
        assert!(matches!(find(&text), Some(Err(MarkError::Gone(path))) if path.ends_with("0123456789abcdef/image.so")));
        assert_eq!(find(&text.replace("sm_80", "sm_90")), Some(Err(MarkError::Changed)));
        assert_eq!(find(&text.replace("0123456789abcdef", "../../../../../x")), Some(Err(MarkError::Changed)));
        assert_eq!(find(".version 8.0\n.target sm_80\n"), None);
    }
}
