//! Parses arbitrary inline assembly.

/// Parses the input.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    _ = warpline_pass::cpu::statements(&text);
}
