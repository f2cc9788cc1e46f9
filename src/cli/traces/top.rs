//! `warpline top`: shows the state of a program that runs under `warpline run`.

use std::io::{IsTerminal as _, stdin, stdout};
use std::path::PathBuf;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::text::Text;

use crate::cli::args::{TopArguments, TopFormat};
use crate::cli::{Failure, output};
use crate::exit_code;
use warpline_profile::live::{self, LiveError, Snapshot};
use warpline_report::live_text;

/// Time between two updates.
const EVERY: Duration = Duration::from_millis(500);

fn failure(error: &LiveError) -> Failure {
    let code = match error {
        LiveError::Unreadable(..) => exit_code::UNREADABLE,
        LiveError::Folder(_) => exit_code::UNEXPECTED,
        LiveError::Several(_) => exit_code::USAGE,
        LiveError::Nothing | LiveError::Unknown(..) => exit_code::NOTHING_MATCHED,
    };
    Failure::new(code, error)
}

pub(in crate::cli) fn execute(arguments: &TopArguments) -> Result<u8, Failure> {
    let place = place(arguments.what.as_deref()).map_err(|error| failure(&error))?;
    let snapshot = live::read(&place).map_err(|error| failure(&error))?;
    if arguments.format == TopFormat::Json {
        let mut text =
            serde_json::to_string_pretty(&snapshot).map_err(|error| Failure::new(exit_code::UNEXPECTED, error))?;
        text.push('\n');
        output::print(text.as_bytes())?;
    } else if arguments.once || !stdin().is_terminal() || !stdout().is_terminal() {
        output::print(live_text(&snapshot, width(), arguments.top).as_bytes())?;
    } else {
        watch(&place, snapshot, arguments.top)
            .map_err(|error| Failure::new(exit_code::UNEXPECTED, format!("cannot use the terminal: {error}")))?;
        output::say("the run has ended, or the connection was closed");
    }
    Ok(exit_code::OK)
}

/// Returns the snapshot of a process, a given file, or the snapshot of the only run.
fn place(what: Option<&str>) -> Result<PathBuf, LiveError> {
    match what {
        None => live::find(None),
        Some(text) => match text.parse() {
            Ok(pid) => live::find(Some(pid)),
            Err(_) => Ok(PathBuf::from(text)),
        },
    }
}

fn width() -> usize {
    terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0)).max(60)
}

/// Shows the run until it has ended or the user quits.
fn watch(place: &std::path::Path, mut snapshot: Snapshot, top: usize) -> std::io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let result = loop {
        let drawn = terminal.draw(|frame| {
            let area = frame.area();
            let text =
                live_text(&snapshot, usize::from(area.width), top.min(usize::from(area.height).saturating_sub(8)));
            frame.render_widget(Text::raw(format!("{text}\nq closes this view; the program continues")), area);
        });
        if let Err(error) = drawn {
            break Err(error);
        }
        let key = match event::poll(EVERY) {
            Ok(true) => match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => Some(key),
                Ok(_) => None,
                Err(error) => break Err(error),
            },
            Ok(false) => None,
            Err(error) => break Err(error),
        };
        let leaves = key.is_some_and(|key| {
            matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
                || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
        });
        if leaves || !live::is_running(snapshot.pid) {
            break Ok(());
        }
        match live::read(place) {
            Ok(next) => snapshot = next,
            // The snapshot is removed when the run ends.
            Err(_) => break Ok(()),
        }
    };
    ratatui::restore();
    result
}
