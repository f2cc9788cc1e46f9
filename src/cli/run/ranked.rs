//! Determines the file names of a rank. All ranks of a job have the same command line, but none may overwrite another's
//! file.

use std::path::{Path, PathBuf};

use super::naming::filled_in;
use crate::cli::Failure;
use warpline_profile::model::Rank;
use warpline_profile::ranks;

/// Returns the file for a name on the command line, or for the default name.
///
/// # Errors
/// Returns an error if a placeholder in the name cannot be replaced.
pub(super) fn own_file(
    named: Option<&Path>,
    default: impl FnOnce() -> PathBuf,
    rank: Option<&Rank>,
    extension: &str,
) -> Result<PathBuf, Failure> {
    let file = match named {
        Some(named) => filled_in(named, |name| std::env::var(name).ok())?,
        None => default(),
    };
    let Some(rank) = rank else { return Ok(file) };
    let is_device = std::fs::metadata(&file).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if is_device || named.is_some_and(is_of_one_process) {
        return Ok(file);
    }
    Ok(ranks::folder(&file).join(ranks::file_name(rank.index, extension)))
}

/// Returns whether a name contains placeholders that differ between processes.
fn is_of_one_process(named: &Path) -> bool {
    let text = named.to_string_lossy().replace("%%", "");
    let mut quoted = text.split("%q{").skip(1).filter_map(|after| after.split_once('}'));
    text.contains("%p") || quoted.any(|(name, _)| ranks::names_a_rank(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ranks_write_one_file() {
        let rank = Rank { index: 3, count: Some(8), ..Rank::default() };
        let file = |named: Option<&str>, rank| {
            let path = own_file(named.map(Path::new), || "warpline.app.wlprof".into(), rank, "wlprof");
            path.unwrap().display().to_string()
        };
        assert_eq!(file(None, Some(&rank)), "warpline.app.d/rank-000003.wlprof");
        assert_eq!(file(Some("out/app.wlprof"), Some(&rank)), "out/app.d/rank-000003.wlprof");
        assert_eq!(file(Some("out/"), Some(&rank)), "out/rank-000003.wlprof");
        assert_eq!(file(Some("/dev/null"), Some(&rank)), "/dev/null");
        // The variable has the same value in all ranks.
        assert_eq!(file(Some("%q{PATH}%%p"), Some(&rank)).matches("rank-000003").count(), 1);
        let own = file(Some("app-%p.wlprof"), Some(&rank));
        assert_eq!(own, format!("app-{}.wlprof", std::process::id()));
        assert!(is_of_one_process(Path::new("x%q{OMPI_COMM_WORLD_RANK}")) && !is_of_one_process(Path::new("%%p")));
        assert_eq!((file(None, None), file(Some("x"), None)), ("warpline.app.wlprof".into(), "x".into()));
    }
}
