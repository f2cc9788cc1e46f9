//! Warpline pass.
