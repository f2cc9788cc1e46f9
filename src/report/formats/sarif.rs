//! Writes SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format") for editors and code review, with one
//! result per finding.

use serde_json::{Value, json};

use crate::finding_text;
use crate::rows::whole::caution;
use crate::words::plain_name;
use warpline_findings::{confidence, pages};
use warpline_profile::Profile;
use warpline_profile::model::Finding;

/// A profile, and the included findings.
pub(crate) struct Scanned<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) findings: &'a [Finding],
}

/// Returns the findings of the profile.
pub fn sarif(profile: &Profile) -> String {
    of_findings(&[Scanned { profile, findings: &profile.findings }], None)
}

/// Returns the findings of profiles. Paths of files below the folder `root` are relative to it, as in code review.
pub(crate) fn of_findings(scanned: &[Scanned<'_>], root: Option<&str>) -> String {
    let rules: Vec<Value> = pages()
        .map(|page| {
            json!({
                "id": page.id,
                "name": name(page.id),
                "shortDescription": { "text": page.summary() },
                "help": { "text": page.text, "markdown": page.text },
            })
        })
        .collect();
    let each = |one: &Scanned<'_>| -> Vec<Value> {
        one.findings.iter().map(|finding| result(one.profile, finding, root)).collect()
    };
    let results: Vec<Value> = scanned.iter().flat_map(each).collect();
    let mut run = json!({
        "tool": { "driver": {
            "name": "Warpline", "version": env!("CARGO_PKG_VERSION"), "rules": rules,
        } },
        "columnKind": "utf16CodeUnits",
        "results": results,
    });
    let cautions: Vec<Value> = scanned
        .iter()
        .filter_map(|one| one.profile.run.whole_run.as_ref())
        .map(|whole| json!({ "level": "note", "message": { "text": capital(&format!("{}.", caution(whole))) } }))
        .collect();
    if !cautions.is_empty() {
        run["invocations"] = json!([{ "executionSuccessful": true, "toolExecutionNotifications": cautions }]);
    }
    let document = json!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [run],
    });
    let mut text = serde_json::to_string_pretty(&document).expect("only strings as keys");
    text.push('\n');
    text
}

/// Returns `StridedAccess` for `strided-access`, because names of rules are identifiers.
fn name(id: &str) -> String {
    let mut name = String::new();
    for word in id.split('-') {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.extend(letters);
    }
    name
}

fn result(profile: &Profile, finding: &Finding, root: Option<&str>) -> Value {
    let frame = finding_text::frame(profile, finding);
    let mut region = json!({ "startLine": frame.line.max(1) });
    if let Some(column) = utf16_column(profile, finding) {
        region["startColumn"] = json!(column);
    }
    // The fingerprint does not contain the line number, so that an edit above the line does not make it a new finding.
    let source = finding_text::source(profile, finding).unwrap_or_default();
    let object = finding_text::object(profile, finding).unwrap_or_default();
    let kernel = finding.kernel.and_then(|id| profile.kernels.iter().find(|kernel| kernel.id == id));
    let kernel = kernel.map_or("", |kernel| plain_name(&kernel.name));
    let print = format!("{}:{kernel}:{object}:{source}", finding.id);
    let mut text = sentence(&capital(&finding.reason));
    text.push_str(&format!(" Suggested change: {}", sentence(&finding.cure)));
    if let Some(gain) = &finding.gain {
        text.push_str(&format!(" Estimated gain: {}", sentence(&finding_text::gain(finding, gain))));
    }
    if let Some(whole) = &profile.run.whole_run {
        let (recorded, all) = (whole.recorded_launches, whole.launches);
        text.push_str(&format!(" Based on {recorded} of {all} launches, which a budget chose."));
    }
    let mut result = json!({
        "ruleId": finding.id,
        // SARIF uses the same names.
        "level": finding.severity.name(),
        "message": { "text": text },
        "rank": 100.0 / f64::from(finding.rank.max(1)),
        "partialFingerprints": { "warplineFinding/v2": format!("{:08x}", crc32fast::hash(print.as_bytes())) },
        "properties": { "kernel": frame.function, "object": object, "evidence": finding.evidence },
    });
    if !finding.cause.is_empty() {
        result["properties"]["cause"] = json!(finding.cause);
        result["properties"]["remedy"] = json!(finding.remedy);
        result["properties"]["verified"] = json!(finding.verified);
        result["properties"]["confidence"] = json!(confidence(finding));
    }
    if let Some(index) = pages().position(|page| page.id == finding.id) {
        result["ruleIndex"] = json!(index);
    }
    if !frame.file.is_empty() {
        let mut location = json!({ "physicalLocation": {
            "artifactLocation": { "uri": uri(within(&frame.file, root)) }, "region": region,
        } });
        if !frame.function.is_empty() {
            location["logicalLocations"] = json!([{ "fullyQualifiedName": frame.function }]);
        }
        result["locations"] = json!([location]);
    }
    let related = |file: &str, line: u32, message: &str| {
        json!({
            "physicalLocation": {
                "artifactLocation": { "uri": uri(within(file, root)) }, "region": { "startLine": line.max(1) },
            },
            "message": { "text": message },
        })
    };
    let inside = finding.inside_library.iter();
    let inside = inside.map(|inside| related(&inside.file, inside.line, "where it happens inside the library"));
    let further = finding.lines.iter().map(|place| related(&frame.file, place.line, "the same happens here"));
    let related: Vec<Value> = inside.chain(further).collect();
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    result
}

