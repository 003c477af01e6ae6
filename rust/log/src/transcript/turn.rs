//! One turn: building its payload and reading it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::{LogError, Result};
use crate::format::frame;
use crate::hash::Digest;
use crate::json::scan::{self, Scanner};
use crate::json::{JsonError, Text, Value, write_object, write_string};
use crate::time::iso_exact;

/// What was said, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// As it is.
    Plain(String),
    /// In an envelope.
    Sealed(BTreeMap<String, Value>),
}

/// A turn before it has a place in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnDraft {
    /// Who speaks: `user`, `assistant`, `system` or `tool`.
    pub role: String,
    /// What was said.
    pub content: Content,
    /// When, in nanoseconds since the Unix epoch, UTC.
    pub ts_ns: u64,
    /// Whether secrets were looked for and replaced; `None` where that was not asked for.
    pub redactions_applied: Option<bool>,
}

/// Where the value of `chain` starts in a payload.
const CHAIN_AT: usize = r#"{"chain":""#.len();

impl TurnDraft {
    /// Makes this turn number `turn_seq`, behind the one whose `chain` is `prev`; returns the payload and its `chain`.
    pub fn seal(&self, session_id: &str, turn_seq: u64, prev: &Digest) -> Result<(Vec<u8>, Digest)> {
        let mut out = Vec::with_capacity(512);
        out.extend_from_slice(br#"{"chain":""#);
        out.extend_from_slice(&[0; 64]);
        match &self.content {
            Content::Plain(text) => {
                out.extend_from_slice(br#"","content":"#);
                write_string(text, &mut out);
            }
            Content::Sealed(envelope) => {
                out.extend_from_slice(br#"","content_cipher":"#);
                write_object(envelope, &mut out, 0).map_err(|error| LogError::Invalid(error.to_string()))?;
            }
        }
        out.extend_from_slice(br#","prev_chain":""#);
        out.extend_from_slice(&prev.to_hex_bytes());
        out.push(b'"');
        match self.redactions_applied {
            None => {}
            Some(true) => out.extend_from_slice(br#","redactions_applied":true"#),
            Some(false) => out.extend_from_slice(br#","redactions_applied":false"#),
        }
        out.extend_from_slice(br#","role":"#);
        write_string(&self.role, &mut out);
        out.extend_from_slice(br#","session_id":"#);
        write_string(session_id, &mut out);
        out.extend_from_slice(br#","ts":""#);
        out.extend_from_slice(iso_exact(self.ts_ns).as_bytes());
        out.extend_from_slice(br#"","turn_seq":"#);
        out.extend_from_slice(turn_seq.to_string().as_bytes());
        out.push(b'}');
        if out.len() >= frame::MAX_PAYLOAD {
            return Err(LogError::Invalid(format!("turn {turn_seq} takes 16 MiB or more as JSON")));
        }
        let (before, rest) = out.split_at_mut(CHAIN_AT);
        let (place, after) = rest.split_at_mut(64);
        let chain = Digest::of(&[before, after, &prev.0]);
        place.copy_from_slice(&chain.to_hex_bytes());
        Ok((out, chain))
    }
}

/// A turn's payload, read but not copied.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    payload: &'a [u8],
    content: Option<Text<'a>>,
    content_cipher: Option<&'a [u8]>,
    role: Text<'a>,
    session_id: Text<'a>,
    ts: Text<'a>,
    /// The turn's own hash, as it says.
    pub chain: Digest,
    /// The hash of the turn before, as this one says; in the first turn that of the row that started the session.
    pub prev_chain: Digest,
    /// Number of the turn, from 0.
    pub turn_seq: u64,
    /// Whether secrets were looked for and replaced.
    pub redactions_applied: Option<bool>,
}

impl<'a> Turn<'a> {
    /// Reads a payload: exactly these keys, in canonical form.
    pub fn parse(payload: &'a [u8]) -> Result<Self, JsonError> {
        scan::read(payload, |scanner| Self::scan(payload, scanner))
    }

    fn scan(payload: &'a [u8], scanner: &mut Scanner<'a>) -> Option<Self> {
        scanner.literal(r#"{"chain":""#)?;
        let chain = scanner.digest()?;
        let (mut content, mut content_cipher) = (None, None);
        if scanner.literal(r#","content":"#).is_some() {
            content = Some(scanner.string()?);
        } else {
            scanner.literal(r#","content_cipher":"#)?;
            content_cipher = Some(scanner.object()?);
        }
        scanner.literal(r#","prev_chain":""#)?;
        let prev_chain = scanner.digest()?;
        let mut redactions_applied = None;
        if scanner.literal(r#","redactions_applied":"#).is_some() {
            redactions_applied = Some(scanner.literal("true").is_some());
            if redactions_applied == Some(false) {
                scanner.literal("false")?;
            }
        }
        scanner.literal(r#","role":"#)?;
        let role = scanner.string()?;
        scanner.literal(r#","session_id":"#)?;
        let session_id = scanner.string()?;
        scanner.literal(r#","ts":"#)?;
        let ts = scanner.string()?;
        scanner.literal(r#","turn_seq":"#)?;
        let turn_seq = scanner.unsigned()?;
        scanner.literal("}")?;
        Some(Self {
            payload,
            content,
            content_cipher,
            role,
            session_id,
            ts,
            chain,
            prev_chain,
            turn_seq,
            redactions_applied,
        })
    }

    /// Returns the payload's bytes.
    pub const fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Returns what was said, where that is kept as it is.
    pub fn content(&self) -> Option<Cow<'a, str>> {
        self.content.map(Text::decode)
    }

    /// Returns the envelope of what was said, as it lies in the payload.
    pub const fn content_cipher(&self) -> Option<&'a [u8]> {
        self.content_cipher
    }

    /// Returns who speaks.
    pub fn role(&self) -> Cow<'a, str> {
        self.role.decode()
    }

    /// Returns the session's id.
    pub fn session_id(&self) -> Cow<'a, str> {
        self.session_id.decode()
    }

    /// Returns the time as it stands there.
    pub fn ts(&self) -> Cow<'a, str> {
        self.ts.decode()
    }

    /// Whether `chain` is the hash of this payload.
    pub fn chain_is_right(&self) -> bool {
        let before = self.payload.get(..CHAIN_AT).unwrap_or_default();
        let after = self.payload.get(CHAIN_AT + 64..).unwrap_or_default();
        Digest::of(&[before, after, &self.prev_chain.0]) == self.chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(content: Content, redactions_applied: Option<bool>) -> TurnDraft {
        TurnDraft { role: "user".into(), content, ts_ns: 1_796_052_528_500_000_000, redactions_applied }
    }

    #[test]
    fn a_turn_reads_back_and_is_hashed_like_a_row() {
        let prev = Digest::of(&[b"row"]);
        let (payload, chain) = draft(Content::Plain("caf\u{e9} \"x\"\n".into()), None).seal("s-1", 7, &prev).unwrap();
        let text = String::from_utf8(payload.clone()).unwrap();
        assert_eq!(
            text.replace(&chain.to_hex(), "").replace(&prev.to_hex(), "P"),
            "{\"chain\":\"\",\"content\":\"caf\u{e9} \\\"x\\\"\\n\",\"prev_chain\":\"P\",\"role\":\"user\",\
             \"session_id\":\"s-1\",\"ts\":\"2026-11-30T15:28:48.5Z\",\"turn_seq\":7}"
        );
        assert_eq!(Digest::of(&[text.replace(&chain.to_hex(), "").as_bytes(), &prev.0]), chain);
        let turn = Turn::parse(&payload).unwrap();
        assert!(turn.chain_is_right());
        assert_eq!((turn.content().as_deref(), turn.turn_seq), (Some("caf\u{e9} \"x\"\n"), 7));
        assert_eq!((turn.redactions_applied, turn.prev_chain), (None, prev));
    }

    #[test]
    fn an_envelope_and_both_answers_about_redactions_read_back() {
        for redacted in [Some(true), Some(false)] {
            let envelope = BTreeMap::from([("alg".to_owned(), Value::Str("aes-256-gcm".into()))]);
            let (payload, _) = draft(Content::Sealed(envelope), redacted).seal("s", 0, &Digest::ZERO).unwrap();
            let turn = Turn::parse(&payload).unwrap();
            assert_eq!(turn.content_cipher(), Some(&br#"{"alg":"aes-256-gcm"}"#[..]));
            assert_eq!((turn.content(), turn.redactions_applied), (None, redacted));
        }
    }

    #[test]
    fn what_is_too_long_for_a_frame_is_refused() {
        let long = draft(Content::Plain("\u{1}".repeat(3 << 20)), None);
        assert!(matches!(long.seal("s", 0, &Digest::ZERO), Err(LogError::Invalid(_))));
    }
}
