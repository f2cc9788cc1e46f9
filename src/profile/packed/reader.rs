//! Reads a section. It is untrusted input: lengths are validated, and no text may contain hidden characters.

use serde::de::DeserializeOwned;
use warpline_format::visible;

/// The section cannot be read; the document still can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the section for merging cannot be read")]
pub struct Broken;

/// A section that is being read.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    names: Vec<&'a str>,
    lines: Vec<&'a str>,
    body: &'a [u8],
}

/// Reads a number from the front.
fn number(from: &mut &[u8]) -> Result<u64, Broken> {
    if let [byte @ 0..0x80, rest @ ..] = from {
        *from = rest;
        return Ok(u64::from(*byte));
    }
    let mut sum = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = from.split_first().ok_or(Broken)?;
        *from = rest;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return Err(Broken);
        }
        sum |= bits << shift;
        if *byte < 0x80 {
            return Ok(sum);
        }
    }
    Err(Broken)
}

fn taken<'a>(from: &mut &'a [u8], length: u64) -> Result<&'a [u8], Broken> {
    let length = usize::try_from(length).map_err(|_| Broken)?;
    let (taken, rest) = from.split_at_checked(length).ok_or(Broken)?;
    *from = rest;
    Ok(taken)
}

/// Reads a table of texts. No text may have hidden characters, except those for which `stays` returns true.
fn texts<'a>(from: &mut &'a [u8], stays: fn(char) -> bool) -> Result<Vec<&'a str>, Broken> {
    let (count, length) = (number(from)?, number(from)?);
    let mut bytes = taken(from, length)?;
    let mut texts = Vec::new();
    for _ in 0..count {
        let length = number(&mut bytes)?;
        let text = std::str::from_utf8(taken(&mut bytes, length)?).map_err(|_| Broken)?;
        let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if !plain && text.chars().any(|character| visible::is_hidden(character) && !stays(character)) {
            return Err(Broken);
        }
        texts.push(text);
    }
    if bytes.is_empty() { Ok(texts) } else { Err(Broken) }
}

impl<'a> Reader<'a> {
    pub(super) fn new(section: &'a [u8], layout: u32) -> Result<Reader<'a>, Broken> {
        let (found, mut body) = section.split_first_chunk::<4>().ok_or(Broken)?;
        if u32::from_le_bytes(*found) != layout {
            return Err(Broken);
        }
        let names = texts(&mut body, |_| false)?;
        let lines = texts(&mut body, |character| character == '\t')?;
        Ok(Reader { names, lines, body })
    }

    /// Returns the following names, to be inspected before they are read.
    pub(super) fn ahead(&self) -> Ahead<'_, 'a> {
        Ahead { names: &self.names, body: self.body }
    }

    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Broken> {
        number(&mut self.body)
    }

    /// Returns the number of following elements, each of which takes at least one byte.
    pub(super) fn count(&mut self) -> Result<usize, Broken> {
        let count = usize::try_from(self.number()?).map_err(|_| Broken)?;
        if count <= self.body.len() { Ok(count) } else { Err(Broken) }
    }

    pub(super) fn name(&mut self) -> Result<&'a str, Broken> {
        let number = self.number()?;
        self.names.get(number as usize).copied().ok_or(Broken)
    }

    pub(super) fn line(&mut self) -> Result<&'a str, Broken> {
        let number = self.number()?;
        self.lines.get(number as usize).copied().ok_or(Broken)
    }

    pub(super) fn float(&mut self) -> Result<f64, Broken> {
        let (bytes, rest) = self.body.split_first_chunk::<8>().ok_or(Broken)?;
        self.body = rest;
        let number = f64::from_bits(u64::from_le_bytes(*bytes));
        // A document contains only finite numbers.
        if number.is_finite() { Ok(number) } else { Err(Broken) }
    }

    pub(super) fn json<T: DeserializeOwned>(&mut self) -> Result<T, Broken> {
        crate::shown::read(self.name()?.as_bytes()).map_err(|_| Broken)
    }

    /// Continues after the inspected names.
    pub(super) fn skip_to(&mut self, rest: &'a [u8]) {
        self.body = rest;
    }

    pub(super) fn finish(self) -> Result<(), Broken> {
        if self.body.is_empty() { Ok(()) } else { Err(Broken) }
    }
}

/// The following names in a section.
#[derive(Debug)]
pub(super) struct Ahead<'r, 'a> {
    names: &'r [&'a str],
    body: &'a [u8],
}

impl<'a> Ahead<'_, 'a> {
    pub(super) fn name(&mut self) -> Result<&'a str, Broken> {
        let number = number(&mut self.body)?;
        self.names.get(number as usize).copied().ok_or(Broken)
    }

    /// Returns the data after the names.
    pub(super) fn rest(self) -> &'a [u8] {
        self.body
    }
}
