//! The programs of the rounds of judging (`docs/design/findings.md`), a file for a round or for what had to be apart in it.

use super::program::Judged;

pub static FIRST: Judged = Judged::new("first");
pub static SECOND: Judged = Judged::new("second");
pub static THIRD: Judged = Judged::new("third");
pub static FOURTH: Judged = Judged::new("fourth");
pub static FIFTH: Judged = Judged::new("fifth");
pub static SIXTH: Judged = Judged::new("sixth");
pub static SIXTH_LOSS: Judged = Judged::new("sixth_loss");
pub static SIXTH_SWEEP: Judged = Judged::new("sixth_sweep");
pub static SIXTH_LIBRARY: Judged = Judged::new("sixth_library");
pub static SEVENTH: Judged = Judged::new("seventh");
pub static SEVENTH_ROWS: Judged = Judged::new("seventh_rows");
pub static SEVENTH_SERIES: Judged = Judged::new("seventh_series");
pub static EIGHTH: Judged = Judged::new("eighth");
pub static EIGHTH_MORE: Judged = Judged::new("eighth_more");
pub static NINTH: Judged = Judged::new("ninth");
pub static TENTH: Judged = Judged::on_a100("tenth");
pub static ELEVENTH: Judged = Judged::new("eleventh");
pub static TWELFTH: Judged = Judged::new("twelfth");
pub static THIRTEENTH: Judged = Judged::new("thirteenth");
pub static FOURTEENTH: Judged = Judged::on_a100("fourteenth");
pub static FOURTEENTH_LIBRARY: Judged = Judged::on_a100("fourteenth_library");
pub static FIFTEENTH: Judged = Judged::on_a100("fifteenth");
pub static FIFTEENTH_LIBRARY: Judged = Judged::on_a100("fifteenth_library");
pub static EXCHANGED_FIELDS: Judged = Judged::on_a100("exchanged_fields");
pub static IN_PLACE: Judged = Judged::on_a100("in_place");
pub static MANY_STARTS: Judged = Judged::on_a100("many_starts");
pub static PIECES: Judged = Judged::on_a100("pieces");
pub static POWER_ITERATION: Judged = Judged::new("power_iteration");
pub static RACING_INDEX: Judged = Judged::new("racing_index");
pub static SIXTEENTH: Judged = Judged::new("sixteenth");
pub static SEVENTEENTH: Judged = Judged::on_a100("seventeenth");
pub static EIGHTEENTH: Judged = Judged::on_a100("eighteenth");
pub static STATES: Judged = Judged::on_a100("states");
pub static NINETEENTH: Judged = Judged::new("nineteenth");
pub static TUNED: Judged = Judged::new("tuned");
