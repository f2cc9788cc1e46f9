//! Data that connects the stages of a finding: causes and remedies with their figures, before they are converted to
//! text.
//!
//! A finding's file declares its causes and remedies as enums with [`described!`]. The texts are templates in the
//! finding's page (`docs/findings/ID.md`). The placeholders of a template are the names of the fields; [`super::text`]
//! fills them in.

use std::collections::BTreeMap;

use super::words;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bytes(pub u64);

/// A count of objects, with a noun from the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Count(pub u64);

/// A share from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Share(pub f64);

/// A mean or a ratio.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Ratio(pub f64);

/// A duration in seconds.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Seconds(pub f64);

/// A name in the program, shown in backquotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(pub String);

/// Several names in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Names(pub Vec<String>);

/// Code, a source position or a description of data, shown unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown(pub String);

/// Index of a template's alternative, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice(pub u8);

/// A figure of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Figure {
    Bytes(Bytes),
    Count(Count),
    Share(Share),
    Ratio(Ratio),
    Seconds(Seconds),
    Name(Name),
    Names(Names),
    Shown(Shown),
    Choice(Choice),
}

impl Figure {
    /// Formats the figure as text. `forms` contains the alternatives of a template: singular and plural of a count, or
    /// the choices.
    pub(super) fn shown(&self, forms: &[String]) -> String {
        match self {
            Figure::Bytes(Bytes(bytes)) => words::bytes(*bytes),
            Figure::Count(Count(count)) => match forms {
                [one, several] => words::several(*count, one, several),
                _ => words::count(*count),
            },
            Figure::Share(Share(share)) => words::percent(*share),
            Figure::Ratio(Ratio(value)) => words::decimal(*value),
            Figure::Seconds(Seconds(seconds)) => words::time(*seconds),
            Figure::Name(Name(name)) => format!("`{name}`"),
            Figure::Names(Names(names)) => words::list(names),
            Figure::Shown(Shown(text)) => text.clone(),
            Figure::Choice(Choice(at)) => forms.get(usize::from(*at)).cloned().unwrap_or_default(),
        }
    }
}

macro_rules! figures {
    ($($kind:ident),*) => { $(impl From<$kind> for Figure {
        fn from(value: $kind) -> Figure {
            Figure::$kind(value)
        }
    })* };
}
figures!(Bytes, Count, Share, Ratio, Seconds, Name, Names, Shown, Choice);

/// Figures by their placeholder names in templates.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Figures(BTreeMap<&'static str, Figure>);

impl Figures {
    /// Adds a figure, or several figures with separate names.
    pub(super) fn set(&mut self, name: &'static str, value: impl Set) {
        value.set(name, self);
    }

    pub(super) fn get(&self, name: &str) -> Option<&Figure> {
        self.0.get(name)
    }

    /// Adds the figures of `others`. They replace figures with the same names.
    pub(super) fn replace(&mut self, others: Figures) {
        self.0.extend(others.0);
    }

    /// Adds the figures of `others` whose names are missing.
    pub(super) fn extend(&mut self, others: Figures) {
        for (name, figure) in others.0 {
            self.0.entry(name).or_insert(figure);
        }
    }
}

/// A field of a cause or a remedy.
pub(super) trait Set {
    fn set(self, name: &'static str, figures: &mut Figures);
}

impl<F: Into<Figure>> Set for F {
    fn set(self, name: &'static str, figures: &mut Figures) {
        figures.0.insert(name, self.into());
    }
}

/// A figure that may be unknown. Templates enclose the dependent text in `[[ ]]`.
impl<F: Into<Figure>> Set for Option<F> {
    fn set(self, name: &'static str, figures: &mut Figures) {
        if let Some(value) = self {
            figures.0.insert(name, value.into());
        }
    }
}

/// An id, and the names of its figures.
#[cfg(test)]
pub(super) type Row = (&'static str, &'static [&'static str]);

/// A cause or a remedy.
pub(super) trait Described {
    /// All causes or remedies of the enum.
    #[cfg(test)]
    const TABLE: &'static [Row];

    /// Returns the stable name that profiles and the page use.
    fn id(&self) -> &'static str;

    fn figures(&self) -> Figures;
}

/// Declares enums of causes and remedies. Each variant has a stable id, which is the title of its section in the
/// finding's page. The names of its fields are placeholders in the templates of this section.
macro_rules! described {
    ($(enum $name:ident {
        $($variant:ident $({ $($field:ident: $type:ty),* $(,)? })? => $id:literal),* $(,)?
    })*) => {$(
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $($variant $({ $($field: $type),* })?),*
        }

        impl $crate::diagnosis::Described for $name {
            #[cfg(test)]
            const TABLE: &'static [$crate::diagnosis::Row] = &[$(($id, &[$($(stringify!($field)),*)?])),*];

            fn id(&self) -> &'static str {
                match self {
                    $($name::$variant { .. } => $id),*
                }
            }

            fn figures(&self) -> $crate::diagnosis::Figures {
                #[allow(unused_mut)]
                let mut figures = $crate::diagnosis::Figures::default();
                match self.clone() {
                    $($name::$variant $({ $($field),* })? => {
                        $($(figures.set(stringify!($field), $field);)*)?
                    }),*
                }
                figures
            }
        }
    )*};
}
pub(super) use described;

/// Cause and remedy of a finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Diagnosis {
    /// Stable id of the cause.
    pub cause: &'static str,
    /// Stable id of the remedy.
    pub remedy: &'static str,
    /// Whether the effect of the remedy was verified by recounting the recorded addresses.
    pub verified: bool,
    pub figures: Figures,
}

impl Diagnosis {
    pub(super) fn new(cause: &impl Described, remedy: &impl Described) -> Diagnosis {
        let mut figures = cause.figures();
        figures.extend(remedy.figures());
        Diagnosis { cause: cause.id(), remedy: remedy.id(), verified: false, figures }
    }
}
