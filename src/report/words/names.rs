//! Names of functions and kernels for people.
//!
//! Kernels of template libraries have names of several hundred characters, of which the first tell nothing: where
//! they come from. Such a name is cut down to what fits: namespaces go first, then the innermost template arguments.

use crate::profile::model::Kernel;
use crate::profile::{Profile, library_call};

use super::places;

pub(crate) use crate::profile::plain_name;

/// Most characters of a name that is shown as it is, and of what longer ones are cut down to where they can be.
const MOST: usize = 64;

/// A kernel's name, told apart from others of that name: by its parameters, by its place, or else by number. A library's
/// kernel is called by the user's line that it runs for, and by its own name where that line runs several:
/// `main.cu:19 thrust::gather (transform_kernel)`.
pub fn label(profile: &Profile, kernel: &Kernel) -> String {
    if let Some(label) = library_label(kernel) {
        let name = |kernel: &Kernel| Part::of(plain_name(&kernel.name)).name;
        let others = profile.kernels.iter().filter(|other| library_label(other).is_some_and(|other| other == label));
        let alike: Vec<(u32, String)> = others.map(|other| (other.id, name(other))).collect();
        let own = name(kernel);
        let same: Vec<u32> = alike.iter().filter(|(_, name)| *name == own).map(|(id, _)| *id).collect();
        return match same.iter().position(|&id| id == kernel.id) {
            Some(before) if same.len() > 1 => format!("{label} ({own} #{})", before + 1),
            _ if alike.len() > 1 => format!("{label} ({own})"),
            _ => label,
        };
    }
    let plain = plain_name(&kernel.name);
    let others = || profile.kernels.iter().filter(|other| other.id != kernel.id);
    if is_long(plain) {
        let shown = short(plain);
        let alike = |other: &&Kernel| short(plain_name(&other.name)) == shown;
        if others().any(|other| alike(&other)) {
            let before = profile.kernels.iter().filter(alike).position(|other| other.id == kernel.id).unwrap_or(0);
            return format!("{shown} #{}", before + 1);
        }
        return shown;
    }
    let mut same = others().filter(|other| plain_name(&other.name) == plain).peekable();
    if same.peek().is_none() {
        plain.to_owned()
    } else if same.all(|other| other.name != kernel.name) && !is_long(&kernel.name) {
        kernel.name.clone()
    } else {
        format!("{} ({})", plain, places::at(&kernel.file, kernel.line))
    }
}

fn library_label(kernel: &Kernel) -> Option<String> {
    let call = library_call(kernel)?;
    let more = match call.others {
        0 => String::new(),
        1 => " and 1 other line".to_owned(),
        others => format!(" and {others} other lines"),
    };
    Some(format!("{}{more} {}", places::at(&call.caller.file, call.caller.line), call.function))
}

/// Whether a name is not shown whole.
pub(in crate::report) fn is_long(name: &str) -> bool {
    name.chars().count() > MOST
}

/// A name of at most [`MOST`] characters, if that leaves anything.
pub(in crate::report) fn short(name: &str) -> String {
    if !is_long(name) {
        return name.to_owned();
    }
    let tree = Part::of(name);
    let fits = |text: &String| text.chars().count() <= MOST;
    // Ever deeper template arguments, as long as they find room.
    let whole = (0..).map(|depth| tree.text(depth)).take_while(fits).take(MOST).last();
    let shallow = tree.text(0);
    match whole {
        Some(text) if text != shallow => text,
        // Not all arguments do: as many as can be shown.
        _ => (1..=tree.arguments.len()).map(|count| tree.first(count)).take_while(fits).last().unwrap_or(shallow),
    }
}

/// A name and its template arguments.
#[derive(Debug, Default)]
struct Part {
    /// Without namespaces.
    name: String,
    arguments: Vec<Part>,
    /// What follows the arguments, a `*` or the member of a class.
    rest: String,
}

impl Part {
    /// Reads a name. What is no template is one part.
    fn of(text: &str) -> Part {
        let text = last_component(text.trim());
        let Some((open, close)) = last_arguments(text) else {
            return Part { name: without_namespaces(text), ..Part::default() };
        };
        Part {
            name: without_namespaces(&text[..open]),
            arguments: split(&text[open + 1..close]).into_iter().map(Part::of).collect(),
            rest: text[close + 1..].to_owned(),
        }
    }

    /// With arguments to a depth; those below are left out.
    fn text(&self, depth: usize) -> String {
        let Part { name, arguments, rest } = self;
        match arguments.len() {
            0 => format!("{name}{rest}"),
            _ if depth == 0 => format!("{name}<…>{rest}"),
            _ => {
                let inner: Vec<_> = arguments.iter().map(|argument| argument.text(depth - 1)).collect();
                format!("{name}<{}>{rest}", inner.join(", "))
            }
        }
    }

