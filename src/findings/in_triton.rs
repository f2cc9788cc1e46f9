//! Cures in the words of Triton, whose source has tiles in the place of threads: nobody declares shared memory there, and no shuffle can
//! be written. What a rule finds is the same, so rules need not know of it, but where the cure depends on what was found.

use super::draft::Draft;
use super::facts::Facts;
use crate::profile::model::Kernel;

/// The finding with a cure that can be followed in its kernel's language.
pub(super) fn in_its_language(id: &str, draft: Draft, facts: &Facts<'_>) -> Draft {
    let kernel = draft.kernel.and_then(|id| facts.profile.kernels.iter().find(|kernel| kernel.id == id));
    if !kernel.is_some_and(Kernel::is_triton) {
        return draft;
    }
    let allocation = draft.allocation.and_then(|id| facts.profile.allocation(id));
    let name = allocation.and_then(|allocation| allocation.name.as_deref());
    let name = name.map_or_else(|| "the tensor".to_owned(), |name| format!("`{name}`"));
    match cure(id, &name) {
        Some(cure) => Draft { cure, ..draft },
        None => draft,
    }
}

/// What to do in Triton, where that differs from CUDA C++ and is the same for all that the rule finds.
fn cure(id: &str, name: &str) -> Option<String> {
    Some(match id {
        "misaligned-access" => format!(
            "let rows and tiles of {name} begin on a multiple of 32 bytes: make its last axis wider (allocate it padded, hand over the part and \
             its stride), and start tiles on such elements"
        ),
        "random-gather" => format!(
            "sort or group the indices so that neighbouring elements of a tile meet neighbouring elements of {name}, or gather whole rows, with \
             the tile's last axis along the row"
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::list::pages;
    use super::cure;

    #[test]
    fn cures_belong_to_rules_and_speak_of_no_threads() {
        let cures: Vec<String> = pages().filter_map(|page| cure(page.id, "`x`")).collect();
        assert_eq!(cures.len(), 2);
        for cure in cures {
            assert!(!["__", "threadIdx", "cuda"].iter().any(|word| cure.contains(word)), "{cure}");
        }
    }
}
