//! `__NVCC__`, by which sources detect that nvcc compiles them. It is not defined for all files, because the toolkit's
//! headers would then rely on features that only nvcc has. The user's own files mostly test it to detect `__device__`.

/// The replacement has the same length, so that columns do not change, and clang defines it in CUDA sources.
const INSTEAD: &str = "__CUDA__";
const NVCC: &str = "__NVCC__";

/// Returns the text with tests of the macro replaced by nvcc's result; `None` if it has none.
pub fn answered(text: &str) -> Option<String> {
    if !text.contains(NVCC) {
        return None;
    }
    let mut asks = false;
    let mut continued = false;
    let lines = text.split_inclusive('\n').map(|line| {
        let condition = continued || is_condition(line);
        continued = condition && line.trim_end().ends_with('\\');
        match condition && line.contains(NVCC) {
            true => {
                asks = true;
                whole_words(line)
            }
            false => line.to_owned(),
        }
    });
    let new: String = lines.collect();
    asks.then_some(new)
}

fn is_condition(line: &str) -> bool {
    let Some(directive) = line.trim_start().strip_prefix('#') else { return false };
    let directive = directive.trim_start();
    ["if", "elif"].iter().any(|word| directive.starts_with(word))
}

fn whole_words(line: &str) -> String {
    let mut new = String::with_capacity(line.len());
    let mut from = 0;
    let is_name = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    for (at, _) in line.match_indices(NVCC) {
        let (before, after) = (line.as_bytes()[..at].last(), line.as_bytes().get(at + NVCC.len()));
        if at < from || is_name(before) || is_name(after) {
            continue;
        }
        new += &line[from..at];
        new += INSTEAD;
        from = at + NVCC.len();
    }
    new + &line[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_answered() {
        let text = "#ifdef __NVCC__\n#define HD __host__ __device__\n#elif \\\n  defined(__NVCC__)\n# if !defined __NVCC__ || MY__NVCC__\n";
        let new = answered(text).unwrap();
        assert_eq!(new, text.replace("__NVCC__", "__CUDA__").replace("MY__CUDA__", "MY__NVCC__"));
        assert_eq!(new.len(), text.len());
    }

    #[test]
    fn other_lines_stay() {
        assert_eq!(answered("#define __NVCC__\nconst char *compiler = \"__NVCC__\";\n"), None);
        let text = "#ifdef __NVCC__\nint __NVCC__;\n";
        assert_eq!(answered(text).unwrap(), "#ifdef __CUDA__\nint __NVCC__;\n");
        assert_eq!(answered("int a;"), None);
    }
}
