//! Selects the architecture for which device code is compiled from `-arch`, `-code` and `-gencode`.

/// The architecture if none is requested: the oldest that CUDA 13 accepts. 75 means `sm_75`.
pub const DEFAULT: u32 = 75;

/// Returns the architectures that a value names: the numbers of `sm_…` and `compute_…`, in order and without
/// repetition. `native`, `all` and `all-major` name no specific architecture. Returns `None` if the value is not an
/// architecture.
pub fn parse(value: &str) -> Option<Vec<u32>> {
    let mut found = Vec::new();
    // "arch=compute_75,code=[sm_75,compute_75]", "[compute_75,sm_80]", "sm_80".
    for part in value.split([',', '[', ']', '=', '"', '\'']).map(str::trim).filter(|part| !part.is_empty()) {
        if matches!(part, "arch" | "code" | "native" | "all" | "all-major") {
            continue;
        }
        let number = ["sm_", "compute_", "lto_"].into_iter().find_map(|prefix| part.strip_prefix(prefix))?;
        let digits = number.trim_end_matches(['a', 'f']);
        let number: u32 = digits.parse().ok()?;
        if !found.contains(&number) {
            found.push(number);
        }
    }
    Some(found)
}

/// The architectures of NVIDIA's GPUs that releases of nvcc support.
const KNOWN: [u32; 23] =
    [30, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121];

/// Former architectures, and names that only one release of the toolkit used.
const FORMER: [u32; 9] = [10, 11, 12, 13, 20, 21, 32, 101, 102];

/// Returns whether there is or was such an architecture. A number above all known ones may be an architecture; clang
/// decides.
fn exists(number: u32) -> bool {
    KNOWN.contains(&number) || FORMER.contains(&number) || KNOWN.iter().all(|&known| known < number)
}

/// Returns the name of an architecture in a value that [`parse`] reads, if there is no such architecture.
pub fn unknown(value: &str) -> Option<String> {
    let numbers = parse(value)?;
    let number = numbers.into_iter().find(|&number| !exists(number))?;
    let names = value.split([',', '[', ']', '=', '"', '\'']).map(str::trim);
    let name = names.into_iter().find(|name| parse(name).is_some_and(|numbers| numbers == [number]));
    Some(name.map_or_else(|| format!("sm_{number}"), str::to_owned))
}

/// Returns the architectures that can be requested, in order.
pub fn known(oldest: u32) -> impl Iterator<Item = u32> {
    KNOWN.into_iter().filter(move |&number| number >= oldest)
}

/// The selected architecture, with a note for the user if it is not the requested one.
#[derive(Debug, PartialEq, Eq)]
pub struct Choice {
    /// Number of the architecture, such as 75 for `sm_75`.
    pub architecture: u32,
    /// The requested architecture, which differs from `architecture` if the toolkit is too new for it.
    pub requested: u32,
    /// The explanation of the choice, if it needs one.
    pub note: Option<String>,
}

/// Selects the oldest requested architecture that the toolkit's headers still accept, because the program must run on
/// it, and code paths for newer architectures are rare. `oldest` is the headers' limit.
pub fn choose(requested: &[u32], oldest: u32) -> Choice {
    let usable: Vec<u32> = requested.iter().copied().filter(|&number| number >= oldest).collect();
    match (usable.iter().min(), requested.iter().max()) {
        (Some(&architecture), _) => {
            // With `--device=gpu`, the others are also built, for the GPU; therefore, the text names the device.
            let note = (requested.len() > 1)
                .then(|| format!("of the requested architectures, the CPU device runs the code of sm_{architecture}"));
            Choice { architecture, requested: architecture, note }
        }
        (None, Some(newest)) => {
            let architecture = DEFAULT.max(oldest);
            let note = Some(format!(
                "sm_{newest} is older than this CUDA toolkit supports; the CPU device runs the code of sm_{architecture}, and the \
                 GPU model is one of sm_{architecture} unless --gpu names another"
            ));
            Choice { architecture, requested: *newest, note }
        }
        (None, None) => {
            let architecture = DEFAULT.max(oldest);
            Choice { architecture, requested: architecture, note: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_an_architecture_is_read() {
        assert_eq!(parse("sm_80"), Some(vec![80]));
        assert_eq!(parse("compute_90a"), Some(vec![90]));
        assert_eq!(parse("arch=compute_75,code=[sm_75,compute_75]"), Some(vec![75]));
        assert_eq!(parse("arch=compute_80,code=\"sm_80,compute_80\""), Some(vec![80]));
        assert_eq!(parse("arch=compute_50,code=sm_52"), Some(vec![50, 52]));
        assert_eq!(parse("native"), Some(vec![]));
        assert_eq!(parse("all-major"), Some(vec![]));
        assert_eq!(parse("gfx90a"), None);
        assert_eq!(parse("sm_"), None);
        assert_eq!(unknown("sm_13"), None, "the architecture is old but existed");
        assert_eq!(unknown("sm_76").as_deref(), Some("sm_76"));
        assert_eq!(unknown("arch=compute_75,code=[sm_75,compute_34]").as_deref(), Some("compute_34"));
        assert_eq!(unknown("sm_130"), None, "a later architecture may exist");
        assert_eq!(unknown("native"), None);
    }

    #[test]
    fn the_oldest_supported_is_chosen_and_told() {
        assert_eq!(choose(&[], 75), Choice { architecture: 75, requested: 75, note: None });
        assert_eq!(choose(&[80], 75), Choice { architecture: 80, requested: 80, note: None });
        let several = choose(&[50, 90, 80], 75);
        assert_eq!((several.architecture, several.requested), (80, 80));
        assert!(several.note.unwrap().contains("sm_80"));
        let old = choose(&[35, 52], 75);
        assert_eq!((old.architecture, old.requested), (75, 52));
        assert!(old.note.unwrap().contains("sm_52 is older"));
    }
}
