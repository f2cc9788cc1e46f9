//! Detects filters that matched nothing.

use warpline_analyzer::analysis::{Analysis, KernelData};

/// Returns notes if `--kernels` matched none of the launched kernels, or if `--launches` contains numbers beyond the
/// last launch.
pub(super) fn notes(kernels: Option<&str>, launches: &[(u64, u64)], analysis: &Analysis) -> Vec<String> {
    let pattern = kernels.and_then(|wanted| regex::Regex::new(wanted).ok());
    let named: Vec<(&str, &KernelData)> =
        analysis.kernels.iter().filter_map(|kernel| Some((name(analysis, kernel)?, kernel))).collect();
    let chosen = |name: &str| pattern.as_ref().is_none_or(|pattern| pattern.is_match(name));
    let count: u64 = named.iter().filter(|(name, _)| chosen(name)).map(|(_, kernel)| kernel.launch_count()).sum();
    // Launches that are impossible on a model were also numbered.
    let left_out = analysis.left_out.iter().filter(|left| left.model == 0);
    let left_out = left_out.filter(|left| {
        analysis.kernels.get(left.kernel as usize).and_then(|kernel| name(analysis, kernel)).is_some_and(chosen)
    });
    let count = count + left_out.count() as u64;
    match kernels {
        Some(wanted) if count == 0 && !named.is_empty() => {
            let shown: Vec<&str> =
                named.iter().take(8).map(|(name, _)| name.split('(').next().unwrap_or(name)).collect();
            vec![format!("no kernel matches --kernels {wanted}: launched were {}", shown.join(", "))]
        }
        _ if count > 0 => beyond(kernels, launches, count).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn name<'a>(analysis: &'a Analysis, kernel: &KernelData) -> Option<&'a str> {
    let module = analysis.modules.get(&kernel.module)?;
    Some(module.table.functions.get(kernel.function as usize)?.name.as_str())
}

/// Returns the requested numbers beyond the last of `count` launches.
fn beyond(kernels: Option<&str>, launches: &[(u64, u64)], count: u64) -> Option<String> {
    let range = |&(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let wrong: Vec<String> = launches.iter().filter(|(_, last)| *last >= count).map(range).collect();
    if wrong.is_empty() {
        return None;
    }
    let of = kernels.map(|wanted| format!(" of the kernels that --kernels {wanted} chooses")).unwrap_or_default();
    let there = match count {
        1 => format!("there was 1 launch{of}, number 0"),
        _ => format!("there were {count} launches{of}, numbered from 0 to {}", count - 1),
    };
    let none = launches.iter().all(|(first, _)| *first >= count);
    let what = if none { "so no launch was recorded" } else { "so not all requested launches were recorded" };
    Some(format!("--launches {}: {there}, {what}", wrong.join(",")))
}

#[cfg(test)]
mod tests {
    use super::beyond;

    #[test]
    fn numbers_that_no_launch_had_are_reported() {
        assert_eq!(beyond(None, &[(0, 0), (2, 2)], 3), None);
        assert_eq!(beyond(None, &[], 3), None);
        assert_eq!(
            beyond(None, &[(7, 7)], 3).as_deref(),
            Some("--launches 7: there were 3 launches, numbered from 0 to 2, so no launch was recorded")
        );
        assert_eq!(
            beyond(Some("^a"), &[(0, 0), (1, 4)], 1).as_deref(),
            Some(
                "--launches 1-4: there was 1 launch of the kernels that --kernels ^a chooses, number 0, so not all requested \
                 launches were recorded"
            )
        );
    }
}
