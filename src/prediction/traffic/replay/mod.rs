//! Some blocks of a launch, request by request, through the L1 of the SM that they share.
//!
//! How much of what a block loads again is still in L1 depends on the order in which the warps of its SM come to their
//! loads, which no footprint tells: a loop that walks rows thread by thread needs a line per thread, whatever the loop touches
//! in all. Addresses are known here, so a few thousand requests of one SM are served as a run's are, by the same code, in the
//! order of the same scheduler, and what they miss stands for the launch.
//!
//! [`program`] puts accesses into their loops, [`turn`] says where a turn ends, [`turns`] counts those of a warp, [`dealt`] works out from it which blocks an SM
//! gets, [`requests`] knows the pieces of a warp's requests, [`sm`] deals turns to the warps of one SM, [`effort`] says how much is looked at, [`sample`] chooses SMs and
//! adds up. [`timeline`] says when all blocks of a launch have their turns, block by block ([`in_turn`], [`residents`], [`rotations`]) or, far from its begin, at once ([`under_way`]), [`laps`] in which of them an access is made: that is for `sampled`, which looks at all of them.

mod code;
mod counted;
mod dealt;
mod effort;
mod in_turn;
mod laps;
mod program;
mod requests;
mod residents;
mod rotations;
mod sample;
mod sm;
mod soonest;
mod timeline;
mod turn;
mod turns;
mod under_way;

pub use counted::Counted;
pub use laps::turns_of_laps;
pub use sample::{Replay, golden, replay};
pub use timeline::Timeline;
pub use turn::turns_of;
