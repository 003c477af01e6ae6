//! Transcripts of sessions.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cyberos_log::json::Value;
use cyberos_log::medium::{Medium, Open, Os, SharedMedium};
use cyberos_log::transcript::{self, Content, Ending, Form, RawTurn, TranscriptWriter, TurnDraft, TurnReader};
use cyberos_log::{Digest, LogError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors::{BadArgument, CorruptLog, Result};
use crate::value::{object_from_python, object_to_python};

fn medium() -> SharedMedium {
    Arc::new(Os)
}

fn digest(hex: &str) -> PyResult<Digest> {
    Digest::from_hex(hex.as_bytes())
        .ok_or_else(|| BadArgument::new_err(format!("not a SHA-256 in hexadecimal: {hex:?}")))
}

/// Makes a transcript without turns.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn create_transcript(py: Python<'_>, path: PathBuf) -> Result<()> {
    Ok(py.detach(|| transcript::create(&medium(), &path))?)
}

/// Seals a transcript; returns the file's SHA-256, the number of turns, the last one's chain, and the file's length.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn seal_transcript(
    py: Python<'_>,
    path: PathBuf,
    session_id: &str,
    first: &str,
    acknowledged: u64,
) -> Result<(String, u64, String, u64)> {
    let first = digest(first)?;
    let sealed = py.detach(|| transcript::seal(&medium(), &path, session_id, first, acknowledged))?;
    Ok((sealed.sha256.to_hex(), sealed.turns, sealed.chain.to_hex(), sealed.bytes))
}

/// Puts a tombstone in the place of a transcript and zeros over its bytes; returns how many there were.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn erase_transcript(py: Python<'_>, path: PathBuf, tombstone: Vec<u8>) -> Result<u64> {
    Ok(py.detach(|| transcript::erase(&medium(), &path, &tombstone))?)
}

/// How many turns an open transcript has, at the cost of its last append; `None` where there is no open transcript.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
pub fn count_turns(py: Python<'_>, path: PathBuf) -> Result<Option<u64>> {
    let ending = py.detach(|| match Os.open(&path, Open::Read) {
        Ok(file) => Ending::find(file.as_ref()).map_err(LogError::io("read", &path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LogError::io("open", &path)(error)),
    })?;
    Ok(ending.map(|ending| ending.marker.turns))
}

/// An open transcript, for appending. The caller keeps others from doing the same.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Transcript(Mutex<TranscriptWriter>);

#[pymethods]
impl Transcript {
    /// Opens it and takes away what a crash left behind the last whole append.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
    fn new(py: Python<'_>, path: PathBuf, session_id: &str, first: &str, acknowledged: u64) -> Result<Self> {
        let first = digest(first)?;
        let opened = py.detach(|| TranscriptWriter::open(&medium(), &path, session_id, first, acknowledged))?;
        Ok(Self(Mutex::new(opened)))
    }

    /// Number of turns that are there.
    fn turns(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).turns()
    }

    /// Bytes that opening has taken away.
    fn dropped(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).dropped()
    }

    /// Appends turns, all or none, with one sync; returns how many there are then.
    ///
    /// A turn is `(role, ts_ns, content, content_cipher, redactions_applied)`: a text or an envelope, and true, false or `None`.
    fn append(&self, py: Python<'_>, turns: &Bound<'_, PyList>) -> Result<u64> {
        let drafts = turns.iter().map(|item| draft(&item)).collect::<PyResult<Vec<_>>>()?;
        Ok(py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).append(&drafts))?)
    }
}

fn draft(item: &Bound<'_, PyAny>) -> PyResult<TurnDraft> {
    let item = item.cast::<PyTuple>()?;
    let content = match item.get_item(3)? {
        none if none.is_none() => Content::Plain(item.get_item(2)?.extract()?),
        envelope => Content::Sealed(object_from_python(envelope.cast::<PyDict>()?)?),
    };
    Ok(TurnDraft {
        role: item.get_item(0)?.extract()?,
        ts_ns: item.get_item(1)?.extract()?,
        content,
        redactions_applied: item.get_item(4)?.extract()?,
    })
}

/// The turns of a transcript, read one after the other in bounded memory. What is damaged ends them and is said.
#[pyclass(frozen, module = "cyberos._native")]
pub struct Turns(Mutex<TurnReader>);

type PyTurn<'py> = (u64, u64, String, String, Option<String>, Option<Bound<'py, PyDict>>, Option<bool>);

