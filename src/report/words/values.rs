//! Formats sets of values.

use warpline_profile::model::ValueSet;

/// Maximum number of listed values; for more, their number is shown.
const MOST_LISTED: usize = 4;

/// Summarises the values of a set: the distinct values, or the narrowest type that can represent them.
pub(crate) fn summary(set: &ValueSet) -> String {
    let element = &set.element;
    if element.is_empty() {
        return "of several types".to_owned();
    }
    match (&set.distinct[..], set.fits.first()) {
        ([], None) => element.clone(),
        ([], Some(narrow)) => format!("{element}, fit {narrow}"),
        (few, _) if few.len() <= MOST_LISTED => format!("{element}: {}", few.join(", ")),
        (some, _) => format!("{element}: {} different", some.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_listed() {
        let set = |distinct: &[&str], fits: &[&str]| ValueSet {
            element: "int32".to_owned(),
            distinct: distinct.iter().map(|&value| value.to_owned()).collect(),
            fits: fits.iter().map(|&name| name.to_owned()).collect(),
            ..ValueSet::default()
        };
        assert_eq!(summary(&set(&["0", "1"], &["int8_t"])), "int32: 0, 1");
        assert_eq!(summary(&set(&["0", "1", "2", "3", "4"], &[])), "int32: 5 different");
        assert_eq!(summary(&set(&[], &["uint16_t"])), "int32, fit uint16_t");
        assert_eq!(summary(&set(&[], &[])), "int32");
        assert_eq!(summary(&ValueSet::default()), "of several types");
    }
}
