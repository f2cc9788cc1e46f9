//! Names the further models of a run.

use crate::model::{Metrics, Profile};

/// Replaces the numbers of further models by their names.
pub(in crate::build) fn name_models(profile: &mut Profile) {
    let names = profile.run.models.clone();
    if names.len() < 2 {
        return;
    }
    let rename = |metrics: &mut Metrics| {
        let numbered = std::mem::take(&mut metrics.other_models);
        let name =
            |number: String| number.parse().ok().and_then(|index: usize| names.get(index).cloned()).unwrap_or(number);
        metrics.other_models = numbered.into_iter().map(|(number, figures)| (name(number), figures)).collect();
    };
    for kernel in &mut profile.kernels {
        let launches = kernel.launches.iter_mut().map(|launch| &mut launch.metrics);
        let groups = kernel.launch_groups.iter_mut().map(|group| &mut group.metrics);
        kernel
            .metrics
            .values_mut()
            .chain(launches.chain(groups).flat_map(|spaces| spaces.values_mut()))
            .for_each(rename);
    }
    profile.lines.iter_mut().flat_map(|line| line.metrics.values_mut()).for_each(rename);
    for site in &mut profile.sites {
        rename(&mut site.metrics);
        site.by_allocation.iter_mut().for_each(|row| rename(&mut row.metrics));
        site.contexts.iter_mut().for_each(|context| rename(&mut context.metrics));
    }
    for allocation in &mut profile.allocations {
        rename(&mut allocation.metrics);
        allocation.by_kernel.iter_mut().for_each(|row| rename(&mut row.metrics));
    }
}
