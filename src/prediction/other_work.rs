//! Shapes that do other work than the launch that was recorded, though the same problem was asked for: a program makes some parameters of the shape (tiles
//! across, rows of blocks), and these keep their values in a prediction.

use super::predict::Prediction;
use super::subject::Subject;

/// Share by which lanes may differ: the last blocks of a grid reach beyond an array without a guard, and halos grow with the number of blocks.
const AS_MUCH: f64 = 0.1;

/// Lanes of the requests of a shape over those of the launch as it was, where it does another amount of work. A reduction stores once for each block, and tiles
/// load the less the larger they are, so both what is stored and all requests, those to shared memory among them, have to differ alike.
pub fn other_work(subject: &Subject<'_>, found: &Prediction, as_it_was: &Prediction) -> Option<f64> {
    let lanes = |one: &Prediction| one.global.lanes + one.shared.lanes;
    let stored = |one: &Prediction| {
        let stores = one
            .sites
            .iter()
            .enumerate()
            .filter(|(number, _)| !subject.accesses[*number].shared && subject.accesses[*number].stores());
        stores.map(|(_, (requests, _))| requests.lanes).sum::<f64>()
    };
    let ratio = |of: &dyn Fn(&Prediction) -> f64| if of(as_it_was) > 0.0 { of(found) / of(as_it_was) } else { 1.0 };
    let (all, stores) = (ratio(&lanes), ratio(&stored));
    let is_less = all < 1.0 - AS_MUCH && stores < 1.0 - AS_MUCH;
    let is_more = all > 1.0 + AS_MUCH && stores > 1.0 + AS_MUCH;
    (is_less || is_more).then_some(all)
}
