//! Kernels: by name as long as that is possible, then by what they do.

use super::lines::Code;
use super::pairs::{Pairs, best_first, in_order};
use super::text::{SAME, likeness, words};
use warpline_profile::model::Kernel;

/// Least likeness at which a kernel with another name is treated as the same one; of [`SAME`].
const RENAMED: u32 = 500;
/// Pairs of kernels that are compared by what they do; of more, only names count.
const MOST_COMPARED: usize = 40_000;
/// Hashes of a kernel's text that are compared.
const MOST_GRAMS: usize = 4000;

/// What a kernel is known by.
struct Facts<'a> {
    kernel: &'a Kernel,
    /// File of its module, without the folders.
    unit: &'a str,
    /// Name without result, template arguments and parameters.
    base: &'a str,
    /// Without numbers of what has no names.
    parameters: String,
    /// For what has a number in place of a name: its name without such numbers, which change where another one is
    /// added.
    unnamed: Option<String>,
    words: Vec<String>,
    /// Of all its lines, sorted.
    grams: Vec<u64>,
}

impl<'a> Facts<'a> {
    fn all(code: &Code<'a>) -> Vec<Facts<'a>> {
        let facts = |(index, kernel): (usize, &'a Kernel)| {
            let (base, parameters) = parts(&kernel.name);
            let parameters = unnamed(parameters).unwrap_or_else(|| parameters.to_owned());
            let mut grams: Vec<u64> = Vec::new();
            for place in code.lines_of(index) {
                // The head has the name and the parameters, and most kernels have a line that makes an index of these
                // two.
                let text = code.text(place);
                if *place == (kernel.file.as_str(), kernel.line)
                    || ["blockIdx", "threadIdx"].iter().all(|one| text.key().contains(one))
                {
                    continue;
                }
                grams.extend(text.grams());
                if grams.len() > MOST_GRAMS {
                    break;
                }
            }
            grams.sort_unstable();
            Facts {
                kernel,
                unit: file_name(&kernel.module),
                base,
                parameters,
                unnamed: unnamed(&kernel.name),
                words: words(base),
                grams,
            }
        };
        code.profile.kernels.iter().enumerate().map(facts).collect()
    }

    /// How much speaks for two being one, up to [`SAME`].
    fn likeness(&self, other: &Facts<'_>) -> u32 {
        let body = likeness(&self.grams, &other.grams);
        let name = likeness(&self.words, &other.words);
        let parameters = if self.parameters == other.parameters { SAME } else { 0 };
        (6 * body + 2 * name + 2 * parameters) / 10
    }
}

/// A name and what else must be the same.
type KeyOf = fn(&Facts<'_>) -> Option<(String, String)>;

/// Which kernel is which.
pub fn pair(before: &Code<'_>, after: &Code<'_>) -> Pairs {
    let (one, other) = (Facts::all(before), Facts::all(after));
    let mut pairs = Pairs::default();
    // Of those that share a name, those that are most alike.
    let choose = |befores: &[usize], afters: &[usize]| match (befores, afters) {
        ([before], [after]) => vec![(*before, *after)],
        _ if befores.len().saturating_mul(afters.len()) > MOST_COMPARED => in_order(befores, afters),
        _ => {
            let scores = befores.iter().flat_map(|&before| {
                let row = &one[before];
                afters.iter().map({
                    let other = &other;
                    move |&after| {
                        let same_name = u32::from(row.kernel.mangled == other[after].kernel.mangled);
                        (1 + 2 * row.likeness(&other[after]) + same_name, before, after)
                    }
                })
            });
            best_first(scores.collect())
        }
    };
    let sizes = (one.len(), other.len());

    let keys: [KeyOf; 7] = [
        |facts| Some((facts.unnamed.clone()?, String::new())),
        |facts| Some((facts.kernel.mangled.clone(), facts.kernel.module.clone())),
        |facts| Some((facts.kernel.mangled.clone(), facts.unit.to_owned())),
        |facts| Some((facts.kernel.mangled.clone(), String::new())),
        |facts| Some((facts.kernel.name.clone(), String::new())),
        |facts| Some((facts.base.to_owned(), facts.parameters.clone())),
        |facts| Some((facts.base.to_owned(), String::new())),
    ];

    for key in keys {
        let named = |facts: &Facts<'_>| key(facts).filter(|(name, _)| !name.is_empty());
        pairs.by_key(sizes, |index| named(&one[index]), |index| named(&other[index]), choose);
    }
    let (befores, afters) = pairs.rest(one.len(), other.len());
    if befores.len().saturating_mul(afters.len()) <= MOST_COMPARED {
        let mut scores = Vec::new();
        for &before in &befores {
            for &after in &afters {
                let score = one[before].likeness(&other[after]);
                if score >= RENAMED && !one[before].grams.is_empty() {
                    scores.push((score, before, after));
                }
            }
        }
        for (before, after) in best_first(scores) {
            pairs.add(before, after);
        }
    }
    pairs
}

/// A name without the numbers of lambdas and unnamed types; `None` where it has none of either.
fn unnamed(name: &str) -> Option<String> {
    // `main::'lambda0'(int)` as LLVM writes it, `main::{lambda(int)#2}` as GNU does.
    const SIGNS: [&str; 3] = ["'lambda", "'unnamed", "#"];
    let (mut plain, mut rest, mut found) = (String::with_capacity(name.len()), name, false);
    while let Some((at, sign)) = SIGNS.iter().filter_map(|sign| Some((rest.find(sign)?, sign))).min() {
        let (before, after) = rest.split_at(at + sign.len());
        plain.push_str(before);
        rest = after.trim_start_matches(|character: char| character.is_ascii_digit());
        found = true;
    }
    plain.push_str(rest);
    found.then_some(plain)
}

/// Name without result and template arguments, and parameters.
fn parts(name: &str) -> (&str, &str) {
    let plain = warpline_profile::plain_name(name);
    let parameters = name.rfind(plain).map_or("", |at| &name[at + plain.len()..]);
    let base = plain.find('<').filter(|&at| at > 0).map_or(plain, |at| &plain[..at]);
    (base, parameters)
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_parts() {
        assert_eq!(parts("void sum<float, 4>(float*, int)"), ("sum", "(float*, int)"));
        assert_eq!(parts("scale(float*)"), ("scale", "(float*)"));
        assert_eq!(unnamed("run<main::{lambda(int)#2}>(int)").as_deref(), Some("run<main::{lambda(int)#}>(int)"));
        assert_eq!(unnamed("run<main::'lambda1'(int)>(int)").as_deref(), Some("run<main::'lambda'(int)>(int)"));
        assert_eq!(unnamed("scale(float*)"), None);
    }
}
