//! NVIDIA's libraries, which the CPU device does not have. This file determines whether a failed compilation or link
//! needs one of them.

use crate::message;
use warpline_toolchain::packages;

/// Prefixes of the names of headers and libraries, and the library to which they belong.
const LIBRARIES: [(&str, &str); 11] = [
    ("cublas", "cuBLAS"),
    ("cudnn", "cuDNN"),
    ("cufft", "cuFFT"),
    ("curand", "the host interface of cuRAND"),
    ("cusolver", "cuSOLVER"),
    ("cusparse", "cuSPARSE"),
    ("cutensor", "cuTENSOR"),
    ("nccl", "NCCL"),
    ("npp", "NPP"),
    ("nvgraph", "nvGRAPH"),
    ("nvjpeg", "nvJPEG"),
];

fn known(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    LIBRARIES.iter().find(|(beginning, _)| name.starts_with(beginning)).map(|(_, library)| *library)
}

/// Returns the library whose header clang did not find.
pub fn of_missing_header(diagnostics: &str) -> Option<&'static str> {
    diagnostics.lines().find_map(|line| {
        let header = line.split_once("fatal error: '")?.1.split_once("' file not found")?.0;
        known(header.rsplit('/').next()?)
    })
}

/// Returns the library among the `-l` options of a link.
pub fn of_link(items: &[String]) -> Option<&'static str> {
    items.iter().find_map(|item| known(item.strip_prefix("-l")?))
}

/// Reports that a library is missing.
pub fn report_missing(library: &str) {
    message::line(format_args!(
        "warpline-cc: note: {library} is a library of NVIDIA's that is not provided: programs that need it cannot be built for \
         the CPU device"
    ));
}

/// Returns whether clang did not find the first header of the C++ library that it includes for CUDA.
pub fn lacks_host_headers(diagnostics: &str) -> bool {
    diagnostics.contains("fatal error: 'climits' file not found")
}

/// Reports how to get the C++ library's headers.
pub fn report_host_compiler() {
    message::line(format_args!(
        "warpline-cc: note: the headers of the C++ library are missing, which g++ brings. To get them: {}",
        packages::install(&["g++"])
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_host_compiler_is_recognised() {
        assert!(lacks_host_headers("__clang_cuda_runtime_wrapper.h:41:10: fatal error: 'climits' file not found\n"));
        assert!(!lacks_host_headers("a.cu:1:10: fatal error: 'mine' file not found\n"));
    }

    #[test]
    fn libraries_are_known_by_header_and_by_option() {
        let text = "In file included from a.cu:1:\nb.h:5:10: fatal error: 'cublas_v2.h' file not found\n";
        assert_eq!(of_missing_header(text), Some("cuBLAS"));
        assert_eq!(of_missing_header("a.cu:1:10: fatal error: 'lib/cufftXt.h' file not found"), Some("cuFFT"));
        assert_eq!(of_missing_header("a.cu:1:10: fatal error: 'gdal/gdal_priv.h' file not found"), None);
        assert_eq!(of_missing_header("a.cu:1:10: error: use of undeclared identifier 'cublas'"), None);
        let link = |text: &str| of_link(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(link("a.o -lm -lcurand"), Some("the host interface of cuRAND"));
        assert_eq!(link("cublas.o -lm -lcudart"), None);
    }
}
