//! A recording of a terminal as one animated SVG, which shows the pictures of its screen one after the other in an
//! endless loop.

use std::fmt::Write as _;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

/// The size of a cell in pixels.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 18.0;
/// The margin around the screen.
const MARGIN: f64 = 12.0;

/// A screen, and the number of seconds for which it is shown.
pub struct Scene {
    pub screen: Buffer,
    pub seconds: f64,
}

/// Returns the recording; `title` describes it for screen readers.
pub fn svg(scenes: &[Scene], title: &str) -> String {
    let area = scenes[0].screen.area;
    let (width, height) =
        (f64::from(area.width) * WIDTH + 2.0 * MARGIN, f64::from(area.height) * HEIGHT + 2.0 * MARGIN);
    let whole: f64 = scenes.iter().map(|scene| scene.seconds).sum();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">\n<style>\n\
         text {{ font: 14px ui-monospace, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; fill: #d8dee9; white-space: pre }}\n\
         .b {{ font-weight: bold; fill: #fff }} .d {{ fill: #9aa5b5 }} .u {{ text-decoration: underline }} .r {{ fill: #1b2028 }}\n\
         .g {{ fill: #a3be8c }} .y {{ fill: #ebcb8b }} .e {{ fill: #f0808a }}\n",
        escaped(title)
    );
    let mut begin = 0.0;
    for (number, scene) in scenes.iter().enumerate() {
        let end = begin + scene.seconds;
        let percent = |seconds: f64| 100.0 * seconds / whole;
        _ = writeln!(
            out,
            ".s{number} {{ animation: s{number} {whole:.1}s step-end infinite }}\n@keyframes s{number} {{ 0% {{ visibility: {} }} {:.2}% {{ visibility: visible }} {:.2}% {{ visibility: hidden }} }}",
            if number == 0 { "visible" } else { "hidden" },
            percent(begin),
            percent(end),
        );
        begin = end;
    }
    _ = writeln!(out, "</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#1b2028\"/>");
    for (number, scene) in scenes.iter().enumerate() {
        _ = writeln!(out, "<g class=\"s{number}\">");
        let rows = scene.screen.content.chunks(usize::from(area.width));
        for (row, cells) in rows.enumerate() {
            write_row(&mut out, row, cells);
        }
        out.push_str("</g>\n");
    }
    out.push_str("</svg>\n");
    out
}

/// Writes a row; adjacent cells with the same style are in one element.
fn write_row(out: &mut String, row: usize, cells: &[Cell]) {
    let mut at = 0;
    while at < cells.len() {
        let class = class_of(&cells[at]);
        let end = (at..cells.len()).find(|&other| class_of(&cells[other]) != class).unwrap_or(cells.len());
        let text: String = cells[at..end].iter().map(Cell::symbol).collect();
        let (x, y) = (MARGIN + at as f64 * WIDTH, MARGIN + row as f64 * HEIGHT);
        let width = (end - at) as f64 * WIDTH;
        if class.split(' ').any(|one| one == "r") {
            _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"#d8dee9\"/>"
            );
        }
        let shown = text.trim_end();
        if !shown.trim().is_empty() {
            let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
            let length = shown.chars().count() as f64 * WIDTH;
            _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{length:.1}\"{class} xml:space=\"preserve\">{}</text>",
                y + 13.0,
                escaped(shown)
            );
        }
        at = end;
    }
}

fn class_of(cell: &Cell) -> String {
    let modifiers =
        [(Modifier::BOLD, "b"), (Modifier::DIM, "d"), (Modifier::UNDERLINED, "u"), (Modifier::REVERSED, "r")];
    let color = match cell.fg {
        Color::Green => Some("g"),
        Color::Yellow => Some("y"),
        Color::Red => Some("e"),
        _ => None,
    };
    let set = modifiers.into_iter().filter(|(modifier, _)| cell.modifier.contains(*modifier)).map(|(_, class)| class);
    set.chain(color).collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
