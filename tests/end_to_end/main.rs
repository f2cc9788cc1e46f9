//! Whole programs: built with `warpline-cc`, run, and compared with what they must count.

mod device_modules;
mod emulated_gpu;
mod examples;
mod failures;
mod gpu_suite;
mod long_runs;
mod messages;
mod modelled;
mod mpi;
mod naming;
mod native_threads;
mod nvrtc;
mod on_demand;
mod operations;
mod programs;
mod relocatable;
mod reproducible;
mod skill;
mod stops;

#[path = "../support/mod.rs"]
mod support;
#[path = "../support_programs/mod.rs"]
mod support_programs;