#[pymethods]
impl Turns {
    /// Opens the transcript of a session that the row with chain `first` started; `FileNotFoundError` where there is none.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts by value")]
    fn new(py: Python<'_>, path: PathBuf, session_id: &str, first: &str) -> Result<Self> {
        let first = digest(first)?;
        let opened = py.detach(|| TurnReader::open(&medium(), &path, session_id, first))?;
        let missing = || pyo3::exceptions::PyFileNotFoundError::new_err(path.to_string_lossy().into_owned());
        Ok(Self(Mutex::new(opened.ok_or_else(missing)?)))
    }

    /// What the file is: `open`, `sealed`, `peer_open`, `peer_sealed` or `tombstone`.
    #[getter]
    fn form(&self) -> &'static str {
        match self.reader().form() {
            Form::Open => "open",
            Form::Sealed => "sealed",
            Form::PeerOpen => "peer_open",
            Form::PeerSealed => "peer_sealed",
            Form::Tombstone => "tombstone",
        }
    }

    /// Turns that were read so far.
    #[getter]
    fn turns(&self) -> u64 {
        self.reader().turns()
    }

    /// `chain` of the last turn that was read.
    #[getter]
    fn chain(&self) -> String {
        self.reader().chain().to_hex()
    }

    /// SHA-256 of the frames of upstream's transcript, once there are no further turns; then once only. `None` of ours.
    fn frames_sha256(&self) -> Option<String> {
        self.reader().frames_sha256().map(Digest::to_hex)
    }

    /// What is wrong with the rest, once there are no further turns.
    #[getter]
    fn damage(&self) -> Option<String> {
        self.reader().damage().map(str::to_owned)
    }

    /// Bytes behind the last whole append, which were never acknowledged.
    #[getter]
    fn torn(&self) -> u64 {
        self.reader().torn()
    }

    /// Passes over all turns, checking each; returns how many there are.
    fn skip(&self, py: Python<'_>) -> Result<u64> {
        Ok(py.detach(|| -> cyberos_log::Result<u64> {
            let mut reader = self.reader();
            while reader.next_turn()?.is_some() {}
            Ok(reader.turns())
        })?)
    }

    /// The next turns, at most `most` and about `enough` bytes of JSON; empty behind the last one.
    ///
    /// A turn is `(turn_seq, ts_ns, ts, role, content, content_cipher, redactions_applied)`.
    fn next<'py>(&self, py: Python<'py>, most: usize, enough: usize) -> Result<Vec<PyTurn<'py>>> {
        let mut read: Vec<Read> = Vec::new();
        py.detach(|| -> cyberos_log::Result<()> {
            let mut reader = self.reader();
            let mut bytes = 0;
            while read.len() < most && bytes < enough {
                let Some(turn) = reader.next_turn()? else { break };
                bytes += turn.payload.len();
                read.push(Read::from(&turn));
            }
            Ok(())
        })?;
        Ok(read.into_iter().map(|turn| turn.into_python(py)).collect::<PyResult<Vec<_>>>()?)
    }
}

impl Turns {
    fn reader(&self) -> std::sync::MutexGuard<'_, TurnReader> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Read {
    turn_seq: u64,
    ts_ns: u64,
    ts: String,
    role: String,
    content: Option<String>,
    content_cipher: Option<Value>,
    redactions_applied: Option<bool>,
}

impl From<&RawTurn<'_>> for Read {
    fn from(raw: &RawTurn<'_>) -> Self {
        let RawTurn { turn_seq, ts_ns, payload, turn } = *raw;
        let ts = raw.ts();
        let Some(turn) = turn else {
            // Upstream's: whatever JSON it is, what is missing is missing.
            let value = Value::parse(payload).unwrap_or(Value::Null);
            let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            return Self {
                turn_seq,
                ts_ns,
                ts,
                role: text("role").unwrap_or_default(),
                content: text("content"),
                content_cipher: value.get("content_cipher").cloned(),
                redactions_applied: value.get("redactions_applied").and_then(Value::as_bool),
            };
        };
        Self {
            turn_seq,
            ts_ns,
            ts,
            role: turn.role().into_owned(),
            content: turn.content().map(std::borrow::Cow::into_owned),
            content_cipher: turn.content_cipher().and_then(|envelope| Value::parse(envelope).ok()),
            redactions_applied: turn.redactions_applied,
        }
    }
}

impl Read {
    fn into_python(self, py: Python<'_>) -> PyResult<PyTurn<'_>> {
        let envelope = match &self.content_cipher {
            None => None,
            Some(Value::Object(fields)) => Some(object_to_python(py, fields)?),
            Some(_) => return Err(CorruptLog::new_err("an envelope that is no object")),
        };
        Ok((self.turn_seq, self.ts_ns, self.ts, self.role, self.content, envelope, self.redactions_applied))
    }
}
