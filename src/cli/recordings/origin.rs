//! Determines the commit and branch of a profile, in this order: from the user's options, the profile's labels, the CI
//! service, and git.

use std::collections::BTreeMap;

use super::repository::{Facts, Repository};
use crate::cli::Failure;
use crate::cli::args::OriginArguments;
use crate::exit_code;
use warpline_profile::store::is_commit;

/// Environment variables in which CI services store the commit and the branch.
const SERVICES: [(&str, &str); 7] = [
    // For a pull request, this is `12/merge`, so the `main` branch of a fork is not mistaken for the project's.
    ("GITHUB_SHA", "GITHUB_REF_NAME"),
    ("CI_COMMIT_SHA", "CI_COMMIT_REF_NAME"),
    ("BITBUCKET_COMMIT", "BITBUCKET_BRANCH"),
    ("BUILDKITE_COMMIT", "BUILDKITE_BRANCH"),
    ("CIRCLE_SHA1", "CIRCLE_BRANCH"),
    ("BUILD_SOURCEVERSION", "BUILD_SOURCEBRANCHNAME"),
    ("GIT_COMMIT", "GIT_BRANCH"),
];

/// The known origin of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) commit: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) compiler: Option<String>,
    pub(super) facts: Facts,
    /// Whether files were edited since the commit.
    pub(super) edited: bool,
}

/// Determines the origin.
pub(super) fn resolve(
    arguments: &OriginArguments,
    labels: &BTreeMap<String, String>,
    repository: Option<&Repository>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Origin, Failure> {
    let usage = |message: String| Failure::new(exit_code::USAGE, message);
    let label = |name: &str| labels.get(name).filter(|text| !text.is_empty()).cloned();
    let set = |name: &str| variable(name).filter(|text| !text.is_empty());
    let service = SERVICES.iter().find_map(|(commit, branch)| Some((set(commit)?, set(branch))));
    let given = arguments.commit.clone().or_else(|| label("commit"));
    let checked_out = || repository?.resolve("HEAD");
    let mut edited = false;
    let commit = match given.or_else(|| service.as_ref().map(|(commit, _)| commit.clone())) {
        Some(name) => {
            let known = repository.and_then(|repository| repository.resolve(&name));
            let commit = known.unwrap_or(name);
            if !is_commit(&commit) {
                let rule = "it has 1 to 64 letters, digits, `.`, `_` and `-`, or is known to git in the current folder";
                return Err(usage(format!("`{commit}` is no commit: {rule}")));
            }
            Some(commit)
        }
        None => {
            let commit = checked_out();
            edited = commit.is_some() && repository.is_some_and(Repository::is_edited);
            commit
        }
    };
    // The checked-out branch applies only to the checked-out commit.
    let here = commit.is_some() && commit == checked_out();
    let branch = arguments
        .branch
        .clone()
        .or_else(|| label("branch"))
        .or_else(|| service.and_then(|(_, branch)| branch))
        .or_else(|| repository.filter(|_| here)?.branch());
    if branch.as_ref().is_some_and(|branch| branch.is_empty() || branch.len() > 1024) {
        return Err(usage("--branch takes a name of 1 to 1024 bytes".to_owned()));
    }
    let facts = commit.as_deref().zip(repository).and_then(|(commit, repository)| repository.facts(commit));
    let compiler = arguments.compiler.clone().or_else(|| label("compiler"));
    Ok(Origin { commit, branch, compiler, facts: facts.unwrap_or_default(), edited })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_go_before_labels_and_these_before_the_service() {
        let variable = |name: &str| match name {
            "GITHUB_SHA" => Some("c".repeat(40)),
            "GITHUB_REF_NAME" => Some("12/merge".to_owned()),
            _ => None,
        };
        let none = OriginArguments::default();
        let labels = BTreeMap::from([("commit".to_owned(), "1.4.2".to_owned())]);
        let found = resolve(&none, &BTreeMap::new(), None, variable).unwrap();
        assert_eq!((found.commit, found.branch.as_deref()), (Some("c".repeat(40)), Some("12/merge")));
        let found = resolve(&none, &labels, None, variable).unwrap();
        assert_eq!((found.commit.as_deref(), found.branch.as_deref()), (Some("1.4.2"), Some("12/merge")));
        let said = OriginArguments { commit: Some("r77".into()), branch: Some("trunk".into()), compiler: None };
        let found = resolve(&said, &labels, None, variable).unwrap();
        assert_eq!((found.commit.as_deref(), found.branch.as_deref()), (Some("r77"), Some("trunk")));
        let wrong = OriginArguments { commit: Some("../../etc".into()), ..none.clone() };
        assert!(resolve(&wrong, &labels, None, variable).unwrap_err().message.contains("is no commit"));
        assert_eq!(resolve(&none, &BTreeMap::new(), None, |_| None).unwrap(), Origin::default());
    }
}
