//! Colours, and bars that show the same information without colours.

/// Output style with or without colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) color: bool,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn warning(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Colours the text of a share for which high values are good.
    pub(crate) fn quality(self, share: f64, text: &str) -> String {
        let code = match share {
            share if share < 0.4 => "31",
            share if share < 0.8 => "33",
            _ => "32",
        };
        self.paint(code, text)
    }
}

/// Returns a share as a bar of ten characters.
pub(crate) fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * 10.0).round() as usize;
    format!("{}{}", "#".repeat(full), ".".repeat(10 - full))
}
