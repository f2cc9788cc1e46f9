//! The `warpline` command.

fn main() {}
