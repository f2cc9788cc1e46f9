//! Arrays of a thread that lie in local memory, mostly since their index is computed: registers have no addresses.

mod handed;

use std::collections::{BTreeMap, BTreeSet};

use handed::Handed;

use super::super::access::{Access, share};
use super::super::context::{Context, block_of, has_word};
use super::super::draft::{About, Draft, Saved};
use super::super::gain::Saving;
use super::super::index;
use super::super::words;
use crate::profile::model::{Kernel, ThreadStep};

/// Least share of the kernel's requests.
const LEAST_OF_KERNEL: f64 = 0.05;
/// Bytes of a thread, at most, that registers, or columns in shared memory for a usual block, can hold.
const MOST_OF_THREAD: u64 = 512;
/// Bytes of shared memory that a block may have without asking for more.
const MOST_OF_BLOCK: u64 = 48 << 10;

pub(in super::super) fn find(context: &Context<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<(u32, &str), Vec<&Access<'_>>> = BTreeMap::new();
    for access in context
        .accesses
        .iter()
        .filter(|access| access.space == "local" && !access.in_library && !is_launch(context, access))
    {
        if let Some(name) = access.variable() {
            groups.entry((access.kernel.id, name)).or_default().push(access);
        }
    }
    let all: Vec<_> = groups
        .into_iter()
        .map(|((kernel, name), accesses)| (kernel, name, handed::to(context, name, &accesses), accesses))
        .collect();
    let only_function = |kernel: u32| {
        let mut functions = all.iter().filter(|(of, ..)| *of == kernel).filter_map(|(_, _, handed, _)| handed.as_ref());
        let first = &functions.next()?.function;
        functions.all(|one| one.function == *first).then(|| first.clone())
    };
    let found = all.iter().filter_map(|(kernel, name, handed, accesses)| {
        // What has constant indices lies in memory as somebody has its address, under a name of his own.
        let escapes = || Some(Handed { function: only_function(*kernel)?, only_there: false });
        let known = handed.clone().or_else(escapes);
        let draft = draft(context, name, accesses, known.as_ref())?;
        let is_handed = handed.as_ref().is_some_and(|handed| handed.only_there);
        Some(Found { kernel: *kernel, name: (*name).to_owned(), is_handed, draft })
    });
    handed::joined(context, found.collect())
}

/// What is found of a variable.
struct Found {
    kernel: u32,
    name: String,
    /// It is what a function that is not inlined calls something of its caller's.
    is_handed: bool,
    draft: Draft,
}

fn is_computed(access: &Access<'_>) -> bool {
    access.operand.is_some_and(|operand| {
        operand.loaded_index || operand.thread_steps.iter().any(|step| *step != ThreadStep::None)
    })
}

/// Whether the access's line indexes the array by something that has a name, and does not declare it.
fn has_variable_index(context: &Context<'_>, name: &str, access: &Access<'_>) -> bool {
    let text = context.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
    let has_name = |subscript: &str| subscript.contains(char::is_alphabetic);
    text.is_some_and(|text| !is_declared(text, name) && index::subscripts(text, name).any(has_name))
}

/// Whether the line declares the array: a type stands before its name.
fn is_declared(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end();
        let word = before.rsplit(|c| !is_word(c)).next().unwrap_or_default();
        before.len() < at && !word.is_empty() && !["return", "else", "case", "do"].contains(&word)
    })
}

/// Whether a line of the kernel hands the array on as a whole, so that others may fill it under another name.
fn is_handed_on(context: &Context<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let Some(first) = accesses.first() else { return false };
    let lines = context.profile.sources.get(&first.kernel.file);
    let lines = lines.into_iter().flat_map(|lines| lines.range(first.kernel.line..));
    let mut lines = lines.take_while(|(_, text)| !text.starts_with('}'));
    lines.any(|(_, text)| {
        let code = text.split("//").next().unwrap_or_default();
        is_named_whole(code, name)
    })
}

/// Whether a line has the name of the array without brackets behind it, and not as that of a member (`threadIdx.x`).
fn is_named_whole(code: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&code[..at], &code[at + name.len()..]);
        !before.ends_with(|c: char| is_part(c) || c == '.')
            && !before.ends_with("->")
            && !behind.starts_with(is_part)
            && !behind.trim_start().starts_with('[')
    })
}

/// What the compiler itself keeps in memory to launch a kernel from this one.
fn is_launch(context: &Context<'_>, access: &Access<'_>) -> bool {
    let text = context.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
    text.is_some_and(|text| text.contains("<<<"))
}

