//! What this build is.

/// The version of the workspace, and so of the wheel.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Whether this is an unoptimised build, whose speed says nothing about the product's.
pub const IS_DEBUG: bool = cfg!(debug_assertions);
