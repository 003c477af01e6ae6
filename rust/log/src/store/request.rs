//! What can be asked of a writer, and what it answers.

use std::collections::BTreeMap;

use crate::diff::frontmatter::cut;
use crate::diff::yaml::parse_scalar;
use crate::error::Result;
use crate::hash::Digest;
use crate::json::Value;
use crate::objects::{Compressed, compress};

/// One change, with who asked for it and when.
#[derive(Debug, Clone)]
pub struct Request {
    /// Who asks.
    pub actor: String,
    /// When, in nanoseconds since the Unix epoch.
    pub ts_ns: u64,
    /// What for.
    pub op: Op,
    /// Further keys of the row's `extra`.
    pub extra: BTreeMap<String, Value>,
}

/// A change. Paths are valid memory paths: the caller has checked them.
#[derive(Debug, Clone)]
pub enum Op {
    /// Give a memory new content.
    Put {
        /// Its path.
        path: String,
        /// Its bytes.
        body: Vec<u8>,
        /// What it must hold now, where that matters.
        expected: Option<Expected>,
    },
    /// Give a memory another path.
    Move {
        /// The path it has.
        from: String,
        /// The path it gets; nothing may be there.
        to: String,
    },
    /// Delete a memory.
    Delete {
        /// Its path.
        path: String,
        /// What happens to its versions.
        mode: DeleteMode,
        /// Why; not empty for a purge.
        reason: String,
    },
    /// Record something that changes no memory.
    Aux {
        /// The row's `op`.
        kind: String,
        /// The row's `path`; may be empty.
        path: String,
    },
}

/// What must be there for a put to go ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// Content with this SHA-256.
    Content(Digest),
}

/// What a deletion does to the versions of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteMode {
    /// They stay readable.
    Tombstone,
    /// Their stored bytes are erased.
    Purge,
}

/// What became of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The row that records it; `None` where there was nothing to change, or what was to be purged is purged already.
    pub seq: Option<u64>,
    /// That row's chain value.
    pub chain: Option<Digest>,
    /// SHA-256 of the memory's content after it (for a deletion: before it).
    pub content_sha256: Option<Digest>,
    /// The row that recorded an edit made by hand before this request.
    pub adopted: Option<u64>,
    /// Stored copies of versions that a purge erased.
    pub erased: u64,
    /// What is not done yet though the row is acknowledged; the next writer does it.
    pub warnings: Vec<String>,
}

/// A request with everything done that needs no lock: hashing, compressing, looking for the kind.
#[derive(Debug)]
pub(super) struct Prepared {
    pub request: Request,
    pub body: Option<PreparedBody>,
}

#[derive(Debug)]
pub(super) struct PreparedBody {
    pub sha: Digest,
    pub compressed: Option<Compressed>,
    pub kind: String,
}

impl Prepared {
    pub(super) fn new(request: Request) -> Result<Self> {
        let body = match &request.op {
            Op::Put { body, .. } => Some(PreparedBody::new(body)?),
            _ => None,
        };
        Ok(Self { request, body })
    }
}

impl PreparedBody {
    pub(super) fn new(body: &[u8]) -> Result<Self> {
        let sha = Digest::of(&[body]);
        Ok(Self { sha, compressed: Some(compress(body, sha)?), kind: kind_of(body) })
    }
}

/// The kind that a memory's frontmatter gives, for the row's `extra.kind`.
///
/// Only that one line is read as YAML: the whole block would cost more than the rest of a put.
fn kind_of(body: &[u8]) -> String {
    let block = cut(body).map_or(&[][..], |(block, _)| block);
    let kind = if block.trim_ascii_start().starts_with(b"{") {
        Value::parse(block).ok().and_then(|fields| fields.get("kind")?.as_str().map(str::to_owned))
    } else {
        let line = block.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"kind:"));
        line.and_then(|text| parse_scalar(std::str::from_utf8(text).ok()?.trim()).as_str().map(str::to_owned))
    };
    kind.filter(|kind| !kind.is_empty()).unwrap_or_else(|| "memory".into())
}