/// Whether the variable is a structure rather than an array: then nothing indexes it.
fn is_object(accesses: &[&Access<'_>]) -> bool {
    accesses.iter().all(|access| access.operand.is_some_and(|operand| operand.structure.is_some()))
}

/// Whether a line of the source indexes or declares it with brackets; a single value has none, and a structure has members.
fn is_array(context: &Context<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let text_of = |access: &&Access<'_>| context.profile.sources.get(access.file)?.get(&access.line);
    let follows = |text: &String, what: &str| follows(text, name, what);
    let mut own = accesses.iter().filter_map(text_of);
    if own.clone().any(|text| follows(text, "[")) {
        return true;
    }
    if own.any(|text| follows(text, "->") || follows(text, ".")) {
        return false;
    }
    let files: BTreeSet<&str> = accesses.iter().map(|access| access.file).collect();
    let mut sources = files.into_iter().filter_map(|file| context.profile.sources.get(file)).peekable();
    // Without its source it is what the rule is about.
    sources.peek().is_none() || sources.any(|lines| lines.values().any(|text| follows(text, "[")))
}

/// Whether the word `name` stands in the line with `what` behind it.
fn follows(text: &str, name: &str, what: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].trim_start();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_') && after.starts_with(what)
    })
}

/// Whether no line that reaches it has its name: functions do, which have a pointer to it.
fn is_reached_elsewhere(context: &Context<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let text_of = |access: &&Access<'_>| context.profile.sources.get(access.file)?.get(&access.line);
    let mut lines = accesses.iter().filter_map(text_of).peekable();
    lines.peek().is_some() && !lines.any(|text| has_word(text, name))
}

/// Bytes of the array, where a line that is known declares it with numbers.
fn declared_bytes(context: &Context<'_>, name: &str, accesses: &[&Access<'_>]) -> Option<u64> {
    let element = accesses.iter().map(|access| access.bytes).max()?;
    let files: BTreeSet<&str> = accesses.iter().map(|access| access.file).collect();
    let mut lines = files.into_iter().filter_map(|file| context.profile.sources.get(file)).flat_map(BTreeMap::values);
    let elements = lines.find_map(|text| is_declared(text, name).then(|| declared_elements(text, name)).flatten())?;
    Some(elements.saturating_mul(element.into()))
}

/// Elements of `name[3][1000]`.
fn declared_elements(text: &str, name: &str) -> Option<u64> {
    let is_word = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let mut behind = text
        .match_indices(name)
        .filter(|&(at, _)| is_word(&text[..at]))
        .map(|(at, _)| text[at + name.len()..].trim_start());
    let mut rest = behind.find(|rest| rest.starts_with('['))?;
    let mut elements: Option<u64> = None;
    while let Some((size, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        elements = Some(elements.unwrap_or(1).saturating_mul(size.trim().parse().ok()?));
        rest = behind.trim_start();
    }
    elements
}

/// Whether all that is stored in it are numbers of the source: a table, the same for all threads.
fn is_table(context: &Context<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let mut stores = accesses.iter().filter(|access| access.op == "store").peekable();
    stores.peek().is_some()
        && !is_handed_on(context, name, accesses)
        && stores.all(|access| {
            let text = context.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
            text.and_then(|text| text.split("//").next()?.split_once('='))
                .is_some_and(|(target, value)| follows(target, name, "[") && is_constant(value))
        })
}

/// Whether all that is stored in it stands in braces behind its declaration, on lines that the profile does not have.
fn may_be_table(context: &Context<'_>, name: &str, accesses: &[&Access<'_>]) -> bool {
    let mut stores = accesses.iter().filter(|access| access.op == "store").peekable();
    stores.peek().is_some()
        && !is_handed_on(context, name, accesses)
        && stores.all(|access| {
            let text = context.profile.sources.get(access.file).and_then(|lines| lines.get(&access.line));
            let code = text.and_then(|text| text.split("//").next()).unwrap_or_default();
            is_declared(code, name) && code.trim_end().ends_with('{')
        })
}

/// Whether a value, or all that braces hold, is text or a number of the source.
fn is_constant(value: &str) -> bool {
    let value = value.trim_start();
    let mut words =
        value.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).filter(|word| !word.is_empty());
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    value.starts_with('"')
        || value.contains(|c: char| c.is_ascii_digit()) && !value.contains(['[', '(']) && words.all(is_number)
}

