//! Warpline runtime.
