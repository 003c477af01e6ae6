//! Reading many bodies in the order in which they were written.

use super::Body;
use super::codec;
use super::packs::Position;
use super::reader::BodyReader;
use super::scan::{End, Item, Scan};
use crate::error::Result;
use crate::format::pack::HEAD;
use crate::hash::Digest;

/// Reads bodies one after the other: quickly as long as each lies behind the one before it, and else as
/// [`BodyReader::get`] does. What is read ahead does not see a purge, so it is for one pass and not to be kept.
#[derive(Debug, Default)]
pub struct InOrder {
    /// Behind the last body.
    next: Option<Position>,
    /// Reads on from there, once two bodies lay one behind the other.
    scan: Option<Scan>,
}

impl InOrder {
    /// Returns the body with this SHA-256, as [`BodyReader::get`].
    pub fn get(&mut self, bodies: &BodyReader, sha: &Digest) -> Result<Body> {
        if let Some(body) = self.read_on(sha)? {
            return Ok(Body::Found(body));
        }
        self.scan = None;
        let body = bodies.get(sha)?;
        let mut catalog = bodies.catalog();
        if let Some((at, end)) = catalog.found()? {
            if self.next == Some(at) {
                self.scan = Some(catalog.scan(end, false)?);
            }
            self.next = Some(end.at);
        }
        Ok(body)
    }

    #[cfg(test)]
    pub(super) const fn reads_on(&self) -> bool {
        self.scan.is_some()
    }

    fn read_on(&mut self, sha: &Digest) -> Result<Option<Vec<u8>>> {
        let Some(scan) = &mut self.scan else { return Ok(None) };
        let Some(Item::Frame(frame)) = scan.next()? else { return Ok(None) };
        self.next = Some(End::behind(frame.at, &frame.fixed).at);
        if frame.fixed.head.sha != *sha {
            return Ok(None);
        }
        // What does not decode is purged or damaged: the slow way tells which.
        let payload = scan.payload(&frame)?;
        Ok(codec::decode(&frame.fixed.head, payload.get(HEAD..).unwrap_or_default()).ok())
    }
}
