//! Detects shapes that do a different amount of work from the reference launch. There are two reasons: a program may
//! derive parameters from the shape (such as the number of tiles), which keep their values in a prediction, or the user
//! may specify one grid for several shapes.

use super::outcome::Prediction;
use super::subject::Subject;

/// Relative difference of lanes that is accepted. The last blocks of a grid reach beyond an array without a guard, and
/// halos grow with the number of blocks.
const AS_MUCH: f64 = 0.1;

/// Returns the prediction with the most work.
pub fn most_work(predictions: &[Prediction]) -> Option<&Prediction> {
    predictions.iter().max_by(|one, other| lanes(one).total_cmp(&lanes(other)))
}

/// Returns the number of lanes of all requests.
fn lanes(one: &Prediction) -> f64 {
    one.global.lanes + one.shared.lanes
}

/// Returns the lanes of a shape's requests divided by those of the reference launch if the amount of work differs. A
/// reduction stores once per block, and larger tiles load less. Therefore, both the stores and all requests, including
/// those to shared memory, must differ in the same direction.
pub fn other_work(subject: &Subject<'_>, found: &Prediction, reference: &Prediction) -> Option<f64> {
    let stored = |one: &Prediction| {
        let stores = one
            .sites
            .iter()
            .enumerate()
            .filter(|(number, _)| !subject.accesses[*number].shared && subject.accesses[*number].stores());
        stores.map(|(_, site)| site.requests.lanes).sum::<f64>()
    };
    let ratio = |of: &dyn Fn(&Prediction) -> f64| if of(reference) > 0.0 { of(found) / of(reference) } else { 1.0 };
    let (all, stores) = (ratio(&lanes), ratio(&stored));
    let is_less = all < 1.0 - AS_MUCH && stores < 1.0 - AS_MUCH;
    let is_more = all > 1.0 + AS_MUCH && stores > 1.0 + AS_MUCH;
    (is_less || is_more).then_some(all)
}
