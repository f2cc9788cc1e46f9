//! Converts names to the characters that PTX supports: letters, digits, `_` and `$`. C++ supports all letters of
//! Unicode.

use crate::ir::kernel::is_kernel;
use crate::llvm::{ModuleItems, Value};
use inkwell::module::Module;
use std::borrow::Cow;

/// Returns whether PTX supports a byte of a name. LLVM replaces dots and the special characters of its own names.
fn is_taken(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'@')
}

/// Returns whether a name is invalid in PTX.
fn is_foreign(name: &str) -> bool {
    !name.bytes().all(is_taken)
}

/// Returns a name in which each byte that PTX does not support is written as `$` and two digits, which [`of_spelled`]
/// reads.
fn spelled(name: &str) -> String {
    name.bytes()
        .map(|byte| if is_taken(byte) { char::from(byte).to_string() } else { format!("${byte:02x}") })
        .collect()
}

/// Renames everything in a module so that the names are valid in PTX, because LLVM ends the process for other names.
/// This must be done in a copy, because host code and reports use the names of the source.
pub fn spell(module: &Module<'_>) {
    let named = module.functions().into_iter().chain(module.variables());
    for value in named.filter(|value: &Value<'_>| is_foreign(&value.name())) {
        value.set_name(&spelled(&value.name()));
    }
}

/// Returns a kernel or variable that host code finds by a name that is invalid in PTX.
pub fn foreign_to_host(module: &Module<'_>) -> Option<String> {
    let kernels = module.functions().into_iter().filter(|function| is_kernel(*function));
    let variables = module.variables().into_iter().filter(|variable| !variable.is_local());
    kernels.chain(variables).map(Value::name).find(|name| is_foreign(name))
}

/// Returns the name in the source.
pub fn of_spelled(name: &str) -> Cow<'_, str> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).filter(|_| *first == b'$').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|byte| !is_taken(*byte));
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    match String::from_utf8(bytes) {
        Ok(text) if text != name => text.into(),
        _ => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_and_read() {
        for (name, in_ptx) in [
            ("_Z5rowsPf", "_Z5rowsPf"),
            ("_Z7größePi", "_Z7gr$c3$b6$c3$9fePi"),
            ("核", "$e6$a0$b8"),
            ("a b$", "a$20b$"),
        ] {
            assert_eq!(spelled(name), in_ptx);
            assert_eq!(of_spelled(in_ptx), name);
            assert_eq!(is_foreign(name), name != in_ptx);
        }
        // These names of LLVM and of the user only have a similar form.
        for name in ["a$41", "$", "$c", "$c3", "str.4"] {
            assert_eq!(of_spelled(name), name);
        }
    }
}
