//! Converts host call paths and device inline chains to frames of the profile.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use warpline_format::event::PathId;
use warpline_format::site_table::FrameId;

use crate::model::Frame;
use warpline_analyzer::analysis::Analysis;
use warpline_analyzer::attribution::{HostSources, Module, Symbolizer};

/// Resolves paths, each once.
pub(in crate::build) struct Paths<'a> {
    analysis: &'a Analysis,
    symbols: Symbolizer,
    known: HashMap<PathId, Vec<Frame>>,
}

impl<'a> Paths<'a> {
    pub(in crate::build) fn new(analysis: &'a Analysis) -> Paths<'a> {
        let objects = analysis.objects.iter().map(|(id, object)| (*id, object.path.as_str(), &object.build_id[..]));
        Paths { analysis, symbols: Symbolizer::new(objects, &analysis.interpreted), known: HashMap::new() }
    }

    /// Returns a call path, outermost frame first; empty for path 0 and undeclared paths.
    pub(in crate::build) fn host(&mut self, path: PathId) -> Vec<Frame> {
        if let Some(known) = self.known.get(&path) {
            return known.clone();
        }
        let frames = self.analysis.paths.get(&path).map_or(&[][..], |frames| &frames[..]);
        let resolved: Vec<Frame> = self
            .symbols
            .path(frames)
            .into_iter()
            .map(|frame| Frame { function: frame.function, file: frame.file, line: frame.line, column: frame.column })
            .collect();
        self.known.insert(path, resolved.clone());
        resolved
    }

    /// Returns the known properties of these source files from the program's objects.
    pub(in crate::build) fn host_sources(&mut self, wanted: &BTreeSet<&str>) -> HostSources {
        self.symbols.sources(wanted)
    }

    /// Returns the main source files of the program, each with a flag for clang.
    pub(in crate::build) fn makers(&self) -> BTreeMap<String, bool> {
        self.symbols.makers()
    }

    pub(in crate::build) fn problems(&self) -> &[String] {
        self.symbols.problems()
    }
}

/// Returns a frame of a site table.
pub(in crate::build) fn device_frame(module: &Module, frame: FrameId) -> Frame {
    let entry = &module.table.frames[frame as usize];
    Frame {
        function: entry.function.clone(),
        file: module.table.files[entry.file as usize].path.clone(),
        line: entry.line,
        column: entry.column,
    }
}

/// The source positions of an inline chain (innermost first).
pub(in crate::build) struct ChainPlace {
    /// User frame; empty if the chain is empty.
    pub(in crate::build) user: Frame,
    /// True innermost frame.
    pub(in crate::build) leaf: Frame,
    /// Frames from the user frame outwards, without the user frame.
    pub(in crate::build) inlined_at: Vec<Frame>,
}

impl ChainPlace {
    /// Returns the line of the outermost frame. It is in the kernel unless the function was not inlined.
    pub(in crate::build) fn kernel_line(&self) -> u32 {
        self.inlined_at.last().unwrap_or(&self.user).line
    }
}

pub(in crate::build) fn chain_place(module: &Module, chain: &[FrameId]) -> ChainPlace {
    let frames: Vec<Frame> = chain.iter().map(|&frame| device_frame(module, frame)).collect();
    match module.user_frame(chain) {
        Some(user) => {
            ChainPlace { user: frames[user].clone(), leaf: frames[0].clone(), inlined_at: frames[user + 1..].to_vec() }
        }
        None => ChainPlace { user: Frame::default(), leaf: Frame::default(), inlined_at: Vec::new() },
    }
}