/// What to say of shared memory, where the columns of a block's threads fit; of an array of unknown size they may.
fn column(kernel: &Kernel, size: Option<u64>) -> String {
    let threads = block_of(kernel).map_or(1, |block| block.iter().map(|&size| u64::from(size)).product::<u64>());
    let most = MOST_OF_BLOCK / threads.max(1);
    match size {
        Some(bytes) if bytes > most => String::new(),
        Some(_) => "; or keep it in shared memory, a column per thread (`[i][threadIdx.x]`)".to_owned(),
        None => format!(
            "; or keep it in shared memory, a column per thread (`[i][threadIdx.x]`; there is room for {} bytes of each of a block's {threads} threads)",
            most.min(MOST_OF_THREAD),
        ),
    }
}

/// The array within the structure that a line indexes by something that has a name.
fn running_member<'a>(context: &Context<'_>, accesses: &[&Access<'a>]) -> Option<&'a str> {
    accesses.iter().find_map(|access| {
        let member = access.operand?.member.as_deref()?.strip_suffix("[]")?;
        let name = member.rsplit(['.', ']']).next().filter(|name| !name.is_empty())?;
        let text = context.profile.sources.get(access.file)?.get(&access.line)?;
        let has_name = |subscript: &str| subscript.contains(char::is_alphabetic);
        index::subscripts(text, name).any(has_name).then_some(name)
    })
}

fn draft(context: &Context<'_>, name: &str, accesses: &[&Access<'_>], handed: Option<&Handed>) -> Option<Draft> {
    let requests: u64 = accesses.iter().map(|access| access.sums.requests).fold(0, u64::saturating_add);
    let bytes: u64 = accesses.iter().map(|access| access.sums.bytes).fold(0, u64::saturating_add);
    let kernel = accesses.first()?.kernel;
    let of_kernel = share(requests, context.requests(kernel));
    if of_kernel < LEAST_OF_KERNEL {
        return None;
    }
    // The line to change is one with a computed index; initialisation is done many times over, too.
    let key = |access: &&&Access<'_>| {
        let place = std::cmp::Reverse((access.line, access.column));
        (is_computed(access), has_variable_index(context, name, access), access.sums.requests, place)
    };
    let worst = *accesses.iter().max_by_key(key)?;
    let computed = accesses.iter().any(|access| is_computed(access));
    let handed = handed.filter(|_| !computed && handed::are_unrolled(context, name, accesses));
    let is_object = !computed && (is_object(accesses) || !is_array(context, name, accesses));
    let member = running_member(context, accesses).filter(|_| is_object);
    let mut why = if let Some(Handed { function, .. }) = handed {
        let how = if is_object { "takes it by reference" } else { "is handed it" };
        format!("its address is taken: `{function}`, which is not inlined, {how}")
    } else if is_object {
        "its address is taken, as where it is handed to a function by reference, or it is volatile, as what a template makes of a volatile argument".to_owned()
    } else if computed {
        "its index is computed while the kernel runs, and registers have no addresses".to_owned()
    } else {
        "its address is taken or its index is no constant".to_owned()
    };
    if let Some(member) = member {
        why.push_str(&format!("; the index into its array `{member}` is no constant either"));
    }
    let called =
        if name == "this" { "the object that it is called for (`this`)".to_owned() } else { format!("`{name}`") };
    let reason = format!(
        "{called} lies in local memory, as {why}: {} of the kernel's requests ({}) move {} to and from it",
        words::percent(of_kernel),
        words::several(requests, "request", "requests"),
        words::bytes(bytes),
    );
    let size = declared_bytes(context, name, accesses);
    let column = column(kernel, size);
    let cure = if let (Some(Handed { function, .. }), None) = (handed, member) {
        if is_object && name == "this" {
            format!(
                "let `{function}` be inlined (__forceinline__), so that the object that it is called for can stay in registers"
            )
        } else if is_object {
            format!(
                "let `{function}` be inlined (__forceinline__), or hand `{name}` to it by value, so that it can stay in registers"
            )
        } else {
            format!(
                "let `{function}` be inlined (__forceinline__), and unroll what loops it has over what it is handed, so that this can stay in its caller's registers"
            )
        }
    } else if let Some(member) = member {
        format!(
            "let the functions that take the address of `{name}` be inlined (__forceinline__), so that its other members can stay in registers; choose the elements of `{member}` with constant indices, \
             too (unrolled loops, several elements at a time){column}"
        )
    } else if is_object {
        format!(
            "let the functions that take the address of `{name}` be inlined (__forceinline__), or hand it to them by value, and give it a type without \
             `volatile`, so that it can stay in registers"
        )
    } else if is_table(context, name, accesses) {
        format!(
            "every thread writes the same values into `{name}`: make it a table that the program holds once (`static const` or `__constant__`, or \
             in shared memory, filled once per block, where the lanes of a warp read different elements)"
        )
    } else if may_be_table(context, name, accesses) {
        format!(
            "where all threads write the same numbers into `{name}`, make it a table that the program holds once (`static const` or `__constant__`, or in shared memory, filled once per block, where the \
             lanes of a warp read different elements); else choose its elements with constant indices, so that it fits into registers"
        )
    } else if let Some(bytes) = size.filter(|&bytes| bytes > MOST_OF_THREAD) {
        format!(
            "`{name}` has {} for each thread, too much for registers, and for a column per thread in shared memory: let the threads of a warp or block work on \
             one such array together, in shared memory, or keep the part alone that is still needed (the last row, a band, a window); where each thread needs \
             all of it, leave it: elements of the same index lie side by side for the threads of a warp",
            words::bytes(bytes),
        )
    } else if !computed && is_reached_elsewhere(context, name, accesses) {
        format!(
            "let the functions that `{name}` is handed to be inlined (__forceinline__), and unroll what loops they have over it, so that its indices are constants{column}"
        )
    } else if size.is_none() {
        format!(
            "where `{name}` has no more than {MOST_OF_THREAD} bytes for each thread, choose its elements with constant indices (unrolled loops, comparisons or a switch), so that it fits into \
             registers{column}; where it has more, compute what is read of it when it is read, let the threads of a warp or block work on one such array together, or leave it: elements of the \
             same index lie side by side for the threads of a warp"
        )
    } else {
        format!(
            "choose the elements of `{name}` with constant indices, so that it fits into registers: unroll the loops over it (#pragma unroll), take comparisons, min and max or a switch where the \
             data decides over the element, and pass it by value{column}"
        )
    };
    let saving = accesses.iter().fold(Saving::default(), |sum, access| {
        let sums = &access.sums;
        sum.and(Saving::of("l1_tag", sums.stages.tag as f64))
            .and(Saving::of("l1_data", sums.stages.data as f64))
            .and(Saving::of("l1_lanes", (sums.stages.words * 32) as f64))
            .and(Saving::of("l2", (sums.l2_lookups * 32) as f64))
            .and(Saving::of("dram", ((sums.dram_reads + sums.dram_writes) * 32) as f64))
    });
    Some(
        Draft::new(reason, cure)
            .at_access(worst)
            .object(Some(name))
            .about(About::Object)
            .evidence("requests", requests as f64)
            .evidence("bytes", bytes as f64)
            .evidence("share_of_requests", of_kernel)
            .one_cause(handed.map(|handed| format!("handed to {}", handed.function)))
            .saves(
                context,
                Saved {
                    saving,
                    otherwise: of_kernel,
                    assumption: "no traffic for this array, and nothing else slower",
                },
            ),
    )
}

