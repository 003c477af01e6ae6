//! The hash-chained log of a cyberos store.
//!
//! Pure Rust, no Python. The byte formats are described in `FORMAT.md` beside this crate; every binary position lives in
//! [`mod@format`]. The layers, lowest first: [`medium`] (files), [`mod@format`] (bytes), [`json`] and [`row`] (payloads),
//! [`segment`] (reading), [`index`] and [`objects`] (finding), [`log`] (appending and recovery), [`history`], [`store`], [`survey`] and [`export`].
//! Beside them [`transcript`], which has the same frames in files of its own.

pub mod diff;
pub mod error;
pub mod export;
pub mod format;
pub mod hash;
pub mod history;
pub mod index;
pub mod json;
mod lease;
pub mod log;
pub mod manifest;
pub mod medium;
pub mod objects;
pub mod row;
pub mod segment;
pub mod store;
pub mod survey;
mod time;
pub mod transcript;
pub mod tree;

pub use error::{LogError, Result};
pub use hash::Digest;
pub use lease::Holder;
