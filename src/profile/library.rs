//! Attributes kernels of libraries to the user's line that called the library.

use super::model::{Frame, Kernel, is_system};

/// The user's call of a library function that launched the library's kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryCall<'a> {
    /// The library's function, without template arguments and internal namespaces: `thrust::gather`.
    pub function: String,
    /// The source line that calls it.
    pub caller: &'a Frame,
    /// Number of other lines for which the kernel was launched.
    pub others: usize,
}

/// Returns the call that leads to a library's kernel; `None` for the user's kernels, or if no line of the user is
/// known.
pub fn library_call(kernel: &Kernel) -> Option<LibraryCall<'_>> {
    if kernel.file.is_empty() || !is_system(&kernel.file) {
        return None;
    }
    let mut calls: Vec<(&Frame, &Frame)> = kernel.paths().into_iter().filter_map(call_in).collect();
    calls.sort_by_key(|(caller, _)| (&caller.file, caller.line));
    calls.dedup_by_key(|(caller, _)| (&caller.file, caller.line));
    let &(caller, callee) = calls.first()?;
    Some(LibraryCall { function: function_name(&callee.function), caller, others: calls.len() - 1 })
}

/// Returns the library function that the user's code calls on this path, in the form of [`LibraryCall::function`].
pub fn library_function(path: &[Frame]) -> Option<String> {
    call_in(path).map(|(_, callee)| function_name(&callee.function))
}

/// Returns the innermost frame of the user and the frame that it calls.
fn call_in(path: &[Frame]) -> Option<(&Frame, &Frame)> {
    let at = path.iter().rposition(|frame| frame.line != 0 && !frame.file.is_empty() && !is_system(&frame.file))?;
    Some((&path[at], path.get(at + 1)?))
}

/// Returns the short name, such as `thrust::gather`, of a demangled name with result, namespaces and parameters.
fn function_name(function: &str) -> String {
    let (mut depth, mut plain) = (0u32, String::new());
    let mut rest = function;
    while let Some(character) = rest.chars().next() {
        match character {
            _ if depth == 0 && rest.starts_with("operator") => {
                let name = rest.split('(').next().filter(|name| *name != "operator").unwrap_or("operator()");
                plain.push_str(name.trim_end());
                break;
            }
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 => break,
            // The preceding text is the result type.
            ' ' if depth == 0 => plain.clear(),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
        rest = &rest[character.len_utf8()..];
    }
    let is_inside = |part: &str| {
        part.starts_with("__")
            || matches!(part, "detail" | "cuda_cub" | "system" | "generic")
            || part.split_once('_').is_some_and(|(name, version)| {
                name.chars().all(|letter| letter.is_ascii_uppercase())
                    && version.starts_with(|digit: char| digit.is_ascii_digit())
            })
    };
    let mut parts: Vec<&str> = plain.split("::").filter(|part| !is_inside(part)).collect();
    // A constructor has the name of its class.
    parts.dedup();
    parts.join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_called_as_users_write_them() {
        for (name, wanted) in [
            (
                "thrust::THRUST_300001_SM_800_NS::detail::normal_iterator<a::b<c> > thrust::THRUST_300001_SM_800_NS::gather<d>(d, e)",
                "thrust::gather",
            ),
            (
                "thrust::THRUST_300001_SM_800_NS::device_vector<float, x<float> >::device_vector(unsigned long)",
                "thrust::device_vector",
            ),
            (
                "cudaError cub::CUB_300001_SM_800::DeviceReduce::Sum<float const*, float*>(void*)",
                "cub::DeviceReduce::Sum",
            ),
            ("void cutlass::Kernel<a>(b)", "cutlass::Kernel"),
            ("lib::Functor<a>::operator()(int) const", "lib::Functor::operator()"),
            ("sort", "sort"),
            ("", ""),
        ] {
            assert_eq!(function_name(name), wanted);
        }
    }
}
