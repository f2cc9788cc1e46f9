//! Traffic between DRAM and L2, from some sets of L2.
//!
//! The sets of a cache are independent, so a sample of sets represents all of them. The simulation follows the lines of
//! the sampled sets ([`sample`]) in a part of the launch ([`simulated_blocks`]). The warps that touch a line follow
//! from the affine addresses ([`solutions`], [`touches`]); addresses that are not affine are computed for all lanes.
//! The schedule gives the times. In time order ([`gathered`]) the touches pass a model of the SMs' L1 ([`filter`],
//! [`lifetime`]), and the simulator's L2 serves the rest ([`run`]). First touches are counted exactly elsewhere; the
//! sample gives the repeated transfers, scaled to the launch ([`scale`]).

mod access_group;
mod direction;
mod filter;
mod gathered;
mod lifetime;
mod reuse;
mod run;
mod sample;
mod scale;
mod second_level;
mod simulated_blocks;
mod solutions;
mod touches;