    /// With its first arguments, theirs left out.
    fn first(&self, count: usize) -> String {
        let inner: Vec<_> = self.arguments.iter().take(count).map(|argument| argument.text(0)).collect();
        let more = if count < self.arguments.len() { ", …" } else { "" };
        format!("{}<{}{more}>{}", self.name, inner.join(", "), self.rest)
    }
}

/// What stands behind the last `::` outside of all brackets.
fn last_component(text: &str) -> &str {
    let (mut depth, mut start, mut before) = (0, 0, ' ');
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | '}' | ']' => depth -= 1,
            ':' if depth == 0 && before == ':' => start = at + 1,
            _ => {}
        }
        before = character;
    }
    &text[start..]
}

/// Where the last template arguments outside of others begin and end, in bytes.
fn last_arguments(text: &str) -> Option<(usize, usize)> {
    let (mut depth, mut start, mut found) = (0, 0, None);
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        match character {
            '<' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            // The arrow of a result's type is no end.
            '>' if depth > 0 && before != '-' => {
                depth -= 1;
                if depth == 0 && start > 0 {
                    found = Some((start, at));
                }
            }
            _ => {}
        }
        before = character;
    }
    found.filter(|_| depth == 0)
}

/// The parts between commas outside of all brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut parts = Vec::new();
    for (at, character) in text.char_indices() {
        match character {
            '<' | '(' | '{' | '[' => depth += 1,
            '>' | ')' | '}' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Without what stands before `::`, also within casts and argument lists.
fn without_namespaces(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("::") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        kept.push_str(before);
        let start =
            kept.char_indices().rev().find(|&(_, character)| !(character.is_alphanumeric() || character == '_'));
        let keep = start.map_or(0, |(at, character)| at + character.len_utf8());
        kept.truncate(keep);
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_parameters_only() {
        assert_eq!(plain_name("bicg(float*, int)"), "bicg");
        assert_eq!(plain_name("void scan<int, (Op)1>(int*)"), "scan<int, (Op)1>");
        assert_eq!(plain_name("(anonymous namespace)::f(int)"), "(anonymous namespace)::f");
        assert_eq!(plain_name("main::{lambda(int)#1}::operator()(int) const"), "main::{lambda(int)#1}::operator()");
    }

    #[test]
    fn long_names_keep_what_tells_most() {
        let sort = "cub::CUB_300001_SM_800::detail::radix_sort::DeviceRadixSortOnesweepKernel<cub::CUB_300001_SM_800::\
            detail::radix::policy_hub<int, int, unsigned long long>::Policy1000, (cub::CUB_300001_SM_800::SortOrder)0, int>";
        assert_eq!(short(sort), "DeviceRadixSortOnesweepKernel<Policy1000, (SortOrder)0, int>");
        let agent = "thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for::ParallelForAgent<thrust::\
            cuda_cub::for_each_f<thrust::device_ptr<float>, my::functor>, long>, thrust::cuda_cub::for_each_f<int, int>, long>";
        assert_eq!(short(agent), "_kernel_agent<ParallelForAgent<…>, for_each_f<…>, long>");
        let gemm = "void cutlass::Kernel<cutlass::gemm::kernel::Gemm<cutlass::gemm::threadblock::MmaPipelined<cutlass::gemm::\
            GemmShape<128, 128, 8>, cutlass::transform::threadblock::PredicatedTileIterator<int>>, cutlass::epilogue::threadblock::\
            Epilogue<int, int>, cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<1>, false>>(int)";
        assert_eq!(short(plain_name(gemm)), "Kernel<Gemm<…>>", "all of its argument's arguments would not fit");
        let short_ones = "scan<int, (Op)1>";
        assert_eq!(short(short_ones), short_ones);
    }

    #[test]
    fn what_is_no_template_loses_its_namespaces() {
        let long = "a_namespace_of_some_length::another_one_within_it::and_a_third_one_in_there::kernel";
        assert_eq!(short(long), "kernel");
        for (name, wanted) in [
            ("(anonymous namespace)::f", "f"),
            ("(cub::detail::SortOrder)0", "(SortOrder)0"),
            ("std::pair<a::b, c>::first_type const&", "first_type const&"),
            ("std::pair<a::b, c::d> const&", "pair<b, d> const&"),
            ("unsigned long", "unsigned long"),
        ] {
            assert_eq!(Part::of(name).text(9), wanted);
        }
        // Nothing that is cut in the middle makes it fail.
        for text in ["<", ">", "a<", "a>::b", "::", "a::", "<<>>::<", "operator<::a", "{a::b", "…::<…>"] {
            let _ = (short(text), without_namespaces(text), Part::of(text).text(3));
        }
    }
}
