//! Bodies to frame payloads and back.

use std::cell::RefCell;
use std::io::{self, Cursor};

use zstd::bulk::{Compressor, Decompressor};

use crate::error::{LogError, Result};
use crate::format::frame::MAX_PAYLOAD;
use crate::format::pack::{HEAD, Head, Kind};
use crate::hash::Digest;

/// The longest body that is stored, and the most that a frame may decompress to.
pub const MAX_BODY: usize = 64 << 20;

/// Level 1 packs Markdown of 0.5 to 4 KB within 4 % of level 3, in half to two thirds of the time.
const LEVEL: i32 = 1;

/// A body as it is stored. See [`compress`].
#[derive(Debug, Clone)]
pub struct Compressed {
    sha: Digest,
    payload: Vec<u8>,
}

impl Compressed {
    /// Returns the SHA-256 of the body.
    pub const fn sha(&self) -> Digest {
        self.sha
    }

    /// Returns the bytes that will lie in a pack.
    pub fn data(&self) -> &[u8] {
        self.payload.get(HEAD..).unwrap_or_default()
    }

    pub(super) fn into_payload(self) -> Vec<u8> {
        self.payload
    }
}

/// Compresses a body, on whichever thread, for [`BodyWriter::append_compressed`](super::BodyWriter::append_compressed).
/// `sha` is the SHA-256 of `body`.
pub fn compress(body: &[u8], sha: Digest) -> Result<Compressed> {
    let mut payload = Vec::new();
    encode(body, sha, &mut payload)?;
    Ok(Compressed { sha, payload })
}

/// The contexts of one thread; making one costs more than a small body does.
struct Contexts {
    compressor: Option<Compressor<'static>>,
    decompressor: Option<Decompressor<'static>>,
}

thread_local! {
    static CONTEXTS: RefCell<Contexts> = const { RefCell::new(Contexts { compressor: None, decompressor: None }) };
}

/// Replaces `payload` by the payload that stores a body.
pub(super) fn encode(body: &[u8], sha: Digest, payload: &mut Vec<u8>) -> Result<()> {
    debug_assert_eq!(Digest::of(&[body]), sha, "the digest is the body's");
    let too_long = || LogError::Invalid(format!("a body of {} bytes is too long to store", body.len()));
    let length = u32::try_from(body.len()).ok().filter(|_| body.len() <= MAX_BODY).ok_or_else(too_long)?;
    let head = |kind| Head { kind, starts_group: false, sha, length }.encode();
    payload.clear();
    payload.reserve(HEAD + zstd::zstd_safe::compress_bound(body.len()));
    payload.extend_from_slice(&head(Kind::Zstd));
    let packed = with_compressor(|compressor| {
        let mut to = Cursor::new(&mut *payload);
        to.set_position(HEAD as u64);
        compressor.compress_to_buffer(body, &mut to)
    })
    .map_err(|error| LogError::Invalid(format!("cannot compress a body: {error}")))?;
    // Data of nothing but zeros mean a purge, so bodies of zeros are compressed even where that makes them longer.
    if packed >= body.len() && (body.is_empty() || body.iter().any(|byte| *byte != 0)) {
        payload.clear();
        payload.extend_from_slice(&head(Kind::Stored));
        payload.extend_from_slice(body);
    }
    if payload.len() < MAX_PAYLOAD { Ok(()) } else { Err(too_long()) }
}

/// Replaces `payload` by one that holds a body as it is: the same bytes whichever compressor there is.
///
/// Only a body of nothing but zeros, which would mean a purge, is compressed.
pub(crate) fn encode_plain(body: &[u8], sha: Digest, payload: &mut Vec<u8>) -> Result<()> {
    if !body.is_empty() && body.iter().all(|byte| *byte == 0) {
        return encode(body, sha, payload);
    }
    let length = u32::try_from(body.len()).ok().filter(|_| HEAD + body.len() < MAX_PAYLOAD);
    let length = length.ok_or_else(|| LogError::Invalid(format!("a body of {} bytes is too long", body.len())))?;
    payload.clear();
    payload.extend_from_slice(&Head { kind: Kind::Stored, starts_group: false, sha, length }.encode());
    payload.extend_from_slice(body);
    Ok(())
}

/// Returns the body that a payload with a good checksum stores; what is wrong with it where it does not.
///
/// At most `head.length` bytes are allocated and written, whatever the data say, and that only up to [`MAX_BODY`].
pub(super) fn decode(head: &Head, data: &[u8]) -> Result<Vec<u8>, &'static str> {
    let length = head.length as usize;
    if length > MAX_BODY {
        return Err("the body's length is beyond what is ever stored");
    }
    let body = match head.kind {
        Kind::Purged => return Err("the body was purged"),
        Kind::Stored => data.to_vec(),
        Kind::Zstd => {
            let mut body = Vec::with_capacity(length);
            with_decompressor(|decompressor| decompressor.decompress_to_buffer(data, &mut body))
                .map_err(|_| "the body does not decompress")?;
            body
        }
    };
    if body.len() != length {
        return Err("the body has another length than its frame says");
    }
    if Digest::of(&[&body]) != head.sha {
        return Err("the body does not have its SHA-256");
    }
    Ok(body)
}

fn with_compressor<T>(work: impl FnOnce(&mut Compressor<'static>) -> io::Result<T>) -> io::Result<T> {
    CONTEXTS.with_borrow_mut(|contexts| match &mut contexts.compressor {
        Some(compressor) => work(compressor),
        slot @ None => work(slot.insert(Compressor::new(LEVEL)?)),
    })
}

fn with_decompressor<T>(work: impl FnOnce(&mut Decompressor<'static>) -> io::Result<T>) -> io::Result<T> {
    CONTEXTS.with_borrow_mut(|contexts| match &mut contexts.decompressor {
        Some(decompressor) => work(decompressor),
        slot @ None => work(slot.insert(Decompressor::new()?)),
    })
}
