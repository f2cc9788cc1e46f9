//! Shapes that do other work than the launch whose work they are to do: a program makes some parameters of the shape (tiles across, rows of blocks), which keep
//! their values in a prediction, or one grid is given for several shapes.

use super::outcome::Prediction;
use super::subject::Subject;

/// Share by which lanes may differ: the last blocks of a grid reach beyond an array without a guard, and halos grow with the number of blocks.
const AS_MUCH: f64 = 0.1;

/// Returns the one that does the most work.
pub fn most_work(predictions: &[Prediction]) -> Option<&Prediction> {
    predictions.iter().max_by(|one, other| lanes(one).total_cmp(&lanes(other)))
}

/// Lanes of all requests.
fn lanes(one: &Prediction) -> f64 {
    one.global.lanes + one.shared.lanes
}

/// Lanes of the requests of a shape over those of the launch whose work it is to do, where it does another amount of work. A reduction stores once for each
/// block, and tiles load the less the larger they are, so both what is stored and all requests, those to shared memory among them, have to differ alike.
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
