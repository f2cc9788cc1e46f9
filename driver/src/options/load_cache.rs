//! ptxas' option for the caching of loads from global memory.

use warpline_format::site_table::CacheOp;

/// Returns the cache operator that `-dlcm` (`--def-load-cache`) sets for loads without an operator. As for ptxas, the
/// last option counts.
pub fn load_cache(ptxas: &[String]) -> CacheOp {
    let mut found = CacheOp::Default;
    let mut arguments = ptxas.iter();
    while let Some(argument) = arguments.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument.as_str(), None),
        };
        if !matches!(name, "-dlcm" | "--def-load-cache" | "-def-load-cache") {
            continue;
        }
        found = match value.or_else(|| arguments.next().map(String::as_str)) {
            Some("ca") => CacheOp::All,
            Some("cg") => CacheOp::Global,
            Some("cs") => CacheOp::Streaming,
            Some("cv") => CacheOp::Volatile,
            _ => found,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_option_counts() {
        let of = |words: &[&str]| load_cache(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["-v", "-O3"]), CacheOp::Default);
        assert_eq!(of(&["-dlcm=ca"]), CacheOp::All);
        assert_eq!(of(&["-dlcm", "cg", "-v"]), CacheOp::Global);
        assert_eq!(of(&["-dlcm=ca", "--def-load-cache=cv"]), CacheOp::Volatile);
    }
}
