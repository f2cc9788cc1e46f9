//! Draws a session.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use warpline_format::visible;

use super::page::{Columns, GAP, Item, Page};
use super::session::Session;
use crate::views::{Block, Cell, Table};

/// Width of a label in columns.
const LABEL: usize = 12;
/// Characters of a heat bar.
const BAR: usize = 5;

/// Draws the session. Without colours, the text is the same.
pub fn draw(session: &mut Session, frame: &mut Frame<'_>, color: bool) {
    let [tabs, trail, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(1), Constraint::Length(2)])
            .areas(frame.area());
    session.set_height(usize::from(body.height));
    frame.render_widget(tab_line(session, usize::from(tabs.width)), tabs);
    let trail_text = session.trail().join(" > ");
    frame.render_widget(Line::from(end_of(&visible::name(&trail_text), usize::from(trail.width))).bold(), trail);
    let lines = page_lines(session.page(), body, color);
    for (line, row) in lines.into_iter().zip(body.rows()) {
        frame.render_widget(line, row);
    }
    let [meaning, keys] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(foot);
    frame.render_widget(meaning_line(session), meaning);
    frame.render_widget(key_line(session), keys);
}

fn tab_line(session: &Session, width: usize) -> Line<'static> {
    let (names, chosen) = session.tabs();
    // If there is not enough room for all names, only the selected one is written in full.
    let whole: usize = names.iter().map(|name| name.len() + 5).sum();
    let mut spans = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let text =
            if whole <= width || at == chosen { format!(" {} {name} ", at + 1) } else { format!(" {} ", at + 1) };
        let style = if at == chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        spans.extend([Span::styled(text, style), Span::raw(" ")]);
    }
    if !session.is_complete() {
        spans.push(Span::styled("incomplete", Style::new().add_modifier(Modifier::BOLD)));
    }
    Line::from(spans)
}

/// Returns the description of the selected column, or the current message.
fn meaning_line(session: &mut Session) -> Line<'static> {
    if let Some(typed) = session.typed() {
        return Line::from(format!("show only: {}_", visible::name(typed))).bold();
    }
    if let Some(message) = session.message() {
        return Line::from(visible::name(message).into_owned()).bold();
    }
    let page = session.page();
    let filter = if page.filter.is_empty() { String::new() } else { format!("only rows with `{}`  ", page.filter) };
    let column = page.table().and_then(|table| table.columns.get(page.column));
    let meaning = column.filter(|column| !column.meaning.is_empty());
    let meaning = meaning.map_or(String::new(), |column| format!("{}: {}", column.name, column.meaning));
    Line::from(format!("{}{meaning}", visible::name(&filter))).dim()
}

fn key_line(session: &Session) -> Line<'static> {
    let text = if session.typed().is_some() {
        "Enter shows rows with these words, Esc does not"
    } else {
        "Enter go  Backspace back  Tab list  s sort  / filter  e edit  ? keys  q leave"
    };
    Line::from(text).dim()
}

/// Returns the visible lines of a page, after scrolling to the cursor.
fn page_lines(page: &mut Page, area: Rect, color: bool) -> Vec<Line<'static>> {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let layouts = page.layouts(width).to_vec();
    let heights: Vec<usize> = page.items.iter().map(|&item| item_height(page, item, width)).collect();
    let before: usize = heights[..page.cursor.min(heights.len())].iter().sum();
    let own = heights.get(page.cursor).copied().unwrap_or(1);
    if before < page.scroll {
        page.scroll = before;
    } else if before + own > page.scroll + height {
        page.scroll = before + own - height.min(own.max(height));
    }
    let mut lines = Vec::with_capacity(height);
    let mut at = 0;
    for (number, (&item, &high)) in page.items.iter().zip(&heights).enumerate() {
        if at >= page.scroll + height {
            break;
        }
        if at + high > page.scroll {
            let chosen = number == page.cursor;
            let shown = item_lines(page, item, width, &layouts, chosen, color);
            let skipped = page.scroll.saturating_sub(at);
            lines.extend(shown.into_iter().skip(skipped));
        }
        at += high;
    }
    lines.truncate(height);
    lines
}

fn item_height(page: &Page, item: Item, width: usize) -> usize {
    match (item, block_of(page, item)) {
        (Item::Fact(_, at), Some(Block::Facts(facts))) => wrap(&facts[at].text, width.saturating_sub(LABEL)).len(),
        (Item::Prose(_), Some(Block::Prose(text))) => wrap(text, width).len(),
        _ => 1,
    }
}

fn block_of(page: &Page, item: Item) -> Option<&Block> {
    match item {
        Item::Blank => None,
        Item::Heading(block)
        | Item::Head(block)
        | Item::Row(block, _)
        | Item::Fact(block, _)
        | Item::Code(block, _)
        | Item::Prose(block) => page.view.blocks.get(block),
    }
}

