//! The C++ standard of a CUDA source.
//!
//! Since CUDA 13, CCCL (Thrust, CUB, libcu++) and the toolkit's headers that include it require C++17, and end a
//! compilation with an older standard. Projects for older toolkits request C++11 or 14 as a minimum. In C++17, nothing
//! in them changes its meaning except `register` and exception specifications, which become warnings.

use super::unit::included;
use std::path::PathBuf;

/// Prefixes of the names of headers that need C++17.
const HEADERS: [&str; 6] = ["thrust/", "cub/", "cuda/", "cooperative_groups", "curand_kernel.h", "nvtx3/nvtx3.hpp"];

/// Returns the argument that raises the standard in `arguments` to C++17, if it is lower and one of the files includes
/// a header that needs more.
pub fn raised(arguments: &[String], files: &[(PathBuf, String)]) -> Option<&'static str> {
    let requested = arguments.iter().rev().find_map(|argument| argument.strip_prefix("-std="))?;
    let (raised, year) = match (requested.strip_prefix("gnu++"), requested.strip_prefix("c++")) {
        (Some(year), _) => ("-std=gnu++17", year),
        (_, Some(year)) => ("-std=c++17", year),
        _ => return None,
    };
    let old = matches!(year, "98" | "03" | "0x" | "11" | "1y" | "14");
    let needs = |text: &str| included(text).any(|(name, _)| HEADERS.iter().any(|header| name.starts_with(header)));
    (old && files.iter().any(|(_, text)| needs(text))).then_some(raised)
}

#[cfg(test)]
mod tests {
    use super::raised;

    fn raised_standard(argument: &str, text: &str) -> Option<&'static str> {
        raised(&["-DA".into(), argument.into(), "-Ib".into()], &[("a.cu".into(), text.into())])
    }

    #[test]
    fn old_standards_are_raised_for_headers_that_need_it() {
        for text in
            ["#include <thrust/sort.h>", "int x;\n # include \"cub/cub.cuh\"", "#include <cooperative_groups.h>\n"]
        {
            assert_eq!(raised_standard("-std=c++11", text), Some("-std=c++17"));
            assert_eq!(raised_standard("-std=gnu++14", text), Some("-std=gnu++17"));
            assert_eq!(raised_standard("-std=c++17", text), None);
            assert_eq!(raised_standard("-std=c++20", text), None);
            assert_eq!(raised_standard("-O2", text), None);
        }
        assert_eq!(raised_standard("-std=c++11", "#include <vector>\n// thrust/sort.h"), None);
    }

    #[test]
    fn the_last_standard_counts() {
        let files = &[("a.cu".into(), "#include <cub/cub.cuh>".to_string())];
        assert_eq!(raised(&["-std=c++20".into(), "-std=c++14".into()], files), Some("-std=c++17"));
        assert_eq!(raised(&["-std=c++14".into(), "-std=c++20".into()], files), None);
    }
}
