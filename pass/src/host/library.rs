//! Determines to which library a host function belongs, by its mangled name: the user's code, the C++ standard library,
//! or the CUDA toolkit.

/// Returns whether a call is a method of a class of the standard library, or creates a smart pointer with its object.
pub(super) fn is_container_call(callee: &str) -> bool {
    ["_ZNSt", "_ZSt11make_unique", "_ZSt11make_shared"].iter().any(|prefix| callee.starts_with(prefix))
}

/// Returns whether a function belongs to the C++ standard library.
pub(super) fn is_standard(function: &str) -> bool {
    ["_ZNSt", "_ZSt", "_ZNKSt", "_ZN9__gnu_cxx"].iter().any(|prefix| function.starts_with(prefix))
}

/// Returns whether a function belongs to Thrust, CUB or libcu++, whose variables have no meaning for users.
pub(super) fn is_toolkit(function: &str) -> bool {
    let rest = function.strip_prefix("_ZNK").or_else(|| function.strip_prefix("_ZN")).or(function.strip_prefix("_Z"));
    rest.is_some_and(|rest| ["6thrust", "3cub", "4cuda"].iter().any(|name| rest.starts_with(name)))
}

/// Returns whether a method of Thrust's vectors may allocate device memory. These are constructors, assignments and
/// methods that reserve space. The class is in the name as `device_vector<…>`, or as its base.
pub(super) fn fills_device_vector(callee: &str) -> bool {
    const METHODS: [&str; 12] = [
        "C1E",
        "C2E",
        "C1I",
        "C2I",
        "aSE",
        "aSI",
        "6resizeE",
        "7reserveE",
        "6assignE",
        "6assignI",
        "6insertE",
        "9push_backE",
    ];
    callee.starts_with("_ZN6thrust")
        && (callee.contains("13device_vectorI") || callee.contains("11vector_baseI"))
        && METHODS.iter().any(|method| callee.contains(method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_reported_by_their_names() {
        let vector = "_ZN6thrust20THRUST_300001_SM_80013device_vectorIiNS0_16device_allocatorIiEEEC2Em";
        assert!(is_toolkit(vector) && fills_device_vector(vector));
        assert!(is_toolkit("_ZNK3cub3runEv") && !is_toolkit("_Z5thrustv") && !is_toolkit("main"));
        assert!(!fills_device_vector(
            "_ZN6thrust20THRUST_300001_SM_80013device_vectorIiNS0_16device_allocatorIiEEE5beginEv"
        ));
        assert!(is_container_call("_ZNSt6vectorIfSaIfEEC2Em") && is_standard("_ZNKSt6vectorIfSaIfEE4sizeEv"));
    }
}
