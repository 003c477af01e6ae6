//! Reading turns one after the other, in bounded memory, whatever the file holds.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::ending::Ending;
use super::turn::Turn;
use crate::error::{LogError, Result};
use crate::format::transcript::{FIRST, ZSTD_MAGIC};
use crate::format::{be32, be64, frame};
use crate::hash::{Digest, Hasher};
use crate::json::Value;
use crate::medium::{MediumFile, Open, SharedMedium};
use crate::time::iso_exact;

/// Largest back-reference distance accepted, as a power of two: 8 MiB. Ours are smaller.
const WINDOW_LOG: u32 = 23;
/// Header of upstream's frame: `u32 BE length | u64 BE turn_seq | u64 BE ts_ns`.
const PEER_HEADER: usize = 20;
/// What is read ahead to see whose the transcript is.
const PROBE: usize = frame::HEADER + r#"{"chain":""#.len();

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A transcript that turns are appended to.
    Open,
    /// One that is complete.
    Sealed,
    /// Upstream's, still open.
    PeerOpen,
    /// Upstream's, complete.
    PeerSealed,
    /// What a purge left.
    Tombstone,
}

impl Form {
    const fn is_peer(self) -> bool {
        matches!(self, Self::PeerOpen | Self::PeerSealed)
    }
}

/// One turn as it lies in a transcript.
#[derive(Debug, Clone, Copy)]
pub struct RawTurn<'r> {
    /// Number of the turn, from 0.
    pub turn_seq: u64,
    /// Nanoseconds since the Unix epoch, UTC.
    pub ts_ns: u64,
    /// Its JSON.
    pub payload: &'r [u8],
    /// The same, taken apart; `None` for upstream's, whose JSON is not canonical.
    pub turn: Option<Turn<'r>>,
}

impl RawTurn<'_> {
    /// Returns the time as text.
    pub fn ts(&self) -> String {
        self.turn.map_or_else(|| iso_exact(self.ts_ns), |turn| turn.ts().into_owned())
    }
}

/// The turns of one transcript.
pub struct TurnReader {
    input: Box<dyn Read + Send + Sync>,
    /// The medium refused something; otherwise what goes wrong in decompressing is the file's fault.
    refused: Arc<AtomicBool>,
    path: PathBuf,
    session_id: String,
    form: Form,
    /// What was read ahead.
    probe: io::Cursor<Vec<u8>>,
    buf: Vec<u8>,
    turns: u64,
    plain: u64,
    chain: Digest,
    /// Of upstream's, which names a transcript by what its frames hash to.
    frames: Hasher,
    /// How many turns the end of the file promises.
    promised: Option<Ending>,
    damage: Option<String>,
    done: bool,
}

impl std::fmt::Debug for TurnReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnReader").field("path", &self.path).field("form", &self.form).finish_non_exhaustive()
    }
}

