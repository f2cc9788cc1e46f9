//! Shortens names of functions and kernels.
//!
//! Kernels of template libraries have names of several hundred characters, which start with namespaces. Such a name is
//! shortened until it fits: namespaces are removed first, then the innermost template arguments.

use warpline_profile::model::Kernel;
use warpline_profile::{Profile, library_call};

use super::places;
use super::wrap::cut;

pub(crate) use warpline_profile::plain_name;

/// Maximum length of a name that is shown unchanged, and target length for longer names.
const MOST: usize = 64;
/// Minimum length to which a name is shortened to make room for its arguments.
const LEAST: usize = 8;

/// Returns the name of a kernel. If other kernels have the same name, it is distinguished by parameters, by position,
/// or otherwise by number. A library's kernel is named after the user's line that called the library, and by its own
/// name if the line runs several kernels: `main.cu:19 thrust::gather (transform_kernel)`.
pub fn label(profile: &Profile, kernel: &Kernel) -> String {
    if let Some(label) = library_label(kernel) {
        let name = |kernel: &Kernel| NamePart::parse(plain_name(&kernel.name)).name;
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
            let label = |kernel| {
                let distinct =
                    differing(profile, kernel).map(|(own, distinct)| own.name.clone() + &own.brackets(&distinct));
                distinct.filter(|distinct| !is_long(distinct))
            };
            if let Some(own) = label(kernel)
                && !others().any(|other| label(other).as_ref() == Some(&own))
            {
                return own;
            }
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

/// Returns a kernel's label in at most this many characters. The distinguishing part has priority.
pub fn label_within(profile: &Profile, kernel: &Kernel, most: usize) -> String {
    let whole = label(profile, kernel);
    if whole.chars().count() <= most || library_label(kernel).is_some() {
        return cut(&whole, most);
    }
    let Some((own, distinct)) = differing(profile, kernel) else { return cut(&whole, most) };
    // As many distinguishing arguments as possible are shown, then as much of the name as fits.
    let brackets = (1..=distinct.len()).rev().map(|count| own.brackets(&distinct[..count]));
    let mut rooms = brackets.map(|brackets| (most.saturating_sub(brackets.chars().count()), brackets));
    match rooms.find(|(room, _)| *room >= LEAST.min(own.name.chars().count())) {
        Some((room, brackets)) => cut(&own.name, room) + &brackets,
        None => cut(&whole, most),
    }
}

/// Returns a kernel's name, and those of its arguments that differ between the kernels with this name; `None` if there
/// are none.
fn differing(profile: &Profile, kernel: &Kernel) -> Option<(NamePart, Vec<String>)> {
    let own = NamePart::parse(plain_name(&kernel.name));
    let others = profile.kernels.iter().filter(|other| other.id != kernel.id);
    let others: Vec<NamePart> =
        others.map(|other| NamePart::parse(plain_name(&other.name))).filter(|other| other.name == own.name).collect();
    let of_all = |argument: &NamePart| others.iter().all(|other| other.arguments.contains(argument));
    let distinct: Vec<String> =
        own.arguments.iter().filter(|argument| !of_all(argument)).map(|argument| argument.text(1)).collect();
    (!distinct.is_empty()).then_some((own, distinct))
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

/// Returns whether a name is shortened.
pub(crate) fn is_long(name: &str) -> bool {
    name.chars().count() > MOST
}

/// Returns a name of at most [`MOST`] characters, if that leaves anything.
pub(crate) fn short(name: &str) -> String {
    if !is_long(name) {
        return name.to_owned();
    }
    let tree = NamePart::parse(name);
    let fits = |text: &String| text.chars().count() <= MOST;
    // Increases the depth of template arguments as long as they fit.
    let whole = (0..).map(|depth| tree.text(depth)).take_while(fits).take(MOST).last();
    let shallow = tree.text(0);
    match whole {
        Some(text) if text != shallow => text,
        // If not all arguments fit, as many as possible are shown.
        _ => (1..=tree.arguments.len()).map(|count| tree.first(count)).take_while(fits).last().unwrap_or(shallow),
    }
}

/// A name with its template arguments, or with the constants of a Triton kernel.
#[derive(Debug, Default, PartialEq)]
struct NamePart {
    /// Name without namespaces.
    name: String,
    arguments: Vec<NamePart>,
    /// Whether the arguments are in square brackets.
    square: bool,
    /// The text after the arguments, such as `*` or the member of a class.
    rest: String,
}

impl NamePart {
    /// Parses a name. A name that is not a template is one part.
    fn parse(text: &str) -> NamePart {
        let text = last_component(text.trim());
        let Some((open, close)) = last_arguments(text) else {
            return NamePart { name: without_namespaces(text), ..NamePart::default() };
        };
        NamePart {
            name: without_namespaces(&text[..open]),
            arguments: split(&text[open + 1..close]).into_iter().map(NamePart::parse).collect(),
            square: text[open..].starts_with('['),
            rest: text[close + 1..].to_owned(),
        }
    }

    /// Returns the text with arguments up to a depth; deeper arguments are omitted.
    fn text(&self, depth: usize) -> String {
        match self.arguments.len() {
            0 => format!("{}{}", self.name, self.rest),
            _ if depth == 0 => format!("{}{}", self.name, self.brackets(&[])),
            _ => {
                let inner: Vec<_> = self.arguments.iter().map(|argument| argument.text(depth - 1)).collect();
                format!("{}{}", self.name, self.brackets(&inner))
            }
        }
    }

    /// Returns the part after the name, with the given arguments and a mark for omitted ones.
    fn brackets(&self, arguments: &[String]) -> String {
        let (inner, rest) = (arguments.join(", "), &self.rest);
        let more = match arguments.len() {
            shown if shown == self.arguments.len() => "",
            0 => "…",
            _ => ", …",
        };
        if self.square { format!("[{inner}{more}]{rest}") } else { format!("<{inner}{more}>{rest}") }
    }

    /// Returns the text with the first arguments, which are shown without their own arguments.
    fn first(&self, count: usize) -> String {
        let inner: Vec<_> = self.arguments.iter().take(count).map(|argument| argument.text(0)).collect();
        format!("{}{}", self.name, self.brackets(&inner))
    }
}

/// Returns the part after the last `::` outside of all brackets.
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

/// Returns the byte range of the last outermost template arguments, or of the constants of a Triton kernel:
/// `matmul[BLOCK=64, num_warps=8]`.
fn last_arguments(text: &str) -> Option<(usize, usize)> {
    if let Some(open) = text.find('[')
        && text.ends_with(']')
        && open > 0
        && text[..open].chars().all(|character| character.is_alphanumeric() || character == '_')
        && text[open..].contains('=')
    {
        return Some((open, text.len() - 1));
    }
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
            // The arrow before a result type does not end the arguments.
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

/// Returns the parts between commas outside of all brackets.
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

/// Removes everything before `::`, also within casts and argument lists.
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
    fn constants_in_square_brackets_are_arguments() {
        let long = "_fused_attention_forward[HEAD_DIM=64, BLOCK_M=128, BLOCK_N=32, STAGE=3, warp_specialize=False, num_warps=8]";
        assert_eq!(short(long), "_fused_attention_forward[HEAD_DIM=64, BLOCK_M=128, …]");
        assert_eq!(NamePart::parse("values[3]").text(1), "values[3]");
    }

    #[test]
    fn kernels_of_one_name_are_distinguished_by_what_differs() {
        let kernel = |id: u32, name: &str| Kernel { id, name: name.to_owned(), ..Kernel::default() };
        let constants =
            |last: &str| format!("_fused_attention_forward[HEAD_DIM=64, BLOCK_M=128, BLOCK_N=32, STAGE=3, {last}]");
        let kernels = vec![
            kernel(0, &constants("num_warps=4")),
            kernel(1, &constants("num_warps=8")),
            kernel(2, "void apply<some::long_functor_of_a_library<float>, some::other_long_functor<float>, 4>(float*)"),
            kernel(3, "void apply<some::long_functor_of_a_library<float>, some::other_long_functor<float>, 8>(float*)"),
        ];
        let profile = Profile { kernels, ..Profile::default() };
        let of = |id: usize, most: usize| label_within(&profile, &profile.kernels[id], most);
        assert_eq!(label(&profile, &profile.kernels[0]), "_fused_attention_forward[num_warps=4, …]");
        assert_eq!(of(1, 40), "_fused_attention_forward[num_warps=8, …]");
        assert_eq!(of(1, 30), "_fused_attent…[num_warps=8, …]");
        assert_eq!(of(1, 20), "_fused_attention_fo…");
        // As many of the arguments as fit are shown.
        let kernels = ["a=16, b=1", "a=32, b=2"].map(|all| kernel(0, &format!("a_kernel_of_some_length[{all}]")));
        let two = Profile {
            kernels: kernels.into_iter().zip(0..).map(|(one, id)| Kernel { id, ..one }).collect(),
            ..Profile::default()
        };
        assert_eq!(label_within(&two, &two.kernels[1], 20), "a_kernel…[a=32, b=2]");
        assert_eq!(label_within(&two, &two.kernels[1], 18), "a_kernel…[a=32, …]");
        assert_eq!((of(2, 20), of(3, 20)), ("apply<4, …>".to_owned(), "apply<8, …>".to_owned()));
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
            assert_eq!(NamePart::parse(name).text(9), wanted);
        }
        // Truncated names must not cause a panic.
        for text in ["<", ">", "a<", "a>::b", "::", "a::", "<<>>::<", "operator<::a", "{a::b", "…::<…>"] {
            let _ = (short(text), without_namespaces(text), NamePart::parse(text).text(3));
        }
    }
}
