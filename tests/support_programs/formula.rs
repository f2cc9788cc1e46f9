//! Closed forms of `examples/expected.json`: whole numbers, names, `+ - * /`, brackets and
//! `min(a, b)`. Division cuts off.

use std::collections::BTreeMap;

/// The value of `text` where names have `values`.
pub fn evaluate(text: &str, values: &BTreeMap<String, u64>) -> Result<u64, String> {
    let mut parser = Parser { rest: text.trim_start(), values };
    let value = parser.sum()?;
    if parser.rest.is_empty() { Ok(value) } else { Err(format!("'{}' is left over in '{text}'", parser.rest)) }
}

struct Parser<'a> {
    rest: &'a str,
    values: &'a BTreeMap<String, u64>,
}

impl<'a> Parser<'a> {
    fn accept(&mut self, sign: char) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        if self.accept(sign) { Ok(()) } else { Err(format!("'{sign}' is missing before '{}'", self.rest)) }
    }

    fn sum(&mut self) -> Result<u64, String> {
        let mut value = self.product()?;
        loop {
            if self.accept('+') {
                value += self.product()?;
            } else if self.accept('-') {
                value = value.checked_sub(self.product()?).ok_or("a count is negative")?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<u64, String> {
        let mut value = self.factor()?;
        loop {
            if self.accept('*') {
                value *= self.factor()?;
            } else if self.accept('/') {
                value = value.checked_div(self.factor()?).ok_or("division by zero")?;
            } else {
                return Ok(value);
            }
        }
    }

    fn factor(&mut self) -> Result<u64, String> {
        if self.accept('(') {
            let value = self.sum()?;
            self.expect(')')?;
            return Ok(value);
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if word == "min" {
            self.expect('(')?;
            let left = self.sum()?;
            self.expect(',')?;
            let right = self.sum()?;
            self.expect(')')?;
            return Ok(left.min(right));
        }
        match word.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.values.get(word).copied().ok_or_else(|| format!("unknown name '{word}'")),
        }
    }
}
