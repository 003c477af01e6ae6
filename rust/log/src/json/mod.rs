//! Canonical JSON: the one spelling of a value that a log payload may have.
//!
//! [`Value`] reads any JSON and writes the canonical form; [`scan`] accepts nothing but the canonical form, without a tree.
//! `FORMAT.md` states the rules.

mod bytes;
mod encode;
pub mod scan;
mod text;
mod value;

use std::fmt;

pub use encode::{write_object, write_string};
pub use scan::{items, members};
pub use text::Text;
pub use value::Value;

/// Objects and arrays nest at most this deep. Bounds the stack, since the readers recurse.
pub const MAX_DEPTH: usize = 128;

const TOO_DEEP: &str = "nesting beyond 128 levels";

/// Why a text is not JSON, is not canonical, or cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset in the text; for a value being written, in what was written so far.
    pub offset: usize,
    /// What is wrong, in one clause.
    pub what: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.offset)
    }
}

impl std::error::Error for JsonError {}
