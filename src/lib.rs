//! Warpline.
