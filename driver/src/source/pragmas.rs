//! `#define UNROLL #pragma unroll`: nvcc preprocesses a source to a text and reads this text again, so a macro may
//! represent a directive. For clang, it must be the operator `_Pragma`.

/// Returns a text with these definitions in the form that clang accepts, or `None` if there are none.
pub fn respelled(text: &str) -> Option<String> {
    if !text.contains("pragma") {
        return None;
    }
    let mut changed = false;
    let lines = text.split_inclusive('\n').map(|line| match operator(line) {
        Some(new) => {
            changed = true;
            new
        }
        None => line.to_owned(),
    });
    let new: String = lines.collect();
    changed.then_some(new)
}

/// Converts the definition of a macro without parameters as a pragma, in one line, to a definition with the operator.
fn operator(line: &str) -> Option<String> {
    let definition = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    let (name, body) = definition.trim_start().split_once(char::is_whitespace)?;
    let body = body.trim_start().strip_prefix('#')?.trim_start().strip_prefix("pragma")?;
    let (body, end) = body.split_at(body.trim_end_matches(['\r', '\n']).len());
    let body = body.split("//").next()?.split("/*").next()?.trim();
    if name.contains('(') || !definition.starts_with(char::is_whitespace) || body.is_empty() || body.ends_with('\\') {
        return None;
    }
    let quoted = body.replace('\\', "\\\\").replace('"', "\\\"");
    Some(format!("#define {name} _Pragma(\"{quoted}\"){end}"))
}

#[cfg(test)]
mod tests {
    use super::respelled;

    #[test]
    fn a_macro_for_a_pragma_becomes_the_operator() {
        let new = respelled("int a;\n  # define UNROLL   #pragma unroll // all\r\n#pragma once\nUNROLL\n").unwrap();
        assert_eq!(new, "int a;\n#define UNROLL _Pragma(\"unroll\")\r\n#pragma once\nUNROLL\n");
        assert_eq!(
            respelled("#define NOTE # pragma message \"x\"").unwrap(),
            "#define NOTE _Pragma(\"message \\\"x\\\"\")"
        );
    }

    #[test]
    fn other_texts_stay() {
        for text in [
            "#pragma unroll\n",
            "#define TEXT(x) #x\n#pragma once\n",
            "#define UNROLL _Pragma(\"unroll\")",
            "// #define UNROLL #pragma unroll\n",
            "#define UNROLL(n) #pragma unroll n\n",
            "#define LONG #pragma unroll \\\n 4\n",
            "#defined UNROLL #pragma unroll\n",
        ] {
            assert_eq!(respelled(text), None, "{text}");
        }
    }
}
