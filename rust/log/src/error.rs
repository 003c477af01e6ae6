//! The one error type of this crate.

use std::io;
use std::path::PathBuf;

/// What every fallible function of this crate returns.
pub type Result<T, E = LogError> = std::result::Result<T, E>;

/// Everything that can go wrong with a log, its bodies and its indexes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The operating system refused an operation on a file.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was being done: `open`, `read`, `write`, `sync`, …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's own error.
        #[source]
        source: io::Error,
    },
    /// Bytes that were acknowledged are not what they must be.
    #[error("{file} is damaged at byte {offset}: {what}")]
    Corrupt {
        /// File name inside the store, with `/`.
        file: String,
        /// Byte offset of the frame (or page) in that file.
        offset: u64,
        /// The row's sequence number, where it is known.
        seq: Option<u64>,
        /// What is wrong, in one clause.
        what: String,
    },
    /// A sync failed earlier: nothing more is written through this handle, since a second sync may lie.
    #[error("nothing more can be written through this handle after: {0}")]
    Poisoned(String),
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// An argument that can never be valid.
    #[error("{0}")]
    Invalid(String),
    /// What was asked for does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The store has a format this build does not know.
    #[error("{0}")]
    Unsupported(String),
}

impl LogError {
    /// Returns a closure for `map_err` that adds the action and the path to an [`io::Error`].
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// Builds a [`LogError::Corrupt`].
    pub fn corrupt(file: impl Into<String>, offset: u64, seq: Option<u64>, what: impl Into<String>) -> Self {
        Self::Corrupt { file: file.into(), offset, seq, what: what.into() }
    }
}
