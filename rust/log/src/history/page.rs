//! A page of a memory's history as JSON, in one piece: for the many questions that are plain.

use std::collections::HashMap;
use std::path::Path;

use super::working::is_as_known;
use super::{Chain, Entry, Older, Query};
use crate::diff::fields::frontmatter_diff;
use crate::diff::frontmatter::{Document, split};
use crate::error::{LogError, Result};
use crate::hash::Digest;
use crate::json::{Value, write_string};
use crate::objects::{Body, BodyReader};
use crate::time::iso_exact;

/// Rows without an index that are looked at.
const UNINDEXED: u64 = 2_048;
/// Entries of a page.
const ENTRIES: usize = 100;
/// Bytes of the versions that are compared.
const BYTES: usize = 256 << 10;

/// What is known of a version: its bytes, or that they were erased.
type Versions = HashMap<String, Option<Vec<u8>>>;

impl Chain {
    /// Returns the entries of a path's history as a JSON array, as `history --json` writes them without body diffs.
    ///
    /// `None` where answering takes long or needs more than the log and the bodies, or where there is something to tell
    /// besides: rows without an index, large versions, versions that are not kept, damage, edits by hand.
    pub fn page(&self, query: &Query, bodies: &BodyReader, root: &Path) -> Result<Option<Vec<u8>>> {
        let Some(path) = query.path.as_deref() else { return Ok(None) };
        let unindexed = self.log().last_seq().saturating_sub(self.floor().seq - 1);
        let told = self.log().short().is_some() || self.log().tip_state().fault().is_some();
        if told || self.index().is_damaged() || unindexed > UNINDEXED || query.limit.is_none_or(|limit| limit > ENTRIES)
        {
            return Ok(None);
        }
        let walked = self.history(query)?;
        // A path in another Unicode form than the memory's finds nothing, and is told of.
        if walked.damages.iter().any(|damage| !damage.torn_tail) || (walked.entries.is_empty() && !path.is_ascii()) {
            return Ok(None);
        }
        let mut written = walked.entries.iter().filter(|entry| entry.name == path && entry.kind != "delete");
        let newest = written.find_map(|entry| entry.content_sha256.as_ref());
        let newest = newest.and_then(|sha| Digest::from_hex(sha.as_bytes()));
        let medium = self.log().segments().medium();
        if !is_as_known(medium.as_ref(), root, path, newest).map_err(LogError::io("read", root.join(path)))? {
            return Ok(None);
        }
        let Some(versions) = versions(&walked.entries, bodies)? else { return Ok(None) };
        let documents: HashMap<&str, Option<Document<'_>>> =
            versions.iter().map(|(sha, body)| (sha.as_str(), body.as_deref().map(split))).collect();
        let mut out = Vec::with_capacity(640 * walked.entries.len() + 2);
        out.push(b'[');
        for (at, entry) in walked.entries.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            if !write_entry(entry, &documents, &mut out) {
                return Ok(None);
            }
        }
        out.push(b']');
        Ok(Some(out))
    }
}

/// The two versions that an entry compares, the older first, with the older one's path.
fn compared(entry: &Entry) -> Option<(&str, &str, &str)> {
    match (&entry.older, &entry.content_sha256) {
        (Older::Version { content_sha256: old, path }, Some(new)) => Some((old, new, path)),
        _ => None,
    }
}

fn versions(entries: &[Entry], bodies: &BodyReader) -> Result<Option<Versions>> {
    let mut versions = Versions::new();
    let mut size = 0;
    for (old, new, _) in entries.iter().filter_map(compared) {
        for sha in [old, new] {
            if versions.contains_key(sha) {
                continue;
            }
            let Some(digest) = Digest::from_hex(sha.as_bytes()) else { return Ok(None) };
            let body = match bodies.get(&digest) {
                Ok(Body::Found(body)) => Some(body),
                Ok(Body::Purged) => None,
                Ok(Body::Absent) | Err(LogError::Corrupt { .. }) => return Ok(None),
                Err(error) => return Err(error),
            };
            size += body.as_ref().map_or(0, Vec::len);
            if size > BYTES {
                return Ok(None);
            }
            versions.insert(sha.to_owned(), body);
        }
    }
    Ok(Some(versions))
}

/// Appends an entry; returns whether all of it has a JSON form.
fn write_entry(entry: &Entry, documents: &HashMap<&str, Option<Document<'_>>>, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(format!("{{\"seq\":{},\"ts\":\"{}\"", entry.seq, iso_exact(entry.ts_ns)).as_bytes());
    let texts = [
        ("kind", Some(&entry.kind)),
        ("actor", Some(&entry.actor)),
        ("path", Some(&entry.path)),
        ("name", Some(&entry.name)),
        ("body_hash", entry.content_sha256.as_ref()),
    ];
    for (name, text) in texts {
        out.extend_from_slice(format!(",\"{name}\":").as_bytes());
        match text {
            Some(text) => write_string(text, out),
            None => out.extend_from_slice(b"null"),
        }
    }
    out.extend_from_slice(b",\"frontmatter_diff\":");
    let reason = match compared(entry) {
        Some((old, new, path)) => {
            match (documents.get(old).and_then(Option::as_ref), documents.get(new).and_then(Option::as_ref)) {
                (Some(old), Some(new)) => {
                    let diff = frontmatter_diff(old.frontmatter.as_ref(), new.frontmatter.as_ref());
                    if diff.into_value(path, &entry.name).write_canonical(out).is_err() {
                        return false;
                    }
                    None
                }
                _ => Some("purged"),
            }
        }
        None if entry.older == Older::First && entry.content_sha256.is_some() => Some("first"),
        None if is_purge(entry) => Some("purged"),
        None => Some("no_content"),
    };
    if reason.is_some() {
        out.extend_from_slice(b"null");
    }
    let reason = reason.unwrap_or("not_asked");
    out.extend_from_slice(format!(",\"body_diff\":null,\"body_diff_reason\":\"{reason}\",\"extra\":").as_bytes());
    out.extend_from_slice(&entry.extra);
    out.push(b'}');
    true
}

fn is_purge(entry: &Entry) -> bool {
    let mode = |extra: Value| extra.get("mode").and_then(Value::as_str).is_some_and(|mode| mode == "purge");
    entry.kind == "delete" && Value::parse(&entry.extra).is_ok_and(mode)
}
