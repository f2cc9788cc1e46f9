//! The tools, independent of the protocol.

mod options;
mod reading;
mod running;

pub(crate) use options::run_options;
pub(crate) use reading::{allocation, diff, explain, findings, kernel, source};
pub(crate) use running::{check, gpus, predict, profile};

use std::path::PathBuf;

use crate::error::Refusal;
use crate::profiles::Profiles;
use crate::roots::Roots;
use warpline_simulator::models;

/// State that all tools share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) roots: Roots,
    pub(crate) profiles: Profiles,
    pub(crate) executable: PathBuf,
    pub(crate) seconds: u64,
    pub(crate) memory: u64,
    /// Only one program runs at a time, because concurrent runs would slow each other down and exceed their time
    /// limits.
    pub(crate) turn: tokio::sync::Semaphore,
}

/// An answer before it is split into pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// Lines, the most important first.
    pub(crate) text: String,
    /// URI of the profile that the answer is about.
    pub(crate) profile: Option<String>,
}

impl Answer {
    fn new(text: String) -> Answer {
        Answer { text, profile: None }
    }
}

/// Accepts only the name of a built-in GPU model. The command line also accepts files, but clients may not name files.
fn model(name: &str) -> Result<&'static str, Refusal> {
    let plain = |text: &str| -> String {
        text.chars().filter(|letter| !matches!(letter, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
    };
    let found = models::names().find(|known| plain(known) == plain(name));
    found.ok_or_else(|| {
        let known: Vec<&str> = models::names().collect();
        Refusal::argument("gpu", name, format!("there is no such model; known are {}", known.join(", ")))
    })
}