#[cfg(test)]
mod tests {
    use super::{declared_elements, follows, is_constant, is_named_whole};

    #[test]
    fn sizes_are_those_that_are_declared() {
        assert_eq!(declared_elements("short row[3000] = {0}, other[2];", "row"), Some(3000));
        assert_eq!(declared_elements("float tile[4] [17];", "tile"), Some(68));
        assert_eq!(declared_elements("int narrow[8], row[rows + 1];", "row"), None);
    }

    #[test]
    fn constants_are_text_and_numbers() {
        assert!([" 0.5f;", " -1e-3;", " \"ABC+/\";", " { 1, 0x1F, .5f };"].into_iter().all(is_constant));
        assert!([" n;", " { 1, n };", " 2 * table[3];", " f(1);", " {"].into_iter().all(|value| !is_constant(value)));
    }

    #[test]
    fn members_are_not_the_array() {
        assert!(is_named_whole("fill(x, 3);", "x") && is_named_whole("float *p = x;", "x"));
        assert!(!is_named_whole("int i = threadIdx.x + x[i] + p->x + max;", "x"));
    }

    #[test]
    fn names_are_whole_words() {
        assert!(follows("int bins [8];", "bins", "[") && follows("x = a.bins[i]", "bins", "["));
        assert!(!follows("pre_range[i] = ge.x;", "ge", "[") && follows("pre_range[i] = ge.x;", "ge", "."));
        assert!(follows("u = a->x;", "a", "->"));
    }
}
