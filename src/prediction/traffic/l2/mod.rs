//! Traffic between DRAM and L2, from some sets of L2.
//!
//! The sets of a cache are independent, so some of them stand for all. Of a part of the launch ([`simulated_blocks`]) the lines that fall into
//! some sets are followed ([`sample`]). Which warps touch a line follows from the affine addresses ([`solutions`], [`touches`]), or the
//! addresses of all lanes are computed; the schedule gives the times. In their order ([`gathered`]) the touches pass a model of the
//! SMs' L1 ([`filter`], [`lifetime`]) and are served by the L2 of a simulation ([`run`]). First touches are counted exactly elsewhere;
//! the sample gives what is moved again, scaled to the launch ([`scale`]).

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
