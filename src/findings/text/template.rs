//! Sentences with placeholders.
//!
//! `{stride}` is a figure, `{requests:request|requests}` a count with its noun, `{op:read|write}` a choice. What stands in
//! `[[ ]]` is left out where one of its figures is not known.

use super::super::diagnosis::Figures;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Text(String),
    Figure { name: String, forms: Vec<String> },
    Optional(Template),
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum TemplateError {
    #[error("`{0}` opens what nothing closes")]
    Open(&'static str),
    #[error("`]]` closes what nothing opens")]
    Closed,
}

impl Template {
    pub(super) fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut rest = text;
        let template = sequence(&mut rest, false)?;
        Ok(template)
    }

    /// The sentence; `None` where a figure outside of `[[ ]]` is missing.
    pub(super) fn fill(&self, figures: &Figures) -> Option<String> {
        let mut out = String::new();
        self.fill_into(figures, &mut out)?;
        Some(out)
    }

    /// Appends the sentence; `None` where a figure outside of `[[ ]]` is missing.
    fn fill_into(&self, figures: &Figures, out: &mut String) -> Option<()> {
        for part in &self.0 {
            match part {
                // An absent optional part leaves a space on each side of it.
                Segment::Text(text) if out.is_empty() || out.ends_with(' ') => {
                    out.push_str(text.trim_start_matches(' '))
                }
                Segment::Text(text) => out.push_str(text),
                Segment::Figure { name, forms } => out.push_str(&figures.get(name)?.shown(forms)),
                Segment::Optional(inner) => {
                    let before = out.len();
                    if inner.fill_into(figures, out).is_none() {
                        out.truncate(before);
                    }
                }
            }
        }
        Some(())
    }

    /// Characters that it has whatever its figures are.
    #[cfg(test)]
    pub(super) fn fixed_length(&self) -> usize {
        let length_of = |segment: &Segment| match segment {
            Segment::Text(text) => text.chars().count(),
            Segment::Figure { forms, .. } => forms.iter().map(|form| form.chars().count()).max().unwrap_or(0),
            Segment::Optional(inner) => inner.fixed_length(),
        };
        self.0.iter().map(length_of).sum()
    }

    /// Names of all its figures.
    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in &self.0 {
            match part {
                Segment::Optional(inner) => names.extend(inner.names()),
                Segment::Figure { name, .. } => names.push(name),
                Segment::Text(_) => {}
            }
        }
        names
    }
}

/// Parses up to the end, or to the `]]` of an optional part.
fn sequence(rest: &mut &str, is_inner: bool) -> Result<Template, TemplateError> {
    let mut parts = Vec::new();
    loop {
        let at = rest.find(['{', '[', ']']).unwrap_or(rest.len());
        let (text, from) = rest.split_at(at);
        if !text.is_empty() {
            parts.push(Segment::Text(text.to_owned()));
        }
        if from.is_empty() {
            return if is_inner { Err(TemplateError::Open("[[")) } else { Ok(Template(joined(parts))) };
        }
        if let Some(inner) = from.strip_prefix("[[") {
            *rest = inner;
            parts.push(Segment::Optional(sequence(rest, true)?));
        } else if let Some(after) = from.strip_prefix("]]").filter(|_| is_inner) {
            *rest = after;
            return Ok(Template(joined(parts)));
        } else if let Some(inner) = from.strip_prefix('{') {
            let (figure, after) = inner.split_once('}').ok_or(TemplateError::Open("{"))?;
            let (name, forms) = figure
                .split_once(':')
                .map_or((figure, Vec::new()), |(name, forms)| (name, forms.split('|').map(str::to_owned).collect()));
            parts.push(Segment::Figure { name: name.to_owned(), forms });
            *rest = after;
        } else if from.starts_with("]]") {
            return Err(TemplateError::Closed);
        } else {
            // A single bracket is code.
            parts.push(Segment::Text(from[..1].to_owned()));
            *rest = &from[1..];
        }
    }
}

/// Neighbouring texts as one.
fn joined(parts: Vec<Segment>) -> Vec<Segment> {
    let mut all: Vec<Segment> = Vec::new();
    for part in parts {
        match (all.last_mut(), part) {
            (Some(Segment::Text(before)), Segment::Text(text)) => before.push_str(&text),
            (_, part) => all.push(part),
        }
    }
    all
}
