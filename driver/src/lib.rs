//! Warpline driver.
