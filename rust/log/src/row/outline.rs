//! Where the parts of a row lie in its payload, so that it can be kept and looked at again without being scanned again.

use std::borrow::Cow;

use super::{Row, Touch};
use crate::json::Text;

/// How long the parts of a payload are that differ in length; the rest follows from the canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outline {
    actor: u32,
    content_sha256: u32,
    extra: u32,
    op: u32,
    path: u32,
}

/// A payload that was a row when its outline was drawn.
#[derive(Debug, Clone, Copy)]
pub struct Outlined<'a> {
    payload: &'a [u8],
    outline: Outline,
}

const ACTOR: usize = r#"{"actor":""#.len();
const DIGEST: usize = 64;
const TO_CHAIN: usize = r#"","chain":""#.len();
const TO_CONTENT: usize = r#"","content_sha256":""#.len();
const TO_EXTRA: usize = r#"","extra":"#.len();
const TO_OP: usize = r#","op":""#.len();
const TO_PATH: usize = r#"","path":""#.len();
const TO_PREV_CHAIN: usize = r#"","prev_chain":""#.len();

impl Row<'_> {
    /// Returns where the row's parts lie.
    pub fn outline(&self) -> Outline {
        // A payload is below 16 MiB.
        let len = |part: &[u8]| u32::try_from(part.len()).unwrap_or(u32::MAX);
        Outline {
            actor: len(self.actor.raw()),
            content_sha256: len(self.content_sha256.raw()),
            extra: len(self.extra),
            op: len(self.op.raw()),
            path: len(self.path.raw()),
        }
    }
}

impl Outline {
    /// Puts the outline over the payload that it was drawn of.
    pub const fn over(self, payload: &[u8]) -> Outlined<'_> {
        Outlined { payload, outline: self }
    }

    const fn chain(self) -> usize {
        ACTOR + self.actor as usize + TO_CHAIN
    }

    const fn content_sha256(self) -> usize {
        self.chain() + DIGEST + TO_CONTENT
    }

    const fn extra(self) -> usize {
        self.content_sha256() + self.content_sha256 as usize + TO_EXTRA
    }

    const fn op(self) -> usize {
        self.extra() + self.extra as usize + TO_OP
    }

    const fn path(self) -> usize {
        self.op() + self.op as usize + TO_PATH
    }

    const fn prev_chain(self) -> usize {
        self.path() + self.path as usize + TO_PREV_CHAIN
    }
}

impl<'a> Outlined<'a> {
    fn part(&self, at: usize, len: usize) -> &'a [u8] {
        self.payload.get(at..at + len).unwrap_or_default()
    }

    fn text(&self, at: usize, len: u32) -> Cow<'a, str> {
        Text::new(self.part(at, len as usize)).decode()
    }

    fn digits(&self, at: usize) -> &'a str {
        std::str::from_utf8(self.part(at, DIGEST)).unwrap_or_default()
    }

    /// See [`Row::actor`].
    pub fn actor(&self) -> Cow<'a, str> {
        self.text(ACTOR, self.outline.actor)
    }

    /// The row's own hash in hexadecimal.
    pub fn chain(&self) -> &'a str {
        self.digits(self.outline.chain())
    }

    /// See [`Row::content_sha256`].
    pub fn content_sha256(&self) -> Cow<'a, str> {
        self.text(self.outline.content_sha256(), self.outline.content_sha256)
    }

    /// See [`Row::extra`].
    pub fn extra(&self) -> &'a [u8] {
        self.part(self.outline.extra(), self.outline.extra as usize)
    }

    /// See [`Row::op`].
    pub fn op(&self) -> Cow<'a, str> {
        self.text(self.outline.op(), self.outline.op)
    }

    /// See [`Row::path`].
    pub fn path(&self) -> Cow<'a, str> {
        self.text(self.outline.path(), self.outline.path)
    }

    /// The hash of the row before in hexadecimal.
    pub fn prev_chain(&self) -> &'a str {
        self.digits(self.outline.prev_chain())
    }

    /// See [`Row::touches`].
    pub fn touches(&self) -> Vec<(Cow<'a, str>, Touch)> {
        Row::parse(self.payload).map(|row| row.touches().collect()).unwrap_or_default()
    }
}
