//! Builds the command that opens an editor at a line.

use std::ffi::OsString;

/// Returns the command of `$VISUAL` or `$EDITOR` for a line of a file.
pub(super) fn command(editor: &str, file: &str, line: u32) -> Vec<OsString> {
    let mut words: Vec<OsString> = editor.split_whitespace().map(OsString::from).collect();
    if words.is_empty() {
        words.push("vi".into());
    }
    let program = words[0].to_string_lossy().rsplit('/').next().unwrap_or_default().to_owned();
    match &program[..] {
        "code" | "codium" | "code-insiders" | "cursor" => words.extend(["-g".into(), format!("{file}:{line}").into()]),
        "subl" | "hx" | "helix" | "zed" | "micro" => words.push(format!("{file}:{line}").into()),
        "kate" => words.extend(["--line".into(), line.to_string().into(), file.into()]),
        // This is the syntax of vi, emacs and nano.
        _ => words.extend([format!("+{line}").into(), file.into()]),
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_get_the_line_as_they_want_it() {
        let said = |editor| {
            let words = command(editor, "/a b.cu", 7);
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(said("vim"), ["vim", "+7", "/a b.cu"]);
        assert_eq!(said("/usr/bin/emacs -nw"), ["/usr/bin/emacs", "-nw", "+7", "/a b.cu"]);
        assert_eq!(said("code --wait"), ["code", "--wait", "-g", "/a b.cu:7"]);
        assert_eq!(said(""), ["vi", "+7", "/a b.cu"]);
    }
}