impl TurnReader {
    /// Opens the transcript of a session that the row with chain `first` started; `None` where there is no such file.
    pub fn open(medium: &SharedMedium, path: &Path, session_id: &str, first: Digest) -> Result<Option<Self>> {
        let file = match medium.open(path, Open::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LogError::io("open", path)(error)),
        };
        Self::over(file, path, session_id, first).map(Some).map_err(LogError::io("read", path))
    }

    fn over(file: Box<dyn MediumFile>, path: &Path, session_id: &str, first: Digest) -> io::Result<Self> {
        let mut magic = [0; 4];
        let read = file.read_full_at(&mut magic, 0)?;
        let promised = Ending::find(file.as_ref())?;
        let (start, end) = promised.map_or((0, file.len()?), |ending| (FIRST, ending.end));
        let refused = Arc::new(AtomicBool::new(false));
        let portion = Portion { file, at: start, end, refused: Arc::clone(&refused) };
        let mut reader = Self {
            input: Box::new(io::empty()),
            refused,
            path: path.to_path_buf(),
            session_id: session_id.to_owned(),
            form: Form::Open,
            probe: io::Cursor::default(),
            buf: Vec::new(),
            turns: 0,
            plain: 0,
            chain: first,
            frames: Hasher::default(),
            promised,
            damage: None,
            done: false,
        };
        if magic.first() == Some(&b'{') {
            (reader.form, reader.done) = (Form::Tombstone, true);
            return Ok(reader);
        }
        if read == 0 {
            reader.damage_is("the file is empty");
        }
        if magic != ZSTD_MAGIC {
            reader.form = Form::PeerOpen;
            reader.input = Box::new(BufReader::with_capacity(64 << 10, portion));
            return Ok(reader);
        }
        if portion.at == portion.end {
            return Ok(reader); // no turns yet: the decoder would miss a frame
        }
        let mut decoder = zstd::stream::read::Decoder::new(portion)?;
        decoder.window_log_max(WINDOW_LOG)?;
        reader.input = Box::new(BufReader::with_capacity(64 << 10, decoder));
        if promised.is_none() {
            let mut probe = Vec::new();
            let looked = reader.input.as_mut().take(PROBE as u64).read_to_end(&mut probe);
            reader.form = match probe.get(PEER_HEADER) {
                Some(b'{') if probe.get(frame::HEADER..) != Some(br#"{"chain":""#) => Form::PeerSealed,
                _ => Form::Sealed,
            };
            reader.probe = io::Cursor::new(probe);
            if let Err(error) = looked {
                reader.fail(&error)?;
            }
        }
        Ok(reader)
    }

    /// What the file is.
    pub const fn form(&self) -> Form {
        self.form
    }

    /// Turns that were read.
    pub const fn turns(&self) -> u64 {
        self.turns
    }

    /// Bytes of their frames, decompressed.
    pub const fn plain(&self) -> u64 {
        self.plain
    }

    /// `chain` of the last turn that was read, or of the row that started the session.
    pub const fn chain(&self) -> Digest {
        self.chain
    }

    /// SHA-256 of the frames of upstream's transcript, decompressed, once there is no further turn; `None` of ours.
    pub fn frames_sha256(&mut self) -> Option<Digest> {
        self.form.is_peer().then(|| std::mem::take(&mut self.frames).finish())
    }

    /// What is wrong with the rest, once there is no further turn.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Bytes behind the last whole append: they were never acknowledged.
    pub fn torn(&self) -> u64 {
        self.promised.map_or(0, |ending| ending.torn)
    }

    /// How long the turns of an open transcript are, decompressed.
    pub(super) fn promised_plain(&self) -> Option<u64> {
        self.promised.map(|ending| ending.marker.plain)
    }

    /// Returns the next turn; `None` behind the last one, or before the first that is damaged.
    pub fn next_turn(&mut self) -> Result<Option<RawTurn<'_>>> {
        if self.done {
            return Ok(None);
        }
        let header = match self.read_frame() {
            Ok(Some(header)) => header,
            Ok(None) => {
                self.done = true;
                return Ok(None);
            }
            Err(error) => {
                self.fail(&error).map_err(LogError::io("read", &self.path))?;
                return Ok(None);
            }
        };
        let size = (self.buf.len() + self.header_len()) as u64;
        let Self { buf, turns, chain, .. } = self;
        let (turn_seq, ts_ns) = header;
        let checked = match (turn_seq == *turns, self.form.is_peer()) {
            (false, _) => Err(format!("turn {turns} is missing: number {turn_seq} is in its place")),
            (true, true) => check_peer(buf, turn_seq, &self.session_id).map(|()| None),
            (true, false) => check(buf, header, &self.session_id, *chain).map(Some),
        };
        match checked {
            Ok(turn) => {
                *turns += 1;
                *chain = turn.map_or(*chain, |turn| turn.chain);
                self.plain += size;
                Ok(Some(RawTurn { turn_seq, ts_ns, payload: buf, turn }))
            }
            Err(what) => {
                (self.damage, self.done) = (Some(what), true);
                Ok(None)
            }
        }
    }

    const fn header_len(&self) -> usize {
        if self.form.is_peer() { PEER_HEADER } else { frame::HEADER }
    }

    /// Reads a frame into `buf`; returns its number and time. `None` at the end.
    fn read_frame(&mut self) -> io::Result<Option<(u64, u64)>> {
        let mut head = [0; frame::HEADER];
        let size = self.header_len();
        let head = head.get_mut(..size).unwrap_or_default();
        let read = read_full(&mut self.probe, &mut self.input, head)?;
        if read == 0 {
            return match self.promised {
                Some(ending) if ending.marker.turns != self.turns => Err(bad("turns are missing")),
                _ => Ok(None),
            };
        }
        if read < size {
            return Err(bad("it ends within a turn"));
        }
        let (length, crc, seq, ts_ns) = if self.form.is_peer() {
            (be32(head, 0), None, be64(head, 4), be64(head, 12))
        } else {
            let header = frame::Header::decode(head).filter(frame::Header::length_is_valid);
            let header = header.ok_or_else(|| bad("a turn's length is not possible"))?;
            (Some(header.length), Some(header.crc), Some(header.seq), Some(header.ts_ns))
        };
        let length = length.unwrap_or_default();
        if length as usize >= frame::MAX_PAYLOAD {
            return Err(bad("a turn's length is not possible"));
        }
        self.buf.clear();
        // Grows with what is there, not with what a header claims.
        let mut rest = (&mut self.probe).chain(&mut self.input).take(length.into());
        if rest.read_to_end(&mut self.buf)? < length as usize {
            return Err(bad("it ends within a turn"));
        }
        if self.form.is_peer() {
            self.frames.update(head);
            self.frames.update(&self.buf);
        }
        if crc.is_some_and(|crc| crc != crc32c::crc32c(&self.buf)) {
            return Err(bad("a turn does not have its checksum"));
        }
        Ok(Some((seq.unwrap_or_default(), ts_ns.unwrap_or_default())))
    }

    fn damage_is(&mut self, what: &str) {
        self.damage = Some(what.to_owned());
        self.done = true;
    }

    /// Takes an error as damage, unless it is the medium's.
    fn fail(&mut self, error: &io::Error) -> io::Result<()> {
        if self.refused.load(Ordering::Relaxed) {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let what = if error.kind() == io::ErrorKind::UnexpectedEof {
            "it ends within a turn".into()
        } else {
            error.to_string()
        };
        self.damage_is(&what);
        Ok(())
    }
}

