//! Passes an arbitrary trace to the code of `warpline sim` and `warpline report`.

use warpline::analyses::pages::PageSettings;
use warpline::analysis::{NoProgress, analyze_for};
use warpline::models;
use warpline::profile::{self, BuildInput, RunFacts, Sources};
use warpline::simulation::Settings;
use warpline::trace::TraceReader;
use warpline_format::chunk::{CHUNK_HEAD_BYTES, ChunkHead, ChunkKind, HEADER_BYTES};
use warpline_format::device::Device;
use warpline_format::event::Event;

/// Reads, simulates and reports the input, unchanged and with all checksums corrected.
pub fn run(data: &[u8]) {
    simulate(data);
    if let Some(sealed) = sealed(data) {
        simulate(&sealed);
    }
}

fn simulate(trace: &[u8]) {
    let Ok(reader) = TraceReader::new(trace) else { return };
    let model = models::find("t4").expect("a built-in model");
    let mut settings = Settings::new(model.hierarchy().expect("a built-in model"));
    // A bit of the input selects between the kinds of copies and of pages.
    settings.warm_copies = trace.len().is_multiple_of(2);
    settings.pages = Some(PageSettings { page_bytes: 4096, window: 16, reach_bytes: Some(1 << 20) });
    let device = Device::rtx_2080_ti();
    let Ok(analysis) = analyze_for(reader, 1, &settings, device, &mut NoProgress) else { panic!("a worker was lost") };
    let facts = RunFacts {
        device: "cpu".into(),
        models: vec!["t4".into()],
        rates: vec![model.rates()],
        pages: settings.pages,
        ended_by_itself: true,
        // No file of this machine may be read.
        sources: Sources::Fitting { roots: Vec::new() },
        ..RunFacts::default()
    };
    let profile = profile::build(BuildInput { analysis: &analysis, facts });
    let bytes = profile::file::to_bytes(&profile);
    match profile::file::from_bytes(&bytes, std::path::Path::new("x")) {
        Ok(read) => assert_eq!(read.kernels.len(), profile.kernels.len()),
        Err(error) => assert!(error.to_string().contains("counts that no run can have"), "{error}"),
    }
    super::profile::report(&profile);
}

/// Returns the same chunks with the numbers and checksums that a writer would have used; a site table has its own
/// checksum. Returns `None` if there is not even one chunk.
pub fn sealed(data: &[u8]) -> Option<Vec<u8>> {
    let mut out = warpline_format::chunk::header().to_vec();
    let mut rest = data.get(HEADER_BYTES..)?;
    let mut sequence = 0;
    while let Some(head) = rest.first_chunk::<CHUNK_HEAD_BYTES>() {
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let behind = &rest[CHUNK_HEAD_BYTES..];
        let payload = &behind[..behind.len().min(word(8) as usize)];
        rest = &behind[payload.len()..];
        let kind = if word(4) == ChunkKind::Access as u32 { ChunkKind::Access } else { ChunkKind::Event };
        let payload = match Event::from_bytes(payload) {
            Ok(Event::Module { id, site_table }) if kind == ChunkKind::Event => {
                Event::Module { id, site_table: super::site_table::sealed(&site_table) }.to_bytes()
            }
            _ => payload.to_vec(),
        };
        out.extend(ChunkHead::new(kind, sequence, &[&payload]).to_bytes());
        out.extend(payload);
        sequence += 1;
    }
    (sequence > 0).then_some(out)
}
