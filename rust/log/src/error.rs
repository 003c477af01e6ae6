//! The one error type of this crate.

use std::io;
use std::path::PathBuf;

use crate::hash::Digest;
use crate::lease::Holder;

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
    /// Another process holds the store's lock.
    #[error("the store is locked by another process{}", clause(holder))]
    Busy {
        /// The store.
        store: PathBuf,
        /// What is known of it.
        holder: Holder,
    },
    /// No memory has this path.
    #[error("there is no memory at {0}")]
    NoMemory(String),
    /// Something is where nothing may be.
    #[error("there is already something at {0}")]
    Exists(String),
    /// A put found other content than it expected.
    #[error("{path} {}", unmet(*expected, *actual))]
    Precondition {
        /// The memory.
        path: String,
        /// SHA-256 of the content that was expected; `None` for nothing.
        expected: Option<Digest>,
        /// SHA-256 of the content that is there; `None` for nothing.
        actual: Option<Digest>,
    },
    /// A purge would erase versions of other living memories.
    #[error("purging {path} would erase versions of other memories: {}", shared_with.join(", "))]
    Shared {
        /// The memory that was to be purged.
        path: String,
        /// The memories that have some of the same content.
        shared_with: Vec<String>,
    },
    /// A request that must not be carried out.
    #[error("{0}")]
    Refused(String),
    /// What was asked for does not exist.
    #[error("{0}")]
    NotFound(String),
    /// The log is not the one that its reader has seen before, up to this row.
    #[error("row {seq}, which was read before, {what}")]
    Diverged {
        /// The last row that the reader had seen.
        seq: u64,
        /// The last row that there is.
        last_seq: u64,
        /// What has become of that row, in one clause.
        what: &'static str,
    },
    /// The store lies where locks do not keep other machines out.
    #[error("{} lies on a network file system ({kind}), where locks may not keep other machines out", store.display())]
    Network {
        /// The store, or the folder that was to hold it.
        store: PathBuf,
        /// What people call that file system.
        kind: &'static str,
    },
    /// The store has a format this build does not know.
    #[error("the store has format {version}; this cyberos knows formats up to {}", crate::manifest::FORMAT)]
    Unsupported {
        /// The store.
        store: PathBuf,
        /// The format that its manifest names.
        version: u64,
    },
}

/// A clause behind a colon; nothing where there is nothing to say.
fn clause(holder: &Holder) -> String {
    let text = holder.to_string();
    if text.is_empty() { text } else { format!(": {text}") }
}

impl LogError {
    /// Returns a closure for `map_err` that adds the action and the path to an [`io::Error`].
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// The same error for another of those whom it concerns: an I/O error is kept by kind and text.
    #[must_use]
    pub fn again(&self) -> Self {
        match self {
            Self::Io { action, path, source } => {
                let source = source.raw_os_error().map_or_else(|| source.kind().into(), io::Error::from_raw_os_error);
                Self::Io { action, path: path.clone(), source }
            }
            Self::Corrupt { file, offset, seq, what } => Self::corrupt(file, *offset, *seq, what),
            Self::Poisoned(why) => Self::Poisoned(why.clone()),
            Self::Interrupted => Self::Interrupted,
            Self::Invalid(what) => Self::Invalid(what.clone()),
            Self::Busy { store, holder } => Self::Busy { store: store.clone(), holder: holder.clone() },
            Self::NoMemory(path) => Self::NoMemory(path.clone()),
            Self::Exists(path) => Self::Exists(path.clone()),
            Self::Precondition { path, expected, actual } => {
                Self::Precondition { path: path.clone(), expected: *expected, actual: *actual }
            }
            Self::Shared { path, shared_with } => Self::Shared { path: path.clone(), shared_with: shared_with.clone() },
            Self::Refused(what) => Self::Refused(what.clone()),
            Self::NotFound(what) => Self::NotFound(what.clone()),
            Self::Diverged { seq, last_seq, what } => Self::Diverged { seq: *seq, last_seq: *last_seq, what },
            Self::Network { store, kind } => Self::Network { store: store.clone(), kind },
            Self::Unsupported { store, version } => Self::Unsupported { store: store.clone(), version: *version },
        }
    }

    /// Builds a [`LogError::Corrupt`].
    pub fn corrupt(file: impl Into<String>, offset: u64, seq: Option<u64>, what: impl Into<String>) -> Self {
        Self::Corrupt { file: file.into(), offset, seq, what: what.into() }
    }
}

/// In what a memory differs from what a put expected.
fn unmet(expected: Option<Digest>, actual: Option<Digest>) -> String {
    match (expected, actual) {
        (None, Some(actual)) => format!("was to be new, and is there with SHA-256 {actual}"),
        (Some(expected), Some(actual)) => format!("was to have SHA-256 {expected}, and has {actual}"),
        (Some(expected), None) => format!("was to have SHA-256 {expected}, and is not there"),
        (None, None) => "is not as expected".to_owned(),
    }
}
