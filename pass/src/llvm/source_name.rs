//! Names in the form of the source.

/// The markers that clang appends, with a hash, to the name of a `static` variable or kernel, or of a variable or
/// kernel in an unnamed namespace, if relocatable code makes it visible to other objects. CUDA's forms come first,
/// HIP's after them.
const MARKS: [&str; 4] = ["__static__", "__intern__", ".static.", ".intern."];

/// Returns the name that the symbol would have without relocatable code, or `None` if this is its name.
pub fn before_externalisation(symbol: &str) -> Option<&str> {
    let is_hash = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_');
    MARKS.iter().find_map(|mark| {
        let (name, hash) = symbol.rsplit_once(mark)?;
        (!name.is_empty() && is_hash(hash)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_clang_appends_is_taken_away() {
        let before = before_externalisation;
        assert_eq!(before("_ZN12_GLOBAL__N_15scaleEPf__intern__f908918fc3599e0b"), Some("_ZN12_GLOBAL__N_15scaleEPf"));
        assert_eq!(before("_Z4bothIfEvPT___intern__98e01afe00_a38c6545"), Some("_Z4bothIfEvPT_"));
        assert_eq!(before("_ZL7counted__static__0"), Some("_ZL7counted"));
        assert_eq!(before("_ZL5plainPf.intern.f9"), Some("_ZL5plainPf"));
        assert_eq!(before("_ZL5plainPf"), None);
        assert_eq!(before("add__intern__values"), None, "no hash");
        assert_eq!(before("add__intern__"), None);
        assert_eq!(before("__static__ab"), None);
    }
}