/// Returns a text with a full stop at its end, unless it already ends a sentence.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    let stop = if text.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{text}{stop}")
}

/// Returns the column of a finding, counted from 1 in UTF-16 code units, as `columnKind` declares. Profiles have
/// clang's columns, which count bytes of UTF-8; the conversion needs the text of the line.
fn utf16_column(profile: &Profile, finding: &Finding) -> Option<usize> {
    let bytes = usize::try_from(finding.column).ok()?.checked_sub(1)?;
    let line = profile.sources.get(&finding.file)?.get(&finding.line)?;
    Some(line.get(..bytes)?.encode_utf16().count() + 1)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a path relative to its root folder.
fn within<'a>(path: &'a str, root: Option<&str>) -> &'a str {
    let inside = root.and_then(|root| path.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/'));
    inside.filter(|inside| !inside.is_empty()).unwrap_or(path)
}

/// Returns a path as a URI (RFC 3986); absolute paths have a scheme.
fn uri(path: &str) -> String {
    let mut text = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{name, sentence, uri, utf16_column};
    use warpline_profile::Profile;
    use warpline_profile::model::Finding;

    #[test]
    fn paths_are_escaped() {
        assert_eq!(uri("/a b/c#.cu"), "file:///a%20b/c%23.cu");
        assert_eq!(uri("kernel.cu"), "kernel.cu");
        assert_eq!(name("strided-access"), "StridedAccess");
    }

    #[test]
    fn sentences_end_with_one_full_stop() {
        assert_eq!(sentence("launch more blocks"), "launch more blocks.");
        assert_eq!(sentence("Launch more blocks. "), "Launch more blocks.");
        assert_eq!(sentence("(modelled: no conflicts)"), "(modelled: no conflicts).");
    }

    #[test]
    fn columns_count_utf16_code_units() {
        let mut profile = Profile::default();
        let line = "/*\u{fc}\u{1f600}*/ a = b;".to_owned();
        profile.sources.entry("a.cu".to_owned()).or_default().insert(3, line);
        let column = |line, column| {
            let finding = Finding { file: "a.cu".to_owned(), line, column, ..Finding::default() };
            utf16_column(&profile, &finding)
        };
        // The comment has 10 bytes and 7 UTF-16 code units.
        assert_eq!((column(3, 1), column(3, 12)), (Some(1), Some(9)));
        // The cases are: no column, no line, inside a character, and after the end of the line.
        assert_eq!([column(3, 0), column(4, 1), column(3, 4), column(3, 100)], [None; 4]);
    }
}
