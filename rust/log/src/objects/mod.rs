//! Version bodies: the bytes of every version of every memory, found by their SHA-256.
//!
//! Bodies lie in append-only packs that use the log's frame codec; `FORMAT.md` describes them. [`BodyWriter`] appends, erases
//! and recovers and belongs to the holder of the store's lock; [`BodyReader`] needs no lock and never writes. Both find
//! bodies through a derived index and read the frames behind it; without an index they read all frames.

mod bodies;
mod catalog;
mod codec;
mod in_order;
mod packs;
mod purge;
mod reader;
mod recover;
mod returned;
mod scan;
mod tail;
#[cfg(test)]
mod tests;
mod writer;

pub use bodies::{Bodies, Stored};
pub(crate) use codec::encode_plain;
pub use codec::{Compressed, MAX_BODY, compress};
pub use in_order::InOrder;
pub use purge::PurgeReport;
pub use reader::BodyReader;
pub use writer::{BodyWriter, PACK_LIMIT};

/// What is stored under a SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// The body; it has that SHA-256.
    Found(Vec<u8>),
    /// There was one, and it was erased.
    Purged,
    /// There was never one.
    Absent,
}
