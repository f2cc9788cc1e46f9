//! Writes a section. Each text is stored once in a table, and numbers use as few bytes as necessary.

use rustc_hash::FxHashMap;

/// A section that is being written.
#[derive(Debug, Default)]
pub(super) struct Writer {
    names: Texts,
    lines: Texts,
    body: Vec<u8>,
    /// Whether a value cannot be represented in a document.
    failed: bool,
}

#[derive(Debug, Default)]
struct Texts {
    known: FxHashMap<String, u64>,
    bytes: Vec<u8>,
}

impl Texts {
    fn number(&mut self, text: &str) -> u64 {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let number = self.known.len() as u64;
        self.known.insert(text.to_owned(), number);
        put(&mut self.bytes, text.len() as u64);
        self.bytes.extend(text.as_bytes());
        number
    }

    fn write(&self, to: &mut Vec<u8>) {
        put(to, self.known.len() as u64);
        put(to, self.bytes.len() as u64);
        to.extend(&self.bytes);
    }
}

/// Writes seven bits per byte, the low ones first. The highest bit marks that more bytes follow.
fn put(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

impl Writer {
    pub(super) fn number(&mut self, number: u64) {
        put(&mut self.body, number);
    }

    /// Writes a name, a path or a similar text.
    pub(super) fn name(&mut self, text: &str) {
        let number = self.names.number(text);
        self.number(number);
    }

    /// Writes a source line, which may contain tabs.
    pub(super) fn line(&mut self, text: &str) {
        let number = self.lines.number(text);
        self.number(number);
    }

    /// Writes a number exactly as it is read back from the document.
    pub(super) fn float(&mut self, number: f64) {
        let text = serde_json::to_string(&number).unwrap_or_default();
        match serde_json::from_str::<f64>(&text) {
            Ok(read_back) => self.body.extend(read_back.to_bits().to_le_bytes()),
            Err(_) => self.failed = true,
        }
    }

    /// Writes a rare value as JSON.
    pub(super) fn json(&mut self, value: &impl serde::Serialize) {
        match serde_json::to_string(value) {
            Ok(text) => self.name(&text),
            Err(_) => self.failed = true,
        }
    }

    pub(super) fn finish(self, layout: u32) -> Option<Vec<u8>> {
        if self.failed {
            return None;
        }
        let mut section = layout.to_le_bytes().to_vec();
        self.names.write(&mut section);
        self.lines.write(&mut section);
        section.extend(self.body);
        Some(section)
    }
}