/// Reads a turn and checks it against its header and the one before, whose chain is `prev`.
fn check<'b>(buf: &'b [u8], (seq, ts_ns): (u64, u64), session_id: &str, prev: Digest) -> Result<Turn<'b>, String> {
    let turn = Turn::parse(buf).map_err(|error| format!("turn {seq} is not one: {error}"))?;
    if turn.turn_seq != seq || turn.session_id() != session_id || turn.ts() != iso_exact(ts_ns).as_str() {
        return Err(format!("turn {seq} is another one than its frame or its file says"));
    }
    if turn.prev_chain != prev || !turn.chain_is_right() {
        return Err(format!("turn {seq} does not continue the one before"));
    }
    Ok(turn)
}

/// Checks upstream's turn, which has neither checksum nor chain, against its header and the session.
fn check_peer(buf: &[u8], seq: u64, session_id: &str) -> Result<(), String> {
    let turn = Value::parse(buf).map_err(|error| format!("turn {seq} is not one: {error}"))?;
    let named = turn.get("session_id").and_then(Value::as_str) == Some(session_id);
    if !named || turn.get("turn_seq").and_then(Value::as_int) != Some(seq.into()) {
        return Err(format!("turn {seq} is another one than its frame or its file says"));
    }
    Ok(())
}

fn bad(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn read_full(first: &mut dyn Read, then: &mut dyn Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut input = first.chain(then);
    let mut done = 0;
    while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match input.read(rest)? {
            0 => break,
            n => done += n,
        }
    }
    Ok(done)
}

/// Part of a file.
struct Portion {
    file: Box<dyn MediumFile>,
    at: u64,
    end: u64,
    refused: Arc<AtomicBool>,
}

impl Read for Portion {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(buf.len());
        let piece = buf.get_mut(..left).unwrap_or_default();
        let read = self.file.read_full_at(piece, self.at);
        let read = read.inspect_err(|_| self.refused.store(true, Ordering::Relaxed))?;
        self.at += read as u64;
        Ok(read)
    }
}
