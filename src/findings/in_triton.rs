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
        "atomic-contention" => format!(
            "combine within a program first, so that it makes one tl.atomic_add per address: count with tl.histogram, add with tl.sum or \
             tl.reduce; or let each program write its part into a row of its own, and add the rows of {name} in a second kernel"
        ),
        "bank-conflict" => "Triton lays the tile out in shared memory by how it is loaded and how it is used: load it with the axis last that is \
             contiguous in memory, exchange strides in the place of tl.trans, tl.permute and tl.reshape between load and use, and try \
             other tile shapes, num_warps and num_stages"
            .to_owned(),
        "misaligned-access" => format!(
            "let rows and tiles of {name} begin on a multiple of 32 bytes: make its last axis wider (allocate it padded, hand over the part and \
             its stride), and start tiles on such elements"
        ),
        "repeated-load" => format!(
            "larger tiles use each element of {name} more often; where programs load the same, order them so that those which run at the same \
             time share it in L2 (grouped program ids, tl.swizzle2d)"
        ),
        "uniform-load" => format!(
            "where the value does not change within the loop, load it before; else load a tile of {name} at once, as a vector whose elements the \
             program's lanes need"
        ),
        "random-gather" => format!(
            "sort or group the indices so that neighbouring elements of a tile meet neighbouring elements of {name}, or gather whole rows, with \
             the tile's last axis along the row"
        ),
        "cache-thrash" => "work on smaller tiles, so that what a program uses again fits into L1 beside the other programs; load what is used once \
             with eviction_policy=\"evict_first\" or cache_modifier=\".cg\""
            .to_owned(),
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
        assert_eq!(cures.len(), 7);
        for cure in cures {
            assert!(!["__", "threadIdx", "cuda"].iter().any(|word| cure.contains(word)), "{cure}");
        }
    }
}
