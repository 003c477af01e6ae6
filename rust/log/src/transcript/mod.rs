//! Transcripts: the turns of one session, chained and framed like the log, in a file that is a zstd stream at every moment.
//!
//! An open transcript grows by whole zstd frames, each followed by a marker that zstd skips, so that appending needs to
//! read no more than the last append. A sealed one is a single zstd frame. Transcripts of upstream are read, never written.

mod ending;
mod erase;
mod reader;
mod seal;
mod turn;
mod writer;

pub use ending::Ending;
pub use erase::erase;
pub use reader::{Form, RawTurn, TurnReader};
pub use seal::{Sealed, seal};
pub use turn::{Content, Turn, TurnDraft};
pub use writer::{TranscriptWriter, create};
