//! One row of the log: reading a payload, checking its place in the chain, and building new ones.

mod draft;
mod outline;
mod touch;

use std::borrow::Cow;
use std::fmt;

pub use draft::RowDraft;
pub use outline::{Outline, Outlined};
pub use touch::{SESSIONS, Touch, session_name, session_writes_name};

use crate::hash::Digest;
use crate::json::scan::{self, Scanner};
use crate::json::{JsonError, Text};

/// A payload, read but not copied.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    payload: &'a [u8],
    /// Where the value of `chain` starts, behind its quote.
    chain_at: usize,
    chain: Digest,
    prev_chain: Digest,
    ts_ns: u64,
    actor: Text<'a>,
    content_sha256: Text<'a>,
    extra: &'a [u8],
    op: Text<'a>,
    path: Text<'a>,
}

impl<'a> Row<'a> {
    /// Reads a payload: exactly the eight keys, in canonical form.
    pub fn parse(payload: &'a [u8]) -> Result<Self, RowError> {
        Ok(scan::read(payload, |scanner| Self::scan(payload, scanner))?)
    }

    fn scan(payload: &'a [u8], scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.literal(r#"{"actor":"#)?;
        let actor = scanner.string()?;
        scanner.literal(r#","chain":""#)?;
        let chain_at = scanner.at();
        let chain = scanner.digest()?;
        scanner.literal(r#","content_sha256":"#)?;
        let content_sha256 = scanner.string()?;
        scanner.literal(r#","extra":"#)?;
        let extra = scanner.object()?;
        scanner.literal(r#","op":"#)?;
        let op = scanner.string()?;
        scanner.literal(r#","path":"#)?;
        let path = scanner.string()?;
        scanner.literal(r#","prev_chain":""#)?;
        let prev_chain = scanner.digest()?;
        scanner.literal(r#","ts_ns":"#)?;
        let ts_ns = scanner.unsigned()?;
        scanner.literal("}")?;
        Some(Self { payload, chain_at, chain, prev_chain, ts_ns, actor, content_sha256, extra, op, path })
    }

    /// Returns the payload's bytes.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns who wrote the row.
    pub fn actor(&self) -> Cow<'a, str> {
        self.actor.decode()
    }

    /// Returns what the row records, such as `put`.
    pub fn op(&self) -> Cow<'a, str> {
        self.op.decode()
    }

    /// Returns the path the row is about; empty where there is none.
    pub fn path(&self) -> Cow<'a, str> {
        self.path.decode()
    }

    /// Returns `path` as it lies in the payload: between the quotes, still escaped.
    pub const fn raw_path(&self) -> &'a [u8] {
        self.path.raw()
    }

    /// Returns the SHA-256 of the memory's bytes in hexadecimal; empty where the row writes none.
    pub fn content_sha256(&self) -> Cow<'a, str> {
        self.content_sha256.decode()
    }

    /// Returns the object `extra` as it lies in the payload.
    pub const fn extra(&self) -> &'a [u8] {
        self.extra
    }

    /// Returns the row's own hash, as it says.
    pub const fn chain(&self) -> Digest {
        self.chain
    }

    /// Returns the hash of the row before, as this row says; zero in the first row.
    pub const fn prev_chain(&self) -> Digest {
        self.prev_chain
    }

    /// Returns nanoseconds since the Unix epoch, UTC.
    pub const fn ts_ns(&self) -> u64 {
        self.ts_ns
    }

    /// Returns the message whose hash `chain` is: the payload without `chain`'s digits, and `prev_chain`, in parts.
    pub fn chain_message(&self) -> [&[u8]; 3] {
        let before = self.payload.get(..self.chain_at).unwrap_or_default();
        let after = self.payload.get(self.chain_at + 64..).unwrap_or_default();
        [before, after, &self.prev_chain.0]
    }

    /// Whether `chain` is the hash of this payload.
    pub fn chain_is_right(&self) -> bool {
        Digest::of(&self.chain_message()) == self.chain
    }
}

/// Why a payload is not a row, or a row cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowError {
    /// Byte offset in the payload.
    pub offset: usize,
    /// What is wrong, in one clause.
    pub what: &'static str,
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the payload has {} at its byte {}", self.what, self.offset)
    }
}

impl std::error::Error for RowError {}

impl From<JsonError> for RowError {
    fn from(JsonError { offset, what }: JsonError) -> Self {
        Self { offset, what }
    }
}
