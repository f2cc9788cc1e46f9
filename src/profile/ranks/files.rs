//! Names of the files that ranks write.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Extension of profiles.
const PROFILE: &str = "wlprof";

/// Returns the folder for the ranks' files that replaces a single file: the given folder, or `app.d` for `app.wlprof`.
pub fn folder(named: &Path) -> PathBuf {
    let is_folder = named.as_os_str().as_encoded_bytes().ends_with(b"/") || named.is_dir();
    if is_folder {
        return named.to_owned();
    }
    let own = named.extension().is_some_and(|extension| extension == PROFILE || extension == "wltrace");
    let mut name = if own { named.with_extension("") } else { named.to_owned() }.into_os_string();
    name.push(".d");
    PathBuf::from(name)
}

/// Returns a file name such as `rank-000012.wlprof`.
pub fn file_name(index: u32, extension: &str) -> String {
    format!("rank-{index:06}.{extension}")
}

/// Returns the rank in a name from [`file_name`].
pub fn rank_of(path: &Path) -> Option<u32> {
    let digits = path.file_stem()?.to_str()?.strip_prefix("rank-")?;
    let plain = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// Returns the profiles in a folder, sorted by name. Subfolders are not searched.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub fn profiles_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension() == Some(OsStr::new(PROFILE)) && !path.is_dir() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_have_files_of_their_own() {
        let folder = |text: &str| super::folder(Path::new(text)).display().to_string();
        assert_eq!(folder("out/warpline.app.wlprof"), "out/warpline.app.d");
        assert_eq!(folder("app"), "app.d");
        assert_eq!(folder("app.v2"), "app.v2.d");
        assert_eq!(folder("nowhere/"), "nowhere/");
        assert_eq!(folder("/tmp"), "/tmp");
        assert_eq!(file_name(12, "wlprof"), "rank-000012.wlprof");
        assert_eq!(file_name(12_345_678, "wltrace"), "rank-12345678.wltrace");
        for index in [0, 12, 999_999, 12_345_678] {
            assert_eq!(rank_of(Path::new(&file_name(index, "wlprof"))), Some(index));
        }
        for other in ["rank-12.wlprof", "rank-+00012.wlprof", "app.wlprof", "rank-99999999999.wlprof", "rank-.wlprof"] {
            assert_eq!(rank_of(Path::new(other)), None, "{other}");
        }
    }
}
