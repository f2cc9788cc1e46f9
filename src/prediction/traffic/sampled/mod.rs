//! Some sets of L2, request by request.
//!
//! The sets of a cache know nothing of each other, so some of them stand for all: of the lines that a launch touches, those that fall into some sets of some slices
//! are looked at ([`sample`]). Addresses are affine, so it can be solved which warps touch a line, by which accesses ([`solutions`], [`touches`]), and when they do is what
//! the scheduler says (`replay::timeline`). Put into order ([`gathered`]), these touches go through the L1 of their SMs ([`first_level`], [`lifetime`]), and what those have not
//! goes to the same L2 that a run has ([`run`]). What is touched at all is counted exactly elsewhere; the sample says what is moved again ([`launch`]).

mod direction;
mod first_level;
mod footprint;
mod gathered;
mod launch;
mod lifetime;
mod narrowed;
mod run;
mod sample;
mod section;
mod solutions;
mod touches;
