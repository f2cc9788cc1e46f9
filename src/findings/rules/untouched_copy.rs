//! Data that is copied to the device and that no kernel touches.

use super::super::diagnosis::{Bytes, Diagnosis, Share, Shown, described};
use super::super::draft::Draft;
use super::super::facts::access::share;
use super::super::facts::untouched::{Layout, Untouched, untouched};
use super::super::facts::{Facts, describe};
use super::super::words;
use warpline_profile::BUS_BYTES_PER_SECOND;
use warpline_profile::model::Severity;

described! {
    pub(in super::super) enum Cause {
        /// No kernel touches any of it.
        Never { copied: Bytes, memory: Shown } => "never-touched",
        /// Kernels touch a part of each row.
        PartOfRows { copied: Bytes, memory: Shown, touched: Bytes, share: Share, pitch: Bytes } => "part-of-rows",
        /// Kernels touch pieces at fixed positions.
        Pieces { copied: Bytes, memory: Shown, touched: Bytes, share: Share } => "pieces",
        /// Kernels touch single elements, or pieces that data chooses.
        Scattered { copied: Bytes, memory: Shown, touched: Bytes, share: Share } => "scattered",
        /// Kernels touch one part.
        Part { copied: Bytes, memory: Shown, touched: Bytes, share: Share } => "one-part",
    }
}

described! {
    pub(in super::super) enum Remedy {
        /// No copy.
        Remove => "remove-copy",
        /// Rows without their padding.
        PackRows => "pack-rows",
        /// Rows of another pitch.
        CopyRows => "copy-part-of-rows",
        /// The same, or a packed copy.
        CopyPieces => "copy-pieces",
        /// A packed copy.
        Pack => "pack-elements",
        /// A shorter copy.
        CopyPart => "copy-part",
    }
}

pub(in super::super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    if !facts.is_whole_run() {
        return Vec::new();
    }
    untouched(facts).iter().map(|one| draft(facts, one)).collect()
}

fn diagnosis(one: &Untouched<'_>, layout: Layout) -> Diagnosis {
    let memory = Shown(match one.allocations {
        alone if alone == one.allocation.count.max(1) => describe(one.allocation),
        several => format!("{} allocations like {}", words::count(several), describe(one.allocation)),
    });
    let (copied, touched) = (Bytes(one.copied), Bytes(one.touched));
    let share = Share(share(one.touched, one.whole));
    let (cause, remedy) = match layout {
        Layout::Whole => (Cause::Never { copied, memory }, Remedy::Remove),
        Layout::Rows(rows) => (
            Cause::PartOfRows { copied, memory, touched, share, pitch: Bytes(rows.pitch_bytes) },
            if rows.equal { Remedy::CopyRows } else { Remedy::PackRows },
        ),
        Layout::Pieces => (Cause::Pieces { copied, memory, touched, share }, Remedy::CopyPieces),
        Layout::Scattered => (Cause::Scattered { copied, memory, touched, share }, Remedy::Pack),
        Layout::Part => (Cause::Part { copied, memory, touched, share }, Remedy::CopyPart),
    };
    Diagnosis::new(&cause, &remedy)
}

fn draft(facts: &Facts<'_>, one: &Untouched<'_>) -> Draft {
    let layout = one.layout(facts);
    let seconds = one.wasted as f64 / BUS_BYTES_PER_SECOND;
    // Which pieces can be left out is not known of those that are chosen, nor whether they are at equal distances.
    let is_known = !matches!(layout, Layout::Pieces | Layout::Scattered);
    let draft = Draft::of(diagnosis(one, layout))
        .at_frame(one.frame)
        .of_allocation(one.allocation.id)
        .object(one.allocation.name.clone())
        .evidence("copied_bytes", one.copied as f64)
        .evidence("touched_bytes", one.touched as f64)
        .gain(facts.program_gain(seconds).filter(|_| is_known))
        .score(facts.program_share(seconds));
    if layout == Layout::Scattered { draft.severity(Severity::Note) } else { draft }
}
