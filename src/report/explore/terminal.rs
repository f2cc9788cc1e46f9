//! Reads keys from the terminal, draws the session, and runs the editor.

use std::io::{IsTerminal as _, stdin, stdout};
use std::path::Path;
use std::process::Command;

use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::draw::draw;
use super::editor;
use super::session::{Action, Session};

/// Reasons why a session cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// Input or output is not a terminal.
    #[error("explore needs a terminal; `warpline report` answers the same questions as text, Markdown or JSON")]
    NoTerminal,
    /// The terminal failed.
    #[error("cannot use the terminal: {0}")]
    Terminal(#[from] std::io::Error),
}

/// Runs the session until the user quits.
///
/// # Errors
/// Returns an error if there is no terminal, or if it fails.
pub fn run(session: &mut Session, color: bool) -> Result<(), ExploreError> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(ExploreError::NoTerminal);
    }
    let mut terminal = ratatui::try_init()?;
    let result = (|| {
        loop {
            terminal.draw(|frame| draw(session, frame, color))?;
            let Event::Key(key) = event::read()? else { continue };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            match session.key(key) {
                Action::Draw => {}
                Action::Leave => return Ok(()),
                Action::Edit { file, line } => {
                    if !Path::new(&file).exists() {
                        session.show_message(format!("{file} is not on this machine"));
                        continue;
                    }
                    ratatui::try_restore()?;
                    let outcome = edit(&file, line);
                    terminal = ratatui::try_init()?;
                    if let Err(message) = outcome {
                        session.show_message(message);
                    }
                }
            }
        }
    })();
    ratatui::restore();
    result
}

fn edit(file: &str, line: u32) -> Result<(), String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_default();
    let words = editor::command(&editor, file, line);
    match Command::new(&words[0]).args(&words[1..]).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{} ended with {status}", words[0].to_string_lossy())),
        Err(error) => Err(format!("{}: {error}; set VISUAL or EDITOR", words[0].to_string_lossy())),
    }
}