fn item_lines(
    page: &Page,
    item: Item,
    width: usize,
    layouts: &[Columns],
    chosen: bool,
    color: bool,
) -> Vec<Line<'static>> {
    let mark = |line: Line<'static>| if chosen { line.patch_style(Modifier::REVERSED) } else { line };
    let layout = |block: usize| layouts.get(block).map_or(&[][..], |layout| &layout[..]);
    match (item, block_of(page, item)) {
        (Item::Heading(_), Some(Block::Table(table))) => vec![Line::from(table.heading.clone()).bold()],
        (Item::Heading(_), Some(Block::Source(source))) => {
            vec![Line::from(end_of(&visible::name(&source.file), width)).bold()]
        }
        (Item::Head(block), Some(Block::Table(table))) => {
            let here = page.table().is_some_and(|other| std::ptr::eq(other, table));
            vec![head(table, layout(block), here.then_some(page.column))]
        }
        (Item::Row(block, at), Some(Block::Table(table))) => vec![mark(row(table, at, layout(block), color, chosen))],
        (Item::Fact(_, at), Some(Block::Facts(facts))) => {
            let fact = &facts[at];
            let label = |line: usize| if line == 0 { format!("{:<LABEL$}", fact.label) } else { " ".repeat(LABEL) };
            let lines = wrap(&fact.text, width.saturating_sub(LABEL)).into_iter().enumerate();
            lines.map(|(line, text)| mark(Line::from(vec![Span::from(label(line)).bold(), Span::from(text)]))).collect()
        }
        (Item::Code(_, at), Some(Block::Source(source))) => {
            let line = &source.lines[at];
            let sign = if line.marked { '>' } else { ' ' };
            let text = format!("{sign}{} {:>5} {}", bar(line.heat), line.number, visible::source_line(&line.text));
            let shown = Line::from(text);
            vec![mark(if line.marked { shown.bold() } else { shown })]
        }
        (Item::Prose(_), Some(Block::Prose(text))) => {
            wrap(text, width).into_iter().map(|line| mark(Line::from(line))).collect()
        }
        _ => vec![Line::default()],
    }
}

fn head(table: &Table, layout: &[(usize, usize)], chosen: Option<usize>) -> Line<'static> {
    let mut spans = Vec::new();
    for &(column, width) in layout {
        let name = table.columns[column].name;
        let text = if table.sorted == Some(column) {
            let sign = if table.descending() { '↓' } else { '↑' };
            format!("{sign}{name}")
        } else {
            name.to_owned()
        };
        let style = match (chosen == Some(column), table.sorted == Some(column)) {
            (true, _) => Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD),
            (false, true) => Style::new().add_modifier(Modifier::UNDERLINED),
            (false, false) => Style::new().add_modifier(Modifier::DIM),
        };
        push_cell(&mut spans, &text, width, table.has_figures(column), style);
    }
    Line::from(spans)
}

fn row(table: &Table, at: usize, layout: &[(usize, usize)], color: bool, chosen: bool) -> Line<'static> {
    let mut spans = Vec::new();
    for &(column, width) in layout {
        let cell = table.rows[at].cells.get(column).unwrap_or(&Cell::Nothing);
        let style = if color && !chosen { quality(cell) } else { Style::new() };
        push_cell(&mut spans, &visible::name(&cell.text()), width, table.has_figures(column), style);
    }
    Line::from(spans)
}

/// Appends a cell: figures are aligned right, words left.
fn push_cell(spans: &mut Vec<Span<'static>>, text: &str, width: usize, right: bool, style: Style) {
    let shown = start_of(text, width);
    let blanks = width.saturating_sub(Span::raw(&shown).width());
    let (left, after) = if right { (blanks, GAP) } else { (0, blanks + GAP) };
    spans.extend([Span::raw(" ".repeat(left)), Span::styled(shown, style), Span::raw(" ".repeat(after))]);
}

/// Returns the colour of a share for which high values are good, as in the text report.
fn quality(cell: &Cell) -> Style {
    match cell {
        Cell::Quality(share) if *share < 0.4 => Style::new().fg(Color::Red),
        Cell::Quality(share) if *share < 0.8 => Style::new().fg(Color::Yellow),
        Cell::Quality(_) => Style::new().fg(Color::Green),
        _ => Style::new(),
    }
}

fn bar(heat: f64) -> String {
    let full = (heat.clamp(0.0, 1.0) * BAR as f64).ceil() as usize;
    format!("{}{}", "#".repeat(full), if heat > 0.0 { "." } else { " " }.repeat(BAR - full))
}

/// Returns as many characters from the start as fit into the width.
fn start_of(text: &str, width: usize) -> String {
    if Span::raw(text).width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    for character in text.chars() {
        shown.push(character);
        if Span::raw(&shown).width() + 1 > width {
            shown.pop();
            break;
        }
    }
    shown.push('…');
    shown
}

/// Returns as many characters from the end as fit into the width.
fn end_of(text: &str, width: usize) -> String {
    if Span::raw(text).width() <= width {
        return text.to_owned();
    }
    let skipped = text.chars().count().saturating_sub(width.saturating_sub(1));
    format!("…{}", text.chars().skip(skipped).collect::<String>())
}

/// Wraps text into lines; words longer than a line are split.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(10);
    let text = visible::name(text);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest = word;
        loop {
            let last = lines.last_mut().expect("there is always a line");
            let used = Span::raw(&*last).width();
            let gap = usize::from(used > 0);
            if used + gap + Span::raw(rest).width() <= width {
                if used > 0 {
                    last.push(' ');
                }
                last.push_str(rest);
                break;
            }
            if used > 0 {
                lines.push(String::new());
                continue;
            }
            let fits: String = rest.chars().take(width / 2).collect();
            rest = &rest[fits.len()..];
            last.push_str(&fits);
            lines.push(String::new());
        }
    }
    lines
}
