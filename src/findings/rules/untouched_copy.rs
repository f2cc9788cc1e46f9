//! Data that is copied to the device and that no kernel touches.

use super::super::facts::untouched::{Layout, Untouched, untouched};
use super::super::phrase::Phrase;
use super::super::prelude::*;
use warpline_profile::BUS_BYTES_PER_SECOND;

described! {
    enum Cause {
        Never => "never-touched",
        Pieces { touched: Bytes, share: Share } => "pieces",
        Scattered { touched: Bytes, share: Share } => "scattered",
        Contiguous { touched: Bytes, share: Share } => "one-part",
    }
    enum Remedy {
        Remove => "remove-copy",
        CopyPieces => "copy-pieces",
        Pack => "pack-elements",
        CopyPart => "copy-part",
    }
}

pub fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let found = if facts.is_whole_run() { untouched(facts) } else { Vec::new() };
    found.iter().map(|one| draft(facts, one)).collect()
}

fn diagnosis(one: &Untouched<'_>, layout: Layout) -> Diagnosis {
    let (touched, share) = (Bytes(one.touched), Share(share(one.touched, one.whole)));
    let (cause, remedy) = match layout {
        Layout::Whole => (Cause::Never, Remedy::Remove),
        Layout::Pieces => (Cause::Pieces { touched, share }, Remedy::CopyPieces),
        Layout::Scattered => (Cause::Scattered { touched, share }, Remedy::Pack),
        Layout::Contiguous => (Cause::Contiguous { touched, share }, Remedy::CopyPart),
    };
    let mut diagnosis = Diagnosis::new(&cause, &remedy);
    let memory = describe(one.allocation);
    let is_alone = one.allocations == one.allocation.count.max(1);
    let alike = |memory| Phrase::Alike { count: Count(one.allocations), memory }.shown();
    diagnosis.figures.set("memory", if is_alone { memory } else { alike(memory) });
    diagnosis.figures.set("copied", Bytes(one.copied));
    diagnosis
}

fn draft(facts: &Facts<'_>, one: &Untouched<'_>) -> Draft {
    let layout = one.layout(facts);
    let seconds = one.wasted as f64 / BUS_BYTES_PER_SECOND;
    // If data selects the touched pieces, it is unknown which pieces can be omitted, and whether their distances are
    // equal.
    let is_known = matches!(layout, Layout::Whole | Layout::Contiguous);
    let draft = Draft::new(diagnosis(one, layout))
        .at_frame(one.frame)
        .of_allocation(one.allocation.id)
        .object(one.allocation.name.clone())
        .evidence("copied_bytes", one.copied as f64)
        .evidence("touched_bytes", one.touched as f64)
        .gain(facts.program_gain(seconds).filter(|_| is_known))
        .score(facts.program_share(seconds));
    draft.note_if(layout == Layout::Scattered)
}
