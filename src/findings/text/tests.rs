//! Checks that the pages contain the texts of all findings, and use only existing figures.

use super::super::diagnosis::{Bytes, Choice, Count, Described, Figures, Name, Row};
use super::super::library;
use super::super::list::{RULES, pages};
use super::super::phrase::Phrase;
use super::pages::{COMMON as COMMON_PAGE, read};
use super::template::{Template, TemplateError};

/// Maximum number of characters of a title, without its figures.
const MOST_OF_TITLE: usize = 60;

/// Figures that all diagnoses of an access have, and figures that a rule adds to all of its causes.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "target", "data", "op", "kernel", "thread", "function", "space", "sectors", "ideal", "lanes", "requests",
    "bytes", "statement", "statement_place", "stride", "elements", "factor", "span", "others", "structure", "whole",
    "updates", "depth", "per_address", "crowd", "hottest", "offset", "whose", "serial", "left", "merged", "together",
    "passes", "ideal_passes", "mean", "mean_ideal", "worst", "worst_ideal", "collide", "share", "kind", "divergent",
    "executions", "sides", "issued", "slots", "memory", "first", "second", "times", "each", "live", "copied",
    "copies", "unchanged", "kernels", "start", "starts", "all", "launches", "time", "touched", "access", "block", "operations", "ratio", "seconds", "blocks", "sms", "all", "position", "unit",
];

#[test]
fn templates_are_filled_in() {
    let mut figures = Figures::default();
    figures.set("requests", Count(1));
    figures.set("stride", Some(Bytes(2048)));
    figures.set("row", None::<Bytes>);
    figures.set("data", Name("a".to_owned()));
    figures.set("op", Choice(1));
    let fill = |text: &str| Template::parse(text).expect("a template").fill(&figures);
    let text = "{requests:request|requests} {op:reads|writes} {data}[i][[ {row} apart]][[, {stride} apart]]";
    assert_eq!(fill(text).as_deref(), Some("1 request writes `a`[i], 2.0 KiB apart"));
    assert_eq!(fill("{row}"), None);
    let spaces = |text: &str| Template::parse(text).expect("a template").fill(&Figures::default());
    assert_eq!(spaces("One. [[{a}. ]] Two.").as_deref(), Some("One. Two."));
    assert_eq!(spaces("One[[ {a}]], two[[ after]].").as_deref(), Some("One, two after."));
    assert_eq!(Template::parse("{a"), Err(TemplateError::Open("{")));
    assert_eq!(Template::parse("[[a"), Err(TemplateError::Open("[[")));
    assert_eq!(Template::parse("a]]"), Err(TemplateError::Closed));
}

#[test]
fn pages_have_the_texts_of_all_causes_and_remedies() {
    for page in pages() {
        let templates = read(page.text).unwrap_or_else(|error| panic!("{}: {error}", page.id));
        let rule = RULES.iter().find(|rule| rule.id == page.id).expect("a rule");
        let figures: Vec<&str> = rule
            .causes
            .iter()
            .chain(rule.remedies)
            .flat_map(|row| row.1)
            .copied()
            .chain(COMMON.iter().copied())
            .collect();
        let check = |what: &str, template: &Template| {
            for name in template.names() {
                assert!(figures.contains(&name), "{}, {what}: nothing has the figure {name}", page.id);
            }
        };
        for (id, _) in rule.causes {
            let text = templates.causes.get(*id).unwrap_or_else(|| panic!("{}: no text of cause {id}", page.id));
            check(id, &text.title);
            check(id, &text.reason);
            let title = text.title.fixed_length();
            assert!(title <= MOST_OF_TITLE, "{}: title of {id} has {title} characters", page.id);
        }
        for (id, _) in rule.remedies {
            let text = templates.remedies.get(*id).unwrap_or_else(|| panic!("{}: no text of remedy {id}", page.id));
            check(id, &text.remedy);
            text.assumption.iter().for_each(|assumption| check(id, assumption));
        }
        let ids = |rows: &[Row]| rows.iter().map(|row| row.0).collect::<Vec<_>>();
        for cause in templates.causes.keys() {
            assert!(ids(rule.causes).contains(&&cause[..]), "{}: nothing has the cause {cause}", page.id);
        }
        for remedy in templates.remedies.keys() {
            let plain = remedy.trim_end_matches(" (Triton)");
            assert!(ids(rule.remedies).contains(&plain), "{}: nothing has the remedy {remedy}", page.id);
        }
    }
}

#[test]
fn the_common_page_has_the_remedies_for_libraries() {
    let page = read(COMMON_PAGE).expect("a page");
    for (id, figures) in library::Remedy::TABLE {
        let text = page.remedies.get(*id).unwrap_or_else(|| panic!("no text of {id}"));
        assert!(text.remedy.names().iter().all(|name| figures.contains(name)), "{id}");
    }
}

#[test]
fn the_common_page_has_the_remarks() {
    let page = read(COMMON_PAGE).expect("a page");
    for (id, figures) in Phrase::TABLE {
        let text = page.phrases.get(*id).unwrap_or_else(|| panic!("no text of {id}"));
        assert!(text.names().iter().all(|name| figures.contains(name)), "{id}");
    }
    assert_eq!(page.phrases.len(), Phrase::TABLE.len());
}
