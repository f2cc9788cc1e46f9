//! Reads the data in a page of the HTML report as a browser would.

#![allow(dead_code, reason = "each user takes what it needs")]

use std::io::Read as _;

use serde_json::Value;

/// Returns the document that the page shows: `sides`, `comparison`, `figures`.
pub fn data(page: &str) -> Value {
    let (_, rest) = page.split_once(" id=\"data\">").expect("the page has data");
    let (text, _) = rest.split_once("</script>").expect("its element ends");
    if page.contains("type=\"application/json\" id=\"data\"") {
        return serde_json::from_str(text).expect("JSON");
    }
    let packed = base64(text);
    let mut json = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut json).expect("gzip");
    serde_json::from_str(&json).expect("JSON")
}

/// Decodes a base64 text.
pub fn base64(text: &str) -> Vec<u8> {
    let mut bits = 0u32;
    let mut bytes = Vec::new();
    for (place, letter) in text.bytes().filter(|letter| *letter != b'=').enumerate() {
        let digit = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            other => panic!("{other} is no digit of base64"),
        };
        bits = bits << 6 | u32::from(digit);
        if place % 4 != 0 {
            bytes.push((bits >> (6 - 2 * (place % 4))) as u8);
        }
    }
    bytes
}
