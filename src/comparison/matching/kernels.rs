//! Pairs kernels, first by name, then by their code.

use super::lines::Code;
use super::pairs::{Pairs, best_first, in_order};
use super::text::{SAME, likeness, words};
use warpline_profile::model::Kernel;

/// Minimum similarity (out of [`SAME`]) at which a renamed kernel is recognised.
const RENAMED: u32 = 500;
/// Maximum number of kernel pairs that are compared by code. If there are more, only names are used.
const MOST_COMPARED: usize = 40_000;
/// Maximum number of hashes of a kernel's text that are compared.
const MOST_GRAMS: usize = 4000;

/// The properties by which a kernel is recognised.
struct Facts<'a> {
    kernel: &'a Kernel,
    /// File of its module, without folders.
    unit: &'a str,
    /// Name without result, template arguments and parameters.
    base: &'a str,
    /// Parameters without the numbers of unnamed entities.
    parameters: String,
    /// For kernels with unnamed entities: the name without their numbers, which change if another entity is added.
    unnamed: Option<String>,
    words: Vec<String>,
    /// Sorted hashes of all its lines.
    grams: Vec<u64>,
}

impl<'a> Facts<'a> {
    fn all(code: &Code<'a>) -> Vec<Facts<'a>> {
        let facts = |(index, kernel): (usize, &'a Kernel)| {
            let (base, parameters) = parts(&kernel.name);
            let parameters = unnamed(parameters).unwrap_or_else(|| parameters.to_owned());
            let mut grams: Vec<u64> = Vec::new();
            for place in code.lines_of(index) {
                // The function header is excluded, because it contains the name and parameters. Lines that compute an
                // index are excluded, because most kernels have one.
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

    /// Returns the similarity of two kernels, up to [`SAME`].
    fn likeness(&self, other: &Facts<'_>) -> u32 {
        let body = likeness(&self.grams, &other.grams);
        let name = likeness(&self.words, &other.words);
        let parameters = if self.parameters == other.parameters { SAME } else { 0 };
        (6 * body + 2 * name + 2 * parameters) / 10
    }
}

/// Returns a name, and further data that must be equal.
type KeyOf = fn(&Facts<'_>) -> Option<(String, String)>;

/// Pairs the kernels of two profiles.
pub fn pair(before: &Code<'_>, after: &Code<'_>) -> Pairs {
    let (one, other) = (Facts::all(before), Facts::all(after));
    let mut pairs = Pairs::default();
    // Among kernels with equal names, the most similar ones are paired.
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

/// Returns a name without the numbers of lambdas and unnamed types; `None` if it contains neither.
fn unnamed(name: &str) -> Option<String> {
    // LLVM writes `main::'lambda0'(int)`, and GNU writes `main::{lambda(int)#2}`.
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

/// Splits a name into the name without result and template arguments, and the parameters.
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
