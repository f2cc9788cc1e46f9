//! PTX registers in inline assembly with operands: `%laneid`, for which clang requires `%%laneid`. nvcc accepts both
//! forms.

use super::unit::code;

/// Special registers, or prefixes of their names.
const REGISTERS: [&str; 19] = [
    "clock",
    "ctaid",
    "dynamic_smem_size",
    "envreg",
    "globaltimer",
    "gridid",
    "laneid",
    "lanemask_",
    "nctaid",
    "nsmid",
    "ntid",
    "nwarpid",
    "pm",
    "smid",
    "tid",
    "total_smem_size",
    "warpid",
    "clusterid",
    "nclusterid",
];

/// Returns the text with these signs doubled, or `None` if there are none.
pub fn doubled(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut places = Vec::new();
    let mut code_of = None;
    for (start, _) in text.match_indices("asm") {
        let code = code_of.get_or_insert_with(|| code(bytes));
        if code[start] && !bytes[..start].last().is_some_and(|byte| byte.is_ascii_alphanumeric()) {
            places.extend(single_signs(bytes, code, start));
        }
    }
    if places.is_empty() {
        return None;
    }
    let mut new = String::with_capacity(text.len() + places.len());
    let mut from = 0;
    for place in places {
        new += &text[from..place];
        new.push('%');
        from = place;
    }
    Some(new + &text[from..])
}

/// Returns the positions of single signs before register names in the texts of the assembly statement at `start`. The
/// result is empty if the statement has no operands, because its text is then used unchanged.
fn single_signs(bytes: &[u8], code: &[bool], start: usize) -> Vec<usize> {
    let (mut depth, mut operands, mut places) = (0usize, false, Vec::new());
    for at in start..bytes.len() {
        match bytes[at] {
            b'(' if code[at] => depth += 1,
            b')' if code[at] && depth <= 1 => break,
            b')' if code[at] => depth -= 1,
            b';' | b'{' | b'}' if code[at] => break,
            b':' if code[at] => operands = true,
            b'%' if !code[at] && bytes[at - 1] != b'%' && names_register(&bytes[at + 1..]) => places.push(at),
            _ => {}
        }
    }
    if operands { places } else { Vec::new() }
}

fn names_register(rest: &[u8]) -> bool {
    REGISTERS.iter().any(|name| rest.starts_with(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_signs_before_registers_are_doubled() {
        let text = "asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t)); x = y % tid;";
        let new = "asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t)); x = y % tid;";
        assert_eq!(doubled(text).as_deref(), Some(new));
        let text = "__asm__(\"{ mov.u32 %0, \"\n  \"%tid.x; }\" : \"=r\"(f(a)) : \"r\"(b));";
        assert_eq!(doubled(text).unwrap().replace("%%", "%"), text);
    }

    #[test]
    fn what_clang_understands_stays() {
        for text in [
            "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));",
            "asm(\"mov.u32 r, %laneid;\");",
            "// asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x));",
            "plasm(\"%laneid\" : 1);",
            "asm(\"add.u32 %0, %1, %2;\" : \"=r\"(x) : \"r\"(y), \"r\"(z)); printf(\"%clock\");",
        ] {
            assert_eq!(doubled(text), None, "{text}");
        }
    }
}
