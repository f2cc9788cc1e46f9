//! Sentences with placeholders.
//!
//! `{stride}` is a figure, `{requests:request|requests}` a count with its noun, `{op:read|write}` a choice. Text in `[[
//! ]]` is omitted if one of its figures is unknown.

use super::super::diagnosis::Figures;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<TemplatePart>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePart {
    Text(String),
    Figure { name: String, forms: Vec<String> },
    Optional(Template),
}

/// Reasons why a text is not a valid template.
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

    /// Returns the sentence; `None` if a figure outside of `[[ ]]` is missing.
    pub(super) fn fill(&self, figures: &Figures) -> Option<String> {
        let mut out = String::new();
        self.fill_into(figures, &mut out)?;
        Some(out)
    }

    /// Appends the sentence; returns `None` if a figure outside of `[[ ]]` is missing.
    fn fill_into(&self, figures: &Figures, out: &mut String) -> Option<()> {
        for part in &self.0 {
            match part {
                // An omitted optional part leaves a space on each side of it.
                TemplatePart::Text(text) if out.is_empty() || out.ends_with(' ') => {
                    out.push_str(text.trim_start_matches(' '))
                }
                TemplatePart::Text(text) => out.push_str(text),
                TemplatePart::Figure { name, forms } => out.push_str(&figures.get(name)?.shown(forms)),
                TemplatePart::Optional(inner) => {
                    let before = out.len();
                    if inner.fill_into(figures, out).is_none() {
                        out.truncate(before);
                    }
                }
            }
        }
        Some(())
    }

    /// Returns the number of characters without figures.
    #[cfg(test)]
    pub(super) fn fixed_length(&self) -> usize {
        let length_of = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => text.chars().count(),
            TemplatePart::Figure { forms, .. } => forms.iter().map(|form| form.chars().count()).max().unwrap_or(0),
            TemplatePart::Optional(inner) => inner.fixed_length(),
        };
        self.0.iter().map(length_of).sum()
    }

    /// Returns the names of all figures.
    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for part in &self.0 {
            match part {
                TemplatePart::Optional(inner) => names.extend(inner.names()),
                TemplatePart::Figure { name, .. } => names.push(name),
                TemplatePart::Text(_) => {}
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
            parts.push(TemplatePart::Text(text.to_owned()));
        }
        if from.is_empty() {
            return if is_inner { Err(TemplateError::Open("[[")) } else { Ok(Template(joined(parts))) };
        }
        if let Some(inner) = from.strip_prefix("[[") {
            *rest = inner;
            parts.push(TemplatePart::Optional(sequence(rest, true)?));
        } else if let Some(after) = from.strip_prefix("]]").filter(|_| is_inner) {
            *rest = after;
            return Ok(Template(joined(parts)));
        } else if let Some(inner) = from.strip_prefix('{') {
            let (figure, after) = inner.split_once('}').ok_or(TemplateError::Open("{"))?;
            let (name, forms) = figure
                .split_once(':')
                .map_or((figure, Vec::new()), |(name, forms)| (name, forms.split('|').map(str::to_owned).collect()));
            parts.push(TemplatePart::Figure { name: name.to_owned(), forms });
            *rest = after;
        } else if from.starts_with("]]") {
            return Err(TemplateError::Closed);
        } else {
            // A single bracket is part of code.
            parts.push(TemplatePart::Text(from[..1].to_owned()));
            *rest = &from[1..];
        }
    }
}

/// Merges adjacent texts.
fn joined(parts: Vec<TemplatePart>) -> Vec<TemplatePart> {
    let mut all: Vec<TemplatePart> = Vec::new();
    for part in parts {
        match (all.last_mut(), part) {
            (Some(TemplatePart::Text(before)), TemplatePart::Text(text)) => before.push_str(&text),
            (_, part) => all.push(part),
        }
    }
    all
}
