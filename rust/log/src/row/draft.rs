//! Building new rows.

use std::collections::BTreeMap;

use super::RowError;
use crate::format::frame;
use crate::hash::Digest;
use crate::json::{Value, write_object, write_string};

/// A row before it has a place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct RowDraft {
    /// What the row records, such as `put`.
    pub op: String,
    /// The path the row is about; empty where there is none.
    pub path: String,
    /// Who writes.
    pub actor: String,
    /// SHA-256 of the memory's bytes in hexadecimal; empty where the row writes none.
    pub content_sha256: String,
    /// Everything else.
    pub extra: BTreeMap<String, Value>,
    /// Nanoseconds since the Unix epoch, UTC.
    pub ts_ns: u64,
}

impl RowDraft {
    /// Puts the row behind the one whose `chain` is `prev`; returns the payload and its `chain`.
    ///
    /// Refuses a value in `extra` that some reader would spell differently, and a payload that no frame holds.
    pub fn seal(&self, prev: &Digest) -> Result<(Vec<u8>, Digest), RowError> {
        let mut out = Vec::with_capacity(512);
        out.extend_from_slice(br#"{"actor":"#);
        write_string(&self.actor, &mut out);
        out.extend_from_slice(br#","chain":""#);
        let chain_at = out.len();
        out.extend_from_slice(&[0; 64]);
        out.extend_from_slice(br#"","content_sha256":"#);
        write_string(&self.content_sha256, &mut out);
        out.extend_from_slice(br#","extra":"#);
        if self.extra.values().any(holds_big_int) {
            return Err(RowError { offset: out.len(), what: "an integer outside of 64 bits" });
        }
        write_object(&self.extra, &mut out, 0)?;
        out.extend_from_slice(br#","op":"#);
        write_string(&self.op, &mut out);
        out.extend_from_slice(br#","path":"#);
        write_string(&self.path, &mut out);
        out.extend_from_slice(br#","prev_chain":""#);
        out.extend_from_slice(&prev.to_hex_bytes());
        out.extend_from_slice(br#"","ts_ns":"#);
        out.extend_from_slice(self.ts_ns.to_string().as_bytes());
        out.push(b'}');
        if out.len() >= frame::MAX_PAYLOAD {
            return Err(RowError { offset: out.len(), what: "16 MiB or more" });
        }
        let (before, rest) = out.split_at_mut(chain_at);
        let (place, after) = rest.split_at_mut(64);
        let chain = Digest::of(&[before, after, &prev.0]);
        place.copy_from_slice(&chain.to_hex_bytes());
        Ok((out, chain))
    }
}

fn holds_big_int(value: &Value) -> bool {
    match value {
        Value::BigInt(_) => true,
        Value::Array(items) => items.iter().any(holds_big_int),
        Value::Object(fields) => fields.values().any(holds_big_int),
        _ => false,
    }
}
